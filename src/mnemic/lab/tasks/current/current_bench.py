"""Asks after facts that have changed, amid talk of other things, and judges what is recalled and what is answered.

Each case is one user in a memory of its own, taken in through the public API a turn at a time, by a clock that stands
at each turn and then at the question. Plain BM25 over the same turns stands beside it. Every question is also asked of
a memory that holds the other talk alone, and so no answer: by that it is measured how well confidence tells the two
apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.baselines import Blend, turns
from mnemic.lab.kit.cached import CachedEmbedder
from mnemic.lab.kit.datasets import BenchQuestion, Doc
from mnemic.lab.kit.run import Progress, silent
from mnemic.lab.kit.set_clock import SetClock
from mnemic.lab.tasks.current.current_cases import (
    CurrentCase,
    CurrentQuestion,
    Half,
    SaidTurn,
    ToldTurn,
    read_cases,
    read_filler,
    told_turns,
)
from mnemic.lab.tasks.current.grading import Grade, grade
from mnemic.memory import Memory
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.core.items import Item
    from mnemic.core.queries import Recalled
    from mnemic.memory import ScopedMemory
    from mnemic.models.base import Embedder
    from mnemic.recall.answer import Answer

K: Final = 10
"""Items that a recall is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentPlan:
    """What is asked, and how the turns are told.

    Attributes:
        limit: Only the first so many cases of each language.
        kinds, langs: Only these; empty for all.
        by_time: Turns are taken in by their dates, and not as the file has them.
    """

    half: Half = Half.DEVELOPMENT
    limit: int | None = None
    kinds: tuple[str, ...] = ()
    langs: tuple[str, ...] = ()
    by_time: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class BestRanks:
    """The best rank, from 1, of a turn that is current, outdated, or of somebody else; None where none was found."""

    current: int | None
    outdated: int | None
    others: int | None


@dataclass(frozen=True, slots=True)
class ShownHit:
    """What one hit was: its place in the case, its text and why it is there."""

    place: int | None
    text: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentOutcome:
    """What one question brought.

    Attributes:
        baseline: The ranks by plain BM25.
        grade: Of the answer.
        unfounded: How sure an answer is where memory holds nothing but other talk.
        answered: The answer as a person reads it.
    """

    case: CurrentCase
    question: CurrentQuestion
    ranks: BestRanks
    baseline: BestRanks
    grade: Grade
    unfounded: float
    answered: str
    hits: tuple[ShownHit, ...]


def bench_current(
    plan: CurrentPlan = CurrentPlan(), *, embedder: Embedder | None = None, progress: Progress = silent
) -> list[CurrentOutcome]:
    """Ask every question of the plan.

    Args:
        embedder: What meaning is read with; None for words alone.
    """
    reader = None if embedder is None else CachedEmbedder(embedder)
    talk = read_filler(plan.half)
    cases = chosen(read_cases(plan.half), plan)
    outcomes: list[CurrentOutcome] = []
    for lang in dict.fromkeys(case.lang for case in cases):
        mine = [case for case in cases if case.lang == lang]
        with _idle_talk(talk[lang], mine, reader) as nothing:
            for n, case in enumerate(mine, start=1):
                outcomes += _of_case(case, talk[lang], plan, reader, nothing)
                progress(lang, n, len(mine))
    return outcomes


def chosen(cases: Iterable[CurrentCase], plan: CurrentPlan) -> list[CurrentCase]:
    """The cases that a plan names."""
    taken: dict[str, list[CurrentCase]] = {}
    for case in cases:
        here = taken.setdefault(case.lang, [])
        wanted = case.kind in (plan.kinds or (case.kind,)) and case.lang in (plan.langs or (case.lang,))
        if wanted and (plan.limit is None or len(here) < plan.limit):
            here.append(case)
    return [case for here in taken.values() for case in here]


