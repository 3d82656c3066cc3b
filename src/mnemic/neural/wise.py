"""Side memory: facts edited into a copy of one matrix, which is used only for prompts that move it enough.

    FFN(x) = W a,   a = silu(W_g m) ∘ W_u m        and beside it W' = W + δ, which starts as W
    Δ(x)   = mean_t ‖δ a_t‖                        over what a person says, not over what all prompts begin with
    W' is used for a prompt iff Δ(x) > ε, else W;  ε = ratio · min over edits of Δ(x_e)

    loss   = −log p_{W'}(y_e | x_e)  +  the same of edits made earlier (replay)
             + max(0, Δ(x_i) − α) + max(0, β − Δ(x_e)) + max(0, γ − (Δ(x_e) − Δ(x_i)))        x_i: unrelated prompts

Edits are made one by one. With several subspaces each edit changes the entries of one random mask in a copy of its own,
and copies are merged by the signs that most of their weight has (TIES). Several shards are several side memories, of
which the one with the largest Δ/ε answers; one that no prompt reaches costs nothing: the bare model's bits.

Source: Wang et al., WISE, arXiv:2405.14768, sections 2.3 and 3.1; TIES: Yadav et al., arXiv:2306.01708. What we do
otherwise: ε is below the smallest Δ, for with ε = min Δ and Δ > ε the very edit that set it is not routed; margins are
shares of what the matrix puts out, for theirs are of a model of seven billion; earlier edits are replayed one a step,
without which later ones write over them; near misses (the same asked of others) are among the unrelated prompts; no
random prefixes. What a row reads at position t is routed by what it holds up to t, so that nobody sees what follows.
Forgetting is as of adapters: a source takes its shard along, which is edited again from what is left.
Shapes: B rows, T time, D width, F width of the gated layer, N edits, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from random import Random
from typing import ClassVar, Final, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.errors import DamagedState, Invalid
from mnemic.neural import shards
from mnemic.neural.base import Family, Identity, State, settings_digest, source_digests
from mnemic.neural.gguf_weights import TextModel
from mnemic.neural.llama import BARE, Entries

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many edits are made, and how many there are."""

UNRELATED: Final = (
    "What is the capital of Spain?", "How do I boil an egg?", "Write a short poem about the sea.", "What is 12 plus 7?",
    "Who painted the Mona Lisa?", "Explain what a verb is.", "Name three kinds of fruit.", "How far away is the moon?",
    "What does a compiler do?", "Tell me a joke.", "Which animal is the fastest?", "Why is the sky blue?",
)  # fmt: skip
"""Prompts that no edit is about, beside the near misses that edits bring along."""

_KINDS: Final = ("delta", "epsilon", "edits", "sources")


@dataclass(frozen=True, slots=True)
class Edit:
    """Something to be answered otherwise.

    Attributes:
        id: Says which shard it lies in.
        prompts: Ways to ask for it, in the user's words.
        target: What the assistant then says.
        near: Prompts like these that are to be answered as before.
        sources: What it was read from.
    """

    id: str
    prompts: tuple[str, ...]
    target: str
    near: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WiseSettings:
    """How edits are made.

    Attributes:
        layer: Whose W_d has the side memory; negative ones count from the top.
        shards: Side memories that edits are spread over, by their ids.
        subspaces: Copies in a shard, each with a mask of its own; 1 edits all entries.
        density: Share of entries in each mask, where there are several.
        alpha, beta, gamma: Margins of Δ, as shares of the median ‖W a_t‖.
        ratio: ε as a share of the smallest Δ of an edit.
        steps: Most of one edit; it ends when every token is right and every margin is met.
        wordings: How many of an edit's prompts are trained.
        unrelated: Unrelated prompts of each step.
        replayed: Earlier edits of each step.
        edits_limit: Most edits of a shard.
    """

    layer: int = -4
    shards: int = 1
    subspaces: int = 1
    density: float = 0.2
    alpha: float = 0.1
    beta: float = 0.5
    gamma: float = 0.35
    ratio: float = 0.75
    rate: float = 1e-3
    steps: int = 25
    wordings: int = 4
    unrelated: int = 12
    replayed: int = 2
    seed: int = 0
    edits_limit: int = 100


