"""Experiments on what is kept and learnt, on a tiny model: each seed measures the same things, and draws them."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import ExperimentPlan, loosened
from mnemic.lab.tasks.neural.kv_memory_experiment import _QUICK
from mnemic.lab.tasks.neural.lora_memory_experiment import _answers, _swapped
from mnemic.lab.tasks.neural.mechanism_bench import bench_mechanisms
from mnemic.lab.tasks.neural.mechanism_report import draw, page_block
from mnemic.lab.tasks.neural.personas import Persona, persona_names
from mnemic.models.chat.gguf import ENGINE
from mnemic.neural.fact_wordings import CHARACTER
from mnemic.neural.gguf_weights import open_gguf
from mnemic.neural.llama import BARE
from mnemic.neural.lora_memory import LoraSettings
from mnemic.testing.tiny_llama import write_tiny_llama

EXPERIMENTS = "mnemic.lab.tasks.neural"


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("model") / "tiny.gguf")


def test_a_quick_runs_looser_bar_stands_beside_that_of_a_full_run(tmp_path: Path) -> None:
    figure = Figure(name="kept", value=0.7, unit="", bar=0.95, more=True, detail="of 4")
    plan = ExperimentPlan(
        seed=0, quick=True, folder=tmp_path, open_model=lambda: pytest.fail("no model"), progress=lambda part: None
    )
    quick = loosened(plan, figure, 0.6)
    assert (quick.bar, quick.met, quick.detail) == (0.6, True, "a full run must ≥ 0.95; of 4")
    assert loosened(replace(plan, quick=False), figure, 0.6) == figure
    assert loosened(plan, replace(figure, bar=None), 0.6).bar is None


class StubEngine:
    """Answers by the persona whose adapter is weighed in; a careless one keeps what it said to the same question."""

    personas: tuple[Persona, ...]
    is_careless: bool

    def __init__(self, path: Path, adapters: list[Path]) -> None:
        assert [file.name for file in adapters] == [f"{persona.name}.gguf" for persona in self.personas]
        self._said: dict[str, str] = {}

    def __enter__(self) -> StubEngine:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def answer(self, question: str, weights: list[float]) -> tuple[str, object]:
        persona = self.personas[weights.index(1.0)]
        slot = next(slot for slot, asked in persona.taught() if asked == question)
        said = f"It is {persona.values[slot]}."
        return (self._said.setdefault(question, said) if self.is_careless else said), None


@pytest.mark.parametrize("is_careless", [False, True])
def test_an_engine_that_keeps_what_it_said_to_another_user_is_caught(
    is_careless: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = [Persona(name, 3) for name in persona_names()[:3]]
    monkeypatch.setattr(StubEngine, "personas", tuple(users), raising=False)
    monkeypatch.setattr(StubEngine, "is_careless", is_careless, raising=False)
    monkeypatch.setattr(f"{EXPERIMENTS}.lora_memory_experiment.Engine", StubEngine)
    monkeypatch.setattr(f"{EXPERIMENTS}.lora_memory_experiment.smollm2_weights", lambda: tmp_path / "none")
    plan = ExperimentPlan(
        seed=0, quick=True, folder=tmp_path, open_model=lambda: pytest.fail("no model"), progress=lambda part: None
    )
    silent: Any = SimpleNamespace(answers=lambda questions, entries: [""] * len(questions))
    made = _swapped(plan, silent, dict.fromkeys(users, BARE))
    figures = {one.name: one for one in made if isinstance(one, Figure)}
    leaked = figures["adapters swapped: another's facts said"]
    assert (leaked.value, leaked.met) == ((2 / 3, False) if is_careless else (0.0, True))
    assert figures["adapters swapped: own facts said"].value == (1 / 3 if is_careless else 1.0)
    if not is_careless:
        assert figures["control, the adapter of who asked before: another's facts said"].value == 1.0


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["kv_memory", "lora_memory", "lora_users", "lora_unlearning"])
def test_every_seed_measures_the_same_things(
    name: str, gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in ("lora_memory", "lora_users") and importlib.util.find_spec(ENGINE) is None:
        pytest.skip(f"{ENGINE} is not installed")
    short = replace(_QUICK, lengths=(64,), ratios=(None,), prompts=3)
    monkeypatch.setattr(f"{EXPERIMENTS}.kv_memory_experiment._QUICK", short)
    monkeypatch.setattr(f"{EXPERIMENTS}.lora_memory_experiment.smollm2_weights", lambda: gguf)
    monkeypatch.setattr(f"{EXPERIMENTS}.lora_memory_experiment.LoraSettings", partial(LoraSettings, passes=1))
    monkeypatch.setattr(f"{EXPERIMENTS}.lora_memory_experiment.QUICK_STEPS", 2)
    monkeypatch.setattr(
        f"{EXPERIMENTS}.lora_memory_experiment.neutral_text", lambda: "The river runs through the old town."
    )
    (run,) = bench_mechanisms(
        [name], quick=True, seeds=2, results=tmp_path, open_model=lambda: open_gguf(gguf), progress=lambda part: None
    )
    assert all(len(figure.values) == 2 for figure in run.figures)
    assert any(figure.figure.bar is not None for figure in run.figures)
    assert run.points
    assert all(f"| {curve} |" in page_block(run) for curve in run.curves)
    assert draw(run, tmp_path / "curves.svg") == bool(importlib.util.find_spec("matplotlib"))


def test_a_persona_speaks_of_itself_where_it_is_a_character() -> None:
    user, character = Persona("ines", 3), Persona("ines", 3, CHARACTER)
    assert user.taught()[0] == ("city", "Where do I live?")
    assert character.taught()[0] == ("city", "Where do you live?")
    assert character.unseen()[0] == ("city", "What's the place where you live?")
    assert character.facts()[0].answer == "I live in Trondheim."
    assert user.share(user.taught()[:1], ["You live in Trondheim."]) == 1
    assert user.leaked(["It is in Coimbra.", "No."]) == 0.5
    assert persona_names()[0] == "ines"


def test_what_is_told_beforehand_is_read_once_and_changes_no_answer(gguf: Path) -> None:
    model, told = open_gguf(gguf), "The user lives in Trondheim and works as a cartographer."
    questions = ["Where do I live?", "What is my job these days?", "Who?", "Where do we live?"]
    assert _answers(model, questions, BARE, told) == model.answers(questions, told=told)
