"""What lanes record of a model's answers: only what is sound, and each for the model that gave it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import pytest

from mnemic import Memory
from mnemic.core.items import Kind
from mnemic.core.json_schema import shape, text
from mnemic.core.queries import Filter
from mnemic.errors import ModelError, OverBudget
from mnemic.flow import Flow
from mnemic.models.chat.base import Ask, ChatMessage, Reply, Size
from mnemic.models.chat.openai_chat import ChatEndpoint
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.models.chat.soundness import Unfit, fitting
from mnemic.models.patience import Patience
from mnemic.settings import Settings
from mnemic.store.sqlite.sqlite_store import MemoryStore
from mnemic.strategies.base import Budget, Derivation, Edits, Given, nothing
from mnemic.strategies.triggers import EachEvent, Trigger
from mnemic.testing.chat_server import events, serving, status
from mnemic.testing.generators import ManualClock

SECOND = 1_000_000
NOTES = Filter(kinds=(Kind.INSIGHT,))
NOTE = shape({"note": text()})
QUIET: Any = {"background": False, "embedder": "none"}


class Fitting:
    """Asks for JSON about every turn, and fails on anything else."""

    name: ClassVar[str] = "fitting"
    by: ClassVar[str] = "fitting"
    reads: ClassVar[frozenset[Kind]] = frozenset({Kind.TURN})
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(),)
    maintain: ClassVar[tuple[Trigger, ...]] = ()
    budget: ClassVar[Budget] = Budget(calls=4)
    batch: ClassVar[int] = 1
    on_maintain = nothing

    def on_write(self, given: Given) -> Flow[Edits]:
        (turn,) = given.evidence
        reply: Reply = yield Ask((ChatMessage("user", turn.text),), schema=NOTE, task="note")
        note: Any = fitting(reply.text, NOTE)
        written = Derivation(
            key=f"{self.name}:{turn.id}:0",
            kind=Kind.INSIGHT,
            text=note["note"],
            slots={"by": self.by},
            source=(turn.id,),
            said=turn.said,
        )
        return Edits(write=(written,))


class Mending(Fitting):
    """Asks once more where the first answer does not fit, and says why."""

    name = by = "mending"

    def on_write(self, given: Given) -> Flow[Edits]:
        asked = Ask((ChatMessage("user", given.evidence[0].text),), schema=NOTE, task="note")
        reply: Reply = yield asked
        try:
            fitting(reply.text, NOTE)
        except Unfit as unfit:
            reply = yield Ask((*asked.messages, ChatMessage("user", str(unfit))), schema=NOTE, task="note.mended")
            fitting(reply.text, NOTE)
        return Edits()


class Frugal(Fitting):
    """Asks twice about a turn, within a budget of tokens that holds two short answers."""

    name = by = "frugal"
    budget: ClassVar[Budget] = Budget(calls=9, tokens=700)
    refused: ClassVar[list[int]] = []
    limits: ClassVar[tuple[int, ...]] = (512, 512, 512)

    def on_write(self, given: Given) -> Flow[Edits]:
        for n in range(3):
            try:
                yield Ask((ChatMessage("user", f"{n}: {given.evidence[0].text}"),), self.limits[n])
            except OverBudget:
                self.refused.append(n)
        return Edits()


def notes(memory: Memory) -> list[str]:
    return sorted(version.item.text for version in memory.scope(user="ada").list(where=NOTES))


@pytest.mark.parametrize("bad", ["Certainly! The note is: she moved.", "{}", ""])
def test_a_bad_answer_is_asked_for_again_and_the_turn_is_not_lost(bad: str) -> None:
    model = ScriptedChat(bad or "{", '{"note": "she moved"}')
    with Memory("memory:", settings=Settings(**QUIET), strategies=[Fitting()], model=model) as memory:
        memory.scope(user="ada").observe("I moved to Lisbon.")
        with pytest.raises(Unfit):
            memory.flush()
        assert memory.flush()
        assert notes(memory) == ["she moved"]
        assert memory.admin.dead() == []
        assert len(model.asked) == 2


def test_what_is_unsound_is_the_strategy_s_to_mend() -> None:
    model = ScriptedChat("prose", '{"note": "she moved"}')
    with Memory("memory:", settings=Settings(**QUIET), strategies=[Mending()], model=model) as memory:
        memory.scope(user="ada").observe("I moved to Lisbon.")
        assert memory.flush()
        assert [len(ask.messages) for ask in model.asked] == [1, 2]


def test_a_rerun_with_another_model_asks_it_and_not_the_answers_of_the_first(tmp_path: Path) -> None:
    settings = Settings(**QUIET, keep_answers=True)
    for word in ("small", "large", "small"):
        model = ScriptedChat(f'{{"note": "{word}"}}')
        with Memory(tmp_path / "m.db", settings=settings, strategies=[Fitting()], model=model) as memory:
            me = memory.scope(user="ada")
            me.observe("I moved to Lisbon.", key="once")
            if memory.admin.lane_names() and notes(memory):
                memory.admin.rerun("fitting", user="ada")
            assert memory.flush()
            assert notes(memory) == [word]
    assert model.asked == [], "the first model's answer was kept, and is its own"


def test_a_question_that_is_refused_takes_nothing_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too long for it is refused, and what fits is asked behind it."""
    Frugal.refused.clear()
    monkeypatch.setattr(Frugal, "limits", (4_096, 64, 4_096))
    model = ScriptedChat("yes")
    with Memory("memory:", settings=Settings(**QUIET), strategies=[Frugal()], model=model) as memory:
        memory.scope(user="ada").observe("I moved to Lisbon.")
        assert memory.flush()
        assert Frugal.refused == [0, 2]
        assert [ask.limit for ask in model.asked] == [64]


