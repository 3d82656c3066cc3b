"""A model that extracts what a script says of each text, and judges facts as a careful person would; for `zep`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from mnemic import Filter, Kind, Memory, ScopedMemory, Settings, State
from mnemic.core.ids import ItemId
from mnemic.core.items import Item
from mnemic.core.tokens import count_tokens
from mnemic.models.chat.base import Ask, Chat, Pieces, Reply
from mnemic.strategies.zep import Zep
from mnemic.testing.generators import ManualClock

FACTS = Filter(kinds=(Kind.FACT,))
EVERY_FACT = Filter(kinds=(Kind.FACT,), states=(State.ACTIVE, State.SUPERSEDED))
PLAIN = Zep()
ENTITIES = Filter(kinds=(Kind.ENTITY,))
SUMMARIES = Filter(kinds=(Kind.SUMMARY,))
_LINE = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_SAID = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d \w+ (?:[^:]+: )?")


@dataclass(frozen=True)
class Told:
    """A relation that a text states."""

    subject: str
    predicate: str
    object: str
    fact: str
    since: str = ""
    until: str = ""


@dataclass
class GraphModel:
    """Answers the questions of `zep` by a script.

    Attributes:
        script: What each text states.
        single: The relations that hold one value at a time.
        mutual: Those that hold the other way round too.
        names: Names, and the known name that they mean.
        asked: The questions, in order.
    """

    script: Mapping[str, Sequence[Told]]
    single: frozenset[str] = frozenset({"lives in"})
    mutual: frozenset[str] = frozenset({"is married to"})
    names: Mapping[str, str] = field(default_factory=dict)
    asked: list[Ask] = field(default_factory=list)

    name: str = "graph-script"

    def stream(self, ask: Ask) -> Pieces:
        self.asked.append(ask)
        text = self.answer(ask)
        yield text
        prompt = sum(count_tokens(message.content) for message in ask.messages)
        return Reply(text=text, model=self.name, prompt_tokens=prompt, answer_tokens=count_tokens(text))

    def answer(self, ask: Ask) -> str:
        shown = ask.messages[1].content
        tasks = {"extract_triples": self._triples, "match_entities": self._entities, "match_facts": self._facts}
        summary = {"summary": f"{len(_LINE.findall(shown))} facts."}
        answer = tasks[ask.task](shown) if ask.task in tasks else summary
        return json.dumps({"reasoning": "As scripted.", **answer}, ensure_ascii=False)

    def _triples(self, shown: str) -> dict[str, object]:
        found = [
            {**{part: getattr(told, part) for part in told.__dataclass_fields__}, "from": int(number)}
            for number, line in _LINE.findall(shown)
            for told in self.script.get(_SAID.sub("", line), ())
        ]
        return {"triples": found}

    def _entities(self, shown: str) -> dict[str, object]:
        known, names = shown.split("Names:\n")
        handles = {line: int(number) for number, line in _LINE.findall(known)}
        matches = [
            {"name": int(number), "same_as": handles.get(self.names.get(line.partition(":")[0], ""), 0)}
            for number, line in _LINE.findall(names)
        ]
        return {"matches": matches}

    def _facts(self, shown: str) -> dict[str, object]:
        of = {told.fact: told for every in self.script.values() for told in every}
        facts = {int(number): of[line] for number, line in _LINE.findall(shown)}
        new = [int(number) for number, _ in _LINE.findall(shown.split("New facts:\n")[1])]
        return {"matches": [self._match(n, facts) for n in new]}

    def _match(self, new: int, facts: Mapping[int, Told]) -> dict[str, object]:
        one = facts[new]
        others = {n: other for n, other in facts.items() if n != new and other.predicate == one.predicate}
        same = [n for n, other in others.items() if self._ends(other) == self._ends(one)]
        over = [n for n, other in others.items() if n not in same and self._excludes(one, other)]
        return {"new": new, "same_as": same, "contradicts": over}

    def _ends(self, told: Told) -> tuple[str, ...]:
        ends = self.names.get(told.subject, told.subject), self.names.get(told.object, told.object)
        return tuple(sorted(ends)) if told.predicate in self.mutual else ends

    def _excludes(self, one: Told, other: Told) -> bool:
        return one.predicate in self.single and self._ends(one)[0] == self._ends(other)[0]


@contextmanager
def graph_memory(model: Chat | None = None, strategy: Zep = PLAIN) -> Iterator[tuple[Memory, ScopedMemory]]:
    """A memory that follows `zep` with this model, or with none; and Ada's share of it."""
    settings, clock = Settings(background=False), ManualClock(step=1)
    with Memory(
        "memory:", settings=settings, clock=clock, embedder="none", strategies=[strategy], model=model
    ) as memory:
        yield memory, memory.scope(user="ada")


def at(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T12:00:00+00:00")


def tell(memory: Memory, me: ScopedMemory, *told: tuple[str, str], live: bool = True) -> list[ItemId]:
    """Say texts, each with its day; their ids."""
    ids: list[ItemId] = []
    for day, text in told:
        ids += me.observe(text, role="user", speaker="Ada", said=at(day)).ids
        if live:
            assert memory.flush()
    assert memory.flush()
    return ids


def items(me: ScopedMemory, where: Filter = FACTS) -> list[Item]:
    return sorted(
        (one.item for one in me.list(where=where, limit=1000)), key=lambda one: (one.valid_from or one.said, one.text)
    )


def days(item: Item) -> tuple[str, str, str]:
    """The object of a fact, and from when until when it held."""
    began = item.valid_from or item.said
    return str(item.slots["object"]), f"{began:%Y-%m-%d}", f"{item.valid_to:%Y-%m-%d}" if item.valid_to else ""
