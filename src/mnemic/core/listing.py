"""Listings: what a verb lists comes in pages, each with a cursor that the next one begins at."""

from __future__ import annotations

import binascii
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, TypeVar, overload

from mnemic.errors import Invalid

T = TypeVar("T", covariant=True)
R = TypeVar("R")

LISTED: Final = 100
"""How much a page holds, of what is listed in rows, where nobody says how much."""

_MARK: Final = "c"
"""What a cursor begins with: a number does not, nor does an option of a command line."""
_DIGEST: Final = 4
_TO_WORD: Final = bytes.maketrans(b"+/", b"-_")
_FROM_WORD: Final = bytes.maketrans(b"-_+/", b"+/!!")


@dataclass(frozen=True, slots=True, eq=False)
class Listing(Sequence[T]):
    """One page of what a verb lists, and the cursor of the next one. It is a sequence, equal to a list of the same.

    Attributes:
        items: What is on this page, in the order of the listing.
        next: What to give the same verb as `after` for the next page; None on the last one.
    """

    items: tuple[T, ...] = ()
    next: str | None = None

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...

    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Listing):
            return (self.items, self.next) == (other.items, other.next)
        return isinstance(other, list | tuple) and self.items == tuple(other)

    __hash__ = None  # type: ignore[assignment]


def all_of(verb: Callable[..., Listing[R]], /, **given: Any) -> Iterator[R]:
    """Iterate over all that a verb lists, page after page: `for version in all_of(me.list, where=...)`.

    A verb that is awaited is called again with `after=page.next` by hand, until that is None.

    Args:
        given: What the verb takes; its `limit` is how much is read at once.
    """
    page = verb(**given)
    yield from page
    while page.next is not None:
        page = verb(**{**given, "after": page.next})
        yield from page


def one_page(items_and_more: Sequence[R], limit: int, cursor: Callable[[R], str]) -> Listing[R]:
    """Make a page of what was found when one more than `limit` was looked for; `cursor` makes that of its last."""
    items = tuple(items_and_more[:limit])
    return Listing(items, cursor(items[-1]) if len(items_and_more) > limit else None)


@dataclass(frozen=True, slots=True)
class Cursors:
    """Makes the cursors of one listing, and reads them again. They hold numbers of what was listed, and no words.

    Attributes:
        listing: What is listed, of whom, by which filter and in which order: a cursor of another is refused.
        size: How many numbers say where it goes on.
    """

    listing: str
    size: int

    def write(self, *place: int) -> str:
        """Make the cursor of a place."""
        numbers = struct.pack(f">{self.size}q", *place)
        body = self._digest() + numbers
        coded = binascii.b2a_base64(_checksum(body) + body, newline=False)
        return _MARK + coded.translate(_TO_WORD).decode().rstrip("=")

    def read(self, cursor: str) -> tuple[int, ...]:
        """Read the place that a cursor names.

        Raises:
            Invalid: it is no cursor, or one of another listing.
        """
        try:
            coded = cursor.removeprefix(_MARK).encode("ascii").translate(_FROM_WORD)
            raw = binascii.a2b_base64(coded + b"=" * (-len(coded) % 4), strict_mode=True)
        except ValueError:
            raw = b""
        checksum, body = raw[:_DIGEST], raw[_DIGEST:]
        if not cursor.startswith(_MARK) or len(body) < _DIGEST or checksum != _checksum(body):
            raise Invalid("after", f"{cursor[:60]!r} is no cursor", "Give the `next` of the page before, whole.")
        if body[:_DIGEST] != self._digest() or len(body) != _DIGEST + 8 * self.size:
            remedy = "Go on with the verb, the user, the filter and the order of the page before."
            raise Invalid("after", "is a cursor of another listing", remedy)
        return struct.unpack(f">{self.size}q", body[_DIGEST:])

    def _digest(self) -> bytes:
        return _checksum(self.listing.encode())


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=_DIGEST).digest()
