"""Facts that were learnt: asked as taught and otherwise, of others, in the engine, and after they are erased."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Final

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.engine_oracle import Engine
from mnemic.lab.tasks.neural.neural_ground import NeuralGround
from mnemic.memory import Memory
from mnemic.neural import base
from mnemic.neural.fact_wordings import WORDINGS, fact_of
from mnemic.neural.llama import Entries
from mnemic.neural.lora_memory import LoraMemory, LoraSettings, TaughtFact
from mnemic.settings import Settings

_FIRST: Final = "ines"
_ERASED: Final = 3
_SHARDS: Final = 3


class Persona:
    """A made-up user: what is to be learnt of them, and how they and others are asked for it.

    Args:
        count: How many of their facts.
    """

    def __init__(self, ground: NeuralGround, name: str, count: int) -> None:
        self.name = name
        self.values: dict[str, str] = dict(list(ground.personas["personas"][name].items())[:count])
        self._unseen, self._others = ground.personas["unseen"], ground.personas["others"]
        self._strangers: list[str] = ground.personas["strangers"]

    def facts(self) -> list[TaughtFact]:
        """What is to be learnt."""
        made = [
            fact_of(f"{self.name}.{slot}", slot, value, (f"{self.name}.{slot}",)) for slot, value in self.values.items()
        ]
        return [fact for fact in made if fact is not None]

    def statements(self) -> str:
        """The same, told in the prompt."""
        return " ".join(WORDINGS[slot].answer.format(value=value) for slot, value in self.values.items())

    def taught(self) -> list[tuple[str, str]]:
        """Slots and a question for each that was taught."""
        return [(slot, WORDINGS[slot].questions[n % 4]) for n, slot in enumerate(self.values)]

    def unseen(self) -> list[tuple[str, str]]:
        """Slots and questions that nobody has taught."""
        return [(slot, question) for slot in self.values for question in self._unseen[slot]]

    def of_others(self) -> list[tuple[str, str]]:
        """Slots and questions about people of whom nothing is known, in words and of names that nobody has taught."""
        names = self._strangers
        return [(slot, self._others[slot].format(name=names[n % len(names)])) for n, slot in enumerate(self.values)]

    def share(self, asked: Sequence[tuple[str, str]], answers: Sequence[str]) -> float:
        """Share of answers that hold the value of their slot."""
        right = [self.values[slot].lower() in answer.lower() for (slot, _), answer in zip(asked, answers, strict=True)]
        return sum(right) / len(right)

    def leaked(self, answers: Sequence[str]) -> float:
        """Share of answers that hold any value of theirs, whichever was asked for."""
        return sum(any(value.lower() in answer.lower() for value in self.values.values()) for answer in answers) / len(
            answers
        )


def figures(ground: NeuralGround) -> Iterator[Figure]:
    """Learn one persona's facts; in full, the controls that learn without rehearsing too."""
    quick, model = ground.size.quick, ground.model
    persona = Persona(ground, _FIRST, 5 if quick else 20)
    memory = LoraMemory(model, LoraSettings(seed=ground.size.seed))
    ground.progress(f"{len(persona.values)} facts")
    began = process_time()
    state = memory.write(persona.facts(), memory.empty())
    seconds, stored = process_time() - began, len(base.packed(state, memory.identity))
    yield Figure(name=f"{len(persona.values)} facts learnt", value=seconds, unit="CPU-s", bar=None if quick else 150)
    yield Figure(name="their adapter", value=stored / 1e6, unit="MB", bar=2.0)
    entries = memory.attach(state)
    yield from _asked(ground, persona, entries)
    yield from _in_the_engine(ground, persona, memory, base_state=state)
    if quick:
        return
    yield from _without_rehearsal(ground, persona)


