"""A language model for tests: it says what it was told to say."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mnemic.errors import Invalid
from mnemic.models.chat.base import LIMIT, ChatMessage, CutOff, checked

if TYPE_CHECKING:
    from mnemic.settings import Settings


class ScriptedChat:
    """Gives its answers in turn, over and over, word by word. Safe for many threads.

    Args:
        answers: At least one, none of them empty.

    Attributes:
        asked: Every conversation it was given, in order.
    """

    def __init__(self, *answers: str) -> None:
        if not answers or not all(answer.strip() for answer in answers):
            raise Invalid("model", "scripted has nothing to say", "Write scripted:ANSWER or scripted:ANSWER|ANSWER.")
        self.name = f"scripted:{'|'.join(answers)}"
        self.asked: list[tuple[ChatMessage, ...]] = []
        self._answers = itertools.cycle(answers)
        self._lock = threading.Lock()

    @classmethod
    def opened(cls, details: str, settings: Settings) -> ScriptedChat:
        """Open the model that `scripted:ANSWER|ANSWER` names."""
        return cls(*details.split("|"))

    def stream(self, messages: Sequence[ChatMessage], *, limit: int = LIMIT) -> Iterator[str]:
        """The next answer; a word is a token."""
        checked(messages, limit)
        return self._pieces(tuple(messages), limit)

    def _pieces(self, messages: tuple[ChatMessage, ...], limit: int) -> Iterator[str]:
        with self._lock:
            self.asked.append(messages)
            answer = next(self._answers)
        pieces = re.findall(r"\s*\S+\s*?", answer)
        yield from pieces[:limit]
        if len(pieces) > limit:
            raise CutOff(self.name, limit)
