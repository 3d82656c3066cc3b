# ruff: noqa: E501 - a table is read by its lines
"""Mask secrets before the journal: high-precision forms only, so that ordinary text is never touched."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import Final, TypeAlias

from mnemic.core.disguises import MaskedText, UndisguisedText, is_disguised
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid

Hide: TypeAlias = Callable[[str, str], str]
"""Takes a kind and what stays before it, counts one, and gives what stands in its place."""

_LONG_RUN: Final = re.compile(r"(?<![A-Za-z0-9_.~+/=:%|$@-])[A-Za-z0-9_.~+/=:%|$@-]{16,}+")
"""Letters of keys without a blank; no key is shorter."""
_TELLING: Final = re.compile(r"[\d#$%&*+/=@^|~\\\"`“‘«「<]")
"""What a secret has that is masked_value by its name: what no word has, or marks around it, or a command's option before it."""
_FEWEST: Final = 12
"""Words of the shortest seed phrase."""
_WITHIN: Final = re.compile(r"[!?]\w")
_SHORTEST_SEED: Final = 24
_SHORTEST_ASCII_SEED: Final = 48
"""Characters of twelve words of three letters, and of the shortest name before them."""
_THREE_DIGITS: Final = re.compile(r"\d\d\d")
_CALL: Final = re.compile(r"[\w.]+[(\[{]")
"""Code that makes or looks up a value."""
_WORDS: Final = re.compile(r"[a-z]+")
_APART: Final = ("|", "\t", ";", ",")
"""What stands between the cells of a table."""
_CELLS: Final = {
    mark: re.compile(rf'(?:^|(?<={re.escape(mark)}))(?: *(?:"[^"]*+")++[^{re.escape(mark)}]*+|[^{re.escape(mark)}]*+)')
    for mark in _APART
}
"""The cells of a line, of which one in quotation marks may hold what stands between them."""
_DIGITS: Final = re.compile(r"\d(?:\d{3}|[\d .\-_/\u00a0\u2007-\u2015\u202f]{11})")
_FOREIGN_NAMES: Final = (
    *("密码", "密碼", "口令", "暗号", "パスワ", "パスコ", "비밀번호", "암호", "парол", "lösenord", "kennwört", "hasło", "jelszó", "şifre"),
    *("私钥", "密钥", "秘钥", "私鑰", "密鑰", "令牌"),
)  # fmt: skip
_HELD_UNDER: Final = (
    *("pass", "pw", "secret", "key", "token", "credential", "_pat", "bearer", "psw", "kennw", "de passe", "mdp", "contrase", "clave"),
    *("senha", "parola", "wachtw", "losenord", "adgangsk", "haslo", "heslo", "zugangsc", "sifre", "jelszo", *_FOREIGN_NAMES),
)  # fmt: skip
"""Words in small letters in what a secret is held under."""
_NAMES: Final = (
    *_HELD_UNDER,
    *("cred", "auth", "cookie", "basic", "://", "sig", "mysql", "mariadb", "mongo", "login", "redis-cli", "zip", "7z"),
    *("rar ", "ldap", "sqlcmd", "smbclient", "xfreerdp", ":*:", "bcp ", "isql"),
)  # fmt: skip
"""Words without one of which a text tells no secret by a name or a command."""
_ASCII_NAMES: Final = tuple(name for name in _NAMES if name.isascii())
_CODES: Final = (
    "pin",
    "puk",
    "cvv",
    "cvc",
    "csc",
    "otp",
    "tan",
    "code",
    "código",
    "geheimz",
    "码",
    "碼",
    "コード",
    "番号",
    "번호",
    "password",
)
_SEEDS: Final = ("seed", "mnemonic", "recovery", "phrase", "12 words", "24 words", "wallet", "助记", "助記", "ニーモ")
_PLACEHOLDERS: Final = frozenset(
    {"password", "passwd", "pass", "pwd", "secret", "token", "changeme", "change-me", "example", "none", "null", "true"}
    | {"false", "undefined", "string", "str", "bytes", "optional", "required", "redacted", "hidden", "masked", "unset"}
)
"""What stands where a secret would."""
_IN_PLACE: Final = re.compile(
    r"\$+(?:[A-Za-z_]+|[A-Z\d_]+|[a-z_]+\d{1,2})(?:[-.:/>&+?)\]\\,].*)?|\$\(.*|\$?\{.*\}.*|%\w+%|%\(.*"
    r"|%[-+ #0]?[\d.]{0,4}[A-Za-z](?:\W.*)?|[<&(].*|\[(?:[^\]]*\].*|[^\d\]]*)|\*+[A-Za-z_]*\W*"
)
"""A variable, a field of a form, a bracketed name or stars in place of a value, and what an expression goes on with."""
_CODE: Final = re.compile(r"[^\W\d]+(?:[.:-]{1,2}[^\W\d]+)*[.:!?]*|[\d.,:%+-]+")
"""A name of code or a word, or a number."""
_LINE_END: Final = re.compile(r"(\n|\\n)")
_SHORT_LINE: Final = re.compile(r"[A-Za-z0-9+/]{1,15}={0,2}|=[A-Za-z0-9+/]{4}")
"""How base64 may end."""
_FILE: Final = re.compile(r"[\w./\\~-]+\.[A-Za-z]{2,5}|~?/[a-z._]{1,12}(?:/[\w./-]*)?")
_PASSFILE: Final = re.compile(r":(?:\d{4,5}|\*):[\w*-]{1,64}:")
_NUMBER: Final = re.compile(r"[\d .:_-]+")
_HEADERS: Final = ("bearer", "basic", "apikey", "token", "authorization", "cookie")
"""Words in small letters without one of which no header proves who asks."""
_COLONS_IN_PASSFILE: Final = 4


