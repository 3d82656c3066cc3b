"""The baselines as contestants: one of a baseline for each corpus, nothing on disk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from mnemic.lab.kit.baselines import DENSE, Baseline, lineup
from mnemic.lab.kit.contestant import Make, Means, OwnFigures, RankedDocs

if TYPE_CHECKING:
    from mnemic.lab.kit.datasets import BenchQuestion, Corpus


class BaselineContestant:
    """One baseline, made anew for each corpus."""

    def __init__(self, name: str, means: Means) -> None:
        self._make = lineup(means.opened_embedder() if name in DENSE else None)[name]
        self._by_ns: dict[str, Baseline] = {}

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        for corpus in corpora:
            self._by_ns[corpus.ns] = self._make()
            self._by_ns[corpus.ns].ingest(corpus.docs)

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        full = self._by_ns[question.ns].rank(question)
        return RankedDocs(full.ids[:k], full.scores[:k])

    def figures(self) -> OwnFigures:
        return OwnFigures()

    def close(self) -> None:
        self._by_ns.clear()


def offered() -> dict[str, Make]:
    """List every baseline by the name of its row, weakest first."""
    return {name: partial(BaselineContestant, name) for name in (*lineup(), *DENSE)}
