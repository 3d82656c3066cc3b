"""mnemic as a contestant: a new file through its public API, whole, or with stages of its recall left out."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.queries import Query, Stage
from mnemic.errors import Invalid
from mnemic.index.catalogues import Catalogues
from mnemic.lab.kit.contestant import SHOWN, GivenAnswer, Make, Means, OwnFigures, RankedDocs
from mnemic.lab.kit.datasets import message
from mnemic.memory import Memory
from mnemic.recall.answer import answer
from mnemic.recall.pipeline import recall
from mnemic.registry import STORES, load

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item
    from mnemic.core.queries import Context
    from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Doc
    from mnemic.models.base import Embedder
    from mnemic.store.contract import Store

PROBES: Final = 20
"""Messages that the lag from writing to recalling is measured with."""

WITHOUT: Final = "without "
"""How a row is named that leaves out stages: `without dense`, `without dense+session`."""

WHOLE: Final = f"{WITHOUT}nothing"
"""The whole recall, by the way that the rows without a stage take: what their times are held against."""


class MnemicContestant:
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
        self._docs: dict[ItemId, tuple[str, ...]] = {}

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
            for doc in self._docs_of(question.ns, recalled.item):
                best.setdefault(doc, recalled.score)
        return RankedDocs(tuple(best)[:k], tuple(best.values())[:k])

    def answer(self, question: BenchQuestion) -> GivenAnswer:
        """Answer from the ten best alone: whoever asks is nobody whose profile is known."""
        context = self._recall(question, SHOWN)
        docs = {found.id: self._docs_of(question.ns, found.item) for found in context.items}
        answered = answer(question.text, context)
        return GivenAnswer(
            short=answered.short or next((citation.quote for citation in answered.citations), ""),
            cited=tuple(dict.fromkeys(doc for cited in answered.citations for doc in docs.get(cited.id, ()))),
            known=answered.known,
            confidence=context.confidence,
        )

    def figures(self) -> OwnFigures:
        size = sum(file.stat().st_size for file in Path(self._folder.name).iterdir())
        messages = max(sum(self._sizes.values()), 1)
        calls = sum(spending.calls for spending in self._memory.admin.spending())
        return OwnFigures(bytes_per_message=size / messages, lag_ms=self._lag(), model_calls=calls / messages)

    def close(self) -> None:
        self._memory.close()
        self._folder.cleanup()

    def _recall(self, question: BenchQuestion, k: int) -> Context:
        me = self._memory.scope(user=question.ns)
        return me.recall(question.text, k=k, now=self._now[question.ns], by=self._by)

    def _docs_of(self, ns: str, item: Item) -> tuple[str, ...]:
        """The document that an item is; of one that was derived, those that it rests on, down to the last."""
        if "doc" in item.slots:
            return (str(item.slots["doc"]),)
        if item.id not in self._docs:
            get = self._memory.scope(user=ns).get
            under = (doc for basis in item.source for doc in self._docs_of(ns, get(basis).item))
            self._docs[item.id] = tuple(dict.fromkeys(under))
        return self._docs[item.id]

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


class Ablated(MnemicContestant):
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


def offered() -> dict[str, Make]:
    """List mnemic, and mnemic without each of its stages; `of_stages` makes others."""
    rows: dict[str, Make] = {"mnemic": whole}
    return rows | {f"{WITHOUT}{stage}": partial(ablated, frozenset({stage})) for stage in Stage}


def whole(means: Means) -> MnemicContestant:
    """mnemic as anyone has it."""
    return MnemicContestant(means.opened_embedder())


def ablated(stages: frozenset[Stage], means: Means) -> Ablated:
    """mnemic without some stages of its recall."""
    return Ablated(means.opened_embedder(), stages)


def of_stages(name: str) -> Make | None:
    """Read `without A+B`, or `without nothing`; None for any other name.

    Raises:
        Invalid: a stage is none.
    """
    if not name.startswith(WITHOUT):
        return None
    named = [] if name == WHOLE else name.removeprefix(WITHOUT).split("+")
    if unknown := [stage for stage in named if stage not in list(Stage)]:
        raise Invalid("without", f"{unknown[0]!r} is no stage of recall", f"There are: {', '.join(Stage)}.")
    return partial(ablated, frozenset(map(Stage, named)))


def _sittings(docs: Sequence[Doc]) -> Iterator[list[Doc]]:
    for _, sitting in groupby(docs, key=lambda doc: doc.session):
        yield list(sitting)
