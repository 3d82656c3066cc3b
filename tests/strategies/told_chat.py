"""A model for tests of strategies: a function from a question to an answer, and one that knows what turns say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mnemic import Memory, ScopedMemory, Settings
from mnemic.lab.kit.scripted_readers import fact, shown
from mnemic.models.chat.base import Ask, CutOff, Pieces, estimated_reply
from mnemic.strategies.base import Strategy
from mnemic.testing.generators import ManualClock

Says = Callable[[Ask], str | dict[str, Any] | Exception]


class ToldChat:
    """Answers as a function says; an answer that is longer than it may be is cut off.

    Attributes:
        asked: The questions.
        tokens: What questions and answers took together, by estimate.
    """

    def __init__(self, says: Says, name: str = "told") -> None:
        self.name, self.says = name, says
        self.asked: list[Ask] = []
        self.tokens = 0

    def stream(self, ask: Ask) -> Pieces:
        self.asked.append(ask)
        said = self.says(ask)
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else json.dumps({"reasoning": "So it says.", **said}, ensure_ascii=False)
        reply = estimated_reply(ask, self.name, text)
        self.tokens += reply.prompt_tokens + reply.answer_tokens
        if reply.answer_tokens > ask.limit:
            raise CutOff(self.name, ask.limit, reply)
        if text:
            yield text
        return reply

    def tasks(self) -> list[str]:
        return [ask.task for ask in self.asked]


def extracted(facts: Mapping[str, Sequence[str]], ask: Ask) -> dict[str, Any]:
    """The answer to `extract_items` of who knows which facts each turn states, by words of the turn."""
    lines = shown(ask)
    told = (
        (n, one) for n, line in enumerate(lines, 1) for words, ones in facts.items() if words in line for one in ones
    )
    return {"facts": [fact(text, n) for n, text in told]}


def decided(ops: Mapping[str, tuple[str, ...]], ask: Ask) -> dict[str, Any]:
    """The answer to `merge_decide` of who knows for a new fact what it does to which old one, and the words of both.

    What does something to a fact that is not shown is added.
    """
    old, decisions = shown(ask, "Old facts"), []
    for n, text in enumerate(shown(ask, "New facts"), 1):
        op, over, words = (*ops.get(text, ("add", "", "")), "")[:3]
        if over not in old:
            op, over, words = "add", "", ""
        decisions.append({"new": n, "do": op, "old": old.index(over) + 1 if over else 0, "text": words})
    return {"decisions": decisions}


def following(strategy: Strategy, chat: ToldChat | None, **options: Any) -> tuple[Memory, ScopedMemory]:
    """A memory that follows one strategy, and Ada's share of it."""
    memory = Memory(
        "memory:", settings=Settings(background=False), clock=ManualClock(step=1), embedder="none",
        strategies=[strategy], model=chat, **options,
    )  # fmt: skip
    return memory, memory.scope(user="ada")
