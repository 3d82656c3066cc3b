"""Copy one tenant of a store into another, piece by piece, with all that an export leaves out.

Rows are copied as they stand and nothing is derived anew: no text is tokenised or embedded again. The numbers that a
store gives (spaces, names, versions, links, jobs, holds, embedders) are the other's own there; everything else is kept.
Until the last piece the tenant has no name and its spaces have no owner, so that nobody finds them. Each piece may be
written again: what stands there already is compared, and what differs is written anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from mnemic.core.events import Verb
from mnemic.errors import Conflict, StoreCorrupt
from mnemic.store.engine import audit, job_queue, lane_cursors, ledger
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.relations import (
    ANSWER,
    CHANGE,
    CREDENTIAL,
    DERIVED,
    ENTRY,
    EVENT,
    FACET,
    HOLD,
    JOB,
    KEY,
    LANE,
    LINK,
    MEMO,
    NAME,
    PAGE,
    SESSION,
    SPACE,
    STRENGTH,
    TENANT,
    TOMB,
    VECTOR,
    VERSION,
    VERSION_ITEMS,
    Condition,
    Relation,
    Value,
)
from mnemic.store.engine.rows import Rows
from mnemic.store.values.row_values import COPYING, LinkRow, NameRow, SpaceRow, TenantRow, VersionRow
from mnemic.store.values.work import EmbedderState, Lane, embedding_lane

COPIED: Final = "copied"
"""The memo of a tenant that was copied here: from which store, and as of which commit."""
COMMITS: Final = 500
"""Commits in one piece."""
VERSIONS: Final = 1_000
"""Versions whose vectors are in one piece."""
ROWS: Final = 5_000
"""Rows of other tables in one piece, about."""
SPACES: Final = 100
"""Spaces in one piece at the most."""


def _plain(relation: Relation[Any]) -> Relation[tuple[Any, ...]]:
    """The same table with its rows as they stand."""
    return Relation(relation.name, relation.columns, tuple, relation.number, relation.stays, relation.beside)


_ENTRY, _FACET, _VECTOR = _plain(ENTRY), _plain(FACET), _plain(VECTOR)
_LANE, _ANSWER, _JOBS, _SPACE = _plain(LANE), _plain(ANSWER), _plain(JOB), _plain(SPACE)
_BESIDE: Final = (
    _plain(STRENGTH), _plain(KEY), _plain(TOMB), _plain(DERIVED), _plain(SESSION), _plain(PAGE),
)  # fmt: skip
"""Tables of a space whose rows tell neither versions nor lanes."""


@dataclass(frozen=True, slots=True)
class CopyMark:
    """How far the copy of a tenant has come, which is kept with every piece of its journal.

    Attributes:
        origin: The random name of the store that it is copied from.
        seq, hash, horizon: The head and the horizon of the tenant there: the copy is of that moment.
        upto: The last commit that is here.
    """

    name: str
    origin: str
    seq: int
    hash: str
    horizon: int
    upto: int = 0

    @classmethod
    def read(cls, value: bytes) -> CopyMark:
        return cls(**json.loads(value))

    def written(self, upto: int) -> bytes:
        return canonical({**{name: getattr(self, name) for name in self.__slots__}, "upto": upto})

    def is_of(self, other: CopyMark) -> bool:
        """Whether both are of the same moment of the same store."""
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__ if name != "upto")


def copies_here(rows: Rows, memo: str) -> dict[int, CopyMark]:
    """The tenants that are being copied here (`COPYING`), or were (`COPIED`), with their marks."""
    return {tenant: CopyMark.read(value) for tenant, value in rows.notes.memos(memo).items()}


def begin(rows: Rows, source: Rows, mark: CopyMark) -> tuple[int, CopyMark]:
    """Begin a copy of the tenant that the mark names, as `begin_tenant`."""
    return begin_tenant(rows, source, source.spaces.known_tenant(mark.name).id, mark)


def begin_tenant(rows: Rows, source: Rows, number: int, mark: CopyMark) -> tuple[int, CopyMark]:
    """Make the tenant, without a name, and its spaces, without owners; or find what an earlier run has left.

    Returns:
        Its number here, and its mark, which differs from `mark` if what was left is of another moment.

    Raises:
        Conflict: there is a tenant of this name.
    """
    if rows.spaces.named_tenant(mark.name) is not None:
        raise Conflict(f"tenant {mark.name!r} is there already; move it into another store")
    for copied, left in copies_here(rows, COPYING).items():
        if left.name == mark.name:
            return copied, left
    tenant = rows.spaces.add_tenant(None).id
    for space in source.spaces.tenant_spaces(number):
        rows.spaces.load_space(tenant, space.number, None, b"")
    rows.notes.set_memo(tenant, COPYING, mark.written(0))
    return tenant, mark


def can_go_on(source: Rows, tenant: TenantRow, left: CopyMark, mark: CopyMark) -> bool:
    """Whether what was copied of an earlier moment is still so, but for what was closed and added since.

    It is not where something was erased, dropped or taken back since: then a copy is begun anew.
    """
    if (left.name, left.origin, left.horizon) != (mark.name, mark.origin, mark.horizon) or left.seq > mark.seq:
        return False
    stands = source.journal.last_change(tenant.id, left.seq) if left.seq else None
    if left.seq and (stands is None or (stands.seq, stands.hash.hex()) != (left.seq, left.hash)):
        return False
    return not source.journal.noted(tenant.id, [int(Verb.ERASED)], left.seq)


def take_out(rows: Rows, tenant: int, name: str) -> bool:
    """Take out some of what a tenant left that is on another server now; whether there is more. Its head stays."""
    if drop_spaces(rows, tenant):
        return True
    for relation in (EVENT, CHANGE, HOLD, MEMO):
        rows.spaces.relations.drop(relation, tenant=tenant)
    rows.notes.drop_credentials(tenant=name)
    return False


def drop_spaces(rows: Rows, tenant: int) -> bool:
    """Take out some spaces of a copy that is not whole; whether there are more."""
    spaces = rows.spaces.tenant_spaces(tenant)
    rows.spaces.drop_spaces([space.id for space in spaces[:SPACES]])
    rows.spaces.owe_rewriting(tenant)  # the source may have erased since what is taken out here
    return len(spaces) > SPACES


def drop(rows: Rows, tenant: int) -> None:
    """Take out the rest of a copy that is not whole, when its spaces are gone."""
    for relation in (EVENT, CHANGE, HOLD, MEMO):
        rows.spaces.relations.drop(relation, tenant=tenant)
    rows.spaces.relations.drop(TENANT, id=tenant)


Piece = Callable[[Rows], None]
"""Writes something of the copy, inside a transaction of its own."""


@dataclass(slots=True)
class TenantCopy:
    """The pieces in which a tenant is copied.

    Args:
        source: A snapshot of the store that it is copied from.
        tenant: It, there.
        number: Its number in the store that it is copied to.
        spaces: The numbers that its spaces have there, by those here.
        models: The same of embedders.
        embedded: By space, the version up to which vectors are there from an earlier round.
    """

    source: Rows
    tenant: TenantRow
    number: int
    mark: CopyMark
    spaces: dict[int, int]
    models: dict[int, int] = field(default_factory=dict)
    embedded: Mapping[int, int] = field(default_factory=dict)
    _names: dict[int, dict[int, int]] = field(default_factory=dict)

    # From an earlier moment to that of the source

    def of_moment(self, source: Rows, tenant: TenantRow) -> TenantCopy:
        """The copy as it stands, with rows of its source of a later moment."""
        return TenantCopy(source, tenant, self.number, self.mark, dict(self.spaces), self.models, self.embedded)

    def advance(self, rows: Rows, now: CopyMark) -> None:
        """Bring what was copied of an earlier moment to that of `now`: close what was closed since, add new spaces."""
        there = {row.number: row.id for row in rows.spaces.tenant_spaces(self.number)}
        for row in self.source.spaces.tenant_spaces(self.tenant.id):
            if row.number not in there:
                there[row.number] = rows.spaces.load_space(self.number, row.number, None, b"")
            self.spaces[row.id] = there[row.number]
            if row.seq > self.mark.seq:
                self._close_versions(rows, row.id, now.seq)
                self._close_links(rows, row.id, now.seq)
        self.mark = replace(now, upto=self.mark.upto)
        rows.notes.set_memo(self.number, COPYING, self.mark.written(self.mark.upto))

    def _close_versions(self, rows: Rows, space: int, upto: int) -> None:
        closed = [(ver, seq) for ver, seq in self.source.items.closed(space, self.mark.seq) if seq <= upto]
        own = self.source.items.version_rows(space, [ver for ver, _ in closed]) if closed else []
        own = [row for row in own if row.seq_from <= self.mark.upto]
        there = rows.items.item_rows(self.spaces[space], sorted({row.id for row in own})) if own else {}
        numbers = {(row.id, row.seq_from, row.n): row.ver for rows_of in there.values() for row in rows_of}
        by_seq: dict[int, list[int]] = {}
        for row in own:
            by_seq.setdefault(row.seq_to, []).append(numbers[row.id, row.seq_from, row.n])
        for seq, vers in by_seq.items():
            rows.items.close_versions(self.spaces[space], vers, seq)

    def _close_links(self, rows: Rows, space: int, upto: int) -> None:
        since: tuple[Condition, ...] = (
            ("seq_to", ">", self.mark.seq), ("seq_to", "<=", upto), ("seq_from", "<=", self.mark.upto),
        )  # fmt: skip
        for row in self.source.spaces.relations.find(LINK, *since, space=space):
            where: dict[str, Value] = {"src": row.src, "dst": row.dst, "seq_from": row.seq_from, "n": row.n}
            rows.spaces.relations.update(LINK, {"seq_to": row.seq_to}, space=self.spaces[space], **where)

    # Embedders and names

    def embedders(self, rows: Rows) -> None:
        """Make the embedders known whose vectors come along; one that is new serves if none serves there yet."""
        serves = any(row.state is EmbedderState.SERVING for row in rows.vectors.embedders())
        for row in self.source.vectors.embedders():
            if row.state is not EmbedderState.RETIRING:
                state = EmbedderState.FILLING if serves else row.state
                self.models[row.id] = lane_cursors.enlist(rows, row.name, row.dims, state)

    def name_pieces(self) -> Iterator[Piece]:
        for spaces in _batches(list(self.spaces)):
            yield lambda rows, spaces=spaces: self._load_names(rows, spaces)  # type: ignore[misc]

    def _load_names(self, rows: Rows, spaces: Sequence[int]) -> None:
        homes = [self.spaces[space] for space in spaces]
        there = {(row.space, row.number) for row in rows.spaces.relations.find(NAME, ("space", "in", homes))}
        for row in self.source.spaces.relations.find(NAME, ("space", "in", spaces), order=("id",)):
            home = self.spaces[row.space]
            if (home, row.number) not in there:
                rows.names.load_name(home, row.number, row.text)

    def _name(self, rows: Rows, space: int, name: int) -> int:
        """The number there of a name of a space."""
        if not name:
            return 0
        if space not in self._names:
            by_number = {row.number: row.id for row in rows.names.names(self.spaces[space])}
            own: list[NameRow] = self.source.names.names(space)
            self._names[space] = {row.id: by_number[row.number] for row in own}
        try:
            return self._names[space][name]
        except KeyError as error:
            raise StoreCorrupt(f"a row of space {space} names {name}, which is not there; `mnemic verify`") from error

    # The journal, with the versions and links that it wrote

    def journal_pieces(self) -> Iterator[tuple[int, Piece]]:
        """Each piece of the journal that is not there yet, with the last commit in it."""
        after = self.mark.upto
        while changes := self.source.journal.changes(self.tenant.id, after, COMMITS, False):
            first, after = changes[0].seq, changes[-1].seq
            yield after, lambda rows, first=first, last=after: self._write_journal(rows, first, last)  # type: ignore[misc]

    def _write_journal(self, rows: Rows, first: int, last: int) -> None:
        source = self.source
        changes = source.journal.changes(self.tenant.id, first - 1, COMMITS, False)
        events = source.journal.events(self.tenant.id, first, last)
        vers = self._write_versions(rows, {c.seq: c.space for c in changes}, events)
        lvers = self._write_links(rows, {c.seq: c.space for c in changes}, events)
        for change in changes:
            rows.journal.add_change(change._replace(tenant=self.number, space=self._space(change.space)))
        moved = [
            event._replace(
                tenant=self.number,
                ver=_mapped(vers, event.ver, "version"),
                lver=_mapped(lvers, event.lver, "link"),
            )
            for event in events
        ]
        rows.journal.add_events(moved)
        rows.notes.set_memo(self.number, COPYING, self.mark.written(last))

    def _space(self, space: int) -> int:
        return self.spaces[space] if space else 0

    def _write_versions(self, rows: Rows, homes: dict[int, int], events: Sequence[Any]) -> dict[int, int]:
        """Write the versions that events wrote, with their entries and facets; their numbers there by those here."""
        by_space = _grouped((homes[event.seq], event.ver) for event in events if event.ver)
        taken = [row for space, vers in by_space.items() for row in self.source.items.version_rows(space, vers)]
        taken.sort(key=attrgetter("ver"))
        if not taken:
            return {}
        first = rows.spaces.relations.add(VERSION, *[self._version(rows, row) for row in taken])
        there = {row.ver: first + place for place, row in enumerate(taken)}
        for space, vers in by_space.items():
            self._write_entries(rows, space, vers, there)
        return there

    def _version(self, rows: Rows, row: VersionRow) -> tuple[Any, ...]:
        named = row._replace(
            space=self.spaces[row.space],
            agent=self._name(rows, row.space, row.agent),
            session=self._name(rows, row.space, row.session),
        )
        return (None, *named[1:])

    def _write_entries(self, rows: Rows, space: int, vers: Sequence[int], there: dict[int, int]) -> None:
        find, add = self.source.spaces.relations.find, rows.spaces.relations.add
        places = {name: ENTRY.columns.index(name) for name in ("space", "ver", "agent", "session")}
        entries = []
        for row in find(_ENTRY, ("ver", "in", vers), space=space):
            values = list(row)
            values[places["space"]], values[places["ver"]] = self.spaces[space], there[row[places["ver"]]]
            for name in ("agent", "session"):
                values[places[name]] = self._name(rows, space, row[places[name]])
            entries.append(values)
        add(_ENTRY, *entries)
        facets = find(_FACET, ("ver", "in", vers), space=space)
        add(_FACET, *[(self.spaces[space], there[ver], hashed) for _, ver, hashed in facets])

    def _write_links(self, rows: Rows, homes: dict[int, int], events: Sequence[Any]) -> dict[int, int]:
        by_space = _grouped((homes[event.seq], event.lver) for event in events if event.lver)
        taken: list[LinkRow] = []
        for space, lvers in by_space.items():
            taken += self.source.links.link_rows(space, lvers)
        taken.sort(key=attrgetter("lver"))
        if not taken:
            return {}
        values = [
            (None, *row._replace(space=self.spaces[row.space], type=self._name(rows, row.space, row.type))[1:])
            for row in taken
        ]
        first = rows.spaces.relations.add(LINK, *values)
        return {row.lver: first + place for place, row in enumerate(taken)}

    # Vectors, and the other tables of spaces

    def vector_pieces(self) -> Iterator[tuple[int, Piece]]:
        """Each piece of the vectors, with how many versions it goes over."""
        waiting: list[tuple[int, list[tuple[Any, ...]]]] = []
        size = 0
        for space in self.spaces if self.models else ():
            after = self.embedded.get(space, 0)
            while chunk := self._items_past(self.source, space, after, VERSIONS):
                after = chunk[-1][1]
                waiting.append((space, chunk))
                size += len(chunk)
                if size >= VERSIONS:
                    yield size, lambda rows, those=tuple(waiting): self._write_vectors(rows, those)  # type: ignore[misc]
                    waiting, size = [], 0
        if waiting:
            yield size, lambda rows: self._write_vectors(rows, waiting)

    @staticmethod
    def _items_past(rows: Rows, space: int, after: int, limit: int) -> list[tuple[Any, ...]]:
        return list(
            rows.spaces.relations.find(VERSION_ITEMS, ("ver", ">", after), order=("ver",), limit=limit, space=space)
        )

    def _write_vectors(self, rows: Rows, chunks: Sequence[tuple[int, list[tuple[Any, ...]]]]) -> None:
        for space, chunk in chunks:
            there = self._numbered(rows, space, chunk)
            low, high = chunk[0][1], chunk[-1][1]
            for model, other in self.models.items():
                own = self._vectors(self.source, space, model, low, high)
                mapped = [(self.spaces[space], other, there[ver], part, f16) for _, _, ver, part, f16 in own]
                _replace(rows, _VECTOR, mapped, there[low], there[high], space=self.spaces[space], model=other)

    @staticmethod
    def _vectors(rows: Rows, space: int, model: int, low: int, high: int) -> list[tuple[Any, ...]]:
        within: tuple[Condition, Condition] = ("ver", ">=", low), ("ver", "<=", high)
        return list(rows.spaces.relations.find(_VECTOR, *within, space=space, model=model))

    def _numbered(self, rows: Rows, space: int, chunk: Sequence[tuple[Any, ...]]) -> dict[int, int]:
        """The numbers there of versions of a space, by those here: both stores have them in the same order."""
        home = self.spaces[space]
        before = self.place(rows, space, home, chunk[0][1] - 1)
        others = self._items_past(rows, home, before, len(chunk))
        if [item for *_, item in others] != [item for *_, item in chunk]:
            raise CopyDiffersError(f"space {space} has other versions than its copy")
        return {ver: other for (_, ver, _), (_, other, _) in zip(chunk, others, strict=True)}

    def place(self, rows: Rows, space: int, home: int, upto: int) -> int:
        """The number there of the last version of a space up to one; 0 for none."""
        last = self.source.spaces.relations.first(VERSION, ("ver", "<=", upto), order=("-ver",), space=space)
        if last is None:
            return 0
        there = rows.spaces.relations.first(VERSION, space=home, id=last.id, seq_from=last.seq_from)
        if there is None:
            raise CopyDiffersError(f"space {space} has a version that its copy has not")
        return int(there.ver)

    def space_pieces(self) -> Iterator[tuple[int, Piece]]:
        """Each piece of what spaces have besides, with how many of them it goes over."""
        for spaces in _batches(list(self.spaces)):
            yield len(spaces), lambda rows, spaces=spaces: self._write_beside(rows, spaces)  # type: ignore[misc]

    def _write_beside(self, rows: Rows, spaces: Sequence[int]) -> None:
        homes = [self.spaces[space] for space in spaces]
        for relation in _BESIDE:
            place = relation.columns.index("space")
            own: dict[int, list[tuple[Any, ...]]] = {home: [] for home in homes}
            for row in self.source.spaces.relations.find(relation, ("space", "in", spaces)):
                own[self.spaces[row[place]]].append(self._moved(rows, relation, row[place], row))
            there: dict[int, list[tuple[Any, ...]]] = {home: [] for home in homes}
            for row in rows.spaces.relations.find(relation, ("space", "in", homes)):
                there[row[place]].append(tuple(row))
            for home in homes:
                if sorted(own[home], key=repr) != sorted(there[home], key=repr):
                    rows.spaces.relations.drop(relation, space=home)
                    for batch in _batches(own[home], ROWS):
                        rows.spaces.relations.add(relation, *batch)

    @staticmethod
    def _all(rows: Rows, relation: Relation[tuple[Any, ...]], space: int) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in rows.spaces.relations.find(relation, space=space)]

    def _moved(
        self, rows: Rows, relation: Relation[tuple[Any, ...]], space: int, row: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        values = {**dict(zip(relation.columns, row, strict=True)), "space": self.spaces[space]}
        if "session" in values:
            values["session"] = self._name(rows, space, values["session"])
        if "lease_until" in values:  # who holds it holds it there
            values |= {"owner": "", "lease_until": 0}
        return tuple(values[name] for name in relation.columns)

    # The last pieces

    def settle(self, rows: Rows, source_hash: str) -> None:
        """Give the spaces their owners and all that stands beside them, and check that it is what the source is.

        Raises:
            CopyDiffersError: the copy is not what the source is.
            StoreCorrupt: it does not hold together.
        """
        whole = self.settle_since(rows, self.tenant.seq)
        if audit.tenant_state_hash(rows, whole) != source_hash:
            raise CopyDiffersError("its state hash is another")
        for fault in audit.verify_loaded(rows, whole):
            raise StoreCorrupt(f"the copy does not hold together: {fault.where}: {fault.problem}; `mnemic verify`")

    def settle_since(self, rows: Rows, seq: int) -> TenantRow:
        """The same where it was all checked as of commit `seq`: only spaces are looked at that were written to since.

        Raises:
            CopyDiffersError: the copy is not what the source is.
        """
        self._publish_spaces(rows)
        self._publish_notes(rows)
        here = rows.spaces.tenant_row(self.number)
        rows.spaces.set_tenant(here._replace(horizon=self.tenant.horizon, horizon_hash=self.tenant.horizon_hash))
        whole = rows.spaces.tenant_row(self.number)
        if (whole.seq, whole.hash) != (self.tenant.seq, self.tenant.hash):
            raise CopyDiffersError("its journal ends elsewhere")
        for row in self.source.spaces.tenant_spaces(self.tenant.id):
            if row.seq > seq and _lives(self.source, row.id) != _lives(rows, self.spaces[row.id]):
                raise CopyDiffersError(f"space {row.number} has other versions or links than its copy")
        return whole

    def publish(self, rows: Rows) -> None:
        """Give the tenant, which was settled, its name, and the work that waits in it to whoever looks for work.

        Raises:
            Conflict: somebody has made a tenant of this name meanwhile.
        """
        if rows.spaces.named_tenant(self.mark.name) is not None:
            raise Conflict(f"tenant {self.mark.name!r} is there already; it was made meanwhile")
        for space, home in self.spaces.items():
            self._publish_lanes(rows, space, home)
            self._publish_jobs(rows, space, home)
            rows.lanes.make_due(home)
        for credential in self.source.spaces.relations.find(CREDENTIAL, tenant=self.mark.name):
            if rows.notes.credential(credential.id) is None:
                rows.notes.set_credential(credential)
        rows.spaces.forget_gone(self.mark.name)
        rows.spaces.set_tenant(rows.spaces.tenant_row(self.number)._replace(name=self.mark.name))
        rows.spaces.relations.drop(MEMO, tenant=self.number, name=COPYING)
        rows.notes.set_memo(self.number, COPIED, self.mark.written(self.tenant.seq))

    def _publish_spaces(self, rows: Rows) -> None:
        for row in self.source.spaces.tenant_spaces(self.tenant.id):
            home = self.spaces[row.id]
            owner, shared = (None, 0) if row.user is None else ledger.space_owner(row.user)
            values = {
                "user": owner, "shared": int(shared), "secret": row.secret, "branch": row.branch, "base": row.base,
                "parent": self._space(row.parent), "lanes": int(row.lanes), "spent": row.spent,
            }  # fmt: skip
            rows.spaces.relations.update(SPACE, values, id=home)
            moved: SpaceRow = row._replace(id=home, tenant=self.number)
            rows.spaces.set_space(moved)

    def _publish_notes(self, rows: Rows) -> None:
        for _, name, value in self.source.spaces.relations.find(MEMO, tenant=self.tenant.id):
            if name not in (COPYING, COPIED):
                rows.notes.set_memo(self.number, name, bytes(value))
        rows.spaces.relations.drop(HOLD, tenant=self.number)
        for hold in self.source.notes.holds(self.tenant.id):
            rows.notes.add_hold(hold._replace(tenant=self.number, space=self._space(hold.space)))

    def _lane_name(self, name: str) -> str | None:
        """What a lane is called there; None for that of an embedder which does not come along."""
        lanes = {embedding_lane(model): other for model, other in self.models.items()}
        if name in lanes:
            return embedding_lane(lanes[name])
        return None if name.startswith(embedding_lane(0)[:-1]) else name

    def _publish_lanes(self, rows: Rows, space: int, home: int) -> None:
        rows.spaces.relations.drop(LANE, space=home)
        for lane in self.source.lanes.lanes(space):
            name = self._lane_name(lane.name)
            if name is not None:
                rows.lanes.set_lane(self._moved_lane(rows, lane, name, home))
        rows.spaces.relations.drop(ANSWER, space=home)
        for row in self._all(self.source, _ANSWER, space):
            values = dict(zip(ANSWER.columns, row, strict=True))
            name = self._lane_name(values["lane"])
            if name is not None:
                rows.spaces.relations.add(
                    _ANSWER, tuple({**values, "space": home, "lane": name}[column] for column in ANSWER.columns)
                )

    def _moved_lane(self, rows: Rows, lane: Lane, name: str, home: int) -> Lane:
        return replace(
            lane, space=home, name=name, owner="", lease_until=0,
            cursor=self.place(rows, lane.space, home, lane.cursor),
            reach=self.place(rows, lane.space, home, lane.reach),
        )  # fmt: skip

    def _publish_jobs(self, rows: Rows, space: int, home: int) -> None:
        rows.spaces.relations.drop(JOB, space=home)
        for row in sorted(self._all(self.source, _JOBS, space)):  # in the order in which they were given
            values: dict[str, Any] = {**dict(zip(JOB.columns, row, strict=True)), "space": home}
            values |= {"id": None, "owner": "", "lease_until": 0}
            if values["ver"]:
                values["ver"] = self.place(rows, space, home, values["ver"])
            if values["name"] == job_queue.DIGEST:
                name = self._lane_name(bytes(values["payload"]).decode())
                if name is None:
                    continue
                values |= {"key": f"{name}:{values['ver']}", "payload": name.encode()}
            rows.spaces.relations.add(_JOBS, tuple(values[column] for column in JOB.columns))


_VERSION_LIVES: Final = Relation("version", ("id", "seq_from", "n", "seq_to"), tuple, beside=("space",))
_LINK_LIVES: Final = Relation("link", ("src", "dst", "seq_from", "n", "seq_to"), tuple, beside=("space",))


def _lives(rows: Rows, space: int) -> list[list[tuple[Any, ...]]]:
    """From which commit to which each version and each link of a space stands."""
    return [sorted(rows.spaces.relations.find(each, space=space)) for each in (_VERSION_LIVES, _LINK_LIVES)]


def embedded_upto(rows: Rows, tenant: int) -> dict[int, int]:
    """By space, the version up to which every vector is there that its embedders will make."""
    spaces = [space.id for space in rows.spaces.tenant_spaces(tenant)]
    upto: dict[int, int] = {}
    for model in rows.vectors.embedders():
        cursors = dict.fromkeys(spaces, 0)
        for batch in _batches(spaces):
            lanes = rows.spaces.relations.find(LANE, ("space", "in", batch), name=embedding_lane(model.id))
            cursors.update((lane.space, lane.cursor) for lane in lanes)
        upto = {space: min(cursor, upto.get(space, cursor)) for space, cursor in cursors.items()}
    for batch in _batches(spaces):  # what could not be embedded is tried again
        for job in rows.spaces.relations.find(JOB, ("ver", ">", 0), ("space", "in", batch)):
            upto[job.order.space] = min(upto.get(job.order.space, 0), job.order.ver - 1)
    return upto


class CopyDiffersError(Exception):
    """The copy has something else than the source, which was changed between two runs; it is to be made anew."""


def _mapped(there: dict[int, int], number: int, what: str) -> int:
    if not number:
        return 0
    if number not in there:
        raise StoreCorrupt(f"the journal names {what} {number}, which is not there; `mnemic verify`")
    return there[number]


def _grouped(pairs: Iterator[tuple[int, int]]) -> dict[int, list[int]]:
    ordered = sorted(pairs)
    return {space: [number for _, number in group] for space, group in groupby(ordered, key=lambda pair: pair[0])}


def _batches(rows: Sequence[Any], size: int = SPACES) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _replace(
    rows: Rows, relation: Relation[tuple[Any, ...]], mapped: list[tuple[Any, ...]], low: int, high: int, **equal: Value
) -> None:
    """Have exactly these rows stand in a stretch of versions."""
    relations = rows.spaces.relations
    within: tuple[Condition, Condition] = ("ver", ">=", low), ("ver", "<=", high)
    there = [tuple(row) for row in relations.find(relation, *within, order=(), limit=0, **equal)]
    if sorted(there) != sorted(mapped):
        relations.drop(relation, *within, **equal)
        relations.add(relation, *mapped)
