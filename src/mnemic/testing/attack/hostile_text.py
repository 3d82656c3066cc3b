# ruff: noqa: E501 - a table is read by its lines
"""Hostile texts for the attacks on growth: what a rule's own patterns match, repeated, cut and never ended.

A regular expression takes long over a text that nearly matches in many ways. So each text is made from a pattern of the
code that reads it: something it matches, with a piece of it said over and over, and without what would end it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

_PARSER: Final[Any] = import_module("re._parser")
_ANY: Final = "a .1x,\n中"
_NOT: Final = "a x1,.:;-_\"'\n(/A中\t"
_CATEGORIES: Final = {
    "CATEGORY_DIGIT": (r"\d", "17"),
    "CATEGORY_NOT_DIGIT": (r"\D", "a,"),
    "CATEGORY_SPACE": (r"\s", " \n\t"),
    "CATEGORY_NOT_SPACE": (r"\S", "a,1"),
    "CATEGORY_WORD": (r"\w", "aA1_"),
    "CATEGORY_NOT_WORD": (r"\W", " ,"),
}
_MOST: Final = 80
"""Most times that a sample repeats one part."""

SEPARATORS: Final = (
    *"abA1 .,;:!?-_\"'`<>()[]{}*#/\\|@&%=+~\n\t。，、！？；：“”‘’「」『』《》（）…·中年月日岁我几",
    *("a. ", "A. ", "1. ", "a.", ". ", "a\n", "> ", "- ", "\n\n", " \n", "a, ", "I ", "```", "~~~", "~~~\n```\n", "A ", "Aa "),
    *("1,", "1 ", "1.", "1-", "1/", '"a', "每逢.,", "<a>", "</a>", "<a ", "<!--", "&lt;a", "[a]", "“a", "a” ", "a。", "every "),
    *("if ", "and ", "'a ", "a' ", "``a", "a: ", "A: b\n", "    a\n", "a\n\n", "“a\n\n", "eyJ", "-----BEGIN ", "每", "周末"),
    *("\u200b", "\ufe0f", "\xad"),
)  # fmt: skip
"""Every separator, bracket and quotation mark, and short runs of them that have been dear."""


@dataclass(frozen=True, slots=True)
class HostileText:
    """A text of any length: what it begins with, what it repeats, how it ends; `%d` in the repeated part counts."""

    begins: str
    repeats: str
    ends: str = ""

    def of(self, size: int) -> str:
        """Make the text of about `size` characters."""
        count = max(1, (size - len(self.begins) - len(self.ends)) // len(self.repeats))
        if "%d" in self.repeats:
            return self.begins + "".join(self.repeats.replace("%d", str(n)) for n in range(count)) + self.ends
        return self.begins + self.repeats * count + self.ends


def hostile_texts(patterns: list[re.Pattern[str]], chance: random.Random) -> Iterator[HostileText]:
    """Make texts without end: a pattern's match repeated whole, without its end, or a piece from its middle."""
    while True:
        pattern = chance.choice(patterns) if patterns else re.compile("")
        match = _sample(_PARSER.parse(pattern.pattern, pattern.flags & ~re.DEBUG), chance, {})
        if len(match) < 2:
            yield HostileText("", chance.choice(SEPARATORS))
            continue
        first, last = sorted(chance.sample(range(len(match) + 1), 2))
        yield chance.choice(
            [
                HostileText("", match),
                HostileText("", match[:-1]),
                HostileText(match[:first], match[first:last], match[last:]),
                HostileText(match[:first], match[first:last] + chance.choice(SEPARATORS)),
            ]
        )


def patterns_of(modules: list[str]) -> list[re.Pattern[str]]:
    """Collect every regular expression that some modules hold, also those in their tables and those compiled late."""
    patterns: dict[str, re.Pattern[str]] = {}
    for name in modules:
        for value in list(vars(import_module(name)).values()):
            _collect(value, patterns, 0)
    return list(patterns.values())


def _collect(value: object, patterns: dict[str, re.Pattern[str]], depth: int) -> None:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            patterns[value.pattern] = value
    elif depth > 3:
        return
    elif isinstance(value, Mapping):
        _collect(tuple(value.values()), patterns, depth + 1)
    elif isinstance(value, list | tuple | frozenset):
        for part in value:
            _collect(part, patterns, depth + 1)
    elif isinstance(value, type):
        if value.__module__.startswith("mnemic."):
            _collect(tuple(vars(value).values()), patterns, depth + 1)
    elif isinstance(form := getattr(value, "pattern", None), str | re.Pattern):
        _collect(re.compile(form), patterns, depth + 1)


def _sample(tree: Any, chance: random.Random, groups: dict[int, str]) -> str:
    """Make something that a parsed pattern matches, as far as what it looks ahead to allows."""
    return "".join(_step(str(op), value, chance, groups) for op, value in tree)


def _step(op: str, value: Any, chance: random.Random, groups: dict[int, str]) -> str:
    match op:
        case "LITERAL":
            return chr(value)
        case "NOT_LITERAL":
            return "x" if value != ord("x") else "y"
        case "ANY":
            return chance.choice(_ANY)
        case "IN":
            return _member(value, chance)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, inner = value
            count = min(int(most), least + chance.choice([0, 1, 1, 2, 3]), _MOST)
            return "".join(_sample(inner, chance, groups) for _ in range(count))
        case "SUBPATTERN":
            shown = _sample(value[-1], chance, groups)
            groups[value[0] or 0] = shown
            return shown
        case "BRANCH":
            return _sample(chance.choice(value[1]), chance, groups)
        case "GROUPREF":
            return groups.get(value, "")
        case "ATOMIC_GROUP":
            return _sample(value, chance, groups)
        case "ASSERT" if value[0] > 0 and chance.random() < 0.3:
            return _sample(value[1], chance, groups)
        case _:
            return ""


def _member(items: Any, chance: random.Random) -> str:
    """One character of a class."""
    if str(items[0][0]) == "NEGATE":
        return next(
            (c for c in chance.sample(_NOT, len(_NOT)) if not any(_holds(group, c) for group in items[1:])), "§"
        )
    op, value = chance.choice(items)
    match str(op):
        case "LITERAL":
            return chr(value)
        case "RANGE":
            return chr(chance.choice([value[0], value[1], chance.randint(*value)]))
        case _:
            return chance.choice(_CATEGORIES[str(value)][1])


def _holds(item: Any, character: str) -> bool:
    op, value = item
    match str(op):
        case "LITERAL":
            return bool(ord(character) == value)
        case "RANGE":
            return bool(value[0] <= ord(character) <= value[1])
        case _:
            return re.match(_CATEGORIES[str(value)][0], character) is not None
