"""Supporting facts under a fixed hot capacity: mnemic and its policies beside a sliding window of the same size.

Paragraphs come in one by one. A question is asked some questions after its own paragraphs came, so that a window alone
has lost part of them: `lag` questions later, or with the law `spread` a number drawn evenly from 0 to twice that. All
rows are answered by the same recall, of the same memory; what differs is only what each may see. A row *alone* sees
what its policy keeps in so many pages, as if nothing else had ever come, words and statistics included. mnemic sees
everything that has come: what its hot tier has not is a page fault, and comes in.

MemorySpace's own run asks each question right after its paragraphs (`lag` 0), and counts a hit if any supporting title
is among five; its window holds 4,096 paragraphs there, and its hot tier 32,768 characters.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from mnemic.core.ids import ItemId
from mnemic.core.tokens import count_tokens
from mnemic.errors import Invalid
from mnemic.lab.kit.contestant import RankedDocs
from mnemic.lab.kit.datasets import BenchQuestion, Doc, message
from mnemic.lab.kit.log import Log, LoggedAnswer, Placed
from mnemic.lab.kit.output_places import log_at
from mnemic.lab.kit.run import Progress, silent
from mnemic.lab.tasks.capacity.capacity_bench import pages_in, pages_of
from mnemic.lab.tasks.capacity.hot_tier import BASELINES, Foresight, HotTier, chosen_policies, make_policy
from mnemic.lab.tasks.capacity.hotpot_data import Passages, read_passages
from mnemic.lab.tasks.capacity.sighted import Sighted
from mnemic.models.base import Embedder
from mnemic.tiers.base import Page

LAWS: Final = ("spread", "fixed")
ORDERS: Final = ("file", "shuffled")
CAPACITIES: Final = ("2%", "5%", "8%", "10%", "12%", "15%", "20%", "30%", "50%", "100%")
LAG: Final = 10

FOUND: Final = 5
"""Documents that an answer counts, and that are used."""

_DEPTH: Final = 10
MNEMIC: Final = "mnemic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How questions and paragraphs come.

    Attributes:
        lag: Questions between a question's own paragraphs and its asking; on average, with the law `spread`.
        law: From `LAWS`.
        order: Of the paragraphs, from `ORDERS`: as in the file, or each anywhere.
        before: Ask each question before the first of its paragraphs instead: nothing can be found but by a leak.
    """

    lag: int = LAG
    law: str = "spread"
    order: str = "file"
    before: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise Invalid("law", f"{self.law!r} is not one", f"There are: {', '.join(LAWS)}.")
        if self.order not in ORDERS:
            raise Invalid("order", f"{self.order!r} is not one", f"There are: {', '.join(ORDERS)}.")
        if self.lag < 0:
            raise Invalid("lag", f"is {self.lag}", "Give 0 or more.")


@dataclass(frozen=True, slots=True)
class Schedule:
    """A stream: documents in the order they come, and what is asked after so many of them."""

    docs: tuple[Doc, ...]
    asks: tuple[tuple[int, BenchQuestion], ...]


@dataclass(frozen=True, slots=True)
class FullRecall:
    """What the whole memory answers to one question of a schedule."""

    seen: int
    question: BenchQuestion
    ranking: RankedDocs
    milliseconds: float


def schedule(passages: Passages, protocol: Protocol) -> Schedule:
    """When each question is asked. Those whose turn would come after the last paragraph are not."""
    draw = Random(f"{protocol.order}:{protocol.law}:{protocol.seed}")  # noqa: S311 - an order, not a secret
    docs = list(passages.docs)
    if protocol.order == "shuffled":
        draw.shuffle(docs)
    place = {doc.id: at for at, doc in enumerate(docs)}
    scorable = [question for question in passages.questions if question.gold]
    if protocol.before:
        asks = [(min(place[needed] for needed in q.gold), q) for q in scorable]
        return Schedule(tuple(docs), tuple(sorted(asks, key=lambda ask: ask[0])))
    come = sorted(
        ((1 + max(place[needed] for needed in passages.needed[q.id]), q) for q in scorable), key=lambda ask: ask[0]
    )
    later = [turn + _lag(protocol, draw) for turn in range(len(come))]
    asks = [(come[then][0], come[turn][1]) for turn, then in enumerate(later) if then < len(come)]
    return Schedule(tuple(docs), tuple(sorted(asks, key=lambda ask: ask[0])))


