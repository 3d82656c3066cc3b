"""Creates the tables of a new file, and migrates an older one to today's format and tokeniser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import apsw

from mnemic.core.clock import SystemClock
from mnemic.core.facets import author_facet, tag_facet
from mnemic.core.ids import Entropy, SystemEntropy, from_bytes
from mnemic.core.parts import entry_terms
from mnemic.errors import StoreCorrupt, StoreNewer
from mnemic.store.engine import lane_cursors, ledger
from mnemic.store.engine.codec import decode_item
from mnemic.store.sqlite.disk import set_meta
from mnemic.store.sqlite.location import Location
from mnemic.store.sqlite.schema import APPLICATION, FORMAT, INDEXES, TABLES, TOKENS, Table
from mnemic.store.sqlite.sqlite_tables import sqlite_rows
from mnemic.store.values.row_values import VersionRow

_OF_FORMAT_5: Final = frozenset({"credential"})
"""Tables that came with format 5, and that no step before makes."""
_SLICE: Final = 10_000
"""Rows that are taken out of a table at once."""


def create(db: apsw.Connection) -> None:
    """Create every table and index of today's format in an empty file."""
    for table in TABLES:
        db.execute(table.create)
    for index in INDEXES:
        db.execute(index)
    set_meta(db, "tokens", b"%d" % TOKENS)


def is_current(db: apsw.Connection) -> bool:
    """Whether a file needs no migration."""
    version = int(db.pragma("user_version"))
    return version == FORMAT and _token_number(db) == TOKENS


def refuse_newer(db: apsw.Connection, where: Location) -> None:
    """Refuse a file that a later mnemic has migrated.

    Raises:
        StoreNewer: its format or its tokeniser is unknown here.
    """
    version = int(db.pragma("user_version"))
    if version > FORMAT:  # the log held a newer first page than the file did
        raise StoreNewer(f"{where} has format {version}, this mnemic knows up to {FORMAT}; upgrade mnemic")
    if version and (tokens := _token_number(db)) > TOKENS:
        raise StoreNewer(f"{where} has token streams {tokens}, this mnemic knows up to {TOKENS}; upgrade mnemic")


def migrate(db: apsw.Connection, where: Location, entropy: Entropy) -> None:
    """Migrate a file to today's format and tokeniser, inside a write.

    Raises:
        StoreNewer: another process has meanwhile brought it further.
        StoreCorrupt: an item cannot be read; nothing was changed.
    """
    refuse_newer(db, where)
    version = int(db.pragma("user_version"))
    if version == 0:
        create(db)
        set_meta(db, "origin", entropy.bytes(16).hex().encode())
        db.pragma("application_id", APPLICATION)
    else:
        for number in range(version + 1, FORMAT + 1):
            MIGRATIONS[number](db)
    if _token_number(db) != TOKENS:
        db.execute("DELETE FROM pack")
        retokenise(db)
    db.pragma("user_version", FORMAT)


def _token_number(db: apsw.Connection) -> int:
    """Read the number of the tokeniser whose streams the file holds; format 1 has no such row, and held the first's."""
    row = db.execute("SELECT value FROM meta WHERE key = 'tokens'").fetchone()
    try:
        return 1 if row is None else int(row[0])
    except ValueError as error:
        raise StoreCorrupt("the number of its token streams is damaged; run `mnemic restore` from a backup") from error


def retokenise(db: apsw.Connection) -> None:
    """Make every entry again from its item with today's tokeniser, and have catalogues start over.

    Raises:
        StoreCorrupt: an item cannot be read.
    """
    rows = sqlite_rows(db, SystemClock(), SystemEntropy())
    db.execute("DELETE FROM entry")
    for row in map(VersionRow._make, db.execute("SELECT * FROM version WHERE space <> 0 ORDER BY ver")):
        item = decode_item(from_bytes(row.id), row.body)
        rows.items.add_entries(row.space, ledger.entries(row.ver, row, item.pinned, entry_terms(item)))
    db.execute("UPDATE space SET epoch = epoch + 1")
    set_meta(db, "tokens", b"%d" % TOKENS)