def mask(text: str) -> tuple[str, Counter[str]]:
    """Replace each secret in a text by `[masked KIND]`; return the text and how many of each kind there were.

    Each stage reads the text once, and only if a look at it says that it may find something: most texts cost a few
    such looks. What is written in full-width letters or with characters of no width between is read without them.
    """
    kinds: Counter[str] = Counter()
    undisguised = UndisguisedText(text) if is_disguised(text) else None
    looks = _Looks.at(text if undisguised is None else undisguised.text)
    if looks is _NOTHING or not looks.any:
        return text, kinds
    masked = _searched(undisguised or MaskedText(text), kinds, looks)
    return (masked if +kinds else text), +kinds


@dataclass(frozen=True, slots=True)
class _Looks:
    """What a text may hold, by quick looks at it.

    Attributes:
        long: A run as long as a key.
        digits: As many digits as a card has, or a code.
        named: A word that secrets stand under.
        coded: A word that codes of digits stand under, and such digits.
        seeded: A word that seed phrases stand under.
        marked: The first or last line of a private key.
    """

    long: bool
    digits: bool
    named: bool
    coded: bool
    seeded: bool
    marked: bool

    @classmethod
    def at(cls, text: str) -> _Looks:
        """Look at a text."""
        low = text.lower()
        telling = _TELLING.search(text) is not None or " '" in text or " -" in text
        telling = telling or (("!" in text or "?" in text) and _WITHIN.search(text) is not None)
        seeded = len(text) > (_SHORTEST_ASCII_SEED if text.isascii() else _SHORTEST_SEED) and _has_any(low, _SEEDS)
        marked = "----" in text or "Private-Lines" in text
        long = _LONG_RUN.search(text) is not None
        if not (telling or seeded or marked or long):
            return _NOTHING
        named = False
        if telling:
            names = _ASCII_NAMES if text.isascii() else _NAMES
            named = _has_any(low, names) or (":" in low and _PASSFILE.search(low) is not None)
        return cls(
            long=long,
            digits=_DIGITS.search(text) is not None,
            named=named,
            coded=_THREE_DIGITS.search(text) is not None and _has_any(low, _CODES),
            seeded=seeded,
            marked=marked,
        )

    @property
    def any(self) -> bool:
        return self.long or self.digits or self.named or self.coded or self.seeded or self.marked


_NOTHING: Final = _Looks(long=False, digits=False, named=False, coded=False, seeded=False, marked=False)


def _has_any(low: str, words: Sequence[str]) -> bool:
    """Whether a text has any of the words; a plain loop, which costs half of `any` over a generator."""
    for word in words:  # noqa: SIM110
        if word in low:
            return True
    return False


@lru_cache(maxsize=1024)  # the same few names stand beside every text
def mask_name(name: str) -> tuple[str, Counter[str]]:
    """Replace each secret in a name; a name of digits alone is none, since other programs number people and talks."""
    masked, kinds = mask(name)
    return (name, Counter()) if kinds and _NUMBER.fullmatch(name) else (masked, kinds)


