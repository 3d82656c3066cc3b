"""An endpoint fails in every way that endpoints do, and each strategy keeps what was said, says why, and goes on."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
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
from mnemic.lab.kit.scripted_readers import terse
from mnemic.lab.tasks.model_bench import FOLLOWED
from mnemic.long_reading import LongReading
from mnemic.models.chat.base import Ask, Pieces
from mnemic.models.chat.openai_chat import ChatEndpoint
from mnemic.models.patience import Patience
from mnemic.operations.store_records import stated_cost
from mnemic.registry import STRATEGIES as REGISTERED
from mnemic.strategies.base import Strategy
from mnemic.strategies.hippo2 import Hippo2
from mnemic.strategies.loading import strategies
from mnemic.strategies.mem0 import Mem0
from mnemic.strategies.memoryos import MemoryOS
from mnemic.strategies.reflexion import Reflexion
from mnemic.strategies.reme import ReMe
from mnemic.strategies.stream import Stream
from mnemic.strategies.units import TurnUnit
from mnemic.strategies.zep import Zep
from mnemic.testing.chat_server import Fault, Server, events, serving, status
from mnemic.testing.generators import ManualClock
from patience import PATIENCE

sys.path.insert(0, str(Path(__file__).parent))
from told_chat import Says, ToldChat

KEY: Final = "sk-secret-0123456789"
TURNS: Final = ("I moved from Paris to Lisbon.", "My brother Ben lives in Porto.")
TRIES: Final = (
    "Task: Find Ada.\n> go to Lisbon\nNothing happens.\nOutcome: failure",
    "Task: Find Ben.\n> go to Porto\nNobody is there.\nOutcome: failure",
)
OF_TURNS: Final[dict[str, Callable[[], Strategy]]] = {
    "mem0": lambda: Mem0(unit=TurnUnit()),
    "stream": lambda: Stream(unit=TurnUnit()),
    "memoryos": lambda: MemoryOS(unit=TurnUnit(), hot=2.0),
    "zep": Zep,
    "hippo2": Hippo2,
}
OF_TRIES: Final[dict[str, Callable[[], Strategy]]] = {"reflexion": Reflexion, "reme": ReMe}
"""Of those that learn of tries, the two that ask at a single one."""
STRATEGIES: Final = {**OF_TURNS, **OF_TRIES}
BEGUN: Final = '{"choices": [{"delta": {"content": "{"}, "finish_reason": null}]}'


def hanging(handler: BaseHTTPRequestHandler) -> None:
    """Say nothing until whoever asked has hung up."""
    handler.connection.settimeout(PATIENCE)
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


class Relay:
    """An endpoint that is waited for briefly where it will hang, so that no test waits; else as slow machines need."""

    def __init__(self, server: Server, patience: Patience) -> None:
        self._server = server
        self._patient = ChatEndpoint("words-1", server.url, key=KEY, timeout=PATIENCE, patience=patience)
        self._hasty = ChatEndpoint("words-1", server.url, key=KEY, timeout=0.02, patience=patience)
        self.name = self._patient.name

    def stream(self, ask: Ask) -> Pieces:
        hangs = hanging in self._server.faults[:1]
        return (self._hasty if hangs else self._patient).stream(ask)


@dataclass
class World:
    """A memory whose model is an endpoint, with the clock of both."""

    server: Server
    clock: ManualClock
    chat: Relay
    memory: Memory
    me: ScopedMemory
    seconds: list[float]

    def later(self, seconds: int) -> None:
        self.clock.tick(seconds * 1_000_000)
        self.seconds[0] += seconds

    def sicken(self, fault: Fault) -> None:
        self.server.faults[:] = [fault] * 100

    def heal(self) -> None:
        self.server.faults.clear()
        self.later(3_700)

    def derived(self, name: str) -> list[str]:
        return sorted(version.item.text for version in self.me.list(where=Filter(by=(name,)), limit=500))

    def turns(self) -> list[str]:
        return sorted(version.item.text for version in self.me.list(where=Filter(kinds=(Kind.TURN,)), limit=500))

    def dead(self) -> int:
        return len(self.memory.admin.dead())

    def sound_calls(self) -> int:
        return sum(one.calls - one.failed - one.unsound for one in self.memory.admin.spending() if one.task)


@contextmanager
def world(*strategies: Strategy, says: Says = terse, path: Path | str = "memory:") -> Iterator[World]:
    clock, seconds = ManualClock(step=1), [0.0]
    settings = Settings(background=False, embedder="none")
    with serving(ToldChat(says)) as server:
        chat = Relay(server, Patience(lambda slept: None, lambda: seconds[0]))
        with Memory(path, settings=settings, clock=clock, strategies=strategies, model=chat) as memory:
            yield World(server, clock, chat, memory, memory.scope(user="ada"), seconds)


def texts_for(name: str) -> tuple[str, str]:
    """What a strategy is told that has it ask a model at each."""
    return TRIES if name in OF_TRIES else TURNS


def healthy(name: str) -> tuple[list[str], int]:
    """What is derived, and by how many calls, where nothing fails."""
    with world(STRATEGIES[name]()) as here:
        for turn in texts_for(name):
            here.me.observe(turn, speaker="Ada")
        assert here.memory.flush()
        return here.derived(name), here.sound_calls()


def test_every_strategy_that_asks_a_model_is_among_them() -> None:
    costs = {name: stated_cost(strategies((name,))[0]) for name in REGISTERED}
    asking = {name for name, cost in costs.items() if cost is not None and cost[0] > 0}  # of what is said; not of tries
    assert set(OF_TURNS) == set(FOLLOWED) == asking


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_sick_endpoint_loses_nothing_says_why_and_costs_nothing_twice(name: str) -> None:
    wanted, calls = healthy(name)
    for fault, cause in SICK.values():
        with world(STRATEGIES[name]()) as here:
            for turn in texts_for(name):
                here.me.observe(turn, speaker="Ada")
            for _ in range(5):
                here.sicken(fault)
                with pytest.raises(ModelError):
                    here.memory.flush()
                here.later(120)
            (lane,) = [one for one in here.memory.admin.behind() if one.lane == name]
            assert (cause in lane.error, KEY in lane.error) == (True, False), lane.error
            assert (here.derived(name), here.turns(), here.dead()) == ([], sorted(texts_for(name)), 0)
            (why,) = [note for note in here.me.recall("Lisbon", by=name).notes if "derived nothing" in note]
            assert ("failed: " in why, cause in why, KEY in why) == (True, True, False), why
            failed = sum(one.failed for one in here.memory.admin.spending())
            assert failed >= 5, "the meter does not tell that calls fail"
            here.heal()
            assert here.memory.flush()
            assert (here.derived(name), here.sound_calls()) == (wanted, calls)


@pytest.mark.parametrize("name", STRATEGIES)
def test_an_endpoint_that_fails_amid_a_run_is_asked_only_for_what_it_has_not_answered(name: str) -> None:
    wanted, calls = healthy(name)
    with world(STRATEGIES[name]()) as here:
        for turn in texts_for(name):
            here.me.observe(turn, speaker="Ada")
        while (before := here.sound_calls()) < calls:
            here.server.faults[:] = [_own_answer(here.server), *[status(500)] * 8]
            with suppress(ModelError):
                here.memory.flush()
            here.later(120)
            assert here.sound_calls() == before + 1
        here.heal()
        assert here.memory.flush()
        assert (here.derived(name), here.sound_calls(), here.dead()) == (wanted, calls, 0)


def _own_answer(server: Server) -> Fault:
    """No fault: the server's own answer, before others."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        events(*(json.dumps(chunk) for chunk in server.chunks(server.asked[-1])), "[DONE]")(handler)

    return answer


