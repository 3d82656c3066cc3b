"""Parametric memory: facts learnt as low-rank adapters on the upper layers, beside matrices that never change.

    y = W x + (α/r) B A x,      A (r, in) ~ N(0, 1/r),  B (out, r) = 0 before anything is learnt

    loss = CE(facts) + λ_o KL(bare ‖ adapted; others' questions) + λ_s KL(bare ‖ adapted; own sentences)

Source: Hu et al., LoRA, arXiv:2106.09685. The two terms behind the first are ours: a model that learns facts alone
forgets how to speak, and answers anybody's question with them. So it rehearses sentences that it has written itself,
the same questions asked about other people, and other questions of the user's, each held to what the bare model says
there. So a shard also keeps silent about what lies in another, and shards disturb each other less when summed.

Unlearning is exact. A fact lies in the shard that its id says, whatever else is known; a shard is learnt from its own
facts alone, from a seed of its own. `forget` drops the shards that a source has a part in, and the next `write` learns
them from what is left: the same bits as a memory has that never saw the source, with as many threads on one machine.

Layers below the first adapter are run once for each text; what all prompts begin with is run once for each step.
Shapes: N rows, T time, P tokens that all prompts begin with, D width, V vocabulary, r rank.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import ClassVar, Final, TypeAlias

import gguf
import safetensors.torch
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.errors import Invalid
from mnemic.neural import shards
from mnemic.neural.base import Family, Identity, State, settings_digest, source_digests
from mnemic.neural.gguf_weights import TextModel, gguf_name, interleaved
from mnemic.neural.kv_memory import common_run
from mnemic.neural.llama import BARE, Entries, LowRank

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many steps are done, and how many there are at most."""

OPENINGS: Final = (
    "The history of the city began", "In the morning she opened", "Scientists have found that", "To bake bread, first",
    "The river runs through", "When the train arrived,", "Most people think that", "The best way to learn",
    "Once upon a time there was", "The function returns", "During the winter, the", "The company announced that",
    "In mathematics, a", "The museum is open", "If the file does not exist,", "The law requires that",
)  # fmt: skip
"""What the sentences begin with that the model writes in order to rehearse them."""

_SENTENCE: Final = 20
"""Tokens of a sentence of the model's own, behind its opening."""

_ANSWER: Final = 10
"""Most tokens of what the bare model answers to another's question."""


@dataclass(frozen=True, slots=True)
class TaughtFact:
    """Something to be known without being told.

    Attributes:
        id: Says which shard it lies in.
        questions: Ways to ask for it, in the user's words.
        answer: What the assistant then says.
        others: The same asked about other people, which it is no answer to.
        sources: What it was read from.
        rehearsed: Further questions that it is no answer to; those that another fact of its shard answers are left out.
    """

    id: str
    questions: tuple[str, ...]
    answer: str
    others: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    rehearsed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoraSettings:
    """How facts are learnt.

    Attributes:
        first: The lowest layer with an adapter; negative ones count from the top.
        targets: The matrices that have one.
        shards: How many adapters facts are spread over.
        batch, others, sentences: Rows of each kind in a step.
        passes: How often each question is seen, at most; few facts are seen oftener, for `least` steps at most.
        learnt: Mean loss of a pass at which there is nothing left to learn.
        facts_limit: Most facts of a shard.
    """

    rank: int = 8
    alpha: float = 16.0
    first: int = -10
    targets: tuple[str, ...] = ("self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")
    shards: int = 1
    batch: int = 8
    others: int = 8
    sentences: int = 3
    rate: float = 2e-3
    passes: int = 8
    least: int = 48
    learnt: float = 0.01
    others_weight: float = 2.0
    sentences_weight: float = 1.5
    seed: int = 0
    facts_limit: int = 40


