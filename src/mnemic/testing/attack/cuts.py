"""Attacks on units: however one journal is cut into runs, live or by flush, under any hash seed, it gives one view."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from unittest.mock import patch

from mnemic.derive import runs
from mnemic.errors import MnemicError
from mnemic.testing.attack.frame import AttackReport
from mnemic.testing.attack.strategy_replay import FOLLOWED, Replay, chat_of, different, journal, view

QUICK = 1

_HASH_SEEDS: Final = ("1", "2")
_ON_CONTROL: Final = 4
_CODE: Final = "from mnemic.testing.attack import cuts; cuts.serve()"


def attack(rounds: int, seed: int, strategies: Sequence[str] = tuple(FOLLOWED), first: int = 0) -> AttackReport:
    """Replay journals with random cuts, in processes of two hash seeds, and compare what comes of it with one flush."""
    failures: list[str] = []
    numbers = range(first, first + rounds)
    with ExitStack() as stack:
        children = [stack.enter_context(_child(hash_seed)) for hash_seed in _HASH_SEEDS]
        for number in numbers:
            for place, name in enumerate(strategies):
                round_seed = seed * 1_000_003 + number
                child = children[(number + place) % len(children)]
                wrong = list(different(replayed(name, round_seed, cut=False), _replayed_by(child, name, round_seed)))
                if wrong:
                    failures.append(f"{name}, seed {seed}, round {number}: {' | '.join(wrong[:6])}")
    with patch.object(runs, "unit_of", lambda strategy, lane: None):  # a run takes what is there: its unit is the clock
        tries = [seed * 1_000_003 + number for number in numbers[:_ON_CONTROL]]
        caught = sum(
            replayed("mem0", seed_tried, cut=True) != replayed("mem0", seed_tried, cut=False) for seed_tried in tries
        )
    return AttackReport(tries=rounds * len(strategies), failures=failures, caught_by_control=caught)


def replayed(name: str, seed: int, *, cut: bool) -> list[str]:
    """Replay the journal of a seed to a strategy, with random cuts or by one flush; what it made of it.

    A run that fails ends it: no journal is one that a strategy cannot digest. No run is longer than the strategy's own,
    for which its budget is made: beyond that, rules judge what is left over.
    """
    turns = journal(name, random.Random(seed))
    chance = random.Random(seed + 1)
    strategy = FOLLOWED[name]
    with ExitStack() as stack:
        if cut:
            stack.enter_context(
                patch.object(type(strategy), "batch", min(chance.choice((1, 2, 3, 7, 64)), strategy.batch))
            )
        replay = stack.enter_context(Replay(strategy, chat_of(seed)))
        often = chance.choice((0.1, 0.4, 1.0))
        try:
            for number, turn in enumerate(turns):
                replay.say(number, turn)
                if cut and chance.random() < often:
                    _run(replay, chance)
            replay.clock.tick(86_400_000_000)  # upkeep waits for an idle hour
            assert replay.memory.flush()
        except MnemicError as error:
            return [f"{'cut' if cut else 'in one flush'}: {error!r}"]
        return [*view(replay.me), *(f"verify: {fault}" for fault in replay.memory.admin.verify())]


def _run(replay: Replay, chance: random.Random) -> None:
    """Run what is due now: as a worker does, or by a flush."""
    if chance.random() < 0.5:
        replay.memory._opened.background.serve(threading.Event(), once=True)
    else:
        assert replay.memory.flush()


@contextmanager
def _child(hash_seed: str) -> Iterator[subprocess.Popen[str]]:
    """A process with a hash seed that replays what it is told to."""
    command = ["env", f"PYTHONHASHSEED={hash_seed}", sys.executable, "-c", _CODE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        yield child
        assert child.stdin is not None
        child.stdin.close()


def _replayed_by(child: subprocess.Popen[str], name: str, seed: int) -> list[str]:
    assert child.stdin is not None
    assert child.stdout is not None
    print(json.dumps([name, seed]), file=child.stdin, flush=True)
    lines: Any = json.loads(child.stdout.readline())
    return list(map(str, lines))


def serve() -> None:
    """Be the child: replay what stdin names, with cuts, and tell what came of it on stdout."""
    for line in sys.stdin:
        name, seed = json.loads(line)
        print(json.dumps(replayed(name, seed, cut=True)), flush=True)
