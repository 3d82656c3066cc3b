"""An endpoint fails in every way that endpoints do, and each strategy keeps what was said, says why, and goes on."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from mnemic import Memory, ScopedMemory, Settings
from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.errors import ModelError
from mnemic.faces.cli.app import cli
from mnemic.models.chat.base import Ask
from mnemic.models.chat.openai_chat import ChatEndpoint
from mnemic.models.patience import Patience
from mnemic.strategies.base import Strategy
from mnemic.strategies.hippo2 import Hippo2
from mnemic.strategies.mem0 import Mem0
from mnemic.strategies.stream import Stream
from mnemic.strategies.units import TurnUnit
from mnemic.strategies.zep import Zep
from mnemic.testing.chat_server import Fault, Server, events, reply, serving, status
from mnemic.testing.generators import ManualClock

sys.path.insert(0, str(Path(__file__).parent))
from told_chat import ToldChat, terse

KEY: Final = "sk-secret-0123456789"
TURNS: Final = ("I moved from Paris to Lisbon.", "My brother Ben lives in Porto.")
STRATEGIES: Final[dict[str, Callable[[], Strategy]]] = {
    "mem0": lambda: Mem0(unit=TurnUnit()),
    "stream": lambda: Stream(unit=TurnUnit()),
    "zep": Zep,
    "hippo2": Hippo2,
}
BEGUN: Final = '{"choices": [{"delta": {"content": "{"}, "finish_reason": null}]}'


def hanging(handler: BaseHTTPRequestHandler) -> None:
    """Say nothing until whoever asked has hung up."""
    handler.connection.settimeout(5)
    handler.rfile.read(1)
    handler.close_connection = True


def reset(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.close()
    handler.close_connection = True


def broken_off(handler: BaseHTTPRequestHandler) -> None:
    events(BEGUN)(handler)
    handler.close_connection = True


SICK: Final[dict[str, tuple[Fault, str]]] = {
    "hangs": (hanging, "timed out"),
    "resets": (reset, "no answer"),
    "breaks off": (broken_off, "broke off"),
    "429": (status(429, b'{"error": {"message": "Too many requests"}}'), "429"),
    "429 for an hour": (status(429, Retry_After="3600"), "left alone"),
    "500": (status(500, b"upstream is down"), "500"),
    "no such key": (status(401, f'{{"error": {{"message": "Bad key {KEY}"}}}}'.encode()), "401"),
    "a page of a proxy": (status(200, b"<html>"), "no JSON"),
}
"""What an endpoint does that is sick, and what of that is to be seen as the cause."""


@dataclass
class World:
    """A memory whose model is an endpoint, with the clock of all."""

    server: Server
    clock: ManualClock
    memory: Memory
    me: ScopedMemory
    seconds: list[float] = field(default_factory=lambda: [0.0])

    def later(self, seconds: int) -> None:
        self.clock.tick(seconds * 1_000_000)
        self.seconds[0] += seconds

    def sicken(self, fault: Fault, calls: int = 1_000) -> None:
        self.server.faults[:] = [fault] * calls

    def heal(self) -> None:
        self.server.faults.clear()
        self.later(3_700)

    def derived(self, name: str) -> list[str]:
        return [version.item.text for version in self.me.list(where=Filter(by=(name,)), limit=500)]

    def turns(self) -> list[str]:
        return sorted(version.item.text for version in self.me.list(where=Filter(kinds=(Kind.TURN,)), limit=500))

    def sound_calls(self) -> int:
        spent = [one for one in self.memory.admin.spending() if one.task]
        return sum(one.calls - one.failed for one in spent)


@contextmanager
def world(path: Path | str, *strategies: Strategy, says: Callable[[Ask], Any] = terse) -> Iterator[World]:
    clock, seconds = ManualClock(step=1), [0.0]
    settings = Settings(background=False, embedder="none")
    patience = Patience(lambda slept: None, lambda: seconds[0])
    with serving(ToldChat(says)) as server:
        chat = ChatEndpoint("words-1", server.url, key=KEY, timeout=0.03, patience=patience)
        with Memory(path, settings=settings, clock=clock, strategies=strategies, model=chat) as memory:
            yield World(server, clock, memory, memory.scope(user="ada"), seconds)


def healthy(name: str) -> tuple[list[str], int]:
    """What is derived, and by how many calls, where nothing fails."""
    with world("memory:", STRATEGIES[name]()) as here:
        for turn in TURNS:
            here.me.observe(turn, speaker="Ada")
        assert here.memory.flush()
        return here.derived(name), here.sound_calls()


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_sick_endpoint_loses_nothing_says_why_and_costs_nothing_twice(name: str) -> None:
    wanted, calls = healthy(name)
    for fault, cause in SICK.values():
        with world("memory:", STRATEGIES[name]()) as here:
            for turn in TURNS:
                here.me.observe(turn, speaker="Ada")
            for _ in range(5):
                here.sicken(fault)
                with pytest.raises(ModelError):
                    here.memory.flush()
                here.later(120)
            (lane,) = [one for one in here.memory.admin.behind() if one.lane == name]
            assert (cause in lane.error, KEY in lane.error) == (True, False), lane.error
            assert (here.derived(name), here.turns(), here.memory.admin.dead()) == ([], sorted(TURNS), [])
            failed = sum(one.failed for one in here.memory.admin.spending())
            assert failed >= 5, "the meter does not tell that calls fail"
            here.heal()
            assert here.memory.flush()
            assert (here.derived(name), here.sound_calls()) == (wanted, calls)


@pytest.mark.parametrize("name", STRATEGIES)
def test_an_endpoint_that_fails_amid_a_run_is_asked_only_for_what_it_has_not_answered(name: str) -> None:
    wanted, calls = healthy(name)
    answered = 0

    def now_and_then(ask: Ask) -> Any:
        nonlocal answered
        answered += 1
        return terse(ask)

    with world("memory:", STRATEGIES[name](), says=now_and_then) as here:
        for turn in TURNS:
            here.me.observe(turn, speaker="Ada")
        while answered < calls:
            before = answered
            here.server.faults[:] = [one for _ in range(2) for one in (_pass_on(here), *[status(500)] * 8)]
            try:
                here.memory.flush()
            except ModelError:
                pass
            here.later(120)
            assert answered > before
        here.heal()
        assert here.memory.flush()
        assert (here.derived(name), answered) == (wanted, calls)
        assert here.memory.admin.dead() == []


def _pass_on(here: World) -> Fault:
    """No fault: the server's own answer."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        chunks = [json.dumps(chunk) for chunk in here.server.chunks(here.server.asked[-1])]
        events(*chunks, "[DONE]")(handler)

    return answer