def bench_hotpot(
    path: Path,
    *,
    out: Path,
    protocol: Protocol = Protocol(),
    capacities: Sequence[str] = CAPACITIES,
    policies: Sequence[str] | None = None,
    unit: str = "paragraph",
    limit: int | None = None,
    embedder: Embedder | None = None,
    checks: bool = False,
    progress: Progress = silent,
) -> Path:
    """Run every row over a file of questions, and say where the log is.

    Args:
        capacities: In documents, or in per cent of all (`10%`).
        policies: Names of the registry; None for all.
        limit: The first so many questions only.
        checks: Ask everything again before its paragraphs came, and once with the paragraphs in any order; and take
            room for everything among the capacities.

    Raises:
        Invalid: no such data, or an option that there is not.
    """
    rows = chosen_policies(policies)
    passages = read_passages(path, unit=unit, limit=limit)
    sizes = pages_of([*capacities, *(("100%",) if checks else ())], len(passages.docs))
    planned = schedule(passages, protocol)
    if not planned.asks:
        raise Invalid("lag", f"is longer than the {len(passages.questions)} questions", "Give a shorter one.")
    where = log_at(out, f"hotpot-{passages.name.split('.')[0] or 'text'}")
    with Log(where) as log:
        log.header(**_facts(passages, protocol, planned, sizes, rows, unit, embedder))
        log.corpus(passages.name, {doc.id: Placed(doc.session, _tokens(doc)) for doc in passages.docs})
        _run(log, "", planned, rows, sizes, protocol.seed, embedder, progress)
        if checks:
            before = Protocol(lag=protocol.lag, law=protocol.law, before=True, seed=protocol.seed)
            _run(log, "before: ", schedule(passages, before), (), (), protocol.seed, embedder, progress)
            mixed = Protocol(lag=protocol.lag, law=protocol.law, order="shuffled", seed=protocol.seed)
            shuffled = schedule(passages, mixed)
            _run(log, "shuffled: ", shuffled, tuple(BASELINES), sizes, protocol.seed, embedder, progress)
        log.end()
    return where


def _run(
    log: Log,
    prefix: str,
    planned: Schedule,
    rows: Sequence[str],
    sizes: Sequence[int],
    seed: int,
    embedder: Embedder | None,
    progress: Progress,
) -> None:
    """One schedule through the whole memory, and then through every hot tier."""
    with closing(Sighted(embedder)) as memory:
        recalled = list(_whole(memory, planned, lambda n: progress(f"{prefix}{MNEMIC}", n, len(planned.asks))))
        docs, known = _Documents.of(planned.docs), _Known(memory)
        for answered in recalled:
            log.answer(_answer(f"{prefix}{MNEMIC}", answered.question, answered.ranking, answered.milliseconds, docs))
        for name in rows:
            for n, size in enumerate(sizes, start=1):
                _alone(log, prefix, known, planned, docs, name, size, seed)
                if name not in BASELINES:
                    _behind(log, prefix, planned, docs, recalled, name, size, seed)
                progress(f"{prefix}{name}", n, len(sizes))


@dataclass(frozen=True, slots=True)
class _Documents:
    """The documents of a schedule as pages, in the order they come."""

    pages: tuple[Page, ...]
    by_doc: Mapping[str, Page]
    by_page: Mapping[ItemId, str]

    @classmethod
    def of(cls, docs: Sequence[Doc]) -> _Documents:
        pages = pages_in([f"{doc.speaker}: {doc.text}" for doc in docs])
        pairs = list(zip(docs, pages, strict=True))
        return cls(tuple(pages), {doc.id: page for doc, page in pairs}, {page.id: doc.id for doc, page in pairs})

    def of_ids(self, docs: Iterable[str]) -> list[Page]:
        return [self.by_doc[doc] for doc in docs]

    def reads(self, wanted: Sequence[Sequence[str]]) -> dict[ItemId, list[int]]:
        """The questions that want each page."""
        reads: dict[ItemId, list[int]] = {}
        for number, docs in enumerate(wanted):
            for doc in docs:
                reads.setdefault(self.by_doc[doc].id, []).append(number)
        return reads


class _Known:
    """The memory, with what it answered before: rows that hold the same are asked once."""

    def __init__(self, memory: Sighted) -> None:
        self._memory = memory
        self._answers: dict[tuple[str, frozenset[str]], tuple[RankedDocs, float]] = {}

    def rank(self, question: BenchQuestion, seen: frozenset[str]) -> tuple[RankedDocs, float]:
        """An answer from what may be seen, and how many milliseconds it took when it was asked."""
        key = (question.id, seen)
        if key not in self._answers:
            began = time.perf_counter()
            ranking = self._memory.rank(question.text, _DEPTH, seen=seen)
            self._answers[key] = ranking, (time.perf_counter() - began) * 1000
        return self._answers[key]


