"""Keys and values kept, against reading the text again: what a first token costs, and whether it is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any, Final, Literal

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.neural_ground import NeuralGround
from mnemic.neural import base
from mnemic.neural.kv_memory import Deviation, KVMemory, KVSettings, deviation

_QUESTION: Final = 12
"""Tokens of what follows the memory."""


@dataclass(frozen=True, slots=True)
class _Size:
    lengths: tuple[int, ...]
    ratios: tuple[float, ...]
    tries: int
    prompts: int
    memory: int
    spoken: int


_FULL: Final = _Size((1_024, 2_048), (10, 15), 3, 50, 128, 64)
_QUICK: Final = _Size((1_024,), (8,), 2, 10, 128, 12)


def figures(ground: NeuralGround) -> Iterator[Figure]:
    """What a first token costs behind a memory, and how far it is off, for each way to lie at rest."""
    size = _QUICK if ground.size.quick else _FULL
    text = ground.model.ids(ground.neutral)
    for length, bar in zip(size.lengths, size.ratios, strict=True):
        ground.progress(f"a first token behind {length:,} tokens")
        yield from _first_tokens(ground, (text * (length // len(text) + 1))[:length], bar, size.tries)
    ground.progress(f"{size.prompts} prompts")
    yield from _sameness(ground, size)
    ground.progress("records that were made apart")
    yield from _apart(ground)


def _first_tokens(ground: NeuralGround, memory: list[int], bar: float, tries: int) -> Iterator[Figure]:
    model = ground.model
    question = model.ids(" The engineers were asked to estimate what it would cost to")[:_QUESTION]
    cold = _least(tries, lambda: model.next_token([*memory, *question]))
    for precision in ("float32", "float16", "int8"):
        module = KVMemory(model, KVSettings(precision))
        path = ground.folder / f"{precision}.safetensors"
        base.save(path, module.write(module.tokens(memory), module.empty()), module.identity)

        def hot(module: KVMemory = module, path: Any = path) -> object:
            state, _ = base.load(path, module.identity)
            return model.next_token(question, module.attach(state))

        kept = base.load(path, module.identity)[0]
        in_ram = _least(tries, lambda: model.next_token(question, module.attach(kept)))  # noqa: B023 - called at once
        from_disk = _least(tries, hot)
        yield Figure(
            name=f"first token behind {len(memory):,} tokens, read again over kept ({precision})",
            value=cold / from_disk, unit="x", bar=bar if precision == "float16" else None, more=True,
            detail=f"{cold:.2f} and {from_disk:.3f} CPU-s from a file of {path.stat().st_size / 1e6:.1f} MB, "
            f"{in_ram:.3f} from memory",
        )  # fmt: skip


def _least(tries: int, work: Callable[[], object]) -> float:
    """The least CPU seconds of some tries: what else runs only adds."""
    seconds = []
    for _ in range(tries):
        began = process_time()
        work()
        seconds.append(process_time() - began)
    return min(seconds)


def _sameness(ground: NeuralGround, size: _Size) -> Iterator[Figure]:
    model = ground.model
    text = model.ids(ground.neutral)
    memory, rest = text[: size.memory], text[size.memory :] + text[: size.memory]
    step = max(1, (len(rest) - _QUESTION) // size.prompts)
    questions = [rest[n * step : n * step + _QUESTION] for n in range(size.prompts)]
    anew = [model.logits_of([*memory, *question])[-_QUESTION:] for question in questions]
    precisions: tuple[Literal["float32", "float16", "int8"], ...] = ("float32", "float16", "int8")
    for precision in precisions:
        module = KVMemory(model, KVSettings(precision))
        state = module.write(module.tokens(memory), module.empty())
        entries = module.attach(state)
        off = [
            deviation(fresh[-1:], model.logits_of(question, entries)[-1:])
            for fresh, question in zip(anew, questions, strict=True)
        ]
        yield from _bars(precision, off)
        if precision == "float16":
            rows = module.attach(state, len(questions))
            kept = model.decoder.generate(questions, size.spoken, entries=rows)
            cold = model.decoder.generate([[*memory, *question] for question in questions], size.spoken)
            same = sum(one == other for one, other in zip(kept, cold, strict=True))
            yield Figure(
                name=f"prompts whose next {size.spoken} likeliest tokens are the same", value=same,
                unit=f"of {len(questions)}", bar=len(questions), more=True, detail="float16, against reading all again",
            )  # fmt: skip


def _bars(precision: str, off: list[Deviation]) -> Iterator[Figure]:
    logit, divergence = max(each.logit for each in off), max(each.divergence for each in off)
    agreed, count = sum(each.agreed for each in off), len(off)
    bars = {
        "float32": (1e-3, None, count),
        "float16": (2e-2, None, count),
        "int8": (None, 2e-3, count - max(1, count // 50)),
    }
    for_logit, for_divergence, for_agreed = bars[precision]
    yield Figure(name=f"largest difference of a logit, {precision}", value=logit, unit="", bar=for_logit)
    yield Figure(name=f"largest KL of a next token, {precision}", value=divergence * 1e3, unit="mnat",
                 bar=None if for_divergence is None else for_divergence * 1e3)  # fmt: skip
    yield Figure(
        name=f"likeliest next token kept, {precision}", value=agreed, unit=f"of {count}", bar=for_agreed, more=True
    )


def _apart(ground: NeuralGround) -> Iterator[Figure]:
    """Two records joined, with their keys turned and left where they were, against the record of both."""
    model = ground.model
    module = KVMemory(model, KVSettings("float32"))
    text = model.ids(ground.neutral)
    halves = [module.write(module.tokens(part), module.empty()) for part in (text[:100], text[100:200])]
    asked = module.tokens(text[200 : 200 + _QUESTION])
    together = module.write(module.tokens(text[:200]), module.empty())
    turned, left = (module.join(halves, turn=way) for way in ("positions", "nothing"))
    exact, joined, unturned = (module.deviation(state, asked) for state in (together, turned, left))
    yield Figure(
        name="two records joined, keys turned: largest KL", value=joined.divergence * 1e3, unit="mnat",
        detail=f"not turned {unturned.divergence * 1e3:.0f}, built together {exact.divergence * 1e3:.3f}; "
        f"likeliest tokens kept {joined.agreed:.2f}, {unturned.agreed:.2f}, {exact.agreed:.2f}",
    )  # fmt: skip
