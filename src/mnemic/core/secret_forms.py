# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""What secrets look like: prefixes and lengths of keys, names that secrets stand under, blocks, and card numbers.

The facts about prefixes and lengths are those that providers document, compared with the rules of gitleaks
(github.com/gitleaks/gitleaks, MIT) and detect-secrets (github.com/Yelp/detect-secrets, Apache-2.0); the patterns are
written anew, so that each reads a text once: all that varies is bounded, or consumed by the match itself.

A form is here only if ordinary text cannot have it by chance. So a bare hexadecimal number is none, since hashes, uuids
and commits are such numbers, nor is base64, which images are; both are masked where their name says what they are.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.spoken_secrets import PASSWORD_NAMES

KEY: Final = re.compile(
    r"""(?<![A-Za-z0-9_])(?:
    # clouds and hosts
    (?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z2-7]{16}(?![A-Za-z0-9])  # AWS
    |ABSK[A-Za-z0-9+/]{80,}={0,2}  # AWS Bedrock
    |AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{28}|1//0[\w-]{40,}|AQ\.Ab8[\w-]{40,}  # Google
    |(?<![+/])[A-Za-z0-9+/]{86}==(?![A-Za-z0-9+/=])|[\w~.]{3}\dQ~[\w~.-]{31,34}  # Azure storage, Entra
    |[^\W_]{52}JQQJ9[^\W_]{9}[A-Z]{4}[^\W_]{10,14}|[^\W_]{76}AZDO[^\W_]{4}  # Azure services, DevOps
    |m[kls]_[0-9a-z]{12}_[\w-]{43}  # ours: keys, links, sessions
    |LTAI[^\W_]{16,24}|AKID[^\W_]{32}|AQVN[\w-]{35,38}  # Alibaba, Tencent, Yandex
    |do[opr]_v1_[a-f0-9]{64}|SCW[A-Z0-9]{17}(?![A-Za-z0-9])|HRKU-[\w-]{30,}  # DigitalOcean, Scaleway, Heroku
    |fo1_[\w-]{43}|fm[12][ar]?_[A-Za-z0-9+/]{80,}={0,3}|rnd_[^\W_]{28,}  # Fly, Render
    |v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}|tskey-[a-z]{2,20}-[^\W_]{6,40}-[^\W_]{16,}  # Cloudflare, Tailscale
    |nfp_[^\W_]{36,}|vc[pkair]_[^\W_]{24,}  # Netlify, Vercel
    |dapi[a-f0-9]{32}(?:-\d)?|sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,}  # Databricks, Supabase
    |pscale_(?:tkn|pw|oauth)_[\w=.-]{32,}|napi_[^\W_]{40,}  # PlanetScale, Neon
    # models
    |hf_[^\W_]{30,}|api_org_[^\W_]{30,}|r8_[^\W_]{36,}  # Hugging Face, Replicate
    |gsk_[^\W_]{40,}|xai-[^\W_]{60,}|pplx-[^\W_]{40,}  # Groq, xAI, Perplexity
    |tgp_v1_[\w-]{40,}|fw_[^\W_]{22,}|csk-[^\W_]{40,}|nvapi-[\w-]{50,}  # Together, Fireworks, Cerebras, NVIDIA
    |jina_[^\W_]{50,}|pcsk_\w{30,}|[a-f0-9]{32}\.[^\W_]{16}(?![^\W_])  # Jina, Pinecone, Zhipu
    |lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}  # LangSmith
    |tvly-(?:dev-|prod-)?[^\W_]{28,}|fc-[a-f0-9]{32}|e2b_[a-f0-9]{40}  # Tavily, Firecrawl, E2B
    |sk_[a-f0-9]{48}|wandb_v1_[\w-]{40,}  # ElevenLabs, Weights & Biases
    # wallets: Bitcoin's keys as they are carried, bare, extended and encrypted; Nostr, Stellar
    |(?:5[HJK][1-9A-HJ-NP-Za-km-z]{49}|[KL][1-9A-HJ-NP-Za-km-z]{51}|[cxyztuv]prv[1-9A-HJ-NP-Za-km-z]{100,112}
    |6P[RY][1-9A-HJ-NP-Za-km-z]{55}|nsec1[02-9ac-hj-np-z]{58}|S[A-Z2-7]{55})(?![A-Za-z0-9])
    # code and packages
    |gh[pousr]_[^\W_]{36,}|github_pat_\w{40,}  # GitHub
    |gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w-]{20,}(?:\.[^\W_]{2,}){0,2}  # GitLab
    |npm_[^\W_]{36}|pypi-[\w-]{50,}|rubygems_[a-f0-9]{48}  # registries: npm, PyPI, RubyGems,
    |oy2[a-z0-9]{43}|cio[^\W_]{32}(?![A-Za-z0-9])|CLOJARS_[a-z0-9]{60}  # NuGet, crates.io, Clojars,
    |dckr_(?:pat|oat)_[\w-]{27,}|AKCp[^\W_]{69}|cmVmd[^\W_]{59}  # Docker, Artifactory
    |[^\W_]{14}\.atlasv1\.[\w-]{60,}|pul-[a-f0-9]{40}|hv[sbr]\.[\w-]{24,}  # Terraform, Pulumi, Vault
    |dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.]{40,}|ops_eyJ[\w-]{100,}={0,3}  # Doppler, 1Password
    |A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}  # 1Password
    |AGE-SECRET-KEY-1[A-Z0-9]{58}  # age
    |CCI(?:PAT|PRJ)_[^\W_]{20,40}_[a-f0-9]{40}|bkua_[a-f0-9]{40}|pnu_[^\W_]{36}  # CircleCI, Buildkite, Prefect
    |sq[pua]_[a-f0-9]{40}|sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}
    |snyk_[a-z]{2,10}_[\w-]{20,}  # Sonar, Sourcegraph, Snyk
    |AT[AC]TT3[\w=-]{50,}|ATBB[^\W_]{28,}|CFPAT-[\w-]{43}|sha256~[\w-]{43}  # Atlassian, Contentful, OpenShift
    # payment and trade
    |(?:sk|rk)_(?:live|test|prod)_[^\W_]{16,}|whsec_[A-Za-z0-9+/]{24,}={0,2}  # Stripe
    |sq0(?:atp|csp|idp)-[\w-]{22,}|EAAA[\w-]{60}|shp(?:at|ca|pa|ss|ua|tka)_[a-fA-F0-9]{32}  # Square, Shopify
    |access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}  # PayPal
    |access-(?:sandbox|development|production)-[0-9a-f-]{36}|shippo_(?:live|test)_[a-fA-F0-9]{40}  # Plaid, Shippo
    |EZ[AT]K[^\W_]{54}|duffel_(?:live|test)_[\w-]{43}
    |FLWSECK(?:_TEST)?-[a-zA-Z0-9]{12,}(?:-X)?  # EasyPost, Duffel, Flutterwave
    # messages
    |xox[abeoprs](?:\.xox[bp])?-[\w-]{20,}|xapp-\d-[\w-]{20,}  # Slack
    |hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,}
    |discord(?:app)?\.com/api/webhooks/\d{15,}/[\w-]{40,}|[MNO][\w-]{23,28}\.[\w-]{6}\.[\w-]{27,40}  # Discord
    |\d{8,10}:AA[\w-]{33}
    |webhook\.office\.com/webhookb2/[a-z0-9@-]{70,}/IncomingWebhook/[a-z0-9]{32}/[a-z0-9-]{36}  # Telegram, Teams
    |SG\.[\w-]{16,32}\.[\w-]{16,64}|SK[a-f0-9]{32}(?![a-f0-9])|key-[a-f0-9]{32}(?![a-f0-9])  # SendGrid, Twilio, Mailgun
    |[a-f0-9]{32}-us\d{1,2}|xkeysib-[a-f0-9]{64}-[^\W_]{16}|re_[^\W_]{6,12}_[^\W_]{20,}  # Mailchimp, Brevo, Resend
    |EAA[^\W_]{80,}|\d{15,16}\|[\w-]{27,40}|AAAAAAAAA[A-Za-z0-9%]{80,}  # Facebook, X
    # teams, and those who watch servers
    |lin_(?:api|oauth)_[^\W_]{32,}|fig[dour]_[\w-]{40,}|ntn_[^\W_]{40,}|secret_[^\W_]{43}  # Linear, Figma, Notion
    |pat[^\W_]{14}\.[a-f0-9]{64}|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|[12]/\d{13,19}(?:/\d{13,19})?:[a-f0-9]{32}
    |NRAK-[A-Z0-9]{27}|NRII-[\w-]{32}|sntry[su]_[\w+/=-]{40,}  # New Relic, Sentry
    |glsa_[^\W_]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}
    |dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}  # Grafana, Dynatrace
    |rdme_[a-z0-9]{70}|tfp_[\w.=-]{40,}|fio-u-[\w=-]{60,}
    |[^\W_]{6}_[^\W_]{29}_mmk  # ReadMe, Typeform, Frame.io, MaxMind
    )""",
    re.ASCII | re.VERBOSE,
)
"""A key of a provider, by prefix and length."""

