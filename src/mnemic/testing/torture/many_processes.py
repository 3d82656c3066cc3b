"""Many processes on one file: writers, one that recalls, one that takes backups; nobody is turned away."""

from __future__ import annotations

import time
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from mnemic.testing.torture import children
from mnemic.testing.torture.report import Report, quantile
from mnemic.testing.torture.subject import ActReport, How, parse, subject

_STOP: Final = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterReport:
    """One writing process's reports of its acts, and the seconds that each took."""

    said: tuple[ActReport, ...]
    seconds: tuple[float, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderReport:
    """What one reading process did."""

    times: int
    problems: tuple[str, ...]


def processes(runs: int = 500, seed: int = 1, *, name: str = "memory", writers: int = 4) -> Report:
    """`writers` processes write `runs` times each to one file, while one recalls and one takes backups."""
    with children.folder() as folder:
        path = folder / "memory.db"
        subject(name).open(path, How()).close()
        with ProcessPoolExecutor(max_workers=writers + 2, mp_context=get_context("spawn")) as pool:
            recalling = pool.submit(recall, name, path)
            copying = pool.submit(back_up, name, path)
            writing = [pool.submit(write, name, path, f"w{i}", seed, runs) for i in range(writers)]
            begun = time.perf_counter()
            wrote = _finished(writing, folder / _STOP)
            seconds = time.perf_counter() - begun
            recalls, backups = _watched(recalling), _watched(copying)
        said = [act for part in wrote for act in part.said]
        audit = subject(name).audit(path, said)
    waits = [wait * 1000 for act in wrote for wait in act.seconds]
    turned_away = [recalls.problems, backups.problems, *(act.problems for act in wrote)]
    problems = [*audit.problems, *(problem for part in turned_away for problem in part)]
    asked = runs * writers
    if audit.acks != asked:
        problems.append(f"{audit.acks} of {asked} writes were acknowledged")
    return Report(
        name="processes",
        subject=name,
        seed=seed,
        figures={
            "writers": writers,
            "writes asked": asked,
            "writes acknowledged": audit.acks,
            "errors that reached a user": sum(map(len, turned_away)),
            "write ms p50": quantile(waits, 0.5),
            "write ms p99": quantile(waits, 0.99),
            "write ms max": max(waits, default=0.0),
            "writes a second": audit.acks / seconds,
            "recalls meanwhile": recalls.times,
            "backups meanwhile, all verified": backups.times,
        },
        problems=problems,
    )


def _finished(writing: list[Future[WriterReport]], stop: Path) -> list[WriterReport]:
    try:
        return [future.result() for future in writing]
    finally:
        stop.touch()


def _watched(watching: Future[ReaderReport]) -> ReaderReport:
    crash = watching.exception()
    return watching.result() if crash is None else ReaderReport(times=0, problems=(f"a watcher crashed: {crash!r}",))


def write(name: str, path: Path, who: str, seed: int, acts: int) -> WriterReport:
    """One writer."""
    tortured = subject(name)
    store = tortured.open(path, How())
    life = store.life(who, seed)
    said: list[ActReport] = []
    moments: list[float] = []
    problems: list[str] = []

    def say(line: str) -> None:
        moments.append(time.perf_counter())
        said.append(parse(line))

    for _ in range(acts):
        try:
            life.step(say)
        except tortured.errors as error:
            problems.append(f"{who}: {error!r}")
    store.close()
    waits = tuple(moments[i] - moments[i - 1] for i in range(1, len(said)) if said[i].done and not said[i - 1].done)
    return WriterReport(said=tuple(said), seconds=waits, problems=tuple(problems))


def recall(name: str, path: Path) -> ReaderReport:
    """Recall until all writers are done."""
    tortured = subject(name)
    store = tortured.open(path, How())
    times = 0
    problems = []
    while not (path.parent / _STOP).exists():
        try:
            store.recall(f"w{times % 4}")
        except tortured.errors as error:
            problems.append(f"recall: {error!r}")
        times += 1
    store.close()
    return ReaderReport(times=times, problems=tuple(problems))


def back_up(name: str, path: Path) -> ReaderReport:
    """Take backups until all writers are done, and audit each."""
    tortured = subject(name)
    store = tortured.open(path, How())
    times = 0
    problems: list[str] = []
    while not (path.parent / _STOP).exists():
        with children.folder() as folder:
            try:
                store.backup(folder / "memory.db")
            except tortured.errors as error:
                problems.append(f"backup: {error!r}")
                continue
            problems += (f"backup {times}: {problem}" for problem in tortured.audit(folder / "memory.db", ()).problems)
        times += 1
    store.close()
    return ReaderReport(times=times, problems=tuple(problems))
