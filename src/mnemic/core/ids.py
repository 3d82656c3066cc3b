"""Item ids and randomness: 128 bits, time-ordered, 26 lower-case characters, from an injected source."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from typing import Final, NewType, Protocol

from mnemic.core.checking import shown
from mnemic.errors import Invalid

ItemId = NewType("ItemId", str)
"""26 characters of Crockford's base 32 in lower case. Order in time is the journal's seq, never the id."""

ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
"""The characters of ids, in the order of what they stand for."""
_PAIRS: Final = [a + b for a in ALPHABET for b in ALPHABET]
_TO_PYTHON: Final = str.maketrans(ALPHABET, "0123456789abcdefghijklmnopqrstuv")
"""Python reads base 32 by its own digits."""
_FORM: Final = re.compile(f"[0-7][{ALPHABET}]{{25}}")
"""128 bits leave three for the first of 26 characters."""


class Entropy(Protocol):
    """A source of random bytes."""

    def bytes(self, n: int) -> bytes:
        """Return `n` random bytes."""
        ...


class SystemEntropy:
    """The operating system's random source; safe across forks."""

    def bytes(self, n: int) -> bytes:
        return os.urandom(n)


def new_id(now_us: int, entropy: Entropy) -> ItemId:
    """Make a fresh id: 48 bits of milliseconds, then 80 random bits."""
    return from_bytes((max(now_us, 0) // 1000).to_bytes(6, "big") + entropy.bytes(10))


def derived_id(source: ItemId, *parts: object) -> ItemId:
    """Derive an id from an item's: its milliseconds, then 80 bits of a hash over it and `parts`."""
    hashed = "\n".join(map(str, (source, *parts))).encode()
    return from_bytes(to_bytes(source)[:6] + hashlib.blake2b(hashed, digest_size=10).digest())


def from_bytes(raw: bytes) -> ItemId:
    """Encode 16 bytes as an id of 26 characters."""
    number = int.from_bytes(raw, "big")
    return ItemId("".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)]))


def all_from_bytes(every: Iterable[bytes]) -> list[ItemId]:
    """Encode many at once."""
    return [from_bytes(raw) for raw in every]


def prefix_range(prefix: str) -> tuple[bytes, bytes] | None:
    """Find the lowest and the highest 16 bytes of ids that begin with these characters; None if none can.

    Args:
        prefix: Up to 26 characters of the alphabet of ids.
    """
    if prefix and prefix[0] not in ALPHABET[:8]:
        return None
    lowest, highest = prefix.ljust(26, "0"), (prefix or "7").ljust(26, "z")
    return to_bytes(lowest), to_bytes(highest)


def suffix_bytes(suffix: str) -> bytes:
    """Decode the whole bytes that end every id with this suffix; up to seven bits at its front are dropped."""
    count = 5 * len(suffix) // 8
    number = int(suffix.translate(_TO_PYTHON), 32) if suffix else 0
    return (number & (1 << 8 * count) - 1).to_bytes(count, "big")


def to_bytes(item: object, field: str = "id") -> bytes:
    """Decode an id to its 16 bytes.

    Raises:
        Invalid: `item` is not an id that mnemic made.
    """
    if not isinstance(item, str) or _FORM.fullmatch(item) is None:
        raise Invalid(field, f"{shown(item)} is not an item id", "Ids have 26 characters; `mnemic list` shows them.")
    return int(item.translate(_TO_PYTHON), 32).to_bytes(16, "big")


def item_id(field: str, value: object) -> ItemId:
    """`value` itself, if it is an id that mnemic made."""
    if isinstance(value, list | tuple | set | frozenset):
        raise Invalid(field, f"is a {type(value).__name__} of them", "Give ids one by one: `pin(*ids)`.")
    to_bytes(value, field)
    return ItemId(value if type(value) is str else str.__str__(value))
