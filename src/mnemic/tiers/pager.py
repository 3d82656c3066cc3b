"""The pager: keeps a window within its budget, and has a policy say what leaves when it fills.

Above the hard mark it evicts down to the target in one batch and then leaves the window alone until it has filled
again: in between it only grows at its end, so that a prefix cache keeps hitting. With both marks at 1 (`FIXED`) it
evicts just enough, as a cache of fixed capacity does. The budget is never exceeded in either way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

from mnemic.core.ids import ItemId
from mnemic.errors import Invalid, NotFound, Refused
from mnemic.tiers.base import Page, Policy, Tier
from mnemic.tiers.counters import RECENT, Counters, WorkingSet
from mnemic.tiers.table import REMEMBERED, Candidates, PageTable


class Pressure(StrEnum):
    """How full a window is, by its watermarks."""

    NONE = "none"
    SOFT = "soft"
    """Time to write down what must not be lost sight of."""
    HARD = "hard"
    """What comes in next drives something out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Watermarks, as shares of the budget: where pressure is reported, where pages are evicted, and how far down. The
    defaults are Letta's.

    Attributes:
        evict: Above it pages leave; left out, above `hard`. Later is fuller, and leaves less warning.
        fresh: What the session's last turns may cost together to stay where anything else can leave: a model that is
            asked needs the question, and what led to it.
    """

    soft: float = 0.75
    hard: float = 0.9
    target: float = 0.7
    evict: float | None = None
    fresh: float = 0.0


FIXED: Final = Marks(hard=1.0, target=1.0)
"""A fixed capacity: what comes in drives out just as much as it needs."""


def pressure(used: int, budget: int, marks: Marks) -> Pressure:
    """Say how full a window of this budget is."""
    if used > int(budget * marks.hard) or used == budget:
        return Pressure.HARD
    return Pressure.SOFT if used >= budget * marks.soft else Pressure.NONE


def is_recalled(page: Page) -> bool:
    """Whether a page was paged in: all but turns of this session that have never left."""
    return page.position < 0 or page.arrived != page.born


class Moved(NamedTuple):
    """The outcome of one reference: whether it hit, what came in and what left.

    Attributes:
        resident: Whether the page is in the window now; false: it was refused, or left at once.
        hit: Whether it was in the window before.
        evicted: The pages that left, in the order they were chosen; a page and those tied to it together.
        entered: The pages that came in: the page itself and those tied to it, in the order of their places.
    """

    resident: bool
    hit: bool = False
    evicted: tuple[Page, ...] = ()
    entered: tuple[Page, ...] = ()


class Pager:
    """A window of pages under a policy. Pure: no clock, no store; the same calls give the same window.

    Args:
        budget: Tokens, or pages if `whole`.
        marks: Where it evicts and how far down; `FIXED` evicts just enough.
        whole: Whether every page counts as one.
        remember: Most pages that left and are remembered; None for all of them, as a trace wants.
        recent: References that the working set is counted over.
    """

    def __init__(
        self,
        policy: Policy,
        budget: int,
        *,
        marks: Marks = Marks(),
        whole: bool = False,
        remember: int | None = REMEMBERED,
        recent: int = RECENT,
    ) -> None:
        self.policy, self.marks = policy, marks
        self.table = PageTable(whole=whole, remember=remember)
        self.counters = Counters()
        self.working_set = WorkingSet(recent)
        self.now = 0
        self.unpinned: dict[ItemId, None] = {}
        self._since: int | None = None
        self._ahead: set[ItemId] = set()
        self.resize(budget)

    # What comes in

    def admit(self, page: Page, *, after: ItemId | None = None) -> Moved:
        """Bring in a page that was just written; one that is known already is used.

        Args:
            after: The page it may not be parted from: a tool's call, of which this is the result.
        """
        if self.table.find(page.id) is not None:
            return self.reference(page)
        self.now += 1
        self.counters.admitted += 1
        if after is not None and self.table.find(after) is not None:
            self.table.tie(after, page.id)
        return self._enter(replace(page, born=self.now, last_use=self.now, dirty=True))

    def use(self, page: ItemId) -> bool:
        """Use a page if it is resident; return whether it is. If not, `fault` brings it in and counts the reference."""
        known = self.table.resident.get(page)
        if known is None:
            return False
        self.now += 1
        self.counters.hits += 1
        if page in self._ahead:
            self._ahead.discard(page)
            self.counters.prefetch_hits += 1
        self.working_set.used(page)
        self._used(known)
        return True

    def fault(self, page: Page) -> Moved:
        """Page in a page that is used and not resident, with the pages tied to it.

        What is remembered of it (uses, pins) goes on; what the caller knows is taken for what was forgotten.
        """
        if page.id in self.table.resident:
            return Moved(resident=self.use(page.id), hit=True)
        self.now += 1
        self.counters.faults += 1
        self.working_set.used(page.id)
        known = self._known(page)
        return self._enter(replace(known, last_use=self.now, uses=known.uses + 1, dirty=True))

    def reference(self, page: Page) -> Moved:
        """Use a page, bringing it in if it is not there: one step of a trace."""
        return Moved(resident=True, hit=True) if self.use(page.id) else self.fault(page)

    def prefetch(self, page: Page, *, evicting: bool = False) -> Moved:
        """Page in a page that may be used next; no reference. Unless `evicting`, only into room that is free."""
        if page.id in self.table.resident:
            return Moved(resident=True, hit=True)
        if not evicting and self.table.used + self.table.weight(page) > self.brim:
            return Moved(resident=False)
        self.now += 1
        moved = self._enter(self._known(page))
        if moved.resident:
            self.counters.prefetched += len(moved.entered)
            self._ahead.add(page.id)
        return moved

    def restore(self, pages: Iterable[Page]) -> None:
        """Make pages resident again in the order given, as a stored window had them; counts nothing.

        Those of no short tier had left it. What does not fit the budget is there until `relieve`.
        """
        for page in pages:
            if page.tier is Tier.SHORT:
                self.table.enter(page)
                self.policy.admitted(page, self.now)
            else:
                self.table.away[page.id] = (page, self.counters.evictions)
            self.now = max(self.now, page.last_use, page.arrived)

    # What stays and what goes

    def guard(self) -> None:
        """Protect pages that come in or are used from now until `unguard`: those that one answer needs together."""
        self._since = self.now + 1

    def unguard(self) -> None:
        """End the protection that `guard` began."""
        self._since = None

    def pin(self, page: ItemId, *, pinned: bool = True) -> None:
        """Pin a resident page and those tied to it, or unpin them.

        Raises:
            NotFound: it is not in the window.
        """
        known = self.table.resident.get(page)
        if known is None:
            raise NotFound(f"{page} is not in the window; page it in first")
        self.unpinned.pop(page, None)
        if known.pinned != pinned:
            self.table.put(replace(known, pinned=pinned, dirty=True))

    def change(self, page: ItemId, tokens: int) -> tuple[Page, ...]:
        """Change what a resident page costs; returns what had to leave for it."""
        self.table.put(replace(self.table.resident[page], tokens=tokens))
        return self.relieve()

    def page_out(self, page: ItemId) -> tuple[Page, ...]:
        """Page out a page and those tied to it; they stay addressable. Does nothing for one that is not resident.

        Raises:
            Refused: it is pinned, or tied to one that is.
        """
        if page not in self.table.resident:
            return ()
        if any(mate in self.table.pinned for mate in self.table.together(page)):
            raise Refused(f"{page} is pinned, or tied to what is: unpin it first")
        left = self._leave(page)
        self.counters.paged_out += len(left)
        return left

    def forget(self, page: ItemId) -> tuple[Page, ...]:
        """Drop all record of a page that is gone for good, pinned or not; its mates leave, unless one is pinned."""
        mates = [mate for mate in self.table.together(page)[1:] if mate in self.table.resident]
        if any(mate in self.table.pinned for mate in mates):
            mates = []
        gone = self.table.resident.get(page)
        if gone is not None:
            self.policy.left(gone, self.now)
        self.table.forget(page)
        self.unpinned.pop(page, None)
        self._ahead.discard(page)
        return tuple(left for mate in mates for left in self._leave(mate))

    def make_room(self, need: int) -> tuple[Page, ...]:
        """Evict in one go until so much fits below the hard mark; returns what left.

        What was brought in for earlier questions goes first, as the policy ranks it: it lies near the end, so that what
        stands before it stays in a prefix cache. Only then the target is cleared among all.
        """
        if self.table.used + need <= self.brim:
            return ()
        blocked = self.table.blocked(self._since)
        turns = {page.id for page in self.table.resident.values() if not is_recalled(page)}
        mates = {mate for page in turns for mate in self.table.together(page) if mate in self.table.resident}
        evicted = self._evict(0, blocked | mates)
        if self.table.used + need > self.brim:
            evicted += self._evict(self.target - need, blocked | self._fresh())
        return evicted

    def reserve(self, section: str, tokens: int) -> tuple[Page, ...]:
        """Reserve room for a section that is not paged (always-on block, summaries); returns what had to leave for it.

        Raises:
            Invalid: it leaves no room at all.
        """
        others = sum(cost for name, cost in self.table.reserved.items() if name != section)
        if tokens + others >= self.budget:
            raise Invalid("budget", f"{tokens + others} of {self.budget} tokens are always on", "Give a larger budget.")
        self.table.reserved[section] = tokens
        return self.relieve()

    def resize(self, budget: int) -> tuple[Page, ...]:
        """Change the budget; returns what had to leave for it."""
        if budget < 1:
            raise Invalid("budget", f"is {budget}", "Give at least 1.")
        self.budget = budget
        marks = self.marks
        self.brim = int(budget * (marks.hard if marks.evict is None else marks.evict))
        self.target = int(budget * marks.target)
        return self.relieve()

    def relieve(self) -> tuple[Page, ...]:
        """Evict until the budget holds again, whatever has grown; returns what left.

        Where pins leave no room those used longest ago are pins no more; `unpinned` names them.
        """
        evicted = self._relieve()
        while self.table.used > self.budget and self.table.pinned:
            page = min(
                (self.table.resident[pinned] for pinned in self.table.pinned),
                key=lambda pinned: (pinned.last_use, pinned.id),
            )
            self.pin(page.id, pinned=False)
            self.unpinned[page.id] = None
            evicted += self._relieve()
        return evicted

    # What there is to see

    @property
    def pressure(self) -> Pressure:
        """Say how full the window is."""
        return pressure(self.table.used, self.budget, self.marks)

    @property
    def meter(self) -> Mapping[str, int]:
        """Count the tokens (or pages) of each section; `free` is what is left of the budget."""
        return {**self.table.reserved, "pages": self.table.cost, "free": self.budget - self.table.used}

    # Underneath

    def _known(self, page: Page) -> Page:
        """Merge what is remembered of a page with what the caller knows of its words."""
        before = self.table.find(page.id)
        if before is None:
            return replace(page, born=page.born or self.now)
        return replace(before, tokens=page.tokens, segment=page.segment if page.segment >= 0 else before.segment)

    def _used(self, page: Page) -> None:
        used = _used(page, self.now)
        self.table.resident[page.id] = used  # in its place, at the same cost
        self.table.dirty.add(page.id)
        self.policy.used(used, self.now)

    def _enter(self, page: Page) -> Moved:
        """Admit a page with those tied to it and relieve the window; if there is no room, none of them stays."""
        group = self.table.together(page.id)
        coming = [page, *(self.table.away[mate][0] for mate in group[1:] if mate in self.table.away)]
        room = self.budget - sum(self.table.reserved.values())
        need = sum(self.table.weight(self.table.resident[m]) for m in group if m in self.table.resident)
        if need + sum(map(self.table.weight, coming)) > room:
            return self._refuse(page, group)
        entered = tuple(
            self._come(entering) for entering in sorted(coming, key=lambda entering: (entering.position, entering.id))
        )
        evicted = self._relieve()
        if self.table.used > self.budget:
            return self._refuse(page, group, evicted)
        return Moved(resident=page.id in self.table.resident, evicted=evicted, entered=entered)

    def _come(self, page: Page) -> Page:
        arrival = replace(page, arrived=self.now, tier=Tier.SHORT)
        before = self.table.enter(arrival)
        self.table.dirty.add(page.id)
        if before is not None:
            self.counters.refaulted(self.counters.evictions - before)
        self.policy.admitted(arrival, self.now)
        return arrival

    def _refuse(self, page: Page, group: Sequence[ItemId], evicted: tuple[Page, ...] = ()) -> Moved:
        """Refuse a page and its tied group, so that nothing is split; from a pinned group it is untied."""
        self.counters.refused += 1
        if any(mate in self.table.pinned for mate in group):
            self.table.untie(page.id)
            group = (page.id,)
        refused = [left for mate in group if mate in self.table.resident for left in self._leave(mate)]
        if self.table.find(page.id) is None:
            self.table.note(
                replace(page, tier=Tier.MIDDLE if page.position >= 0 else Tier.LONG), self.counters.evictions
            )
        return Moved(resident=False, evicted=(*evicted, *refused))

    def _relieve(self) -> tuple[Page, ...]:
        """Evict down to the target if the window is above its hard mark, as far as something may leave."""
        if self.table.used <= self.brim:
            return ()
        blocked = self.table.blocked(self._since)
        evicted = self._evict(self.target, blocked | self._fresh())
        return evicted if self.table.used <= self.budget else evicted + self._evict(self.budget, blocked)

    def _fresh(self) -> set[ItemId]:
        """List the last turns, which are evicted only where nothing else can be."""
        return self.table.newest(int(self.budget * self.marks.fresh)) if self.marks.fresh else set()

    def _evict(self, down_to: int, blocked: set[ItemId]) -> tuple[Page, ...]:
        """Evict pages that are not blocked, one victim after the other; return those that left."""
        candidates: Mapping[ItemId, Page] = Candidates(self.table.resident, blocked) if blocked else self.table.resident
        evicted: list[Page] = []
        while self.table.used > down_to and candidates:
            chosen = self.policy.victim(candidates, self.now).id
            if chosen not in candidates:
                raise Invalid("policy", f"{self.policy.name} chose {chosen}, which may not leave", "Mend the policy.")
            group = self._leave(chosen)
            self.counters.evictions += len(group)
            evicted += group
        return tuple(evicted)

    def _leave(self, page: ItemId) -> tuple[Page, ...]:
        """Make a page and those tied to it non-resident."""
        leaving = []
        for mate in self.table.together(page):
            resident = self.table.resident.get(mate)
            if resident is None:
                continue
            tier = Tier.MIDDLE if resident.position >= 0 else Tier.LONG
            leaving.append(self.table.leave(mate, tier, self.counters.evictions))
            self.counters.write_backs += resident.dirty
            self._ahead.discard(mate)
            self.policy.left(leaving[-1], self.now)
        return tuple(leaving)


def _used(page: Page, now: int) -> Page:
    """Return the page after one more use. Written out: `replace` takes four times as long, and traces are long."""
    return Page(
        id=page.id, tokens=page.tokens, born=page.born, last_use=now, uses=page.uses + 1, arrived=page.arrived,
        tier=page.tier, pinned=page.pinned, dirty=True, position=page.position, role=page.role, segment=page.segment,
        importance=page.importance, novelty=page.novelty, entities=page.entities,
    )  # fmt: skip
