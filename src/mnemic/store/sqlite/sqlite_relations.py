"""Relations of SQLite: statements made once of the names that a relation declares, with every value bound."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, Final, TypeVar

import apsw

from mnemic.store.engine.relations import Condition, Relation, Value
from mnemic.store.engine.rows import Group
from mnemic.store.values.row_values import Cursor, Page, VersionRow

T = TypeVar("T")

CHUNK: Final = 500
"""Ids bound to one statement."""

STRETCH: Final = 1_000
"""Most rows that one look walks over, where no index leads to what is asked for."""

THESE: Final = " IN (SELECT value FROM json_each(?2))"


def among(column: str, n: int) -> str:
    """Make the condition that a column has one of `n` bound values."""
    return f"{column} IN ({','.join('?' * n)})"


def hexed(ids: Sequence[bytes]) -> str:
    """Write ids as JSON, which has no bytes: each in hexadecimal digits, for `unhex` to read."""
    return json.dumps([id.hex() for id in ids])


def read_json(db: apsw.Connection, statement: str, bound: tuple[object, ...]) -> list[Any]:
    """Run a statement that returns one row of JSON, and decode it.

    One row, because between two rows another thread may hold the interpreter for long, while writers wait for the lock.
    """
    answer: list[Any] = json.loads(db.execute(statement, bound).get)
    return answer


def stretch(db: apsw.Connection, statement: str, bound: tuple[int, ...], after: int) -> tuple[int, int]:
    """Find the last row of a stretch that begins after `after`, and count its rows: `STRETCH` if there may be more."""
    last, count = read_json(db, statement, bound)
    return last or after, count


def paged(rows: list[T], limit: int, place: Callable[[T], Cursor]) -> Page[T]:
    ordered = sorted(rows, key=place)
    return ordered, place(ordered[-1]) if len(ordered) == limit else None


def highest(db: apsw.Connection) -> int:
    """Return the highest version number of all spaces; 0 for none."""
    return int(db.execute("SELECT ifnull(max(ver), 0) FROM version").get)


_SPEND: Final = (
    "REPLACE INTO version SELECT "
    + ", ".join({"ver": ":number", "id": "x''", "body": "x''"}.get(column, "0") for column in VersionRow._fields)
    + " WHERE :number > (SELECT ifnull(max(ver), 0) FROM version)"
)


def spend(db: apsw.Connection, highest: int) -> None:
    """Keep a deleted version's number from being used again: a lane may have passed it, a batch of vectors name it.

    SQLite numbers a new row one past the highest; if the highest was deleted, a row of no space stays in its place. So
    a write pays nothing for this.
    """
    db.execute(_SPEND, {"number": highest})


R = TypeVar("R")
Conditions = tuple[Condition, ...]
Shape = tuple[tuple[str, str, int], ...]
"""Of each condition its column, its operator, and how many values are bound to it."""

_OPERATORS: Final = {"=": " = ?", "<>": " <> ?", "<": " < ?", "<=": " <= ?", ">": " > ?", ">=": " >= ?", "is true": ""}


class SqliteRelations:
    """`engine.relations.Relations` over one connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db

    def find(
        self, relation: Relation[R], *where: Condition, order: tuple[str, ...] = (), limit: int = 0, **equal: Value
    ) -> Iterator[R]:
        apart = _taken_apart(where, equal)
        if apart is None:
            return self._find_in_parts(relation, where, order, limit, equal)
        shape, bound = apart
        # A bound limit has the statement planned anew each time, so that of one row is written out.
        statement = _find(relation, tuple(equal), shape, order, " LIMIT ?" if limit > 1 else " LIMIT 1" * limit)
        if limit > 1:
            bound.append(limit)
        return map(relation.make, self.db.execute(statement, bound))

    def _find_in_parts(
        self, relation: Relation[R], where: Conditions, order: tuple[str, ...], limit: int, equal: Mapping[str, Value]
    ) -> Iterator[R]:
        """Find rows by more values than one statement takes: in order over all parts, and no more than the limit."""
        rows: list[tuple[Any, ...]] = []
        for shape, bound in _in_parts(where, equal):
            statement = _find(relation, tuple(equal), shape, order, " LIMIT ?")
            rows += self.db.execute(statement, (*bound, limit or -1))
        for column in reversed(order):
            rows.sort(key=_rank(relation.columns.index(column.removeprefix("-"))), reverse=column[0] == "-")
        return map(relation.make, rows[: limit or None])

    def first(self, relation: Relation[R], *where: Condition, order: tuple[str, ...] = (), **equal: Value) -> R | None:
        return next(self.find(relation, *where, order=order, limit=1, **equal), None)

    def add(self, relation: Relation[Any], *rows: Sequence[Any]) -> int:
        self._write(_add(relation, "INSERT"), rows)
        # Nobody else writes meanwhile, and SQLite gives the number past the highest.
        return self.db.last_insert_rowid() - len(rows) + 1 if relation.number else 0

    def put(self, relation: Relation[Any], *rows: Sequence[Any]) -> None:
        self._write(_add(relation, "REPLACE"), rows)

    def _write(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        if len(rows) == 1:
            self.db.execute(statement, rows[0])  # the most frequent case, and the cheaper call for it
        else:
            self.db.executemany(statement, rows)

    def update(self, relation: Relation[Any], values: Mapping[str, Value], *where: Condition, **equal: Value) -> None:
        for shape, bound in _in_parts(where, equal):
            statement = _update(relation, tuple(values), tuple(equal), shape)
            self.db.execute(statement, (*values.values(), *bound))

    def drop(self, relation: Relation[Any], *where: Condition, **equal: Value) -> None:
        for shape, bound in _in_parts(where, equal):
            statement = _drop(relation, tuple(equal), shape)
            self.db.execute(statement, bound)


class SqliteGroup(Group):
    """A group of tables that has SQLite statements of its own besides those of its relations."""

    def __init__(self, relations: SqliteRelations) -> None:
        self.relations = relations
        self._db = relations.db


def _taken_apart(where: Conditions, equal: Mapping[str, Value]) -> tuple[Shape, list[Any]] | None:
    """Separate the form of conditions, which a statement is made of, from the values that are bound to it.

    None where a column may be among no values at all, or among more than one statement takes.
    """
    shape: list[tuple[str, str, int]] = []
    bound: list[Any] = [*equal.values()]
    for column, operator, value in where:
        if operator == "in":
            count = len(value)
            if not 0 < count <= CHUNK:
                return None
            shape.append((column, operator, count))
            bound += value
        else:
            shape.append((column, operator, 0))
            if operator != "is true":
                bound.append(value)
    return tuple(shape), bound


def _in_parts(where: Conditions, equal: Mapping[str, Value]) -> Iterator[tuple[Shape, list[Any]]]:
    """Split conditions into parts whose values fit one statement each; none if a condition allows no value at all."""
    for part in product(*map(_split, where)):
        apart = _taken_apart(part, equal)
        if apart is not None:
            yield apart


def _rank(place: int) -> Callable[[tuple[Any, ...]], tuple[bool, Any]]:
    """Make a sort key of one column that orders rows as SQLite does: NULL before any value."""
    return lambda row: (row[place] is not None, row[place])


def _split(condition: Condition) -> list[Condition]:
    column, operator, value = condition
    if operator != "in" or 0 < len(value) <= CHUNK:
        return [condition]
    values = list(dict.fromkeys(value))  # the same value in two parts would find its rows twice
    return [(column, "in", values[start : start + CHUNK]) for start in range(0, len(values), CHUNK)]


@cache
def _find(relation: Relation[Any], equal: tuple[str, ...], shape: Shape, order: tuple[str, ...], limit: str) -> str:
    by = ", ".join(
        _declared(relation, column.removeprefix("-")) + (" DESC" if column[0] == "-" else "") for column in order
    )
    return (
        "SELECT " + ", ".join(relation.columns) + " FROM " + relation.name + _where(relation, equal, shape)
        + (" ORDER BY " + by if order else "") + limit
    )  # fmt: skip


@cache
def _add(relation: Relation[Any], how: str) -> str:
    unless = " ON CONFLICT DO NOTHING" if relation.stays and how == "INSERT" else ""
    marks = ", ".join("?" * len(relation.columns))
    return how + " INTO " + relation.name + "(" + ", ".join(relation.columns) + ") VALUES (" + marks + ")" + unless


@cache
def _update(relation: Relation[Any], columns: tuple[str, ...], equal: tuple[str, ...], shape: Shape) -> str:
    values = ", ".join(_declared(relation, column) + " = ?" for column in columns)
    return "UPDATE " + relation.name + " SET " + values + _where(relation, equal, shape)


@cache
def _drop(relation: Relation[Any], equal: tuple[str, ...], shape: Shape) -> str:
    return "DELETE FROM " + relation.name + _where(relation, equal, shape)


def _where(relation: Relation[Any], equal: tuple[str, ...], shape: Shape) -> str:
    conditions = [_declared(relation, column) + " = ?" for column in equal]
    for column, operator, count in shape:
        among = " IN (" + ",".join("?" * count) + ")"
        conditions.append(_declared(relation, column) + (among if operator == "in" else _OPERATORS[operator]))
    return " WHERE " + " AND ".join(conditions) if conditions else ""


def _declared(relation: Relation[Any], column: str) -> str:
    """Return a column's name if the relation declares it: no other name ever reaches a statement."""
    declared = relation.columns + relation.beside
    return declared[declared.index(column)]
