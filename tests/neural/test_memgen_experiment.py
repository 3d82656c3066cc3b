"""What woven memory is held against learns as it does: the same texts, steps and choice of rates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.errors import Invalid  # noqa: E402
from mnemic.lab.tasks.neural.experiment import ExperimentPlan  # noqa: E402
from mnemic.lab.tasks.neural.memgen_experiment import (  # noqa: E402
    Lessons,
    adapters_alike,
    adapters_facts,
    at_best_rate,
    constant_latents,
    numbers_of_rank_one,
)
from mnemic.neural.lora_memory import LoraMemory  # noqa: E402
from mnemic.neural.memgen import Experience, MemGen  # noqa: E402
from mnemic.neural.memgen_weaver import UNTOLD, MemGenSettings, RunTexts  # noqa: E402

SETTINGS = MemGenSettings(
    latents=3, rank=2, first=-2, batch=2, passes=3, least=8, learnt=0.0, rate=1e-2, untold=4, seed=2
)  # fmt: skip
GIVEN = [
    Experience(f"fact {n}", (f"where is {n}?", f"{n}: where?"), f"in {n}", (f"where is she, {n}?",), (f"told {n}",))
    for n in range(3)
]


def plan(*, quick: bool) -> ExperimentPlan:
    def nothing() -> Any:
        raise AssertionError("no model is opened")

    return ExperimentPlan(seed=0, quick=quick, folder=Path(), open_model=nothing, progress=lambda _: None)


def test_adapters_have_no_fewer_numbers_and_take_as_many_steps_on_the_same_texts(tiny: Any) -> None:
    memory = MemGen(tiny, SETTINGS)
    settings = adapters_alike(tiny, memory)
    numbers = settings.rank * numbers_of_rank_one(tiny, settings)
    assert 0 <= numbers - memory.size < numbers_of_rank_one(tiny, settings)
    steps = dict[str, list[tuple[int, int]]](weaver=[], adapters=[])
    memory.write(GIVEN, {}, lambda *told: steps["weaver"].append(told))
    lora = LoraMemory(tiny, settings)
    facts = adapters_facts(GIVEN, UNTOLD[: SETTINGS.untold])
    state = lora.write(facts, {}, lambda *told: steps["adapters"].append(told))
    assert sum(tensor.numel() for name, tensor in state.items() if ".lora_" in name) == numbers
    assert steps["weaver"] == steps["adapters"]
    assert steps["weaver"][-1] == (9, 9)
    taught, held_to, _ = lora._lessons(facts)
    prompts, _ = memory.beside(GIVEN)
    assert (len(taught.h), len(held_to.h)) == (6, len(prompts)) == (6, 3 + 4)
    assert adapters_facts(GIVEN[1:], ())[0].rehearsed == ()


def test_constant_latents_see_the_texts_that_the_weaver_sees_and_learn(
    tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, seen = MemGen(tiny, SETTINGS), list[list[int]]()
    rows = RunTexts.rows
    monkeypatch.setattr(RunTexts, "rows", lambda texts, chosen: (seen.append(list(chosen)), rows(texts, chosen))[1])
    memory.write(GIVEN, {})
    by_weaver, seen[:] = list(seen), []
    texts = Lessons(memory, GIVEN).taught(memory)
    latents = constant_latents(memory, texts, 0.1)
    assert seen == by_weaver
    assert latents.shape == (6, 3, tiny.decoder.shape.width)
    assert torch.equal(latents[0], latents[5])
    with torch.inference_mode():
        assert memory.weaver.losses(texts, latents).mean() < memory.weaver.losses(texts, None).mean()


def test_a_rate_is_chosen_by_the_loss_of_all_that_everybody_learns_from(tiny: Any) -> None:
    memory = MemGen(tiny, replace(SETTINGS, passes=20))
    lessons = Lessons(memory, GIVEN)
    state = memory.write(GIVEN, {})
    silent = {**state, "shard.0.offset": state["shard.0.offset"] - 1e6}
    bare = lessons.adapted_loss(LoraMemory(tiny).attach({}))
    assert lessons.woven_loss(memory, silent) == pytest.approx(bare, rel=1e-4), "the bare model, told in both ways"
    assert lessons.woven_loss(memory, state) < bare
    lora = LoraMemory(tiny, replace(adapters_alike(tiny, memory), rate=1e-2))
    learnt = lora.attach(lora.write(adapters_facts(GIVEN, ()), {}))
    assert lessons.adapted_loss(learnt) < bare


def test_everybody_tries_as_many_rates_and_keeps_the_best() -> None:
    tried = list[float]()

    def learn(rate: float) -> float:
        tried.append(rate)
        return rate

    assert at_best_rate(plan(quick=False), 0.4, learn, lambda rate: rate) == (0.2, 0.2)
    assert tried == [0.4, 0.2, 0.8]
    assert at_best_rate(plan(quick=True), 0.4, learn, lambda rate: rate) == (0.4, 0.4)


def test_a_rate_at_which_learning_diverges_is_none_of_those_chosen_from() -> None:
    def learn(rate: float) -> float:
        if rate > 1:
            raise Invalid("rate", "had a weaver diverge", "Take a smaller one.")
        return rate

    assert at_best_rate(plan(quick=False), 1.0, learn, lambda learnt: 1 - learnt) == (1.0, 1.0)
    assert at_best_rate(plan(quick=False), 1.0, learn, lambda learnt: float("nan") if learnt == 1 else learnt) == (
        0.5,
        0.5,
    )
    with pytest.raises(Invalid, match="diverges"):
        at_best_rate(plan(quick=False), 4.0, learn, lambda learnt: learnt)
