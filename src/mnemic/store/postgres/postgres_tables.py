"""The tables of a PostgreSQL store, group by group: the statements that only it can make, and all groups as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

from mnemic.core.clock import FOREVER, Clock
from mnemic.core.facets import author_facet, slot_facet, slot_facets, tag_facet
from mnemic.core.ids import Entropy, from_bytes
from mnemic.core.items import Kind
from mnemic.core.queries import Filter, View
from mnemic.core.scope import SHARED, Shared
from mnemic.core.visibility import Condition, conditions, sight_clauses
from mnemic.store.engine import codec
from mnemic.store.engine.codec import kind_number, number_of
from mnemic.store.engine.relations import (
    CLOSED_VERSIONS,
    JOB,
    LANE,
    LINK,
    NAME,
    PACK,
    PAGE,
    SPACE,
    VERSION,
    VERSION_ITEMS,
    WRITTEN_LINK,
    WRITTEN_VERSION,
)
from mnemic.store.engine.rows import (
    RESTS,
    ItemTables,
    JournalTables,
    LaneTables,
    LinkTables,
    NameTables,
    NoteTables,
    PackTables,
    Rows,
    SessionTables,
    SpaceTables,
    VectorTables,
    in_order,
)
from mnemic.store.postgres.placement_rows import ask_kept, refuse_elsewhere
from mnemic.store.postgres.postgres_past import PostgresPast
from mnemic.store.postgres.postgres_relations import PostgresGroup, PostgresRelations, one_tenant, plain, tenants_of
from mnemic.store.postgres.postgres_schema import (
    RESTING,
    SCHEMA,
    TENANT_BITS,
    erase_items_statements,
    erase_name_statements,
    erase_space_statements,
    tenant_of,
)
from mnemic.store.postgres.rewriting import owe
from mnemic.store.postgres.transaction import ACROSS, ServerTransaction, elsewhere
from mnemic.store.values.row_values import (
    ChangeRow,
    Descent,
    LinkRow,
    NameRow,
    PageRow,
    SpaceRow,
    TenantRow,
    VersionRow,
    Walk,
    WrittenRow,
)
from mnemic.store.values.work import DueSpaces, EmbedderRow, Job, JobState, Lane, VectorRow, slot_lane


def _listed(columns: Sequence[str], of: str = "") -> str:
    return ", ".join(f'{of}"{column}"' for column in columns)


_TENANT: Final = (
    f'SELECT "id", "name", "seq", "at", "hash", "horizon", "horizon_hash", "gone" FROM {SCHEMA}."tenant" WHERE "id" > 0'
)
_STAYING: Final = _TENANT + ' AND "gone" IS NULL'
_GONE: Final = _TENANT + ' AND "gone" IS NOT NULL'
ONE_TENANT: Final = _TENANT + ' AND "id" = %s'
ONE_NAMED: Final = _TENANT + ' AND "name" = %s'
_STAYING_NAMED: Final = _STAYING + ' AND "name" = %s'
_ADD_TENANT: Final = (
    f'INSERT INTO {SCHEMA}."tenant" ("id", "name", "horizon", "horizon_hash", "seq", "at", "hash", "vers", "links",'
    ' "spaces", "names", "jobs", "packs", "holds", "stamp", "xid")'
    f" VALUES (current_setting('{SCHEMA}.tenant')::bigint, %s, 0, %s, 0, 0, %s, 0, 0, 0, 0, 0, 0, 0, 0, 0)"
    ' ON CONFLICT ("name") DO NOTHING'
)
_OWNED_BY: Final = (
    f'SELECT {_listed(SPACE.columns)} FROM {SCHEMA}."space" WHERE "home" = %s AND "tenant" = %s'
    ' AND (("user" = %s AND "branch" = %s) OR ("shared" <> 0 AND "branch" = ANY(%s)))'
)
_OWNED: Final = '("user" IS NOT NULL OR "shared" <> 0)'


def here(transaction: ServerTransaction, row: tuple[Any, ...]) -> TenantRow:
    """The tenant of a row.

    Raises:
        TenantElsewhere: it was moved to another server.
    """
    *values, gone = row
    if gone is not None:
        raise elsewhere(transaction, gone, values[1])
    return TenantRow._make(values)


_KNOWN: Final = 10_000
"""Most tenants whose numbers a process remembers."""


def remember(known: dict[str, int], tenant: str, number: int) -> None:
    """Remember a tenant's number by its name."""
    if len(known) >= _KNOWN:
        known.clear()
    known[tenant] = number


