"""What kind of answer a question asks for, and whether a sentence can hold one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind
from mnemic.recall.answer_kind import AskedKind, kind_asked, lacks_kind
from mnemic.recall.what_asks import asks


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
        ("爷爷摔坏了哪儿？", None),
        ("婆婆身体哪里不好？", None),
        ("婆婆在哪里？", AskedKind.PLACE),
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
        ("阿姨哪里人", "阿姨菏泽人，做饭偏咸"),
        ("猫是什么颜色的", "养了只橘猫"),
        ("车位多少钱", "车位一个月三百五"),
    ],
)
def test_what_may_hold_one_does_not_lack_it(question: str, text: str) -> None:
    assert not lacks(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What colour are my eyes?", "My eyes are hazel"),
        ("What colour is the door?", "The door is crimson."),
        ("What colour is my sofa?", "the sofa is mustard"),
        ("How much do I pay the cleaner?", "I pay the cleaner fifteen an hour."),
        ("How much did the bike cost?", "The bike cost six fifty."),
        ("What is my dentist's name?", "My dentist is O'Hara."),
        ("Who do I bank with?", "I bank with barclays."),
        ("What is my bank called?", "I bank with barclays."),
        ("When do I take my pills?", "I take my pills with food."),
        ("When do I meet Sam?", "I meet Sam at sunset."),
        ("When do I swim?", "I swim at weekends."),
        ("What is my cat's name?", "My cat is Paris."),
        ("What colour is my scarf?", "my scarf's fuchsia"),
        ("What colour are our curtains?", "our curtains are sage these days"),
        ("What colour did I paint the shed?", "I painted the shed plum."),
        ("How much is the rent?", "rent is nine fifty a month"),
        ("How much do I earn?", "I earn twelve an hour at the shop"),
        ("How much did I spend on the jacket?", "I spent forty on the jacket"),
        ("what is my dentist's name", "my dentist's o'hara"),
        ("What colour is our front door?", "Our front door is a deep aubergine"),
        ("Who is my physio?", "my physio is D'Souza"),
        ("What is our dog called?", "our dog is sydney"),
        ("Who do I rent from?", "I rent from foxtons"),
        ("When do I walk the dog?", "I walk the dog at sundown."),
        ("When do I stretch?", "I stretch on waking"),
        ("When does the market open?", "the market opens at first light"),
        ("When do I run?", "I run at dusk"),
        ("Where do I work?", "i work for tesco"),
        ("Where do I volunteer?", "I volunteer for shelter"),
        ("How long have I had the boat?", "I've had the boat ten summers"),
        ("我的车是什么颜色", "我的车是藏青的"),
        ("窗帘什么颜色", "窗帘是卡其的"),
        ("沙发什么颜色", "沙发是雾霾紫的"),
        ("阿姨多少钱", "阿姨十五块一小时"),
        ("阿姨一小时多少钱", "阿姨一小时三十五"),
        ("停车费多少钱", "停车费一小时八"),
        ("我什么时候跑步", "我黄昏跑步"),
        ("什么时候吃药", "药随餐吃"),
        ("我什么时候遛狗", "傍晚遛狗"),
        ("我家猫叫什么", "我家猫是可乐"),
        ("我的牙医叫什么", "我的牙医是欧阳"),
        ("我家狗叫什么名字", "我家狗是东京"),
        ("我在哪里上班", "我给华为打工"),
    ],
)
def test_what_says_it_in_other_words_than_those_listed_does_not_lack_it(question: str, text: str) -> None:
    assert not lacks(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What colour is my car?", "my car is getting repaired"),
        ("What colour is my car?", "my car is at the garage"),
        ("What colour is my car?", "My car is a Volvo"),
        ("What colour did I paint the shed?", "I painted the shed last summer"),
        ("How much is the rent?", "rent is due in two weeks"),
        ("How much did the bike cost?", "two of us lifted the bike"),
        ("When do I swim?", "I swim badly"),
        ("When do I meet Sam?", "sam likes to meet new people"),
        ("Where do I work?", "I work on mondays"),
        ("What is my dentist's name?", "my dentist is lovely"),
        ("What is our dog called?", "our dog is from sydney"),
        ("我什么时候跑步", "我跑步很累"),
        ("我什么时候跑步", "我在公园跑步"),
        ("我什么时候剪头发", "坐飞机给我订素食餐。"),
        ("我老婆叫什么", "我老婆是护士"),
        ("沙发什么颜色", "沙发是二手的"),
    ],
)
def test_what_shares_the_matter_and_holds_no_such_value_lacks_it(question: str, text: str) -> None:
    assert lacks(question, text)


LONG = [
    unit * (20_000 // len(unit))
    for unit in ("a", "a ", "is it ", "colour ", "多久", "了", "小", "to ", "'s ", "call ", "一")
]


@pytest.mark.parametrize("text", LONG, ids=lambda text: text[:6])
def test_long_runs_are_read_to_their_end(text: str) -> None:
    for question in ("what is my vet's name?", "when does it open", "房东姓什么", "how much is the rent", text[:2_000]):
        assert lacks(question, f"{text},") in (True, False)
    assert not asks(f"is it {text}, and so it was with us.")
