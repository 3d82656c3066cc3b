"""Ends of pets, people and things, what is put right, and what somebody cannot eat, as people say it."""

from __future__ import annotations

import pytest

from mnemic import Memory
from mnemic.core.clock import micros
from mnemic.core.timex import parse_said
from mnemic.extract.patterns import SlotAct
from mnemic.extract.slots import slots
from mnemic.memory import ScopedMemory

SAID = micros(parse_said("2025-05-20T12:00:00+00:00", zone=None)[0])


def told(*texts: str) -> list[str]:
    """What the profile says after some texts."""
    with Memory("memory:", embedder="none") as memory:
        me: ScopedMemory = memory.scope(user="noor")
        for text in texts:
            me.observe(text)
        memory.flush()
        return sorted(str(fact.slots["value"]) for belief in me.profile() for fact in belief.facts)


PETS = [
    ("My two cats are Moss and Fern.", ["Fern (cat)", "Moss (cat)"]),
    ("I have two cats, Moss and Fern.", ["Fern (cat)", "Moss (cat)"]),
    ("my two cats Moss and Fern", ["Fern (cat)", "Moss (cat)"]),
    ("We have two dogs called Rex and Bella.", ["Bella (dog)", "Rex (dog)"]),
    ("Our dogs are called Rex, Bella and Odo.", ["Bella (dog)", "Odo (dog)", "Rex (dog)"]),
    ("我养了两只猫，叫毛毛和豆豆。", ["毛毛 (猫)", "豆豆 (猫)"]),
    ("我有两只猫，毛毛和豆豆。", ["毛毛 (猫)", "豆豆 (猫)"]),
    ("我家的两只狗叫旺财和来福。", ["旺财 (狗)", "来福 (狗)"]),
    ("I have two cats and I love them.", ["two cats"]),
    ("我养了两只猫，很可爱。", ["两只猫"]),
]


@pytest.mark.parametrize(("text", "values"), PETS)
def test_several_pets_are_known_each_by_name(text: str, values: list[str]) -> None:
    assert told(text) == sorted(values)


@pytest.mark.parametrize(
    "end",
    [
        "Moss died.",
        "Sadly, Moss died on Friday.",
        "We lost Moss last week.",
        "I lost our little Moss yesterday.",
        "Moss passed away in May.",
        "Moss is no longer with us.",
        "We had to put Moss to sleep.",
        "Moss ran away.",
        "Moss was put down on Monday.",
        "Moss is dead.",
        "Moss is dead now, and I miss her.",
        "Moss passed on last week.",
        "We lost Moss two weeks ago.",
        "We lost Moss to a fox.",
        "I lost Moss.",
    ],
)
def test_the_pet_that_is_gone_leaves_the_profile_and_the_other_stays(end: str) -> None:
    assert told("My two cats are Moss and Fern.", end) == ["Fern (cat)"]


@pytest.mark.parametrize(
    "end", ["毛毛走了。", "毛毛去世了。", "毛毛上周死了。", "我们家毛毛上个月没了。", "毛毛去喵星了。"]
)
def test_the_pet_that_is_gone_leaves_a_chinese_profile(end: str) -> None:
    assert told("我养了两只猫，叫毛毛和豆豆。", end) == ["豆豆 (猫)"]


@pytest.mark.parametrize(
    "text",
    [
        "Moss lost a tooth.",
        "Moss died laughing, so to speak.",
        "We lost the match last week.",
        "We lost Moss in the park, and found him again.",
        "If Moss died I would cry.",
        "Elvis died in 1977.",
        "Moss's collar is gone.",
        "Moss almost died.",
        "Moss passed this week's obedience test.",
        "Moss passed.",
        "Moss is dead tired.",
        "We lost Moss yesterday in the woods, luckily she has a chip.",
        "I lost Moss yesterday, but she was found by a neighbour.",
    ],
)
def test_what_only_looks_like_an_end_ends_nothing(text: str) -> None:
    assert told("My two cats are Moss and Fern.", text) == ["Fern (cat)", "Moss (cat)"]


