"""Who follows which strategy: what the settings say, unless a user has chosen; a choice is a commit like any other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from noting import Noting

from mnemic import Channel, Conflict, Filter, Invalid, Kind, Memory, NotFound, ScopedMemory, State, Statement
from mnemic.models.chat.scripted_chat import ScriptedChat

LIVES = "I live in Lisbon."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", embedder="none") as memory:
        yield memory


def profile(me: ScopedMemory) -> list[str]:
    return [version.item.text for version in me.list(where=Filter(kinds=(Kind.PROFILE,))).items]


def test_a_user_who_chose_nothing_follows_what_the_settings_say(memory: Memory) -> None:
    me = memory.scope(user="ada")
    assert me.following() == ("house",)
    me.observe(LIVES)
    memory.flush()
    assert len(profile(me)) == 1


def test_who_follows_nothing_is_left_with_what_was_said(memory: Memory) -> None:
    ada, ben = memory.scope(user="ada"), memory.scope(user="ben")
    ada.follow()
    for me in (ada, ben):
        me.observe(LIVES)
    assert memory.flush()
    assert (ada.following(), ben.following()) == ((), ("house",))
    assert (profile(ada), len(profile(ben))) == ([], 1)
    assert ada.context("").text == ""
    assert ada.recall("Where do I live?").items[0].item.text == LIVES


def test_undo_of_a_choice_has_everything_read_that_was_said_meanwhile(memory: Memory) -> None:
    me = memory.scope(user="ada")
    chosen = me.follow()
    me.observe(LIVES)
    memory.flush()
    me.undo(chosen.seq)
    memory.flush()
    assert (me.following(), len(profile(me))) == (("house",), 1)


def test_a_store_that_follows_nothing_understands_who_asks_for_it(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="none", strategies=[]) as memory:
        ada, ben = memory.scope(user="ada"), memory.scope(user="ben")
        for me in (ada, ben):
            me.observe(LIVES)
        ada.follow("house")
        assert memory.flush()
        assert (len(profile(ada)), profile(ben)) == (1, [])
        ben.observe("I work at Acme.")
        assert memory.flush()
        assert profile(ben) == []
        assert memory.admin.verify() == []


def test_what_waits_is_only_what_somebody_follows(memory: Memory) -> None:
    ada, ben = memory.scope(user="ada"), memory.scope(user="ben")
    ada.follow()
    ada.observe(LIVES)
    memory.flush()
    assert [(one.lane, one.pending) for one in memory.admin.behind()] == [("house", 0)]
    assert memory.admin.jobs().items == ()
    assert memory.admin.verify() == []
    ben.observe(LIVES)
    assert {entry.user for entry in memory.admin.jobs().items} <= {"ben"}


def test_one_of_ones_own_is_followed_by_those_who_choose_it(tmp_path: Path) -> None:
    chat = ScriptedChat("noted", "noted")
    with Memory(tmp_path / "m.db", embedder="none", strategies=["house", Noting], model=chat) as memory:
        ada, ben = memory.scope(user="ada"), memory.scope(user="ben")
        ada.follow("house")
        for me in (ada, ben):
            me.observe(LIVES)
        memory.flush()
        assert [me.count(where=Filter(kinds=(Kind.INSIGHT,))) > 0 for me in (ada, ben)] == [False, True]


def test_a_choice_is_an_item_of_the_journal_and_its_last_wins(memory: Memory, tmp_path: Path) -> None:
    me = memory.scope(user="ada")
    me.follow()
    first = me.follow("house")
    (choice,) = me.list(where=Filter(tags=("mnemic:follows",))).items
    assert choice.item.text == "This memory follows house."
    assert len(me.history(choice.item.id)) == 2
    assert me.at(first.seq - 1).list(where=Filter(tags=("mnemic:follows",))).items[0].item.text.endswith("no strategy.")
    me.follow(default=True)
    assert me.following() == ("house",)
    with pytest.raises(NotFound):
        me.follow(default=True)


def test_a_choice_travels_with_an_export(tmp_path: Path) -> None:
    with Memory(tmp_path / "a.db", embedder="none", strategies=[]) as memory:
        me = memory.scope(user="ada")
        me.follow("house")
        me.observe(LIVES)
        lines = list(memory.admin.export())
    with Memory(tmp_path / "b.db", embedder="none", strategies=[]) as other:
        other.admin.load(lines)
        other.flush()
        assert len(profile(other.scope(user="ada"))) == 1


def test_unknown_names_are_refused_and_nothing_is_written(memory: Memory) -> None:
    me = memory.scope(user="ada")
    with pytest.raises(Invalid, match="Did you mean 'house'"):
        me.follow("hous")
    with pytest.raises(Invalid):
        me.follow("house", default=True)
    assert me.list().items == ()


def test_all_that_a_strategy_derived_is_hidden_in_one_commit_and_undo_brings_it_back(memory: Memory) -> None:
    me = memory.scope(user="ada")
    me.observe([LIVES, "I live in Porto now.", "I work at Acme."])
    memory.flush()
    before = profile(me)
    hidden = me.forget_by("house")
    memory.flush()
    assert (profile(me), me.context("").text.count("Porto")) == ([], 0)
    with pytest.raises(NotFound):
        me.forget_by("house")
    me.undo(hidden.seq)
    assert sorted(profile(me)) == sorted(before)


def test_what_makes_no_unit_yet_is_not_what_is_left_to_do(memory: Memory) -> None:
    me = memory.scope(user="ada")
    me.follow("mem0")
    me.observe(LIVES)
    assert memory.flush()
    (mem0,) = (one for one in memory.admin.behind() if one.lane == "mem0")
    assert (mem0.pending, mem0.begun) == (0, 1)


def test_a_choice_answers_no_question_and_an_import_makes_none(memory: Memory) -> None:
    me = memory.scope(user="ada")
    me.follow("house")
    me.observe("What does this memory follow?")
    assert not [one for one in me.recall("which strategies does this memory follow").items if "house" in one.item.text]
    choice = Statement(
        text="I follow nothing.", kind=Kind.RESOURCE, tags=("mnemic:follows",), slots={"follows": []},
        channel=Channel.TOOL,
    )  # fmt: skip
    me.write(choice)
    assert me.following() == ("house",)
    assert memory.admin.verify() == []


def test_who_is_read_by_another_default_is_read_from_the_first_turn_on(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="none", strategies=[]) as memory:
        memory.scope(user="ben").observe(LIVES)
        memory.scope(user="ada").follow("house")
        assert memory.flush()
    with Memory(tmp_path / "m.db", embedder="none") as memory:
        assert memory.flush()
        assert len(profile(memory.scope(user="ben"))) == 1


def test_what_somebody_wrote_in_a_strategys_name_is_not_hidden_with_its_own(memory: Memory) -> None:
    me = memory.scope(user="ada")
    written = me.write("The user lives in Porto.", slots={"by": "rules"})
    with pytest.raises(NotFound):
        me.forget_by("house")
    assert me.get(written.id).item.state is State.ACTIVE


@pytest.mark.parametrize("given", [(["mem0", ["x"]],), (["mem0"],), ("mem0", ("x",)), (3,), (None,)])
def test_what_is_no_name_is_refused_with_what_to_give(memory: Memory, given: tuple[Any, ...]) -> None:
    with pytest.raises(Invalid, match=r'strategies: .*each name by itself: `follow\("house", "mem0"\)`'):
        memory.scope(user="ada").follow(*given)


@pytest.mark.parametrize("given", [["mem0", ["x"]], ["mem0", 3], [None]])
def test_a_store_is_opened_with_names_and_strategies_and_nothing_else(given: list[Any]) -> None:
    with pytest.raises(Invalid, match=r"strategies: holds .*, which is no strategy. Give names of ours"):
        Memory("memory:", embedder="none", strategies=given)


@pytest.mark.parametrize("name", ["house", "zep", "mem0"])
def test_what_was_hidden_whole_is_derived_anew_by_a_rerun_but_what_was_rejected_by_itself_is_not(
    memory: Memory, name: str
) -> None:
    me = memory.scope(user="ada")
    me.follow(name)
    me.observe([LIVES, "I work at Acme.", "My sister Noor lives in Porto.", *(f"Nothing, day {n}." for n in range(80))])
    memory.flush()
    derived = Filter(by=("rules" if name == "house" else name,))
    before = {version.item.text: version.item.id for version in me.list(where=derived, limit=100).items}
    rejected = next(text for text in before if "Acme" in text)
    me.forget(before.pop(rejected))
    hidden = me.forget_by(name)
    memory.flush()
    assert not me.list(where=derived).items
    memory.admin.rerun(name, user="ada")
    memory.flush()
    again = {version.item.text: version.item.id for version in me.list(where=derived, limit=100).items}
    assert set(again) == set(before)
    assert not set(again.values()) & set(before.values())
    for _ in range(2):  # nor does a second rerun bring back more than what it takes back
        memory.admin.rerun(name, user="ada")
        memory.flush()
    assert {version.item.text for version in me.list(where=derived, limit=100).items} == set(before)
    with pytest.raises(Conflict):
        me.undo(hidden.seq)
    assert memory.admin.verify() == []
