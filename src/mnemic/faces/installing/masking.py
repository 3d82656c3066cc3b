"""Secrets of others taken out of what is shown of a configuration: it ends up in terminals, logs and bug reports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from mnemic.core.mask import mask
from mnemic.faces.installing import toml_tables
from mnemic.faces.installing.json_spans import Node, parse

MASKED: Final = "[masked]"
_SECRET: Final = re.compile(
    r"^(?:env|environment|(?:http_?)?headers)$|token|secret|passw|api_?-?key|authorization", re.IGNORECASE
)
"""Keys under which secrets stand."""
_SHORT: Final = 6
"""Characters below which a value may well be an ordinary word elsewhere in the file."""


def masked(said: Any) -> Any:
    """A value as it may be shown."""
    if isinstance(said, dict):
        return {key: _covered(one) if _SECRET.search(str(key)) else masked(one) for key, one in said.items()}
    if isinstance(said, list):
        return [masked(one) for one in said]
    return mask(said)[0] if isinstance(said, str) else said


def masked_json(text: str, *, comments: bool) -> str:
    """A JSON text as it may be shown, line by line where it was."""
    if not text.strip():
        return text
    kept, at = [], 0
    for node in _secrets(parse(text, comments=comments), secret=False):
        kept += [text[at : node.start], f'"{MASKED}"']
        at = node.end
    return mask("".join((*kept, text[at:])))[0]


def masked_toml(text: str) -> str:
    """A TOML text as it may be shown."""
    values = sorted(set(_texts(toml_tables.read(text), secret=False)), key=len, reverse=True)
    for value in values:
        text = _quoted(value).sub(lambda match: f'{match["before"]}"{MASKED}"', text)
    return mask(text)[0]


def _covered(said: Any) -> Any:
    if isinstance(said, dict):
        return {key: _covered(one) for key, one in said.items()}
    return [_covered(one) for one in said] if isinstance(said, list) else MASKED


def _secrets(node: Node, *, secret: bool) -> Iterator[Node]:
    """What is to be masked, in the order of the text."""
    if node.kind == "scalar":
        if secret:
            yield node
        return
    for member in node.members:
        yield from _secrets(member.value, secret=secret or bool(member.key and _SECRET.search(member.key)))


def _texts(said: Any, *, secret: bool) -> Iterator[str]:
    if isinstance(said, dict):
        for key, one in said.items():
            yield from _texts(one, secret=secret or bool(_SECRET.search(key)))
    elif isinstance(said, list):
        for one in said:
            yield from _texts(one, secret=secret)
    elif secret and isinstance(said, str) and said:
        yield said


def _quoted(value: str) -> re.Pattern[str]:
    """A value as a string of TOML: spelt out, or with what JSON escapes escaped."""
    forms = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    before = r"=[ \t]*" if len(value) < _SHORT else ""
    told = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    return re.compile(rf"(?P<before>{before})(?P<quote>\"\"\"|'''|\"|')(?:\r?\n)?(?:{told})(?P=quote)")