LOOSE_KEY: Final = re.compile(
    r"(?<![A-Za-z0-9_])(?:sk-[\w-]{20,}|pa-[\w-]{40,}|s\.[^\W_]{24}(?![A-Za-z0-9]))", re.ASCII
)
"""What is a key if it holds a digit, or letters of both cases at random: words with hyphens look like it otherwise."""

TOKEN: Final = re.compile(  # from the first eyJ of a run of its letters: trying every one of them costs the square
    r"(?<![\w-])(?P<before>(?>[\w-]*?\b(?=eyJ[\w-]{10})))(?:[\w-]++\.eyJ[\w-]{10,}+\.[\w-]{10,}+"
    r"|[\w-]++\.[\w-]*+\.[\w-]{10,}+\.[\w-]{10,}+\.[\w-]{10,}+|(?<=[sp]k\.)[\w-]{20,}+\.[\w-]{20,}+)",
    re.ASCII,
)
"""A JSON web token, signed or encrypted, and Mapbox's."""

AWS_PAIR: Final = re.compile(r"((?:AKIA|ASIA)[A-Z2-7]{16}[\s,:;|\"']{1,8})([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")
"""A key's id with its secret behind it."""

_NAMED: Final = (
    rf"{PASSWORD_NAMES}|passw(?:or)?ds?|pwd|_pass(?![a-z])|secrets?|tokens?|credentials?|_pat(?![a-z])|bearer"
    r"|api[ _-]?keys?|(?:access|account|shared|auth|signing|encryption|private|master|service|license|webhook|client|storage|admin"
    r"|app)[ _-]?key|私钥|密钥|令牌"
)
_QUOTE: Final = r"(?:\\{0,4}[\"'`“”]|&(?:quot|#34|#x22);|%22)?"
_MARKUP: Final = r"[*_]{0,3}(?:</?\w{1,10}>)?"

