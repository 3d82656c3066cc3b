"""What a caller may give, checked at the door: each check names the field, the value and the remedy.

A check looks at a value's type before anything else and calls nothing of a foreign one: what it raises is ours. It
returns the value in plain form, not of a subclass that could show or compare itself otherwise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import datetime
from enum import Enum
from inspect import getattr_static
from pathlib import PurePath
from typing import Any, Final, TypeAlias, TypeVar

from mnemic.core.clock import micros
from mnemic.core.ids import ItemId, to_bytes
from mnemic.core.text import clean_name, clean_text, shown
from mnemic.errors import Invalid, TooLarge

_FILE_NAME: Final = 255
"""Most bytes that file systems take in one name of a path."""

E = TypeVar("E", bound=Enum)
R = TypeVar("R")

Checker: TypeAlias = Callable[[str, Any], Any]
"""From the name of a field and what a caller gave for it to the value in plain form, or `Invalid`."""


def whole(field: str, value: object, *, low: int = 0, high: int = 2**62) -> int:
    """`value` itself, if it is a whole number of `low` to `high`."""
    number = isinstance(value, int) and not isinstance(value, bool)
    if not isinstance(value, int) or not number or not low <= value <= high:
        problem = f"is {shown(value)}" if number else f"is {shown(value)}, not a whole number"
        raise Invalid(field, problem, f"Give {low:,} to {high:,}." if high < 2**62 else f"Give at least {low:,}.")
    return value if type(value) is int else int.__int__(value)


def number(field: str, value: object) -> float:
    """`value` itself, if it is a finite number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2**62:
        raise Invalid(field, f"is {shown(value)}", "Give a number of at least 0.")
    return value if type(value) in (int, float) else float.__float__(float(value))


def flag(field: str, value: object) -> bool:
    """`value` itself, if it is True or False."""
    if not isinstance(value, bool):
        raise Invalid(field, f"is {shown(value)}", "Give True or False.")
    return value


def instant(field: str, value: object) -> datetime:
    """`value` itself, if it is an aware datetime within years 1-9999."""
    if not isinstance(value, datetime):
        raise Invalid(field, f"is {shown(value)}, not a datetime", "Give an aware datetime.")
    micros(value, field)
    return value


def text_field(field: str, value: object) -> str:
    """`value` itself, if it is a short line of text that can be kept."""
    return clean_name(field, value)


def words(field: str, value: object) -> str:
    """`value` itself, if it is a text that can be kept; it may be empty."""
    if not isinstance(value, str):
        raise Invalid(field, f"is {shown(value)}, not a string", "Give a text.")
    return value if not value else clean_text(field, value + ".", 2**62)[:-1]


def question(field: str, value: object) -> str:
    """`value` itself, if it asks something."""
    if isinstance(value, str) and not value.strip():
        raise Invalid(field, "is empty", "Ask something, in words.")
    return words(field, value)


def item_id(field: str, value: object) -> ItemId:
    """`value` itself, if it is an id that mnemic made."""
    if isinstance(value, list | tuple | set | frozenset):
        raise Invalid(field, f"is a {type(value).__name__} of them", "Give ids one by one: `pin(*ids)`.")
    to_bytes(value, field)
    return ItemId(value if type(value) is str else str.__str__(value))


def path(field: str, value: object) -> str:
    """The words of a path that a file can have."""
    if not isinstance(value, str | PurePath):
        raise Invalid(field, f"is {shown(value)}", "Give a path.")
    named = words(field, str(value) if isinstance(value, PurePath) else value)
    if not named.strip():
        raise Invalid(field, "is empty", "Give a path.")
    if any(len(part.encode()) > _FILE_NAME for part in PurePath(named).parts):
        raise TooLarge(field, f"{shown(named)} is too long", f"A name in a path has at most {_FILE_NAME} bytes.")
    return named


def callback(field: str, value: object) -> Callable[..., Any]:
    """`value` itself, if it can be called."""
    if not callable(value):
        raise Invalid(field, f"is {shown(value)}", "Give a function.")
    return value


