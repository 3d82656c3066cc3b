"""Secrets in every form that is to be masked, made at random: no real one, and none that a scanner knows, is here.

A form is written as providers document it: what stands for itself, and in braces an alphabet and a length.
"""

from __future__ import annotations

import base64
import random
import re
import string
from typing import Final

_HEX: Final = "0123456789abcdef"
_ALNUM: Final = string.ascii_letters + string.digits
_ALPHABETS: Final = {
    "hex": _HEX,
    "HEX": _HEX.upper(),
    "a": _ALNUM,
    "w": _ALNUM + "-_",
    "b": _ALNUM + "+/",
    "l": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "32": string.ascii_uppercase + "234567",
    "d": string.digits,
    "58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "32l": "023456789acdefghjklmnpqrstuvwxyz",
    "L": string.ascii_letters,
    "s": _ALNUM + "!#%^*_+-",
}
_PART: Final = re.compile(r"\{(\w+) (\d+)\}")

KEYS: Final = {
    "aws access key": "{A}KIA{32 16}",
    "aws temporary key": "ASIA{32 16}",
    "aws secret in a file": "aws_secret_access_key = {b 40}",
    "aws secret in json": '"SecretAccessKey": "{b 40}"',
    "aws secret in a shell": "export AWS_SECRET_ACCESS_KEY={b 40}",
    "aws pair": "ASIA{32 16}, {b 40}",
    "google api key": "AIza{w 35}",
    "google oauth token": "ya29.{w 60}",
    "google client secret": "GOCSPX-{w 28}",
    "google refresh token": "1//0{w 60}",
    "azure storage key": "{b 86}==",
    "azure connection string": "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={b 86}==;EndpointSuffix=x",
    "azure shared access key": "SharedAccessKeyName=root;SharedAccessKey={b 43}=",
    "azure client secret": "{a 3}8Q~{a 34}",
    "azure api key": "AZURE_OPENAI_API_KEY={hex 32}",
    "azure signature": "https://x.blob.core.windows.net/c/f?sv=2024&sig={a 43}%3D",
    "alibaba": "LTAI{a 20}",
    "tencent": "AKID{a 32}",
    "digitalocean": "dop_v1_{hex 64}",
    "databricks": "dapi{hex 32}",
    "heroku": "HRKU-{w 60}",
    "fly": "fo1_{w 43}",
    "tailscale": "tskey-auth-{a 16}-{a 32}",
    "supabase": "sbp_{hex 40}",
    "planetscale": "pscale_tkn_{w 43}",
    "openai": "sk-{a 48}",
    "openai project": "sk-proj-{w 120}",
    "anthropic": "sk-ant-api03-{w 93}AA",
    "openrouter": "sk-or-v1-{hex 64}",
    "hugging face": "hf_{L 34}",
    "replicate": "r8_{a 37}",
    "groq": "gsk_{a 52}",
    "xai": "xai-{a 80}",
    "perplexity": "pplx-{a 48}",
    "nvidia": "nvapi-{w 64}",
    "pinecone": "pcsk_{a 6}_{a 60}",
    "pinecone without a part": "pcsk_{a 60}",
    "zhipu": "{hex 32}.{a 16}",
    "bitcoin wallet": "{K}{58 51}",
    "old bitcoin wallet": "5K{58 49}",
    "extended bitcoin wallet": "xprv9{58 107}",
    "nostr": "nsec1{32l 58}",
    "azure signature in prose": "take sig={a 40}%3D for it",
    "azure signature without a scheme": "x.blob.core.windows.net/c/f?sv=2024&sig={a 43}%3D",
    "private key in prose": "my private key 0x{hex 64}",
    "private key said": "the private key is {hex 64}",
    "api key said": "my api key is {hex 32}",
    "api key said in chinese": "API 密钥是 {hex 32}",
    "private key said in chinese": "私钥：0x{hex 64}",
    "langsmith": "lsv2_pt_{hex 32}_{hex 10}",
    "github": "ghp_{a 36}",
    "github fine-grained": "github_pat_{a 22}_{a 59}",
    "gitlab": "glpat-{w 20}",
    "npm": "npm_{a 36}",
    "pypi": "pypi-AgEIcHlwaS5vcmc{w 100}",
    "rubygems": "rubygems_{hex 48}",
    "nuget": "oy2{l 43}",
    "docker": "dckr_pat_{w 27}",
    "terraform": "{a 14}.atlasv1.{w 67}",
    "pulumi": "pul-{hex 40}",
    "vault": "hvs.{w 95}",
    "old vault": "s.{a 24}",
    "doppler": "dp.pt.{a 43}",
    "artifactory": "AKCp{a 69}",
    "atlassian": "ATATT3{w 186}",
    "circleci": "CCIPAT_{a 22}_{hex 40}",
    "sonar": "squ_{hex 40}",
    "stripe": "sk_live_{a 24}",
    "stripe restricted": "rk_test_{a 99}",
    "stripe webhook": "whsec_{a 32}",
    "square": "sq0atp-{w 22}",
    "shopify": "shpat_{hex 32}",
    "paypal": "access_token$production${l 16}${hex 32}",
    "plaid": "access-production-{hex 8}-{hex 4}-{hex 4}-{hex 4}-{hex 12}",
    "slack bot": "xoxb-{d 12}-{d 13}-{a 24}",
    "slack app": "xapp-1-{U 11}-{d 13}-{hex 64}",
    "slack webhook": "https://hooks.slack.com/services/T{U 8}/B{U 10}/{a 24}",
    "discord bot": "M{a 23}.{a 6}.{w 38}",
    "discord webhook": "https://discord.com/api/webhooks/{d 18}/{w 68}",
    "telegram bot": "{d 10}:AA{w 33}",
    "sendgrid": "SG.{w 22}.{w 43}",
    "twilio": "SK{hex 32}",
    "mailgun": "key-{hex 32}",
    "mailchimp": "{hex 32}-us14",
    "brevo": "xkeysib-{hex 64}-{a 16}",
    "resend": "re_{a 8}_{a 24}",
    "facebook": "EAAC{a 120}",
    "linear": "lin_api_{a 40}",
    "figma": "figd_{w 40}",
    "notion": "ntn_{d 11}{a 35}",
    "airtable": "pat{a 14}.{hex 64}",
    "postman": "PMAK-{hex 24}-{hex 34}",
    "new relic": "NRAK-{U 27}",
    "sentry": "sntryu_{hex 64}",
    "grafana": "glsa_{a 32}_{hex 8}",
    "dynatrace": "dt0c01.{U 24}.{U 64}",
    "typeform": "tfp_{w 59}",
    "1password": "A3-{U 6}-{U 6}-{U 5}-{U 5}-{U 5}-{U 5}",
    "age": "AGE-SECRET-KEY-1{U 58}",
    "web token": "eyJ{a 33}.eyJ{a 60}.{w 43}",
    "encrypted web token": "eyJ{a 33}..{w 22}.{w 60}.{w 22}",
    "mapbox": "sk.eyJ{a 60}.{w 22}",
    "bearer header": "Authorization: Bearer {a 40}",
    "bearer in a command": "curl -H 'authorization: bearer {w 40}'",
    "api key header": "X-Api-Key: {a 32}",
    "token header": '"Authorization": "token {hex 40}"',
    "cookie": "Cookie: session={a 40}; theme=dark",
    "password in a shell": "PASSWORD={s 9}",
    "password of a database": "export DB_PASSWORD={s 14}",
    "password in yaml": "password: x{d 2}{s 9}",
    "password in json": '{"user": "ada", "password": "q{d 3}{s 8}"}',
    "password in a sentence": "my password is k{d 3}{s 8}",
    "password in chinese": "密码是 k{d 3}{s 8}",
    "password of a connection": "Server=db;Uid=ada;Pwd=z{d 2}{a 9};",
    "password in a url": "postgres://ada:{a 14}@db.example.com:5432/x",
    "password in redis": "redis://:{a 20}@cache:6379/0",
    "token in a url": "https://{a 36}@git.example.com/ada/x.git",
    "key in a query": "https://api.example.com/v1?api_key={a 32}&q=1",
    "password of curl": "curl -u ada:{a 4}{d 3}{a 5} https://example.com",
    "netrc": "machine example.com login ada password {a 4}{d 3}{a 5}",
    "secret in toml": 'client_secret = "{a 40}"',
    "private key in a field": "private_key: 0x{hex 64}",
    "uuid by name": "api_key={hex 8}-{hex 4}-{hex 4}-{hex 4}-{hex 12}",
    "password in json in json": '{\\"user\\": \\"ada\\", \\"password\\": \\"q{d 3}{s 8}\\"}',
    "password in json twice in json": '\\\\\\"password\\\\\\":\\\\\\"q{d 3}{a 8}\\\\\\"',
    "password in html": "&quot;password&quot;: &quot;q{d 3}{a 8}&quot;",
    "password of a network": "wifi password's q{d 3}{a 8}",
    "password of a network said": "the wifi password is q{d 3}{a 8}",
    "password for something": "The password for my router: q{d 3}{a 8}",
    "password changed": "I changed my password to q{d 3}{a 8}",
    "password in quotes": "the password is '{L 9}'",
    "password in german": "Passwort: q{d 3}{a 8}",
    "password said in german": "mein Kennwort lautet q{d 3}{a 8}",
    "password in french": "mot de passe : q{d 3}{a 8}",
    "password said in french": "mon mot de passe est q{d 3}{a 8}",
    "password in spanish": "contraseña: q{d 3}{a 8}",
    "password said in spanish": "la clave es q{d 3}{a 8}",
    "password in portuguese": "senha: q{d 3}{a 8}",
    "password said in portuguese": "minha senha é q{d 3}{a 8}",
    "password said in italian": "la password è q{d 3}{a 8}",
    "password in dutch": "wachtwoord: q{d 3}{a 8}",
    "password in russian": "пароль: q{d 3}{a 8}",
    "password in japanese": "パスワードは q{d 3}{a 8}",
    "password in korean": "비밀번호: q{d 3}{a 8}",
    "password of mysql": "mysql -u root -pq{d 3}{a 8} shop",
    "password of mysqldump": "mysqldump -uroot -p'q{d 3}{a 8}' shop",
    "password of sshpass": "sshpass -p q{d 3}{a 8} ssh ada@example.com",
    "password of mongo": "mongosh -u ada -p q{d 3}{a 8}",
    "password of docker": "docker login -u ada -p q{d 3}{a 8} example.com",
    "password of redis in a command": "redis-cli -h x -a q{d 3}{a 8} ping",
    "password of an archive": "7z x -pq{d 3}{a 8} a.7z",
    "password of openssl": "openssl rsa -in a -passin pass:q{d 3}{a 8}",
    "pgpass": "db.example.com:5432:shop:ada:q{d 3}{a 8}",
    "pgpass of any": "*:*:*:ada:q{d 3}{a 8}",
    "password in bold": "**Password:** q{d 3}{a 8}",
    "password under a bold name": "**Password**: `q{d 3}{a 8}`",
    "password in html tags": "<b>Password:</b> q{d 3}{a 8}",
    "password in a cell": "| password | q{d 3}{a 8} |",
    "password in a column": "\n| user | password |\n|---|---|\n| ada | q{d 3}{a 8} |\n",
    "password in a file of columns": "\nuser,password\nada,q{d 3}{a 8}\n",
    "short name": "pass: q{d 3}{a 8}",
    "shorter name": "pw = q{d 3}{a 8}",
    "password in the next line": "password:\nq{d 3}{a 8}",
    "password in the next line, without a colon": "\nPassword\nq{d 3}{a 8}\n",
    "number for a password": "my password is {d 8}",
    "pin": "PIN: {d 8}",
    "pin said": "my PIN is {d 8}",
    "pin of a card": "The PIN for my card is {d 8}",
    "puk": "PUK: {d 8}",
    "verification code": "Your verification code is {d 8}",
    "verification code before": "{d 8} is your Example verification code",
    "one-time password": "OTP: {d 8}",
    "pin in german": "Geheimzahl: {d 8}",
    "pin in chinese": "支付密码：{d 8}",
    "verification code in chinese": "您的验证码是{d 8}",
    "verification code in chinese, by a colon": "验证码：{d 8}",
    "password in chinese without a blank": "密码是k{d 3}{s 8}",
    "password in chinese by a colon": "口令：k{d 3}{s 8}",
    "password in chinese, changed": "密码改成了k{d 3}{s 8}",
    "password in chinese, a number": "wifi密码是{d 8}",
    "datadog": "DD_API_KEY={hex 32}",
    "xml": "<password>{a 4}{d 3}{a 5}</password>",
}  # fmt: skip
"""Keys, tokens and passwords, by what they are called."""

