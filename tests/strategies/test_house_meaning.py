"""Wishes that no rule decides, and what may take them back, are told by vectors of the embedder learned from."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mnemic.errors import Invalid
from mnemic.extract import instruction_meaning, withdrawal_meaning
from mnemic.extract.instruction_meaning import EMBEDDER
from mnemic.extract.withdrawal_meaning import DOUBTS, OF_NEARNESS
from mnemic.memory import Memory
from mnemic.settings import Settings

sys.path.insert(0, str(Path(__file__).parent))
from wishing import Wishing

WISH = "Anything that needs scrolling, I won't see it."


def standing(embedder: Wishing | str, said: str = WISH) -> list[str]:
    with Memory("memory:", settings=Settings(background=False), embedder=embedder) as memory:
        me = memory.scope(user="ana")
        me.observe(said, role="user")
        memory.flush()
        return [item.text for item in me.context("").always]


@pytest.mark.parametrize(
    ("order", "wishes", "stands"),
    [
        ("Never use docker in examples.", False, False),
        ("Never use docker in examples.", True, True),
        ("Call me Tommy.", False, True),  # what is said of oneself means no order, and is one
        ("写信一律用正楷。", False, False),
    ],
)
def test_meaning_overrules_a_rule_that_finds_an_order_but_not_one_that_finds_a_name(
    order: str, wishes: bool, stands: bool
) -> None:
    with Memory("memory:", settings=Settings(background=False), embedder=Wishing(EMBEDDER, wishes=wishes)) as memory:
        me = memory.scope(user="ana")
        me.observe(order, role="user")
        memory.flush()
        assert [item.text for item in me.context("").always if item.kind == "procedure"] == [order] * stands


def doubting(memory: Memory) -> tuple[list[str], list[tuple[str, str]], str]:
    """What the block shows of instructions, the doubts about them, and the block."""
    memory.flush()
    me = memory.scope(user="ana")
    context = me.context("")
    return [item.text for item in context.always], [(d.fact.text, d.sentence) for d in me.review()], context.text


@pytest.fixture
def taking_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A memory whose embedder holds every sentence near every other, and for one that may take something back."""
    monkeypatch.setattr(withdrawal_meaning, "withdraws", lambda vector, low: DOUBTS - OF_NEARNESS - 0.05)
    monkeypatch.setattr(instruction_meaning, "AGAINST", -99.0)  # what rules find stands
    settings = Settings(background=False)
    with Memory("memory:", settings=settings, embedder=Wishing(EMBEDDER, wishes=False)) as memory:
        yield memory


ORDER, LATER = "Never use docker in examples.", "We lost the docker fight at work."


def test_what_may_take_an_instruction_back_puts_it_in_doubt_and_says_so(taking_back: Memory) -> None:
    me = taking_back.scope(user="ana")
    me.observe(ORDER, role="user")
    assert doubting(taking_back)[1] == []
    me.observe(LATER, role="user")
    shown, doubts, block = doubting(taking_back)
    assert (shown, doubts) == ([ORDER], [(ORDER, LATER)])
    assert f"In doubt: {ORDER} Later" in block
    assert LATER in block


@pytest.mark.parametrize(
    ("order", "later"),
    [
        ("Please always call me Tommy.", "I cycle everywhere now."),
        ("以后叫我阿伟就行。", "以前拉大提琴，后来放弃了。"),
        ("From now on, answer in French.", "I now dream in Dutch."),
        ("From now on, answer in Spanish.", "I have started to dream in English again."),
        ("Always use metric units.", "I now weigh in pounds what I weighed in stones."),
        ("以后都用西班牙语回答。", "最近又开始用英语想事情了"),
    ],
)
def test_talk_of_ones_own_life_that_names_nothing_of_an_instruction_puts_none_in_doubt(
    taking_back: Memory, order: str, later: str
) -> None:
    me = taking_back.scope(user="ana")
    me.observe([{"role": "user", "content": order}, {"role": "user", "content": later}])
    assert doubting(taking_back)[:2] == ([order], [])


