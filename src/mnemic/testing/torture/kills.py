"""`kill -9` at random moments and at every named point of the engine: what was acknowledged must be there, whole."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from mnemic.testing.faults import CountingProbe, KillAt
from mnemic.testing.torture import children
from mnemic.testing.torture.report import Report, quantile
from mnemic.testing.torture.subject import (
    ActReport,
    Audit,
    How,
    Say,
    audit_line,
    parse,
    parse_audit,
    promises,
    silent,
    subject,
)  # fmt: skip

_THREADS: Final = 2
_ACTS: Final = 40
_LATEST: Final = 0.150
_EARLIEST: Final = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class KillJob:
    """Kills of one file, one after another: at named points, or after `delays` seconds."""

    subject: str
    seed: int
    delays: tuple[float, ...] = ()
    points: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Killed:
    """What one kill left.

    Attributes:
        reached: Whether the process was still alive to be killed.
        amid: The acts that were under way.
    """

    reached: bool
    audit: Audit
    point: str = ""
    amid: tuple[str, ...] = ()


def kill(
    runs: int = 300,
    seed: int = 1,
    *,
    name: str = "memory",
    workers: int = 2,
    per_file: int = 5,
    passes: int = 3,
) -> Report:
    """Kill a working process `runs` times at 5-150 ms, and at some passes of every named point.

    Args:
        per_file: Kills that one file must live through, each on top of what the last one left.
        passes: Kills at each named point, spread from its first pass to its last.
    """
    random = Random(seed)
    delays = [random.uniform(_EARLIEST, _LATEST) for _ in range(runs)]
    jobs = [
        KillJob(subject=name, seed=random.getrandbits(32), delays=tuple(delays[i : i + per_file]))
        for i in range(0, runs, per_file)
    ]
    points = _points(name, seed)
    jobs += [
        KillJob(
            subject=name,
            seed=random.getrandbits(32),
            points=tuple((point, n) for n in _spread(count, passes)),
        )
        for point, count in sorted(points.items())
    ]
    killed = [kill_made for part in children.each(run, jobs, workers) for kill_made in part]
    return _report(name, seed, killed, points)


def _spread(count: int, passes: int) -> list[int]:
    return sorted({1 + (count - 1) * i // max(1, passes - 1) for i in range(passes)})


def run(job: KillJob) -> list[Killed]:
    """All kills of one file."""
    subject(job.subject)  # imported here once, not in every child while its time to live runs out
    return list(_kills(job))


def _kills(job: KillJob) -> Iterator[Killed]:
    with children.folder() as folder:
        path = folder / "memory.db"
        said: list[ActReport] = []
        shots = [(delay, "", 0) for delay in job.delays] + [(0.0, point, n) for point, n in job.points]
        for number, (delay, point, n) in enumerate(shots):
            reached, lines = _shoot(job, path, number, delay, point, n)
            said += lines
            amid = tuple(kept.open.act for kept in promises(lines).values() if kept.open is not None)
            yield Killed(reached=reached, audit=_audit(job.subject, path, tuple(said)), point=point, amid=amid)


def _audit(name: str, path: Path, said: tuple[ActReport, ...]) -> Audit:
    return parse_audit(children.asked(lambda say: say(audit_line(subject(name).audit(path, said))))[-1])


def _shoot(job: KillJob, path: Path, number: int, delay: float, point: str, n: int) -> tuple[bool, list[ActReport]]:
    how = How(probe=KillAt(point, n)) if point else How()
    child = children.fork(
        lambda say: work(job.subject, path, how, f"{number}", job.seed, _ACTS if point else None, say)
    )
    if not point:
        time.sleep(delay)
        child.kill()
    lines = child.lines()
    return child.status() < 0, [parse(line) for line in lines]


def work(name: str, path: Path, how: How, prefix: str, seed: int, acts: int | None, say: Say) -> None:
    """Live several lives at once, each of `acts` acts or for ever."""
    with ThreadPoolExecutor(_THREADS) as threads:
        store = subject(name).open(path, how)
        lives = [store.life(f"{prefix}-{i}", seed) for i in range(_THREADS)]

        def live(i: int) -> None:
            done = 0
            while acts is None or done < acts:
                lives[i].step(say)
                done += 1

        list(threads.map(live, range(_THREADS)))
        store.close()


def _points(name: str, seed: int) -> Counter[str]:
    passed = CountingProbe()
    with children.folder() as folder:
        work(name, folder / "memory.db", How(probe=passed), "0", seed, _ACTS, silent)
    return passed.points


def _report(name: str, seed: int, killed: list[Killed], points: Counter[str]) -> Report:
    reopening = [kill_made.audit.milliseconds for kill_made in killed]
    named = [kill_made for kill_made in killed if kill_made.point]
    amid = Counter(act for kill_made in killed for act in kill_made.amid)
    return Report(
        name="kill",
        subject=name,
        seed=seed,
        figures={
            "kills": sum(kill_made.reached for kill_made in killed),
            "at random": sum(kill_made.reached for kill_made in killed if not kill_made.point),
            "at named points": sum(kill_made.reached for kill_made in named),
            "named points": len(points),
            "points not reached": ", ".join(
                sorted(points.keys() - {kill_made.point for kill_made in named if kill_made.reached})
            )
            or "none",
            "acknowledged acts checked": sum(kill_made.audit.acks for kill_made in killed),
            "acts cut short": ", ".join(f"{act} {count}" for act, count in amid.most_common()),
            "bad": sum(bool(kill_made.audit.problems) for kill_made in killed),
            "reopen ms p50": quantile(reopening, 0.5),
            "reopen ms p99": quantile(reopening, 0.99),
            "reopen ms max": max(reopening, default=0.0),
        },
        problems=[
            f"{kill_made.point or 'random'}: {problem}" for kill_made in killed for problem in kill_made.audit.problems
        ],
    )