class PostgresSpaces(PostgresGroup, SpaceTables):
    """PostgreSQL's own statements about tenants and spaces."""

    def tenants(self, *, name: str | None = None, number: int = 0) -> list[TenantRow]:
        if name is not None:
            sent = ask_kept(self._transaction)
            rows = self._named(name, ONE_NAMED)
            if not rows:
                refuse_elsewhere(self._transaction, sent, name)
        elif number:
            rows = self._ask(number, ONE_TENANT, number)
        else:
            rows = self._ask(ACROSS, _STAYING + ' ORDER BY "id"')
        return [self._current(here(self._transaction, row)) for row in rows]

    def _named(self, name: str, statement: str) -> list[tuple[Any, ...]]:
        rows = self._transaction.ask_named(name, statement, (name,))
        if rows and self._transaction.writes:  # locked by now, it may have moved on
            rows = self._ask(rows[0][0], ONE_TENANT, rows[0][0])
        return rows

    def named_tenant(self, name: str) -> TenantRow | None:
        return next((self._current(here(self._transaction, row)) for row in self._named(name, _STAYING_NAMED)), None)

    def gone_tenants(self) -> dict[str, tuple[TenantRow, str]]:
        """By name, the tenants that were moved to other servers, each with what it left and the server."""
        return {row[1]: (TenantRow._make(row[:7]), row[7]) for row in self._ask(ACROSS, _GONE)}

    def leave(self, tenant: int, server: str) -> None:
        """Refuse from now on whoever comes here for a tenant, and have nobody look for work in it."""
        self._transaction.tell(tenant, f'DELETE FROM {SCHEMA}."due" WHERE "tenant" = %s', (tenant,))
        self._transaction.tell(tenant, f'UPDATE {SCHEMA}."tenant" SET "gone" = %s WHERE "id" = %s', (server, tenant))

    def reopen(self, tenant: int) -> None:
        """Let this transaction write to a tenant that was moved away, to take out what it left."""
        self._transaction.reopened.add(tenant)

    def forget_gone(self, name: str) -> None:
        self._transaction.tell(
            ACROSS, f'DELETE FROM {SCHEMA}."tenant" WHERE "name" = %s AND "gone" IS NOT NULL', (name,)
        )

    def _current(self, row: TenantRow) -> TenantRow:
        """A tenant with what this transaction has made of its head, which is written with the commit."""
        if row.id not in self._transaction.moved:
            return row
        head = self._transaction.head(row.id)
        return row._replace(seq=head.seq, at=head.at, hash=head.hash)

    def add_tenant(self, name: str | None) -> TenantRow:
        if name is not None:
            self._transaction.share()  # which buckets are kept here is changed by who is alone
            sent = ask_kept(self._transaction)
        genesis = bytes(32)
        numbered = self._transaction.create(_ADD_TENANT, (name, genesis, genesis))
        rows = [] if name is None else self._transaction.ask_named(name, ONE_NAMED, (name,))
        number = int(self._transaction.rows_of(numbered)[0][0])
        if name is None:
            return self.tenant_row(number)
        refuse_elsewhere(self._transaction, sent, name)
        if rows and rows[0][0] != number:
            return self.known_tenant(name)  # another's, who was quicker
        self._transaction.created(number, genesis)
        return here(self._transaction, rows[0])

    def owe_rewriting(self, tenant: int) -> None:
        owe(self._transaction, [tenant])

    def drop_spaces(self, spaces: Sequence[int]) -> None:
        for space in spaces:
            self.drop_space(space)
            self.relations.update(SPACE, {"tenant": 0, "parent": 0, "number": space}, id=space)

    def owned(self, tenant: str, user: str | Shared, branch: str) -> tuple[SpaceRow | None, SpaceRow | None]:
        name = None if isinstance(user, Shared) else user
        number = self._transaction.known.get(tenant)
        if number is None:
            row = self.tenant(tenant)
            if row is None:
                return None, None
            number = row.id
            remember(self._transaction.known, tenant, number)
        # Both are asked for at once: a number that is known by its name is another's only where that was erased since.
        head = self._transaction.send(number, ONE_TENANT, (number,))
        sent = self._transaction.send(number, _OWNED_BY, (number, number, name, branch, ["", branch]))
        if [here(self._transaction, row).name for row in self._transaction.rows_of(head)] != [tenant]:
            del self._transaction.known[tenant]
            return self.owned(tenant, user, branch)
        spaces = [SPACE.make(each) for each in self._transaction.rows_of(sent)]
        by_owner = {(each.user, each.branch): each for each in spaces}
        return by_owner.get((user, branch)), by_owner.get((SHARED, ""))

    def owner_count(self) -> int:
        statement = f'SELECT count(*) FROM {SCHEMA}."space" WHERE {_OWNED} AND "parent" = 0'
        return int(self._ask(ACROSS, statement)[0][0])

    def branch_counts(self, owners: Sequence[int]) -> dict[int, int]:
        statement = (
            f'SELECT s."id", (SELECT count(*) - 1 FROM {SCHEMA}."space" b WHERE b."home" = s."home"'
            ' AND b."tenant" = s."tenant" AND CASE WHEN s."shared" <> 0 THEN b."shared" <> 0'
            ' ELSE b."user" = s."user" END)'
            f' FROM {SCHEMA}."space" s WHERE s."home" = ANY(%s) AND s."id" = ANY(%s)'
            ' AND (s."user" IS NOT NULL OR s."shared" <> 0)'
        )
        homes = tenants_of(owners)
        return dict(self._ask(one_tenant(homes), statement, homes, list(owners))) if owners else {}

    def space_rows(self, ids: Sequence[int]) -> list[SpaceRow]:
        by_id = {row.id: row for row in self.relations.find(SPACE, ("id", "in", list(ids)))}
        return [by_id[space] for space in ids if space in by_id]

    def descents(self, tenant: int) -> list[Descent]:
        statement = (
            f'SELECT "id", "parent", "shared" <> 0, {_OWNED} FROM {SCHEMA}."space" WHERE "home" = %s AND "tenant" = %s'
        )
        return [Descent(*row) for row in self._ask(tenant, statement, tenant, tenant)]

    def set_space(self, row: SpaceRow) -> None:
        statement = (
            f'UPDATE {SCHEMA}."space" SET "seq" = %s, "epoch" = %s, "xid" = pg_current_xact_id()::text::bigint'
            ' WHERE "home" = %s AND "id" = %s'
        )
        home = tenant_of(row.id)
        self._transaction.tell(home, statement, (row.seq, row.epoch, home, row.id))

    def drop_space(self, space: int) -> tuple[int, int]:
        tenant = tenant_of(space)
        counts = [
            int(self._ask(tenant, f'SELECT count(*) FROM {SCHEMA}."{name}" WHERE "tenant" = %s AND "space" = %s',
                          tenant, space)[0][0])
            for name in ("version", "link")
        ]  # fmt: skip
        for statement in _ERASE_SPACE:
            self._transaction.tell(tenant, statement, {"tenant": tenant, "space": space})
        return counts[0], counts[1]


_ERASE_SPACE: Final = tuple(erase_space_statements())
_ERASE_NAME: Final = erase_name_statements()
_ERASE_ITEMS: Final = tuple(erase_items_statements())
_LAST_NAME: Final = (
    'SELECT greatest(s."spent", coalesce((SELECT max(n."number") FROM mnemic."name" n'
    ' WHERE n."tenant" = s."home" AND n."space" = s."id"), 0)) FROM mnemic."space" s'
    ' WHERE s."home" = %s AND s."id" = %s'
)


