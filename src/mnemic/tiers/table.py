"""The page table: a window's resident pages in order, their costs, and a memory of pages that left."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from mnemic.core.ids import ItemId
from mnemic.tiers.base import Page, Tier

REMEMBERED: Final = 4096
"""Pages that left and are still known by their state, unless told otherwise: those that left first are forgotten."""


class Candidates(Mapping[ItemId, Page]):
    """A live view of the residents that may leave: all but the blocked ones."""

    def __init__(self, resident: Mapping[ItemId, Page], blocked: frozenset[ItemId] | set[ItemId]) -> None:
        self._resident, self._blocked = resident, blocked

    def __getitem__(self, page: ItemId) -> Page:
        if page in self._blocked:
            raise KeyError(page)
        return self._resident[page]

    def __contains__(self, page: object) -> bool:
        return page in self._resident and page not in self._blocked

    def __iter__(self) -> Iterator[ItemId]:
        return (page for page in self._resident if page not in self._blocked)

    def __len__(self) -> int:
        return len(self._resident) - len(self._blocked)


@dataclass(slots=True)
class PageTable:
    """Maps ids to pages: residents in the order they came in, and some that left, with the eviction that took them.

    Attributes:
        whole: Whether a page counts as one, in place of its tokens: a window measured in pages.
        remember: Most pages kept that are not resident; None keeps all.
        dirty: Pages whose state, or whether they are here, has changed since it was written.
    """

    whole: bool = False
    remember: int | None = REMEMBERED
    resident: dict[ItemId, Page] = field(default_factory=dict)
    away: OrderedDict[ItemId, tuple[Page, int]] = field(default_factory=OrderedDict)
    cost: int = 0
    pinned: set[ItemId] = field(default_factory=set)
    dirty: set[ItemId] = field(default_factory=set)
    reserved: dict[str, int] = field(default_factory=dict)
    _with: dict[ItemId, list[ItemId]] = field(default_factory=dict)

    @property
    def used(self) -> int:
        """The cost of residents and reserved sections together."""
        return self.cost + sum(self.reserved.values())

    def weight(self, page: Page) -> int:
        """Return what a page costs in this table: tokens, or one."""
        return 1 if self.whole else page.tokens

    def find(self, page: ItemId) -> Page | None:
        """Find a page that is known, resident or not."""
        if page in self.resident:
            return self.resident[page]
        return self.away[page][0] if page in self.away else None

    def enter(self, page: Page) -> int | None:
        """Make a page resident, as the last in order; the eviction that had taken it before, if that is known."""
        remembered = self.away.pop(page.id, None)
        self.resident[page.id] = page
        self.cost += self.weight(page)
        if page.pinned:
            self.pinned.add(page.id)
        if page.dirty:
            self.dirty.add(page.id)
        return None if remembered is None else remembered[1]

    def leave(self, page: ItemId, tier: Tier, eviction: int) -> Page:
        """Make a page non-resident, and remember it."""
        page_left = replace(self.resident.pop(page), tier=tier)
        self.cost -= self.weight(page_left)
        self.pinned.discard(page)
        self.note(page_left, eviction)
        return page_left

    def note(self, page: Page, eviction: int) -> None:
        """Remember a page that is not resident; the one remembered longest is forgotten for it."""
        self.away[page.id] = (page, eviction)
        self.dirty.add(page.id)
        while self.remember is not None and len(self.away) > self.remember:
            self.forget(next(iter(self.away)))

    def forget(self, page: ItemId) -> None:
        """Remove a page from the table, resident or not."""
        if page in self.resident:
            self.cost -= self.weight(self.resident.pop(page))
            self.pinned.discard(page)
        self.away.pop(page, None)
        self.dirty.discard(page)
        self.untie(page)

    def put(self, page: Page) -> None:
        """Replace a page's state, in the place it has."""
        if page.dirty:
            self.dirty.add(page.id)
        if page.id in self.resident:
            self.cost += self.weight(page) - self.weight(self.resident[page.id])
            self.resident[page.id] = page
            (self.pinned.add if page.pinned else self.pinned.discard)(page.id)
        elif page.id in self.away:
            self.away[page.id] = (page, self.away[page.id][1])

    def tie(self, page_id: ItemId, other: ItemId) -> None:
        """Tie two pages, and all that are tied to either, so that they are never parted."""
        everyone = dict.fromkeys((*self.together(page_id), *self.together(other)))
        for page in everyone:
            self._with[page] = [mate for mate in everyone if mate != page]

    def untie(self, page: ItemId) -> None:
        """Untie a page from all others."""
        for other in self._with.pop(page, ()):
            self._with[other].remove(page)
            if not self._with[other]:
                del self._with[other]

    def places(self) -> dict[int, ItemId]:
        """Map places in the session to its known turns, resident or not."""
        pages = (*(page for page, _ in self.away.values()), *self.resident.values())
        return {page.position: page.id for page in pages if page.position >= 0}

    def together(self, page: ItemId) -> tuple[ItemId, ...]:
        """List a page and those tied to it."""
        return (page, *self._with.get(page, ()))

    def blocked(self, since: int | None) -> set[ItemId]:
        """Find the residents that may not leave: pinned, used since a reference, or tied to one that is."""
        if since is None and not self.pinned:
            return set()
        protected = list(self.pinned)
        if since is not None:
            protected += [page.id for page in self.resident.values() if page.last_use >= since or page.arrived >= since]
        return {mate for page in protected for mate in self.together(page) if mate in self.resident}

    def newest(self, room: int) -> set[ItemId]:
        """List the session's last resident turns that cost at most `room` together; the very last in any case."""
        newest: set[ItemId] = set()
        for page in sorted(self.resident.values(), key=lambda page: page.position, reverse=True):
            room -= self.weight(page)
            if page.position < 0 or (newest and room < 0):
                break
            newest.update(mate for mate in self.together(page.id) if mate in self.resident)
        return newest

    def clean(self, pages: Iterable[ItemId]) -> None:
        """Mark pages as written to the store."""
        for page_id in list(pages):
            page = self.find(page_id)
            if page is not None and page.dirty:
                self.put(replace(page, dirty=False))
            self.dirty.discard(page_id)
