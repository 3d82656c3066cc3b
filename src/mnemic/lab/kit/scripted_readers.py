"""Language models for benches of strategies that cost nothing: their answers are made by a function from what is asked.

`terse` is the one by which strategies state what they cost: it takes one fact from each of Ada's turns. `copying` does
the same whoever speaks, and keeps every passage that it is shown for a question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from mnemic.models.chat.base import Ask, CutOff, Pieces, estimated_reply, refuse_unanswerable

Fields: TypeAlias = Mapping[str, Any]
"""The fields of an answer, besides its reasoning."""

_HANDLED: Final = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_HANDLE: Final = re.compile(r"\[(\d+)\]")
_MOST: Final = 32
"""What a list in an answer may hold."""


class ScriptedReader:
    """Answers each task as a function says, in JSON; tokens are guessed by bytes. Safe for many threads.

    Args:
        read: From a question to the fields of its answer; where they are not sound, rules judge.
    """

    def __init__(self, name: str, read: Callable[[Ask], Fields]) -> None:
        self.name, self._read = name, read

    def stream(self, ask: Ask) -> Pieces:
        """The answer, in one piece."""
        refuse_unanswerable(ask)
        return self._pieces(ask)

    def _pieces(self, ask: Ask) -> Pieces:
        fields = self._read(ask)
        answer = json.dumps({"reasoning": "So it says.", **fields}, ensure_ascii=False)
        reply = estimated_reply(ask, self.name, answer)
        if reply.answer_tokens > ask.limit:
            raise CutOff(self.name, ask.limit, reply)
        yield answer
        return reply


def shown(ask: Ask, title: str = "Passages") -> list[str]:
    """The numbered lines under a title of what a model is shown; the first has the handle 1."""
    data = next(message.content for message in ask.messages if message.role == "user")
    _, _, block = data.partition(f"{title}:\n")
    return [line for _, line in _HANDLED.findall(block.partition("\n</memory>")[0])]


def fact(text: str, *handles: int, since: str = "", until: str = "") -> dict[str, Any]:
    """A fact as `extract_items` answers it."""
    return {"text": text, "from": list(handles), "since": since, "until": until}


def triple(subject: str, predicate: str, thing: str, text: str, handle: int) -> dict[str, Any]:
    """A relation as `extract_triples` answers it."""
    named = {"subject": subject, "predicate": predicate, "object": thing, "fact": text, "from": handle}
    return {**named, "since": "", "until": ""}


def terse(ask: Ask) -> dict[str, Any]:
    """A model that takes one fact from each of a person's turns, adds them all, and finds every turn middling."""
    lines = shown(ask)
    return _taking([(n, "Ada", line.partition(": ")[2]) for n, line in enumerate(lines, 1) if "Ada: " in line], ask)


def copying(ask: Ask) -> dict[str, Any]:
    """A model that does the same of everybody's turns, and finds that whatever it is shown helps to answer."""
    lines = shown(ask)
    if ask.task == "filter_evidence":
        return {"keep": list(range(1, min(len(lines), _MOST) + 1))}
    parts = ((n, *line.partition(": ")) for n, line in enumerate(lines[:_MOST], 1))
    return _taking([(n, who.rpartition(" ")[2], text or who) for n, who, _, text in parts], ask)


def _taking(said: Sequence[tuple[int, str, str]], ask: Ask) -> dict[str, Any]:
    """Answer a task from what was said: handles, who said it, and the words."""
    lines = shown(ask)
    said = [(n, name, words[:100]) for n, name, words in said]
    match ask.task:
        case "extract_items":
            return {"facts": [fact(text, n) for n, _, text in said]}
        case "extract_slots":
            return {"slots": []}
        case "page_topic":
            return {"topic": "what Ada does", "keywords": ["Ada"], "continues": 0}
        case "score_importance":
            return {"scores": [{"of": n, "score": 5} for n in range(1, len(lines) + 1)]}
        case "focal_questions":
            return {"questions": ["Where does Ada feel at home?", "What does Ada fear?", "Who matters to Ada?"]}
        case "extract_triples":
            return {"triples": [triple(name, "told of", text[:30], text, n) for n, name, text in said]}
        case "summarize":
            return {"summary": lines[0][:200]}
        case "insights_with_evidence":
            both = " ".join(line.partition(": ")[2] for line in lines[:2])
            handles = list(range(1, len(lines[:2]) + 1))
            return {"insights": [{"text": f"Ada {n}: {both}"[:200], "from": handles} for n in range(5)]}
        case "make_plan":
            return {"plan": "Ask Ada before the first step."}
        case "experience_pieces":
            return {"pieces": ["Ask Ada before the first step."]}
        case "contrast_lessons":
            return {"changes": [{"do": "add", "lesson": 0, "text": "Ask Ada before the first step."}]}
        case "overwrite_fold":
            handle = int(
                _HANDLED.findall(next(message.content for message in ask.messages if message.role == "user"))[-1][0]
            )
            return {"notes": [{"text": "Ada lives in Porto.", "from": [handle]}]}
        case "answer_from_notes":
            handle = int(_HANDLE.findall(ask.messages[-1].content)[0])
            return {"answer": "in Porto", "from": [handle]}
    return nothing_merged(ask)


def nothing_merged(ask: Ask) -> dict[str, Any]:
    """The answer to tasks that compare what is new with what is known: nothing is the same, and nothing is over.

    To any other task it is no sound answer.
    """
    match ask.task:
        case "merge_decide":
            facts = range(1, len(shown(ask, "New facts")) + 1)
            return {"decisions": [{"new": n, "do": "add", "old": 0, "text": ""} for n in facts]}
        case "match_entities":
            return {"matches": []}
        case "match_facts":
            old, new = len(shown(ask, "Known facts")), len(shown(ask, "New facts"))
            return {"matches": [{"new": n, "same_as": [], "contradicts": []} for n in range(old + 1, old + new + 1)]}
    return {}