class PostgresNames(PostgresGroup, NameTables):
    """PostgreSQL's own statements about names."""

    def last_number(self, space: int) -> int:
        """The highest number that a name of a space has, or that is spent."""
        tenant = tenant_of(space)
        return int(self._ask(tenant, _LAST_NAME, tenant, space)[0][0])

    def add_name(self, space: int, text: str) -> NameRow:
        number = self.last_number(space) + 1
        return NameRow(self.load(space, number, text), space, number, text)

    def load(self, space: int, number: int, text: str) -> int:
        """Add a name with its number; its id."""
        return self.relations.add(NAME, (None, space, number, text))

    def drop_names(self, space: int, names: Sequence[int]) -> None:
        tenant = tenant_of(space)
        self._transaction.tell(tenant, _ERASE_NAME[0], {"tenant": tenant, "space": space})
        statement = (
            f'DELETE FROM {SCHEMA}."name" n WHERE n."tenant" = %s AND n."space" = %s AND n."id" = ANY(%s)'
            f' AND NOT EXISTS (SELECT 1 FROM {SCHEMA}."session" s WHERE s."tenant" = n."tenant"'
            ' AND s."space" = n."space" AND s."session" = n."id")'
        )
        self._transaction.tell(tenant, statement, (tenant, space, list(names)))

    def drop_bare_name(self, space: int, text: str) -> None:
        tenant = tenant_of(space)
        for statement in _ERASE_NAME:
            self._transaction.tell(tenant, statement, {"tenant": tenant, "space": space, "text": text})


class PostgresJournal(PostgresGroup, JournalTables):
    """PostgreSQL's own statements about the journal."""

    def add_change(self, row: ChangeRow) -> None:
        super().add_change(row)
        head = self._transaction.moved_head(row.tenant)
        head.seq, head.at, head.hash = row.seq, row.at, row.hash

    def count_events(self, tenant: int, after: int, upto: int) -> int:
        statement = f'SELECT count(*) FROM {SCHEMA}."event" WHERE "tenant" = %s AND "seq" > %s AND "seq" <= %s'
        return int(self._ask(tenant, statement, tenant, after, upto)[0][0])

    def noted(self, tenant: int, verbs: Sequence[int], after: int) -> list[int]:
        statement = (
            f'SELECT DISTINCT "seq" FROM {SCHEMA}."event" WHERE "tenant" = %s AND "seq" > %s AND "ver" = 0'
            ' AND "lver" = 0 AND "verb" = ANY(%s) ORDER BY "seq"'
        )
        return [seq for (seq,) in self._ask(tenant, statement, tenant, after, [*map(plain, verbs)])]


