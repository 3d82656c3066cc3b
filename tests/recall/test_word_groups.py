# ruff: noqa: E501 - a row cut in pieces is read wrongly
"""Each group of words finds what it is for, and nothing that only looks like it; patterns are composed of groups."""

from __future__ import annotations

import re

import pytest

from mnemic.recall import word_groups
from mnemic.recall.word_groups import WordGroup

FOUND = """
GIVEN_UP: I quit the choir | gave it up in May | she retired | jacked in the minibus | 戒烟了 | 健身卡退了 | 钢琴不弹了 | 合唱团我放弃了 | 合唱团我放弃，太累
PARTED: we broke up | they are divorced | I got dumped | Mia dumped me | I dumped Tom | 我们分手了 | 我离了 | 跟大刚吹了 | 散伙了
SINGLE: I'm single and fine | we’re single | I've been single for years | single again | 我单身
RID: sold the Volvo | got rid of it | 车卖了 | 猫送人了 | 钢琴捐了 | 钢琴捐给学校了
LOST: my passport was stolen | my keys are gone | 狗走丢了
DIED: Rex died | the cat was put down | 爷爷去世了 | 鱼死了
CALLED_OFF: cancelled the gym | the lease ended | 会员卡注销了
OVER: it's over | A levels over. | I'm finished with physio | 合同到期
NO_LONGER: I no longer swim | no more lodgers | 不再抽烟
LAST: her last day | last ever lesson | 最后一节课
LEFT: my lodger left | 保姆走了 | 从公司离职
SPOKEN_OF: do I swim any more | 卖车的 | 退
REPLACED: took the bus instead | swapped the shop | 换了一家 | 改打鼓了
MOVED: moved to Leeds | 搬到珠海 | 跳槽到阿里
USED_TO: I used to smoke | formerly of Hull | 原来住这
LONG_AGO: years ago | 小时候 | 我以前住过
NOT: not me | I can't | without it | 没去 | 不吃
CORRECTION: scratch that | Actually I am not | no wait | my mistake | 我上次说错了 | 不对，是周四 | 更正一下 | 其实不是
CONDITION: if I won | suppose we moved | 要是我有车 | 假如 | 万一下雨
GUESS: I might go | maybe later | it may be late | 也许吧 | 可能会
COULD: I could sing | I should go | 应该去
SHORT_WOULD: I'd like a lodger | we’d go | I'd make a cake
WISH: I wish it was | 但愿如此 | 希望能去
HOPE: hoping for rain | 有就好
DREAM: dreamt of a greyhound | had a weird dream | 梦见 | 昨晚做梦
SOMEDAY: someday | some day soon | one of these days | 改天
WEIGHED: thinking of selling | tempted by it | 考虑买房 | 我想搬家
PLANNED: wants a car | we plan a trip | 打算搬
NEARLY: almost bought it | 差点买了 | 险些
AHEAD: it will rain | going to move | next Monday | 明年 | 下个月 | 即将搬
"""
NOT_FOUND = """
GIVEN_UP: I sing in the choir | 戒指 | 退休的人 | 这本词典放弃了拼音
PARTED: 十分了解 | 闹离婚 | dumped the mattress at the tip | the mattress was dumped at the tip | they were dumped in the sea | Eleni dumped a pile of homework on us | the pill dissolved | 合唱团的人散了 | 乐团排练完散了，各回各家 | 和朋友吹了一下午牛 | 蛋糕和小周分了 | 下班和小周散了 | 拉近了距离了解了他
SINGLE: every single Sunday | a single fork | a single room | my room is single | the room is now single | my choir room is single glazed | I'm single handed
RID: returned from Spain | returned my bike to its shed | 卖车的 | 会员卡捐了十块积分 | 捐款 | 捐了三百块钱 | 捐给灾区三百块
DIED: we're all put down to a Dr Fenwick | 死都要卷
OVER: 160 over 100 | over the bridge
USED_TO: my bike, which I used to the full
NOT: 特别好吃
CORRECTION: we scratched it | he waited | 我不对虾过敏 | 他的话没错
CONDITION: 房租三万一年 | 5万一年
GUESS: 12 May | on 15 may | the first of May | in May have lunch | 我不可能养猫了
SHORT_WOULD: I'd been there | we'd had enough | I'd moved | I'd got a car | I'd bought it | we'd met | I'd just moved | I'd never been | I’d already left | we'd sold it
WISH: 希望小学
DREAM: my dream job | gave me nightmares
WEIGHED: 不想再养 | 没想到 | 我想起来了
PLANNED: 不打算再参加
AHEAD: next door | next to the pub | 麻将 | 将军
"""


def rows(table: str) -> list[tuple[str, str]]:
    lines = (line.split(": ", 1) for line in table.strip().splitlines())
    return [(group, text) for group, texts in lines for text in texts.split(" | ")]


@pytest.mark.parametrize(("group", "text"), rows(FOUND))
def test_a_group_finds_its_words(group: str, text: str) -> None:
    assert getattr(word_groups, group).pattern().search(text)


@pytest.mark.parametrize(("group", "text"), rows(NOT_FOUND))
def test_a_group_finds_nothing_that_only_looks_like_its_words(group: str, text: str) -> None:
    assert getattr(word_groups, group).pattern().search(text) is None


def test_every_group_has_a_row() -> None:
    composed = {"ENDING", "SUPPOSED", "INTENDED"}
    groups = {name for name, value in vars(word_groups).items() if isinstance(value, WordGroup)}
    assert groups == {group for group, _ in rows(FOUND)} | composed


def test_groups_add_up_to_one_pattern() -> None:
    either = (WordGroup("sold", "卖") + WordGroup(anywhere=r"n't\b") + WordGroup("quit")).pattern()
    assert either.findall("Sold it, quit; didn't resold. 卖车") == ["Sold", "quit", "n't", "卖"]
    assert WordGroup(anywhere="卖").form == "卖"
    assert re.compile(WordGroup("sold").form).search("resold") is None
