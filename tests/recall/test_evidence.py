"""What a sentence of the evidence does: a question states nothing, with its mark or typed without."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind
from mnemic.core.queries import Recalled
from mnemic.models.base import TRAITS
from mnemic.recall.asked_for import relations_in
from mnemic.recall.evidence import calls_kin, only_supposes
from mnemic.recall.what_asks import asks


@pytest.mark.parametrize(
    "sentence",
    [
        "Where is the key?",
        "do owls blink",
        "is it odd to iron socks",
        "why do cats knead",
        "what's the capital of chad again",
        "how many grams in an ounce",
        "will it rain",
        "will the shop be open",
        "has the post come",
        "have you seen owls",
        "is the museum free",
        "is a whale a fish",
        "does my cat need milk",
        "are bats blind",
        "do the shops close early",
        "can i freeze rice",
        "企鹅有膝盖吗",
        "我该怎么办",
        "怎么写请假条",
        "怎么办",
        "冥王星的直径是多少",
        "隽永是什么意思",
    ],
)
def test_a_question_is_one_without_its_mark(sentence: str) -> None:
    assert asks(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "what's done is done",
        "did the maths at night: nine",
        "what's my address for parcels, the courier asked, and I said number nine",
        "can't have shellfish",
        "had the locks oiled",
        "has been raining on the tent all week, we moved indoors",
        "没什么",
        "Will lives in Porto.",
        "Will has a dog called Rex.",
        "Has a peanut allergy.",
        "Have a dentist appointment on Friday.",
        "Has twins now.",
        "Is the eldest of four.",
        "Is a nurse at St Mary's.",
        "Does wonders for my back.",
        "Does classes on Mondays",
        "Do pilates on Mondays.",
        "Do the dishes every night.",
        "Can peaches every August",
        "老师教我怎么写。",
        "我忘了密码是多少",
        "妈妈问我工资是多少",
        "我知道这个药怎么读",
        "他问我住得惯吗，我说住在河边挺好",
    ],
)
def test_what_states_something_is_none(sentence: str) -> None:
    assert not asks(sentence)


@pytest.mark.parametrize(
    ("text", "odds", "supposed"),
    [
        ("We moved to Porto", 1.6, True),
        ("We moved to Porto", 1.4, False),
        ("We nearly moved to Porto", 1.4, True),
        ("We nearly moved to Porto", -3.8, True),
        ("We nearly moved to Porto", None, True),
        ("We moved to Porto", None, False),
        ("I was going to move to Porto. Can you help me find a flat?", None, True),
    ],
)
def test_an_embedder_tells_what_is_only_supposed_and_so_do_words(text: str, odds: float | None, supposed: bool) -> None:
    item = Item(id=ItemId(f"{1:026}"), kind=Kind.TURN, text=text, said=datetime(2026, 11, 30, tzinfo=UTC))
    traits = None if odds is None else (odds, *(0.0,) * (len(TRAITS) - 1))
    hit = Recalled(item=item, seq=1, score=1.0, components={}, reasons=(), tokens=9, traits=traits)
    assert only_supposes(hit) is supposed


@pytest.mark.parametrize(
    ("text", "kin", "called"),
    [
        ("我妈住绍兴", "妈", True),
        ("母亲住在绍兴", "妈", True),
        ("老妈在绍兴", "妈妈", True),
        ("我爸妈住绍兴", "母亲", True),
        ("父母都在绍兴", "爸", True),
        ("我爸在成都，我妈在绍兴", "父母", True),
        ("我爸住成都", "妈", False),
        ("我父亲住成都", "妈", False),
        ("我爸住成都", "爸妈", False),
        ("我姑妈住苏州", "母亲", False),
        ("我住长沙", "妈", False),
        ("Dad is in Leeds", "father", True),
        ("My parents are in York", "mum", True),
        ("Mum and dad are in York", "parents", True),
        ("Dad is in Leeds", "mum", False),
        ("Dad is in Leeds", "parents", False),
        ("My kidney hurts", "parents", False),
    ],
)
def test_a_parent_is_called_by_any_word_for_them_or_for_both(text: str, kin: str, called: bool) -> None:
    assert calls_kin(text, kin) is called


def test_a_word_for_kin_is_read_as_a_whole_word() -> None:
    assert relations_in("My kidney hurts, and the childish parenting") == frozenset()
    assert relations_in("我姑妈和我爸妈") == {"姑妈", "parent"}
