"""Standing instructions: what stands in the context from then on, and what stands there that is none.

Every sentence is told to a memory that knows nothing else (`standing_bench`), and what stands in its context is asked
for; a contestant that keeps nothing there is asked for a ranking, and all it shows counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.contestant import SHOWN
from mnemic.lab.kit.datasets import Dataset
from mnemic.lab.kit.figures import beside_bars
from mnemic.lab.kit.metrics import METRICS, Metric, Outcome
from mnemic.lab.tasks.current.current_cases import Half
from mnemic.lab.tasks.standing_bench import (
    AFTER,
    DISTRACTOR,
    INSTRUCTION,
    WITHDRAWN,
    dialogue_figures,
    dialogue_outcomes,
    doubted_docs,
    standing_dataset,
    standing_docs,
    standing_outcomes,
    table,
)

if TYPE_CHECKING:
    from mnemic.lab.kit.log import LoggedRun
    from mnemic.lab.kit.tables import TextTable


def _found(outcome: Outcome) -> float:
    """Of what instructs, whether it stands; of a dialogue, before its last turn."""
    return float(set(outcome.gold) <= standing_docs(outcome)) if outcome.gold else math.nan


def _false(outcome: Outcome) -> float:
    return float(bool(standing_docs(outcome))) if outcome.category == DISTRACTOR else math.nan


def _still_shown(outcome: Outcome) -> float:
    if outcome.category not in (WITHDRAWN, AFTER) or "meant" not in outcome.key:
        return math.nan
    return float(outcome.key["meant"][0] in standing_docs(outcome) - doubted_docs(outcome))


_METRICS: Final[Mapping[str, Metric]] = {
    "instruction stands": _found,
    "distractor stands": _false,
    "withdrawn, still shown": _still_shown,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingTask:
    """Sentences that instruct for good or only look like it. Its data is its own, wherever it is read from.

    Attributes:
        half: By whose hand.
        limit: Only the first so many of each sort and language, and dialogues.
    """

    half: Half = Half.DEVELOPMENT
    limit: int | None = None
    name: str = "standing"
    self_made: bool = True
    about: str = "Standing instructions: what stands in the context from then on, and what stands there that is none."
    depth: int = SHOWN
    answered: bool = False
    headline: str = "instruction stands"
    shown: Mapping[str, str] = field(default_factory=lambda: {name: name for name in _METRICS})
    metrics: Mapping[str, Metric] = field(default_factory=lambda: {**METRICS, **_METRICS})
    rows: Sequence[str] = ("mnemic", "recent window")
    against: str = "recent window"
    notes: Sequence[str] = (
        "Of a contestant that keeps no context, whatever it ranks counts as standing.",
        "`distractor stands` and `withdrawn, still shown` are better low.",
    )

    def read(self, where: Path) -> Dataset:
        """Make the memories of the half."""
        return standing_dataset(self.half, self.limit)

    def tables(self, run: LoggedRun, seed: int) -> Iterator[TextTable]:
        """Of each contestant the same by language, and what became of dialogues."""
        for system in run.answers:
            outcomes = standing_outcomes(run, system)
            if any(answer.category == INSTRUCTION for answer in run.answers[system]):
                yield table(outcomes, seed, f"By language, {system}")
            if dialogues := dialogue_figures(dialogue_outcomes(run, system)):
                yield beside_bars(f"Dialogues, {system}", dialogues)


STANDING: Final = StandingTask()
