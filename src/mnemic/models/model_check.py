"""Ask a language model one harmless question within a time limit, to see whether it answers at all."""

from __future__ import annotations

import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final

from mnemic.errors import MnemicError, ModelError
from mnemic.models.chat.base import Ask, ChatMessage, CutOff, Reply, reply_of
from mnemic.models.model_requests import HARMLESS

if TYPE_CHECKING:
    from mnemic.models.chat.base import Chat

_LIMIT: Final = 8
"""Most tokens of the answer: a model that thinks first is cut off there, and has answered."""


def first_words(chat: Chat, seconds: float) -> Reply:
    """Have a model answer the harmless question; its reply, whether or not it was cut off.

    Raises:
        ModelError: it failed, or has not answered in time: it is left alone then, and ends with the process.
        Invalid: it cannot be asked.
    """
    answers: SimpleQueue[Reply | MnemicError] = SimpleQueue()
    threading.Thread(target=_ask, args=(chat, answers), name="mnemic-check", daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except Empty:
        raise ModelError(f"{chat.name}: no answer within {seconds:g} s") from None
    if isinstance(answer, MnemicError):
        raise answer
    return answer


def _ask(chat: Chat, answers: SimpleQueue[Reply | MnemicError]) -> None:
    """Put the answer, or how it failed, where it is waited for."""
    try:
        answers.put(reply_of(chat.stream(Ask((ChatMessage("user", HARMLESS),), _LIMIT))))
    except CutOff as cut:
        answers.put(cut.reply)
    except MnemicError as error:
        answers.put(error)
