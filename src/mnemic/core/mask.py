"""Mask secrets before the journal: high-precision forms only, so that ordinary text is never touched."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import zip_longest
from typing import Final, TypeAlias

from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid

Hide: TypeAlias = Callable[[str, str], str]
"""Takes a kind and what stays before it, counts one, and gives what stands in its place."""

_LONG_RUN: Final = re.compile(r"(?<![A-Za-z0-9_.~+/=:%|$@-])[A-Za-z0-9_.~+/=:%|$@-]{16,}+")
"""Letters of keys without a blank; no key is shorter."""
_DIGITS: Final = re.compile(r"\d(?:\d{3}|[\d .\-_/\u00a0\u2007-\u2015\u202f]{11})")
_NAMES: Final = ("pass", "pwd", "secret", "key", "token", "cred", "_pat", "bearer", "auth", "cookie", "basic", "://")
_PLACEHOLDERS: Final = frozenset(
    {"password", "passwd", "pass", "pwd", "secret", "token", "changeme", "change-me", "example", "none", "null", "true"}
    | {"false", "undefined", "string", "str", "bytes", "optional", "required", "redacted", "hidden", "masked", "unset"}
)
"""What stands where a secret would."""
_CODE: Final = re.compile(r"[A-Za-z_][A-Za-z_]*(?:[.:-]{1,2}[A-Za-z_]+)*[.:!?]*|[\d.,:%+-]+")
"""A name of code or a word, or a number."""
_LINE_END: Final = re.compile(r"(\n|\\n)")
_SHORT_LINE: Final = re.compile(r"[A-Za-z0-9+/]{1,15}={0,2}|=[A-Za-z0-9+/]{4}")
"""How base64 may end."""
_FILE: Final = re.compile(r"[\w./\\~-]+\.[A-Za-z]{2,5}|~?/[a-z._]{1,12}(?:/[\w./-]*)?")
_NUMBER: Final = re.compile(r"[\d .:_-]+")


def mask(text: str) -> tuple[str, Counter[str]]:
    """Replace each secret in a text by `[masked KIND]`; return the text and how many of each kind there were.

    Each stage reads the text once, and only if a look at it says that it may find something: most texts cost three
    such looks.
    """
    found: Counter[str] = Counter()
    long = _LONG_RUN.search(text) is not None
    digits = _DIGITS.search(text) is not None
    carried = "=" in text or ":" in text
    spoken = "earer" in text or "asswor" in text or "ASSWOR" in text or "assphr" in text or "asscode" in text
    if not text.isascii():
        spoken = spoken or "密码" in text or "密碼" in text or "口令" in text or "パスワード" in text
    if not (long or digits or carried or spoken or "----" in text):
        return text, found
    low = text.lower() if carried or long else ""
    named = spoken or any(name in low for name in _NAMES)
    if not (long or digits or named or "----" in text):
        return text, found
    return _searched(text, found, long=long, digits=digits, named=named), +found


@lru_cache(maxsize=1024)  # the same few names stand beside every text
def mask_name(name: str) -> tuple[str, Counter[str]]:
    """Replace each secret in a name; a name of digits alone is none, since other programs number people and talks."""
    masked, found = mask(name)
    return (name, Counter()) if found and _NUMBER.fullmatch(name) else (masked, found)


def refuse_secrets(names: Mapping[str, object]) -> None:
    """Refuse names that hold a key, a token or a password, by field.

    These names tell things apart, so they cannot be masked: two would become one.

    Raises:
        Invalid: one does; it is not shown.
    """
    for field, name in names.items():
        if not isinstance(name, str):
            continue
        masked, found = mask_name(name)
        if found:
            at = next(n for n, pair in enumerate(zip_longest(name, masked), start=1) if pair[0] != pair[1])
            problem = (
                f"holds what looks like a secret ({next(iter(found))}, from character {at} on), and a name is kept "
                "and shown as it is"
            )
            raise Invalid(field, problem, "Nothing was written; give a name without it.")


def _searched(text: str, found: Counter[str], *, long: bool, digits: bool, named: bool) -> str:
    import_whole("mnemic.core.secret_forms")
    from mnemic.core import secret_forms as forms

    def hidden(kind: str, before: str = "") -> str:
        found[kind] += 1
        return f"{before}[masked {kind}]"

    if "----" in text or "Private-Lines" in text:
        text, found["private key"] = _without_keys(text)
    if long:
        text = forms.AWS_PAIR.sub(lambda m: hidden("api key", m[1]), text)
        text = _LONG_RUN.sub(lambda run: forms.KEY.sub(lambda m: hidden("api key"), run[0]), text)
        text = forms.LOOSE_KEY.sub(lambda m: hidden("api key") if _is_random(m[0]) else m[0], text)
        text = forms.TOKEN.sub(lambda m: hidden("token", m["before"]), text)
    if named:
        text = forms.ADDRESS.sub(lambda m: _address(m, hidden), text)
        text = forms.HEADER.sub(lambda m: hidden("token", m["before"]) if _is_header(m) else m[0], text)
        text = forms.SPOKEN.sub(lambda m: hidden("password", m["before"]) if _is_secret(m["value"], 6) else m[0], text)
        text = forms.ASSIGNED.sub(lambda m: _assigned(m, hidden), text)
    if digits:
        text = forms.CARD.sub(
            lambda m: hidden("card number") if forms.is_card("".join(filter(str.isdigit, m[0]))) else m[0], text
        )
    return text


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
        word = match["password"].casefold()
        return match[0] if word in _PLACEHOLDERS or word[0] in "${%*[" else hidden("password", match["before"])
    value, before = (match["token"], match["user"]) if match["token"] else (match["value"], match["field"])
    return hidden("token", before) if _is_random(value) and value[0] not in "${%[" else match[0]


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
    if (
        match["name"].isupper()
        and match["sign"] == "="
        and value.casefold() not in _PLACEHOLDERS
        and value[0] not in "$%*<{&"
    ):
        return hidden("password" if "PASS" in match["name"] or "PWD" in match["name"] else "secret", kept)
    if "pass" in name or name == "pwd":
        return hidden("password", kept) if _is_secret(value, 6) else match[0]
    return hidden("secret", kept) if _is_secret(value, 16) and _is_random(value) else match[0]


def _is_secret(value: str, shortest: int) -> bool:
    """Whether a value can be a secret: no name of code, no number, no file, and nothing that stands for a value."""
    value = value.rstrip(".,;:!?")
    return not (
        len(value) < shortest
        or value.casefold() in _PLACEHOLDERS
        or value[0] in "$%*<{&[("
        or _CODE.fullmatch(value)
        or _FILE.fullmatch(value)
        or "://" in value
    )


def _is_random(value: str) -> bool:
    """Whether a value holds digits among its letters, as words do not."""
    digits = sum(c.isdigit() for c in value)
    letters = sum(c.isalpha() for c in value)
    return digits >= 2 and letters >= 2
