# ruff: noqa: E501 - a row cut in pieces is read wrongly
"""Whom somebody was with before, and what held before the last change: not what holds now."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from mnemic.core.clock import micros
from mnemic.core.queries import Recalled
from mnemic.core.timex import find_times
from mnemic.recall.earlier import asks_former_partner, former_partner, what_came_first, what_held_before, what_held_then

PARTNERS = """
2025-01-02 跟周凯在一起三年了 | 2025-03-02 跟周凯分手了 | 2025-05-02 认识了一个男生叫陈屿，在一起了 => 我的前男友叫什么？ => 跟周凯分手了
2025-01-02 my boyfriend Zack cooked | 2025-03-02 I broke up with Zack | 2025-05-02 met a guy called Chen, we're together now => who is my ex-boyfriend? => I broke up with Zack
2025-01-02 I have a boyfriend, Zack | 2025-03-02 we broke up, so sad => who is my ex-boyfriend? => I have a boyfriend, Zack
2025-01-02 my ex Pablo still has my keys | 2025-03-02 my boyfriend is called Chen => What is my ex called? => my ex Pablo still has my keys
2025-01-02 my wife Anna and I got divorced | 2025-03-02 I'm dating Sue => Who is my ex-wife? => my wife Anna and I got divorced
2025-01-02 认识了一个男生叫陈屿，在一起了 => 我的前男友叫什么？ => none
2025-01-02 my sister broke up with Tom => who is my ex-boyfriend? => none
2025-01-02 my sister's ex Tom came by => who is my ex-boyfriend? => none
2025-01-02 my boss dumped more work on me => who is my ex-boyfriend? => none
2025-01-02 the pill Tom gave me dissolved => who is my ex-boyfriend? => none
2025-01-02 蛋糕和小周分了 => 我前男友叫什么？ => none
2025-01-02 下班和小周散了 => 我前男友叫什么？ => none
2025-01-02 小周跟我拉近距离了解对方 => 我前男友叫什么？ => none
2025-01-02 I dumped Tom at last => who is my ex-boyfriend? => I dumped Tom at last
"""
BEFORE = """
2025-01-02 降压药吃的是氨氯地平 | 2025-03-02 脚肿，医生把药换成缬沙坦了 | 2025-05-02 今天忘了吃缬沙坦这个药 => 我之前吃的是什么降压药？ => 降压药吃的是氨氯地平
2025-01-02 降压药吃的是氨氯地平 | 2025-03-02 医生把药换成缬沙坦了 | 2025-05-02 吃缬沙坦后降压药效果不错 => 换药之前我吃的什么药？ => 降压药吃的是氨氯地平
2025-01-02 I take amlodipine pills | 2025-03-02 My doctor switched me to valsartan pills | 2025-05-02 took my pills late today => What medication did I use to take? => I take amlodipine pills
2025-01-02 I take amlodipine pills | 2025-05-02 took my pills late today => What pills do I take? => none
"""
THEN = """
2026-01-10 based in Montreal, working in film | 2026-05-14 We moved to Ottawa at the weekend! | 2026-09-08 back in Montreal, it didn't work out => Where did I live in June? => We moved to Ottawa at the weekend!
2026-01-10 based in Montreal, working in film | 2026-05-14 We moved to Ottawa at the weekend! | 2026-09-08 back in Montreal, it didn't work out => Where did I live in February? => based in Montreal, working in film
2026-01-10 我住在武侯区 | 2026-04-29 从武侯区搬到了龙泉驿 => 我三月份住在哪个区？ => 我住在武侯区
2026-01-10 我住在武侯区 | 2026-04-29 从武侯区搬到了龙泉驿 => 我五月份住在哪个区？ => 从武侯区搬到了龙泉驿
2026-04-29 从武侯区搬到了龙泉驿 => 我三月份住在哪个区？ => none
2025-03-10 I work at Shopify => Where did I work in January? => I work at Shopify
2025-03-10 I work at Shopify | 2025-11-20 I quit, starting my own business in January => Where did I work in January? => none
2026-01-10 I live in Leeds => Where did I meet Tom in June? => none
2026-01-10 I live in Leeds => Where will I live in June? => none
2026-01-10 I live in Leeds => Where did we go in June? => none
"""

FIRST = """
2025-01-02 I moved to Oslo. | 2025-02-02 I moved to Rome. | 2025-03-02 I moved to Quito. => Where did I first move? => I moved to Oslo.
2025-01-02 I moved to Oslo. | 2025-02-02 I moved to Rome. | 2025-03-02 I moved to Quito. => Where did I move to first? => I moved to Oslo.
2025-01-02 I live in Oslo. | 2025-02-02 I moved to Rome. | 2025-03-02 My sister lives in Bath. => Where did I originally live? => I live in Oslo.
2025-01-02 I live in Oslo. | 2025-02-02 I moved to Rome. => What was my first city? => I live in Oslo.
2025-01-02 I live in Oslo. | 2025-02-02 I moved to Rome. => Which is the first place I lived in? => I live in Oslo.
2025-01-02 I work at Siemens. | 2025-02-02 I work at Shell now. => Who was my first employer? => I work at Siemens.
2025-01-02 I drive a Skoda. | 2025-02-02 I drive a Kia now. => What was my first car? => I drive a Skoda.
2025-01-02 我搬到了奥斯陆。 | 2025-02-02 我搬到了罗马。 => 我最早搬到哪里？ => 我搬到了奥斯陆。
2025-01-02 我住在苏州。 | 2025-02-02 我搬到了杭州。 => 我一开始住在哪个城市？ => 我住在苏州。
2025-01-02 我在华为上班。 | 2025-02-02 我在美团上班。 => 我第一份工作在哪里？ => 我在华为上班。
2025-01-02 I moved to Oslo. | 2025-02-02 I moved to Rome. => Where do I live? => none
2025-01-02 I moved to Oslo. | 2025-02-02 I moved to Rome. => When did I first move to Rome? => none
2025-01-02 I moved to Oslo. | 2025-02-02 I moved to Rome. => What is my first name? => none
2025-01-02 I moved to Oslo. | 2025-02-02 I moved to Rome. => Where did Tom first live? => none
2025-01-02 I moved to Oslo. | 2025-02-02 I moved to Rome. => Did I first move to Oslo? => none
2025-01-02 I moved to Oslo. => Where did I first move? => none
2025-01-02 I moved to Oslo. | 2025-02-02 I moved to Rome. | 2025-03-02 I first lived in Bath. => Where did I first live? => none
2025-01-02 I moved to Oslo. | 2025-02-02 I moved to Rome. | 2025-03-02 Before that I lived in Bath. => Where did I live first? => none
2025-01-02 我搬到了奥斯陆。 | 2025-02-02 我搬到了罗马。 => 我现在住哪里？ => none
2025-01-02 我搬到了奥斯陆。 | 2025-02-02 我搬到了罗马。 | 2025-03-02 我最早住在苏州。 => 我最早住在哪里？ => none
2025-01-02 我搬到了奥斯陆。 | 2025-02-02 我搬到了罗马。 => 我先搬到了哪里？ => 我搬到了奥斯陆。
2025-01-02 我在华为上班。 | 2025-02-02 我在美团上班。 => 我先在哪家公司工作的？ => 我在华为上班。
2025-01-02 我在华为上班。 | 2025-02-02 我在美团上班。 => 我先去了哪家公司上班？ => 我在华为上班。
2025-01-02 我搬到了奥斯陆。 | 2025-02-02 我搬到了罗马。 => 我第一次搬家搬到了哪里？ => 我搬到了奥斯陆。
2025-01-02 我搬到了奥斯陆。 | 2025-02-02 我搬到了罗马。 => 我第一次租房住在哪里？ => 我搬到了奥斯陆。
2025-01-02 我在华为上班。 | 2025-02-02 我在美团上班。 => 我第一次上班是在哪家公司？ => 我在华为上班。
2025-01-02 我在华为上班。 | 2025-02-02 我在美团上班。 => 我明天先去哪家公司？ => none
2025-01-02 我在华为上班。 | 2025-02-02 我在美团上班。 => 我该先去哪家公司上班？ => none
2025-01-02 我在华为上班。 | 2025-02-02 我在美团上班。 => 我要先去哪家公司上班的？ => none
2025-01-02 我在华为上班。 | 2025-02-02 我在美团上班。 => 我先去了公司还是先去了银行？ => none
2025-01-02 我在华为上班。 | 2025-02-02 我在美团上班。 => 我原先在哪里工作过？ => none
2025-01-02 我在华为上班。 | 2025-02-02 我在美团上班。 => 我首先在哪家公司工作了？ => none
2025-01-02 我搬到了奥斯陆。 | 2025-02-02 我搬到了罗马。 => 我先住在哪里比较好？ => none
2025-01-02 我搬到了奥斯陆。 | 2025-02-02 我搬到了罗马。 => 我第一次去罗马住的城市酒店是哪年？ => none
2025-01-02 我搬到了奥斯陆。 | 2025-02-02 我搬到了罗马。 => 我第一次去看房子是哪个城市？ => none
2025-01-02 我搬到了奥斯陆。 | 2025-02-02 我搬到了罗马。 => 我第一次住院是在哪个城市？ => none
2025-01-02 我搬到了奥斯陆。 | 2025-02-02 我搬到了罗马。 => 我什么时候第一次搬到罗马？ => none
2025-01-02 我在华为上班。 | 2025-02-02 我在美团上班。 => 我第一次去公司面试是哪家？ => none
"""


def rows(table: str) -> list[list[str]]:
    return [row.split(" => ") for row in table.split("\n") if row]


def recalled(world: Any, said: str) -> list[Recalled]:
    told = [each.split(" ", 1) for each in said.split(" | ")]
    items = [replace(world.say(text, by=""), said=datetime.fromisoformat(f"{day}T00:00:00Z")) for day, text in told]
    return [
        Recalled(item=item, seq=1, score=1.0, components={}, reasons=(), tokens=9, bearing=4.0)
        for item in reversed(items)
    ]


@pytest.mark.parametrize(("said", "question", "answer"), rows(PARTNERS))
def test_whom_somebody_was_with_is_told_by_the_end_of_it(world: Any, said: str, question: str, answer: str) -> None:
    assert asks_former_partner(question)
    former = former_partner(question, recalled(world, said))
    assert [hit.text for hit in former] == [answer] * (answer != "none")


@pytest.mark.parametrize(
    "question", ["Who is my ex-boss?", "我的前任老板叫什么？", "Who is my boyfriend?", "谁是我前面的人？"]
)
def test_who_is_no_former_partner_is_asked_for_as_anybody(question: str) -> None:
    assert not asks_former_partner(question)


@pytest.mark.parametrize(("said", "question", "answer"), rows(BEFORE))
def test_what_held_before_is_older_than_the_last_change(world: Any, said: str, question: str, answer: str) -> None:
    before = what_held_before(question, recalled(world, said))
    assert [hit.text for hit in before] == [answer] * (answer != "none")


@pytest.mark.parametrize(("said", "question", "answer"), rows(FIRST))
def test_the_first_of_several_states_was_told_first(world: Any, said: str, question: str, answer: str) -> None:
    first = what_came_first(question, recalled(world, said))
    assert [hit.text for hit in first] == [answer] * (answer != "none")


def test_the_first_of_a_series_that_is_not_all_there_is_not_told(world: Any) -> None:
    moves = recalled(world, "2025-01-02 I moved to Oslo. | 2025-02-02 I moved to Rome.")
    assert what_came_first("Where did I first move?", moves)
    assert not what_came_first("Where did I first move?", moves, more=True)


@pytest.mark.parametrize(("said", "question", "answer"), rows(THEN))
def test_what_held_in_a_past_month_was_told_by_then(world: Any, said: str, question: str, answer: str) -> None:
    spans = find_times(question, micros(datetime.fromisoformat("2026-10-01T00:00:00Z")))
    then = what_held_then(question, spans, recalled(world, said))
    assert [hit.text for hit in then] == [answer] * (answer != "none")