class PostgresItems(PostgresGroup, ItemTables):
    """PostgreSQL's own statements about items: what a view shows, what a cache asks for, taking one out."""

    def close_versions(self, space: int, vers: Sequence[int], seq_to: int) -> None:
        if vers:
            tenant = tenant_of(space)
            for statement in _CLOSE_VERSIONS:
                self._transaction.tell(tenant, statement, (seq_to, tenant, space, list(vers)))

    def version_rows(self, space: int, vers: Sequence[int]) -> list[VersionRow]:
        return list(self.relations.find(VERSION, ("ver", "in", vers), space=space))

    def item_ids(self, space: int, vers: Sequence[int]) -> dict[int, bytes]:
        rows = self.relations.find(VERSION_ITEMS, ("ver", "in", vers), space=space)
        return {ver: item for _, ver, item in rows}

    def recorded_rows(self, tenant: int, space: int, vers: Sequence[int]) -> list[tuple[VersionRow, int]]:
        rows = self._ask(tenant_of(space), _RECORDED_ROWS, tenant, tenant_of(space), space, list(vers)) if vers else ()
        return [(VERSION.make(row[:-1]), row[-1]) for row in rows]

    def written_versions(self, tenant: int, vers: Sequence[int]) -> dict[int, WrittenRow]:
        rows = self._ask(tenant, _WRITTEN_VERSIONS, tenant, list(vers)) if vers else ()
        return {row[0]: WRITTEN_VERSION.make(row) for row in rows}

    def ids(self, space: int, low: bytes, high: bytes, tail: bytes, limit: int) -> list[bytes]:
        tenant = tenant_of(space)
        statement = (
            f'SELECT DISTINCT "id" FROM {SCHEMA}."version" WHERE "tenant" = %s AND "space" = %s AND "id" >= %s'
            ' AND "id" <= %s AND substr("id", %s::int) = %s ORDER BY "id" LIMIT %s'
        )
        bound = (tenant, space, low, high, 17 - len(tail), tail, limit)
        return [item for (item,) in self._ask(tenant, statement, *bound)]

    def covered(self, space: int, below: int, at: int) -> list[bytes]:
        tenant = tenant_of(space)
        statement = (
            f'SELECT DISTINCT v."id" FROM {SCHEMA}."version" v WHERE v."tenant" = %s AND v."space" = %s'
            f' AND v."seq_from" <= %s AND EXISTS (SELECT 1 FROM {SCHEMA}."version" b WHERE b."tenant" = v."tenant"'
            ' AND b."space" = %s AND b."id" = v."id")'
        )
        return [item for (item,) in self._ask(tenant, statement, tenant, space, at, below)]

    def visible(self, spaces: Sequence[int], items: Sequence[bytes] | None, walk: Walk) -> list[VersionRow]:
        if items is None:
            rows = [row for space in spaces for row in self._page(space, walk)]
            return sorted(rows, key=attrgetter("ver"), reverse=walk.newest)[: walk.limit]
        versions: list[VersionRow] = []
        for space in spaces if items else ():
            clauses, bound, kept = self._where(space, walk.where, walk.view)
            statement = f'SELECT {_V} FROM {SCHEMA}."version" v WHERE {" AND ".join(clauses)} AND v."id" = ANY(%s)'
            asked = self._ask(tenant_of(space), statement, *bound, list(items or ()))
            versions += [row for row in map(VersionRow._make, asked) if kept(row)]
        return sorted(versions, key=attrgetter("ver"))

    def count(self, spaces: Sequence[int], where: Filter, view: View) -> int:
        if where.slots:
            return super().count(spaces, where, view)
        counted = 0
        for space in spaces:
            clauses, bound, _ = self._where(space, where, view)
            statement = f'SELECT count(*) FROM {SCHEMA}."version" v WHERE {" AND ".join(clauses)}'
            counted += int(self._ask(tenant_of(space), statement, *bound)[0][0])
        return counted

    def expired(self, now: int, after: tuple[int, int], limit: int) -> list[tuple[int, int, int, bytes]]:
        statement = (
            f'SELECT "expires", {_PLACE}, "space", "id" FROM {SCHEMA}."version" WHERE "expires" > 0 AND "state" <> 3'
            f' AND "seq_to" = {FOREVER} AND "expires" <= %s AND ("expires", {_PLACE}) > (%s, %s)'
            f' ORDER BY "expires", {_PLACE} LIMIT %s'
        )
        return [(e, v, s, i) for e, v, s, i in self._ask(ACROSS, statement, now, *after, limit)]

    def shown_counts(self, spaces: Sequence[int], now: int) -> dict[int, int]:
        if not spaces:
            return {}
        homes = tenants_of(spaces)
        statement = (
            f'SELECT "space", count(*) FROM {SCHEMA}."version" WHERE "tenant" = ANY(%s) AND "space" = ANY(%s)'
            f' AND "state" = 1 AND "seq_to" = {FOREVER} AND ("expires" = 0 OR "expires" > %s) GROUP BY "space"'
        )
        counts = dict(self._ask(one_tenant(homes), statement, homes, list(spaces), now))
        return {space: counts.get(space, 0) for space in spaces}

    def shown_total(self, now: int) -> int:
        statement = (
            f'SELECT count(*) FROM {SCHEMA}."version" v JOIN {SCHEMA}."space" s ON s."home" = v."tenant"'
            ' AND s."id" = v."space" AND s."parent" = 0'
            f' WHERE v."state" = 1 AND v."seq_to" = {FOREVER} AND (v."expires" = 0 OR v."expires" > %s)'
        )
        return int(self._ask(ACROSS, statement, now)[0][0])

    def bearers(self, space: int, asked: Condition, after: int) -> list[int]:
        tenant = tenant_of(space)
        if asked.column in _WRITTEN:
            statement = (
                f'SELECT DISTINCT "ver" FROM {SCHEMA}."facet" WHERE "tenant" = %s AND "space" = %s AND "ver" > %s'
                ' AND "hash" = ANY(%s) ORDER BY "ver"'
            )
            return [ver for (ver,) in self._ask(tenant, statement, tenant, space, after, _facets_asked(asked))]
        clauses, bound, kept = self._conditions(space, [(asked,)])
        statement = (
            f'SELECT {_V} FROM {SCHEMA}."version" v WHERE {" AND ".join(clauses)} AND v."ver" > %s ORDER BY v."ver"'
        )
        rows = map(VersionRow._make, self._ask(tenant, statement, *bound, after))
        return [row.ver for row in rows if kept(row)]

    def entry_count(self, space: int, after: int, upto: int, most: int) -> int:
        tenant = tenant_of(space)
        statement = (
            f'SELECT count(*) FROM (SELECT 1 FROM {SCHEMA}."entry" WHERE "tenant" = %s AND "space" = %s'
            ' AND "ver" > %s AND "ver" <= %s LIMIT %s) e'
        )
        return int(self._ask(tenant, statement, tenant, space, after, upto, most)[0][0])

    def closed(self, space: int, after_seq: int) -> list[tuple[int, int]]:
        rows = self.relations.find(CLOSED_VERSIONS, ("seq_to", ">", after_seq), ("seq_to", "<", FOREVER), space=space)
        return [(ver, seq_to) for _, ver, seq_to in rows]

    def core(self, space: int, view: View, limit: int, reader: str | None) -> list[VersionRow]:
        at = FOREVER - 1 if view.at is None else view.at
        clauses, bound, _ = self._where(space, Filter(), view)
        for clause in sight_clauses(Filter(), reader):  # what is pinned is shown to everybody, whoever derived it
            seen = [self._compiled(tenant_of(space), condition) for condition in clause]
            clauses.append('(e."pinned" <> 0 OR ' + " OR ".join(alternative for alternative, _ in seen) + ")")
            bound += [value for _, values in seen for value in values]
        statement = (
            f'SELECT {_V} FROM {SCHEMA}."entry" e JOIN {SCHEMA}."version" v ON v."tenant" = e."tenant"'
            ' AND v."ver" = e."ver" WHERE e."tenant" = %s AND e."space" = %s AND e."seq_to" > %s AND e."part" = 0'
            ' AND (e."pinned" <> 0 OR e."kind" IN (6, 7)) AND '
            + " AND ".join(clauses)
            + ' ORDER BY e."kind" = %s, e."seq_from" DESC, e."ver" DESC LIMIT %s'
        )
        tenant = tenant_of(space)
        rows = self._ask(tenant, statement, tenant, space, at, *bound, kind_number(Kind.PROFILE), limit)
        return [VersionRow._make(row) for row in rows]

    def highest(self) -> int:
        """Where writing stands: 0 before the first version, then the oldest transaction that is not over."""
        statement = (
            'SELECT CASE WHEN EXISTS (SELECT 1 FROM mnemic."tenant" WHERE "vers" > 0)'
            " THEN pg_snapshot_xmin(pg_current_snapshot())::text::bigint ELSE 0 END"
        )
        return int(self._ask(ACROSS, statement)[0][0])

    def spaces_since(self, after: int) -> list[int]:
        """Find the spaces that a transaction has moved which was not over when writing stood at `after`."""
        statement = (
            f'SELECT s."id" FROM {SCHEMA}."tenant" t JOIN {SCHEMA}."space" s ON s."home" = t."id"'
            ' WHERE t."xid" >= %s AND s."xid" >= %s'
        )
        return [space for (space,) in self._ask(ACROSS, statement, after, after)]

    def drop_items(self, space: int, items: Sequence[bytes], links: Sequence[int], seq: int) -> int:
        tenant = tenant_of(space)
        counted = (
            f'SELECT count(*) FROM {SCHEMA}."version" WHERE "tenant" = %s AND "space" = %s AND "id" = ANY(%s::bytea[])'
        )
        versions = int(self._ask(tenant, counted, tenant, space, list(items))[0][0])
        bound = {"tenant": tenant, "space": space, "items": list(items), "links": list(links)}
        for statement in _ERASE_ITEMS:
            typed = statement.replace("%(items)s", "%(items)s::bytea[]").replace("%(links)s", "%(links)s::bigint[]")
            self._transaction.tell(tenant, typed, bound)
        buried = (
            f'INSERT INTO {SCHEMA}."tomb" ("tenant", "space", "item", "seq") SELECT %s, %s, i, %s'
            " FROM unnest(%s::bytea[]) i ON CONFLICT DO NOTHING"
        )
        self._transaction.tell(tenant, buried, (tenant, space, seq, list(items)))
        return versions

    def _page(self, space: int, walk: Walk) -> list[VersionRow]:
        """Read one space's page of versions by its entries, which lie in order of version, so that no more are read."""
        tenant = tenant_of(space)
        clauses, bound, kept = self._where(space, walk.where, walk.view)
        order = 'ORDER BY e."ver" DESC LIMIT %s' if walk.newest else 'ORDER BY e."ver" LIMIT %s'
        statement = (
            f'SELECT {_V} FROM {SCHEMA}."entry" e JOIN {SCHEMA}."version" v ON v."tenant" = e."tenant"'
            ' AND v."ver" = e."ver" WHERE e."tenant" = %s AND e."space" = %s AND e."part" = 0 AND e."ver" > %s'
            ' AND e."ver" < %s AND ' + " AND ".join(clauses) + f" {order}"
        )
        page: list[VersionRow] = []
        after, before = walk.after, walk.before
        while True:
            limit = min(walk.limit - len(page), FOREVER)
            rows = [*map(VersionRow._make, self._ask(tenant, statement, tenant, space, after, before, *bound, limit))]
            page += [row for row in rows if kept(row)]
            if len(rows) < limit or len(page) >= walk.limit:
                return page
            if walk.newest:
                before = rows[-1].ver
            else:
                after = rows[-1].ver

    def _where(
        self, space: int, where: Filter, view: View
    ) -> tuple[list[str], list[Any], Callable[[VersionRow], bool]]:
        """Compile what a filter and a view ask of the versions of a space, and what is asked of their bodies."""
        return self._conditions(space, conditions(view, where))

    def _conditions(
        self, space: int, asked: Iterable[Sequence[Condition]]
    ) -> tuple[list[str], list[Any], Callable[[VersionRow], bool]]:
        tenant = tenant_of(space)
        clauses: list[str] = ['v."tenant" = %s', 'v."space" = %s']
        bound: list[Any] = [tenant, space]
        slots: list[tuple[str, Any]] = []
        for clause in asked:
            if clause[0].column == "slots":
                ((name, value),) = clause[0].slots
                slots.append((name, value))
                reached = self.relations.first(LANE, space=space, name=slot_lane(name))
                clauses.append(f'(v."ver" > %s OR {_FACET}f."hash" = %s))')
                bound += [0 if reached is None else reached.cursor, tenant, slot_facet(name, value)]
                continue
            alternatives = []
            for condition in clause:
                alternative, values = self._compiled(tenant, condition)
                alternatives.append(alternative)
                bound += values
            clauses.append(f"({' OR '.join(alternatives)})" if len(clause) > 1 else alternatives[0])
        return clauses, bound, lambda row: all(_has_slot(row, name, value) for name, value in slots)

    def _compiled(self, tenant: int, condition: Condition) -> tuple[str, list[Any]]:
        """Compile a condition to SQL over `version v`, with the values that are bound to it."""
        column, values = f'v."{condition.column}"', [plain(number_of(value)) for value in condition.values]
        if condition.column in ("agent", "session"):
            return (
                f'{column} = (SELECT "id" FROM {SCHEMA}."name" WHERE "tenant" = v."tenant" AND "space" = v."space"'
                ' AND "text" = %s)',
                values,
            )
        if condition.column in _WRITTEN:
            return _FACET + 'f."hash" = ANY(%s))', [tenant, _facets_asked(condition)]
        if condition.operator == "IN":
            return (f"{column} = ANY(%s)", [values]) if len(values) > 1 else (f"{column} = %s", values)
        return f"{column} {condition.operator} %s", values


