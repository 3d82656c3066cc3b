"""Attacks by exports that are none: lines of an exported journal changed by grammar and by bytes, then loaded.

Loading either refuses with an error of ours and leaves an empty store, or takes what holds together: then `verify`
finds no fault. Mutants come with an end line that fits them, for the most part: else nothing would get past the door.
"""

from __future__ import annotations

import hashlib
import json
import random
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from mnemic.errors import MnemicError
from mnemic.store.engine import journal_io
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.attack.frame import AttackReport
from mnemic.testing.attack.lived_store import lived_store
from mnemic.testing.store_contract.contract_world import TENANT
from mnemic.testing.torture.children import folder

QUICK = 150

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
        failures = [failure for n, lines in enumerate(mutants) if (failure := _tried(root, n, lines))]
        with patch.object(journal_io, "UNREADABLE", (KeyError,)):
            caught = sum(bool(_tried(root, n, lines)) for n, lines in enumerate(mutants))
    return AttackReport(tries=len(mutants), failures=failures, caught_by_control=caught)


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


def _tried(root: Path, number: int, lines: list[bytes]) -> str:
    """What is wrong with how a mutant was met; empty if nothing is."""
    path = root / "loaded.db"
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    with closing(SqliteStore(path)) as store:
        try:
            store.transact(journal_io.load, iter(lines))
        except MnemicError:
            with store.read() as snapshot:
                return f"mutant {number}: refused, and left a tenant" if snapshot.tenants() else ""
        except Exception as error:  # noqa: BLE001 - whatever else comes out is the finding
            return f"mutant {number}: raised {error!r}"
        faults = [f"{fault.where}: {fault.problem}" for fault in store.verify()]
        return f"mutant {number}: taken, and verify says {faults[0]}" if faults else ""
