# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""The words with which people tell a secret: passwords in several languages, commands, codes, tables, seed phrases.

Each pattern reads a text once: all that varies is bounded, or consumed by the match itself.
"""

from __future__ import annotations

import re
from typing import Final

_LATIN: Final = (
    r"pass[ -]?w(?:or)?ds?|passphrase|pass[ -]code|passcode|pswd|psw|pword|passwort|kennwort|kennwörter|zugangscode|mots? de passe|mdp|contrase[ñn]as?|clave(?: de acceso)?|senha"
    r"|parola(?: d['’]ordine)?|wachtwoord|l[öo]senord|adgangskode|passord|has[łl]o|heslo|jelsz[óo]|şifre|sifre|пароль|пароля"
)
_ASIAN: Final = "(?:密码|密碼|口令|暗号|パスワード|パスコード|비밀번호|암호)"
PASSWORD_NAMES: Final = rf"{_LATIN}|(?<![a-z])(?:pass|pw)(?![a-z])|{_ASIAN}"
"""What passwords are called, for whoever looks for them before a sign."""
_VALUE: Final = r"[!#-&(-;=?-z|~]{3,}[!#-&(-+/-9=?-z|~]"
_NAMES_OF_USERS: Final = r"[\w .@'’-]{1,40}?"

TOLD: Final = re.compile(
    rf"(?P<before>(?:(?<![^\W\d_])(?:{_LATIN})(?: (?:for|to|of|on|at|für|zum|zur|von|pour|du|de|para|di|del|do|da) {_NAMES_OF_USERS}(?:[:：]|(?=['’ ])))?"
    r"(?:(?<=[:：])|['’]s|[ \t]{1,3}(?:is|was|are|will be|would be|should be|has been|now|ist|lautet|war|est|es|era|é|è|är|er|jest|to|set|changed|reset|→|->|=>|[-–—])|→)"
    r"(?:[ \t]{1,2}(?:now|still|currently|set|changed|reset|just|always|again|jetzt|maintenant|ahora|agora|to|as|[:：])){0,2}"
    rf"|{_ASIAN}(?:就|还|現在|现在|目前|已经?|被|改|设|設|置|定|更|新|换|換|重|为|為|成|了|到|変|に){{0,6}}(?:是|は|는|은|가|이|[:：=＝—→-])?)"
    r"[ \t]{0,3}[:：]?[ \t]{0,3})(?P<quote>[\"'`“‘«「]?)(?P<value>" + _VALUE + r")(?P<closed>[\"'`”’»」]?)",
    re.IGNORECASE,
)
"""A password in a sentence: "the wifi password's ...", "mein Passwort ist ...", "密码改成了..."."""

BELOW: Final = re.compile(
    rf"(?P<before>(?:^|\n)[ \t*_#>-]{{0,6}}(?:{_LATIN}|{_ASIAN})[ \t*_]{{0,4}}\r?\n[ \t]{{0,8}}[\"'`]?)(?P<value>{_VALUE})(?=[\"'`]?[ \t]{{0,3}}(?:\r?\n|\Z))",
    re.IGNORECASE,
)
"""A password alone in the line below its name."""

CELL: Final = re.compile(
    rf"(?P<before>\|[ \t*_`]{{0,4}}(?:{PASSWORD_NAMES})[ \t*_`:]{{0,4}}\|[ \t`*]{{0,3}})(?P<value>[^\s|`*]{{4,200}})(?=[ \t`*]{{0,3}}(?:\||\n|\Z))",
    re.IGNORECASE,
)
"""A password in the cell behind its name."""

NAMED_COLUMN: Final = re.compile(rf"[\s*_`\"']*+(?:\w{{1,20}}[ _-])?(?:{PASSWORD_NAMES})[\s*_`\"']*+", re.IGNORECASE)
"""What heads a table's column of passwords."""