BAD: Final[dict[str, Says]] = {
    "prose": lambda ask: "I'm sorry, I can't help with that.",
    "another language": lambda ask: "根据您的要求，没有任何内容可以提取。",
    "cut off": lambda ask: json.dumps(terse(ask)) + " " * 4 * ask.limit,
    "three times too long": lambda ask: json.dumps({"reasoning": "x" * 3 * ask.limit, "facts": [], "triples": []}),
    "another schema": lambda ask: json.dumps({"result": terse(ask)}),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_bad_answers_are_judged_by_rules_and_counted_and_the_next_sound_one_counts(name: str) -> None:
    for bad in BAD.values():
        answers = [bad]
        with world(STRATEGIES[name](), says=partial(_last_answer, answers)) as here:
            here.me.observe(texts_for(name)[0], speaker="Ada")
            assert here.memory.flush()
            judged = _judged(here.memory)
            assert judged, "nothing was judged"
            assert set(judged) == {"rules"}
            assert (here.turns(), here.dead(), here.sound_calls()) == ([texts_for(name)[0]], 0, 0)
            spent = here.memory.admin.spending()
            assert all(one.calls == one.unsound + one.failed for one in spent), "the meter takes them for sound"
            answers.append(terse)
            here.me.observe(texts_for(name)[1], speaker="Ada")
            assert here.memory.flush()
            assert _judged(here.memory)["answer"] > 0


def _last_answer(answers: list[Says], ask: Ask) -> str | dict[str, Any] | Exception:
    return answers[-1](ask)


def _judged(memory: Memory) -> dict[str, float]:
    gauges = memory._opened.answering.meters.measured().gauges
    by: dict[str, float] = {}
    for gauge, count in gauges.items():
        if gauge.startswith("judged."):
            by[gauge.rpartition(".")[2]] = by.get(gauge.rpartition(".")[2], 0) + count
    return by


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_model_that_changes_behind_its_endpoint_is_told_of_and_nothing_is_asked_twice(name: str) -> None:
    wanted, calls = healthy(name)
    with world(STRATEGIES[name]()) as here:
        for model, turn in zip(("words-1-0823", "words-2"), texts_for(name), strict=True):
            here.server.model = model
            here.me.observe(turn, speaker="Ada")
            assert here.memory.flush()
        spent = here.memory.admin.spending()
        assert {names for one in spent for names in one.answered_as} == {"words-1-0823", "words-2"}
        assert (here.derived(name), here.sound_calls()) == (wanted, calls)


def test_a_run_that_another_model_takes_up_is_that_model_s_alone() -> None:
    with world(Mem0(unit=TurnUnit())) as here:
        here.me.observe("I live in Lisbon.", speaker="Ada")
        assert here.memory.flush()
        here.me.observe("I live in Porto.", speaker="Ada")
        here.server.faults[:] = [_own_answer(here.server), *[status(500)] * 8]
        with pytest.raises(ModelError):
            here.memory.flush()
        here.heal()
        here.chat.name = "openai:words-2"
        assert here.memory.flush()
        assert here.derived("mem0") == ["I live in Lisbon.", "I live in Porto."]
        tasks = sorted(one.task for one in here.memory.admin.spending() if one.model == "openai:words-2")
        assert tasks == ["extract_items", "merge_decide"]


def read(here: World) -> LongReading:
    text = "\n".join(f"Ada: {turn}" for turn in TURNS)
    return here.me.read("Where does Ben live?", text * 20, segment=256)


def test_a_reading_goes_on_where_a_sick_endpoint_left_it_and_pays_for_no_segment_twice() -> None:
    with world() as here:
        wanted, calls = read(here).notes, here.sound_calls()
    for fault, cause in SICK.values():
        with world() as here:
            for sound in range(2):
                here.sicken(fault)
                here.server.faults[:0] = [_own_answer(here.server)] * sound
                with pytest.raises(ModelError, match=cause):
                    read(here)
                here.later(3_700)
            here.heal()
            assert (read(here).notes, here.sound_calls()) == (wanted, calls)


def test_the_cause_is_shown_where_somebody_looks_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.db"
    with world(Mem0(unit=TurnUnit()), path=path, says=BAD["prose"]) as here:
        for model, turn in zip(("words-1-0823", "words-2"), TURNS, strict=True):
            here.server.model = model
            here.me.observe(turn, speaker="Ada")
            assert here.memory.flush()
        here.me.observe("I like tea.", speaker="Ada")
        here.sicken(status(401, b'{"error": {"message": "Incorrect API key provided"}}'))
        with pytest.raises(ModelError):
            here.memory.flush()
    for name, value in {"STORE": str(path), "STRATEGIES": "mem0", "EMBEDDER": "none", "USER": "ada"}.items():
        monkeypatch.setenv(f"MNEMIC_{name}", value)
    jobs = CliRunner().invoke(cli, ["jobs"]).output
    assert "answered 401" in jobs
    stats = CliRunner().invoke(cli, ["stats", "--models"]).output
    assert "(1 failed, 6 not what was asked for)" in stats
    assert "has answered as words-1-0823, words-2" in stats
    assert "mem0 waits after a failure" in stats
    assert "Incorrect API key provided" in stats
