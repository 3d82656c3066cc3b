"""Make a language model of a function from a question to words."""

from __future__ import annotations

import re
from collections.abc import Callable

from mnemic.models.chat.base import Ask, Pieces, Reply, estimated_reply


def replying(answer: Callable[[Ask], str], model: str = "told") -> Callable[[Ask], Reply]:
    """Return what answers as `answer` does, with tokens by estimate."""
    return lambda ask: estimated_reply(ask, model, answer(ask))


class ReplyingChat:
    """A language model that answers by a function from a question to words, a word at a time."""

    name = "replying"

    def __init__(self, answer: Callable[[Ask], str]) -> None:
        self._answer = answer

    def stream(self, ask: Ask) -> Pieces:
        """Yield the words of the answer."""
        said = self._answer(ask)
        yield from re.findall(r"\S+\s*", said)
        return estimated_reply(ask, self.name, said)