_V: Final = _listed(VERSION.columns, "v.")
_PLACE: Final = f'(("tenant" << {TENANT_BITS}) + "ver")'
"""A version's number among those of all tenants."""
_CLOSE_VERSIONS: Final = tuple(
    f'UPDATE {SCHEMA}."{table}" SET "seq_to" = %s WHERE "tenant" = %s AND "space" = %s AND "ver" = ANY(%s)'
    for table in ("version", "entry")
)
_WRITTEN_VERSIONS: Final = (
    f'SELECT {_listed(WRITTEN_VERSION.columns)} FROM {SCHEMA}."version" WHERE "tenant" = %s AND "ver" = ANY(%s)'
)
_RECORDED_ROWS: Final = (  # one trip, where the times of commits would be looked up after the versions
    "SELECT " + ", ".join(f'v."{name}"' for name in VERSION.columns) + ', coalesce(c."at", 0)'
    f' FROM {SCHEMA}."version" v LEFT JOIN {SCHEMA}."change" c ON c."tenant" = %s AND c."seq" = v."seq_from"'
    ' WHERE v."tenant" = %s AND v."space" = %s AND v."ver" = ANY(%s)'
)
_WRITTEN_LINKS: Final = (
    f'SELECT {_listed(WRITTEN_LINK.columns)} FROM {SCHEMA}."link" WHERE "tenant" = %s AND "lver" = ANY(%s)'
)
_FACET: Final = (
    # The tenant is bound once more: told by `v` alone, in an OR every partition would be planned and locked.
    f'EXISTS (SELECT 1 FROM {SCHEMA}."facet" f WHERE f."tenant" = %s AND f."space" = v."space"'
    ' AND f."ver" = v."ver" AND '
)
_WRITTEN: Final[Mapping[str, Callable[[str], bytes]]] = {"tags": tag_facet, "author": author_facet}
"""Facets that are written with their version, so that there is nothing past them."""


