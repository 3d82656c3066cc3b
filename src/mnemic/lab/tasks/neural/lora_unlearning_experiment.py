"""Facts that are learnt and erased: their shard is learnt again from what is left, equal to one that never saw them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.lab.tasks.neural.lora_memory_experiment import FIRST, lora_settings
from mnemic.lab.tasks.neural.personas import Asked, Persona
from mnemic.memory import Memory
from mnemic.neural import base
from mnemic.neural.lora_memory import LoraMemory, TaughtFact
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.neural.gguf_weights import TextModel


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Erase three of twenty facts, one of six in a quick run: what is said then of them, and of the others."""
    model, persona = plan.open_model(), Persona(FIRST, 6 if plan.quick else 20)
    shards, count = (2, 1) if plan.quick else (3, 3)
    settings = lora_settings(plan, shards)
    memory, facts = LoraMemory(model, settings), persona.facts()
    plan.progress(f"{len(facts)} facts in {shards} shards")
    state = memory.write(facts, memory.empty())
    lying = {number: [fact for fact in facts if memory.shard_of(fact.id) == number] for number in memory.shards(state)}
    shard = min((n for n in lying if len(lying[n]) > count), key=lambda n: len(lying[n]))
    erased = lying[shard][:count]
    left = [fact for fact in facts if fact not in erased]
    dropped = memory.forget({source for fact in erased for source in fact.sources}, state)
    yield Figure(name=f"shards that stand when {count} of {len(facts)} facts are erased",
                 value=len(memory.shards(dropped)), unit=f"of {shards}", bar=shards - 1, more=True)  # fmt: skip
    plan.progress("their shard again, and one that never saw them")
    began = process_time()
    again = memory.write(left, dropped)
    yield Figure(name="their shard learnt again", value=process_time() - began, unit="CPU-s")
    others = [fact for fact in left if memory.shard_of(fact.id) == shard]
    never = LoraMemory(model, settings).write(others, {})
    part = {name: again[name] for name in never}
    equal = base.state_digest(part) == base.state_digest(never)
    yield Figure(name="it equals one that never saw them, to the bit", value=float(equal), unit="", bar=1, more=True,
                 detail=f"{len(never)} tensors")  # fmt: skip
    yield from _left(plan, model, persona, memory, again, left)
    yield from _gone(model, persona, memory, again, state, erased)


def _left(
    plan: ExperimentPlan, model: TextModel, persona: Persona, memory: LoraMemory, again: base.State,
    left: Sequence[TaughtFact],
) -> Iterator[Figure | CurvePoint]:  # fmt: skip
    plan.progress("what is left, and what is gone")
    rows = _asked_of(persona, left)
    shards = _routed([question for _, question in rows], left, memory, plan.folder)
    right = sum(
        persona.share([row], model.answers([row[1]], memory.attach(again, {} if number is None else {number: 1.0})))
        for row, number in zip(rows, shards, strict=True)
    ) / len(rows)
    truth = sum(n == memory.shard_of(f"{persona.name}.{slot}") for (slot, _), n in zip(rows, shards, strict=True))
    yield Figure(name="the others, their shard named by recall", value=right, unit=f"of {len(rows)}",
                 bar=0.75 if plan.quick else 0.95, more=True)  # fmt: skip
    yield Figure(name="recall names the right shard", value=truth, unit=f"of {len(rows)}")
    summed = persona.share(rows, model.answers([question for _, question in rows], memory.attach(again)))
    yield Figure(name="the others, all shards summed", value=summed, unit=f"of {len(rows)}",
                 bar=0.5 if plan.quick else 0.80, more=True)  # fmt: skip
    yield CurvePoint("learnt again", "the others, routed", right)
    yield CurvePoint("learnt again", "the others, summed", summed)


def _gone(
    model: TextModel, persona: Persona, memory: LoraMemory, again: base.State, before: base.State,
    erased: Sequence[TaughtFact],
) -> Iterator[Figure | CurvePoint]:  # fmt: skip
    """What is said of the erased facts, by their own shard as it is now and as it was: no other shard blurs it."""
    rows = _asked_of(persona, erased)
    number = memory.shard_of(erased[0].id)
    for state, curve, name, bar in (
        (again, "learnt again", "what was erased is still said", 0),
        (before, "the adapter kept", "control, keeping the adapter: what was erased is said", None),
    ):
        said = persona.share(rows, model.answers([q for _, q in rows], memory.attach(state, {number: 1.0})))
        yield Figure(name=name, value=said, unit=f"of {len(rows)}", bar=bar)
        yield CurvePoint(curve, "what was erased", said)


def _asked_of(persona: Persona, facts: Sequence[TaughtFact]) -> list[Asked]:
    slots = {fact.id.split(".")[1] for fact in facts}
    return [pair for pair in persona.taught() if pair[0] in slots]


def _routed(
    questions: Sequence[str], facts: Sequence[TaughtFact], memory: LoraMemory, folder: Path
) -> list[int | None]:
    """For each question the shard of the fact that recall finds first, by its answer and how it may be asked for."""
    with Memory(folder / "routing.db", settings=Settings(background=False)) as store:
        me = store.scope(user="persona")
        ids = {item: fact for fact in facts for item in me.observe(" ".join((fact.answer, *fact.questions))).ids}
        store.flush()
        chosen: list[int | None] = []
        for question in questions:
            items = [item.id for item in me.recall(question).items if item.id in ids]
            chosen.append(memory.shard_of(ids[items[0]].id) if items else None)
    return chosen
