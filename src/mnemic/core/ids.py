"""Item ids and randomness: 128 bits, time-ordered, 26 lower-case characters, from an injected source."""

from __future__ import annotations

import os
from typing import Final, NewType, Protocol

from mnemic.errors import Invalid

ItemId = NewType("ItemId", str)
"""26 characters of Crockford's base 32 in lower case. Order in time is the journal's seq, never the id."""

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_VALUES: Final = {c: i for i, c in enumerate(_ALPHABET)}
_LENGTH: Final = 26


class Entropy(Protocol):
    """Where random bytes come from."""

    def bytes(self, n: int) -> bytes:
        """`n` random bytes."""
        ...


class SystemEntropy:
    """The operating system's random source; safe across forks."""

    def bytes(self, n: int) -> bytes:
        return os.urandom(n)


def new_id(now_us: int, entropy: Entropy) -> ItemId:
    """A fresh id: 48 bits of milliseconds, then 80 random bits."""
    return from_bytes((max(now_us, 0) // 1000).to_bytes(6, "big") + entropy.bytes(10))


def from_bytes(raw: bytes) -> ItemId:
    """The 26-character form of 16 bytes."""
    number = int.from_bytes(raw, "big")
    return ItemId("".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5)))


def to_bytes(item: str, field: str = "id") -> bytes:
    """The 16 bytes of an id.

    Raises:
        Invalid: `item` is not an id that mnemic made.
    """
    try:
        number = 0
        for character in item:
            number = number << 5 | _VALUES[character]
        if len(item) != _LENGTH or number >> 128:
            raise ValueError(item)
    except (KeyError, ValueError, TypeError) as error:
        shown = repr(item)[:60]
        raise Invalid(field, f"{shown} is not an item id", "Ids have 26 characters; `mnemic list` shows them.") from error
    return number.to_bytes(16, "big")