def mapping(field: str, value: object) -> dict[str, Any]:
    """`value` as a dict, if it is one from names to whatever."""
    if not isinstance(value, Mapping):
        raise Invalid(field, f"is {shown(value)}", "Give a mapping.")
    plain = dict(value)
    for key in plain:
        if not isinstance(key, str):
            raise Invalid(field, f"has a key {shown(key)}, which is not a string", "Name every field by a string.")
    return plain


def listed(field: str, value: object) -> tuple[Any, ...]:
    """`value` as a tuple, if it is a list, a tuple or a set; what is read once, or may never end, is none."""
    if isinstance(value, str):
        raise Invalid(field, "is one string", f"Give a list of {field.rpartition('.')[2]}.")
    if isinstance(value, bytes | bytearray | memoryview) or not isinstance(value, Sequence | Set):
        raise Invalid(field, f"is {shown(value)}, not a list", "Give a list.")
    return value if type(value) is tuple else tuple(value)


def list_of(check: Checker) -> Checker:
    """A check for a list, of which each passes `check`."""

    def of(field: str, value: object) -> tuple[Any, ...]:
        every = listed(field, value)
        return tuple([check(f"{field}[{place}]", one) for place, one in enumerate(every)]) if every else every

    return of


def optional(check: Checker) -> Checker:
    """A check for None, or what passes `check`."""
    return lambda field, value: None if value is None else check(field, value)


def within(low: int, high: int = 2**62) -> Checker:
    """A check for a whole number from `low` to `high`."""
    return lambda field, value: whole(field, value, low=low, high=high)


def member(kind: type[E]) -> Callable[[str, Any], E]:
    """A check for a member of `kind`, or its value; a member of another enumeration is none, whatever its value."""
    known: dict[object, E] = {one.value: one for one in kind}
    remedy = f"Give one of: {', '.join(str(one.value) for one in kind)}."

    def of(field: str, value: object) -> E:
        if isinstance(value, kind):
            return value
        if type(value) in (str, int) and value in known:
            return known[value]
        raise Invalid(field, f"{shown(value)} is none" if type(value) is str else f"is {shown(value)}", remedy)

    return of


def instance(kind: type) -> Checker:
    """A check for an instance of `kind`."""

    def of(field: str, value: object) -> object:
        if not isinstance(value, kind):
            raise Invalid(field, f"is {shown(value)}", f"Give a {kind.__name__}.")
        return value

    return of


def offering(*names: str) -> Checker:
    """A check for an object with methods of these names."""

    def of(field: str, value: object) -> object:
        for name in names:
            method = getattr_static(value, name, None)
            if not callable(method) and not isinstance(method, classmethod):
                raise Invalid(field, f"{shown(value)} has no {name}", f"Give an object with {', '.join(names)}.")
        return value

    return of


def record(kind: type[R], checks: Mapping[str, Checker], *, prefixed: bool = True) -> Callable[[str, Any], R]:
    """A check for an instance of a dataclass whose fields pass `checks`; `prefixed`, they are named behind it."""

    def of(field: str, value: object) -> R:
        if not isinstance(value, kind):
            raise Invalid(field, f"is {shown(value)}", f"Give a {kind.__name__}.")
        changes = {}
        for name, check in checks.items():
            held = getattr(value, name)
            if (plain := check(f"{field}.{name}" if prefixed else name, held)) is not held:
                changes[name] = plain
        return dataclasses.replace(value, **changes) if changes else value  # type: ignore[type-var]

    return of


def numbers_of(kind: type[R]) -> Callable[[str, Any], R]:
    """A check for a dataclass of which each field is a number, True or False, or None if that is its default."""
    checks: dict[str, Checker] = {}
    for one in dataclasses.fields(kind):  # type: ignore[arg-type]
        plain = flag if isinstance(one.default, bool) else within(0) if isinstance(one.default, int) else number
        checks[one.name] = optional(plain) if one.default is None else plain
    return record(kind, checks)
