"""Attacks by a changed store on the files around it: rows that name a file elsewhere, for what opens or deletes one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from unittest.mock import patch

import apsw

from mnemic.admin import restore
from mnemic.errors import MnemicError
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.values.heads import CheckpointRow
from mnemic.testing.attack.frame import AttackReport
from mnemic.testing.raw_store import raw_store
from mnemic.testing.torture.children import folder

QUICK = 40

_PRECIOUS: Final = (
    "precious.txt",
    "a/precious.txt",
    "a/memory.db",
    "a/checkpoints/other-c.db",
    "a/checkpoints/d/x-c.db",
)
"""Files that belong to nobody's checkpoint, below the folder of the attack; the store is a/b/memory.db."""
_PARTS: Final = ("..", ".", "", "checkpoints", "precious.txt", "memory.db", "memory-c.db", "b", "~", "x-c.db", "a")


def attack(rounds: int, seed: int) -> AttackReport:
    """Have a checkpoint's row name other files, then do with the store all that looks at checkpoints."""
    chance = random.Random(seed)
    names = [_name(chance) for _ in range(rounds)]
    failures = [failure for name in names for failure in _tried(name)]
    with patch.object(CheckpointRow, "within", lambda row, folder: folder / str(row.file)):
        caught = sum(bool(_tried(name)) for name in names)
    return AttackReport(tries=len(names), failures=failures, caught_by_control=caught)


def _name(chance: random.Random) -> object:
    """What a row may say: ways up and about, in the separators of two systems, and values that are no names."""
    if chance.random() < 0.15:
        return chance.choice([None, 7, 2.5, b"../../precious.txt", "", ".", "..", "x" * 9_000, "a\0-c", "-c" * 300])
    separator = chance.choice(["/", "/", "/", "\\", "//"])
    way = separator.join(chance.choice(_PARTS) for _ in range(chance.randrange(1, 4)))
    return (
        chance.choice(["", "../", "../../", "/", "{root}/", "..\\"])
        + way
        + chance.choice(["", "", "/../../precious.txt"])
    )


def _tried(name: object) -> list[str]:
    with folder() as root, _store(root) as place:
        kept = {root / file: _filled(root / file) for file in _PRECIOUS}
        kept[place] = b""  # it changes; that it is there is enough
        said = name.replace("{root}", str(root)) if isinstance(name, str) else name
        _change(place, said)
        told = []
        for act in _acts(place):
            try:
                act()
            except MnemicError:
                pass
            except Exception as error:  # noqa: BLE001 - whatever else comes out is the finding
                told.append(f"{said!r}: {act.__name__} raised {error!r}")
        gone = [
            str(file.relative_to(root))
            for file, was in kept.items()
            if not file.exists() or was not in file.read_bytes()
        ]
        return told + [f"{said!r}: {file} is gone or changed" for file in gone]


@contextmanager
def _store(root: Path) -> Iterator[Path]:
    """A closed store with the checkpoint `c`, two folders down."""
    place = root / "a" / "b" / "memory.db"
    place.parent.mkdir(parents=True)
    with _opened(place) as memory:
        memory.scope(user="ada").observe("The heron stands in the river.")
        memory.admin.checkpoint("c")
    yield place


def _opened(place: Path) -> Memory:
    return Memory(place, settings=Settings(background=False), embedder="none")


def _filled(file: Path) -> bytes:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"precious")
    return b"precious"


def _change(place: Path, said: object) -> None:
    with raw_store(place) as db, suppress(apsw.ConstraintError):
        db.execute("UPDATE checkpoint SET file = ?", (said,))


def _acts(place: Path) -> Iterator[Callable[[], object]]:
    """All that looks at the row, with deleting last."""

    def lists() -> None:
        with _opened(place) as memory:
            memory.admin.checkpoints()

    def takes() -> None:
        with _opened(place) as memory:
            memory.admin.checkpoint("d")

    def verifies() -> None:
        with _opened(place) as memory:
            list(memory.admin.verify())

    def restores() -> None:
        restore("c", place)

    def restores_it() -> None:
        other = place.with_name("backup.db")
        with _opened(place) as memory:
            memory.admin.backup(other)
        restore(other, place.with_name("fresh.db"), without_tombstones=True)

    def drops() -> None:
        with _opened(place) as memory:
            memory.admin.drop_checkpoint("c")

    yield from (lists, takes, verifies, restores_it, drops, restores)
