"""Measures what each stage of recall costs: warm recalls as they are, and the same with stages left out.

One user's memory holds the turns of the cases of `bench current`, other talk and labelled sentences and, where these
are too few, made-up messages. The questions of the cases are asked a few at a time, and each few with one set of stages
left out after the other, all in one process, so that a busy machine weighs on all alike. Times are those of the thread
on the processor.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from mnemic.core.clock import micros
from mnemic.core.queries import Query, Stage
from mnemic.index.catalogues import Catalogues
from mnemic.ingest.message import Message
from mnemic.lab.kit.cached import CachedEmbedder
from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.kit.generate import Talk
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.run import Progress, silent
from mnemic.lab.tasks.current.current_cases import Half, read_cases, read_filler, rows_of
from mnemic.memory import Memory
from mnemic.recall.pipeline import recall
from mnemic.settings import Settings
from mnemic.store.sqlite.disk import file_system
from mnemic.store.sqlite.sqlite_store import SqliteStore

if TYPE_CHECKING:
    from mnemic.core.queries import Context
    from mnemic.models.base import Embedder

Stages: TypeAlias = frozenset[Stage]

BAR: Final = 1.15
"""How many times what it takes without the stages that are `BARRED` a recall may take."""

BARRED: Final[Stages] = frozenset({Stage.CURRENCY, Stage.LINKS})

NONE: Final[Stages] = frozenset()

LEFT_OUT: Final[tuple[Stages, ...]] = (NONE, BARRED, *(frozenset({stage}) for stage in Stage))
"""The sets of stages that are left out in turn."""

RUN: Final = 16
"""Questions that are asked before other stages are left out."""

K: Final = 10
"""Items that a recall is asked for."""

_SITTING: Final = 25
_BEGUN: Final = datetime(2024, 1, 1, 8, tzinfo=UTC)
_ASKED: Final = datetime(2027, 1, 1, 8, tzinfo=UTC)
_MADE_UP: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StagesSize:
    """How much is measured; the defaults are what the bar is stated for.

    Attributes:
        turns: Those of each memory that is asked.
        rounds: How often each question is asked with the same stages left out.
        limit: Only the first so many questions; None for all.
    """

    turns: tuple[int, ...] = (1_000, 10_000)
    rounds: int = 3
    limit: int | None = None
    seed: int = 0

    @property
    def stated(self) -> bool:
        """Whether it is as much as the bar is stated for."""
        return self.limit is None and self.rounds >= 3 and min(self.turns) >= 1_000


def bench_stages(
    size: StagesSize = StagesSize(), *, embedder: Embedder | None = None, progress: Progress = silent
) -> Measurements:
    """Measure, on files that are gone afterwards.

    Args:
        embedder: What meaning is read with; None for words alone.
    """
    reader = None if embedder is None else CachedEmbedder(embedder)
    questions = [question.text for case in read_cases(Half.DEVELOPMENT) for question in case.questions][: size.limit]
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="mnemic-stages-") as folder:
        for turns in size.turns:
            path = Path(folder) / f"{turns}.db"
            remember_talk(path, turns, size.seed, reader, progress)
            with closing(StageRecall(path, reader)) as asked:
                figures += _figures(turns, _times(asked, questions, size.rounds, f"asked of {turns:,}", progress))
        header = {**provenance(), "size": asdict(size), "file_system": file_system(Path(folder))}
    return Measurements(header=header, figures=tuple(figures))


def mixed_talk(seed: int) -> Iterator[Message]:
    """A million turns of one user: cases amid other talk, then labelled sentences, then what is made up."""
    written = dict.fromkeys(chain(*(_talk_of(half, seed) for half in (Half.DEVELOPMENT, Half.TRAINING))))
    made_up = (("user", message.text) for message in Talk(seed).messages(_MADE_UP))
    for n, (role, text) in enumerate(chain(written, made_up)):
        sitting, pos = divmod(n, _SITTING)
        said = _BEGUN + timedelta(hours=2 * sitting, minutes=pos)
        yield Message(
            text=text, key=f"stages:{n}", said=said, session=f"sitting {sitting}", pos=pos, slots={"role": role}
        )


def _talk_of(half: Half, seed: int) -> Iterator[tuple[str, str]]:
    """Role and text of each turn of a half: its cases and the talk around them in any order, then its sentences."""
    exchanges = [*(case.turns for case in read_cases(half)), *chain(*read_filler(half).values())]
    random.Random(seed).shuffle(exchanges)  # noqa: S311 - an order, not a secret
    yield from ((turn.role, turn.text) for exchange in exchanges for turn in exchange)
    yield from (("user", row["text"]) for row in rows_of(f"current_sentences_{half}"))


def remember_talk(path: Path, turns: int, seed: int, embedder: Embedder | None, progress: Progress = silent) -> None:
    """Make a memory of so many turns, each with its vector."""
    messages = list(islice(mixed_talk(seed), turns))
    with Memory(path, settings=Settings(background=False), embedder=embedder or "none") as memory:
        for begin in range(0, turns, _SITTING):
            memory.scope(user="me").observe(messages[begin : begin + _SITTING])
            memory.flush()
            progress(f"{turns:,} turns", min(begin + _SITTING, turns), turns)


class StageRecall:
    """Recall from the one memory of a file, with stages left out, which the public API has no switch for."""

    def __init__(self, path: Path, embedder: Embedder | None) -> None:
        self._store, self._embedder = SqliteStore(path, create=False), embedder
        self._catalogues = Catalogues(Settings().catalogue_bytes, Settings().pack_rows)
        with self._store.read() as snapshot:
            self._spaces = tuple(h.id for tenant, _ in snapshot.tenants() for h in snapshot.all_spaces(tenant))
            self._embedders = {row.id: row.name for row in snapshot.embedders()}

    def close(self) -> None:
        self._store.close()

    def query(self, question: str, without: Stages) -> Query:
        """A question as recall is asked it."""
        return Query(
            text=question,
            now=micros(_ASKED),
            spaces=self._spaces,
            k=K,
            vectors={} if self._embedder is None else {id: self._embedder.query(question) for id in self._embedders},
            embedders=self._embedders,
            without=without,
        )

    def recalled(self, query: Query) -> Context:
        """The answer of recall."""
        with self._store.read() as snapshot:
            return recall(snapshot, self._catalogues, query)

    def took(self, query: Query) -> float:
        """Milliseconds on the processor that one recall takes."""
        began = time.thread_time()
        self.recalled(query)
        return (time.thread_time() - began) * 1000


def _times(
    asked: StageRecall, questions: Sequence[str], rounds: int, name: str, progress: Progress
) -> dict[Stages, list[float]]:
    """Milliseconds of each question in each round, by the stages that were left out."""
    took: dict[Stages, list[float]] = {without: [] for without in LEFT_OUT}
    for question in questions:
        asked.took(asked.query(question, NONE))  # warm
    runs = [questions[begin : begin + RUN] for begin in range(0, len(questions), RUN)] * rounds
    for n, run in enumerate(runs):
        first = n % len(LEFT_OUT)
        for without in (*LEFT_OUT[first:], *LEFT_OUT[:first]):
            queries = [asked.query(question, without) for question in run]
            took[without] += map(asked.took, queries)
        progress(name, n + 1, len(runs))
    return took


def _figures(turns: int, took: Mapping[Stages, Sequence[float]]) -> Iterator[Figure]:
    middling = {without: statistics.median(times) for without, times in took.items()}
    whole = middling[NONE]
    yield Figure(name=f"recall amid {turns:,} turns: CPU", value=whole, unit="ms", detail="middling, warm")
    for without, time_without in middling.items():
        if without:
            yield Figure(
                name=f"amid {turns:,}, whole against without {' and '.join(sorted(without))}",
                value=whole / time_without,
                unit="x",
                bar=BAR if without == BARRED else None,
                detail=f"{whole:.2f} ms against {time_without:.2f} ms",
            )
