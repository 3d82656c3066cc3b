"""Activation memory: the keys and values of a text, computed once, and read by every question that follows it.

    K_t = R_t W_k n_t,   V_t = W_v n_t        for the text's positions t = 0 … S-1, in every layer
    o_t = softmax(q_t [K_0 … K_t]ᵀ / √d) [V_0 … V_t]        for the question's positions t = S, S+1, …

Source: MemOS, arXiv:2507.03724, its activation memory. What we do otherwise: nothing is pickled; a record says whose
it is; the longest common run of tokens counts, never the text it came from; records that were made apart are not joined
as if they had been made together. All of them begin at position 0, and none attended to another: a joined record may
have its keys turned to where they stand, R_{t+o} = R_o R_t, but not what they would have seen.

At rest (Liu et al., KIVI, arXiv:2402.02750: keys have few large channels, values large tokens):
    int8        K ≈ s_c · round(K / s_c), a scale for each channel of up to 64 tokens;   V likewise, for each token
    float16     as it is, rounded
Shapes: L layers, H_kv heads, S tokens, d width of a head, G stretches of tokens that share scales.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.errors import DamagedState, InexactJoin, Invalid
from mnemic.neural.base import Family, Identity, State, settings_digest
from mnemic.neural.gguf_weights import TextModel
from mnemic.neural.llama import BARE, Entries, KeysAndValues, turned

Precision: TypeAlias = Literal["float32", "float16", "int8"]
Turning: TypeAlias = Literal["positions", "nothing"]

_STRETCH: Final = 64
"""Tokens that share the scales of their keys."""

_BLOCK: Final = 512
"""Tokens of a text that are read at once: more than that, and what is held meanwhile grows."""

_SAMPLE: Final = 8
"""Tokens at the end of a record that `verify` computes anew."""

_TOLERANCE: Final = {"float32": 1e-3, "float16": 1e-2, "int8": 6e-2}
"""How far these may then be off, as a share of their own size."""


@dataclass(frozen=True, slots=True)
class KVSettings:
    """How a record lies at rest."""

    precision: Precision = "float16"


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far a memory is from reading everything anew.

    Attributes:
        logit: Largest difference of a logit.
        divergence: Largest KL(anew ‖ memory) of a position, in nats.
        agreed: Share of positions at which the likeliest token is the same.
    """

    logit: float
    divergence: float
    agreed: float


