"""Chat memory over very long histories: LongMemEval (Wu et al., arXiv:2410.10813), S and M.

Each question has a haystack of its own, some 50 sessions in S and some 500 in M. Questions that have no answer are
left out of the shares of evidence, as the authors do; how well scores tell them from the others stands in the first
table. The authors look for evidence among the user's turns only; here both sides' turns are remembered, so figures
are a little lower than theirs where the assistant talks about the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.baselines import BAR, DENSE, lineup
from mnemic.lab.kit.formats.longmemeval_data import load_longmemeval
from mnemic.lab.kit.metrics import METRICS, Metric, Outcome, distinct, ndcg
from mnemic.lab.kit.task import TalkTask

if TYPE_CHECKING:
    from mnemic.lab.kit.datasets import Dataset


def _session_ndcg(k: int, outcome: Outcome) -> float:
    return ndcg(outcome.sessions, distinct(outcome.ranked_sessions), k)


@dataclass(frozen=True, slots=True, kw_only=True)
class LongMemEvalTask(TalkTask):
    """One size of LongMemEval."""

    source: str = "It is to be had from xiaowu0162/longmemeval-cleaned on Hugging Face."
    headline: str = "session any@5"
    shown: Mapping[str, str] = field(
        default_factory=lambda: {
            "session any@5": "ses any@5",
            "session any@10": "ses any@10",
            "session all@5": "ses all@5",
            "session NDCG@5": "ses NDCG@5",
            "R@5": "R@5",
            "R@10": "R@10",
            "any@5": "any@5",
            "NDCG@10": "NDCG@10",
            "R@4k tokens": "4k",
        }
    )
    metrics: Mapping[str, Metric] = field(
        default_factory=lambda: {**METRICS, **{f"session NDCG@{k}": partial(_session_ndcg, k) for k in (5, 10)}}
    )
    rows: tuple[str, ...] = ("mnemic", *lineup(), *DENSE)
    against: str = BAR
    notes: tuple[str, ...] = (
        "What the field calls R@5 here is `ses any@5`. Turns of both sides are remembered; questions without an answer "
        "have no share of evidence.",
    )

    def read(self, where: Path) -> Dataset:
        return self.checked(load_longmemeval(self.file(where)))

    def read_first(self, where: Path, limit: int) -> Dataset:
        """Read the first questions only: M is some gigabytes."""
        return self.checked(load_longmemeval(self.file(where), limit))


SMALL: Final = LongMemEvalTask(
    name="longmemeval",
    about="Sessions and turns that answer questions about a long history with an assistant.",
    files=("longmemeval_s*.json*", "longmemeval_oracle*.json*", "longmemeval_mini*"),
)
LARGE: Final = LongMemEvalTask(
    name="longmemeval-m",
    about="The same with ten times the history.",
    files=("longmemeval_m.json*", "longmemeval_m_*.json*"),
)
