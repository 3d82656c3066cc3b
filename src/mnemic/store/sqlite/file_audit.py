"""Checking a SQLite file against its declaration: pages, tables, checksums of rows, and how many there are."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from typing import Final

import apsw

from mnemic.store.sqlite.disk import set_meta, small_fact
from mnemic.store.sqlite.schema import INDEXES, TABLES, Table
from mnemic.store.values.receipts import Fault

COUNTED: Final = ("tenant", "embedder", "hold", "checkpoint", "credential")
"""Tables of few rows, written outside of commits, whose rows the file also counts and adds up."""
_COUNTS: Final = "counts"
"""The key of that account."""
_BY_SQLITE: Final = {("table", "sqlite_sequence"): "CREATE TABLE sqlite_sequence(name,seq)"}
_DECLARED: Final = {
    **_BY_SQLITE,
    **{("table", table.name): table.create for table in TABLES},
    **{("index", index.split(" ON ")[0].split()[-1]): index for index in INDEXES},
}

_FORMER_INDEXES: Final = ("job_waiting",)
"""What formats before this one had, and it has not."""


def has_statistics(db: apsw.Connection) -> bool:
    """Whether `ANALYZE`, which other tools run, left its tables: they hold samples of what indexes hold."""
    return bool(db.execute("SELECT count(*) FROM sqlite_schema WHERE name IN ('sqlite_stat1', 'sqlite_stat4')").get)


def drop_statistics(db: apsw.Connection) -> None:
    """Drop what `ANALYZE` left: erasing would not reach it."""
    db.execute("DROP TABLE IF EXISTS sqlite_stat1")
    db.execute("DROP TABLE IF EXISTS sqlite_stat4")


def foreign_sorts(db: apsw.Connection) -> Iterator[Fault]:
    """What the file declares of a sort that no format of ours has: it would run with a migration's own statements.

    An index that no format has too: it would be gone, and nobody told, with a table that a migration makes anew.
    """
    for kind, name, sql in db.execute("SELECT type, name, sql FROM sqlite_schema WHERE type <> 'table'"):
        if kind != "index" or (sql is not None and (kind, name) not in _DECLARED and name not in _FORMER_INDEXES):
            yield Fault(where=f"{kind} {name}", problem="is not of this store")


def foreign_words(db: apsw.Connection) -> Iterator[Fault]:
    """What the file declares and we do not, such as a trigger, and what we declare and the file has not."""
    statements: dict[tuple[str, str], str] = {}
    for kind, name, table, sql in db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"):
        if sql is not None:
            statements[str(kind), str(name)] = sql
        elif kind != "index" or not str(name).startswith("sqlite_autoindex_"):
            yield Fault(where=f"{kind} {name}", problem="is not of this store")
        if table != (name if kind == "table" else _table_of(str(name), sql)):
            yield Fault(where=f"{kind} {name}", problem=f"is said to be of table {table}")
    for key, declared in statements.items():
        if key not in _DECLARED:
            yield Fault(where=" ".join(key), problem="is not of this store")
        elif declared != _DECLARED[key]:
            yield Fault(where=" ".join(key), problem="is declared otherwise than this store declares it")
    for kind, name in _DECLARED.keys() - statements.keys():
        yield Fault(where=f"{kind} {name}", problem="is missing")


def _table_of(name: str, sql: object) -> str:
    """The table of an index, by what declares it, or by the name that SQLite gives to one of its own."""
    if sql is None:
        return name.removeprefix("sqlite_autoindex_").rpartition("_")[0]
    return str(sql).partition(" ON ")[2].partition("(")[0]


def damaged_pages(db: apsw.Connection) -> Iterator[Fault]:
    """What SQLite finds wrong with trees and pages."""
    for (answer,) in db.execute("PRAGMA integrity_check(100)"):
        if answer != "ok":
            yield Fault(where="pages", problem=str(answer))


def wrong_header(head: bytes) -> Iterator[Fault]:
    """What the first hundred bytes of a file say that SQLite does not write there for us."""
    for place, sound in _HEADER:
        if int.from_bytes(head[place.start : place.stop]) not in sound:
            yield Fault(where=f"header, byte {place.start}", problem="is not what SQLite writes there for us")
    if any(head[52:56]) != any(head[64:68]):
        yield Fault(where="header, byte 64", problem="gives pages back in another way than we had it made for")
    if head[24:28] != head[92:96]:
        yield Fault(where="header, byte 24", problem="its count of changes differs from the one that its size is of")


def wrong_sums(db: apsw.Connection, table: Table) -> Iterator[Fault]:
    """The rows of a table whose checksum does not fit."""
    columns = ", ".join(table.keyed_by)
    statement = "SELECT " + columns + " FROM " + table.name + " WHERE " + table.sum + " IS NOT checksum"
    for row in db.execute(statement):
        shown = ", ".join(f"{name} {_shown(value)}" for name, value in zip(table.keyed_by, row, strict=True))
        yield Fault(where=f"{table.name}: {shown}", problem="its checksum does not fit: it is not what we wrote")


def _shown(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def wrong_counts(db: apsw.Connection) -> Iterator[Fault]:
    """The tables that have gained or lost rows behind the store's back, and journals that have lost their end."""
    counts, heads = _kept(db)
    for name, counted in _counted(db).items():
        said = counts.get(name) or [0]
        if said[0] != counted[0]:
            yield Fault(where=name, problem=f"counts {counted[0]}, not {said[0]}")
        elif said != counted:
            yield Fault(
                where=name, problem=f"counts {counted[0]} as it should, and adds up otherwise: a row was changed"
            )
    found_heads = _heads(db)
    for tenant, seq in heads.items():
        if found_heads.get(tenant, 0) < seq:
            yield Fault(where=f"tenant {tenant}", problem=f"had commit {seq}, and its journal ends before")
    given = dict(db.execute("SELECT name, seq FROM sqlite_sequence"))
    for name, highest in _HIGHEST.items():
        if (db.execute(highest).get or 0) > given.pop(name, 0):
            yield Fault(where="sqlite_sequence", problem=f"would give a number of {name} twice")
    for name in given:
        yield Fault(where="sqlite_sequence", problem=f"numbers the rows of {name}, which gives none")


