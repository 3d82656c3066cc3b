"""A decoder of the Llama family, to be read from top to bottom, with the places where a memory may enter.

    h   = E[ids]
    h  += W_o softmax(R_t(W_q n) R_s(W_k n)ᵀ / √d + causal) (W_v n),   n = norm(h; γ₁)
    h  += W_d (silu(W_g m) ∘ W_u m),                                   m = norm(h; γ₂)
    y   = norm(h; γ) Eᵀ

R_t turns pairs of coordinates by angles t·b^(-2i/d) (Su et al., arXiv:2104.09864); H query heads share H_kv heads of
keys and values (Ainslie et al., arXiv:2305.13245). Matrices have the names that Hugging Face's files give them.
Shapes: B batch, T time, S earlier positions, D width, F width of a gated layer, H heads, d width of a head,
V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.errors import Invalid, TooLarge

KeysAndValues: TypeAlias = "Sequence[tuple[Tensor, Tensor]]"
"""Of each layer, turned to their positions: (B, H_kv, S, d) each."""


@dataclass(frozen=True, slots=True)
class LlamaShape:
    """The numbers that a file gives beside its matrices."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    head_width: int
    hidden: int
    vocabulary: int
    context: int
    rope_base: float
    epsilon: float


@dataclass(frozen=True, slots=True)
class LowRank:
    """What an adapter adds to a matrix's product: `scale · B A x`, with A (r, in) and B (out, r)."""

    a: Tensor
    b: Tensor
    scale: float


@dataclass(frozen=True, slots=True)
class Entries:
    """Where a memory enters; with none of them the decoder is the bare model, to the bit.

    Attributes:
        past: Keys and values of earlier positions, of each layer that is run, of however many positions each.
        replaced: Matrices in the place of the model's, by name.
        added: Adapters beside matrices, by name.
        hidden: What is made of the hidden state (B, T, D) before a layer, by its number.
        gated: What is made of what a layer's W_d is given, (B, T, F), by its number.
        position: Where the first token that is run stands; None for right behind `past`, if that is whole.
    """

    past: KeysAndValues = ()
    replaced: Mapping[str, Tensor] = field(default_factory=dict)
    added: Mapping[str, Sequence[LowRank]] = field(default_factory=dict)
    hidden: Mapping[int, Callable[[Tensor], Tensor]] = field(default_factory=dict)
    gated: Mapping[int, Callable[[Tensor], Tensor]] = field(default_factory=dict)
    position: int | None = None


BARE: Final = Entries()


