"""Bring a store back to exactly what it was after a commit; what was erased since stays erased."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mnemic.core.events import Verb
from mnemic.core.ids import from_bytes, to_bytes
from mnemic.core.items import State
from mnemic.core.transitions import SUPERSEDES, reopened
from mnemic.errors import Compacted, Invalid
from mnemic.store.engine import holds, ledger
from mnemic.store.engine.codec import canonical, decode_item, decode_link, decode_versions
from mnemic.store.engine.rows import Rows
from mnemic.store.engine.snapshot import LayeredRows
from mnemic.store.values.drafts import Put
from mnemic.store.values.receipts import Rewound
from mnemic.store.values.row_values import ChangeRow, SpaceRow, TenantRow
from mnemic.store.values.work import FILLED_TAGS, SLOT_LANE, embedding_lane

_OF_NO_EDITS = embedding_lane(0).rstrip("0"), SLOT_LANE
_PAGE = 500


def rewind(rows: Rows, name: str, seq: int) -> Rewound:
    """Bring a tenant back to what it was after commit `seq`, inside a transaction.

    Versions and links written since go, those closed since stand again, what was said since to help or mislead is taken
    back, lanes go back to what must be read again. How often something was shown has no past, and stays. A run that
    read what goes loses its lease, and what models answered is forgotten.
    Journal and state hash are what they were, unless something was erased since: that is erased again, in one commit
    more.

    Raises:
        NotFound: there is no such tenant.
        Invalid: there is no such commit.
        Compacted: it lies behind the horizon.
        Refused: something that would go is under legal hold.
    """
    tenant = rows.spaces.known_tenant(name)
    if not 0 <= seq <= tenant.seq:
        raise Invalid("to", f"commit {seq} is not between 0 and {tenant.seq}", "`mnemic log` shows the commits.")
    if seq < tenant.horizon:
        raise Compacted(f"commit {seq} lies behind the horizon, which is commit {tenant.horizon}")
    if seq == tenant.seq:
        return Rewound(seq=seq, versions=0, erased=0)
    spaces = rows.spaces.tenant_spaces(tenant.id)
    _refuse_held(rows, tenant, spaces, seq)
    gone = _Erased.since(rows, tenant, seq)
    _uncount(rows, tenant, seq)
    for space in spaces:
        _go_back(rows, space, seq)
        _unpin(rows, space, seq)
    # Some may quote what goes; an erasure of what that was made of would not find them any more.
    rows.lanes.drop_all_answers([space.id for space in spaces])
    made = _made_since(rows, tenant, seq)
    versions = rows.past.drop_after(tenant.id, seq)
    written = {change.space for change in _changes(rows, tenant.id, seq)}
    new = {space.id for space in spaces if space.id in made or _is_new(rows, space, seq, written)}
    going = sorted(new - _behind(spaces, new))
    holds.refuse_spaces(rows, tenant.id, going)
    rows.spaces.drop_spaces(going)
    left = [space._replace(seq=min(space.seq, seq), epoch=space.epoch + 1) for space in spaces if space.id not in going]
    for space in left:
        rows.spaces.set_space(space)
    again = gone.erase_again(rows, rows.spaces.tenant_row(tenant.id), left)
    return Rewound(seq=again or seq, versions=versions, erased=len(gone.ids) if again else 0)


def _refuse_held(rows: Rows, tenant: TenantRow, spaces: Sequence[SpaceRow], seq: int) -> None:
    """Refuse to take out what is held; a hold on what stays keeps the past from `seq` on."""
    hold_rows = rows.notes.holds(tenant.id)
    for space in spaces if hold_rows else ():
        versions = [(space.id, row.id) for row in rows.items.all_versions(space.id) if row.seq_from > seq]
        links = [
            (space.id, end) for ln in rows.links.all_links(space.id) if ln.seq_from > seq for end in (ln.src, ln.dst)
        ]
        holds.refuse_items(rows, tenant.id, dict.fromkeys(versions + links))
    for row in hold_rows:
        rows.notes.set_hold(row._replace(seq=min(row.seq, seq)))


def _made_since(rows: Rows, tenant: TenantRow, seq: int) -> set[int]:
    """Find the branches that were made after commit `seq`."""
    made = {event.seq for event in rows.journal.events(tenant.id, seq + 1, tenant.seq) if event.verb == Verb.BRANCHED}
    return {change.space for change in _changes(rows, tenant.id, tenant.seq) if change.seq in made}


def _is_new(rows: Rows, space: SpaceRow, seq: int, written: set[int]) -> bool:
    """Whether nothing of a space was there after commit `seq`, and nothing was erased from it that must stay so."""
    if (
        space.seq <= seq
        or space.id in written
        or any(rows.items.all_versions(space.id))
        or any(rows.links.all_links(space.id))
    ):
        return False
    return not (rows.journal.tombs(space.id) or rows.journal.keys(space.id))


def _behind(spaces: Sequence[SpaceRow], new: set[int]) -> set[int]:
    """What the branches that stay come off: it was there before them, though an erasure has left nothing to tell so."""
    parents = {space.id: space.parent for space in spaces}
    behind: set[int] = set()
    for space in parents.keys() - new:
        while parent := parents.get(space):
            behind.add(space := parent)
    return behind


def _changes(rows: Rows, tenant: int, upto: int) -> Iterator[ChangeRow]:
    after = 0
    while changes := [c for c in rows.journal.changes(tenant, after, _PAGE, False) if c.seq <= upto]:
        yield from changes
        after = changes[-1].seq


def _go_back(rows: Rows, space: SpaceRow, seq: int) -> None:
    """Have lanes read again what they have read since, if something came of it."""
    versions = (row for row in rows.items.all_versions(space.id) if row.seq_from > seq)
    cited = {source for row in versions for source in decode_item(from_bytes(row.id), row.body).source}
    links = (row for row in rows.links.all_links(space.id) if row.seq_from > seq)
    cited |= {source for row in links for source in decode_link(row).evidence}
    known = rows.items.item_rows(space.id, [to_bytes(source) for source in sorted(cited)])
    earliest = min((row.ver for stood in known.values() for row in stood), default=None)
    if earliest is None:
        return
    for lane in rows.lanes.lanes(space.id):
        if not lane.name.startswith(_OF_NO_EDITS) and lane.cursor >= earliest:
            again = 0 if lane.name.endswith(FILLED_TAGS) else earliest - 1
            rows.lanes.set_lane(replace(lane, cursor=again))
    rows.lanes.make_due(space.id)


def _unpin(rows: Rows, space: SpaceRow, seq: int) -> None:
    """Take the leases of runs that read at a commit which goes: whoever repeats one reads what is there then."""
    for lane in rows.lanes.lanes(space.id):
        if lane.seq > seq:
            rows.lanes.set_lane(replace(lane, owner="", lease_until=0, seq=0))


def _uncount(rows: Rows, tenant: TenantRow, seq: int) -> None:
    """Take back what commits after `seq` said to help or mislead.

    How often an item was shown stays, though mnemic 0.1 counted that in commits: counting has no past.
    """
    for space, counts in _used(rows, tenant, seq):
        for item, (_, useful, harms, _) in counts.items():
            for had in rows.items.strength(space, (to_bytes(item),)).values():
                rows.items.set_strength(had._replace(useful=had.useful - useful, harms=had.harms - harms))


def _used(rows: Rows, tenant: TenantRow, after: int) -> Iterator[tuple[int, dict[str, tuple[int, ...]]]]:
    spaces = {change.seq: change.space for change in _changes(rows, tenant.id, tenant.seq) if change.seq > after}
    for event in rows.journal.events(tenant.id, after + 1, tenant.seq):
        if event.verb == Verb.USED and event.payload is not None:
            yield spaces[event.seq], json.loads(event.payload)


@dataclass(frozen=True, slots=True)
class _Erased:
    """What was erased after a commit: items, links, whole spaces by number, and what stood again because of it."""

    ids: frozenset[str]
    links: frozenset[tuple[int, int]]
    spaces: frozenset[int]
    reopened: frozenset[tuple[int, bytes]]

    @classmethod
    def since(cls, rows: Rows, tenant: TenantRow, seq: int) -> _Erased:
        later = rows.journal.events(tenant.id, seq + 1, tenant.seq)
        erasures = [event for event in later if event.verb == Verb.ERASED and event.payload]
        records = [json.loads(event.payload or b"{}") for event in erasures]
        homes = {change.seq: change.space for change in _changes(rows, tenant.id, tenant.seq) if change.seq > seq}
        commits = {event.seq for event in erasures}
        return cls(
            ids=frozenset(item for record in records for item in record.get("ids", ())),
            links=frozenset((at, n) for record in records for at, n in record.get("links", ())),
            spaces=frozenset(space for record in records for space in record.get("spaces", ())),
            reopened=frozenset(
                (homes[event.seq], event.item)
                for event in later
                if event.seq in commits and event.verb == Verb.REOPENED and event.item
            ),
        )

    def erase_again(self, rows: Rows, tenant: TenantRow, spaces: Sequence[SpaceRow]) -> int:
        """Write the commit that says that this is erased; its seq, 0 where none of it was there."""
        if not (self.ids or self.links or self.spaces):
            return 0
        blank = [event for event in rows.journal.events(tenant.id, 0, tenant.seq) if event.salt is None]
        homes = {change.seq: change.space for change in _changes(rows, tenant.id, tenant.seq)}
        ids = sorted({from_bytes(event.item) for event in blank if event.item is not None} & self.ids)
        links = sorted({(event.seq, event.n) for event in blank} & self.links)
        wiped = {space.id: space.number for space in spaces if space.number in self.spaces}
        if not (ids or links or any(homes[event.seq] in wiped for event in blank)):
            return 0
        payload = canonical({"ids": ids, "links": [list(tie) for tie in links], "spaces": sorted(wiped.values())})
        standing: list[tuple[SpaceRow | None, list[Put]]] = [*self._reopening(rows, spaces)]
        for space, ops in standing or [(None, [])]:
            seq = ledger.journal(rows, tenant, space, Verb.ERASED, payload, ops=ops)
            tenant, payload = rows.spaces.tenant_row(tenant.id), canonical({"ids": []})
            if space is not None:
                rows.spaces.set_space(space._replace(seq=seq))
        return seq

    def _reopening(self, rows: Rows, spaces: Sequence[SpaceRow]) -> list[tuple[SpaceRow, list[Put]]]:
        """Find, by space, what reopens because only something erased had taken its place, after this commit too."""
        puts_by_space: list[tuple[SpaceRow, list[Put]]] = []
        for space in spaces:
            waiting = sorted(raw for home, raw in self.reopened if home == space.id)
            known = rows.items.standing(space.id, waiting)
            superseded = [raw for raw, row in sorted(known.items()) if row.state == State.SUPERSEDED]
            reopening = [raw for raw in superseded if not _is_superseded(rows, space.id, raw)]
            puts = []
            for raw, story in LayeredRows(rows).stories((space.id,), reopening).items():
                item = reopened(decode_item(from_bytes(raw), known[raw].body), decode_versions(story, [0] * len(story)))
                puts.append(Put(verb=Verb.REOPENED, item=item, terms=None))
            if puts:
                puts_by_space.append((space, puts))
        return puts_by_space


def _is_superseded(rows: Rows, space: int, item: bytes) -> bool:
    """Whether something that stands, and was not erased, has taken an item's place."""
    layered = LayeredRows(rows)
    links = (decode_link(row) for row in layered.links((space,), [item], None) if row.dst == item)
    newer = [to_bytes(link.src) for link in links if link.type == SUPERSEDES]
    return any(row.state != State.RETIRED for row in layered.standing((space,), newer).values())