@dataclass(frozen=True, slots=True)
class _Lesson:
    """Rows to learn from, as they are before the first layer with an adapter.

    Attributes:
        h: (N, T, D), behind what all begin with; shorter rows end in padding.
        counted: (N, T), the positions whose next token counts.
        next: (N, T), that token.
        bare: (positions, V), what the bare model makes of counted positions, in their order; None where none is asked.
    """

    h: Tensor
    counted: Tensor
    next: Tensor
    bare: Tensor | None = None

    def rows(self, chosen: Sequence[int]) -> _Lesson:
        """Some rows, without the padding that none of them needs."""
        index = torch.tensor(chosen)
        counted = self.counted[index]
        length = int(counted.any(0).nonzero().max()) + 1
        bare = None
        if self.bare is not None:
            starts = self.counted.sum(1).cumsum(0) - self.counted.sum(1)
            bare = torch.cat([self.bare[starts[n] : starts[n] + self.counted[n].sum()] for n in chosen])
        return _Lesson(self.h[index, :length], counted[:, :length], self.next[index, :length], bare)


class LoraMemory:
    """Facts as adapters. A state holds, for each shard, its matrices under PEFT's names, a digest of what it was learnt
    from, and digests of its sources."""

    family: ClassVar[Family] = Family.PARAMETER
    bounded: ClassVar[bool] = True

    def __init__(self, model: TextModel, settings: LoraSettings | None = None) -> None:
        self.model, self.settings = model, settings or LoraSettings()
        layers = model.decoder.shape.layers
        self._first = self.settings.first if self.settings.first >= 0 else max(0, layers + self.settings.first)
        if not (0 <= self._first < layers and self.settings.rank > 0 and self.settings.shards > 0):
            raise Invalid("settings", f"name no adapters in {layers} layers", "Give a layer, a rank and shards it has.")
        self._targets = [
            name
            for layer in range(self._first, layers)
            for target in self.settings.targets
            if (name := f"model.layers.{layer}.{target}.weight") in model.decoder.weights
        ]

    @cached_property
    def identity(self) -> Identity:
        """Whose its adapters are."""
        return Identity("lora", self.model.decoder.digest, self.model.tokenizer_digest, settings_digest(self.settings))

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The model's own."""
        return self.model.decoder.weights

    @cached_property
    def _matrices(self) -> tuple[str, ...]:
        """The names of all matrices of a shard."""
        return tuple(matrix for name in self._targets for matrix in _both(name))

    def empty(self) -> State:
        """Nothing is known."""
        return {}

    def shard_of(self, fact: str) -> int:
        """The number of the shard in which a fact of this id lies."""
        return shards.shard_of(fact, self.settings.shards)

    def lying(self, given: Iterable[TaughtFact]) -> dict[int, list[TaughtFact]]:
        """The facts of each shard in which any lies, by its number.

        Raises:
            TooLarge: there are more facts than the shards take.
        """
        ordered = sorted(given, key=lambda fact: fact.id)
        return shards.lying(ordered, self.settings.shards, self.settings.facts_limit, "facts")

    def shards(self, state: State) -> list[int]:
        """The numbers of the shards that are learnt."""
        return shards.numbers(state)

    def write(self, given: Sequence[TaughtFact], state: State, progress: Progress | None = None) -> State:
        """Learn all facts that are to be known: shards of which nothing has changed stand, the others are learnt anew.

        Raises:
            Invalid: two facts answer one question differently, or one has no question or answer.
            TooLarge: there are more facts than the shards take.
        """
        _check(given)
        made: dict[int, State] = {}
        for number, facts in self.lying(given).items():
            learnt, part = shards.digest(_said(facts)), shards.part(state, number)
            is_whole = part.keys() >= {*self._matrices, "learnt", "sources"}  # the half of a shard is learnt anew
            if not is_whole or not torch.equal(part["learnt"], learnt):
                with torch.enable_grad():
                    adapter = self._learn(facts, number, progress)
                part = {name: tensor.half().contiguous() for name, tensor in adapter.items()}
                part["learnt"] = learnt
                part["sources"] = source_digests(source for fact in facts for source in fact.sources)
            made[number] = part
        return shards.whole(made)

    def read(self, asked: Tensor, state: State) -> Tensor:
        """Logits (B, T, V) of tokens (B, T), with all shards weighed in."""
        with torch.inference_mode():
            return self.model.decoder.logits(asked, self.attach(state))

    def attach(self, state: State, weights: Mapping[int, float] | None = None) -> Entries:
        """The adapters of shards, each with its weight, for a decoder; without weights all of them, each with 1."""
        chosen = dict.fromkeys(self.shards(state), 1.0) if weights is None else weights
        added: dict[str, list[LowRank]] = {}
        scale = self.settings.alpha / self.settings.rank
        for number, weight in sorted(chosen.items()):
            if weight and (part := shards.complete(state, number, self._matrices)):
                for name in self._targets:
                    a, b = (part[peft_name(name, side)].float() for side in "AB")
                    added.setdefault(name, []).append(LowRank(a, b, scale * weight))
        return Entries(added=added) if added else BARE

    def forget(self, sources: Collection[str], state: State) -> State:
        """Drop every shard that one of these sources has a part in; `write` learns it again from what is left."""
        return shards.without(state, sources)

    def peft_files(self, state: State, shard: int) -> dict[str, bytes]:
        """A shard as PEFT reads it: the name of each file, and its bytes."""
        part = shards.complete(state, shard, self._matrices)
        matrices = {name: part[name] for name in self._matrices}
        config = {
            "peft_type": "LORA",
            "task_type": "CAUSAL_LM",
            "base_model_name_or_path": self.model.decoder.digest,
            "r": self.settings.rank,
            "lora_alpha": self.settings.alpha,
            "lora_dropout": 0.0,
            "bias": "none",
            "inference_mode": True,
            "target_modules": sorted({target.split(".")[-1] for target in self.settings.targets}),
            "layers_to_transform": sorted({int(name.split(".")[2]) for name in self._targets}),
        }
        return {
            "adapter_model.safetensors": safetensors.torch.save(matrices, metadata={"format": "pt"}),
            "adapter_config.json": json.dumps(config, indent=1).encode(),
        }

    def write_gguf(self, state: State, shard: int, path: Path) -> None:
        """Write a shard as an adapter that llama.cpp loads beside the model and weighs for each request."""
        writer = gguf.GGUFWriter(path, "llama")
        writer.add_type("adapter")
        writer.add_string("adapter.type", "lora")
        writer.add_float32("adapter.lora.alpha", self.settings.alpha)
        heads = {"q_proj": self.model.decoder.shape.heads, "k_proj": self.model.decoder.shape.kv_heads}
        part = shards.complete(state, shard, self._matrices)
        for name in self._targets:
            a, b = (part[peft_name(name, side)].numpy() for side in "AB")
            if (short := name.split(".")[-2]) in heads:
                b = interleaved(b, heads[short])
            writer.add_tensor(f"{gguf_name(name)}.lora_a", a)
            writer.add_tensor(f"{gguf_name(name)}.lora_b", b)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    def _learn(self, facts: Sequence[TaughtFact], shard: int, progress: Progress | None) -> State:
        """The matrices of one shard, under PEFT's names."""
        settings = self.settings
        draw = torch.Generator().manual_seed(settings.seed * 1_000 + shard)
        order = Random(settings.seed * 1_000 + shard)  # noqa: S311 - an order, not a secret
        adapter = {matrix: self._blank(matrix, draw) for matrix in self._matrices}
        taught, others, prefix = self._lessons(facts)
        optimizer = torch.optim.Adam(adapter.values(), lr=settings.rate, betas=(0.9, 0.99))
        count = len(taught.h)
        size = min(settings.batch, count)
        steps = max(settings.passes * -(-count // size), settings.least)
        deck, losses = list[int](), list[float]()
        for step in range(steps):
            if len(deck) < size:
                if losses and sum(losses) / len(losses) < settings.learnt:
                    break
                deck, losses = [*deck, *order.sample(range(count), count)], []
            chosen, deck = deck[:size], deck[size:]
            for group in optimizer.param_groups:
                group["lr"] = settings.rate * min(1.0, (step + 1) / 5, 0.1 + (steps - step) / steps)
            optimizer.zero_grad()
            entries = Entries(added=self._added(adapter))
            loss = self._loss(taught.rows(chosen), prefix, entries)
            losses.append(float(loss.detach()))
            if settings.others_weight and others is not None:
                rows = order.sample(range(len(others.h)), min(settings.others, len(others.h)))
                loss = loss + settings.others_weight * self._loss(others.rows(rows), prefix, entries)
            if settings.sentences_weight:
                rows = order.sample(range(len(self._sentences.h)), min(settings.sentences, len(self._sentences.h)))
                loss = loss + settings.sentences_weight * self._loss(self._sentences.rows(rows), None, entries)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(adapter.values(), 1.0)
            optimizer.step()
            if progress is not None:
                progress(step + 1, steps)
        return {name: tensor.detach() for name, tensor in adapter.items()}

    def _blank(self, matrix: str, draw: torch.Generator) -> Tensor:
        out, into = self.weights[weight_name(matrix)].shape
        if matrix.endswith("lora_B.weight"):
            return torch.zeros(out, self.settings.rank, requires_grad=True)
        return (torch.randn(self.settings.rank, into, generator=draw) / self.settings.rank**0.5).requires_grad_()

    def _added(self, adapter: State) -> dict[str, list[LowRank]]:
        scale = self.settings.alpha / self.settings.rank
        return {
            name: [LowRank(adapter[peft_name(name, "A")], adapter[peft_name(name, "B")], scale)]
            for name in self._targets
        }

    def _loss(self, lesson: _Lesson, prefix: Tensor | None, entries: Entries) -> Tensor:
        """Cross-entropy of the next tokens, or where there is the bare model's view, KL(bare ‖ adapted): means."""
        logits = self._upper(lesson, prefix, entries)
        if lesson.bare is None:
            return F.cross_entropy(logits, lesson.next[lesson.counted])
        return F.kl_div(F.log_softmax(logits, -1), lesson.bare, reduction="batchmean", log_target=True)

    def _upper(self, lesson: _Lesson, prefix: Tensor | None, entries: Entries) -> Tensor:
        """Logits (positions, V) of counted positions, from before the first layer with an adapter."""
        decoder = self.model.decoder
        if prefix is not None:
            _, kept = decoder.run(prefix, entries, first=self._first)
            entries = Entries(_repeated(kept, len(lesson.h)), added=entries.added)
        h, _ = decoder.run(lesson.h, entries, first=self._first)
        return decoder.head(h[lesson.counted])

    def _lessons(self, facts: Sequence[TaughtFact]) -> tuple[_Lesson, _Lesson | None, Tensor | None]:
        """What is taught, what others' answers are to stay, and what all of these begin with (1, P, D)."""
        end = self.model.end
        taught = [
            (self.model.prompt(("user", question)), [*self.model.ids(fact.answer), end])
            for fact in facts
            for question in fact.questions
        ]
        answered = {question for fact in facts for question in fact.questions}
        staying = [question for fact in facts for question in (*fact.others, *fact.rehearsed)]
        asked = [self.model.prompt(("user", question)) for question in staying if question not in answered]
        answers = self.model.decoder.generate(asked, _ANSWER, frozenset({end})) if asked else []
        others = [(prompt, [*answer, end]) for prompt, answer in zip(asked, answers, strict=True)]
        prompts = [prompt for prompt, _ in taught + others]
        shared = min(common_run(prompts[0], prompt) for prompt in prompts)
        opening = prompts[0][: min(shared, min(map(len, prompts)) - 1)]
        prefix = None
        if opening:
            with torch.inference_mode():
                prefix = self._lower(torch.tensor([opening]), BARE)[0].clone()
        stay = self._lesson(others, opening, prefix, bare=True) if others else None
        return self._lesson(taught, opening, prefix), stay, prefix

    @cached_property
    def _sentences(self) -> _Lesson:
        """Sentences that the bare model has written, to be held to what it makes of them."""
        openings = [self.model.ids(opening) for opening in OPENINGS]
        written = self.model.decoder.generate(openings, _SENTENCE, frozenset({self.model.end}), least=_SENTENCE)
        pairs = [(ids[:1], [*ids[1:], *more]) for ids, more in zip(openings, written, strict=True)]
        return self._lesson(pairs, [], None, bare=True)

    def _lesson(
        self,
        pairs: Sequence[tuple[list[int], list[int]]],
        opening: Sequence[int],
        prefix: Tensor | None,
        *,
        bare: bool = False,
    ) -> _Lesson:
        """Prompts and what follows each, as rows behind an opening that all have in common."""
        rows = [[*prompt[len(opening) :], *answer] for prompt, answer in pairs]
        longest = max(map(len, rows)) - 1
        ids, counted = (
            torch.zeros(len(rows), longest + 1, dtype=torch.int64),
            torch.zeros(len(rows), longest, dtype=torch.bool),
        )
        for n, (row, (prompt, _)) in enumerate(zip(rows, pairs, strict=True)):
            ids[n, : len(row)] = torch.tensor(row)
            counted[n, len(prompt) - len(opening) - 1 : len(row) - 1] = True
        with torch.inference_mode():
            before = BARE
            if opening:
                _, kept = self._lower(torch.tensor([list(opening)]), BARE)
                before = Entries(_repeated(kept, len(rows)))
            h, _ = self._lower(ids[:, :-1], before)
            lesson = _Lesson(h.clone(), counted, ids[:, 1:])
            if not bare:
                return lesson
            logs = F.log_softmax(self._upper(lesson, prefix, BARE), -1)
        return _Lesson(lesson.h, counted, lesson.next, logs.clone())

    def _lower(self, ids: Tensor, entries: Entries) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """Ids (N, T) to hidden states (N, T, D) before the first layer with an adapter."""
        return self.model.decoder.run(self.model.decoder.embed(ids), entries, last=self._first)


def peft_name(name: str, side: str) -> str:
    """What PEFT calls one side, A or B, of the adapter beside a matrix."""
    return f"base_model.model.{name.removesuffix('.weight')}.lora_{side}.weight"


def weight_name(matrix: str) -> str:
    """The matrix that one of PEFT's names is beside: `peft_name` the other way."""
    return matrix.removeprefix("base_model.model.").rsplit(".lora_", 1)[0] + ".weight"


def _both(name: str) -> tuple[str, str]:
    return peft_name(name, "A"), peft_name(name, "B")


def _repeated(kept: Sequence[tuple[Tensor, Tensor]], rows: int) -> tuple[tuple[Tensor, Tensor], ...]:
    return tuple((k.expand(rows, -1, -1, -1), v.expand(rows, -1, -1, -1)) for k, v in kept)


def facts_digest(facts: Iterable[TaughtFact]) -> str:
    """A digest of all that a shard is learnt from, in whatever order it is given."""
    return bytes(shards.digest(_said(facts)).tolist()).hex()


def _said(facts: Iterable[TaughtFact]) -> list[list[object]]:
    """All that is learnt from facts, in the order of their ids."""
    ordered = sorted(facts, key=lambda fact: fact.id)
    return [[f.id, f.questions, f.answer, f.others, f.rehearsed, sorted(f.sources)] for f in ordered]


def _check(facts: Sequence[TaughtFact]) -> None:
    """Refuse facts that cannot be learnt together."""
    answers: dict[str, TaughtFact] = {}
    for fact in facts:
        if not fact.questions or not fact.answer.strip() or not all(map(str.strip, fact.questions)):
            raise Invalid(
                "facts", f"{fact.id!r} has no question, or no answer", "Say what is asked, and what is answered."
            )
        for question in fact.questions:
            other = answers.setdefault(question, fact)
            if other.answer != fact.answer or (other.id == fact.id and other is not fact):
                remedy = "Learn the one that holds now."
                raise Invalid("facts", f"{other.id!r} and {fact.id!r} answer {question!r} differently", remedy)
