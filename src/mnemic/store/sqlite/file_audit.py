"""Checking a SQLite file against its declaration: pages, tables, checksums of rows, and how many there are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

import apsw

from mnemic.store.sqlite.disk import set_meta
from mnemic.store.sqlite.schema import INDEXES, TABLES, Table
from mnemic.store.values.receipts import Fault

COUNTED: Final = ("tenant", "embedder", "hold", "checkpoint")
"""Tables of few rows, written outside of commits, whose rows the file also counts and adds up."""
_COUNTS: Final = "counts"
"""The key of that account."""
_BY_SQLITE: Final = {("table", "sqlite_sequence"): "CREATE TABLE sqlite_sequence(name,seq)"}
_DECLARED: Final = {
    **_BY_SQLITE,
    **{("table", table.name): table.create for table in TABLES},
    **{("index", index.split(" ON ")[0].split()[-1]): index for index in INDEXES},
}


def foreign_words(db: apsw.Connection) -> Iterator[Fault]:
    """What the file declares and we do not, such as a trigger, and what we declare and the file has not."""
    found: dict[tuple[str, str], str] = {}
    for kind, name, table, sql in db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema"):
        if sql is not None:
            found[str(kind), str(name)] = sql
        elif kind != "index" or not str(name).startswith(f"sqlite_autoindex_{table}_"):
            yield Fault(where=f"{kind} {name}", problem="is not of this store")
    for key, declared in found.items():
        if key not in _DECLARED:
            yield Fault(where=" ".join(key), problem="is not of this store")
        elif declared != _DECLARED[key]:
            yield Fault(where=" ".join(key), problem="is declared otherwise than this store declares it")
    for kind, name in _DECLARED.keys() - found.keys():
        yield Fault(where=f"{kind} {name}", problem="is missing")


def damaged_pages(db: apsw.Connection) -> Iterator[Fault]:
    """What SQLite finds wrong with trees and pages."""
    for (answer,) in db.execute("PRAGMA integrity_check(100)"):
        if answer != "ok":
            yield Fault(where="pages", problem=str(answer))


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
    """The tables that have gained or lost rows behind the store's back."""
    kept = db.execute("SELECT value FROM meta WHERE key = ?", (_COUNTS,)).get
    said = json.loads(bytes(kept)) if kept is not None else {}
    for name, found in _counted(db).items():
        if said.get(name) != found:
            rows = said.get(name, (0,))[0]
            yield Fault(where=name, problem=f"has {found[0]} rows, not the {rows} that we wrote")
    for name, highest in _HIGHEST.items():
        given = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (name,)).get
        if (db.execute(highest).get or 0) > (given or 0):
            yield Fault(where="sqlite_sequence", problem=f"would give a number of {name} twice")


def count(db: apsw.Connection) -> None:
    """Write the account anew, inside a write, if it has changed."""
    said = json.dumps(_counted(db), separators=(",", ":")).encode()
    if db.execute("SELECT value FROM meta WHERE key = ?", (_COUNTS,)).get != said:
        set_meta(db, _COUNTS, said)


def _counted(db: apsw.Connection) -> dict[str, list[int]]:
    return {name: list(db.execute(statement).fetchone() or ()) for name, statement in _ACCOUNTS.items()}


_ACCOUNTS: Final = {name: "SELECT count(*), ifnull(sum(checksum & 4294967295), 0) FROM " + name for name in COUNTED}
_HIGHEST: Final = {
    table.name: "SELECT max(id) FROM " + table.name
    for table in TABLES
    if any("AUTOINCREMENT" in kind for _, kind, _ in table.columns)
}
