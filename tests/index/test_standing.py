"""What is followed from commit to commit is what a scan would show, in its order, whoever wrote what meanwhile."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic import Memory
from mnemic.core.items import Kind, State
from mnemic.core.queries import Filter
from mnemic.core.visibility import timeless_conditions
from mnemic.memory import ScopedMemory
from mnemic.verbs.transacting import Transaction

FILTERS = (
    Filter(),
    Filter(kinds=(Kind.FACT, Kind.ENTITY)),
    Filter(tags=("red", "blue")),
    Filter(states=(State.RETIRED, State.SUPERSEDED)),
    Filter(session="s1", kinds=(Kind.FACT,)),
)


@pytest.fixture(params=["memory", "file"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    with Memory("memory:" if request.param == "memory" else tmp_path / "m.db", embedder="none") as memory:
        yield memory


def seen(me: ScopedMemory, where: Filter) -> list[tuple[str, int]]:
    return me.transact(where, lambda versions: Transaction(answer=[(v.item.id, v.seq_from) for v in versions]))


def scanned(me: ScopedMemory, where: Filter) -> list[tuple[str, int]]:
    return [(v.item.id, v.seq_from) for v in reversed(me.list(where=where, limit=10_000))]


@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_a_scan_shows_after_every_sort_of_commit(memory: Memory, seed: int) -> None:
    chance = random.Random(seed)
    me, other = memory.scope(user="ada"), memory.scope(user="eve")
    shelved = me.shelf(session="s1")
    for step in range(60):
        standing = [v.item.id for v in me.list(where=Filter(kinds=(Kind.FACT,)), limit=10_000)]
        act = chance.choice(("write", "write", "observe", "revise", "forget", "supersede", "undo", "erase", "other"))
        if act == "write" or not standing:
            chance.choice((me, shelved)).write(f"fact {step}", tags=chance.choice(([], ["red"], ["blue", "big"])))
        elif act == "observe":
            me.observe(f"turn {step}")
        elif act == "revise":
            me.revise(chance.choice(standing), f"revised {step}")
        elif act == "forget":
            me.forget(chance.choice(standing))
        elif act == "supersede":
            me.supersede(chance.choice(standing), f"newer {step}")
        elif act == "undo":
            me.undo(me.log(limit=1)[0].seq, cascade=True)
        elif act == "erase":
            me.erase(chance.choice(standing), reason="test")
        else:
            other.write(f"somebody else's {step}")
        for where in FILTERS:
            assert seen(me, where) == scanned(me, where), (step, act, where)


def test_what_was_erased_is_not_held(memory: Memory) -> None:
    me = memory.scope(user="ada")
    gone = me.write("a word that goes").ids[0]
    seen(me, Filter())
    me.erase(gone, reason="test")
    assert me._kernel.standings._held == {}


def test_no_filter_is_kept_once_something_was_erased(memory: Memory) -> None:
    me = memory.scope(user="ada")
    gone = me.write("a word that goes", tags=("secret",)).ids[0]
    assert me.count(where=Filter(tags=("secret",))) == 1
    assert timeless_conditions.cache_info().currsize > 0
    me.erase(gone, reason="test")
    assert timeless_conditions.cache_info().currsize == 0


def test_a_reader_from_before_an_erasure_leaves_nothing_of_it_to_those_after(tmp_path: Path) -> None:
    """Who began before it comes first to what somebody who began after it has just made room for."""
    with Memory(tmp_path / "m.db", embedder="none") as memory:
        me = memory.scope(user="ada")
        gone = me.write("a word that goes").ids[0]
        standings, store = me._kernel.standings, memory._opened.store
        with store.read() as before:
            (old,) = before.spaces((1,))
            me.erase(gone, reason="test")
            with store.read() as after:
                (head,) = after.spaces((1,))
                standings._of(head, Filter())  # it has made room, and not yet read
                shown = standings.read(before, old, Filter())[1]
                assert [version.item.id for version in shown] == [gone], "each sees what its own snapshot holds"
                assert standings.read(after, head, Filter())[1] == []
