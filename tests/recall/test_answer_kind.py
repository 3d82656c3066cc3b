"""What kind of answer a question asks for, and whether a sentence can hold one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind
from mnemic.recall.answer_kind import AskedKind, kind_asked, lacks_kind
from mnemic.recall.evidence import asks


def lacks(question: str, text: str) -> bool:
    item = Item(id=ItemId("0" * 26), kind=Kind.TURN, text=text, said=datetime(2025, 3, 3, tzinfo=UTC))
    return lacks_kind(question, text, item)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("what is my landlord's name?", AskedKind.NAME),
        ("who is our vet", AskedKind.NAME),
        ("who feeds the hens", AskedKind.SOMEBODY),
        ("What time does the library open?", AskedKind.TIME),
        ("how much do I pay for the garage?", AskedKind.MONEY),
        ("how much does Bella eat?", None),
        ("what colour is the door", AskedKind.COLOUR),
        ("where does Kit sleep", AskedKind.PLACE),
        ("how long have I had the boat", AskedKind.DURATION),
        ("how long is the boat", None),
        ("房东姓什么", AskedKind.NAME),
        ("谁喂鸡", AskedKind.SOMEBODY),
        ("下次体检哪天", AskedKind.TIME),
        ("车位多少钱", AskedKind.MONEY),
        ("what do I cook on Sundays?", None),
    ],
)
def test_the_kind_is_read_from_the_question(question: str, kind: AskedKind | None) -> None:
    assert kind_asked(question) is kind


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what is my landlord's name?", "landlord fixed the tap, finally"),
        ("what is my landlord's name?", "my landlord's from Dublin"),
        ("who feeds the hens", "the hens laid eleven eggs"),
        ("when is Olga's birthday?", "olga hates surprises"),
        ("how much do I pay for the garage?", "the garage fits two bikes"),
        ("what colour is the door", "the door sticks when it rains"),
        ("where does Kit live", "coffee with kit again"),
        ("where does my uncle work", "uncle goes to work on mondays"),
        ("how long was I with Petra", "petra kept the cat"),
        ("how old is Kit", "kit took the old one"),
        ("房东姓什么", "房东来修水管了"),
        ("奶奶叫什么", "奶奶还骑车去买菜"),
        ("小丁住哪里", "又跟小丁吃饭，这周第二回"),
        ("我几点下班", "路上堵得要命"),
        ("车位多少钱", "车位能停两辆"),
    ],
)
def test_what_plainly_holds_none_lacks_it(question: str, text: str) -> None:
    assert lacks(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what is my landlord's name?", "landlord's called osgood, a saint"),
        ("what is my landlord's name?", "Mr Osgood wants the rent early"),
        ("who is my trainer", "sessions with quill, at six"),
        ("who feeds the hens", "my brother does the hens"),
        ("when is Olga's birthday?", "olga turns nine on the 3rd"),
        ("when did we meet?", "bumped into each other in a lift"),
        ("how much do I pay for the garage?", "the garage sets me back 90 a month"),
        ("how much do I pay for the garage?", "garage is free until June"),
        ("what colour is the door", "painted it teal"),
        ("where does Kit live", "kit moved to the coast"),
        ("where does Kit live", "kit's a Lisbon girl now"),
        ("how long was I with Petra", "petra and me, four years"),
        ("房东姓什么", "房东老郑来修水管了"),
        ("我老婆是谁", "老婆阿棠爱攀岩"),
        ("小丁住哪里", "小丁在河边租了一间"),
        ("我几点下班", "六点半打卡走人"),
        ("车位多少钱", "车位一个月三百五"),
    ],
)
def test_what_may_hold_one_does_not_lack_it(question: str, text: str) -> None:
    assert not lacks(question, text)


LONG = [
    unit * (20_000 // len(unit))
    for unit in ("a", "a ", "is it ", "colour ", "多久", "了", "小", "to ", "'s ", "call ", "一")
]


@pytest.mark.parametrize("text", LONG, ids=lambda text: text[:6])
def test_long_runs_are_read_to_their_end(text: str) -> None:
    for question in ("what is my vet's name?", "when does it open", "房东姓什么", "how much is the rent", text[:2_000]):
        assert lacks(question, f"{text},") in (True, False)
    assert not asks(f"is it {text}, and so it was with us.")
