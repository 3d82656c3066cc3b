"""Trains one memory of a package that others wrote, or ours, in the outer model of our experiment, and times its steps.

Started in the package's own environment: `main` reads what to run as JSON, and prints what came of it. Both of a pair
have the same data, steps, seeds and outer model; only what stands between them and the answer is another.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, Final, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.lab.tasks.neural import infini_attention_experiment as passkey_task
from mnemic.lab.tasks.neural import knn_attention_experiment as pair_task
from mnemic.lab.tasks.neural.made_up_people import MadeUpFact, made_up_facts, share
from mnemic.lab.tasks.neural.recall_task import RecallModel, accuracy, train
from mnemic.lab.tasks.neural.titans_experiment import overwriting, titans_rule
from mnemic.neural.gguf_weights import TextModel, open_gguf, single_threaded
from mnemic.neural.infini_attention import InfiniSettings
from mnemic.neural.knn_attention import KnnAttention, KnnSettings
from mnemic.neural.llama import Entries, LowRank
from mnemic.neural.lora_memory import LoraMemory, LoraSettings, TaughtFact, peft_name
from mnemic.neural.titans import TitansSettings

WIDTH: Final = 64
_TESTED: Final = 4
_FAR: Final = 12
"""Segments back, of 16 pairs each, of which a store is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerRun:
    """One training.

    Attributes:
        task: Which of `TASKS`.
        peer: The package's memory; ours otherwise.
        options: Of the memory.
        folder: For what a package writes beside itself.
        gguf, cache: The smallest real model, and where it lies converted.
    """

    task: str
    peer: bool
    seed: int
    steps: int
    folder: str
    options: Mapping[str, Any] = field(default_factory=dict)
    gguf: str = ""
    cache: str = ""


@dataclass(frozen=True, slots=True)
class PeerResult:
    """What came of a training.

    Attributes:
        quality: Share of what was asked that was answered.
        step: CPU-s of a step, evaluation not counted.
        weights: Numbers that are trained, between what is given and the head.
    """

    quality: float
    step: float
    weights: int


def titans(run: PeerRun) -> PeerResult:
    """Values written over, 48 writes over 16 keys, by `NeuralMemory` of titans-pytorch or by our Titans."""
    options = dict(run.options)
    rate = options.pop("outer_rate", 1e-2)
    rule, weights = _neural_memory(**options) if run.peer else titans_rule(TitansSettings(width=WIDTH, seed=run.seed))
    model = RecallModel(WIDTH, rule, weights, run.seed)
    step = _step(
        run,
        lambda: train(model.weights, model.logits, lambda draw: overwriting(48, 16, draw), run.steps, run.seed, rate),
    )
    return PeerResult(
        accuracy(model.logits, lambda draw: overwriting(48, 64, draw), _TESTED, run.seed), step, _count(weights)
    )


def _neural_memory(*, chunk: int, matrices: int = 2, **options: Any) -> tuple[Any, dict[str, Tensor]]:
    """The package's memory as a rule: all is written, then all is asked of the memory as the last chunk left it.

    Args:
        matrices: Of the memory's network; 1 is a matrix without a norm around it, as ours.
    """
    package = importlib.import_module("titans_pytorch")
    memory = package.NeuralMemory(
        WIDTH, chunk_size=(9, chunk), default_model_kwargs={"depth": matrices, "expansion_factor": 2.0},
        mem_model_norm_add_residual=matrices > 1, **options,
    )  # fmt: skip

    def rule(h: Tensor, q: Tensor) -> Tensor:
        written, _ = memory.store_memories(h, return_surprises=False)
        read: Tensor = memory.retrieve_memories(q, {name: steps[:, -1:] for name, steps in written.items()})
        return read

    return rule, dict(memory.named_parameters())


def memorizing(run: PeerRun) -> PeerResult:
    """Pairs of segments ago, by `KNNAttention` of memorizing-transformers-pytorch or by our layer in one softmax."""
    layer = _FaissLayer(run) if run.peer else KnnAttention(
        KnnSettings(width=WIDTH, rows=16, nearest=32, mix="joint", seed=run.seed)
    )  # fmt: skip
    pairs: list[pair_task.LearnedPairs] = []
    step = _step(run, lambda: pairs.append(pair_task.learned_pairs(layer, run.seed, run.steps)))
    return PeerResult(pair_task.far_recall(pairs[0], run.seed, _FAR), step, _count(layer.weights))


