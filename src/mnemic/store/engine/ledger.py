"""Write drafts as commits: rows sealed by salts and a hash chain."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from mnemic.core.clock import FOREVER, micros
from mnemic.core.events import Receipt, Verb
from mnemic.core.facets import written_facets
from mnemic.core.ids import Entropy, ItemId, from_bytes, to_bytes
from mnemic.core.items import Item, Strength
from mnemic.core.queries import Entry
from mnemic.core.scope import SHARED, Shared
from mnemic.errors import Conflict, Invalid, Stale
from mnemic.store.engine import codec, job_queue, lane_cursors, lineage, page_table, prompt_table
from mnemic.store.engine.rows import Rows
from mnemic.store.values.drafts import Advance, Draft, JobStep, Note, Op, Paging, Put, Tie
from mnemic.store.values.row_values import (
    ChangeRow,
    EventRow,
    KeyRow,
    LinkRow,
    SpaceRow,
    StrengthRow,
    TenantRow,
    VersionRow,
)
from mnemic.store.values.work import JobState

GENESIS: Final = bytes(32)
KEY_LIFE: Final = 30 * 86_400 * 1_000_000
"""Microseconds that an idempotency key can tell a repeat from other content."""
_ENVELOPE: Final = struct.Struct("<QQQQQI")
_LINE: Final = struct.Struct("<IB16s")
_NO_ITEM: Final = bytes(16)


@dataclass(frozen=True, slots=True)
class Sealed:
    """One op with its bytes encoded, salted and digested, ready for a transaction."""

    op: Op
    item: bytes | None
    body: bytes
    salt: bytes
    digest: bytes
    content_digest: bytes


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft with all the work done that needs no transaction."""

    draft: Draft
    sealed: tuple[Sealed, ...]
    expect: tuple[tuple[bytes, int], ...]
    used: tuple[tuple[bytes, Strength], ...]
    secret: bytes


def seal(salt: bytes, stored: bytes) -> bytes:
    """Digest stored bytes with a salt, without which the digest tells nothing about them."""
    return hashlib.sha256(salt + stored).digest()


def chain(previous: bytes, row: ChangeRow, space: int, events: Iterable[EventRow]) -> bytes:
    """Hash a commit: over the hash before it, an envelope of integers, and the digests of its events.

    Args:
        space: The number of the commit's space in the tenant; 0 for a commit of the whole tenant.
    """
    state = hashlib.sha256(previous)
    lines = list(events)
    state.update(_ENVELOPE.pack(row.seq, space, row.at & 0xFFFFFFFFFFFFFFFF, row.actor, row.cause, len(lines)))
    for event in lines:
        state.update(_LINE.pack(event.n, event.verb, event.item or _NO_ITEM))
        state.update(event.digest)
    return state.digest()


def prepare(draft: Draft, entropy: Entropy) -> Prepared:
    """Encode, salt and digest a draft; runs in the caller's thread, before any lock."""
    if not draft.ops and draft.lane is None and draft.paging is None and draft.job is None and not draft.prompts:
        raise Invalid("ops", "is empty", "A commit changes at least one thing.")
    if draft.used and draft.lane is not None:
        raise Invalid("lane", "comes with counters of use", "Commit them in turn.")
    _refuse_repeats(draft)
    return Prepared(
        draft=draft,
        sealed=tuple(_sealed(op, entropy) for op in draft.ops),
        expect=tuple((to_bytes(item), seq) for item, seq in draft.expect.items()),
        used=tuple((to_bytes(item), strength) for item, strength in draft.used.items()),
        secret=entropy.bytes(16),
    )


