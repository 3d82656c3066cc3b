"""Checks of text and names that enter a store; what cannot be kept is refused, never silently repaired."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from types import NoneType
from typing import Final

from mnemic.errors import Invalid, TooLarge

NAME_LIMIT: Final = 256
"""Most characters in a name of a tenant, user, agent, session or speaker."""
FILE_NAME_LIMIT: Final = 120
"""Most bytes in what somebody gives to name a file with: systems take 255, and the rest is ours."""
_NOT_IN_FILES: Final = frozenset('/\\:*?"<>|')
_JOINERS: Final = "\u200c\u200d"
"""Not printable, and part of words in several scripts."""


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
    if any(ord(c) < 32 or ord(c) == 127 for c in name):
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
