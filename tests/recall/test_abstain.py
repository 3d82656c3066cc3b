from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mnemic.recall.reasons import KNOWN, Confidence, answerable
from mnemic.recall.understand import understand

Judge = Callable[..., Confidence]

FILLER = ("The weather turned cold", "We watched a film", "The bus came late", "Lunch was good", "I slept badly")


@pytest.fixture
def judged(world: Any) -> Judge:
    """How likely the world holds the answer to a question."""

    def judge(text: str, *, bearing: bool = True, meaning: bool = False, **fields: Any) -> Confidence:
        readings = world.readings(text, **fields)
        with world.store.read() as snapshot:
            query = world.query(snapshot, text, **fields)
        vectors = {1: np.zeros(2, np.float32)} if meaning else {}
        question = understand(replace(query, vectors=vectors), readings)
        return answerable(question, readings, bearing=bearing)

    return judge


@pytest.fixture
def two(world: Any) -> Any:
    """Ada paints and keeps bees; Bob plays the cello; each asks the other about it."""
    for n, text in enumerate(FILLER):
        world.say(text, by=("Ada", "Bob")[n % 2], session="chat")
    world.say("I painted the lighthouse on the cliff for my sister", by="Ada", session="chat")
    world.say("Your lighthouse painting is lovely! Did your sister like it?", by="Bob", session="chat")
    world.say("My bees gave us twelve jars of honey this summer", by="Ada", session="chat")
    world.say("I play the cello in an orchestra on Thursdays", by="Bob", session="chat")
    world.say("How are your cello rehearsals in the orchestra going?", by="Ada", session="chat")
    return world


def test_a_fact_of_the_person_asked_about_is_known(two: Any, judged: Judge) -> None:
    for text in ("What did Ada paint for her sister?", "Which orchestra instrument does Bob play on Thursdays?"):
        confidence = judged(text)
        assert confidence.value >= KNOWN
        assert confidence.notes == ()


def test_a_fact_that_only_the_other_person_has_is_not_this_persons(two: Any, judged: Judge) -> None:
    for mine, theirs in (
        ("What did Ada paint for her sister?", "What did Bob paint for his sister?"),
        ("Does Bob play the cello in an orchestra?", "Does Ada play the cello in an orchestra?"),
    ):
        assert judged(theirs).value < judged(mine).value
    confidence = judged("What lighthouse did Bob paint for his sister?")
    assert confidence.value < KNOWN
    assert confidence.reasons[0] == "others come nearer to it than bob"


def test_who_speaks_of_whoever_is_spoken_to_is_no_witness(two: Any, judged: Judge) -> None:
    """Bob's "your lighthouse painting" makes it Ada's, not his."""
    before = judged("What did Bob paint for his sister?").value
    for _ in range(3):
        two.say("Did you paint a lighthouse for your sister?", by="Bob", session="chat")
    assert judged("What did Bob paint for his sister?").value <= before


def test_that_nobody_used_the_word_for_telling_says_nothing(two: Any, judged: Judge) -> None:
    confidence = judged("What did Ada mention of the lighthouse on the cliff?")
    assert confidence.reasons == ()
    assert confidence.value == judged("Which lighthouse on the cliff, Ada?").value


def test_a_fact_that_nobody_told_is_not_known(two: Any, judged: Judge) -> None:
    confidence = judged("Which university did Bob graduate from?")
    assert confidence.value < KNOWN
    assert confidence.reasons == ("nobody said 'university', 'graduate'",)
    assert confidence.notes == ("probably not in memory: nobody said 'university', 'graduate'",)


def test_a_speakers_name_is_no_word_that_nobody_said(world: Any, judged: Judge) -> None:
    world.say("I moved from Paris to Lisbon in March.", by="Ada")
    assert judged("which city does Ada live in?").reasons == ("nobody said 'city', 'live'",)
    assert judged("Ada?").reasons == ()


def test_a_chat_of_one_person_and_an_assistant_in_chinese(world: Any, judged: Judge) -> None:
    for n in range(10):
        world.say(f"今天聊聊第{n}件事吧", by=("林", "assistant")[n % 2], session="chat")
    world.say("我周末去爬了黄山，看到了云海", by="林", session="chat")
    world.say("听起来真棒，你可以试试泰山", by="assistant", session="chat")
    said = judged("我周末去爬了什么山？")
    never = judged("我的护照是哪年到期的？")
    assert said.value >= KNOWN > never.value


@pytest.mark.parametrize(
    ("said", "question", "reasons"),
    [
        ("我喜欢爬山", "出门要注意什么？", ("nobody said '出门要注意'",)),
        ("我要去爬山", "山上要注意什么？", ("nobody said '注意'",)),
        ("我喜欢爬山", "票？", ("nobody said a word of it",)),
        ("I like tea", "要注意什么 on the motorway?", ("nobody said '要注意', 'motorway'",)),
    ],
)
def test_words_that_nobody_said_are_listed_whole(
    world: Any, judged: Judge, said: str, question: str, reasons: tuple[str, ...]
) -> None:
    world.say(said, by="林")
    assert judged(question).reasons == reasons


def test_where_nothing_bears_on_a_question_the_value_is_zero(world: Any, judged: Judge) -> None:
    assert judged("anything?").value == 0
    world.say("I like tea")
    assert judged("tea", bearing=False) == Confidence(0.0, ("nothing bears on it",))


def test_a_question_without_words_to_look_up_rests_on_what_was_found(two: Any, judged: Judge) -> None:
    assert judged("What did Ada say?").value >= KNOWN


def test_a_question_in_another_script_is_left_open_where_meaning_was_compared(two: Any, judged: Judge) -> None:
    assert judged("谁拉大提琴？", meaning=True).value == KNOWN
    assert judged("谁拉大提琴？").value < KNOWN
    assert judged("Which university did Bob graduate from?", meaning=True).value < KNOWN


def test_several_people_named_are_not_weighed_against_each_other(two: Any, judged: Judge) -> None:
    both = judged("Did Ada or Bob paint the lighthouse?")
    assert both.value >= KNOWN
    assert not any("others" in reason for reason in both.reasons)


def test_documents_witness_for_nobody(two: Any, judged: Judge) -> None:
    alone = judged("What did Ada paint for her sister?").value
    for n in range(3):
        two.say(f"how to paint a lighthouse for a sister, part {n}", by="", slots={"speaker": None}, session=f"d{n}")
    assert judged("What did Ada paint for her sister?").value >= alone - 0.05


def test_statistics_come_from_the_spaces_of_the_question_alone(world: Any, judged: Judge) -> None:
    world.say("I keep bees", user="ada")
    before = judged("Who keeps bees?", users=("ada",))
    for n in range(20):
        world.say(f"bees {n}", user="eve")
    assert judged("Who keeps bees?", users=("ada",)) == before