def _refuse_repeats(draft: Draft) -> None:
    """Raise `Invalid` if a draft changes anything twice: views between two events of one commit do not exist."""
    if len(draft.ops) == 1:
        return
    puts = [op for op in draft.ops if isinstance(op, Put)]
    ties = [(op.link.src, op.link.dst, op.link.type) for op in draft.ops if isinstance(op, Tie)]
    keys = [op.key for op in puts if op.key is not None]
    for field, values in (("id", [op.item.id for op in puts]), ("key", keys), ("link", ties)):
        if len(set(values)) < len(values):
            repeated = next(value for place, value in enumerate(values) if value in values[:place])
            raise Invalid(
                field, f"{repeated!r} comes twice in one commit", "Give each its own, or commit them in turn."
            )


def _sealed(op: Op, entropy: Entropy) -> Sealed:
    salt = entropy.bytes(16)
    item: bytes | None
    match op:
        case Put():
            item, body = to_bytes(op.item.id), codec.encode_item(op.item)
        case Tie():
            item, body = to_bytes(op.link.src), codec.encode_link(op.link)
        case Note():
            item, body = (None if op.item is None else to_bytes(op.item)), op.payload
    content = seal(salt, op.content) if isinstance(op, Put) and op.key is not None else b""
    return Sealed(op, item, body, salt, seal(salt, body), content)


def apply(rows: Rows, prepared: Prepared) -> Receipt:
    """Write a prepared draft inside the transaction that `rows` stands for.

    Raises:
        Conflict: a key came with other content, an expected item has changed, or something live cites what nothing
            may; the caller rolls back.
    """
    draft = prepared.draft
    if draft.used:
        return _count_use(rows, prepared)
    if draft.paging is not None and not draft.ops:
        return _page(rows, draft, draft.paging)
    if draft.prompts and not draft.ops:
        return _keep_prompts(rows, draft)
    tenant = rows.spaces.tenant(draft.tenant) or rows.spaces.add_tenant(draft.tenant)
    space = lineage.named(rows, tenant, draft, prepared.secret)
    earlier = _landed_before(rows, space, prepared)
    landed = bool(earlier) and len(earlier) == sum(
        isinstance(s.op, Put) and s.op.key is not None for s in prepared.sealed
    )
    if draft.lane is not None:
        _step(rows, tenant, space, draft, draft.lane, landed)
    if draft.job is not None:
        _finish(rows, space, draft, draft.job, landed)
    if draft.paging is not None:
        page_table.write(rows, space.id, draft.paging, making=True)
    if draft.prompts and not landed:  # whoever wrote them first has kept what they are kept as
        prompt_table.keep_messages(rows, space.id, draft.prompts)
    if landed:
        return _first_receipt(draft, earlier)
    if not draft.ops:
        return Receipt(seq=tenant.seq, ids=())
    if draft.upon is not None and space.seq != draft.upon:
        raise Conflict(f"commit {space.seq} came after commit {draft.upon}, which this was thought upon; read again")
    check_expected(rows, space, prepared.expect)
    commit = _Commit(rows, tenant, space, max(rows.now(), tenant.at))
    for item in sorted(draft.unkeyed):
        rows.journal.drop_keys(space.id, to_bytes(item))
    sealed = prepared.sealed
    commit.write([sealed_op for place, sealed_op in enumerate(sealed) if place not in earlier] if earlier else sealed)
    if draft.uncited:
        _check_uncited(rows, space, draft.uncited)
    commit.finish(draft)
    return Receipt(seq=commit.seq, ids=_named(draft, earlier), repeated=len(earlier))


def _step(rows: Rows, tenant: TenantRow, space: SpaceRow, draft: Draft, step: Advance, landed: bool) -> None:
    """Move the draft's lane; one that has landed before has moved it, if it was of this step."""
    if landed and rows.lanes.lane(space.id, step.name).cursor >= step.upto:
        return
    if rows.items.newest(space.id) == 0:
        raise Conflict(f"lane {step.name!r} has nothing to follow: what was there is gone")
    lane_cursors.advance(rows, space.id, step)
    _refuse_unfounded(rows, tenant, space, draft)


