"""Attacks by a changed store on the files around it: rows that name a file elsewhere, for what opens or deletes one."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from unittest.mock import patch

import apsw

from mnemic.admin import restore
from mnemic.errors import MnemicError, StoreCorrupt
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.sqlite import copies_beside
from mnemic.store.values.heads import CheckpointRow
from mnemic.testing.attack.frame import AttackReport
from mnemic.testing.raw_store import raw_store
from mnemic.testing.torture.children import folder

QUICK = 20

_PRECIOUS: Final = (
    "precious.txt",
    "a/precious.txt",
    "a/memory.db",
    "a/b/precious.txt",
    "a/b/memory.dbx",
    "a/b/checkpoints/x",
    "a/checkpoints/other-c.db",
    "a/checkpoints/d/x-c.db",
)
"""Files that belong to nobody's checkpoint, below the folder of the attack; the store is a/b/memory.db."""
_KEPT: Final = {
    "a/b/memory.db": b"",
    "a/b/notes.db": b"Notes under a legal hold",
    "a/b/checkpoints/notes-c.db": b"Notes under a legal hold",
    "a/notes.db": b"Notes under a legal hold",
}
"""Stores, and what they hold; the attacked one changes, and that it is there is enough."""
_PARTS: Final = ("..", ".", "", "checkpoints", "precious.txt", "memory.db", "memory-c.db", "b", "~", "x-c.db", "a")
_OWED: Final = (
    *("precious.txt", "memory.db", "notes.db", "memory.db.restoring", "../notes.db", "../precious.txt", "memory.dbx"),
    *("checkpoints/../precious.txt", "checkpoints/../notes.db", "checkpoints/", "checkpoints/..", "x", ""),
    *("checkpoints/notes-c.db", "checkpoints/memory-c.db", "checkpoints/../../notes.db", "./memory.db"),
    *("{root}/precious.txt", "{root}/a/notes.db", "../b/notes.db"),
)
"""Files that a store may be made to say it has to erase from."""


@dataclass(frozen=True, slots=True)
class _Change:
    """What somebody writes into a store.

    Attributes:
        file: What a checkpoint's row says its file is; None leaves it.
        owed: The value that says what is still to be erased from copies; None leaves none.
        knowing: Whether they have our code, and leave checksums that fit.
    """

    file: object = None
    owed: bytes | None = None
    knowing: bool = False


