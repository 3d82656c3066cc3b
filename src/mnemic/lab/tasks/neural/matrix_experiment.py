"""One set of facts through every memory of one model: text, prompt, kept keys, sparse keys, adapters, side memory.

Each is asked the same questions in the same way: some tokens are read, with something attached, and the likeliest
words are said. So what differs is what is attached, and what that costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Final, Protocol

import torch

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import ExperimentPlan
from mnemic.lab.tasks.neural.made_up_people import STRANGERS, MadeUpFact, made_up_facts, share
from mnemic.memory import Memory
from mnemic.neural.base import State, state_bytes, state_digest
from mnemic.neural.explicit_memory import ExplicitMemory, TextReference
from mnemic.neural.kv_memory import KVMemory
from mnemic.neural.llama import BARE, Entries
from mnemic.neural.lora_memory import LoraMemory, LoraSettings
from mnemic.neural.wise import Edit, WiseMemory, WiseSettings
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.neural.gguf_weights import TextModel

_SAID: Final = 12
"""Tokens of an answer."""
_RECALLED: Final = 3
"""Texts that recall puts before the model."""
_UNRELATED: Final = (
    "What is the capital of Norway?", "How many legs does a spider have?", "Give me a synonym for happy.",
    "What language is spoken in Brazil?", "Who wrote Hamlet?", "How does a bicycle work?", "What is 9 times 6?",
    "Name a river in Africa.",
)  # fmt: skip

Asked = tuple[list[int], Entries]
"""Tokens that are read, and what is attached meanwhile."""


class WayToRemember(Protocol):
    """One way in which facts reach a model."""

    name: str

    def learn(self, facts: Sequence[MadeUpFact]) -> None:
        """Hold these facts, all that are to be known; those that it held before are among them."""
        ...

    def asked(self, question: str) -> Asked:
        """What is read for a question, with what."""
        ...

    def stored(self) -> int:
        """Bytes of all that it holds."""
        ...

    def forget(self, fact: MadeUpFact) -> None:
        """Forget one fact, and be ready for the next question."""
        ...

    def never_held(self, fact: MadeUpFact) -> bool | None:
        """Whether it is now as if it had never held the fact; None where that could not be otherwise."""
        ...


class TextRecall:
    """Sentences in a store; those that are recalled are told in the prompt. It routes for others too."""

    name = "text recall"

    def __init__(self, model: TextModel, store: Memory, path: Path) -> None:
        self._model, self._me = model, store.scope(user="matrix")
        self._store, self._path = store, path
        self._items: dict[str, ItemId] = {}
        self._facts: dict[str, MadeUpFact] = {}

    def learn(self, facts: Sequence[MadeUpFact]) -> None:
        for fact in facts:
            if fact.id not in self._items:
                self._items[fact.id], self._facts[fact.id] = self._me.observe(fact.said).id, fact
        self._store.flush()

    def recalled(self, question: str) -> list[MadeUpFact]:
        """The facts that recall finds, the best first."""
        by_item = {item: self._facts[id] for id, item in self._items.items()}
        found = (by_item.get(recalled.item.id) for recalled in self._me.recall(question).items)
        return [fact for fact in found if fact is not None][:_RECALLED]

    def named(self, question: str) -> list[MadeUpFact]:
        """The facts out of which memory answers a question, the best first, by the rule that routes adapters."""
        by_item = {item: self._facts[id] for id, item in self._items.items()}
        return [by_item[item] for item in self._me.learning.named_for(question) if item in by_item]

    def asked(self, question: str) -> Asked:
        told = " ".join(fact.said for fact in self.recalled(question))
        before = [("system", told)] if told else []
        return self._model.prompt(*before, ("user", question)), BARE

    def stored(self) -> int:
        self._store.flush()
        return sum(file.stat().st_size for file in self._files())

    def forget(self, fact: MadeUpFact) -> None:
        self._me.erase(self._items.pop(fact.id))
        self._facts.pop(fact.id)

    def never_held(self, fact: MadeUpFact) -> bool:
        self._store.flush()
        return not any(fact.said.encode() in file.read_bytes() for file in self._files())

    def _files(self) -> list[Path]:
        """The files of the store and of what lies beside it."""
        places = self._path.parent.glob(f"{self._path.name}*")
        return [file for place in places for file in (place, *place.rglob("*")) if file.is_file()]


class WholePrompt:
    """All sentences told in the prompt, and read anew for each question."""

    name = "facts in the prompt"

    def __init__(self, model: TextModel) -> None:
        self._model, self._facts = model, list[MadeUpFact]()

    def learn(self, facts: Sequence[MadeUpFact]) -> None:
        self._facts = list(facts)

    def facts(self) -> list[MadeUpFact]:
        """Those that it holds."""
        return list(self._facts)

    def told(self) -> str:
        """What the prompt tells."""
        return " ".join(fact.said for fact in self._facts)

    def asked(self, question: str) -> Asked:
        return self._model.prompt(("system", self.told()), ("user", question)), BARE

    def stored(self) -> int:
        return len(self.told().encode())

    def forget(self, fact: MadeUpFact) -> None:
        self._facts.remove(fact)

    def never_held(self, fact: MadeUpFact) -> None:
        """Nothing is kept of a prompt but its sentences."""


class KeptKeys:
    """The same prompt, its keys and values kept."""

    name = "keys and values kept"

    def __init__(self, model: TextModel) -> None:
        self._model, self._memory, self._prompt = model, KVMemory(model), WholePrompt(model)
        self._state = self._memory.empty()

    def learn(self, facts: Sequence[MadeUpFact]) -> None:
        self._prompt.learn(facts)
        self._state = self._built()

    def asked(self, question: str) -> Asked:
        entries, rest = self._memory.attach_prefix(self._prompt.asked(question)[0], self._state)
        return rest, entries

    def stored(self) -> int:
        return state_bytes(self._state)

    def forget(self, fact: MadeUpFact) -> None:
        self._prompt.forget(fact)
        self._state = self._built()

    def never_held(self, fact: MadeUpFact) -> bool:
        never = KeptKeys(self._model)
        never.learn([kept for kept in self._prompt.facts() if kept != fact])
        return state_digest(self._state) == state_digest(never._state)

    def _built(self) -> State:
        ids = self._model.prompt(("system", self._prompt.told()))
        return self._memory.write(self._memory.tokens(ids), self._memory.empty())


class SparseKeys:
    """A few keys and values of each sentence; those that recall finds are attached, side by side."""

    name = "sparse keys and values"

    def __init__(self, model: TextModel, routing: TextRecall) -> None:
        self._memory, self._routing = ExplicitMemory(model), routing
        self._state, self._facts = self._memory.empty(), list[MadeUpFact]()

    def learn(self, facts: Sequence[MadeUpFact]) -> None:
        self._facts = list(facts)
        self._routing.learn(facts)
        self._state = self._memory.write(self._references(facts), self._state)

    def asked(self, question: str) -> Asked:
        names = self._memory.of_sources([fact.id for fact in self._routing.recalled(question)], self._state)
        entries = self._memory.attach(self._state, names)
        return self._memory.question(question), entries

    def stored(self) -> int:
        return state_bytes(self._state) + self._routing.stored()

    def forget(self, fact: MadeUpFact) -> None:
        self._facts.remove(fact)
        self._routing.forget(fact)
        self._state = self._memory.forget([fact.id], self._state)

    def never_held(self, fact: MadeUpFact) -> bool:
        never = self._memory.write(self._references(self._facts), self._memory.empty())
        return state_digest(self._state) == state_digest(never) and self._routing.never_held(fact)

    def _references(self, facts: Sequence[MadeUpFact]) -> list[TextReference]:
        return [part for fact in facts for part in self._memory.system_references(fact.said, (fact.id,))]


class Adapters:
    """Facts learnt as adapters in shards; recall names the one that is weighed in."""

    name = "adapters"

    def __init__(self, model: TextModel, settings: LoraSettings, routing: TextRecall) -> None:
        self._model, self._memory, self._routing = model, LoraMemory(model, settings), routing
        self._state, self._facts = self._memory.empty(), list[MadeUpFact]()

    def learn(self, facts: Sequence[MadeUpFact]) -> None:
        self._facts = list(facts)
        self._routing.learn(facts)
        self._state = self._memory.write([fact.taught_fact() for fact in facts], self._state)

    def asked(self, question: str) -> Asked:
        named = self._routing.named(question)
        weights = {self._memory.shard_of(named[0].id): 1.0} if named else {}
        return self._model.prompt(("user", question)), self._memory.attach(self._state, weights)

    def stored(self) -> int:
        return state_bytes(self._state) + self._routing.stored()

    def forget(self, fact: MadeUpFact) -> None:
        self._routing.forget(fact)
        self._state = self._memory.forget([fact.id], self._state)
        self.learn([kept for kept in self._facts if kept != fact])

    def never_held(self, fact: MadeUpFact) -> bool:
        shard = self._memory.shard_of(fact.id)
        beside = [kept for kept in self._facts if self._memory.shard_of(kept.id) == shard]
        never = self._memory.write([kept.taught_fact() for kept in beside], self._memory.empty())
        held = {name: self._state[name] for name in never}
        return state_digest(held) == state_digest(never) and self._routing.never_held(fact)


class SideMemory:
    """Facts edited into a side memory, which its own router uses or does not."""

    name = "side memory"

    def __init__(self, model: TextModel, settings: WiseSettings) -> None:
        self._model, self._memory = model, WiseMemory(model, settings)
        self._state, self._facts = self._memory.empty(), list[MadeUpFact]()

    def learn(self, facts: Sequence[MadeUpFact]) -> None:
        self._facts = list(facts)
        self._state = self._memory.write([_edit(fact) for fact in facts], self._state)

    def asked(self, question: str) -> Asked:
        ids = self._model.prompt(("user", question))
        return ids, self._memory.attach(self._state, self._memory.route(ids, self._state))

    def stored(self) -> int:
        return state_bytes(self._state)

    def forget(self, fact: MadeUpFact) -> None:
        self._state = self._memory.forget([fact.id], self._state)
        self.learn([kept for kept in self._facts if kept != fact])

    def never_held(self, fact: MadeUpFact) -> bool:
        shard = self._memory.shard_of(fact.id)
        beside = [kept for kept in self._facts if self._memory.shard_of(kept.id) == shard]
        never = self._memory.write([_edit(kept) for kept in beside], self._memory.empty())
        return state_digest({name: self._state[name] for name in never}) == state_digest(never)


def _edit(fact: MadeUpFact) -> Edit:
    others = tuple(fact.taught[0].replace(fact.name, name) for name in STRANGERS[:3:2])
    return Edit(fact.id, fact.taught, fact.said, others, (fact.id,))


def measure(plan: ExperimentPlan) -> Iterator[Figure]:
    """Hold some facts in each way, then as many more, then forget one."""
    model, count = plan.open_model(), 8 if plan.quick else 50
    facts = made_up_facts(2 * count, plan.seed)
    first, one = facts[:count], facts[count // 2]
    texts = [*_UNRELATED, *(fact.other for fact in facts[:8])]
    bare = [model.next_token(model.prompt(("user", text))) for text in texts]
    asked = [model.prompt(("user", fact.taught[0])) for fact in first]
    nothing = [_answer(model, (ids, BARE)) for ids in asked]
    yield Figure(name="no memory: recall in taught words", value=share(first, nothing), unit=f"of {count}")
    folder = plan.folder / f"matrix-{plan.seed}"
    folder.mkdir(exist_ok=True)
    for way in _ways(plan, model, folder):
        plan.progress(way.name)
        yield from _measured(way, model, facts, first, one, list(zip(texts, bare, strict=True)))


def _ways(plan: ExperimentPlan, model: TextModel, folder: Path) -> Iterator[WayToRemember]:
    """Every way, each opened when the one before it is done with; what is routed has a store of its own."""
    lora = LoraSettings(seed=plan.seed, shards=1 if plan.quick else 4)
    wise = WiseSettings(seed=plan.seed, wordings=3)
    if plan.quick:
        lora, wise = replace(lora, passes=2, least=16), replace(wise, wordings=1, steps=12)
    with Memory(folder / "text.db", settings=Settings(background=False)) as store:
        yield TextRecall(model, store, folder / "text.db")
    yield WholePrompt(model)
    yield KeptKeys(model)
    with Memory(folder / "sparse.db", settings=Settings(background=False)) as store:
        yield SparseKeys(model, TextRecall(model, store, folder / "sparse.db"))
    with Memory(folder / "adapters.db", settings=Settings(background=False)) as store:
        yield Adapters(model, lora, TextRecall(model, store, folder / "adapters.db"))
    yield SideMemory(model, wise)


def _measured(
    way: WayToRemember, model: TextModel, facts: Sequence[MadeUpFact], first: Sequence[MadeUpFact], one: MadeUpFact,
    unrelated: Sequence[tuple[str, int]],
) -> Iterator[Figure]:  # fmt: skip
    count = len(first)
    began = process_time()
    way.learn(first)
    writing = process_time() - began
    reading: list[float] = []
    taught = share(first, [_answer(model, way.asked(fact.taught[0])) for fact in first])
    unseen = share(first, [_answer(model, way.asked(fact.unseen)) for fact in first])
    for fact in first[:5]:
        began = process_time()
        _next_token(model, way.asked(fact.taught[0]))
        reading.append(process_time() - began)
    as_before = sum(_next_token(model, way.asked(text)) == token for text, token in unrelated) / len(unrelated)
    yield Figure(name=f"{way.name}: recall in taught words", value=taught, unit=f"of {count}")
    yield Figure(name=f"{way.name}: recall in unseen words", value=unseen, unit=f"of {count}")
    yield Figure(name=f"{way.name}: unrelated prompts, next token as before", value=as_before,
                 unit=f"of {len(unrelated)}")  # fmt: skip
    yield Figure(name=f"{way.name}: to write a fact", value=writing / count, unit="CPU-s")
    yield Figure(name=f"{way.name}: to the first token of an answer", value=median(reading), unit="CPU-s")
    yield Figure(name=f"{way.name}: bytes a fact", value=way.stored() / count / 1e3, unit="kB")
    began = process_time()
    way.forget(one)
    forgetting = process_time() - began
    said = one.is_in(_answer(model, way.asked(one.taught[0])))
    yield Figure(name=f"{way.name}: to forget one fact", value=forgetting, unit="CPU-s")
    yield Figure(name=f"{way.name}: the forgotten fact is still said", value=float(said), unit="")
    if (never := way.never_held(one)) is not None:
        yield Figure(name=f"{way.name}: forgotten, it is as if it had never been", value=float(never),
                     unit="", bar=1, more=True)  # fmt: skip
    way.learn([fact for fact in facts if fact != one])
    kept = [fact for fact in first if fact != one]
    later = share(kept, [_answer(model, way.asked(fact.taught[0])) for fact in kept])
    yield Figure(name=f"{way.name}: recall in taught words after {len(facts) - count} more", value=later,
                 unit=f"of {len(kept)}")  # fmt: skip


def _answer(model: TextModel, asked: Asked) -> str:
    ids, entries = asked
    (said,) = model.decoder.generate([ids], _SAID, frozenset({model.end}), entries)
    return model.answer(said)


def _next_token(model: TextModel, asked: Asked) -> int:
    ids, entries = asked
    with torch.inference_mode():
        h, _ = model.decoder.run(model.decoder.embed(torch.tensor([ids])), entries)
        return int(model.decoder.head(h[0, -1]).argmax())
