"""The tables of a PostgreSQL store: every key led by the tenant, the large ones in partitions, and the walls on each.

Erasing is generated from this declaration, as it is in SQLite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

FORMAT: Final = 2
"""The number of this format; an older database is migrated, a newer one refused."""
SCHEMA: Final = "mnemic"
"""The schema that all tables lie in."""
PARTITIONS: Final = 16
"""Of each large table: with seven of them a connection keeps 4 MB of what it knows of tables, with 64 it is 16 MB."""
OLDEST: Final = 15
"""The major version of PostgreSQL that is the oldest served."""
TENANT_BITS: Final = 36
"""The number of a space, a name, a job or a pack holds the tenant above so many bits, and the tenant's own count below:
whoever has it knows the tenant. Versions, links and holds are numbered from 1 in each tenant."""

_TYPES: Final[Mapping[str, str]] = {
    "i": "bigint", "t": 'text COLLATE "C"', "b": "bytea", "f": "double precision",
}  # fmt: skip
CASTS: Final[Mapping[str, str]] = {"i": "bigint[]", "t": "text[]", "b": "bytea[]", "f": "double precision[]"}
"""What an array of a column's values is."""


def tenant_of(number: int) -> int:
    """The tenant of a row, from the number that the store gave it."""
    return number >> TENANT_BITS


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column: its type (`i`, `t`, `b`, `f`), and whether a row may be without a value."""

    name: str
    type: str
    nullable: bool = False

    @property
    def declaration(self) -> str:
        return f'"{self.name}" {_TYPES[self.type]}' + ("" if self.nullable else " NOT NULL")


@dataclass(frozen=True, slots=True)
class WalledTable:
    """A table, and the statements that erase some items' or one space's rows from it.

    Attributes:
        wall: The column with the tenant, by which rows are walled off; "" for a table of the whole store.
        carriers: Columns that tell the tenant: `=` where the value is its number, `>` where it is a number that holds
            it (`tenant_of`).
        counter: The column of `tenant` that counts the numbers given out here.
        key: What tells rows apart, behind the tenant.
        beside: Whether the wall is a column of its own, which no relation names.
    """

    name: str
    columns: tuple[TableColumn, ...]
    key: tuple[str, ...]
    wall: str = "tenant"
    beside: bool = True
    carriers: tuple[tuple[str, str], ...] = (("space", ">"),)
    counter: str = ""
    large: bool = False
    extra: tuple[str, ...] = ()
    erase_items: str = ""
    erase_space: str = ""

    @property
    def full_name(self) -> str:
        return f'{SCHEMA}."{self.name}"'

    @property
    def all_columns(self) -> tuple[TableColumn, ...]:
        return (TableColumn(self.wall, "i"), *self.columns) if self.wall and self.beside else self.columns

    @property
    def keyed_by(self) -> tuple[str, ...]:
        led = (self.wall,) if self.wall and self.wall not in self.key else ()
        return (*led, *self.key)

    def create(self) -> Iterator[str]:
        """The statements that create the table, its partitions and its walls."""
        parts = [column.declaration for column in self.all_columns]
        parts.append("PRIMARY KEY (" + ", ".join(f'"{name}"' for name in self.keyed_by) + ")")
        parts += self.extra
        split = f' PARTITION BY HASH ("{self.wall}")' if self.large else ""
        yield f"CREATE TABLE {self.full_name} ({', '.join(parts)}){split}"
        if self.wall:
            yield from self._walls()
        for number in range(PARTITIONS) if self.large else ():
            part = f'{SCHEMA}."{self.name}_{number:02}"'
            yield (
                f"CREATE TABLE {part} PARTITION OF {self.full_name}"
                f" FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
            )
            # Reached by the table it is part of; by its own name nobody sees a row.
            yield f"ALTER TABLE {part} ENABLE ROW LEVEL SECURITY"
            yield f"ALTER TABLE {part} FORCE ROW LEVEL SECURITY"
        if words := [column.name for column in self.columns if column.type in "tb"]:
            # What is sampled for the planner would stand in the catalogue, where no erasure reaches it.
            unsampled = ", ".join(f'ALTER COLUMN "{name}" SET STATISTICS 0' for name in words)
            yield f"ALTER TABLE {self.full_name} {unsampled}"

    def _walls(self) -> Iterator[str]:
        yield f"ALTER TABLE {self.full_name} ENABLE ROW LEVEL SECURITY"
        yield f"ALTER TABLE {self.full_name} FORCE ROW LEVEL SECURITY"
        yield f'CREATE POLICY within ON {self.full_name} USING ("{self.wall}" = {WITHIN})'
        yield f"CREATE POLICY across ON {self.full_name} TO CURRENT_USER USING ({ACROSS})"
        if self.name == "tenant":
            yield f'CREATE POLICY named ON {self.full_name} FOR SELECT USING ("name" = {NAMED})'


WITHIN: Final = f"(SELECT nullif(current_setting('{SCHEMA}.tenant', true), '')::bigint)"
"""The tenant that a transaction is about just now; looked up once a statement, not once a row."""
ACROSS: Final = f"(SELECT coalesce(current_setting('{SCHEMA}.across', true), '') = 'on')"
"""Whether a statement says that it is about all tenants; only the owner of the tables is let through by it."""
NAMED: Final = f"(SELECT current_setting('{SCHEMA}.name', true))"
"""The tenant that is looked for by its name."""


def _i(*names: str) -> tuple[TableColumn, ...]:
    return tuple(TableColumn(name, "i") for name in names)


def _t(*names: str) -> tuple[TableColumn, ...]:
    return tuple(TableColumn(name, "t") for name in names)


def _b(*names: str) -> tuple[TableColumn, ...]:
    return tuple(TableColumn(name, "b") for name in names)


_HERE: Final = '"tenant" = %(tenant)s AND "space" = %(space)s'
_OF_ITEMS: Final = (
    _HERE + ' AND "ver" IN (SELECT v."ver" FROM mnemic."version" v WHERE v."tenant" = %(tenant)s'
    ' AND v."space" = %(space)s AND v."id" = ANY(%(items)s))'
)
_EMPTY_EVENTS: Final = (
    'UPDATE mnemic."event" e SET "salt" = NULL, "payload" = NULL, "ver" = 0, "lver" = 0 FROM {} w'
    ' WHERE e."tenant" = %(tenant)s AND w."tenant" = %(tenant)s AND w."space" = %(space)s'
    ' AND e."seq" = w."seq_from" AND e."n" = w."n" AND '
)
_SPEND_NUMBERS: Final = (
    'UPDATE mnemic."space" SET "spent" = m."top" FROM (SELECT max("number") AS "top" FROM mnemic."name" WHERE '
    + _HERE
    + ') m WHERE "home" = %(tenant)s AND "id" = %(space)s AND "spent" < m."top"'
)
_NAMELESS: Final = 'NOT EXISTS (SELECT 1 FROM mnemic."name" n WHERE n."tenant" = %(tenant)s AND n."id" = s."session")'
_NAMELESS_SESSIONS: Final = (
    'DELETE FROM mnemic."session" s WHERE s."tenant" = %(tenant)s AND s."space" = %(space)s AND ' + _NAMELESS
)
_NAMELESS_PAGES: Final = (
    'DELETE FROM mnemic."page" WHERE '
    + _HERE
    + ' AND "session" IN (SELECT s."session" FROM mnemic."session" s'
    + ' WHERE s."tenant" = %(tenant)s AND s."space" = %(space)s AND '
    + _NAMELESS
    + ")"
)
_NO_BEARER: Final = (
    ' AND NOT EXISTS (SELECT 1 FROM mnemic."version" v WHERE v."tenant" = %(tenant)s AND v."space" = %(space)s'
    ' AND (v."agent" = n."id" OR v."session" = n."id"){})'
    ' AND NOT EXISTS (SELECT 1 FROM mnemic."link" l WHERE l."tenant" = %(tenant)s AND l."space" = %(space)s'
    ' AND l."type" = n."id"{})'
)


def _erase_space(name: str) -> str:
    return f'DELETE FROM mnemic."{name}" WHERE ' + _HERE


TABLES: Final = (
    WalledTable("meta", (*_t("key"), *_b("value")), ("key",), wall=""),
    WalledTable(
        # The head of a tenant: locked first by whoever writes, it has the last commit and all that is counted. Number 0
        # is the store's own, for what is of no tenant.
        "tenant",
        (
            TableColumn("id", "i"), TableColumn("name", "t", nullable=True), *_i("horizon"), *_b("horizon_hash"),
            *_i("seq", "at"), *_b("hash"),
            *_i("vers", "links", "spaces", "names", "jobs", "packs", "holds", "stamp", "xid"),
            TableColumn("gone", "t", nullable=True),  # to which server it was moved: whoever comes here is refused
        ),
        ("id",), wall="id", beside=False, carriers=(("id", "="),),
        extra=('UNIQUE ("name")',),
    ),
    WalledTable(
        "space",
        (
            *_i("id", "tenant"), TableColumn("user", "t", nullable=True), *_i("shared"), *_b("secret"),
            *_i("seq", "epoch", "parent", "base"), *_t("branch"), *_i("lanes", "number", "spent"),
        ),
        ("id",), wall="home", carriers=(("id", ">"),), counter="spaces",
        # Which transaction moved it last, for whoever looks for spaces that have moved.
        extra=('"xid" bigint NOT NULL DEFAULT 0', 'UNIQUE ("home", "tenant", "number")'),
        erase_space=(
            'UPDATE mnemic."space" SET "user" = NULL, "shared" = 0, "secret" = \'\', "branch" = \'\''
            ' WHERE "home" = %(tenant)s AND "id" = %(space)s'
        ),
    ),
    WalledTable(
        "name", (*_i("id", "space", "number"), *_t("text")), ("id",),
        carriers=(("space", ">"), ("id", ">")), counter="names",
        extra=('UNIQUE ("tenant", "space", "text")', 'UNIQUE ("tenant", "space", "number")'),
        erase_items=(
            _SPEND_NUMBERS
            + ';DELETE FROM mnemic."name" n WHERE n."tenant" = %(tenant)s AND n."space" = %(space)s AND n."id" IN ('
            + "".join(
                f'SELECT v."{column}" FROM mnemic."version" v WHERE v."tenant" = %(tenant)s AND v."space" = %(space)s'
                ' AND v."id" = ANY(%(items)s) UNION '
                for column in ("agent", "session")
            )
            + 'SELECT l."type" FROM mnemic."link" l WHERE l."tenant" = %(tenant)s AND l."lver" = ANY(%(links)s))'
            + _NO_BEARER.format(' AND v."id" <> ALL(%(items)s)', ' AND l."lver" <> ALL(%(links)s)')
        ),
        erase_space=_SPEND_NUMBERS + ";" + _erase_space("name"),
    ),
    WalledTable(
        "change", (*_i("tenant", "seq", "space", "at", "actor", "cause"), *_b("hash")), ("seq",),
        beside=False, carriers=(("tenant", "="), ("space", ">")), large=True,
    ),
    WalledTable(
        "event",
        (
            *_i("tenant", "seq", "n", "verb"), TableColumn("item", "b", nullable=True), *_i("ver", "lver"),
            TableColumn("payload", "b", nullable=True), TableColumn("salt", "b", nullable=True), *_b("digest"),
        ),
        ("seq", "n"), beside=False, carriers=(("tenant", "="),), large=True,
        erase_items=(
            _EMPTY_EVENTS.format('mnemic."version"')
            + 'w."id" = ANY(%(items)s);'
            + _EMPTY_EVENTS.format('mnemic."link"')
            + 'w."lver" = ANY(%(links)s)'
        ),
        erase_space=(
            'UPDATE mnemic."event" SET "salt" = NULL, "payload" = NULL, "ver" = 0, "lver" = 0'
            ' WHERE "tenant" = %(tenant)s AND "verb" <> 11 AND "seq" IN'
            ' (SELECT c."seq" FROM mnemic."change" c WHERE c."tenant" = %(tenant)s AND c."space" = %(space)s)'
        ),
    ),
    WalledTable(
        "version",
        (
            *_i("ver", "space"), *_b("id"),
            *_i(
                "seq_from", "seq_to", "n", "state", "kind", "said", "known_to", "valid_from", "valid_to", "agent",
                "session", "pos", "channel", "expires", "sight",
            ),
            *_b("body"),
        ),
        ("ver",), counter="vers", large=True,
        extra=('UNIQUE ("tenant", "space", "id", "seq_from")',),
        erase_items='DELETE FROM mnemic."version" WHERE ' + _HERE + ' AND "id" = ANY(%(items)s)',
        erase_space=_erase_space("version"),
    ),
    WalledTable(
        "link",
        (*_i("lver", "space"), *_b("src", "dst"), *_i("type", "seq_from", "seq_to", "n", "open"), *_b("body")),
        ("lver",), counter="links", large=True,
        extra=('UNIQUE ("tenant", "space", "src", "dst", "type", "seq_from")',),
        erase_items='DELETE FROM mnemic."link" WHERE "tenant" = %(tenant)s AND "lver" = ANY(%(links)s)',
        erase_space=_erase_space("link"),
    ),
    WalledTable(
        "entry",
        (
            *_i(
                "space", "ver", "part", "seq_from", "seq_to", "state", "kind", "said", "known_to", "valid_from",
                "valid_to", "agent", "session", "pos", "pinned", "channel", "expires", "sight",
            ),
            *_b("terms"),
        ),
        ("space", "ver", "part"), large=True,
        erase_items='DELETE FROM mnemic."entry" WHERE ' + _OF_ITEMS,
        erase_space=_erase_space("entry"),
    ),
    WalledTable(
        "facet", (*_i("space", "ver"), *_b("hash")), ("space", "ver", "hash"), large=True,
        erase_items='DELETE FROM mnemic."facet" WHERE ' + _OF_ITEMS,
        erase_space=_erase_space("facet"),
    ),
    WalledTable("meter", (*_t("process"), *_i("at"), *_b("body")), ("process",), wall=""),
    WalledTable(
        "embedder", (TableColumn("id", "i"), *_t("name"), *_i("dims", "state")), ("id",), wall="",
        extra=('UNIQUE ("name")',),
    ),
    WalledTable(
        "vector", (*_i("space", "model", "ver", "part"), *_b("f16")), ("space", "model", "ver", "part"), large=True,
        erase_items='DELETE FROM mnemic."vector" WHERE "model" IN (SELECT "id" FROM mnemic."embedder") AND '
        + _OF_ITEMS,
        erase_space=_erase_space("vector"),
    ),
    WalledTable(
        "pack",
        (
            *_i("id", "space", "after", "upto", "seq", "rows", "build"), *_b("digest"), *_i("model"), *_b("body"),
        ),
        ("id",), carriers=(("space", ">"), ("id", ">")), counter="packs",
        extra=('UNIQUE ("tenant", "space", "model", "after")',),
        erase_items=(
            'DELETE FROM mnemic."pack" p WHERE p."tenant" = %(tenant)s AND p."space" = %(space)s AND EXISTS'
            ' (SELECT 1 FROM mnemic."version" v WHERE v."tenant" = %(tenant)s AND v."space" = %(space)s'
            ' AND v."ver" > p."after" AND v."ver" <= p."upto" AND v."id" = ANY(%(items)s))'
        ),
        erase_space=_erase_space("pack"),
    ),
    WalledTable(
        "lane",
        (
            *_i("space"), *_t("name"), *_i("cursor"), *_t("owner"), *_i("lease_until", "attempt", "not_before"),
            *_t("error"), *_i("seq", "stride", "reach", "leased"),
        ),
        ("space", "name"),
        erase_items='UPDATE mnemic."lane" SET "error" = \'\', "owner" = \'\', "lease_until" = 0 WHERE ' + _HERE,
        erase_space=_erase_space("lane"),
    ),
    WalledTable("followed", (*_t("name"), *_i("upto")), ("name",), wall=""),
    WalledTable("due", (*_t("name"), *_i("space", "at")), ("space", "name"), erase_space=_erase_space("due")),
    WalledTable(
        "answer", (*_i("space"), *_t("lane"), *_b("hash", "answer", "given")), ("space", "lane", "hash"),
        erase_items=(
            'DELETE FROM mnemic."answer" a WHERE a."tenant" = %(tenant)s AND a."space" = %(space)s'
            " AND (a.\"given\" = '' OR EXISTS (SELECT 1 FROM unnest(%(items)s) i WHERE position(i IN a.\"given\") > 0)"
            ' OR EXISTS (SELECT 1 FROM mnemic."derived" d WHERE d."tenant" = %(tenant)s AND d."space" = %(space)s'
            ' AND position(d."source" IN a."given") > 0 AND d."item" = ANY(%(items)s)))'
        ),
        erase_space=_erase_space("answer"),
    ),
    WalledTable(
        "job",
        (
            *_i("id", "space"), *_t("name", "key"), *_b("payload"),
            *_i("ver", "priority", "not_before", "state", "attempts"), *_t("owner"), *_i("leased", "lease_until"),
            *_t("error"), *_i("at"),
        ),
        ("id",), carriers=(("space", ">"), ("id", ">")), counter="jobs",
        extra=('UNIQUE ("tenant", "space", "name", "key")',),
        erase_items=(
            'DELETE FROM mnemic."job" WHERE "ver" <> 0 AND '
            + _OF_ITEMS
            + ';UPDATE mnemic."job" SET "error" = \'\', "owner" = \'\', "lease_until" = 0 WHERE '
            + _HERE
        ),
        erase_space=_erase_space("job"),
    ),
    WalledTable(
        "session",
        (
            *_i("space", "session"), *_t("owner"), *_i("lease_until", "budget"), *_t("policy"),
            *_i("clock", "turns", "seq"),
        ),
        ("space", "session"),
        erase_items=_NAMELESS_SESSIONS,
        erase_space=_erase_space("session"),
    ),
    WalledTable(
        "page",
        (
            *_i("space", "session"), *_b("item"),
            *_i(
                "resident", "tokens", "born", "last_use", "uses", "arrived", "pinned", "position", "segment",
            ),
            TableColumn("importance", "f"), TableColumn("novelty", "f"), *_i("entities"),
        ),
        ("space", "session", "item"),
        erase_items=_erase_space("page") + ' AND "item" = ANY(%(items)s);' + _NAMELESS_PAGES,
        erase_space=_erase_space("page"),
    ),
    WalledTable(
        "derived", (*_i("space"), *_b("source", "item")), ("space", "source", "item"),
        erase_items=_erase_space("derived") + ' AND ("source" = ANY(%(items)s) OR "item" = ANY(%(items)s))',
        erase_space=_erase_space("derived"),
    ),
    WalledTable(
        "strength", (*_i("space"), *_b("id"), *_i("uses", "useful", "harms", "last_used")), ("space", "id"),
        erase_items=_erase_space("strength") + ' AND "id" = ANY(%(items)s)',
        erase_space=_erase_space("strength"),
    ),
    WalledTable(
        "idem",
        (
            *_i("space"), *_b("hash", "salt", "digest"), *_i("seq"), TableColumn("item", "b", nullable=True),
            *_i("lasting", "at"),
        ),
        ("space", "hash"),
        erase_items=(
            'UPDATE mnemic."idem" SET "salt" = \'\', "digest" = \'\' WHERE '
            + _HERE
            + ' AND "lasting" <> 0 AND "item" = ANY(%(items)s);'
            + _erase_space("idem")
            + ' AND "lasting" = 0 AND "item" = ANY(%(items)s)'
        ),
        erase_space=_erase_space("idem"),
    ),
    WalledTable(
        "hold",
        (
            *_i("id", "tenant", "space"), TableColumn("item", "b", nullable=True), *_t("session", "reason", "actor"),
            *_i("at", "seq"),
        ),
        ("id",), beside=False, carriers=(("tenant", "="),), counter="holds",
        erase_items=_erase_space("hold") + ' AND "item" = ANY(%(items)s)',
        erase_space=_erase_space("hold"),
    ),
    WalledTable(
        "credential",
        (
            *_t("id"), *_i("kind"), *_b("hash"), *_t("name", "tenant"), TableColumn("user", "t", nullable=True),
            *_i("right", "shared"), *_t("issuer"), *_i("created", "expires", "used", "revoked"),
        ),
        ("id",), wall="",
    ),
    WalledTable(
        "checkpoint", (*_i("tenant"), *_t("name"), *_i("seq", "at"), *_t("hash", "file")), ("name",),
        beside=False, carriers=(("tenant", "="),),
    ),
    WalledTable(
        "memo", (*_i("tenant"), *_t("name"), *_b("value")), ("name",),
        beside=False, carriers=(("tenant", "="),),
    ),
    WalledTable("tomb", (*_i("space"), *_b("item"), *_i("seq")), ("space", "item")),
)  # fmt: skip
BY_NAME: Final = {table.name: table for table in TABLES}

FOREVER: Final = 9223372036854775807
RESTING: Final = "position('\\x2265766964656e636522'::bytea IN \"body\") > 0"
"""True of a link that may have evidence."""

INDEXES: Final = (
    f'CREATE INDEX tenant_moved ON {SCHEMA}."tenant" ("xid")',
    f'CREATE INDEX tenant_gone ON {SCHEMA}."tenant" ("id") WHERE "gone" IS NOT NULL',
    f'CREATE UNIQUE INDEX space_owner ON {SCHEMA}."space" ("home", "tenant", "user", "branch")'
    ' WHERE "user" IS NOT NULL',
    f'CREATE UNIQUE INDEX space_shared ON {SCHEMA}."space" ("home", "tenant", "branch") WHERE "shared" <> 0',
    f'CREATE INDEX version_closed ON {SCHEMA}."version" ("tenant", "space", "seq_to") WHERE "seq_to" < {FOREVER}',
    f'CREATE INDEX version_retired ON {SCHEMA}."version" ("tenant", "space", "seq_from")'
    f' WHERE "state" = 3 AND "seq_to" = {FOREVER}',
    f'CREATE INDEX version_expires ON {SCHEMA}."version" ("expires")'
    f' WHERE "expires" > 0 AND "state" <> 3 AND "seq_to" = {FOREVER}',
    f'CREATE INDEX link_spent ON {SCHEMA}."link" ("tenant", "space", "seq_from")'
    f' WHERE "open" = 0 OR "seq_to" < {FOREVER}',
    f'CREATE INDEX event_bare ON {SCHEMA}."event" ("tenant", "seq", "n") WHERE "ver" = 0 AND "lver" = 0',
    f'CREATE INDEX link_dst ON {SCHEMA}."link" ("tenant", "space", "dst")',
    f'CREATE INDEX link_resting ON {SCHEMA}."link" ("tenant", "space") WHERE {RESTING}',
    f'CREATE INDEX change_space ON {SCHEMA}."change" ("tenant", "space", "seq")',
    f'CREATE INDEX due_at ON {SCHEMA}."due" ("name", "at")',
    f'CREATE INDEX job_waiting ON {SCHEMA}."job" ("state", "priority" DESC, "id")',
    f'CREATE INDEX lane_failing ON {SCHEMA}."lane" ("name", "space") WHERE "error" <> \'\'',
    f'CREATE INDEX lane_busy ON {SCHEMA}."lane" ("tenant") WHERE "owner" <> \'\'',
    f'CREATE INDEX page_item ON {SCHEMA}."page" ("tenant", "space", "item")',
    f'CREATE INDEX facet_hash ON {SCHEMA}."facet" ("tenant", "space", "hash", "ver")',
    f'CREATE INDEX entry_core ON {SCHEMA}."entry" ("tenant", "space", "seq_to", "seq_from", "ver")'
    ' WHERE "part" = 0 AND ("pinned" <> 0 OR "kind" IN (6, 7))',
)

_ORDER: Final = (
    "hold", "job", "due", "answer", "idem", "vector", "pack", "lane", "facet", "entry", "strength", "derived", "event",
    "name", "page", "session", "link", "version", "space",
)  # fmt: skip
"""The order in which tables are erased: rows that are found through others go before these."""


UPGRADES: Final[Mapping[int, tuple[str, ...]]] = {
    1: (
        f'ALTER TABLE {SCHEMA}."tenant" ADD COLUMN "gone" text COLLATE "C"',
        f'ALTER TABLE {SCHEMA}."tenant" ALTER COLUMN "gone" SET STATISTICS 0',
        f'CREATE INDEX tenant_gone ON {SCHEMA}."tenant" ("id") WHERE "gone" IS NOT NULL',
    ),
}
"""By format, what makes the next one of it: changes of the catalogue alone, which take no time once nobody reads."""


def create_statements() -> Iterator[str]:
    """Every statement that makes an empty store."""
    yield f"CREATE SCHEMA {SCHEMA}"
    for table in TABLES:
        yield from table.create()
    yield f'ALTER TABLE {SCHEMA}."tenant" ALTER "id" ADD GENERATED BY DEFAULT AS IDENTITY'
    yield f'ALTER TABLE {SCHEMA}."embedder" ALTER "id" ADD GENERATED BY DEFAULT AS IDENTITY'
    yield from INDEXES


def erase_items_statements() -> list[str]:
    """List the statements that erase items, and links, from every table: `tenant`, `space`, `items`, `links`."""
    return [s for name in _ORDER if (text := BY_NAME[name].erase_items) for s in text.split(";")]


def erase_space_statements() -> list[str]:
    """List the statements that erase one space's content from every table: `tenant`, `space`."""
    return [s for name in _ORDER if (text := BY_NAME[name].erase_space) for s in text.split(";")]


def erase_name_statements() -> tuple[str, ...]:
    """List the statements that erase an unused name, and the session that was called so: also `text`."""
    unused = (
        'DELETE FROM mnemic."name" n WHERE n."tenant" = %(tenant)s AND n."space" = %(space)s AND n."text" = %(text)s'
        + _NO_BEARER.format("", "")
    )
    return _SPEND_NUMBERS, unused, _NAMELESS_PAGES, _NAMELESS_SESSIONS


SPEND_NUMBERS: Final = _SPEND_NUMBERS
