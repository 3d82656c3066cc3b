"""Taking back many commits at once: a range of them, or what an import brought in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mnemic import Channel, Filter, Memory, Message, State
from mnemic.errors import Compacted, Conflict, Invalid, NotFound
from mnemic.memory import ScopedMemory


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory("memory:") as memory:
        yield memory


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


def texts(me: ScopedMemory) -> set[str]:
    return {version.item.text for version in me.list(limit=100)}


def imported(me: ScopedMemory, source: str, *words: str) -> int:
    batch = [Message(text=text, key=f"{source}:{text}", slots={"source": source}) for text in words]
    return me.observe(batch, channel=Channel.IMPORT).seq


def test_a_range_is_taken_back_and_brought_back(me: ScopedMemory) -> None:
    seqs = [me.observe(f"Fox {n}.").seq for n in range(6)]
    done = me.undo_range(seqs[1], seqs[4])
    assert [one.seq for one in done] == [seqs[4], seqs[3], seqs[2], seqs[1]]
    assert texts(me) == {"Fox 0.", "Fox 5."}
    me.undo_range(done[0].receipt.seq, done[-1].receipt.seq)
    assert texts(me) == {f"Fox {n}." for n in range(6)}


def test_what_was_changed_within_the_range_goes_with_its_changes(me: ScopedMemory) -> None:
    before = me.write("Ada lives in Rome.")
    first = me.write("Ada works.")
    me.revise(first.id, "Ada works at night.")
    me.pin(before.id)
    me.supersede(before.id, "Ada lives in Oslo.")
    last = me.undo(me.log(limit=1)[0].seq)
    me.undo_range(first.seq, last.seq)
    assert texts(me) == {"Ada lives in Rome."}
    assert not me.get(before.id).item.pinned


def test_what_was_undone_already_stays_undone_and_what_was_redone_goes(me: ScopedMemory) -> None:
    seqs = [me.observe(f"Fox {n}.").seq for n in range(4)]
    me.undo(seqs[1])
    redone = me.undo(me.undo(seqs[2]).seq)
    done = me.undo_range(seqs[1], seqs[3])
    assert {one.seq for one in done} == {redone.seq, seqs[3]}
    assert texts(me) == {"Fox 0."}
    with pytest.raises(NotFound, match=f"{seqs[1]} to {seqs[3]}"):
        me.undo_range(seqs[1], seqs[3])


def test_an_undo_within_the_range_of_something_before_it_is_taken_back_too(me: ScopedMemory) -> None:
    fox = me.observe("Fox.").seq
    me.observe("Hen.")
    undone = me.undo(fox)
    me.undo_range(undone.seq, undone.seq)
    assert texts(me) == {"Fox.", "Hen."}


def test_a_later_change_is_in_the_way_before_anything_is_written(me: ScopedMemory) -> None:
    first, second = me.write("Ada works."), me.write("Ada sleeps.")
    later = me.revise(first.id, "Ada works at night.")
    head = me.log(limit=1)[0].seq
    with pytest.raises(Conflict, match=f"commit {first.seq} .*by commit {later.seq}"):
        me.undo_range(first.seq, second.seq)
    assert me.log(limit=1)[0].seq == head
    me.undo_range(first.seq, second.seq, cascade=True)
    assert texts(me) == set()


def test_a_later_change_that_was_taken_back_is_in_nobodys_way(me: ScopedMemory) -> None:
    first = me.write("Ada works.")
    me.undo(me.revise(first.id, "Ada works at night.").seq)
    me.undo_range(first.seq, first.seq)
    assert texts(me) == set()


def test_what_rules_derived_goes_with_its_evidence_and_stays_with_it(memory: Memory, me: ScopedMemory) -> None:
    first = me.observe("I live in Lisbon.", role="user")
    memory.flush()
    me.observe("From now on, answer in metric units.", role="user")
    memory.flush()
    assert "The user lives in Lisbon." in texts(me)
    assert me.count() == 4
    me.undo_range(first.seq + 1, me.log(limit=1)[0].seq)  # the first reading lies in it, its evidence does not
    assert texts(me) == {"I live in Lisbon.", "The user lives in Lisbon."}


def test_a_range_of_nothing_but_derived_commits_is_meant_as_it_is_named(memory: Memory, me: ScopedMemory) -> None:
    me.follow("house", "zep")
    me.observe("I live in Lisbon.", role="user")
    me.observe("I work at Acme.", role="user")
    memory.flush()
    before = {version.item.id for version in me.list(limit=100)}
    last = me.log(limit=1)[0].seq
    memory.admin.rerun("zep", user="ada")
    memory.flush()
    anew = {version.item.id for version in me.list(limit=100)}
    assert anew != before
    undone = me.undo_range(last + 1, me.log(limit=1)[0].seq)
    assert {version.item.id for version in me.list(limit=100)} == before
    assert memory.flush()
    assert {version.item.id for version in me.list(limit=100)} == before
    me.undo_range(undone[0].receipt.seq, undone[-1].receipt.seq)
    assert {version.item.id for version in me.list(limit=100)} == anew
    assert memory.admin.verify() == []


def test_others_commits_and_erasures_within_the_range_are_passed_over(memory: Memory, me: ScopedMemory) -> None:
    bob = memory.scope(user="bob")
    first, gone = me.observe("Fox."), me.observe("Hen.")
    bob.observe("Bob was here.")
    me.erase(gone.id)
    last = me.observe("Owl.")
    me.undo_range(first.seq, last.seq)
    assert texts(me) == set()
    assert texts(bob) == {"Bob was here."}


def test_a_range_that_is_none_is_refused(memory: Memory, me: ScopedMemory) -> None:
    seqs = [me.observe(f"Fox {n}.").seq for n in range(3)]
    with pytest.raises(Invalid, match=f"{seqs[0]}..{seqs[1]}"):
        me.undo_range(seqs[1], seqs[0])
    for first in seqs[0], seqs[-1] + 1:
        with pytest.raises(NotFound, match=f"newest is {seqs[-1]}"):
            me.undo_range(first, seqs[-1] + 50)
    assert len(texts(me)) == len(seqs)
    with pytest.raises(NotFound, match="nothing"):
        memory.scope(user="nobody").undo_range(1, 3)
    memory.admin.compact(horizon=seqs[1])
    with pytest.raises(Compacted):
        me.undo_range(seqs[0], seqs[2])


def test_an_import_is_taken_back_by_its_name(me: ScopedMemory) -> None:
    me.observe("My own words.", slots={"source": "notes"})
    imported(me, "notes", "One.", "Two.")
    me.observe("In between.")
    imported(me, "other", "Three.")
    last = imported(me, "notes", "Four.")
    one, two = (v.item.id for v in me.list(where=Filter(slots={"source": "notes"}, channels=(Channel.IMPORT,)))[1:])
    me.link(one, two, "next")
    done = me.undo_import("notes")
    assert texts(me) == {"My own words.", "In between.", "Three."}
    assert len(done) == 3
    assert me.links(one) == []
    assert last in {one.seq for one in done}
    with pytest.raises(NotFound, match="notes"):
        me.undo_import("notes")
    me.undo_range(done[0].receipt.seq, done[-1].receipt.seq)
    assert {"One.", "Two.", "Four."} <= texts(me)


def test_an_import_of_which_something_was_used_further_is_refused_until_it_cascades(me: ScopedMemory) -> None:
    imported(me, "notes", "One.", "Two.")
    item = me.list(limit=1)[0].item.id
    me.forget(item)
    with pytest.raises(Conflict, match="cascade"):
        me.undo_import("notes")
    me.undo_import("notes", cascade=True)
    assert texts(me) == set()
    assert me.count(where=Filter(states=(State.RETIRED,))) == 2


def test_an_import_that_is_not_here_is_said(me: ScopedMemory) -> None:
    me.observe("Fox.")
    with pytest.raises(NotFound, match="no import 'chat' here"):
        me.undo_import("chat")