@pytest.mark.parametrize(
    ("likely", "order", "later", "doubted"),
    [
        (-0.5, "Never mention Dan.", "I'm back on 3 coffees.", False),
        (0.2, "Never mention Dan.", "I'm back on 3 coffees.", True),  # however likely, it hides none
        (-0.5, "别用表情。", "瑜伽停了。", False),
        (-0.5, "别用表情。", "换手机号了，新号是妈妈挑的。", False),
        (-0.5, "别用表情。", "我换手机了，新手机随便发。", True),
        (-0.5, "Never mention Dan.", "The coffee machine is fine again.", True),
        (-0.5, "Never mention Dan.", "I met Dan again.", True),  # of the same matter
        (-0.5, "Never mention Dan.", "We moved on, so gossip is fine.", True),  # something follows from it
        (-0.5, "别用表情。", "心情好了，随便发。", True),
    ],
)
def test_a_report_of_ones_own_life_of_another_matter_puts_none_in_doubt_however_near(
    taking_back: Memory, monkeypatch: pytest.MonkeyPatch, likely: float, order: str, later: str, doubted: bool
) -> None:
    monkeypatch.setattr(withdrawal_meaning, "withdraws", lambda vector, low: likely)
    me = taking_back.scope(user="ana")
    me.observe([{"role": "user", "content": order}, {"role": "user", "content": later}])
    assert doubting(taking_back)[:2] == ([order], [(order, later)] * doubted)


@pytest.mark.parametrize(
    ("order", "later"),
    [
        ("Answer in bullet points.", "Call me Sam from now on."),
        ("Never use emojis.", "From now on answer in bullet points."),
        ("Don't mention my weight.", "Answer in bullet points from now on."),
        ("请用要点回答。", "以后叫我小王。"),
    ],
)
def test_a_new_instruction_of_another_matter_puts_none_in_doubt(taking_back: Memory, order: str, later: str) -> None:
    me = taking_back.scope(user="ana")
    me.observe(order, role="user")
    me.observe(later, role="user")
    shown, doubts, _ = doubting(taking_back)
    assert (sorted(shown), doubts) == (sorted((order, later)), [])


@pytest.mark.parametrize(
    ("order", "later"),
    [
        ("No jokes.", "I could do with a laugh from you, so don't hold back."),
        ("说话客气点。", "以后你想骂就骂。"),
    ],
)
def test_an_order_that_only_gives_leave_puts_in_doubt_what_it_has_no_word_in_common_with(
    taking_back: Memory, order: str, later: str
) -> None:
    me = taking_back.scope(user="ana")
    me.observe([{"role": "user", "content": order}, {"role": "user", "content": later}])
    assert doubting(taking_back)[1] == [(order, later)]


def test_a_new_instruction_that_may_take_an_older_one_back_stands_beside_it_in_doubt(taking_back: Memory) -> None:
    me = taking_back.scope(user="ana")
    me.observe("Always use docker in examples.", role="user")
    me.observe("From now on skip docker in examples.", role="user")
    assert doubting(taking_back)[1] == [("Always use docker in examples.", "From now on skip docker in examples.")]
    assert "From now on skip docker in examples." in doubting(taking_back)[0]


@pytest.mark.parametrize(
    ("order", "later"),
    [
        ("Never use docker in examples.", "My boss is over docker, so bring it on."),
        ("例子里别用容器。", "我同事都习惯容器了。"),
    ],
)
def test_what_somebody_else_is_the_reason_for_only_puts_in_doubt(
    taking_back: Memory, monkeypatch: pytest.MonkeyPatch, order: str, later: str
) -> None:
    monkeypatch.setattr(withdrawal_meaning, "withdraws", lambda vector, low: 0.9)  # however likely it is
    me = taking_back.scope(user="ana")
    me.observe(order, role="user")
    me.observe(later, role="user")
    assert doubting(taking_back)[:2] == ([order], [(order, later)])


def test_what_others_do_must_come_to_more_to_put_in_doubt(taking_back: Memory) -> None:
    me = taking_back.scope(user="ana")
    me.observe(ORDER, role="user")
    me.observe("My sister packs all she owns.", role="user")
    me.observe("Just this once, docker in the example is what you may show me.", role="user")
    assert doubting(taking_back)[:2] == ([ORDER], [])


