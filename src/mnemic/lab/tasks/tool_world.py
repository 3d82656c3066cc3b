"""A desk of tools whose arguments have formats that nobody documents, and which want a scope that nobody tells.

Own work. The signature of each tool says the names of its arguments and no more. Which format an argument takes, and
which scope a tool wants, is drawn from the seed. A call that is refused says which argument is at fault, never how it
is written; a tool that is refused three times locks itself. What a memory learns of one call holds for all calls of
that tool in the stream, whatever the values are.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from mnemic.lab.kit.task_stream import Choose, Option, Play, Seen, StreamChoice

TOOLS: Final[Mapping[str, tuple[str, str]]] = {
    "calendar.create": ("date", "length"),
    "bank.transfer": ("amount", "account"),
    "mail.schedule": ("date", "person"),
    "tickets.open": ("level", "person"),
    "rooms.book": ("date", "room"),
    "files.share": ("level", "account"),
}
"""Tools, and the names of the arguments that tasks name."""
SCOPE: Final = "scope"
SCOPES: Final = ("read", "write", "self", "team")
"""What every tool takes besides, and no task names."""
REFUSALS: Final = 3
"""Calls that are refused until a tool locks itself."""
STEPS: Final = 12

_MONTHS: Final = ("January", "March", "May", "July", "September", "November")
_CALL: Final = re.compile(r"([a-z]+\.[a-z]+)((?: [a-z]+=\S+)*)")
_GOAL: Final = re.compile(r"Call ([a-z]+\.[a-z]+) with (\w+) (.+?) and (\w+) (.+)\.")


def _dates(value: str) -> dict[str, str]:
    """The ways to write "7 March 2026"."""
    day, month, year = value.split()
    number = 2 * _MONTHS.index(month) + 1
    return {
        "year first": f"{year}-{number:02}-{int(day):02}", "dots": f"{int(day):02}.{number:02}.{year}",
        "slashes": f"{number}/{int(day)}/{year}", "eight digits": f"{year}{number:02}{int(day):02}",
    }  # fmt: skip


def _forms(patterns: Mapping[str, str], value: str) -> dict[str, str]:
    """Write the number of a value in each form."""
    number = re.sub(r"\D", "", value)
    return {form: pattern.format(number, int(number) * 100, int(number) * 60) for form, pattern in patterns.items()}


FORMS: Final[Mapping[str, Callable[[str], dict[str, str]]]] = {
    "date": _dates,
    "length": partial(_forms, {"minutes": "{0}min", "seconds": "{2}s", "period": "PT{0}M", "colon": "0:{0}"}),
    "amount": partial(_forms, {"cents": "{1}c", "point": "{0}.00", "currency": "EUR{0}", "comma": "{0},00"}),
    "account": partial(_forms, {"hash": "#{0}", "prefix": "ACC-{0}", "path": "acc/{0}", "padded": "0000{0}"}),
    "person": partial(_forms, {"at": "@p{0}", "mail": "p{0}@desk", "number": "id:{0}", "path": "people/{0}"}),
    "level": partial(_forms, {"letter": "L{0}", "share": "{0}/5", "stars": "{0}*", "name": "level_{0}"}),
    "room": partial(_forms, {"letter": "R{0}", "dash": "room-{0}", "path": "rooms/{0}", "brackets": "[{0}]"}),
    SCOPE: lambda value: {scope: scope for scope in SCOPES},
}
"""The ways to write each argument, by the name of the way."""
SHAPES: Final[Mapping[str, Mapping[str, str]]] = {
    "date": {
        "year first": r"\d{4}-\d\d-\d\d", "dots": r"\d\d\.\d\d\.\d{4}", "slashes": r"\d+/\d+/\d{4}",
        "eight digits": r"\d{8}",
    },
    "length": {"minutes": r"\d+min", "seconds": r"\d+s", "period": r"PT\d+M", "colon": r"0:\d+"},
    "amount": {"cents": r"\d+c", "point": r"\d+\.00", "currency": r"EUR\d+", "comma": r"\d+,00"},
    "account": {"hash": r"#\d+", "prefix": r"ACC-\d+", "path": r"acc/\d+", "padded": r"0000\d+"},
    "person": {"at": r"@p\d+", "mail": r"p\d+@desk", "number": r"id:\d+", "path": r"people/\d+"},
    "level": {"letter": r"L\d+", "share": r"\d+/5", "stars": r"\d+\*", "name": r"level_\d+"},
    "room": {"letter": r"R\d+", "dash": r"room-\d+", "path": r"rooms/\d+", "brackets": r"\[\d+\]"},
    SCOPE: {scope: scope for scope in SCOPES},
}  # fmt: skip
"""How each way looks, whatever the value: by this advice about other values is read."""


@dataclass(frozen=True, slots=True)
class DeskRules:
    """What is hidden: the form of each argument of each tool, the scope among them; drawn once for a seed."""

    form: Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskTask:
    """A task at the desk: one call, with these values."""

    tool: str
    values: Mapping[str, str]
    rules: DeskRules = field(repr=False)
    steps: int = STEPS

    @property
    def goal(self) -> str:
        (one, its), (other, others) = self.values.items()
        return f"Call {self.tool} with {one} {its} and {other} {others}."

    def begin(self) -> HiddenDesk:
        return HiddenDesk(self)

    def right(self, choice: StreamChoice) -> str:
        return self.rules.form[self.tool, choice.blamed]


class HiddenDesk:
    """One try at the desk."""

    def __init__(self, task: DeskTask) -> None:
        self._task = task
        self._refused = 0

    @property
    def first(self) -> str:
        return f"Tools: {'; '.join(TOOL_WORLD.verbs)}."

    def act(self, action: str) -> Seen:
        match = _CALL.fullmatch(action)
        if match is None or match[1] not in TOOLS:
            return Seen(text=f"Nobody understands {action!r}. Tools: {'; '.join(TOOL_WORLD.verbs)}.", understood=False)
        return self._called(match[1], dict(pair.split("=", 1) for pair in match[2].split()))

    def _called(self, tool: str, given: Mapping[str, str]) -> Seen:
        task = self._task
        names = (*TOOLS[tool], SCOPE)
        if set(given) != set(names):
            return self._refusal(f"400 it takes {', '.join(names)}")
        if tool != task.tool:
            return Seen(text="403 this is not what was wanted", over=True)
        for name in names:
            if FORMS[name](task.values.get(name, ""))[task.rules.form[tool, name]] != given[name]:
                return self._refusal(f"422 the {name} is not valid")
        return Seen(text="200 done", over=True, succeeded=True)

    def _refusal(self, text: str) -> Seen:
        self._refused += 1
        if self._refused < REFUSALS:
            return Seen(text=text)
        return Seen(text=f"{text} and the tool is locked", over=True)


class ToolWorld:
    """The desk."""

    name: Final = "tools"
    about: Final = "Tools whose formats and scopes nobody documents."
    verbs: Final[Sequence[str]] = (
        *(f"{tool} {' '.join(f'{name}=VALUE' for name in (*names, SCOPE))}" for tool, names in TOOLS.items()),
    )

    def tasks(self, seed: int, count: int) -> list[DeskTask]:
        rules = hidden_rules(seed)
        return [_task(rules, _lot(f"{seed} task {n}")) for n in range(count)]

    def play(self, goal: str, first: str, choose: Choose) -> Play:
        match = _GOAL.fullmatch(goal)
        if match is None:
            return
        tool, values = match[1], {match[2]: match[3], match[4]: match[5], SCOPE: ""}
        left = {name: list(FORMS[name](value)) for name, value in values.items()}
        forms: dict[str, str] = {}
        while all(left.values()):
            open_ones = [name for name in values if name not in forms]
            forms |= {name: choose(_form_choice(tool, name, left[name], values[name])) for name in open_ones}
            written = (f"{name}={FORMS[name](value)[forms[name]]}" for name, value in values.items())
            seen = yield f"{tool} {' '.join(written)}"
            for name in values:
                if name in seen.text.split():
                    left[name].remove(forms.pop(name))


def _form_choice(tool: str, name: str, forms: Sequence[str], value: str) -> StreamChoice:
    question = f"How does {tool} want its {name}{f', such as {value}' if value else ''}?"
    options = tuple(Option(name=form, told_by=_writes(name, SHAPES[name][form])) for form in forms)
    return StreamChoice(question=question, about=(tool, name), options=options, blamed=name)


def _writes(name: str, shape: str) -> Callable[[str], bool]:
    """Tell calls that write an argument in a shape."""
    pattern = re.compile(rf"\b{name}={shape}(?:\s|$)")
    return lambda action: pattern.search(action) is not None


def hidden_rules(seed: int) -> DeskRules:
    """Draw the hidden rules of a seed."""
    lot = _lot(f"{seed} rules")
    arguments = ((tool, name) for tool, names in TOOLS.items() for name in (*names, SCOPE))
    return DeskRules(form={(tool, name): lot.choice(tuple(SHAPES[name])) for tool, name in arguments})


def _task(rules: DeskRules, lot: random.Random) -> DeskTask:
    tool = lot.choice(tuple(TOOLS))
    return DeskTask(tool=tool, values={name: _value(name, lot) for name in TOOLS[tool]}, rules=rules)


def _value(name: str, lot: random.Random) -> str:
    match name:
        case "date":
            return f"{lot.randint(1, 28)} {lot.choice(_MONTHS)} 2026"
        case "length":
            return f"{lot.randint(10, 59)} minutes"
        case "amount":
            return f"{lot.randint(10, 900)} euros"
        case "level":
            return f"{lot.randint(1, 5)}"
        case _:
            return f"{lot.randint(10, 99)}"


def _lot(of: str) -> random.Random:
    return random.Random(f"desk {of}")  # noqa: S311


TOOL_WORLD: Final = ToolWorld()
"""The one that streams run in."""