def _facets_asked(condition: Condition) -> list[bytes]:
    """The facets that a condition on tags or authors names."""
    return [_WRITTEN[condition.column](value) for value in condition.values if isinstance(value, str)]


def _has_slot(row: VersionRow, name: str, value: Any) -> bool:
    return slot_facet(name, value) in slot_facets(codec.read_body(row.body).wording.slots, (name,))


class PostgresLinks(PostgresGroup, LinkTables):
    """PostgreSQL's own statements about links."""

    def add_links(self, rows: Sequence[LinkRow]) -> int:
        for row in rows:
            tenant = tenant_of(row.space)
            self._transaction.tell(tenant, _CLOSE_LINK, (row.seq_from, tenant, row.space, row.src, row.dst, row.type))
        return self.relations.add(LINK, *[(None, *row[1:]) for row in rows])

    def link_rows(self, space: int, numbers: Sequence[int]) -> list[LinkRow]:
        return list(self.relations.find(LINK, ("lver", "in", numbers), order=("lver",), space=space))

    def written_links(self, tenant: int, lvers: Sequence[int]) -> dict[int, WrittenRow]:
        rows = self._ask(tenant, _WRITTEN_LINKS, tenant, list(lvers)) if lvers else ()
        return {row[0]: WRITTEN_LINK.make(row) for row in rows}

    def links_resting(self, space: int, items: Sequence[bytes]) -> list[LinkRow]:
        tenant = tenant_of(space)
        statement = (
            f'SELECT {_listed(LINK.columns)} FROM {SCHEMA}."link" WHERE "tenant" = %s AND "space" = %s AND {RESTING}'
            ' ORDER BY "lver"'
        )
        asked = {from_bytes(item) for item in items}
        rows = map(LINK.make, self._ask(tenant, statement, tenant, space))
        return [row for row in rows if not asked.isdisjoint(codec.decode_link(row).evidence)]


_CLOSE_LINK: Final = (
    f'UPDATE {SCHEMA}."link" SET "seq_to" = %s WHERE "tenant" = %s AND "space" = %s AND "src" = %s AND "dst" = %s'
    f' AND "type" = %s AND "seq_to" = {FOREVER}'
)


class PostgresVectors(PostgresGroup, VectorTables):
    """PostgreSQL's own statements about vectors and embedders."""

    def add_embedder(self, name: str, dims: int, state: Any) -> int:
        self._transaction.alone()
        return super().add_embedder(name, dims, state)

    def set_embedder(self, row: EmbedderRow) -> None:
        self._transaction.alone()
        super().set_embedder(row)

    def drop_embedder(self, model: int) -> None:
        self._transaction.alone()
        super().drop_embedder(model)

    def of_size(self, model: int, size: int) -> dict[int, int]:
        return dict(self._ask(ACROSS, _OF_SIZE, model, size))

    def add_vectors(self, space: int, model: int, vectors: Iterable[VectorRow]) -> int:
        rows = list(vectors)
        if not rows:
            return 0
        tenant = tenant_of(space)
        vers, parts, bodies = ([plain(value) for value in column] for column in zip(*rows, strict=True))
        ((count,),) = self._transaction.ask_writing(tenant, _ADD_VECTORS, (tenant, space, model, vers, parts, bodies))
        return int(count)

    def carry_vectors(self, home: int, space: int, moved: Sequence[tuple[int, int]]) -> None:
        if moved:
            tenant, (before, after) = tenant_of(space), zip(*moved, strict=True)
            self._transaction.tell(tenant, _CARRY_VECTORS, (tenant, space, list(before), list(after), tenant, home))

    def drop_vectors(self, model: int, limit: int) -> int:
        rows = self._ask(ACROSS, _SOME_VECTORS, model, limit)
        by_tenant: dict[int, list[tuple[int, int, int]]] = {}
        for tenant, *key in rows:
            by_tenant.setdefault(tenant, []).append((key[0], key[1], key[2]))
        for tenant, keys in by_tenant.items():
            spaces, vers, parts = (list(column) for column in zip(*keys, strict=True))
            self._transaction.tell(tenant, _DROP_VECTORS, (tenant, model, spaces, vers, parts))
        return len(rows)


_OF_SIZE: Final = (
    f'SELECT "space", count(*) FROM {SCHEMA}."vector" WHERE "model" = %s AND octet_length("f16") = %s GROUP BY "space"'
)
_ADD_VECTORS: Final = (
    f'WITH given AS (SELECT %s::bigint AS "tenant", %s::bigint AS "space", %s::bigint AS "model", g.*'
    ' FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[]) g("ver", "part", "f16")), kept AS ('
    f'INSERT INTO {SCHEMA}."vector" ("tenant", "space", "model", "ver", "part", "f16")'
    ' SELECT g."tenant", g."space", g."model", g."ver", g."part", g."f16" FROM given g'
    f' JOIN {SCHEMA}."entry" e ON e."tenant" = g."tenant" AND e."space" = g."space" AND e."ver" = g."ver"'
    ' AND e."part" = g."part"'
    ' ON CONFLICT ("tenant", "space", "model", "ver", "part") DO UPDATE SET "f16" = excluded."f16" RETURNING 1)'
    " SELECT count(*) FROM kept"
)
_CARRY_VECTORS: Final = (
    f'INSERT INTO {SCHEMA}."vector" ("tenant", "space", "model", "ver", "part", "f16")'
    ' SELECT %s, %s, v."model", m."after", v."part", v."f16" FROM unnest(%s::bigint[], %s::bigint[])'
    f' m("before", "after") JOIN {SCHEMA}."vector" v ON v."tenant" = %s AND v."space" = %s AND v."ver" = m."before"'
    f' AND v."model" IN (SELECT "id" FROM {SCHEMA}."embedder")'
)
_SOME_VECTORS: Final = f'SELECT "tenant", "space", "ver", "part" FROM {SCHEMA}."vector" WHERE "model" = %s LIMIT %s'
_DROP_VECTORS: Final = (
    f'DELETE FROM {SCHEMA}."vector" WHERE "tenant" = %s AND "model" = %s AND ("space", "ver", "part") IN'
    " (SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]))"
)