ASSIGNED: Final = re.compile(
    rf"(?P<name>{_NAMED})(?P<more>[A-Za-z0-9_-]{{0,24}})"
    rf"(?P<sign>{_QUOTE}{_MARKUP}[ \t\xa0]{{0,3}}(?::=|=>|=|[:：]|%3[AaDd]){_MARKUP}[ \t]{{0,3}}(?:\r?\n[ \t]{{0,8}})?)"
    rf"(?P<quote>{_QUOTE})(?P<value>[^\s\"'`,;<>(){{}}\[\]|]{{3,}}[^\s\"'`,;<>(){{}}\[\]|.\\])(?P<next>[(\[]?)",
    re.IGNORECASE,
)
"""A value under a name that says it is secret."""

SPOKEN: Final = re.compile(
    r"(?P<before>\blogin\s{1,3}\S{1,100}\s{1,3}password\s{1,3}|\blogins?[ \t]?[:：][ \t]{0,3}[\w.@+-]{1,100}[ \t]{1,3}/[ \t]{1,3}|\s(?:-u|--user)[ =]{1,3}[\"']?[^\s:\"']{1,100}:"
    r"|--(?:password|passwd|token|api-?key|secret)[ =][\"']?|<\w{0,30}(?:password|passwd|secret|token|api-?key)>)"
    r"(?P<value>[!#-&(-;=?-z|~]{5,}[!#-&(-+/-9=?-z|~])",
    re.IGNORECASE,
)
"""A password in a command, in a file of logins, in XML."""

HEADER: Final = re.compile(
    r"(?P<before>\b(?:bearer|basic|apikey|token)[ \t]{1,3}"
    r"|\bauthorization[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?:[A-Za-z-]{1,20}[ \t]{1,3})?"
    r"|\bcookie[\"']?[ \t]{0,3}:[ \t]{0,3}[\"']?)"
    r"(?P<value>[A-Za-z0-9._~+/=%;&$|-]{7,}[A-Za-z0-9_~+/=%$|-](?:;[ \t][^\s=;\"']{1,60}=[^\s;\"']*[^\s;\"'.])*)",
    re.IGNORECASE,
)
"""What an HTTP header carries to prove who asks."""