def _finish(rows: Rows, space: SpaceRow, draft: Draft, step: JobStep, landed: bool) -> None:
    """Mark the draft's job as done; one that has landed before has done it."""
    if landed and (job := rows.lanes.job(step.id)) is not None and job.state is JobState.DONE:
        return
    job_queue.finish(rows, step)
    _refuse_unfounded(rows, rows.spaces.tenant_row(space.tenant), space, draft)


def _refuse_unfounded(rows: Rows, tenant: TenantRow, space: SpaceRow, draft: Draft) -> None:
    """Raise `Conflict` if what an item or a link cites was erased while it was thought of."""
    shared = rows.spaces.space(tenant.id, SHARED)
    homes = [space] if shared is None else [space, shared]
    puts = [op.item for op in draft.ops if isinstance(op, Put)]
    links = [op.link for op in draft.ops if isinstance(op, Tie) and op.verb is Verb.LINKED]
    cited = dict.fromkeys(source for item in puts for source in item.erased_with)
    cited |= dict.fromkeys(source for link in links for source in link.evidence)
    for item in puts:
        cited.pop(item.id, None)
    stands = {
        item for home in homes for item in lineage.standing(rows, home, [to_bytes(evidence) for evidence in cited])
    }
    gone = [source for source in cited if to_bytes(source) not in stands]
    if gone:
        raise Conflict(f"erased meanwhile: {', '.join(gone)}; nothing may be derived from it")


def _keep_prompts(rows: Rows, draft: Draft) -> Receipt:
    """Keep what memory put into a prompt and nothing else: no commit, and no trace of a user who never said a word."""
    tenant = rows.spaces.tenant(draft.tenant)
    space = None if tenant is None else rows.spaces.space(tenant.id, draft.user, draft.branch)
    if space is not None:
        prompt_table.keep_messages(rows, space.id, draft.prompts)
    return Receipt(seq=0, ids=())


def _page(rows: Rows, draft: Draft, paging: Paging) -> Receipt:
    """Write a session's pages and nothing else: no commit, and no trace of what was never written to."""
    tenant = rows.spaces.tenant(draft.tenant)
    space = None if tenant is None else rows.spaces.space(tenant.id, draft.user, draft.branch)
    if tenant is None or space is None:
        return Receipt(seq=0, ids=())
    page_table.write(rows, space.id, paging, making=False)
    return Receipt(seq=tenant.seq, ids=())


def _count_use(rows: Rows, prepared: Prepared) -> Receipt:
    """Add to the counters of items that stand. Counting makes no tenant, no space, and nothing for what is gone."""
    tenant = rows.spaces.tenant(prepared.draft.tenant)
    space = None if tenant is None else rows.spaces.space(tenant.id, prepared.draft.user, prepared.draft.branch)
    if tenant is None or space is None:
        return Receipt(seq=0, ids=())
    stands = lineage.standing(rows, space, [item for item, _ in prepared.used])
    used = [(item, delta) for item, delta in prepared.used if item in stands]
    if not used:
        return Receipt(seq=tenant.seq, ids=())
    commit = _Commit(rows, tenant, space, max(rows.now(), tenant.at))
    commit.write(prepared.sealed)
    commit.count_use(used)
    commit.finish(prepared.draft)
    if space.lanes:
        rows.lanes.make_due(space.id)  # feedback may be what a strategy waits for
    return Receipt(seq=commit.seq, ids=tuple(from_bytes(item) for item, _ in used))


def _named(draft: Draft, earlier: Mapping[int, KeyRow]) -> tuple[ItemId, ...]:
    """The items that a receipt names: what was put, or put earlier under the same key; else what was tied."""
    puts = [(place, op.item.id) for place, op in enumerate(draft.ops) if isinstance(op, Put)]
    if not puts:
        return tuple(op.link.src for op in draft.ops if isinstance(op, Tie))
    return tuple(_first_id(earlier[place]) if place in earlier else item for place, item in puts)


def key_hash(secret: bytes, key: str) -> bytes:
    """Hash a key with the space's secret, so that it can be compared and not read."""
    return hashlib.blake2b(key.encode(), key=secret, digest_size=16).digest()


