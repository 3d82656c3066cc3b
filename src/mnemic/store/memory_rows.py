"""Rows in memory: each method does in a few dicts what the SQLite keeper does in one statement."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from mnemic.core.clock import FOREVER
from mnemic.core.events import Verb
from mnemic.core.ids import to_bytes
from mnemic.core.items import Kind
from mnemic.core.queries import Entry, Filter, View
from mnemic.core.scope import Shared
from mnemic.store.codec import core_order, kind_number
from mnemic.store.following import EmbedderRow, EmbedderState, Job, JobState, Lane, Order, VectorRow
from mnemic.store.ledger import GENESIS
from mnemic.store.memory_rewind import MemoryRewound
from mnemic.store.memory_spent import MemorySpent
from mnemic.store.memory_tables import SpaceTables, Tables
from mnemic.store.meters import LIFE, MeterRow
from mnemic.store.pages import PageRow, SessionRow, at_hand
from mnemic.store.rows import (
    TRUNK,
    ChangeRow,
    EventRow,
    KeyRow,
    Line,
    LinkRow,
    SpaceRow,
    StrengthRow,
    TenantRow,
    VersionRow,
    Walk,
    shown_states,
)

_ENDED: Final = (JobState.DONE, JobState.CANCELLED)
_CORE: Final = frozenset({kind_number(Kind.PROFILE), kind_number(Kind.PROCEDURE)})


class MemoryRows(MemorySpent, MemoryRewound):
    """`store.rows.Rows` over tables that nobody else changes meanwhile."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    # Tenants, spaces, names

    def tenant(self, name: str) -> TenantRow | None:
        number = self._tables.tenant_names.get(name)
        return None if number is None else self._tables.tenants[number]

    def tenant_row(self, tenant: int) -> TenantRow:
        return self._tables.tenants[tenant]

    def tenants(self) -> list[TenantRow]:
        return [row for _, row in sorted(self._tables.tenants.items())]

    def add_tenant(self, name: str) -> TenantRow:
        row = TenantRow(self._tables.number("tenant"), name, 0, 0, GENESIS, 0, GENESIS)
        self._tables.tenants[row.id] = row
        self._tables.tenant_names[name] = row.id
        return row

    def set_tenant(self, row: TenantRow) -> None:
        head = self._tables.tenants[row.id]
        if head.name is not None and row.name is None:
            del self._tables.tenant_names[head.name]
        self._tables.tenants[row.id] = head._replace(name=row.name, horizon=row.horizon, horizon_hash=row.horizon_hash)

    def space(self, tenant: int, user: str | Shared, branch: str = "") -> SpaceRow | None:
        number = self._tables.owners.get((tenant, user, branch))
        return None if number is None else self._tables.spaces[number]

    def space_rows(self, ids: Sequence[int]) -> list[SpaceRow]:
        return [row for space in ids if (row := self._tables.spaces.get(space)) is not None]

    def tenant_spaces(self, tenant: int) -> list[SpaceRow]:
        return [row for _, row in sorted(self._tables.spaces.items()) if row.tenant == tenant]

    def add_space(self, tenant: int, user: str | Shared, secret: bytes, line: Line = TRUNK) -> SpaceRow:
        number = self._tables.number("space")
        self.load_space(number, tenant, user, secret, line)
        return self._tables.spaces[number]

    def set_space(self, row: SpaceRow) -> None:
        self._tables.spaces[row.id] = self._tables.spaces[row.id]._replace(seq=row.seq, epoch=row.epoch)

    def name(self, space: int, text: str) -> int | None:
        return self._tables.content(space).names.get(text)

    def name_text(self, name: int) -> str | None:
        home = self._tables.homes.get(name)
        return None if home is None else home[1]

    def names(self, space: int) -> list[tuple[int, str]]:
        return sorted((number, text) for text, number in self._tables.content(space).names.items())

    def add_name(self, space: int, text: str) -> int:
        number = self._tables.number("name")
        self.load_name(number, space, text)
        return number

    def load_space(self, space: int, tenant: int, user: str | Shared | None, secret: bytes, line: Line = TRUNK) -> None:
        self._tables.spent("space", space)
        self._tables.spaces[space] = SpaceRow(space, tenant, user, secret, 0, 0, *line)
        if user is not None:
            self._tables.owners[tenant, user, line.branch] = space

    def load_name(self, name: int, space: int, text: str) -> None:
        self._tables.spent("name", name)
        self._tables.homes[name] = (space, text)
        self._tables.content(space).names[text] = name

    # The journal

    def add_change(self, row: ChangeRow) -> None:
        self._tables.journal(row.tenant).changes[row.seq] = row
        head = self._tables.tenants[row.tenant]
        self._tables.tenants[row.tenant] = head._replace(seq=row.seq, at=row.at, hash=row.hash)

    def add_event(self, row: EventRow) -> None:
        self._tables.journal(row.tenant).add_event(row)

    def changes(self, tenant: int, after: int, limit: int, newest: bool) -> list[ChangeRow]:
        changes = self._tables.journal(tenant).changes
        seqs = range(after + 1, self.tenant_row(tenant).seq + 1)
        found = (changes[seq] for seq in (reversed(seqs) if newest else seqs) if seq in changes)
        return list(islice(found, limit))

    def events(self, tenant: int, first: int, last: int) -> list[EventRow]:
        events = self._tables.journal(tenant).events
        seqs = range(first, min(last, self.tenant_row(tenant).seq) + 1)
        return [row for seq in seqs if seq in events for _, row in sorted(events[seq].items())]

    def noted(self, tenant: int, verbs: Sequence[int], after: int) -> list[int]:
        rows = self.events(tenant, after + 1, self.tenant_row(tenant).seq)
        return sorted({row.seq for row in rows if not row.ver and not row.lver and row.verb in verbs})

    def meters(self) -> list[MeterRow]:
        return sorted(self._tables.meters.values(), key=lambda row: (-row.at, row.process))

    def set_meter(self, row: MeterRow) -> None:
        for old in [m.process for m in self._tables.meters.values() if m.at <= row.at - LIFE]:
            del self._tables.meters[old]
        self._tables.meters[row.process] = row

    def times(self, tenant: int, seqs: Sequence[int]) -> dict[int, int]:
        changes = self._tables.journal(tenant).changes
        return {seq: changes[seq].at for seq in seqs if seq in changes}

    def seq_at(self, tenant: int, at: int) -> int:
        changes = self._tables.journal(tenant).changes
        seqs = range(self.tenant_row(tenant).seq, 0, -1)
        return next((seq for seq in seqs if seq in changes and changes[seq].at <= at), 0)

    # Versions, entries, links

    def add_version(self, row: VersionRow) -> int:
        ver = self._tables.number("version")
        content = self._tables.content(row.space)
        content.versions[ver] = row._replace(ver=ver)
        content.items.add(row.id, ver)
        return ver

    def close_version(self, row: VersionRow, seq_to: int) -> None:
        content = self._tables.content(row.space)
        content.versions[row.ver] = row._replace(seq_to=seq_to)
        content.entries[row.ver] = tuple(e._replace(seq_to=seq_to) for e in content.entries.get(row.ver, ()))

    def standing(self, space: int, item: bytes) -> VersionRow | None:
        return self._tables.content(space).standing(item)

    def version_rows(self, space: int, vers: Sequence[int]) -> list[VersionRow]:
        versions = self._tables.content(space).versions
        return [versions[ver] for ver in vers if ver in versions]

    def written(self, space: int, seq: int) -> list[VersionRow]:
        versions = self._tables.content(space).versions
        rows = (versions.get(event.ver) for event in self._events_in(space, seq))
        return [row for row in rows if row is not None and row.seq_from == seq]

    def item_rows(self, space: int, item: bytes) -> list[VersionRow]:
        return self._tables.content(space).rows_of(item)

    def ids(self, space: int, low: bytes, high: bytes, tail: bytes, limit: int) -> list[bytes]:
        found = (item for item in self._tables.content(space).items if low <= item <= high and item.endswith(tail))
        return sorted(found)[:limit]

    def covered(self, space: int, below: int, at: int) -> list[bytes]:
        content, beneath = self._tables.content(space), self._tables.content(below).items
        return [i for i, vers in content.items.items() if i in beneath and content.versions[vers[0]].seq_from <= at]

    def visible(self, spaces: Sequence[int], items: Sequence[bytes] | None, walk: Walk) -> list[VersionRow]:
        rows, after, limit = self._rows(spaces, items), walk.after, walk.limit
        if items is not None:
            after, limit = 0, len(items) * max(1, len(spaces))
        rows.sort(key=lambda row: row.ver, reverse=walk.newest)
        shown = self._shown(walk.where, walk.view)
        return list(islice((row for row in rows if row.ver > after and shown(row)), limit))

    def count(self, spaces: Sequence[int], where: Filter, view: View) -> int:
        shown = self._shown(where, view)
        return sum(shown(row) for row in self._rows(spaces, None))

    def all_versions(self, space: int) -> Iterator[VersionRow]:
        rows = self._tables.content(space).versions
        return iter([rows[ver] for ver in sorted(rows)])

    def add_entries(self, space: int, entries: Iterable[Entry]) -> None:
        table = self._tables.content(space).entries
        for entry in entries:
            table[entry.ver] = (*table.get(entry.ver, ()), entry)

    def entries(self, space: int, after: int) -> Iterator[Entry]:
        table = self._tables.content(space).entries
        return (entry for ver in sorted(v for v in table if v > after) for entry in table[ver])

    def entry_terms(self, space: int, ver: int) -> tuple[bytes, ...]:
        return tuple(entry.terms for entry in self._tables.content(space).entries.get(ver, ()))

    def closed(self, space: int, after_seq: int) -> list[tuple[int, int]]:
        rows = self._tables.content(space).versions.values()
        return sorted((row.ver, row.seq_to) for row in rows if after_seq < row.seq_to < FOREVER)

    def core(self, space: int, view: View, limit: int) -> list[VersionRow]:
        content, shown = self._tables.content(space), self._shown(Filter(), view)
        rows = (content.versions[ver] for ver, parts in content.entries.items() if _is_core(parts[0]))
        return sorted((row for row in rows if shown(row)), key=core_order)[:limit]

    def newest(self, space: int) -> int:
        return max(self._tables.content(space).entries, default=0)

    def add_link(self, row: LinkRow) -> int:
        lver = self._tables.number("link")
        content = self._tables.content(row.space)
        content.links[lver] = row._replace(lver=lver)
        content.ends.add(row.src, lver)
        content.ends.add(row.dst, lver)
        return lver

    def close_link(self, row: LinkRow, seq_to: int) -> None:
        self._tables.content(row.space).links[row.lver] = row._replace(seq_to=seq_to)

    def standing_link(self, space: int, src: bytes, dst: bytes, type_: int) -> LinkRow | None:
        rows = self._link_rows(space, src, dst, type_)
        return next((row for row in rows if row.seq_to == FOREVER), None)

    def links_of(self, space: int, item: bytes) -> list[LinkRow]:
        return sorted(self._tables.content(space).links_at(item), key=lambda row: (row.src != item, row.lver))

    def links_written(self, space: int, seq: int) -> list[LinkRow]:
        links = self._tables.content(space).links
        rows = (links.get(event.lver) for event in self._events_in(space, seq))
        return [row for row in rows if row is not None and row.seq_from == seq]

    def _link_rows(self, space: int, src: bytes, dst: bytes, type_: int) -> list[LinkRow]:
        rows = self._tables.content(space).links_at(src)
        return [row for row in rows if (row.src, row.dst, row.type) == (src, dst, type_)]

    def all_links(self, space: int) -> Iterator[LinkRow]:
        rows = self._tables.content(space).links
        return iter([rows[lver] for lver in sorted(rows)])

    def add_derived(self, space: int, source: bytes, item: bytes) -> None:
        self._tables.content(space).derived.add(source, item)

    def derived(self, space: int, source: bytes) -> list[bytes]:
        return sorted(self._tables.content(space).derived.get(source, ()))

    def add_strength(self, row: StrengthRow) -> None:
        table = self._tables.content(row.space).strengths
        had = table.get(row.id, StrengthRow(row.space, row.id, 0, 0, 0, 0))
        table[row.id] = StrengthRow(
            row.space,
            row.id,
            had.uses + row.uses,
            had.useful + row.useful,
            had.harms + row.harms,
            max(had.last_used, row.last_used),
        )

    def strength(self, space: int, item: bytes) -> StrengthRow | None:
        return self._tables.content(space).strengths.get(item)

    def strengths(self, space: int) -> list[StrengthRow]:
        return [row for _, row in sorted(self._tables.content(space).strengths.items())]

    # Embedders, vectors, lanes

    def embedders(self) -> list[EmbedderRow]:
        return [row for _, row in sorted(self._tables.embedders.items())]

    def add_embedder(self, name: str, dims: int, state: EmbedderState) -> int:
        number = self._tables.number("embedder")
        self._tables.embedders[number] = EmbedderRow(number, name, dims, state)
        return number

    def set_embedder(self, row: EmbedderRow) -> None:
        self._tables.embedders[row.id] = row

    def drop_embedder(self, model: int) -> None:
        del self._tables.embedders[model]

    def vectors(self, space: int, model: int, after: int) -> Iterator[VectorRow]:
        table = self._tables.content(space).vectors
        return (row for ver in sorted(v for v in table if v > after) for one, row in table[ver] if one == model)

    def vector_sizes(self, space: int) -> Iterator[tuple[int, int, int, int]]:
        held = [pair for pairs in self._tables.content(space).vectors.values() for pair in pairs]
        return ((model, row.ver, row.part, len(row.f16)) for model, row in sorted(held))

    def add_vectors(self, space: int, model: int, vectors: Iterable[VectorRow]) -> int:
        content, written = self._tables.content(space), 0
        for row in vectors:
            if row.part < len(content.entries.get(row.ver, ())):
                held = {(one, other.part): other for one, other in content.vectors.get(row.ver, ())}
                held[model, row.part] = row
                content.vectors[row.ver] = tuple((one, other) for (one, _), other in sorted(held.items()))
                written += 1
        return written

    def carry_vectors(self, home: int, ver: int, space: int, to: int) -> None:
        held = self._tables.content(home).vectors.get(ver)
        if held is not None:
            self._tables.content(space).vectors[to] = tuple((model, row._replace(ver=to)) for model, row in held)

    def drop_vectors(self, model: int, limit: int) -> int:
        tables = [self._tables.content(space).vectors for space in self._tables.spaces]
        found = ((table, ver) for table in tables for ver, held in table.items() if model in dict(held))
        gone = 0
        for table, ver in list(islice(found, limit)):
            left = tuple((one, row) for one, row in table[ver] if one != model)
            gone += len(table[ver]) - len(left)
            if left:
                table[ver] = left
            else:
                del table[ver]
        return gone

    def lane(self, space: int, name: str) -> Lane:
        return self._tables.content(space).lanes.get(name) or Lane(space=space, name=name)

    def set_lane(self, lane: Lane) -> None:
        self._tables.content(lane.space).lanes[lane.name] = lane

    def drop_lanes(self, name: str) -> None:
        for space in self._tables.spaces:
            self._tables.content(space).lanes.discard(name)

    def backlog(self, name: str) -> list[tuple[int, int, int]]:
        owned = sorted(space for space, row in self._tables.spaces.items() if row.user is not None and row.lanes)
        found = ((space, self.lane(space, name).cursor, self.newest(space)) for space in owned)
        return [(space, cursor, newest) for space, cursor, newest in found if newest > cursor]

    def highest(self) -> int:
        return self._tables.last.get("version", 0)

    def arrived(self, after: int) -> dict[int, int]:
        newest = ((space, max(self._tables.content(space).versions, default=0)) for space in self._tables.spaces)
        return {space: ver for space, ver in newest if ver > after}

    def lanes(self, space: int | None = None) -> list[Lane]:
        spaces = sorted(self._tables.spaces) if space is None else [space] if space in self._tables.spaces else []
        contents = (self._tables.content(number) for number in spaces)
        return [lane for content in contents for _, lane in sorted(content.lanes.items())]

    def jobs(self, states: Sequence[int]) -> list[Job]:
        found = (job for job in self._tables.jobs.values() if job.state in states)
        return sorted(found, key=lambda job: (-job.order.priority, job.id))

    def job(self, number: int) -> Job | None:
        return self._tables.jobs.get(number)

    def find_job(self, space: int, name: str, key: str) -> Job | None:
        jobs = self._tables.jobs.values()
        return next((j for j in jobs if (j.order.space, j.order.name, j.order.key) == (space, name, key)), None)

    def due_job(self, names: Sequence[str], now: int) -> Job | None:
        waiting = (job for job in self.jobs((JobState.WAITING,)) if job.order.name in names)
        return next((j for j in waiting if j.leased > now or max(j.order.not_before, j.lease_until) <= now), None)

    def add_job(self, order: Order, at: int) -> int:
        number = self._tables.number("job")
        self._tables.jobs[number] = Job(id=number, order=order, at=at)
        return number

    def set_job(self, job: Job) -> None:
        self._tables.jobs[job.id] = job

    def answer(self, space: int, lane: str, hashed: bytes) -> bytes | None:
        found = self._tables.content(space).answers.get((lane, hashed))
        return None if found is None else found[0]

    def add_answer(self, space: int, lane: str, hashed: bytes, answered: bytes, given: Sequence[bytes]) -> None:
        self._tables.content(space).answers[lane, hashed] = answered, frozenset(given)

    def drop_all_answers(self, spaces: Sequence[int]) -> None:
        for space in spaces:
            self._tables.content(space).answers.empty()

    def drop_answers(self, space: int, lane: str) -> None:
        answers = self._tables.content(space).answers
        for key in [key for key in answers if key[0] == lane]:
            del answers[key]

    def drop_keys(self, space: int, item: bytes) -> None:
        content = self._tables.content(space)
        for row in [content.keys[hashed] for hashed in content.keyed.get(item, ())]:
            if not row.lasting:
                content.drop_key(row)

    # Sessions and their pages

    def session(self, space: int, session: int) -> SessionRow | None:
        return self._tables.content(space).sessions.get(session)

    def sessions(self, space: int) -> list[SessionRow]:
        return list(self._tables.content(space).sessions.values())

    def set_session(self, row: SessionRow) -> None:
        self._tables.content(row.space).sessions[row.session] = row

    def pages(self, space: int, session: int, items: Sequence[bytes] | None) -> list[PageRow]:
        pages = self._tables.content(space).pages
        if items is not None:
            found = [pages[session, item] for item in items if (session, item) in pages]
        else:
            found = [row for (home, _), row in pages.items() if home == session and at_hand(row)]
        return sorted(found, key=lambda row: (row.arrived, row.position, row.item))

    def put_pages(self, space: int, session: int, pages: Iterable[PageRow]) -> None:
        content = self._tables.content(space)
        for row in pages:
            item = to_bytes(row.item)
            content.pages[session, item] = row
            content.paged.add(item, session)

    # Keys and tombstones

    def key(self, space: int, hashed: bytes) -> KeyRow | None:
        return self._tables.content(space).keys.get(hashed)

    def add_key(self, row: KeyRow) -> None:
        content = self._tables.content(row.space)
        content.keys[row.hash] = row
        if row.item is not None:
            content.keyed.add(row.item, row.hash)

    def keys(self, space: int) -> list[KeyRow]:
        return [row for _, row in sorted(self._tables.content(space).keys.items())]

    def forget_keys(self, before: int) -> None:
        for job in [j for j in self._tables.jobs.values() if j.state in _ENDED and j.at < before]:
            del self._tables.jobs[job.id]
        for space in self._tables.spaces:
            content = self._tables.content(space)
            for row in [row for row in content.keys.values() if row.at < before]:
                if row.lasting:
                    content.keys[row.hash] = row._replace(salt=b"", digest=b"")
                else:
                    content.drop_key(row)

    def add_tomb(self, space: int, item: bytes, seq: int) -> None:
        tombs = self._tables.content(space).tombs
        if item not in tombs:
            tombs[item] = seq

    def tombs(self, space: int) -> list[tuple[bytes, int]]:
        return sorted(self._tables.content(space).tombs.items())

    # Taking out

    def drop_item(self, space: int, item: bytes, seq: int) -> tuple[int, int]:
        content = self._tables.content(space)
        versions, links = content.rows_of(item), content.links_at(item)
        tenant = self._tables.spaces[space].tenant
        for written, n in [*((v.seq_from, v.n) for v in versions), *((ln.seq_from, ln.n) for ln in links)]:
            self.blank_event(tenant, written, n)
        content.drop_keys(item)
        content.strengths.discard(item)
        for name, lane in list(content.lanes.items()):
            # it may quote what it went wrong with, and so may what a run under way will say
            content.lanes[name] = replace(lane, error="", owner="", lease_until=0)
        self._clear_jobs(space, {row.ver for row in versions})
        content.drop_answers(item)
        content.drop_derived(item)
        for link in links:
            content.drop_link(link)
        for version in versions:
            content.drop_version(version)
        self._drop_names(content, {n for v in versions for n in (v.agent, v.session)} | {ln.type for ln in links})
        content.drop_pages(item)
        self.add_tomb(space, item, seq)
        return len(versions), len(links)

    def drop_bare_name(self, space: int, text: str) -> None:
        content = self._tables.content(space)
        if text in content.names:
            self._drop_names(content, {content.names[text]})
            content.drop_nameless_sessions()

    def drop_space(self, space: int) -> tuple[int, int]:
        content, row = self._tables.content(space), self._tables.spaces[space]
        versions, links = len(content.versions), len(content.links)
        for change in self._tables.journal(row.tenant).changes.values():
            if change.space == space:
                for event in self.events(row.tenant, change.seq, change.seq):
                    if event.verb != Verb.ERASED:
                        self.blank_event(row.tenant, event.seq, event.n)
        for number in content.names.values():
            del self._tables.homes[number]
        content.empty()
        for job in [j for j in self._tables.jobs.values() if j.order.space == space]:
            del self._tables.jobs[job.id]
        if row.user is not None:
            del self._tables.owners[row.tenant, row.user, row.branch]
        self._tables.spaces[space] = row._replace(user=None, secret=b"", branch="")
        return versions, links

    def blank_event(self, tenant: int, seq: int, n: int) -> None:
        events = self._tables.journal(tenant).events.get(seq)
        if events is not None and n in events:
            events[n] = events[n]._replace(salt=None, payload=None, ver=0, lver=0)

    # Underneath

    def _clear_jobs(self, space: int, vers: set[int]) -> None:
        for job in [j for j in self._tables.jobs.values() if j.order.space == space]:
            if job.order.ver in vers:
                del self._tables.jobs[job.id]
            else:
                self._tables.jobs[job.id] = replace(job, error="", owner="", lease_until=0)

    def _events_in(self, space: int, seq: int) -> list[EventRow]:
        return self.events(self._tables.spaces[space].tenant, seq, seq) if space in self._tables.spaces else []

    def _rows(self, spaces: Sequence[int], items: Sequence[bytes] | None) -> list[VersionRow]:
        contents = [self._tables.content(space) for space in spaces]
        if items is None:
            return [row for content in contents for row in content.versions.values()]
        return [row for content in contents for item in dict.fromkeys(items) for row in content.rows_of(item)]

    def _shown(self, where: Filter, view: View) -> Callable[[VersionRow], bool]:
        states = frozenset(int(state) for state in where.states or shown_states(view))

        def shown(row: VersionRow) -> bool:
            return row.state in states and _in_view(row, view) and self._meant(row, where)

        return shown

    def _meant(self, row: VersionRow, where: Filter) -> bool:
        names = self._tables.content(row.space).names
        return (
            (not where.kinds or row.kind in [kind_number(kind) for kind in where.kinds])
            and (where.agent is None or row.agent == names.get(where.agent, -1))
            and (where.session is None or row.session == names.get(where.session, -1))
            and (where.said_from is None or row.said >= where.said_from)
            and (where.said_to is None or row.said < where.said_to)
            and (not where.tags or not set(where.tags).isdisjoint(json.loads(row.body).get("tags", ())))
        )

    def _drop_names(self, content: SpaceTables, borne: set[int]) -> None:
        """Of the names that something bore which is gone, those go that nothing else bears."""
        left = {n for row in content.versions.values() for n in (row.agent, row.session)}
        left |= {row.type for row in content.links.values()}
        for number in borne - left - {0}:
            del content.names[self._tables.homes[number][1]]
            del self._tables.homes[number]


def _is_core(entry: Entry) -> bool:
    return bool(entry.pinned) or entry.kind in _CORE


def _in_view(row: VersionRow, view: View) -> bool:
    stands = row.seq_to == FOREVER if view.at is None else row.seq_from <= view.at < row.seq_to
    known = view.as_of is None or (row.said <= view.as_of and (view.valid_at is not None or view.as_of < row.known_to))
    open_then = view.as_of is not None and view.as_of < row.known_to < FOREVER  # its end was not known yet
    held = view.valid_at is None or (row.valid_from <= view.valid_at and (view.valid_at < row.valid_to or open_then))
    return stands and known and held