_CARDS: Final = {
    "visa": ("4", 16), "old visa": ("4", 13), "mastercard": ("53", 16), "mastercard of the second series": ("2345", 16),
    "american express": ("37", 15), "discover": ("6011", 16), "diners": ("36", 14), "jcb": ("3545", 16),
    "unionpay": ("6212", 19), "maestro": ("6759", 18), "mir": ("2202", 16), "troy": ("9792", 16),
}  # fmt: skip
_APART: Final = ("", " ", "-", ".", "\u00a0", "\u2009", "\u202f", "\u2011", "\u2013")


def corpus(chance: random.Random) -> dict[str, tuple[str, str]]:
    """Make each form once: the text as it would be written, and what must not be left of it."""
    made = {name: _made(form, chance) for name, form in KEYS.items()}
    plain = f"ada:{_drawn('a', 12, chance)}"
    basic = base64.b64encode(plain.encode()).decode()
    made["basic header"] = (f"Authorization: Basic {basic}", basic)
    for name, begins, ends in (
        ("rsa key", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"),
        ("pgp key", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n", "-----END PGP PRIVATE KEY BLOCK-----"),
        ("ssh key", "-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----"),
    ):
        lines = [_drawn("b", 64, chance) for _ in range(6)]
        made[name] = ("\n".join((begins, *lines, ends)), lines[3])
        made[f"{name}, end cut off"] = ("\n".join((begins, *lines))[:-17], lines[3])
        made[f"{name}, beginning cut off"] = ("\n".join((*lines, ends)), lines[3])
        made[f"{name} in json"] = (rf'"key": "{begins.strip()}\n' + r"\n".join(lines) + rf'\n{ends}\n"', lines[3])
    for place, (name, (prefix, length)) in enumerate(_CARDS.items()):
        for apart in ("", _APART[place % len(_APART)]):
            card = _card(prefix, length, chance)
            made[f"{name}, apart by {apart!r}"] = (f"card {_grouped(card, apart)}, thanks", _grouped(card, apart))
    made |= _seeds(chance)
    made |= _disguised(chance)
    return made


_SEED_WORDS_OF: Final = """
abandon ability about above absent absorb abstract absurd abuse access accident account accuse achieve acid
acoustic acquire across act action actor actress actual adapt add addict address adjust admit adult advance
advice aerobic affair afford afraid again age agent agree ahead aim zebra zero zone zoo yellow young youth
wrist wrong yard wild will win window wine wing winner winter wire wisdom wise wish witness wolf woman
"""
_SEED_WORDS: Final = _SEED_WORDS_OF.split()
"""Words of which wallets make their phrases."""


def _seeds(chance: random.Random) -> dict[str, tuple[str, str]]:
    """The words of a wallet, after what people call them; of the words the middle ones must not be left."""
    made: dict[str, tuple[str, str]] = {}
    for called, count, apart in (
        ("seed phrase: ", 12, " "), ("my seed phrase is ", 24, " "), ("mnemonic:\n", 12, " "),
        ("Recovery phrase: ", 12, ", "),
        ("助记词：", 12, " "), ("助记词是 ", 24, " "), ("mnemonic = \"", 18, " "), ("Wallet seed:\n", 12, "\n"),
    ):  # fmt: skip
        words = chance.choices(_SEED_WORDS, k=count)
        made[f"seed phrase after {called!r}"] = (called + apart.join(words), apart.join(words[4:8]))
    words = [f"{n}. {word}" for n, word in enumerate(chance.choices(_SEED_WORDS, k=12), start=1)]
    made["seed phrase with numbers"] = ("Seed phrase:\n" + "\n".join(words), "\n".join(words[4:8]))
    return made


_WIDTHLESS: Final = ("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad")


def _disguised(chance: random.Random) -> dict[str, tuple[str, str]]:
    """Cards and keys with characters of no width, line breaks or full-width letters in them."""
    card, key = _card("4", 16, chance), f"AKIA{_drawn('32', 16, chance)}"
    groups = [card[n : n + 4] for n in range(0, 16, 4)]
    none = chance.choice(_WIDTHLESS)
    cut = chance.choice([1, 2, 3])
    longer = groups[:cut] if cut > 2 else groups[cut:]  # four digits stand in any store by chance
    word = f"q{_drawn('d', 3, chance)}{_drawn('a', 8, chance)}"
    return {
        "card with no width between groups": (f"card {none.join(groups)}, thanks", none.join(groups)),
        "card with no width between digits": (f"card {none.join(card)}, thanks", none.join(card[:9])),
        "card over two lines": (
            f"card {' '.join(groups[:cut])}\n{' '.join(groups[cut:])} thanks",
            " ".join(longer),
        ),
        "card over two lines, no blanks": (
            f"card {''.join(groups[:cut])}\n{''.join(groups[cut:])} thanks",
            "".join(longer),
        ),
        "full-width card": (f"card {_full_width(' '.join(groups))}", _full_width(groups[2])),
        "full-width key": (_full_width(key), _full_width(key[6:])),
        "key with no width in it": (key[:4] + none + key[4:9] + none + key[9:], key[9:]),
        "full-width password": (_full_width(f"password:{word}"), _full_width(word[3:])),
        "password with no width in its name": (f"pass{none}word: {word}", word),
    }


def _full_width(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def _made(form: str, chance: random.Random) -> tuple[str, str]:
    """A text of a form, and its longest random part."""
    drawn: list[str] = []

    def draw(part: re.Match[str]) -> str:
        drawn.append(_drawn(part[1], int(part[2]), chance))
        return drawn[-1]

    text = _PART.sub(draw, form.replace("{A}", "A").replace("{K}", "K"))
    return text, max(drawn, key=len)


def _drawn(alphabet: str, length: int, chance: random.Random) -> str:
    letters = _ALPHABETS[alphabet]
    while True:  # one that is all letters, or begins as code does, is drawn again: a key of a provider is neither
        text = "".join(chance.choices(letters, k=length))
        mixed = length < 9 or letters.isdigit() or letters.isalpha() or sum(c.isdigit() for c in text) > 1
        if mixed and text[0] not in "!#%^*+-":
            return text


def _card(prefix: str, length: int, chance: random.Random) -> str:
    body = prefix + "".join(chance.choices(string.digits, k=length - len(prefix) - 1))
    doubled = sum(d * 2 - 9 if d > 4 else d * 2 for d in map(int, body[::-2]))
    return body + str(-(doubled + sum(map(int, body[-2::-2]))) % 10)


def _grouped(card: str, apart: str) -> str:
    groups = (4, 6, 5) if len(card) in (14, 15) else (4, 4, 4, 4, 3)
    parts, at = [], 0
    for size in groups:
        parts.append(card[at : at + size])
        at += size
    return apart.join(part for part in parts if part)