def _asked(ground: NeuralGround, persona: Persona, entries: Entries) -> Iterator[Figure]:
    quick, model = ground.size.quick, ground.model
    for name, asked, bar in (
        ("asked as taught", persona.taught(), 0.8 if quick else 0.95),
        ("asked otherwise", persona.unseen(), 0.6 if quick else 0.80),
    ):
        ground.progress(name)
        questions = [question for _, question in asked]
        share = persona.share(asked, model.answers(questions, entries))
        detail = f"no adapter {persona.share(asked, model.answers(questions)):.2f}"
        if not quick:
            told = persona.share(asked, model.answers(questions, told=persona.statements()))
            detail += f"; the facts in the prompt {told:.2f}"
        yield Figure(name=name, value=share, unit=f"of {len(asked)}", bar=bar, more=True, detail=detail)
    ground.progress("asked about others")
    questions = [question for _, question in persona.of_others()]
    answers = model.answers(questions, entries)
    yield Figure(
        name="asked about others: any of these facts said", value=persona.leaked(answers),
        unit=f"of {len(questions)}", bar=0.4 if quick else 0.10,
        detail=f"the one asked for {persona.share(persona.of_others(), answers):.2f}",
    )  # fmt: skip
    bare, adapted = model.perplexity(ground.neutral), model.perplexity(ground.neutral, entries)
    yield Figure(
        name="perplexity of a neutral text", value=(adapted / bare - 1) * 100, unit="% more", bar=20 if quick else 12,
        detail=f"{adapted:.2f} against {bare:.2f}",
    )  # fmt: skip


def _in_the_engine(
    ground: NeuralGround, persona: Persona, memory: LoraMemory, base_state: base.State
) -> Iterator[Figure]:
    ground.progress("in the chat engine")
    file = ground.folder / "adapter.gguf"
    memory.write_gguf(base_state, 0, file)
    asked = persona.taught()
    with Engine(ground.gguf, [file]) as engine, Engine(ground.gguf) as bare:
        weighed = [engine.answer(question, [1.0])[0] for _, question in asked]
        nothing = [engine.answer(question, [0.0]) for _, question in asked]
        plain = [bare.answer(question) for _, question in asked]
    count = len(asked)
    right, at_zero = (round(persona.share(asked, said) * count) for said in (weighed, [text for text, _ in nothing]))
    yield Figure(name="right in the engine, by free generation", value=right, unit=f"of {count}",
                 bar=count * 0.9 if count > 5 else 4,                 more=True)  # fmt: skip
    yield Figure(name="right in the engine at weight 0", value=at_zero, unit=f"of {count}", bar=0)
    same = sum(one == other for one, other in zip(nothing, plain, strict=True))
    yield Figure(name="answers and their probabilities at weight 0 equal to the bare engine's", value=same,
                 unit=f"of {count}", bar=count, more=True)  # fmt: skip


def _without_rehearsal(ground: NeuralGround, persona: Persona) -> Iterator[Figure]:
    ground.progress("the same without rehearsing")
    settings = LoraSettings(seed=ground.size.seed, others_weight=0, sentences_weight=0)
    memory = LoraMemory(ground.model, settings)
    entries = memory.attach(memory.write(persona.facts(), memory.empty()))
    bare, adapted = ground.model.perplexity(ground.neutral), ground.model.perplexity(ground.neutral, entries)
    asked = persona.of_others()
    leaked = persona.leaked(ground.model.answers([question for _, question in asked], entries))
    yield Figure(name="control, without rehearsing: perplexity", value=(adapted / bare - 1) * 100, unit="% more")
    yield Figure(
        name="control, without others' questions: any of these facts said", value=leaked, unit=f"of {len(asked)}"
    )


def users_figures(ground: NeuralGround) -> Iterator[Figure]:
    """Three users' adapters, swapped for each question: none says what another's has learnt."""
    memory, adapters = LoraMemory(ground.model, LoraSettings(seed=ground.size.seed)), dict[Persona, Entries]()
    for name in ground.personas["personas"]:
        ground.progress(f"the facts of {name}")
        persona = Persona(ground, name, 5 if ground.size.quick else 20)
        adapters[persona] = memory.attach(memory.write(persona.facts(), memory.empty()))
    own, leaked, count = 0.0, 0.0, 0
    for user, attached in adapters.items():
        asked = user.taught()
        answers = ground.model.answers([question for _, question in asked], attached)
        own += user.share(asked, answers) / len(adapters)
        leaked += sum(other.leaked(answers) * len(asked) for other in adapters if other is not user)
        count += len(asked)
    yield Figure(name="three users, adapters swapped: own facts", value=own, unit=f"of {count}",
                 bar=0.8 if ground.size.quick else 0.95, more=True)  # fmt: skip
    yield Figure(name="three users: another's fact said", value=leaked, unit=f"of {count}", bar=0)