def test_a_budget_counts_what_answers_took_and_not_what_they_might_have() -> None:
    Frugal.refused.clear()
    model = ScriptedChat("Short.")
    with Memory("memory:", settings=Settings(**QUIET), strategies=[Frugal()], model=model) as memory:
        memory.scope(user="ada").observe("I moved to Lisbon.")
        assert memory.flush()
    assert Frugal.refused == []
    assert len(model.asked) == 3


def test_a_model_may_be_an_object_and_a_small_one_is_asked_for_what_is_small(tmp_path: Path) -> None:
    settings = Settings(**QUIET, model="scripted:large", small_model="scripted:small")
    with Memory("memory:", settings=settings) as memory:
        answer = memory._opened.answering.language_model.answer
        question = (ChatMessage("user", "Who are you?"),)
        assert [answer(Ask(question, size=size)).text for size in (Size.SMALL, Size.LARGE)] == ["small", "large"]
    with Memory("memory:", settings=Settings(**QUIET), model=ScriptedChat("given")) as memory:
        answer = memory._opened.answering.language_model.answer
        assert [answer(Ask(question, size=size)).text for size in Size] == ["given", "given"]


def unfinished(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    handler.wfile.write(b'data: {"choices": [{"delta": {"content": "{"}, "finish_reason": null}]}\n\n')
    handler.close_connection = True


CUT = events('{"choices": [{"delta": {"content": "{"}, "finish_reason": "length"}]}')


@pytest.mark.parametrize("failing", range(8, 17))
def test_an_endpoint_that_gets_well_whenever_it_may_costs_no_evidence(failing: int) -> None:
    """While the harmless question was asked, after the last try, it got well: then the turn was blamed."""
    now, clock = [0.0], ManualClock()
    patience = Patience(lambda seconds: None, lambda: now[0])
    with serving(ScriptedChat('{"note": "she moved"}')) as server:
        model = ChatEndpoint("words-1", server.url, patience=patience)
        opened: Any = {"settings": Settings(**QUIET), "clock": clock, "strategies": [Fitting()], "model": model}
        with Memory(MemoryStore(clock=clock), **opened) as memory:
            memory.scope(user="ada").observe("I moved to Lisbon.")
            server.faults = [status(500)] * failing
            for _ in range(8):
                clock.tick(120 * SECOND)
                with suppress(ModelError):
                    memory.flush()
            assert memory.admin.dead() == []
            assert notes(memory) == ["she moved"]


@pytest.mark.parametrize(
    "fault",
    [status(500), status(429), status(429, Retry_After="3600"), status(401), unfinished, CUT, status(200, b"<html>")],
)
def test_an_endpoint_that_is_ill_for_an_hour_loses_nothing_and_the_next_call_works(
    fault: Callable[[BaseHTTPRequestHandler], None],
) -> None:
    now, clock = [0.0], ManualClock()
    patience = Patience(lambda seconds: None, lambda: now[0])
    with serving(ScriptedChat('{"note": "she moved"}')) as server:
        model = ChatEndpoint("words-1", server.url, key="sk-secret", patience=patience)
        share = {} if fault is CUT else {"hour_calls": 2, "hour_tokens": 6_000}  # what nobody answered takes none of it
        opened: Any = {
            "settings": Settings(**QUIET, **share),
            "clock": clock,
            "strategies": [Fitting()],
            "model": model,
        }
        with Memory(MemoryStore(clock=clock), **opened) as memory:
            memory.scope(user="ada").observe("I moved to Lisbon.")
            for _ in range(5):
                server.faults = [fault] * 12
                clock.tick(120 * SECOND)
                with pytest.raises(ModelError):
                    memory.flush()
            (lane,) = [one for one in memory.admin.behind() if one.lane == "fitting"]
            assert lane.pending == 1
            assert lane.error
            assert "sk-secret" not in lane.error
            assert memory.admin.dead() == []
            assert [one.text for one in memory.scope(user="ada").recall("Lisbon").items] == ["I moved to Lisbon."]
            server.faults, now[0] = [], 3_601.0
            clock.tick(120 * SECOND)
            assert memory.flush()
            assert notes(memory) == ["she moved"]
            spent = {one.task: one for one in memory.admin.spending()}
            assert (spent["note"].calls - spent["note"].failed, spent["note"].answer_tokens > 0) == (1, True)
