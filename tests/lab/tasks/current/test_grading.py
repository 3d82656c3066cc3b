"""What counts as a right answer, a part of one, a wrong one and an honest one, judged by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mnemic.core.ids import ItemId
from mnemic.lab.tasks.current.current_cases import CurrentCase, CurrentQuestion, SaidTurn
from mnemic.lab.tasks.current.grading import Grade, Verdict, grade, names
from mnemic.recall.answer import Answer, Citation

HERE = ItemId("01jn0waf40zwyr6cfjwjszmv3p")
ASKED = datetime(2025, 9, 1, tzinfo=UTC)
WHERE = CurrentQuestion(
    text="Where do I live?",
    asked=ASKED,
    as_of=None,
    valid_at=None,
    current=(1,),
    outdated=(0,),
    others=(),
    answers=("Toronto",),
    wrong=("Paris",),
    type="place",
    unknown=False,
)


def _case(*texts: str) -> CurrentCase:
    turns = tuple(SaidTurn(role="user", speaker=None, text=text, said=ASKED) for text in texts)
    return CurrentCase(id="x", lang="en", kind="replaced_once", turns=turns, questions=())


def _graded(
    question: CurrentQuestion,
    *quotes: str,
    short: str = "",
    confidence: float = 0.9,
    cited: tuple[int | None, ...] = (1,),
    case: CurrentCase | None = None,
    text: str = "",
) -> Grade:
    quoted = " ".join(f'"{quote}" [{HERE}]' for quote in quotes)
    answer = Answer(
        text=text or (f"{short}: {quoted}" if short else quoted),
        short=short,
        citations=tuple(Citation(HERE, quote) for quote in quotes),
        confidence=confidence,
        known=True,
    )
    return grade(case or _case("I live in Paris.", "We moved to Toronto."), question, answer, cited)


def test_a_sentence_may_tell_what_was_before() -> None:
    assert _graded(WHERE, "We moved from Paris to Toronto.").verdict is Verdict.RIGHT
    assert _graded(WHERE, "I live in Paris.").verdict is Verdict.WRONG
    assert _graded(WHERE, "The gutters gargle.").verdict is Verdict.WRONG


def test_what_is_given_in_short_decides_before_what_is_quoted() -> None:
    sentence = "We moved from Paris to Toronto."
    assert _graded(WHERE, sentence, short="Paris").verdict is Verdict.WRONG
    assert _graded(WHERE, sentence, short="Toronto").verdict is Verdict.RIGHT
    assert _graded(WHERE, sentence, short="from Paris to Toronto").verdict is Verdict.RIGHT
    assert _graded(WHERE, sentence, short="3 May 2025").verdict is Verdict.PART


def test_of_several_values_in_short_the_first_counts() -> None:
    assert _graded(WHERE, "User lives in Paris.", "User lives in Toronto.", short="Paris, Toronto").misleads
    assert _graded(WHERE, "User lives in Toronto.", short="Toronto (before: Paris)").verdict is Verdict.RIGHT


def test_who_is_not_sure_is_honest_whatever_it_gives() -> None:
    found = _graded(WHERE, "We moved to Toronto.", confidence=0.4)
    assert (found.verdict, found.holds, found.misleads) == (Verdict.UNSURE, True, False)
    wrong = _graded(WHERE, "I live in Paris.", confidence=0.4)
    assert (wrong.verdict, wrong.holds) == (Verdict.UNSURE, False)


def test_an_error_misleads_only_from_a_confidence_on() -> None:
    assert not _graded(WHERE, "I live in Paris.", confidence=0.79).misleads
    assert _graded(WHERE, "I live in Paris.", confidence=0.8).misleads


def test_what_has_no_answer_is_answered_by_saying_so() -> None:
    ended = replace(WHERE, answers=(), unknown=True)
    nothing = Answer("I do not know.", "", (), 0.2, known=False)
    assert grade(_case("", ""), ended, nothing, ()).verdict is Verdict.RIGHT
    assert _graded(ended, "I live in Paris.", cited=(0,)).verdict is Verdict.WRONG
    assert _graded(ended, "We gave up the flat in Paris.", cited=(1,)).verdict is Verdict.PART
    assert _graded(ended, "We gave up the flat in Paris.", short="Paris", cited=(1,)).verdict is Verdict.WRONG
    assert _graded(ended, "I live in Paris.", confidence=0.3).verdict is Verdict.RIGHT


@pytest.mark.parametrize(
    ("short", "verdict"),
    [
        ("Yes", Verdict.RIGHT),
        ("是的", Verdict.RIGHT),
        ("No", Verdict.WRONG),
        ("不是", Verdict.WRONG),
        ("没有", Verdict.WRONG),
    ],
)
def test_a_question_for_yes_or_no_is_answered_by_that_word(short: str, verdict: str) -> None:
    still = replace(WHERE, type="yesno", answers=("是", "yes"), wrong=())
    assert _graded(still, "We moved to Toronto.", short=short).verdict == verdict


def test_a_quotation_says_neither_yes_nor_no_whatever_it_begins_with() -> None:
    still = replace(WHERE, type="yesno", answers=("no",), wrong=())
    assert _graded(still, "No fork in the house.", cited=(1,)).verdict is Verdict.PART
    assert _graded(still, "No fork in the house.", cited=(None,)).verdict is Verdict.WRONG
    assert _graded(still, "We moved.", text="No: you moved.").verdict is Verdict.RIGHT


def test_a_list_is_right_with_something_of_every_turn_that_holds_a_part() -> None:
    case = _case("Penicillin gives me hives.", "I'm allergic to wasp stings too.")
    both = replace(WHERE, type="list", current=(0, 1), answers=("Penicillin", "wasp stings", "wasps"), wrong=())
    assert _graded(both, *(turn.text for turn in case.turns), case=case).verdict is Verdict.RIGHT
    assert _graded(both, "x", short="penicillin, wasps", case=case).verdict is Verdict.PART
    assert _graded(both, case.turns[0].text, case=case).verdict is Verdict.PART
    assert _graded(both, "The gutters gargle.", case=case).verdict is Verdict.WRONG


@pytest.mark.parametrize(
    ("text", "value", "named"),
    [
        ("Hannah called", "Anna", False),
        ("ANNA’s flat", "anna's", True),
        ("room 120", "12", False),
        ("16,750 euros", "16,750", True),
        ("我搬到杭州了", "杭州", True),
        ("2025年5月20日", "二十号", True),
        ("三月二十一日", "21号", True),
        ("2025年5月20日", "二号", False),
        ("24 June 2025", "June 24th", True),
        ("14 June 2024", "14th of June", True),
        ("3 December 2025", "dec 3", True),
        ("13 December 2025", "dec 3", False),
        ("14 July 2024", "14th of June", False),
        ("逢一三五上课", "一三", True),
    ],
)
def test_values_are_named_as_whole_words_and_in_either_kind_of_figures(text: str, value: str, named: bool) -> None:
    assert names(text, value) is named