def _whole(memory: Sighted, planned: Schedule, progress: Callable[[int], None]) -> Iterator[FullRecall]:
    """The stream through mnemic itself: paragraphs observed as they come, each question asked when its turn is."""
    taken = 0
    for number, (seen, question) in enumerate(planned.asks, start=1):
        if seen > taken:
            memory.observe([message(doc) for doc in planned.docs[taken:seen]])
            taken = seen
        began = time.perf_counter()
        ranking = memory.rank(question.text, _DEPTH)
        yield FullRecall(seen, question, ranking, (time.perf_counter() - began) * 1000)
        progress(number)


def _alone(
    log: Log, prefix: str, known: _Known, planned: Schedule, docs: _Documents, name: str, size: int, seed: int
) -> None:
    """A hot tier with nothing behind it: each question is answered from what it holds."""
    wanted = [question.gold for _, question in planned.asks]
    policy = make_policy(name, seed, docs.reads(wanted))
    tier = HotTier(policy, size, archive=False)
    arrived = 0
    for number, (seen, question) in enumerate(planned.asks):
        arrived = _arrive(tier, docs, arrived, seen)
        if isinstance(policy, Foresight):
            policy.asked(number, docs.of_ids(question.gold))
        ranking, took = known.rank(question, frozenset(docs.by_page[page] for page in tier.resident))
        tier.use(docs.of_ids(ranking.ids[:FOUND]))
        log.answer(_answer(f"{prefix}{name} alone @ {size}", question, ranking, took, docs))


def _behind(
    log: Log,
    prefix: str,
    planned: Schedule,
    docs: _Documents,
    recalled: Sequence[FullRecall],
    name: str,
    size: int,
    seed: int,
) -> None:
    """A hot tier with the archive behind it: what the answer brings is brought in."""
    wanted = [answered.ranking.ids[:FOUND] for answered in recalled]
    policy = make_policy(name, seed, docs.reads(wanted))
    tier = HotTier(policy, size, archive=True)
    arrived = 0
    for number, answered in enumerate(recalled):
        evicted, written = tier.counters.evictions, tier.counters.write_backs
        arrived = _arrive(tier, docs, arrived, answered.seen)
        if isinstance(policy, Foresight):
            policy.asked(number, docs.of_ids(wanted[number]))
        hits = tier.use(docs.of_ids(wanted[number]))
        log.add(
            "paging",
            schedule=prefix,
            policy=name,
            capacity=size,
            question=answered.question.id,
            hits=hits,
            faults=len(wanted[number]) - hits,
            evictions=tier.counters.evictions - evicted,
            write_backs=tier.counters.write_backs - written,
        )


def _arrive(tier: HotTier, docs: _Documents, arrived: int, seen: int) -> int:
    for page in docs.pages[arrived:seen]:
        tier.arrive(page)
    return max(arrived, seen)


def _lag(protocol: Protocol, draw: Random) -> int:
    return draw.randint(0, 2 * protocol.lag) if protocol.law == "spread" else protocol.lag


def _tokens(doc: Doc) -> int:
    return count_tokens(f"{doc.speaker}: {doc.text}")


def _answer(
    system: str, question: BenchQuestion, ranking: RankedDocs, milliseconds: float, docs: _Documents
) -> LoggedAnswer:
    return LoggedAnswer(
        system=system,
        ns=question.ns,
        question=question.id,
        category=question.category,
        gold=question.gold,
        sessions=(),
        ranked=ranking.ids,
        scores=ranking.scores,
        tokens=sum(docs.by_doc[doc].tokens for doc in ranking.ids),
        milliseconds=round(milliseconds, 4),
    )


def _facts(
    passages: Passages,
    protocol: Protocol,
    planned: Schedule,
    sizes: Sequence[int],
    rows: Sequence[str],
    unit: str,
    embedder: Embedder | None,
) -> dict[str, object]:
    unscorable = sum(not question.gold for question in passages.questions)
    return {
        "bench": "hotpot",
        "seed": protocol.seed,
        "data": {
            "name": passages.name,
            "sha256": passages.sha256,
            "docs": len(passages.docs),
            "undated": len(passages.docs),
            "questions": len(passages.questions),
            "unscorable": unscorable,
            "evidence_mended": 0,
            "evidence_dropped": passages.dropped,
        },
        "effective": {"embedder": None if embedder is None else embedder.name},
        "protocol": {"lag": protocol.lag, "law": protocol.law, "order": protocol.order, "unit": unit},
        "asked": len(planned.asks),
        "not_asked": len(passages.questions) - unscorable - len(planned.asks),
        "capacities": list(sizes),
        "policies": list(rows),
    }