class PostgresPacks(PostgresGroup, PackTables):
    """PostgreSQL's own statements about packs."""

    def unpacked(self, least: int) -> list[int]:
        return [space for (space,) in self._ask(ACROSS, _UNPACKED, least, least)]

    def unsigned(self, model: int) -> dict[int, int]:
        statement = (
            f'SELECT p."space", sum(p."rows")::bigint FROM {SCHEMA}."pack" p WHERE p."model" = 0 AND NOT EXISTS'
            f' (SELECT 1 FROM {SCHEMA}."pack" q WHERE q."tenant" = p."tenant" AND q."space" = p."space"'
            ' AND q."model" = %s) GROUP BY p."space"'
        )
        return dict(self._ask(ACROSS, statement, model))

    def drop_packs(self, packs: Sequence[int]) -> None:
        by_tenant: dict[int, list[int]] = {}
        for pack in packs:
            by_tenant.setdefault(tenant_of(pack), []).append(pack)
        for own in by_tenant.values():
            self.relations.drop(PACK, ("id", "in", own))


_UNPACKED: Final = (
    f'SELECT s."id" FROM {SCHEMA}."space" s WHERE (s."user" IS NOT NULL OR s."shared" <> 0) AND (EXISTS'
    f' (SELECT 1 FROM {SCHEMA}."pack" p WHERE p."tenant" = s."home" AND p."space" = s."id" AND p."model" = 0'
    f' AND p."after" > 0 AND NOT EXISTS (SELECT 1 FROM {SCHEMA}."pack" q WHERE q."tenant" = p."tenant"'
    ' AND q."space" = p."space" AND q."model" = 0 AND q."upto" = p."after"))'
    f' OR (SELECT count(*) FROM (SELECT 1 FROM {SCHEMA}."entry" e WHERE e."tenant" = s."home" AND e."space" = s."id"'
    f' AND e."ver" > coalesce((SELECT max(p."upto") FROM {SCHEMA}."pack" p WHERE p."tenant" = s."home"'
    ' AND p."space" = s."id" AND p."model" = 0), 0) LIMIT %s) f) = %s) ORDER BY s."id"'
)


_DUE_SPACES: Final = f'SELECT "space" FROM {SCHEMA}."due" WHERE "name" = %s'


class PostgresLanes(PostgresGroup, LaneTables):
    """PostgreSQL's own statements about lanes and jobs."""

    def make_due(self, space: int) -> None:
        tenant = tenant_of(space)
        self._transaction.share()  # whoever begins to follow a lane waits for those who write: each sees the other
        self._transaction.tell(tenant, _MAKE_DUE, (tenant, space))

    def set_followed(self, name: str, upto: int) -> None:
        self._transaction.alone()
        super().set_followed(name, upto)

    def due_spaces(self, name: str, now: int, *, resting: bool) -> DueSpaces:
        """Ask all of it in one trip; of spaces that are due few columns, and no more than there are."""
        send, rows_of = self._transaction.send, self._transaction.rows_of
        upto = send(ACROSS, f'SELECT "upto" FROM {SCHEMA}."followed" WHERE "name" = %s', (name,))
        awake = send(ACROSS, f'{_DUE_SPACES} AND "at" <= %s', (name, min(now, RESTS - 1)))
        later = send(ACROSS, f'{_DUE_SPACES} AND "at" > %s AND "at" < %s LIMIT 1', (name, now, RESTS))
        rests = send(ACROSS, f'{_DUE_SPACES} AND "at" = %s', (name, RESTS)) if resting else None
        if rows_of(upto) != [(FOREVER,)]:
            return DueSpaces(False, [], [], False)
        return DueSpaces(
            True,
            sorted(space for (space,) in rows_of(awake)),
            sorted(space for (space,) in rows_of(rests)) if rests is not None else [],
            now < FOREVER and bool(rows_of(later)),
        )

    def lane_and_newest(self, space: int, name: str) -> tuple[Lane, int]:
        tenant = tenant_of(space)
        ((newest, *row),) = self._ask(tenant, _LANE_AND_NEWEST, tenant, space, tenant, space, name)
        return (Lane(space=space, name=name) if row[0] is None else LANE.make(tuple(row))), newest

    def waiting(self, name: str, spaces: Sequence[int]) -> list[tuple[int, int, int]]:
        if not spaces:
            return []
        homes = tenants_of(spaces)
        return [(s, d, n) for s, d, n in self._ask(one_tenant(homes), _WAITING, name, homes, list(spaces))]

    def pending(self, waiting: Sequence[tuple[int, int, int]]) -> dict[int, int]:
        if not waiting:
            return {}
        spaces, cursors, _ = (list(column) for column in zip(*waiting, strict=True))
        homes = tenants_of(spaces)
        statement = (
            'SELECT w."space", (SELECT count(*) FROM mnemic."entry" e WHERE e."tenant" = w."home"'
            ' AND e."space" = w."space" AND e."ver" > w."cursor")'
            ' FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) w("home", "space", "cursor")'
        )
        of = [tenant_of(space) for space in spaces]
        return dict(self._ask(one_tenant(homes), statement, of, spaces, cursors))

    def drop_due(self, name: str, spaces: Sequence[int]) -> None:
        by_tenant: dict[int, list[int]] = {}
        for space in spaces:
            by_tenant.setdefault(tenant_of(space), []).append(space)
        for own in by_tenant.values():
            super().drop_due(name, own)

    def failing_lanes(self) -> list[str]:
        statement = f'SELECT DISTINCT "name" FROM {SCHEMA}."lane" WHERE "error" <> \'\' ORDER BY "name"'
        return [name for (name,) in self._ask(ACROSS, statement)]

    def leased(self, tenant: int) -> list[tuple[str, int]]:
        statement = (
            f'SELECT l."name", l."seq" FROM {SCHEMA}."lane" l JOIN {SCHEMA}."space" s ON s."home" = l."tenant"'
            ' AND s."id" = l."space" AND s."tenant" = %s WHERE l."tenant" = %s AND l."owner" <> \'\' AND l."seq" <> 0'
        )
        return [(name, seq) for name, seq in self._ask(tenant, statement, tenant, tenant)]

    def job_counts(self) -> dict[int, int]:
        return dict(self._ask(ACROSS, f'SELECT "state", count(*) FROM {SCHEMA}."job" GROUP BY "state"'))

    def dead_counts(self, name: str) -> dict[bytes, int]:
        statement = (
            f'SELECT "payload", count(*) FROM {SCHEMA}."job" WHERE "state" = %s AND "name" = %s GROUP BY "payload"'
        )
        return dict(self._ask(ACROSS, statement, int(JobState.DEAD), name))

    def due_job(self, names: Sequence[str], now: int) -> Job | None:
        while names:
            due_jobs = [JOB.make(row) for row in self._ask(ACROSS, _DUE_JOB, list(names), now, now)]
            if not due_jobs or not self._transaction.writes:
                return due_jobs[0] if due_jobs else None
            (job,) = due_jobs
            # Its tenant is locked by now. Somebody may have been quicker; then there may be another.
            again = self._ask(tenant_of(job.id), _DUE_JOB_AGAIN, tenant_of(job.id), job.id, now, now)
            if again:
                return JOB.make(again[0])
        return None