@pytest.mark.parametrize(
    ("texts", "left"),
    [
        (("My brother is Tom.", "Tom passed away in May."), []),
        (("My brother is Tom.", "My brother Tom died."), []),
        (("My brother is Tom.", "My brother died last night."), []),
        (("My brother is Tom.", "We lost my brother in May."), []),
        (("My brother is Tom.", "I lost my brother in the crowd."), ["Tom"]),
        (("My brother is Tom.", "Tom's boss died."), ["Tom"]),
        (("My brother is Tom.", "My brother is dead."), []),
        (("My brother is Tom.", "My brother passed on in May."), []),
        (("My brother is Tom.", "I lost my brother to cancer."), []),
        (("My brother is Tom.", "We lost my brother on Friday."), []),
        (("My brother is Tom.", "My brother is dead serious about chess."), ["Tom"]),
        (("My brother is Tom.", "My brother passed on Friday, he can drive now!"), ["Tom"]),
        (("My brother is Tom.", "My brother passed last week, he can drive now!"), ["Tom"]),
        (("My brother is Tom.", "Tom passed on the offer."), ["Tom"]),
        (("My sister is Ann.", "I lost my sister yesterday in the mall, luckily she had her phone."), ["Ann"]),
        (("My sister is Ann.", "I lost my sister in Ikea."), ["Ann"]),
        (("我哥哥叫王强。", "我哥哥去世了。"), []),
        (("我哥哥叫王强。", "王强上周过世了。"), []),
        (("我哥哥叫王强。", "王强走了。"), ["王强"]),
        (("I own a bike.", "My bike was stolen."), []),
        (("I own a bike.", "Someone stole my bike last night."), []),
        (("I own a piano.", "I gave away the piano."), []),
        (("I own a piano.", "We gave the piano to my sister."), []),
        (("I own a bike.", "My brother's bike was stolen."), ["a bike"]),
        (("I drive a Skoda.", "I gave the car to my nephew."), []),
        (("I drive a Skoda.", "I gave my car to Ada."), []),
        (("I drive a Skoda.", "I gave my car away."), []),
        (("I drive a Skoda.", "I sold my car to a dealer."), []),
        (("I drive a Skoda.", "We've recently sold the car to the neighbours."), []),
        (("I drive a Skoda.", "I gave my car to the garage for a repair."), ["Skoda"]),
        (("I drive a Skoda.", "I passed my car to the valet."), ["Skoda"]),
        (("I drive a Skoda.", "I gave my car to my brother's garage."), ["Skoda"]),
        (("I drive a Skoda.", "I gave my car to my sister for the weekend."), ["Skoda"]),
        (("I own a laptop.", "I gave my laptop to the repair shop."), ["a laptop"]),
        (("I own a laptop.", "I gave my laptop to a technician."), ["a laptop"]),
        (("I own a laptop.", "I gave my laptop to my parents."), []),
        (("我有一架钢琴。", "我把钢琴送人了。"), []),
    ],
    ids=str,
)
def test_people_and_things_that_are_gone_leave_the_profile(texts: tuple[str, ...], left: list[str]) -> None:
    assert told(*texts) == left


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (("I am 43 years old.", "no, I am 34, not 43"), ["34"]),
        (("I am 43 years old.", "I meant 34, not 43."), ["34"]),
        (("我今年43岁。", "我说错了，是34岁不是43岁。"), ["34"]),
        (("我今年43岁。", "不是43岁，是34岁。"), ["34"]),
        (("My birthday is May 8.", "Sorry, it's May 9, not May 8."), ["--05-09"]),
        (("我的生日是5月8日。", "说错了，是5月9日，不是5月8日。"), ["--05-09"]),
        (("My name is Katarina.", "Actually it's spelled Katarzyna."), ["Katarzyna"]),
        (("My name is Katarina.", "My name is spelled Katarzyna, by the way."), ["Katarzyna"]),
        (("My sister is called Cathy.", "Her name is spelled Kathy, with a K."), ["Kathy"]),
        (("我叫张伟。", "我的名字写错了，是张炜。"), ["张炜"]),
        (("My name is Katarina.", "It's spelled Worcester."), ["Katarina"]),
        (("My sister is Hanna.", "My brother is Hanno.", "It's spelled Hanne."), ["Hanna", "Hanno"]),
        (("我叫张伟。", "不对，是李四。"), ["张伟"]),
        (("我对虾过敏。", "医生说我其实不是对虾过敏，是对芒果过敏。"), ["芒果"]),
        (("我对虾过敏。", "不是对虾过敏，是对芒果过敏。"), ["芒果"]),
        (("我对虾过敏。", "医生说不是对虾过敏，是对芒果过敏。"), ["芒果"]),
        (("我对虾过敏。", "過敏的不是蝦，是芒果。"), ["芒果"]),
        (("我对虾过敏。", "不是虾，是芒果过敏。"), ["芒果"]),
        (("我喜欢虾。", "不是虾，是芒果过敏。"), ["虾"]),
        (("我对花生过敏。", "是坚果过敏，不是花生，花生我能吃。"), ["坚果"]),
        (("我对花生过敏。", "我妹妹来了，是坚果过敏，不是花生。"), ["花生"]),
        (("我喜欢虾。", "我对虾过敏。", "不是对虾过敏，是对芒果过敏。"), ["芒果", "虾"]),
        (("我喜欢鱼。", "豆包又吐了。", "医生说不是对鱼过敏，是对鸡肉过敏。"), ["鱼"]),
        (("My phone number is 07700 900123.", "New phone: 07700 900777."), ["07700 900777"]),
        (("My phone number is 07700 900123.", "New phone: iPhone 15 Pro."), ["07700 900123"]),
        (("我叫林晓，住在成都。", "行李都到了，从今天起我就是深圳人啦。"), ["林晓", "深圳"]),
    ],
)
def test_what_was_said_wrongly_is_put_right(texts: tuple[str, ...], values: list[str]) -> None:
    assert told(*texts) == sorted(values)


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("我吃不了虾。", "avoids", "虾"),
        ("我喝不了牛奶。", "avoids", "牛奶"),
        ("花生我碰不得。", "avoids", "花生"),
        ("海鲜我吃不了。", "avoids", "海鲜"),
        ("我忌口，不能吃辣。", "avoids", "辣"),
        ("我得忌海鲜。", "avoids", "海鲜"),
        ("医生说我不能吃海鲜。", "avoids", "海鲜"),
        ("医生不让我喝酒。", "avoids", "酒"),
        ("医生叫我别吃海鲜。", "avoids", "海鲜"),
        ("医生让我少喝咖啡。", "avoids", "咖啡"),
        ("医生嘱咐我忌辣。", "avoids", "辣"),
        ("大夫说不能吃花生。", "avoids", "花生"),
        ("我海鲜过敏。", "allergy", "海鲜"),
        ("我一喝牛奶就拉肚子。", "avoids", "牛奶"),
        ("牛奶我一喝就难受。", "avoids", "牛奶"),
        ("Shellfish makes me ill.", "avoids", "Shellfish"),
        ("Milk upsets my stomach.", "avoids", "Milk"),
        ("I get sick from eggs.", "avoids", "eggs"),
        ("Garlic doesn't agree with me.", "avoids", "Garlic"),
    ],
)
def test_what_somebody_cannot_eat_is_heard(text: str, slot: str, value: str) -> None:
    assert (slot, value) in [(finding.slot, finding.value) for finding in slots(text, "user", SAID)]


