"""People's small memories of their ordinary lives, each asked of one who told all of it: right, unsure, or wrong.

What they tell and what is asked is ours, by several hands, and shipped (`small.everyday_cases`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.baselines import FOUND
from mnemic.lab.kit.contestant import SHOWN
from mnemic.lab.kit.datasets import Dataset, made_dataset
from mnemic.lab.kit.metrics import METRICS, Metric, Outcome
from mnemic.lab.tasks.current.current_cases import told_alone
from mnemic.lab.tasks.current.told_cases import cited_places, corpus_of, question_of
from mnemic.lab.tasks.current_task import CASE_METRICS
from mnemic.lab.tasks.small.everyday_bench import everyday_outcomes, table
from mnemic.lab.tasks.small.everyday_cases import EverydayPart, everyday_cases

if TYPE_CHECKING:
    from mnemic.lab.kit.log import LoggedRun
    from mnemic.lab.kit.tables import TextTable

_NAMES: Final = ("current first", "current in 5", "answered right", "quoted first", "wrong, sure")


def _quoted_first(outcome: Outcome) -> float:
    if outcome.given is None or not outcome.gold:
        return math.nan
    cited = cited_places(outcome.given)
    return float(bool(cited) and f"t{cited[0]}" in outcome.gold)


@dataclass(frozen=True, slots=True, kw_only=True)
class EverydayTask:
    """Questions to people's memories of their lives. Its data is its own: where it is read from does not matter.

    Attributes:
        part: Whose lives.
    """

    part: EverydayPart = EverydayPart.BUILD
    name: str = "everyday"
    self_made: bool = True
    about: str = "Ordinary lives, told in a few statements: what is answered."
    depth: int = SHOWN
    answered: bool = True
    headline: str = "current first"
    shown: Mapping[str, str] = field(default_factory=lambda: {name: name for name in _NAMES})
    metrics: Mapping[str, Metric] = field(
        default_factory=lambda: {**METRICS, **CASE_METRICS, "quoted first": _quoted_first}
    )
    rows: Sequence[str] = ("mnemic", FOUND)
    against: str = FOUND
    notes: Sequence[str] = ("`wrong, sure` is better low.",)

    def read(self, where: Path) -> Dataset:
        """Make every person of the part."""
        cases = list(everyday_cases(self.part))
        corpora = [corpus_of(case.current_case.id, told_alone(case.current_case)) for case in cases]
        questions = [question_of(case.current_case, n, sort) for case in cases for n, sort in enumerate(case.sorts)]
        return made_dataset(f"everyday_{self.part}", corpora, questions)

    def tables(self, run: LoggedRun, seed: int) -> Iterator[TextTable]:
        """What each contestant that answers has answered, by sorts."""
        for system in run.answers:
            if outcomes := everyday_outcomes(run, system):
                yield table(outcomes, seed, f", {system}")


EVERYDAY: Final = EverydayTask()