class _FaissLayer:
    """The package's layer, whose store is cleared where ours is empty; no key of it is learned through."""

    def __init__(self, run: PeerRun) -> None:
        package = importlib.import_module("memorizing_transformers_pytorch.memorizing_transformers_pytorch")
        store = importlib.import_module("memorizing_transformers_pytorch.knn_memory")
        self._layer = package.KNNAttention(
            dim=WIDTH, heads=1, dim_head=WIDTH, num_retrieved_memories=32, **run.options
        )  # fmt: skip
        self._store = store.KNNMemory(
            dim=WIDTH, max_memories=1_024, num_indices=16, multiprocessing=False,
            memmap_filename=str(Path(run.folder) / "store"),
        )  # fmt: skip
        self.weights = dict(self._layer.named_parameters())

    def empty(self) -> None:
        self._store.clear()

    def write(self, given: Tensor, state: None) -> None:
        keys, values = self._layer.to_kv(given).detach().chunk(2, dim=-1)
        self._store.add(torch.stack((F.normalize(keys, dim=-1), values), dim=-2))

    def read(self, asked: Tensor, state: None) -> Tensor:
        read: Tensor = self._layer(asked, knn_memory=self._store, add_knn_memory=False)[0]
        return read


def infini(run: PeerRun) -> PeerResult:
    """A passkey eight segments long, by `CausalAttention` of infini-transformer-pytorch or by our block."""
    if run.peer:
        package = importlib.import_module("infini_transformer_pytorch.infini_transformer")
        block = package.CausalAttention(WIDTH, dim_head=WIDTH, heads=1, **run.options)

        def read(x: Tensor) -> Tensor:
            memories, made = None, []
            for part in x.split(passkey_task.SEGMENT, 1):
                out, _, memories = block(part, past_memories=memories, return_new_memories=True)
                made.append(out)
            return torch.cat(made, 1)

        model = passkey_task.PasskeyModel(WIDTH, read, dict(block.named_parameters()), run.seed)
    else:
        model = passkey_task.passkey_model(InfiniSettings(kernel="unit", seed=run.seed))
    step = _step(run, lambda: passkey_task.train_passkeys(model, run.steps, run.seed))
    told = passkey_task.passkeys_told(model, passkey_task.TRAINED, _TESTED, run.seed)
    return PeerResult(told, step, sum(weight.numel() for weight in model.weights[3:]))


def lora(run: PeerRun) -> PeerResult:
    """Four facts as adapters on the smallest real model, by PEFT around Transformers' Llama or by our own module.

    Facts alone, without what is rehearsed beside them: PEFT has no such thing.
    """
    model = open_gguf(Path(run.gguf), Path(run.cache))
    facts = made_up_facts(4, run.seed)
    settings = LoraSettings(
        seed=run.seed, least=run.steps, passes=1, learnt=0.0, others_weight=0.0, sentences_weight=0.0
    )  # fmt: skip
    memory, told = LoraMemory(model, settings), [fact.taught_fact() for fact in facts]
    ticks: list[float] = []  # at the end of each step: what comes before the first is no step
    if run.peer:
        entries, count = _peft(model, told, settings, ticks)
    else:
        lessons = [TaughtFact(one.id, one.questions, one.answer) for one in told]
        state = memory.write(lessons, memory.empty(), lambda step, steps: ticks.append(process_time()))
        entries = memory.attach(state)
        count = sum(tensor.numel() for name, tensor in state.items() if ".lora_" in name)
    return PeerResult(_said(model, facts, entries), (ticks[-1] - ticks[0]) / (len(ticks) - 1), count)


def _said(model: TextModel, facts: list[MadeUpFact], entries: Entries) -> float:
    """Share of facts said in taught words and in others."""
    asked = [*(fact.taught[0] for fact in facts), *(fact.unseen for fact in facts)]
    return share([*facts, *facts], model.answers(asked, entries, 12))