TABLE: Final = re.compile(
    rf"(?m)^(?:[^\n|,;\t]{{0,60}}[|,;\t]){{0,200}}?[ *_`\"']{{0,4}}(?:\w{{1,20}}[ _-])?(?:{PASSWORD_NAMES})[ *_`\"']{{0,4}}(?:[|,;\t][^\n]*+)?\r?\n(?:[ \t]*+\r?\n)?(?:[^\n]++(?:\n|\Z))++",
    re.IGNORECASE,
)
"""A table whose first line names its columns, of which one may be passwords."""

KEY_TOLD: Final = re.compile(
    r"(?P<before>(?:(?<![a-z])(?:(?:private|secret|signing|access|encryption|master|api|auth|account|session|bearer|deploy|recovery|signer|wallet)[ _-]?(?:key|token)s?|tokens?|secrets?)|私钥|密钥|秘钥|私鑰|密鑰|令牌)"
    r"(?: (?:for|to|of) [\w .@'’-]{1,40}?)?(?:['’]s)?[ \t]{0,3}(?:(?:is|was|ist|est|es|是|为|為)(?: now)?)?[ \t]{0,2}[:：=]?\s{0,3}[\"'`]?)(?P<value>(?:0x)?[A-Za-z0-9+_][A-Za-z0-9+/_=.~-]{14,300}[A-Za-z0-9+/_=~-])",
    re.IGNORECASE,
)
"""A key in a sentence: "my private key 0x...", "API 密钥是 ..."."""

COMMAND: Final = re.compile(
    r"(?P<before>\b(?:(?:mysql|mariadb)[\w-]{0,16}[ \t](?:[^\n|;&]{0,160}?[ \t])?-p[\"']?|sshpass[ \t]{1,3}-p[ \t]{0,3}[\"']?|mongo[\w-]{0,12}[ \t](?:[^\n|;&]{0,160}?[ \t])?-p[ \t]{1,3}[\"']?"
    r"|(?:docker|podman|helm|oc|nerdctl|az acr|skopeo|buildah|crane)[ \t](?:[^\n|;&]{0,40}?[ \t])?login[ \t](?:[^\n|;&]{0,160}?[ \t])?-p[ \t]{1,3}[\"']?|redis-cli[ \t](?:[^\n|;&]{0,160}?[ \t])?-a[ \t]{1,3}[\"']?"
    r"|(?:un)?zip[ \t](?:[^\n|;&]{0,160}?[ \t])?-P[ \t]{1,3}[\"']?|(?:7z|7za|7zr|rar|unrar)[ \t](?:[^\n|;&]{0,160}?[ \t])?-p[\"']?|ldap\w{3,10}[ \t](?:[^\n|;&]{0,160}?[ \t])?-w[ \t]{1,3}[\"']?"
    r"|(?:sqlcmd|bcp|isql)[ \t](?:[^\n|;&]{0,160}?[ \t])?-P[ \t]{0,3}[\"']?|openssl[ \t][^\n|;&]{0,160}?[ \t]-pass(?:in|out)?[ \t]{1,3}pass:|smbclient[ \t][^\n|;&]{0,160}?[ \t](?:-U|--user)[ =]?[\w\\.-]{1,40}%|xfreerdp[ \t][^\n|;&]{0,160}?/p:|htpasswd[ \t](?:[^\n|;&]{0,80}?[ \t])?-\w{0,3}b\w{0,3}[ \t]{1,3}\S{1,80}[ \t]{1,3}\S{1,40}[ \t]{1,3}))"
    r"(?P<value>[^\s\"'`$<>|;&{}(){\[\]-][^\s\"'`<>|;&]{2,200})"
)
"""A password that a command is given."""

PASSFILE: Final = re.compile(
    r"(?P<before>(?<![\w.*:/@-])(?=[\w-]{0,100}[g-zG-Z.*_-])[\w.*-]{1,100}:(?:\d{4,5}|\*):[\w*-]{1,64}:[\w*.@-]{1,64}:)(?P<value>(?:[^\s:\"'\\]|\\.){3,200})"
)
"""A line of `.pgpass`: host, port, database, user, password."""

