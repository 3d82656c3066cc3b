"""What language models take is metered by user, strategy, task and model, and priced only where a price is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from mnemic import Memory
from mnemic.core.items import Kind
from mnemic.core.prices import Price, price_of, read_prices
from mnemic.errors import Invalid, ModelError, StoreCorrupt
from mnemic.flow import Flow
from mnemic.models.chat.base import Ask, ChatMessage
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.settings import Settings
from mnemic.store.values.spending import Spending, packed_spendings, unpacked_spendings
from mnemic.strategies.base import Budget, Edits, Given, nothing
from mnemic.strategies.triggers import EachEvent, Trigger

QUIET: Any = {"background": False, "embedder": "none"}
THREE = "One two three."


class Asking:
    """Asks one thing about every turn."""

    name: ClassVar[str] = "asking"
    by: ClassVar[str] = "asking"
    reads: ClassVar[frozenset[Kind]] = frozenset({Kind.TURN})
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(),)
    maintain: ClassVar[tuple[Trigger, ...]] = ()
    budget: ClassVar[Budget] = Budget(calls=4)
    batch: ClassVar[int] = 8
    limit: ClassVar[int] = 10
    on_maintain = nothing

    def on_write(self, given: Given) -> Flow[Edits]:
        for turn in given.evidence:
            yield Ask((ChatMessage("user", turn.text),), self.limit, task="count")
        return Edits()


class CutShort(Asking):
    """Asks for less than the model has to say."""

    name = by = "cut_short"
    limit = 2


def test_calls_and_tokens_are_counted_for_each_user_and_for_all(tmp_path: Path) -> None:
    with Memory(
        tmp_path / "m.db", settings=Settings(**QUIET), strategies=[Asking()], model=ScriptedChat(THREE)
    ) as memory:
        memory.scope(user="ada").observe(["a b", "c d"])
        memory.scope(user="bob").observe("e f g")
        memory.flush()
        (one,) = memory.admin.spending(user="ada")
        assert (one.strategy, one.task, one.model) == ("asking", "count", f"scripted:{THREE}")
        assert (one.calls, one.failed, one.prompt_tokens, one.answer_tokens, one.estimated) == (2, 0, 4, 6, 0)
        (everybody,) = memory.admin.spending()
        assert (everybody.calls, everybody.prompt_tokens) == (3, 7)
        assert memory.admin.spending(user="nobody") == []
        assert memory.admin.verify() == []
    with Memory(tmp_path / "m.db", settings=Settings(**QUIET)) as memory:
        assert memory.admin.spending() == [everybody]


def test_what_was_spent_for_an_erased_user_is_still_spent_and_nobody_s() -> None:
    with Memory("memory:", settings=Settings(**QUIET), strategies=[Asking()], model=ScriptedChat(THREE)) as memory:
        memory.scope(user="ada").observe("a b")
        memory.flush()
        memory.scope(user="ada").erase_user()
        assert memory.admin.spending(user="ada") == []
        assert [one.calls for one in memory.admin.spending()] == [1]


def test_an_answer_that_is_given_again_costs_nothing() -> None:
    settings = Settings(**QUIET, keep_answers=True)
    with Memory("memory:", settings=settings, strategies=[Asking()], model=ScriptedChat(THREE)) as memory:
        memory.scope(user="ada").observe("a b")
        memory.flush()
        memory.admin.rerun("asking", user="ada")
        memory.flush()
        assert [one.calls for one in memory.admin.spending()] == [1]


def test_an_answer_that_was_cut_off_is_paid_and_counted_as_failed() -> None:
    with Memory("memory:", settings=Settings(**QUIET), strategies=[CutShort()], model=ScriptedChat(THREE)) as memory:
        memory.scope(user="ada").observe("a b")
        with pytest.raises(ModelError, match="was cut off"):
            memory.flush()
        (one, *_) = memory.admin.spending()
        assert one.failed == one.calls == 1
        assert one.answer_tokens == 2


def test_a_meter_comes_back_as_it_was() -> None:
    one = Spending(strategy="a", task="", model="m", calls=2, failed=1, prompt_tokens=9, answer_tokens=3, seconds=0.25)
    named = replace(one, model="n", unsound=1, answered_as=("n-0823", "n-0901"))
    assert unpacked_spendings(packed_spendings([one, named])) == [one, named]


def test_a_meter_from_before_unsound_answers_were_counted_is_read() -> None:
    (one,) = unpacked_spendings(b'[["a","","m",2,1,9,3,0,0.25]]')
    assert (one.calls, one.seconds, one.unsound, one.answered_as) == (2, 0.25, 0, ())
    for broken in (b'[["a"]]', b"[7]", b"7", b"[", b'[["a","","m",2,1,9,3,0,0.25,1,7]]'):
        with pytest.raises(StoreCorrupt):
            unpacked_spendings(broken)


@pytest.mark.parametrize(
    "said", ["small 0.25 2 USD; large 2.5 20 USD", "small 0.25 2 USD # as of May\n\nlarge 2.5 20 USD"]
)
def test_prices_are_read_from_a_setting_or_a_file(tmp_path: Path, said: str) -> None:
    if "\n" in said:
        path = tmp_path / "prices.txt"
        path.write_text(said)
        said = str(path)
    assert read_prices(said) == {"small": Price(0.25, 2.0, "USD"), "large": Price(2.5, 20.0, "USD")}


@pytest.mark.parametrize("said", ["no such file", "small", "small cheap 2 USD", "small -1 2 USD", "small nan 2 USD; x"])
def test_what_is_no_price_is_refused(said: str) -> None:
    with pytest.raises(Invalid, match="prices: "):
        read_prices(said)


def test_a_model_without_a_price_has_none() -> None:
    prices = read_prices("gpt-x 1 2 USD")
    assert price_of("openai:gpt-x@https://api.openai.com/v1", prices) == Price(1.0, 2.0, "USD")
    assert price_of("openai:gpt-x-mini@https://api.openai.com/v1", prices) is None
    assert price_of("scripted:gpt", prices) is None
    assert read_prices("") == {}


@pytest.fixture
def spent(tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    with Memory(path, settings=Settings(**QUIET), strategies=[Asking()], model=ScriptedChat("Yes")) as memory:
        memory.scope(user="me").observe("a b")
        memory.flush()
    return path


def cli(path: Path, *args: str, **environment: str) -> str:
    env = {**os.environ, "MNEMIC_STORE": str(path), "MNEMIC_EMBEDDER": "none", **environment}
    done = subprocess.run([sys.executable, "-m", "mnemic", *args], env=env, capture_output=True, text=True, check=True)
    return done.stdout


def test_stats_shows_what_models_took_and_what_it_cost(spent: Path) -> None:
    shown = cli(spent, "stats", "--models")
    assert "asking" in shown
    assert "all users: 1 call (0 failed), 2 tokens of prompts, 1 of answers" in shown
    assert "USD" not in shown
    priced = cli(spent, "stats", "--models", MNEMIC_PRICES="scripted:Yes 1000000 500000 USD")
    assert "2.5000 USD" in priced
    record = json.loads(cli(spent, "stats", "--models", "--json", MNEMIC_PRICES="Yes 1000000 500000 USD"))
    assert record["all_users"][0]["cost"] == 2.5
    assert json.loads(cli(spent, "stats", "--models", "--json"))["all_users"][0]["cost"] is None


def test_a_store_that_asked_nobody_says_so(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="none") as memory:
        memory.scope(user="me").observe("a")
    assert "no language model was asked yet" in cli(tmp_path / "m.db", "stats", "--models")


def test_the_profiler_and_top_tell_of_calls_and_of_no_word(tmp_path: Path) -> None:
    log = tmp_path / "p.jsonl"
    settings = Settings(**QUIET, profiler=str(log))
    with Memory(tmp_path / "m.db", settings=settings, strategies=[Asking()], model=ScriptedChat("Cello")) as memory:
        memory.scope(user="ada").observe("a zebra")
        memory.flush()
        vitals = memory.admin.vitals()
        assert [int(vitals.gauge(f"models.{name}")) for name in ("calls", "prompt_tokens", "in_flight")] == [1, 2, 0]
    (line,) = [one for one in map(json.loads, log.read_text().splitlines()) if one["verb"] == "(model)"]
    assert (line["task"], line["model"], line["prompt_tokens"], line["answer_tokens"]) == (
        "count",
        "scripted:Cello",
        2,
        1,
    )
    assert "zebra" not in log.read_text()
