"""What a caller may give, checked at the door: each function names the field and the remedy."""

from __future__ import annotations

import math
from datetime import datetime

from mnemic.core.clock import micros
from mnemic.core.text import clean_name
from mnemic.errors import Invalid


def whole(field: str, value: object, *, low: int = 0, high: int = 2**62) -> int:
    """`value` itself, if it is a whole number of `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise Invalid(field, f"is {type(value).__name__}, not a whole number", f"Give {low} to {high}.")
    if not low <= value <= high:
        raise Invalid(field, f"is {value}", f"Give {low} to {high}.")
    return value


def number(field: str, value: object) -> float:
    """`value` itself, if it is a finite number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value >= 0):
        raise Invalid(field, f"is {value!r}", "Give a number of at least 0.")
    return value


def instant(field: str, value: object) -> datetime:
    """`value` itself, if it is an aware datetime within years 1-9999."""
    if not isinstance(value, datetime):
        raise Invalid(field, f"is {type(value).__name__}, not a datetime", "Give an aware datetime.")
    micros(value, field)
    return value


def text_field(field: str, value: object) -> str:
    """`value` itself, if it is a short line of text that can be kept."""
    return clean_name(field, value)
