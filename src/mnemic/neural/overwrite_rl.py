"""A memory that is overwritten while a long stream goes by, by a policy that learns from the last answer alone.

    m_0 = ∅,    m_k ~ π(· | q, m_{k-1}, c_k),    the answer is read from m_K; |m| ≤ M however long the stream
    Â_i = R_i - mean R                                                 of G rollouts of a question; no deviation
    J   = 1/Σ|o_ij| Σ_i Σ_j Σ_t min(ρ Â_i, clip(ρ, 1-ε_lo, 1+ε_hi) Â_i)      ρ = π(o)/π_old(o)

Each chunk is a conversation of its own, and every token of all conversations of a rollout gets its
advantage; the mean is over all tokens, so that long rollouts weigh more. A group whose rewards are all equal teaches
nothing and is left out.

Source: Yu et al., MemAgent, arXiv:2507.02259, section 3 (Multi-Conv DAPO). What we do otherwise: a chunk is a few
cards of a key and a value, the memory M slots, and a token the choice of one slot: keep, or copy a card; no KL holds
the policy to a reference, for it begins at nothing that it could unlearn (theirs is a language model, and has - β KL).
The policy is a pointer:

    like(x) = k_xᵀ W_q q + Σ_m k_xᵀ W_c v_m           the card's key against the question, and against what is held
    π(keep m) ∝ exp(like(m) + a_m),     π(copy j to m) ∝ exp(like(j) + b_m)

Shapes: B rows, C cards of a chunk, M slots, d width of a key or a value; Q questions of G rollouts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from mnemic.errors import Invalid
from mnemic.neural.base import Identity, State, check_sizes, own_identity


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """The form of a policy, and how it learns.

    Attributes:
        width: d.
        slots: M.
        low, high: How far a probability may fall or rise in one step, as a share.
        seed: Of the first weights.
    """

    width: int = 16
    slots: int = 2
    low: float = 0.2
    high: float = 0.2
    seed: int = 0

    def checked(self) -> PolicySettings:
        """The same settings.

        Raises:
            Invalid: one of them is out of range.
        """
        check_sizes(self, "width", "slots")
        if not (0 < self.low < 1 and self.high > 0):
            raise Invalid("low", "or high is out of range", "Give 0 < low < 1, and high > 0.")
        return self


def advantages(rewards: Tensor) -> tuple[Tensor, Tensor]:
    """How much better each rollout (Q, G) is than its group, and which groups (Q,) have anything to teach."""
    return rewards - rewards.mean(1, keepdim=True), (rewards != rewards[:, :1]).any(1)


def loss_by_definition(
    logs: list[list[list[Tensor]]], old: list[list[list[Tensor]]], rewards: list[float], settings: PolicySettings
) -> Tensor:  # fmt: skip
    """The loss of one question, token by token: rollouts, their conversations, the tokens of these. Slow on purpose.

    Args:
        logs, old: log π(o) of each token, now and when it was drawn.
    """
    total, tokens, mean = torch.zeros((), dtype=torch.float64), 0, sum(rewards) / len(rewards)
    for rollout, drawn, reward in zip(logs, old, rewards, strict=True):
        for conversation, before in zip(rollout, drawn, strict=True):
            for log, log_old in zip(conversation, before, strict=True):
                ratio, better = (log - log_old).exp(), reward - mean
                within = ratio.clamp(1 - settings.low, 1 + settings.high)
                free, cut = ratio * better, within * better
                gain = free if bool(free < cut) else cut
                total = total + gain
                tokens += 1
    return -total / tokens


def dapo_loss(logs: Tensor, old: Tensor, rewards: Tensor, said: Tensor, settings: PolicySettings) -> Tensor:
    """`loss_by_definition` for all questions at once; zero where no group has anything to teach.

    Args:
        logs, old: (Q, G, K, M), log π(o) of each token, now and when it was drawn; K conversations of M tokens.
        rewards: (Q, G).
        said: (Q, G, K, M), False where a rollout has no such conversation or token.
    """
    better, teaches = advantages(rewards)
    said = said & teaches[:, None, None, None]
    ratio, better = torch.where(said, logs - old, 0.0).exp(), better[..., None, None]
    gain = torch.minimum(ratio * better, ratio.clamp(1 - settings.low, 1 + settings.high) * better)
    return -(gain * said).sum() / said.sum().clamp_min(1)


class OverwritePolicy:
    """Chooses, chunk by chunk, what M slots hold. A state is the question, and each slot's key, value and whether it
    holds anything."""

    def __init__(self, settings: PolicySettings | None = None, weights: Mapping[str, Tensor] | None = None) -> None:
        self.settings = (settings or PolicySettings()).checked()
        self._weights = dict(self._first() if weights is None else weights)

    @cached_property
    def identity(self) -> Identity:
        """Whose its states are."""
        return own_identity("overwrite_rl", self._weights, self.settings)

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """W_q and W_c (d, d), a and b (M,)."""
        return self._weights

    def start(self, question: Tensor) -> State:
        """Slots that hold nothing, for questions (B, d).

        Raises:
            Invalid: they are of another width or type, or no numbers.
        """
        self._check(question, "question", 2)
        none = question.new_zeros(len(question), self.settings.slots, self.settings.width)
        held = torch.zeros(none.shape[:2], dtype=torch.bool)
        return {"question": question.clone(), "keys": none, "values": none.clone(), "held": held}

    def logits(self, keys: Tensor, state: State, real: Tensor | None = None) -> Tensor:
        """What each slot is likely to do (B, M, 1 + C) with cards of these keys (B, C, d): keep, or copy one.

        Args:
            real: (B, C), False where there is no card.
        """
        asked = state["question"] @ self._weights["question"].mT + (state["values"] @ self._weights["chain"].mT).sum(1)
        own = (state["keys"] * asked[:, None]).sum(-1) + self._weights["keep"]
        likes = (keys * asked[:, None]).sum(-1)
        if real is not None:
            likes = likes.masked_fill(~real, float("-inf"))
        return torch.cat((own[..., None], likes[:, None] + self._weights["copy"][:, None]), -1)

    def write(
        self, keys: Tensor, values: Tensor, state: State, real: Tensor | None = None,
        draw: torch.Generator | None = None,
    ) -> tuple[State, Tensor, Tensor]:  # fmt: skip
        """Let a chunk of cards (B, C, d) go by.

        Args:
            draw: Chooses at random as the policy says; without it the likeliest is done.

        Returns:
            the state after it, what each slot did (B, M), 0 for keep, and log π of that.

        Raises:
            Invalid: the cards do not fit the state, or are no numbers; the state stands as it was.
        """
        self._check(keys, "keys", 3)
        self._check(values, "values", 3)
        if keys.shape != values.shape or len(keys) != len(state["keys"]):
            raise Invalid("values", f"are {tuple(values.shape)}, keys {tuple(keys.shape)}", "Give one for each card.")
        if real is not None and (real.shape != keys.shape[:2] or real.dtype != torch.bool):
            raise Invalid("real", f"is of shape {tuple(real.shape)} and {real.dtype}", "Give a bool for each card.")
        logs = torch.log_softmax(self.logits(keys, state, real), -1)
        if draw is None:
            done = logs.argmax(-1)
        else:
            done = torch.multinomial(logs.detach().exp().flatten(0, 1), 1, generator=draw).view(logs.shape[:2])
        return copied(keys, values, state, done), done, logs.gather(-1, done[..., None])[..., 0]

    def _first(self) -> dict[str, Tensor]:
        draw, s = torch.Generator().manual_seed(self.settings.seed), self.settings
        made = {name: 0.1 * torch.randn(s.width, s.width, generator=draw) for name in ("question", "chain")}
        return made | {"keep": torch.zeros(s.slots), "copy": torch.zeros(s.slots)}

    def _check(self, given: Tensor, name: str, dimensions: int) -> None:
        like = self._weights["question"]
        if given.ndim != dimensions or given.shape[-1] != self.settings.width:
            raise Invalid(
                name, f"are of shape {tuple(given.shape)}", f"Give a last dimension of {self.settings.width}."
            )
        if given.dtype != like.dtype:
            raise Invalid(name, f"are {given.dtype}, and the policy {like.dtype}", "Give the same type.")
        if not torch.isfinite(given).all():
            raise Invalid(name, "are not all numbers", "Look where they come from; nothing was written.")


def copied(keys: Tensor, values: Tensor, state: State, done: Tensor) -> State:
    """The state after each slot did what `done` (B, M) says: 0 keeps, n copies card n - 1."""
    kept = (done == 0)[..., None]
    if not keys.shape[1]:
        return dict(state)
    at = (done - 1).clamp_min(0)[..., None].expand(-1, -1, keys.shape[2])
    return {
        "question": state["question"],
        "keys": torch.where(kept, state["keys"], keys.gather(1, at)),
        "values": torch.where(kept, state["values"], values.gather(1, at)),
        "held": state["held"] | (done > 0),
    }


def first_in_first_out(cards: int, chunk: int, slots: int) -> Tensor:
    """What slots (M,) do where the newest cards are always kept: the control. `chunk` counts from 0."""
    begin = chunk * cards
    newest = {n % slots: n - begin + 1 for n in range(begin, begin + cards)}
    return torch.tensor([newest.get(slot, 0) for slot in range(slots)])
