"""A rerun that is taken back leaves what stood before it, and not what it derived anew beside that."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mnemic import Filter, Memory, ScopedMemory, Settings, State
from mnemic.core.ids import ItemId
from mnemic.testing.generators import ManualClock

TOLD = ("I live in Lisbon.", "I work at Acme.", "My sister Noor lives in Porto.", "It rains.")
AUTHORS = {"house": "rules", "zep": "zep"}


@pytest.fixture(params=AUTHORS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def memory(name: str) -> Iterator[Memory]:
    clock = ManualClock(step=1)
    with Memory("memory:", settings=Settings(background=False), clock=clock, embedder="none", strategies=[name]) as one:
        yield one


def stands(me: ScopedMemory, name: str) -> dict[ItemId, str]:
    """The texts that stand of what a strategy derived, by id."""
    where = Filter(by=(AUTHORS[name],), states=(State.ACTIVE, State.SUPERSEDED))
    return {version.item.id: version.item.text for version in me.list(where=where, limit=1000).items}


def last(me: ScopedMemory) -> int:
    return me.log(limit=1)[0].seq


def rerun(memory: Memory, name: str) -> int:
    """Have a strategy read all again; the commit that took back what it had derived."""
    before = last(memory.scope(user="ada"))
    memory.admin.rerun(name, user="ada")
    assert memory.flush()
    return before + 1


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    me = memory.scope(user="ada")
    me.observe(TOLD)
    assert memory.flush()
    return me


def test_a_revert_to_before_a_rerun_leaves_what_stood_then(memory: Memory, me: ScopedMemory, name: str) -> None:
    before, then = stands(me, name), last(me)
    rerun(memory, name)
    rerun(memory, name)
    assert not set(stands(me, name)) & set(before)
    reverted = me.revert(then)
    assert memory.flush()
    assert stands(me, name) == before
    me.undo(reverted.seq)
    assert sorted(stands(me, name).values()) == sorted(before.values())
    assert not set(stands(me, name)) & set(before)
    assert memory.admin.verify() == []


def test_the_commit_that_took_back_is_undone_with_what_was_derived_anew(
    memory: Memory, me: ScopedMemory, name: str
) -> None:
    before = stands(me, name)
    took = rerun(memory, name)
    anew = stands(me, name)
    undone = me.undo(took)
    assert memory.flush()
    assert stands(me, name) == before
    me.undo(undone.seq)
    assert stands(me, name) == anew
    assert memory.admin.verify() == []


@pytest.mark.parametrize("how", ["revert", "undo", "undo range"])
def test_a_rerun_after_one_that_was_taken_back_derives_again(
    memory: Memory, me: ScopedMemory, name: str, how: str
) -> None:
    rejected = next(id for id, text in stands(me, name).items() if "Acme" in text)
    me.forget(rejected)
    before, then = stands(me, name), last(me)
    took = rerun(memory, name)
    if how == "revert":
        me.revert(then)
    elif how == "undo":
        me.undo(took)
    else:
        me.undo_range(took, last(me))
    assert stands(me, name) == before
    rerun(memory, name)
    assert sorted(stands(me, name).values()) == sorted(before.values())
    assert not set(stands(me, name)) & set(before)
    assert memory.admin.verify() == []


@pytest.mark.parametrize("how", ["revert", "undo"])
def test_what_was_read_first_after_the_rerun_stays(memory: Memory, me: ScopedMemory, name: str, how: str) -> None:
    me.observe("My brother Ben works at Globex.")  # told before the rerun, and read after it alone
    before, then = stands(me, name), last(me)
    took = rerun_without_waiting(memory, name)
    if how == "revert":
        me.revert(then)
    else:
        me.undo(took)
    memory.flush()
    left = {id: text for id, text in stands(me, name).items() if id not in before}
    assert set(before) <= set(stands(me, name))
    assert sorted(left.values()) == sorted({text for text in left.values() if "Ben" in text or "Globex" in text})
    assert name != "zep" or left


def rerun_without_waiting(memory: Memory, name: str) -> int:
    """Have a strategy read all again whose last turn it has not read yet."""
    before = last(memory.scope(user="ada"))
    memory.admin.rerun(name, user="ada")
    assert memory.flush()
    me = memory.scope(user="ada")
    where = Filter(by=(AUTHORS[name],), states=(State.RETIRED,))
    gone = {version.seq_from for version in me.list(where=where, limit=1000).items}
    return min(seq for seq in gone if seq > before)
