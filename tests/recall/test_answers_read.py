"""`ask` has a question and what it would quote read together, where an embedder does that, and weighs it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import Memory, Settings
from mnemic.core.clock import micros
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind
from mnemic.core.queries import Context, Recalled
from mnemic.core.timex import find_times
from mnemic.memory import ScopedMemory
from mnemic.models.base import AnswerReading
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.recall.answer import READ_WHOLE, DraftAnswer, answer_of_draft, draft_answer
from mnemic.recall.evidence import OF_NO_BEARING
from mnemic.recall.sureness import (
    DOUBTED,
    READ_AT_MOST,
    READ_CONCLUSION_INPUTS,
    READ_VALUE_INPUTS,
    READ_YES_INPUTS,
    read_yes,
    sure,
    weights,
)
from mnemic.verbs.recalling import RecallRequest

NO, OPEN, YES = AnswerReading(6, 0, -6, 0, 0), AnswerReading(0, 6, 0, 0, 0), AnswerReading(-6, 0, 6, 0, 0)
TELLS, BESIDE, ENDED = AnswerReading(0, 0, 0, 6, 0), AnswerReading(0, 0, 0, -6, -6), AnswerReading(0, 0, 0, 0, 6)
ODDS = st.floats(-20, 20)
WHEN = datetime(2025, 3, 1, tzinfo=UTC)
ASKED = WHEN + timedelta(days=300)


TALK = (
    "The bus was late again.", "Rain all day.", "Soup for lunch.", "The kettle broke.", "Long queue at the bank.",
    "A parcel came for next door.", "The lift is stuck.", "Somebody painted the fence green.", "Cold night.",
)  # fmt: skip
"""So that it shows what is close in meaning."""


class Reading(ScriptedEmbedder):
    """Reads what it is set to read, and keeps what it was given."""

    def __init__(self, reading: AnswerReading | None) -> None:
        super().__init__()
        self.set_to = reading
        self.given: list[tuple[str, tuple[str, ...]]] = []

    def reading(self, question: str, said: Sequence[str]) -> AnswerReading | None:
        self.given.append((question, tuple(said)))
        return self.set_to


@pytest.fixture
def reader() -> Reading:
    return Reading(None)


@pytest.fixture
def memory(reader: Reading) -> Iterator[Memory]:
    with Memory("memory:", settings=Settings(background=False), embedder=reader) as memory:
        yield memory


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="noor")


def drafted(question: str, *said: str, succession: bool = True) -> DraftAnswer:
    """A draft over statements of one matter, the newest first, found with vectors."""
    hits = [
        Recalled(
            item=Item(id=ItemId(f"{n:026}"), kind=Kind.TURN, text=text, said=WHEN - timedelta(days=n)),
            seq=1, score=1.0, components={"dense": 1.0}, reasons=(), tokens=1, bearing=4.0 - n,
            succession=succession * n,
        )
        for n, text in enumerate(said, 1)
    ]  # fmt: skip
    times = tuple(find_times(question, micros(ASKED), 0))
    draft = draft_answer(
        question,
        Context(text="", tokens=0, items=tuple(hits), considered=len(hits), seq=1, confidence=0.9, spans=times),
    )
    assert draft is not None
    return draft


def test_yes_or_no_is_what_was_read_and_open_is_left_open(memory: Memory, me: ScopedMemory, reader: Reading) -> None:
    for text in (*TALK, "Most Fridays find me at the harbour office."):
        me.observe(text, said=WHEN)
    memory.flush()
    question = "Am I at the harbour office on Fridays?"
    short, sure_of = {}, {}
    for name, reading in (("yes", YES), ("no", NO), ("open", OPEN)):
        reader.set_to = reading
        given = me.ask(question)
        short[name], sure_of[name] = given.short, given.confidence
    assert (short["yes"], short["no"], short["open"]) == ("Yes", "No", "")
    assert sure_of["open"] < 0.5 < min(sure_of["yes"], sure_of["no"])


def test_before_vectors_are_made_nothing_is_read_and_it_is_answered(me: ScopedMemory, reader: Reading) -> None:
    reader.set_to = YES
    me.observe("I work at the harbour office.", said=WHEN)
    for question in ("Do I still work at the harbour office?", "Where do I work?"):
        assert me.ask(question).text
    assert not reader.given


@pytest.mark.parametrize("how", ["raises", "nan", "not a reading"])
def test_a_reading_that_fails_is_said_and_neither_answer_nor_recall_is_lost(
    memory: Memory, me: ScopedMemory, reader: Reading, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(question: str, said: Sequence[str]) -> object:
        if how == "raises":
            raise OSError("gone")
        return AnswerReading(math.nan, 0, 0, 0, 0) if how == "nan" else "yes"

    for text in (*TALK, "My dentist is Dr Hale on Mill Road."):
        me.observe(text, said=WHEN)
    memory.flush()
    monkeypatch.setattr(reader, "reading", fails)
    assert "Hale" in me.ask("Who is my dentist?").text
    _, context = me._run(me._opened.kernel.answering(me._who, RecallRequest(query="Who is my dentist?")))
    assert any(note.startswith("not read together with what was said: ") for note in context.notes)
    again = me.recall("Who is my dentist?")
    assert not again.notes
    assert "dense" in again.items[0].components


def test_what_is_read_is_the_states_of_the_matter_the_oldest_first() -> None:
    said = ("Dr Lund is my dentist now.", "Dr Hale is my dentist.", "Dr Reed is my dentist.")
    assert drafted("Who is my dentist?", *said).texts_to_read() == said[::-1]
    assert drafted("Who is my dentist?", *said, succession=False).texts_to_read() == said[:1]


def test_of_a_long_turn_the_sentence_that_is_quoted_is_read() -> None:
    long = "The rain would not stop. " * (READ_WHOLE // 20) + "My dentist is Dr Hale. " + "And so on. " * 10
    (read,) = drafted("Who is my dentist?", long).texts_to_read()
    assert "Hale" in read
    assert len(read) < READ_WHOLE


def test_what_is_stated_or_found_by_words_alone_is_not_read() -> None:
    draft = drafted("Do I play the cello?", "I practise every day.")
    assert draft.texts_to_read()
    by_words = [replace(hit, components={}) for hit in draft.grounds.evidence]
    for changed in ({"stated": True}, {"beside": True}, {"evidence": by_words}):
        assert replace(draft, grounds=replace(draft.grounds, **changed)).texts_to_read() == ()


def test_that_there_is_none_any_more_is_said_where_it_is_read() -> None:
    draft = drafted("Who is my dentist?", "No more appointments since Dr Hale shut up shop.", "My dentist is Dr Hale.")
    said = {
        name: answer_of_draft(draft.grounds.question, draft.grounds.context, draft.in_light_of(reading)).known
        for name, reading in (("tells", TELLS), ("ended", ENDED))
    }
    assert said == {"tells": True, "ended": False}
    assert sure(draft.in_light_of(BESIDE).grounds) < sure(draft.in_light_of(TELLS).grounds)


def test_what_the_rules_leave_open_has_the_last_word_only_where_nothing_was_read() -> None:
    draft = drafted("Is my sister a nurse?", "My sister is a nurse.")
    assert sure(draft.grounds) > DOUBTED >= sure(replace(draft.grounds, left_open=True))
    assert sure(replace(draft.in_light_of(YES).grounds, left_open=True)) > DOUBTED


def test_what_contests_an_answer_is_read_with_it_and_quoted_where_it_ends_it() -> None:
    draft = drafted("Which gym do I go to?", "My gym is PureGym on Mill Road.")
    later = Item(id=ItemId(f"{9:026}"), kind=Kind.TURN, text="Cancelled PureGym today.", said=WHEN + timedelta(days=60))
    contested = replace(draft, grounds=replace(draft.grounds, contesting=later))
    assert contested.texts_to_read() == (*draft.texts_to_read(), later.text)
    ended = contested.in_light_of(ENDED)
    assert ended.quotes == ((later.id, later.text), *draft.quotes)
    answer = answer_of_draft("Which gym do I go to?", draft.grounds.context, ended)
    assert not answer.known
    assert "PureGym on Mill Road" not in answer.text
    assert contested.in_light_of(TELLS).quotes == draft.quotes
    assert sure(draft.in_light_of(TELLS).grounds) > DOUBTED
    for unsure in (contested.grounds, contested.in_light_of(TELLS).grounds, replace(contested.grounds, stated=True)):
        assert sure(unsure) <= DOUBTED


def test_what_was_read_is_never_sure_and_yes_is_not_read_out_of_what_denies_or_ends_it() -> None:
    plain, over = "I practise every day.", "My last lesson was in May."
    assert 0.5 < sure(drafted("Do I play the cello?", plain).in_light_of(YES).grounds) <= READ_AT_MOST
    assert sure(drafted("Do I play the cello?", over).in_light_of(YES).grounds) <= DOUBTED
    assert sure(drafted("Did I play the cello?", over).in_light_of(YES).grounds) > DOUBTED
    assert sure(drafted("Do I play the cello?", "Took it up again.").in_light_of(NO).grounds) <= DOUBTED
    assert sure(drafted("Have I given up the cello?", over).in_light_of(NO).grounds) <= DOUBTED
    assert sure(drafted("Do I still play the cello?", over).in_light_of(NO).grounds) > DOUBTED


def test_yes_is_not_read_out_of_another_number() -> None:
    for said, open_left in (("Bus 14 takes me to the office.", True), ("Bus 12 takes me to the office.", False)):
        draft = drafted("Do I ride the 12 to work?", said)
        assert (sure(draft.in_light_of(YES).grounds) <= DOUBTED) is open_left


@pytest.mark.parametrize(
    "question",
    [
        "Did I play the cello in March 2025?",
        "Was I playing the cello in the spring of 2025?",
        "Was I playing the cello at the end of 2025?",
        "2025年4月我在拉大提琴吗？",
    ],
)
def test_the_day_of_a_past_that_is_asked_about_is_no_number_that_an_answer_must_name(question: str) -> None:
    plain = "每晚都跟弓弦打交道。" if "我" in question else "Strings and rosin, an hour every evening."
    assert sure(drafted(question, plain).in_light_of(YES).grounds) > DOUBTED
    for long_past in (question.replace("2025", "2022"), question.replace("2025", "2029")):
        assert sure(drafted(long_past, plain).in_light_of(YES).grounds) <= DOUBTED, long_past


@pytest.mark.parametrize(
    ("traits", "since", "is_answered"),
    [
        ((-4.0, 3.6, 5.5, 3.0, -2.8, -4.1, -6.0, -5.4), "Rain all week.", True),
        ((-4.0, 3.6, 5.5, 3.0, -2.8, -4.1, -6.0, -5.4), "I have left the chess club.", False),
        ((-5.8, 3.3, 4.1, -1.5, 3.0, -2.7, -5.8, -5.5), "Rain all week.", True),
        ((-5.8, 3.3, 4.1, -1.5, -0.1, -2.7, -5.8, -5.5), "Rain all week.", False),
        ((-1.0, -0.6, 0.2, -1.0, -2.4, -3.6, -6.0, -4.3), "Rain all week.", False),
        ((-5.5, -1.3, 2.3, -0.7, -0.9, -0.2, -6.0, -4.7), "Rain all week.", False),
        (None, "Rain all week.", False),
    ],
)
def test_what_the_rules_leave_open_of_a_past_is_read_only_where_it_was_plainly_stated(
    traits: tuple[float, ...] | None, since: str, is_answered: bool
) -> None:
    question, said = "Was I in a chess club in the summer of 2025?", "The Fairfield chess club counts me among its own."
    for about_it, answered in ((question, is_answered), (question.replace("in a chess", "ill at the chess"), False)):
        draft = drafted(about_it, said, succession=False)
        first = replace(draft.grounds.evidence[0], traits=traits)
        item = Item(id=ItemId(f"{9:026}"), kind=Kind.TURN, text=since, said=WHEN + timedelta(days=60))
        grounds = replace(draft.grounds, evidence=(first, replace(first, item=item)), reading=YES, left_open=True)
        assert (sure(grounds) > DOUBTED) is answered, about_it
        by_tom = replace(first, item=replace(first.item, slots={"speaker": "Tom"}))
        assert sure(replace(grounds, evidence=(by_tom,), quoted=(by_tom.item,))) <= DOUBTED


def test_a_change_of_another_matter_leaves_how_it_was_to_be_read() -> None:
    draft = drafted("Was I in a chess club in the summer of 2025?", "The Fairfield chess club counts me in.")
    first = replace(
        draft.grounds.evidence[0], traits=(-4.0, 3.6, 5.5, 3.0, -2.8, -4.1, -6.0, -5.4), succession=0, bearing=4.0
    )
    since = Item(id=ItemId(f"{9:026}"), kind=Kind.TURN, text="Moved the meeting.", said=WHEN + timedelta(days=60))
    for less, is_answered in ((OF_NO_BEARING + 0.1, True), (OF_NO_BEARING - 0.1, False), (0.0, False)):
        evidence = (first, replace(first, item=since, bearing=4.0 - less))
        grounds = replace(draft.grounds, evidence=evidence, reading=YES, left_open=True)
        assert (sure(grounds) > DOUBTED) is is_answered


@pytest.mark.parametrize(
    ("question", "said", "is_answered"),
    [
        ("Do I play the cello?", "Sold the oboe, so I play the cello now.", True),
        ("Do I play the cello?", "Playing the cello got me through school, it isn't for me.", False),
        ("Do I play the cello?", "I don't sleep. I play the cello at night. Can you not hear it?", True),
        ("Do I play the cello?", "Played the cello for years, then somebody stole it and I stopped.", False),
        ("Do I play the cello?", "Not one cello in the house since May.", False),
        ("我现在坐地铁上班吗？", "电动车卖给同学了，我又坐地铁上班了。早上几点人少一点儿？", True),
        ("我现在坐地铁上班吗？", "我坐地铁上班，后来不坐了。", False),
    ],
)
def test_what_is_denied_before_and_of_something_else_denies_nothing_that_is_asked(
    question: str, said: str, *, is_answered: bool
) -> None:
    assert (sure(drafted(question, said).in_light_of(YES).grounds) > DOUBTED) is is_answered


def test_what_is_said_of_somebody_else_answers_nothing_about_whoever_asks() -> None:
    grounds = drafted("Do I play the cello?", "I practise every day.").grounds
    of_another = [replace(grounds.quoted[0], text="My neighbour practises every day.")]
    for reading in (YES, NO):
        assert sure(replace(grounds, yes=float(reading is YES), reading=reading)) > DOUBTED
        assert sure(replace(grounds, yes=float(reading is YES), reading=reading, quoted=of_another)) <= DOUBTED


@given(ODDS, ODDS, ODDS, st.floats(0, 10))
def test_the_more_it_is_read_as_yes_the_likelier_is_yes(no: float, open: float, yes: float, more: float) -> None:
    grounds = drafted("Do I play the cello?", "I practise every day.").grounds
    read = replace(grounds, reading=AnswerReading(no, open, yes, 0, 0))
    surer = replace(grounds, reading=AnswerReading(no, open, yes + more, 0, 0))
    assert read_yes(surer) >= read_yes(read)


def test_there_is_a_weight_for_each_input_and_a_bias_and_by_words_none() -> None:
    learned = weights()
    for name, inputs in (
        ("read_yes", READ_YES_INPUTS), ("read_conclusion", READ_CONCLUSION_INPUTS), ("read_value", READ_VALUE_INPUTS),
    ):  # fmt: skip
        assert len(getattr(learned["vectors"], name)) == len(inputs) + 1
        assert getattr(learned["words"], name) == ()
