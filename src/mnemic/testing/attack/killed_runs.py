"""Attacks by `kill -9` amid a strategy's runs: nothing is lost or done twice, no answer that was kept is paid again."""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from mnemic.derive import drive
from mnemic.models.chat.soundness import is_sound
from mnemic.store.engine.snapshot import Snapshot
from mnemic.testing.attack.erratic_chat import ErraticChat
from mnemic.testing.attack.frame import AttackReport
from mnemic.testing.attack.strategy_replay import FOLLOWED, Replay, different, journal, view
from mnemic.testing.torture import children

if TYPE_CHECKING:
    from mnemic.flow import Flow
    from mnemic.models.chat.base import Ask, Pieces, Reply
    from mnemic.testing.torture.subject import Say

QUICK = 4

_KILLS: Final = 2
"""Kills of one file; of three in a row a lane takes its run for the culprit, and halves it, which is another cut."""
_TURNS: Final = 14
_ON_CONTROL: Final = 12
_HOUR: Final = 3_600_000_000
_ASKED, _ANSWERED = _AT_MODEL = ("model:before-answer", "model:after-answer")


def attack(rounds: int, seed: int, strategies: Sequence[str] = tuple(FOLLOWED), first: int = 0) -> AttackReport:
    """Kill processes amid runs, `rounds` times, and compare what the last one leaves with what an unharmed one does."""
    kills, failures = _files(rounds, seed, strategies, first)
    asking = [name for name, strategy in FOLLOWED.items() if strategy.budget.calls]  # who is attacked may ask nobody
    with patch.object(Snapshot, "recorded", lambda *_: None):  # what was answered before is not looked up
        caught: list[str] = []
        for number in range(first, first + _ON_CONTROL):  # not every kill hits a run that has paid for something
            caught += _files(1, seed, asking, number, at_model=1.0)[1]
            if caught and number >= first + rounds:
                break
    return AttackReport(tries=kills, failures=failures, caught_by_control=len(caught))


def _files(
    rounds: int, seed: int, strategies: Sequence[str], first: int, at_model: float = 0.4
) -> tuple[int, list[str]]:
    """Harm one file after another; how many kills hit, and what was wrong.

    Args:
        at_model: The share of kills before or after an answer of the model; all where what counts is who pays twice.
    """
    kills, number, failures = 0, first, list[str]()
    while kills < rounds and number < first + 10 * rounds:
        name = strategies[number % len(strategies)]
        hit, wrong = _harmed(name, seed * 1_000_003 + number, at_model)
        failures += [f"{name}, seed {seed}, file {number}: {problem}" for problem in wrong]
        kills, number = kills + hit, number + 1
    return kills, failures


@dataclass
class _Life:
    """What a process told before it ended.

    Attributes:
        kept: The sound answers that were recorded, by their question; one as often as it was paid for and kept.
        passes: How often each place at which a process may die was passed.
        view: What strategies had made when it ended by itself.
    """

    kept: Counter[str] = field(default_factory=Counter)
    passes: Counter[str] = field(default_factory=Counter)
    view: list[str] = field(default_factory=list)
    killed: bool = False


def _harmed(name: str, seed: int, at_model: float) -> tuple[int, list[str]]:
    """Kill the processes that digest one journal, let the last one finish, and compare it with one unharmed."""
    chance = random.Random(seed + 1)
    with children.folder() as folder:
        unharmed = _lived(partial(_live, name, seed, folder / "unharmed.db", 0, ("", 0)))
        places, asked = list(unharmed.passes.elements()), unharmed.passes[_ASKED] > 0
        lives: list[_Life] = []
        for life in range(_KILLS):
            place = chance.choice(_AT_MODEL) if asked and chance.random() < at_model else chance.choice(places)
            passes = chance.randint(1, max(1, unharmed.passes[place] // (life + 1)))
            lives.append(_lived(partial(_live, name, seed, folder / "harmed.db", life, (place, passes))))
        lives.append(_lived(partial(_live, name, seed, folder / "harmed.db", _KILLS, ("", 0))))
    wrong = list(different(unharmed.view, lives[-1].view))[:6]
    kept = sum((life.kept for life in lives), Counter[str]())
    wrong += [
        f"an answer was paid for {n - unharmed.kept[q]} times too often" for q, n in (kept - unharmed.kept).items()
    ]
    return sum(life.killed for life in lives), wrong


def _lived(work: Any) -> _Life:
    """Run a process to its end, whatever that is, and read what it told."""
    child, life = children.fork(work), _Life()
    for line in child.lines():
        what, _, how_often = line.partition(" ")
        if what == "kept":
            life.kept[how_often] += 1
        elif what == "passed":
            life.passes[how_often] += 1
        else:
            life.view.append(json.loads(how_often))
    status = child.status()
    life.killed = status == -signal.SIGKILL
    if status and not life.killed:
        life.view.append(f"a process ended with {status}")
    return life


class _Places:
    """Tells of each place that it passes, once it is armed, and dies at one of them."""

    def __init__(self, say: Say, dies_at: tuple[str, int]) -> None:
        self._say, self._place, self._left, self.armed = say, *dies_at, False

    def __call__(self, place: str, /) -> None:
        if not self.armed:
            return
        self._say(f"passed {place}")
        if place == self._place:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class _MortalChat:
    """A model in a process that may die before it answers, or when it has."""

    chat: ErraticChat
    pass_by: _Places

    def __post_init__(self) -> None:
        self.name = self.chat.name

    def stream(self, ask: Ask) -> Pieces:
        self.pass_by(_ASKED)
        reply = yield from self.chat.stream(ask)
        self.pass_by(_ANSWERED)
        return reply


def _live(name: str, seed: int, path: Path, life: int, dies_at: tuple[str, int], say: Say) -> None:
    """Be a process: say the journal if it is the first, digest all of it, and tell what came of it."""
    places = _Places(say, dies_at)
    chat = _MortalChat(ErraticChat(seed, 0.33 if seed % 2 else 0.0), places)
    settled = drive._Asking._settled

    def telling(self: Any, request: Ask, asked: bytes, reply: Reply) -> Flow[None]:
        yield from settled(self, request, asked, reply)
        if is_sound(request, reply):
            say(f"kept {asked.hex()}")

    with (
        patch.object(drive._Asking, "_settled", telling),
        Replay(FOLLOWED[name], chat, path, {"probe": places}) as replay,
    ):
        if life == 0:
            for number, turn in enumerate(journal(name, random.Random(seed), _TURNS)):
                replay.say(number, turn)
        replay.clock.tick((life + 1) * 24 * _HOUR)  # leases of the dead run out
        places.armed = True
        flushed = replay.memory.flush()
        places.armed = False
        for line in (*view(replay.me), *_left_over(replay, flushed)):
            say(f"view {json.dumps(line)}")


def _left_over(replay: Replay, flushed: bool) -> Iterator[str]:
    """What a flush left undone, or unsound."""
    if not flushed:
        yield "a flush left something to do"
    yield from (f"{lane.lane}: {lane.dead} dead" for lane in replay.memory.admin.behind() if lane.dead)
    yield from (f"verify: {fault.where}: {fault.problem}" for fault in replay.memory.admin.verify())