class KVMemory:
    """Keys and values of a text before a question. A state is one record: `tokens` (S,), and what they made."""

    family: ClassVar[Family] = Family.CACHE
    bounded: ClassVar[bool] = False

    def __init__(self, model: TextModel, settings: KVSettings | None = None) -> None:
        self.model, self.settings = model, settings or KVSettings()
        if self.settings.precision not in _TOLERANCE:
            raise Invalid(
                "precision", f"{self.settings.precision!r} is not known", f"Use one of {', '.join(_TOLERANCE)}."
            )

    @cached_property
    def identity(self) -> Identity:
        """Whose its records are."""
        return Identity("kv", self.model.decoder.digest, self.model.tokenizer_digest, settings_digest(self.settings))

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The model's own."""
        return self.model.decoder.weights

    def empty(self) -> State:
        """A record of no tokens."""
        shape = self.model.decoder.shape
        none = torch.zeros(shape.layers, shape.kv_heads, 0, shape.head_width)
        return {"tokens": torch.zeros(0, dtype=torch.int64), **self._at_rest(none, none)}

    def build(self, text: str) -> State:
        """Read a text from its beginning.

        Raises:
            TooLarge: it is longer than the model's context.
        """
        return self.write(self.tokens(self.model.ids(text)), self.empty())

    def tokens(self, ids: Sequence[int]) -> Tensor:
        """Tokens as they are written (T,)."""
        return torch.tensor(ids, dtype=torch.int64)

    def write(self, given: Tensor, state: State) -> State:
        """Read tokens (T,) on behind a record, which is the same as reading all of them from the beginning.

        Raises:
            TooLarge: together they are longer than the model's context.
        """
        with torch.inference_mode():
            keys, values = self._attached(state)
            before = keys.shape[2]
            for block in given.split(_BLOCK):
                past = _past(keys, values)
                _, kept = self.model.decoder.run(self.model.decoder.embed(block[None]), Entries(past))
                keys, values = (torch.stack([layer[n][0] for layer in kept]) for n in (0, 1))
            fresh = self._at_rest(keys[:, :, before:], values[:, :, before:])
        joined = {name: torch.cat((state[name], fresh[name]), dim=_along(name)) for name in fresh}
        return {"tokens": torch.cat((state["tokens"], given)), **joined, **_apart(state)}

    def read(self, asked: Tensor, state: State) -> Tensor:
        """Logits (B, T, V) of tokens (B, T) that follow the record."""
        with torch.inference_mode():
            return self.model.decoder.logits(asked, self.attach(state, asked.shape[0]))

    def attach(self, state: State, batch: int = 1) -> Entries:
        """The record as what came before, for a decoder; what it reads is not added to the record."""
        if not len(state["tokens"]):
            return BARE
        keys, values = self._attached(state)
        return Entries(
            tuple((k.expand(batch, -1, -1, -1), v.expand(batch, -1, -1, -1)) for k, v in _past(keys, values))
        )

    def attach_prefix(self, ids: Sequence[int], state: State) -> tuple[Entries, list[int]]:
        """The record as far as a prompt begins with it, and the tokens left to be read, at least one."""
        shared = min(common_run(ids, state["tokens"].tolist()), len(ids) - 1)
        if "apart" in state:  # behind its first part a joined record is not what a prompt of these tokens makes
            shared = min(shared, int(state["apart"][0]))
        return self.attach(self.cut(state, shared)), list(ids[shared:])

    def cut(self, state: State, tokens: int) -> State:
        """The first tokens of a record, which are what they would be had nothing followed."""
        keys_stretches = _stretches(state, tokens) if "key_scales" in state else 0
        sizes = {"tokens": tokens, "key_scales": keys_stretches, "stretches": keys_stretches}
        kept = {
            name: tensor.narrow(_along(name), 0, min(sizes.get(name, tokens), tensor.shape[_along(name)])).contiguous()
            for name, tensor in state.items()
            if name != "apart"
        }
        if "stretches" in kept and keys_stretches:
            lengths = kept["stretches"].clone()
            lengths[-1] -= int(lengths.sum()) - min(tokens, len(state["tokens"]))
            kept["stretches"] = lengths
        apart = {"apart": state["apart"]} if "apart" in state and tokens > int(state["apart"][0]) else {}
        return {**kept, **apart}

    def join(self, records: Sequence[State], turn: Turning | None = None) -> State:
        """Put records behind each other.

        That is not the record of the whole text, for none of them has seen another: `deviation` says how far it is off.

        Args:
            turn: `positions` has the keys of each turned to where it then stands; `nothing` leaves all of them at the
                beginning, as elsewhere records are joined. None refuses.

        Raises:
            InexactJoin: more than one record holds tokens, and it was not said what to do.
        """
        filled = [record for record in records if len(record["tokens"])]
        if len(filled) < 2:
            return filled[0] if filled else self.empty()
        if turn is None:
            raise InexactJoin(
                f"{len(filled)} records were made apart, and none has seen another. Build one of all their tokens, "
                "or ask for their positions to be turned, and see `deviation` for what that costs."
            )
        keys, values, at = [], [], 0
        for record in filled:
            k, v = self._attached(record)
            keys.append(turned(k, self.model.decoder.turning(torch.tensor([at]))) if turn == "positions" else k)
            values.append(v)
            at += k.shape[2]
        tokens = torch.cat([record["tokens"] for record in filled])
        first = torch.tensor([len(filled[0]["tokens"])], dtype=torch.int64)
        return {"tokens": tokens, **self._at_rest(torch.cat(keys, 2), torch.cat(values, 2)), "apart": first}

    def deviation(self, state: State, asked: Tensor) -> Deviation:
        """How far reading `asked` (T,) behind a record is from reading everything anew in float32."""
        with torch.inference_mode():
            anew = self.model.decoder.logits(torch.cat((state["tokens"], asked))[None])[0, len(state["tokens"]) :]
        return deviation(anew, self.read(asked[None], state)[0])

    def verify(self, state: State) -> None:
        """Check that a record is of this model's form, and that its last tokens made what it says they made.

        Raises:
            DamagedState: it is not.
        """
        shape, expected = self.model.decoder.shape, self.empty()
        if state.keys() - {"apart"} != expected.keys():
            raise DamagedState("the record has other parts than this memory writes. Build it again.")
        tokens, length = state["tokens"], len(state["tokens"])
        if length > shape.context or (length and not 0 <= int(tokens.min()) <= int(tokens.max()) < shape.vocabulary):
            raise DamagedState("the record has tokens that the model does not know. Build it again.")
        try:
            keys, values = self._attached(state)
        except RuntimeError as error:
            raise DamagedState("the record's parts do not fit each other. Build it again.") from error
        if {keys.shape, values.shape} != {(shape.layers, shape.kv_heads, length, shape.head_width)}:
            raise DamagedState("the record is of another shape than the model's. Build it again.")
        start = max(0, length - _SAMPLE)
        if length and "apart" not in state:
            again = self._attached(self.write(tokens[start:], self.cut(state, start)))
            for kept, made in zip((keys, values), again, strict=True):
                kept, made = kept[:, :, start:], made[:, :, start:]
                if not (kept - made).norm() <= _TOLERANCE[self.settings.precision] * made.norm():  # nor is NaN
                    raise DamagedState("the record is not what its tokens make. Build it again.")

    def _at_rest(self, keys: Tensor, values: Tensor) -> State:
        """Keys and values (L, H_kv, T, d) as they are kept."""
        match self.settings.precision:
            case "float32":
                return {"keys": keys.contiguous(), "values": values.contiguous()}
            case "float16":
                return {"keys": keys.half().contiguous(), "values": values.half().contiguous()}
        stretches = [stretch for stretch in keys.split(_STRETCH, dim=2) if stretch.shape[2]]
        lengths = torch.tensor([stretch.shape[2] for stretch in stretches], dtype=torch.int64)
        sizes = [_scale(stretch, 2) for stretch in stretches]
        key_scales = torch.cat(sizes, 2) if sizes else keys[:, :, :0]  # (L, H_kv, G, d)
        value_scales = _scale(values, 3) if values.shape[2] else values[..., :1]  # (L, H_kv, T, 1)
        return {
            "keys": (keys / key_scales.repeat_interleave(lengths, 2)).round().to(torch.int8),
            "values": (values / value_scales).round().to(torch.int8),
            "key_scales": key_scales,
            "value_scales": value_scales,
            "stretches": lengths,
        }

    def _attached(self, state: State) -> tuple[Tensor, Tensor]:
        """Keys and values (L, H_kv, S, d) of a record, in float32."""
        keys, values = state["keys"].float(), state["values"].float()
        if self.settings.precision == "int8":
            keys = keys * state["key_scales"].repeat_interleave(state["stretches"], 2)
            values = values * state["value_scales"]
        return keys, values


