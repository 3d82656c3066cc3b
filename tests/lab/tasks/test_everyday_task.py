"""The questions of ordinary lives are what they say they are, and their answers are counted right."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from datetime import timedelta

import pytest

from mnemic.lab.kit.log import LoggedRun
from mnemic.lab.tasks import everyday_task
from mnemic.lab.tasks.current.grading import Grade, Verdict, names
from mnemic.lab.tasks.everyday_task import EVERYDAY
from mnemic.lab.tasks.small.everyday_bench import (
    EverydayOutcome,
    calibration_error,
    everyday_outcomes,
    everyday_scores,
    show,
    write_failures,
)
from mnemic.lab.tasks.small.everyday_cases import EverydayCase, EverydayPart, everyday_cases

BOTH = [case for part in EverydayPart for case in everyday_cases(part)]


@pytest.mark.parametrize("case", BOTH, ids=lambda case: case.current_case.id)
def test_what_answers_is_said_where_it_is_said_to_be(case: EverydayCase) -> None:
    turns = [turn.text for turn in case.current_case.turns]
    bounds = {
        "stream": (40, 70),
        "long": (8, 70),
        "pair": (8, 70),
        "indirect": (8, 18),
        "logs": (5, 8),
        "news": (13, 18),
        "newcomer": (17, 20),
    }
    least, most = next((bounds[name] for name in bounds if name in case.current_case.id), (8, 15))
    assert least <= len(turns) == len(set(turns)) <= most
    for question, sort in zip(case.current_case.questions, case.sorts, strict=True):
        unknown = not question.answers
        assert question.unknown is (sort == "never said" or (sort in ("of another", "supposed", "ended") and unknown))
        if question.type == "yesno" and not question.unknown:
            assert {"yes", "no"} & set(question.answers), question.text  # by these words it is judged
        elif not question.unknown:
            said = " ".join(turns[place] for place in question.current)
            if sort == "when":  # what was said of that day itself, or of the day before
                days = [case.current_case.turns[place].said for place in question.current]
                spans = [day - timedelta(back) for day in days if day is not None for back in (0, 1)]
                said += "".join(f" {day:%-d %B} {day.month}月{day.day}日" for day in spans)
            assert any(names(said, value) for value in question.answers), question.text


@pytest.mark.parametrize("part", [EverydayPart.STREAMS, EverydayPart.STREAMS_CHECK])
def test_streams_are_mostly_idle_and_ask_what_was_never_said_and_how_it_was(part: EverydayPart) -> None:
    cases = list(everyday_cases(part))
    for case in cases:
        assert case.current_case.id.startswith("stream-")
        said = [turn.said for turn in case.current_case.turns if turn.said is not None]
        assert said == sorted(said)
        assert 13 <= len(case.sorts) <= 16
        assert "never said" in case.sorts
        for question, sort in zip(case.current_case.questions, case.sorts, strict=True):
            places = {*question.current, *question.outdated, *question.others}
            assert not places or max(places) < len(case.current_case.turns)
            assert not set(question.current) & {*question.outdated, *question.others}, question.text
            assert not {*question.answers} & {*question.wrong}, question.text
            assert sort != "past" or (question.current and not question.outdated), question.text
            assert question.asked > said[-1]
    sorts = [sort for case in cases for sort in case.sorts]
    assert sorts.count("past") >= len(cases)
    assert sorts.count("never said") > 2 * len(cases)


def test_a_third_is_only_checked_and_the_languages_are_even() -> None:
    asked = {
        part: [(case.current_case.lang, q.text) for case in everyday_cases(part) for q in case.current_case.questions]
        for part in EverydayPart
    }
    every = [*asked[EverydayPart.BUILD], *asked[EverydayPart.CHECK]]
    assert len(every) >= 240
    assert 0.3 < len(asked[EverydayPart.CHECK]) / len(every) < 0.4
    assert 0.48 < sum(lang == "zh" for lang, _ in every) / len(every) < 0.52
    assert not {case.current_case.id for case in everyday_cases(EverydayPart.BUILD)} & {
        case.current_case.id for case in everyday_cases(EverydayPart.CHECK)
    }


def _outcome(verdict: Verdict, confidence: float, *, first: bool) -> EverydayOutcome:
    case = BOTH[0].current_case
    judged = Grade(verdict, holds=verdict is Verdict.RIGHT, given=verdict is not Verdict.UNSURE, confidence=confidence)
    return EverydayOutcome(case=case, question=case.questions[0], sort="own", grade=judged, first=first, answered="")


def test_shares_are_counted_by_hand() -> None:
    outcomes = [
        _outcome(Verdict.RIGHT, 1.0, first=True),
        _outcome(Verdict.WRONG, 0.9, first=False),
        _outcome(Verdict.WRONG, 0.6, first=False),
        _outcome(Verdict.UNSURE, 0.1, first=False),
    ]
    found = everyday_scores(outcomes)
    assert [found[key].mean for key in ("right", "wrong", "unsure", "wrong, sure", "first")] == [
        0.25,
        0.5,
        0.25,
        0.25,
        0.25,
    ]
    assert calibration_error(outcomes) == pytest.approx((0.0 + 0.9 + 0.6) / 3)


def test_words_alone_answer_one_person_and_the_report_tells_what_failed(
    monkeypatch: pytest.MonkeyPatch, logged: Callable[..., LoggedRun]
) -> None:
    monkeypatch.setattr(everyday_task, "everyday_cases", lambda part: BOTH[:1])
    ran = logged(EVERYDAY)
    outcomes = everyday_outcomes(ran, "mnemic")
    assert len(outcomes) == len(BOTH[0].current_case.questions)
    assert [o.question for o in outcomes] == list(BOTH[0].current_case.questions)
    first = [EVERYDAY.metrics["quoted first"](ran.outcome(a)) for a in ran.answers["mnemic"]]
    assert [value for value in first if not math.isnan(value)] == [o.first for o in outcomes if not o.question.unknown]
    assert everyday_outcomes(ran, "BM25 found") == []
    told = io.StringIO()
    show(outcomes, told)
    show(outcomes, told, as_json=True)
    write_failures(outcomes, 1, told)
    assert "quoted first" in told.getvalue()
    assert f"of {len(outcomes)} not right" in told.getvalue()
