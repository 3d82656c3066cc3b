"""The collector, killed again and again while others write: whatever was acknowledged, held or pinned is there."""

from __future__ import annotations

import json
import os
import select
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from mnemic.core.ids import ItemId
from mnemic.core.items import State
from mnemic.core.queries import Filter
from mnemic.errors import Invalid
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.faults import CountingProbe, KillAt, Probe
from mnemic.testing.torture import children, engine
from mnemic.testing.torture.engine import AheadClock
from mnemic.testing.torture.life import WorkingLife
from mnemic.testing.torture.memory_subject import MemoryHands
from mnemic.testing.torture.report import Report, Value
from mnemic.testing.torture.subject import ActReport, Say, parse, silent

_USER: Final = "kept"
"""Whose items are pinned, held and collected; the writers' own are forgotten, revised and erased."""
_LIVES: Final = (0.05, 0.6)
_PATIENCE: Final = 60.0
"""Seconds that a named point is waited for."""
_DUST: Final = 12
_SETTINGS: Final = Settings(background=False, embedder="none", retention="ephemeral=0 seconds", retention_kinds="")
_KEEP: Final = "60 commits"
_SLICE: Final = 0.001
"""Seconds of a slice: short, so that a run has many."""


def collecting(runs: int = 100, seed: int = 1, *, name: str = "memory", writers: int = 2) -> Report:
    """Kill the collector `runs` times, at random moments and at every named point that it passes.

    `writers` processes write all the while, and a thread beside the collector does, which dies with it. Before every
    second pair of lives one item that went, and is not swept yet, is put under legal hold, if there is one.

    Args:
        name: Only `memory` has a collector.
    """
    if name != "memory":
        raise Invalid("subject", f"{name} has no collector", "Take `memory`.")
    random, problems, reached, held = Random(seed), list[str](), Counter[str](), 0
    with children.folder() as folder:
        points = sorted(_points(folder / "counted.db", seed).items())
        path = folder / "store" / "memory.db"
        path.parent.mkdir()
        children.asked(partial(_prepare, path, -1, 0))
        with _writers(path, folder, seed, writers, problems):
            for number in range(runs):
                watched = children.asked(partial(_prepare, path, number, random.getrandbits(32)))[0]
                held += bool(json.loads(watched)["hold"])
                point, n = _aim(random, points, number)
                reached[_shoot(path, folder, number, seed, (point, n), random.uniform(*_LIVES))] += 1
                problems_seen = children.asked(partial(_check, path, watched))
                problems += [f"{point or 'random'}: {problem}" for problem in problems_seen]
        said = [parse(line) for file in sorted(folder.glob("*.said")) for line in _lines(file)]
        problems += children.asked(partial(_finish, path, said))
    figures: dict[str, Value] = {
        "collectors killed": sum(reached.values()),
        "at named points": sum(count for point, count in reached.items() if point),
        "named points": len(points),
        "points not reached": ", ".join(sorted({point for point, _ in points} - reached.keys())) or "none",
        "writers beside them": writers + 1,
        "acknowledged acts checked": sum(act.done for act in said),
        "kills with something held": held,
        "bad": len(problems),
    }
    return Report(name="collecting", subject=name, seed=seed, figures=figures, problems=problems)


@contextmanager
def _writers(path: Path, folder: Path, seed: int, count: int, problems: list[str]) -> Iterator[None]:
    """Processes that write meanwhile; what ended badly is a problem more."""
    stop = folder / "stop"
    working = [children.fork(partial(_write, path, folder, f"w{n}", seed, stop)) for n in range(count)]
    try:
        yield
    finally:
        stop.touch()
        problems += [f"a writer ended with {status}" for writer in working if (status := _ended(writer))]