def _landed_before(rows: Rows, space: SpaceRow, prepared: Prepared) -> dict[int, KeyRow]:
    keyed = {
        place: (sealed.op, key_hash(space.secret, sealed.op.key))
        for place, sealed in enumerate(prepared.sealed)
        if isinstance(sealed.op, Put) and sealed.op.key is not None
    }
    if not keyed:
        return {}
    known = rows.journal.keyed(space.id, [hashed for _, hashed in keyed.values()])
    landed: dict[int, KeyRow] = {}
    for place, (op, hashed) in keyed.items():
        row = known.get(hashed)
        if row is None:
            continue
        # A key without a digest has outlived its content: nothing is left to compare, and nothing comes back.
        if row.digest and seal(row.salt, op.content) != row.digest:
            raise Conflict(f"key {op.key!r} was used in commit {row.seq} with other content; use another key")
        landed[place] = row
    return landed


def _first_receipt(draft: Draft, earlier: Mapping[int, KeyRow]) -> Receipt:
    # An op without a key wrote what it names then, if that was there before; what it would have made now is not made.
    ids = tuple(
        _first_id(earlier[place]) if place in earlier else op.item.id
        for place, op in enumerate(draft.ops)
        if isinstance(op, Put) and (place in earlier or op.verb is not Verb.WROTE)
    )
    return Receipt(seq=next(iter(earlier.values())).seq, ids=ids, repeated=len(earlier))


def _first_id(row: KeyRow) -> ItemId:
    """The id that an item was given when its key was first used."""
    return from_bytes(row.item or _NO_ITEM)


def check_expected(rows: Rows, space: SpaceRow, expect: Iterable[tuple[bytes, int]]) -> None:
    """Raise `Stale` if one of these items no longer stands as of the commit given with it (0: must not exist)."""
    expected, changed = dict(expect), []
    stands = lineage.standing(rows, space, list(expected)) if expected else {}
    for item, seq in expected.items():
        row = stands.get(item)
        if (0 if row is None else row.seq_from) != seq:
            changed.append(f"{from_bytes(item)} (now of commit {row.seq_from if row else 0}, expected {seq})")
    if changed:
        raise Stale("changed meanwhile: " + ", ".join(changed) + "; read again and retry")


def _check_uncited(rows: Rows, space: SpaceRow, items: Iterable[ItemId]) -> None:
    if cited := rows.past.cited((space.id,), sorted(map(to_bytes, items)), live=True):
        raise Conflict(f"something rests on {', '.join(sorted(map(from_bytes, cited)))}; read again and retry")


