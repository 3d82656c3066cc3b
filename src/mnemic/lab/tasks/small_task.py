"""Ten short statements, asked in one step and in two, with noise, of one word each; and next to no statements.

They are made up, the same for the same seed (`small.small_memories`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.baselines import FOUND
from mnemic.lab.kit.contestant import SHOWN
from mnemic.lab.kit.datasets import Dataset
from mnemic.lab.kit.metrics import METRICS, Metric, Outcome
from mnemic.lab.tasks.small.small_bench import K, shown_items, small_dataset, small_outcomes, table
from mnemic.lab.tasks.small.small_memories import EACH

if TYPE_CHECKING:
    from mnemic.lab.kit.log import LoggedRun
    from mnemic.lab.kit.tables import TextTable


def _whole(outcome: Outcome) -> float:
    """Whether as many came back as were asked for, or as there are."""
    return float(shown_items(outcome) >= min(K, int(outcome.key["of"][0])))


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallTask:
    """Memories of a few statements. Its data is its own: where it is read from does not matter.

    Attributes:
        each: Cases of each category in each language.
        seed: Of what is made up.
    """

    each: int = EACH
    seed: int = 0
    name: str = "small"
    self_made: bool = True
    about: str = "Memories of a few short statements: the right one first, and none hidden."
    depth: int = SHOWN
    answered: bool = False
    headline: str = "R@5"
    shown: Mapping[str, str] = field(
        default_factory=lambda: {"R@1": "R@1", "R@5": "R@5", "all that there is": "all that there is"}
    )
    metrics: Mapping[str, Metric] = field(default_factory=lambda: {**METRICS, "all that there is": _whole})
    rows: Sequence[str] = ("mnemic", FOUND)
    against: str = FOUND
    notes: Sequence[str] = ()

    def read(self, where: Path) -> Dataset:
        """Make the memories."""
        return small_dataset(self.seed, self.each)

    def tables(self, run: LoggedRun, seed: int) -> Iterator[TextTable]:
        """Of each contestant the same by language, beside plain BM25."""
        for system in run.answers:
            yield table(small_outcomes(run, system), seed, f"Small memories, {system}, %")


SMALL: Final = SmallTask()