def _to_2(db: apsw.Connection) -> None:
    """Migrate format 1 to 2: a column for pins in entries; tables for embedders, vectors and lanes.

    Entries are made again in the end: the file says no number of the tokeniser that its own were made by.
    """
    db.execute("DROP TABLE entry")
    for table in TABLES:
        if table.name in ("entry", "embedder", "vector", "lane"):
            db.execute(table.create)
    for index in INDEXES:
        if "INDEX entry_core " in index:
            db.execute(index)


def _to_3(db: apsw.Connection) -> None:
    """Migrate format 2 to 3: columns for branches in spaces, and every table that format 2 lacks."""
    db.execute("ALTER TABLE space ADD COLUMN parent INTEGER NOT NULL DEFAULT 0")
    db.execute("ALTER TABLE space ADD COLUMN base INTEGER NOT NULL DEFAULT 0")
    db.execute("ALTER TABLE space ADD COLUMN branch TEXT NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE space ADD COLUMN lanes INTEGER NOT NULL DEFAULT 1")
    if "seq" not in {row[1] for row in db.execute("SELECT * FROM pragma_table_info('lane')")}:
        for column in ("seq", "stride", "reach", "leased"):
            db.execute("ALTER TABLE lane ADD COLUMN " + column + " INTEGER NOT NULL DEFAULT 0")
    db.execute("DROP INDEX space_owner")
    db.execute("DROP INDEX space_shared")
    known = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
    for table in TABLES:
        if table.name not in known and table.name not in _OF_FORMAT_5:
            db.execute(table.create)
    for index in INDEXES:
        name = index.split(" ON ")[0].split()[-1]
        if name not in known and name != "version_expires":  # its column comes with format 4
            db.execute(index)


def _to_4(db: apsw.Connection) -> None:
    """Rows carry checksums; there are packs, and rows of what is due; a space's commits and jobs are found by index.

    Spaces and names have numbers in their tenant and space: those that the chain covers, which were their ids. Every
    table is declared in the words of today, so that a foreign word is seen.
    """
    db.execute("DROP INDEX IF EXISTS job_waiting")
    there = dict(db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'"))
    for table in TABLES:
        if table.name in _OF_FORMAT_5:
            continue
        if table.name not in there:
            db.execute(table.create)
        elif there[table.name] != table.create:
            _rebuild(db, table)
    db.execute(
        "REPLACE INTO memo SELECT id, 'behind', CAST((SELECT count(*) FROM event WHERE tenant = tenant.id"
        " AND seq <= tenant.horizon) || '' AS BLOB) FROM tenant WHERE horizon > 0"
    )
    known = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")}
    for index in INDEXES:
        if index.split(" ON ")[0].split()[-1] not in known:
            db.execute(index)
    _spend_numbers(db)
    _add_facets(db)
    _follow_lanes(db)


def _to_5(db: apsw.Connection) -> None:
    """There are credentials, and links that rest on something are found by an index.

    Raises:
        StoreCorrupt: there are credentials already: the file only says that it is of an earlier format.
    """
    for table in TABLES:
        if table.name in _OF_FORMAT_5:
            if db.table_exists("main", table.name):
                raise StoreCorrupt(
                    f"a file of format 4 holds no {table.name}; somebody has changed it: restore a backup"
                )
            db.execute(table.create)
    (index,) = (index for index in INDEXES if index.startswith("CREATE INDEX link_resting "))
    if not db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'link_resting'").get:
        db.execute(index)


def _add_facets(db: apsw.Connection) -> None:
    """Write down the facets of all tags and authors."""
    rows = sqlite_rows(db, SystemClock(), SystemEntropy())
    for ver, space, tag in db.execute(_TAGS):
        rows.items.add_facets(space, [(ver, tag_facet(tag))])
    for ver, space, author in db.execute(_AUTHORS):
        rows.items.add_facets(space, [(ver, author_facet(author))])


def _rebuild(db: apsw.Connection, table: Table) -> None:
    """Make a table anew with the rows that it has, and the number that it would have given next.

    Memory stays bounded: its indexes are there before its rows, since one that is made of rows sorts them all at once.
    """
    columns, former = [name for name, _, _ in table.columns], "former_" + table.name
    given = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table.name,)).fetchone()
    of_table = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
    ours = {index.split(" ON ")[0].split()[-1] for index in INDEXES}
    foreign = [sql for name, sql in db.execute(of_table, (table.name,)) if name not in ours]
    rename = "ALTER TABLE " + table.name + " RENAME TO " + former
    db.execute(rename)
    db.execute(table.create)
    for index in INDEXES:
        name, of = index.split(" ON ")
        if of.startswith(table.name + "("):
            replaced = "DROP INDEX IF EXISTS " + name.split()[-1]
            db.execute(replaced)
            db.execute(index)
    values = [_NUMBERS.get((table.name, column), column) for column in columns]
    refill = (
        "INSERT INTO " + table.name + "(" + ", ".join(columns) + ") SELECT " + ", ".join(values) + " FROM " + former
    )
    db.execute(refill)
    # One statement that takes all rows out would keep every page of them in memory, in case it fails.
    key = ", ".join(table.keyed_by)
    empty = "DELETE FROM " + former + " WHERE (" + key + ") IN (SELECT " + key + " FROM " + former + " LIMIT ?)"
    while db.execute(empty, (_SLICE,)) and db.changes():
        pass
    drop = "DROP TABLE " + former
    db.execute(drop)
    for index in foreign:  # so that whoever looks for foreign words sees it, and refuses the file
        db.execute(index)
    if given is not None:
        db.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table.name,))
        db.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)", (table.name, *given))


