"""The n-th I/O call fails, for every n of a life: a typed error, nothing half-written, and the next call works."""

from __future__ import annotations

import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, Final

from mnemic.testing.torture import children
from mnemic.testing.torture.report import Report
from mnemic.testing.torture.subject import ActReport, Audit, How, Life, OpenSubject, Subject, parse, subject
from mnemic.testing.vfs import Call, FailingVFS, Trouble

_ACTS: Final = 30
_PER_JOB: Final = 25
_PATIENCE: Final = 60
"""Seconds after which a life counts as hanging."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IoErrorJob:
    subject: str
    seed: int
    troubles: tuple[Trouble, ...]


@dataclass(slots=True, kw_only=True)
class Lived:
    """A life with one trouble in it.

    Attributes:
        hurt: How many calls failed.
        errors: The typed errors that reached the caller, by name.
    """

    trouble: Trouble
    hurt: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def ioerror(runs: int | None = None, seed: int = 1, *, name: str = "memory", workers: int = 2) -> Report:
    """Live one life per failing call: each kind of call, each n, once and lasting, I/O error and full disk.

    Args:
        runs: At most so many lives, drawn from all of them; None for every one.
    """
    calls = _calls(name, seed)
    every = list(_troubles(calls))
    troubles = every if runs is None or runs >= len(every) else Random(seed).sample(every, runs)
    jobs = [
        IoErrorJob(subject=name, seed=seed, troubles=tuple(troubles[i : i + _PER_JOB]))
        for i in range(0, len(troubles), _PER_JOB)
    ]
    return _report(name, seed, calls, [life for part in children.each(run, jobs, workers) for life in part])


def run(job: IoErrorJob) -> list[Lived]:
    """All lives of a job."""
    return [_lived(subject(job.subject), job.seed, trouble) for trouble in job.troubles]


def _calls(name: str, seed: int) -> dict[Call, int]:
    tortured = subject(name)
    with children.folder() as folder, FailingVFS() as vfs:
        _live(tortured, folder / "memory.db", vfs, seed, [], Lived(trouble=Trouble(call=Call.OPEN, nth=0)))
        return vfs.calls


def _troubles(calls: dict[Call, int]) -> Iterator[Trouble]:
    for call, count in calls.items():
        for nth in range(1, count + 1):
            yield Trouble(call=call, nth=nth)
            yield Trouble(call=call, nth=nth, lasting=True)
            if call in (Call.WRITE, Call.TRUNCATE):
                yield Trouble(call=call, nth=nth, lasting=True, full=True)


def _lived(tortured: Subject, seed: int, trouble: Trouble) -> Lived:
    lived = Lived(trouble=trouble)
    said: list[ActReport] = []
    with children.folder() as folder, FailingVFS(trouble) as vfs, _watched(lived.problems):
        path = folder / "memory.db"
        try:
            _live(tortured, path, vfs, seed, said, lived)
            audit: Audit = tortured.audit(path, said)
            lived.problems += audit.problems
        except Exception as error:  # noqa: BLE001 - any error that is not one of ours is what we look for
            lived.problems.append(f"{type(error).__name__} reached the caller: {error}")
        lived.hurt = vfs.hurt
    return lived


def _live(tortured: Subject, path: Path, vfs: FailingVFS, seed: int, said: list[ActReport], lived: Lived) -> None:
    store = _opened(tortured, path, vfs, lived)
    try:
        life = store.life("ada", seed, alone=True)
        for _ in range(_ACTS):
            _step(tortured, life, vfs, said, lived)
    finally:
        _close(tortured, store, vfs, lived)


def _opened(tortured: Subject, path: Path, vfs: FailingVFS, lived: Lived) -> OpenSubject:
    how = How(vfs=vfs.name)
    try:
        return tortured.open(path, how)
    except tortured.errors as error:
        lived.errors[type(error).__name__] += 1
        vfs.clear()
        return tortured.open(path, how)


def _step(tortured: Subject, life: Life, vfs: FailingVFS, said: list[ActReport], lived: Lived) -> None:
    def say(line: str) -> None:
        said.append(parse(line))

    try:
        life.step(say)
    except tortured.errors as error:
        lived.errors[type(error).__name__] += 1
        vfs.clear()
        try:
            life.step(say)
        except tortured.errors as again:
            lived.problems.append(f"the call after the fault failed too: {again!r}, first {error!r}")


def _close(tortured: Subject, store: OpenSubject, vfs: FailingVFS, lived: Lived) -> None:
    try:
        store.close()
    except tortured.errors as error:
        lived.errors[type(error).__name__] += 1
        vfs.clear()
        store.close()


@contextmanager
def _watched(problems: list[str]) -> Iterator[None]:
    """Errors that nobody catches, in threads and finalisers, and hangs become problems."""
    hooks = sys.unraisablehook, threading.excepthook

    def unraisable(lost: sys.UnraisableHookArgs) -> None:
        problems.append(f"unraisable: {lost.exc_value!r}")

    def in_thread(lost: threading.ExceptHookArgs) -> None:
        problems.append(f"in a thread: {lost.exc_value!r}")

    def hang(_: int, __: FrameType | None) -> Any:
        raise TimeoutError(f"hangs for {_PATIENCE} s")

    sys.unraisablehook, threading.excepthook = unraisable, in_thread
    alarm = signal.signal(signal.SIGALRM, hang)
    signal.alarm(_PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, alarm)
        sys.unraisablehook, threading.excepthook = hooks


def _report(name: str, seed: int, calls: dict[Call, int], lives: list[Lived]) -> Report:
    surfaced = sum((life.errors for life in lives), Counter())
    return Report(
        name="ioerror",
        subject=name,
        seed=seed,
        figures={
            "lives": len(lives),
            **{f"{call} calls in a life": count for call, count in calls.items()},
            "calls that failed": sum(life.hurt for life in lives),
            "lives where an error reached the caller": sum(bool(life.errors) for life in lives),
            "lives where none was needed": sum(bool(life.hurt and not life.errors) for life in lives),
            "errors": ", ".join(f"{error} {count}" for error, count in surfaced.most_common()) or "none",
            "bad": sum(bool(life.problems) for life in lives),
        },
        problems=[f"{life.trouble}: {problem}" for life in lives for problem in life.problems],
    )
