"""Orders of resident pages, the next victim at the head: what most policies keep."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Generic, TypeAlias, TypeVar

from mnemic.core.ids import ItemId
from mnemic.tiers.base import Page

Order: TypeAlias = OrderedDict[ItemId, None]
Standing = TypeVar("Standing", int, float)


def first(order: Iterable[ItemId], pages: Mapping[ItemId, Page]) -> Page | None:
    """Find the first page of `order` that may leave; None if none may."""
    return next((pages[id_] for id_ in order if id_ in pages), None)


def to_tail(order: Order, id_: ItemId) -> None:
    """Move a page to the end of `order`, or append it."""
    order[id_] = None
    order.move_to_end(id_)


class Ghosts:
    """Remembers the ids of the pages that left last, to recognise one that comes back."""

    def __init__(self) -> None:
        self._order: Order = OrderedDict()

    def __contains__(self, id_: ItemId) -> bool:
        return id_ in self._order

    def __len__(self) -> int:
        return len(self._order)

    def add(self, id_: ItemId, most: int) -> list[ItemId]:
        """Remember an id and at most `most` in all; return the oldest ones, which are forgotten for it."""
        to_tail(self._order, id_)
        return self.trim(most)

    def trim(self, most: int) -> list[ItemId]:
        """Forget the oldest until `most` are left; return those forgotten."""
        return [self._order.popitem(last=False)[0] for _ in range(len(self._order) - max(most, 0))]

    def discard(self, id_: ItemId) -> None:
        """Forget an id, if it is remembered."""
        self._order.pop(id_, None)


class Heap(Generic[Standing]):
    """Orders residents by standing, the lowest first; of equal ones the one that was put first."""

    def __init__(self) -> None:
        self._entries: dict[ItemId, tuple[Standing, int, ItemId]] = {}
        self._heap: list[tuple[Standing, int, ItemId]] = []
        self._serial = 0

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, id_: ItemId, standing: Standing) -> None:
        """Give a page a standing, new or not."""
        self._serial += 1
        self._entries[id_] = (standing, self._serial, id_)
        heappush(self._heap, self._entries[id_])
        if len(self._heap) > 4 * len(self._entries) + 64:
            self._heap = list(self._entries.values())
            heapify(self._heap)

    def discard(self, id_: ItemId) -> Standing | None:
        """Remove a page and return its standing; None if it was not here."""
        entry = self._entries.pop(id_, None)
        return None if entry is None else entry[0]

    def lowest(self, among: Container[ItemId]) -> ItemId:
        """Find the lowest of those `among`, of which at least one is here; others passed over are put back."""
        passed = []
        while True:
            entry = heappop(self._heap)
            if self._entries.get(entry[2]) != entry:
                continue
            passed.append(entry)
            if entry[2] in among:
                break
        for one in passed:
            heappush(self._heap, one)
        return entry[2]
