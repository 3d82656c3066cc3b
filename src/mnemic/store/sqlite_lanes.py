"""Rows of SQLite: embedders and their vectors, lanes, jobs, what models answered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import apsw

from mnemic.store.following import EmbedderRow, EmbedderState, Job, JobState, Lane, Order, VectorRow
from mnemic.store.sqlite_binding import among


class SqliteLanes:
    """The part of `store.rows.Rows` that work which follows a write needs."""

    _db: apsw.Connection

    def embedders(self) -> list[EmbedderRow]:
        rows = self._db.execute("SELECT id, name, dims, state FROM embedder ORDER BY id")
        return [EmbedderRow(model, name, dims, EmbedderState(state)) for model, name, dims, state in rows]

    def add_embedder(self, name: str, dims: int, state: EmbedderState) -> int:
        self._db.execute("INSERT INTO embedder(name, dims, state) VALUES (?, ?, ?)", (name, dims, int(state)))
        return self._db.last_insert_rowid()

    def set_embedder(self, row: EmbedderRow) -> None:
        self._db.execute("UPDATE embedder SET state = ?2 WHERE id = ?1", (row.id, int(row.state)))

    def drop_embedder(self, model: int) -> None:
        self._db.execute("DELETE FROM embedder WHERE id = ?", (model,))

    def vectors(self, space: int, model: int, after: int) -> Iterator[VectorRow]:
        statement = "SELECT ver, part, f16 FROM vector WHERE space = ? AND model = ? AND ver > ? ORDER BY ver, part"
        return map(VectorRow._make, self._db.execute(statement, (space, model, after)))

    def vector_sizes(self, space: int) -> Iterator[tuple[int, int, int, int]]:
        statement = "SELECT model, ver, part, length(f16) FROM vector WHERE space = ? ORDER BY model, ver, part"
        yield from self._db.execute(statement, (space,))

    def add_vectors(self, space: int, model: int, vectors: Iterable[VectorRow]) -> int:
        before = self._db.total_changes()
        self._db.executemany(_ADD_VECTOR, [(space, model, *row) for row in vectors])
        return self._db.total_changes() - before

    def carry_vectors(self, home: int, space: int, moved: Sequence[tuple[int, int]]) -> None:
        self._db.executemany(
            _CARRY_VECTORS, [{"home": home, "ver": ver, "space": space, "to": to} for ver, to in moved]
        )

    def drop_vectors(self, model: int, limit: int) -> int:
        self._db.execute(_DROP_VECTORS, (model, limit))
        return self._db.changes()

    def lane(self, space: int, name: str) -> Lane:
        row = self._db.execute("SELECT * FROM lane WHERE space = ? AND name = ?", (space, name)).fetchone()
        return Lane(space=space, name=name) if row is None else _lane(row)

    def set_lane(self, lane: Lane) -> None:
        values = (lane.space, lane.name, lane.cursor, lane.owner, lane.lease_until, lane.attempt, lane.not_before)
        run = (lane.error, lane.seq, lane.stride, lane.reach, lane.leased)
        self._db.execute("REPLACE INTO lane VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*values, *run))

    def drop_lanes(self, name: str) -> None:
        self._db.execute("DELETE FROM lane WHERE name = ?", (name,))

    def lanes(self, space: int | None = None) -> list[Lane]:
        if space is None:
            return [_lane(row) for row in self._db.execute("SELECT * FROM lane ORDER BY space, name")]
        return [_lane(row) for row in self._db.execute("SELECT * FROM lane WHERE space = ? ORDER BY name", (space,))]

    def backlog(self, name: str) -> list[tuple[int, int, int]]:
        return list(self._db.execute(_BACKLOG, (name,)))

    def jobs(self, states: Sequence[int]) -> list[Job]:
        statement = "SELECT * FROM job WHERE " + among("state", len(states)) + " ORDER BY priority DESC, id"
        return [_job(row) for row in self._db.execute(statement, tuple(states))]

    def job(self, number: int) -> Job | None:
        row = self._db.execute("SELECT * FROM job WHERE id = ?", (number,)).fetchone()
        return None if row is None else _job(row)

    def find_job(self, space: int, name: str, key: str) -> Job | None:
        row = self._db.execute("SELECT * FROM job WHERE space = ? AND name = ? AND key = ?", (space, name, key))
        found = row.fetchone()
        return None if found is None else _job(found)

    def due_job(self, names: Sequence[str], now: int) -> Job | None:
        statement = _DUE_JOB + among("name", len(names)) + " ORDER BY priority DESC, id LIMIT 1"
        row = self._db.execute(statement, (now, now, now, *names)).fetchone()
        return None if row is None else _job(row)

    def add_job(self, order: Order, at: int) -> int:
        values = (order.space, order.name, order.key, order.payload, order.ver, order.priority, order.not_before)
        self._db.execute(_ADD_JOB, (*values, int(JobState.WAITING), at))
        return self._db.last_insert_rowid()

    def set_job(self, job: Job) -> None:
        values = (int(job.state), job.attempts, job.owner, job.leased, job.lease_until, job.error, job.at)
        self._db.execute(_SET_JOB, (job.id, job.order.payload, job.order.not_before, *values))

    def answer(self, space: int, lane: str, hashed: bytes) -> bytes | None:
        statement = "SELECT answer FROM answer WHERE space = ? AND lane = ? AND hash = ?"
        row = self._db.execute(statement, (space, lane, hashed)).fetchone()
        return None if row is None else bytes(row[0])

    def add_answer(self, space: int, lane: str, hashed: bytes, answered: bytes, given: Sequence[bytes]) -> None:
        row = (space, lane, hashed, answered, b"".join(given))
        self._db.execute("REPLACE INTO answer VALUES (?, ?, ?, ?, ?)", row)

    def drop_answers(self, space: int, lane: str) -> None:
        self._db.execute("DELETE FROM answer WHERE space = ? AND lane = ?", (space, lane))

    def drop_all_answers(self, spaces: Sequence[int]) -> None:
        self._db.execute(
            "DELETE FROM answer WHERE space IN (SELECT value FROM json_each(?))", (json.dumps(list(spaces)),)
        )


_ADD_VECTOR: Final = (
    "REPLACE INTO vector SELECT space, ?2, ver, part, ?5 FROM entry WHERE space = ?1 AND ver = ?3 AND part = ?4"
)
_CARRY_VECTORS: Final = (
    "INSERT INTO vector SELECT :space, model, :to, part, f16 FROM vector"
    " WHERE space = :home AND model IN (SELECT id FROM embedder) AND ver = :ver"
)
_DROP_VECTORS: Final = (
    "DELETE FROM vector WHERE (space, model, ver, part) IN (SELECT v.space, v.model, v.ver, v.part"
    " FROM space s CROSS JOIN vector v ON v.space = s.id AND v.model = ? LIMIT ?)"
)
_BACKLOG: Final = (
    "SELECT * FROM (SELECT s.id, ifnull(l.cursor, 0) AS done,"
    " ifnull((SELECT max(ver) FROM entry WHERE space = s.id), 0) AS newest"
    " FROM space s LEFT JOIN lane l ON l.space = s.id AND l.name = ?"
    " WHERE (s.user IS NOT NULL OR s.shared) AND s.lanes)"
    " WHERE newest > done ORDER BY id"
)
_DUE_JOB: Final = "SELECT * FROM job WHERE state = 1 AND (leased > ? OR (not_before <= ? AND lease_until <= ?)) AND "
_ADD_JOB: Final = (
    "INSERT INTO job(space, name, key, payload, ver, priority, not_before, state, attempts, owner, leased, lease_until,"
    " error, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, '', 0, 0, '', ?)"
)
_SET_JOB: Final = (
    "UPDATE job SET payload = ?2, not_before = ?3, state = ?4, attempts = ?5, owner = ?6, leased = ?7,"
    " lease_until = ?8, error = ?9, at = ?10 WHERE id = ?1"
)


def _lane(row: Sequence[Any]) -> Lane:
    space, name, cursor, owner, lease_until, attempt, not_before, error, seq, stride, reach, leased = row
    return Lane(
        seq=seq,
        stride=stride,
        reach=reach,
        leased=leased,
        space=space,
        name=name,
        cursor=cursor,
        owner=owner,
        lease_until=lease_until,
        attempt=attempt,
        not_before=not_before,
        error=error,
    )


def _job(row: Sequence[Any]) -> Job:
    number, space, name, key, payload, ver, priority, not_before, *run = row
    state, attempts, owner, leased, lease_until, error, at = run
    order = Order(space=space, name=name, key=key, payload=payload, ver=ver, priority=priority, not_before=not_before)
    return Job(
        id=number,
        order=order,
        state=JobState(state),
        attempts=attempts,
        owner=owner,
        leased=leased,
        lease_until=lease_until,
        error=error,
        at=at,
    )
