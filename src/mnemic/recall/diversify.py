"""A late stage of recall: what says the same thing twice is shown once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import Field
from mnemic.index.columns import FIELD_SHIFT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mnemic.core.queries import Hit
    from mnemic.index.reading import Reading

SAME: Final = 0.9
"""Share of their different words that two entries have in common to count as the same."""

SHORTEST: Final = 6
"""Entries of fewer different words are told apart only by being equal."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The hits that differ from each other, best first.

    Attributes:
        looked: How many hits were looked at.
        twins: How many of these say the same as a better one.
    """

    hits: list[Hit]
    looked: int
    twins: int


def diversify(hits: Iterable[Hit], readings: Mapping[int, Reading], limit: int, twins: int) -> Chosen:
    """The best `limit` hits that differ from every better one; at most `twins` that do not are passed over."""
    kept: list[Hit] = []
    shown: list[frozenset[int]] = []
    looked = 0
    for hit in hits:
        looked += 1
        words = _words(readings[hit.space], hit.doc)
        if not any(_same(words, other) for other in shown):
            kept.append(hit)
            shown.append(words)
        if len(kept) == limit or looked - len(kept) > twins:
            break
    return Chosen(kept, looked, looked - len(kept))


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
