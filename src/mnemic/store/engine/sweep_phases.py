"""What of a tenant is spent, one sort of thing at a time; what is known from step to step of what must stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from mnemic.store.engine.holds import Held, trunks_of
from mnemic.store.engine.rows import Rows
from mnemic.store.values.row_values import Descent, SpentLink, SpentVersion, TenantRow

_NUMBERS: Final = 2_000
"""Names that one step looks at; of those that nothing bears it takes out no more than of other rows."""
_LOOKUPS: Final = 20_000
"""Most pairs of a space and an item that one step asks for: what is shared may be rested on in thousands of spaces."""
_WALK: Final = 10
"""Entries that are walked over for names, at most, for each version or link that went."""
_START: Final = (0, 0)


@dataclass(slots=True)
class SweptCounts:
    """What went: versions of items, versions of links, rows of the journal, names."""

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
    """One slice at work: the rows of its transaction, and what it has taken out.

    Attributes:
        held: What is under legal hold just now.
    """

    rows: Rows
    tenant: TenantRow
    held: Held
    tally: SweptCounts = field(default_factory=SweptCounts)
    _homes: dict[int, list[int]] = field(default_factory=dict)
    _sessions: dict[int, dict[int, str]] = field(default_factory=dict)

    @property
    def horizon(self) -> int:
        return self.tenant.horizon

    def keeps(self, version: SpentVersion) -> bool:
        """Whether a hold keeps an item, which this is a version of."""
        if not self.held.holds:
            return False
        session = self._held_sessions(version.space).get(version.session)
        return self.held.item(version.space, version.id, [session]) is not None

    def _held_sessions(self, space: int) -> dict[int, str]:
        """Sessions that any hold names, by their numbers in a space."""
        if space not in self._sessions:
            texts = {row.session for row in self.held.holds if row.session}
            numbers = {text: self.rows.names.name(space, text) for text in texts}
            self._sessions[space] = {number: text for text, number in numbers.items() if number is not None}
        return self._sessions[space]

    def homes(self, space: int) -> list[int]:
        """The spaces that may rest on what lies in one that comes off none: itself, its branches, and every space on
        what is shared.
        """
        if space not in self._homes:
            family = self.rows.spaces.descents(self.tenant.id)
            trunks = trunks_of(family)
            shared = any(one.shared for one in family if one.id == space)
            self._homes[space] = [one.id for one in family if one.owned and (shared or trunks[one.id] == space)]
        return self._homes[space]

    def drop(self, versions: Sequence[SpentVersion]) -> None:
        self.rows.past.drop_versions(self.tenant.id, self.horizon, versions)
        self.tally.versions += len(versions)

    def untie(self, links: Sequence[SpentLink]) -> None:
        self.rows.past.drop_links(self.tenant.id, self.horizon, links)
        self.tally.links += len(links)


class Ties:
    """What every link of the store bears: its type's name, and the items that are its evidence.

    Links are walked in stretches by their numbers, over as many slices as that takes. SQLite gives the number of the
    last one to the next when it has gone, so what is written after the walk began is found by its commit instead.
    """

    def __init__(self) -> None:
        self.types: set[int] = set()
        self.evidence: set[bytes] = set()
        self._walked, self._since, self._whole = 0, -1, False

    def known(self, turn: SweepStep) -> bool:
        """Look on; whether all is known, down to the link written last."""
        seq = turn.tenant.seq
        if 0 <= self._since < seq:
            self._learn(*turn.rows.past.tied_since(turn.tenant.id, self._since))
        self._since = seq
        if not self._whole:
            types, evidence, self._walked, more = turn.rows.past.tied(self._walked)
            self._learn(types, evidence)
            self._whole = not more
        return self._whole

    def _learn(self, types: set[int], evidence: set[bytes]) -> None:
        self.types |= types
        self.evidence |= evidence


class Actors:
    """The names of all who wrote a commit that the journal still has."""

    def __init__(self) -> None:
        self.names: set[int] = set()
        self._seen = 0

    def known(self, turn: SweepStep) -> bool:
        """Look on; whether all are known, down to the last commit."""
        names, self._seen, more = turn.rows.past.acted(turn.tenant.id, self._seen)
        self.names |= names
        return not more


@dataclass(slots=True)
class Turnover:
    """Whether a space is worth looking through for names that nothing bears: all of its entries are walked over.

    Attributes:
        gone: Versions and links that went since it was looked through.
        walked: Entries that were walked over then; None if it never was, and names may be left by who was cut short.
    """

    gone: int = 0
    walked: int | None = None

    @property
    def due(self) -> bool:
        """Whether a walk costs little beside taking out what went."""
        return self.walked is None or self.gone * _WALK > self.walked


class Phase(Protocol):
    """One sort of thing that a sweep takes out."""

    def step(self, turn: SweepStep, limit: int) -> bool:
        """Take out about `limit` rows at most; whether there may be more."""
        ...


class Closed:
    """Versions of one space that were closed at or before the horizon, those of each item in their order."""

    def __init__(self, space: int, turnover: Turnover) -> None:
        self._space, self._turnover, self._after = space, turnover, _START

    def step(self, turn: SweepStep, limit: int) -> bool:
        versions, after = turn.rows.past.closed_versions(self._space, turn.horizon, self._after, limit)
        going = [row for row in versions if not turn.keeps(row)]
        turn.drop(going)
        self._turnover.gone += len(going)
        self._after = after or self._after
        return after is not None


class Retired:
    """Items of one space that were retired at or before the horizon, and that nothing which is kept rests on.

    Whatever goes may have been the last thing that rested on its sources: those are looked at again.

    Args:
        ties: What links bear; shared with other spaces, since links are walked without regard to where they lie.
        turnover: Told of what goes.
    """

    def __init__(self, space: int, ties: Ties, turnover: Turnover) -> None:
        self._space, self._ties, self._turnover, self._after = space, ties, turnover, _START
        self._any = False
        self._again: list[bytes] = []

    def step(self, turn: SweepStep, limit: int) -> bool:
        if not self._any:  # most spaces have nothing to take out, and need not know of all links
            self._any = bool(turn.rows.past.retired_versions(self._space, turn.horizon, _START, 1)[0])
            return self._any
        if not self._ties.known(turn):
            return True
        most = max(1, min(limit, _LOOKUPS // len(turn.homes(self._space))))
        if self._again:
            queue, self._again = self._again[-most:], self._again[:-most]
            self._take(turn, turn.rows.past.retired_among(self._space, turn.horizon, list(dict.fromkeys(queue))))
            return True
        retired, after = turn.rows.past.retired_versions(self._space, turn.horizon, self._after, most)
        self._take(turn, retired)
        self._after = after or self._after
        return after is not None or bool(self._again)

    def _take(self, turn: SweepStep, retired: Sequence[SpentVersion]) -> None:
        free = {row.id: row for row in retired if not row.pinned and row.id not in self._ties.evidence}
        if not free:
            return
        homes = turn.homes(self._space)
        kept = turn.rows.past.cited(homes, list(free)) | turn.rows.past.bound(homes, turn.horizon, list(free))
        versions = turn.rows.past.versions_of(self._space, [item for item in free if item not in kept])
        held = {row.id for row in versions if turn.keeps(row)}
        going = [row for row in versions if row.id not in held]
        items = list(dict.fromkeys(row.id for row in going))
        turn.drop(going)
        turn.untie(turn.rows.past.links_among(homes, items))
        turn.rows.past.drop_traces(homes, items)
        if items:  # who erases what they were made of, or them, would not find the answers that quote them
            turn.rows.lanes.drop_all_answers(homes)
        pairs = [(source, item) for item in items for source in free[item].source]
        turn.rows.past.drop_derived(self._space, pairs)
        self._again += [source for source, _ in pairs]
        self._turnover.gone += len(going)


class Untied:
    """Links of one space that were closed, or untied, at or before the horizon."""

    def __init__(self, space: int, turnover: Turnover) -> None:
        self._space, self._turnover, self._after = space, turnover, _START

    def step(self, turn: SweepStep, limit: int) -> bool:
        links, after = turn.rows.past.spent_links(self._space, turn.horizon, self._after, limit)
        held = self._held(turn, links)
        going = [row for row in links if row.lver not in held]
        turn.untie(going)
        self._turnover.gone += len(going)
        self._after = after or self._after
        return after is not None

    def _held(self, turn: SweepStep, links: Sequence[SpentLink]) -> set[int]:
        """Those of which a hold keeps either end."""
        if not links or not turn.held.holds:
            return set()
        ends = list(dict.fromkeys(end for link in links for end in (link.src, link.dst)))
        held = {row.id for row in turn.rows.past.versions_of(self._space, ends) if turn.keeps(row)}
        return {link.lver for link in links if link.src in held or link.dst in held}


class Bare:
    """Events behind the horizon that wrote no version, or whose version was erased: the oldest first, so that what is
    gone is always covered by the erasure that says so.
    """

    def __init__(self) -> None:
        self._after = _START

    def step(self, turn: SweepStep, limit: int) -> bool:
        events, after = turn.rows.past.spent_events(turn.tenant.id, turn.horizon, self._after, limit)
        turn.rows.past.drop_events(turn.tenant.id, turn.horizon, events)
        turn.tally.events += len(events)
        self._after = after or self._after
        return after is not None


class BareNames:
    """Names of one space that nothing bears any more: no version, no link, no commit."""

    def __init__(self, space: int, ties: Ties, actors: Actors, turnover: Turnover) -> None:
        self._space, self._ties, self._actors, self._turnover = space, ties, actors, turnover
        self._borne: set[int] = set()
        self._seen = self._after = self._walked = 0

    def step(self, turn: SweepStep, limit: int) -> bool:
        # In this order no walk is gone on with while another is not at its end: a step is one stretch.
        if not (self._ties.known(turn) and self._actors.known(turn) and self._knows_entries(turn)):
            return True
        numbers = turn.rows.names.name_numbers(self._space, self._after, _NUMBERS)
        borne = self._borne | self._ties.types | self._actors.names
        spent = [number for number in numbers if number not in borne]
        if going := spent[:limit]:
            turn.rows.names.drop_names(self._space, going)
        turn.tally.names += len(going)
        self._after = going[-1] if len(going) < len(spent) else max(numbers, default=self._after)
        more = len(going) < len(spent) or len(numbers) == _NUMBERS
        if not more:
            self._turnover.gone, self._turnover.walked = 0, self._walked
        return more

    def _knows_entries(self, turn: SweepStep) -> bool:
        borne = turn.rows.past.borne(self._space, self._seen)
        self._borne |= borne.names
        self._walked += borne.entries
        self._seen = borne.upto
        return not borne.more


def phases(spaces: Sequence[Descent], turnovers: dict[int, Turnover]) -> Iterator[Phase]:
    """All of them, in the order in which they are gone through; what went from each space is kept for the next time."""
    # Nothing that a branch wrote lies behind the horizon: where it comes off holds that. And what is shared comes last:
    # what rested on it in users' spaces may have gone by then.
    trunks = [
        (shared, space, turnovers.setdefault(space, Turnover()))
        for shared, space in sorted((one.shared, one.id) for one in spaces if one.owned and not one.parent)
    ]
    ties = {shared: Ties() for shared in (False, True)}
    for _, space, turnover in trunks:
        yield Closed(space, turnover)
    for shared, space, turnover in trunks:
        yield Retired(space, ties[shared], turnover)
        yield Untied(space, turnover)
    yield Bare()
    left, actors = Ties(), Actors()
    for _, space, turnover in trunks:
        if turnover.due:
            yield BareNames(space, left, actors, turnover)
