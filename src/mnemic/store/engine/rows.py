"""Read and write the rows of one transaction, in groups: written once over relations, but for what a store writes.

A store writes the six methods of `relations.Relations`, and the methods that are abstract here: those that join, count,
walk by an index of their own, or delete a row with all that hangs on it. It may override any other to do it faster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from operator import attrgetter, itemgetter
from typing import Final

from mnemic.core import visibility
from mnemic.core.clock import FOREVER, Clock
from mnemic.core.events import Verb
from mnemic.core.ids import Entropy, to_bytes
from mnemic.core.items import State
from mnemic.core.queries import Entry, Filter, View
from mnemic.core.scope import SHARED, Shared
from mnemic.errors import NotFound
from mnemic.store.engine.relations import (
    ANSWER,
    CHANGE,
    CHANGE_TIMES,
    CHECKPOINT,
    CLOSED_VERSIONS,
    CREDENTIAL,
    DERIVED,
    DUE,
    EMBEDDER,
    ENTRY,
    ENTRY_NUMBERS,
    ENTRY_ROW,
    EVENT,
    FACET,
    FOLLOWED,
    HOLD,
    JOB,
    KEY,
    KEYED_ITEMS,
    LANE,
    LANE_COLUMNS,
    LINK,
    MEMO,
    METER,
    NAME,
    PACK,
    PACK_BODY,
    PAGE,
    SESSION,
    SPACE,
    SPACE_NUMBERS,
    SPENT_NUMBERS,
    STRENGTH,
    TENANT,
    TOMB,
    VECTOR,
    VECTOR_ROW,
    VERSION,
    VERSION_IDS,
    VERSION_ITEMS,
    WRITTEN_LINK,
    WRITTEN_VERSION,
    Condition,
    Relations,
    Value,
    job_values,
)
from mnemic.store.values.heads import CheckpointRow, VersionCounts
from mnemic.store.values.meters import LIFE, MeterRow
from mnemic.store.values.row_values import (
    TRUNK,
    BranchPoint,
    ChangeRow,
    CompactionLink,
    CompactionVersion,
    CredentialRow,
    Cursor,
    Descent,
    EntryNames,
    EventRow,
    HoldRow,
    KeyRow,
    LinkRow,
    NameRow,
    Page,
    PageRow,
    SessionRow,
    SpaceRow,
    StrengthRow,
    TenantRow,
    VersionRow,
    Walk,
    WrittenRow,
)
from mnemic.store.values.work import (
    DueSpaces,
    EmbedderRow,
    EmbedderState,
    Job,
    JobState,
    Lane,
    Order,
    PackRow,
    VectorRow,
)

RESTS: Final = FOREVER
"""When a lane looks at a space in which it has nothing to do until something is written there."""

_SPACES: Final = 1_000
"""Spaces looked at together where one is looked for."""

_FEW: Final = 2
"""Spaces that are looked up one by one, by a statement that is at hand already."""


class Group:
    """Some relations of one transaction, read and written together."""

    def __init__(self, relations: Relations) -> None:
        self.relations = relations


class SpaceTables(Group, ABC):
    """Tenants and whose memory each space is."""

    @abstractmethod
    def tenants(self, *, name: str | None = None, number: int = 0) -> list[TenantRow]:
        """Every tenant, by number, with the head of its journal; or the one of this name or number."""

    def tenant(self, name: str) -> TenantRow | None:
        return next(iter(self.tenants(name=name)), None)

    def named_tenant(self, name: str) -> TenantRow | None:
        """The tenant that is here under a name; of one that another server keeps, None and no error."""
        return self.tenant(name)

    def forget_gone(self, name: str) -> None:
        """Let a name be given again that a tenant had which was moved to another server."""

    def known_tenant(self, name: str) -> TenantRow:
        """The tenant of a name.

        Raises:
            NotFound: there is none.
        """
        row = self.tenant(name)
        if row is None:
            raise NotFound(f"no tenant {name!r} here")
        return row

    def tenant_row(self, tenant: int) -> TenantRow:
        return self.tenants(number=tenant)[0]

    def add_tenant(self, name: str | None) -> TenantRow:
        """Add a tenant; one without a name is found by nobody until it has one."""
        return self.tenant_row(self.relations.add(TENANT, (None, name, 0, bytes(32))))

    def set_tenant(self, row: TenantRow) -> None:
        # The head of a journal is its last commit, read from there: a write more would dirty a page more.
        values: dict[str, Value] = {"name": row.name, "horizon": row.horizon, "horizon_hash": row.horizon_hash}
        self.relations.update(TENANT, values, id=row.id)

    def space(self, tenant: int, user: str | Shared, branch: str = "") -> SpaceRow | None:
        if isinstance(user, Shared):
            return self.relations.first(SPACE, ("shared", "is true", None), tenant=tenant, branch=branch)
        return self.relations.first(SPACE, tenant=tenant, user=user, branch=branch)

    def owned(self, tenant: str, user: str | Shared, branch: str) -> tuple[SpaceRow | None, SpaceRow | None]:
        """A user's space or branch, and the shared space of their tenant."""
        row = self.tenant(tenant)
        return (None, None) if row is None else (self.space(row.id, user, branch), self.space(row.id, SHARED))

    def space_rows(self, ids: Sequence[int]) -> list[SpaceRow]:
        if len(ids) <= _FEW:
            return [row for space in ids for row in self.relations.find(SPACE, id=space)]
        by_id = {row.id: row for row in self.relations.find(SPACE, ("id", "in", ids))}
        return [by_id[space] for space in ids if space in by_id]

    def tenant_spaces(self, tenant: int) -> list[SpaceRow]:
        return list(self.relations.find(SPACE, order=("number",), tenant=tenant))

    def kin(self, tenant: int, user: str | Shared) -> list[SpaceRow]:
        """A user's space and branches, in the order they were made."""
        # Sorted here: asked for the order too, a planner may walk all spaces of the tenant.
        if isinstance(user, Shared):
            relatives = self.relations.find(SPACE, ("shared", "is true", None), tenant=tenant)
        else:
            relatives = self.relations.find(SPACE, tenant=tenant, user=user)
        return sorted(relatives, key=attrgetter("number"))

    def owners(self, tenant: int, number: int, limit: int, *, beyond: bool = True) -> list[SpaceRow]:
        """The next users' own spaces past one of a tenant, by tenant and number; `beyond`: of later tenants too."""
        owner_rows: list[SpaceRow] = []
        while len(owner_rows) < limit:
            rows = self._next_spaces(tenant, number, limit, beyond=beyond)
            owner_rows += [row for row in rows if row.tenant and row.user is not None and not row.parent]
            if len(rows) < limit:
                break
            tenant, number = rows[-1].tenant, rows[-1].number
        return owner_rows[:limit]

    def _next_spaces(self, tenant: int, number: int, limit: int, *, beyond: bool) -> list[SpaceRow]:
        rows = list(self.relations.find(SPACE, ("number", ">", number), order=("number",), limit=limit, tenant=tenant))
        if beyond and len(rows) < limit:
            order, left = ("tenant", "number"), limit - len(rows)
            rows += self.relations.find(SPACE, ("tenant", ">", tenant), order=order, limit=left)
        return rows

    def owner_count(self) -> int:
        """How many users there are, of all tenants; what a tenant shares counts as one."""
        return sum(row.user is not None and not row.parent for row in self.relations.find(SPACE))

    def branch_counts(self, owners: Sequence[int]) -> dict[int, int]:
        """How many branches the owner of each of these spaces has, by space."""
        rows = self.space_rows(owners)
        return {row.id: len(self.kin(row.tenant, row.user)) - 1 for row in rows if row.user is not None}

    def add_space(self, tenant: int, user: str | Shared, secret: bytes, point: BranchPoint = TRUNK) -> SpaceRow:
        last = self.relations.first(SPACE, order=("-number",), tenant=tenant)
        number = 1 if last is None else last.number + 1
        return self.space_rows((self.load_space(tenant, number, user, secret, point),))[0]

    def load_space(
        self, tenant: int, number: int, user: str | Shared | None, secret: bytes, point: BranchPoint = TRUNK
    ) -> int:
        """Add a space that the journal calls by this number; its id."""
        shared = isinstance(user, Shared)
        owner = None if shared else user
        return self.relations.add(SPACE, (None, tenant, owner, int(shared), secret, 0, 0, *point, number, 0))

    def set_space(self, row: SpaceRow) -> None:
        self.relations.update(SPACE, {"seq": row.seq, "epoch": row.epoch}, id=row.id)

    def descents(self, tenant: int) -> list[Descent]:
        """What each space of a tenant comes off, and whose it is."""
        spaces = self.relations.find(SPACE, tenant=tenant)
        return [Descent(row.id, row.parent, isinstance(row.user, Shared), row.user is not None) for row in spaces]

    @abstractmethod
    def drop_space(self, space: int) -> tuple[int, int]:
        """Take out all content of a space; how many versions and links went."""

    def drop_spaces(self, spaces: Sequence[int]) -> None:
        for space in spaces:
            self.drop_space(space)
            # Its id is never given to another: a cache of some process may still hold what it held.
            self.relations.update(SPACE, {"tenant": 0, "parent": 0, "number": space}, id=space)

    def owe_rewriting(self, tenant: int) -> None:
        """Note that files may hold bytes of what was taken out of a tenant, for `settle`.

        A store whose tables overwrite what is taken out of them owes nothing.
        """