class ToldMemory:
    """A memory of one user who has been told turns, with a clock that stands where it is put."""

    def __init__(self, order: Sequence[ToldTurn], embedder: Embedder | None) -> None:
        self._clock = SetClock()
        self._memory = Memory(
            "memory:", settings=Settings(background=False), embedder=embedder or "none", clock=self._clock
        )
        self._me = self._memory.scope(user="me")
        self.places: dict[str, int] = {}
        latest = order[0].said
        for told_turn in order:
            latest = max(latest, told_turn.said)
            self._clock.put(latest)
            turn = told_turn.turn
            (id,) = self._me.observe(turn.text, role=turn.role or None, speaker=turn.speaker, said=told_turn.said).ids
            if told_turn.place is not None:
                self.places[id] = told_turn.place
        self._memory.flush()

    def place(self, item: Item) -> int | None:
        """The place in the case of what an item is, or of the latest that it was derived from; None for other talk."""
        own = self.places.get(item.id)
        sources = [self.places[source] for source in item.source if source in self.places]
        return own if own is not None else max(sources, default=None)

    def asked(self, question: CurrentQuestion) -> ScopedMemory:
        """A handle on the past that a question is about, at the moment it is asked."""
        self._clock.put(question.asked)
        me = self._me
        if question.as_of is not None:
            me = me.as_of(question.as_of)
        return me if question.valid_at is None else me.valid_at(question.valid_at)

    def cited(self, answer: Answer) -> list[int | None]:
        """The place in the case of each turn that an answer cites, None for other talk."""
        shown = {
            version.item.id: version.item
            for version in self._me.visible([citation.id for citation in answer.citations])
        }
        return [
            self.place(shown[citation.id]) if citation.id in shown else self.places.get(citation.id)
            for citation in answer.citations
        ]

    def close(self) -> None:
        self._memory.close()


@contextmanager
def _idle_talk(
    talk: Sequence[tuple[SaidTurn, ...]], cases: Sequence[CurrentCase], embedder: Embedder | None
) -> Iterator[ToldMemory]:
    """A memory of the other talk alone, as much of it as stands around one case."""
    first = cases[0]
    memory = ToldMemory([turn for turn in told_turns(first, talk) if turn.place is None], embedder)
    try:
        yield memory
    finally:
        memory.close()


def _of_case(
    case: CurrentCase,
    talk: Sequence[tuple[SaidTurn, ...]],
    plan: CurrentPlan,
    embedder: Embedder | None,
    nothing: ToldMemory,
) -> Iterator[CurrentOutcome]:
    order = told_turns(case, talk, seed=plan.seed, by_time=plan.by_time)
    plain = _Plain(order)
    memory = ToldMemory(order, embedder)
    try:
        for question in case.questions:
            me = memory.asked(question)
            hits = [_hit(memory, recalled) for recalled in me.recall(question.text, k=K)]
            answer = me.ask(question.text)
            yield CurrentOutcome(
                case=case,
                question=question,
                ranks=_ranks(question, [hit.place for hit in hits]),
                baseline=_ranks(question, plain.rank(question)),
                grade=grade(case, question, answer, memory.cited(answer)),
                unfounded=nothing.asked(question).ask(question.text).confidence,
                answered=answer.text,
                hits=tuple(hits),
            )
    finally:
        memory.close()


def _hit(memory: ToldMemory, recalled: Recalled) -> ShownHit:
    return ShownHit(memory.place(recalled.item), recalled.text, recalled.reasons)


def _ranks(question: CurrentQuestion, places: Sequence[int | None]) -> BestRanks:
    def best(wanted: Sequence[int]) -> int | None:
        return next((rank for rank, place in enumerate(places, start=1) if place in wanted), None)

    return BestRanks(best(question.current), best(question.outdated), best(question.others))


class _Plain:
    """Plain BM25 over the turns, whatever their dates; a turn that shares no word with the question is not found."""

    def __init__(self, order: Sequence[ToldTurn]) -> None:
        self._places: Mapping[str, int | None] = {str(n): turn.place for n, turn in enumerate(order)}
        self._ranker = Blend((1.0, turns))
        self._ranker.ingest([_doc(n, turn) for n, turn in enumerate(order)])

    def rank(self, question: CurrentQuestion) -> list[int | None]:
        ranked = self._ranker.rank(_bare(question.text))
        best = zip(ranked.ids[:K], ranked.scores[:K], strict=True)
        return [self._places[doc] for doc, score in best if score > 0]


def _doc(n: int, told_turn: ToldTurn) -> Doc:
    who = told_turn.turn.speaker or told_turn.turn.role
    return Doc(ns="", id=str(n), session="", pos=n, speaker=who, when="", said=told_turn.said, text=told_turn.turn.text)


def _bare(text: str) -> BenchQuestion:
    return BenchQuestion(ns="", id="", text=text, answer="", category="", gold=(), sessions=())
