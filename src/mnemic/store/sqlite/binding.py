"""What statements of SQLite share: how many ids are bound to one, answers as one row of JSON, numbers given once."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, TypeVar

import apsw

from mnemic.store.values.row_values import Cursor, Page

T = TypeVar("T")

CHUNK: Final = 500
"""Ids bound to one statement."""

STRETCH: Final = 1_000
"""Most rows that one look walks over, where no index leads to what is asked for."""

THESE: Final = " IN (SELECT value FROM json_each(?2))"


def among(column: str, n: int) -> str:
    """The condition that a column has one of `n` bound values."""
    return f"{column} IN ({','.join('?' * n)})"


def read_json(db: apsw.Connection, statement: str, bound: tuple[object, ...]) -> list[Any]:
    """What a statement answers in one row of JSON.

    Between two rows, as between two statements, another thread may hold the interpreter for long, while whoever writes
    waits.
    """
    answer: list[Any] = json.loads(db.execute(statement, bound).get)
    return answer


def stretch(db: apsw.Connection, statement: str, bound: tuple[int, ...], after: int) -> tuple[int, int]:
    """Where a look from `after` on ends, and how many rows it goes over: `STRETCH`, if there may be more."""
    last, count = read_json(db, statement, bound)
    return last or after, count


def paged(rows: list[T], limit: int, place: Callable[[T], Cursor]) -> Page[T]:
    ordered = sorted(rows, key=place)
    return ordered, place(ordered[-1]) if len(ordered) == limit else None


def highest(db: apsw.Connection) -> int:
    """The highest version of all spaces; 0 for none."""
    return int(db.execute("SELECT ifnull(max(ver), 0) FROM version").get)


_SPEND: Final = (
    "REPLACE INTO version SELECT :number, 0, x'', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, x''"
    " WHERE :number > (SELECT ifnull(max(ver), 0) FROM version)"
)


def spend(db: apsw.Connection, highest: int) -> None:
    """See that a version's number is never given again: a lane may have passed it, a batch of vectors name it.

    SQLite gives the number past the highest row; when that row has gone, a row of no space keeps its place. So
    nothing is paid for this by a write.
    """
    db.execute(_SPEND, {"number": highest})
