"""A run: every system takes in the corpora and answers every question, and all of it goes to the log."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Final, TypeAlias

from mnemic.core.tokens import count_tokens
from mnemic.lab.kit.baselines import RankedDocs
from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Dataset
from mnemic.lab.kit.log import Cost, Log, LoggedAnswer, Placed
from mnemic.lab.kit.metrics import BUDGETS, KS, SESSION_KS
from mnemic.lab.kit.systems import Entrant, System

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with a row's name, how many of its questions are answered, and how many there are."""

SHOWN: Final = 10
"""Documents that a caller asks for: what is timed, and whose tokens an answer counts."""

DEPTH: Final = 200
"""Documents asked for once more, untimed, for the metrics that look deeper: 50 turns, 4,000 tokens."""


def silent(system: str, done: int, total: int) -> None:
    """Ignore progress."""


def run(dataset: Dataset, entrants: Sequence[Entrant], log: Log, progress: Progress = silent) -> None:
    """Run each entrant in turn; what has been answered is in the log whatever happens next."""
    docs_by_corpus = {corpus.ns: _placed(corpus) for corpus in dataset.corpora}
    for ns, docs in docs_by_corpus.items():
        log.corpus(ns, docs)
    for entrant in entrants:
        with closing(entrant.make()) as system:
            _run_system(entrant.name, system, dataset, docs_by_corpus, log, progress)
    log.end()


def _run_system(
    name: str,
    system: System,
    dataset: Dataset,
    placed: Mapping[str, Mapping[str, Placed]],
    log: Log,
    progress: Progress,
) -> None:
    began = time.perf_counter()
    system.ingest(dataset.corpora)
    ingest_seconds = time.perf_counter() - began
    progress(name, 0, len(dataset.questions))
    for n, question in enumerate(dataset.questions, start=1):
        log.answer(_answer(name, system, question, placed[question.ns]))
        progress(name, n, len(dataset.questions))
    figures = system.figures()
    log.cost(
        Cost(
            system=name,
            messages=sum(len(corpus.docs) for corpus in dataset.corpora),
            ingest_seconds=ingest_seconds,
            bytes_per_message=figures.bytes_per_message,
            lag_ms=figures.lag_ms,
        )
    )


def _answer(name: str, system: System, question: BenchQuestion, docs: Mapping[str, Placed]) -> LoggedAnswer:
    began = time.perf_counter()
    short = system.rank(question, SHOWN)
    took = (time.perf_counter() - began) * 1000
    ranking = _joined(short, system.rank(question, DEPTH))
    depth = _depth(ranking, docs)
    return LoggedAnswer(
        system=name,
        ns=question.ns,
        question=question.id,
        category=question.category,
        gold=question.gold,
        sessions=question.sessions,
        ranked=ranking.ids[:depth],
        scores=ranking.scores[:depth],
        tokens=sum(docs[doc].tokens for doc in ranking.ids[:SHOWN]),
        milliseconds=round(took, 4),
    )


def _placed(corpus: Corpus) -> dict[str, Placed]:
    return {doc.id: Placed(doc.session, count_tokens(f"{doc.speaker}: {doc.text}")) for doc in corpus.docs}


def _joined(short: RankedDocs, deep: RankedDocs) -> RankedDocs:
    """Append to the short ranking what only the deep one has: no system may gain by being asked for more."""
    if deep.ids[: len(short.ids)] == short.ids:
        return deep
    first = set(short.ids)
    later = [n for n, doc in enumerate(deep.ids) if doc not in first]
    scores = (*short.scores, *(deep.scores[n] for n in later if deep.scores))
    return RankedDocs((*short.ids, *(deep.ids[n] for n in later)), scores)


def _depth(ranking: RankedDocs, docs: Mapping[str, Placed]) -> int:
    """Compute how many ranked documents the log needs: as many as the deepest metric looks at."""
    tokens, sessions = 0, set()
    for n, doc in enumerate(ranking.ids):
        tokens += docs[doc].tokens
        sessions.add(docs[doc].session)
        if n >= max(KS) and tokens > max(BUDGETS) and len(sessions) > max(SESSION_KS):
            return n
    return len(ranking.ids)
