"""The decoder against two oracles: logits of transformers, tokens of the engine."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.engine_oracle import Engine
from mnemic.lab.tasks.neural.experiment import ExperimentPlan
from mnemic.lab.tasks.neural.personas import neutral_text
from mnemic.models.chat.gguf import smollm2_weights

_BITS: Final = (
    "hello", "World", " 1", " 12", "  42", "\n", "\n\n", " ", "   ", "\t", "中文", "你好，世界", "日本語", "한국어",
    "😀", "👩‍👩‍👧",
    "é", "ñ", "'s", "don't", "٣", "½", "²", " 2024-05-06", "3.14", "$5", "a1b2", "<b>", "...", "—", "“q”", "\u00a0",
    "\u3000", "ﬁ", "İ", "\u200b", "०१", "x=1;", " \n ", "end ", "\r\n", "Ⅷ", "１２",
)  # fmt: skip
"""What strings are put together from: spaces before digits, other scripts' digits, letters and signs."""


def strings(count: int, seed: int) -> Iterator[str]:
    """Strings that tokenisers of other makers cut differently."""
    draw = Random(seed)  # noqa: S311 - made-up text, not a secret
    for _ in range(count):
        yield "".join(draw.choice(_BITS) for _ in range(draw.randint(1, 12)))


def measure(plan: ExperimentPlan) -> Iterator[Figure]:
    """Hold the decoder against whichever oracles are here."""
    plan.progress("tokens of the engine")
    model, gguf, count = plan.open_model(), smollm2_weights(), 200 if plan.quick else 1_000
    with Engine(gguf) as engine:
        equal = sum(model.ids(text) == engine.tokens(text) for text in strings(count, plan.seed))
    yield Figure(
        name="strings cut into the engine's tokens", value=equal, unit=f"of {count:,}", bar=count, more=True,
        detail="spaces before digits, CJK, emoji",
    )  # fmt: skip
    if plan.quick or importlib.util.find_spec("transformers") is None:
        return  # the tests hold a tiny model against it
    plan.progress("logits of transformers")
    ids = model.ids(neutral_text())[:400]
    ours, theirs = model.logits_of(ids), _transformers(gguf, model.batch(ids))
    yield Figure(
        name="largest difference of a logit from transformers", value=float((ours - theirs).abs().max()), unit="",
        bar=1e-3, detail=f"{len(ids)} positions",
    )  # fmt: skip
    agreed = float((ours.argmax(-1) == theirs.argmax(-1)).float().mean())
    yield Figure(name="likeliest tokens equal to transformers'", value=agreed, unit="", bar=1.0, more=True)


def _transformers(gguf: Path, ids: Any) -> Any:
    oracle = importlib.import_module("transformers").AutoModelForCausalLM.from_pretrained(
        str(gguf.parent), gguf_file=gguf.name
    )
    return oracle(ids).logits[0].detach()
