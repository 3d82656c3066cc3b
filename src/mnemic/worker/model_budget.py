"""The language model of an open store, opened when a strategy first asks it, and what each space has asked of it."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Final

from mnemic.core.forking import renew_in_child
from mnemic.derive.drive import tokens_of
from mnemic.errors import ModelError

if TYPE_CHECKING:
    from mnemic.models.chat.base import Chat
    from mnemic.models.model_requests import Ask
    from mnemic.settings import Settings

HOUR: Final = 3600.0
"""Seconds over which a space's share is counted."""


class Thinking:
    """Answers what strategies ask. Safe for many threads.

    Each space has a share of calls and tokens an hour (settings `hour_calls`, `hour_tokens`), counted by this process
    since it was opened: so many workers, so many shares.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._chat: Chat | None = None
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over with nothing counted, as a forked child must."""
        self._lock = threading.Lock()
        self._spent: dict[int, deque[tuple[float, int]]] = {}

    def answer(self, ask: Ask) -> str:
        """What the model says, whole.

        Raises:
            ModelError: there is none, or it failed.
        """
        return "".join(self._opened().stream(ask.messages, limit=ask.limit))

    def count(self, space: int, ask: Ask) -> None:
        """Note that a space has asked."""
        with self._lock:
            self._spent.setdefault(space, deque()).append((time.monotonic(), tokens_of(ask)))

    def has_room(self, space: int) -> bool:
        """Whether a space may ask more within this hour."""
        with self._lock:
            spent = self._spent.get(space)
            while spent and spent[0][0] < time.monotonic() - HOUR:
                spent.popleft()
            if not spent:
                self._spent.pop(space, None)
                return True
            tokens = sum(tokens for _, tokens in spent)
            return len(spent) < self._settings.hour_calls and tokens < self._settings.hour_tokens

    def _opened(self) -> Chat:
        with self._lock:
            if self._chat is None:
                from mnemic.models.chat.chat_opening import open_chat

                self._chat = open_chat(self._settings.model, self._settings)
            if self._chat is None:
                raise ModelError("a strategy asks a language model, and the setting `model` names none")
            return self._chat
