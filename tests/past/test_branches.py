"""Branches: they read through, keep what is theirs, merge once, and are reached by erasure, export, backup and undo."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic import SHARED, Compacted, Conflict, Invalid, Memory, NotFound, Refused
from mnemic.admin import restore
from mnemic.core.items import State
from mnemic.core.queries import Filter
from mnemic.memory import ScopedMemory


@pytest.fixture(params=["file", "memory"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db" if request.param == "file" else "memory:") as opened:
        yield opened
        assert opened.admin.verify() == []


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


def said(me: ScopedMemory) -> list[str]:
    return [version.item.text for version in me.list(limit=100)][::-1]


def test_a_branch_shows_what_was_there_and_what_is_written_to_it(me: ScopedMemory) -> None:
    home = me.write("Ada lives in Lisbon").id
    branch = me.branch("try")
    branch.revise(home, "Ada lives in Porto")
    branch.write("Ada has a zebra")
    me.write("Ada has a yak")
    assert said(branch) == ["Ada lives in Porto", "Ada has a zebra"]
    assert said(me) == ["Ada lives in Lisbon", "Ada has a yak"]
    assert said(branch.at(1)) == ["Ada lives in Lisbon"]
    assert [v.item.text for v in branch.history(home)] == ["Ada lives in Lisbon", "Ada lives in Porto"]
    assert branch.history(home)[0].seq_to == branch.history(home)[1].seq_from


def test_recall_and_context_on_a_branch_read_through(me: ScopedMemory) -> None:
    home = me.write("Ada lives in Lisbon").id
    me.observe("Ben keeps bees in the garden")
    branch = me.branch("try")
    branch.revise(home, "Ada lives in Porto")
    me.write("Ada keeps bees in the attic")
    assert branch.recall("where does Ada live?")[0].text == "Ada lives in Porto"
    assert all("Lisbon" not in r.text and "attic" not in r.text for r in branch.recall("Ada lives bees").items)
    assert "Porto" in branch.context("where does Ada live?").text
    assert "Lisbon" in branch.at(2).context("where does Ada live?").text
    assert branch.why_not("where does Ada live?", home).stage == ""


def test_what_is_shared_is_read_at_the_base(memory: Memory, me: ScopedMemory) -> None:
    memory.scope(user=SHARED).write("the office is in Rome")
    me.write("mine")
    branch = me.branch("try")
    memory.scope(user=SHARED).write("the office is in Oslo")
    assert "the office is in Rome" in said(branch)
    assert "the office is in Oslo" not in said(branch)
    assert branch.count() == 2


def test_links_and_pins_stay_on_the_branch(me: ScopedMemory) -> None:
    one, two = me.write("one").id, me.write("two").id
    me.link(one, two, "about")
    branch = me.branch("try")
    branch.unlink(one, two, "about")
    branch.link(two, one, "near")
    branch.pin(one)
    assert [link.type for link in me.links(one)] == ["about"]
    assert [link.type for link in branch.links(one)] == ["near"]
    assert not me.get(one).item.pinned
    assert branch.get(one).item.pinned


def test_a_branch_of_a_branch_and_one_off_the_past(me: ScopedMemory) -> None:
    me.write("first")
    me.write("second")
    assert said(me.at(1).branch("before")) == ["first"]
    inner = me.branch("outer").branch("inner")
    me.on_branch("outer").write("third")
    assert said(inner) == ["first", "second"]
    assert [(b.name, b.of, b.base) for b in me.branches()] == [
        ("before", "", 1),
        ("outer", "", 3),
        ("inner", "outer", 4),
    ]
    with pytest.raises(Invalid):
        me.merge("inner")
    with pytest.raises(Conflict):
        me.drop_branch("outer")


def test_a_merge_is_one_commit_that_is_undone_and_done_once(me: ScopedMemory) -> None:
    home = me.write("Ada lives in Lisbon").id
    branch = me.branch("try")
    branch.revise(home, "Ada lives in Porto")
    pet = branch.write("Ada has a zebra").id
    branch.link(pet, home, "about")
    before = said(me)
    merged = me.merge("try")
    assert (set(merged.ids), merged.links, merged.conflicts) == ({home, pet}, 1, ())
    assert said(me) == ["Ada lives in Porto", "Ada has a zebra"]
    assert me.merge("try") == replace(merged, repeated=True)
    undone = me.undo(merged.seq or 0)
    assert said(me) == before
    me.undo(undone.seq)
    assert said(me) == ["Ada lives in Porto", "Ada has a zebra"]


@pytest.mark.parametrize("prefer", [None, "branch", "parent"])
def test_a_merge_asked_for_again_tells_what_it_did_and_writes_nothing(me: ScopedMemory, prefer: str | None) -> None:
    home, tea = me.write("Ada lives in Lisbon").id, me.write("Ada likes tea").id
    branch = me.branch("try")
    assert me.merge("try").seq is None
    branch.revise(tea, "Ada likes coffee")
    branch.link(tea, home, "about")
    if prefer:
        branch.revise(home, "Ada lives in Porto")
        me.revise(home, "Ada lives in Braga")
    done = me.merge("try", prefer=prefer)
    assert len(done.conflicts) == bool(prefer)
    me.revise(tea, "Ada likes milk")
    me.link(home, tea, "near")
    last = me.log()[0].seq
    for again in (prefer, "branch"):
        assert me.merge("try", prefer=again) == replace(done, repeated=True)
        assert not me.merge("try", prefer=again, dry_run=True).refused
    assert me.log()[0].seq == last
    more = branch.write("Ada has a zebra").id
    assert (me.merge("try").ids, me.merge("try").ids, me.merge("try").repeated) == ((more,), (more,), True)


def test_a_branch_off_a_moment_before_anything_is_refused_and_off_a_commit_is_empty(memory: Memory) -> None:
    memory.scope(user="bob").write("who came before")
    between = memory.scope(user="bob").log()[0].at
    me = memory.scope(user="ada")
    with pytest.raises(NotFound):
        me.at(between).branch("early")
    me.write("first")
    for when in (between, "1999-12-31"):
        with pytest.raises(Invalid, match=r"nothing was remembered here by then\. The first commit is 2"):
            me.at(when).branch("early")
    assert [me.at(seq).branch(f"off-{seq}").count() for seq in (0, 1, 2)] == [0, 0, 1]
    assert me.at(me.log(newest=False)[0].at).branch("then").count() == 1
    for name in ("off-0", "off-1", "off-2", "then"):
        me.drop_branch(name)
    memory.admin.compact(3)
    with pytest.raises(Compacted):
        me.at("1999-12-31").branch("early")


def test_a_merge_that_was_undone_can_be_made_again(me: ScopedMemory) -> None:
    me.write("kept")
    me.branch("try").write("new")
    me.undo(me.merge("try").seq or 0)
    assert len(me.merge("try").ids) == 1
    assert said(me) == ["kept", "new"]


def test_what_both_have_changed_is_reported_and_nothing_is_written(me: ScopedMemory) -> None:
    home, other = me.write("Ada lives in Lisbon").id, me.write("Ada likes tea").id
    branch = me.branch("try")
    branch.revise(home, "Ada lives in Porto")
    branch.revise(other, "Ada likes coffee")
    me.revise(home, "Ada lives in Braga")
    told = me.merge("try")
    (clash,) = told.conflicts
    assert (told.seq, told.refused, clash.id) == (None, True, home)
    assert [side.text for side in (clash.base, clash.branch, clash.parent)] == [  # type: ignore[union-attr]
        "Ada lives in Lisbon", "Ada lives in Porto", "Ada lives in Braga",
    ]  # fmt: skip
    assert said(me) == ["Ada likes tea", "Ada lives in Braga"]
    assert me.merge("try", prefer="parent").ids == (other,)
    assert me.get(home).item.text == "Ada lives in Braga"
    assert not me.merge("try").refused


def test_a_side_that_is_named_settles_a_conflict(me: ScopedMemory) -> None:
    home = me.write("Ada lives in Lisbon").id
    me.branch("try").revise(home, "Ada lives in Porto")
    me.forget(home)
    assert me.merge("try", prefer="branch", dry_run=True).seq is None
    assert me.merge("try", prefer="branch").seq
    assert said(me) == ["Ada lives in Porto"]
    with pytest.raises(Invalid):
        me.merge("try", prefer="mine")


def test_revert_is_a_commit_and_is_undone(me: ScopedMemory) -> None:
    home, other = me.write("Ada lives in Lisbon").id, me.write("Ada likes tea").id
    me.link(home, other, "about")
    me.revise(home, "Ada lives in Porto")
    me.forget(other)
    me.write("Ada has a yak")
    reverted = me.revert(3)
    assert sorted(said(me)) == ["Ada likes tea", "Ada lives in Lisbon"]
    me.undo(reverted.seq)
    assert sorted(said(me)) == ["Ada has a yak", "Ada lives in Porto"]
    assert me.revert(me.log()[0].seq).repeated
    with pytest.raises(Invalid):
        me.revert(99)


def test_erasing_reaches_every_branch(memory: Memory, me: ScopedMemory) -> None:
    evidence = me.observe("the word is zqkestrel").id
    branch = me.branch("try")
    branch.write("a fact from zqkestrel", source=[evidence])
    branch.pin(evidence)
    assert len(me.erase(evidence).ids) == 2
    assert said(branch) == said(me) == []
    assert memory.admin.verify() == []


def test_no_byte_of_what_was_erased_is_left_of_a_branch(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        me = memory.scope(user="ada")
        home = me.write("home").id
        branch = me.branch("zqbranchname")
        branch.revise(home, "home is zqkestrel")
        alone = branch.write("only here zqmerlin").id
        assert me.erase(home).status == branch.erase(alone).status == "clean"
        assert not [word for word in (b"zqkestrel", b"zqmerlin") if word in _bytes(tmp_path)]
        branch.write("zqsparrow")
        me.drop_branch("zqbranchname")
        assert not [word for word in (b"zqsparrow", b"zqbranchname") if word in _bytes(tmp_path)]
        me.branch("zqagain").write("zqfinch")
        assert me.erase_user().status == "clean"
        assert not [word for word in (b"zqfinch", b"zqagain") if word in _bytes(tmp_path)]


def _bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_export_and_load_carry_branches(memory: Memory, me: ScopedMemory) -> None:
    home = me.write("Ada lives in Lisbon").id
    me.branch("try").revise(home, "Ada lives in Porto")
    me.branch("gone")
    me.drop_branch("gone")
    with Memory("memory:") as fresh:
        fresh.admin.load(memory.admin.export())
        assert fresh.admin.state_hash() == memory.admin.state_hash()
        assert said(fresh.scope(user="ada").on_branch("try")) == ["Ada lives in Porto"]
        assert fresh.scope(user="ada").merge("try").ids == (home,)


def test_a_backup_brings_a_dropped_branch_back_and_no_erased_item(tmp_path: Path) -> None:
    store, copy = tmp_path / "memory.db", tmp_path / "copy.db"
    with Memory(store) as memory:
        me = memory.scope(user="ada")
        home = me.write("Ada lives in Lisbon").id
        me.branch("try").revise(home, "Ada lives in Porto")
        secret = me.on_branch("try").write("to be erased").id
        memory.admin.backup(copy)
        me.on_branch("try").erase(secret)
        me.drop_branch("try")
    assert restore(copy, store) == 1
    with Memory(store) as memory:
        assert said(memory.scope(user="ada").on_branch("try")) == ["Ada lives in Porto"]
        assert memory.admin.verify() == []


def test_a_branch_holds_the_horizon(memory: Memory, me: ScopedMemory) -> None:
    for number in range(4):
        me.write(f"statement {number}")
    me.at(2).branch("try")
    with pytest.raises(Refused, match="branch 'try'"):
        memory.admin.compact(3)
    memory.admin.compact(2)
    me.drop_branch("try")
    memory.admin.compact(3)
    with pytest.raises(Compacted):
        me.at(1).branch("behind")


def test_what_is_on_a_branch_only_can_be_held(memory: Memory, me: ScopedMemory) -> None:
    me.write("something")
    item = me.branch("try").write("only here").id
    hold = memory.admin.hold(user="ada", item=item)
    with pytest.raises(Refused, match=f"hold {hold}"):
        me.on_branch("try").erase(item)
    with pytest.raises(Refused, match=f"hold {hold}"):
        me.drop_branch("try")


def test_what_was_written_and_retired_on_the_branch_only_is_not_merged(me: ScopedMemory) -> None:
    home = me.write("Ada lives in Lisbon").id
    branch = me.branch("try")
    slip = branch.write("a slip").id
    branch.link(slip, home, "about")
    branch.forget(slip)
    merged = me.merge("try")
    assert (merged.seq, merged.ids, merged.links, merged.conflicts) == (None, (), 0, ())
    branch.write("meant")
    assert len(me.merge("try").ids) == 1
    with pytest.raises(NotFound):
        me.get(slip)


def test_a_revert_leaves_what_was_only_read_later_from_what_stands(memory: Memory, me: ScopedMemory) -> None:
    me.observe("From now on, always answer in French.")
    me.observe("My name is Ada Lovelace.")
    me.observe("From now on, always answer in German.")
    memory.flush()
    reverted = me.revert(2)
    always = [item.text for item in me.context("hello").always]
    assert any("French" in text for text in always)
    assert any("Lovelace" in text for text in always)
    assert not any("German" in text for text in always)
    assert me.revert(2).repeated
    me.undo(reverted.seq)
    assert any("German" in item.text for item in me.context("hello").always)


def test_a_revert_leaves_what_a_later_reading_has_settled(memory: Memory, me: ScopedMemory) -> None:
    me.observe("From now on, always answer in French.")
    memory.flush()
    read = me.log()[0].seq
    me.observe("From now on, never answer in French.")
    said = me.log()[0].seq
    memory.flush()
    everything = Filter(states=tuple(State))
    before = [(v.item.id, v.item.state, v.item.text) for v in me.list(where=everything, limit=100)]
    assert me.revert(said).repeated
    me.write("mine")
    me.revert(said)
    after = [(v.item.id, v.item.state, v.item.text) for v in me.list(where=everything, limit=100)]
    assert [one for one in after if one[2] != "mine"] == before
    me.revert(read)
    assert any("always answer in French" in item.text for item in me.context("hello").always)
    assert not any("never" in v.item.text for v in me.list())


def test_a_branch_that_is_not_there_is_not_made_by_reading_or_writing(me: ScopedMemory) -> None:
    me.write("something")
    for act in (lambda: me.on_branch("no").list(), lambda: me.on_branch("no").write("x"), lambda: me.merge("no")):
        with pytest.raises(NotFound, match="no branch"):
            act()
    with pytest.raises(Refused):
        me.as_of("2026-01-01").branch("no")
    assert me.branches() == []


def test_a_branch_is_understood_only_if_it_was_asked_for(memory: Memory, me: ScopedMemory) -> None:
    me.observe("Hello.")
    quiet, keen = me.branch("quiet"), me.branch("keen", understand=True)
    for branch in (quiet, keen):
        branch.observe("From now on, always answer in French.")
    memory.flush()
    assert "always" not in "".join(item.text for item in quiet.context("hello").always).lower()
    assert any("French" in item.text for item in keen.context("hello").always)
    assert State.ACTIVE in {version.item.state for version in keen.list()}


def test_a_branch_made_anew_under_the_name_of_a_dropped_one_has_not_been_merged(me: ScopedMemory) -> None:
    home = me.write("Home is Rome")
    me.branch("try").revise(home.id, "Home is Oslo")
    me.merge("try")
    me.drop_branch("try")
    me.at(home.seq).branch("try").forget(home.id)
    assert [clash.id for clash in me.merge("try").conflicts] == [home.id]
