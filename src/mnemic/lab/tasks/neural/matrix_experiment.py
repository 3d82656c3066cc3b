"""One set of facts through every memory of one model: text, prompt, kept keys, sparse keys, adapters, side memory.

Each is asked the same questions in the same way: some tokens are read, with something attached, and the likeliest
words are said. So what differs is what is attached, and what that costs. What is asked with the same attached is read
together, and what long prompts begin with is read once, which changes no answer but by rounding; what an answer costs
is timed one question at a time, with everything read anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median
from time import process_time
from typing import TYPE_CHECKING, Final, Protocol

import torch

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import ExperimentPlan, Remark
from mnemic.lab.tasks.neural.made_up_people import REHEARSED_NAMES, MadeUpFact, made_up_facts, share
from mnemic.lab.tasks.neural.unfinished_run import UnfinishedRun, processor_time
from mnemic.memory import Memory
from mnemic.neural.base import State, state_bytes, state_digest
from mnemic.neural.explicit_memory import ExplicitMemory, TextReference
from mnemic.neural.kv_memory import KVMemory, common_run
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
_TIMED: Final = 5
"""Questions of which the time to a first token is taken."""
_STRANGERS_ASKED: Final = 8
_TAUGHT: Final = "recall in taught words"
_GENERAL: Final = (
    "What is the capital of Norway?", "How many legs does a spider have?", "Give me a synonym for happy.",
    "What language is spoken in Brazil?", "Who wrote Hamlet?", "How does a bicycle work?", "What is 9 times 6?",
    "Name a river in Africa.",
)  # fmt: skip

_TOGETHER: Final = 16
"""Questions read at once, at most."""
_LONG: Final = 128
"""Tokens that prompts have in common from which on these are read once for all of them."""


@dataclass(frozen=True, slots=True)
class AskedTokens:
    """What is read for a question.

    Attributes:
        entries: What is attached meanwhile.
        weights: Which matrices are others than the model's: under one name the same for every question.
    """

    tokens: list[int]
    entries: Entries = BARE
    weights: str = ""


class WayToRemember(Protocol):
    """One way in which facts reach a model."""

    name: str

    def learn(self, facts: Sequence[MadeUpFact]) -> None:
        """Hold these facts, all that are to be known; those that it held before are among them."""
        ...

    def asked(self, question: str) -> AskedTokens:
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
        """The facts out of which memory surely answers a question, the best first: what adapters are routed by."""
        by_item = {item: self._facts[id] for id, item in self._items.items()}
        answer = self._me.learning.sure_answer(question)
        cited = () if answer is None else answer.citations
        return [by_item[citation.id] for citation in cited if citation.id in by_item]

    def asked(self, question: str) -> AskedTokens:
        told = " ".join(fact.said for fact in self.recalled(question))
        before = [("system", told)] if told else []
        return AskedTokens(self._model.prompt(*before, ("user", question)))

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

    def facts_prompt(self) -> str:
        """What the prompt tells."""
        return " ".join(fact.said for fact in self._facts)

    def asked(self, question: str) -> AskedTokens:
        return AskedTokens(self._model.prompt(("system", self.facts_prompt()), ("user", question)))

    def stored(self) -> int:
        return len(self.facts_prompt().encode())

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

    def asked(self, question: str) -> AskedTokens:
        entries, rest = self._memory.attach_prefix(self._prompt.asked(question).tokens, self._state)
        return AskedTokens(rest, entries)

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
        ids = self._model.prompt(("system", self._prompt.facts_prompt()))
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

    def asked(self, question: str) -> AskedTokens:
        names = self._memory.of_sources([fact.id for fact in self._routing.recalled(question)], self._state)
        return AskedTokens(self._memory.question(question), self._memory.attach(self._state, names))

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

    def asked(self, question: str) -> AskedTokens:
        named = self._routing.named(question)
        weights = {self._memory.shard_of(named[0].id): 1.0} if named else {}
        return AskedTokens(
            self._model.prompt(("user", question)), self._memory.attach(self._state, weights), str([*weights])
        )

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

    def asked(self, question: str) -> AskedTokens:
        ids = self._model.prompt(("user", question))
        shard = self._memory.route(ids, self._state)
        return AskedTokens(ids, self._memory.attach(self._state, shard), str(shard))

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
    others = tuple(fact.taught[0].replace(fact.name, name) for name in REHEARSED_NAMES[:3:2])
    return Edit(fact.id, fact.taught, fact.said, others, (fact.id,))


def measure(plan: ExperimentPlan) -> Iterator[Figure | Remark]:
    """Hold some facts in each way, forget one, then hold as many more."""
    model, count = plan.open_model(), 8 if plan.quick else 50
    facts = made_up_facts(2 * count, plan.seed)
    bare = [AskedTokens(model.prompt(("user", text))) for text in (*_GENERAL, *_of_strangers(facts))]
    before = [said[:1] for said in answered(model, bare, 1)]
    nothing = [AskedTokens(model.prompt(("user", fact.taught[0]))) for fact in facts[:count]]
    yield Figure(name=f"no memory: {_TAUGHT}", value=_recall(model, facts[:count], nothing), unit="")
    folder = plan.folder / f"matrix-{plan.seed}"
    folder.mkdir(exist_ok=True)
    unfinished = UnfinishedRun.of(plan, Path(__file__))
    for way in _ways(plan, model, folder):
        if (figures := unfinished.figures(way.name)) is None:
            began, figures = processor_time(), []
            plan.progress(f"{way.name}: {count} facts")
            figures += _held(way, model, facts, count, before)
            plan.progress(f"{way.name}: one forgotten, {count} more")
            figures += _forgotten_and_more(way, model, facts, count)
            unfinished.keep(way.name, figures, processor_time() - began)
        else:
            yield Remark(
                f"{way.name}: measured by a run that was stopped, {unfinished.seconds(way.name):.0f} CPU-s more"
            )
        yield from figures
    unfinished.end()


def _ways(plan: ExperimentPlan, model: TextModel, folder: Path) -> Iterator[WayToRemember]:
    """Every way, each opened when the one before it is done with; what is routed has a store of its own."""
    lora = LoraSettings(seed=plan.seed, shards=3, passes=4, least=24, others=4, sentences=2, facts_limit=60)
    wise = WiseSettings(seed=plan.seed, shards=4, wordings=1, steps=10)
    if plan.quick:
        lora, wise = replace(lora, shards=1, passes=2, least=8), replace(wise, shards=1, steps=6)
    with Memory(folder / "text.db", settings=Settings(background=False)) as store:
        yield TextRecall(model, store, folder / "text.db")
    yield WholePrompt(model)
    yield KeptKeys(model)
    with Memory(folder / "sparse.db", settings=Settings(background=False)) as store:
        yield SparseKeys(model, TextRecall(model, store, folder / "sparse.db"))
    with Memory(folder / "adapters.db", settings=Settings(background=False)) as store:
        yield Adapters(model, lora, TextRecall(model, store, folder / "adapters.db"))
    yield SideMemory(model, wise)


def _held(
    way: WayToRemember, model: TextModel, facts: Sequence[MadeUpFact], count: int, before: Sequence[list[int]]
) -> Iterator[Figure]:  # fmt: skip
    """The first facts, held: what is recalled, what else is said, and what it costs.

    Args:
        before: What the bare model says to general questions, and to those of strangers.
    """
    first, began = facts[:count], process_time()
    way.learn(first)
    writing = process_time() - began
    taught = _recall(model, first, [way.asked(fact.taught[0]) for fact in first])
    unseen = _recall(model, first, [way.asked(fact.unseen) for fact in first])
    others = [way.asked(text) for text in (*_GENERAL, *_of_strangers(facts))]
    same = [one == other for one, other in zip(before, answered(model, others, 1), strict=True)]
    reading: list[float] = []
    for fact in first[:_TIMED]:
        began = process_time()
        asked = way.asked(fact.taught[0])
        model.next_token(asked.tokens, asked.entries)
        reading.append(process_time() - began)
    yield Figure(name=f"{way.name}: {_TAUGHT}", value=taught, unit="")
    yield Figure(name=f"{way.name}: recall in unseen words", value=unseen, unit="")
    yield Figure(
        name=f"{way.name}: general questions, next token as before", value=fmean(same[: len(_GENERAL)]), unit=""
    )
    yield Figure(name=f"{way.name}: of strangers, next token as before", value=fmean(same[len(_GENERAL) :]), unit="")
    yield Figure(name=f"{way.name}: to write a fact", value=writing / count, unit="CPU-s")
    yield Figure(name=f"{way.name}: to the first token of an answer", value=median(reading), unit="CPU-s")
    yield Figure(name=f"{way.name}: bytes a fact", value=way.stored() / count / 1e3, unit="kB")


def _forgotten_and_more(
    way: WayToRemember, model: TextModel, facts: Sequence[MadeUpFact], count: int
) -> Iterator[Figure]:  # fmt: skip
    """One of them forgotten, then as many more written: what the others are worth."""
    one, began = facts[count // 2], process_time()
    way.forget(one)
    forgetting = process_time() - began
    said = one.is_in(model.answer(answered(model, [way.asked(one.taught[0])], _SAID)[0]))
    yield Figure(name=f"{way.name}: to forget a fact", value=forgetting, unit="CPU-s")
    yield Figure(name=f"{way.name}: the forgotten fact is still said", value=float(said), unit="")
    if (never := way.never_held(one)) is not None:
        yield Figure(name=f"{way.name}: forgotten as if it had never been", value=float(never),
                     unit="", bar=1, more=True)  # fmt: skip
    began = process_time()
    way.learn([fact for fact in facts if fact != one])
    more = process_time() - began
    kept = [fact for fact in facts[:count] if fact != one]
    later = _recall(model, kept, [way.asked(fact.taught[0]) for fact in kept])
    yield Figure(name=f"{way.name}: {_TAUGHT} after as many more", value=later, unit="")
    yield Figure(name=f"{way.name}: to write one of as many more", value=more / (len(facts) - count), unit="CPU-s")


def _of_strangers(facts: Sequence[MadeUpFact]) -> list[str]:
    """What is asked of people of whom nothing is told, in wordings of the facts."""
    return [fact.other for fact in facts[:_STRANGERS_ASKED]]


def _recall(model: TextModel, facts: Sequence[MadeUpFact], asked: Sequence[AskedTokens]) -> float:
    """The share of facts of which the answer holds the value."""
    return share(facts, [model.answer(said) for said in answered(model, asked, _SAID)])


def answered(model: TextModel, asked: Sequence[AskedTokens], limit: int) -> list[list[int]]:
    """The likeliest tokens behind each of what is asked, in its order, up to the end of the answer.

    Questions with the same weights are read together: those with a past, if as much lies before each and they are as
    long as each other; the others beside padding.
    """
    asked = _begun(model, asked)
    groups: dict[tuple[object, ...], list[int]] = {}
    for n in sorted(range(len(asked)), key=lambda n: len(asked[n].tokens)):
        past = asked[n].entries.past
        form = (len(asked[n].tokens), asked[n].entries.position, past[0][0].shape[2]) if past else ()
        groups.setdefault((asked[n].weights, *form), []).append(n)
    said: dict[int, list[int]] = {}
    for group in groups.values():
        for at in range(0, len(group), _TOGETHER):
            numbers = group[at : at + _TOGETHER]
            entries = _beside([asked[n].entries for n in numbers])
            rows = model.decoder.generate([asked[n].tokens for n in numbers], limit, frozenset({model.end}), entries)
            said |= zip(numbers, rows, strict=True)
    return [said[n] for n in range(len(asked))]


def _begun(model: TextModel, asked: Sequence[AskedTokens]) -> Sequence[AskedTokens]:
    """The same, with what all of them begin with read already, if that is long and nothing is attached."""
    opening = asked[0].tokens
    shared = min(common_run(opening, one.tokens[:-1]) for one in asked)
    if shared < _LONG or any(one.entries is not BARE for one in asked):
        return asked
    with torch.inference_mode():
        _, past = model.decoder.run(model.decoder.embed(model.batch(opening[:shared])))
    entries = Entries(tuple(past))
    return [AskedTokens(one.tokens[shared:], entries) for one in asked]


def _beside(entries: Sequence[Entries]) -> Entries:
    """What is attached to each of several rows, for all of them: pasts below each other, the same weights."""
    first = entries[0]
    if not first.past:
        return first
    layers = zip(*(one.past for one in entries), strict=True)
    past = [tuple(torch.cat([pair[n] for pair in layer]) for n in (0, 1)) for layer in layers]
    return replace(first, past=tuple((keys, values) for keys, values in past))