def refuse_secrets(names: Mapping[str, object]) -> None:
    """Refuse names that hold a key, a token or a password, by field.

    These names tell things apart, so they cannot be masked: two would become one.

    Raises:
        Invalid: one does; it is not shown.
    """
    for field, name in names.items():
        if not isinstance(name, str):
            continue
        masked, kinds = mask_name(name)
        if kinds:
            at = next(n for n, pair in enumerate(zip_longest(name, masked), start=1) if pair[0] != pair[1])
            problem = (
                f"holds what looks like a secret ({next(iter(kinds))}, from character {at} on), and a name is kept "
                "and shown as it is"
            )
            raise Invalid(field, problem, "Nothing was written; give a name without it.")


def _searched(reading: MaskedText, kinds: Counter[str], looks: _Looks) -> str:
    import_whole("mnemic.core.secret_forms", "mnemic.core.spoken_secrets")
    from mnemic.core import secret_forms as forms
    from mnemic.core import spoken_secrets as spoken

    def hidden(kind: str, before: str = "") -> str:
        kinds[kind] += 1
        return f"{before}[masked {kind}]"

    if looks.marked:
        text, kinds["private key"] = _without_keys(reading.written())
        reading = UndisguisedText(text) if is_disguised(text) else MaskedText(text)
    if looks.seeded:
        reading.replace(spoken.SEED, lambda m: _without_seed(m, hidden), _SEEDS)
    if looks.long:
        reading.replace(forms.AWS_PAIR, lambda m: hidden("api key", m[1]))
        reading.replace(_LONG_RUN, lambda run: forms.KEY.sub(lambda m: hidden("api key"), run[0]))
        reading.replace(forms.LOOSE_KEY, lambda m: hidden("api key") if _is_random(m[0]) else m[0])
        reading.replace(forms.TOKEN, lambda m: hidden("token", m["before"]))
    if looks.named:
        _named(reading, hidden, has_long=looks.long)
    if looks.coded:
        reading.replace(spoken.CODE, lambda m: hidden("code", m["before"]), _CODES)
        reading.replace(spoken.CODE_BEFORE, lambda m: hidden("code"), _CODES)
    if looks.digits:
        reading.replace(
            forms.CARD,
            lambda m: hidden("card number") if forms.is_card("".join(filter(str.isdigit, m[0]))) else m[0],
        )
    return reading.written()


def _named(reading: MaskedText, hidden: Hide, *, has_long: bool) -> None:
    """Mask what stands under a name that says it is secret, in an address, a header, a sentence, a command or a table.

    A pattern reads the text only if it has the sign that the pattern cannot do without.
    """
    import_whole("mnemic.core.secret_forms", "mnemic.core.spoken_secrets")
    from mnemic.core import secret_forms as forms
    from mnemic.core import spoken_secrets as spoken

    def password(match: re.Match[str]) -> str:
        return hidden("password", match["before"]) if _is_secret(match["value"], 6) else match[0]

    def given(match: re.Match[str]) -> str:
        return hidden("password", match["before"]) if _is_given(match["value"]) else match[0]

    def masked_value(match: re.Match[str]) -> str:
        return hidden("password", match["before"]) if _is_stated_password(match["value"]) else match[0]

    def key(match: re.Match[str]) -> str:
        secret = _is_secret(match["value"], 16) and _is_random(match["value"])
        return hidden("secret", match["before"]) if secret else match[0]

    text = reading.text
    low, lines = text.lower(), "\n" in text
    if "://" in text or "=" in text:
        reading.replace(forms.ADDRESS, lambda m: _address(m, hidden))
    if "sig" in text and "=" in text:
        reading.replace(spoken.SIGNATURE, lambda m: hidden("token", m["before"]) if _is_random(m["value"]) else m[0])
    if _has_any(low, _HEADERS):
        reading.replace(forms.HEADER, lambda m: hidden("token", m["before"]) if _is_header(m) else m[0])
    if "-" in text or "/p:" in text:
        reading.replace(spoken.COMMAND, given)
    if text.count(":") >= _COLONS_IN_PASSFILE:
        reading.replace(spoken.PASSFILE, given)
    if "-" in text or "<" in text or "login" in low:
        reading.replace(forms.SPOKEN, password)
    if "=" in text or ":" in text or "：" in text or "%3" in text:
        reading.replace(forms.ASSIGNED, lambda m: _assigned(m, hidden), _HELD_UNDER)
    reading.replace(spoken.TOLD, lambda m: _masked_statement(m, hidden), _HELD_UNDER)
    if has_long:
        reading.replace(spoken.KEY_TOLD, key, _HELD_UNDER)
    if lines:
        reading.replace(spoken.BELOW, masked_value, _HELD_UNDER)
    if "|" in text:
        reading.replace(spoken.CELL, masked_value, _HELD_UNDER)
    if lines and _has_any(text, _APART):
        reading.replace(spoken.TABLE, lambda m: _without_column(m, hidden), _HELD_UNDER, "\n\n")


