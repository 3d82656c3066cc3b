"""Undo is the inverse of a commit with its consequences, and undoing an undo is redo."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from mnemic import SHARED, Memory, NotFound
from mnemic.errors import Conflict
from mnemic.memory import ScopedMemory


def day(number: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory("memory:") as memory:
        yield memory


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


def texts(me: ScopedMemory) -> list[str]:
    return [version.item.text for version in me.list()][::-1]


def test_redoing_a_supersession_leaves_the_older_ones_superseded(me: ScopedMemory) -> None:
    first = me.write("first", said=day(0))
    second = me.supersede(first.id, "second", said=day(1))
    third = me.supersede(second.id, "third", said=day(2))
    undone = me.undo(third.seq)
    assert texts(me) == ["second"]
    me.undo(undone.seq)
    assert texts(me) == ["third"]


def test_redoing_a_forgetting_forgets_no_more_than_it_did(me: ScopedMemory) -> None:
    evidence = me.observe("evidence")
    me.write("fact", source=evidence.ids)
    undone = me.undo(me.forget(evidence.id).seq)
    assert texts(me) == ["fact", "evidence"]
    me.undo(undone.seq)
    assert texts(me) == ["fact"]


@pytest.mark.parametrize(
    ("undos", "told"),
    [
        (1, "commit 1 is undone already, by commit 2; undo that one to redo it"),
        (2, "commit 1 was undone, by commit 2, and redone, by commit 3; undo that one to take it back"),
        (3, "commit 1 is undone already, by commit 4; undo that one to redo it"),
        (4, "commit 1 was undone, by commit 4, and redone, by commit 5; undo that one to take it back"),
    ],
)
@pytest.mark.parametrize("by_range", [False, True])
def test_what_was_undone_or_redone_names_the_commit_to_undo(
    me: ScopedMemory, undos: int, told: str, by_range: bool
) -> None:
    seq = me.write("fact").seq
    for _ in range(undos):
        seq = me.undo_range(seq, seq)[0].receipt.seq if by_range else me.undo(seq).seq
    with pytest.raises(Conflict) as refused:
        me.undo(1)
    assert told in str(refused.value)
    me.undo(seq)
    assert texts(me) == (["fact"] if undos % 2 else [])


@pytest.mark.parametrize("redone", [False, True])
def test_what_was_changed_since_is_told_with_what_cascade_does(me: ScopedMemory, redone: bool) -> None:
    written = me.write("fact")
    if redone:
        me.undo(me.undo(written.seq).seq)
    revised = me.revise(written.id, "fact, revised")
    with pytest.raises(Conflict) as refused:
        me.undo(written.seq)
    assert f"{written.id} (by commit {revised.seq})" in str(refused.value)
    assert "cascade (`--cascade`): that takes back what was changed since, too" in str(refused.value)
    me.undo(written.seq, cascade=True)
    assert texts(me) == []


def test_undoing_a_write_for_the_second_time_takes_along_what_was_derived_between(me: ScopedMemory) -> None:
    evidence = me.observe("evidence")
    undone = me.undo(evidence.seq)
    redone = me.undo(undone.seq)
    me.write("fact", source=evidence.ids)
    me.undo(redone.seq)
    assert texts(me) == []


def test_what_reopens_by_consequence_has_its_own_clocks_again(me: ScopedMemory) -> None:
    evidence = me.observe("evidence")
    old = me.write("old", said=day(0), valid_to=day(70))
    me.supersede(old.id, "new", said=day(2), source=evidence.ids)
    me.undo(evidence.seq)
    (version,) = me.list()
    assert (version.item.text, version.item.known_to, version.item.valid_to) == ("old", None, day(70))


def test_what_reopens_is_evidence_again(me: ScopedMemory) -> None:
    old = me.write("old", said=day(0))
    new = me.supersede(old.id, "new", said=day(2))
    me.write("derived from both", source=(new.id, old.id))
    me.undo(new.seq)
    assert texts(me) == ["derived from both", "old"]


def test_shared_evidence_is_evidence(memory: Memory, me: ScopedMemory) -> None:
    shared, own = memory.scope(user=SHARED).observe("shared"), me.observe("own")
    me.write("derived from both", source=(shared.id, own.id))
    me.undo(own.seq)
    assert texts(me) == ["shared", "derived from both"]


def test_a_link_tied_anew_or_untied_comes_back_as_it_was(me: ScopedMemory) -> None:
    one, two = me.write("one"), me.write("two")
    me.link(one.id, two.id, "about", weight=0.25)
    me.undo(me.link(one.id, two.id, "about", weight=0.5).seq)
    assert [link.weight for link in me.links(one.id)] == [0.25]
    me.undo(me.unlink(one.id, two.id, "about").seq)
    assert [link.weight for link in me.links(one.id)] == [0.25]


def test_untying_what_was_never_tied_leaves_nothing_to_tie(me: ScopedMemory) -> None:
    one, two = me.write("one"), me.write("two")
    with pytest.raises(NotFound):
        me.undo(me.unlink(one.id, two.id, "about").seq)
    assert me.links(one.id) == []


def test_undoing_what_followed_a_revert_has_no_consequences_for_what_was_forgotten(me: ScopedMemory) -> None:
    basis = me.write("basis")
    me.write("conclusion", source=[basis.id])
    forgotten = me.forget(basis.id)
    me.revise(basis.id, "basis, differently")
    me.revert(forgotten.seq)
    revised = me.revise(basis.id, "basis, differently again")
    me.undo(revised.seq)
    assert texts(me) == ["conclusion"]


def test_undoing_what_followed_an_undo_has_its_consequences_again(me: ScopedMemory) -> None:
    basis = me.write("basis")
    undone = me.undo(basis.seq)
    me.write("conclusion", source=[basis.id])
    back = me.undo(undone.seq)
    me.undo(back.seq)
    assert texts(me) == []


@pytest.mark.parametrize("compacted", [False, True])
def test_undoing_a_correction_of_what_is_hidden_takes_nothing_along(
    memory: Memory, me: ScopedMemory, *, compacted: bool
) -> None:
    note = me.write("note")
    me.undo(note.seq)
    fact = me.write("fact", source=note.ids)
    if compacted:
        memory.admin.compact(fact.seq)
    me.undo(me.revise(note.id, "another note").seq)
    assert texts(me) == ["fact"]