class NameTables(Group, ABC):
    """The names of agents, sessions, link types and actors: by id, and for the journal by number in their space."""

    def name_row(self, space: int, text: str) -> NameRow | None:
        return self.relations.first(NAME, space=space, text=text)

    def name(self, space: int, text: str) -> int | None:
        """The id of a name."""
        row = self.name_row(space, text)
        return None if row is None else row.id

    def known(self, space: int, text: str | None) -> int:
        """The id of a name, which is added if it is new; 0 for no name."""
        return 0 if text is None else self.name(space, text) or self.add_name(space, text).id

    def actor(self, space: int, text: str) -> int:
        """The number of a name, which is added if it is new."""
        return (self.name_row(space, text) or self.add_name(space, text)).number

    def name_text(self, name: int) -> str | None:
        row = self.relations.first(NAME, id=name)
        return None if row is None else row.text

    def actor_text(self, space: int, number: int) -> str | None:
        row = self.relations.first(NAME, space=space, number=number)
        return None if row is None else row.text

    def rows(self, ids: Sequence[int]) -> dict[int, NameRow]:
        """These names, by id; those that are gone are left out."""
        return {row.id: row for row in self.relations.find(NAME, ("id", "in", ids))} if ids else {}

    def last_up_to(self, space: int, number: int) -> int:
        """The id of a space's name of this number or, if that is gone, of the last before it; 0 for none."""
        row = self.relations.first(NAME, ("number", "<=", number), order=("-number",), space=space)
        return 0 if row is None else row.id

    def names(self, space: int) -> list[NameRow]:
        """The names of a space, by number."""
        return list(self.relations.find(NAME, order=("number",), space=space))

    def add_name(self, space: int, text: str) -> NameRow:
        """Add a name, with a number that none of its space ever had: what takes names out first spends theirs."""
        last = self.relations.first(NAME, order=("-number",), space=space)
        spent_number = self.relations.first(SPENT_NUMBERS, id=space)
        number = 1 + max(0 if last is None else last.number, 0 if spent_number is None else int(spent_number[1]))
        return NameRow(self.relations.add(NAME, (None, space, number, text)), space, number, text)

    def load_name(self, space: int, number: int, text: str) -> None:
        self.relations.add(NAME, (None, space, number, text))

    def spend(self, space: int, upto: int) -> None:
        """Have no name of a space be given a number up to this one."""
        self.relations.update(SPACE, {"spent": upto}, id=space)

    def name_ids(self, space: int, after: int, limit: int) -> list[int]:
        return [
            row.id for row in self.relations.find(NAME, ("id", ">", after), order=("id",), limit=limit, space=space)
        ]

    @abstractmethod
    def drop_names(self, space: int, names: Sequence[int]) -> None:
        """Take out those of these names that no session's window is kept by, and spend their numbers."""

    @abstractmethod
    def drop_bare_name(self, space: int, text: str) -> None:
        """Take out a name that nothing bears, and the session that was called so, and spend its number."""


