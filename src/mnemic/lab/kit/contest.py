"""One contestant at one task: in this process, or in one of its own that is watched and ended at its limits."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from mnemic.lab.kit.contestant import (
    SHOWN,
    AnsweringContestant,
    Contestant,
    ContextContestant,
    ContextLine,
    ElsewhereContestant,
    GivenAnswer,
    Make,
    Means,
    RankedDocs,
    ReplayingContestant,
)
from mnemic.lab.kit.log import Cost, LoggedAnswer, Placed
from mnemic.lab.kit.metrics import BUDGETS, KS, SESSION_KS
from mnemic.lab.kit.offspring import Offspring, adopt_orphans, end_with_parent
from mnemic.models.model_opening import NONE

if TYPE_CHECKING:
    from mnemic.lab.kit.datasets import BenchQuestion, Dataset

LOOK_SECONDS: Final = 0.25
"""How often processes are looked at."""

_WARMING: Final = 4
"""Documents that are enough to load what taking in and asking need."""

_END_SECONDS: Final = 5.0
"""How long a process that has said its last may take to end."""

_ASKED_TO_END: Final = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a contestant in a process of its own is ended.

    Attributes:
        silent_seconds: The longest time without an answer; making it and taking in the data are one step each.
        memory_mib: The most memory of its process and of those that it starts, wherever they go. Only Linux tells.
        disk_mib: The most that stands in its temporary folder.
    """

    silent_seconds: float = 1_800.0
    memory_mib: float = 8_192.0
    disk_mib: float = 16_384.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestJob:
    """One contestant at one task.

    Attributes:
        dataset: The data with the questions that are still to be asked.
        docs: Sessions and tokens of its documents, by `ns`.
        depth: Documents to ask for.
        answered: Ask for answers, too, of one that can answer.
    """

    task: str
    contestant: str
    make: Make
    means: Means
    dataset: Dataset
    docs: Mapping[str, Mapping[str, Placed]]
    depth: int
    answered: bool


Step: TypeAlias = LoggedAnswer | Cost | None
"""What a job brings: an answer, at last the cost, None for a sign of life."""

Take: TypeAlias = Callable[[ContestJob, Step], None]
"""Takes what a job brings."""


def compete(job: ContestJob, born: float | None = None) -> Iterator[Step]:
    """Make the contestant, have it take in the data, and ask it every question.

    Args:
        born: When its process was begun, by the machine's clock; None for now.
    """
    kept = job.means.vectors_kept()
    before = time.time() if born is None else born
    with closing(job.make(job.means)) as contestant:
        started = time.time() - before
        yield None
        if replays := isinstance(contestant, ReplayingContestant):
            contestant.prepare(job.dataset.corpora)
            yield None
        began, cpu = time.perf_counter(), _cpu_seconds(contestant)
        contestant.ingest(job.dataset.corpora)
        took, cpu_took = time.perf_counter() - began, _cpu_seconds(contestant) - cpu
        yield None
        for question in job.dataset.questions:
            yield _asked(job, contestant, question)
        own = contestant.figures()
    yield Cost(
        system=job.contestant,
        messages=sum(len(corpus.docs) for corpus in job.dataset.corpora),
        start_seconds=round(started, 4),
        ingest_seconds=took,
        ingest_cpu_seconds=cpu_took,
        bytes_per_message=_plain(own.bytes_per_message),
        lag_ms=_plain(own.lag_ms),
        model_calls=float(own.model_calls),
        model_tokens=float(own.model_tokens),
        recall_calls=float(own.recall_calls),
        recall_tokens=float(own.recall_tokens),
        replayed=replays,
        vectors_made=job.means.vectors_kept() - kept,
        peak_mib=None if born is None else _with_elsewhere(peak_mib(), own.peak_elsewhere_mib),
    )


def warm_up(job: ContestJob) -> None:
    """Have the contestant of a job take in a few documents and answer a question, and forget it.

    In a process that runs several, the first would else pay for whatever all of them load. It asks no reader, who may
    want money for it.
    """
    for question in job.dataset.questions[:1]:
        asked = [corpus for corpus in job.dataset.corpora if corpus.ns == question.ns]
        few = tuple(replace(corpus, docs=corpus.docs[:_WARMING]) for corpus in asked)
        dataset = replace(job.dataset, corpora=few, questions=(question,))
        for _ in compete(replace(job, dataset=dataset, means=replace(job.means, journals=None, reader=NONE))):
            pass


def _cpu_seconds(contestant: Contestant) -> float:
    """Processor time that it has taken, in this process and elsewhere."""
    elsewhere = contestant.cpu_elsewhere_seconds if isinstance(contestant, ElsewhereContestant) else 0.0
    return time.process_time() + elsewhere


def _with_elsewhere(here: float | None, elsewhere: float | None) -> float | None:
    return here if here is None or elsewhere is None else here + elsewhere


