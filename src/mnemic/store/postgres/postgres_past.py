"""Finds and deletes rows behind the horizon or after a commit in PostgreSQL, by index or in short stretches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

from mnemic.core.ids import from_bytes, to_bytes
from mnemic.core.items import State
from mnemic.errors import StoreCorrupt
from mnemic.store.engine import codec
from mnemic.store.engine.relations import LINK
from mnemic.store.engine.rows import PastTables
from mnemic.store.postgres.postgres_relations import PostgresGroup, one_tenant, tenants_of
from mnemic.store.postgres.postgres_schema import FOREVER, SCHEMA, tenant_of
from mnemic.store.values.heads import VersionCounts
from mnemic.store.values.row_values import BEHIND, CompactionLink, CompactionVersion, Cursor, EntryNames, LinkRow, Page

T = TypeVar("T")

STRETCH: Final = 1_000
"""Most rows that one look walks over, where no index leads to what is asked for."""


class PostgresPast(PostgresGroup, PastTables):
    """Finds and deletes in PostgreSQL what compaction and going back take out."""

    def closed_versions(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[CompactionVersion]:
        rows = self._versions(space, _CLOSED_VERSIONS, space, horizon, *after, limit)
        return _paged(rows, limit, lambda row: (row.seq_to, row.ver))

    def retired_versions(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[CompactionVersion]:
        rows = self._versions(space, _RETIRED_VERSIONS, space, horizon, *after, limit)
        return _paged(rows, limit, lambda row: (row.seq_from, row.ver))

    def versions_of(self, space: int, items: Sequence[bytes]) -> list[CompactionVersion]:
        return self._versions(space, _VERSIONS_OF, space, list(items)) if items else []

    def _versions(self, space: int, statement: str, *bound: Any) -> list[CompactionVersion]:
        tenant = tenant_of(space)
        return [_version(row) for row in self._ask(tenant, statement, tenant, *bound)]

    def closed_links(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[CompactionLink]:
        tenant = tenant_of(space)
        bound = (tenant, space, horizon, horizon, *after, limit)
        rows = [CompactionLink(*row) for row in self._ask(tenant, _CLOSED_LINKS, *bound)]
        return _paged(rows, limit, lambda row: (row.seq_from, row.lver))

    def links_among(self, spaces: Sequence[int], items: Sequence[bytes]) -> list[CompactionLink]:
        if not spaces or not items:
            return []
        homes = tenants_of(spaces)
        rows = self._ask(one_tenant(homes), _LINKS_AMONG, homes, list(spaces), list(items), list(items))
        return [CompactionLink(*row) for row in rows]

    def cited(self, spaces: Sequence[int], items: Sequence[bytes], *, live: bool = False) -> set[bytes]:
        if not spaces or not items:
            return set()
        homes = tenants_of(spaces)
        statement = _CITERS + (f' AND v."seq_to" = {FOREVER} AND v."state" <> 3' if live else "")
        cited_items: set[bytes] = set()
        for source, body in self._ask(one_tenant(homes), statement, homes, list(spaces), list(items)):
            if source not in cited_items and from_bytes(source) in _cited_by(body)[1]:
                cited_items.add(source)
        return cited_items

    def linked(self, spaces: Sequence[int], horizon: int, items: Sequence[bytes]) -> set[bytes]:
        if not spaces or not items:
            return set()
        homes, asked = tenants_of(spaces), list(items)
        bound = (homes, list(spaces), asked, horizon, horizon)
        return {
            bytes(item)
            for statement in (_LINKED_FROM, _LINKED_TO)
            for (item,) in self._ask(one_tenant(homes), statement, *bound)
        }

    def entry_names(self, space: int, after: int) -> EntryNames:
        tenant = tenant_of(space)
        rows = self._ask(tenant, _ENTRY_STRETCH, tenant, space, after, STRETCH)
        upto = rows[-1][0] if rows else after
        names = {name for _, *both in rows for name in both}
        return EntryNames(names, len(rows), upto, len(rows) == STRETCH)

    def link_uses(self, tenant: int, after: int) -> tuple[set[int], set[bytes], int, bool]:
        rows = [LINK.make(row) for row in self._ask(tenant, _LINK_STRETCH, tenant, after, STRETCH)]
        types, evidence = _uses(rows, standing=True)
        return types, evidence, rows[-1].lver if rows else after, len(rows) == STRETCH

    def link_uses_since(self, tenant: int, seq: int) -> tuple[set[int], set[bytes]]:
        return _uses(map(LINK.make, self._ask(tenant, _LINKS_SINCE, tenant, tenant, seq)), standing=False)

    def drop_versions(self, tenant: int, horizon: int, versions: Sequence[CompactionVersion]) -> None:
        if not versions:
            return
        by_space: dict[int, list[int]] = {}
        for row in versions:
            by_space.setdefault(row.space, []).append(row.ver)
        for space, vers in by_space.items():
            for statement in _DROP_VERSIONS:
                self._transaction.tell(tenant, statement, {"tenant": tenant, "space": space, "vers": vers})
        self.drop_events(tenant, horizon, [(row.seq_from, row.n) for row in versions])

    def drop_links(self, tenant: int, horizon: int, links: Sequence[CompactionLink]) -> None:
        if links:
            statement = f'DELETE FROM {SCHEMA}."link" WHERE "tenant" = %s AND "lver" = ANY(%s)'
            self._transaction.tell(tenant, statement, (tenant, [row.lver for row in links]))
            self.drop_events(tenant, horizon, [(row.seq_from, row.n) for row in links])

    def drop_traces(self, spaces: Sequence[int], items: Sequence[bytes]) -> None:
        for tenant in tenants_of(spaces) if items else ():
            own = [space for space in spaces if tenant_of(space) == tenant]
            for statement in _DROP_TRACES:
                self._transaction.tell(tenant, statement, (tenant, own, list(items)))

    def drop_after(self, tenant: int, seq: int) -> int:
        bound = {"tenant": tenant, "seq": seq}
        ((versions,),) = self._transaction.ask(
            tenant,
            f'SELECT count(*) FROM {SCHEMA}."version" WHERE "tenant" = %(tenant)s AND "seq_from" > %(seq)s',
            bound,
        )
        for statement in _DROP_AFTER:
            self._transaction.tell(tenant, statement, bound)
        last = self._ask(tenant, _LAST_CHANGE, tenant)
        head = self._transaction.moved_head(tenant)
        head.seq, head.at, head.hash = last[0] if last else (0, 0, bytes(32))
        return int(versions)

    def version_counts(self, spaces: Sequence[int]) -> VersionCounts:
        if not spaces:
            return VersionCounts(0, 0, 0)
        homes = tenants_of(spaces)
        ((every, closed, retired),) = self._ask(one_tenant(homes), _VERSION_COUNTS, homes, list(spaces))
        return VersionCounts(every, closed, retired)

    def bare_events(self, tenant: int, horizon: int, after: Cursor, limit: int) -> Page[Cursor]:
        rows = self._ask(tenant, _BARE_EVENTS, tenant, horizon, *after, limit)
        return _paged([(seq, n) for seq, n in rows], limit, lambda key: key)

    def actors(self, tenant: int, after: int) -> tuple[set[int], int, bool]:
        rows = self._ask(tenant, _CHANGE_STRETCH, tenant, after, STRETCH)
        upto = rows[-1][0] if rows else after
        named = list({(space, actor) for _, space, actor in rows})
        actors_left: set[int] = set()
        if named:
            spaces, numbers = (list(column) for column in zip(*named, strict=True))
            actors_left = {name for (name,) in self._ask(tenant, _ACTORS, tenant, spaces, numbers)}
        return actors_left, upto, len(rows) == STRETCH

    def drop_events(self, tenant: int, horizon: int, events: Iterable[tuple[int, int]]) -> None:
        keys = list(events)
        if not keys:
            return
        seqs, places = (list(column) for column in zip(*keys, strict=True))
        ((gone,),) = self._transaction.ask_writing(tenant, _DROP_EVENTS, (tenant, seqs, places))
        counted = self._ask(tenant, f'SELECT "value" FROM {SCHEMA}."memo" WHERE "tenant" = %s AND "name" = %s',
                            tenant, BEHIND)  # fmt: skip
        for (value,) in counted:
            left = b"%d" % (int(value) - gone)
            statement = f'UPDATE {SCHEMA}."memo" SET "value" = %s WHERE "tenant" = %s AND "name" = %s'
            self._transaction.tell(tenant, statement, (left, tenant, BEHIND))
        self.drop_changes(tenant, horizon, dict.fromkeys(seqs))

    def drop_changes(self, tenant: int, horizon: int, seqs: Iterable[int]) -> None:
        self._transaction.tell(tenant, _DROP_CHANGES, (tenant, list(seqs), horizon))


def _paged(rows: list[T], limit: int, place: Callable[[T], Cursor]) -> Page[T]:
    ordered = sorted(rows, key=place)
    return ordered, place(ordered[-1]) if len(ordered) == limit else None


def _cited_by(body: bytes) -> tuple[bool, frozenset[str]]:
    """Whether what a body says is pinned, and what it may have words from; nothing where it cannot be read."""
    with suppress(StoreCorrupt):  # which `verify` tells
        read = codec.read_body(bytes(body))
        return read.pinned, frozenset((*read.source, *read.context))
    return False, frozenset()


def _version(row: tuple[Any, ...]) -> CompactionVersion:
    ver, space, item, seq_from, seq_to, n, session, state, body = row
    pinned, cited = _cited_by(body)
    erased_with = tuple(map(to_bytes, sorted(cited)))
    return CompactionVersion(
        ver, space, item, seq_from, seq_to, n, session, state == State.RETIRED, pinned, erased_with
    )


def _uses(rows: Iterable[LinkRow], *, standing: bool) -> tuple[set[int], set[bytes]]:
    """The types of links and the items that are their evidence; `standing`: only of those that stand."""
    types, evidence = set[int](), set[bytes]()
    for row in rows:
        types.add(row.type)
        if b'"evidence"' in row.body and (not standing or (row.open and row.seq_to == FOREVER)):
            evidence.update(map(to_bytes, codec.decode_link(row).evidence))
    return types, evidence


_VERSION: Final = (
    f'SELECT "ver", "space", "id", "seq_from", "seq_to", "n", "session", "state", "body" FROM {SCHEMA}."version"'
    ' WHERE "tenant" = %s AND "space" = %s AND '
)
_CLOSED_VERSIONS: Final = (
    _VERSION + f'"seq_to" < {FOREVER} AND "seq_to" <= %s AND ("seq_to", "ver") > (%s, %s)'
    ' ORDER BY "seq_to", "ver" LIMIT %s'
)
_RETIRED_VERSIONS: Final = (
    _VERSION + f'"state" = 3 AND "seq_to" = {FOREVER} AND "seq_from" <= %s AND ("seq_from", "ver") > (%s, %s)'
    ' ORDER BY "seq_from", "ver" LIMIT %s'
)
_VERSIONS_OF: Final = _VERSION + '"id" = ANY(%s)'
_LINK: Final = f'SELECT "lver", "space", "src", "dst", "seq_from", "n" FROM {SCHEMA}."link" WHERE '
_CLOSED_LINKS: Final = (
    _LINK + f'"tenant" = %s AND "space" = %s AND ("open" = 0 OR "seq_to" < {FOREVER}) AND "seq_from" <= %s'
    f' AND ("seq_to" <= %s OR ("open" = 0 AND "seq_to" = {FOREVER})) AND ("seq_from", "lver") > (%s, %s)'
    ' ORDER BY "seq_from", "lver" LIMIT %s'
)
_LINKS_AMONG: Final = _LINK + '"tenant" = ANY(%s) AND "space" = ANY(%s) AND ("src" = ANY(%s) OR "dst" = ANY(%s))'
_CITERS: Final = (
    f'SELECT d."source", v."body" FROM {SCHEMA}."derived" d JOIN {SCHEMA}."version" v ON v."tenant" = d."tenant"'
    ' AND v."space" = d."space" AND v."id" = d."item"'
    ' WHERE d."tenant" = ANY(%s) AND d."space" = ANY(%s) AND d."source" = ANY(%s)'
)
# What the journal still tells of keeps both ends; what something live points to stays.
_LINKED_FROM: Final = (
    f'SELECT DISTINCT l."src" FROM {SCHEMA}."link" l WHERE l."tenant" = ANY(%s) AND l."space" = ANY(%s)'
    f' AND l."src" = ANY(%s) AND (l."seq_from" > %s OR (l."seq_to" > %s AND l."seq_to" < {FOREVER}))'
)
_LINKED_TO: Final = (
    f'SELECT DISTINCT l."dst" FROM {SCHEMA}."link" l WHERE l."tenant" = ANY(%s) AND l."space" = ANY(%s)'
    f' AND l."dst" = ANY(%s) AND (l."seq_from" > %s OR (l."seq_to" > %s AND l."seq_to" < {FOREVER})'
    f' OR (l."open" <> 0 AND l."seq_to" = {FOREVER} AND l."src" <> l."dst" AND EXISTS'
    f' (SELECT 1 FROM {SCHEMA}."version" v WHERE v."tenant" = l."tenant" AND v."space" = l."space"'
    f' AND v."id" = l."src" AND v."seq_to" = {FOREVER} AND v."state" <> 3)))'
)
_BARE_EVENTS: Final = (
    f'SELECT "seq", "n" FROM {SCHEMA}."event" WHERE "tenant" = %s AND "ver" = 0 AND "lver" = 0 AND "seq" <= %s'
    ' AND ("seq", "n") > (%s, %s) ORDER BY "seq", "n" LIMIT %s'
)
_OF: Final = '"tenant" = %(tenant)s AND "space" = %(space)s'
_DROP_VERSIONS: Final = (
    f'DELETE FROM {SCHEMA}."pack" p WHERE {_OF} AND EXISTS'
    ' (SELECT 1 FROM unnest(%(vers)s::bigint[]) j WHERE j > p."after" AND j <= p."upto")',
    f'DELETE FROM {SCHEMA}."entry" WHERE {_OF} AND "ver" = ANY(%(vers)s)',
    f'DELETE FROM {SCHEMA}."facet" WHERE {_OF} AND "ver" = ANY(%(vers)s)',
    f'DELETE FROM {SCHEMA}."vector" WHERE {_OF} AND "ver" = ANY(%(vers)s)'
    f' AND "model" IN (SELECT "id" FROM {SCHEMA}."embedder")',
    f'DELETE FROM {SCHEMA}."version" WHERE {_OF} AND "ver" = ANY(%(vers)s)',
)
_DROP_EVENTS: Final = (
    f'WITH gone AS (DELETE FROM {SCHEMA}."event" WHERE "tenant" = %s AND ("seq", "n") IN'
    " (SELECT * FROM unnest(%s::bigint[], %s::bigint[])) RETURNING 1) SELECT count(*) FROM gone"
)
# The horizon's own commit stays, so that a moment after it can be told from one before it.
_DROP_CHANGES: Final = (
    f'DELETE FROM {SCHEMA}."change" c WHERE c."tenant" = %s AND c."seq" = ANY(%s::bigint[]) AND c."seq" < %s'
    f' AND NOT EXISTS (SELECT 1 FROM {SCHEMA}."event" e WHERE e."tenant" = c."tenant" AND e."seq" = c."seq")'
)
_DROP_TRACES: Final = tuple(
    f'DELETE FROM {SCHEMA}."{table}" WHERE "tenant" = %s AND "space" = ANY(%s) AND "{column}" = ANY(%s)'
    for table, column in (("strength", "id"), ("derived", "source"), ("page", "item"))
)
_ENTRY_STRETCH: Final = (
    f'SELECT "ver", "agent", "session" FROM {SCHEMA}."entry" WHERE "tenant" = %s AND "space" = %s AND "ver" > %s'
    ' ORDER BY "ver" LIMIT %s'
)
_LINK_COLUMNS: Final = ", ".join(f'l."{column}"' for column in LINK.columns)
_LINK_STRETCH: Final = (
    f'SELECT {_LINK_COLUMNS} FROM {SCHEMA}."link" l WHERE l."tenant" = %s AND l."lver" > %s ORDER BY l."lver" LIMIT %s'
)
_LINKS_SINCE: Final = (
    f'SELECT {_LINK_COLUMNS} FROM {SCHEMA}."event" j JOIN {SCHEMA}."link" l ON l."tenant" = %s'
    ' AND l."lver" = j."lver" WHERE j."tenant" = %s AND j."seq" > %s AND j."lver" <> 0'
)
_CHANGE_STRETCH: Final = (
    f'SELECT "seq", "space", "actor" FROM {SCHEMA}."change" WHERE "tenant" = %s AND "seq" > %s ORDER BY "seq" LIMIT %s'
)
_ACTORS: Final = (
    f'SELECT n."id" FROM {SCHEMA}."name" n WHERE n."tenant" = %s AND (n."space", n."number") IN'
    " (SELECT * FROM unnest(%s::bigint[], %s::bigint[]))"
)
_VERSION_COUNTS: Final = (
    f'SELECT count(*), count(*) FILTER (WHERE "seq_to" < {FOREVER}),'
    f' count(*) FILTER (WHERE "state" = 3 AND "seq_to" = {FOREVER}) FROM {SCHEMA}."version"'
    ' WHERE "tenant" = ANY(%s) AND "space" = ANY(%s)'
)
_LAST_CHANGE: Final = (
    f'SELECT "seq", "at", "hash" FROM {SCHEMA}."change" WHERE "tenant" = %s ORDER BY "seq" DESC LIMIT 1'
)
_HERE: Final = '"tenant" = %(tenant)s'
_LATER: Final = f'SELECT v."ver" FROM {SCHEMA}."version" v WHERE v."tenant" = %(tenant)s AND v."seq_from" > %(seq)s'
_FIRST_SEEN: Final = (
    f'FROM {SCHEMA}."version" v WHERE v."tenant" = %(tenant)s AND v."seq_from" > %(seq)s AND NOT EXISTS'
    f' (SELECT 1 FROM {SCHEMA}."version" w WHERE w."tenant" = %(tenant)s AND w."space" = v."space"'
    ' AND w."id" = v."id" AND w."seq_from" <= %(seq)s)'
)
_OPENED: Final = f'"seq_to" > %(seq)s AND "seq_to" < {FOREVER}'
_WENT_ON: Final = _HERE + ' AND "seq" > %(seq)s'


def _gone(table: str, alias: str, rest: str) -> str:
    return f'DELETE FROM {SCHEMA}."{table}" {alias} WHERE {alias}."tenant" = %(tenant)s AND {rest}'


_DROP_AFTER: Final = (
    # One that was made before knows of no version written since, and of none closed since.
    _gone("pack", "t", 't."seq" > %(seq)s'),
    _gone("vector", "t", f't."model" IN (SELECT "id" FROM {SCHEMA}."embedder") AND t."ver" IN ({_LATER})'),
    _gone("job", "t", f't."ver" <> 0 AND t."ver" IN ({_LATER})'),
    _gone("entry", "t", f't."ver" IN ({_LATER})'),
    _gone("facet", "t", f't."ver" IN ({_LATER})'),
    _gone("page", "t", f't."item" IN (SELECT v."id" {_FIRST_SEEN})'),
    _gone(
        "page", "t",
        f't."session" IN (SELECT s."session" FROM {SCHEMA}."session" s'
        ' WHERE s."tenant" = %(tenant)s AND s."seq" > %(seq)s AND s."space" = t."space")',
    ),
    _gone(
        "derived", "t",
        f'NOT EXISTS (SELECT 1 FROM {SCHEMA}."version" v WHERE v."tenant" = %(tenant)s AND v."space" = t."space"'
        ' AND v."id" = t."item" AND v."seq_from" <= %(seq)s)',
    ),
    # How often something was shown has no past: it goes with what was not there yet.
    _gone(
        "strength", "t",
        't."useful" <= 0 AND t."harms" <= 0 AND (t."uses" <= 0 OR (t."space", t."id") IN'
        f' (SELECT v."space", v."id" {_FIRST_SEEN}))',
    ),
    # The key of an import that was erased stays, so that the same import run again brings nothing back.
    _gone(
        "idem", "t",
        f't."seq" > %(seq)s AND NOT (t."lasting" <> 0 AND EXISTS (SELECT 1 FROM {SCHEMA}."tomb" b'
        ' WHERE b."tenant" = %(tenant)s AND b."space" = t."space" AND b."item" = t."item"))',
    ),
    _gone("version", "t", 't."seq_from" > %(seq)s'),
    *(
        f'UPDATE {SCHEMA}."{table}" SET "seq_to" = {FOREVER} WHERE {_HERE} AND {_OPENED}'
        for table in ("version", "entry")
    ),
    _gone("link", "t", 't."seq_from" > %(seq)s'),
    f'UPDATE {SCHEMA}."link" SET "seq_to" = {FOREVER} WHERE {_HERE} AND {_OPENED}',
    _gone(
        "session", "t",
        f't."seq" > %(seq)s AND NOT EXISTS (SELECT 1 FROM {SCHEMA}."version" v WHERE v."tenant" = %(tenant)s'
        ' AND v."space" = t."space" AND v."session" = t."session")',
    ),
    # Its window as it was is not known: it is made again from its last turns, by whoever opens it next.
    f'UPDATE {SCHEMA}."session" SET "owner" = \'\', "lease_until" = 0, "clock" = 0, "turns" = 0, "seq" = 0'
    f" WHERE {_WENT_ON}",
    _gone("event", "t", 't."seq" > %(seq)s'),
    _gone("change", "t", 't."seq" > %(seq)s'),
    _gone(
        "name", "t",
        f'NOT EXISTS (SELECT 1 FROM {SCHEMA}."version" v WHERE v."tenant" = %(tenant)s AND v."space" = t."space"'
        ' AND (v."agent" = t."id" OR v."session" = t."id"))'
        f' AND NOT EXISTS (SELECT 1 FROM {SCHEMA}."link" l WHERE l."tenant" = %(tenant)s AND l."space" = t."space"'
        ' AND l."type" = t."id")'
        f' AND NOT EXISTS (SELECT 1 FROM {SCHEMA}."session" s WHERE s."tenant" = %(tenant)s'
        ' AND s."space" = t."space" AND s."session" = t."id")'
        f' AND (t."space", t."number") NOT IN (SELECT c."space", c."actor" FROM {SCHEMA}."change" c'
        ' WHERE c."tenant" = %(tenant)s)',
    ),
)  # fmt: skip
"""In this order: what is found through a version goes before it."""