@dataclass(frozen=True, slots=True)
class PromptRows:
    """Texts as they come to the matrix, behind what all of them begin with; shorter rows end in padding.

    Attributes:
        given: (B, T, F), what the matrix is given.
        h: (B, T, D), what the layer puts out with the matrix as it is.
        asked: (B, T), positions of the prompt, over which Δ is the mean.
        counted: (B, T), positions whose next token is the answer's.
        next: (B, T), that token.
    """

    given: Tensor
    h: Tensor
    asked: Tensor
    counted: Tensor
    next: Tensor


def joined(rows: Sequence[PromptRows]) -> PromptRows:
    """PromptRows below each other, padded to the longest."""
    longest = max(row.h.shape[1] for row in rows)

    def padded(x: Tensor) -> Tensor:
        return F.pad(x, (0, 0, 0, longest - x.shape[1]) if x.dim() == 3 else (0, longest - x.shape[1]))

    names = ("given", "h", "asked", "counted", "next")
    return PromptRows(*(torch.cat([padded(getattr(row, name)) for row in rows]) for name in names))


class EditedLayer:
    """A matrix W_d and the layers above it: what prompts give to it, and what comes of that with a change added.

    All below is computed once for each text.
    """

    def __init__(self, model: TextModel, layer: int) -> None:
        self.model, self.layer = model, layer
        self.name = f"model.layers.{layer}.mlp.down_proj.weight"
        self.matrix = model.decoder.weights[self.name]
        prompts = [model.prompt(("user", text)) for text in ("a", "B")]
        self.opening = [left for left, right in takewhile(lambda pair: pair[0] == pair[1], zip(*prompts, strict=False))]
        self._kept: dict[tuple[int, ...], PromptRows] = {}

    def rows(self, prompt: str, answer: str = "") -> PromptRows:
        """A user's prompt and what is answered, as one row behind what all prompts begin with."""
        ids = self.model.prompt(("user", prompt))[len(self.opening) :]
        said = [*self.model.ids(answer), self.model.end] if answer else []
        key = (len(ids), *ids, *said)
        if key not in self._kept:
            tokens = torch.tensor([[*ids, *said]])
            given, h = self.before(tokens, self._opening_past)
            at = torch.arange(tokens.shape[1])[None]
            counted = (at >= len(ids) - 1) & (at < tokens.shape[1] - 1)
            self._kept[key] = PromptRows(given, h, at < len(ids), counted, tokens.roll(-1, 1))
        return self._kept[key]

    def clear(self) -> None:
        """Let go of what was computed of texts."""
        self._kept.clear()

    def before(self, tokens: Tensor, past: Entries = BARE) -> tuple[Tensor, Tensor]:
        """Tokens (B, T) to what the matrix is given (B, T, F) and what its layer puts out (B, T, D)."""
        seen: list[Tensor] = []

        def note(given: Tensor) -> Tensor:
            seen.append(given)
            return given

        with torch.inference_mode():
            entries = replace(past, gated={self.layer: note})
            h, _ = self.model.decoder.run(self.model.decoder.embed(tokens), entries, last=self.layer + 1)
        return seen[0].clone(), h.clone()

    def logits(self, rows: PromptRows, delta: Tensor) -> Tensor:
        """Logits (counted positions, V) with the matrix changed by `delta` (D, F)."""
        decoder, first = self.model.decoder, self.layer + 1
        given, h = self._opened
        _, kept = decoder.run(h + F.linear(given, delta), first=first)
        past = tuple((k.expand(len(rows.h), -1, -1, -1), v.expand(len(rows.h), -1, -1, -1)) for k, v in kept)
        above, _ = decoder.run(
            rows.h + F.linear(rows.given, delta), Entries(past, position=len(self.opening)), first=first
        )
        return decoder.head(above[rows.counted])

    def loss(self, rows: PromptRows, delta: Tensor) -> tuple[Tensor, bool]:
        """Mean loss of the answers' tokens, and whether each is the likeliest."""
        logits, wanted = self.logits(rows, delta), rows.next[rows.counted]
        return F.cross_entropy(logits, wanted), bool((logits.argmax(-1) == wanted).all())

    @cached_property
    def _opened(self) -> tuple[Tensor, Tensor]:
        return self.before(torch.tensor([self.opening]))

    @cached_property
    def _opening_past(self) -> Entries:
        with torch.inference_mode():
            h = self.model.decoder.embed(torch.tensor([self.opening]))
            _, kept = self.model.decoder.run(h, last=self.layer + 1)
        return Entries(tuple((k.clone(), v.clone()) for k, v in kept))