def count(db: apsw.Connection) -> None:
    """Write the account anew, inside a write, if rows have come or gone, or a journal has gone back."""
    kept, counted, heads = _kept(db), _counted(db), _heads(db)
    if kept[0] == counted and all(heads.get(tenant, 0) >= seq for tenant, seq in kept[1].items()):
        return
    set_meta(db, _COUNTS, json.dumps({"rows": counted, "heads": heads}, separators=(",", ":")).encode())


def _kept(db: apsw.Connection) -> tuple[dict[str, list[int]], dict[str, int]]:
    """The account as it was written: rows of each table and the sum over them, and the last commit of each tenant."""
    kept = db.execute("SELECT value FROM meta WHERE key = ?", (_COUNTS,)).get
    return ({}, {}) if kept is None else small_fact(_COUNTS, kept, _account)


def _account(kept: bytes) -> tuple[dict[str, list[int]], dict[str, int]]:
    account = json.loads(bytes(kept))
    rows = {name: [int(number) for number in row] for name, row in account["rows"].items()}
    return rows, {tenant: int(seq) for tenant, seq in account["heads"].items()}


def _counted(db: apsw.Connection) -> dict[str, list[int]]:
    counted = {name: list(db.execute(statement).fetchone() or ()) for name, statement in _ACCOUNTS.items()}
    return counted | {f"number of {name}": [seq] for name, seq in db.execute(_NUMBERED)}


def _heads(db: apsw.Connection) -> dict[str, int]:
    return {str(tenant): seq for tenant, seq in db.execute(_HEADS)}


_NUMBERED: Final = "SELECT name, seq FROM sqlite_sequence WHERE name <> 'name'"
"""Names are given by every commit; the others are not."""
_HEADS: Final = (
    "SELECT id, (SELECT max(seq) FROM change WHERE tenant = tenant.id) FROM tenant WHERE"
    " EXISTS (SELECT 1 FROM change WHERE tenant = tenant.id)"
)
_HEADER: Final[tuple[tuple[range, Container[int]], ...]] = (
    (range(18, 19), (1, 2)),
    (range(19, 20), (1, 2)),
    (range(20, 21), (0,)),
    (range(21, 22), (64,)),
    (range(22, 23), (32,)),
    (range(23, 24), (32,)),
    (range(44, 48), (4,)),
    (range(48, 52), (0,)),
    (range(56, 60), (1,)),
    (range(64, 68), (0, 1)),
    (range(72, 92), (0,)),
    (range(96, 100), range(3_037_000, 4_000_000)),
)
"""Fields of the header by their place, and what may stand there (sqlite.org/fileformat2.html, section 1.3)."""
_ACCOUNTS: Final = {name: "SELECT count(*), ifnull(sum(checksum & 4294967295), 0) FROM " + name for name in COUNTED}
_HIGHEST: Final = {
    table.name: "SELECT max(id) FROM " + table.name
    for table in TABLES
    if any("AUTOINCREMENT" in kind for _, kind, _ in table.columns)
}
