# ruff: noqa: E501 - a row cut in pieces is read wrongly
"""Yes or no of a time past, of what goes on beside something new, and of what was only dreamt: read where it is plain."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from mnemic.core.clock import micros
from mnemic.core.queries import Recalled
from mnemic.core.timex import find_times
from mnemic.recall.held_at import held_at
from mnemic.recall.only_supposed import only_supposed
from mnemic.recall.still_so import stated_in_full, still_so

ASKED = micros(datetime.fromisoformat("2025-08-31T00:00:00Z"))

AT_A_TIME = """
2021-09-12 my lodger Kasia wants to put up shelves | 2023-07-15 Drove Kasia to the airport. No more lodgers. => did I have a lodger in March 2022? => yes
2021-09-12 I have a lodger called Kasia. | 2022-01-15 My lodger left for good. => did I have a lodger in March 2022? => no
2021-09-12 I have a lodger called Kasia. | 2022-03-15 My lodger left for good. => did I have a lodger in March 2022? => open
2022-05-12 I have a lodger called Kasia. => did I have a lodger in March 2022? => open
2021-09-12 I'd love a lodger. => did I have a lodger in March 2022? => open
2021-09-12 I used to have a lodger. => did I have a lodger in March 2022? => open
2021-09-12 We're getting a lodger next spring. => did I have a lodger in March 2022? => open
2024-01-31 Mr. Bell tutors my daughter on Wednesdays. | 2024-05-29 We stopped the tutoring today. => Was she being tutored in March 2024? => open
2022-01-31 We had a lodger, a quiet man. => did I have a lodger in March 2022? => open
2022-01-31 I am sick of this. => Was I sick in March 2022? => open
2022-01-31 Off gluten since the blood test. => Was I gluten-free in March 2022? => open
2022-01-31 Felix's mother found an app, no more Mondays for me. => Was I tutoring Felix in March 2022? => open
2024-01-31 I want to visit Rome. => Did I visit Rome in March 2024? => open
2024-01-31 Rome is lovely. => Did I move to Rome in March 2024? => open
2024-01-31 I bowl on Thursdays with the Split Decisions. => Did I bowl in March 2024? => yes
2024-01-31 Someone left a piano on the pavement. => Was she having piano in March 2024? => open
2024-01-31 I work at Asda. => Will I work at Asda in March 2026? => open
2022-03-30 包了老宋家十五亩地种苞米，今年化肥涨这么凶 | 2023-11-22 来年地不包了，谁的也不包。 => 2022年夏天我包没包地种? => yes
2022-03-30 包了老宋家十五亩地种苞米。 | 2023-11-22 来年地不包了，谁的也不包。 => 2024年春天我包地吗? => open
2024-01-03 我每天吃两次二甲双胍，饭后吃。 | 2024-08-19 医生让我把二甲双胍停了。 => 2024年3月我在吃二甲双胍吗？ => yes
2023-08-06 我租了个车位一个月三百五 能不能锁他车 | 2024-06-30 车位今天跟物业退了 => 2024年3月份我还有车位吗 => yes
2023-08-06 要是我有车位就好了 => 2024年3月份我有车位吗 => open
2023-08-06 我去了西安。 => 2024年3月我去过西安吗 => open
2023-08-06 以前我有个车位。 => 2024年3月份我有车位吗 => open
2024-01-31 I play bridge. => Did I start bridge in March 2024? => open
2024-01-31 I have a lodger for two weeks. => did I have a lodger in March 2024? => open
2024-01-31 My lodger arrives tomorrow. => did I have a lodger in March 2024? => open
2024-01-31 I have no lodger. => did I have a lodger in March 2024? => no
2024-01-31 I have a lodger and quit smoking. => did I have a lodger in March 2024? => open
2024-01-31 I am on the gluten diet. => Was I off the gluten diet in March 2024? => open
2024-01-31 My lodger says we had rain. => did I have a lodger in March 2024? => open
"""

STILL = """
2022-02-08 I do Tuesdays on the till at the hospice shop. | 2023-10-20 As well as the shop I've said yes to the food bank. => am I still doing Tuesdays at the hospice? => yes
2022-02-08 I do Tuesdays on the till at the hospice shop. | 2023-10-20 Swapped the shop for the food bank, also closer. => am I still doing Tuesdays at the hospice? => open
2022-02-08 I do Tuesdays on the till at the hospice shop. | 2023-10-20 I've said yes to the food bank. => am I still doing Tuesdays at the hospice? => open
2025-01-22 contract template pls, client is a bakery | 2025-06-03 landed a 2nd monthly one, a clinic. how do i schedule posts so the bakery doesnt feel neglected => is the bakery still a client => yes
2025-01-22 I'm on statins. | 2025-06-03 I'm off the statins, also no more beta blockers. => am I still on statins? => open
2024-09-20 I still owe the lawyers a thank-you for the farewell lunch. => Do I still work for the lawyers? => open
2024-09-20 on the committee at the hospital every second tuesday => Am I still on the committee at the hospital? => open
2024-03-18 我和阿澜合伙开的咖啡车，停在湖边。 | 2025-09-28 咖啡车今天转手了，又是一场空。 => 我还有咖啡车吗? => open
2024-11-16 下班跑闪送一晚上能挣一百二 | 2025-06-21 接了个陪玩的活，闪送照跑。 => 我还在跑闪送不 => yes
2024-11-16 下班跑闪送一晚上能挣一百二 | 2025-06-21 接了个陪玩的活，闪送不跑了。 => 我还在跑闪送吗 => open
2023-09-02 孩子学书法墨汁弄校服上了 | 2024-02-24 围棋也去学了，我得算算跟礼拜天的毛笔课撞不撞 => 学了围棋以后书法还在上吗 => yes
2023-09-02 孩子学书法墨汁弄校服上了 | 2024-02-24 书法换成围棋了，又是一笔钱 => 学了围棋以后书法还在上吗 => open
2023-04-18 我在晨光合唱团唱女低音。 | 2024-01-09 医生让我少唱，我已经退出合唱团了，也不打算再参加别的。 => 我还在合唱团吗？ => no
2023-04-18 我在晨光合唱团唱女低音。 | 2024-01-09 要是太累我就退出合唱团了。 => 我还在合唱团吗？ => open
2024-04-18 passed aws SAA today 812/1000 => do i have anything from aws => yes
2024-04-18 my brother passed aws SAA today => do i have anything from aws => open
2024-04-18 got a letter from aws => do i have anything from aws => open
2024-02-26 我儿子每周三放学去学围棋，六点下课。 => 儿子有没有学围棋？ => yes
2024-02-26 我儿子没学围棋，学的是象棋。 => 儿子有没有学围棋？ => open
2024-02-26 我儿子想学围棋。 => 儿子有没有学围棋？ => open
2025-02-19 现在粤语也说得很顺，跟楼下阿姨聊天没有问题。 => 我会粤语吗？ => yes
2025-02-19 我妈粤语说得很顺。 => 我会粤语吗？ => open
2025-02-19 以前拉大提琴，后来放弃了。 => 我会拉大提琴吗？ => open
2025-02-19 芒果我一吃就起疹子。 => 芒果我能不能放心吃？ => open
2024-09-20 I killed the choir. => Am I still in the choir? => no
2024-09-20 跑闪送的人照跑。 => 我还在跑闪送不 => open
2024-04-18 adopted a dog today => do i have just a dog => open
2024-02-26 我儿子每周三去学围棋的班很远。 => 儿子有没有学围棋？ => open
"""

SUPPOSED = """
2023-02-02 Tibby, that's my cat, yowls. | 2023-09-10 Dreamt last night I'd brought a greyhound home off the track. => do I own a greyhound? => no
2023-09-10 Dreamt last night I'd brought a greyhound home. | 2023-12-10 The greyhound came home today. => do I own a greyhound? => open
2023-09-10 Dreamt last night I'd brought a greyhound home. | 2023-12-10 She came home today, all legs. => do I own a greyhound? => open
2023-09-10 I dreamt for years of a greyhound and finally got one. => do I own a greyhound? => open
2023-09-10 Dreamt my greyhound could talk. => do I own a greyhound? => open
2023-09-10 I might get a greyhound. => do I want a greyhound? => open
2023-09-10 We're going to get a greyhound in May. => do I own a greyhound? => open
2023-09-10 We're thinking about getting a greyhound. => do I own a greyhound? => open
2023-09-10 Can you see if my greyhound is ill? => do I own a greyhound? => open
2023-09-10 What do I feed a greyhound? => do I own a greyhound? => open
2023-09-10 Dreamt last night of a whippet. => do I own a greyhound? => open
2023-09-10 If I won I'd buy a greyhound. => do I still have the greyhound? => open
2023-09-10 If I quit the choir I'd sing at home. => Am I in the choir? => open
2023-09-10 Maybe I'll sell the bike. => Do I have a bike? => open
2023-09-10 I'd kill for a coffee. => Do I drink coffee? => open
2023-09-10 I wish I had a dog. => Do I have a dog? => no
2023-09-10 要是把车位退了能省三百五 => 我有车位吗 => open
2023-11-18 We play the numbers every week, if they ever come up we're having a place in Whitby. => have we got a place in Whitby => no
2023-11-18 If it helps, we have a place in Whitby. => have we got a place in Whitby => open
2024-08-11 my bro is selling his ps5 at 380, not for me my cousin asking => did i end up with a ps5 => open
2024-08-11 my bro is selling his ps5 at 380 => did i end up with a ps5 => open
2024-05-28 My daughter said, "Mom, you have to go vegan." I laughed. => Am I a vegan now? => no
2024-05-28 The doctor said "you have diabetes". => Do I have diabetes? => open
2024-05-28 I had the strangest dream last night. I was running a bakery in Vermont. => Do I run a bakery? => no
2024-07-19 help me with a verse, it opens 'I been living in Memphis since my baby sold the truck' => Am I living in Memphis? => no
2025-03-18 室友拉我去吉他社，我说算了吧真没时间 => 吉他社我进了吗 => no
2025-03-18 室友约我去吉他社，我没去 => 吉他社我进了吗 => no
2025-03-18 室友拉我去吉他社，我报名了 | 2025-04-18 吉他社今天第一次排练 => 吉他社我进了吗 => open
2024-02-11 昨晚做梦开了个早餐铺，收钱收得手抽筋 => 我开没开早餐铺 => no
2024-02-05 等以后攒够了钱，我想去大理开一家民宿。开民宿大概需要多少本钱？ => 我已经在大理开民宿了吗？ => no
2024-02-05 大理的民宿终于开业了，做梦一样。 => 我已经在大理开民宿了吗？ => open
2025-04-09 主管开会亏我：再迟到就把你调去楠梓厂。大家都笑 => 我被调到楠梓了吗 => no
2024-08-12 同事开玩笑说：“你应该去打拳击。”请帮我回她。 => 我在练拳击吗？ => no
2024-08-12 等油价跌回五块,我去提台牧马人。 => 我买牧马人了吗? => no
2024-08-12 我家金毛梦里都在跑。 => 我家有金毛吗？ => open
2023-09-10 Dreamt last night I'd brought a greyhound home. Got her on Friday. => do I own a greyhound? => open
2023-09-10 I always wished I had a greyhound and now we have. => do I own a greyhound? => open
2023-09-10 Dreamt last night I'd brought a greyhound home. => did i end up with a greyhound? => no
"""


def rows(table: str) -> list[tuple[str, str, str]]:
    return [
        (said, question, answer) for said, question, answer in (row.split(" => ") for row in table.split("\n") if row)
    ]


def recalled(world: Any, said: str) -> list[Recalled]:
    """What was said on its days, the newest first, each a state of one matter where there are several."""
    told = [each.split(" ", 1) for each in said.split(" | ")]
    days = [datetime.fromisoformat(f"{day}T00:00:00Z") for day, _ in told]
    newest = [replace(world.say(text, by=""), said=day) for day, (_, text) in zip(days, told, strict=True)][::-1]
    return [
        Recalled(
            item=item,
            seq=1,
            score=1.0,
            components={},
            reasons=(),
            tokens=9,
            bearing=4.0,
            succession=place if len(newest) > 1 else 0,
        )
        for place, item in enumerate(newest, start=1)
    ]


def answered(read: Any) -> str:
    return "open" if read is None or read.yes is None else "yes" if read.yes else "no"


@pytest.mark.parametrize(("said", "question", "answer"), rows(AT_A_TIME))
def test_what_was_stated_before_a_time_had_passed_held_then(world: Any, said: str, question: str, answer: str) -> None:
    evidence = recalled(world, said)
    assert answered(held_at(question, find_times(question, ASKED), evidence)) == answer


@pytest.mark.parametrize(("said", "question", "answer"), rows(STILL))
def test_what_is_only_added_ends_nothing(world: Any, said: str, question: str, answer: str) -> None:
    evidence = recalled(world, said)
    assert answered(still_so(question, evidence) or stated_in_full(question, evidence)) == answer


@pytest.mark.parametrize(("said", "question", "answer"), rows(SUPPOSED))
def test_what_all_that_names_it_supposes_is_not_so(world: Any, said: str, question: str, answer: str) -> None:
    assert answered(only_supposed(question, recalled(world, said))) == answer
