"""A late stage of recall: what says the same thing twice is shown once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import Field
from mnemic.index.columns import FIELD_SHIFT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mnemic.core.queries import Hit
    from mnemic.index.reading import Reading

SAME: Final = 0.9
"""Share of their different words that two entries have in common to count as the same."""

SHORTEST: Final = 6
"""Entries of fewer different words are told apart only by being equal."""


class Chosen:
    """The best hits that differ from every better one, best first: worked out only as far as somebody reads.

    Each is compared with all that are kept, so what a budget will not hold is better not looked at.

    Args:
        limit: Most hits.
        twins: At most so many that say the same as a better one are passed over; then it ends.
    """

    def __init__(self, hits: Iterable[Hit], readings: Mapping[int, Reading], limit: int, twins: int) -> None:
        self._hits, self._readings = iter(hits), readings
        self._limit, self._most_twins = limit, twins
        self._kept: list[Hit] = []
        self._shown: list[frozenset[int]] = []
        self.looked = 0
        """How many hits were looked at so far."""

    def __iter__(self) -> Iterator[Hit]:
        place = 0
        while place < len(self._kept) or self._grow():
            yield self._kept[place]
            place += 1

    def __bool__(self) -> bool:
        return next(iter(self), None) is not None

    @property
    def kept(self) -> int:
        """How many of these are among them."""
        return len(self._kept)

    @property
    def twins(self) -> int:
        """How many say the same as a better one."""
        return self.looked - len(self._kept)

    def _grow(self) -> bool:
        """Find one more; whether there was one."""
        while len(self._kept) < self._limit and self.twins <= self._most_twins:
            hit = next(self._hits, None)
            if hit is None:
                return False
            self.looked += 1
            words = _words(self._readings[hit.space], hit.doc)
            if not any(_same(words, other) for other in self._shown):
                self._kept.append(hit)
                self._shown.append(words)
                return True
        return False


def twin(hit: Hit, better: Iterable[Hit], readings: Mapping[int, Reading]) -> Hit | None:
    """The hit among `better` that says the same as `hit`."""
    words = _words(readings[hit.space], hit.doc)
    return next((other for other in better if _same(words, _words(readings[other.space], other.doc))), None)


def _words(reading: Reading, place: int) -> frozenset[int]:
    """An entry's different words, its speaker among them, its dates and the names it is found by not."""
    stream = reading.stream(place)
    return frozenset(stream[stream >> FIELD_SHIFT < Field.DATE].tolist())


def _same(one: frozenset[int], other: frozenset[int]) -> bool:
    small, large = len(one), len(other)
    if small > large:
        small, large = large, small
    if small < SHORTEST:
        return one == other
    return small >= SAME * large and len(one & other) >= SAME * len(one | other)
