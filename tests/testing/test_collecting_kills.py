"""Killed at any point of a collection: nothing that stood is lost, the store is sound, and the next run goes on."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic.core.events import Verb
from mnemic.store.engine import compaction
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.faults import CountingProbe, KillAt, Probe
from mnemic.testing.store_contract.contract_world import TENANT, World
from mnemic.testing.torture import children
from mnemic.testing.torture.subject import silent

pytestmark = pytest.mark.heavy

POINTS = ("gc:slice-begin", "gc:before-commit", "gc:after-commit")
_SHORT = 1e-9


def lived(path: Path) -> list[str]:
    """A store with a past, and what stands in it."""
    with closing(SqliteStore(path)) as store:
        world = World(store)
        for n in range(60):
            item, fact = world.item(f"turn {n}", session=f"s{n}"), world.item(f"fact {n}")
            fact = replace(fact, source=(item.id,))
            world.commit(world.put(item), world.put(fact))
            world.commit(world.put(replace(fact, text=f"fact {n} again"), Verb.REVISED))
            if n % 3:
                world.retire(replace(fact, text=f"fact {n} again"))
                world.retire(item)
        return world.texts()


def collect(path: Path, probe: Probe) -> None:
    """Move the horizon and sweep in the shortest slices, writing in between."""
    with closing(SqliteStore(path, probe=probe)) as store:
        store.transact(compaction.move, TENANT, World(store).seq())
        while store.sweep(TENANT, _SHORT).more:
            pass


def sound(path: Path, texts: list[str]) -> None:
    """Nothing lost, nothing wrong; and a run from here finishes what is left."""
    with closing(SqliteStore(path)) as store:
        world = World(store)
        assert world.faults() == []
        assert world.texts() == texts
    collect(path, silent)
    with closing(SqliteStore(path)) as store:
        world = World(store)
        assert world.faults() == []
        assert world.texts() == texts
        with store.read() as snapshot:
            counts = snapshot.version_counts(1)
        assert (counts.closed, counts.retired) == (0, 0)


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_kill_at_a_named_point_loses_nothing(tmp_path: Path, point: str, share: float) -> None:
    path, counted = tmp_path / "memory.db", CountingProbe()
    texts = lived(tmp_path / "counted.db")
    assert lived(path) == texts
    collect(tmp_path / "counted.db", counted)
    passes = counted.points[point]
    assert passes > 3
    child = children.fork(lambda say: collect(path, KillAt(point, 1 + round(share * (passes - 1)))))
    assert child.status() < 0
    sound(path, texts)


@pytest.mark.parametrize("delay", [0.01, 0.03, 0.06, 0.1])
def test_a_kill_at_any_moment_loses_nothing(tmp_path: Path, delay: float) -> None:
    path = tmp_path / "memory.db"
    texts = lived(path)
    child = children.fork(lambda say: collect(path, silent))
    time.sleep(delay)
    child.kill()
    child.status()
    sound(path, texts)
