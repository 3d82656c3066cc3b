"""A model for tests of strategies: a function from a question to an answer, and one that knows what turns say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mnemic import Memory, ScopedMemory, Settings
from mnemic.models.chat.base import Ask, CutOff, Pieces, estimated_reply
from mnemic.strategies.base import Strategy
from mnemic.testing.generators import ManualClock

Says = Callable[[Ask], str | dict[str, Any] | Exception]
_LINE = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)


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


def shown(ask: Ask, title: str = "Passages") -> list[str]:
    """The numbered lines under a title of what a model is shown; the first has the handle 1."""
    data = next(message.content for message in ask.messages if message.role == "user")
    _, _, block = data.partition(f"{title}:\n")
    return [line for _, line in _LINE.findall(block.partition("\n</memory>")[0])]


def fact(text: str, *handles: int, since: str = "", until: str = "") -> dict[str, Any]:
    return {"text": text, "from": list(handles), "since": since, "until": until}


def triple(subject: str, predicate: str, thing: str, text: str, handle: int) -> dict[str, Any]:
    told = {"subject": subject, "predicate": predicate, "object": thing, "fact": text, "from": handle}
    return {**told, "since": "", "until": ""}


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


def terse(ask: Ask) -> dict[str, Any]:
    """A model that takes one fact from each of a person's turns, adds them all, and finds every turn middling."""
    lines = shown(ask)
    if ask.task == "extract_items":
        return {"facts": [fact(line.partition(": ")[2][:100], n) for n, line in enumerate(lines, 1) if "Ada: " in line]}
    if ask.task == "page_topic":
        return {"topic": "what Ada does", "keywords": ["Ada"], "continues": 0}
    if ask.task == "extract_slots":
        return {"slots": []}
    if ask.task == "merge_decide":
        new = range(1, len(shown(ask, "New facts")) + 1)
        return {"decisions": [{"new": n, "do": "add", "old": 0, "text": ""} for n in new]}
    if ask.task == "score_importance":
        return {"scores": [{"of": n, "score": 5} for n in range(1, len(lines) + 1)]}
    if ask.task == "focal_questions":
        return {"questions": ["Where does Ada feel at home?", "What does Ada fear?", "Who matters to Ada?"]}
    if ask.task == "extract_triples":
        people = [(n, line.partition(": ")[2][:100]) for n, line in enumerate(lines, 1) if "Ada: " in line]
        return {"triples": [triple("Ada", "told of", said[:30], said, n) for n, said in people]}
    if ask.task == "match_entities":
        return {"matches": []}
    if ask.task == "match_facts":
        old, new = len(shown(ask, "Known facts")), len(shown(ask, "New facts"))
        return {"matches": [{"new": n, "same_as": [], "contradicts": []} for n in range(old + 1, old + new + 1)]}
    if ask.task == "summarize":
        return {"summary": lines[0][:200]}
    told = f"{lines[0].partition(': ')[2]} {lines[1].partition(': ')[2]}"
    return {"insights": [{"text": f"Ada {n}: {told}"[:200], "from": [1, 2]} for n in range(5)]}


def following(strategy: Strategy, chat: ToldChat | None, **options: Any) -> tuple[Memory, ScopedMemory]:
    """A memory that follows one strategy, and Ada's share of it."""
    memory = Memory(
        "memory:", settings=Settings(background=False), clock=ManualClock(step=1), embedder="none",
        strategies=[strategy], model=chat, **options,
    )  # fmt: skip
    return memory, memory.scope(user="ada")
