"""An open store answers the requests of verbs and lanes: by its rows, its embedders, its language model.

What runs behind yields to verbs: its requests wait while one runs in front, and never starve.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.forking import renew_in_child
from mnemic.errors import ModelError
from mnemic.flow import Pause, Request
from mnemic.models.model_requests import Ask, Embed, EmbedQuestion
from mnemic.store.requests import answer
from mnemic.watching.metering import Meters

if TYPE_CHECKING:
    from mnemic.meaning import Meaning
    from mnemic.models.chat.base import Chat
    from mnemic.settings import Settings
    from mnemic.store.contract import Store


LINGER_SECONDS: Final = 0.003
"""How long it must have been quiet: verbs come in bursts, and a thread that wakes between two of them is in the way."""

PARKED_SECONDS: Final = 0.05
"""Longest that a request waits for verbs that do not cease; it waits twice as long as the last one took, if longer."""

BESIDE_SECONDS: Final = 0.002
"""How long work goes on beside such verbs before it waits again."""


class LanguageModel:
    """The language model of an open store, opened when a strategy first asks it. Safe for many threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._chat: Chat | None = None
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Take a new lock, as a forked child must."""
        self._lock = threading.Lock()

    def answer(self, ask: Ask) -> str:
        """Have the model answer, whole.

        Raises:
            ModelError: there is none, or it failed.
        """
        return "".join(self._opened().stream(ask.messages, limit=ask.limit))

    def _opened(self) -> Chat:
        with self._lock:
            if self._chat is None:
                from mnemic.models.model_opening import open_chat

                self._chat = open_chat(self._settings.model, self._settings)
            if self._chat is None:
                raise ModelError("a strategy asks a language model, and the setting `model` names none")
            return self._chat


class Yielding:
    """Knows whether verbs run in front, and when work behind them may go on. Safe for many threads.

    It is the context in which a request of a verb is answered: every verb pays for it, so it is no generator.
    """

    def __init__(self) -> None:
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over with nobody in front, as a forked child must."""
        self._lock = threading.Lock()
        self._all = threading.Event()
        self._front = 0
        self._left_at = 0.0
        self._free_until = 0.0
        self._took = 0.0

    def __enter__(self) -> None:
        """Note that somebody waits for a verb."""
        with self._lock:
            self._front += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._front -= 1
            self._left_at = time.monotonic()

    def let_all(self) -> None:
        """Let everybody go on who waits."""
        self._all.set()

    def park(self) -> None:
        """Wait until nobody is in front, or for as long as is fair.

        It looks again after longer and longer: a thread that wakes takes the interpreter from the verbs it waits for.
        """
        now = time.monotonic()
        if now < self._free_until:
            return
        until, pause = now + max(PARKED_SECONDS, 2 * self._took), LINGER_SECONDS
        while not self._is_quiet(now) and not self._all.wait(min(pause, until - now)):
            now, pause = time.monotonic(), 2 * pause
            if now >= until:
                self._free_until = now + BESIDE_SECONDS
                return

    def _is_quiet(self, now: float) -> bool:
        return not self._front and now - self._left_at >= LINGER_SECONDS

    @contextmanager
    def working(self) -> Iterator[None]:
        """Time one request of the background: twice as long as it takes the next one may wait."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._took = time.monotonic() - began


class Answering:
    """Answers every request of an open store and times it; verbs and lanes ask the same one. Safe for many threads.

    Attributes:
        meters: How long each sort of request takes.
        yielding: The context in which a request of a verb is answered, so that what runs behind waits before its next.
    """

    def __init__(self, store: Store, meaning: Meaning, settings: Settings) -> None:
        self.store, self.meaning = store, meaning
        self.language_model = LanguageModel(settings)
        self.meters = Meters()
        self.yielding = Yielding()

    def perform(self, request: Request) -> Any:
        """Answer one request of a flow, and time it."""
        return self.meters.answered(request, self._answer)

    def _answer(self, request: Request) -> Any:
        match request:
            case Embed(model, texts):
                return self.meaning.passages(model, texts)
            case EmbedQuestion(text):
                return self.meaning.question(text)
            case Ask():
                return self.language_model.answer(request)
            case Pause():
                return None
            case _:
                return answer(self.store, request)
