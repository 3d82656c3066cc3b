"""Strategies as contestants, alone and mixed: one journal is taken in once, and each reads a copy of it.

A strategy is asked by its own recall over a copy that it has read, a mixture `a+b` by those of its members, which take
turns. `beside a+b` asks everybody's recall of the same copy, which must find what `mnemic` finds. What each takes in
time, bytes and calls is what comes on top of taking the journal in. `a without t` has rules judge a task that `a` would
put to a model, `a without model` all of them.
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
from mnemic.lab.kit.judged_by_rules import asked_by, judged_by_rules
from mnemic.registry import STRATEGIES, fetch, is_place
from mnemic.strategies.loading import followed, strategies
from mnemic.strategies.trajectories import trajectory_of
from mnemic.strategies.try_learner import TryLearner

if TYPE_CHECKING:
    from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Dataset
    from mnemic.strategies.base import Strategy

BESIDE: Final = "beside "
"""How a row is named that asks everybody's recall where others have read along."""

_WITHOUT: Final = " without "
"""What stands in the name of a row before the judge tasks that rules judge there."""

MODEL: Final = "model"
"""What is left out where rules judge all, and strategies know of no model."""

_HOUSE: Final = "house"
"""Who is always followed, and has no recall of its own."""


class StrategyContestant:
    """A copy of a journal that strategies have read, asked by the recall of one of them, or by everybody's.

    Args:
        members: Strategies besides `house`, by name or place.
        by: The name of the one whose recall answers; None for everybody's.
        without: Tasks that rules judge instead of a model, or `MODEL`.
    """

    def __init__(
        self, members: Sequence[str], by: str | None, means: Means, *, without: frozenset[str] = frozenset()
    ) -> None:
        self._members, self._by, self._means, self._without = tuple(members), by, means, without
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
        reader = None if MODEL in self._without else self._means.opened_reader()
        self._copy = MnemicContestant(
            self._means.opened_embedder(), self._by, told=self._means.told, journal=self._journal,
            followed=[_HOUSE, *self._followed()], reader=reader,
        )  # fmt: skip
        self._copy.ingest(corpora)

    def _followed(self) -> Sequence[str | Strategy]:
        """Its strategies, each without what is left out of it."""
        if not self._without - {MODEL}:
            return self._members
        return [judged_by_rules(strategy, self._without) for strategy in strategies(followed(self._members))]

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

    def __init__(
        self, members: Sequence[str], by: Sequence[str], means: Means, *, without: frozenset[str] = frozenset()
    ) -> None:
        self._read, self._by = StrategyContestant(members, None, means, without=without), tuple(by)

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
    """Read `a+b`, `beside a`, `beside a+b` or any of these with ` without task+task`; None for any other name.

    Raises:
        Invalid: a strategy is not known, or named twice; or none of them puts such a task to a model.
    """
    beside, (_, cut, tasks) = name.startswith(BESIDE), name.partition(_WITHOUT)
    members = members_of(name)
    if not (beside or (_is_own(members[0]) if len(members) == 1 and not cut else _names_strategies(members, cut))):
        return None
    if unknown := [member for member in members if member not in STRATEGIES and not is_place(member)]:
        raise Invalid("with", f"{unknown[0]!r} is no strategy", did_you_mean(unknown[0], STRATEGIES))
    if len(set(members)) < len(members) or _HOUSE in members:
        raise Invalid("with", f"{name!r} names one twice", f"Name each once; {_HOUSE} is always followed.")
    without = frozenset(task.strip() for task in tasks.split("+")) if cut else frozenset()
    if without:
        _refuse_unasked(members, without)
    lanes = [strategy.name for strategy in strategies(followed(members))]
    if beside or len(members) == 1:
        return partial(StrategyContestant, members, None if beside else lanes[0], without=without)
    return partial(MixtureContestant, members, lanes, without=without)


def members_of(row: str) -> list[str]:
    """The strategies, by name or place, of which a row of strategies is made."""
    return [member.strip() for member in row.removeprefix(BESIDE).partition(_WITHOUT)[0].split("+")]


def _names_strategies(members: Sequence[str], cut: str) -> bool:
    """Whether one of several is a strategy; where something is cut out of them, each place is."""
    return any(member in STRATEGIES or (bool(cut) and is_place(member)) for member in members)


def _is_own(member: str) -> bool:
    """Whether a strategy, no contestant, lies at a place."""
    return is_place(member) and hasattr(fetch("with", member), "on_recall")


def tasks_asked(strategy: str) -> tuple[str, ...]:
    """The judge tasks that a strategy puts to a model, by its name or place."""
    return asked_by(strategies(followed([strategy]))[0])


def _refuse_unasked(members: Sequence[str], tasks: frozenset[str]) -> None:
    """Refuse to leave out what no member asks; where one is somebody else's, which may not say, any name is taken."""
    asked = [task for member in members for task in tasks_asked(member)]
    if not asked and not any(is_place(member) for member in members):
        raise Invalid("with", f"{' and '.join(members)} asks no model anything", "Leave nothing out of it.")
    if any(is_place(member) for member in members):
        return
    if strange := sorted(tasks - {MODEL, *asked}):
        named = " and ".join(members)
        raise Invalid("with", f"{named} asks no model for {strange[0]!r}", did_you_mean(strange[0], [*asked, MODEL]))


def left_out_of(row: str) -> tuple[str, str] | None:
    """The row that another is held against which leaves something out of it, and what; None for any other."""
    whole, cut, tasks = row.partition(_WITHOUT)
    return (whole, tasks) if cut else None


def left_to_rules(row: str, task: str) -> str:
    """Name the row that leaves a task of another to rules."""
    return f"{row}{_WITHOUT}{task}"


def without_each_task(rows: Sequence[str]) -> list[str]:
    """List rows of strategies, each with one without each task that it puts to a model, and one without a model at all.

    Raises:
        Invalid: one asks no model.
    """
    made: list[str] = []
    for row in rows:
        asked = list(dict.fromkeys(task for member in members_of(row) for task in tasks_asked(member)))
        if not asked:
            raise Invalid("strategies", f"{row} asks no model anything", "Leave it out: rules judge all that it does.")
        made += [row, *(left_to_rules(row, task) for task in (*asked, MODEL))]
    return made


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
    members = (member for row in rows for member in members_of(row))
    return [name for name in dict.fromkeys(members) if name in STRATEGIES and name != _HOUSE]


def learns_from_tries(strategy: str) -> bool:
    """Whether a strategy, by its name or place, makes something of tries at tasks alone."""
    return isinstance(strategies(followed([strategy]))[0], TryLearner)


def _tells_of_tries(dataset: Dataset) -> bool:
    return any(trajectory_of(doc.text) is not None for corpus in dataset.corpora for doc in corpus.docs)
