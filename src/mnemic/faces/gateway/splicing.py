"""Puts texts into a JSON document, so that every other character of it stays as it came.

Read and written anew, a document is another: numbers are spelt otherwise, keys that come twice come once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]  # the decoder's own, in C where there is one
from typing import Final

from mnemic.errors import Invalid

Span = tuple[int, int]
"""Where a value begins, and where it has ended."""

_DECODER: Final = json.JSONDecoder(strict=False)
_BLANKS: Final = re.compile(r"[ \t\n\r]*")


def decoded(raw: bytes) -> str:
    """Decode a JSON document, in whichever of Unicode's encodings it is.

    Raises:
        Invalid: it is in none.
    """
    try:
        return raw.decode(json.detect_encoding(raw), "surrogatepass")
    except UnicodeDecodeError as error:
        raise Invalid("body", "is not JSON", "Send a JSON object.") from error


def members(text: str, at: int = 0) -> dict[str, Span]:
    """Find the values of the object that begins at a place of a valid JSON text, by key; of twins the last."""
    spans: dict[str, Span] = {}
    at = _next(text, _next(text, at) + 1)
    while text[at] != "}":
        key, at = scanstring(text, at + 1, False)
        start = _next(text, _next(text, at) + 1)
        spans[key] = start, end = start, _DECODER.raw_decode(text, start)[1]
        at = _next(text, end)
        at = _next(text, at + 1) if text[at] == "," else at
    return spans


def elements(text: str, at: int) -> list[Span]:
    """Find the values of the list that begins at a place of a valid JSON text."""
    spans: list[Span] = []
    at = _next(text, at + 1)
    while text[at] != "]":
        end = _DECODER.raw_decode(text, at)[1]
        spans.append((at, end))
        at = _next(text, end)
        at = _next(text, at + 1) if text[at] == "," else at
    return spans


def inserted(text: str, additions: Mapping[int, str]) -> str:
    """Put texts in at places, each before the character that stands there."""
    pieces, last = [], 0
    for at in sorted(additions):
        pieces += [text[last:at], additions[at]]
        last = at
    return "".join([*pieces, text[last:]])


def _next(text: str, at: int) -> int:
    """The place of the next character that is not blank."""
    blanks = _BLANKS.match(text, at)
    return at if blanks is None else blanks.end()
