"""Chunk memory: what has left the window lies in a bank of chunks, and a few upper layers attend to those that are like
what is being read.

    e_j  = mean_t normalised(h_t)              of chunk j, at the layer in the middle; its first token left out
    near = top-k_j cos(e_now, e_j)             e_now: of the C tokens before what is read
    o_t  = softmax(q_t [K_near ; K_window]ᵀ / √d) [V_near ; V_window]        one softmax, in the retrieval layers alone

A chunk is encoded once, by itself, from position 0, when the window has moved past it. The window begins behind the
positions of one chunk: retrieved chunks are beside each other, as if each stood right before it. When the bank is full
the newest tenth stays, the oldest tenth goes, and of those between the least retrieved go, until it is half full.

Source: Liu et al., MemLong, arXiv:2408.16967. What we do otherwise: nothing is trained; the retriever is the model's
own middle layer; only writing counts what is retrieved, so that a read changes nothing; the limits of the eviction are
as we recall them, not read in the paper.
Shapes: B rows, T time, W tokens of the window, C of a chunk, N chunks, R retrieval layers, H_kv heads of keys, d width
of a head, D width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.errors import DamagedState, Invalid, TooLarge
from mnemic.neural.base import Family, Identity, State, settings_digest
from mnemic.neural.gguf_weights import TextModel
from mnemic.neural.llama import BARE, Entries


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How a text is kept behind its window.

    Attributes:
        chunk: Tokens of a chunk.
        window: Tokens that are read as they are; a multiple of `chunk`.
        layers: The layers that attend to chunks; none given, every fourth of the upper half.
        retrieved: Chunks that are attended to.
        capacity: Chunks that the bank holds at most.
    """

    chunk: int = 64
    window: int = 512
    layers: tuple[int, ...] = ()
    retrieved: int = 4
    capacity: int = 512