def _masked_statement(match: re.Match[str], hidden: Hide) -> str:
    """Mask a password in a sentence: one that looks like it, or any word between quotation marks."""
    value = match["value"]
    quoted = match["quote"] and match["closed"] and _is_given(value)
    if not (quoted or _is_stated_password(value)):
        return match[0]
    return hidden("password", match["before"] + match["quote"]) + match["closed"]


def _is_stated_password(value: str) -> bool:
    """Whether a word is a password where a sentence or a table says that it is one; digits alone can be it there."""
    bare = value.rstrip(".,;:!?。，")
    return (bare.isdigit() and len(bare) >= 6) or (_is_secret(value, 6) and _CALL.match(value) is None)


def _is_given(value: str) -> bool:
    """Whether a word is no placeholder, where only a password can stand."""
    return len(value) > 2 and not _is_in_place(value)


def _is_in_place(value: str) -> bool:
    """Whether something stands in place of a value."""
    return value.casefold() in _PLACEHOLDERS or _IN_PLACE.fullmatch(value) is not None


def _without_seed(match: re.Match[str], hidden: Hide) -> str:
    """Mask a seed phrase as far as it goes: a word of every sentence ends it, and before it are twelve words or more."""
    import_whole("mnemic.core.spoken_secrets")
    from mnemic.core import spoken_secrets as spoken

    words, end = match["value"], len(match["value"])
    count = 0
    for word in _WORDS.finditer(words.lower()):
        if word[0] in spoken.PROSE:
            end = len(words[: word.start()].rstrip(" ,\n\r\t"))
            break
        count += 1
    if words.isascii() and count < _FEWEST:
        return match[0]
    return hidden("seed phrase", match["before"]) + words[end:]


def _without_column(table: re.Match[str], hidden: Hide) -> str:
    """Mask the column of a table that its first line, or that of a table right below it, calls passwords."""
    lines = table[0].split("\n")
    apart, width, columns = "", 0, frozenset[int]()
    for place, line in enumerate(lines):
        if head := _password_columns(line):
            columns = head[2] | columns if head[:2] == (apart, width) else head[2]
            apart, width = head[:2]
        if not columns or (cells := _cells(line, apart, width)) is None:
            continue  # a title, a line of another width: the lines below are of the table still
        for n in columns:
            value = cells[n].strip(" \t\r\"'`*")
            if value and _is_stated_password(value):
                cells[n] = cells[n].replace(value, hidden("password", ""))
        lines[place] = apart.join(cells)
    return "\n".join(lines)


def _password_columns(line: str) -> tuple[str, int, frozenset[int]] | None:
    """Read the first line of a table: what stands between its cells, how many there are, which are of passwords."""
    import_whole("mnemic.core.spoken_secrets")
    from mnemic.core import spoken_secrets as spoken

    if not _has_any(line.lower(), _HELD_UNDER):
        return None
    apart = next((mark for mark in _APART if mark in line), None)
    if apart is None:
        return None
    heads = _CELLS[apart].findall(line)
    columns = frozenset(n for n, head in enumerate(heads) if spoken.NAMED_COLUMN.fullmatch(head))
    return (apart, len(heads), columns) if columns else None


def _cells(line: str, apart: str, width: int) -> list[str] | None:
    """Split a line into the cells that its table has: as quotation marks say it or, where that fits not, without."""
    ways = (_CELLS[apart].findall, lambda text: text.split(apart)) if '"' in line else (lambda text: text.split(apart),)
    return next((cells for way in ways if len(cells := way(line)) == width), None)


