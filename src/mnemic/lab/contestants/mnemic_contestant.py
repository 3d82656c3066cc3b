"""mnemic as a contestant: a new file through its public API, whole; below that, without stages or by other weights."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.core.checking import did_you_mean
from mnemic.core.clock import micros
from mnemic.core.queries import Query, Stage, View
from mnemic.core.tokens import count_tokens
from mnemic.derive.own_recall import RECALL
from mnemic.errors import Invalid
from mnemic.index.catalogues import Catalogues
from mnemic.lab.kit.contestant import (
    SHOWN,
    ContextLine,
    CreditedHit,
    GivenAnswer,
    Make,
    Means,
    OwnFigures,
    QuotedDocs,
    RankedDocs,
)
from mnemic.lab.kit.datasets import message
from mnemic.lab.kit.set_clock import TalkClock
from mnemic.memory import Memory
from mnemic.recall.always import is_standing
from mnemic.recall.answer import answer
from mnemic.recall.pack import fetched
from mnemic.recall.pipeline import chosen_by, recall, signals_of
from mnemic.recall.recall_weights import WEIGHTS
from mnemic.registry import STORES, load
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item
    from mnemic.core.queries import Context, Hit, Recalled
    from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Doc
    from mnemic.memory import ScopedMemory
    from mnemic.models.base import Embedder
    from mnemic.models.chat.base import Chat
    from mnemic.recall.answer import Answer
    from mnemic.recall.pipeline import Signals
    from mnemic.store.contract import Store
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.spending import Spending
    from mnemic.strategies.base import Strategy

PROBES: Final = 20
"""Messages that the lag from writing to recalling is measured with."""

WITHOUT: Final = "without "
"""How a row is named that leaves out stages: `without dense`, `without dense+session`."""

_BY_MEANING: Final = frozenset({Stage.DENSE, Stage.HUBS})
"""Stages that need vectors."""

WHOLE: Final = f"{WITHOUT}nothing"
"""The whole recall, by the way that the rows without a stage take: what their times are held against."""


class MnemicContestant:
    """mnemic through its public API: a new file, each corpus one user, a session observed at a time.

    A question is asked as of the corpus's last message, so that "last week" means what it meant then. A corpus that is
    told is observed a turn at a time, by a clock that stands at each, then where the question is asked.
    """

    def __init__(
        self,
        embedder: Embedder | None = None,
        by: str | None = None,
        *,
        told: bool = False,
        journal: Path | None = None,
        followed: Sequence[str | Strategy] | None = None,
        reader: Chat | None = None,
    ) -> None:
        """Open a memory; taking in is over when all has its vector, and strategies have read all.

        Args:
            embedder: What meaning is read with; None for words alone.
            by: A strategy by name, whose own recall answers.
            told: Nothing goes on behind, so that a run with a clock that stands repeats.
            journal: A file that holds the corpora already (`backup`): a copy of it is read.
            followed: Strategies, by name or themselves; None for those that anyone follows.
            reader: Whom strategies ask; None for rules alone.
        """
        self._folder = tempfile.TemporaryDirectory(prefix="mnemic-lab-")
        self._path = Path(self._folder.name) / "memory.db"
        self._by, self._journal = by, journal
        if journal is not None:
            shutil.copyfile(journal, self._path)
        self._clock = TalkClock()
        self._memory = Memory(
            self._path, embedder=embedder or "none", strategies=followed, clock=self._clock, model=reader or "none",
            settings=Settings(background=False) if told or journal is not None else None,
        )  # fmt: skip
        self._recalls = 0
        self._sizes: dict[str, int] = {}
        self._now: dict[str, datetime | None] = {}
        self._told: set[str] = set()
        self._docs: dict[ItemId, tuple[str, ...]] = {}

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        for corpus in corpora:
            me = self._memory.scope(user=corpus.ns)
            if corpus.told:
                self._tell(me, corpus)
            elif self._journal is None:
                for docs in _sittings(corpus.docs):
                    me.observe([message(doc) for doc in docs])
            self._sizes[corpus.ns] = len(corpus.docs)
            self._now[corpus.ns] = max((doc.said for doc in corpus.docs if doc.said), default=None)
        self._memory.flush()

    def _tell(self, me: ScopedMemory, corpus: Corpus) -> None:
        """Observe each turn at the moment of the latest so far, and have all read before another person talks."""
        self._told.add(corpus.ns)
        latest: datetime | None = None
        for doc in corpus.docs:
            latest = max((when for when in (latest, doc.said) if when is not None), default=None)
            if latest is not None:
                self._clock.put(latest)
            if self._journal is None:
                self._docs[me.observe(message(doc)).id] = (doc.id,)
        self._memory.flush()

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        return self.rank_by(question, k, self._by)

    def rank_by(self, question: BenchQuestion, k: int, by: str | None) -> RankedDocs:
        """Rank by the recall of a strategy, or by everybody's."""
        best: dict[str, float] = {}
        hits = []
        for recalled in self._recall(question, k, by):
            docs = self._docs_of(question.ns, recalled.item)
            hits.append(self._hit(recalled, docs))
            for doc in docs:
                best.setdefault(doc, recalled.score)
        shown = tuple(hits) if question.ns in self._told or self._journal is not None else ()
        return RankedDocs(tuple(best)[:k], tuple(best.values())[:k], shown)

    def _hit(self, recalled: Recalled, docs: tuple[str, ...]) -> CreditedHit:
        text = "" if "doc" in recalled.item.slots else recalled.text
        return CreditedHit(docs, recalled.tokens, "; ".join(recalled.reasons), text)

    def answer(self, question: BenchQuestion) -> GivenAnswer:
        """Answer one who has told all that is known; else from the ten best alone, as nobody whose profile is known."""
        if question.ns in self._told and self._by is None:
            answered = self._asked(question).ask(question.text)
            return self._given(question, answered, answered.confidence)
        return self._answer_by_recall(question)

    def _answer_by_recall(self, question: BenchQuestion) -> GivenAnswer:
        context = self._recall(question, SHOWN, self._by)
        return self._given(question, answer(question.text, context), context.confidence)

    def _given(self, question: BenchQuestion, answered: Answer, confidence: float) -> GivenAnswer:
        ids = [citation.id for citation in answered.citations]
        me = self._memory.scope(user=question.ns)
        docs = {version.item.id: self._docs_of(question.ns, version.item) for version in me.visible(ids)}
        quotes = [QuotedDocs(c.quote, docs.get(c.id, self._docs.get(c.id, ()))) for c in answered.citations]
        return GivenAnswer(
            short=answered.short or next((quoted.quote for quoted in quotes), ""),
            cited=tuple(dict.fromkeys(doc for quoted in quotes for doc in quoted.docs)),
            known=answered.known,
            confidence=confidence,
            text=answered.text,
            value=answered.short,
            quotes=tuple(quotes),
        )

    def context(self, question: BenchQuestion) -> tuple[ContextLine, ...]:
        """Standing instructions, what is pinned, the profile; what is in doubt stands there as such."""
        me = self._asked(question)
        doubted = {doubt.fact.id for doubt in me.review()}
        return tuple(
            ContextLine(
                text=item.text, docs=self._docs_of(question.ns, item), standing=is_standing(item),
                doubted=item.id in doubted,
            )
            for item in me.context("").always
        )  # fmt: skip

    def _asked(self, question: BenchQuestion) -> ScopedMemory:
        """A handle on the past that a question is about, at the moment it is asked."""
        if question.asked is not None and question.ns in self._told:
            self._clock.put(question.asked)
        me = self._memory.scope(user=question.ns)
        if question.as_of is not None:
            me = me.as_of(question.as_of)
        return me if question.valid_at is None else me.valid_at(question.valid_at)

    def _moment(self, question: BenchQuestion) -> datetime | None:
        """When a question is asked; None for what the clock shows."""
        return None if question.ns in self._told else question.asked or self._now[question.ns]

    def figures(self) -> OwnFigures:
        messages = max(sum(self._sizes.values()), 1)
        spendings = self._memory.admin.spending()
        reading = [spending for spending in spendings if not spending.strategy.endswith(RECALL)]
        recalling = [spending for spending in spendings if spending.strategy.endswith(RECALL)]
        return OwnFigures(
            bytes_per_message=self._bytes() / messages,
            lag_ms=self._lag() if self._journal is None else None,
            model_calls=sum(spending.calls for spending in reading) / messages,
            model_tokens=_tokens(reading) / messages,
            recall_calls=sum(spending.calls for spending in recalling) / max(self._recalls, 1),
            recall_tokens=_tokens(recalling) / max(self._recalls, 1),
        )

    def _bytes(self) -> int:
        """What its file holds once the log of writes beside it is folded in, as by `close`; of a copy of a journal what
        is more than that."""
        whole = self._path.with_name("whole.db")
        self.backup(whole)
        before = 0 if self._journal is None else self._journal.stat().st_size
        return max(whole.stat().st_size - before, 0)

    def backup(self, path: Path) -> None:
        """Write what it has taken in to a file that others can replay."""
        self._memory.admin.backup(path)

    def close(self) -> None:
        self._memory.close()
        self._folder.cleanup()

    def _recall(self, question: BenchQuestion, k: int, by: str | None) -> Context:
        self._recalls += by is not None
        return self._asked(question).recall(question.text, k=k, now=self._moment(question), by=by)

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

    def __init__(self, embedder: Embedder | None, without: frozenset[Stage], *, told: bool = False) -> None:
        super().__init__(embedder, told=told)
        self._embedder, self._without = embedder, without
        self._store: Store = load(STORES, "sqlite")(self._path)
        self._catalogues = Catalogues(self._memory.settings.catalogue_bytes, self._memory.settings.pack_rows)

    def answer(self, question: BenchQuestion) -> GivenAnswer:
        """Answer from the ten best that are found without these stages."""
        return self._answer_by_recall(question)

    def close(self) -> None:
        self._store.close()
        super().close()

    def _recall(self, question: BenchQuestion, k: int, by: str | None) -> Context:
        with self._store.read() as snapshot:
            return recall(snapshot, self._catalogues, self._query(question, k, snapshot))

    def _query(self, question: BenchQuestion, k: int, snapshot: Snapshot) -> Query:
        self._asked(question)
        now = self._moment(question)
        tenant = snapshot.tenant(self._memory.settings.tenant)
        space = None if tenant is None else snapshot.space(tenant, question.ns)
        vectors = {
            row.id: self._embedder.query(question.text)
            for row in snapshot.embedders()
            if self._embedder is not None and row.name == self._embedder.name
        }
        return Query(
            text=question.text,
            now=self._clock.now() if now is None else micros(now),
            view=_view(question),
            spaces=() if space is None else (space.id,),
            k=k,
            vectors=vectors,
            embedders={row.id: row.name for row in snapshot.embedders()},
            without=self._without,
        )