def _asked(job: ContestJob, contestant: Contestant, question: BenchQuestion) -> LoggedAnswer:
    docs = job.docs[question.ns]
    block: tuple[ContextLine, ...] | None = None
    began, cpu = time.perf_counter(), _cpu_seconds(contestant)
    if question.of_context and isinstance(contestant, ContextContestant):
        block = contestant.context(question)
        short = _of_lines(block)
    else:
        short = contestant.rank(question, SHOWN)
    took, cpu_took = (time.perf_counter() - began) * 1000, (_cpu_seconds(contestant) - cpu) * 1000
    ranking = _checked(short, len(docs) if block is not None else SHOWN, docs)
    if job.depth > SHOWN and block is None:
        ranking = _joined(ranking, _checked(contestant.rank(question, job.depth), job.depth, docs))
    given: GivenAnswer | None = None
    if job.answered and not question.of_context and isinstance(contestant, AnsweringContestant):
        given = _checked_answer(contestant.answer(question), docs)
    depth = _depth(ranking, docs)
    return LoggedAnswer(
        system=job.contestant,
        ns=question.ns,
        question=question.id,
        category=question.category,
        origin=question.origin,
        wanted=question.answer,
        gold=question.gold,
        sessions=question.sessions,
        ranked=ranking.ids[:depth],
        scores=ranking.scores[:depth],
        tokens=_tokens(short, ranking, docs),
        milliseconds=round(took, 4),
        cpu_ms=round(cpu_took, 4),
        given=given,
        hits=short.hits,
        block=block,
        key=question.key,
        disputed="" if question.audit is None else question.audit.verdict,
    )


def _tokens(short: RankedDocs, ranking: RankedDocs, docs: Mapping[str, Placed]) -> int:
    """What the ten best cost in a prompt: as it is shown, or as the documents stand."""
    if short.hits:
        return sum(int(hit.tokens) for hit in short.hits)
    return sum(docs[doc].tokens for doc in ranking.ids[:SHOWN])


def _of_lines(block: Sequence[ContextLine]) -> RankedDocs:
    """The documents behind a context, in its order."""
    return RankedDocs(tuple(dict.fromkeys(doc for line in block for doc in line.docs)))


def _checked(ranking: RankedDocs, k: int, docs: Mapping[str, Placed]) -> RankedDocs:
    """The ranking in plain strings and numbers, as the log has it.

    Raises:
        ValueError: it breaks the protocol.
    """
    ids, scores = tuple(map(_text, ranking.ids)), tuple(map(float, ranking.scores))
    if len(ids) > k:
        raise ValueError(f"{len(ids)} documents were ranked where {k} were asked for")
    if len(set(ids)) < len(ids):
        twice = next(doc for n, doc in enumerate(ids) if doc in ids[:n])
        raise ValueError(f"{twice!r} was ranked twice")
    if strange := [doc for doc in ids if doc not in docs]:
        raise ValueError(f"{strange[0]!r} was ranked, which is no document of the question's corpus")
    if scores and len(scores) != len(ids):
        raise ValueError(f"{len(scores)} scores were given for {len(ids)} documents")
    for hit in ranking.hits:
        _of_corpus(hit.docs, docs)
    return RankedDocs(ids, scores)


def _of_corpus(ids: Sequence[str], docs: Mapping[str, Placed]) -> None:
    if strange := [doc for doc in ids if doc not in docs]:
        raise ValueError(f"{strange[0]!r} was shown or quoted, which is no document of the question's corpus")


def _checked_answer(given: GivenAnswer, docs: Mapping[str, Placed]) -> GivenAnswer:
    for quote in given.quotes:
        _of_corpus(quote.docs, docs)
    return GivenAnswer(
        short=_text(given.short),
        cited=tuple(map(_text, given.cited)),
        known=bool(given.known),
        confidence=float(given.confidence),
        text=_text(given.text),
        value=_text(given.value),
        quotes=tuple(given.quotes),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return str(value)


def _plain(figure: float | None) -> float | None:
    """A figure as a plain number: NumPy's are none that JSON has."""
    return None if figure is None else float(figure)


def _joined(short: RankedDocs, deep: RankedDocs) -> RankedDocs:
    """Append to the short ranking what only the deep one has: no contestant may gain by being asked for more."""
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


def peak_mib(process: int | None = None) -> float | None:
    """The most memory that a process has held, this one where none is named; None where nobody tells.

    Where Linux tells it is asked for its own figure: that of `getrusage` survives `exec`, and is then that of whoever
    began the process.
    """
    if sys.platform == "win32":
        return None
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{process or 'self'}/status").read_text().splitlines()
        return round(int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) / 1024, 1)
    if process is not None:
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


# In processes of their own


