"""Four kinds of remembering over long texts that are told in pieces: MemoryAgentBench (Hu et al., arXiv:2507.05257).

Accurate retrieval (documents, events, sessions), learning at test time (examples with labels, of which the nearest
has the right one), long range (summaries, whole stories) and conflict (facts that are told again, and differ). The
authors score answers; without a model it is counted whether what answers is found (`formats/memory_agent_bench_data.py`
says what that is), of summaries the passages they rest on. `any@1` of examples is the accuracy of the nearest
neighbour.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.baselines import BAR, DENSE, lineup
from mnemic.lab.kit.datasets import Dataset
from mnemic.lab.kit.formats.memory_agent_bench_data import load_memory_agent_bench
from mnemic.lab.kit.metrics import any_at, estimates, measure
from mnemic.lab.kit.tables import TextTable, percent
from mnemic.lab.kit.task import RetrievalTask

if TYPE_CHECKING:
    from mnemic.lab.kit.log import LoggedAnswer, LoggedRun
    from mnemic.lab.kit.metrics import Metric, Outcome

KS: Final = (1, 5, 10)
"""How deep it is looked for what answers."""


def newest_first(outcome: Outcome) -> float:
    """1 if the latest fact stands before every one that it replaced, 0 if not, or not found; NaN where none did."""
    outdated = set(outcome.key.get("outdated", ()))
    if not outdated or not outcome.gold:
        return math.nan
    first = next((doc for doc in outcome.ranked if doc in outdated or doc in outcome.gold), None)
    return float(first in outcome.gold)


def _found(k: int) -> Metric:
    def found(outcome: Outcome) -> float:
        return any_at(outcome.gold, outcome.ranked, k)

    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAgentBenchTask(RetrievalTask):
    """One of the four kinds: a file of its own."""

    source: str = "It is to be had from ai-hyz/MemoryAgentBench on Hugging Face; write its Parquet as JSON lines."
    headline: str = "any@5"
    shown: Mapping[str, str] = field(
        default_factory=lambda: {name: name for name in ("any@1", "any@5", "any@10", "R@10", "MRR")}
    )
    rows: tuple[str, ...] = ("mnemic", *lineup(), *DENSE)
    against: str = BAR
    reader: Callable[[Path], Dataset] = load_memory_agent_bench
    notes: tuple[str, ...] = (
        "Evidence is what holds the answer, of examples those with the right label, of facts the latest told; where "
        "more than five documents hold it, there is none.",
    )

    def tables(self, run: LoggedRun, seed: int) -> Iterator[TextTable]:
        """What was found by source, of each contestant."""
        for name, answers in run.answers.items():
            of = {answer.origin: [other for other in answers if other.origin == answer.origin] for answer in answers}
            rows = tuple(_by_source(run, source, asked, seed) for source, asked in of.items())
            yield TextTable(f"By source, {name}, %", ("source", "n", *(f"any@{k}" for k in KS), "newest first"), rows)


def _by_source(run: LoggedRun, source: str, answers: Sequence[LoggedAnswer], seed: int) -> tuple[str, ...]:
    outcomes = [run.outcome(answer) for answer in answers]
    scores = estimates(measure(outcomes, {**{f"any@{k}": _found(k) for k in KS}, "newest": newest_first}), seed)
    counted = sum(bool(outcome.gold) for outcome in outcomes)
    return (
        source,
        f"{counted} of {len(outcomes)}",
        *(percent(scores[f"any@{k}"]) for k in KS),
        percent(scores["newest"]),
    )


def _task(name: str, about: str, file: str) -> MemoryAgentBenchTask:
    return MemoryAgentBenchTask(name=name, about=about, files=(f"{file}*.jsonl", f"{file}*.jsonl.gz"))


RETRIEVAL: Final = _task("mab-retrieval", "What answers in long texts told in pieces.", "Accurate_Retrieval")
LEARNING: Final = _task("mab-learning", "Examples with the right label, of thousands.", "Test_Time_Learning")
LONG_RANGE: Final = _task(
    "mab-long-range", "Passages of long stories that a summary rests on.", "Long_Range_Understanding"
)
CONFLICT: Final = _task("mab-conflict", "The latest of facts that were told again.", "Conflict_Resolution")
