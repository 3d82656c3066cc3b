"""`mnemic bench strategies`: one journal, read by each strategy and mixture of them, and what that finds and costs.

The journal is taken in once, with the strategy `house` alone. For each mixture the file is copied, and what is followed
besides reads the copy: so all read the same journal, and what they take and write is told apart from what taking in
takes. Questions are asked of each strategy's own recall (`recall(by=...)`), and again of everybody's recall, which no
strategy may move. What a strategy derived is credited with the evidence that it cites, down to the turns. A strategy's
own recall is asked in the first mixture that has it: what others derive it does not see.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.errors import Invalid
from mnemic.lab.kit.contestant import SHOWN, Means
from mnemic.lab.kit.datasets import load
from mnemic.lab.kit.locomo_observations import observing_reader, read_observations
from mnemic.lab.kit.log import Log
from mnemic.lab.kit.metrics import fitting
from mnemic.lab.kit.output_places import log_at
from mnemic.lab.kit.replays import (
    HOUSE,
    Digested,
    Journal,
    ReplayedMemory,
    bundled_journal,
    journal_of,
)
from mnemic.lab.kit.run import Progress, silent
from mnemic.registry import STRATEGIES
from mnemic.strategies.loading import followed, lane_of, strategies

if TYPE_CHECKING:
    from mnemic.models.base import Embedder
    from mnemic.models.chat.base import Chat
    from mnemic.settings import Settings
    from mnemic.strategies.base import Strategy

ALL: Final = "all"
"""The mixture of all that are registered."""

BUDGETS: Final = (300, 600, 1_000)
"""Tokens within which recalls are compared."""

DEPTH: Final = 100
"""Items asked for once more, for what fits the largest budget."""

TIMED: Final = 200
"""Most questions that everybody's recall is timed by, evenly over all."""

