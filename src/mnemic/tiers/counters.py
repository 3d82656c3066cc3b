"""Counters of a window's paging: hits and faults, evictions and refaults, page states written."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from mnemic.core.ids import ItemId

RECENT: Final = 256
"""References that a working set is counted over, unless told otherwise."""


@dataclass(slots=True, kw_only=True)
class Counters:
    """Counts a window's paging since it was opened; `references` is always `hits + faults`.

    Attributes:
        admitted: Pages that came in for the first time, by being written.
        hits, faults: Uses of a page that was in the window, and of one that was not.
        refused: Pages that the window could not take: larger than it, or nothing left that may leave.
        evictions: Pages that left for want of room.
        paged_out: Pages that were sent out by name.
        prefetched, prefetch_hits: Pages fetched ahead, and those of them that were used before they left.
        write_backs: Pages that were dirty when they left, so that their state had to be written.
        rows: Page states written to the store, for whatever reason.
        rendered, reused: Tokens of all the windows rendered, and of those the ones that stood in the same place the
            time before.
        refaults: How many pages came back, by refault distance: evictions between leaving and coming back, in powers of
            two (key 8: 8 to 15). A window larger by that many pages would have kept it (as in Linux's workingset.c).
    """

    admitted: int = 0
    hits: int = 0
    faults: int = 0
    refused: int = 0
    evictions: int = 0
    paged_out: int = 0
    prefetched: int = 0
    prefetch_hits: int = 0
    write_backs: int = 0
    rows: int = 0
    rendered: int = 0
    reused: int = 0
    refaults: Counter[int] = field(default_factory=Counter)

    @property
    def references(self) -> int:
        """Uses of pages, in the window or not."""
        return self.hits + self.faults

    @property
    def hit_rate(self) -> float:
        """The share of references that found their page in the window; 0 before the first."""
        return self.hits / self.references if self.references else 0.0

    @property
    def reuse(self) -> float:
        """The share of rendered tokens that a prefix cache had; 0 before the first."""
        return self.reused / self.rendered if self.rendered else 0.0

    @property
    def write_amplification(self) -> float:
        """Page states written for each page that came in; 0 before the first."""
        return self.rows / self.admitted if self.admitted else 0.0

    def refaulted(self, distance: int) -> None:
        """Count a page that came back after so many evictions."""
        self.refaults[1 << (distance.bit_length() - 1) if distance else 0] += 1

    def as_dict(self) -> dict[str, object]:
        """Return every count by name, derived ones too."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "refaults"}
        made = {name: getattr(self, name) for name in ("references", "hit_rate", "reuse", "write_amplification")}
        return {**plain, **made, "refaults": dict(sorted(self.refaults.items()))}


class WorkingSet:
    """Tracks the distinct pages of the last `span` references (Denning, 1968)."""

    def __init__(self, span: int = RECENT) -> None:
        self._last: deque[ItemId] = deque()
        self._count: Counter[ItemId] = Counter()
        self._span = span

    def used(self, page: ItemId) -> None:
        """Count a reference to a page."""
        self._last.append(page)
        self._count[page] += 1
        if len(self._last) > self._span:
            oldest = self._last.popleft()
            self._count[oldest] -= 1
            if not self._count[oldest]:
                del self._count[oldest]

    def __len__(self) -> int:
        return len(self._count)


class Prefix:
    """Counts the tokens of a rendered window that a prefix cache would have had: the unchanged blocks at its head."""

    def __init__(self) -> None:
        self._last: tuple[tuple[str, int], ...] = ()

    def reused(self, blocks: Sequence[tuple[str, int]]) -> int:
        """Count the tokens at the head that the last rendering had too.

        Args:
            blocks: What is rendered, in order: what it says (or something that stands for it), and its tokens.
        """
        same = 0
        for (mark, tokens), before in zip(blocks, self._last, strict=False):
            if (mark, tokens) != before:
                break
            same += tokens
        self._last = tuple(blocks)
        return same
