"""Follow whichever policy would have done best lately: each is run on the same references over a window of its own.

Source: the shadow directories of Gramacy et al., "Adaptive Caching by Refetching", NIPS 2002.
Departures: the best is followed as it is, not mixed in by weight; and it must lead by the more, the more of the window
is turned over by following it, so that this is not done for chance, and a near relative is gone over to soon.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from mnemic.core.ids import ItemId
from mnemic.tiers.base import Page, Policy
from mnemic.tiers.policies.arc import Arc
from mnemic.tiers.policies.combined import Combined
from mnemic.tiers.policies.lrfu import Lrfu
from mnemic.tiers.policies.stay import Stay
from mnemic.tiers.policies.steady import Steady

MEMORY: Final = 400
"""Reads after which a hit counts 1 / e."""


class Adaptive:
    """The first of `among` leads until another has earned it; what it costs is their sum.

    A shadow holds as many pages as the window, by number: pages of other tokens count alike there.

    Args:
        margin: Hits that another must be ahead where it holds no page of the leader's, half of them where it holds half
            of those; where both hold the same, going over is free.
    """

    name: ClassVar[str] = "adaptive"

    def __init__(self, among: Sequence[Policy] | None = None, *, memory: int = MEMORY, margin: float = 12.0) -> None:
        self._shadows = [_Shadow(one) for one in among or (Combined(), Steady(), Arc(), Lrfu(), Stay())]
        self._leader = self._shadows[0]
        self._fade, self._margin = 1 - 1 / memory, margin
        self._resident: set[ItemId] = set()

    def admitted(self, page: Page, now: int) -> None:
        """Admit the page to every shadow; a fault counts as a hit of those that had it."""
        self._resident.add(page.id)
        self._refer(page, now, read=page.uses > 0 and page.last_use == now)

    def used(self, page: Page, now: int) -> None:
        """Count a hit for the shadows that have the page; the others admit it."""
        self._refer(page, now, read=True)

    def left(self, page: Page, now: int) -> None:
        """Trim every shadow to the window's size."""
        self._resident.discard(page.id)
        self._trim(len(self._resident), now)

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """Choose a page that the leader has evicted, the least recently used first; else the leader's next victim."""
        self._trim(len(self._resident) - 1, now)
        kept = self._leader.pages
        gone = [page for id_, page in pages.items() if id_ not in kept]
        if gone:
            return min(gone, key=lambda page: (page.last_use, page.arrived, page.id))
        return self._leader.policy.victim(pages, now)

    def _refer(self, page: Page, now: int, *, read: bool) -> None:
        for shadow in self._shadows:
            hit = shadow.refer(page, now)
            if read:
                shadow.hits = shadow.hits * self._fade + hit
        best = max(self._shadows, key=lambda shadow: shadow.hits)
        ahead = best.hits - self._leader.hits
        if ahead > 0 and ahead > self._margin * best.apart(self._leader):
            self._leader = best

    def _trim(self, most: int, now: int) -> None:
        for shadow in self._shadows:
            shadow.trim(most, now)


class _Shadow:
    """A policy over a window of its own, in which no page is pinned."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.pages: dict[ItemId, Page] = {}
        self.hits = 0.0

    def refer(self, page: Page, now: int) -> bool:
        """Use or admit a page; return whether it was resident."""
        known = self.pages.get(page.id)
        mine = replace(page, arrived=now if known is None else known.arrived)
        self.pages[page.id] = mine
        (self.policy.admitted if known is None else self.policy.used)(mine, now)
        return known is not None

    def apart(self, other: _Shadow) -> float:
        """Compute the share of its pages that the other shadow lacks."""
        return len(self.pages.keys() - other.pages.keys()) / max(len(self.pages), 1)

    def trim(self, most: int, now: int) -> None:
        """Evict pages until `most` are left."""
        while len(self.pages) > max(most, 0):
            gone = self.policy.victim(self.pages, now)
            del self.pages[gone.id]
            self.policy.left(gone, now)
