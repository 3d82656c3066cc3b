"""Commits of a PostgreSQL store: those of one tenant together, in two round trips; those of several side by side.

What a group will look up is asked for in one go, behind the lock on the tenant's head; then it is applied in memory,
and all that it writes goes out with the COMMIT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from mnemic.core.clock import FOREVER, Clock
from mnemic.core.ids import Entropy, to_bytes
from mnemic.core.scope import Shared
from mnemic.store.engine.group_tables import GroupTables
from mnemic.store.engine.ledger import Prepared, key_hash
from mnemic.store.engine.relations import KEY, NAME, SPACE, VERSION
from mnemic.store.engine.rows import Rows
from mnemic.store.postgres.postgres_relations import PostgresRelations
from mnemic.store.postgres.postgres_schema import SCHEMA, tenant_of
from mnemic.store.postgres.postgres_tables import (
    ONE_TENANT,
    PostgresItems,
    PostgresJournal,
    PostgresLanes,
    PostgresNames,
    PostgresSpaces,
    here,
    remember,
    rows_of,
)
from mnemic.store.postgres.transaction import ServerTransaction
from mnemic.store.values.drafts import Put, Tie
from mnemic.store.values.row_values import TRUNK, BranchPoint, KeyRow, NameRow, SpaceRow, TenantRow, VersionRow

_CHANGE_HASH: Final = f'SELECT "hash" FROM {SCHEMA}."change" WHERE "tenant" = %s AND "seq" = %s'
_FOLLOWED: Final = f'SELECT "name" FROM {SCHEMA}."followed" ORDER BY "name"'
_SPACES: Final = (
    "SELECT " + ", ".join(f'"{name}"' for name in SPACE.columns)
    + f' FROM {SCHEMA}."space" WHERE "home" = %s AND "tenant" = %s AND "id" = ANY(%s)'
)  # fmt: skip
_SET_SPACES: Final = (
    f'UPDATE {SCHEMA}."space" s SET "seq" = m."seq", "epoch" = m."epoch", "xid" = pg_current_xact_id()::text::bigint'
    ' FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS m("id", "seq", "epoch")'
    ' WHERE s."home" = %s AND s."id" = m."id"'
)
_NAMES: Final = (
    "SELECT " + ", ".join(f'"{name}"' for name in NAME.columns)
    + f' FROM {SCHEMA}."name" WHERE "tenant" = %s AND "space" = ANY(%s) AND "text" = ANY(%s)'
)  # fmt: skip
_LAST_NUMBERS: Final = (
    f'SELECT s."id", greatest(s."spent", coalesce((SELECT max(n."number") FROM {SCHEMA}."name" n'
    ' WHERE n."tenant" = s."home" AND n."space" = s."id"), 0))'
    f' FROM {SCHEMA}."space" s WHERE s."home" = %s AND s."id" = ANY(%s)'
)
_STANDING: Final = (
    "SELECT " + ", ".join(f'"{name}"' for name in VERSION.columns)
    + f' FROM {SCHEMA}."version" WHERE "tenant" = %s AND "space" = ANY(%s) AND "id" = ANY(%s) AND "seq_to" = {FOREVER}'
)  # fmt: skip
_KEYS: Final = (
    "SELECT " + ", ".join(f'"{name}"' for name in KEY.columns)
    + f' FROM {SCHEMA}."idem" WHERE "tenant" = %s AND "space" = ANY(%s) AND "hash" = ANY(%s)'
)  # fmt: skip

Owner = tuple[str | Shared, str]
"""A user and a branch."""
Answer = Callable[[], None]
"""Takes in the rows of a statement that was sent."""


class PostgresGroupItems(PostgresItems):
    """Items of a group commit, with the standing versions that were asked for in advance."""

    def __init__(self, relations: PostgresRelations) -> None:
        super().__init__(relations)
        self.known: dict[tuple[int, bytes], VersionRow | None] = {}
        self.new_spaces: set[int] = set()
        """Spaces that this transaction has made: what is not known of them is not there."""

    def standing(self, space: int, items: Sequence[bytes]) -> dict[bytes, VersionRow]:
        if space not in self.new_spaces and any((space, item) not in self.known for item in items):
            return super().standing(space, items)
        rows = ((item, self.known.get((space, item))) for item in items)
        return {item: row for item, row in rows if row is not None}

    def add_versions(self, rows: Sequence[VersionRow]) -> int:
        first = super().add_versions(rows)
        for place, row in enumerate(rows):
            self.known[row.space, row.id] = row._replace(ver=first + place)
        return first

    def close_versions(self, space: int, vers: Sequence[int], seq_to: int) -> None:
        super().close_versions(space, vers, seq_to)
        closed = set(vers)
        gone = [place for place, row in self.known.items() if row is not None and row.ver in closed]
        for place in gone:
            del self.known[place]


class PostgresGroupTables(GroupTables, PostgresSpaces, PostgresNames, PostgresJournal, PostgresLanes):
    """Spaces, names, journal and lanes of one tenant's group commits, with what was asked for in advance.

    What it knows from the group before holds if the tenant's stamp is the one that this left, and its last commit the
    one that stood then: every transaction that writes something of a tenant moves the stamp. A server that has lost
    commits (a standby that was behind, a backup) comes by the same stamps again, with others.
    """

    def __init__(self, relations: PostgresRelations, name: str, numbers: dict[str, int], new_spaces: set[int]) -> None:
        super().__init__(relations)
        self._numbers = numbers
        self._name, self._new_spaces, self._is_new = name, new_spaces, False
        self._stamp = -1
        self._left = (0, b"")
        """The last commit that stood when something was written, by seq and hash."""
        self._followed: tuple[str, ...] = ()
        self._owned: dict[Owner, SpaceRow] = {}
        """Whose space is which, as far as was ever known: an id and a secret are never another's."""
        self.forget()

    def forget(self) -> None:
        super().forget()
        self._last_numbers: dict[int, int] = {}
        self._keyed: dict[tuple[int, bytes], KeyRow | None] = {}
        self._nameless: set[tuple[int, str]] = set()
        """Names that were asked for and are not there."""
        self._stamp = -1

    def landed(self) -> None:
        """Note that the group is on disk; without this the next one reads all anew."""
        row = self._tenants.get(self._name)
        self._stamp = -1
        if row is not None:
            head = self._transaction.head(row.id)
            self._stamp, self._left = head.stamp, (head.seq, head.hash)
            remember(self._numbers, self._name, row.id)

    def ask_for(self, late: Sequence[Prepared], items: PostgresGroupItems) -> None:
        """Ask in one go for what more callers of a group will look up, before anything of it is applied."""
        row = self._tenants.get(self._name)
        if row is not None:
            for answer in [*self._asked(row.id, late, items)]:
                answer()

    def ask_ahead(self, batch: Sequence[Prepared], items: PostgresGroupItems, meanwhile: Callable[[], None]) -> None:
        """Lock the tenant, and ask in one go for what a group will look up; once more if somebody else has written."""
        self.begin_group()
        self._new_spaces.clear()
        self._is_new = False
        if self.knows_many:
            known = self._tenants.get(self._name)
            self.forget()
            if known is not None:
                self._know(known)
        items.known, self._keyed, self._nameless = {}, {}, set()
        row = self._tenants.get(self._name)
        if row is None:
            return  # all of it is looked up as it comes: the tenant is new, or new to this process
        transaction = self._transaction
        transaction.share()
        followed = transaction.send(row.id, _FOLLOWED)
        answers = [*self._asked(row.id, batch, items)]
        meanwhile()
        head = transaction.find_head(row.id)
        if head is None or (head.stamp, head.hash) != (self._stamp, self._left[1]):
            self.forget()
            sent = transaction.send(row.id, ONE_TENANT, (row.id,))
            stands = transaction.send(row.id, _CHANGE_HASH, (row.id, self._left[0]))
            answers = [*self._asked(row.id, batch, items)]
            current = [here(transaction, each) for each in transaction.rows_of(sent)]
            if not current or current[0].name != self._name:  # erased, or restored to before it was there
                self._owned.clear()
                return
            self._know(current[0])
            if [bytes(hash) for (hash,) in transaction.rows_of(stands)] != [self._left[1]]:
                self._owned.clear()  # other users may have been given the numbers of spaces that were lost
                answers = []
        names = tuple(name for (name,) in transaction.rows_of(followed))
        if names != self._followed:
            self._followed = names
            self._due.clear()
        for answer in answers:
            answer()

    def _know(self, tenant: TenantRow) -> None:
        self._tenants[self._name], self._tenant_names[tenant.id] = tenant, self._name

    def _asked(self, tenant: int, batch: Sequence[Prepared], items: PostgresGroupItems) -> Iterator[Answer]:
        """Send what will be looked up of spaces that are known by their ids."""
        owned: dict[int, SpaceRow] = {}
        stale: set[int] = set()
        texts: dict[int, set[str]] = {}
        wanted: set[tuple[int, bytes]] = set()
        keys: set[tuple[int, bytes]] = set()
        for prepared in batch:
            draft = prepared.draft
            space = self._owned.get((draft.user, draft.branch))
            if space is None:
                continue
            owned[space.id] = space
            if (tenant, draft.user, draft.branch) not in self._spaces:
                stale.add(space.id)
            named = {text for text in _names_of(prepared) if (space.id, text) not in self._names}
            texts.setdefault(space.id, set()).update(named)
            wanted.update((space.id, item) for item in _items_of(prepared))
            keys.update((space.id, key_hash(space.secret, key)) for key in _keys_of(prepared))
        if stale:
            yield self._ask_spaces(tenant, sorted(stale))
        if unknown := {space: named for space, named in texts.items() if named}:
            yield self._ask_names(tenant, unknown)
            yield self._ask_last_numbers(tenant, sorted(unknown))
        if wanted:
            yield self._ask_standing(tenant, wanted, items)
        if keys:
            yield self._ask_keys(tenant, keys)

    def _ask_spaces(self, tenant: int, spaces: list[int]) -> Answer:
        sent = self._transaction.send(tenant, _SPACES, (tenant, tenant, spaces))

        def answer() -> None:
            for row in map(SPACE.make, self._transaction.rows_of(sent)):
                if row.user is not None:
                    self._spaces[tenant, row.user, row.branch] = row

        return answer

    def _ask_names(self, tenant: int, unknown: dict[int, set[str]]) -> Answer:
        texts = sorted({text for named in unknown.values() for text in named})
        sent = self._transaction.send(tenant, _NAMES, (tenant, sorted(unknown), texts))

        def answer() -> None:
            self._nameless |= {(space, text) for space, named in unknown.items() for text in named}
            for row in map(NAME.make, self._transaction.rows_of(sent)):
                self._names[row.space, row.text] = row

        return answer

    def _ask_last_numbers(self, tenant: int, spaces: list[int]) -> Answer:
        sent = self._transaction.send(tenant, _LAST_NUMBERS, (tenant, spaces))

        def answer() -> None:
            self._last_numbers.update((space, number) for space, number in self._transaction.rows_of(sent))

        return answer

    def _ask_standing(self, tenant: int, wanted: set[tuple[int, bytes]], items: PostgresGroupItems) -> Answer:
        spaces, ids = sorted({space for space, _ in wanted}), sorted({item for _, item in wanted})
        sent = self._transaction.send(tenant, _STANDING, (tenant, spaces, ids))

        def answer() -> None:
            items.known.update(dict.fromkeys(wanted))
            for row in map(VERSION.make, self._transaction.rows_of(sent)):
                items.known[row.space, row.id] = row

        return answer

    def _ask_keys(self, tenant: int, keys: set[tuple[int, bytes]]) -> Answer:
        spaces, hashes = sorted({space for space, _ in keys}), sorted({hashed for _, hashed in keys})
        sent = self._transaction.send(tenant, _KEYS, (tenant, spaces, hashes))

        def answer() -> None:
            self._keyed.update(dict.fromkeys(keys))
            for row in map(KEY.make, self._transaction.rows_of(sent)):
                self._keyed[row.space, row.hash] = row

        return answer

    def finish(self) -> None:
        """Write the heads of the spaces that have moved, together with the tenant's."""
        moved = [*self._moved.values()]
        if moved:
            home = tenant_of(moved[0].id)
            columns = [[row.id for row in moved], [row.seq for row in moved], [row.epoch for row in moved]]
            self._transaction.tell_last("space", home, _SET_SPACES, (*columns, home))

    # What was asked for in advance, looked up

    def add_tenant(self, name: str | None) -> TenantRow:
        row = super().add_tenant(name)
        if name == self._name:
            self._know(row)
            self._is_new = self._transaction.head(row.id).stamp == 0
        return row

    def space(self, tenant: int, user: str | Shared, branch: str = "") -> SpaceRow | None:
        if self._is_new and (tenant, user, branch) not in self._spaces:
            return None
        row = super().space(tenant, user, branch)
        if row is not None:
            self._owned[user, branch] = row
        return row

    def add_space(self, tenant: int, user: str | Shared, secret: bytes, point: BranchPoint = TRUNK) -> SpaceRow:
        last = None if self._is_new else self.relations.first(SPACE, order=("-number",), tenant=tenant)
        number = 1 + (len(self._new_spaces) if last is None else last.number)
        space = self.load_space(tenant, number, user, secret, point)
        row = SpaceRow(space, tenant, user, secret, 0, 0, *point, number)
        self._new_spaces.add(space)
        self._owned[user, row.branch] = self._spaces[tenant, user, row.branch] = row
        return row

    def last_number(self, space: int) -> int:
        known = self._last_numbers.get(space, 0 if space in self._new_spaces else None)
        return super().last_number(space) if known is None else known

    def add_name(self, space: int, text: str) -> NameRow:
        row = super().add_name(space, text)
        self._last_numbers[space] = row.number
        return row

    def name_row(self, space: int, text: str) -> NameRow | None:
        if (space, text) not in self._names and ((space, text) in self._nameless or space in self._new_spaces):
            return None
        return super().name_row(space, text)

    def keyed(self, space: int, hashes: Sequence[bytes]) -> dict[bytes, KeyRow]:
        if space not in self._new_spaces and any((space, hashed) not in self._keyed for hashed in hashes):
            return super().keyed(space, hashes)
        rows = ((hashed, self._keyed.get((space, hashed))) for hashed in hashes)
        return {hashed: row for hashed, row in rows if row is not None}

    def add_keys(self, rows: Sequence[KeyRow]) -> None:
        super().add_keys(rows)
        self._keyed.update(((row.space, row.hash), row) for row in rows)

    def drop_keys(self, space: int, item: bytes) -> None:
        super().drop_keys(space, item)
        self._keyed.clear()


