"""Workers in processes of their own, killed at random while others write: everything is derived, and nothing twice."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from mnemic import Memory
from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.errors import Invalid
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.settings import Settings
from mnemic.store.engine import lane_cursors
from mnemic.testing.faults import CountingProbe, KillAt, Probe
from mnemic.testing.torture import children
from mnemic.testing.torture.report import Report
from mnemic.testing.torture.subject import Say, silent

USERS: Final = ("ada", "bob")
_CITIES: Final = ("Lisbon", "Porto", "Rome", "Oslo", "Paris", "Munich", "Vienna", "Prague")
_NUMBERED: Final = re.compile(r"^From now on, call my project number (\d+) ")
_LIVES: Final = (0.02, 0.8)
_SETTINGS: Final = Settings(background=False, busy_timeout=30.0)


def workers(runs: int = 60, seed: int = 1, *, name: str = "memory", at_once: int = 2) -> Report:
    """Kill a worker `runs` times, at random moments and at every named point, with `at_once` of them at work.

    A writer in a process of its own goes on meanwhile. At the end one worker is let finish, and what was derived is
    counted: each instruction has one procedure that cites it, each passage one vector.

    Args:
        name: Only `memory` has workers.
    """
    if name != "memory":
        raise Invalid("subject", f"{name} has no workers", "Take `memory`.")
    random = Random(seed)
    points = _points()
    with children.folder() as folder:
        path = folder / "memory.db"
        children.asked(lambda say: _write(path, 0, 20, say))
        killed, reached = 0, Counter[str]()
        while killed < runs:
            writer = children.fork(partial(_write, path, killed * 10 + 100, 4))
            running = [children.fork(partial(serve, path, _deadly(random, points))) for _ in range(at_once)]
            time.sleep(random.uniform(*_LIVES))
            for child in running:
                child.kill()
                reached.update(child.lines())
                killed += child.status() < 0
            writer.lines()
            if writer.status():
                return _report(seed, killed, points, reached, ["a writer failed"])
        problems = children.asked(lambda say: finish(path, say))
    return _report(seed, killed, points, reached, [line for line in problems if line != "well"])


def _deadly(random: Random, points: Counter[str]) -> Probe:
    """A probe that kills at some pass of some point, or never."""
    if random.random() < 0.5:
        return silent
    return KillAt(random.choice(sorted(points)), random.randint(1, 3))


def opened(path: Path | str, probe: Probe = silent) -> Memory:
    return Memory(path, settings=_SETTINGS, embedder=ScriptedEmbedder(), probe=probe)


def _write(path: Path, first: int, count: int, say: Say) -> None:
    with opened(path) as memory:
        for number in range(first, first + count):
            write_one(memory, number)


def write_one(memory: Memory, number: int) -> None:
    """Have a user say an instruction and a passage with this number, under a key of its own."""
    city = _CITIES[number % len(_CITIES)]
    memory.scope(user=USERS[number % len(USERS)]).observe(
        [f"From now on, call my project number {number} by its name.", f"I went to {city} on day {number}."],
        key=f"turn:{number}",
    )


def numbers_of(text: str) -> list[int]:
    """The number in an instruction that `write_one` has said; none in anything else."""
    return [int(word) for word in _NUMBERED.findall(text)]


def serve(path: Path | str, probe: Probe, say: Say) -> None:
    with opened(path, probe) as memory:
        memory.admin.serve(threading.Event(), poll=0.01, progress=lambda lane, space, done, error: say(lane))


def finish(path: Path | str, say: Say) -> None:
    """Let one worker finish, wait for leases of the dead to run out, and count."""
    with opened(path) as memory:
        store = memory._opened.store
        with store.read() as snapshot:
            held = [lane for lane in snapshot.lanes() if lane.owner]
        for lane in held:  # the dead give nothing back: their time is up
            store.transact(lane_cursors.release, lane.space, lane.name, lane.owner)
        memory.flush()
        for problem in _problems(memory):
            say(problem)
    say("well")


def _problems(memory: Memory) -> list[str]:
    problems = [f"verify: {fault.where}: {fault.problem}" for fault in memory.admin.verify()]
    problems += [
        f"{lane.lane} has {lane.pending} left, {lane.dead} dead"
        for lane in memory.admin.behind()
        if lane.pending + lane.dead
    ]
    with memory._opened.store.read() as snapshot:
        for user in USERS:
            head = snapshot.space(1, user)
            assert head is not None
            spoken = snapshot.scan((head.id,), Filter(kinds=(Kind.TURN,)), limit=100_000)
            rules = snapshot.scan((head.id,), Filter(kinds=(Kind.PROCEDURE,)), limit=100_000)
            cited = Counter(source for _, version in rules for source in version.item.source)
            turns = {version.item.id for _, version in spoken if version.item.text.startswith("From now on")}
            problems += [f"{user}: {turn} was read {cited[turn]} times" for turn in turns if cited[turn] != 1]
            rows = [(row.ver, row.part) for row in snapshot.vectors(head.id, snapshot.embedders()[0].id)]
            missing = {ver for ver, _ in spoken} - {ver for ver, _ in rows}
            problems += [f"{user}: version {ver} has no vector" for ver in missing]
            problems += [f"{user}: {row} twice" for row, times in Counter(rows).items() if times > 1]
    return problems


def _points() -> Counter[str]:
    passed = CountingProbe()
    with children.folder() as folder:
        path = folder / "memory.db"
        with opened(path, passed) as memory:
            memory.scope(user="ada").observe(["From now on, answer in French.", "hello"], speaker="Ada")
            memory.flush()
            memory.admin.rerun("house", user="ada")
            memory.flush()
    return passed.points


def _report(seed: int, killed: int, points: Counter[str], reached: Counter[str], problems: list[str]) -> Report:
    return Report(
        name="workers",
        subject="memory",
        seed=seed,
        figures={
            "workers killed": killed,
            "named points": len(points),
            "slices that ended before": sum(reached.values()),
            "bad": len(problems),
        },
        problems=problems,
    )
