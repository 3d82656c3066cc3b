"""Reads JSON from strangers: UTF-8 only, nothing said twice, no value that another reader would take otherwise."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from mnemic.errors import Invalid

MOST_NESTED: Final = 64
"""How deep arrays and objects may lie in each other."""
_WIDEST: Final = 2**63 - 1
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_REMEDY: Final = "Send one JSON document in UTF-8 (RFC 8259)."


def read_json(body: bytes) -> Any:
    """Parse a body.

    Raises:
        Invalid: it is not UTF-8, not JSON, nested over 64 deep, has a name twice in an object, a number that is not
            finite or is over 64 bits, or half of a character (a lone surrogate).
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Invalid("body", f"is not UTF-8 (byte {error.start})", _REMEDY) from error
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        problem = f"is not JSON ({error})" if isinstance(error, json.JSONDecodeError) else "is not JSON we can take"
        raise Invalid("body", problem, _REMEDY) from error
    if text.count("[") + text.count("{") > MOST_NESTED or _SURROGATE.search(text):
        _look_through(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise Invalid("body", f"has {twin[:60]!r} twice in one object", "Name each field once.")
    return fields


def _constant(name: str) -> Any:
    raise Invalid("body", f"holds {name}, which is not JSON", "Give a finite number, or leave it out.")


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise Invalid("body", f"holds {digits[:40]}, which no computer's number holds", "Give a smaller number.")
    return value


def _integer(digits: str) -> int:
    if len(digits) > 20 or abs(int(digits)) > _WIDEST:
        raise Invalid("body", f"holds {digits[:40]}, which is over 64 bits", "Give a smaller number, or a string.")
    return int(digits)


def _look_through(value: Any) -> None:
    """Refuse what is nested too deep, and half characters, wherever they are."""
    level = [value]
    for _ in range(MOST_NESTED + 1):
        if not level:
            return
        below: list[Any] = []
        for inner in level:
            if isinstance(inner, str):
                _refuse_half_characters(inner)
            elif isinstance(inner, dict):
                below += [*inner, *inner.values()]
            elif isinstance(inner, list):
                below += inner
        level = below
    if any(isinstance(inner, dict | list) for inner in level):
        raise Invalid("body", f"is nested over {MOST_NESTED} deep", "Send it flatter.")
    for inner in level:
        if isinstance(inner, str):
            _refuse_half_characters(inner)


def _refuse_half_characters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Invalid("body", "holds half of a character (a lone surrogate)", _REMEDY) from error


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_integer
)