def _names_of(prepared: Prepared) -> Iterator[str]:
    yield prepared.draft.actor
    for op in prepared.draft.ops:
        if isinstance(op, Put):
            yield from (name for name in (op.item.agent, op.item.session) if name is not None)
        elif isinstance(op, Tie):
            yield op.link.type


def _items_of(prepared: Prepared) -> Iterator[bytes]:
    yield from (to_bytes(op.item.id) for op in prepared.draft.ops if isinstance(op, Put))
    yield from (item for item, _ in prepared.expect)
    yield from (item for item, _ in prepared.used)


def _keys_of(prepared: Prepared) -> Iterator[str]:
    yield from (op.key for op in prepared.draft.ops if isinstance(op, Put) and op.key is not None)


class TenantCommits:
    """The tables of one tenant's groups, from one transaction to the next.

    Args:
        numbers: Tenants' numbers by name, as far as this process has seen them; this one's is added.
    """

    def __init__(self, name: str, numbers: dict[str, int], clock: Clock, entropy: Entropy) -> None:
        self._relations = PostgresRelations(None)
        self._items = PostgresGroupItems(self._relations)
        self.tables = PostgresGroupTables(self._relations, name, numbers, self._items.new_spaces)
        tables = self.tables
        rows = rows_of(self._relations, tables, tables, tables, tables, clock, entropy)
        self._rows = replace(rows, items=self._items)

    def begin(self, transaction: ServerTransaction, batch: Sequence[Prepared], meanwhile: Callable[[], None]) -> Rows:
        """The rows of a group in this transaction, with what it will look up.

        Args:
            meanwhile: Called when the questions are sent, before their answers are waited for.
        """
        self._relations.transaction = transaction
        self.tables.ask_ahead(batch, self._items, meanwhile)
        return self._rows

    def ask_more(self, late: Sequence[Prepared]) -> None:
        """Ask for what those will look up who came when the group had begun, and go along."""
        self.tables.ask_for(late, self._items)
