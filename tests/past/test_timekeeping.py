"""Checkpoints, and going back to a commit: the store is what it was, and what was erased since stays erased."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic import Compacted, Conflict, Invalid, Memory, NotFound, Refused
from mnemic.admin import restore


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db") as opened:
        yield opened
        assert opened.admin.verify() == []


def test_a_checkpoint_is_a_copy_that_is_known_and_holds_the_horizon(memory: Memory, tmp_path: Path) -> None:
    me = memory.scope(user="ada")
    me.write("first")
    made = memory.admin.checkpoint("before")
    me.write("second")
    assert memory.admin.checkpoints() == [made]
    assert (made.seq, made.there, made.path.parent) == (1, True, tmp_path / "checkpoints")
    with pytest.raises(Conflict):
        memory.admin.checkpoint("before")
    with pytest.raises(Invalid):
        memory.admin.checkpoint("../elsewhere")
    with pytest.raises(Refused, match="checkpoint 'before'"):
        memory.admin.compact(2)
    with Memory(made.path) as copy:
        assert copy.admin.state_hash() == made.hash
    memory.admin.drop_checkpoint("before")
    assert not made.path.exists()
    with pytest.raises(NotFound):
        memory.admin.drop_checkpoint("before")
    memory.admin.compact(2)


def test_going_back_gives_the_state_hash_of_then(memory: Memory) -> None:
    me = memory.scope(user="ada")
    home = me.write("Ada lives in Lisbon").id
    me.feedback(home, useful=True)
    was, used = memory.admin.state_hash(), me.strength(home)
    me.revise(home, "Ada lives in Porto")
    me.link(home, me.write("later").id, "about")
    me.feedback(home, useful=True)
    memory.scope(user="ben").write("who came later")
    me.branch("try").write("on a branch")
    done = memory.admin.rewind(2)
    assert (done.seq, done.erased, memory.admin.state_hash()) == (2, 0, was)
    assert (me.get(home).item.text, me.strength(home), me.branches()) == ("Ada lives in Lisbon", used, [])
    assert me.links(home) == []
    assert [one.text for one in me.recall("where does Ada live?").items] == ["Ada lives in Lisbon"]
    assert me.write("it goes on").seq == 3
    with pytest.raises(NotFound):
        memory.scope(user="ben").erase_user()


def test_what_was_erased_since_stays_erased(memory: Memory) -> None:
    me = memory.scope(user="ada")
    older = me.write("Ada lives in Lisbon").id
    newer = me.supersede(older, "Ada lives in Porto").id
    me.erase(newer)
    done = memory.admin.rewind(2)
    assert (done.seq, done.erased) == (3, 1)
    assert [v.item.text for v in me.list()] == ["Ada lives in Lisbon"]
    with pytest.raises(NotFound):
        me.get(newer)


def test_a_moment_names_a_commit_and_the_horizon_is_the_end(memory: Memory) -> None:
    me = memory.scope(user="ada")
    me.write("first")
    when = me.log()[0].at
    me.write("second")
    memory.admin.compact(1)
    assert memory.admin.rewind(when).seq == 1
    with pytest.raises(Compacted):
        memory.admin.rewind(0)
    with pytest.raises(Invalid):
        memory.admin.rewind(9)


def test_a_backup_is_put_back_as_of_a_commit(memory: Memory, tmp_path: Path) -> None:
    me = memory.scope(user="ada")
    me.write("first")
    was = memory.admin.state_hash()
    me.write("second")
    copy, fresh = memory.admin.backup(tmp_path / "copy.db"), tmp_path / "fresh.db"
    restore(copy, fresh, without_tombstones=True, to=1)
    with Memory(fresh) as back:
        assert back.admin.state_hash() == was
        assert back.admin.verify() == []
