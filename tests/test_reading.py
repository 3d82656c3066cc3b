"""Reading reads: it commits nothing, moves no number that a person sees, and knows what was said a moment ago."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic import Memory, Settings
from mnemic.core.items import Kind, Strength
from mnemic.core.queries import Filter
from mnemic.errors import NotFound
from mnemic.memory import ScopedMemory
from mnemic.testing.sql_counts import counted
from mnemic.verbs.statements import Statement
from mnemic.verbs.transacting import Transaction

QUIET = Settings(background=False)
ONCE_A_SECOND = Settings(background=False, use_flush_seconds=1.0)
ASKED = "From now on, answer in metric units."
PROFILE = Filter(kinds=(Kind.PROFILE, Kind.PROCEDURE))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", settings=QUIET, embedder="none") as memory:
        yield memory


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


def test_reading_moves_nothing_that_a_person_sees(memory: Memory, me: ScopedMemory) -> None:
    me.observe("I live in Lisbon and the cat is called Miso.")
    memory.flush()
    with me.watch() as watch:
        seq, log, after = me.recall("cat").seq, me.log(), watch.mark
        for _ in range(3):
            me.recall("cat")
            me.context("cat")
            me.ask("Where do I live?")
        memory._opened.uses.flush()
        assert me.strength(me.recall("cat").items[0].id).uses > 0
        assert (me.recall("cat").seq, me.context("cat").seq, me.log()) == (seq, seq, log)
        assert me.changes(after=after) == []


def test_others_who_write_or_read_do_not_move_it_either(memory: Memory, me: ScopedMemory) -> None:
    me.observe("The cat is called Miso.")
    seq = me.recall("cat").seq
    other = memory.scope(user="bo")
    other.observe("The dog is called Rex.")
    other.recall("dog")
    memory._opened.uses.flush()
    assert me.recall("cat").seq == seq
    assert [item.id for item in me.at(seq).recall("cat").items] == [item.id for item in me.recall("cat").items]


def test_what_was_said_to_help_or_mislead_is_a_deed_and_listed(me: ScopedMemory) -> None:
    turn = me.observe("The cat is called Miso.").id
    receipt = me.feedback(turn, useful=True)
    assert me.log(limit=1)[0].seq == receipt.seq
    assert me.recall("cat").seq == receipt.seq
    assert [notice.seq for notice in me.changes(after=receipt.seq - 1)] == [receipt.seq]


def test_counting_does_not_overtake_a_transaction(memory: Memory, me: ScopedMemory) -> None:
    me.observe("The cat is called Miso.")
    thought: list[int] = []

    def think(versions: object) -> Transaction[None]:
        thought.append(1)
        if len(thought) == 1:
            me.recall("cat")
            memory._opened.uses.flush()
        return Transaction(answer=None, write=(Statement(text="The cat is well."),))

    me.transact(Filter(), think)
    assert thought == [1]


def test_how_often_an_item_was_shown_has_no_past(memory: Memory, me: ScopedMemory) -> None:
    turn = me.observe("The cat is called Miso.").id
    then = me.log(limit=1)[0].seq
    later = me.observe("The cat sleeps.").id
    me.recall("cat")
    memory._opened.uses.flush()
    assert (me.strength(turn).uses, me.strength(later).uses) == (1, 1)
    memory.admin.rewind(then)
    assert me.strength(turn).uses == 1
    assert list(_counted(memory, [turn, later])) == [turn]
    assert not list(memory.admin.verify())


def test_a_thousand_recalls_of_three_hundred_users_commit_nothing_and_write_once_a_second(tmp_path: Path) -> None:
    with counted() as statements, Memory(tmp_path / "m.db", settings=ONCE_A_SECOND, embedder="none") as memory:
        everybody = [memory.scope(user=f"user {n}") for n in range(300)]
        for one in everybody:
            one.observe("The cat is called Miso.")
        heads = [one.log(limit=1)[0].seq for one in everybody]
        statements.reset()
        began = time.monotonic()
        for n in range(1000):
            everybody[n % 300].recall("cat")
        memory._opened.uses.flush()
        assert statements.commits == 0
        assert 1 <= statements.writes <= time.monotonic() - began + 2
        assert [one.log(limit=1)[0].seq for one in everybody] == heads
        assert sum(one.strength(one.recall("cat").items[0].id).uses for one in everybody) == 1000
        assert not list(memory.admin.verify())


def test_what_was_erased_is_counted_no_more(memory: Memory, me: ScopedMemory) -> None:
    turn = me.observe("The cat is called Miso.").id
    me.recall("cat")
    me.erase(turn)
    memory._opened.uses.flush()
    assert not list(memory.admin.verify())
    assert not _counted(memory, [turn])


def _counted(memory: Memory, items: list[str]) -> dict[str, Strength]:
    with memory._opened.store.read() as snapshot:
        space = snapshot.space(snapshot.tenant("default") or 0, "ada")
        assert space is not None
        return snapshot.strength(space.id, items)


def test_two_processes_count_the_same_item(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", settings=QUIET) as one, Memory(tmp_path / "m.db", settings=QUIET) as other:
        turn = one.scope(user="ada").observe("The cat is called Miso.").id
        for memory in (one, other, one):
            memory.scope(user="ada").recall("cat")
        one._opened.uses.flush()
        other._opened.uses.flush()
        assert one.scope(user="ada").strength(turn).uses == 3


def test_an_instruction_holds_from_the_moment_it_was_given_and_nothing_is_written(tmp_path: Path) -> None:
    with counted() as statements, Memory(tmp_path / "m.db", settings=QUIET, embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe(ASKED)
        log = me.log()
        statements.reset()
        assert [item.text for item in me.context("dinner").always] == [ASKED]
        me.observe("I live in Lisbon.")
        statements.reset()
        assert me.ask("Where do I live?").short == "Lisbon"
        assert (statements.writes, statements.commits) == (0, 0)
        assert len(me.log()) == len(log) + 1
        assert me.list(where=PROFILE) == []


def test_the_block_stays_the_same_to_the_byte_when_rules_have_run(memory: Memory, me: ScopedMemory) -> None:
    me.observe([ASKED, "I live in Lisbon.", "My sister's name is Ana."])
    before = me.context("dinner")
    memory.flush()
    after = me.context("dinner")
    assert (before.text, [item.id for item in before.always]) == (after.text, [item.id for item in after.always])
    assert len(after.always) == 3


def test_what_rules_have_not_written_yet_can_be_read_and_named_at_once(memory: Memory, me: ScopedMemory) -> None:
    me.observe([ASKED, "I live in Lisbon."])
    diet, home = me.context("dinner").always
    assert me.get(diet.id).item.text == diet.text
    assert [version.item.text for version in me.history(home.id)] == [home.text]
    me.forget(diet.id)
    assert [item.id for item in me.context("dinner").always] == [home.id]
    with pytest.raises(NotFound):
        me.get(diet.id)
    me.observe("I work as a pilot.")
    (job,) = (item for item in me.context("dinner").always if "pilot" in item.text)
    assert me.erase(job.id).ids == (job.id,)
    assert all(item.id != job.id for item in me.context("dinner").always)


def test_what_was_shown_is_found_by_a_part_of_its_id_and_with_its_links(memory: Memory, me: ScopedMemory) -> None:
    me.observe("I live in Paris.")
    memory.flush()
    turn = me.observe("I live in Lisbon now.").id
    (home,) = (item.id for item in me.context("x").always if "Lisbon" in item.text)
    assert home[:9] == turn[:9]
    before = me.find_ids(home), me.find_ids(home[-8:]), me.find_ids(home[:9]), me.links(home)
    memory.flush()
    assert before == (me.find_ids(home), me.find_ids(home[-8:]), me.find_ids(home[:9]), me.links(home))
    ids, _, beginning, links = before
    assert (ids, [link.type for link in links]) == ([home], ["supersedes"])
    assert {turn, home} <= set(beginning)


def test_looking_things_up_has_no_rules_run_and_leaves_that_to_who_waits_for_them(me: ScopedMemory) -> None:
    me.observe(ASKED)
    turn = me.observe(["Ben saw a heron."] * 510).ids[0]
    log = me.log()
    assert (list(me.links(turn[:-1] + ("0" if turn[-1] != "0" else "1"))), me.find_ids(turn)) == ([], [turn])
    assert me.log() == log
    assert [item.text for item in me.context("tea").always] == [ASKED]


def test_lists_and_counts_are_of_what_is_written(memory: Memory, me: ScopedMemory) -> None:
    me.observe("I live in Lisbon.")
    shown = [item.id for item in me.context("x").always]
    assert (me.count(), me.count(where=PROFILE)) == (1, 0)
    memory.flush()
    assert [version.item.id for version in me.list(where=PROFILE)] == shown


def test_what_is_taken_back_in_an_unread_turn_holds_no_longer(memory: Memory, me: ScopedMemory) -> None:
    me.observe("I live in Paris.")
    memory.flush()
    me.observe("I live in Lisbon now.")
    assert me.ask("Where do I live?").short == "Lisbon"
    assert "Paris" not in me.context("dinner").text.split("</memory-always>")[0]


def test_what_was_erased_is_derived_anew_under_another_id(memory: Memory, me: ScopedMemory) -> None:
    me.observe("I live in Lisbon.")
    memory.flush()
    (home,) = me.context("x").always
    me.erase(home.id)
    me.observe("I live in Lisbon.")
    memory.flush()
    (again,) = me.context("x").always
    assert again.id != home.id
    assert not list(memory.admin.verify())


@pytest.mark.parametrize("between", [("Ben saw a heron.",) * 510, ("A long letter. " * 60_000,)], ids=["many", "long"])
def test_an_instruction_stands_however_much_waits_for_the_rules(between: tuple[str, ...]) -> None:
    with Memory("memory:", settings=Settings(background=False), embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe("Always answer in French.")
        assert [item.text for item in me.context("tea").always]
        me.observe(list(between))
        me.observe("Never mention coffee.")
        assert len(me.context("tea").always) == 2
        assert len(me.session("chat", budget=4_000).context("tea").always) == 2
