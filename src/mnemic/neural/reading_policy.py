"""The overwriting policy, offered to a reader of long texts: which of its sentences M slots hold, segment by segment.

    like(x) = f_x · w + c Σ_m ⟨n_x, n_m⟩ r_m         features of the card; names that it shares with what is held
    π(i_1 … i_M) = Π_j exp(s_i_j) / Σ_{i left} exp(s_i)      s = like, + a of what is held

It is the pointer of `overwrite_rl` with W_q and W_c made of four numbers: f are the features of a sentence (how it
bears on the question), n its names, hashed, r_m how much what is held bears on the question itself. Slots are filled
one after the other, none with what another one has; without a draw the best are taken. It sees cards and no words, so
it can learn on made-up texts what it is used for on others. `lab.tasks.neural.reading_policy_training` is how; on real
passages the rules that read without it keep more, as its page says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import torch
from torch import Tensor

from mnemic.errors import Invalid
from mnemic.neural.base import State, settings_digest
from mnemic.neural.overwrite_rl import OverwritePolicy, PolicySettings

FEATURES: Final = 2
_NAMES: Final = 64
"""Places that names are hashed to."""
_WIDTH: Final = FEATURES + _NAMES


class Card(Protocol):
    """What is told of a sentence: `strategies.knowledge.SentenceCard`."""

    @property
    def features(self) -> tuple[float, ...]:
        """How it bears on the question; the first says how much of it."""
        ...

    @property
    def names(self) -> tuple[int, ...]:
        """Hashes of the names that the question has not."""
        ...


@dataclass(frozen=True, slots=True)
class ReadingWeights:
    """What a policy has learnt.

    Attributes:
        features: w.
        chain: c.
        keep: a.
    """

    features: tuple[float, float] = (0.0, 0.0)
    chain: float = 0.0
    keep: float = 0.0


class ReadingPolicy:
    """Keeps the best M sentences of what it holds and what it reads next; for `me.read(..., policy=...)`.

    Args:
        slots: M.
        weights: Left out, those that were learnt on made-up texts.

    Raises:
        Invalid: there are no slots, or weights are no numbers.
    """

    def __init__(self, slots: int = 24, weights: ReadingWeights | None = None) -> None:
        self.weights = LEARNT if weights is None else weights
        self.settings = PolicySettings(width=_WIDTH, slots=slots).checked()
        self._numbers = torch.tensor([*self.weights.features, self.weights.chain, self.weights.keep])
        if not torch.isfinite(self._numbers).all():
            raise Invalid("weights", "are not all numbers", "Look for what made NaN or infinity.")

    @property
    def name(self) -> str:
        """Which, and what it has learnt."""
        return f"overwrite, {self.settings.slots} slots, {settings_digest(self.weights)[:16]}"

    def chosen(self, held: Sequence[Card], read: Sequence[Card]) -> list[int]:
        """Places of what is kept, the most wanted first; of equal ones what is held, and then what comes first.

        What is held weighs as a whole, be it more than there are slots.
        """
        if not held and not read:
            return []
        places = max(self.settings.slots, len(held))
        policy = pointer(self._numbers, places)
        scores = scored(policy, described(read)[0][None], slots_of(policy, held))[0]
        real = torch.cat((scores[: len(held)], scores[places:]))  # without empty slots
        best: list[int] = real.argsort(descending=True, stable=True).tolist()
        return best[: self.settings.slots]


def pointer(numbers: Tensor, slots: int) -> OverwritePolicy:
    """The policy of `overwrite_rl` that these four numbers come to; gradients reach them."""
    features, chain, keep = numbers[:FEATURES], numbers[FEATURES], numbers[FEATURES + 1]
    question = torch.cat((features, features.new_zeros(_NAMES)))[:, None] * torch.eye(_WIDTH)[:1]
    names = torch.cat((torch.zeros(FEATURES), torch.ones(_NAMES)))
    weights = {
        "question": question, "chain": torch.diag(names) * chain,
        "keep": keep.expand(slots), "copy": torch.zeros(slots),
    }  # fmt: skip
    return OverwritePolicy(PolicySettings(width=_WIDTH, slots=slots), weights)


def described(cards: Sequence[Card]) -> tuple[Tensor, Tensor]:
    """Keys and values of cards (C, d): features and names, and names as much as the card bears on the question."""
    keys, values = torch.zeros(2, len(cards), _WIDTH).unbind(0)
    for n, card in enumerate(cards):
        keys[n, :FEATURES] = torch.tensor(card.features)
        for name in card.names:
            keys[n, FEATURES + name % _NAMES] = len(card.names) ** -0.5
        values[n, FEATURES:] = keys[n, FEATURES:] * card.features[0]
    return keys, values


def slots_of(policy: OverwritePolicy, held: Sequence[Card]) -> State:
    """The state whose first slots hold these cards."""
    state = policy.start(torch.eye(_WIDTH)[:1])
    keys, values = described(held)
    state["keys"][0, : len(held)], state["values"][0, : len(held)] = keys, values
    state["held"][0, : len(held)] = True
    return state


def scored(policy: OverwritePolicy, keys: Tensor, state: State) -> Tensor:
    """How much what each slot holds and what each card is are wanted (B, M + C); of an empty slot -∞."""
    logits = policy.logits(keys, state)
    own = logits[..., 0].masked_fill(~state["held"], float("-inf"))
    return torch.cat((own, logits[:, 0, 1:]), 1)


def drawn(scores: Tensor, slots: int, draw: torch.Generator) -> tuple[Tensor, Tensor]:
    """Fill slots as the policy says (B, M), and log π of each: one after the other, without what is taken.

    Slots for which nothing is left have log π 0 and a place whose score is -∞.
    """
    left, taken, logs = scores, [], []
    for _ in range(slots):
        gone = left.isneginf().all(1)
        log = torch.log_softmax(left.masked_fill(gone[:, None], 0.0), 1)
        place = torch.multinomial(log.detach().exp(), 1, generator=draw)
        place = torch.where(gone[:, None], scores.isneginf().to(torch.int64).argmax(1, keepdim=True), place)
        logs.append(log.gather(1, place)[:, 0].masked_fill(gone, 0.0))
        taken.append(place[:, 0])
        left = left.scatter(1, place, float("-inf"))
    return torch.stack(taken, 1), torch.stack(logs, 1)


LEARNT: Final = ReadingWeights((6.562, 6.291), chain=5.052, keep=0.668)
"""After 60 steps on made-up texts, seed 0: `mnemic.lab.tasks.neural.reading_policy_training.learned(0, 60)`."""