def deviation(anew: Tensor, remembered: Tensor) -> Deviation:
    """How far logits (T, V) with a memory are from those without."""
    logs, others = F.log_softmax(anew, -1), F.log_softmax(remembered, -1)
    divergence = F.kl_div(others, logs, reduction="none", log_target=True).sum(-1).max()
    agreed = (anew.argmax(-1) == remembered.argmax(-1)).float().mean()
    return Deviation(float((anew - remembered).abs().max()), float(divergence), float(agreed))


def common_run(left: Sequence[int], right: Sequence[int]) -> int:
    """How many tokens two sequences have in common at their beginning."""
    for n, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return n
    return min(len(left), len(right))


def _past(keys: Tensor, values: Tensor) -> KeysAndValues:
    return tuple((k[None], v[None]) for k, v in zip(keys, values, strict=True))


def _scale(x: Tensor, dim: int) -> Tensor:
    """The size of one step of int8 along a dimension; never zero."""
    return x.abs().amax(dim, keepdim=True).clamp_min(1e-8) / 127


def _along(name: str) -> int:
    """The dimension that tokens, or stretches of them, go along."""
    return 0 if name in ("tokens", "stretches") else 2


def _stretches(state: State, tokens: int) -> int:
    """How many stretches the first tokens lie in."""
    begins = state["stretches"].cumsum(0) - state["stretches"]
    return int((begins < tokens).sum())


def _apart(state: State) -> State:
    """The mark of a record that was joined: what follows it has seen all of it, and it is inexact all the same."""
    return {"apart": state["apart"]} if "apart" in state else {}
