"""Secrets of others taken out of what is shown of a configuration: it ends up in terminals, logs and bug reports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from mnemic.core.mask import mask
from mnemic.faces.installing import toml_tables
from mnemic.faces.installing.json_spans import Node, parse, value

MASKED: Final = "[masked]"
_SECRET_NAME: Final = re.compile(
    r"^(?:env|environment|(?:http_?)?headers)$|token|secret|passw|passphrase|(?<![a-z])pwd|cookie|credential|creds\b|bearer"
    r"|auth(?!or(?!i[sz]))|signature|(?:^|[_-])pat$|(?:api|access|private|account|signing|master|service|license|client)[_-]?key",
    re.IGNORECASE,
)
"""Names under which secrets stand: keys, flags, headers, variables."""
_NAMED: Final = re.compile(r"(?P<name>-{0,2}[A-Za-z][\w.-]*)(?P<sign>=|:[ \t]*)(?P<value>.+)", re.DOTALL)
"""A flag or variable with its value, or a header."""
_FLAG: Final = re.compile(r"--?[A-Za-z][\w-]*")
_HEADER_FLAGS: Final = frozenset({"-H", "--header", "--headers"})
_LOGIN_FLAGS: Final = frozenset({"-u", "--user", "--userpwd"})
_FIELD: Final = re.compile(r"(?<=[?&;#])(?P<name>[\w.-]+)=(?P<value>[^&#\s]+)")
_RANDOM: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])[A-Za-z0-9_-]{20,}(?![A-Za-z0-9_-])"
)
_SHORT: Final = 6
"""Characters below which a value may well be an ordinary word elsewhere in the file."""


def masked(said: Any, *, secret: bool = False, before: Any = None) -> Any:
    """A value as it may be shown.

    Args:
        secret: It stands under a name that says so.
        before: What stands before it in a list, such as the flag before an argument.
    """
    if isinstance(said, dict):
        return {key: masked(part, secret=secret or _is_secret(str(key))) for key, part in said.items()}
    if isinstance(said, list):
        return [masked(part, secret=secret, before=b) for b, part in zip([None, *said], said, strict=False)]
    if secret:
        return MASKED
    return _text(said, before) if isinstance(said, str) else said


def _is_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def _text(said: str, before: Any) -> str:
    if isinstance(before, str) and _FLAG.fullmatch(before) and (_is_secret(before) or before in _LOGIN_FLAGS):
        return said if _FLAG.fullmatch(said) else MASKED
    named = _NAMED.fullmatch(said)
    if named and not named["value"].startswith("//") and (_is_secret(named["name"]) or before in _HEADER_FLAGS):
        return f"{named['name']}{named['sign']}{MASKED}"
    return _shown(said)


def _shown(text: str) -> str:
    """A text as it may be shown: without secrets by their form, and in a URL by their name and by chance letters."""
    if "://" in text:
        text = _FIELD.sub(
            lambda m: f"{m['name']}={MASKED}" if _is_secret(m["name"]) or m["name"] == "key" else m[0], text
        )
        text = _RANDOM.sub(MASKED, text)
    return mask(text)[0]


def masked_json(text: str, *, comments: bool) -> str:
    """A JSON text as it may be shown, line by line where it was."""
    if not text.strip():
        return text
    kept, at = [], 0
    for node, shown in _changes(parse(text, comments=comments), text):
        kept += [text[at : node.start], json.dumps(shown, ensure_ascii=False)]
        at = node.end
    return mask("".join((*kept, text[at:])))[0]


def masked_toml(text: str) -> str:
    """A TOML text as it may be shown."""
    said = toml_tables.read(text)
    shown = dict(_pairs(said, masked(said)))
    for secret in sorted(shown, key=len, reverse=True):
        said_again = json.dumps(shown[secret], ensure_ascii=False)
        text = _quoted(secret).sub(lambda match, again=said_again: f"{match['before']}{again}", text)  # type: ignore[misc]
    return mask(text)[0]


def _changes(node: Node, text: str, *, secret: bool = False, before: Any = None) -> Iterator[tuple[Node, Any]]:
    """Find the scalars that are shown otherwise than they stand in the text, in its order."""
    if node.kind == "scalar":
        said = value(text, node)
        if (shown := masked(said, secret=secret, before=before)) != said:
            yield node, shown
        return
    previous: Any = None
    for member in node.members:
        named = secret or bool(member.key and _is_secret(member.key))
        yield from _changes(member.value, text, secret=named, before=previous)
        listed = node.kind == "array" and member.value.kind == "scalar"
        previous = value(text, member.value) if listed else None


def _pairs(said: Any, shown: Any) -> Iterator[tuple[str, str]]:
    """Find every text that is shown otherwise, with what is shown for it."""
    if isinstance(said, dict):
        for key, part in said.items():
            yield from _pairs(part, shown[key])
    elif isinstance(said, list):
        for part, other in zip(said, shown, strict=True):
            yield from _pairs(part, other)
    elif isinstance(said, str) and said and said != shown:
        yield said, shown


def _quoted(value: str) -> re.Pattern[str]:
    """A value as a string of TOML: spelt out, or with what JSON escapes escaped."""
    forms = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    before = r"=[ \t]*" if len(value) < _SHORT else ""
    alternatives = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    return re.compile(rf"(?P<before>{before})(?P<quote>\"\"\"|'''|\"|')(?:\r?\n)?(?:{alternatives})(?P=quote)")