@pytest.mark.parametrize(
    "text",
    [
        "我受不了他。",
        "我吃不了苦。",
        "他说我不能吃虾。",
        "Work makes me sick.",
        "Mondays make me ill.",
        "如果我吃不了虾怎么办",
        "我吃不了亏。",
        "医生叫我喝牛奶。",
        "医生说吃鱼。",
        "医生让我吃鱼。",
        "医生嘱咐我吃海鲜。",
        "大夫说我多喝水。",
    ],
)
def test_what_only_sounds_like_a_diet_is_none(text: str) -> None:
    assert not [finding for finding in slots(text, "user", SAID) if finding.slot in ("avoids", "allergy", "diet")]


GIVEN_AWAY = [
    (("I have a dog called Pickle.", "I had to give Pickle to my parents."), []),
    (("I have a dog called Pickle.", "I had to give the dog away."), []),
    (("I have a dog called Pickle.", "My parents are looking after Pickle this week."), ["Pickle (dog)"]),
    (("I have a dog called Pickle.", "I gave Pickle to the vet for a check."), ["Pickle (dog)"]),
    (("I have a dog called Pickle.", "I gave Pickle to my sister for the weekend."), ["Pickle (dog)"]),
    (("My cat is called Momo.", "Momo lives with my sister now."), []),
    (("I own a grand piano.", "I donated the piano to the school."), []),
    (("I drive a blue Skoda Octavia.", "I gave the car to my nephew."), []),
    (("我养了一只猫叫咪咪。", "咪咪送人了。"), []),
    (("我养了一只猫叫咪咪。", "我把猫送给邻居了。"), []),
    (("我养了一只狗叫豆豆。", "豆豆寄养给我妈了。"), []),
    (("我养了一只狗叫豆豆。", "豆豆寄养在我妈家一周。"), ["豆豆 (狗)"]),
    (("我有一台钢琴。", "钢琴捐给学校了。"), []),
    (("我养了一只叫豆包的猫。", "豆包送给我妈养了。"), []),
    (("养了一只柴犬叫豆包", "豆包送给我爸妈养了，他们在绍兴"), []),
    (("我领养了一只柴犬，名字叫豆包", "豆包送给我爸妈养了"), []),
    (("养了一只柴犬叫豆包", "豆包送给我爸妈养几天"), ["豆包 (柴犬)"]),
    (("养了一只柴犬叫豆包", "豆包送给我爸妈养了，下周接回来。"), ["豆包 (柴犬)"]),
    (("养了一只柴犬叫豆包", "买了本书送给我爸妈了"), ["豆包 (柴犬)"]),
    (("养了一只柴犬叫个不停", "豆包送给我爸妈养了"), ["一只柴犬"]),
    (("我养了一只叫豆包的猫。", "豆包跟我妈住了。"), []),
    (("我养了一只叫豆包的猫。", "豆包送给我妈了，现在家里安静，周末都不知道干嘛。"), []),
    (("我养了一只叫豆包的猫。", "我给豆包找了个新主人啦。"), []),
    (("我养了一只叫豆包的猫。", "豆包送给我妈养几天。"), ["豆包 (猫)"]),
    (("我养了一只叫豆包的猫。", "豆包送给我妈养了，下周接回来。"), ["豆包 (猫)"]),
    (("我养了一只叫豆包的猫。", "豆包跟我妈熟了。"), ["豆包 (猫)"]),
    (("我养了一只叫豆包的猫。", "豆包住我家了。"), ["豆包 (猫)"]),
    (("我养了一只叫豆包的猫。", "豆包找到新家具了。"), ["豆包 (猫)"]),
]


