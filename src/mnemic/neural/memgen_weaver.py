"""A weaver, and the frozen reasoner that it weaves into: what latents are made of, what follows them, how it is learnt.

    u  = π_{θ+ΔW}([x ; Q]) at the last K         K learned queries Q go through the reasoner with adapters ΔW
    M  = s (n(u) + B_P A_P n(u))                 projected to what the reasoner takes as its input
    y  ~ π_θ([emb(x) ; M ; emb(y)])              reasoner: frozen

    loss = −log π_θ(answer | x, M), reaching Q, ΔW, A_P, B_P and s through the frozen reasoner

n divides by the root mean square. The text is run once, without adapters: whoever reads it later, the weaver among
them, has the same keys and values. Below the layer where latents go in nobody sees them. `memgen` says whose idea this
is, what we do otherwise, and when something is woven in at all.
Shapes: N texts, T time, K latents, D width, V vocabulary, A tokens of an answer, r rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from random import Random
from typing import Final, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.errors import Invalid
from mnemic.neural.base import State
from mnemic.neural.gguf_weights import TextModel
from mnemic.neural.llama import Entries, KeysAndValues, LowRank

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many steps are done, and how many there are at most."""


UNTOLD: Final = (
    "What is the capital of Portugal?", "How do I clean a window?", "Write a sentence about autumn.",
    "What is 15 minus 6?", "Who discovered penicillin?", "Explain what a noun is.", "Name two kinds of tree.",
    "How hot is the sun?", "What does a carpenter do?", "Tell me a riddle.", "Which bird cannot fly?",
    "Why is grass green?", "Where does the Nile end?", "What is my favourite colour?",
    "Which city is the largest in Japan?", "Who lives in an igloo?", "What drives a car?", "Where do bears live?",
    "What job does a pilot have?", "Which pet is easy to keep?", "What does he like?", "Is latex bad for you?",
    "How long does a cat live?", "What should I learn next?",
)  # fmt: skip
"""Prompts that no experience is about, beside those that experiences bring along."""


@dataclass(frozen=True, slots=True)
class MemGenSettings:
    """How experiences are learnt and woven in.

    Attributes:
        latents: K, how many positions one weaving inserts.
        first: The layer before which latents are inserted, and the lowest of the weaver; negative ones count from the
            top. At 0 they are inserted into the model's input, as the paper's.
        targets: The weaver's matrices that have adapters.
        insertions: Most weavings in one answer.
        shards: Weavers that experiences are spread over, by their ids.
        batch: Texts of a step.
        passes: How often each text is seen, at most; few texts are seen oftener, for `least` steps at most.
        learnt: Mean loss of a pass at which there is nothing left to learn.
        cost: Nats a token that weaving has to save.
        untold: How many of `UNTOLD` the trigger learns from.
        ridge: Of the trigger's weights, as a share of its texts' mean square.
        experiences_limit: Most experiences of a shard.
    """

    latents: int = 4
    rank: int = 4
    alpha: float = 8.0
    first: int = -10
    targets: tuple[str, ...] = ("self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")
    insertions: int = 1
    shards: int = 1
    batch: int = 4
    rate: float = 3e-3
    passes: int = 20
    least: int = 60
    learnt: float = 0.02
    cost: float = 0.05
    untold: int = len(UNTOLD)
    ridge: float = 0.05
    seed: int = 0
    experiences_limit: int = 40