ROUNDS: Final = 3
"""How often each of these is asked of both files; the quickest of each counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """Strategies that are followed together, besides `house`, under a name such as `mem0+zep`."""

    name: str
    members: tuple[Strategy, ...]


def mixtures_of(named: Sequence[str | Mixture]) -> list[Mixture]:
    """Read mixtures as they are named, such as `mem0`, `mem0+zep`, `all`, `package.module:Class`.

    Args:
        named: One that is a mixture stays as it is. When empty, each registered strategy alone, then all of them.

    Raises:
        Invalid: a strategy is not known, or named twice in one mixture.
    """
    registered = [name for name in STRATEGIES if name != HOUSE]
    made = []
    for name in named or (*registered, ALL):
        if isinstance(name, Mixture):
            made.append(name)
            continue
        members = (
            registered if name == ALL else [member.strip() for member in name.split("+") if member.strip() != HOUSE]
        )
        if not all(members) or not members:
            raise Invalid("with", f"{name!r} names no strategy", f"{HOUSE} is always followed; name others beside it.")
        chosen = strategies(followed([HOUSE, *members]))[1:]
        made.append(Mixture(name=ALL if name == ALL else "+".join(map(lane_of, chosen)), members=chosen))
    return list({mixture.name: mixture for mixture in made}.values())


def reader_of(spec: str, path: Path | None, settings: Settings) -> Chat | None:
    """Open the model that strategies ask.

    Args:
        spec: `none`; `scripted`, by which strategies state what they cost; `observations`, those of the LoCoMo file at
            `path`; or as the setting `model` has it.

    Raises:
        Invalid: there is no such model, or the file holds no observations.
    """
    if spec == "observations":
        if path is None:
            raise Invalid("model", "observations are those of a LoCoMo file", "Name the file, locomo10.json.")
        dataset = load(path)
        return observing_reader(dataset, read_observations(path, dataset))
    return Means(reader=spec, settings=settings).opened_reader()


def bench_strategies(
    path: Path | None = None,
    *,
    out: Path,
    mixtures: Sequence[str | Mixture] = (),
    conversations: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
    embedder: Embedder | None = None,
    model: Chat | None = None,
    progress: Progress = silent,
) -> Path:
    """Run the benchmark and return the log it wrote; `strategies_report.read_strategies` makes the tables from that.

    Args:
        path: LoCoMo's json, or unified jsonl(.gz); None for the bundled conversation.
        out: A folder, which gets a log named after data and time, or the log file itself (`.jsonl`).
        mixtures: As `mixtures_of` reads them.
        conversations, limit: As `replays.journal_of` reads them; of the bundled conversation `limit` alone.
        seed: Of the bootstrap; nothing else is random.
        embedder: What meaning is read with; None for words alone.
        model: Whom strategies ask; None for rules alone.

    Raises:
        Invalid: the file is none that we know, a name is not known, there is nothing to ask, or the log exists.
    """
    chosen = mixtures_of(mixtures)
    if path is not None:
        journal = journal_of(load(path), conversations, limit)
    elif conversations:
        raise Invalid("conversations", "the bundled journal is one", "Name a file, or leave them out.")
    else:
        journal = bundled_journal(limit)
    if not journal.questions:
        raise Invalid("path", f"{journal.name} has no question with evidence", "Name a file that has some.")
    log_path = log_at(out, "strategies")
    with Log(log_path) as log, tempfile.TemporaryDirectory(prefix="mnemic-strategies-") as folder:
        log.header(
            bench="strategies",
            seed=seed,
            data={"name": journal.name, "sha256": journal.sha256, "messages": journal.size,
                  "users": list(journal.messages), "questions": len(journal.questions)},
            effective={"mixtures": [mixture.name for mixture in chosen], "budgets": BUDGETS, "depth": DEPTH,
                       "embedder": None if embedder is None else embedder.name,
                       "model": None if model is None else model.name},
        )  # fmt: skip
        replay = _Replay(journal, log, progress)
        with closing(ReplayedMemory(Path(folder) / "journal.db", embedder=embedder)) as memory:
            replay.by_the_house(memory)
            # Copies are of a memory that nobody asks any more: some strategies read how often items were recalled.
            with closing(memory.copied(Path(folder) / "asked.db", (), None)) as asked:
                for n, mixture in enumerate(chosen):
                    with closing(asked.copied(Path(folder) / f"{n}.db", mixture.members, model)) as copy:
                        replay.mixed(memory, copy, mixture)
        log.end()
    return log_path


class _Replay:
    """Asks and measures memories of one journal, and logs what comes of it."""

    def __init__(self, journal: Journal, log: Log, progress: Progress) -> None:
        self._journal, self._log, self._progress = journal, log, progress
        self._asked: set[str] = set()

    def by_the_house(self, memory: ReplayedMemory) -> None:
        """Take the journal in, and ask everybody's recall, before anybody else follows."""
        memory.take_in(self._journal)
        self._log_cost(HOUSE, (), memory, memory.digest(self._progress), 0)
        self._ask(memory, HOUSE, None)

    def mixed(self, memory: ReplayedMemory, copy: ReplayedMemory, mixture: Mixture) -> None:
        """Have a mixture read a copy; ask everybody's recall there, time it beside the one without, ask its own."""
        digested = copy.digest(self._progress, mixture.name)
        self._ask(copy, mixture.name, None, deep=False)
        self._time(memory, copy, mixture.name)
        own = [member for member in mixture.members if member.name not in self._asked]
        for strategy in own:
            self._ask(copy, mixture.name, strategy.name)
        self._asked |= {member.name for member in own}
        self._log_cost(mixture.name, mixture.members, copy, digested, 2 * len(own) * len(self._journal.questions))

    def _ask(self, memory: ReplayedMemory, mixture: str, by: str | None, *, deep: bool = True) -> None:
        """Ask every question; with `deep`, once more for as many as fit the largest budget."""
        name = f"{mixture}: {by or 'the house'} asked"
        for n, question in enumerate(self._journal.questions, 1):
            began = time.thread_time()
            ranked = list(memory.recalled(question, by=by).items)
            took = (time.thread_time() - began) * 1000
            if deep:
                first = {hit.id for hit in ranked}
                ranked += [hit for hit in memory.recalled(question, DEPTH, by).items if hit.id not in first]
            kept = ranked[: max(SHOWN, fitting((hit.tokens for hit in ranked), max(BUDGETS)))]
            self._log.add(
                "shown", mixture=mixture, by=by or HOUSE, user=question.user, question=question.id,
                category=question.category, gold=question.gold, milliseconds=round(took, 4),
                turns=[memory.turns_of(question.user, hit) for hit in kept], tokens=[hit.tokens for hit in kept],
            )  # fmt: skip
            self._progress(name, n, len(self._journal.questions))

    def _time(self, memory: ReplayedMemory, copy: ReplayedMemory, mixture: str) -> None:
        """Time everybody's recall without and with a mixture, in turns, so that a busy machine weighs on both alike."""
        questions = self._journal.questions
        timed = questions[:: -(-len(questions) // TIMED)]
        for n, question in enumerate(timed):
            quickest = {memory: float("inf"), copy: float("inf")}
            for pair in range(n, n + ROUNDS):
                for memory_asked in (memory, copy) if pair % 2 else (copy, memory):
                    quickest[memory_asked] = min(quickest[memory_asked], memory_asked.took(question))
            self._log.add(
                "latency", mixture=mixture, user=question.user, question=question.id,
                without=round(quickest[memory], 4), beside=round(quickest[copy], 4),
            )  # fmt: skip
            self._progress(f"{mixture}: timed", n + 1, len(timed))

    def _log_cost(
        self, name: str, members: Sequence[Strategy], memory: ReplayedMemory, digested: Digested, recalls: int
    ) -> None:
        users = list(self._journal.messages)
        self._log.add(
            "digested", mixture=name, messages=self._journal.size, recalls=recalls, unread=digested.unread,
            cpu_seconds=round(digested.cpu_seconds, 4), seconds=round(digested.seconds, 4), bytes=digested.bytes,
            judged=digested.judged, spendings=[asdict(each) for each in memory.spendings()],
            derived={each.name: memory.derived(each, users) for each in members},
        )  # fmt: skip
