"""A question of two steps over turns: what it points at leads, by whom that speaks of, to what it asks for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from mnemic.core.clock import micros
from mnemic.core.queries import Stage, View

Texts = Callable[..., list[str]]

TALK = (
    *("Rain since breakfast.", "The bus was late again.", "We painted the fence green.", "Lunch was soup."),
    *("今天风很大。", "公交又晚点了。", "晚饭吃面条。", "花开得正好。"),
)
CHAINS = [
    (
        "Marta's number is 0171 555 9934.",
        "Marta runs the bakery on the quay.",
        "Where does the person whose number is 0171 555 9934 work?",
    ),
    ("our landlord is called stelios", "stelios has two kids", "How many children does our landlord have?"),
    ("302室住的是潘建国。", "潘建国在修车铺上班。", "302室的人是做什么工作的？"),
]


@pytest.mark.parametrize(("pointing", "wanted", "question"), CHAINS)
def test_what_a_question_points_at_leads_to_what_else_is_said_of_the_same_person(
    world: Any, texts: Texts, pointing: str, wanted: str, question: str
) -> None:
    for n, text in enumerate((pointing, *TALK[:4], wanted, *TALK[4:])):
        world.say(text, session=f"s{n}")
    found = world.recall(question)
    assert [hit.text for hit in found][:2] == [pointing, wanted]
    assert any(reason.startswith(f"by way of {found[0].id}: both say ") for reason in found[1].reasons)
    assert wanted not in texts(question, without=frozenset({Stage.LINKS}))[:1]


def test_a_question_that_one_turn_answers_leads_nowhere(world: Any) -> None:
    world.say("Marta's number is 0171 555 9934.", session="a")
    world.say("Marta runs the bakery on the quay.", session="b")
    assert all("links" not in hit.components for hit in world.recall("What is Marta's number?"))


def test_what_many_turns_say_is_no_subject(world: Any) -> None:
    world.say("The lantern number is 0171 555 9934.", session="x")
    for n in range(60):
        world.say(f"lantern {n}", session=f"s{n}")
    found = world.recall("Where does the person whose number is 0171 555 9934 work?")
    assert all("links" not in hit.components for hit in found)


def test_a_question_of_a_past_leads_nowhere(world: Any) -> None:
    world.say("Marta's number is 0171 555 9934.", session="a")
    world.say("Marta runs the bakery on the quay.", session="b")
    question = "Where does the person whose number is 0171 555 9934 work?"
    assert any("links" in hit.components for hit in world.recall(question))
    past = View(as_of=micros(datetime(2024, 5, 20, tzinfo=UTC)))
    assert all("links" not in hit.components for hit in world.recall(question, view=past))


def test_one_character_that_two_turns_share_is_no_subject(world: Any) -> None:
    world.say("外婆每天早上打电话来。", session="a")
    world.say("楼上的电钻吵得很。", session="b")
    assert all("links" not in hit.components for hit in world.recall("外婆还健在吗？"))


def test_a_talk_between_people_is_walked_nowhere(world: Any) -> None:
    """There two turns that share a rare word mostly go on with one matter, and stand near each other anyway."""
    world.say("The dancers in that photo took my breath away", by="Jon", session="a", pos=0)
    world.say("They stand for passion, to me", by="Gina", session="a", pos=1)
    world.say("I was out of breath after the stairs", by="Jon", session="b", pos=0)
    for n in range(6):
        world.say(f"Rain again, the {n}th day", by=("Jon", "Gina")[n % 2], session="c", pos=n)
    reasons = [
        reason for one in world.recall("What do the dancers in the photo represent?").items for reason in one.reasons
    ]
    assert not any(reason.startswith("by way of") for reason in reasons)
