"""A late stage of recall: what says the same thing twice is shown once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import Field
from mnemic.index.columns import FIELD_SHIFT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mnemic.core.queries import Hit
    from mnemic.index.reading import Reading

SAME: Final = 0.9
"""Share of their different words that two entries have in common to count as the same."""

SHORTEST: Final = 6
"""Entries of fewer different words are told apart only by being equal."""


def one_part_each(hits: list[Hit]) -> list[Hit]:
    """Of several parts of one item, the best."""
    best: dict[tuple[int, int], Hit] = {}
    for hit in hits:
        best.setdefault((hit.space, hit.ver), hit)
    return list(best.values())


def diversify(hits: list[Hit], readings: Mapping[int, Reading], limit: int) -> list[Hit]:
    """The best `limit` hits that differ from every better one."""
    kept: list[Hit] = []
    shown: list[frozenset[int]] = []
    for hit in hits:
        words = _words(readings[hit.space], hit.doc)
        if not any(_same(words, other) for other in shown):
            kept.append(hit)
            shown.append(words)
            if len(kept) == limit:
                break
    return kept


def twin(hit: Hit, better: list[Hit], readings: Mapping[int, Reading]) -> Hit | None:
    """The hit among `better` that says the same as `hit`."""
    words = _words(readings[hit.space], hit.doc)
    return next((other for other in better if _same(words, _words(readings[other.space], other.doc))), None)


def _words(reading: Reading, place: int) -> frozenset[int]:
    """An entry's different words, its speaker among them, its dates not."""
    stream = reading.stream(place)
    return frozenset(stream[stream >> FIELD_SHIFT != Field.DATE].tolist())


def _same(one: frozenset[int], other: frozenset[int]) -> bool:
    small, large = sorted((len(one), len(other)))
    if small < SHORTEST:
        return one == other
    return small >= SAME * large and len(one & other) >= SAME * len(one | other)
