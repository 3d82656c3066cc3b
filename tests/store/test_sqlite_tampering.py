"""Whatever is changed behind the store's back, `verify` names it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic.core.events import Verb
from mnemic.core.items import Strength
from mnemic.errors import MnemicError
from mnemic.store.engine import compaction, lane_cursors
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.drafts import Note
from mnemic.testing.raw_store import raw_store
from mnemic.testing.store_contract.contract_world import TENANT, World
from mnemic.testing.store_contract.vector_contract import batch, enlist


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Eight commits: three items, a revision, a link, a note, an erasure, and two more; a vector for each entry."""
    world = World(SqliteStore(tmp_path / "memory.db"))
    one, two, three = (world.item(text, session="s") for text in ("one", "two", "three"))
    world.commit(world.put(one), world.put(two), world.put(three))
    world.commit(world.put(replace(one, text="uno"), Verb.REVISED))
    world.tie(one.id, two.id)
    world.commit(Note(verb=Verb.USED, payload=b'{"a":1}'), used={one.id: Strength(uses=1)})
    world.erase(three.id)
    world.commit("four")
    world.commit("five")
    world.store.transact(lane_cursors.keep, batch(world, enlist(world)))
    assert world.faults() == []
    yield world
    world.store.close()


def tamper(world: World, statement: str, *bound: object) -> None:
    assert isinstance(world.store, SqliteStore)
    with raw_store(world.store.path) as db:
        db.execute(statement, bound)
        assert db.changes() > 0, "nothing was tampered with"


def test_what_has_a_context_and_no_source_is_erased_with_that_and_audited(world: World) -> None:
    beside, kept = world.item("beside"), world.item("kept")
    quoting = [world.item(f"quotes {one.text}", context=(one.id,)) for one in (beside, kept)]
    world.commit(*map(world.put, (beside, kept)))
    world.commit(*map(world.put, quoting))
    world.erase(beside.id)
    assert [world.get(one.id) is None for one in quoting] == [True, False]
    assert world.faults() == []
    tamper(world, "DELETE FROM derived")
    assert [one for one in world.faults() if f"is not listed as derived from {kept.id}" in one]


UNA = "UPDATE version SET body = CAST(replace(CAST(body AS TEXT), 'uno', 'una') AS BLOB) WHERE seq_from = 2"