class _Commit:
    """The rows of one commit, as they are written."""

    def __init__(self, rows: Rows, tenant: TenantRow, space: SpaceRow, at: int) -> None:
        self.rows, self.tenant, self.space, self.at = rows, tenant, space, at
        self.seq = tenant.seq + 1
        self.events: list[EventRow] = []

    def write(self, ops: Sequence[Sealed]) -> None:
        """Write what some ops put and tie, all rows of a table at once, and an event for each of them in order."""
        puts: list[tuple[int, Put, Sealed]] = []
        ties: list[tuple[int, Tie, Sealed]] = []
        wrote: dict[int, tuple[int, int, bytes | None]] = {}
        for n, sealed in enumerate(ops, len(self.events)):
            op = sealed.op
            if isinstance(op, Put):
                puts.append((n, op, sealed))
            elif isinstance(op, Tie):
                ties.append((n, op, sealed))
            else:
                wrote[n] = (0, 0, sealed.body)
        if puts:
            first = self._put(puts)
            wrote.update((n, (first + place, 0, None)) for place, (n, _, _) in enumerate(puts))
        if ties:
            first = self._tie(ties)
            wrote.update((n, (0, first + place, None)) for place, (n, _, _) in enumerate(ties))
        tenant, seq = self.tenant.id, self.seq
        events = [
            EventRow(tenant, seq, n, sealed.op.verb, sealed.item, *wrote[n], sealed.salt, sealed.digest)
            for n, sealed in enumerate(ops, len(self.events))
        ]
        self.rows.journal.add_events(events)
        self.events += events

    def _put(self, puts: Sequence[tuple[int, Put, Sealed]]) -> int:
        """Write versions with what goes with them; the number of the first, each of the others has the next."""
        rows, space = self.rows, self.space.id
        versions = [
            version_row(rows, space, self.seq, n, op.item, sealed_item.item, sealed_item.body)
            for n, op, sealed_item in puts
        ]
        before = self._followed(versions, puts)
        first = rows.items.add_versions(versions)
        numbered = list(zip(count(first), versions, puts, strict=False))
        carried: dict[int, tuple[bytes, ...]] = {}
        if before:
            carried = self._carried(
                {ver: before[row.id] for ver, row, (_, op, _) in numbered if op.terms is None and row.id in before}
            )
        catalogued: list[Entry] = []
        facets: list[tuple[int, bytes]] = []
        cited: list[tuple[bytes, bytes]] = []
        keys: list[KeyRow] = []
        for ver, row, (_, op, sealed) in numbered:
            terms = carried.get(ver, (b"",)) if op.terms is None else op.terms
            catalogued += entries(ver, row, op.item.pinned, terms)
            if op.item.tags or op.item.source:
                facets += [(ver, facet) for facet in written_facets(op.item.tags, op.item.author)]
            if op.item.erased_with:
                cited += [(to_bytes(source), row.id) for source in op.item.erased_with]
            if op.key is not None:
                keys.append(self._key(op.key, op.lasting, sealed))
        rows.items.add_entries(space, catalogued)
        if facets:
            rows.items.add_facets(space, facets)
        if cited:
            rows.links.add_derived(space, cited)
        if keys:
            rows.journal.add_keys(keys)
        if self.space.lanes:
            rows.lanes.make_due(space)
        return first

    def _followed(
        self, versions: Sequence[VersionRow], puts: Sequence[tuple[int, Put, Sealed]]
    ) -> dict[bytes, VersionRow]:
        """Close the versions that stood before; return them."""
        before = lineage.standing(self.rows, self.space, [row.id for row in versions])
        if not before:
            return before
        for row, (_, op, _) in zip(versions, puts, strict=True):
            if op.verb is Verb.WROTE and row.id in before:
                seq = before[row.id].seq_from
                raise Conflict(f"item {op.item.id} is here already, of commit {seq}; give a new one a new id")
        # What a branch reads in its parent stands there as it did.
        if own := [row.ver for row in before.values() if row.space == self.space.id]:
            self.rows.items.close_versions(self.space.id, own, self.seq)
        return before

    def _carried(self, same: Mapping[int, VersionRow]) -> dict[int, tuple[bytes, ...]]:
        """Carry vectors over to the versions that say the same as those before them; the token streams of these."""
        terms: dict[int, tuple[bytes, ...]] = {}
        for home in {row.space for row in same.values()}:
            moved = [(row.ver, ver) for ver, row in same.items() if row.space == home]
            known = self.rows.items.entry_terms(home, [ver for ver, _ in moved])
            terms |= {to: known[ver] for ver, to in moved if ver in known}
            self.rows.vectors.carry_vectors(home, self.space.id, moved)
        return terms

    def _key(self, key: str, lasting: bool, sealed: Sealed) -> KeyRow:
        space, hashed = self.space, key_hash(self.space.secret, key)
        return KeyRow(space.id, hashed, sealed.salt, sealed.content_digest, self.seq, sealed.item, lasting, self.at)

    def _tie(self, ties: Sequence[tuple[int, Tie, Sealed]]) -> int:
        """Write links in place of those that stood; the number of the first, each of the others has the next."""
        space, rows_tied = self.space.id, list[LinkRow]()
        for n, op, sealed in ties:
            assert sealed.item is not None
            dst, type_ = to_bytes(op.link.dst), self.rows.names.known(space, op.link.type)
            opened = op.verb is Verb.LINKED
            rows_tied.append(LinkRow(0, space, sealed.item, dst, type_, self.seq, FOREVER, n, opened, sealed.body))
        return self.rows.links.add_links(rows_tied)

    def count_use(self, used: Iterable[tuple[bytes, Strength]]) -> None:
        space = self.space.id
        deltas = [
            StrengthRow(
                space, item, delta.uses, delta.useful, delta.harms,
                0 if delta.last_used is None else micros(delta.last_used),
            )
            for item, delta in used
        ]  # fmt: skip
        self.rows.items.add_strengths(space, deltas)

    def finish(self, draft: Draft) -> None:
        """Write the commit, and move its space to it."""
        actor = self.rows.names.actor(self.space.id, draft.actor)
        made = self.tenant.id, self.seq, self.space.id, self.at, actor, draft.cause or 0
        hashed = chain(self.tenant.hash, ChangeRow(*made, GENESIS), self.space.number, self.events)
        self.rows.journal.add_change(ChangeRow(*made, hashed))
        self.rows.spaces.set_space(self.space._replace(seq=self.seq))


