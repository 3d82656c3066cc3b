"""What language models have taken: calls, tokens and time, by strategy, task and model. Numbers and names, no words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, Final

from mnemic.errors import StoreCorrupt

_NAMES: Final = 8
"""Most names of an endpoint's models that are kept, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What the calls of one model for one task have taken.

    Attributes:
        strategy: Whose lane asked; `chat` for `mnemic chat`.
        task: As the strategy names it; "" where it names none.
        model: The name it was asked by.
        calls, failed: How many there were, and how many of them gave no whole answer.
        prompt_tokens, answer_tokens: As the model counted them, those of answers that were cut off included.
        estimated: How many of the calls did not say, so that their tokens are guessed by bytes.
        seconds: How long they took together.
        unsound: How many gave a whole answer that was not what was asked for.
        answered_as: The other names that who answered went by, the newest last: an endpoint may change its model.
    """

    strategy: str
    task: str
    model: str
    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    estimated: int = 0
    seconds: float = 0.0
    unsound: int = 0
    answered_as: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from others."""
        return self.strategy, self.task, self.model

    def plus(self, other: Spending) -> Spending:
        """Add what others of the same strategy, task and model have taken."""
        return replace(
            self,
            calls=self.calls + other.calls,
            failed=self.failed + other.failed,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            answer_tokens=self.answer_tokens + other.answer_tokens,
            estimated=self.estimated + other.estimated,
            seconds=round(self.seconds + other.seconds, 3),
            unsound=self.unsound + other.unsound,
            answered_as=_last_of_each((*self.answered_as, *other.answered_as))[-_NAMES:],
        )


def _last_of_each(names: Sequence[str]) -> tuple[str, ...]:
    """Keep of each name where it stands last."""
    return tuple(reversed(dict.fromkeys(reversed(names))))


def summed(spendings: Iterable[Spending]) -> list[Spending]:
    """Sum spendings by strategy, task and model, the dearest in tokens first."""
    sums: dict[tuple[str, str, str], Spending] = {}
    for spending in spendings:
        sums[spending.key] = sums[spending.key].plus(spending) if spending.key in sums else spending
    return sorted(sums.values(), key=lambda spending: (-spending.prompt_tokens - spending.answer_tokens, spending.key))


def packed_spendings(spendings: Iterable[Spending]) -> bytes:
    """Encode spendings."""
    return json.dumps([astuple(spending) for spending in spendings], separators=(",", ":")).encode()


def unpacked_spendings(packed: bytes) -> list[Spending]:
    """Restore what `packed_spendings` returned.

    Raises:
        StoreCorrupt: it returned no such thing.
    """
    try:
        return [_unpacked(row) for row in json.loads(packed)]
    except (ValueError, TypeError) as error:
        raise StoreCorrupt("the meter of language models cannot be read; `mnemic verify` tells more") from error


def _unpacked(row: Sequence[Any]) -> Spending:
    """Restore one; where it was written before its last fields were there, these have counted nothing."""
    spending = Spending(**dict(zip(Spending.__slots__, row, strict=False)))
    return replace(spending, answered_as=tuple(spending.answered_as))