class JournalTables(Group, ABC):
    """Commits and their events; the idempotency keys and tombstones that are known by them."""

    def add_change(self, row: ChangeRow) -> None:
        self.relations.add(CHANGE, row)

    def add_events(self, rows: Sequence[EventRow]) -> None:
        self.relations.add(EVENT, *rows)

    def changes(self, tenant: int, after: int, limit: int, newest: bool) -> list[ChangeRow]:
        order = ("-seq",) if newest else ("seq",)
        return list(self.relations.find(CHANGE, ("seq", ">", after), order=order, limit=limit, tenant=tenant))

    def space_changes(
        self, space: int, after: int, limit: int, *, newest: bool = False, before: int = FOREVER
    ) -> list[ChangeRow]:
        """The commits of one space after this one, and before another, oldest or newest first."""
        order: tuple[str, ...] = ("-seq",) if newest else ("seq",)
        within: tuple[Condition, Condition] = ("seq", ">", after), ("seq", "<", before)
        return list(self.relations.find(CHANGE, *within, order=order, limit=limit, space=space))

    def spaceless_changes(self, tenant: int, after: int, before: int, limit: int, *, newest: bool) -> list[ChangeRow]:
        """The commits of a tenant that are in no space, between two, oldest or newest first."""
        order: tuple[str, ...] = ("-seq",) if newest else ("seq",)
        within: tuple[Condition, Condition] = ("seq", ">", after), ("seq", "<", before)
        return list(self.relations.find(CHANGE, *within, order=order, limit=limit, space=0, tenant=tenant))

    def events_of(self, tenant: int, seqs: Sequence[int]) -> dict[int, list[EventRow]]:
        """The events of each of these commits, in order."""
        events: dict[int, list[EventRow]] = {seq: [] for seq in seqs}
        for event in self.relations.find(EVENT, ("seq", "in", seqs), order=("seq", "n"), tenant=tenant):
            events[event.seq].append(event)
        return events

    def version_bound(self, tenant: int, seq: int, n: int) -> int:
        """The number below which all versions lie that a tenant wrote before an event, and none that it wrote since."""
        row = self.relations.first(EVENT, ("n", "<=", n), ("ver", ">", 0), order=("-n",), tenant=tenant, seq=seq)
        if row is None:
            row = self.relations.first(EVENT, ("seq", "<", seq), ("ver", ">", 0), order=("-seq", "-n"), tenant=tenant)
        if row is None:
            return 0
        return row.ver if (row.seq, row.n) == (seq, n) else row.ver + 1

    def count_events(self, tenant: int, after: int, upto: int) -> int:
        """How many events the commits after one up to another have."""
        return sum(1 for _ in self.relations.find(EVENT, ("seq", ">", after), ("seq", "<=", upto), tenant=tenant))

    def events(self, tenant: int, first: int, last: int) -> list[EventRow]:
        within: tuple[Condition, Condition] = ("seq", ">=", first), ("seq", "<=", last)
        return list(self.relations.find(EVENT, *within, order=("seq", "n"), tenant=tenant))

    @abstractmethod
    def noted(self, tenant: int, verbs: Sequence[int], after: int) -> list[int]:
        """The commits after this one with an event of one of these verbs that wrote neither a version nor a link."""

    def feedback(self, tenant: int, space: int, after: int, since: int) -> list[EventRow]:
        """What counted uses of a space's items, in commits past one and later than a moment (microseconds)."""
        own = [row.seq for row in self.relations.find(CHANGE, ("seq", ">", after), ("at", ">", since), space=space)]
        return list(self.relations.find(EVENT, ("seq", "in", own), order=("seq", "n"), tenant=tenant, verb=Verb.USED))

    def seq_at(self, tenant: int, at: int) -> int:
        # `at` never decreases with seq, so the last row at or before it is found from the newest end.
        row = self.relations.first(CHANGE, ("at", "<=", at), order=("-seq",), tenant=tenant)
        return 0 if row is None else row.seq

    def last_change(self, tenant: int, upto: int) -> ChangeRow | None:
        """The last commit up to one."""
        return self.relations.first(CHANGE, ("seq", "<=", upto), order=("-seq",), tenant=tenant)

    def times(self, tenant: int, seqs: Sequence[int]) -> dict[int, int]:
        return {seq: at for _, seq, at in self.relations.find(CHANGE_TIMES, ("seq", "in", seqs), tenant=tenant)}

    def keyed(self, space: int, hashes: Sequence[bytes]) -> dict[bytes, KeyRow]:
        return {row.hash: row for row in self.relations.find(KEY, ("hash", "in", hashes), space=space)}

    def add_keys(self, rows: Sequence[KeyRow]) -> None:
        self.relations.add(KEY, *rows)

    def keys(self, space: int) -> list[KeyRow]:
        return list(self.relations.find(KEY, order=("hash",), space=space))

    def keyed_items(self, space: int) -> Iterator[tuple[int, bytes | None]]:
        """Of each key the commit, and the item that was written under it."""
        return self.relations.find(KEYED_ITEMS, space=space)

    def drop_keys(self, space: int, item: bytes) -> None:
        self.relations.drop(KEY, space=space, item=item, lasting=0)

    def forget_keys(self, before: int) -> None:
        """Forget keys of commits before a moment, and jobs that ended before it; what an import wrote stays known."""
        ended = (int(JobState.DONE), int(JobState.CANCELLED))
        self.relations.drop(KEY, ("at", "<", before), lasting=0)
        self.relations.drop(JOB, ("state", "in", ended), ("at", "<", before))
        self.relations.update(KEY, {"salt": b"", "digest": b""}, ("at", "<", before), ("digest", "<>", b""))

    def add_tomb(self, space: int, item: bytes, seq: int) -> None:
        self.relations.add(TOMB, (space, item, seq))

    def tombs(self, space: int) -> list[tuple[bytes, int]]:
        return [(item, seq) for _, item, seq in self.relations.find(TOMB, order=("item",), space=space)]


