"""Attacks on a closed store's file: rows changed, forged, taken out, swapped and played again by SQL, and bits flipped.

Each is done to a fresh copy of a small store in which something of everything has happened, and leaves a file that
SQLite itself finds sound; then the store is opened and verified. Either a fault is found, and where a row was meant it
is named, or the store is refused by a `StoreError`; anything else that is raised is a failure, by writes to it too.
All is done once more to a sealed store by somebody who makes checksums with our own code, and has not the key.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from unittest.mock import patch

import apsw

from mnemic.core.facets import author_facet
from mnemic.errors import MnemicError, StoreError
from mnemic.index.pack_audit import verify_with_packs
from mnemic.store.engine import lane_cursors
from mnemic.store.engine.audit_rows import SpaceAudit
from mnemic.store.sqlite import file_audit
from mnemic.store.sqlite.schema import TABLES, Table
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.attack.file_map import bytes_in_use
from mnemic.testing.attack.frame import AttackReport
from mnemic.testing.attack.lived_store import lived_store
from mnemic.testing.raw_store import raw_store
from mnemic.testing.store_contract.contract_world import World
from mnemic.testing.torture.children import folder

QUICK = 200
ENOUGH: Final = 0.999
"""The share of flipped bits that must be found."""

_ONE_IN: Final = 5
"""Of so many ways of tampering the control is tried with one."""
_WORDS: Final = {
    "ada": "(SELECT id FROM space WHERE user = 'ada' AND branch = '')",
    "bob": "(SELECT id FROM space WHERE user = 'bob')",
    "try": "(SELECT id FROM space WHERE branch = 'try')",
    "version": "space, id, seq_from, seq_to, n, state, kind, said, known_to, valid_from, valid_to, agent, session, pos,"
    " channel, expires, sight, body",
    "entry": "part, seq_from, seq_to, state, kind, said, known_to, valid_from, valid_to, agent, session, pos, pinned,"
    " channel, expires, sight, terms",
    "open": "9223372036854775807",
    "author": author_facet("mallory").hex(),
    "verse": "SELECT * FROM version WHERE CAST(body AS TEXT) LIKE '%in verse%'",
    "a": "SELECT ver FROM version WHERE seq_to > 1000000 AND body <> x'' ORDER BY ver LIMIT 1 OFFSET 14",
    "b": "SELECT ver FROM version WHERE seq_to > 1000000 AND body <> x'' ORDER BY ver LIMIT 1 OFFSET 16",
}
"""What stands in braces in `tampering.sql`: `a` and `b` are two standing versions of ada's."""
_KEY: Final = b"a key that no attacker has"
_UNSEEN: Final = frozenset(
    {("version", "ver", "last")} | {("pack", column, end) for column in ("id", "build") for end in ("first", "last")}
)
"""What means as much with any other value: the number of a row of no space, which keeps it from being given again; that
of a pack, by which nothing names it; and the build of one, which is read by nobody then and made anew."""


@dataclass(frozen=True, slots=True)
class Tampering:
    """One sort of tampering.

    Attributes:
        named: What one of the faults must say, for the row to be named.
        may_be_refused: Whether SQLite may keep it from being done.
    """

    name: str
    statements: tuple[str, ...]
    named: str
    may_be_refused: bool = False


def kinds() -> list[Tampering]:
    """What `tampering.sql` says: each is a line with a name and what must be named, then its statements."""
    text = Path(__file__).with_suffix(".sql").read_text()
    tamperings = []
    for part in text.split("-- ")[1:]:
        title, _, body = part.partition("\n")
        name, _, named = title.partition(" | ")
        body = re.sub(r"\{(\w+)\}", lambda word: _WORDS[word[1]], body)
        statements = [statement.strip() for statement in re.split(r";\n", body) if statement.strip()]
        tamperings.append(Tampering(name, tuple(statements), named.strip()))
    return tamperings


def attack(rounds: int, seed: int) -> AttackReport:
    """Tamper in every way with every table, then flip `rounds` bits of what the file has in use."""
    with folder() as root:
        every = [*kinds(), *_each_column()]
        failures = [failure for kind in every if (failure := _missed(root, kind))]
        failures += [failure for kind in every if (failure := _missed(root, kind, _KEY))]
        flips = list(_flips(rounds, seed))
        missed = [failure for place, bit in flips if (failure := _unseen(root, place, bit))]
        raised = [failure for failure in missed if "raised" in failure]
        if len(missed) > (1 - ENOUGH) * len(flips):
            failures += missed
        failures += raised
        with (
            patch.object(file_audit, "wrong_sums", lambda db, table: iter(())),
            patch.object(SpaceAudit, "_event", lambda self, row, last: iter(())),
        ):
            caught = sum(bool(_missed(root, kind)) for kind in every[::_ONE_IN])
    return AttackReport(tries=2 * len(every) + len(flips), failures=failures, caught_by_control=caught)


