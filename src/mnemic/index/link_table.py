"""The links of one space as arrays, and which item each of its versions is of; both follow the journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.clock import FOREVER
from mnemic.store.engine.codec import decode_link

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from mnemic.core.ids import ItemId
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.row_values import LinkRow

    Numbers = NDArray[np.int64]
    Weights = NDArray[np.float64]

_ITEM_BYTES: Final = 250
"""What an item takes here, about: its id, its number, and the entry that leads from one to the other."""


@dataclass(frozen=True, slots=True)
class SpaceLinks:
    """The links that a view shows of one space, and which of its items.

    Attributes:
        ids: The ids of items by number. There may be more by now: the arrays say how many are meant.
        numbers: The other way round.
        shown: Which items the view shows: (items,).
        here: Which items have a version in this space: (items,).
        sources, targets: The ends of each link, by number: (links,).
        types: The number of each link's type in `type_names`: (links,).
        weights: Of each link: (links,).
        known: The ends and type of every link that this space had by then, ended or not: what it says of them counts,
            and nothing that a layer behind it says.
    """

    ids: Sequence[ItemId]
    numbers: Mapping[ItemId, int]
    shown: NDArray[np.bool_]
    here: NDArray[np.bool_]
    sources: Numbers
    targets: Numbers
    types: Numbers
    weights: Weights
    type_names: Sequence[str]
    known: tuple[Numbers, Numbers, Numbers]


class LinkTable:
    """All links of one space, ended ones too. Not safe to share while it follows; what `shown` returns is.

    Attributes:
        seq: The commit up to which it has followed the journal.
    """

    def __init__(self, space: int) -> None:
        self.space, self.seq = space, 0
        self._ids: list[ItemId] = []
        self._numbers: dict[ItemId, int] = {}
        self._types: dict[str, int] = {}
        self._vers = np.empty(0, np.int64)
        self._items = np.empty(0, np.int64)
        self._ends = np.empty((3, 0), np.int64)
        self._spans = np.empty((2, 0), np.int64)
        self._weights = np.empty(0, np.float64)
        self._standing: dict[tuple[int, int, int], int] = {}

    @property
    def nbytes(self) -> int:
        """Memory taken, about."""
        arrays = (self._vers, self._items, self._ends, self._spans, self._weights)
        return sum(array.nbytes for array in arrays) + _ITEM_BYTES * (len(self._ids) + len(self._standing))

    def follow(self, snapshot: Snapshot, seq: int, vers: Numbers) -> None:
        """Take in what was written since.

        Args:
            seq: The snapshot's head.
            vers: The numbers of all versions of the space, ascending.
        """
        fresh = vers[vers.searchsorted(self._vers[-1], "right") :] if len(self._vers) else vers
        if len(fresh):
            ids = snapshot.item_ids(self.space, fresh.tolist())
            kept = fresh[np.isin(fresh, np.fromiter(ids, np.int64, len(ids)))]
            items = np.array([self._number(ids[ver]) for ver in kept.tolist()], np.int64)
            self._vers, self._items = np.append(self._vers, kept), np.append(self._items, items)
        if seq > self.seq:
            self._take(snapshot.links_since(self.space, self.seq))
            self.seq = seq

    def _number(self, id: ItemId) -> int:
        number = self._numbers.setdefault(id, len(self._ids))
        if number == len(self._ids):
            self._ids.append(id)
        return number

    def _take(self, rows: Iterable[LinkRow]) -> None:
        """Add versions of links, in order of writing: each ends the one of the same ends and type that stood."""
        ends: list[tuple[int, int, int]] = []
        begun: list[int] = []
        weights: list[float] = []
        ended: list[tuple[int, int]] = []
        first = len(self._weights)
        for row in rows:
            link = decode_link(row)
            key = self._number(link.src), self._number(link.dst), self._types.setdefault(link.type, len(self._types))
            if (before := self._standing.get(key)) is not None:
                ended.append((before, row.seq_from))
            self._standing[key] = first + len(ends)
            ends.append(key)
            begun.append(row.seq_from)
            weights.append(link.weight if row.open else 0.0)
        if ends:
            spans = np.array([begun, [FOREVER] * len(begun)], np.int64)
            self._ends = np.concatenate((self._ends, np.array(ends, np.int64).T), axis=1)
            self._spans = np.concatenate((self._spans, spans), axis=1)  # a new one: readers keep the old one as it was
            self._weights = np.append(self._weights, weights)
        for place, seq in ended:
            self._spans[1, place] = seq

    def shown(self, at: int, vers: Numbers) -> SpaceLinks:
        """The links that stand as of a commit, and the items of which one of some versions is shown.

        A link without weight leads nowhere.
        """
        shown, here = np.zeros((2, len(self._ids)), np.bool_)
        here[self._items] = True
        places = self._vers.searchsorted(vers)
        inside = places < len(self._vers)
        places = places[inside]
        shown[self._items[places[self._vers[places] == vers[inside]]]] = True
        begun, ends = self._spans
        stand = (begun <= at) & (at < ends) & (self._weights > 0)
        sources, targets, types = self._ends
        known = begun <= at
        return SpaceLinks(
            ids=self._ids,
            numbers=self._numbers,
            shown=shown,
            here=here,
            sources=sources[stand],
            targets=targets[stand],
            types=types[stand],
            weights=self._weights[stand],
            type_names=tuple(self._types),
            known=(sources[known], targets[known], types[known]),
        )
