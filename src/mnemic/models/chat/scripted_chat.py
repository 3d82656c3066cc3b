"""A language model for tests: it says what it was told to say."""

from __future__ import annotations

import itertools
import re
import threading
from typing import TYPE_CHECKING

from mnemic.errors import Invalid
from mnemic.models.chat.base import Ask, CutOff, Pieces, Reply, refuse_unanswerable
from mnemic.models.chat.json_actions import actions_of, in_words

if TYPE_CHECKING:
    from mnemic.settings import Settings


class ScriptedChat:
    """Gives its answers in turn, over and over, word by word; a word is a token. Safe for many threads.

    Tools it asks for by an answer that is the JSON of `json_actions`.

    Args:
        answers: At least one, none of them empty.

    Attributes:
        asked: All that it was asked, in order.
    """

    def __init__(self, *answers: str) -> None:
        if not answers or not all(answer.strip() for answer in answers):
            raise Invalid("model", "scripted has nothing to say", "Write scripted:ANSWER or scripted:ANSWER|ANSWER.")
        self.name = f"scripted:{'|'.join(answers)}"
        self.asked: list[Ask] = []
        self._answers = itertools.cycle(answers)
        self._lock = threading.Lock()

    @classmethod
    def opened(cls, details: str, settings: Settings) -> ScriptedChat:
        """Open the model that `scripted:ANSWER|ANSWER` names."""
        return cls(*details.split("|"))

    def stream(self, ask: Ask) -> Pieces:
        """The next answer."""
        refuse_unanswerable(ask)
        return actions_of(ask, self._pieces(ask))

    def _pieces(self, ask: Ask) -> Pieces:
        with self._lock:
            self.asked.append(ask)
            answer = next(self._answers)
        pieces = re.findall(r"\s*\S+\s*?", answer)
        yield from pieces[: ask.limit]
        prompt = sum(len(message.content.split()) for message in in_words(ask).messages)
        said, tokens = "".join(pieces[: ask.limit]), min(len(pieces), ask.limit)
        reply = Reply(text=said, model=self.name, prompt_tokens=prompt, answer_tokens=tokens)
        if len(pieces) > ask.limit:
            raise CutOff(self.name, ask.limit, reply)
        return reply
