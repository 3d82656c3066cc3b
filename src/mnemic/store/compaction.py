"""Dropping what lies behind the horizon: one slice at a time, so that writers get in between; once for every keeper.

The horizon moves first, in a short commit: from then on the past behind it is refused (`Compacted`). What nobody can
ask for any more goes afterwards, in slices. Each leaves a store that `verify` finds sound, so it may be cut short at
any moment: the next sweep finds what is left. What stands is kept, and so is what anything that is kept rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from mnemic.core.clock import FOREVER
from mnemic.core.events import Verb
from mnemic.core.ids import Entropy, from_bytes, to_bytes
from mnemic.core.items import State
from mnemic.core.scope import Shared
from mnemic.errors import Invalid, NotFound, Refused
from mnemic.store import ledger
from mnemic.store.branches import kin
from mnemic.store.codec import canonical, decode_item
from mnemic.store.holds import Held, held, sessions_of
from mnemic.store.horizon import horizon_floor
from mnemic.store.rows import LinkRow, Rows, SpaceRow, TenantRow, VersionRow

SLICE_SECONDS: Final = 0.015
"""How long one slice keeps writers out, about: the work, and the sync of what it changed."""

_FIRST: Final = 256
"""Rows that a first slice takes out, before it is known what a row costs here."""
_LEAST: Final = 128
_MOST: Final = 4_000
_STEP: Final = 256
"""Rows between two looks at the clock."""
_START: Final = (0, 0)


@dataclass(slots=True)
class Tally:
    """What went: versions of items, versions of links, rows of the journal, names."""

    versions: int = 0
    links: int = 0
    events: int = 0
    names: int = 0

    def add(self, other: Tally) -> None:
        """Count another's in."""
        self.versions += other.versions
        self.links += other.links
        self.events += other.events
        self.names += other.names


def move(rows: Rows, name: str, horizon: int, now: int, entropy: Entropy) -> int:
    """Give up the past before commit `horizon`, inside a transaction; nothing is dropped yet. Returns where it was.

    Raises:
        NotFound: there is no such tenant.
        Invalid: the horizon lies ahead of the journal, or behind the one it has.
        Refused: a branch, checkpoint, hold or job still needs what lies behind it.
    """
    tenant = rows.tenant(name)
    if tenant is None:
        raise NotFound(f"no tenant {name!r} here")
    if not tenant.horizon <= horizon <= tenant.seq:
        raise Invalid(
            "horizon",
            f"commit {horizon} is not between {tenant.horizon} and {tenant.seq}",
            "`mnemic log` shows the commits.",
        )
    if horizon == tenant.horizon:
        return horizon
    floor = horizon_floor(rows, tenant)
    if horizon > floor.seq:
        raise Refused(f"the horizon stays at commit {floor.seq} or before: {floor.why}")
    (change,) = rows.changes(tenant.id, horizon - 1, 1, False)
    rows.set_tenant(tenant._replace(horizon=horizon, horizon_hash=change.hash))
    rows.drop_changes(tenant.id, horizon, (tenant.horizon,))
    ledger.journal(rows, tenant, 0, Verb.COMPACTED, canonical({"horizon": horizon}), 0, now, entropy)
    return tenant.horizon


@dataclass(slots=True)
class Turn:
    """One slice at work: the rows of its transaction, and what it has taken out.

    Attributes:
        held: What is under legal hold just now.
    """

    rows: Rows
    tenant: TenantRow
    held: Held
    tally: Tally = field(default_factory=Tally)

    @property
    def horizon(self) -> int:
        return self.tenant.horizon

    def keeps(self, space: int, versions: Sequence[VersionRow]) -> bool:
        """Whether a hold keeps an item, which these are versions of."""
        return bool(self.held.holds) and (
            self.held.item(space, versions[0].id, sessions_of(self.rows, versions)) is not None
        )

    def drop(self, versions: Sequence[VersionRow]) -> None:
        self.rows.drop_versions(self.tenant.id, self.horizon, versions)
        self.tally.versions += len(versions)

    def untie(self, links: Sequence[LinkRow]) -> None:
        self.rows.drop_links(self.tenant.id, self.horizon, links)
        self.tally.links += len(links)


class Phase(Protocol):
    """One sort of thing that a sweep takes out."""

    def step(self, turn: Turn, limit: int) -> bool:
        """Take out about `limit` rows at most; whether there may be more."""
        ...


class Closed:
    """Versions of one space that were closed at or before the horizon, those of each item in their order."""

    def __init__(self, space: int) -> None:
        self._space, self._after = space, _START

    def step(self, turn: Turn, limit: int) -> bool:
        versions, after = turn.rows.closed_versions(self._space, turn.horizon, self._after, limit)
        turn.drop([row for row in versions if not turn.keeps(self._space, (row,))])
        self._after = after or self._after
        return after is not None


