"""Facts that have changed, amid talk of other things: what is recalled first, and what is answered.

Each case is one user in a memory of its own, who tells it turn by turn, by a clock that stands at each turn and then at
the question. Every question is also asked of a memory that holds the other talk alone, and so no answer: by that it is
measured how well confidence tells the two apart. The cases are ours and shipped; each half is by another hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.baselines import FOUND
from mnemic.lab.kit.contestant import SHOWN
from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Dataset, made_dataset
from mnemic.lab.kit.metrics import METRICS, Metric, Outcome
from mnemic.lab.tasks.current.current_cases import LANGUAGES, CurrentPlan, chosen, read_cases, read_filler, told_turns
from mnemic.lab.tasks.current.current_outcomes import BestRanks, best_ranks, current_outcomes
from mnemic.lab.tasks.current.current_report import LOOK_ALIKE, run_tables
from mnemic.lab.tasks.current.grading import Grade, Verdict
from mnemic.lab.tasks.current.told_cases import (
    asked_again,
    asked_elsewhere,
    corpus_of,
    graded,
    places_shown,
    question_of,
)

if TYPE_CHECKING:
    from mnemic.lab.kit.log import LoggedRun
    from mnemic.lab.kit.tables import TextTable


def _within(k: int, outcome: Outcome) -> float:
    return float((_ranks(outcome).current or math.inf) <= k) if outcome.gold else math.nan


def _above_outdated(outcome: Outcome) -> float:
    has = outcome.gold and "outdated" in outcome.key
    return _first(_ranks(outcome), _ranks(outcome).outdated) if has else math.nan


def _right_person(outcome: Outcome) -> float:
    has = outcome.gold and "others" in outcome.key and outcome.key["kind"] == (LOOK_ALIKE,)
    return _first(_ranks(outcome), _ranks(outcome).others) if has else math.nan


def _first(ranks: BestRanks, rival: int | None) -> float:
    return float(ranks.current is not None and ranks.current < (rival or math.inf))


def _ranks(outcome: Outcome) -> BestRanks:
    return best_ranks(asked_again(outcome), places_shown(outcome))


def _of_grade(counts: Callable[[Grade], bool], outcome: Outcome) -> float:
    given = graded(outcome)
    return math.nan if given is None else float(counts(given))


CASE_METRICS: Final[Mapping[str, Metric]] = {
    "current first": lambda outcome: _within(1, outcome),
    "current in 5": lambda outcome: _within(5, outcome),
    "above outdated": _above_outdated,
    "right person": _right_person,
    "answered right": lambda outcome: _of_grade(lambda grade: grade.verdict is Verdict.RIGHT, outcome),
    "wrong, sure": lambda outcome: _of_grade(lambda grade: grade.misleads, outcome),
}
"""Of a question of a case: by what was shown, and by what was answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentTask:
    """Cases of facts that change. Its data is its own: where it is read from does not matter.

    Attributes:
        plan: Which cases, and how they are told.
    """

    plan: CurrentPlan = field(default_factory=CurrentPlan)
    name: str = "current"
    self_made: bool = True
    about: str = "Facts that change, amid talk of other things: what is current first, and answered."
    depth: int = SHOWN
    answered: bool = True
    headline: str = "current first"
    shown: Mapping[str, str] = field(default_factory=lambda: {name: name for name in CASE_METRICS})
    metrics: Mapping[str, Metric] = field(default_factory=lambda: {**METRICS, **CASE_METRICS})
    rows: Sequence[str] = ("mnemic", FOUND)
    against: str = FOUND
    notes: Sequence[str] = (
        "Each question is asked of a memory without the matter, too (category abstention).",
        "`wrong, sure` is better low.",
    )

    def read(self, where: Path) -> Dataset:
        """Make the cases of the plan; each question is followed by its twin that is asked elsewhere."""
        plan, talk = self.plan, read_filler(self.plan.half)
        corpora: list[Corpus] = []
        questions: list[BenchQuestion] = []
        idle: dict[str, str] = {}
        for case in chosen(read_cases(plan.half), plan):
            if case.lang not in idle:
                idle[case.lang] = f"other talk, {LANGUAGES[case.lang]}"
                other = [turn for turn in told_turns(case, talk[case.lang]) if turn.place is None]
                corpora.append(corpus_of(idle[case.lang], other))
            order = told_turns(case, talk[case.lang], seed=plan.seed, by_time=plan.by_time)
            corpora.append(corpus_of(case.id, order))
            for n in range(len(case.questions)):
                question = question_of(case, n, case.kind)
                questions += (question, asked_elsewhere(question, idle[case.lang]))
        return made_dataset(f"current_{plan.half}", corpora, questions)

    def tables(self, run: LoggedRun, seed: int) -> Iterator[TextTable]:
        """Of each contestant what it recalls by kinds, what it answers, and what its confidence is worth."""
        for system in run.answers:
            if outcomes := current_outcomes(run, system):
                yield from run_tables(outcomes, system, seed)


CURRENT: Final = CurrentTask()