def version_row(rows: Rows, space: int, seq: int, n: int, item: Item, raw: bytes | None, body: bytes) -> VersionRow:
    """Make the row of a version that the `n`-th event of a commit writes; it has no number yet."""
    assert raw is not None  # only a note may be of no item
    state, kind, said, known_to, valid_from, valid_to, pos, channel, expires, sight = codec.columns(item)
    agent, session = rows.names.known(space, item.agent), rows.names.known(space, item.session)
    return VersionRow(
        0, space, raw, seq, FOREVER, n, state, kind, said, known_to, valid_from, valid_to, agent, session,
        pos, channel, expires, sight, body,
    )  # fmt: skip


def entries(ver: int, row: VersionRow, pinned: bool, terms: Iterable[bytes]) -> list[Entry]:
    """Make the entries of version `ver`: its projections, once for each part's token stream."""
    return [
        Entry(
            ver, part, row.seq_from, row.seq_to, row.state, row.kind, row.said, row.known_to,
            row.valid_from, row.valid_to, row.agent, row.session, row.pos, int(pinned), row.channel, row.expires,
            row.sight, stream,
        )
        for part, stream in enumerate(terms)
    ]  # fmt: skip


def space_owner(user: str | Shared) -> tuple[str | None, int]:
    """A space's owner as two columns: the name, and whether it is the shared space."""
    return (None, 1) if isinstance(user, Shared) else (user, 0)


def journal(
    rows: Rows,
    tenant: TenantRow,
    space: SpaceRow | None,
    verb: Verb,
    payload: bytes,
    actor: int = 0,
    *,
    note: bytes | None = None,
    ops: Sequence[Op] = (),
) -> int:
    """Write a commit that takes out, such as an erasure, with a note and what follows from it; returns its seq.

    Args:
        space: None for a commit of the whole tenant.
        actor: The number of a name in that space; 0 for nobody.
    """
    seq, at = tenant.seq + 1, max(rows.now(), tenant.at)
    said = [(verb, payload)] if note is None else [(verb, payload), (Verb.NOTED, note)]
    events = []
    for n, (what, stored) in enumerate(said):
        salt = rows.entropy.bytes(16)
        events.append(EventRow(tenant.id, seq, n, what, None, 0, 0, stored, salt, seal(salt, stored)))
    home, number = (0, 0) if space is None else (space.id, space.number)
    change = ChangeRow(tenant.id, seq, home, at, actor, 0, GENESIS)
    rows.journal.add_events(events)
    if ops and space is not None:
        commit = _Commit(rows, tenant, space, at)
        commit.events = events
        commit.write([_sealed(op, rows.entropy) for op in ops])
    rows.journal.add_change(change._replace(hash=chain(tenant.hash, change, number, events)))
    return seq