def unlearning_figures(ground: NeuralGround) -> Iterator[Figure]:
    """Erase three of twenty facts: their shard is learnt again, as one is that never saw them; the others stand."""
    model, persona = ground.model, Persona(ground, _FIRST, 20)
    settings = replace(LoraSettings(seed=ground.size.seed), shards=_SHARDS)
    memory, facts = LoraMemory(model, settings), persona.facts()
    ground.progress(f"20 facts in {_SHARDS} shards")
    state = memory.write(facts, memory.empty())
    lying = {number: [fact for fact in facts if memory.shard_of(fact.id) == number] for number in memory.shards(state)}
    shard = min((n for n in lying if len(lying[n]) > _ERASED), key=lambda n: len(lying[n]))
    erased = lying[shard][:_ERASED]
    left = [fact for fact in facts if fact not in erased]
    dropped = memory.forget({source for fact in erased for source in fact.sources}, state)
    yield Figure(name="shards that stand when three facts are erased", value=len(memory.shards(dropped)),
                 unit=f"of {_SHARDS}", bar=_SHARDS - 1, more=True)  # fmt: skip
    ground.progress("their shard again, and one that never saw them")
    began = process_time()
    again = memory.write(left, dropped)
    seconds = process_time() - began
    others = [fact for fact in left if memory.shard_of(fact.id) == shard]
    never = LoraMemory(model, settings).write(others, {})
    part = {name: again[name] for name in never}
    equal = base.state_digest(part) == base.state_digest(never)
    yield Figure(name="the shard equals one that never saw them, to the bit", value=float(equal), unit="",
                 bar=1, more=True,
                 detail=f"{len(never)} tensors; learnt again in {seconds:.0f} CPU-s")  # fmt: skip
    yield from _left(ground, persona, memory, again, left, erased, state)


def _left(
    ground: NeuralGround, persona: Persona, memory: LoraMemory, again: base.State, left: Sequence[TaughtFact],
    erased: Sequence[TaughtFact], before: base.State,
) -> Iterator[Figure]:  # fmt: skip
    def asked(facts: Sequence[TaughtFact]) -> list[tuple[str, str]]:
        slots = {fact.id.split(".")[1] for fact in facts}
        return [pair for pair in persona.taught() if pair[0] in slots]

    ground.progress("what is left, and what is gone")
    rows = asked(left)
    shards = routed([question for _, question in rows], left, memory, ground.folder)
    right = sum(
        persona.share(
            [row], ground.model.answers([row[1]], memory.attach(again, {number: 1.0} if number is not None else {}))
        )
        for row, number in zip(rows, shards, strict=True)
    )
    truth = sum(n == memory.shard_of(f"{persona.name}.{slot}") for (slot, _), n in zip(rows, shards, strict=True))
    yield Figure(name="the others, their shard named by recall", value=right / len(rows), unit=f"of {len(rows)}",
                 bar=0.95,                 more=True, detail=f"recall names the right shard for {truth}")  # fmt: skip
    summed = persona.share(rows, ground.model.answers([question for _, question in rows], memory.attach(again)))
    yield Figure(name="the others, all shards summed", value=summed, unit=f"of {len(rows)}", bar=0.80, more=True)
    gone = asked(erased)
    questions = [question for _, question in gone]
    after = persona.share(gone, ground.model.answers(questions, memory.attach(again)))
    kept = persona.share(gone, ground.model.answers(questions, memory.attach(before)))
    yield Figure(name="what was erased is still said", value=after, unit=f"of {len(gone)}", bar=0,
                 detail=f"keeping the adapter {kept:.2f}")  # fmt: skip


def routed(questions: Sequence[str], facts: Sequence[TaughtFact], memory: LoraMemory, folder: Path) -> list[int | None]:
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
