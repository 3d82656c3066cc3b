"""Going back in time: a store becomes exactly what it was after a commit; what was erased since stays erased."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mnemic.core.events import Verb
from mnemic.core.ids import Entropy, from_bytes, to_bytes
from mnemic.core.items import Item, State
from mnemic.errors import Compacted, Invalid, NotFound
from mnemic.store import holds, ledger
from mnemic.store.codec import canonical, decode_item
from mnemic.store.drafts import Put
from mnemic.store.following import embedding_lane
from mnemic.store.receipts import Rewound
from mnemic.store.rows import ChangeRow, Rows, SpaceRow, TenantRow

_LANE_OF_VECTORS = embedding_lane(0).rstrip("0")
_PAGE = 500


def rewind(rows: Rows, name: str, seq: int, now: int, entropy: Entropy) -> Rewound:
    """Bring a tenant back to what it was after commit `seq`, inside a transaction.

    Versions and links written since go, those closed since stand again, counters of use are taken back, lanes go back
    to what must be read again. A run that read what goes loses its lease, and what models answered is forgotten.
    Journal and state hash are what they were, unless something was erased since: that is erased again, in one commit
    more.

    Raises:
        NotFound: there is no such tenant.
        Invalid: there is no such commit.
        Compacted: it lies behind the horizon.
        Refused: something that would go is under legal hold.
    """
    tenant = rows.tenant(name)
    if tenant is None:
        raise NotFound(f"no tenant {name!r} here")
    if not 0 <= seq <= tenant.seq:
        raise Invalid("to", f"commit {seq} is not between 0 and {tenant.seq}", "`mnemic log` shows the commits.")
    if seq < tenant.horizon:
        raise Compacted(f"commit {seq} lies behind the horizon, which is commit {tenant.horizon}")
    if seq == tenant.seq:
        return Rewound(seq=seq, versions=0, erased=0)
    spaces = rows.tenant_spaces(tenant.id)
    _refuse_held(rows, tenant, spaces, seq)
    gone = _Erased.since(rows, tenant, seq)
    _uncount(rows, tenant, seq)
    for space in spaces:
        _go_back(rows, space, seq)
        _unpin(rows, space, seq)
    # Some may quote what goes; an erasure of what that was made of would not find them any more.
    rows.drop_all_answers([space.id for space in spaces])
    made = _made_since(rows, tenant, seq)
    versions = rows.drop_after(tenant.id, seq)
    written = {change.space for change in _changes(rows, tenant.id, seq)}
    going = [space.id for space in spaces if space.id in made or _is_new(rows, space, seq, written)]
    holds.refuse_spaces(rows, tenant.id, going)
    rows.drop_spaces(going)
    left = [space for space in spaces if space.id not in going]
    for space in left:
        rows.set_space(space._replace(seq=min(space.seq, seq), epoch=space.epoch + 1))
    again = gone.erase_again(rows, rows.tenant_row(tenant.id), {space.id for space in left}, now, entropy)
    return Rewound(seq=again or seq, versions=versions, erased=len(gone.ids) if again else 0)


def _refuse_held(rows: Rows, tenant: TenantRow, spaces: Sequence[SpaceRow], seq: int) -> None:
    """Refuse to take out what is held; a hold on what stays keeps the past from `seq` on."""
    found = rows.holds(tenant.id)
    for space in spaces if found else ():
        versions = [(space.id, row.id) for row in rows.all_versions(space.id) if row.seq_from > seq]
        links = [(space.id, end) for ln in rows.all_links(space.id) if ln.seq_from > seq for end in (ln.src, ln.dst)]
        holds.refuse_items(rows, tenant.id, dict.fromkeys(versions + links))
    for row in found:
        rows.set_hold(row._replace(seq=min(row.seq, seq)))


def _made_since(rows: Rows, tenant: TenantRow, seq: int) -> set[int]:
    """The branches that were made after commit `seq`."""
    made = {event.seq for event in rows.events(tenant.id, seq + 1, tenant.seq) if event.verb == Verb.BRANCHED}
    return {change.space for change in _changes(rows, tenant.id, tenant.seq) if change.seq in made}


def _is_new(rows: Rows, space: SpaceRow, seq: int, written: set[int]) -> bool:
    """Whether nothing of a space was there after commit `seq`, and nothing was erased from it that must stay so."""
    if space.seq <= seq or space.id in written or any(rows.all_versions(space.id)) or any(rows.all_links(space.id)):
        return False
    return not (rows.tombs(space.id) or rows.keys(space.id))


def _changes(rows: Rows, tenant: int, upto: int) -> Iterator[ChangeRow]:
    after = 0
    while changes := [c for c in rows.changes(tenant, after, _PAGE, False) if c.seq <= upto]:
        yield from changes
        after = changes[-1].seq


def _go_back(rows: Rows, space: SpaceRow, seq: int) -> None:
    """Have lanes read again what they have read since, if something came of it."""
    earliest = None
    for row in rows.all_versions(space.id):
        if row.seq_from > seq:
            sources = decode_item(from_bytes(row.id), row.body).source
            known = rows.item_rows(space.id, [to_bytes(source) for source in sources])
            stood = (v.ver for versions in known.values() for v in versions)
            earliest = min((ver for ver in (earliest, *stood) if ver is not None), default=None)
    if earliest is None:
        return
    for lane in rows.lanes(space.id):
        if not lane.name.startswith(_LANE_OF_VECTORS) and lane.cursor >= earliest:
            rows.set_lane(replace(lane, cursor=earliest - 1))


def _unpin(rows: Rows, space: SpaceRow, seq: int) -> None:
    """Take the leases of runs that read at a commit which goes: whoever repeats one reads what is there then."""
    for lane in rows.lanes(space.id):
        if lane.seq > seq:
            rows.set_lane(replace(lane, owner="", lease_until=0, seq=0))


def _uncount(rows: Rows, tenant: TenantRow, seq: int) -> None:
    """Take back what was added to counters of use after commit `seq`."""
    horizon = rows.changes(tenant.id, tenant.horizon - 1, 1, False)[0].at if tenant.horizon else 0
    last: dict[tuple[int, str], int] = {}
    for space, counts in _used(rows, tenant, seq, tenant.seq):
        for item, (uses, useful, harms, _) in counts.items():
            had = rows.strength(space, (to_bytes(item),)).get(to_bytes(item))
            if had is not None:
                left = had._replace(uses=had.uses - uses, useful=had.useful - useful, harms=had.harms - harms)
                rows.set_strength(left)
                last[space, item] = horizon  # commits behind it may tell of no use any more
    for space, counts in _used(rows, tenant, 0, seq) if last else ():
        for item, (*_, at) in counts.items():
            if (space, item) in last:
                last[space, item] = max(at, last[space, item])
    for (space, item), at in last.items():
        had = rows.strength(space, (to_bytes(item),)).get(to_bytes(item))
        if had is not None:
            rows.set_strength(had._replace(last_used=at))


def _used(rows: Rows, tenant: TenantRow, after: int, upto: int) -> Iterator[tuple[int, dict[str, tuple[int, ...]]]]:
    spaces = {change.seq: change.space for change in _changes(rows, tenant.id, upto) if change.seq > after}
    for event in rows.events(tenant.id, after + 1, upto):
        if event.verb == Verb.USED and event.payload is not None:
            yield spaces[event.seq], json.loads(event.payload)


@dataclass(frozen=True, slots=True)
class _Erased:
    """What was erased after a commit: items, links, whole spaces, and what stood again because of it."""

    ids: frozenset[str]
    links: frozenset[tuple[int, int]]
    spaces: frozenset[int]
    reopened: tuple[tuple[int, Item], ...]

    @classmethod
    def since(cls, rows: Rows, tenant: TenantRow, seq: int) -> _Erased:
        later = rows.events(tenant.id, seq + 1, tenant.seq)
        erasures = [event for event in later if event.verb == Verb.ERASED and event.payload]
        told = [json.loads(event.payload or b"{}") for event in erasures]
        homes = {change.seq: change.space for change in _changes(rows, tenant.id, tenant.seq) if change.seq > seq}
        commits = {event.seq for event in erasures}
        return cls(
            ids=frozenset(item for record in told for item in record.get("ids", ())),
            links=frozenset((at, n) for record in told for at, n in record.get("links", ())),
            spaces=frozenset(space for record in told for space in record.get("spaces", ())),
            reopened=tuple(
                (row.space, decode_item(from_bytes(row.id), row.body))
                for event in later
                if event.seq in commits and event.verb == Verb.REOPENED and event.ver
                for row in rows.version_rows(homes[event.seq], (event.ver,))
            ),
        )

    def erase_again(self, rows: Rows, tenant: TenantRow, spaces: set[int], now: int, entropy: Entropy) -> int:
        """The commit that says that this is erased; 0 where none of it was there."""
        if not (self.ids or self.links or self.spaces):
            return 0
        blank = [event for event in rows.events(tenant.id, 0, tenant.seq) if event.salt is None]
        homes = {change.seq: change.space for change in _changes(rows, tenant.id, tenant.seq)}
        ids = sorted({from_bytes(event.item) for event in blank if event.item is not None} & self.ids)
        links = sorted({(event.seq, event.n) for event in blank} & self.links)
        wiped = sorted(self.spaces & spaces)
        if not (ids or links or any(homes[event.seq] in wiped for event in blank)):
            return 0
        payload = canonical({"ids": ids, "links": [list(tie) for tie in links], "spaces": wiped})
        for home, ops in self._reopening(rows, spaces) or [(0, [])]:
            seq = ledger.journal(rows, tenant, home, Verb.ERASED, payload, 0, now, entropy, ops=ops)
            tenant, payload = rows.tenant_row(tenant.id), canonical({"ids": []})
            for row in rows.space_rows((home,)):
                rows.set_space(row._replace(seq=seq))
        return seq

    def _reopening(self, rows: Rows, spaces: set[int]) -> list[tuple[int, list[Put]]]:
        """By space, what only something erased had taken the place of: it stands again, as it did after the erasure."""
        found: dict[int, dict[str, Put]] = {}
        for space, item in self.reopened:
            row = rows.standing(space, (to_bytes(item.id),)).get(to_bytes(item.id)) if space in spaces else None
            if row is not None and row.state == State.SUPERSEDED:
                found.setdefault(space, {})[item.id] = Put(verb=Verb.REOPENED, item=item, terms=None)
        return [(space, list(puts.values())) for space, puts in sorted(found.items())]