def _each_column() -> Iterator[Tampering]:
    """One value of each column of each table, changed to another of its type."""
    for table in TABLES:
        for column, kind, _ in table.columns:
            for end in ("first", "last"):
                if (table.name, column, end) not in _UNSEEN:
                    name = f"{table.name}.{column} of the {end} row changed"
                    yield Tampering(name, (_change(table, column, kind, end),), "", may_be_refused=True)


def _change(table: Table, column: str, kind: str, end: str) -> str:
    """The statement that changes a column of the first or last row, by its key, to another value of its type."""
    keys = ", ".join(table.keyed_by)
    order = keys if end == "first" else ", ".join(f"{key} DESC" for key in table.keyed_by)
    value = {
        "I": f"CASE {column} WHEN {_WORDS['open']} THEN 5000 ELSE ifnull({column}, 7) + 1000 END",
        "R": f"{column} + 0.5",
        "T": f"ifnull({column}, '') || 'x'",
        "B": f"CAST(ifnull({column}, '') || 'x' AS BLOB)",
    }[kind[0]]
    chosen = f"SELECT {keys} FROM {table.name} ORDER BY {order} LIMIT 1"
    return f"UPDATE {table.name} SET {column} = {value} WHERE ({keys}) = ({chosen})"


def _copy(root: Path, seal: bytes = b"") -> Path:
    path = root / "memory.db"
    for end in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    path.write_bytes(lived_store(seal))
    return path


def _missed(root: Path, kind: Tampering, seal: bytes = b"") -> str:
    """What is wrong with how an attack was met; empty if nothing is.

    Args:
        seal: The key of a sealed store, which is attacked by who has our code, but not this.
    """
    path = _copy(root, seal)
    with raw_store(path, knowing=bool(seal)) as db:
        before, declared = db.total_changes(), db.pragma("schema_version")
        try:
            for statement in kind.statements:
                db.execute(statement)
        except apsw.ConstraintError as error:
            return "" if kind.may_be_refused else f"{kind.name}: {error}"
        if db.total_changes() == before and db.pragma("schema_version") == declared:
            return f"{kind.name}: nothing was tampered with"
        if (sound := db.execute("PRAGMA integrity_check").get) != "ok":
            return f"{kind.name}: SQLite itself sees it: {sound}"
    faults = _faults_or_refusal(path, seal)
    if isinstance(faults, str):
        return f"{kind.name}: {faults}"
    if raised := _raised_by_writes(path, seal):
        return f"{kind.name}: {raised}"
    if seal:
        return "" if faults else f"{kind.name}, sealed: not found"
    if not any(kind.named in fault for fault in faults):
        return f"{kind.name}: {'nobody is named in ' + '; '.join(faults[:3]) if faults else 'not found'}"
    return ""


def _faults_or_refusal(path: Path, seal: bytes = b"") -> list[str] | str:
    """What is said of a file: faults, or the refusal to open it; a text where something else was raised."""
    try:
        with closing(SqliteStore(path, seal=seal)) as store:
            return [f"{fault.where}: {fault.problem}" for fault in verify_with_packs(store)]
    except StoreError as error:
        return [str(error)]
    except Exception as error:  # noqa: BLE001 - whatever else comes out is the finding
        return f"raised {error!r}"


def _raised_by_writes(path: Path, seal: bytes) -> str:
    """What a commit, a transaction or an erasure ends in that is no error of ours."""
    try:
        with closing(SqliteStore(path, seal=seal)) as store:
            world = World(store, "after")
            for write in (
                lambda: world.commit("written after it"),
                lambda: store.transact(lane_cursors.follow, "after"),
                lambda: world.erase(user="ada", whole=True),
            ):
                with suppress(MnemicError):
                    write()
    except MnemicError:
        return ""
    except Exception as error:  # noqa: BLE001 - whatever else comes out is the finding
        return f"a write raised {error!r}"
    return ""


def _flips(rounds: int, seed: int) -> Iterator[tuple[int, int]]:
    """Bits of what the file has in use, each as likely as any other."""
    chance, used = random.Random(seed), bytes_in_use(lived_store())
    for _ in range(rounds):
        yield used[chance.randrange(len(used))], chance.randrange(8)


def _unseen(root: Path, place: int, bit: int) -> str:
    """What is wrong with how a flipped bit was met; empty if nothing is."""
    path = _copy(root)
    content = bytearray(lived_store())
    content[place] ^= 1 << bit
    path.write_bytes(content)
    faults = _faults_or_refusal(path)
    if isinstance(faults, str):
        return f"byte {place}, bit {bit}: {faults}"
    return "" if faults else f"byte {place}, bit {bit}: not found"
