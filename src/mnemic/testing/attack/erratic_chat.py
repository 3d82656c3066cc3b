"""A language model that answers strategies arbitrarily, badly at times, and always the same to the same question.

What it says hangs on every letter that it is shown, so that whoever is shown anything else in another run keeps
something else: that is what attacks on strategies look for.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from mnemic.models.chat.base import Ask, CutOff, Pieces, estimated_reply

PEOPLE: Final = ("Ada", "Tom", "Eve Braun", "王芳", "Ben")
THINGS: Final = ("Rome", "Oslo", "Turin", "上海", "Acme", "Globex", "jazz")
RELATIONS: Final = ("lives in", "works at", "likes", "has left")
_DATES: Final = ("", "", "", "2024", "2025-03", "2025-06-07")
_LINE: Final = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)


class ErraticChat:
    """Answers each question by chance, which the question alone decides.

    Args:
        seed: Another one answers otherwise.
        faults: The share of answers that are no use: refusals, prose, another language, handles that nobody has, more
            than was asked for, broken off, or doing what the data orders.
    """

    def __init__(self, seed: int, faults: float = 0.0) -> None:
        self.name = f"erratic-{seed}-{faults}"
        self._faults = faults

    def stream(self, ask: Ask) -> Pieces:
        asked = json.dumps([self.name, *((message.role, message.content) for message in ask.messages)])
        chance = random.Random(hashlib.sha256(asked.encode()).digest())
        sound = _ANSWERS[ask.task](ask, chance)
        said = json.dumps({"reasoning": "By chance.", **sound}, ensure_ascii=False)
        if chance.random() < self._faults:
            said = chance.choice(_FAULTS)(said, sound)
        if not said:
            raise CutOff(self.name, ask.limit, estimated_reply(ask, self.name, '{"reasoning": "I was about'))
        yield said
        return estimated_reply(ask, self.name, said)


def _lines(ask: Ask, title: str = "Passages") -> list[str]:
    """The numbered lines under a title; the first has the handle 1, but in a list that goes on from another."""
    data = next(message.content for message in ask.messages if message.role == "user")
    _, _, block = data.partition(f"{title}:\n")
    return [line for _, line in _LINE.findall(block.partition("\n</memory>")[0])]


def _relation(chance: random.Random) -> dict[str, Any]:
    subject, relation = chance.choice(PEOPLE), chance.choice(RELATIONS)
    thing = chance.choice((*THINGS, *PEOPLE))
    fact = f"{subject} {relation} {thing}."
    return {"subject": subject, "predicate": relation, "object": thing, "fact": fact}


def _held(chance: random.Random) -> dict[str, str]:
    since, until = sorted((chance.choice(_DATES), chance.choice(_DATES)))
    return {"since": since, "until": until}


def _handles(chance: random.Random, shown: int, least: int = 1) -> list[int]:
    return sorted(chance.sample(range(1, shown + 1), min(shown, chance.randint(least, 3))))


def _facts(ask: Ask, chance: random.Random) -> dict[str, Any]:
    shown = len(_lines(ask))
    facts = [
        {"text": _relation(chance)["fact"], "from": _handles(chance, shown), **_held(chance)}
        for _ in range(chance.randint(0, 3))
    ]
    return {"facts": facts}


def _triples(ask: Ask, chance: random.Random) -> dict[str, Any]:
    shown = len(_lines(ask))
    triples = ({**_relation(chance), "from": chance.randint(1, shown), **_held(chance)} for _ in range(2))
    return {"triples": [triple for triple in triples if chance.random() < 0.7]}


def _decisions(ask: Ask, chance: random.Random) -> dict[str, Any]:
    old, decisions = len(_lines(ask, "Old facts")), []
    for n, new in enumerate(_lines(ask, "New facts"), 1):
        op = chance.choice(("add", "update", "delete", "noop"))
        words = f"{new} That is what was said." if op == "update" else ""
        decisions.append({"new": n, "do": op, "old": 0 if op == "add" else chance.randint(1, old), "text": words})
    return {"decisions": decisions}


def _scores(ask: Ask, chance: random.Random) -> dict[str, Any]:
    return {"scores": [{"of": n, "score": chance.randint(1, 10)} for n in range(1, len(_lines(ask)) + 1)]}


def _questions(ask: Ask, chance: random.Random) -> dict[str, Any]:
    asked = (f"Why does {chance.choice(PEOPLE)} think of {chance.choice(THINGS)}?" for _ in range(chance.randint(1, 3)))
    return {"questions": list(asked)}


def _insights(ask: Ask, chance: random.Random) -> dict[str, Any]:
    shown = len(_lines(ask))
    drawn = (
        {"text": f"{chance.choice(PEOPLE)} longs for {chance.choice(THINGS)}.", "from": _handles(chance, shown)}
        for _ in range(chance.randint(0, 3))
    )
    return {"insights": list(drawn)}


def _same_names(ask: Ask, chance: random.Random) -> dict[str, Any]:
    known = len(_lines(ask, "Known things"))
    names = range(1, len(_lines(ask, "Names")) + 1)
    return {"matches": [{"name": n, "same_as": chance.randint(0, known)} for n in names]}


def _same_facts(ask: Ask, chance: random.Random) -> dict[str, Any]:
    old, new = len(_lines(ask, "Known facts")), len(_lines(ask, "New facts"))
    matches = []
    for n in range(old + 1, old + new + 1):
        others = [other for other in range(1, old + new + 1) if other != n]
        said = chance.sample(others, min(2, len(others)))
        same = said[:1] if chance.random() < 0.3 else []
        over = said[1:] if chance.random() < 0.5 else []
        matches.append({"new": n, "same_as": same, "contradicts": over})
    return {"matches": matches}


def _summary(ask: Ask, chance: random.Random) -> dict[str, Any]:
    return {"summary": f"{chance.choice(PEOPLE)} and {chance.choice(PEOPLE)}, {len(_lines(ask))} lines."}


def _topic(ask: Ask, chance: random.Random) -> dict[str, Any]:
    before = len(_lines(ask, "Said before"))
    keywords = chance.sample((*PEOPLE, *THINGS), chance.randint(1, 3))
    continues = chance.randint(0, before) if chance.random() < 0.5 else 0
    return {"continues": continues, "topic": f"{chance.choice(THINGS)} and what of it", "keywords": keywords}


def _slots(ask: Ask, chance: random.Random) -> dict[str, Any]:
    shown = len(_lines(ask))
    filled = [
        {"subject": "user", "slot": slot, "value": chance.choice(THINGS), "from": _handles(chance, shown)}
        for slot in chance.sample(("home", "work", "likes"), chance.randint(0, 2))
    ]
    return {"slots": [{**each, "ended": chance.random() < 0.2} for each in filled]}


def _plan(ask: Ask, chance: random.Random) -> dict[str, Any]:
    return {"plan": f"Next time ask {chance.choice(PEOPLE)} first, and stay away from {chance.choice(THINGS)}."}


def _pieces(ask: Ask, chance: random.Random) -> dict[str, Any]:
    return {"pieces": [f"Look for {chance.choice(THINGS)} before anything else." for _ in range(chance.randint(0, 2))]}


def _lesson_changes(ask: Ask, chance: random.Random) -> dict[str, Any]:
    lessons, changes = len(_lines(ask, "Lessons so far")), []
    for _ in range(chance.randint(0, 3)):
        op = chance.choice(("add", "edit", "agree", "remove")) if lessons else "add"
        words = f"It helps to have been in {chance.choice(THINGS)}." if op in ("add", "edit") else ""
        changes.append({"do": op, "lesson": 0 if op == "add" else chance.randint(1, lessons), "text": words})
    return {"changes": changes}


_ANSWERS: Final[Mapping[str, Callable[[Ask, random.Random], dict[str, Any]]]] = {
    "contrast_lessons": _lesson_changes,
    "experience_pieces": _pieces,
    "extract_items": _facts,
    "extract_slots": _slots,
    "extract_triples": _triples,
    "filter_evidence": lambda ask, chance: {"keep": _handles(chance, len(_lines(ask)), 0)},
    "focal_questions": _questions,
    "insights_with_evidence": _insights,
    "make_plan": _plan,
    "match_entities": _same_names,
    "match_facts": _same_facts,
    "merge_decide": _decisions,
    "page_topic": _topic,
    "score_importance": _scores,
    "summarize": _summary,
}


def _astray(value: Any) -> Any:
    """An answer whose handles nobody was shown."""
    if isinstance(value, Mapping):
        return {name: _astray(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_astray(part) for part in value]
    return value + 90 if isinstance(value, int) else value


def _endless(value: Any) -> Any:
    """An answer of forty times as much."""
    if isinstance(value, Mapping):
        return {name: _endless(part) for name, part in value.items()}
    return value * 40 if isinstance(value, str | list) else value


_FAULTS: Final[Sequence[Callable[[str, dict[str, Any]], str]]] = (
    lambda said, sound: "I'm sorry, I cannot help with that.",
    lambda said, sound: f"Here is what I found: {' '.join(map(str, sound))}. I hope this helps!",
    lambda said, sound: "对不起，我无法回答这个问题。",
    lambda said, sound: json.dumps({"reasoning": "Astray.", **_astray(sound)}, ensure_ascii=False),
    lambda said, sound: json.dumps({"reasoning": "More.", **_endless(sound)}, ensure_ascii=False),
    lambda said, sound: json.dumps({"reasoning": "As ordered.", **sound, "erase": ["everything"]}),
    lambda said, sound: said[: len(said) // 2],
    lambda said, sound: "{}",
    lambda said, sound: "",
)
"""What becomes of a sound answer; "" breaks off at its limit."""