class WiseMemory:
    """Edits as side memories of one matrix. A state holds for each shard `delta` (D, F) of each subspace, `epsilon`
    (1,), digests of its `edits` (N, 32) in their order, and digests of its `sources`."""

    family: ClassVar[Family] = Family.PARAMETER
    bounded: ClassVar[bool] = True

    def __init__(self, model: TextModel, settings: WiseSettings | None = None) -> None:
        self.model, self.settings = model, settings or WiseSettings()
        layers, s = model.decoder.shape.layers, self.settings
        layer = s.layer if s.layer >= 0 else max(0, layers + s.layer)
        if not (layer < layers and s.shards > 0 and s.subspaces > 0 and 0 < s.density <= 1 and 0 < s.ratio < 1):
            remedy = "Give a layer it has, a shard or more, a density up to 1 and a ratio below 1."
            raise Invalid("settings", f"make no side memory in {layers} layers", remedy)
        self.place = EditedLayer(model, layer)

    @cached_property
    def identity(self) -> Identity:
        """Whose its side memories are."""
        return Identity("wise", self.model.decoder.digest, self.model.tokenizer_digest, settings_digest(self.settings))

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The model's own."""
        return self.model.decoder.weights

    def empty(self) -> State:
        """Nothing is edited."""
        return {}

    def shard_of(self, edit: str) -> int:
        """The number of the shard in which an edit of this id lies."""
        return shards.shard_of(edit, self.settings.shards)

    def shards(self, state: State) -> list[int]:
        """The numbers of the shards that hold edits."""
        return shards.numbers(state)

    def write(self, given: Sequence[Edit], state: State, progress: Progress | None = None) -> State:
        """Make all edits that are to hold, in their order: those that a shard has stand, if it began with them.

        Raises:
            Invalid: an edit has no prompt or no target, or it diverged; nothing is changed.
            TooLarge: there are more edits than a shard takes.
        """
        for edit in given:
            if not edit.prompts or not edit.target.strip() or not all(map(str.strip, edit.prompts)):
                raise Invalid("edits", f"{edit.id!r} has no prompt, or no target", "Say what is asked and answered.")
        lying = shards.lying(given, self.settings.shards, self.settings.edits_limit, "edits")
        try:
            return shards.whole({
                number: self._edited(edits, number, shards.part(state, number), progress)
                for number, edits in lying.items()
            })  # fmt: skip
        finally:
            self.place.clear()

    def read(self, asked: Tensor, state: State) -> Tensor:
        """Logits (B, T, V): at each position those of the model that a prompt of all up to there is routed to."""
        with torch.inference_mode():
            logits = self.model.decoder.logits(asked)
            if not state:
                return logits
            numbers, reached = self._reached(asked, state)  # (shards, B, T)
            for n, number in enumerate(numbers):
                chosen = (reached > 1).any(0) & (reached.argmax(0) == n)  # (B, T)
                for row in chosen.any(1).nonzero()[:, 0].tolist():
                    edited = self.model.decoder.logits(asked[row : row + 1], self.attach(state, number))
                    logits[row, chosen[row]] = edited[0, chosen[row]]
            return logits

    def route(self, prompt: Sequence[int], state: State) -> int | None:
        """The shard whose side memory a prompt's tokens are answered with; None for the bare model's own matrix."""
        if not state or not prompt:
            return None
        with torch.inference_mode():
            numbers, reached = self._reached(torch.tensor([list(prompt)]), state)
        best = int(reached[:, 0, -1].argmax())
        return numbers[best] if float(reached[best, 0, -1]) > 1 else None

    def attach(self, state: State, shard: int | None) -> Entries:
        """The side memory of a shard in the place of its matrix, for a decoder; None for the bare model."""
        if shard is None or not (part := shards.part(state, shard)):
            return BARE
        return Entries(replaced={self.place.name: self.place.matrix + self._merged(part)})

    def forget(self, sources: Collection[str], state: State) -> State:
        """Drop every shard that one of these sources has a part in; `write` edits it again from what is left."""
        return shards.without(state, sources)

    def _merged(self, part: State) -> Tensor:
        deltas = part.get("delta")
        wanted = (self.settings.subspaces, *self.place.matrix.shape)
        if part.keys() != set(_KINDS) or deltas is None or deltas.shape != wanted or not deltas.isfinite().all():
            raise DamagedState("a side memory is of another form than this model's matrix. Edit it again.")
        return deltas[0] if len(deltas) == 1 else merged(deltas)

    def _reached(self, asked: Tensor, state: State) -> tuple[list[int], Tensor]:
        """Δ/ε of every shard for the prompts that end at each position: (shards, B, T)."""
        given, _ = self.place.before(asked)
        skipped = torch.tensor([self._skipped(row) for row in asked.tolist()])
        counted = torch.arange(asked.shape[1]) >= skipped[:, None]
        numbers, rows = self.shards(state), []
        for number in numbers:
            part = shards.part(state, number)
            length = F.linear(given, self._merged(part)).norm(dim=-1) * counted
            mean = length.cumsum(1) / counted.cumsum(1).clamp_min(1)
            rows.append(mean / part["epsilon"].clamp_min(1e-12))
        return numbers, torch.stack(rows)

    def _skipped(self, row: Sequence[int]) -> int:
        """How many tokens say nothing: those that all prompts begin with, or the first, of vast activations."""
        opening = self.place.opening
        return len(opening) if list(row[: len(opening)]) == opening and len(row) > len(opening) else 1

    def _edited(self, edits: Sequence[Edit], shard: int, former: State, progress: Progress | None) -> State:
        """One shard after all of its edits."""
        digests = torch.stack([_digest(edit) for edit in edits])
        done = len(former["edits"]) if former else 0
        if done and (done > len(edits) or not torch.equal(former["edits"], digests[:done])):
            former, done = {}, 0
        if former and done == len(edits):
            return former
        deltas = former["delta"].clone() if former else torch.zeros(self.settings.subspaces, *self.place.matrix.shape)
        asked = [[self.place.rows(p, edit.target) for p in edit.prompts[: self.settings.wordings]] for edit in edits]
        for n in range(done, len(edits)):
            seed = (self.settings.seed * 1_000 + shard) * 1_000 + n
            at = n % self.settings.subspaces  # what comes later changes nothing of what is done now
            deltas[at] = self._made(deltas[at], edits[: n + 1], asked[: n + 1], seed)
            if progress is not None:
                progress(n + 1 - done, len(edits) - done)
        change = deltas[0] if len(deltas) == 1 else merged(deltas)
        with torch.inference_mode():
            epsilon = self.settings.ratio * torch.cat([distance(row, change) for rows in asked for row in rows]).min()
        return {
            "delta": deltas,
            "epsilon": epsilon.reshape(1).clone(),
            "edits": digests,
            "sources": source_digests(source for edit in edits for source in edit.sources),
        }

    def _made(
        self, copy: Tensor, edits: Sequence[Edit], asked: Sequence[Sequence[PromptRows]], seed: int
    ) -> Tensor:  # fmt: skip
        """A subspace's copy after the last of these edits."""
        settings, order = self.settings, Random(seed)  # noqa: S311 - an order, not a secret
        mask, delta = self._mask((len(edits) - 1) % settings.subspaces), copy.clone().requires_grad_()
        optimizer = torch.optim.Adam([delta], lr=settings.rate)
        for _ in range(settings.steps):
            replayed, unrelated = replay_and_negatives(edits, settings, order)
            earlier = [asked[n][order.randrange(len(asked[n]))] for n in replayed]
            with torch.enable_grad():
                rows = joined([*asked[-1], *earlier])
                loss, right = self.place.loss(rows, delta)
                margins = self._margins(rows, joined([self.place.rows(text) for text in unrelated]), delta)
                if right and float(margins.detach()) == 0:
                    break
                optimizer.zero_grad()
                (loss + margins).backward()
            if delta.grad is None or not delta.grad.isfinite().all():
                raise Invalid("rate", f"of {settings.rate} had an edit diverge", "Take a smaller one.")
            if mask is not None:
                delta.grad.mul_(mask)
            torch.nn.utils.clip_grad_norm_([delta], 1.0)
            optimizer.step()
        return delta.detach()

    def _margins(self, edits: PromptRows, unrelated: PromptRows, delta: Tensor) -> Tensor:
        """How far Δ is from where it is to be: small for unrelated prompts, large for edits, and well apart."""
        inside, outside = distance(edits, delta) / self._unit, distance(unrelated, delta) / self._unit
        settings = self.settings
        apart = settings.gamma - (inside[:, None] - outside[None])
        return (
            F.relu(outside - settings.alpha).mean() + F.relu(settings.beta - inside).mean() + F.relu(apart).mean()
        )  # fmt: skip

    @cached_property
    def _unit(self) -> float:
        """The median size of what the matrix puts out for unrelated prompts: margins are shares of it."""
        rows = joined([self.place.rows(text) for text in UNRELATED])
        return float(F.linear(rows.given, self.place.matrix).norm(dim=-1)[rows.asked].median())

    def _mask(self, subspace: int) -> Tensor | None:
        """Which entries of the matrix a subspace may change; None for all."""
        if self.settings.subspaces == 1:
            return None
        draw = torch.Generator().manual_seed(self.settings.seed * 1_000 + subspace)
        return (torch.rand(self.place.matrix.shape, generator=draw) < self.settings.density).float()