@dataclass(frozen=True, slots=True)
class RunTexts:
    """Prompts as the frozen reasoner has run them, and what is answered; prompts begin with padding.

    Attributes:
        past: Keys and values of the prompts, of the layers where latents are.
        pad: (N,), leading padding.
        last: (N, D), what the last layer makes of the prompt's last token.
        heard: (N, D), what the trigger reads of the prompt.
        said: (N, A - 1, D), the answers but for their last tokens, before the first of these layers.
        answers: (N, A), ending in padding.
        counted: (N, A), which of these tokens count.
    """

    past: KeysAndValues
    pad: Tensor
    last: Tensor
    heard: Tensor
    said: Tensor
    answers: Tensor
    counted: Tensor

    def rows(self, chosen: Sequence[int]) -> RunTexts:
        """Some texts, without the padding that none of their answers needs."""
        at = torch.tensor(chosen)
        longest = int(self.counted[at].sum(1).max())
        past = [(k[at], v[at]) for k, v in self.past]
        said, answers, counted = self.said[at, : longest - 1], self.answers[at, :longest], self.counted[at, :longest]
        return RunTexts(past, self.pad[at], self.last[at], self.heard[at], said, answers, counted)


class Weaver:
    """The reasoner with a place for latents, and what makes them. It holds nothing that is learnt: that is a part of a
    state, `queries` (K, D), `size` (1,), adapters `NAME.A` (r, in) and `NAME.B` (out, r)."""

    def __init__(self, model: TextModel, settings: MemGenSettings) -> None:
        self.model, self.settings = model, settings
        layers, s = model.decoder.shape.layers, settings
        self.place = s.first if s.first >= 0 else max(0, layers + s.first)
        if not (self.place < layers and min(s.latents, s.rank, s.shards, s.batch, s.untold) > 0):
            remedy = "Give a layer it has, and a latent, a rank, a text a step, a prompt untold and a shard or more."
            raise Invalid("settings", f"make no weaver in {layers} layers", remedy)
        names = [f"model.layers.{n}.{target}.weight" for n in range(self.place, layers) for target in s.targets]
        if s.insertions < 1 or not s.ridge > 0 or not set(names) <= model.decoder.weights.keys():
            remedy = "Weave once or more, with a ridge above 0, and adapters beside matrices that the model has."
            raise Invalid("settings", "name no place for a weaver", remedy)
        width = model.decoder.shape.width
        matrices = {name: model.decoder.weights[name] for name in names}
        self._sides: dict[str, tuple[int, int]] = {name: (len(w), w.shape[1]) for name, w in matrices.items()}
        self._sides["projection"] = (width, width)
        prompts = [model.prompt(("user", text)) for text in ("a", "B")]
        self._opening = [a for a, b in takewhile(lambda pair: pair[0] == pair[1], zip(*prompts, strict=False))]

    @property
    def form(self) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor that is learnt."""
        settings, width = self.settings, self.model.decoder.shape.width
        form: dict[str, tuple[int, ...]] = {"queries": (settings.latents, width), "size": (1,)}
        for name, (out, into) in self._sides.items():
            form |= {f"{name}.A": (settings.rank, into), f"{name}.B": (out, settings.rank)}
        return form

    def run(
        self, h: Tensor, past: KeysAndValues = (), pad: Tensor | None = None
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]], Tensor]:  # fmt: skip
        """The frozen reasoner: (B, T, D) behind what came before, and the same before the layer where latents go.

        From there on what came before is longer by these, and what follows stands behind them.
        """
        decoder, place = self.model.decoder, self.place
        below, kept = decoder.run(h, Entries(past[:place]), last=place, pad=pad)
        h, above = self.upper(below, past[place:], pad)
        return h, [*kept, *above], below

    def upper(
        self, h: Tensor, past: KeysAndValues, pad: Tensor | None = None
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """The frozen reasoner from where latents go: (B, T, D) behind what came before."""
        return self.model.decoder.run(h, Entries(past), first=self.place, pad=pad)

    def woven(self, part: State, past: KeysAndValues, pad: Tensor | None = None) -> Tensor:
        """The latents (B, K, D) that a weaver makes of prompts that were run, from what a shard holds."""
        scale = self.settings.alpha / self.settings.rank
        added = {name: [LowRank(part[f"{name}.A"], part[f"{name}.B"], scale)] for name in self._sides}
        batch = past[0][0].shape[0]
        queries, entries = part["queries"].expand(batch, -1, -1), Entries(past, added=added)
        u, _ = self.model.decoder.run(queries, entries, first=self.place, pad=pad)
        y, (low,) = normed(u), added["projection"]
        return part["size"] * (y + low.scale * F.linear(F.linear(y, low.a), low.b))

    def unspoken(self, row: Sequence[int]) -> int:
        """How many tokens say nothing: as many as all prompts begin with, and the first, of vast activations."""
        return max(1, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(row, self._opening, strict=False))))

    def run_texts(self, prompts: Sequence[Sequence[int]], answers: Sequence[Sequence[int]]) -> RunTexts:
        """Run prompts through the frozen reasoner, once for all steps."""
        longest = max(map(len, prompts))
        pad = torch.tensor([longest - len(prompt) for prompt in prompts])
        rows = torch.tensor([[0] * (longest - len(prompt)) + list(prompt) for prompt in prompts])
        most = max(map(len, answers))
        said = torch.tensor([[*answer, *[0] * (most - len(answer))] for answer in answers])
        counted = torch.arange(most) < torch.tensor([len(answer) for answer in answers])[:, None]
        with torch.inference_mode():
            h, past, below = self.run(self.model.decoder.embed(rows), pad=pad)
            means, _ = heard(below, pad + torch.tensor([self.unspoken(prompt) for prompt in prompts]))
            behind = self.model.decoder.embed(said[:, :-1])
            if most > 1:
                behind, _ = self.model.decoder.run(behind, Entries(past[: self.place]), last=self.place, pad=pad)
        kept = [(k.clone(), v.clone()) for k, v in past[self.place :]]
        return RunTexts(kept, pad, h[:, -1].clone(), means[:, -1].clone(), behind.clone(), said, counted)

    def losses(self, texts: RunTexts, latents: Tensor | None) -> Tensor:
        """Loss of each counted token of the answers, row by row, behind latents (N, K, D) or none."""
        given = texts.said if latents is None else torch.cat((latents, texts.said), 1)
        h = texts.last[:, None]
        if given.shape[1]:
            h = torch.cat((h, self.upper(given, texts.past, texts.pad)[0]), 1)
        logits = self.model.decoder.head(h[:, -texts.answers.shape[1] :][texts.counted])
        return F.cross_entropy(logits, texts.answers[texts.counted], reduction="none")

    def saved(self, part: State, texts: RunTexts) -> Tensor:
        """Nats a token (N,) of each answer that weaving saves, below 0 where it costs some."""
        with torch.inference_mode():
            latents = self.woven(part, texts.past, texts.pad)
            less = self.losses(texts, None) - self.losses(texts, latents)
            row = texts.counted.nonzero()[:, 0]
            return torch.zeros(len(texts.pad)).index_add(0, row, less) / texts.counted.sum(1)

    def trained(self, texts: RunTexts, number: int, progress: Progress | None = None) -> State:
        """The weaver of a shard: queries, adapters, projection and size, learnt through the frozen reasoner."""
        seed = self.settings.seed * 1_000 + number
        blank = self.blank(rms(texts.said), torch.Generator().manual_seed(seed))
        part = {name: tensor.requires_grad_() for name, tensor in blank.items()}
        self.descend(part, lambda rows: self.woven(part, rows.past, rows.pad), texts, seed, progress)
        return {name: tensor.detach() for name, tensor in part.items()}

    def descend(
        self, leaves: State, latents: Callable[[RunTexts], Tensor], texts: RunTexts, seed: int,
        progress: Progress | None = None,
    ) -> None:  # fmt: skip
        """Learn leaves, in place: by the loss of answers behind the latents that come of them for some texts."""
        settings, order = self.settings, Random(seed)  # noqa: S311 - an order, not a secret
        optimizer = torch.optim.Adam(leaves.values(), lr=settings.rate, betas=(0.9, 0.99))
        count = len(texts.pad)
        size = min(settings.batch, count)
        steps = max(settings.passes * -(-count // size), settings.least)
        deck, losses = list[int](), list[float]()
        for step in range(steps):
            if len(deck) < size:
                if losses and sum(losses) / len(losses) < settings.learnt:
                    break
                deck, losses = [*deck, *order.sample(range(count), count)], []
            rows, deck = texts.rows(deck[:size]), deck[size:]
            for group in optimizer.param_groups:
                group["lr"] = settings.rate * min(1.0, (step + 1) / 5, 0.1 + (steps - step) / steps)
            optimizer.zero_grad()
            loss = self.losses(rows, latents(rows)).mean()
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(leaves.values(), 1.0)
            if not norm.isfinite():
                raise Invalid("rate", f"of {settings.rate} had a weaver diverge", "Take a smaller one.")
            optimizer.step()
            losses.append(float(loss.detach()))
            if progress is not None:
                progress(step + 1, steps)

    def blank(self, length: Tensor, draw: torch.Generator) -> State:
        """A weaver before it has learnt: queries as long as the states at that place, adapters without effect."""
        settings, width = self.settings, self.model.decoder.shape.width
        size = length.reshape(1)
        part = {"queries": size * torch.randn(settings.latents, width, generator=draw), "size": size.clone()}
        for name, (out, into) in self._sides.items():
            part[f"{name}.A"] = torch.randn(settings.rank, into, generator=draw) / into**0.5
            part[f"{name}.B"] = torch.zeros(out, settings.rank)
        return part


def woven_by_definition(weaver: Weaver, part: State, prompt: Sequence[int]) -> Tensor:
    """The latents (K, D) of one prompt, run anew, one query at a time, through matrices that are changed; slow."""
    decoder, first = weaver.model.decoder, weaver.place
    scale = weaver.settings.alpha / weaver.settings.rank
    names = [name.removesuffix(".A") for name in part if name.endswith(".A") and name != "projection.A"]
    change = {name: decoder.weights[name] + scale * part[f"{name}.B"] @ part[f"{name}.A"] for name in names}
    below, _ = decoder.run(decoder.embed(weaver.model.batch(prompt)), last=first)
    _, past = decoder.run(below, first=first)
    projection = torch.eye(decoder.shape.width) + scale * part["projection.B"] @ part["projection.A"]
    latents = []
    for query in part["queries"]:
        u, past = decoder.run(query[None, None], Entries(past, replaced=change), first=first)
        latents.append(part["size"] * projection @ normed(u[0, 0]))
    return torch.stack(latents)


def behind_latents_by_definition(
    weaver: Weaver, prompt: Sequence[int], latents: Tensor, said: Sequence[int]
) -> Tensor:  # fmt: skip
    """What the reasoner expects in the place of each of `said`, (A, V): all run anew for each, nothing kept; slow."""
    decoder, rows = weaver.model.decoder, []
    for length in range(len(said)):
        ids = weaver.model.batch([*prompt, *said[:length]])
        below, _ = decoder.run(decoder.embed(ids), last=weaver.place)  # below the place, positions are the text's own
        text, behind = below[:, : len(prompt)], below[:, len(prompt) :]
        h, _ = decoder.run(torch.cat((text, latents[None], behind), 1), first=weaver.place)
        rows.append(decoder.head(h[0, -1]))
    return torch.stack(rows)


def rms(x: Tensor) -> Tensor:
    """The median of the vectors' root mean squares: a few are vast."""
    return x.square().mean(-1).sqrt().median()


def normed(x: Tensor) -> Tensor:
    """Divided by its root mean square."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


def heard(below: Tensor, skipped: Tensor) -> tuple[Tensor, Tensor]:
    """Means of n(h), (B, T, D), over all up to there but the first `skipped` (B,) positions; and where there is any.

    The trigger reads them, so it does not see what follows, and hears a prompt in pieces as in one.
    """
    counted = torch.arange(below.shape[1]) >= skipped[:, None]
    total = (normed(below) * counted[..., None]).cumsum(1)
    return total / counted.cumsum(1).clamp_min(1)[..., None], counted
