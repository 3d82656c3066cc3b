"""Keys and values kept, against reading the text again: what a first token costs, and whether it is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING, Any, Final, Literal

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.lab.tasks.neural.personas import neutral_text
from mnemic.neural import base
from mnemic.neural.kv_memory import Deviation, KVMemory, KVSettings, deviation

if TYPE_CHECKING:
    from mnemic.neural.gguf_weights import TextModel

_QUESTION: Final = 12
"""Tokens of what follows the memory."""
_SHIFT: Final = 211
"""Tokens by which the text begins later for each seed."""


@dataclass(frozen=True, slots=True)
class _Size:
    lengths: tuple[int, ...]
    ratios: tuple[float | None, ...]
    tries: int
    prompts: int
    memory: int
    spoken: int


_FULL: Final = _Size((512, 1_024, 2_048), (None, 10, 15), 3, 50, 128, 64)
_QUICK: Final = _Size((512,), (5,), 2, 6, 128, 12)


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """What a first token costs behind a memory, and how far it is off, for each way to lie at rest."""
    size = _QUICK if plan.quick else _FULL
    model = plan.open_model()
    text = model.ids(neutral_text())
    text = text[plan.seed * _SHIFT :] + text[: plan.seed * _SHIFT]
    for length, bar in zip(size.lengths, size.ratios, strict=True):
        plan.progress(f"a first token behind {length:,} tokens")
        yield from _first_tokens(plan, model, (text * (length // len(text) + 1))[:length], bar, size.tries)
    plan.progress(f"{size.prompts} prompts")
    yield from _sameness(model, text, size)
    plan.progress("records that were made apart")
    yield from _apart(model, text)


def _first_tokens(
    plan: ExperimentPlan, model: TextModel, memory: list[int], bar: float | None, tries: int
) -> Iterator[Figure | CurvePoint]:
    question = model.ids(" The engineers were asked to estimate what it would cost to")[:_QUESTION]
    cold = _least(tries, lambda: model.next_token([*memory, *question]))
    length = f"{len(memory):,} tokens"
    yield Figure(name=f"first token behind {length}, read again", value=cold, unit="CPU-s")
    yield CurvePoint("read again", len(memory), cold)
    for precision in ("float32", "float16", "int8"):
        module = KVMemory(model, KVSettings(precision))
        path = plan.folder / f"{precision}.safetensors"
        base.save(path, module.write(module.tokens(memory), module.empty()), module.identity)

        def hot(module: KVMemory = module, path: Any = path) -> object:
            state, _ = base.load(path, module.identity)
            return model.next_token(question, module.attach(state))

        kept = base.load(path, module.identity)[0]
        in_ram = _least(tries, lambda: model.next_token(question, module.attach(kept)))  # noqa: B023 - called at once
        from_disk = _least(tries, hot)
        yield Figure(
            name=f"first token behind {length}, read again over kept ({precision})", value=cold / from_disk, unit="x",
            bar=bar if precision == "float16" else None, more=True,
            detail=f"from a file of {path.stat().st_size / 1e6:.1f} MB",
        )  # fmt: skip
        yield Figure(name=f"the same from memory over from the file ({length}, {precision})",
                     value=in_ram / from_disk, unit="x")  # fmt: skip
        yield CurvePoint(f"kept, {precision}", len(memory), from_disk)


def _least(tries: int, work: Callable[[], object]) -> float:
    """The least CPU seconds of some tries: what else runs only adds."""
    seconds = []
    for _ in range(tries):
        began = process_time()
        work()
        seconds.append(process_time() - began)
    return min(seconds)


def _sameness(model: TextModel, text: list[int], size: _Size) -> Iterator[Figure]:
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


def _apart(model: TextModel, text: list[int]) -> Iterator[Figure]:
    """Two records joined, with their keys turned and left where they were, against the record of both."""
    module = KVMemory(model, KVSettings("float32"))
    halves = [module.write(module.tokens(part), module.empty()) for part in (text[:100], text[100:200])]
    asked = module.tokens(text[200 : 200 + _QUESTION])
    together = module.write(module.tokens(text[:200]), module.empty())
    turned, left = (module.join(halves, turn=way) for way in ("positions", "nothing"))
    exact, joined, unturned = (module.deviation(state, asked) for state in (together, turned, left))
    for name, off in (
        ("two records joined, keys turned", joined),
        ("control, keys not turned", unturned),
        ("control, built together", exact),
    ):
        yield Figure(name=f"{name}: largest KL", value=off.divergence * 1e3, unit="mnat")
        yield Figure(name=f"{name}: likeliest tokens kept", value=off.agreed, unit="")
