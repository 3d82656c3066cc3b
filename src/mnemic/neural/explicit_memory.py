"""Explicit memory: of each reference the few keys and values that the rest of it looked at most, read side by side.

    a_j = Σ_h Σ_i softmax_j(q_i · k_j / √d)        for the reference's tokens j, over its tokens i and the heads that
                                                   share the keys; queries and keys not turned to their positions
    kept = the s tokens of the largest a_j,        in each layer and each head of keys, in the order of the text
    o_t  = softmax(q_t [K¹ … Kᵐ K_ctx]ᵀ / √d) [V¹ … Vᵐ V_ctx]        for the m references that are attached

Every reference begins at position 0 and what is asked stands behind the longest one: references are beside each other,
none has seen another, and their order says nothing. With s no smaller than its length, one reference is the prompt.

Source: Yang et al., Memory³, arXiv:2407.01178, sparse attention keys and values of references of 128 tokens. What we do
otherwise: nothing is trained unless the reader is (the experiment does that); s is of the caller's choosing; no product
quantisation; which references are attached is said by whoever recalls, not by a search of vectors inside.
Shapes: L layers with memory, H heads, H_kv heads of keys, S tokens of a reference, s those kept, d width of a head.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import ClassVar, Final, Literal

import torch
from torch import Tensor

from mnemic.errors import DamagedState, Invalid, TooLarge
from mnemic.neural.base import Family, Identity, State, cited, settings_digest, source_digests
from mnemic.neural.gguf_weights import TextModel
from mnemic.neural.llama import BARE, Entries, turned

CHUNK: Final = 128
"""Tokens of a reference, in the paper and at most here."""

_TYPES: Final = {"float32": torch.float32, "float16": torch.float16}
_PARTS: Final = ("keys", "values", "extent", "sources")


@dataclass(frozen=True, slots=True)
class TextReference:
    """A piece of text to be remembered.

    Attributes:
        tokens: Up to `CHUNK` of them.
        sources: What it came from.
    """

    tokens: tuple[int, ...]
    sources: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What a state calls it: the same text from the same sources is one reference, however often it is written."""
        said = "\n".join((",".join(map(str, self.tokens)), *sorted(set(self.sources))))
        return hashlib.sha256(said.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class ExplicitSettings:
    """How references are kept.

    Attributes:
        kept: Tokens that each layer and head keeps of a reference, at most.
        layers: How many layers hold memories, from the lowest; 0 for all.
        precision: How keys and values lie at rest.
    """

    kept: int = 16
    layers: int = 0
    precision: Literal["float32", "float16"] = "float16"


class ExplicitMemory:
    """References as sparse keys and values. A state holds, under each one's name, `keys` and `values` (L, H_kv, s, d),
    `extent` (1,), which is its length before anything was dropped, and digests of its `sources`."""

    family: ClassVar[Family] = Family.CACHE
    bounded: ClassVar[bool] = False

    def __init__(self, model: TextModel, settings: ExplicitSettings | None = None) -> None:
        self.model, self.settings = model, settings or ExplicitSettings()
        layers = model.decoder.shape.layers
        if self.settings.kept < 1 or not 0 <= self.settings.layers <= layers or self.settings.precision not in _TYPES:
            remedy = f"Keep a token or more in up to {layers} layers, as {' or '.join(_TYPES)}."
            raise Invalid("settings", f"keep {self.settings.kept} tokens in {self.settings.layers} layers", remedy)
        self._layers = self.settings.layers or layers

    @cached_property
    def identity(self) -> Identity:
        """Whose its references are."""
        digest = settings_digest(self.settings)
        return Identity("explicit", self.model.decoder.digest, self.model.tokenizer_digest, digest)

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The model's own."""
        return self.model.decoder.weights

    def empty(self) -> State:
        """No references."""
        return {}

    def write(self, given: Sequence[TextReference], state: State) -> State:
        """Encode references, each by itself; what is there already stands as it is.

        Raises:
            Invalid: one has no tokens, or tokens that the model does not know.
            TooLarge: one has more than `CHUNK`; nothing is written.
        """
        for reference in given:
            self._check(reference)
        made = dict(state)
        for reference in given:
            if f"{reference.name}.keys" not in made:
                made |= {f"{reference.name}.{part}": tensor for part, tensor in self._encoded(reference).items()}
        return made

    def read(self, asked: Tensor, state: State) -> Tensor:
        """Logits (B, T, V) of tokens (B, T) that follow all references."""
        with torch.inference_mode():
            return self.model.decoder.logits(asked, self.attach(state, batch=asked.shape[0]))

    def attach(self, state: State, names: Collection[str] | None = None, batch: int = 1) -> Entries:
        """References as what came before, for a decoder: those of these names, or all.

        Raises:
            DamagedState: what a state holds of one is not of the model's form.
        """
        chosen = self.names(state) if names is None else sorted(set(names) & set(self.names(state)))
        if not chosen:
            return BARE
        for name in chosen:
            self._verify(state, name)
        keys, values = (torch.cat([state[f"{name}.{part}"].float() for name in chosen], 2) for part in _PARTS[:2])
        past = [(k.expand(batch, -1, -1, -1), v.expand(batch, -1, -1, -1)) for k, v in zip(keys, values, strict=True)]
        none = keys.new_zeros(batch, keys.shape[1], 0, keys.shape[3])
        past += [(none, none)] * (self.model.decoder.shape.layers - len(past))
        return Entries(tuple(past), position=max(int(state[f"{name}.extent"]) for name in chosen))

    def system_references(self, text: str, sources: Sequence[str] = ()) -> list[TextReference]:
        """A text as the model is told it before a question: as the message of its system."""
        ids = self.model.prompt(("system", text), ("user", "?"))
        return references(ids[: len(ids) - len(self.question("?"))], sources)

    def question(self, text: str) -> list[int]:
        """The tokens of a user's question behind whatever was told."""
        first, second = (self.model.prompt(("system", told), ("user", text)) for told in ("a", "B"))
        pairs = zip(reversed(first), reversed(second), strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        return first[len(first) - shared :]

    def answer(self, question: str, entries: Entries, limit: int = 24) -> str:
        """What the model says to a user's question behind references; without any it is asked as ever."""
        ids = self.question(question) if entries.past else self.model.prompt(("user", question))
        (said,) = self.model.decoder.generate([ids], limit, frozenset({self.model.end}), entries)
        return self.model.answer(said)

    def forget(self, sources: Collection[str], state: State) -> State:
        """Drop every reference that one of these sources has a part in."""
        gone = set(self.of_sources(sources, state))
        return {name: tensor for name, tensor in state.items() if name.split(".")[0] not in gone}

    def names(self, state: State) -> list[str]:
        """The names of all references, in the order that they are attached in, whenever each was written."""
        return sorted({name.split(".")[0] for name in state})

    def of_sources(self, sources: Collection[str], state: State) -> list[str]:
        """The names of the references that any of these sources has a part in."""
        return [name for name in self.names(state) if cited(state[f"{name}.sources"], sources)]

    def _check(self, reference: TextReference) -> None:
        tokens, most = reference.tokens, min(CHUNK, self.model.decoder.shape.context - 1)
        if not tokens or not 0 <= min(tokens) <= max(tokens) < self.model.decoder.shape.vocabulary:
            problem = "has tokens that the model does not know" if tokens else "has no tokens"
            raise Invalid("reference", problem, "Give tokens that this model's tokeniser made of a text.")
        if len(tokens) > most:
            raise TooLarge("reference", f"has {len(tokens)} tokens", f"One has up to {most}: cut it into several.")

    def _encoded(self, reference: TextReference) -> State:
        """What is kept of a reference."""
        decoder, layers = self.model.decoder, self._layers
        before: dict[int, Tensor] = {}

        def seen(layer: int, h: Tensor) -> Tensor:
            before[layer] = h
            return h

        with torch.inference_mode():
            hooks = {layer: lambda h, layer=layer: seen(layer, h) for layer in range(layers)}
            h = decoder.embed(torch.tensor([reference.tokens]))
            _, made = decoder.run(h, Entries(hidden=hooks), last=layers)
            cos, sin = decoder.turning(torch.arange(len(reference.tokens)))
            keys, values = [], []
            for layer, (k, v) in enumerate(made):
                weight = received(decoder.queries(before[layer], layer)[0], turned(k, (cos, -sin))[0])
                few_keys, few_values = kept(k[0], v[0], weight, self.settings.kept)
                keys.append(few_keys)
                values.append(few_values)
            dtype = _TYPES[self.settings.precision]
            return {
                "keys": torch.stack(keys).to(dtype).clone(),
                "values": torch.stack(values).to(dtype).clone(),
                "extent": torch.tensor([len(reference.tokens)], dtype=torch.int64),
                "sources": source_digests(reference.sources),
            }

    def _verify(self, state: State, name: str) -> None:
        shape = self.model.decoder.shape
        parts = [state.get(f"{name}.{part}") for part in _PARTS]
        keys, values, extent, _ = parts
        if keys is None or values is None or extent is None or parts[3] is None or extent.numel() != 1:
            raise DamagedState("a reference has other parts than this memory writes. Write it again.")
        length = int(extent)
        few = min(self.settings.kept, length)
        if not {keys.shape, values.shape} == {(self._layers, shape.kv_heads, few, shape.head_width)} or not (
            0 < length < shape.context
        ):
            raise DamagedState("a reference is of another shape than the model's. Write it again.")
        if not (keys.isfinite().all() and values.isfinite().all()):
            raise DamagedState("a reference holds what is no number. Write it again.")


def received_by_definition(q: Tensor, k: Tensor) -> Tensor:
    """How much attention each token receives: q (H, S, d), k (H_kv, S, d), neither turned -> (H_kv, S); slow."""
    groups = q.shape[0] // k.shape[0]
    totals = [[k.new_zeros(()) for _ in range(k.shape[1])] for _ in range(k.shape[0])]
    for head in range(q.shape[0]):
        for i in range(q.shape[1]):
            scores = [q[head, i] @ k[head // groups, j] / q.shape[2] ** 0.5 for j in range(k.shape[1])]
            most = max(float(score.detach()) for score in scores)
            weights = [(score - most).exp() for score in scores]
            for j, weight in enumerate(weights):
                totals[head // groups][j] = totals[head // groups][j] + weight / torch.stack(weights).sum()
    return torch.stack([torch.stack(row) for row in totals])


def received(q: Tensor, k: Tensor) -> Tensor:
    """`received_by_definition`, as products of matrices."""
    rows = q.reshape(k.shape[0], -1, q.shape[2])  # (H_kv, G·S, d)
    return (rows @ k.mT / q.shape[2] ** 0.5).softmax(-1).sum(1)


def kept_by_definition(k: Tensor, v: Tensor, weight: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The tokens of the largest weights (H_kv, S), the earlier of equal ones, in their order: (H_kv, s, d) each."""
    keys, values = [], []
    for head in range(k.shape[0]):
        order = sorted(range(k.shape[1]), key=lambda j: (-float(weight[head, j].detach()), j))
        chosen = sorted(order[:count])
        keys.append(torch.stack([k[head, j] for j in chosen]))
        values.append(torch.stack([v[head, j] for j in chosen]))
    return torch.stack(keys), torch.stack(values)


def kept(k: Tensor, v: Tensor, weight: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """`kept_by_definition`, gathered at once."""
    order = weight.argsort(dim=-1, descending=True, stable=True)
    chosen = order[:, :count].sort(-1).values[..., None].expand(-1, -1, k.shape[2])
    return k.gather(1, chosen), v.gather(1, chosen)


def attended_by_definition(q: Tensor, memories: Sequence[tuple[Tensor, Tensor]], k: Tensor, v: Tensor) -> Tensor:
    """What queries behind memories read: q (H, T, d), k and v (H_kv, T, d), memories (H_kv, s, d) -> (H, T, d); slow.

    One softmax over all that a query sees, which is every memory whole, and the text up to itself.
    """
    groups, read = q.shape[0] // k.shape[0], []
    for head in range(q.shape[0]):
        shared, rows = head // groups, []
        for t in range(q.shape[1]):
            seen = [(m_k[shared, j], m_v[shared, j]) for m_k, m_v in memories for j in range(m_k.shape[1])]
            seen += [(k[shared, j], v[shared, j]) for j in range(t + 1)]
            weights = torch.stack([q[head, t] @ key / q.shape[2] ** 0.5 for key, _ in seen]).softmax(0)
            rows.append((weights[:, None] * torch.stack([value for _, value in seen])).sum(0))
        read.append(torch.stack(rows))
    return torch.stack(read)


def references(tokens: Sequence[int], sources: Sequence[str] = (), chunk: int = CHUNK) -> list[TextReference]:
    """Cut a text's tokens into references, the last one shorter."""
    return [TextReference(tuple(tokens[at : at + chunk]), tuple(sources)) for at in range(0, len(tokens), chunk)]
