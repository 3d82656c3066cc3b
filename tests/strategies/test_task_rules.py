"""What rules come to in place of a model: facts, triples, scores, summaries, decisions, notes; the same every time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.tokens import count_tokens
from mnemic.extract.sentences import written_sentences
from mnemic.strategies.knowledge import (
    Condensing,
    Episode,
    Inquiry,
    MergeOp,
    Merging,
    Overwriting,
    Passage,
    ReadingNote,
    StatedFact,
)
from mnemic.strategies.rules.extractive_summary import extractive_summary
from mnemic.strategies.rules.importance_score import importance_scores
from mnemic.strategies.rules.merge_ops import merge_ops
from mnemic.strategies.rules.overwritten_notes import Worth, _Choice, overwritten_notes
from mnemic.strategies.rules.page_topics import page_topic
from mnemic.strategies.rules.sentence_relevance import bm25, content_terms, recognised
from mnemic.strategies.rules.stated_facts import slot_facts, stated_facts
from mnemic.strategies.rules.triples import triples

SAID = datetime(2024, 5, 8, 18, 20, tzinfo=UTC)
TALK = (
    Passage("I moved from Paris to Lisbon in March. My sister Eve works at Siemens in Munich.", "Ada", SAID),
    Passage("Hey Ada! How are you?", "Bob", SAID),
    Passage("ok", "Bob", SAID),
    Passage("My grandmother died on Monday. I love Rome and Paris.", "Bob", SAID),
    Passage("我住在北京。韩梅梅喜欢上海，李雷在阿里巴巴工作。", "小明", SAID),
    Passage("As an AI model, I live in the cloud and I love Rome.", "assistant", SAID),
)
_WORDS = "Ada Bob Eve Paris Lisbon Siemens I my moved to works at loves born 1990 and 我 住在 北京 喜欢 . ! ? 。 \n"
said = st.lists(st.sampled_from(_WORDS.split(" ")), max_size=30).map(" ".join) | st.text(max_size=200)
passages = st.lists(st.builds(Passage, said, st.sampled_from(["", "Ada", "assistant", "李雷"])), max_size=6).map(tuple)


def test_triples_are_names_and_the_words_between_them() -> None:
    assert [(one.subject, one.predicate, one.object) for one in triples(TALK)] == [
        ("Ada", "moved from", "Paris"),
        ("Ada", "moved to", "Lisbon"),
        ("Eve", "works at", "Siemens"),
        ("Eve", "works in", "Munich"),
        ("Bob", "love", "Rome"),
        ("Bob", "love", "Paris"),
        ("小明", "住在", "北京"),
        ("韩梅梅", "喜欢", "上海"),
        ("assistant", "love", "Rome"),
    ]
    (engineer,) = triples((Passage("I'm a data engineer at Cartella.", "Eve"),))
    assert (engineer.subject, engineer.predicate, engineer.object) == ("Eve", "am a data engineer at", "Cartella")
    (joined,) = triples((Passage("Eve joined Siemens.", "Eve"),))
    assert (joined.subject, joined.predicate) == ("Eve", "joined")
    assert triples((Passage("Yesterday joined Siemens.", "Eve"),)) == ()
    assert triples((Passage("Does Eve work at Siemens? Eve, Bob and Ada.", "Ada"),)) == ()


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (
            "I left Siemens in 2019 and joined Bosch.",
            [("Eve", "left", "Siemens"), ("Eve", "joined", "Bosch")],
        ),
        (
            "Marie Curie worked in Paris and later moved to Warsaw and Kyiv.",
            [
                ("Marie Curie", "worked in", "Paris"),
                ("Marie Curie", "later moved to", "Warsaw"),
                ("Marie Curie", "later moved to", "Kyiv"),
            ],
        ),
        ("Eve loves the tech and funny jokes of Bob.", [("Eve", "loves the tech and funny jokes of", "Bob")]),
        ("Eve met Bob and his sister likes Clara.", [("Eve", "met", "Bob")]),
        ("Eve moved to Porto and the rain in Lisbon goes on.", [("Eve", "moved to", "Porto")]),
    ],
)
def test_a_second_verb_has_the_first_ones_subject_and_no_other(text: str, stated: list[tuple[str, str, str]]) -> None:
    read = triples((Passage(text, "Eve"),))
    assert [(one.subject, one.predicate, one.object) for one in read] == stated


@given(passages)
def test_triples_name_spans_of_the_text_or_its_speaker(some: tuple[Passage, ...]) -> None:
    for one in triples(some):
        passage = some[one.source]
        assert one.fact in written_sentences(passage.text)
        assert all(name in one.fact or name == passage.speaker for name in (one.subject, one.object))
        assert one.subject != one.object
        written = " ".join(one.fact.split()).replace("I'm", "I am")
        assert one.predicate.split()[-1] in written


def test_facts_are_slots_and_sentences_that_matter() -> None:
    assert [(fact.text, fact.source) for fact in stated_facts(TALK)] == [
        ("Ada lives in Lisbon.", (0,)),
        ("Ada: I moved from Paris to Lisbon in March.", (0,)),
        ("Ada's sister is Eve.", (0,)),
        ("Ada: My sister Eve works at Siemens in Munich.", (0,)),
        ("Bob: My grandmother died on Monday.", (3,)),
        ("Bob: I love Rome and Paris.", (3,)),
        ("小明住在北京。", (4,)),
        ("小明: 韩梅梅喜欢上海，李雷在阿里巴巴工作。", (4,)),
    ]


def test_a_slot_keeps_what_it_fills_since_when_and_whether_it_ended() -> None:
    city, sister, *_ = slot_facts(TALK)
    assert (city.subject, city.slot, city.value, city.ended) == ("Ada", "city", "Lisbon", False)
    assert city.since == datetime(2024, 3, 1, tzinfo=UTC)
    assert (sister.slot, sister.since) == ("sister", None)
    (left,) = slot_facts((Passage("I no longer live in Lisbon.", "Ada", SAID),))
    assert (left.slot, left.value, left.ended) == ("city", "Lisbon", True)


@given(passages)
def test_facts_cite_passages_and_are_told_once(some: tuple[Passage, ...]) -> None:
    facts = stated_facts(some)
    assert len({fact.text for fact in facts}) == len(facts)
    assert all(fact.text.strip() and 0 <= fact.source[0] < len(some) for fact in facts)
    assert all(some[place].speaker != "assistant" for fact in facts for place in fact.source)


def test_turning_points_matter_more_than_plans_and_plans_more_than_small_talk() -> None:
    lines = (
        "My father passed away on Sunday and the funeral is in Porto.",
        "I will bake a lemon cake for the neighbours on Friday.",
        "Thanks!",
        "我奶奶上周三在北京去世了，我很难过。",
        "好的",
    )
    death, plan, thanks, death_zh, okay = importance_scores(tuple(Passage(line, "Ada", SAID) for line in lines))
    assert death > plan > thanks == okay == 1
    assert death_zh > plan


@given(passages)
def test_importance_is_a_whole_number_from_one_to_ten_each(some: tuple[Passage, ...]) -> None:
    scores = importance_scores(some)
    assert len(scores) == len(some)
    assert set(scores) <= set(range(1, 11))


def test_what_was_said_before_matters_less() -> None:
    first, again = importance_scores((Passage("The garden needs water twice a week.", "Ada"),) * 2)
    assert again < first


def test_a_summary_keeps_what_the_passages_are_about_in_their_order() -> None:
    some = tuple(
        Passage(text, "Ada")
        for text in (
            "The bridge over the river was closed on 3 May. Nice weather.",
            "Repairs of the bridge cost 2 million. Hello there!",
            "The bridge over the river was closed on 3 May.",
        )
    )
    summary = extractive_summary(Condensing(some, 26))
    assert summary.text.splitlines() == [
        "Ada: The bridge over the river was closed on 3 May.",
        "Ada: Repairs of the bridge cost 2 million.",
    ]
    assert summary.source == (0, 1)


@given(passages, st.integers(-1, 120))
def test_a_summary_is_made_of_given_sentences_within_its_budget(some: tuple[Passage, ...], budget: int) -> None:
    summary = extractive_summary(Condensing(some, budget))
    assert count_tokens(summary.text) <= max(0, budget)
    given_lines = {
        " ".join((f"{one.speaker}: " if one.speaker else "").split() + sentence.split())
        for one in some
        for sentence in written_sentences(one.text)
    }
    lines = [" ".join(line.split()) for line in summary.text.splitlines()]
    whole = [line for line in lines if line in given_lines]
    assert whole == lines or (len(lines) == 1 and any(one.startswith(lines[0]) for one in given_lines))
    assert bool(summary.text) == bool(summary.source)


def _fact(text: str, slot: str = "", value: str = "", **more: object) -> StatedFact:
    return StatedFact(text=text, subject="Ada", slot=slot, value=value, **more)  # type: ignore[arg-type]


MARCH, MAY = SAID - timedelta(days=60), SAID


@pytest.mark.parametrize(
    ("new", "old", "op"),
    [
        (_fact("Ada lives in Porto.", "city", "Porto"), _fact("Ada lives in Rome.", "city", "Rome"), MergeOp.DELETE),
        (_fact("She is in Rome now.", "city", "rome"), _fact("Ada lives in Rome.", "city", "Rome"), MergeOp.NOOP),
        (_fact("Ada likes jazz.", "likes", "jazz"), _fact("Ada likes tea.", "likes", "tea"), MergeOp.ADD),
        (
            _fact("Not in Rome.", "city", "Rome", ended=True),
            _fact("Ada lives in Rome.", "city", "Rome"),
            MergeOp.DELETE,
        ),
        (_fact("Not in Bonn.", "city", "Bonn", ended=True), _fact("Ada lives in Rome.", "city", "Rome"), MergeOp.ADD),
        (
            _fact("Ada lived in Porto.", "city", "Porto", since=MARCH),
            _fact("Ada lives in Rome.", "city", "Rome", since=MAY),
            MergeOp.ADD,
        ),
        (_fact("Ada beat Bob at chess."), _fact("Bob beat Ada at chess."), MergeOp.ADD),
        (_fact("Ada beat Bob at chess!"), _fact("ada beat bob at chess"), MergeOp.NOOP),
        (_fact("Ada does not like tea."), _fact("Ada does like tea."), MergeOp.ADD),
    ],
)
def test_only_what_is_certain_is_the_same_or_over(new: StatedFact, old: StatedFact, op: MergeOp) -> None:
    (decision,) = merge_ops(Merging((new,), (_fact("Ada has a dog."), old)))
    assert decision.op is op
    assert decision.old == (None if op is MergeOp.ADD else 1)


def test_other_people_s_slots_are_their_own_and_doubles_of_one_batch_are_kept_once() -> None:
    eve = StatedFact(text="Eve lives in Rome.", subject="Eve", slot="city", value="Rome")
    ada = _fact("Ada lives in Porto.", "city", "Porto")
    decisions = merge_ops(Merging((ada, ada), (eve,)))
    assert [(one.op, one.old) for one in decisions] == [(MergeOp.ADD, None), (MergeOp.NOOP, None)]


facts = st.lists(
    st.builds(
        _fact, said, st.sampled_from(["", "city", "likes"]), st.sampled_from(["Rome", "Porto"]), ended=st.booleans()
    ),
    max_size=4,
).map(tuple)


@given(facts, facts)
def test_each_new_fact_has_one_decision_about_an_old_fact(
    new: tuple[StatedFact, ...], old: tuple[StatedFact, ...]
) -> None:
    decisions = merge_ops(Merging(new, old))
    assert [one.new for one in decisions] == list(range(len(new)))
    assert all(one.old is None or 0 <= one.old < len(old) for one in decisions)
    assert all(one.op is not MergeOp.UPDATE for one in decisions)
    assert all(one.old is not None for one in decisions if one.op is MergeOp.DELETE)


def test_what_bears_on_a_question_is_recognised() -> None:
    texts = ("Eve works at Siemens in Munich.", "Eve has a dog.", "The weather was fine.", "Siemens makes trains.")
    asked = Inquiry("Where does Eve work? At Siemens?", tuple(map(Passage, texts)))
    assert recognised(asked) == (0,)
    assert recognised(Inquiry("Who painted it?", asked.passages)) == ()
    assert bm25("", [content_terms(text) for text in texts]) == [0.0] * 4


@given(said, passages, st.integers(0, 4))
def test_recognised_passages_exist_and_share_a_word_with_the_question(
    question: str, some: tuple[Passage, ...], most: int
) -> None:
    kept = recognised(Inquiry(question, some, most))
    assert len(set(kept)) == len(kept) <= most
    for place in kept:
        assert {*content_terms(question)} & {*content_terms(f"{some[place].speaker} {some[place].text}")}


def test_notes_keep_the_second_step_of_a_chain_and_drop_what_bears_on_nothing() -> None:
    segment = ("Eve is the sister of Mia.", "The weather was fine.", "Eve joined Siemens in 2020.", "Sam bakes bread.")
    notes = overwritten_notes(
        Overwriting(question="Who employs the sister of Mia?", notes=(), segment=segment, first=4)
    )
    assert [(note.text, note.source) for note in notes] == [(segment[0], (4,)), (segment[2], (6,))]
    later = Overwriting(question="Who employs the sister of Mia?", notes=notes, segment=("Rain again.",), first=8)
    assert overwritten_notes(later) == notes


@given(said, st.lists(said, max_size=4), st.lists(said, max_size=3), st.integers(0, 60))
def test_notes_fit_their_budget_and_stand_in_the_notes_before_or_in_the_segment(
    question: str, segment: list[str], before: list[str], budget: int
) -> None:
    old = tuple(ReadingNote(text=" ".join(text.split()) or "-", source=(place,)) for place, text in enumerate(before))
    step = Overwriting(question=question, notes=old, segment=tuple(segment), first=3, budget=budget)
    notes = overwritten_notes(step)
    assert sum(count_tokens(note.text) for note in notes) <= budget
    for note in notes:
        (piece,) = note.source
        told = [old[piece].text] if piece < 3 else [" ".join(s.split()) for s in written_sentences(segment[piece - 3])]
        assert note.text in told


def test_a_sentence_that_no_longer_fits_is_not_weighed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    segment = tuple(f"The gate of hall {n} is opened by code {n * 7919}." for n in range(400))
    weighed, gain = Counter[str](), _Choice.gain

    def counted(self: _Choice, worth: Worth, cost: int) -> float:
        weighed["all"] += 1
        return gain(self, worth, cost)

    monkeypatch.setattr(_Choice, "gain", counted)
    notes = overwritten_notes(Overwriting(question="Which code opens the gate?", notes=(), segment=segment, budget=60))
    again = weighed["all"] - len(segment)
    assert 0 < again <= (len(notes) - 1) * len(segment)  # once for each that was chosen, but for the last


def test_a_topic_is_told_by_words_and_an_exchange_takes_up_what_shares_them() -> None:
    bees, piano, stop = (
        Passage(text, "Ada") for text in ("The bees sting at the hive.", "A grand piano is loud.", "Oh yes?")
    )
    hive = Passage("At the hive the bees were calm, the bees slept.", "Ada")
    topic = page_topic(Episode((bees, piano), (hive, stop)))
    assert topic.keywords[0].startswith("bee")
    assert set(topic.keywords) == set(content_terms(topic.text))
    assert hive.text not in topic.text
    assert topic.continues == 0
    assert page_topic(Episode((bees, piano), (stop,))).continues == 1, "who says next to nothing answers"
    assert page_topic(Episode((bees,), (piano,))).continues is None
    assert page_topic(Episode((), (stop,))).continues is None
    assert page_topic(Episode((), ())).keywords == ()


def test_a_topic_is_told_in_words_that_a_person_reads() -> None:
    texts = {
        "I work as a nurse at the hospital.": "work, nurse, hospital",
        "我女儿叫小雨，今年七岁，喜欢画画。": "我女儿叫小雨, 今年七岁, 喜欢画画",
    }
    for text, topic in texts.items():
        assert page_topic(Episode((), (Passage(text, "Ada"),))).text == topic


def test_rules_come_to_the_same_under_any_hash_seed() -> None:
    program = (
        "from test_task_rules import *\n"
        "q = 'Where does Eve work?'\n"
        "seg = tuple(p.text for p in TALK)\n"
        "print(triples(TALK), stated_facts(TALK), importance_scores(TALK), extractive_summary(Condensing(TALK, 40)),"
        " merge_ops(Merging(stated_facts(TALK), slot_facts(TALK))), recognised(Inquiry(q, TALK)),"
        " page_topic(Episode(TALK[:2], TALK[2:])),"
        " overwritten_notes(Overwriting(question=q, notes=(), segment=seg)))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent)},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(told) == 1
