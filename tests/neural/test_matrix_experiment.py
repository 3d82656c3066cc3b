"""Ways to remember: what each is asked with, what it stores, and whether forgetting can be seen to fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic import Memory, Settings  # noqa: E402
from mnemic.lab.kit.figures import Figure  # noqa: E402
from mnemic.lab.tasks.neural.experiment import ExperimentPlan  # noqa: E402
from mnemic.lab.tasks.neural.made_up_people import made_up_facts  # noqa: E402
from mnemic.lab.tasks.neural.matrix_experiment import (  # noqa: E402
    Adapters,
    AskedTokens,
    KeptKeys,
    SparseKeys,
    TextRecall,
    WholePrompt,
    answered,
)
from mnemic.lab.tasks.neural.unfinished_run import UnfinishedRun  # noqa: E402
from mnemic.neural.llama import BARE  # noqa: E402
from mnemic.neural.lora_memory import LoraSettings  # noqa: E402

FACTS = made_up_facts(4, 0)
LORA = LoraSettings(rank=2, first=1, shards=2, batch=2, others=1, sentences=1, passes=2, least=1)


@pytest.fixture
def recall(tiny: Any, tmp_path: Path) -> Iterator[TextRecall]:
    with Memory(tmp_path / "text.db", settings=Settings(background=False)) as store:
        yield TextRecall(tiny, store, tmp_path / "text.db")


def test_what_is_stored_is_the_files_of_the_store_and_forgetting_is_looked_for_in_them(
    recall: TextRecall, tmp_path: Path
) -> None:
    recall.learn(FACTS)
    assert recall.stored() == sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) > 4096
    assert not recall.never_held(FACTS[1])
    recall.forget(FACTS[1])
    assert recall.never_held(FACTS[1])
    assert not recall.never_held(FACTS[2])


def test_sparse_keys_learn_and_forget_in_a_store_of_their_own(tiny: Any, recall: TextRecall) -> None:
    sparse = SparseKeys(tiny, recall)
    sparse.learn(FACTS[:3])
    assert not recall.never_held(FACTS[0])
    assert recall.never_held(FACTS[3])
    assert sparse.stored() > recall.stored()
    assert not sparse.never_held(FACTS[0])
    sparse.forget(FACTS[0])
    assert sparse.never_held(FACTS[0])


def test_adapters_are_routed_as_the_product_routes_them(tiny: Any, recall: TextRecall) -> None:
    adapters = Adapters(tiny, LORA, recall)
    adapters.learn(FACTS)
    assert recall.recalled("What is 9 times 6?")
    assert adapters.asked("What is 9 times 6?").entries == BARE
    assert adapters.asked(FACTS[0].taught[0]).entries.added


def test_kept_keys_are_those_of_who_never_held_the_fact_and_a_prompt_has_no_such_check(tiny: Any) -> None:
    kept, prompt = KeptKeys(tiny), WholePrompt(tiny)
    kept.learn(FACTS)
    assert not kept.never_held(FACTS[1])
    kept.forget(FACTS[1])
    assert kept.never_held(FACTS[1])
    prompt.learn(FACTS)
    prompt.forget(FACTS[1])
    assert prompt.never_held(FACTS[1]) is None


def test_what_is_read_together_is_answered_as_by_itself(tiny: Any) -> None:
    prompt, kept = WholePrompt(tiny), KeptKeys(tiny)
    prompt.learn(FACTS * 4)  # longer than what is worth being read once
    kept.learn(FACTS)
    texts = [fact.taught[0] for fact in FACTS]
    for asked in ([prompt.asked(text) for text in texts], [kept.asked(text) for text in texts],
                  [AskedTokens(tiny.prompt(("user", text))) for text in texts]):  # fmt: skip
        alone = [answered(tiny, [one], 4)[0] for one in asked]
        assert answered(tiny, asked, 4) == alone
    assert answered(tiny, [prompt.asked(texts[0])], 4) == tiny.decoder.generate(
        [prompt.asked(texts[0]).tokens], 4, frozenset({tiny.end})
    )


def test_weights_of_two_names_are_never_read_together(tiny: Any, recall: TextRecall) -> None:
    adapters = Adapters(tiny, LORA, recall)
    adapters.learn(FACTS)
    asked = [adapters.asked(fact.taught[0]) for fact in FACTS[:2]]
    asked += [replace(one, entries=BARE, weights="") for one in asked]
    assert len({one.weights for one in asked}) == 2
    assert answered(tiny, asked, 4) == [answered(tiny, [one], 4)[0] for one in asked]


def test_a_run_that_was_stopped_goes_on_behind_the_ways_that_are_measured(tiny: Any, tmp_path: Path) -> None:
    plan = ExperimentPlan(
        seed=3, quick=True, folder=tmp_path, open_model=lambda: tiny, progress=print, cache=tmp_path / "new"
    )
    figures = [Figure(name="text recall: bytes a fact", value=1 / 3, unit="kB")]
    UnfinishedRun.of(plan, Path(__file__)).keep("text recall", figures, 2.5)
    again = UnfinishedRun.of(plan, Path(__file__))
    assert again.figures("text recall") == figures
    assert again.seconds("text recall") == 2.5
    assert again.figures("adapters") is None
    assert UnfinishedRun.of(replace(plan, seed=4), Path(__file__)).figures("text recall") is None
    assert UnfinishedRun.of(replace(plan, cache=None), Path(__file__)).figures("text recall") is None
    again.end()
    assert UnfinishedRun.of(plan, Path(__file__)).figures("text recall") is None
