"""A memory that may see only some of what it holds answers as one that was given the rest alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from mnemic.ingest.message import Message
from mnemic.lab.kit.datasets import Doc, message
from mnemic.lab.tasks.capacity.sighted import Sighted

ARTICLES = {
    "Hollow Reed": "Hollow Reed is a drama about two ferrymen, directed by Petra Lindqvale.",
    "Petra Lindqvale": "Petra Lindqvale grew up on a barge on the river Oaren.",
    "Barges": "A barge is a flat boat, built for rivers and canals.",
    "River Oaren": "The Oaren is a river with many a barge, a ferry and a reed.",
    "Ferrymen": "A ferryman takes people over a river, for a drama of a fee.",
    "Reeds": "A reed is a tall grass by a river; it is hollow.",
}


def articles() -> list[Message]:
    docs = (
        Doc(ns="n", id=title, session=title, pos=0, when="", said=None, speaker=title, text=text)
        for title, text in ARTICLES.items()
    )
    return [message(doc) for doc in docs]


@pytest.fixture(scope="module")
def whole() -> Iterator[Sighted]:
    with closing(Sighted()) as memory:
        for one in articles():
            memory.observe([one])
        yield memory


QUESTIONS = ("Where did the director of Hollow Reed grow up?", "reed", "a drama on a river", "Who is Petra Lindqvale?")


@pytest.mark.parametrize(
    "seen",
    [
        {"Reeds"},
        {"Hollow Reed", "Barges"},
        {"Hollow Reed", "Petra Lindqvale", "Reeds"},
        {"Petra Lindqvale", "River Oaren", "Ferrymen", "Reeds"},
        set(ARTICLES),
    ],
    ids=len,
)
def test_what_is_out_of_sight_bears_on_nothing(whole: Sighted, seen: set[str]) -> None:
    with closing(Sighted()) as fresh:
        fresh.observe([one for one in articles() if one.slots["doc"] in seen])
        for question in QUESTIONS:
            expected, found = fresh.rank(question, 5), whole.rank(question, 5, seen=seen)
            assert found.ids == expected.ids
            assert found.scores == pytest.approx(expected.scores)
            assert set(found.ids) <= seen


def test_all_is_seen_unless_said_otherwise(whole: Sighted) -> None:
    for question in QUESTIONS:
        assert whole.rank(question, 6) == whole.rank(question, 6, seen=set(ARTICLES))
    assert whole.rank("reed", 5, seen=()).ids == ()


def test_a_memory_of_nothing_finds_nothing() -> None:
    with closing(Sighted()) as memory:
        assert memory.rank("anything", 5).ids == ()
