"""Limit what each space asks of the language model: calls and tokens within the last hour."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Mutex
from mnemic.derive.drive import tokens_of

if TYPE_CHECKING:
    from mnemic.models.chat.base import Ask
    from mnemic.settings import Settings

HOUR: Final = 3600.0
"""Seconds over which a space's share is counted."""


@dataclass(slots=True, eq=False)
class CountedQuestion:
    """One request: when, on a clock that only goes on, and its tokens."""

    at: float
    tokens: int


class ModelBudget:
    """Counts each space's calls and tokens against its hourly limits. Safe for many threads.

    The settings `hour_calls` and `hour_tokens` say how big a share is. Every process counts for itself, from when it
    opened the store: so many workers, so many shares.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over with nothing counted, as a forked child must."""
        self._lock = Mutex()
        self._asked: dict[int, deque[CountedQuestion]] = {}

    def count(self, space: int, ask: Ask) -> CountedQuestion:
        """Count a request of a space, by a guess of its tokens until they are known."""
        asked = CountedQuestion(time.monotonic(), tokens_of(ask))
        with self._lock:
            self._asked.setdefault(space, deque()).append(asked)
        return asked

    def take_back(self, space: int, asked: CountedQuestion) -> None:
        """Count a request no more that failed: what an endpoint that is down refuses for an hour is no share of it."""
        with self._lock, suppress(ValueError):
            self._asked.get(space, deque()).remove(asked)

    def has_room(self, space: int) -> bool:
        """Whether a space may ask more within this hour."""
        with self._lock:
            asked = self._asked.get(space)
            while asked and asked[0].at < time.monotonic() - HOUR:
                asked.popleft()
            if not asked:
                self._asked.pop(space, None)
                return True
            tokens = sum(spending.tokens for spending in asked)
            return len(asked) < self._settings.hour_calls and tokens < self._settings.hour_tokens