class Llama:
    """A decoder over matrices that are never changed.

    Args:
        weights: By name; `lm_head.weight` may be missing, then the embedding is the head too.
        digest: Of the file that they came from: whose model a state belongs to.
    """

    def __init__(self, shape: LlamaShape, weights: Mapping[str, Tensor], digest: str) -> None:
        self.shape, self.weights, self.digest = shape, weights, digest
        exponents = torch.arange(0, shape.head_width, 2, dtype=torch.float32) / shape.head_width
        self._frequencies = 1.0 / shape.rope_base**exponents  # (d/2,)

    def embed(self, ids: Tensor) -> Tensor:
        """Ids (B, T) -> hidden states (B, T, D)."""
        return F.embedding(ids, self.weights["model.embed_tokens.weight"])

    def head(self, h: Tensor) -> Tensor:
        """Hidden states behind the last layer (..., D) -> logits (..., V)."""
        matrix = self.weights.get("lm_head.weight", self.weights["model.embed_tokens.weight"])
        return F.linear(self._norm(h, "model.norm.weight"), matrix)

    def logits(self, ids: Tensor, entries: Entries = BARE, pad: Tensor | None = None) -> Tensor:
        """Ids (B, T) -> logits (B, T, V); as `run` through all layers."""
        return self.head(self.run(self.embed(ids), entries, pad=pad)[0])

    def run(
        self,
        h: Tensor,
        entries: Entries = BARE,
        *,
        first: int = 0,
        last: int | None = None,
        pad: Tensor | None = None,
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """Take hidden states through layers `first` to `last`, exclusive.

        Args:
            h: (B, T, D), before layer `first`.
            pad: (B,), how many leading positions of each row are padding, which nobody attends to.

        Returns:
            hidden states (B, T, D), and keys and values of these layers, those that came before included.

        Raises:
            Invalid: there is no token.
            TooLarge: text and what came before it are longer than the model's context.
        """
        if not h.shape[1]:
            raise Invalid("text", "has no tokens", "Ask something.")
        stop, start = self.shape.layers if last is None else last, self._start(entries)
        length = start + h.shape[1]
        if length > self.shape.context:
            remedy = f"The model takes {self.shape.context}: leave something out."
            raise TooLarge("text", f"is {length} tokens with what came before it", remedy)
        turn = self.turning(torch.arange(start, length))
        masks: dict[int, Tensor | None] = {}
        kept = []
        for layer in range(first, stop):
            if layer in entries.hidden:
                h = entries.hidden[layer](h)
            before = entries.past[layer - first] if entries.past else None
            attended = h.shape[1] + (before[0].shape[2] if before is not None else 0)
            if attended not in masks:
                masks[attended] = _mask(h.shape[1], attended, pad)
            h, keys_values = self._layer(h, layer, entries, before, turn, masks[attended])
            kept.append(keys_values)
        return h, kept

    def turning(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosine and sine of the angles at positions (T,), (T, d) each."""
        angles = torch.outer(positions.float(), self._frequencies).repeat(1, 2)
        return angles.cos(), angles.sin()

    def generate(
        self,
        prompts: Sequence[Sequence[int]],
        limit: int,
        ends: frozenset[int] = frozenset(),
        entries: Entries = BARE,
        least: int = 0,
    ) -> list[list[int]]:
        """For each prompt the likeliest token each time, until one of `ends` or the limit; prompts are not returned.

        Args:
            entries: With a past, prompts are of one length.
            least: No answer ends before as many tokens.
        """
        longest = max(map(len, prompts))
        pad = torch.tensor([longest - len(prompt) for prompt in prompts])
        rows = torch.tensor([[0] * (longest - len(prompt)) + list(prompt) for prompt in prompts])
        padding = pad if pad.any() else None
        spoken, open_rows = [list[int]() for _ in prompts], set(range(len(prompts)))
        with torch.inference_mode():
            h, past = self.run(self.embed(rows), entries, pad=padding)
            for n in range(limit):
                logits = self.head(h[:, -1])
                if n < least:
                    logits[:, list(ends)] = -torch.inf
                tokens = logits.argmax(-1)
                open_rows -= {row for row in open_rows if int(tokens[row]) in ends}
                for row in open_rows:
                    spoken[row].append(int(tokens[row]))
                if not open_rows or n == limit - 1:
                    break
                position = None if entries.position is None else entries.position + h.shape[1]
                entries = replace(entries, past=past, position=position)
                h, past = self.run(self.embed(tokens[:, None]), entries, pad=padding)
        return spoken

    def queries(self, h: Tensor, layer: int) -> Tensor:
        """What a layer asks for: hidden states (B, T, D) before it -> (B, H, T, d), not turned to any position."""
        name = f"model.layers.{layer}."
        asked = F.linear(self._norm(h, f"{name}input_layernorm.weight"), self.weights[f"{name}self_attn.q_proj.weight"])
        return asked.view(h.shape[0], h.shape[1], -1, self.shape.head_width).transpose(1, 2)

    def _start(self, entries: Entries) -> int:
        if entries.position is not None:
            return entries.position
        return entries.past[0][0].shape[2] if entries.past else 0

    def _layer(
        self,
        h: Tensor,
        layer: int,
        entries: Entries,
        before: tuple[Tensor, Tensor] | None,
        turn: tuple[Tensor, Tensor],
        mask: Tensor | None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        name = f"model.layers.{layer}."
        batch, time, _ = h.shape

        def linear(x: Tensor, matrix: str) -> Tensor:
            full = f"{name}{matrix}.weight"
            y = F.linear(x, entries.replaced.get(full, self.weights[full]))
            for low in entries.added.get(full, ()):
                y = y + low.scale * F.linear(F.linear(x, low.a), low.b)
            return y

        def heads(x: Tensor) -> Tensor:
            return x.view(batch, time, -1, self.shape.head_width).transpose(1, 2)

        n = self._norm(h, f"{name}input_layernorm.weight")
        q = turned(heads(linear(n, "self_attn.q_proj")), turn)
        k = turned(heads(linear(n, "self_attn.k_proj")), turn)
        v = heads(linear(n, "self_attn.v_proj"))
        if before is not None:
            k, v = (torch.cat(pair, dim=2) for pair in zip(before, (k, v), strict=True))
        read = attend(q, k, v, mask).transpose(1, 2).reshape(batch, time, -1)
        h = h + linear(read, "self_attn.o_proj")
        m = self._norm(h, f"{name}post_attention_layernorm.weight")
        gated = F.silu(linear(m, "mlp.gate_proj")) * linear(m, "mlp.up_proj")
        if layer in entries.gated:
            gated = entries.gated[layer](gated)
        return h + linear(gated, "mlp.down_proj"), (k, v)

    def _norm(self, x: Tensor, name: str) -> Tensor:
        return self.weights[name] * (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.shape.epsilon))


def turned(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """R_t x: queries or keys (B, H, T, d), turned by the angles of their positions."""
    cos, sin = turn
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-right, left), dim=-1) * sin


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Causal attention: q (B, H, T, d), k and v (B, H_kv, S+T, d) -> (B, H, T, d).

    With a mask, the queries of all heads that share keys are one longer row of queries, so that no key is copied.
    """
    groups = q.shape[1] // k.shape[1]
    if mask is None:
        k, v = (x.repeat_interleave(groups, dim=1) for x in (k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    rows = q.reshape(q.shape[0], k.shape[1], -1, q.shape[3])  # (B, H_kv, G·T, d)
    return F.scaled_dot_product_attention(rows, k, v, mask.repeat(1, 1, groups, 1)).view(q.shape)


def _mask(time: int, length: int, pad: Tensor | None) -> Tensor | None:
    """Who may be attended to, (B or 1, 1, T, S+T); None where a plain triangle says it."""
    if pad is None and time == length:
        return None
    columns = torch.arange(length)
    seen = columns <= torch.arange(length - time, length)[:, None]
    if pad is None:
        return seen[None, None]
    own = columns == torch.arange(length - time, length)[:, None]  # a row that attends to nothing would be no number
    return ((seen & (columns >= pad[:, None, None])) | own)[:, None]
