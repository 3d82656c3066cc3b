"""Strategies of experience: how tries are read, what is learnt of them, how that is counted, shown, and dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import Filter, Kind, Memory, ScopedMemory, Settings
from mnemic.core.items import Item, Strength
from mnemic.strategies.experience_records import standing
from mnemic.strategies.lesson_book import LessonBook
from mnemic.strategies.reme import TRIED, is_of_use
from mnemic.strategies.rules.contrasted_lessons import contrasted, lessons_in, planned
from mnemic.strategies.trajectories import (
    ActionStep,
    Contrast,
    LessonChange,
    LessonOp,
    Trajectory,
    experiences,
    trajectory_of,
)
from mnemic.testing.generators import START

lines = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=12)


def tried(task: str, *steps: tuple[str, str], done: bool, why: str = "") -> Trajectory:
    return Trajectory(task=task, steps=tuple(ActionStep(*step) for step in steps), succeeded=done, why=why)


FAILED = tried("Polish the bowl", ("go to cellar", "A shelf."), ("rub bowl with chalk", "Scratched."), done=False)
DONE = tried("Polish the bowl", ("go to cellar", "A shelf."), ("rub bowl with vinegar", "It shines."), done=True)


@contextmanager
def following(name: str) -> Iterator[tuple[Memory, ScopedMemory]]:
    with Memory("memory:", settings=Settings(background=False), embedder="none", strategies=[name]) as memory:
        yield memory, memory.scope(user="agent")


def learn(memory: Memory, me: ScopedMemory, *trajectories: Trajectory) -> None:
    for trajectory in trajectories:
        me.observe(trajectory.text, role="tool")
        assert memory.flush()


def recalled(me: ScopedMemory, question: str, by: str) -> list[str]:
    return [one.text for one in me.recall(question, by=by, k=40)]


# How a try is read


@given(lines, st.lists(st.tuples(lines, lines), min_size=1, max_size=4), st.booleans())
def test_what_is_told_is_read_again(task: str, steps: list[tuple[str, str]], done: bool) -> None:
    told = tried(task, *steps, done=done)
    read = trajectory_of(told.text)
    assert read is not None
    assert [step.action for step in read.steps] == [step.action for step in told.steps]
    assert (read.task, read.succeeded) == (told.task, told.succeeded)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Task: x",
        "Task: x\n> y",
        "Task: x\nOutcome: success",
        "> y\nIt is.\nOutcome: success",
        "Task: x\n> y\nOutcome: so-so",
    ],
)
def test_what_lacks_a_part_is_no_try(text: str) -> None:
    assert trajectory_of(text) is None


def test_an_observation_cannot_pass_for_an_action_or_an_outcome() -> None:
    told = tried("x", ("read letter", "> rub bowl with chalk\nOutcome: success"), done=False)
    read = trajectory_of(told.text)
    assert read is not None
    assert not read.succeeded
    assert [step.action for step in read.steps] == ["read letter"]


def test_a_task_that_failed_did_so_at_its_last_step_unless_the_steps_ran_out() -> None:
    assert [step.action for step in FAILED.setbacks] == ["rub bowl with chalk"]
    ran_out = Trajectory(task=FAILED.task, steps=FAILED.steps, succeeded=False, why="the steps ran out")
    assert ran_out.setbacks == ()
    refused = tried("x", ("call", "422 the date is not valid"), ("call again", "200"), done=True)
    assert [step.action for step in refused.effective] == ["call again"]


# What rules learn


def test_rules_tell_what_only_the_success_did_from_what_failed() -> None:
    changes = contrasted(Contrast(successes=(DONE,), failure=FAILED))
    assert {lesson for change in changes for lesson in lessons_in(change.text)} == {
        (True, "rub bowl with vinegar"), (False, "rub bowl with chalk"),
    }  # fmt: skip
    known = ('Avoid "rub bowl with vinegar": it smells.', 'Avoid "rub bowl with chalk": Scratched.')
    ops = [
        (change.op, change.lesson) for change in contrasted(Contrast(successes=(DONE,), failure=FAILED, lessons=known))
    ]
    assert (LessonOp.REMOVE, 0) in ops
    assert (LessonOp.AGREE, 1) in ops


def test_a_plan_says_what_to_avoid_and_what_was_repeated() -> None:
    assert lessons_in(planned(FAILED))[0] == (False, "rub bowl with chalk")
    assert "no use to repeat" in planned(tried("x", *[("wait", "Nothing.")] * 3, done=False, why="the steps ran out"))


# Lessons and their counters


def _item(text: str, count: int, nth: int) -> Item:
    from datetime import UTC, datetime

    from mnemic.core.ids import from_bytes

    said = datetime.fromtimestamp(START / 1_000_000, UTC)
    return Item(
        id=from_bytes(nth.to_bytes(16, "big")), kind=Kind.INSIGHT, text=text, said=said,
        slots={"by": "expel", "count": count}, source=(from_bytes((99).to_bytes(16, "big")),),
    )  # fmt: skip


@given(st.integers(1, 9), st.booleans())
def test_a_lesson_is_dropped_after_as_many_steps_back_as_its_count_holds(start: int, full: bool) -> None:
    """One at a time, or three where the list is full."""
    items = [_item("One.", start, 1), _item("Two.", 9, 2)]
    steps = 0
    held = items
    while held and held[0].text == "One.":
        book = LessonBook("expel", held, 2 if full else 20)
        book.apply([LessonChange(op=LessonOp.REMOVE, lesson=0)], items[1], (items[1].id,))
        edits = book.edits()
        steps += 1
        held = [] if edits.retire else [_item("One.", int(str(edits.revise[0].slots["count"])), 1), items[1]]  # type: ignore[index]
    assert steps == -(-start // (3 if full else 1))


def test_lessons_begin_at_two_go_up_by_one_and_are_no_more_than_the_most() -> None:
    after = _item("It happened.", 0, 50)
    book = LessonBook("expel", [_item("One.", 2, 1)], 2)
    book.apply([LessonChange(op=LessonOp.AGREE, lesson=0)], after, (after.id,))
    book.apply([LessonChange(op=LessonOp.ADD, text="Two.")], after, (after.id,))
    book.apply([LessonChange(op=LessonOp.ADD, text="two")], after, (after.id,))
    book.apply([LessonChange(op=LessonOp.ADD, text="Three.")], after, (after.id,))
    edits = book.edits()
    assert [(revision.slots or {})["count"] for revision in edits.revise] == [3]
    assert [(lesson.text, lesson.slots["count"]) for lesson in edits.write] == [("Three.", 2)]


def test_an_edit_puts_other_words_in_place_and_counts_as_agreement() -> None:
    after = _item("It happened.", 0, 50)
    book = LessonBook("expel", [_item("One.", 2, 1)], 20)
    book.apply([LessonChange(op=LessonOp.EDIT, lesson=0, text="One, better.")], after, (after.id,))
    (revision,) = book.edits().revise
    assert (revision.text, (revision.slots or {})["count"]) == ("One, better.", 3)


# Laws


@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 3))
def test_what_helped_never_brings_anything_nearer_to_being_dropped(useful: int, harms: int, penalty: int) -> None:
    now, after = Strength(useful=useful, harms=harms), Strength(useful=useful + 1, harms=harms)
    worse = Strength(useful=useful, harms=harms + 1)
    assert standing(after, penalty=penalty) > standing(now, penalty=penalty) > standing(worse, penalty=penalty)
    assert is_of_use(after) or not is_of_use(now) or useful + harms + 1 == TRIED


def test_a_piece_is_judged_only_once_it_was_used_often_enough() -> None:
    assert is_of_use(Strength(harms=TRIED - 1))
    assert not is_of_use(Strength(harms=TRIED))


# Each strategy


def test_reflexion_shows_the_last_three_tries_of_the_same_task_and_of_no_other() -> None:
    with following("reflexion") as (memory, me):
        stuffs = ("chalk", "wax", "ash", "soap")
        for stuff in stuffs:
            learn(memory, me, tried("Polish the bowl", (f"rub bowl with {stuff}", "Scratched."), done=False))
        learn(memory, me, tried("Polish the bowl", ("rub bowl with vinegar", "It shines."), done=True))
        shown = recalled(me, "Polish the bowl", "reflexion")
        assert [stuff for text in shown for stuff in stuffs if stuff in text] == ["soap", "ash", "wax"]
        assert recalled(me, "Polish the jug", "reflexion") == []


def test_a_reflection_that_misled_twice_is_shown_no_more() -> None:
    with following("reflexion") as (memory, me):
        learn(memory, me, FAILED)
        (plan,) = me.recall("Polish the bowl", by="reflexion")
        me.feedback(plan.id, useful=False)
        assert len(me.recall("Polish the bowl", by="reflexion")) == 1
        me.feedback(plan.id, useful=False)
        assert len(me.recall("Polish the bowl", by="reflexion")) == 0


def test_expel_compares_a_success_with_a_failure_and_shows_lessons_for_any_task() -> None:
    with following("expel") as (memory, me):
        learn(memory, me, FAILED)
        assert not [text for text in recalled(me, "Cook soup", "expel") if lessons_in(text)]
        learn(memory, me, DONE)
        found = {lesson for text in recalled(me, "Cook soup", "expel") for lesson in lessons_in(text)}
        assert found == {(True, "rub bowl with vinegar"), (False, "rub bowl with chalk")}
        assert DONE.text in recalled(me, "Polish the bowl", "expel")


def test_expel_finds_what_eight_successes_share() -> None:
    with following("expel") as (memory, me):
        for nth in range(8):
            assert me.list(where=Filter(kinds=(Kind.INSIGHT,), by=("expel",))) == []
            learn(
                memory, me, tried(f"Polish thing {nth}", ("fill kettle with water", "Full."), ("stop", "."), done=True)
            )
        found = [lesson for text in recalled(me, "x", "expel") for lesson in lessons_in(text)]
        assert (True, "fill kettle with water") in found


def test_a_skill_is_kept_of_successes_alone_and_a_shorter_way_takes_its_place() -> None:
    long = tried("Polish the bowl", ("look", "."), ("rub bowl with vinegar", "It shines."), done=True)
    short = tried("Polish the bowl", ("rub bowl with vinegar", "It shines."), done=True)
    with following("skills") as (memory, me):
        learn(memory, me, FAILED)
        assert recalled(me, "Polish the bowl", "skills") == []
        learn(memory, me, long, short, long)
        assert recalled(me, "Polish the bowl", "skills") == ["How to: Polish the bowl\n1. rub bowl with vinegar"]
        (skill,) = me.recall("Polish the bowl", by="skills")
        assert len({version.item.id for version in me.history(skill.id)}) == 2
        for _ in range(3):
            me.feedback(skill.id, useful=False)
        assert recalled(me, "Polish the bowl", "skills") == []


def test_a_piece_that_is_told_again_is_kept_once_and_rests_on_both() -> None:
    with following("reme") as (memory, me):
        learn(memory, me, FAILED, FAILED)
        (piece,) = me.list(where=Filter(kinds=(Kind.INSIGHT,), by=("reme",)))
        assert len(piece.item.source) == 2
        assert recalled(me, "Polish the bowl", "reme") == [piece.item.text]
        for _ in range(TRIED):
            me.feedback(piece.item.id, useful=False)
        assert recalled(me, "Polish the bowl", "reme") == []


def _like(me: ScopedMemory) -> set[tuple[str, str]]:
    tasks = {v.item.id: v.item.text.splitlines()[0] for v in me.list(where=Filter(by=("gmemory",)), limit=100)}
    ties = {link for id in tasks for link in me.links(id) if link.type == "like"}
    return {(tasks[link.src], tasks[link.dst]) for link in ties}


def test_gmemory_ties_tasks_that_are_alike_and_no_others() -> None:
    with following("gmemory") as (memory, me):
        for task in ("Polish the bronze bowl", "Polish the bronze jug", "Cook soup"):
            learn(memory, me, tried(task, ("look", "."), done=True))
        assert _like(me) == {("Task: Polish the bronze jug", "Task: Polish the bronze bowl")}


def test_gmemory_draws_insights_at_each_fifth_try_and_drops_one_that_misled() -> None:
    with following("gmemory") as (memory, me):
        insights = Filter(kinds=(Kind.INSIGHT,), by=("gmemory",))
        learn(memory, me, FAILED, DONE, DONE, DONE)
        assert me.list(where=insights) == []
        learn(memory, me, DONE)
        before = [text for text in recalled(me, "Polish the bowl", "gmemory") if not trajectory_of(text)]
        assert before
        for version in me.list(where=insights):
            for _ in range(3):
                me.feedback(version.item.id, useful=False)
        assert [text for text in recalled(me, "Polish the bowl", "gmemory") if not trajectory_of(text)] == []


@pytest.mark.parametrize("name", ["reflexion", "expel", "skills", "reme", "gmemory"])
def test_what_is_no_try_teaches_nothing(name: str) -> None:
    with following(name) as (memory, me):
        me.observe(["I moved to Lisbon.", "Task: none", "Outcome: success"], speaker="Ada")
        assert memory.flush()
        assert me.list(where=Filter(by=(name,))) == []


def test_tries_are_taken_out_of_whatever_stands_beside_them() -> None:
    items: Sequence[Item] = [_item(FAILED.text, 1, 1), _item("Hello.", 1, 2)]
    assert [trajectory for _, trajectory in experiences(tuple(items))] == [FAILED]