def _peft(
    model: TextModel, facts: list[TaughtFact], settings: LoraSettings, ticks: list[float]
) -> tuple[Entries, int]:  # fmt: skip
    """Adapters that PEFT has trained, as ours are attached, and how many numbers they are."""
    peft, transformers = importlib.import_module("peft"), importlib.import_module("transformers")
    shape = model.decoder.shape
    config = transformers.LlamaConfig(
        vocab_size=shape.vocabulary, hidden_size=shape.width, intermediate_size=shape.hidden,
        num_hidden_layers=shape.layers, num_attention_heads=shape.heads, num_key_value_heads=shape.kv_heads,
        head_dim=shape.head_width, max_position_embeddings=shape.context, rms_norm_eps=shape.epsilon,
        rope_theta=shape.rope_base, tie_word_embeddings=True, use_cache=False,
    )  # fmt: skip
    llama = transformers.LlamaForCausalLM(config)
    llama.load_state_dict(dict(model.decoder.weights), strict=False)
    torch.manual_seed(settings.seed)
    first = shape.layers + settings.first
    tuned = peft.get_peft_model(llama, peft.LoraConfig(
        r=settings.rank, lora_alpha=settings.alpha, lora_dropout=0.0, bias="none", task_type="CAUSAL_LM",
        target_modules=sorted({name.split(".")[-1] for name in settings.targets}),
        layers_to_transform=list(range(first, shape.layers)),
    ))  # fmt: skip
    rows = [
        (model.prompt(("user", question)), [*model.ids(fact.answer), model.end])
        for fact in sorted(facts, key=lambda fact: fact.id)
        for question in fact.questions
    ]
    weights = [weight for weight in tuned.parameters() if weight.requires_grad]
    optimizer = torch.optim.Adam(weights, lr=settings.rate, betas=(0.9, 0.99))
    order, deck = Random(settings.seed * 1_000), list[int]()  # noqa: S311 - an order, not a secret
    for step in range(settings.least):
        if len(deck) < settings.batch:
            deck += order.sample(range(len(rows)), len(rows))
        chosen, deck = deck[: settings.batch], deck[settings.batch :]
        longest = max(len(rows[n][0]) + len(rows[n][1]) for n in chosen)
        ids, labels = (torch.full((len(chosen), longest), fill) for fill in (0, -100))
        for at, n in enumerate(chosen):
            prompt, answer = rows[n]
            ids[at, : len(prompt) + len(answer)] = torch.tensor([*prompt, *answer])
            labels[at, len(prompt) : len(prompt) + len(answer)] = torch.tensor(answer)
        for group in optimizer.param_groups:
            group["lr"] = settings.rate * min(1.0, (step + 1) / 5, 0.1 + (settings.least - step) / settings.least)
        optimizer.zero_grad()
        tuned(input_ids=ids, labels=labels).loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        ticks.append(process_time())
    made = {name.replace(".default.", "."): tensor.detach() for name, tensor in tuned.named_parameters()}
    names = [f"model.layers.{n}.{target}.weight" for n in range(first, shape.layers) for target in settings.targets]
    scale = settings.alpha / settings.rank
    added = {
        name: [LowRank(made[peft_name(name, "A")], made[peft_name(name, "B")], scale)] for name in names
    }  # fmt: skip
    return Entries(added=added), sum(weight.numel() for weight in weights)


def _step(run: PeerRun, train_it: Callable[[], None]) -> float:
    """CPU-s of a step of a training; what the first optimiser of a process loads is loaded before."""
    warm = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.AdamW([warm])
    warm.sum().backward()
    optimizer.step()
    began = process_time()
    train_it()
    return (process_time() - began) / run.steps


def _count(weights: Mapping[str, Tensor]) -> int:
    return sum(weight.numel() for weight in weights.values())


PeerTask: TypeAlias = Callable[[PeerRun], PeerResult]

TASKS: Final[Mapping[str, PeerTask]] = {"titans": titans, "memorizing": memorizing, "infini": infini, "lora": lora}


def measured(run: PeerRun) -> PeerResult:
    """Train with one thread."""
    with single_threaded():
        torch.manual_seed(run.seed)
        return TASKS[run.task](run)


def main() -> None:
    """Read a run from standard input; its result is the last line of standard output."""
    result = measured(PeerRun(**json.load(sys.stdin)))
    sys.stdout.write(f"\n{json.dumps(asdict(result))}\n")
