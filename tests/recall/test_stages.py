"""Who is meant by "I" and "you", what a session says of many things, and recall with a stage left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mnemic.core.queries import Stage

Texts = Callable[..., list[str]]


def test_what_somebody_says_of_themselves_comes_before_what_they_are_told(world: Any, texts: Texts) -> None:
    world.say("a dog would suit you", by="Bob", session="a")
    world.say("dog food is on the shelf", by="Ada", session="b")
    world.say("my dog is called Rex", by="Ada", session="c")
    for n in range(9):
        world.say(f"other things {n}", by="Bob", session=f"s{n}")
    found = texts("Which dog does Ada have?", k=3)
    assert found == ["my dog is called Rex", "dog food is on the shelf", "a dog would suit you"]


@pytest.mark.parametrize(
    ("question", "first"),
    [("When do I play tennis?", "tennis at nine"), ("When did you say I play tennis?", "Tennis at ten")],
)
def test_a_question_in_the_first_person_is_about_whoever_is_not_the_assistant(
    world: Any, texts: Texts, question: str, first: str
) -> None:
    world.say("tennis at nine", by="Ada", session="a")
    world.say("Tennis at ten", by="assistant", session="b")
    for n in range(9):
        world.say(f"other things {n}", by="assistant", session=f"s{n}")
    assert texts(question)[0] == first


@pytest.mark.parametrize("question", ["Which cities has Ada seen?", "How many cities?", "我去过哪些城市？"])
def test_where_many_things_are_asked_about_a_session_says_half(world: Any, question: str) -> None:
    world.say("cities 城市", session="a")
    world.say("more of it", session="a")
    context = world.recall(question)
    alone = world.recall(question, without=frozenset({Stage.ROUTING}))
    shown, whole = (c.items[0].components["session"] for c in (context, alone))
    assert shown == pytest.approx(whole / 2)


@pytest.mark.parametrize(
    ("stage", "gone"),
    [
        (Stage.NEIGHBOURS, {"window"}),
        (Stage.SESSION, {"session"}),
        (Stage.SPEAKER, {"speaker", "self"}),
        (Stage.PRONOUNS, {"self"}),
        (Stage.TIME, {"time", "mention", "dated"}),
    ],
)
def test_a_stage_that_is_left_out_adds_nothing(world: Any, stage: Stage, gone: set[str]) -> None:
    world.say("I bought my dog yesterday", by="Bob", session="a", day=1)
    world.say("well done", by="Ada", session="a", day=1)
    asked = "When did Bob buy a dog, in May 2024?"
    with_it = set(world.recall(asked).items[0].components)
    without = set(world.recall(asked, without=frozenset({stage})).items[0].components)
    assert gone & with_it
    assert with_it - without == gone & with_it