class Reweighed(Ablated):
    """mnemic by weights that can be changed from one question to the next: what is gathered for one is kept.

    All is asked of one commit, so nothing may be taken in any more.

    Attributes:
        weights: By which it ranks; those of everybody's recall at first.
    """

    def __init__(self, embedder: Embedder | None, *, told: bool = False) -> None:
        super().__init__(embedder, frozenset(), told=told)
        self.weights = WEIGHTS
        self._left = ExitStack()
        self._one_commit: Snapshot | None = None
        self._signals: dict[tuple[str, str, int], Signals] = {}
        self._credited: dict[tuple[int, int], CreditedHit] = {}

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        snapshot = self._snapshot()
        at = (question.ns, question.id, k)
        if at not in self._signals:
            self._signals[at] = signals_of(snapshot, self._catalogues, self._query(question, k, snapshot))
        hits = chosen_by(self.weights, self._signals[at], snapshot)
        self._read(question.ns, hits, snapshot)
        shown = [self._credited[hit.space, hit.ver] for hit in hits]
        best: dict[str, float] = {}
        for hit, credited in zip(hits, shown, strict=True):
            for doc in credited.docs:
                best.setdefault(doc, hit.score)
        return RankedDocs(tuple(best)[:k], tuple(best.values())[:k], tuple(shown) if question.ns in self._told else ())

    def _snapshot(self) -> Snapshot:
        if self._one_commit is None:
            self._one_commit = self._left.enter_context(self._store.read())
        return self._one_commit

    def _read(self, ns: str, hits: Sequence[Hit], snapshot: Snapshot) -> None:
        """Credit those hits that were never shown before with their documents."""
        new = [hit for hit in hits if (hit.space, hit.ver) not in self._credited]
        for at, version in fetched(new, snapshot).items():
            item = version.item
            text = "" if "doc" in item.slots else item.text
            self._credited[at] = CreditedHit(self._docs_of(ns, item), count_tokens(item.text), "", text)

    def close(self) -> None:
        self._left.close()
        super().close()


