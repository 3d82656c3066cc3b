"""Journals to replay: messages and questions; and memories of them, copied so that others follow the copy."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic import demo
from mnemic.core.queries import Filter
from mnemic.errors import Invalid
from mnemic.ingest.message import Message
from mnemic.lab.kit.contestant import SHOWN
from mnemic.lab.kit.datasets import Dataset, message
from mnemic.lab.kit.run import Progress, silent
from mnemic.lab.kit.set_clock import EARLY, SetClock
from mnemic.memory import Memory
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.queries import Context, Recalled
    from mnemic.models.base import Embedder
    from mnemic.models.chat.base import Chat
    from mnemic.store.values.spending import Spending
    from mnemic.strategies.base import Strategy

HOUSE: Final = "house"
"""The strategy that is always followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalQuestion:
    """A question to a journal.

    Attributes:
        gold: Keys of the messages that answer it, without repeats.
        now: When it is asked; None for now.
        as_of: What was known by then is asked for; None for what is known.
    """

    user: str
    id: str
    text: str
    category: str
    gold: tuple[str, ...]
    now: datetime | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """What is taken in, by user and in order, and what is asked of it; `sha256` is of the file it was read from."""

    name: str
    sha256: str
    messages: Mapping[str, tuple[Message, ...]]
    questions: tuple[JournalQuestion, ...]

    @property
    def size(self) -> int:
        """How many messages there are."""
        return sum(map(len, self.messages.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Digested:
    """What it took until strategies had read a journal.

    Attributes:
        cpu_seconds: Of all threads of this process.
        bytes: Of the file, closed, afterwards.
        judged: How often each judged (`JudgedBy`), over all tasks.
        unread: What is left unread, and why; "" if nothing is.
    """

    cpu_seconds: float
    seconds: float
    bytes: int
    judged: Mapping[str, int]
    unread: str


def bundled_journal(limit: int | None = None) -> Journal:
    """The bundled conversation and its questions, or the first so many of them."""
    turns = demo.conversation()
    last = max(turn.said for turn in turns if turn.said)
    questions = tuple(
        JournalQuestion(
            user=demo.USER, id=question.id, text=question.text, category=question.language, gold=question.gold,
            as_of=question.as_of, now=last,
        )
        for question in demo.questions()[:limit]
    )  # fmt: skip
    digest = hashlib.sha256("\n".join(turn.text for turn in turns).encode()).hexdigest()
    return Journal(name="bundled", sha256=digest, messages={demo.USER: turns}, questions=questions)


def journal_of(dataset: Dataset, conversations: Sequence[str] = (), limit: int | None = None) -> Journal:
    """Make the journal of a benchmark file: each conversation one user, asked as of its last message.

    Args:
        conversations: Only these, by name; all when empty.
        limit: Only the first so many questions, and the conversations that they need.

    Raises:
        Invalid: there is no such conversation.
    """
    names = [corpus.ns for corpus in dataset.corpora]
    if unknown := [name for name in conversations if name not in names]:
        raise Invalid("conversations", f"{unknown[0]!r} is not one", f"There are: {', '.join(names)}.")
    asked = [
        question
        for question in dataset.questions
        if question.gold and (not conversations or question.ns in conversations)
    ][:limit]
    users = {question.ns for question in asked}
    corpora = [corpus for corpus in dataset.corpora if corpus.ns in users]
    now = {corpus.ns: max((doc.said for doc in corpus.docs if doc.said), default=None) for corpus in corpora}
    return Journal(
        name=dataset.name,
        sha256=dataset.sha256,
        messages={corpus.ns: tuple(map(message, corpus.docs)) for corpus in corpora},
        questions=tuple(
            JournalQuestion(
                user=question.ns, id=question.id, text=question.text, category=question.category, now=now[question.ns],
                gold=tuple(f"lab:{question.ns}:{doc}" for doc in question.gold),
            )
            for question in asked
        ),
    )  # fmt: skip


class ReplayedMemory:
    """A memory of a journal in a file of its own, with strategies that read it when they are told to.

    Its clock shows when the newest message so far was said, so that a run repeats.

    Args:
        followed: Besides `house`.
        turns: The key of each message by the id of its item, where the file holds them already.
        since: When its clock begins.
    """

    def __init__(
        self,
        path: Path,
        followed: Sequence[Strategy] = (),
        *,
        embedder: Embedder | None = None,
        model: Chat | None = None,
        turns: Mapping[ItemId, frozenset[str]] | None = None,
        since: datetime = EARLY,
    ) -> None:
        self._path, self._embedder, self._model = path, embedder, model
        self._followed: list[str | Strategy] = [HOUSE, *followed]
        self._turns = dict(turns or {})
        self._clock, self._newest = SetClock(since), since
        self._memory = self._opened()

    def _opened(self) -> Memory:
        return Memory(
            self._path, settings=Settings(background=False), embedder=self._embedder or "none",
            strategies=self._followed, model=self._model or "none", clock=self._clock,
        )  # fmt: skip

    def close(self) -> None:
        self._memory.close()

    def take_in(self, journal: Journal) -> None:
        """Observe the whole journal, a session at a time."""
        for user, messages in journal.messages.items():
            me = self._memory.scope(user=user)
            for _, sitting in groupby(messages, key=lambda message: message.session):
                heard = list(sitting)
                self._newest = max([self._newest, *(message.said for message in heard if message.said)])
                self._clock.put(self._newest)
                ids = me.observe(heard).ids
                self._turns |= {id: frozenset((message.key,)) for id, message in zip(ids, heard, strict=True)}

    def copied(self, path: Path, followed: Sequence[Strategy], model: Chat | None) -> ReplayedMemory:
        """Copy the file, and have others follow it there."""
        self._memory.admin.backup(path)
        return ReplayedMemory(
            path, followed, embedder=self._embedder, model=model, turns=self._turns, since=self._newest
        )

    def digest(self, progress: Progress = silent, name: str = HOUSE) -> Digested:
        """Have strategies read all that is there; then close the file and open it again."""
        began, cpu, done = time.perf_counter(), time.process_time(), 0

        def advance(lane: str, handled: int) -> None:
            nonlocal done
            done = min(done + handled, len(self._turns))
            progress(f"{name}: reading", done, len(self._turns))

        whole = self._memory.flush(progress=advance)
        took, cpu_took = time.perf_counter() - began, time.process_time() - cpu
        waits = (
            f"{behind.lane}: {behind.pending} {behind.error}".strip()
            for behind in self._memory.admin.behind()
            if behind.pending
        )
        unread, judged = "" if whole else "; ".join(waits) or "something", self._judged()
        self._memory.close()
        files = (file for file in self._path.parent.iterdir() if file.name.startswith(self._path.name))
        size = sum(file.stat().st_size for file in files)
        self._memory = self._opened()
        return Digested(cpu_seconds=cpu_took, seconds=took, bytes=size, judged=judged, unread=unread)

    def _judged(self) -> dict[str, int]:
        """How often each has judged since the file was opened."""
        counted: Counter[str] = Counter()
        for process in self._memory.admin.vitals().processes:
            for name, times in process.measured.gauges.items():
                if name.startswith("judged."):
                    counted[name.rpartition(".")[2]] += int(times)
        return dict(counted)

    def spendings(self) -> list[Spending]:
        """What models have taken, recalls included."""
        return self._memory.admin.spending()

    def derived(self, strategy: Strategy, users: Sequence[str]) -> int:
        """How many items of a strategy stand, over these users."""
        return sum(self._memory.scope(user=user).count(where=Filter(by=(strategy.by,))) for user in users)

    def recalled(self, question: JournalQuestion, k: int = SHOWN, by: str | None = None) -> Context:
        """The answer of everybody's recall, or of a strategy's own."""
        me = self._memory.scope(user=question.user)
        if question.as_of is not None:
            me = me.as_of(question.as_of)
        return me.recall(question.text, k=k, now=question.now, by=by)

    def took(self, question: JournalQuestion) -> float:
        """Milliseconds on the processor that everybody's recall takes."""
        began = time.thread_time()
        self.recalled(question)
        return (time.thread_time() - began) * 1000

    def turns_of(self, user: str, recalled: Recalled) -> list[str]:
        """Keys of the messages that an item is, or rests on down to the last."""
        return sorted(self._rests_on(user, recalled.id, recalled.item.source))

    def _rests_on(self, user: str, id: ItemId, source: Sequence[ItemId]) -> frozenset[str]:
        if id not in self._turns:
            get = self._memory.scope(user=user).get
            self._turns[id] = frozenset().union(
                *(self._rests_on(user, basis, get(basis).item.source) for basis in source)
            )
        return self._turns[id]
