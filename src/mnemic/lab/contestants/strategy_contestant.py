"""Strategies as contestants, alone and mixed: one journal is taken in once, and each reads a copy of it.

A strategy is asked by its own recall over a copy that it has read, a mixture `a+b` by those of its members, which take
turns. `beside a+b` asks everybody's recall of the same copy, which must find what `mnemic` finds. What each takes in
time, bytes and calls is what comes on top of taking the journal in.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from mnemic.core.checking import did_you_mean
from mnemic.errors import Invalid
from mnemic.lab.contestants.mnemic_contestant import MnemicContestant
from mnemic.lab.kit.contestant import ContextLine, CreditedHit, GivenAnswer, Make, Means, OwnFigures, RankedDocs
from mnemic.registry import STRATEGIES, is_place
from mnemic.strategies.loading import followed, strategies
from mnemic.strategies.trajectories import trajectory_of
from mnemic.strategies.try_learner import TryLearner

if TYPE_CHECKING:
    from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Dataset

BESIDE: Final = "beside "
"""How a row is named that asks everybody's recall where others have read along."""

_HOUSE: Final = "house"
"""Who is always followed, and has no recall of its own."""


class StrategyContestant:
    """A copy of a journal that strategies have read, asked by the recall of one of them, or by everybody's.

    Args:
        members: Strategies besides `house`, by name or place.
        by: The name of the one whose recall answers; None for everybody's.
    """

    def __init__(self, members: Sequence[str], by: str | None, means: Means) -> None:
        self._members, self._by, self._means = tuple(members), by, means
        self._folder = TemporaryDirectory(prefix="mnemic-lab-journal-")
        self._journal: Path | None = None
        self._copy: MnemicContestant | None = None

    def prepare(self, corpora: Sequence[Corpus]) -> None:
        """Take the journal in, unless one of the same corpora and embedder lies there."""
        folder = self._means.journals or Path(self._folder.name)
        digest = hashlib.sha256(repr((corpora, self._means.embedder_name)).encode()).hexdigest()[:16]
        self._journal = folder / f"{digest}.db"
        if self._journal.exists():
            return
        part = folder / f"{digest}-{os.getpid()}.db"
        house = MnemicContestant(self._means.opened_embedder(), told=self._means.told, followed=[_HOUSE])
        with closing(house):
            house.ingest(corpora)
            house.backup(part)
        part.replace(self._journal)  # whole, or not there: two may take it in at once

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        if self._journal is None:
            self.prepare(corpora)
        self._copy = MnemicContestant(
            self._means.opened_embedder(), self._by, told=self._means.told, journal=self._journal,
            followed=[_HOUSE, *self._members], reader=self._means.opened_reader(),
        )  # fmt: skip
        self._copy.ingest(corpora)

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        return self.copy.rank(question, k)

    def answer(self, question: BenchQuestion) -> GivenAnswer:
        """Answer from what its recall finds."""
        return self.copy.answer(question)

    def context(self, question: BenchQuestion) -> tuple[ContextLine, ...]:
        """What stands in the context of the copy: a recall of a strategy's own has no part in it."""
        return self.copy.context(question)

    def figures(self) -> OwnFigures:
        return self.copy.figures()

    def close(self) -> None:
        if self._copy is not None:
            self._copy.close()
        self._folder.cleanup()

    @property
    def copy(self) -> MnemicContestant:
        """The memory that it has made of the journal.

        Raises:
            Invalid: nothing was taken in.
        """
        if self._copy is None:
            raise Invalid("contestant", "has taken in nothing", "Call `ingest` first.")
        return self._copy


class MixtureContestant:
    """A copy of a journal that several strategies have read; their own recalls take turns."""

    def __init__(self, members: Sequence[str], by: Sequence[str], means: Means) -> None:
        self._read, self._by = StrategyContestant(members, None, means), tuple(by)

    def prepare(self, corpora: Sequence[Corpus]) -> None:
        self._read.prepare(corpora)

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        self._read.ingest(corpora)

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        """Take the best of each member, then the second of each, until there are `k` documents.

        Scores of one do not compare with another's, so there are none.
        """
        found = [self._read.copy.rank_by(question, k, by).hits for by in self._by]
        hits: list[CreditedHit] = []
        docs: dict[str, None] = {}
        for hit in (hit for rank in zip_longest(*found) for hit in rank if hit is not None):
            if len(docs) >= k:
                break
            hits.append(hit)
            docs |= dict.fromkeys(hit.docs)
        return RankedDocs(tuple(docs)[:k], (), tuple(hits))

    def context(self, question: BenchQuestion) -> tuple[ContextLine, ...]:
        """What stands in the context of the copy that all have read."""
        return self._read.context(question)

    def figures(self) -> OwnFigures:
        return self._read.figures()

    def close(self) -> None:
        self._read.close()


_OF_STRATEGIES: Final = (StrategyContestant, MixtureContestant)


def offered() -> dict[str, Make]:
    """List every strategy that is registered and has a recall of its own."""
    return {name: partial(StrategyContestant, (name,), name) for name in STRATEGIES if name != _HOUSE}


def of_strategies(name: str) -> Make | None:
    """Read `a+b`, `beside a` or `beside a+b`; None for any other name.

    Raises:
        Invalid: a strategy is not known, or named twice.
    """
    beside = name.startswith(BESIDE)
    members = [member.strip() for member in name.removeprefix(BESIDE).split("+")]
    if not beside and (len(members) == 1 or not any(member in STRATEGIES for member in members)):
        return None
    if unknown := [member for member in members if member not in STRATEGIES and not is_place(member)]:
        raise Invalid("with", f"{unknown[0]!r} is no strategy", did_you_mean(unknown[0], STRATEGIES))
    if len(set(members)) < len(members) or _HOUSE in members:
        raise Invalid("with", f"{name!r} names one twice", f"Name each once; {_HOUSE} is always followed.")
    lanes = [strategy.name for strategy in strategies(followed(members))]
    return partial(StrategyContestant, members, None) if beside else partial(MixtureContestant, members, lanes)


def idle_over(make: Make, dataset: Dataset) -> str:
    """Why strategies would have nothing to do over some data; "" where they have, and for any other contestant."""
    members: Sequence[str] = make.args[0] if isinstance(make, partial) and make.func in _OF_STRATEGIES else ()
    if not members:
        return ""
    held = {doc.kind for corpus in dataset.corpora for doc in corpus.docs}
    if held and (blind := [name for name in members if strategies(followed([name]))[0].reads.isdisjoint(held)]):
        kinds = " or ".join(sorted(held))
        reads = "reads" if len(blind) == 1 else "read"
        return f"{' and '.join(blind)} {reads} no {kinds}, and the data holds nothing else"
    idle = [name for name in members if learns_from_tries(name)]
    if not idle or _tells_of_tries(dataset):
        return ""
    return f"{' and '.join(idle)} would learn from tries at tasks; the data tells of none, `mnemic bench stream` does"


def after_papers(rows: Sequence[str]) -> list[str]:
    """The strategies of ours that some rows are of, which bear the names of what their papers describe."""
    members = (member for row in rows for member in row.removeprefix(BESIDE).split("+"))
    return [name for name in dict.fromkeys(members) if name in STRATEGIES and name != _HOUSE]


def learns_from_tries(strategy: str) -> bool:
    """Whether a strategy, by its name or place, makes something of tries at tasks alone."""
    return isinstance(strategies(followed([strategy]))[0], TryLearner)


def _tells_of_tries(dataset: Dataset) -> bool:
    return any(trajectory_of(doc.text) is not None for corpus in dataset.corpora for doc in corpus.docs)