def offered() -> dict[str, Make]:
    """List mnemic, and mnemic without each of its stages; `of_stages` makes others."""
    rows: dict[str, Make] = {"mnemic": whole}
    return rows | {f"{WITHOUT}{stage}": partial(ablated, frozenset({stage})) for stage in Stage}


def whole(means: Means) -> MnemicContestant:
    """mnemic as anyone has it."""
    return MnemicContestant(means.opened_embedder(), told=means.told)


def ablated(stages: frozenset[Stage], means: Means) -> Ablated:
    """mnemic without some stages of its recall."""
    return Ablated(means.opened_embedder(), stages, told=means.told)


def idle_with(make: Make, means: Means) -> str:
    """Why leaving out its stages would leave out nothing; "" where it leaves something out, and for anyone else."""
    stages: frozenset[Stage] = make.args[0] if isinstance(make, partial) and make.func is ablated else frozenset()
    if not stages or not stages <= _BY_MEANING or means.embedder_name is not None:
        return ""
    return "it leaves out nothing, since without an embedder nothing is near in meaning"


def reweighed(means: Means) -> Reweighed:
    """mnemic by weights that can be changed."""
    return Reweighed(means.opened_embedder(), told=means.told)


def of_stages(name: str) -> Make | None:
    """Read `without A+B`, or `without nothing`; None for any other name.

    Raises:
        Invalid: a stage is none.
    """
    if not name.startswith(WITHOUT):
        return None
    named = [] if name == WHOLE else name.removeprefix(WITHOUT).split("+")
    if unknown := [stage for stage in named if stage not in list(Stage)]:
        raise Invalid("without", f"{unknown[0]!r} is no stage of recall", did_you_mean(unknown[0], map(str, Stage)))
    return partial(ablated, frozenset(map(Stage, named)))


def _tokens(spendings: Sequence[Spending]) -> int:
    return sum(spending.prompt_tokens + spending.answer_tokens for spending in spendings)


def _view(question: BenchQuestion) -> View:
    return View(
        as_of=None if question.as_of is None else micros(question.as_of),
        valid_at=None if question.valid_at is None else micros(question.valid_at),
    )


def _sittings(docs: Sequence[Doc]) -> Iterator[list[Doc]]:
    for _, sitting in groupby(docs, key=lambda doc: doc.session):
        yield list(sitting)
