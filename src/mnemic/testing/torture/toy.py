"""Plain SQLite under the same torture: it shows what the harness finds without any code of ours in the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from random import Random

import apsw

from mnemic.testing.torture.subject import ActReport, Audit, How, Say, promises, residue

_TABLES = """
CREATE TABLE IF NOT EXISTS act(key TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS item(who TEXT, text TEXT, PRIMARY KEY(who, text));
CREATE TABLE IF NOT EXISTS tally(who TEXT PRIMARY KEY, items INTEGER);
"""


class ToySubject:
    """Three tables that must agree, in WAL mode."""

    name = "sqlite"
    errors = (apsw.Error,)

    def open(self, path: Path, how: How) -> _Open:
        return _Open(path, how)

    def audit(self, path: Path, said: Sequence[ActReport]) -> Audit:
        begun = time.perf_counter()
        kept = promises(said)
        try:
            with closing(_connect(path, How())) as db:
                problems = [row[0] for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
                milliseconds = (time.perf_counter() - begun) * 1000
                for who, promise in kept.items():
                    problems += promise.problems(who, _texts(db, who))
                problems += _tallies(db)
        except apsw.Error as error:
            return Audit(problems=(f"cannot be read: {error}",), acks=0, milliseconds=0.0)
        problems += residue(path.parent, said)
        return Audit(problems=tuple(problems), acks=sum(act.done for act in said), milliseconds=milliseconds)


class _Open:
    def __init__(self, path: Path, how: How) -> None:
        self._path = path
        self._how = how
        self._connections = [_connect(path, how)]
        self._connections[0].execute(_TABLES).fetchall()

    def life(self, who: str, seed: int, *, alone: bool = False) -> _Life:
        return _Life(self._connect, who, seed, self._how)

    def _connect(self) -> apsw.Connection:
        self._connections.append(_connect(self._path, self._how))
        return self._connections[-1]

    def recall(self, who: str) -> int:
        return len(_texts(self._connections[0], who))

    def backup(self, dest: Path) -> None:
        with closing(apsw.Connection(str(dest))) as copy, copy.backup("main", self._connections[0], "main") as running:
            running.step(-1)

    def close(self) -> None:
        for connection in self._connections:
            connection.close()


class _Life:
    def __init__(self, connect: Callable[[], apsw.Connection], who: str, seed: int, how: How) -> None:
        self._connect = connect
        self._who = who
        self._random = Random(f"{who}:{seed}")
        self._probe = how.probe
        self._acts = 0
        self._pending: ActReport | None = None

    @cached_property
    def _db(self) -> apsw.Connection:
        return self._connect()

    def step(self, say: Say) -> None:
        said = self._pending = self._pending or self._next()
        say(said.line())
        key = f"{self._who}:{self._acts}"
        with self._db:
            if not self._db.execute("INSERT INTO act VALUES(?) ON CONFLICT DO NOTHING RETURNING 1", (key,)).fetchall():
                self._done(said, say)
                return
            self._change(said)
            self._probe("commit:before-commit")
        self._probe("commit:after-commit")
        self._done(said, say)

    def _next(self) -> ActReport:
        self._acts += 1
        text = f"{self._who} says {self._acts} " + "x" * self._random.randrange(300)
        old = _texts(self._db, self._who)
        drops = (self._random.choice(sorted(old)),) if len(old) > 5 and self._random.random() < 0.4 else ()
        return ActReport(who=self._who, act="change", adds=(text,), drops=drops)

    def _change(self, said: ActReport) -> None:
        for text in said.adds:
            self._db.execute("INSERT INTO item VALUES(?, ?)", (said.who, text))
        for text in said.drops:
            self._db.execute("DELETE FROM item WHERE who=? AND text=?", (said.who, text))
        self._db.execute(
            "INSERT INTO tally SELECT who, count(*) FROM item WHERE who=? GROUP BY who"
            " ON CONFLICT DO UPDATE SET items=excluded.items",
            (said.who,),
        )

    def _done(self, said: ActReport, say: Say) -> None:
        self._pending = None
        say(ActReport(who=said.who, act=said.act, adds=said.adds, drops=said.drops, done=True).line())


def _connect(path: Path, how: How) -> apsw.Connection:
    db = apsw.Connection(str(path), vfs=how.vfs)
    db.set_busy_timeout(30_000)
    db.execute("PRAGMA journal_mode=WAL").fetchall()
    db.pragma("synchronous", how.synchronous)
    db.pragma("wal_autocheckpoint", 20)
    return db


def _texts(db: apsw.Connection, who: str) -> set[str]:
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name='item'").fetchall():
        return set()
    return {row[0] for row in db.execute("SELECT text FROM item WHERE who=?", (who,))}


def _tallies(db: apsw.Connection) -> list[str]:
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name='tally'").fetchall():
        return []
    counted = dict(db.execute("SELECT who, count(*) FROM item GROUP BY who"))
    return [] if counted == dict(db.execute("SELECT who, items FROM tally")) else ["tally and items differ"]