def attack(rounds: int, seed: int) -> AttackReport:
    """Have the rows of a store name other files, then do with it all that looks at checkpoints and copies."""
    chance = random.Random(seed)
    named = [_Change(file=_name(chance)) for _ in range(rounds // 2)]
    owed = [_owed(chance) for _ in range(rounds - len(named))]
    with folder() as made:
        _make(made)
        failures = [failure for change in (*named, *owed) for failure in _tried(made, change)]
        with patch.object(CheckpointRow, "within", lambda row, folder: folder / str(row.file)):
            by_name = sum(bool(_tried(made, change)) for change in named)
        with patch.multiple(copies_beside, _KEPT=_BELIEVED, _is_beside=lambda *_: True):
            by_debt = sum(bool(_tried(made, change)) for change in owed)
    return AttackReport(tries=rounds, failures=failures, caught_by_control=min(by_name, by_debt))


_BELIEVED: Final = "SELECT value, 1 FROM meta WHERE key = ?"
"""The control: what is owed is believed, whoever wrote it."""


def _name(chance: random.Random) -> object:
    """What a row may say: ways up and about, in the separators of two systems, and values that are no names."""
    if chance.random() < 0.15:
        return chance.choice([None, 7, 2.5, b"../../precious.txt", "", ".", "..", "x" * 9_000, "a\0-c", "-c" * 300])
    return _way(chance)


def _way(chance: random.Random) -> str:
    separator = chance.choice(["/", "/", "/", "\\", "//"])
    way = separator.join(chance.choice(_PARTS) for _ in range(chance.randrange(1, 4)))
    return (
        chance.choice(["", "../", "../../", "/", "{root}/", "..\\"])
        + way
        + chance.choice(["", "", "/../../precious.txt"])
    )


def _owed(chance: random.Random) -> _Change:
    """What the store may say it has still to erase: everything of a user, or nothing that can be read."""
    whole = {"tenant": "default", "user": "ada", "shared": False, "ids": [], "whole": True, "actor": "", "names": []}
    named: dict[str, object] = {"ids": [], "session": None, "source": None, "agent": None, "shelf": None}
    ways = [*_OWED, *(_way(chance) for _ in range(4))]
    files: list[object] = chance.sample(ways, k=chance.randrange(1, 3))
    record: dict[str, object] = {**whole, "named": named, "files": files}
    if chance.random() < 0.3:
        field = chance.choice([*record, "named.ids"])
        odd: object = chance.choice([None, 7, "precious.txt", [7], {}, [["x"]], ["x"], True])
        if field == "named.ids":
            record["named"] = {**named, "ids": odd}
        elif chance.random() < 0.3:
            del record[field]
        else:
            record[field] = odd
    value = json.dumps([record]).encode()
    if chance.random() < 0.2:
        broken = [b"", b"{", b"null", b"7", b"[7]", b"[{}]", b"\xff\xfe", b"[" * 100_000, b'{"files": []}', value[:-9]]
        value = chance.choice(broken)
    file = chance.choice([None, None, "notes.db", "notes-c.db", "precious.txt"])
    return _Change(file=file, owed=value, knowing=chance.random() < 0.5)


def _tried(made: Path, change: _Change) -> list[str]:
    problems: list[str] = []
    for act in (_opened_live, _restored):
        with folder() as root:
            shutil.copytree(made, root, dirs_exist_ok=True)
            problems += [f"{change}: {act.__name__}: {broken}" for broken in act(root, change)]
    return problems


def _opened_live(root: Path, change: _Change) -> Iterator[str]:
    """The store itself is changed, and gone on with."""
    place = root / "a" / "b" / "memory.db"
    _write(place, change, root)
    yield from _done(_acts(place))
    yield from _lost(root)


def _restored(root: Path, change: _Change) -> Iterator[str]:
    """A copy of the store is changed, and restored over the store, which has erased some of it since."""
    place = root / "a" / "b" / "memory.db"
    copy = root / "a" / "backup.db"
    shutil.copyfile(place, copy)
    written = _write(copy, change, root)
    with _opened(place) as memory:
        memory.scope(user="eve").erase_user()
    before = place.read_bytes()

    def restores() -> None:
        restore(copy, place)

    def restores_elsewhere() -> None:
        restore(copy, place.with_name("fresh.db"), without_tombstones=True)

    try:
        restores_elsewhere()
        restores()
        if written and not change.knowing:
            yield "a changed copy was restored"
    except StoreCorrupt:
        if place.exists() and place.read_bytes() != before:
            yield "a copy was refused, and the store is another"
    except MnemicError:
        pass
    except Exception as error:  # noqa: BLE001 - whatever else comes out is the finding
        yield f"raised {error!r}"
    yield from _lost(root)
    if _OF_ADA not in (place.parent / "checkpoints" / "memory-c.db").read_bytes():
        yield "what a checkpoint beside the store held is gone"
    if place.exists() and _ERASED in place.read_bytes():
        yield "what was erased came back"


def _done(acts: Iterator[Callable[[], object]]) -> Iterator[str]:
    for act in acts:
        try:
            act()
        except MnemicError:
            pass
        except Exception as error:  # noqa: BLE001 - whatever else comes out is the finding
            yield f"{act.__name__} raised {error!r}"


def _lost(root: Path) -> Iterator[str]:
    for name, was in {**dict.fromkeys(_PRECIOUS, b"precious"), **_KEPT}.items():
        if not (root / name).exists() or was not in (root / name).read_bytes():
            yield f"{name} is gone or changed"


_ERASED: Final = b"The bittern has flown"
_OF_ADA: Final = b"The heron stands in the river"


def _make(root: Path) -> None:
    """Closed stores, the one that is changed two folders down, with the checkpoint `c`; and files of other people."""
    place = root / "a" / "b" / "memory.db"
    place.parent.mkdir(parents=True)
    for name in _PRECIOUS:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"precious")
    with _opened(place) as memory:
        memory.scope(user="ada").observe(_OF_ADA.decode())
        memory.scope(user="eve").observe(_ERASED.decode())
        memory.admin.checkpoint("c")
    with _opened(place.with_name("notes.db")) as memory:
        memory.scope(user="ada").observe("Notes under a legal hold.")
        memory.admin.hold(user="ada", reason="lawsuit")
        memory.admin.checkpoint("c")
    shutil.copyfile(place.with_name("notes.db"), root / "a" / "notes.db")


def _opened(place: Path) -> Memory:
    return Memory(place, settings=Settings(background=False), embedder="none", synchronous="OFF")


def _write(place: Path, change: _Change, root: Path) -> bool:
    """Write it into a store; whether the tables took it."""
    file = change.file.replace("{root}", str(root)) if isinstance(change.file, str) else change.file
    with raw_store(place, knowing=change.knowing) as db:
        if change.owed is not None:
            value = change.owed.replace(b"{root}", str(root).encode())
            db.execute("INSERT OR REPLACE INTO meta(key, value) VALUES ('copies', ?)", (value,))
        try:
            if change.owed is None or file is not None:
                db.execute("UPDATE checkpoint SET file = ?", (file,))
        except apsw.ConstraintError:
            return change.owed is not None
    return True


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