class ItemTables(Group, ABC):
    """Versions of items, their entries in the catalogue, counters of use."""

    def add_versions(self, rows: Sequence[VersionRow]) -> int:
        """Write versions; the number of the first, each of the others has the next."""
        return self.relations.add(VERSION, *[(None, *row[1:]) for row in rows])

    def close_versions(self, space: int, vers: Sequence[int], seq_to: int) -> None:
        self.relations.update(VERSION, {"seq_to": seq_to}, ("ver", "in", vers))
        self.relations.update(ENTRY, {"seq_to": seq_to}, ("ver", "in", vers), space=space)

    def standing(self, space: int, items: Sequence[bytes]) -> dict[bytes, VersionRow]:
        if len(items) == 1:
            # From the newest: one item may have thousands of versions, such as the notes of a long reading.
            row = self.relations.first(VERSION, order=("-seq_from",), space=space, id=items[0], seq_to=FOREVER)
            return {} if row is None else {row.id: row}
        rows = self.relations.find(VERSION, ("id", "in", items), space=space, seq_to=FOREVER)
        return {row.id: row for row in rows}

    def version_rows(self, space: int, vers: Sequence[int]) -> list[VersionRow]:
        # The space is looked at here: asked for it too, a planner may walk the whole space by its index.
        return [row for row in self.relations.find(VERSION, ("ver", "in", vers)) if row.space == space]

    def item_ids(self, space: int, vers: Sequence[int]) -> dict[int, bytes]:
        """Tell which item each of these versions is of, without reading it."""
        rows = self.relations.find(VERSION_ITEMS, ("ver", "in", vers))
        return {ver: item for home, ver, item in rows if home == space}

    def recorded_rows(self, tenant: int, space: int, vers: Sequence[int]) -> list[tuple[VersionRow, int]]:
        """Read versions of a space, each with the time of its commit (0: it is gone)."""
        rows = self.version_rows(space, vers)
        seqs = list({row.seq_from for row in rows})
        times = {seq: at for _, seq, at in self.relations.find(CHANGE_TIMES, ("seq", "in", seqs), tenant=tenant)}
        return [(row, times.get(row.seq_from, 0)) for row in rows]

    def written_versions(self, tenant: int, vers: Sequence[int]) -> dict[int, WrittenRow]:
        """What events of a tenant say of these versions, by number; those that are gone are left out."""
        return {row.number: row for row in self.relations.find(WRITTEN_VERSION, ("ver", "in", vers))}

    def written(self, space: int, seq: int) -> list[VersionRow]:
        rows = self.version_rows(space, [event.ver for event in _wrote(self.relations, space, seq) if event.ver])
        return sorted((row for row in rows if row.seq_from == seq), key=lambda row: row.n)

    def item_rows(self, space: int, items: Sequence[bytes]) -> dict[bytes, list[VersionRow]]:
        """The versions of each of these items, by commit."""
        by_item: dict[bytes, list[VersionRow]] = {}
        for row in self.relations.find(VERSION, ("id", "in", items), order=("id", "seq_from"), space=space):
            by_item.setdefault(row.id, []).append(row)
        return by_item

    def ids(self, space: int, low: bytes, high: bytes, tail: bytes, limit: int) -> list[bytes]:
        """Ids of a space's items from `low` to `high` that end in `tail`, ascending, at most `limit`."""
        rows = self.relations.find(VERSION_IDS, ("id", ">=", low), ("id", "<=", high), order=("id",), space=space)
        return list(islice((item for item, _ in groupby(rows, itemgetter(1)) if item.endswith(tail)), limit))

    @abstractmethod
    def covered(self, space: int, below: int, at: int) -> list[bytes]:
        """The items that a space had at commit `at` and that the one below it has too."""

    @abstractmethod
    def visible(self, spaces: Sequence[int], items: Sequence[bytes] | None, walk: Walk) -> list[VersionRow]:
        """The versions that a walk goes over, of these items or of all."""

    def expired(self, now: int, after: tuple[int, int], limit: int) -> list[tuple[int, int, int, bytes]]:
        """When, as which version, in which space and which item expired by now and is not retired, in that order."""
        ended = self.relations.find(
            VERSION, ("expires", ">", 0), ("expires", "<=", now), ("state", "<>", int(State.RETIRED)),
            order=("expires", "ver"), seq_to=FOREVER,
        )  # fmt: skip
        expiring = ((row.expires, row.ver, row.space, row.id) for row in ended)
        return list(islice((due for due in expiring if due[:2] > after), limit))

    def count(self, spaces: Sequence[int], where: Filter, view: View) -> int:
        """How many versions a filter and a view show."""
        return len(self.visible(spaces, None, Walk(where, view, 0, FOREVER)))

    def shown_counts(self, spaces: Sequence[int], now: int) -> dict[int, int]:
        """How many items of each of these spaces a view of the present shows."""
        return {space: self.count((space,), Filter(), View(moment=now)) for space in spaces}

    def shown_total(self, now: int) -> int:
        """How many items a view of the present shows, of all users, without what is on branches."""
        spaces = [row.id for row in self.relations.find(SPACE) if not row.parent]
        return sum(self.shown_counts(spaces, now).values())

    def all_versions(self, space: int) -> Iterator[VersionRow]:
        return self.relations.find(VERSION, order=("ver",), space=space)

    def versions_past(self, space: int, after: int, limit: int) -> list[VersionRow]:
        """The next versions past one, in whatever state, ascending."""
        # By their entries, which lie in order of version: a planner may walk the whole space by another index.
        rows = self.relations.find(ENTRY_NUMBERS, ("ver", ">", after), order=("ver",), limit=limit, space=space, part=0)
        return sorted(self.version_rows(space, [ver for _, ver, _ in rows]), key=lambda row: row.ver)

    def add_entries(self, space: int, entries: Iterable[Entry]) -> None:
        self.relations.add(ENTRY, *[(space, *entry) for entry in entries])

    def entries(self, space: int, after: int, upto: int = FOREVER) -> Iterator[Entry]:
        within: tuple[Condition, Condition] = ("ver", ">", after), ("ver", "<=", upto)
        return self.relations.find(ENTRY_ROW, *within, order=("ver", "part"), space=space)

    def add_facets(self, space: int, facets: Iterable[tuple[int, bytes]]) -> None:
        self.relations.add(FACET, *[(space, *facet) for facet in facets])

    def facets(self, space: int) -> Iterator[tuple[int, bytes]]:
        return (row[1:] for row in self.relations.find(FACET, order=("ver", "hash"), space=space))

    @abstractmethod
    def bearers(self, space: int, asked: visibility.Condition, after: int) -> list[int]:
        """The versions past `after`, in whatever state, that a condition on tags or on a slot is true of, ascending."""

    def entry_count(self, space: int, after: int, upto: int, most: int) -> int:
        """How many entries lie past a version and up to another, counted up to `most`."""
        within: tuple[Condition, Condition] = ("ver", ">", after), ("ver", "<=", upto)
        return sum(1 for _ in self.relations.find(ENTRY_NUMBERS, *within, limit=most, space=space))

    def entry_terms(self, space: int, vers: Sequence[int]) -> dict[int, tuple[bytes, ...]]:
        """The token streams of each of these versions, by part."""
        terms: dict[int, tuple[bytes, ...]] = {}
        for entry in self.relations.find(ENTRY_ROW, ("ver", "in", vers), order=("ver", "part"), space=space):
            terms[entry.ver] = (*terms.get(entry.ver, ()), entry.terms)
        return terms

    def closed(self, space: int, after_seq: int) -> list[tuple[int, int]]:
        """(ver, seq_to) of versions closed by commits after `after_seq`."""
        rows = self.relations.find(CLOSED_VERSIONS, ("seq_to", ">", after_seq), ("seq_to", "<", FOREVER), space=space)
        return [(ver, seq_to) for _, ver, seq_to in rows]

    def closed_by(self, space: int, seq: int) -> list[VersionRow]:
        """The versions that a commit closed."""
        return list(self.relations.find(VERSION, order=("ver",), space=space, seq_to=seq))

    @abstractmethod
    def core(self, space: int, view: View, limit: int, reader: str | None) -> list[VersionRow]:
        """What is pinned, profile or procedure, and shown to `reader`: profile first, then the newest."""

    def newest(self, space: int) -> int:
        row = self.relations.first(ENTRY_NUMBERS, order=("-ver",), space=space)
        return 0 if row is None else int(row[1])

    def highest(self) -> int:
        row = self.relations.first(VERSION, order=("-ver",))
        return 0 if row is None else row.ver

    def spaces_since(self, after: int) -> list[int]:
        """Find the spaces that have a version numbered past `after`, in any order."""
        return list({row.space for row in self.relations.find(VERSION, ("ver", ">", after)) if row.space})

    def add_strengths(self, space: int, deltas: Sequence[StrengthRow]) -> None:
        """Add to the counters of items of a space."""
        sums = self.strength(space, [row.id for row in deltas])
        for row in deltas:
            sums[row.id] = added(sums[row.id], row) if row.id in sums else row
        self.relations.put(STRENGTH, *sums.values())

    def set_strength(self, row: StrengthRow) -> None:
        self.relations.put(STRENGTH, row)

    def strength(self, space: int, items: Sequence[bytes]) -> dict[bytes, StrengthRow]:
        return {row.id: row for row in self.relations.find(STRENGTH, ("id", "in", items), space=space)}

    def strengths(self, space: int) -> list[StrengthRow]:
        return list(self.relations.find(STRENGTH, order=("id",), space=space))

    @abstractmethod
    def drop_items(self, space: int, items: Sequence[bytes], links: Sequence[int], seq: int) -> int:
        """Take items out of every table and leave tombstones, and these versions of links; how many versions went."""