class ChunkMemory:
    """A window and a bank behind it. A state holds the window's `recent` tokens, and of each chunk `keys` and `values`
    (N, R, H_kv, C, d), its `embeddings` (N, D), and how often it was `counted` (N,). It grows up to
    `capacity` chunks."""

    family: ClassVar[Family] = Family.CACHE
    bounded: ClassVar[bool] = False

    def __init__(self, model: TextModel, settings: ChunkSettings | None = None) -> None:
        self.model, self.settings = model, settings or ChunkSettings()
        layers, s = model.decoder.shape.layers, self.settings
        self.layers = s.layers or tuple(range(layers // 2 + 1, layers, 4)) or (layers - 1,)
        if s.chunk < 2 or s.window < s.chunk or s.window % s.chunk or s.retrieved < 1 or s.capacity < 4:
            problem = f"have a chunk of {s.chunk}, a window of {s.window} and a bank of {s.capacity}"
            raise Invalid("settings", problem, "Give chunks of 2 or more, whole ones to a window, and 4 to a bank.")
        if not all(0 <= layer < layers for layer in self.layers):
            raise Invalid("layers", f"are {self.layers}", f"The model has {layers}.")
        if s.window + 2 * s.chunk > model.decoder.shape.context:
            raise TooLarge("window", f"is {s.window} tokens", f"The model takes {model.decoder.shape.context}.")

    @cached_property
    def identity(self) -> Identity:
        """Whose its states are."""
        digest = settings_digest(self.settings)
        return Identity("chunks", self.model.decoder.digest, self.model.tokenizer_digest, digest)

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The model's own."""
        return self.model.decoder.weights

    def empty(self) -> State:
        """Nothing has been read."""
        shape = self.model.decoder.shape
        none = torch.zeros(0, len(self.layers), shape.kv_heads, self.settings.chunk, shape.head_width)
        return {
            "recent": torch.zeros(0, dtype=torch.int64),
            "keys": none,
            "values": none.clone(),
            "embeddings": torch.zeros(0, shape.width),
            "counted": torch.zeros(0, dtype=torch.int64),
        }

    def write(self, given: Tensor, state: State) -> State:
        """Read tokens (T,) on; what the window moves past is encoded into the bank.

        Raises:
            Invalid: they are tokens that the model does not know; nothing is written.
        """
        if len(given) and not 0 <= int(given.min()) <= int(given.max()) < self.model.decoder.shape.vocabulary:
            raise Invalid("tokens", "are none that the model knows", "Give what its tokeniser made of a text.")
        made, recent = dict(state), torch.cat((state["recent"], given))
        with torch.inference_mode():
            while len(recent) > self.settings.window:
                self._bank(made, recent[: self.settings.chunk])
                recent = recent[self.settings.chunk :]
        return {name: tensor.clone() for name, tensor in {**made, "recent": recent}.items()}

    def read(self, asked: Tensor, state: State) -> Tensor:
        """Logits (B, T, V) of tokens (B, T) that follow the window."""
        with torch.inference_mode():
            recent = state["recent"].expand(len(asked), -1)
            logits = self.model.decoder.logits(
                torch.cat((recent, asked), 1), self.attach(state, self.near(state), len(asked))
            )
        return logits[:, recent.shape[1] :]

    def near(self, state: State) -> list[int]:
        """The numbers of the chunks that are like the end of the window, the likest first; none for a bare window."""
        if not len(state["embeddings"]) or not len(state["recent"]):
            return []
        _, _, now = self._encoded(state["recent"][-self.settings.chunk :])
        numbers: list[int] = nearest(now, state["embeddings"], self.settings.retrieved).tolist()
        return numbers

    def attach(self, state: State, numbers: Sequence[int], batch: int = 1) -> Entries:
        """Chunks of the bank as what came before, for the layers that attend to them; the bare model for none.

        Raises:
            DamagedState: the bank is not of this model's form.
        """
        self._verify(state)
        if not numbers:
            return BARE
        shape, at = self.model.decoder.shape, torch.tensor(sorted(numbers))
        none = torch.zeros(batch, shape.kv_heads, 0, shape.head_width)
        past = [(none, none)] * shape.layers
        for n, layer in enumerate(self.layers):
            keys, values = (state[part][at, n].transpose(0, 1).flatten(1, 2) for part in ("keys", "values"))
            past[layer] = (keys.expand(batch, -1, -1, -1), values.expand(batch, -1, -1, -1))
        return Entries(tuple(past), position=self.settings.chunk)

    def _bank(self, state: State, chunk: Tensor) -> None:
        """Add a chunk to the bank, count those that are like it, and make room, in a dict that is ours."""
        keys, values, embedding = self._encoded(chunk)
        counted = state["counted"].clone()
        if len(counted):
            counted[nearest(embedding, state["embeddings"], self.settings.retrieved)] += 1
        added = {"keys": keys, "values": values, "embeddings": embedding, "counted": torch.zeros(1, dtype=torch.int64)}
        bank = {
            name: torch.cat((counted if name == "counted" else state[name], new if name == "counted" else new[None]))
            for name, new in added.items()
        }
        if len(bank["counted"]) > self.settings.capacity:
            kept = torch.tensor(survivors(bank["counted"].tolist(), self.settings.capacity))
            bank = {name: tensor[kept] for name, tensor in bank.items()}
        state.update(bank)

    def _encoded(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """A chunk by itself: keys and values (R, H_kv, C, d) of the retrieval layers, and its embedding (D,)."""
        decoder, middle = self.model.decoder, self.model.decoder.shape.layers // 2
        seen: list[Tensor] = []

        def note(h: Tensor) -> Tensor:
            seen.append(h)
            return h

        with torch.inference_mode():
            _, made = decoder.run(
                decoder.embed(tokens[None]), Entries(hidden={middle: note}), last=max(max(self.layers), middle) + 1
            )
        keys, values = (torch.stack([made[layer][side][0] for layer in self.layers]) for side in (0, 1))
        behind = seen[0][0, 1:] if len(tokens) > 1 else seen[0][0]  # the first token's activations are vast
        return keys, values, F.normalize(F.normalize(behind, dim=-1).mean(0), dim=0)

    def _verify(self, state: State) -> None:
        shape, parts = self.model.decoder.shape, self.empty()
        if state.keys() != parts.keys() or any(state[n].shape[1:] != parts[n].shape[1:] for n in parts):
            raise DamagedState("the bank is of another form than this model's. Read the text again.")
        if len({len(state[name]) for name in ("keys", "values", "embeddings", "counted")}) != 1:
            raise DamagedState("the bank's parts do not fit each other. Read the text again.")
        recent = state["recent"]
        if len(recent) > self.settings.window or (
            len(recent) and not 0 <= int(recent.min()) <= int(recent.max()) < shape.vocabulary
        ):
            raise DamagedState("the window holds what this memory does not write. Read the text again.")
        if not all(state[name].isfinite().all() for name in ("keys", "values", "embeddings")):
            raise DamagedState("the bank holds what is no number. Read the text again.")


def nearest_by_definition(query: Tensor, embeddings: Tensor, count: int) -> list[int]:
    """Which embeddings (N, D) have the largest cosine to a query (D,), the earlier of equal ones; one at a time."""
    cosines = [
        float(sum(q * e for q, e in zip(query, row, strict=True)) / (query.norm() * row.norm()).clamp_min(1e-12))
        for row in embeddings
    ]
    return sorted(range(len(cosines)), key=lambda n: (-cosines[n], n))[:count]


def nearest(query: Tensor, embeddings: Tensor, count: int) -> Tensor:
    """`nearest_by_definition`, as one product."""
    lengths = (query.norm() * embeddings.norm(dim=-1)).clamp_min(1e-12)
    return (embeddings @ query / lengths).argsort(descending=True, stable=True)[:count]


def survivors(counted: Sequence[int], capacity: int) -> list[int]:
    """Which of the chunks of an overfull bank stay, oldest first in and out: see above.

    Args:
        counted: How often each was retrieved, the oldest first.
    """
    tenth = max(1, capacity // 10)
    newest = range(len(counted) - tenth, len(counted))
    between = range(tenth, len(counted) - tenth)
    room = max(0, capacity // 2 - tenth)
    kept = sorted(between, key=lambda n: (-counted[n], -n))[:room]
    return sorted([*kept, *newest])


def attended_by_definition(q: Tensor, chunks: Sequence[tuple[Tensor, Tensor]], k: Tensor, v: Tensor) -> Tensor:
    """What a retrieval layer reads: q (H, T, d), k and v (H_kv, T, d), chunks (H_kv, C, d) -> (H, T, d); slow."""
    groups, read = q.shape[0] // k.shape[0], torch.zeros_like(q)
    for head in range(q.shape[0]):
        for t in range(q.shape[1]):
            total, mixed = q.new_zeros(()), q.new_zeros(q.shape[2])
            seen = [
                (c_k[head // groups, j], c_v[head // groups, j]) for c_k, c_v in chunks for j in range(c_k.shape[1])
            ]
            for key, value in [*seen, *((k[head // groups, j], v[head // groups, j]) for j in range(t + 1))]:
                weight = (q[head, t] @ key / q.shape[2] ** 0.5).exp()
                total, mixed = total + weight, mixed + weight * value
            read = torch.index_put(read, (torch.tensor(head), torch.tensor(t)), mixed / total)
    return read
