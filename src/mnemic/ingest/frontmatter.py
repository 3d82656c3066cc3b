"""The few lines of `name: value` that may open a Markdown file, read without a YAML parser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

Line = tuple[int, str]
"""A line's number, from 1, and its text."""

_ENTRY: Final = re.compile(r"([^\W\d][\w -]{0,40}):(?:[ \t]+(.*))?")
_BULLET: Final = re.compile(r"[ \t]*-[ \t]+(.*)")
_COMMENT: Final = re.compile(r"(?<!\s)\s++#.*$")
_MOST_LINES: Final = 200


def split_front_matter(lines: Iterator[Line]) -> tuple[dict[str, object], Iterator[Line]]:
    """The fields of the front matter, strings or lists of strings, and the lines that follow it.

    A first line `---` without a closing `---` or `...` in the next 200 lines opens none: every line follows.
    """
    held = list(islice(lines, 1))
    if not held or held[0][1].rstrip() != "---":
        return {}, chain(held, lines)
    for line in islice(lines, _MOST_LINES):
        held.append(line)
        if line[1].rstrip() in ("---", "..."):
            return _fields([text for _, text in held[1:-1]]), lines
    return {}, chain(held, lines)


def _fields(lines: list[str]) -> dict[str, object]:
    fields: dict[str, object] = {}
    last = ""
    for line in lines:
        if entry := _ENTRY.fullmatch(line.rstrip()):
            last = entry[1].strip().lower()
            fields[last] = _value(entry[2] or "")
        elif last and (bullet := _BULLET.fullmatch(line)):
            before = fields[last]
            fields[last] = [*(before if isinstance(before, list) else []), _plain(bullet[1])]
    return fields


def _value(raw: str) -> object:
    text = raw.strip()
    if text.startswith("[") and text.endswith("]"):
        return [plain for part in text[1:-1].split(",") if (plain := _plain(part))]
    return _plain(text)


def _plain(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return _unescaped(text) if text[0] == '"' else text[1:-1]
    return _COMMENT.sub("", text)


def _unescaped(quoted: str) -> str:
    """A text in double quotes, where a backslash escapes, as in YAML; one that escapes nothing stands for itself."""
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted[1:-1]