ADDRESS: Final = re.compile(
    r"(?P<before>(?<![a-z0-9])[a-z][a-z0-9+.-]{1,20}://[^\s/@:\"'<>?#]{0,100}:)(?P<password>[^\s/@\"'<>]{3,200})(?=@)"
    r"|(?P<user>https?://)(?P<token>[A-Za-z0-9_-]{20,200})(?=@)"
    r"|(?P<field>[?&;](?:access_?token|api_?key|key|token|sig|signature|x-amz-signature|x-amz-security-token|client_?secret"
    r"|password|auth|secret)=)(?P<value>[^&\s\"'#<>]{15,}[^&\s\"'#<>.])",
    re.IGNORECASE,
)
"""What a URL carries to prove who asks."""

BLOCK_MARK: Final = re.compile(
    r"-----(?:BEGIN|(?P<ends>END)) (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"|---- (?:BEGIN|(?P<closes>END)) SSH2 ENCRYPTED PRIVATE KEY ----"
)
"""The first or last line of a private key."""
BLOCK_BODY: Final = re.compile(
    r"(?:\s|\\[nr]|[A-Za-z-]{2,20}: [^\n]{1,200}\n|[A-Za-z0-9+/=]{16,}+)*+(?:=?[A-Za-z0-9+/]{1,15}(?=\s*+\Z))?"
)
"""What follows the first line of a key: headers, and lines of base64."""
BLOCK_LINE: Final = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")
"""A line of base64, which only a key's body has."""
PUTTY: Final = re.compile(r"(?<=Private-Lines: )\d{1,3}\s{1,2}(?:[A-Za-z0-9+/=]{1,80}\s{0,2}){1,400}+")
"""The secret part of a key as PuTTY writes it."""

_APART: Final = r"[ .\-_/\u00a0\u2007\u2009\u202f\u2010-\u2015]"
_BREAK: Final = r"[ -]?(?:\r?\n|(?:\\r)?\\n|\t)[ \t\u00ad\u200b-\u200d\u2060\ufeff]{0,4}"
"""Where a line ends in a number, as it stands or as JSON writes it, or a cell does."""
CARD: Final = re.compile(
    rf"(?<![A-Za-z0-9.-])(?:\d{{4}}(?:[ -]?\d{{4}}){{0,2}}{_BREAK}\d{{4}}(?:[ -]?\d{{4}}){{0,2}}|\d{{6}}{_BREAK}\d{{10}}"
    rf"|\d{{4}}[ -]?\d{{6}}{_BREAK}\d{{5}}|\d{{4}}{_BREAK}\d{{6}}[ -]?\d{{5}}|\d{{12,19}}|(?:\d{{4}}(?P<a>{_APART})){{3}}\d{{1,4}}(?:(?P=a)\d{{1,3}})?"
    rf"|\d{{4}}(?P<b>{_APART})\d{{6}}(?P=b)\d{{4,5}}|(?:\d{{4}}[ -]){{3}}\d{{4}}|\d{{6}}[ -]\d{{10,13}})"
    r"(?![A-Za-z0-9-]|\.\d)"
)
_MANY: Final = (16, 17, 18, 19)
_ISSUERS: Final = {
    (13, 16, 19): ["4"],  # Visa
    (14, 16): ["300-305", "3095", "36", "38-39"],  # Diners Club
    (15,): ["34", "37"],  # American Express
    (16,): [
        "51-55",
        "2221-2720",
        "60",
        "82",
        "508",
        "637-639",
        "5019",
        "9792",
    ],  # Mastercard, RuPay, InstaPayment, Troy
    _MANY: [
        "6011",
        "644-649",
        "65",
        "3528-3589",
        "62",
        "81",
        "2200-2204",
        "5060-5061",
    ],  # Discover, JCB, UnionPay, Mir, Verve
    (12, 13, 14, 15, *_MANY): ["5018", "5020", "5038", "5893", "6304", "6759", "6761-6763"],  # Maestro
}
"""First digits, or from which to which, by the lengths that their issuers use."""


def is_card(digits: str) -> bool:
    """Whether digits are a card number: first digits and length of an issuer, and Luhn's check digit."""
    numbers = [int(digit) for digit in digits]
    plain = "".join(map(str, numbers))
    issued = any(
        int(first) <= int(plain[: len(first)]) <= int(last or first)
        for lengths, ranges in _ISSUERS.items()
        if len(plain) in lengths
        for first, _, last in (text.partition("-") for text in ranges)
    )
    if not issued or len(set(plain)) < 2:
        return False
    doubled = (d * 2 - 9 if d > 4 else d * 2 for d in numbers[-2::-2])
    return (sum(numbers[-1::-2]) + sum(doubled)) % 10 == 0
