"""Makes small memories with a question each, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from mnemic.lab.tasks.small.phrases import PHRASES, Matter, Phrases

STATEMENTS: Final = 10
"""In every memory but the near-empty ones."""

EACH: Final = 20
"""Cases of each category in each language: 200 in all."""

_POINTED: Final = 3
"""Statements of a memory of two steps by which people are pointed at."""
_FEW: Final = 3
"""Most statements of a near-empty memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallMemory:
    """A few short statements in the order they are told, a question, and the place of the one that answers it."""

    category: str
    lang: str
    statements: tuple[str, ...]
    question: str
    gold: int


def small_memories(seed: int = 0, each: int = EACH) -> Iterator[SmallMemory]:
    """Make so many memories of each category in each language."""
    for category, make in CATEGORIES.items():
        for lang, phrases in PHRASES.items():
            chance = random.Random(f"{seed}:{category}:{lang}")  # noqa: S311 - made-up text, not a secret
            for n in range(each):
                statements, question, gold = make(phrases, chance, n)
                order = chance.sample(range(len(statements)), len(statements))
                yield SmallMemory(
                    category=category,
                    lang=lang,
                    statements=tuple(statements[place] for place in order),
                    question=question,
                    gold=order.index(gold),
                )


_Made = tuple[list[str], str, int]
"""Statements, a question, and the place of the statement that answers it."""


def _one_step(phrases: Phrases, chance: random.Random, n: int) -> _Made:
    """Ten things of oneself; asked for one of them, by turns in its own words and in others."""
    gold = chance.randrange(STATEMENTS)
    asked = phrases.matters[gold]
    return _of_oneself(phrases.matters, chance), asked.otherwise if n % 2 else asked.plainly, gold


def _noisy(phrases: Phrases, chance: random.Random, n: int) -> _Made:
    """The same, with noise around the question."""
    statements, question, gold = _one_step(phrases, chance, n)
    return statements, phrases.noise[n % len(phrases.noise)].format(q=question), gold


def _two_steps(phrases: Phrases, chance: random.Random, n: int) -> _Made:
    """One thing of several people, some of whom are pointed at; asked for one of those by what points at them."""
    matter, pointer = phrases.matters[n % len(phrases.matters)], chance.choice(phrases.pointers)
    count = STATEMENTS - _POINTED
    people = chance.sample(phrases.names, count)
    things = [matter.of.format(p=p, v=v) for p, v in zip(people, chance.sample(matter.values, count), strict=True)]
    marks = chance.sample(pointer.values, _POINTED)
    pointed = [pointer.of.format(p=p, v=v) for p, v in zip(people, marks, strict=False)]
    gold = chance.randrange(_POINTED)
    return [*things, *pointed], matter.who_else.format(who=pointer.who.format(v=marks[gold])), gold


def _one_word(phrases: Phrases, chance: random.Random, n: int) -> _Made:
    """Memories of one word each; asked for one of them by what it is."""
    gold = n % STATEMENTS
    return [chance.choice(matter.words) for matter in phrases.matters], phrases.matters[gold].word_asked, gold


def _near_empty(phrases: Phrases, chance: random.Random, n: int) -> _Made:
    """One to three things of oneself, asked for in other words."""
    some = chance.sample(phrases.matters, n % _FEW + 1)
    gold = chance.randrange(len(some))
    return _of_oneself(some, chance), some[gold].otherwise, gold


def _of_oneself(matters: list[Matter] | tuple[Matter, ...], chance: random.Random) -> list[str]:
    return [matter.mine.format(v=chance.choice(matter.values)) for matter in matters]


CATEGORIES: Final[Mapping[str, Callable[[Phrases, random.Random, int], _Made]]] = {
    "one step": _one_step,
    "two steps": _two_steps,
    "noisy question": _noisy,
    "one word each": _one_word,
    "near empty": _near_empty,
}
"""What a memory of each category is."""