class Retired:
    """Items of one space that were retired at or before the horizon, and that nothing which is kept rests on.

    Whatever goes may have been the last thing that rested on its sources: those are looked at again.
    """

    def __init__(self, space: SpaceRow) -> None:
        self._space, self._after = space.id, _START
        self._again: list[bytes] = []
        self._cited: set[bytes] = set()
        self._links = 0
        self.dropped = False

    def step(self, turn: Turn, limit: int) -> bool:
        if not self._knows_links(turn.rows):
            return True
        if self._again:
            queue, self._again = self._again[-limit:], self._again[:-limit]
            found = [row for item in dict.fromkeys(queue) if (row := turn.rows.standing(self._space, item)) is not None]
            self._take(turn, [row for row in found if row.state == State.RETIRED and row.seq_from <= turn.horizon])
            return True
        retired, after = turn.rows.retired_versions(self._space, turn.horizon, self._after, limit)
        self._take(turn, retired)
        self._after = after or self._after
        return after is not None or bool(self._again)

    def _knows_links(self, rows: Rows) -> bool:
        """Whether the evidence of every link has been seen, the last one written too."""
        _, cited, self._links = rows.tied(self._links)
        self._cited |= cited
        return rows.tied(self._links)[2] == self._links

    def _take(self, turn: Turn, retired: Sequence[VersionRow]) -> None:
        items = {row.id: decode_item(from_bytes(row.id), row.body) for row in retired}
        free = [row.id for row in retired if not items[row.id].pinned and row.id not in self._cited]
        if not free:
            return
        homes = _reach(turn.rows, turn.tenant.id, self._space)
        doubtful = {item for home in homes for item in turn.rows.rested_on(home, free)}
        going = [item for item in free if item not in doubtful or not _kept(turn, homes, item)]
        versions = turn.rows.versions_of(self._space, going)
        if turn.held.holds:
            held = {row.id for row in versions if turn.keeps(self._space, (row,))}
            versions, going = [row for row in versions if row.id not in held], [i for i in going if i not in held]
        self._drop(turn, homes, going, versions, doubtful)
        for item in going:
            for source in items[item].source:
                turn.rows.drop_derived(self._space, to_bytes(source), item)
                self._again.append(to_bytes(source))

    def _drop(
        self, turn: Turn, homes: Sequence[int], going: Sequence[bytes], versions: Sequence[VersionRow], tied: set[bytes]
    ) -> None:
        turn.drop(versions)
        for home in homes:
            links = {link.lver: link for item in going if item in tied for link in turn.rows.links_of(home, item)}
            turn.untie(list(links.values()))
            turn.rows.drop_traces(home, going)
        self.dropped = self.dropped or bool(going)


class Untied:
    """Links of one space that were closed, or untied, at or before the horizon.

    A branch keeps what it has untied: that hides what it comes off.
    """

    def __init__(self, space: SpaceRow) -> None:
        self._space, self._branch, self._after = space.id, bool(space.parent), _START

    def step(self, turn: Turn, limit: int) -> bool:
        links, after = turn.rows.spent_links(self._space, turn.horizon, self._after, limit)
        turn.untie([row for row in links if not self._keeps(turn, row)])
        self._after = after or self._after
        return after is not None

    def _keeps(self, turn: Turn, link: LinkRow) -> bool:
        if self._branch and link.seq_to == FOREVER:
            return True
        if not turn.held.holds:
            return False
        ends = [rows for end in (link.src, link.dst) if (rows := turn.rows.item_rows(self._space, end))]
        return any(turn.keeps(self._space, rows) for rows in ends)


class Bare:
    """Events behind the horizon that wrote no version, or whose version was erased: the oldest first, so that what is
    gone is always covered by the erasure that says so.
    """

    def __init__(self) -> None:
        self._after = _START

    def step(self, turn: Turn, limit: int) -> bool:
        events, after = turn.rows.spent_events(turn.tenant.id, turn.horizon, self._after, limit)
        turn.rows.drop_events(turn.tenant.id, turn.horizon, events)
        turn.tally.events += len(events)
        self._after = after or self._after
        return after is not None


class Names:
    """Names of one space that nothing bears any more: no version, no link, no commit."""

    def __init__(self, space: int) -> None:
        self._space = space
        self._borne: set[int] = set()
        self._seen = (0, 0, 0)

    def step(self, turn: Turn, limit: int) -> bool:
        if not self._knows_all(turn):
            return True
        spent = [number for number, _ in turn.rows.names(self._space) if number not in self._borne]
        turn.rows.drop_names(self._space, spent[:limit])
        turn.tally.names += len(spent[:limit])
        self._borne.update(spent[:limit])  # what a session still holds is not looked at again
        return len(spent) > limit

    def _knows_all(self, turn: Turn) -> bool:
        """Whether all that bears a name has been seen, down to what was written just now."""
        for _ in range(2):  # a second look that finds no more says that the first one saw the last
            before, (ver, lver, seq) = self._seen, self._seen
            items, ver = turn.rows.borne(self._space, ver)
            types, _, lver = turn.rows.tied(lver)
            actors, seq = turn.rows.acted(turn.tenant.id, seq)
            self._borne |= items | types | actors
            self._seen = ver, lver, seq
        return before == self._seen