class LinkTables(Group, ABC):
    """Links between items, and which item was derived from which."""

    def add_links(self, rows: Sequence[LinkRow]) -> int:
        """Add versions of links, each in place of the one that stood; the number of the first, others have the next."""
        for row in rows:
            ends: dict[str, Value] = {"space": row.space, "src": row.src, "dst": row.dst, "type": row.type}
            self.relations.update(LINK, {"seq_to": row.seq_from}, **ends, seq_to=FOREVER)
        return self.relations.add(LINK, *[(None, *row[1:]) for row in rows])

    def links_of(self, space: int, items: Sequence[bytes]) -> list[LinkRow]:
        """The links that start or end at one of these items."""
        starting = self.relations.find(LINK, ("src", "in", items), space=space)
        ending = self.relations.find(LINK, ("dst", "in", items), space=space)
        by_lver = {row.lver: row for row in (*starting, *ending)}
        return [by_lver[lver] for lver in sorted(by_lver)]

    @abstractmethod
    def links_resting(self, space: int, items: Sequence[bytes]) -> list[LinkRow]:
        """The links that have one of these items among their evidence: all that have any are looked at."""

    def links_written(self, space: int, seq: int) -> list[LinkRow]:
        numbers = [event.lver for event in _wrote(self.relations, space, seq) if event.lver]
        rows = self.link_rows(space, numbers)
        return sorted((row for row in rows if row.seq_from == seq), key=lambda row: row.n)

    def written_links(self, tenant: int, lvers: Sequence[int]) -> dict[int, WrittenRow]:
        """What events of a tenant say of these versions of links, by number; those that are gone are left out."""
        return {row.number: row for row in self.relations.find(WRITTEN_LINK, ("lver", "in", lvers))}

    def link_rows(self, space: int, numbers: Sequence[int]) -> list[LinkRow]:
        """Versions of links of a space by their numbers, ascending."""
        rows = [row for row in self.relations.find(LINK, ("lver", "in", numbers)) if row.space == space]
        return sorted(rows, key=attrgetter("lver"))

    def all_links(self, space: int) -> Iterator[LinkRow]:
        return iter(list(self.relations.find(LINK, order=("lver",), space=space)))

    def add_derived(self, space: int, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        self.relations.add(DERIVED, *((space, *pair) for pair in pairs))

    def derived(self, space: int, sources: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        """Each of these sources with each item that was derived from it."""
        rows = self.relations.find(DERIVED, ("source", "in", sources), order=("source", "item"), space=space)
        return [(source, item) for _, source, item in rows]


class VectorTables(Group, ABC):
    """Embedders and the vectors of entries."""

    def embedders(self) -> list[EmbedderRow]:
        return list(self.relations.find(EMBEDDER, order=("id",)))

    def add_embedder(self, name: str, dims: int, state: EmbedderState) -> int:
        return self.relations.add(EMBEDDER, (None, name, dims, int(state)))

    def set_embedder(self, row: EmbedderRow) -> None:
        self.relations.update(EMBEDDER, {"state": int(row.state)}, id=row.id)

    def drop_embedder(self, model: int) -> None:
        self.relations.drop(EMBEDDER, id=model)

    def vectors(self, space: int, model: int, after: int) -> Iterator[VectorRow]:
        return self.relations.find(VECTOR_ROW, ("ver", ">", after), order=("ver", "part"), space=space, model=model)

    def vectors_of(self, space: int, model: int, vers: Sequence[int]) -> Iterator[VectorRow]:
        """The vectors of these versions, in no order."""
        return self.relations.find(VECTOR_ROW, ("ver", "in", vers), space=space, model=model)

    def vector_sizes(self, space: int) -> Iterator[tuple[int, int, int, int]]:
        for _, model, ver, part, f16 in self.relations.find(VECTOR, order=("model", "ver", "part"), space=space):
            yield model, ver, part, len(f16)

    def of_size(self, model: int, size: int) -> dict[int, int]:
        """How many of an embedder's vectors take so many bytes, by space."""
        return Counter(space for space, *_, f16 in self.relations.find(VECTOR, model=model) if len(f16) == size)

    @abstractmethod
    def add_vectors(self, space: int, model: int, vectors: Iterable[VectorRow]) -> int:
        """Write the vectors of parts that have an entry; how many."""

    @abstractmethod
    def carry_vectors(self, home: int, space: int, moved: Sequence[tuple[int, int]]) -> None:
        """Give versions the vectors of ones with the same words, which may lie in another space: (from, to)."""

    @abstractmethod
    def drop_vectors(self, model: int, limit: int) -> int:
        """Take out some of an embedder's vectors; how many."""


class PackTables(Group, ABC):
    """Packs: what catalogues are read from, beside the entries that they hold."""

    def packs(self, space: int, model: int = 0) -> list[PackRow]:
        """The packs of a space, in the order of what they hold: those of entries, or of an embedder's vectors."""
        return list(self.relations.find(PACK, order=("after",), space=space, model=model))

    def all_packs(self, space: int) -> list[PackRow]:
        """All packs of a space, by what they are made of."""
        return list(self.relations.find(PACK, order=("model", "after"), space=space))

    def body(self, pack: int) -> bytearray | None:
        """The bytes of a pack, as they were kept."""
        row = self.relations.first(PACK_BODY, id=pack)
        return None if row is None else bytearray(row[-1])

    def add_pack(self, row: PackRow, body: bytes) -> int:
        return self.relations.add(PACK_BODY, (None, *row[1:], body))

    def drop_packs(self, packs: Sequence[int]) -> None:
        self.relations.drop(PACK, ("id", "in", packs))

    def drop_with_vectors(self, space: int, model: int, after: int, upto: int) -> None:
        """Take out packs of an embedder's vectors that hold some of versions past `after`, up to `upto`."""
        self.relations.drop(PACK, ("after", "<", upto), ("upto", ">", after), space=space, model=model)

    def drop_of_embedder(self, model: int) -> None:
        """Take out all packs of an embedder's vectors."""
        self.relations.drop(PACK, model=model)

    @abstractmethod
    def unpacked(self, least: int) -> list[int]:
        """The spaces, not erased, with so many entries past their last pack, or with some between two packs."""

    def unsigned(self, model: int) -> dict[int, int]:
        """How many entries are packed in each space that has no pack of an embedder's vectors."""
        signed = {row.space for row in self.relations.find(PACK, model=model)}
        packed = Counter[int]()
        for row in self.relations.find(PACK, model=0):
            packed[row.space] += row.rows
        return {space: rows for space, rows in packed.items() if space not in signed}


class LaneTables(Group, ABC):
    """Work that follows a write: lanes, jobs, what models answered."""

    def lane(self, space: int, name: str) -> Lane:
        return self.relations.first(LANE, space=space, name=name) or Lane(space=space, name=name)

    def set_lane(self, lane: Lane) -> None:
        self.relations.put(LANE, tuple(getattr(lane, column) for column in LANE_COLUMNS))

    def followed_lanes(self) -> list[str]:
        """The lanes of which rows of what is due are written, or begun to be."""
        return [name for name, _ in self.relations.find(FOLLOWED, order=("name",))]

    def unfollow(self, name: str) -> None:
        """Write no more of what is due for a lane; how far it came stays known."""
        for relation in (FOLLOWED, DUE):
            self.relations.drop(relation, name=name)

    def lane_and_newest(self, space: int, name: str) -> tuple[Lane, int]:
        """Read a lane, and the newest version of its space (0: none)."""
        row = self.relations.first(ENTRY_NUMBERS, order=("-ver",), space=space)
        return self.lane(space, name), 0 if row is None else int(row[1])

    def drop_lanes(self, name: str) -> None:
        for relation in (LANE, FOLLOWED, DUE):
            self.relations.drop(relation, name=name)

    def followed(self, name: str) -> int | None:
        """The space up to which a lane's rows of what is due were written; None for one that nobody follows."""
        row = self.relations.first(FOLLOWED, name=name)
        return None if row is None else int(row[1])

    def set_followed(self, name: str, upto: int) -> None:
        self.relations.put(FOLLOWED, (name, upto))

    @abstractmethod
    def make_due(self, space: int) -> None:
        """Have every lane that is followed look at a space now."""

    def add_due(self, name: str, spaces: Sequence[int]) -> None:
        """Have one lane look at these spaces now."""
        self.relations.put(DUE, *((name, space, 0) for space in spaces))

    def due(self, name: str, now: int) -> list[int]:
        """The spaces that a lane is to look at by now, by number; without those where it rests."""
        return sorted(space for _, space, _ in self.relations.find(DUE, ("at", "<=", min(now, RESTS - 1)), name=name))

    def resting(self, name: str) -> list[int]:
        """The spaces in which a lane rests, by number."""
        return sorted(space for _, space, _ in self.relations.find(DUE, ("at", "=", RESTS), name=name))

    def due_spaces(self, name: str, now: int, *, resting: bool) -> DueSpaces:
        """All that a look for a lane's work begins with.

        Args:
            resting: Whether spaces in which the lane rests are asked for.
        """
        complete = self.followed(name) == FOREVER
        return DueSpaces(
            complete,
            self.due(name, now) if complete else [],
            self.resting(name) if complete and resting else [],
            complete and now < FOREVER and self.is_put_off(name, now),
        )

    def due_past(self, name: str, after: int, limit: int) -> list[int]:
        """The spaces numbered past `after` that a lane is to look at, now or later, by number, at most `limit`."""
        rows = self.relations.find(DUE, ("space", ">", after), order=("space",), limit=limit, name=name)
        return [space for _, space, _ in rows]

    def is_put_off(self, name: str, now: int) -> bool:
        """Whether a lane is to look at some space later."""
        return self.relations.first(DUE, ("at", ">", now), ("at", "<", RESTS), name=name) is not None

    def put_off(self, name: str, space: int, at: int) -> None:
        """Have a lane look at a space at this time (microseconds; 0: now; `RESTS`: once something is written there)."""
        self.relations.update(DUE, {"at": at}, ("at", "<>", at), name=name, space=space)

    def drop_due(self, name: str, spaces: Sequence[int]) -> None:
        self.relations.drop(DUE, ("space", "in", spaces), name=name)

    def backlog(self, name: str, after: int = 0, limit: int = FOREVER) -> list[tuple[int, int, int]]:
        """(space, cursor, newest version) of spaces past one, not erased, in which a lane has work, by space."""
        some = self.due_past if self.followed(name) == FOREVER else self._spaces_past
        waiting: list[tuple[int, int, int]] = []
        while len(waiting) < limit:
            spaces = some(name, after, _SPACES)
            waiting += self.waiting(name, spaces) if spaces else ()
            if len(spaces) < _SPACES:
                break
            after = spaces[-1]
        return waiting[:limit]

    def _spaces_past(self, name: str, after: int, limit: int) -> list[int]:
        return self.space_numbers(after, limit)

    def first_waiting(self, name: str) -> int | None:
        """The first space in which a lane has work that nobody follows; None for none."""
        after = 0
        while spaces := self.space_numbers(after, _SPACES):
            if waiting := self.waiting(name, spaces):
                return waiting[0][0]
            after = spaces[-1]
        return None

    def pending(self, waiting: Sequence[tuple[int, int, int]]) -> dict[int, int]:
        """How many entries lie past the cursor of each of these spaces (`backlog`)."""
        return {
            space: sum(1 for _ in self.relations.find(ENTRY_NUMBERS, ("ver", ">", cursor), space=space))
            for space, cursor, _ in waiting
        }

    def lane_rows(self, name: str, spaces: Sequence[int]) -> dict[int, Lane]:
        """A lane's rows in these spaces, by space; where it never ran there is none."""
        return {row.space: row for row in self.relations.find(LANE, ("space", "in", spaces), name=name)}

    def failing(self, name: str) -> Iterator[tuple[int, str]]:
        """The spaces in which a lane failed last, and how, by space."""
        failed = self.relations.find(LANE, ("error", "<>", ""), order=("space",), name=name)
        return ((lane.space, lane.error) for lane in failed)

    def failing_lanes(self) -> list[str]:
        """The names of lanes that failed last in some space."""
        return sorted({lane.name for lane in self.relations.find(LANE, ("error", "<>", ""))})

    def space_numbers(self, after: int = 0, limit: int = 0) -> list[int]:
        """The spaces numbered past `after`, in order, at most `limit` of them if that is not 0."""
        return [
            space for (space,) in self.relations.find(SPACE_NUMBERS, ("id", ">", after), order=("id",), limit=limit)
        ]

    @abstractmethod
    def waiting(self, name: str, spaces: Sequence[int]) -> list[tuple[int, int, int]]:
        """(space, cursor, newest version) of those of these spaces, not erased, in which a lane has work, by space."""

    def lanes(self, space: int | None = None) -> list[Lane]:
        of: dict[str, Value] = {} if space is None else {"space": space}
        return list(self.relations.find(LANE, order=("space", "name"), **of))  # type: ignore[arg-type]

    def leased(self, tenant: int) -> list[tuple[str, int]]:
        """The lanes of a tenant that are at work, and the commits that they are pinned to."""
        busy = list(self.relations.find(LANE, ("owner", "<>", ""), ("seq", "<>", 0)))
        own = {row.id for row in self.relations.find(SPACE, ("id", "in", [lane.space for lane in busy]), tenant=tenant)}
        return [(lane.name, lane.seq) for lane in busy if lane.space in own]

    def jobs(
        self, states: Sequence[int], after: tuple[int, int] | None = None, limit: int = 0, *, by_number: bool = False
    ) -> list[Job]:
        """Jobs in these states: the most urgent first, then by number; or by number alone.

        Args:
            after: Only those behind one of this priority and number.
            limit: The most; 0 for all.
        """
        order = ("id",) if by_number else ("-priority", "id")
        listed: list[Job] = []
        for state in states:  # one by one, each by the index
            listed += self._jobs_behind(state, after, limit, order)
        listed.sort(key=lambda job: (0 if by_number else -job.order.priority, job.id))
        return listed[: limit or None]

    def _jobs_behind(
        self, state: int, after: tuple[int, int] | None, limit: int, order: tuple[str, ...]
    ) -> Iterator[Job]:
        if after is None:
            return self.relations.find(JOB, order=order, limit=limit, state=state)
        urgency, number = after
        if order == ("id",):
            return self.relations.find(JOB, ("id", ">", number), order=order, limit=limit, state=state)
        level = self.relations.find(JOB, ("id", ">", number), order=order, limit=limit, state=state, priority=urgency)
        below = self.relations.find(JOB, ("priority", "<", urgency), order=order, limit=limit, state=state)
        return chain(level, below)

    def job_counts(self) -> dict[int, int]:
        """How many jobs there are in each state."""
        return Counter(int(job.state) for job in self.relations.find(JOB))

    def dead_counts(self, name: str) -> dict[bytes, int]:
        """How many dead jobs of a name there are with each payload."""
        return Counter(job.order.payload for job in self.relations.find(JOB, state=int(JobState.DEAD), name=name))

    def job(self, number: int) -> Job | None:
        return self.relations.first(JOB, id=number)

    def find_job(self, space: int, name: str, key: str) -> Job | None:
        return self.relations.first(JOB, space=space, name=name, key=key)

    @abstractmethod
    def due_job(self, names: Sequence[str], now: int) -> Job | None:
        """The most urgent of the jobs of these names that waits, whose time has come, and that nobody has leased.

        A lease, and a wait, hold from when it was last leased: a clock that was set back behind that ends both.
        """

    def has_waiting_job(self, names: Sequence[str]) -> bool:
        """Whether a job of these names (none: of any) waits, or is being done."""
        named: list[Condition] = [("name", "in", names)] if names else []
        return self.relations.first(JOB, *named, state=int(JobState.WAITING)) is not None

    def has_running_job(self, names: Sequence[str], now: int) -> bool:
        """Whether somebody works on a job of these names by `now`, as `Job.is_running` says of one."""
        leased: list[Condition] = [("leased", "<=", now), ("lease_until", ">", now), ("owner", "<>", "")]
        return self.relations.first(JOB, ("name", "in", names), *leased, state=int(JobState.WAITING)) is not None

    def add_job(self, order: Order, at: int) -> int:
        values = job_values(Job(id=0, order=order, at=at))
        return self.relations.add(JOB, (None, *values[1:]))

    def set_job(self, job: Job) -> None:
        self.relations.put(JOB, job_values(job))

    def answer(self, space: int, lane: str, hashed: bytes) -> bytes | None:
        row = self.relations.first(ANSWER, space=space, lane=lane, hash=hashed)
        return None if row is None else bytes(row[3])

    def add_answer(self, space: int, lane: str, hashed: bytes, answered: bytes, given: Sequence[bytes]) -> None:
        self.relations.put(ANSWER, (space, lane, hashed, answered, b"".join(given)))

    def answers(self, space: int, lane: str, hashed: Sequence[bytes]) -> dict[bytes, bytes]:
        """Those of a lane that are kept under some hashes."""
        rows = self.relations.find(ANSWER, ("hash", "in", hashed), space=space, lane=lane)
        return {bytes(row[2]): bytes(row[3]) for row in rows}

    def drop_answers(self, space: int, lane: str) -> None:
        self.relations.drop(ANSWER, space=space, lane=lane)

    def drop_answers_before(self, space: int, first: str, lane: str) -> None:
        """Drop those of all lanes from `first` on that come before `lane`."""
        self.relations.drop(ANSWER, ("lane", ">=", first), ("lane", "<", lane), space=space)

    def drop_all_answers(self, spaces: Sequence[int]) -> None:
        self.relations.drop(ANSWER, ("space", "in", spaces))


class SessionTables(Group, ABC):
    """Sessions and the pages of their windows."""

    def session(self, space: int, session: int) -> SessionRow | None:
        return self.relations.first(SESSION, space=space, session=session)

    def sessions(self, space: int, after: int = 0, limit: int = 0) -> list[SessionRow]:
        """The sessions of a space past a name, in the order that their names were first said; 0: all of them."""
        return list(self.relations.find(SESSION, ("session", ">", after), order=("session",), limit=limit, space=space))

    def session_counts(self, now: int) -> tuple[int, int]:
        """How many sessions are known, of all users, and how many of them are open by their leases."""
        rows = list(self.relations.find(SESSION))
        return len(rows), sum(bool(row.owner) and row.lease_until > now for row in rows)

    def set_session(self, row: SessionRow) -> None:
        self.relations.put(SESSION, row)

    def pages(self, space: int, session: int, items: Sequence[bytes]) -> list[PageRow]:
        """The pages of a session that these items have, in the order they came in."""
        return in_order(self.relations.find(PAGE, ("item", "in", items), space=space, session=session))

    @abstractmethod
    def pages_at_hand(self, space: int, session: int) -> list[PageRow]:
        """The pages of a session that are resident, or were said and are in no segment yet, in the same order."""

    def put_pages(self, space: int, session: int, pages: Sequence[PageRow]) -> None:
        """Write pages down as they are now."""
        self.relations.put(PAGE, *((space, session, to_bytes(row.item), *row[1:]) for row in pages))


class PastTables(Group, ABC):
    """Rows behind a horizon, or after a commit: found in pages, and deleted."""

    @abstractmethod
    def closed_versions(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[CompactionVersion]:
        """Versions that were closed at or before the horizon, by when."""

    @abstractmethod
    def retired_versions(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[CompactionVersion]:
        """Items that stand retired since the horizon or before, by when."""

    def retired_among(self, space: int, horizon: int, items: Sequence[bytes]) -> list[CompactionVersion]:
        """Those of these items that stand retired since the horizon or before."""
        of = self.versions_of(space, items)
        return [row for row in of if row.retired and row.seq_to == FOREVER and row.seq_from <= horizon]

    @abstractmethod
    def versions_of(self, space: int, items: Sequence[bytes]) -> list[CompactionVersion]:
        """All versions of these items."""

    @abstractmethod
    def closed_links(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[CompactionLink]:
        """Links that were closed, or untied, at or before the horizon."""

    @abstractmethod
    def links_among(self, spaces: Sequence[int], items: Sequence[bytes]) -> list[CompactionLink]:
        """Links that start or end at these items."""

    @abstractmethod
    def cited(self, spaces: Sequence[int], items: Sequence[bytes], *, live: bool = False) -> set[bytes]:
        """Those of these items that a version names as its source; with `live`, one that stands and is not retired."""

    @abstractmethod
    def linked(self, spaces: Sequence[int], horizon: int, items: Sequence[bytes]) -> set[bytes]:
        """Those of these items that a link which is kept starts or ends at."""

    @abstractmethod
    def entry_names(self, space: int, after: int) -> EntryNames:
        """The agents and sessions that a stretch of entries names."""

    @abstractmethod
    def link_uses(self, tenant: int, after: int) -> tuple[set[int], set[bytes], int, bool]:
        """The types and the evidence of a stretch of links by number, where it ends, and whether there may be more.

        All of a tenant's links are walked; those of others may be among them.
        """

    @abstractmethod
    def link_uses_since(self, tenant: int, seq: int) -> tuple[set[int], set[bytes]]:
        """The types and the evidence of links that commits after this one wrote."""

    @abstractmethod
    def drop_versions(self, tenant: int, horizon: int, versions: Sequence[CompactionVersion]) -> None:
        """Take out versions with their entries, vectors and events."""

    def drop_links(self, tenant: int, horizon: int, links: Sequence[CompactionLink]) -> None:
        """Take out links with their events."""
        if links:
            self.relations.drop(LINK, ("lver", "in", [row.lver for row in links]))
            self.drop_events(tenant, horizon, [(row.seq_from, row.n) for row in links])

    @abstractmethod
    def drop_traces(self, spaces: Sequence[int], items: Sequence[bytes]) -> None:
        """Take out counters, pages and what is noted as derived from these items."""

    def drop_derived(self, space: int, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        """Forget that these items, all of which are gone, were derived from these sources."""
        if pairs:
            sources, items = (list(dict.fromkeys(column)) for column in zip(*pairs, strict=True))
            self.relations.drop(DERIVED, ("source", "in", sources), ("item", "in", items), space=space)

    @abstractmethod
    def drop_after(self, tenant: int, seq: int) -> int:
        """Take out all that was written after a commit; how many versions."""

    @abstractmethod
    def version_counts(self, spaces: Sequence[int]) -> VersionCounts:
        """How many versions there are, how many closed, how many retired."""

    @abstractmethod
    def bare_events(self, tenant: int, horizon: int, after: Cursor, limit: int) -> Page[Cursor]:
        """Events at or before the horizon that wrote nothing that is kept."""

    @abstractmethod
    def actors(self, tenant: int, after: int) -> tuple[set[int], int, bool]:
        """The ids of the names of actors of a stretch of commits, where it ends, and whether there may be more."""

    @abstractmethod
    def drop_events(self, tenant: int, horizon: int, events: Iterable[tuple[int, int]]) -> None:
        """Take out events, and the commits that none is left of."""

    @abstractmethod
    def drop_changes(self, tenant: int, horizon: int, seqs: Iterable[int]) -> None:
        """Take out commits before the horizon that no event is left of."""


class NoteTables(Group):
    """What is known of a store beside its journal: legal holds, checkpoints, small facts, meters, credentials."""

    def meters(self) -> list[MeterRow]:
        return list(self.relations.find(METER, order=("-at", "process")))

    def set_meter(self, row: MeterRow) -> None:
        self.relations.drop(METER, ("at", "<=", row.at - LIFE))
        self.relations.put(METER, row)

    def checkpoints(self, tenant: int) -> list[CheckpointRow]:
        return list(self.relations.find(CHECKPOINT, order=("seq", "name"), tenant=tenant))

    def add_checkpoints(self, rows: Sequence[CheckpointRow]) -> None:
        self.relations.add(CHECKPOINT, *rows)

    def set_checkpoint(self, row: CheckpointRow) -> None:
        self.relations.put(CHECKPOINT, row)

    def drop_checkpoint(self, name: str) -> None:
        self.relations.drop(CHECKPOINT, name=name)

    def holds(self, tenant: int, after: int = 0, limit: int = 0) -> list[HoldRow]:
        """The holds of a tenant numbered past `after`, the oldest first, at most `limit`; 0: all of them."""
        return list(self.relations.find(HOLD, ("id", ">", after), order=("id",), limit=limit, tenant=tenant))

    def add_hold(self, row: HoldRow) -> int:
        return self.relations.add(HOLD, (None, *row[1:]))

    def set_hold(self, row: HoldRow) -> None:
        self.relations.put(HOLD, row)

    def drop_hold(self, tenant: int, hold: int) -> None:
        self.relations.drop(HOLD, tenant=tenant, id=hold)

    def credential(self, credential: str) -> CredentialRow | None:
        return self.relations.first(CREDENTIAL, id=credential)

    def credentials(self, *where: Condition) -> list[CredentialRow]:
        """The credentials that all conditions hold for, by when they were made."""
        return list(self.relations.find(CREDENTIAL, *where, order=("created", "id")))

    def set_credential(self, row: CredentialRow) -> None:
        self.relations.put(CREDENTIAL, row)

    def drop_credentials(self, *where: Condition, **equal: Value) -> None:
        self.relations.drop(CREDENTIAL, *where, **equal)

    def memo(self, tenant: int, name: str) -> bytes | None:
        row = self.relations.first(MEMO, tenant=tenant, name=name)
        return None if row is None else bytes(row[2])

    def memos(self, name: str) -> dict[int, bytes]:
        """A small fact about every tenant of which it is known, by tenant."""
        return {tenant: bytes(value) for tenant, _, value in self.relations.find(MEMO, name=name)}

    def set_memo(self, tenant: int, name: str, value: bytes) -> None:
        self.relations.put(MEMO, (tenant, name, value))


@dataclass(slots=True)
class Rows:
    """One transaction over the tables, in groups; what writes is called only inside a write.

    Attributes:
        entropy: What salts and secrets are drawn from.
    """

    spaces: SpaceTables
    names: NameTables
    journal: JournalTables
    items: ItemTables
    links: LinkTables
    vectors: VectorTables
    packs: PackTables
    lanes: LaneTables
    sessions: SessionTables
    past: PastTables
    notes: NoteTables
    clock: Clock
    entropy: Entropy

    def now(self) -> int:
        """The time by the store's clock, in microseconds."""
        return self.clock.now()


def in_order(pages: Iterable[PageRow]) -> list[PageRow]:
    """Sort the pages of a session by when they came in."""
    return sorted(pages, key=lambda row: (row.arrived, row.position, row.item))


def added(row: StrengthRow, delta: StrengthRow) -> StrengthRow:
    """Add counters of use to those of an item."""
    uses, useful, harms = (a + b for a, b in zip(row[2:5], delta[2:5], strict=True))
    return row._replace(uses=uses, useful=useful, harms=harms, last_used=max(row.last_used, delta.last_used))


def _wrote(relations: Relations, space: int, seq: int) -> list[EventRow]:
    """The events of a commit of the tenant that a space is of."""
    return [
        event
        for home in relations.find(SPACE, id=space)
        for event in relations.find(EVENT, tenant=home.tenant, seq=seq)
    ]
