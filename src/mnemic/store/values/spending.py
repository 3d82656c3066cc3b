"""What language models have taken: calls, tokens and time, by strategy, task and model. Numbers and names, no words."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace

from mnemic.errors import StoreCorrupt


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
        )


def summed(spendings: Iterable[Spending]) -> list[Spending]:
    """Sum spendings by strategy, task and model, the dearest in tokens first."""
    sums: dict[tuple[str, str, str], Spending] = {}
    for one in spendings:
        sums[one.key] = sums[one.key].plus(one) if one.key in sums else one
    return sorted(sums.values(), key=lambda one: (-one.prompt_tokens - one.answer_tokens, one.key))


def packed_spendings(spendings: Iterable[Spending]) -> bytes:
    """Encode spendings."""
    return json.dumps([astuple(one) for one in spendings], separators=(",", ":")).encode()


def unpacked_spendings(packed: bytes) -> list[Spending]:
    """Restore what `packed_spendings` returned.

    Raises:
        StoreCorrupt: it returned no such thing.
    """
    fields = Spending.__slots__
    try:
        return [Spending(**dict(zip(fields, row, strict=True))) for row in json.loads(packed)]
    except (ValueError, TypeError) as error:
        raise StoreCorrupt("the meter of language models cannot be read; `mnemic verify` tells more") from error