def _kept(turn: Turn, homes: Sequence[int], item: bytes) -> bool:
    """Whether anything that is kept rests on an item: cites it, or is linked to it."""
    return any(_rests_on(turn, home, item) for home in homes)


def _rests_on(turn: Turn, home: int, item: bytes) -> bool:
    return any(_cites(turn.rows, home, d, item) for d in turn.rows.derived(home, item)) or any(
        _holds_on(turn, home, link, item) for link in turn.rows.links_of(home, item)
    )


def _cites(rows: Rows, home: int, derived: bytes, item: bytes) -> bool:
    cited = from_bytes(item)
    return any(cited in decode_item(from_bytes(row.id), row.body).source for row in rows.item_rows(home, derived))


def _holds_on(turn: Turn, home: int, link: LinkRow, item: bytes) -> bool:
    """Whether a link keeps what it ends at: something live points there, or the journal still tells of the link."""
    if link.seq_from > turn.horizon or turn.horizon < link.seq_to < FOREVER:
        return True
    if not link.open or link.seq_to < FOREVER or link.dst != item or link.src == item:
        return False
    source = turn.rows.standing(home, link.src)
    return source is not None and source.state != State.RETIRED


def _reach(rows: Rows, tenant: int, space: int) -> list[int]:
    """The spaces that may rest on what lies in one: itself, its branches, and every space on what is shared."""
    (mine,) = rows.space_rows((space,))
    return [row.id for row in (rows.tenant_spaces(tenant) if isinstance(mine.user, Shared) else kin(rows, mine))]


class Sweep:
    """One going-over of a tenant, slice by slice; what it has passed and how much it takes at a time.

    Attributes:
        quota: Most rows that the next slice takes out.
    """

    def __init__(self, tenant: str) -> None:
        self.tenant, self.quota = tenant, _FIRST
        self._phases: Iterator[Phase] = iter(())
        self._phase: Phase | None = None
        self._horizon = -1

    def slice(self, rows: Rows, go_on: Callable[[], bool]) -> tuple[Tally, bool]:
        """Drop some rows inside a transaction, while `go_on`; what went, and whether there may be more.

        Raises:
            NotFound: there is no such tenant.
        """
        tenant = rows.tenant(self.tenant)
        if tenant is None:
            raise NotFound(f"no tenant {self.tenant!r} here")
        turn = Turn(rows, tenant, held(rows, tenant.id))
        if self._horizon != tenant.horizon:
            self._horizon, self._phases, self._phase = tenant.horizon, _phases(rows.tenant_spaces(tenant.id)), None
        left = self.quota
        while left > 0:
            self._phase = self._phase or next(self._phases, None)
            if self._phase is None:
                return turn.tally, False
            if not self._phase.step(turn, min(_STEP, left)):
                self._phase = None
            left = left - _STEP if go_on() else 0
        return turn.tally, True

    def took(self, seconds: float, wanted: float) -> None:
        """Learn from how long a slice kept writers out, its sync included."""
        ratio = min(2.0, max(0.25, wanted / max(seconds, 1e-6)))
        self.quota = round(min(_MOST, max(_LEAST, self.quota * ratio)))


def _phases(spaces: Sequence[SpaceRow]) -> Iterator[Phase]:
    # What is shared comes last: what rested on it in users' spaces may have gone by then.
    owned = sorted((s for s in spaces if s.user is not None), key=lambda s: (isinstance(s.user, Shared), s.id))
    for space in owned:
        yield Closed(space.id)
    fewer = []
    for space in owned:
        if not space.parent:  # what a branch has retired hides what it comes off
            retired = Retired(space)
            yield retired
            fewer += [space.id] if retired.dropped else []
        yield Untied(space)
    yield Bare()
    yield from (Names(space) for space in fewer)


def jot(rows: Rows, name: str, memos: Mapping[str, bytes]) -> TenantRow:
    """Keep small facts about a tenant; returns it.

    Raises:
        NotFound: there is no such tenant.
    """
    tenant = rows.tenant(name)
    if tenant is None:
        raise NotFound(f"no tenant {name!r} here")
    for key, value in memos.items():
        rows.set_memo(tenant.id, key, value)
    return tenant


def enter(
    rows: Rows, name: str, verb: Verb, payload: bytes, memos: Mapping[str, bytes], now: int, entropy: Entropy
) -> int:
    """Journal an event about a tenant, inside a transaction, and keep small facts with it; returns its seq.

    Raises:
        NotFound: there is no such tenant.
    """
    tenant = jot(rows, name, memos)
    return ledger.journal(rows, tenant, 0, verb, payload, 0, now, entropy)