_CODE_NAMES: Final = (
    r"(?:pin|pin ?(?:code|number)s?(?=[^\n]{0,40}?\b\d{4}\b(?!\d))|puk|(?P<short>cvv2?|cvc2?|csc)|otp|(?-i:TAN)|geheimzahl|c[óo]digo (?:pin|de (?:seguridad|verificaci[óo]n|acceso))|code (?:pin|secret|de (?:sécurité|vérification))|passcode"
    r"|(?:one-time|verification|security|login|confirmation|authentication|2fa|sms|auth|card|sim|phone) ?(?:code|pin)|one-time password|(?:sicherheits|bestätigungs)code)"
)
CODE: Final = re.compile(
    rf"(?P<before>(?<![^\W_])(?:{_CODE_NAMES}(?: (?:for|to|of|on) {_NAMES_OF_USERS})?(?:['’]s|[ \t]{{0,3}}(?:is|was|ist|lautet|est|es|é|è|now|[-–:：=#])){{1,3}}[ \t*_`\"']{{0,4}})"
    r"|(?:验证码|驗證碼|校验码|动态码|动态密码|取款密码|支付密码|(?:银行卡|信用卡|储蓄卡|借记卡|手机|锁屏|开机|支付宝|微信)的?密码|安全码|授权码|PIN ?码|暗証番号|認証コード|인증번호)(?:就|还)?(?:是|为|為|は|는|[:：=])?\s{0,3})"
    r"(?P<value>(?(short)\d{3,4}|(?:\d{4,8}|\d{3}[ -]\d{3})))(?![\d%°€£]|[.,:/-]\d|[ ]?(?:years?|times|days|minutes|characters|digits|位|个|次))",
    re.IGNORECASE,
)
"""A code of digits under its name."""
CODE_BEFORE: Final = re.compile(
    r"(?<![\w.,:/-])(?P<value>(?:[A-Z]-)?\d{4,8})(?= (?:is|ist|est|es) (?:your|the|my|dein|Ihr|votre|tu|su)(?: [\w’'-]{1,30}){0,4}? (?:code|pin|otp|password|passcode)\b|[（(]?(?:是|为)?(?:您的|你的|本次)?(?:[^\W\d_]{0,6})(?:验证码|校验码|动态码))"
)
"""A code of digits before what it is: "482913 is your verification code"."""

SEED: Final = re.compile(
    r"(?P<before>(?:\b(?:seed(?: ?phrase| ?words?)?|recovery (?:phrase|words?|seed)|(?:backup|secret|wallet|mnemonic|bip-?39) (?:phrase|words?|seed)|mnemonics?(?: phrase| words?)?|12 words|24 words)|助记词|助記詞|助记符|ニーモニック)"
    r"[^\n:：=]{0,40}?(?:[:：=]|\b(?:is|are|was)\b|是|为|為|(?<=phrase) |(?<=words) |(?<=[词詞]))[\"'`\s]{0,4})"
    r"(?P<value>(?:(?:(?:\d{1,2}[.)][ \t]{0,2})?[a-z]{3,8}(?:[ \t]{1,2}|,[ \t]{0,2}|[ \t,]{0,2}\r?\n[ \t]{0,4})){11,23}(?:\d{1,2}[.)][ \t]{0,2})?[a-z]{3,8}(?![a-z])|(?:[\u4e00-\u9fff][ \u3000,，、]{1,2}){11,23}[\u4e00-\u9fff](?![\u4e00-\u9fff])))",
    re.IGNORECASE,
)
"""The words of a wallet behind what they are called."""
_PROSE_WORDS: Final = """
the and for are was were your not but its our out his her him she who why has had does did than them then these those from been being would could
because which while where every any into onto over whose don didn
"""
PROSE: Final = frozenset(_PROSE_WORDS.split())
"""Words that no seed phrase has, and hardly a sentence of twelve words is without."""

SIGNATURE: Final = re.compile(
    r"(?P<before>(?<![A-Za-z0-9])(?:sig|signature)=)(?P<value>[A-Za-z0-9+/]{20,200}(?:%[0-9A-Fa-f]{2}[A-Za-z0-9+/]{0,100}){0,20}={0,2})"
)
"""The signature of a link that gives access, wherever it stands."""