BAD: Final[dict[str, Callable[[Ask], Any]]] = {
    "prose": lambda ask: "I'm sorry, I can't help with that.",
    "another language": lambda ask: "根据您的要求，没有任何内容可以提取。",
    "cut off": lambda ask: json.dumps(terse(ask)) + " " * 4 * ask.limit,
    "three times too long": lambda ask: json.dumps({"reasoning": "x" * 3 * ask.limit, "facts": [], "triples": []}),
    "another schema": lambda ask: json.dumps({"result": terse(ask)}),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_bad_answers_are_judged_by_rules_and_counted_and_the_next_sound_one_counts(name: str) -> None:
    for bad in BAD.values():
        ill = True
        with world("memory:", STRATEGIES[name](), says=lambda ask: bad(ask) if ill else terse(ask)) as here:
            here.me.observe(TURNS[0], speaker="Ada")
            assert here.memory.flush()
            judged = _judged(here.memory)
            assert judged, "nothing was judged"
            assert set(judged) == {"rules"}
            assert (here.turns(), here.memory.admin.dead()) == ([TURNS[0]], [])
            ill = False
            here.me.observe(TURNS[1], speaker="Ada")
            assert here.memory.flush()
            assert _judged(here.memory)["answer"] > 0


def _judged(memory: Memory) -> dict[str, float]:
    gauges = memory._opened.answering.meters.measured().gauges
    by: dict[str, float] = {}
    for gauge, count in gauges.items():
        if gauge.startswith("judged."):
            by[gauge.rpartition(".")[2]] = by.get(gauge.rpartition(".")[2], 0) + count
    return by