@pytest.mark.parametrize(("texts", "values"), GIVEN_AWAY)
def test_what_was_given_for_good_is_owned_no_more_by_name_or_kind(texts: tuple[str, ...], values: list[str]) -> None:
    assert told(*texts) == values


def shown(*texts: str) -> list[str]:
    """The lines of the profile after some texts."""
    with Memory("memory:", embedder="none") as memory:
        me: ScopedMemory = memory.scope(user="noor")
        for text in texts:
            me.observe(text)
        memory.flush()
        return sorted(belief.text for belief in me.profile())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("I retired last year.", "The user is retired."),
        ("I'm self-employed.", "The user is self-employed."),
        ("I'm between jobs.", "The user is between jobs."),
        ("I'm a nurse.", "The user works as nurse."),
        ("我去年退休了。", "用户已经退休。"),
        ("我是护士。", "用户的职业是护士。"),
    ],
)
def test_nobody_works_as_what_is_no_work(text: str, line: str) -> None:
    assert line in shown(text)


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        (
            ("I'm learning Italian now.", "I went back to Spanish, Italian wasn't for me."),
            ["The user is learning Spanish."],
        ),
        (("I gave up smoking.", "Back on the cigarettes, sadly."), []),
        (("我戒烟了。", "唉，又抽上了。"), []),
        (("Mia and I broke up.", "Mia and I got back together."), ["The user's partner is Mia."]),
        (("I work at Siemens.", "I joined Bosch.", "I rejoined Siemens in May."), ["The user works for Siemens."]),
    ],
)
def test_what_had_ended_holds_again(texts: tuple[str, ...], line: list[str]) -> None:
    assert shown(*texts) == line


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("I live in Cork, no wait, I live in Galway.", True),
        ("I live in Cork. No wait, I live in Galway.", True),
        ("I live in Cork. Scratch that! Sorry, I live in Galway.", True),
        ("I live in Cork and I work at Lego, no wait, I live in Galway.", True),
        ("我住在成都，不对，我住在重庆。", True),
        ("I live in Cork. It rained a lot there. Wait, I live in Galway.", False),
        ("I live in Cork. My sister has a dog. No, I live in Galway.", False),
        ("I live in Cork. Is it far? Wait, I live in Galway.", False),
        ("I live in Cork, wait, I moved to Galway last month.", False),
        ("I live in Cork, sorry, I live in Galway since last month.", False),
        ("我住在成都。那里常下雨。等等，我住在重庆。", False),
        ("我住在成都，等等，我上个月搬到重庆了。", False),
    ],
)
def test_only_what_was_said_right_before_is_taken_back(text: str, corrected: bool) -> None:
    cities = [(finding.act, finding.wrong) for finding in slots(text, "ada", SAID) if finding.slot == "city"]
    assert any(act is SlotAct.CORRECTS and wrong for act, wrong in cities) is corrected