CASES: dict[str, tuple[str, str]] = {
    "a body": (UNA, "commit 2"),
    "a body's encoding": ("UPDATE version SET body = CAST(body || ' ' AS BLOB) WHERE seq_from = 6", "commit 6"),
    "a link's body": ("UPDATE link SET body = CAST(replace(CAST(body AS TEXT), '1.0', '9.0') AS BLOB)", "commit 3"),
    "a payload": ("UPDATE event SET payload = CAST('{\"a\":2}' AS BLOB) WHERE seq = 4", "commit 4"),
    "a salt": ("UPDATE event SET salt = randomblob(16) WHERE seq = 6", "commit 6"),
    "a digest": ("UPDATE event SET digest = zeroblob(32) WHERE seq = 6", "commit 6"),
    "a verb": ("UPDATE event SET verb = 4 WHERE seq = 6", "commit 6"),
    "an event's item": ("UPDATE event SET item = zeroblob(16) WHERE seq = 6", "commit 6"),
    "a hash": ("UPDATE change SET hash = zeroblob(32) WHERE seq = 6", "commit 6"),
    "a recorded time": ("UPDATE change SET at = at + 1 WHERE seq = 6", "commit 6"),
    "an actor": ("UPDATE change SET actor = actor + 1 WHERE seq = 6", "commit 6"),
    "a cause": ("UPDATE change SET cause = 1 WHERE seq = 6", "commit 6"),
    "a commit taken out": ("DELETE FROM change WHERE seq = 4", "commit 5"),
    "an event taken out": ("DELETE FROM event WHERE seq = 1 AND n = 1", "commit 1"),
    "a version taken out": ("DELETE FROM version WHERE seq_from = 6", "commit 6"),
    "a superseded version taken out": ("DELETE FROM version WHERE seq_from = 1 AND seq_to = 2", "commit 1"),
    "a link taken out": ("DELETE FROM link", "commit 3"),
    "an entry taken out": ("DELETE FROM entry WHERE seq_from = 6", "commit 6"),
    "a state": ("UPDATE version SET state = 3 WHERE seq_from = 6", "commit 6"),
    "a time said": ("UPDATE version SET said = said - 1 WHERE seq_from = 6", "commit 6"),
    "a session": ("UPDATE version SET session = 0 WHERE seq_from = 2", "commit 2"),
    "a name": ("UPDATE name SET text = 't' WHERE text = 's'", "commit 2"),
    "an entry's state": ("UPDATE entry SET state = 3 WHERE seq_from = 6", "commit 6"),
    "a pin": ("UPDATE entry SET pinned = 1 WHERE seq_from = 6", "commit 6"),
    "a vector of another version": ("UPDATE vector SET ver = 99 WHERE ver = 1", "vector of version 99"),
    "a vector of another part": ("UPDATE vector SET part = 1 WHERE ver = 1", "part 1"),
    "a vector's size": ("UPDATE vector SET f16 = x'0000' WHERE ver = 1", "vector of version 1"),
    "a vector's embedder": ("UPDATE vector SET model = 7 WHERE ver = 1", "vector of version 1"),
    "an embedder taken out": ("DELETE FROM embedder", "vector of version 1"),
    "an end": ("UPDATE version SET seq_to = 5 WHERE seq_from = 6", "commit 6"),
    "a reopened version": ("UPDATE version SET seq_to = 9223372036854775807 WHERE seq_to = 2", "item"),
    "the erasure's payload": ("UPDATE event SET payload = NULL, salt = NULL WHERE verb = 11", "commit 5"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_tampered_row_is_named(world: World, case: str) -> None:
    statement, where = CASES[case]
    tamper(world, statement)
    faults = world.faults()
    assert any(where in fault for fault in faults), faults


def test_swapped_digests_are_named(world: World) -> None:
    digests = [change.events[0].digest for change in world.changes()[5:7]]
    for seq, digest in zip((6, 7), reversed(digests), strict=True):
        tamper(world, "UPDATE event SET digest = ? WHERE seq = ?", digest, seq)
    faults = world.faults()
    assert any("commit 6" in fault for fault in faults)
    assert any("commit 7" in fault for fault in faults)


def test_a_blanked_salt_without_an_erasure_is_named(world: World) -> None:
    tamper(world, "UPDATE event SET salt = NULL WHERE seq = 6")
    assert any("commit 6" in fault for fault in world.faults())


def test_content_taken_out_with_its_salt_but_without_an_erasure_is_named(world: World) -> None:
    for statement in (
        "UPDATE event SET salt = NULL, ver = 0 WHERE seq = 6",
        "DELETE FROM entry WHERE seq_from = 6",
        "DELETE FROM version WHERE seq_from = 6",
    ):
        tamper(world, statement)
    assert any("no erasure says so" in fault for fault in world.faults())


def test_bytes_flipped_in_the_file_are_found(world: World) -> None:
    assert isinstance(world.store, SqliteStore)
    path = world.store.path
    world.store.close()
    content = path.read_bytes()
    place = content.index(b'"text":"five"') + 9
    path.write_bytes(content[:place] + b"F" + content[place + 1 :])
    opened = World(SqliteStore(path))
    assert any("commit 7" in fault for fault in opened.faults())
    opened.store.close()


def test_tampering_is_found_behind_a_horizon_too(world: World) -> None:
    compaction.compact(world.store, TENANT, 6)
    assert world.faults() == []
    tamper(world, UNA)
    assert any("commit 2" in fault for fault in world.faults())


@pytest.mark.parametrize(
    "value",
    [b"", b"x", b"\xff", b"[]", b'{"rows":[],"heads":{}}', b'{"rows":{"hold":"ab"},"heads":{}}', b'{"rows":{}}'],
)
@pytest.mark.parametrize("key", ["swept", "counts", "tokens", "lease", "origin"])
def test_a_damaged_fact_about_the_file_is_an_error_of_ours_whatever_is_written(
    world: World, key: str, value: bytes
) -> None:
    tamper(world, "UPDATE meta SET value = ? WHERE key = ?", value, key)
    item = world.versions()[0].item.id
    writes: tuple[Callable[[], object], ...] = (
        lambda: world.commit("six"),
        lambda: world.store.transact(lane_cursors.follow, "other"),
        lambda: world.erase(item),
        world.faults,
    )
    for write in writes:
        with suppress(MnemicError):
            write()
