"""The bench of standing instructions counts right what stands, what should not, and what was withdrawn."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemic.lab.kit.log import LoggedRun
from mnemic.lab.kit.task import data_of
from mnemic.lab.tasks import standing_bench
from mnemic.lab.tasks.current.current_cases import Half
from mnemic.lab.tasks.standing_bench import (
    StandingSentence,
    dialogue_figures,
    dialogue_outcomes,
    dialogue_sentences,
    figures,
    read_dialogues,
    read_sentences,
    show,
    standing_outcomes,
    write_failures,
)
from mnemic.lab.tasks.standing_task import STANDING, StandingTask

OURS = [
    StandingSentence(lang="en", text="Always answer in French.", instructs=True),
    StandingSentence(lang="en", text="Never use emojis.", instructs=True, withdrawn_by="You may use emojis again."),
    StandingSentence(lang="en", text="Rain since breakfast.", instructs=False),
    StandingSentence(lang="zh", text="以后都用英文回答我。", instructs=True),
    StandingSentence(lang="zh", text="下了一天雨。", instructs=False),
]


def test_labelled_sentences_are_instructions_distractors_or_left_out() -> None:
    sentences = read_sentences(Half.DEVELOPMENT)
    instructs = {sentence.text: sentence.instructs for sentence in sentences}
    assert instructs["From here on, answer in bullet points."]
    assert instructs["要是能住海边该多好啊。"] is False
    assert instructs["Translate this into Polish."] is False
    assert "Remember what I said about footnotes." not in instructs
    assert Counter(instructs.values())[True] > 60


def test_what_stands_is_counted_and_what_was_withdrawn_looked_for(
    monkeypatch: pytest.MonkeyPatch, logged: Callable[..., LoggedRun]
) -> None:
    monkeypatch.setattr(standing_bench, "read_sentences", lambda half: OURS)
    ran = logged(StandingTask(half=Half.TRAINING))
    found = standing_outcomes(ran, "mnemic")
    by_text = {o.sentence.text: o for o in found}
    assert by_text["Always answer in French."].stands
    assert by_text["Never use emojis."].stands
    assert by_text["Never use emojis."].remains is False
    assert by_text["Rain since breakfast."].stands is False
    assert by_text["Always answer in French."].remains is None
    told, false, withdrawn = figures(found)
    assert (told.value, false.value, withdrawn.value) == (100, 0, 0)
    assert told.met
    assert false.met
    assert withdrawn.met
    plain = standing_outcomes(ran, "recent window")
    assert all(o.stands for o in plain)
    counted = {name: [STANDING.metrics[name](ran.outcome(a)) for a in ran.answers["mnemic"]] for name in STANDING.shown}
    assert {name: [value for value in values if not math.isnan(value)] for name, values in counted.items()} == {
        "instruction stands": [1, 1, 1], "distractor stands": [0, 0], "withdrawn, still shown": [0],
    }  # fmt: skip


@pytest.fixture(scope="module")
def few(logged: Callable[..., LoggedRun]) -> LoggedRun:
    return logged(StandingTask(limit=3), "mnemic")


def test_a_few_of_each_sort_are_said_and_shown(few: LoggedRun) -> None:
    found = standing_outcomes(few, "mnemic")
    assert Counter(o.sentence.instructs for o in found) == {True: 6, False: 6}
    told = io.StringIO()
    show(found, told)
    show(found, told, as_json=True)
    write_failures(found, 1, told)
    assert "instructions found in the context block" in told.getvalue()


def test_dialogues_are_counted_by_what_stands_before_their_last_turn_and_after_it(few: LoggedRun) -> None:
    found = dialogue_outcomes(few, "mnemic")
    for o, written in zip(found, read_dialogues()[:3], strict=True):
        assert (o.dialogue.meant, o.dialogue.testing, o.dialogue.hand) == (written.meant, written.testing, written.hand)
        assert len(o.dialogue.standing) == len(written.standing)
    assert [(o.stood, o.remains, o.hidden) for o in found] == [
        (False, False, False),  # "Never thank me for anything." is not found by words
        (True, False, False),
        (True, False, False),
    ]
    assert [(figure.value, figure.detail) for figure in dialogue_figures(found)] == [
        (0, "0 of 2; in doubt 0"),
        (0, "0 of 2; in doubt 0"),
    ]


def test_of_dialogues_what_stands_instructs_and_what_takes_back_teaches_nothing() -> None:
    dialogues, sentences = read_dialogues(), dialogue_sentences()
    taking = {dialogue.last for dialogue in dialogues if dialogue.withdraws}
    standing = {text for dialogue in dialogues for text in dialogue.standing}
    seeming = {dialogue.last for dialogue in dialogues if not dialogue.withdraws}
    assert {one.text for one in sentences if one.instructs} == standing
    assert {one.text for one in sentences if not one.instructs} >= seeming
    assert not (taking - standing - seeming) & {one.text for one in sentences}
    tested = {text for dialogue in dialogues if dialogue.testing for text in (*dialogue.standing, dialogue.talk)}
    assert all(one.testing for one in sentences if one.text in tested)


def test_a_few_questions_are_of_every_sort() -> None:
    """The first of the file are distractors alone: of twenty none told what stands."""
    whole, few = data_of(STANDING, Path()), data_of(STANDING, Path(), 20)
    assert len(few.questions) == 20
    assert {question.category for question in few.questions} == {question.category for question in whole.questions}
    assert {question.ns for question in few.questions} == {corpus.ns for corpus in few.corpora}
