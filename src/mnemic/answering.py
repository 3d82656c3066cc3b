"""An open store answers the requests of verbs and lanes: by its rows, its embedders, its language model."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

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
                from mnemic.models.chat.chat_opening import open_chat

                self._chat = open_chat(self._settings.model, self._settings)
            if self._chat is None:
                raise ModelError("a strategy asks a language model, and the setting `model` names none")
            return self._chat


class Answering:
    """Answers every request of an open store and times it; verbs and lanes ask the same one. Safe for many threads.

    Attributes:
        meters: How long each sort of request takes.
    """

    def __init__(self, store: Store, meaning: Meaning, settings: Settings) -> None:
        self.store, self.meaning = store, meaning
        self.language_model = LanguageModel(settings)
        self.meters = Meters()

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
