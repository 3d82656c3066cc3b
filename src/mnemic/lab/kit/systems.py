"""The systems that a run compares: mnemic itself on a real file, and the baselines, behind one interface."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Final, Protocol

from mnemic.core.clock import micros
from mnemic.core.items import Kind
from mnemic.core.queries import Context, Query, Stage
from mnemic.errors import Invalid
from mnemic.index.catalogues import Catalogues
from mnemic.ingest.message import Message
from mnemic.lab.kit.baselines import Baseline, RankedDocs, lineup
from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Doc
from mnemic.memory import Memory
from mnemic.models.base import Embedder
from mnemic.recall.pipeline import recall
from mnemic.registry import STORES, load
from mnemic.store.contract import Store

PROBES: Final = 20
"""Messages that the lag from writing to recalling is measured with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFigures:
    """Figures that a system reports of itself after the questions; None where one does not apply."""

    bytes_per_message: float | None = None
    lag_ms: float | None = None


class System(Protocol):
    """Answers a run's questions: one row of the table."""

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        """Take in all corpora; called once, timed."""
        ...

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        """Rank at most `k` documents of the question's corpus, best first."""
        ...

    def figures(self) -> SystemFigures:
        """Report its cost besides time; called after the last question."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


@dataclass(frozen=True, slots=True)
class Entrant:
    """A row's name, and how to make its system anew."""

    name: str
    make: Callable[[], System]


class Peers:
    """A baseline as a system: one of it for each corpus, nothing on disk."""

    def __init__(self, make: Callable[[], Baseline]) -> None:
        self._make = make
        self._by_ns: dict[str, Baseline] = {}

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        for corpus in corpora:
            self._by_ns[corpus.ns] = self._make()
            self._by_ns[corpus.ns].ingest(corpus.docs)

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        full = self._by_ns[question.ns].rank(question)
        return RankedDocs(full.ids[:k], full.scores[:k])

    def figures(self) -> SystemFigures:
        return SystemFigures()

    def close(self) -> None:
        self._by_ns.clear()


class MnemicSystem:
    """mnemic through its public API: a new file, each corpus one user, a session observed at a time.

    A question is asked as of the corpus's last message, so that "last week" means what it meant then.
    """

    def __init__(self, embedder: Embedder | None = None, by: str | None = None) -> None:
        """Open a memory; taking in is over when all has its vector, and strategies have read all.

        Args:
            embedder: What meaning is read with; None for words alone.
            by: A strategy by name: it alone is followed, and its own recall answers.
        """
        self._folder = tempfile.TemporaryDirectory(prefix="mnemic-lab-")
        self._path = Path(self._folder.name) / "memory.db"
        self._by = by
        self._memory = Memory(self._path, embedder=embedder or "none", strategies=None if by is None else [by])
        self._sizes: dict[str, int] = {}
        self._now: dict[str, datetime | None] = {}

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        for corpus in corpora:
            me = self._memory.scope(user=corpus.ns)
            for docs in _sittings(corpus.docs):
                me.observe([message(doc) for doc in docs])
            self._sizes[corpus.ns] = len(corpus.docs)
            self._now[corpus.ns] = max((doc.said for doc in corpus.docs if doc.said), default=None)
        self._memory.flush()

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        best: dict[str, float] = {}
        for recalled in self._recall(question, k):
            best.setdefault(str(recalled.item.slots["doc"]), recalled.score)
        return RankedDocs(tuple(best), tuple(best.values()))

    def figures(self) -> SystemFigures:
        size = sum(file.stat().st_size for file in Path(self._folder.name).iterdir())
        return SystemFigures(bytes_per_message=size / max(sum(self._sizes.values()), 1), lag_ms=self._lag())

    def close(self) -> None:
        self._memory.close()
        self._folder.cleanup()

    def _recall(self, question: BenchQuestion, k: int) -> Context:
        me = self._memory.scope(user=question.ns)
        return me.recall(question.text, k=k, now=self._now[question.ns], by=self._by)

    def _lag(self) -> float:
        """Median milliseconds from observing one message to a recall that returns it, in the largest memory."""
        me = self._memory.scope(user=max(self._sizes, key=lambda ns: self._sizes[ns]))
        lags = []
        for n in range(PROBES):
            probe = f"quorvex{n} is the word this probe is known by"
            began = time.perf_counter()
            written = me.observe(probe).id
            while written not in {recalled.id for recalled in me.recall(probe, k=10).items}:
                pass
            lags.append((time.perf_counter() - began) * 1000)
        return statistics.median(lags)


class Ablated(MnemicSystem):
    """mnemic with stages of its recall left out, which its public API has no switch for."""

    def __init__(self, embedder: Embedder | None, without: frozenset[Stage]) -> None:
        super().__init__(embedder)
        self._embedder, self._without = embedder, without
        self._store: Store = load(STORES, "sqlite")(self._path)
        self._catalogues = Catalogues(self._memory.settings.catalogue_bytes, self._memory.settings.pack_rows)

    def close(self) -> None:
        self._store.close()
        super().close()

    def _recall(self, question: BenchQuestion, k: int) -> Context:
        now = self._now[question.ns] or datetime.now(UTC)
        with self._store.read() as snapshot:
            tenant = snapshot.tenant(self._memory.settings.tenant)
            space = None if tenant is None else snapshot.space(tenant, question.ns)
            vectors = {
                row.id: self._embedder.query(question.text)
                for row in snapshot.embedders()
                if self._embedder is not None and row.name == self._embedder.name
            }
            query = Query(
                text=question.text,
                now=micros(now),
                spaces=() if space is None else (space.id,),
                k=k,
                vectors=vectors,
                embedders={row.id: row.name for row in snapshot.embedders()},
                without=self._without,
            )
            return recall(snapshot, self._catalogues, query)


def message(doc: Doc) -> Message:
    """A document as an importer would give it: a passage whose session is its speaker is an article of that title."""
    passage = not doc.when and doc.session == doc.speaker
    return Message(
        text=doc.text,
        key=f"lab:{doc.ns}:{doc.id}",
        kind=Kind.DOCUMENT if passage else Kind.TURN,
        said=doc.said,
        session=doc.session,
        pos=doc.pos,
        slots={"title" if passage else "speaker": doc.speaker, "doc": doc.id},
    )


def entrants(
    names: Sequence[str] | None = None, embedder: Embedder | None = None, without: Sequence[str] = ()
) -> list[Entrant]:
    """The rows asked for, in the table's order: all of them when `names` is None.

    Args:
        without: Stages of recall; each adds a row of mnemic that leaves it out.

    Raises:
        Invalid: a name that is no row, or no stage.
    """
    rows = [Entrant("mnemic", partial(MnemicSystem, embedder))]
    rows += [Entrant(name, partial(Peers, make)) for name, make in lineup(embedder).items()]
    known = [row.name for row in rows]
    for name in names or ():
        if name not in known:
            raise Invalid("systems", f"{name!r} is not one", f"There are: {', '.join(known)}.")
    chosen = [row for row in rows if names is None or row.name in names]
    for name in without:
        if name not in list(Stage):
            raise Invalid("without", f"{name!r} is no stage of recall", f"There are: {', '.join(Stage)}.")
        chosen.append(Entrant(f"without {name}", partial(Ablated, embedder, frozenset({Stage(name)}))))
    return chosen


def _sittings(docs: Sequence[Doc]) -> Iterator[list[Doc]]:
    for _, sitting in groupby(docs, key=lambda doc: doc.session):
        yield list(sitting)
