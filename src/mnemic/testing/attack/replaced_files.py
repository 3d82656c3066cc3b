"""Attacks on the file below an open store: deleted, moved, replaced, overwritten, its folder gone, at random moments.

Between them other handles write, erase and fold the log, which is none of this and must be told apart from it.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final
from unittest.mock import patch

import apsw

from mnemic.core.ids import ItemId
from mnemic.errors import MnemicError, StoreError
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.sqlite import location
from mnemic.store.sqlite.location import InFile
from mnemic.testing.attack.frame import AttackReport
from mnemic.testing.torture.children import folder

QUICK = 25


def attack(rounds: int, seed: int, first: int = 0) -> AttackReport:
    """Let a store live a little, do something to its file, and write on."""
    numbers = range(first, first + rounds)
    with patch.object(location, "FOLDING_SECONDS", 0.05):  # nobody here folds a log for longer
        failures = [failure for number in numbers for failure in _tried(f"{seed}/{number}")]
    with patch.object(InFile, "refuse_overwritten", lambda *_: None):
        caught = sum(bool(_tried(f"{seed}/{number}")) for number in numbers[:10])
    return AttackReport(tries=rounds, failures=failures, caught_by_control=caught)


def _opened(path: Path) -> Memory:
    return Memory(path, settings=Settings(background=False, busy_timeout=5), embedder="none")


def _delete(path: Path) -> None:
    path.unlink()


def _move(path: Path) -> None:
    path.rename(path.with_name("away.db"))


def _remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def _rename_over(path: Path) -> None:
    _another(path).rename(path)


def _copy_over(path: Path) -> None:
    shutil.copyfile(_another(path), path)


def _another(path: Path) -> Path:
    other = path.parent.parent / "other.db"
    with _opened(other) as memory:
        memory.scope(user="ada").observe("Of another store.")
    return other


_DEEDS: Final = (_delete, _move, _remove_folder, _rename_over, _copy_over)


def _tried(seed: str) -> list[str]:
    chance = random.Random(seed)
    with folder() as place:
        path = place / "store" / "memory.db"
        memory = _opened(path)
        try:
            said = _lived(memory, path, chance)
        except MnemicError as error:
            return [f"seed {seed}: a write among honest ones is refused: {error}"]
        deed = chance.choice(_DEEDS)
        deed(path)
        before = path.read_bytes() if path.exists() else None
        problems = []
        for verb in _verbs(memory, said, chance):
            try:
                verb()
                problems.append(f"a verb is answered after {deed.__name__}")
            except StoreError as error:
                if type(error) is not StoreError:
                    problems.append(f"{type(error).__name__} is raised after {deed.__name__}: {error}")
        with suppress(apsw.Error, StoreError):
            memory.close()
        problems += _afterwards(path, deed, before, len(said))
        return [f"seed {seed}: {problem}" for problem in problems]


def _lived(memory: Memory, path: Path, chance: random.Random) -> list[ItemId]:
    """Write, erase and fold, through two handles; the ids of what is there."""
    me, ids = memory.scope(user="ada"), list[ItemId]()
    with _opened(path) as other:
        for number in range(chance.randrange(1, 25)):
            writer = chance.choice([me, other.scope(user="ada")])
            ids += writer.observe(f"Text {number}. " * chance.choice([1, 1, 500])).ids
            if chance.random() < 0.2:
                writer.erase(ids.pop())
            if chance.random() < 0.2:
                with closing(apsw.Connection(str(path))) as db:
                    db.execute(f"PRAGMA wal_checkpoint({chance.choice(['PASSIVE', 'RESTART', 'TRUNCATE'])})").fetchall()
    ids += me.observe("The last.").ids
    return ids


def _verbs(memory: Memory, ids: list[ItemId], chance: random.Random) -> Iterator[Callable[[], object]]:
    me = memory.scope(user="ada")
    acts: list[Callable[[], object]] = [
        lambda: me.observe("Into nowhere."),
        lambda: me.erase(ids[-1]),
        lambda: me.forget(ids[-1]),
        lambda: memory.admin.compact(1),
        lambda: me.list(limit=5),
        lambda: me.recall("Which text is the last?"),
        lambda: list(memory.admin.export()),
    ]
    yield from chance.sample(acts, 3)


def _afterwards(path: Path, deed: Callable[[Path], None], before: bytes | None, count: int) -> Iterator[str]:
    """What is wrong with what lies there now."""
    after = path.read_bytes() if path.exists() else None
    if after != before:
        yield f"{deed.__name__}: the file in its place was touched"
    path_now = path if deed in (_rename_over, _copy_over) else path.with_name("away.db") if deed is _move else None
    if path_now is None:
        return
    try:
        with _opened(path_now) as memory:
            texts = len(memory.scope(user="ada").list(limit=100))
            faults = memory.admin.verify()
    except MnemicError as error:
        yield f"{deed.__name__}: what is there cannot be opened: {error}"
        return
    wanted = count if deed is _move else 1
    if texts != wanted or faults:
        yield f"{deed.__name__}: {texts} texts are there, not {wanted}, and {len(faults)} faults"
