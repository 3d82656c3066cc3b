"""Attacks by exports that are none: lines of an exported journal changed by grammar and by bytes, then loaded.

Loading either refuses with an error of ours and leaves the store as it was, row by row, or takes what holds together:
then `verify` finds no fault. Each mutant is loaded into an empty store, and into one in which another tenant lives, who
must not be touched. Mutants come with an end line that fits them, for the most part: else nothing would get past the
door.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from mnemic.core.events import Verb
from mnemic.errors import MnemicError, NotFound
from mnemic.store.engine import journal_io
from mnemic.store.sqlite.schema import TABLES
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.drafts import Draft, Erasure, Fork, Note
from mnemic.testing.attack.frame import AttackReport
from mnemic.testing.attack.lived_store import lived_store
from mnemic.testing.raw_store import raw_store
from mnemic.testing.store_contract.contract_world import TENANT, World
from mnemic.testing.torture.children import folder

QUICK = 60
_CONTROLLED: Final = 40
"""Most tries that the control is tried with."""
RESIDENT: Final = "another house"
"""The tenant that is there before."""

_ODD: Final[tuple[Any, ...]] = (
    None, -1, 0, 1, 7, 2**63, 2**64, -(2**63), 2**200, 1.5, 1e308, True, False, "", "x", "\ud800", "\0", "é", [], {},
    [[]], [1], {"a": 1}, "zz", "00", "ff" * 16, "ff" * 40,
)  # fmt: skip
"""Values that a field of a line may come with."""


def attack(rounds: int, seed: int) -> AttackReport:
    """Load `rounds` mutants of one export."""
    chance = random.Random(seed)
    mutants = [_mutant(chance) for _ in range(rounds)]
    with folder() as root:
        stores = (_inhabited(root, ()), _inhabited(root, ("ada", "bob", "cleo")))
        tries = [(n, lines, store) for n, lines in enumerate(mutants) for store in stores]
        failures = [failure for attempt in tries if (failure := _tried(root, *attempt))]
        with patch.object(journal_io, "UNREADABLE", (KeyError,)):
            caught = sum(bool(_tried(root, *attempt)) for attempt in tries[:_CONTROLLED])
    return AttackReport(tries=len(tries), failures=failures, caught_by_control=caught)


@cache
def _exported() -> tuple[bytes, ...]:
    with folder() as root:
        (root / "memory.db").write_bytes(lived_store())
        with closing(SqliteStore(root / "memory.db")) as store:
            return tuple(store.export(TENANT))


def _mutant(chance: random.Random) -> list[bytes]:
    lines = list(_exported())
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        place, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        match chance.choice(("grammar", "grammar", "grammar", "bytes", "drop", "repeat", "swap")):
            case "grammar":
                lines[place] = _changed(lines[place], chance)
            case "bytes":
                lines[place] = _flipped(lines[place], chance)
            case "drop":
                del lines[place]
            case "repeat":
                lines.insert(place, lines[other])
            case _:
                lines[place], lines[other] = lines[other], lines[place]
    return _ended(lines) if chance.random() < 0.8 else lines


def _changed(line: bytes, chance: random.Random) -> bytes:
    """The line with a field gone, of another value or under another name, or as a line of another sort."""
    try:
        ((kind, record),) = json.loads(line).items()
        field = chance.choice(list(record))
    except (ValueError, AttributeError, IndexError, TypeError):
        return line
    match chance.choice(("odd", "odd", "odd", "gone", "more", "inner", "kind")):
        case "odd":
            record[field] = chance.choice(_ODD)
        case "gone":
            del record[field]
        case "more":
            record[chance.choice((field + "x", "tenant", "space", "n", "seq"))] = chance.choice(_ODD)
        case "inner":
            record[field] = _inner(record[field], chance)
        case _:
            kind = chance.choice(("head", "space", "name", "change", "event", "strength", "key", "tomb", "end", "x"))
    return json.dumps({kind: record}).encode() + b"\n"


def _inner(value: Any, chance: random.Random) -> Any:
    """The value with something changed inside: a field of a body, a digit of a number in hexadecimal."""
    if isinstance(value, dict) and value:
        return {**value, chance.choice(list(value)): chance.choice(_ODD)}
    if not isinstance(value, str) or not value:
        return chance.choice(_ODD)
    try:
        record = json.loads(value)
        record[chance.choice(list(record))] = chance.choice(_ODD)
        return json.dumps(record)
    except (ValueError, TypeError, IndexError):
        return value[:-1] if chance.random() < 0.5 else value + chance.choice("0zé")


def _flipped(line: bytes, chance: random.Random) -> bytes:
    content = bytearray(line)
    content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content)


def _ended(lines: list[bytes]) -> list[bytes]:
    """The lines with end lines that fit what stands before them."""
    digest, ended = hashlib.sha256(), []
    for line in lines:
        if line.startswith(b'{"end"'):
            ended.append(b'{"end":{"sha256":"%s"}}\n' % digest.hexdigest().encode())
        else:
            ended.append(line)
            digest.update(line.strip())
    return ended


def _inhabited(root: Path, users: Sequence[str]) -> bytes:
    """A store's file in which another tenant has these users, each with a branch, an erased item, the third erased."""
    path = root / "inhabited.db"
    path.unlink(missing_ok=True)
    with closing(SqliteStore(path)) as store:
        world = World(store, "resident")
        for user in users:
            kept, gone = world.put("stays"), world.put("goes")
            world.commit(kept, gone, user=user, tenant=RESIDENT, actor="neighbour")
            note = Note(verb=Verb.BRANCHED, payload=b"{}")
            store.commit(Draft(tenant=RESIDENT, user=user, actor="x", ops=(note,), branch="try", fork=Fork()))
            store.erase(Erasure(tenant=RESIDENT, user=user, actor="x", ids=(gone.item.id,)))
        for user in users[2:]:
            store.erase(Erasure(tenant=RESIDENT, user=user, actor="x", whole=True))
        store.settle()
    return path.read_bytes()


def _tried(root: Path, number: int, lines: list[bytes], inhabited: bytes) -> str:
    """What is wrong with how a mutant was met; empty if nothing is."""
    path = root / "loaded.db"
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    path.write_bytes(inhabited)
    before = _content(path)
    with closing(SqliteStore(path)) as store:
        beside = _beside(store)
        try:
            store.transact(journal_io.load, iter(lines))
        except MnemicError:
            return "" if _content(path) == before else f"mutant {number}: refused, and the store is another"
        except Exception as error:  # noqa: BLE001 - whatever else comes out is the finding
            return f"mutant {number}: raised {error!r}"
        if _beside(store) != beside:
            return f"mutant {number}: taken, and the other tenant is another"
        faults = [f"{fault.where}: {fault.problem}" for fault in store.verify()]
        return f"mutant {number}: taken, and verify says {faults[0]}" if faults else ""


def _beside(store: SqliteStore) -> list[bytes]:
    """The journal of the tenant that was there before, if one was."""
    try:
        return list(store.export(RESIDENT))
    except NotFound:
        return []


def _content(path: Path) -> list[tuple[object, ...]]:
    """Every row of a store, and the numbers that SQLite has given."""
    with raw_store(path) as db:
        tables = [*(table.name for table in TABLES), "sqlite_sequence"]
        return [(table, *row) for table in tables for row in db.execute("SELECT * FROM " + table)]