@pytest.mark.parametrize(
    ("order", "later"),
    [
        ("Don't use humour when we talk.", "You were more of a laugh in the old days."),
        ("说话别带口头禅。", "你以前那样才亲切。"),
    ],
)
def test_what_speaks_to_the_assistant_is_compared_with_what_stands_whatever_its_words(
    taking_back: Memory, order: str, later: str
) -> None:
    me = taking_back.scope(user="ana")
    me.observe(order, role="user")
    me.observe(later, role="user")
    assert doubting(taking_back)[1] == [(order, later)]


def test_a_sentence_that_meaning_finds_no_order_in_puts_in_doubt_like_any_other(
    taking_back: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, later = "Call me Captain.", "I could use a laugh from you lately."  # a rule takes the later one for an order
    me = taking_back.scope(user="ana")
    me.observe(order, role="user")
    monkeypatch.setattr(instruction_meaning, "AGAINST", 99.0)
    me.observe(later, role="user")
    assert doubting(taking_back)[:2] == ([order], [(order, later)])


def test_a_sentence_to_the_assistant_puts_in_doubt_what_it_lies_near(taking_back: Memory) -> None:
    me = taking_back.scope(user="ana")
    me.observe(
        [{"role": "user", "content": ORDER}, {"role": "user", "content": "You used to be freer, docker or not."}]
    )
    assert len(doubting(taking_back)[1]) == 1


def test_a_doubt_about_an_instruction_goes_with_the_sentence_or_when_settled_or_said_again(taking_back: Memory) -> None:
    me = taking_back.scope(user="ana")
    me.observe(ORDER, role="user")
    later = me.observe(LATER, role="user").id
    taking_back.flush()
    settled = me.settle(me.review()[0].fact.id, keep=True)
    assert doubting(taking_back)[:2] == ([ORDER], [])
    me.undo(settled.seq)
    assert doubting(taking_back)[1] == [(ORDER, LATER)]
    me.forget(later)
    assert doubting(taking_back)[:2] == ([ORDER], [])
    me.observe(LATER, role="user")
    assert doubting(taking_back)[1] == [(ORDER, LATER)]
    me.observe(ORDER, role="user")
    assert doubting(taking_back)[:2] == ([ORDER], [])


def test_an_instruction_in_doubt_is_ended_by_forgetting_it(taking_back: Memory) -> None:
    me = taking_back.scope(user="ana")
    me.observe(ORDER, role="user")
    me.observe(LATER, role="user")
    taking_back.flush()
    doubted = me.review()[0].fact.id
    with pytest.raises(Invalid, match="mnemic forget"):
        me.settle(doubted, ended=True)
    me.forget(doubted)
    assert doubting(taking_back)[:2] == ([], [])


def test_a_wish_that_words_leave_open_stands_by_its_vector() -> None:
    assert standing(Wishing(EMBEDDER, wishes=True)) == [WISH]
    assert standing(Wishing(EMBEDDER, wishes=False)) == []


@pytest.mark.parametrize(
    "wish", ["周末和晚上我脑子不转，别跟我讲大道理。", "Tonight like every night my eyes are too tired for long ones."]
)
def test_what_names_an_occasion_stands_by_its_vector_and_never_by_its_words(wish: str) -> None:
    assert standing(Wishing(EMBEDDER, wishes=True), wish) == [wish]
    assert standing(Wishing(EMBEDDER, wishes=False), wish) == standing("none", wish) == []


@pytest.mark.parametrize(("passes", "asked", "stands"), [(-0.6, 0, False), (-0.3, 1, True), (0.6, 0, True)])
def test_layers_that_learned_are_asked_only_about_what_the_form_leaves_open(
    monkeypatch: pytest.MonkeyPatch, passes: float, asked: int, stands: bool
) -> None:
    embedder, texts = Wishing(EMBEDDER, wishes=True), list[str]()
    read = embedder.instructions
    monkeypatch.setattr(embedder, "instructions", lambda some: texts.extend(some) or read(some))
    monkeypatch.setattr(instruction_meaning, "formed", lambda *_: np.array([passes], np.float32))
    assert standing(embedder) == [WISH] * stands
    assert texts == [WISH.lower()] * asked


def test_without_an_embedder_and_with_another_one_words_decide() -> None:
    assert standing("none") == standing(Wishing("another:1", wishes=True)) == []