def compete_apart(
    jobs: Sequence[ContestJob],
    take: Take,
    fail: Callable[[ContestJob, str], None],
    *,
    limits: Limits = Limits(),
    at_once: int = 1,
    alive: Callable[[ContestJob], None] = lambda job: None,
) -> None:
    """Run each job in a process of its own, so many at once; a job that ends before its last question is said to fail.

    What a contestant leaves in its temporary folder, and every process that it began, is gone afterwards.

    Args:
        alive: Told of each job that runs, whenever it is looked at, whether or not it has brought anything.
    """
    with _leaving_in_order(), ExitStack() as left:
        waiting, running = deque(jobs), dict[Connection, _Apart]()
        while waiting or running:
            while waiting and len(running) < at_once:
                with _deaf_to_interrupts():  # until it is known whom to end
                    apart = _Apart(waiting.popleft(), limits)
                    left.callback(apart.end)
                running[apart.steps] = apart
            for ready in wait(list(running), timeout=LOOK_SECONDS):
                running[ready].receive(take)  # type: ignore[index]  # of what was waited for
            for steps, apart in list(running.items()):
                alive(apart.job)
                why = apart.over()
                if why is not None:
                    del running[steps]
                    apart.end()
                    if why:
                        fail(apart.job, why)


@contextmanager
def _leaving_in_order() -> Iterator[None]:
    """Make of a signal that asks this process to end an exit, so that contestants are ended on the way out."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return
    unhandled = [number for number in _ASKED_TO_END if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in unhandled:
            signal.signal(number, _leave)
        yield
    finally:
        for number in unhandled:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Have what is begun meanwhile be deaf to interrupts, which a terminal sends to all: whoever began it ends it.

    It would die with a traceback of its own. One that comes meanwhile is heard here afterwards: a thread
    without that mask, as NumPy has some, would take it for the main one at once, so the handler waits as well.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # beginning it hears interrupts again, amid the first start of a process
    came: list[int] = []
    heard_by = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread() and heard_by is not None
    if main:
        signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if main:
            signal.signal(signal.SIGINT, heard_by)
        if came:
            signal.raise_signal(signal.SIGINT)


def _leave(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


class _Apart:
    """A job in a process of its own."""

    def __init__(self, job: ContestJob, limits: Limits) -> None:
        self.job, self._limits = job, limits
        self._folder = tempfile.TemporaryDirectory(prefix="mnemic-lab-", ignore_cleanup_errors=True)
        self._errors = Path(self._folder.name) / "errors.txt"
        context = multiprocessing.get_context("spawn")
        self.steps, theirs = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_competing, args=(job, theirs, self._folder.name, time.time())
        )  # no daemon: those may begin no processes, and a contestant may
        self._process.start()
        self._offspring = Offspring(self._process.pid or 0, self._folder.name)
        theirs.close()
        self._heard = self._looked = time.monotonic()
        self._closed = self._done = self._ended = False

    def receive(self, take: Take) -> None:
        """Take what it has brought."""
        try:
            step: Step = self.steps.recv()
        except (EOFError, OSError):  # closed, or reset by an end in the middle of a step
            self._closed = True
            return
        self._heard = time.monotonic()
        self._done = isinstance(step, Cost)
        if step is not None:
            take(self.job, step)

    def over(self) -> str | None:
        """Why it is over: "" for having done all; None for going on."""
        if self._done:
            return ""
        if not self._closed and not self._process.is_alive() and not self.steps.poll():
            self._closed = True  # a process that it began may hold its end of the pipe open
        if self._closed:
            self._process.join(timeout=_END_SECONDS)
            return f"crashed: {self._last_words()}"
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:  # looking takes time from those who are timed
            return None
        self._looked, silent = now, now - self._heard
        if silent > self._limits.silent_seconds:
            return f"hung: nothing came for {silent:,.0f} s"
        held = self._offspring.held_mib()
        if held > self._limits.memory_mib:
            return f"took too much memory: {held:,.0f} MiB, of {self._limits.memory_mib:,.0f} that it may"
        size = size_mib(Path(self._folder.name))
        if size > self._limits.disk_mib:
            return f"filled the disk: {size:,.0f} MiB, of {self._limits.disk_mib:,.0f} that it may"
        return None

    def end(self) -> None:
        """End its process and those that it began, and drop its folder; once is enough."""
        if self._ended:
            return
        self._ended = True
        self.steps.close()
        if self._done:
            self._process.join(timeout=_END_SECONDS)
        self._offspring.end()
        self._process.kill()
        self._process.join()
        self._folder.cleanup()

    def _last_words(self) -> str:
        """The last line that it wrote before it ended, such as an error; else how it ended."""
        told = self._errors.read_text("utf-8", "replace").split("\n") if self._errors.exists() else []
        last = next((line.strip() for line in reversed(told) if line.strip()), "")
        code = self._process.exitcode
        ended = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return f"{last} ({ended})" if last else ended


def _competing(job: ContestJob, steps: Connection, folder: str, born: float) -> None:
    """Run a job where it is alone; what it brings goes to whoever began it."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # so that all that it begins can be ended with it
    adopt_orphans()
    end_with_parent(folder)
    os.environ |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)  # of whatever it begins, too
    tempfile.tempdir = folder
    with (Path(folder) / "errors.txt").open("w") as errors:
        for stream in (1, 2):  # what it prints is no part of the report that goes to the run's own output
            os.dup2(errors.fileno(), stream)
    for step in compete(job, born):
        steps.send(step)
    steps.close()


def size_mib(folder: Path) -> float:
    """What stands in a folder; whatever has gone meanwhile is passed over."""
    size = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += Path(parent, name).lstat().st_size
    return size / 2**20
