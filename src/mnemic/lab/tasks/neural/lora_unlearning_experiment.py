"""Facts that are learnt and erased: their shard is learnt again from what is left, equal to one that never saw them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from time import process_time
from typing import TYPE_CHECKING

from mnemic.core.ids import ItemId
from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan, loosened
from mnemic.lab.tasks.neural.lora_memory_experiment import lora_settings
from mnemic.lab.tasks.neural.personas import Asked, Persona, persona_names
from mnemic.learnt_shards import shard_details, shard_for
from mnemic.memory import Memory
from mnemic.neural import base
from mnemic.neural.lora_memory import LoraMemory, TaughtFact
from mnemic.scope_learning import LORA
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.memory import ScopedMemory
    from mnemic.neural.gguf_weights import TextModel


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Erase three of twenty facts, one of four in a quick run: what is said then of them, and of the others."""
    model = plan.open_model()
    persona = Persona(persona_names(plan.seed)[0], 4 if plan.quick else 20, seed=plan.seed)
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
    yield from _left(plan, model, persona, memory, again, erased)
    yield from _gone(model, persona, memory, again, state, erased)


def _left(
    plan: ExperimentPlan, model: TextModel, persona: Persona, memory: LoraMemory, again: base.State,
    erased: Sequence[TaughtFact],
) -> Iterator[Figure | CurvePoint]:  # fmt: skip
    """What is said of the facts that are left: by the shard that the product names, by their own one, and by all."""
    plan.progress("what is left, and what is gone")
    gone = {fact.id for fact in erased}
    rows, unseen = (
        [(slot, question) for slot, question in asked if f"{persona.name}.{slot}" not in gone]
        for asked in (persona.taught(), persona.unseen())
    )
    with Memory(plan.folder / "routing.db", settings=Settings(background=False)) as store:
        me = scope_with_shards(store, persona.said(), gone, memory, again)
        named, otherwise = ([shard_named(me, question) for _, question in asked] for asked in (rows, unseen))
    own = [memory.shard_of(f"{persona.name}.{slot}") for slot, _ in rows]
    count = f"of {len(rows)}"

    said = {
        number: model.answers([q for _, q in rows], memory.attach(again, {} if number is None else {number: 1.0}))
        for number in {*named, *own}
    }
    routed, oracle = (
        persona.share(rows, [said[number][n] for n, number in enumerate(shards)]) for shards in (named, own)
    )
    summed = persona.share(rows, model.answers([question for _, question in rows], memory.attach(again)))
    bare = persona.share(rows, model.answers([question for _, question in rows]))
    yield Figure(name="the others, the shard weighed in that chat would name", value=routed, unit=count, bar=0.95,
                 more=True)  # fmt: skip
    for name, asked, shards in (("", rows, named), (", asked in other words", unseen, otherwise)):
        truth = [one == memory.shard_of(f"{persona.name}.{slot}") for one, (slot, _) in zip(shards, asked, strict=True)]
        of = f"of {len(asked)}"
        yield Figure(name=f"the right shard is named{name}", value=sum(truth) / len(asked), unit=of)
        yield Figure(name=f"none is named, and the bare model answers{name}", value=shards.count(None) / len(asked),
                     unit=of)  # fmt: skip
    yield Figure(name="the others, their own shard weighed in (an oracle names it)", value=oracle, unit=count)
    yield loosened(
        plan, Figure(name="the others, all shards summed", value=summed, unit=count, bar=0.80, more=True), 0.5
    )
    yield Figure(name="control, no adapter: the others", value=bare, unit=count)
    for name, value in (("routed", routed), ("own shard", oracle), ("summed", summed)):
        yield CurvePoint("learnt again", f"the others, {name}", value)


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
    ids = {fact.id for fact in facts}
    return [pair for pair in persona.taught() if f"{persona.name}.{pair[0]}" in ids]


def scope_with_shards(
    store: Memory, said: Mapping[str, str], erased: Collection[str], memory: LoraMemory, state: base.State
) -> ScopedMemory:
    """Tell a store plain sentences, erase some, and keep each shard there with what it was learnt from, as the job.

    Args:
        said: By the id of each one's fact.
        erased: Ids of facts.
    """
    me = store.scope(user="persona")
    items = {id: me.observe(text).ids for id, text in said.items()}
    store.flush()
    me.erase(*(item for id in erased for item in items[id]))
    learnable = me.learning.learnable()
    for number in memory.shards(state):
        there = {item for id in said if id not in erased and memory.shard_of(id) == number for item in items[id]}
        taught = [fact for fact in learnable.facts if not there.isdisjoint(fact.sources)]
        sources = there.union(*(fact.sources for fact in taught))
        keep_shard(me, memory, state, number, taught, sources, learnable.stated)
    return me


def keep_shard(
    me: ScopedMemory, memory: LoraMemory, state: base.State, number: int, facts: Sequence[TaughtFact],
    sources: Collection[str], stated: Mapping[ItemId, str],
) -> None:  # fmt: skip
    """Keep a shard with what it was learnt from, as the job does."""
    part = {name: tensor for name, tensor in state.items() if name.startswith(f"shard.{number}.")}
    me.artefacts.put(
        base.packed(part, memory.identity), mechanism=LORA, made_by={"model": memory.identity.model},
        sources=sorted(ItemId(source) for source in sources),
        details=shard_details(number, memory.settings.shards, facts, stated),
    )  # fmt: skip


def shard_named(me: ScopedMemory, question: str) -> int | None:
    """The shard that `mnemic chat` and `mnemic neural ask` weigh in for a question; None for the bare model."""
    shard = shard_for(me.learning.named_for(question), me.learning.shards())
    return None if shard is None else shard.number