def _aim(random: Random, points: list[tuple[str, int]], number: int) -> tuple[str, int]:
    """Every second life ends at a named point, each in its turn."""
    if number % 2:
        return "", 0
    point, passes = points[number // 2 % len(points)]
    return point, random.randint(1, min(passes, 3))


def _ended(child: children.Child) -> int:
    child.lines()
    return child.status()


def _lines(file: Path) -> list[str]:
    heard = file.read_bytes()
    return heard[: heard.rfind(b"\n") + 1].decode().splitlines()


def _shoot(path: Path, folder: Path, number: int, seed: int, aim: tuple[str, int], delay: float) -> str:
    """Where the collector was killed: the point it was to reach, or "" when its time was up."""
    point, n = aim
    child = children.fork(lambda say: _collect(path, folder, number, seed, KillAt(point, n) if point else silent))
    reached, _, _ = select.select([child.pipe], [], [], _PATIENCE if point else delay)
    child.kill()
    _ended(child)
    return point if reached else ""


def _opened(path: Path, probe: Probe = silent) -> Memory:
    return Memory(SqliteStore(path, probe=probe), settings=_SETTINGS)


# Who writes


class _Hands(MemoryHands):
    """All acts but links: those of what was forgotten go with it."""

    acts = MemoryHands.acts - {"link", "write_expiring", "retire", "pack", "count", "load"}


def _life(memory: Memory, who: str, seed: int) -> WorkingLife:
    return WorkingLife(_Hands(memory._opened.store, memory, who, AheadClock()), who, seed)


def _say_to(file: Path) -> Say:
    """Lines that a kill does not take back, and of which a pipe would hold too few."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def say(line: str) -> None:
        os.write(descriptor, line.encode() + b"\n")

    return say


def _write(path: Path, folder: Path, who: str, seed: int, stop: Path, _: Say) -> None:
    say, parent = _say_to(folder / f"{who}.said"), os.getppid()
    with _opened(path) as memory:
        life = _life(memory, who, seed)
        while not stop.exists() and os.getppid() == parent:
            life.step(say)


def _collect(path: Path, folder: Path, number: int, seed: int, probe: Probe) -> None:
    """Collect for ever, a thread beside it writing."""
    memory, who = _opened(path, probe), f"t{number}"
    life, say = _life(memory, who, seed), _say_to(folder / f"{who}.said")

    def live() -> None:
        while True:
            life.step(say)

    threading.Thread(target=live, name=who, daemon=True).start()
    while True:
        memory.admin.gc(keep=_KEEP, slice_seconds=_SLICE)


def _points(path: Path, seed: int) -> Counter[str]:
    """The collector's points that one run passes, and how often; found in a child, so that this process may fork."""

    def work(say: Say) -> None:
        passed = CountingProbe()
        with _opened(path, passed) as memory:
            _sow(memory, 0)
            life = _life(memory, "w", seed)
            for _ in range(100):
                life.step(silent)
            memory.admin.gc(keep="0 commits", slice_seconds=_SLICE)
        for point, count in passed.points.items():
            if point.startswith("gc:"):
                say(f"{point} {count}")

    return Counter({point: int(count) for point, count in (line.split() for line in children.asked(work))})


# What must be there


def _sow(memory: Memory, number: int) -> None:
    """Items that the collector takes at its next run, and one that looks like them and is pinned."""
    me = memory.scope(user=_USER, session=f"s{number}")
    me.observe([f"dust {number}.{n}" for n in range(_DUST)], tags=["retain:ephemeral"])
    me.pin(me.observe(f"pinned {number}", tags=["retain:ephemeral"]).id)


def _prepare(path: Path, number: int, seed: int, say: Say) -> None:
    """Sow, and hold something that was retired; says what must be found after the next kill."""
    with _opened(path) as memory:
        with memory._opened.store.read() as snapshot:
            gone = _retired(snapshot)
        hold, item, versions = 0, "", 0
        if gone and number % 4 < 2:  # a hold stops the horizon: without one a run has more to do
            item = Random(seed).choice(gone)
            hold = memory.admin.hold(user=_USER, item=ItemId(item), reason="torture")
            with memory._opened.store.read() as snapshot:
                versions = _versions(snapshot, ItemId(item))
        _sow(memory, number)
    say(json.dumps({"number": number, "hold": hold, "item": item, "versions": versions}))


def _check(path: Path, watched: str, say: Say) -> None:
    """Say what is wrong after a kill, and lift the hold."""
    pinned = json.loads(watched)
    with _opened(path) as memory:
        for fault in memory.admin.verify():
            say(f"verify: {fault.where}: {fault.problem}")
        with memory._opened.store.read() as snapshot:
            for problem in _unpinned(snapshot, pinned["number"]):
                say(problem)
            if pinned["hold"] and (left := _versions(snapshot, ItemId(pinned["item"]))) != pinned["versions"]:
                say(f"of what is held {left} of {pinned['versions']} versions are left")
        if pinned["hold"]:
            memory.admin.release_hold(pinned["hold"])


def _finish(path: Path, said: list[ActReport], say: Say) -> None:
    """Hold the store against all that was said; then let one run finish, and do it again."""
    plain = [replace(act, seq=0) for act in said]  # what lies behind the horizon is gone from the journal
    for problem in engine.audit(path, plain).problems:
        say(problem)
    with _opened(path) as memory:
        memory.admin.gc(keep="0 commits", slice_seconds=_SLICE)
        with memory._opened.store.read() as snapshot:
            if left := len(_retired(snapshot)):
                say(f"{left} retired items are left when a run was let finish")
            dust = [text for text in _texts(snapshot) if text.startswith("dust")]
            if dust:
                say(f"{len(dust)} items are left that should have been collected")
    for problem in engine.audit(path, plain).problems:
        say(f"after a run that was let finish: {problem}")


def _space(snapshot: Snapshot) -> int:
    head = snapshot.space(snapshot.tenant(engine.TENANT) or 0, _USER)
    return 0 if head is None else head.id


def _retired(snapshot: Snapshot) -> list[str]:
    versions = snapshot.scan((_space(snapshot),), Filter(states=(State.RETIRED,)), limit=10_000)
    return [version.item.id for _, version in versions]


def _versions(snapshot: Snapshot, item: ItemId) -> int:
    return len(snapshot.history((_space(snapshot),), item))


def _texts(snapshot: Snapshot) -> list[str]:
    return [version.item.text for _, version in snapshot.scan((_space(snapshot),), limit=10_000)]


def _unpinned(snapshot: Snapshot, number: int) -> Iterator[str]:
    standing = set(_texts(snapshot))
    yield from (f"pinned {n} is gone" for n in range(number + 1) if f"pinned {n}" not in standing)
