"""Choose rows behind the horizon that may be deleted: closed versions, retired items, untied links, unused names.

Each sort is a phase that a sweep steps through; what must stay is learned in stretches and kept from step to step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from mnemic.store.engine.holds import TenantHolds, trunks_of
from mnemic.store.engine.rows import Rows
from mnemic.store.values.row_values import CompactionLink, CompactionVersion, Descent, TenantRow

_IDS: Final = 2_000
"""Names that one step looks at; of those that nothing bears it takes out no more than of other rows."""
_LOOKUPS: Final = 20_000
"""Most pairs of a space and an item that one step asks for: what is shared may be rested on in thousands of spaces."""
_WALK: Final = 10
"""Entries that are walked over for names, at most, for each version or link that went."""
_START: Final = (0, 0)


@dataclass(slots=True)
class SweptCounts:
    """Counts the rows that a sweep deleted: versions of items, versions of links, events, names."""

    versions: int = 0
    links: int = 0
    events: int = 0
    names: int = 0

    @property
    def rows(self) -> int:
        """All of them."""
        return self.versions + self.links + self.events + self.names


@dataclass(slots=True)
class SweepStep:
    """One step of a sweep: it deletes rows of a tenant inside one transaction, and counts them.

    Attributes:
        held: What is under legal hold just now.
    """

    rows: Rows
    tenant: TenantRow
    held: TenantHolds
    tally: SweptCounts = field(default_factory=SweptCounts)
    _homes: dict[int, list[int]] = field(default_factory=dict)
    _sessions: dict[int, dict[int, str]] = field(default_factory=dict)

    @property
    def horizon(self) -> int:
        return self.tenant.horizon

    def keeps(self, version: CompactionVersion) -> bool:
        """Whether a hold keeps an item, which this is a version of."""
        if not self.held.holds:
            return False
        session = self._held_sessions(version.space).get(version.session)
        return self.held.item(version.space, version.id, [session]) is not None

    def _held_sessions(self, space: int) -> dict[int, str]:
        """Sessions that any hold names, by their ids in a space."""
        if space not in self._sessions:
            texts = {row.session for row in self.held.holds if row.session}
            ids = {text: self.rows.names.name(space, text) for text in texts}
            self._sessions[space] = {known: text for text, known in ids.items() if known is not None}
        return self._sessions[space]

    def homes(self, space: int) -> list[int]:
        """The spaces that may rest on what lies in one that comes off none: itself, its branches, and every space on
        what is shared.
        """
        if space not in self._homes:
            family = self.rows.spaces.descents(self.tenant.id)
            trunks = trunks_of(family)
            shared = any(relative.shared for relative in family if relative.id == space)
            self._homes[space] = [
                relative.id for relative in family if relative.owned and (shared or trunks[relative.id] == space)
            ]
        return self._homes[space]

    def drop(self, versions: Sequence[CompactionVersion]) -> None:
        self.rows.past.drop_versions(self.tenant.id, self.horizon, versions)
        self.tally.versions += len(versions)

    def untie(self, links: Sequence[CompactionLink]) -> None:
        self.rows.past.drop_links(self.tenant.id, self.horizon, links)
        self.tally.links += len(links)


class LinkUses:
    """Collects the names and items that links use: each link's type, and the items that are its evidence.

    Links are walked in stretches by their numbers, over as many slices as that takes. SQLite gives the number of the
    last one to the next when it has gone, so what is written after the walk began is found by its commit instead.
    """

    def __init__(self) -> None:
        self.types: set[int] = set()
        self.evidence: set[bytes] = set()
        self._walked, self._since, self._whole = 0, -1, False

    def read_on(self, sweep: SweepStep) -> bool:
        """Read another stretch of links; whether all are read, down to the one written last."""
        seq = sweep.tenant.seq
        if 0 <= self._since < seq:
            self._learn(*sweep.rows.past.link_uses_since(sweep.tenant.id, self._since))
        self._since = seq
        if not self._whole:
            types, evidence, self._walked, more = sweep.rows.past.link_uses(sweep.tenant.id, self._walked)
            self._learn(types, evidence)
            self._whole = not more
        return self._whole

    def _learn(self, types: set[int], evidence: set[bytes]) -> None:
        self.types |= types
        self.evidence |= evidence


class Actors:
    """Collects the names of all who wrote a commit that the journal still has."""

    def __init__(self) -> None:
        self.names: set[int] = set()
        self._seen = 0

    def read_on(self, sweep: SweepStep) -> bool:
        """Read another stretch of commits; whether all are read, down to the last."""
        names, self._seen, more = sweep.rows.past.actors(sweep.tenant.id, self._seen)
        self.names |= names
        return not more


@dataclass(slots=True)
class Turnover:
    """Tells whether a space is worth searching for unused names, for which all of its entries are read.

    Attributes:
        gone: Versions and links that were deleted since the last search.
        walked: Entries that were read then; None before the first search.
    """

    gone: int = 0
    walked: int | None = None

    @property
    def due(self) -> bool:
        """Whether a search costs little beside deleting what went."""
        return self.walked is None or self.gone * _WALK > self.walked


class Phase(Protocol):
    """Deletes one sort of row, some at a step."""

    def step(self, sweep: SweepStep, limit: int) -> bool:
        """Delete about `limit` rows at most; whether there may be more."""
        ...


class Closed:
    """Deletes versions of one space that were closed at or before the horizon, those of each item in their order."""

    def __init__(self, space: int, turnover: Turnover) -> None:
        self._space, self._turnover, self._after = space, turnover, _START

    def step(self, sweep: SweepStep, limit: int) -> bool:
        versions, after = sweep.rows.past.closed_versions(self._space, sweep.horizon, self._after, limit)
        going = [row for row in versions if not sweep.keeps(row)]
        sweep.drop(going)
        self._turnover.gone += len(going)
        self._after = after or self._after
        return after is not None


class Retired:
    """Deletes items of one space that were retired at or before the horizon, if nothing that is kept rests on them.

    Whatever goes may have been the last thing that rested on its sources: those are looked at again.

    Args:
        links: What links use; shared with other spaces, since links are read without regard to where they lie.
        turnover: Counts what goes.
    """

    def __init__(self, space: int, links: LinkUses, turnover: Turnover) -> None:
        self._space, self._links, self._turnover, self._after = space, links, turnover, _START
        self._any = False
        self._again: list[bytes] = []

    def step(self, sweep: SweepStep, limit: int) -> bool:
        if not self._any:  # most spaces have nothing to take out, and need not know of all links
            self._any = bool(sweep.rows.past.retired_versions(self._space, sweep.horizon, _START, 1)[0])
            return self._any
        if not self._links.read_on(sweep):
            return True
        most = max(1, min(limit, _LOOKUPS // len(sweep.homes(self._space))))
        if self._again:
            queue, self._again = self._again[-most:], self._again[:-most]
            self._take(sweep, sweep.rows.past.retired_among(self._space, sweep.horizon, list(dict.fromkeys(queue))))
            return True
        retired, after = sweep.rows.past.retired_versions(self._space, sweep.horizon, self._after, most)
        self._take(sweep, retired)
        self._after = after or self._after
        return after is not None or bool(self._again)

    def _take(self, sweep: SweepStep, retired: Sequence[CompactionVersion]) -> None:
        free = {row.id: row for row in retired if not row.pinned and row.id not in self._links.evidence}
        if not free:
            return
        homes = sweep.homes(self._space)
        kept = sweep.rows.past.cited(homes, list(free)) | sweep.rows.past.linked(homes, sweep.horizon, list(free))
        versions = sweep.rows.past.versions_of(self._space, [item for item in free if item not in kept])
        held = {row.id for row in versions if sweep.keeps(row)}
        going = [row for row in versions if row.id not in held]
        items = list(dict.fromkeys(row.id for row in going))
        sweep.drop(going)
        sweep.untie(sweep.rows.past.links_among(homes, items))
        sweep.rows.past.drop_traces(homes, items)
        if items:  # who erases what they were made of, or them, would not find the answers that quote them
            sweep.rows.lanes.drop_all_answers(homes)
        pairs = [(source, item) for item in items for source in free[item].erased_with]
        sweep.rows.past.drop_derived(self._space, pairs)
        self._again += [source for source, _ in pairs]
        self._turnover.gone += len(going)


class Untied:
    """Deletes links of one space that were closed, or untied, at or before the horizon."""

    def __init__(self, space: int, turnover: Turnover) -> None:
        self._space, self._turnover, self._after = space, turnover, _START

    def step(self, sweep: SweepStep, limit: int) -> bool:
        links, after = sweep.rows.past.closed_links(self._space, sweep.horizon, self._after, limit)
        held = self._held(sweep, links)
        going = [row for row in links if row.lver not in held]
        sweep.untie(going)
        self._turnover.gone += len(going)
        self._after = after or self._after
        return after is not None

    def _held(self, sweep: SweepStep, links: Sequence[CompactionLink]) -> set[int]:
        """Find the links of which a legal hold keeps either end."""
        if not links or not sweep.held.holds:
            return set()
        ends = list(dict.fromkeys(end for link in links for end in (link.src, link.dst)))
        held = {row.id for row in sweep.rows.past.versions_of(self._space, ends) if sweep.keeps(row)}
        return {link.lver for link in links if link.src in held or link.dst in held}


class Bare:
    """Deletes events behind the horizon that wrote no version, or whose version was erased.

    The oldest go first, so that what is gone is always covered by the erasure that says so.
    """

    def __init__(self) -> None:
        self._after = _START

    def step(self, sweep: SweepStep, limit: int) -> bool:
        events, after = sweep.rows.past.bare_events(sweep.tenant.id, sweep.horizon, self._after, limit)
        sweep.rows.past.drop_events(sweep.tenant.id, sweep.horizon, events)
        sweep.tally.events += len(events)
        self._after = after or self._after
        return after is not None


class BareNames:
    """Deletes names of one space that no version, link or commit uses any more."""

    def __init__(self, space: int, links: LinkUses, actors: Actors, turnover: Turnover) -> None:
        self._space, self._links, self._actors, self._turnover = space, links, actors, turnover
        self._used: set[int] = set()
        self._seen = self._after = self._walked = 0

    def step(self, sweep: SweepStep, limit: int) -> bool:
        # In this order no walk is gone on with while another is not at its end: a step is one stretch.
        if not (self._links.read_on(sweep) and self._actors.read_on(sweep) and self._knows_entries(sweep)):
            return True
        ids = sweep.rows.names.name_ids(self._space, self._after, _IDS)
        used = self._used | self._links.types | self._actors.names
        unused = [name for name in ids if name not in used]
        if going := unused[:limit]:
            sweep.rows.names.drop_names(self._space, going)
        sweep.tally.names += len(going)
        self._after = going[-1] if len(going) < len(unused) else max(ids, default=self._after)
        more = len(going) < len(unused) or len(ids) == _IDS
        if not more:
            self._turnover.gone, self._turnover.walked = 0, self._walked
        return more

    def _knows_entries(self, sweep: SweepStep) -> bool:
        named = sweep.rows.past.entry_names(self._space, self._seen)
        self._used |= named.names
        self._walked += named.entries
        self._seen = named.upto
        return not named.more


def phases(spaces: Sequence[Descent], turnovers: dict[int, Turnover]) -> Iterator[Phase]:
    """All of them, in the order in which they are gone through; what went from each space is kept for the next time."""
    # Nothing that a branch wrote lies behind the horizon: where it comes off holds that. And what is shared comes last:
    # what rested on it in users' spaces may have gone by then.
    trunks = [
        (shared, space, turnovers.setdefault(space, Turnover()))
        for shared, space in sorted(
            (space_row.shared, space_row.id) for space_row in spaces if space_row.owned and not space_row.parent
        )
    ]
    links = {shared: LinkUses() for shared in (False, True)}
    for _, space, turnover in trunks:
        yield Closed(space, turnover)
    for shared, space, turnover in trunks:
        yield Retired(space, links[shared], turnover)
        yield Untied(space, turnover)
    yield Bare()
    left, actors = LinkUses(), Actors()
    for _, space, turnover in trunks:
        if turnover.due:
            yield BareNames(space, left, actors, turnover)
