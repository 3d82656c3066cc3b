"""A session's state in the store: read on opening, written behind; the turns beside a hit, and pages changed since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.events import Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Kind, Version
from mnemic.core.queries import Filter
from mnemic.errors import Compacted
from mnemic.store.values.drafts import Paging
from mnemic.store.values.row_values import PageRow
from mnemic.tiers.base import Page, Tier
from mnemic.window.layout import SEGMENT

if TYPE_CHECKING:
    from mnemic.core.events import Change
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.window.contents import Contents

RECENT: Final = 256
"""Most turns that are looked at to make a window again: none of a few thousand tokens holds more."""

BRIEF: Final = 16
"""Most segments that a window begins with."""

EVENTS: Final = 2_000
"""Most events of one commit that are looked through for the turns beside a hit."""

AROUND: Final = 2
"""Commits before and after a hit's own that are looked at: one may be a derivation."""

CHANGES: Final = 64
"""Most commits that are followed one by one; after more every page is checked."""

LEASE_SECONDS: Final = 60.0
"""How long a session stays its process's own after the last write; another may take it over then."""

_NEW: Final = frozenset({Verb.WROTE, Verb.USED, Verb.LINKED, Verb.UNLINKED})
"""What happens to no page that is here already."""

Heads = tuple[tuple[int, int, int], ...]
"""Where spaces stand: number, last commit, epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """A session's state as the store has it.

    Attributes:
        known: Whether it was ever written down; if not, its turns may be there all the same.
        budget, policy: What its window had; 0 and "" if it was never written down.
        pages: Its residents in the order they came in, and its turns that left and are in no segment yet.
        items: Those that are still there of them.
        recent: Its turns since that was written down, oldest first, the last `RECENT`.
        segments: Its last ones, oldest first.
    """

    known: bool = False
    budget: int = 0
    policy: str = ""
    clock: int = 0
    turns: int = 0
    seq: int = 0
    pages: tuple[PageRow, ...] = ()
    items: Mapping[ItemId, Version] = field(default_factory=dict)
    recent: tuple[Version, ...] = ()
    segments: tuple[Version, ...] = ()


def session_state(snapshot: Snapshot, spaces: Sequence[int], own: int | None, name: str) -> SessionState:
    """Read the state from which a session is resumed."""
    if own is None:
        return SessionState()
    row = snapshot.session(own, name)
    rows = [] if row is None else snapshot.pages(own, row.session)
    items = dict(snapshot.get((own,), [row.item for row in rows])) if rows else {}
    waiting = [row.item for row in rows if row.item in items and not row.resident]
    in_segments = _in_segments(snapshot, own, waiting)
    seq = 0 if row is None else row.seq
    turns = snapshot.latest((own,), Filter(session=name, kinds=(Kind.TURN, Kind.DOCUMENT)), limit=RECENT)
    segments = snapshot.latest((own,), Filter(session=name, kinds=(Kind.EPISODE,), tags=(SEGMENT,)), limit=BRIEF)
    return SessionState(
        known=row is not None,
        budget=0 if row is None else row.budget,
        policy="" if row is None else row.policy,
        clock=0 if row is None else row.clock,
        turns=0 if row is None else row.turns,
        seq=seq,
        pages=tuple(row for row in rows if row.item in items and row.item not in in_segments),
        items=items,
        recent=tuple(version for version in reversed(turns) if version.seq_from > seq),
        segments=tuple(reversed(segments)),
    )


def _in_segments(snapshot: Snapshot, space: int, turns: Sequence[ItemId]) -> set[ItemId]:
    """Choose those of these turns that a stored segment was made of."""
    citing = snapshot.get((space,), snapshot.derived(space, turns)) if turns else {}
    return {source for v in citing.values() if SEGMENT in v.item.tags for source in v.item.source}


def session_pages(snapshot: Snapshot, own: int | None, name: str, ids: Sequence[ItemId] | None = None) -> list[PageRow]:
    """Read stored pages of a session: those of `ids`, or all that its window cannot be resumed without."""
    row = None if own is None else snapshot.session(own, name)
    return [] if own is None or row is None else snapshot.pages(own, row.session, ids)


def as_page(row: PageRow, role: str) -> Page:
    """Turn a stored row into a page."""
    return Page(
        id=row.item, tokens=row.tokens, born=row.born, last_use=row.last_use, uses=row.uses, arrived=row.arrived,
        tier=Tier.SHORT if row.resident else Tier.MIDDLE, pinned=row.pinned, position=row.position, role=role,
        segment=row.segment, importance=row.importance, novelty=row.novelty, entities=row.entities,
    )  # fmt: skip


def as_row(page: Page, resident: bool) -> PageRow:
    """Turn a page into a row to be stored."""
    return PageRow(
        page.id, resident, page.tokens, page.born, page.last_use, page.uses, page.arrived, page.pinned, page.position,
        page.segment, page.importance, page.novelty, page.entities,
    )  # fmt: skip


class WriteBehind:
    """Tracks which of a session's page states are in the store, up to which commit, and under which owner's lease."""

    def __init__(self, name: str, owner: str, contents: Contents) -> None:
        self._name, self._owner, self._contents = name, owner, contents
        self._written = self._counted = 0

    @property
    def dirty(self) -> tuple[ItemId, ...]:
        """List the pages whose state has changed since it was stored."""
        return tuple(self._contents.pager.table.dirty)

    def paging(self, pages: Sequence[ItemId], seconds: float = LEASE_SECONDS, *, taking: bool = False) -> Paging:
        """Make the write for these pages: all that have changed, or none, so that its `seq` says how far they go."""
        pager = self._contents.pager
        pages_found = ((page, page.id in pager.table.resident) for item in pages if (page := pager.table.find(item)))
        rows = tuple(as_row(page, resident) for page, resident in pages_found)
        seq, turns = (self._contents.admitted, self._contents.turns) if pages else (self._written, self._counted)
        return Paging(
            self._name, self._owner, seconds, pager.budget, pager.policy.name, pager.now, turns, seq, rows, taking
        )

    def landed(self, paging: Paging) -> None:
        """Note that a write has been committed: its pages are clean."""
        pager = self._contents.pager
        pager.table.clean(row.item for row in paging.rows)
        pager.counters.rows += len(paging.rows)
        self._written, self._counted = paging.seq, paging.turns

    def take_up(self, stored: SessionState) -> None:
        """Go on from the state that was read from the store."""
        self._written, self._counted = stored.seq, stored.turns


def beside(snapshot: Snapshot, spaces: Sequence[int], item: ItemId, seq: int) -> list[Version]:
    """Find the turns written before and after one in its session; none where its neighbourhood is unclear."""
    home = snapshot.get(spaces, [item]).get(item)
    head = snapshot.spaces(spaces[:1])
    if home is None or home.item.session is None or not head:
        return []
    around = snapshot.changes(head[0].tenant, max(0, seq - 1 - AROUND), 2 * AROUND + 1)
    written = _written(around, spaces)
    if item not in written or len(written) > EVENTS:
        return []
    place = written.index(item)
    around_item = snapshot.get(spaces, written[max(0, place - 1 - AROUND) : place + 2 + AROUND])
    turns = [around_item[turn] for turn in written if turn in around_item and _same_talk(around_item[turn], home)]
    place = next(i for i, version in enumerate(turns) if version.item.id == item)
    return [*turns[max(0, place - 1) : place], *turns[place + 1 : place + 2]]


def _written(changes: Sequence[Change], spaces: Sequence[int]) -> list[ItemId]:
    mine = (event for change in changes if change.space in spaces for event in change.events)
    return [event.item for event in mine if event.verb is Verb.WROTE and event.item is not None]


def _same_talk(turn: Version, home: Version) -> bool:
    return turn.item.session == home.item.session and turn.item.kind is Kind.TURN


@dataclass(frozen=True, slots=True)
class Followed:
    """Changes since the last look: where the spaces stand, which pages were checked, and their versions now.

    Attributes:
        lapsed: What has expired since.
    """

    heads: Heads
    checked: tuple[ItemId, ...]
    versions: Mapping[ItemId, Version]
    lapsed: tuple[ItemId, ...] = ()


def followed(
    snapshot: Snapshot, spaces: Sequence[int], before: Heads, ids: Sequence[ItemId], expiring: Mapping[ItemId, datetime]
) -> Followed:
    """Read what changed in these items since the spaces stood at `before`, and which have expired since."""
    heads = tuple((head.id, head.seq, head.epoch) for head in snapshot.spaces(spaces))
    lapsed = tuple(item for item, end in expiring.items() if micros(end) <= snapshot.now) if expiring else ()
    if not ids or (heads == before and not lapsed):
        return Followed(heads, (), {}, lapsed)
    touched = set() if heads == before else _touched(snapshot, spaces, before, heads)
    checked = tuple(ids) if touched is None else tuple(item for item in ids if item in touched or item in lapsed)
    return Followed(heads, checked, snapshot.get(spaces, checked) if checked else {}, lapsed)


def _touched(snapshot: Snapshot, spaces: Sequence[int], before: Heads, after: Heads) -> set[ItemId] | None:
    """Find the items that commits since then touched; None where any may have been."""
    same = [(home, epoch) for home, _, epoch in before] == [(home, epoch) for home, _, epoch in after]
    if not before or not same:
        return None
    tenant = snapshot.spaces(spaces[:1])[0].tenant
    try:
        changes, upto = snapshot.feed(tenant, spaces, max(seq for _, seq, _ in before), CHANGES)
    except Compacted:
        return None
    if upto < max(seq for _, seq, _ in after):
        return None
    return {e.item for change in changes for e in change.events if e.verb not in _NEW and e.item is not None}
