"""The baselines as contestants: one of a baseline for each corpus, nothing on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from mnemic.lab.kit.baselines import DENSE, FOUND, Baseline, Blend, Sharing, lineup, turns
from mnemic.lab.kit.contestant import Make, Means, OwnFigures, RankedDocs

if TYPE_CHECKING:
    from mnemic.lab.kit.datasets import BenchQuestion, Corpus
    from mnemic.models.base import Embedder


class BaselineContestant:
    """One baseline, made anew for each corpus."""

    def __init__(self, name: str, means: Means) -> None:
        self._make = _all(means.opened_embedder() if name in DENSE else None)[name]
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
    return {name: partial(BaselineContestant, name) for name in (*_all(None), *DENSE)}


def _all(embedder: Embedder | None) -> dict[str, Callable[[], Baseline]]:
    return lineup(embedder) | {FOUND: lambda: Sharing(Blend((1.0, turns)))}
