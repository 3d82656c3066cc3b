"""What became of each question of a case, read from the log of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.baselines import FOUND
from mnemic.lab.tasks.current.current_cases import CurrentCase, CurrentQuestion
from mnemic.lab.tasks.current.grading import Grade, Verdict
from mnemic.lab.tasks.current.told_cases import (
    ELSEWHERE,
    asked_again,
    case_of,
    graded,
    own_questions,
    place_of,
    places_shown,
)

if TYPE_CHECKING:
    from mnemic.lab.kit.contestant import CreditedHit
    from mnemic.lab.kit.log import LoggedAnswer, LoggedRun

NOT_ASKED: Final = Grade(Verdict.UNSURE, holds=False, given=False, confidence=math.nan)
"""What stands for the grade of a contestant that was not asked for answers."""


@dataclass(frozen=True, slots=True)
class BestRanks:
    """The best rank, from 1, of a turn that is current, outdated, or of somebody else; None where none was found."""

    current: int | None
    outdated: int | None
    others: int | None


@dataclass(frozen=True, slots=True)
class ShownHit:
    """What one hit was: its place in the case, its text and why it is there."""

    place: int | None
    text: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentOutcome:
    """What one question brought.

    Attributes:
        baseline: The ranks by plain BM25, where that took part.
        grade: Of the answer; of none where none was asked for.
        unfounded: How sure an answer is where memory holds nothing but other talk.
        answered: The answer as a person reads it.
    """

    case: CurrentCase
    question: CurrentQuestion
    ranks: BestRanks
    baseline: BestRanks
    grade: Grade
    unfounded: float
    answered: str
    hits: tuple[ShownHit, ...]


def current_outcomes(run: LoggedRun, system: str) -> list[CurrentOutcome]:
    """What one contestant brought to each question of a case, in their order."""
    answers = run.answers.get(system, [])
    elsewhere = {a.question: a for a in answers if a.category == ELSEWHERE}
    plain = {a.question: a for a in run.answers.get(FOUND, ()) if a.category != ELSEWHERE}
    return [
        _outcome(run, answer, plain.get(answer.question), elsewhere.get(answer.question))
        for answer in own_questions(answers)
    ]


def _outcome(
    run: LoggedRun, answer: LoggedAnswer, plain: LoggedAnswer | None, elsewhere: LoggedAnswer | None
) -> CurrentOutcome:
    question = asked_again(answer, run.questions.get((answer.ns, answer.question), ""))
    idle = None if elsewhere is None else elsewhere.given
    return CurrentOutcome(
        case=case_of(run, answer),
        question=question,
        ranks=best_ranks(question, places_shown(answer)),
        baseline=best_ranks(question, [] if plain is None else places_shown(plain)),
        grade=graded(answer) or NOT_ASKED,
        unfounded=math.nan if idle is None else idle.confidence,
        answered="" if answer.given is None else answer.given.text,
        hits=tuple(_hit(run, answer, hit) for hit in answer.hits),
    )


def _hit(run: LoggedRun, answer: LoggedAnswer, hit: CreditedHit) -> ShownHit:
    text = hit.text or next((run.texts.get((answer.ns, doc), "") for doc in hit.docs), "")
    return ShownHit(place_of(hit.docs), text, tuple(filter(None, hit.why.split("; "))))


def best_ranks(question: CurrentQuestion, places: Sequence[int | None]) -> BestRanks:
    """The best rank of each sort of turn, where these places of the case were shown in this order."""

    def best(wanted: Sequence[int]) -> int | None:
        return next((rank for rank, place in enumerate(places, start=1) if place in wanted), None)

    return BestRanks(best(question.current), best(question.outdated), best(question.others))