def replay_and_negatives(
    edits: Sequence[Edit], settings: WiseSettings, order: Random
) -> tuple[list[int], list[str]]:  # fmt: skip
    """Draw what a step of the last of these edits has beside it: earlier edits by their numbers, and unrelated prompts.

    Its own near misses are always among these; of the others, and of the near misses of earlier edits, some are drawn.
    Earlier edits are those of its subspace, and no prompt of any edit is unrelated.
    """
    last = len(edits) - 1
    earlier = range(last % settings.subspaces, last, settings.subspaces)
    taken = {prompt for edit in edits for prompt in edit.prompts}
    near = [text for text in edits[last].near if text not in taken]
    others = dict.fromkeys((*(text for edit in edits for text in edit.near), *UNRELATED))
    far = [text for text in others if text not in taken and text not in near]
    replayed = order.sample(earlier, min(settings.replayed, len(earlier)))
    return replayed, [*near, *order.sample(far, min(max(settings.unrelated - len(near), 1), len(far)))]


def distance_by_definition(given: Tensor, delta: Tensor) -> Tensor:
    """Δ of one prompt: given (T, F), delta (D, F) -> (), one token and one row of the matrix at a time; slow."""
    total = given.new_zeros(())
    for token in given:
        moved = torch.stack([(row * token).sum() for row in delta])
        total = total + moved.square().sum().sqrt()
    return total / len(given)


