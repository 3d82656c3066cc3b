"""What a caller may give, checked at the door: each check names the field, the value and the remedy.

A check looks at a value's type before anything else and calls nothing of a foreign one: what it raises is ours. It
returns the value in plain form, not of a subclass that could show or compare itself otherwise. Text that cannot be
kept is refused, never silently repaired. Moments are checked in `core.clock`, ids in `core.ids`.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from enum import Enum
from functools import wraps
from inspect import getattr_static
from pathlib import PurePath
from types import NoneType
from typing import Any, Final, TypeAlias, TypeVar

from mnemic.errors import Invalid, TooLarge

NAME_LIMIT: Final = 256
"""Most characters in a name of a tenant, user, agent, session or speaker."""
FILE_NAME_LIMIT: Final = 120
"""Most bytes in what somebody gives to name a file with: systems take 255, and the rest is ours."""
_NOT_IN_FILES: Final = frozenset('/\\:*?"<>|')
_JOINERS: Final = "\u200c\u200d"
"""Not printable, and part of words in several scripts."""
_FILE_NAME: Final = 255
"""Most bytes that file systems take in one name of a path."""

E = TypeVar("E", bound=Enum)
R = TypeVar("R")

Checker: TypeAlias = Callable[[str, Any], Any]
"""From the name of a field and what a caller gave for it to the value in plain form, or `Invalid`."""


def shown(value: object) -> str:
    """Shorten a value for an error message, to at most 42 characters; `repr` is called on plain types only."""
    if type(value) is int and value.bit_length() > 128:
        return f"a number of {value.bit_length()} bits"
    if type(value) not in (str, bytes, int, float, bool, NoneType):
        return type(value).__name__
    text = repr(value[:60] if isinstance(value, str | bytes) else value)
    return text if len(text) <= 42 else text[:41] + "…"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Name the nearest of what is known, as a remedy; and all of it."""
    from difflib import get_close_matches

    every = list(known)
    near = get_close_matches(name.lower(), every, n=1)
    return (f"Did you mean {near[0]!r}? " if near else "") + f"There are: {', '.join(every)}."


def clean_name(field: str, name: object) -> str:
    """Check that a text can be a name, and return it.

    Raises:
        Invalid: not a string, empty, or with a control character or lone surrogate.
        TooLarge: over 256 characters.
    """
    if not isinstance(name, str):
        raise Invalid(field, f"is {shown(name)}, not a string", "Give a name.")
    if not name.strip():
        raise Invalid(field, "is empty", "Give a name.")
    if len(name) > NAME_LIMIT:
        raise TooLarge(field, f"has {len(name)} characters", f"Names have at most {NAME_LIMIT}.")
    _refuse_unstorable(field, name)
    if not name.isprintable() and any(ord(c) < 32 or ord(c) == 127 for c in name):  # the first takes next to no time
        raise Invalid(field, "holds a control character", "Remove it.")
    return name if type(name) is str else str.__str__(name)


def clean_file_name(field: str, name: str) -> str:
    """Normalise a name (NFC) and check that it can be part of a file's name on any system, in any script.

    Raises:
        Invalid, TooLarge: it cannot.
    """
    name = unicodedata.normalize("NFC", clean_name(field, name))
    if len(name.encode()) > FILE_NAME_LIMIT:
        raise TooLarge(field, f"has {len(name.encode())} bytes", f"Names of files have at most {FILE_NAME_LIMIT}.")
    bad = next((c for c in name if c in _NOT_IN_FILES or not (c.isprintable() or c in _JOINERS)), None)
    if bad is not None:
        raise Invalid(field, f"{name!r} holds {bad!r}, which cannot be in the name of a file", "Leave it out.")
    if name != name.strip() or name.startswith("-"):
        raise Invalid(field, f"{name!r} begins with '-' or a space, or ends with one", "Leave it out.")
    return name


def clean_text(field: str, text: object, limit: int, setting: str = "input_limit") -> str:
    """Check that a text can be kept byte for byte, and return it.

    Args:
        limit: Most UTF-8 bytes, held by `setting`.

    Raises:
        Invalid: not a string, blank, or with NUL or a lone surrogate.
        TooLarge: over `limit`.
    """
    if not isinstance(text, str):
        raise Invalid(field, f"is {shown(text)}, not a string", "Decode bytes first, naming their encoding.")
    if not text.strip():
        raise Invalid(field, "is empty", "There is nothing to remember; skip it or give some text.")
    size = _refuse_unstorable(field, text)
    if size > limit:
        raise TooLarge(field, f"has {size:,} bytes", f"The limit is {limit:,} (setting `{setting}`); split it.")
    return text if type(text) is str else str.__str__(text)


def _refuse_unstorable(field: str, text: str) -> int:
    if "\x00" in text:
        raise Invalid(
            field, f"holds a NUL at character {text.index(chr(0))}", "This looks binary; remove the NUL or convert it."
        )
    try:
        return len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise Invalid(
            field,
            f"holds a lone surrogate at character {error.start}",
            "Decode the source again, as UTF-8 or its own encoding.",
        ) from error


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
        return tuple([check(f"{field}[{place}]", element) for place, element in enumerate(every)]) if every else every

    return of


def optional(check: Checker) -> Checker:
    """A check for None, or what passes `check`."""
    return lambda field, value: None if value is None else check(field, value)


def within(low: int, high: int = 2**62) -> Checker:
    """A check for a whole number from `low` to `high`."""
    return lambda field, value: whole(field, value, low=low, high=high)


def member(kind: type[E]) -> Callable[[str, Any], E]:
    """A check for a member of `kind`, or its value; a member of another enumeration is none, whatever its value."""
    known: dict[object, E] = {choice.value: choice for choice in kind}
    remedy = f"Give one of: {', '.join(str(choice.value) for choice in kind)}."

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
    for number_field in dataclasses.fields(kind):  # type: ignore[arg-type]
        plain = (
            flag
            if isinstance(number_field.default, bool)
            else within(0)
            if isinstance(number_field.default, int)
            else number
        )
        checks[number_field.name] = optional(plain) if number_field.default is None else plain
    return record(kind, checks)


def door(
    verb: Callable[..., Any],
    positional: Sequence[tuple[str, Checker | None]],
    each: Callable[[Any], Any] | None,
    checks: Mapping[str, Checker | None],
    *,
    needed: Sequence[str] = (),
    needed_by_name: Sequence[str] = (),
    known: Sequence[str] | None = None,
) -> Callable[..., Any]:
    """`verb`, a method, which gets what has passed the checks of its parameters, in plain form.

    Args:
        positional: Those that may be given by place, in order.
        each: The check of each of any number of them (`*ids`).
        checks: Those that may be given by name.
        needed, needed_by_name: Those that must be given: by place, in order, and by name only.
        known: All there are; None if it takes any name.
    """

    @wraps(verb)
    def checked(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if args:
            taken = zip(positional, args, strict=False)  # too many is for Python to say
            more = args[len(positional) :]
            args = (
                *[value if check is None else check(name, value) for (name, check), value in taken],
                *(more if each is None else [each(value) for value in more]),
            )
        for name, value in kwargs.items():
            check = checks.get(name)
            if check is not None:
                kwargs[name] = check(name, value)
            elif known is not None and name not in known:
                remedy = did_you_mean(name, known) if known else "It takes none by name."
                raise Invalid(name, f"is no parameter of {verb.__name__}", remedy)
        for name in (*needed[len(args) :], *needed_by_name):
            if name not in kwargs:
                raise Invalid(name, f"is missing, which {verb.__name__} must have", f"Give {name}=...")
        return verb(self, *args, **kwargs)

    return checked