def _without_keys(text: str) -> tuple[str, int]:
    """Mask private keys: from the first line to the last, or as far as base64 goes where one of these is cut off."""
    import_whole("mnemic.core.secret_forms")
    from mnemic.core import secret_forms as forms

    kept: list[str] = []
    at = count = 0
    marks = list(forms.BLOCK_MARK.finditer(text))
    for place, mark in enumerate(marks):
        if mark.start() < at:
            continue
        if mark["ends"] or mark["closes"]:
            start, end = _body_before(text, marks[place - 1].end() if place else 0, mark.start()), mark.end()
        else:
            behind = marks[place + 1] if place + 1 < len(marks) else None
            whole = behind is not None and bool(behind["ends"] or behind["closes"])
            start = mark.start()
            end = behind.end() if behind is not None and whole else _body_behind(text, mark.end())
        if (start, end) not in ((mark.start(), mark.end()), (mark.start(), mark.start())):
            kept += (text[at:start], "[masked private key]")
            at, count = end, count + 1
    text = "".join((*kept, text[at:]))
    text, more = forms.PUTTY.subn("[masked private key]", text)
    return text, count + more


def _body_behind(text: str, at: int) -> int:
    """Where the base64 behind the first line of a key ends; `at` if there is none."""
    import_whole("mnemic.core.secret_forms")
    from mnemic.core import secret_forms as forms

    body = forms.BLOCK_BODY.match(text, at)
    return at + len(body[0].rstrip()) if body and forms.BLOCK_LINE.search(body[0]) else at


def _body_before(text: str, first: int, at: int) -> int:
    """Where the base64 before the last line of a key begins, not before `first`; `at` if there is none."""
    import_whole("mnemic.core.secret_forms")
    from mnemic.core import secret_forms as forms

    begins = at
    lines = _LINE_END.split(text[first:at])  # every second one is a line end
    for place in range(len(lines) - 1, -1, -2):
        line = lines[place].strip()
        if line and not (forms.BLOCK_LINE.fullmatch(line) or (place >= len(lines) - 3 and _SHORT_LINE.fullmatch(line))):
            break
        begins -= len(lines[place]) + (len(lines[place - 1]) if place else 0)
    first_line = forms.BLOCK_LINE.search(text, begins, at)
    return first_line.start() if first_line else at


def _address(match: re.Match[str], hidden: Hide) -> str:
    """Mask what a URL carries, if it could be a secret."""
    if match["password"]:
        return match[0] if _is_in_place(match["password"]) else hidden("password", match["before"])
    value, before = (match["token"], match["user"]) if match["token"] else (match["value"], match["field"])
    return hidden("token", before) if _is_random(value) and not _is_in_place(value) else match[0]


def _is_header(match: re.Match[str]) -> bool:
    """Whether a header carries what proves who asks: base64 of a name and a password, or something random."""
    before, value = match["before"].strip().casefold(), match["value"]
    if before.endswith("basic"):
        try:
            return b":" in b64decode(value, validate=True)
        except (Error, ValueError):
            return False
    if before.startswith("cookie"):
        return "=" in value and _is_random(value)
    return len(value) >= 16 and _is_random(value)


def _assigned(match: re.Match[str], hidden: Hide) -> str:
    """Mask the value under a name that says it is secret, unless it is code or stands for a value."""
    name, value = match["name"].casefold(), match["value"]
    kept = "".join(match[part] for part in ("name", "more", "sign", "quote"))
    if match["next"]:
        return match[0]
    if match["name"].isupper() and match["sign"] == "=" and not _is_in_place(value):
        return hidden("password" if "PASS" in match["name"] or "PWD" in match["name"] else "secret", kept)
    if not any(word in name for word in _OF_KEYS):
        number = not match["more"] and value.isdigit() and len(value) >= 6
        return hidden("password", kept) if number or _is_secret(value, 6) else match[0]
    return hidden("secret", kept) if _is_secret(value, 16) and _is_random(value) else match[0]


_OF_KEYS: Final = ("secret", "token", "credential", "_pat", "bearer", "key", "钥", "令牌")
"""Names of what is long and random; under every other name a password stands."""


def _is_secret(value: str, shortest: int) -> bool:
    """Whether a value can be a secret: no name of code, no number, no file, and nothing that stands for a value."""
    value = value.rstrip(".,;:!?")
    return not (
        len(value) < shortest
        or _is_in_place(value)
        or _CODE.fullmatch(value)
        or _FILE.fullmatch(value)
        or "://" in value
    )


def _is_random(value: str) -> bool:
    """Whether a value holds digits among its letters, as words do not."""
    digits = sum(c.isdigit() for c in value)
    letters = sum(c.isalpha() for c in value)
    return digits >= 2 and letters >= 2