_TEXT: Final = "iif(json_valid(CAST(body AS TEXT)), CAST(body AS TEXT), '{}')"
"""A body as JSON; of one that is damaged, which `verify` tells, nothing."""
_TAGS: Final = (
    "SELECT v.ver, v.space, t.value FROM version v CROSS JOIN json_each(" + _TEXT + ", '$.tags') t WHERE v.space <> 0"
    " AND t.type = 'text'"
)
_AUTHORS: Final = (
    "SELECT ver, space, " + _TEXT + " ->> '$.slots.by' FROM version WHERE space <> 0"
    " AND json_type(" + _TEXT + ", '$.slots.by') = 'text' AND json_array_length(" + _TEXT + ", '$.source') > 0"
)
_NUMBERS: Final = {
    ("space", "number"): "id",
    ("space", "spent"): "0",
    ("name", "number"): "id",
    ("version", "channel"): "CASE " + _TEXT + " ->> 'channel' WHEN 'tool' THEN 1 WHEN 'import' THEN 2"
    " WHEN 'model' THEN 3 ELSE 0 END",
    ("entry", "channel"): "ifnull((SELECT channel FROM version v WHERE v.ver = former_entry.ver), 0)",
    ("version", "expires"): "0",
    ("entry", "expires"): "0",
    ("version", "sight"): "0",
    ("entry", "sight"): "0",
}
"""What columns are filled with that tables did not have before."""


def _spend_numbers(db: apsw.Connection) -> None:
    """Have no name of a space be given the number of an actor of its commits, who may have no name any more."""
    last = db.execute("SELECT ifnull(max(id), 0) FROM space").get
    for after in range(0, last, _SLICE):
        db.execute(
            "UPDATE space SET spent = (SELECT max(actor) FROM change WHERE space = space.id)"
            " WHERE id > ?1 AND id <= ?2 AND EXISTS (SELECT 1 FROM change WHERE space = space.id)",
            (after, after + _SLICE),
        )


def _follow_lanes(db: apsw.Connection) -> None:
    """Write down what is due for every lane that ever ran, but for what is only noted of an embedder."""
    rows = sqlite_rows(db, SystemClock(), SystemEntropy())
    for name in dict(db.execute("SELECT DISTINCT name, 0 FROM lane WHERE name <> 'embed'")):
        while lane_cursors.follow(rows, str(name)):
            pass


MIGRATIONS: Final[dict[int, Callable[[apsw.Connection], None]]] = {2: _to_2, 3: _to_3, 4: _to_4, 5: _to_5}
"""By format n, the function that migrates n - 1 to it, in one transaction with the file's new format number."""