def distance(rows: PromptRows, delta: Tensor) -> Tensor:
    """Δ of each row (B,), over the positions of its prompt."""
    moved = F.linear(rows.given, delta).square().sum(-1)
    length = torch.where(moved > 0, moved, 1.0).sqrt() * (moved > 0)  # the slope of a root at 0 is no number
    return (length * rows.asked).sum(1) / rows.asked.sum(1)


def merged_by_definition(deltas: Sequence[Tensor]) -> Tensor:
    """TIES: in each entry the sign that has more weight, and the mean of the copies that have it; slow."""
    out = torch.zeros_like(deltas[0])
    for place in range(out.numel()):
        values = [delta.flatten()[place] for delta in deltas]
        up, down = sum(float(v) for v in values if v > 0), -sum(float(v) for v in values if v < 0)
        agreed = [v for v in values if (v > 0 if up >= down else v < 0)]
        if agreed:
            out.view(-1)[place] = torch.stack(agreed).sum() / len(agreed)
    return out


def merged(deltas: Tensor) -> Tensor:
    """`merged_by_definition` of copies (K, D, F), at once."""
    sign = torch.where(deltas.sum(0) >= 0, 1.0, -1.0).to(deltas.dtype)
    agreed = deltas * sign > 0
    return (deltas * agreed).sum(0) / agreed.sum(0).clamp_min(1)


def _digest(edit: Edit) -> Tensor:
    return shards.digest([edit.id, edit.prompts, edit.target, edit.near, sorted(edit.sources)])