_MAKE_DUE: Final = (
    f'INSERT INTO {SCHEMA}."due" ("tenant", "name", "space", "at") SELECT %s, "name", %s, 0'
    f' FROM {SCHEMA}."followed" ON CONFLICT ("tenant", "space", "name") DO UPDATE SET "at" = 0 WHERE due."at" <> 0'
)
_LANE_AND_NEWEST: Final = (
    f'SELECT s.newest, {_listed(LANE.columns, "l.")} FROM (SELECT coalesce((SELECT max("ver") FROM {SCHEMA}."entry"'
    ' WHERE "tenant" = %s AND "space" = %s), 0) AS newest) s'
    f' LEFT JOIN {SCHEMA}."lane" l ON l."tenant" = %s AND l."space" = %s AND l."name" = %s'
)
_WAITING: Final = (
    f'SELECT * FROM (SELECT s."id", coalesce(l."cursor", 0) AS done, coalesce((SELECT max(e."ver")'
    f' FROM {SCHEMA}."entry" e WHERE e."tenant" = s."home" AND e."space" = s."id"), 0) AS newest'
    f' FROM {SCHEMA}."space" s LEFT JOIN {SCHEMA}."lane" l ON l."tenant" = s."home" AND l."space" = s."id"'
    ' AND l."name" = %s WHERE s."home" = ANY(%s) AND s."id" = ANY(%s)'
    ' AND (s."user" IS NOT NULL OR s."shared" <> 0) AND s."lanes" <> 0) w WHERE newest > done ORDER BY "id"'
)
_DUE_JOB: Final = (
    f'SELECT {_listed(JOB.columns)} FROM {SCHEMA}."job" WHERE "name" = ANY(%s)'
    f' AND NOT EXISTS (SELECT 1 FROM {SCHEMA}."tenant" t WHERE t."id" = job."tenant" AND t."gone" IS NOT NULL)'
    ' AND "state" = 1 AND (greatest("not_before", "lease_until") <= %s OR "leased" > %s)'
    ' ORDER BY "priority" DESC, "id" LIMIT 1'
)
_DUE_JOB_AGAIN: Final = (
    f'SELECT {_listed(JOB.columns)} FROM {SCHEMA}."job" WHERE "tenant" = %s AND "id" = %s'
    ' AND "state" = 1 AND (greatest("not_before", "lease_until") <= %s OR "leased" > %s)'
)


class PostgresSessions(PostgresGroup, SessionTables):
    """PostgreSQL's own statements about pages."""

    def session_counts(self, now: int) -> tuple[int, int]:
        statement = (
            f'SELECT count(*), count(*) FILTER (WHERE "owner" <> \'\' AND "lease_until" > %s) FROM {SCHEMA}."session"'
        )
        ((known, opened),) = self._ask(ACROSS, statement, now)
        return known, opened

    def pages_at_hand(self, space: int, session: int) -> list[PageRow]:
        tenant = tenant_of(space)
        statement = (
            f'SELECT {_listed(PAGE.columns)} FROM {SCHEMA}."page" WHERE "tenant" = %s AND "space" = %s'
            ' AND "session" = %s AND ("resident" <> 0 OR ("segment" < 0 AND "position" >= 0))'
        )
        return in_order(map(PAGE.make, self._ask(tenant, statement, tenant, space, session)))


def postgres_rows(transaction: ServerTransaction, clock: Clock, entropy: Entropy) -> Rows:
    """Make the rows of a transaction."""
    relations = PostgresRelations(transaction)
    return rows_of(
        relations, PostgresSpaces(relations), PostgresNames(relations), PostgresJournal(relations),
        PostgresLanes(relations), clock, entropy,
    )  # fmt: skip


def rows_of(
    relations: PostgresRelations,
    spaces: PostgresSpaces,
    names: PostgresNames,
    journal: PostgresJournal,
    lanes: PostgresLanes,
    clock: Clock,
    entropy: Entropy,
) -> Rows:
    """Rows with these groups, and the others as they come."""
    return Rows(
        spaces=spaces,
        names=names,
        journal=journal,
        items=PostgresItems(relations),
        links=PostgresLinks(relations),
        vectors=PostgresVectors(relations),
        packs=PostgresPacks(relations),
        lanes=lanes,
        sessions=PostgresSessions(relations),
        past=PostgresPast(relations),
        notes=NoteTables(relations),
        clock=clock,
        entropy=entropy,
    )
