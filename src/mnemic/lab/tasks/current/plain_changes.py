"""Makes plain lives: short statements of several matters, some of which change, the same for the same seed.

People who try a memory tell it such things, one after the other within minutes: "I live in Paris." "We just moved
to Toronto." The cases by hand avoid plain words on purpose, so that nothing is learned of these from them. Of each life
one matter is asked about: what is so now, of whoever speaks or of one of their people.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from mnemic.lab.tasks.current.current_cases import CurrentCase, CurrentQuestion, SaidTurn

_BEGIN: Final = datetime(2025, 3, 3, 9, tzinfo=UTC)
_GAPS: Final = (timedelta(minutes=1), timedelta(minutes=7), timedelta(hours=5), timedelta(days=3), timedelta(days=40))


@dataclass(frozen=True, slots=True)
class PlainMatter:
    """How a matter is stated, changed, said of others (`{p}`), wished and asked for; `{v}` is its value."""

    states: tuple[str, ...]
    changes: tuple[str, ...]
    of_others: tuple[str, ...]
    wishes: tuple[str, ...]
    asked: tuple[str, ...]
    asked_of_others: tuple[str, ...]
    values: tuple[str, ...]
    type: str = "thing"


ENGLISH: Final = (
    PlainMatter(
        ("I live in {v}.", "My home is in {v}.", "I'm based in {v}.", "I live in {v}. It rains a lot."),
        (
            "We just moved to {v}.",
            "I live in {v} now.",
            "I relocated to {v} last week.",
            "We've settled in {v}.",
            "Moved house: {v} it is from now on.",
        ),
        ("{p} lives in {v}.", "{p} moved to {v} last year.", "{p} is in {v} these days."),
        ("I'd love to live in {v} one day.", "Maybe we should move to {v}.", "I dreamt that I lived in {v}."),
        ("Where do I live?", "Which city do I live in?", "Where is my home?", "Where am I living now?"),
        ("Where does {p} live?", "Which city does {p} live in?"),
        ("Paris", "Toronto", "Bern", "Lisbon", "Graz", "Cork", "Osaka", "Leeds"),
        "place",
    ),
    PlainMatter(
        ("I work at {v}.", "I work for {v} as a tester.", "My employer is {v}.", "I've got a job at {v}."),
        (
            "I started at {v} on Monday.",
            "I switched jobs, I'm at {v} now.",
            "New job: {v} hired me.",
            "I quit and joined {v}.",
        ),
        ("{p} works at {v}.", "{p} got a job at {v}.", "{p} is with {v}."),
        (
            "I would like to work at {v}.",
            "If I ever leave, I'd apply at {v}.",
            "Had an interview at {v}, no answer yet.",
        ),
        ("Where do I work?", "Who is my employer?", "Which company do I work for?", "Where do I work now?"),
        ("Where does {p} work?", "Which company does {p} work for?"),
        ("Siemens", "Bosch", "Lidl", "the library", "Novartis", "the bakery", "Spotify", "Airbus"),
        "thing",
    ),
    PlainMatter(
        ("My phone number is {v}.", "You can reach me on {v}.", "My mobile is {v}."),
        ("I have a new phone number: {v}.", "My number changed to {v}.", "New number, {v}, the old one is dead."),
        ("{p}'s phone number is {v}.", "{p} can be reached on {v}."),
        ("I wish I had a number like {v}.",),
        ("What is my phone number?", "What's my number?", "On which number can I be reached?"),
        ("What is {p}'s phone number?",),
        ("0171 5550199", "0160 5550142", "555-0134", "0176 5550177", "020 5550118"),
        "amount",
    ),
    PlainMatter(
        ("I drive a {v}.", "My car is a {v}.", "I have a {v}."),
        (
            "I sold it and bought a {v}.",
            "I drive a {v} now.",
            "Picked up my new car, a {v}.",
            "I traded it in for a {v}.",
        ),
        ("{p} drives a {v}.", "{p} bought a {v}."),
        ("I'd love to drive a {v}.", "A {v} would be nice some day."),
        ("What car do I drive?", "Which car do I have?", "What do I drive?"),
        ("What car does {p} drive?",),
        ("Volvo", "Tesla", "Skoda", "Fiat", "Mazda", "Beetle", "Dacia"),
    ),
    PlainMatter(
        ("I'm a vegetarian, I eat {v}.", "I eat {v} for breakfast.", "Breakfast for me is {v}."),
        (
            "I have {v} for breakfast now.",
            "I switched my breakfast to {v}.",
            "No more of that: it's {v} in the morning now.",
        ),
        ("{p} has {v} for breakfast.", "{p} eats {v} in the morning."),
        ("I should try {v} for breakfast.", "{v} for breakfast sounds nice, maybe one day."),
        ("What do I eat for breakfast?", "What's my breakfast?", "What do I have in the morning?"),
        ("What does {p} eat for breakfast?",),
        ("porridge", "toast", "muesli", "fried eggs", "rice soup", "yoghurt", "pancakes"),
    ),
    PlainMatter(
        ("My partner is {v}.", "I'm with {v}.", "{v} is my boyfriend.", "I'm married to {v}."),
        ("I broke up and I'm with {v} now.", "I have a new partner, {v}.", "{v} and I are together now."),
        ("{p}'s partner is {v}.", "{p} is married to {v}."),
        ("I dreamt I married {v}.", "I wouldn't mind dating {v}."),
        ("Who is my partner?", "Who am I with?", "What's the name of my partner?"),
        ("Who is {p}'s partner?", "Who is {p} married to?"),
        ("Mia", "Noah", "Lena", "Jonas", "Priya", "Marek", "Sofia"),
        "person",
    ),
    PlainMatter(
        ("I weigh {v}.", "My weight is {v}.", "The scales say {v}."),
        ("I'm down to {v}.", "I weigh {v} now.", "My weight went to {v}."),
        ("{p} weighs {v}.", "{p} is at {v}."),
        ("I want to get to {v}.", "My goal is {v}."),
        ("How much do I weigh?", "What is my weight?"),
        ("How much does {p} weigh?",),
        ("82 kilos", "78 kilos", "91 kilos", "64 kilos", "70 kilos", "88 kilos"),
        "amount",
    ),
    PlainMatter(
        ("I'm learning {v}.", "I take {v} lessons.", "I study {v} in the evenings."),
        ("I dropped that and started learning {v}.", "I'm learning {v} now instead.", "I switched to {v} lessons."),
        ("{p} is learning {v}.", "{p} takes {v} lessons."),
        ("I'd like to learn {v} some day.", "Maybe I'll take up {v}."),
        ("Which language am I learning?", "What am I learning?", "What lessons do I take?"),
        ("Which language is {p} learning?",),
        ("Spanish", "Dutch", "Korean", "Greek", "Arabic", "Polish"),
    ),
    PlainMatter(
        ("My favourite colour is {v}.", "I like {v} best.", "{v} is my colour."),
        ("My favourite colour is {v} now.", "I've gone off it, {v} is my favourite colour now."),
        ("{p}'s favourite colour is {v}.", "{p} likes {v} best."),
        ("If I had to choose again I'd say {v}.",),
        ("What's my favourite colour?", "Which colour do I like best?"),
        ("What is {p}'s favourite colour?",),
        ("green", "blue", "orange", "purple", "yellow", "red"),
    ),
    PlainMatter(
        ("My gym class is on {v}.", "I go to the gym on {v}.", "I train every {v}."),
        ("My gym class moved to {v}.", "I go to the gym on {v} now.", "The class is on {v} from this month."),
        ("{p} goes to the gym on {v}.", "{p} trains every {v}."),
        ("It would be easier if the class were on {v}.",),
        ("When is my gym class?", "On which day do I go to the gym?", "Which day do I train?"),
        ("When does {p} go to the gym?",),
        ("Monday", "Tuesday", "Thursday", "Saturday", "Sunday"),
        "date",
    ),
    PlainMatter(
        ("My dog is called {v}.", "We have a dog, {v}.", "{v} is our dog."),
        ("We have a new dog now, {v}.", "The old dog died and we got {v}."),
        ("{p}'s dog is called {v}.", "{p} has a dog called {v}."),
        ("If we get another dog we'd call it {v}.", "{v} would be a good name for a dog."),
        ("What is my dog called?", "What's the name of my dog?"),
        ("What is {p}'s dog called?",),
        ("Rex", "Luna", "Biscuit", "Otto", "Pixel", "Bruno"),
        "person",
    ),
)

CHINESE: Final = (
    PlainMatter(
        ("我住在{v}。", "我家在{v}。", "我在{v}生活。", "我住{v}，这边老下雨。"),
        ("我们刚搬到{v}。", "我现在住{v}了。", "上周搬去了{v}。", "我们搬家了，以后就在{v}。"),
        ("{p}住在{v}。", "{p}去年搬到{v}了。", "{p}现在人在{v}。"),
        ("真想有一天住在{v}。", "要不我们搬去{v}吧。", "昨晚梦见自己住在{v}。"),
        ("我住在哪里？", "我住在哪个城市？", "我家在哪儿？", "我现在住哪？"),
        ("{p}住在哪里？", "{p}住在哪个城市？"),
        ("杭州", "上海", "成都", "大连", "昆明", "苏州", "厦门"),
        "place",
    ),
    PlainMatter(
        ("我在{v}上班。", "我在{v}做测试。", "我的单位是{v}。", "我在{v}工作。"),
        ("我周一去{v}入职了。", "我跳槽到{v}了。", "换工作了，现在在{v}。", "我辞职了，去了{v}。"),
        ("{p}在{v}上班。", "{p}进了{v}。", "{p}在{v}工作。"),
        ("我想去{v}上班。", "要是跳槽我就去{v}。", "去{v}面试了，还没消息。"),
        ("我在哪里上班？", "我在哪家公司工作？", "我的单位是哪家？", "我现在在哪上班？"),
        ("{p}在哪里上班？", "{p}在哪家公司工作？"),
        ("华为", "美团", "图书馆", "中学", "医院", "京东", "海尔"),
    ),
    PlainMatter(
        ("我的手机号是{v}。", "打{v}可以找到我。", "我电话{v}。"),
        ("我换号了，新号码是{v}。", "手机号改成{v}了。", "新手机号{v}，旧的停机了。"),
        ("{p}的手机号是{v}。", "{p}电话是{v}。"),
        ("要是有个{v}这样的号就好了。",),
        ("我的手机号是多少？", "我电话多少？", "我的号码是多少？"),
        ("{p}的手机号是多少？",),
        ("13800550101", "13900550102", "15000550103", "18600550104", "17700550105"),
        "amount",
    ),
    PlainMatter(
        ("我开{v}。", "我的车是{v}。", "我有一辆{v}。"),
        ("旧车卖了，买了{v}。", "我现在开{v}。", "提新车了，{v}。", "换车了，换成{v}。"),
        ("{p}开{v}。", "{p}买了辆{v}。"),
        ("好想开{v}。", "以后想买{v}。"),
        ("我开什么车？", "我的车是什么？", "我现在开什么车？"),
        ("{p}开什么车？",),
        ("比亚迪", "大众", "特斯拉", "五菱", "丰田", "吉利"),
    ),
    PlainMatter(
        ("我早饭吃{v}。", "我早上一般吃{v}。", "早饭就是{v}。"),
        ("我现在早饭改吃{v}了。", "早饭换成{v}了。", "最近早上都吃{v}。"),
        ("{p}早饭吃{v}。", "{p}早上吃{v}。"),
        ("早饭要是吃{v}也不错。", "哪天早饭试试{v}。"),
        ("我早饭吃什么？", "我早上吃啥？"),
        ("{p}早饭吃什么？",),
        ("油条", "包子", "燕麦", "稀饭", "面条", "鸡蛋"),
    ),
    PlainMatter(
        ("我对象是{v}。", "我男朋友叫{v}。", "我和{v}在一起。", "我老婆是{v}。"),
        ("我分手了，现在和{v}在一起。", "我有新对象了，是{v}。", "我跟{v}好上了。"),
        ("{p}的对象是{v}。", "{p}和{v}结婚了。"),
        ("昨晚梦见和{v}结婚了。", "要是能和{v}在一起就好了。"),
        ("我对象是谁？", "我和谁在一起？", "我对象叫什么？"),
        ("{p}的对象是谁？",),
        ("小雨", "阿杰", "梦洁", "志强", "晓琳", "家豪"),
        "person",
    ),
    PlainMatter(
        ("我体重{v}。", "我现在{v}。", "称了一下，{v}。"),
        ("我瘦到{v}了。", "体重变成{v}了。", "现在是{v}了。"),
        ("{p}体重{v}。", "{p}有{v}。"),
        ("我想瘦到{v}。", "目标是{v}。"),
        ("我体重多少？", "我多重？"),
        ("{p}体重多少？",),
        ("130斤", "142斤", "118斤", "155斤", "65公斤"),
        "amount",
    ),
    PlainMatter(
        ("我在学{v}。", "我报了{v}课。", "晚上我学{v}。"),
        ("我不学那个了，改学{v}。", "现在在学{v}了。", "换成学{v}了。"),
        ("{p}在学{v}。", "{p}报了{v}课。"),
        ("有机会想学{v}。", "以后说不定去学{v}。"),
        ("我在学什么？", "我在学什么语言？"),
        ("{p}在学什么？",),
        ("日语", "法语", "韩语", "德语", "西班牙语"),
    ),
    PlainMatter(
        ("我最喜欢的颜色是{v}。", "我最喜欢{v}。"),
        ("我现在最喜欢的颜色是{v}。", "不喜欢之前那个了，现在喜欢{v}。"),
        ("{p}最喜欢的颜色是{v}。", "{p}最喜欢{v}。"),
        ("要是重新选，我可能选{v}。",),
        ("我最喜欢什么颜色？", "我喜欢的颜色是什么？"),
        ("{p}最喜欢什么颜色？",),
        ("绿色", "蓝色", "橙色", "紫色", "黄色"),
    ),
    PlainMatter(
        ("我{v}去健身。", "我的健身课在{v}。", "每个{v}我都去练。"),
        ("健身课改到{v}了。", "我现在{v}去健身。", "这个月起课在{v}。"),
        ("{p}{v}去健身。", "{p}每个{v}去练。"),
        ("健身课要是在{v}就好了。",),
        ("我哪天去健身？", "我的健身课是星期几？"),
        ("{p}哪天去健身？",),
        ("周一", "周二", "周四", "周六", "周日"),
        "date",
    ),
    PlainMatter(
        ("我家狗叫{v}。", "我养了一只狗，叫{v}。", "{v}是我家的狗。"),
        ("我们又养了新的狗，叫{v}，之前那只送人了。", "老狗走了，新来的叫{v}。"),
        ("{p}的狗叫{v}。", "{p}养了只狗叫{v}。"),
        ("再养狗的话就叫{v}。", "{v}这名字给狗挺好。"),
        ("我家狗叫什么？", "我的狗叫什么名字？"),
        ("{p}的狗叫什么？",),
        ("旺财", "豆豆", "可乐", "毛毛", "年糕"),
        "person",
    ),
)

MATTERS: Final[Mapping[str, tuple[PlainMatter, ...]]] = {"en": ENGLISH, "zh": CHINESE}
PEOPLE: Final[Mapping[str, tuple[str, ...]]] = {
    "en": ("my sister", "my brother Tom", "Anna", "my boss", "my friend Leo", "my mum", "Kenji", "my neighbour"),
    "zh": ("我妹妹", "我哥", "小王", "我老板", "我同事李娜", "我妈", "张伟", "邻居"),
}


def plain_changes(seed: int = 0, each: int = 200) -> Iterator[CurrentCase]:
    """Make so many lives in each language."""
    for lang in MATTERS:
        chance = random.Random(f"{seed}:{lang}")  # noqa: S311 - made-up text, not a secret
        for n in range(each):
            yield _life(f"plain-{seed}-{lang}-{n:03}", lang, chance)


def _life(id: str, lang: str, chance: random.Random) -> CurrentCase:
    matter, *others = chance.sample(MATTERS[lang], len(MATTERS[lang]))
    person = chance.choice(PEOPLE[lang])
    of_self = chance.random() < 0.75
    values = iter(chance.sample(matter.values, len(matter.values)))
    changed = chance.choices((0, 1, 2), (4, 5, 1))[0]
    first = matter.states if of_self else matter.of_others
    lines = [(chance.choice(first), next(values), "state")]
    if of_self:
        lines += [(chance.choice(matter.changes), next(values), "state") for _ in range(changed)]
        lines += [(chance.choice(matter.of_others), next(values), "other")] * (chance.random() < 0.5)
        lines += [(chance.choice(matter.wishes), next(values), "other")] * (chance.random() < 0.3)
    else:
        lines += [(chance.choice(matter.states), next(values), "other")] * (chance.random() < 0.8)
    for other in others[: chance.randint(2, 6)]:
        forms = (other.states, other.changes, other.of_others) if chance.random() < 0.7 else (other.wishes,)
        lines.append((chance.choice(chance.choice(forms)), chance.choice(other.values), "idle"))
    told = _shuffled(lines, chance)
    when = _BEGIN
    role = chance.choice(("user", ""))  # `mnemic add` says none
    turns: list[SaidTurn] = []
    states: list[int] = []
    alike: list[int] = []
    for place, (text, value, part) in enumerate(told):
        when += chance.choice(_GAPS)
        told_text = text.replace("{v}", value).replace("{p}", person)
        turns.append(SaidTurn(role=role, speaker=None, text=told_text[0].upper() + told_text[1:], said=when))
        (states if part == "state" else alike if part == "other" else []).append(place)
    asked = chance.choice(matter.asked if of_self else matter.asked_of_others).replace("{p}", person)
    question = CurrentQuestion(
        text=asked, asked=when + timedelta(days=2), as_of=None, valid_at=None,
        current=(states[-1],), outdated=tuple(states[:-1]), others=tuple(alike),
        answers=(told[states[-1]][1],), wrong=tuple(told[place][1] for place in (*states[:-1], *alike)),
        type=matter.type, unknown=False,
    )  # fmt: skip
    return CurrentCase(id=id, lang=lang, kind="plain", turns=tuple(turns), questions=(question,))


def _shuffled(lines: list[tuple[str, str, str]], chance: random.Random) -> list[tuple[str, str, str]]:
    """Lines in any order, but the states of the matter that is asked about as they came."""
    order = chance.sample(lines, len(lines))
    states = iter([line for line in lines if line[2] == "state"])
    return [next(states) if line[2] == "state" else line for line in order]
