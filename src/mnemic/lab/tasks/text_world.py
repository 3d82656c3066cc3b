"""A house of rooms, things, locks and recipes, whose hidden rules hold for all tasks of a seed.

Own work, with verbs like those of ALFWorld. Which thing is kept where, which key turns a lock of which mark, what
polishes which metal, and what a brew is made of is drawn from the seed, never said, and seen only by trying: a wrong
key breaks, the wrong stuff spoils a thing, a wrong brew is poured away, and the try is lost. What a memory learns of
one task is right for others of the stream.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Final

from mnemic.lab.kit.task_stream import Choose, Option, Play, Seen, StreamChoice

ROOMS: Final = ("hall", "kitchen", "cellar", "attic", "study")
HOLDERS: Final[Mapping[str, str]] = {
    "crate": "cellar", "barrel": "cellar", "trunk": "attic", "basket": "attic", "drawer": "study",
    "cupboard": "kitchen",
}  # fmt: skip
"""Where each thing that can hold others stands."""
THINGS: Final = ("bowl", "jug", "lamp", "bell", "plate", "spoon", "mirror", "buckle")
METALS: Final = ("bronze", "silver", "pewter", "copper", "iron")
STUFFS: Final = ("vinegar", "chalk", "wax", "ash", "soap")
MARKS: Final = ("star", "moon", "ring", "leaf", "wave")
KEYS: Final = ("black", "white", "red", "green")
BREWS: Final = ("calming", "waking", "warming", "cooling", "clearing")
HERBS: Final = ("mint", "honey", "ginger", "sage")
PLACES: Final[Mapping[str, str]] = {"shelf": "hall", "table": "kitchen", "desk": "study", "stool": "attic"}
STEPS: Final = 16

_POLISH: Final = re.compile(r"Polish the (\w+) (\w+) and put it on the (\w+)\.")
_BRING: Final = re.compile(r"Put the (\w+) (\w+) on the (\w+)\.")
_BREW: Final = re.compile(r"Brew the (\w+) tea\.")
_MARKED: Final = re.compile(r"a locked (\w+) marked with a (\w+)")


@dataclass(frozen=True, slots=True)
class HouseRules:
    """What is hidden: drawn once for a seed."""

    home: Mapping[str, str]
    key: Mapping[str, str]
    stuff: Mapping[str, str]
    brew: Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseTask:
    """A task in the house.

    Attributes:
        thing: Its metal and what it is; None for a brew.
        locks: The marks of what is locked, by holder.
    """

    goal: str
    rules: HouseRules = field(repr=False)
    thing: tuple[str, str] | None
    polished: bool
    place: str
    brew: str
    locks: Mapping[str, str]
    steps: int = STEPS

    def begin(self) -> HiddenHouse:
        return HiddenHouse(self)

    def right(self, choice: StreamChoice) -> str:
        subject = choice.about[-1]
        match choice.about[0]:
            case "take":
                return self.rules.home[choice.about[-1]]
            case "unlock":
                return self.rules.key[subject.removesuffix("-marked")]
            case "rub":
                return self.rules.stuff[subject]
            case _:
                return " and ".join(self.rules.brew[choice.about[1]])


class HiddenHouse:
    """One try in the house."""

    def __init__(self, task: HouseTask) -> None:
        self._task = task
        self._room = "hall"
        self._locked = dict(task.locks)
        self._open: set[str] = set()
        self._held = False
        self._shiny = False

    @property
    def first(self) -> str:
        holders = ", ".join(f"{self._described(name)} in the {room}" for name, room in HOLDERS.items())
        return (
            f"You are in the hall. There are {', '.join(ROOMS)}. There are {holders}. Places: "
            f"{', '.join(f'{place} in the {room}' for place, room in PLACES.items())}. "
            f"You have the {', '.join(KEYS)} keys. "
            f"In the kitchen there are {', '.join((*STUFFS, *HERBS))} and a kettle."
        )

    def act(self, action: str) -> Seen:
        words = action.casefold().split()
        match words:
            case ["look"]:
                return Seen(text=f"You are in the {self._room}.{self._around()}")
            case ["go", "to", room] if room in ROOMS:
                self._room = room
                return Seen(text=f"You are in the {room}.{self._around()}")
            case ["open", holder] if holder in HOLDERS:
                return self._opened(holder)
            case ["unlock", marked, holder, "with", key, "key"] if holder in HOLDERS and key in KEYS:
                return self._unlocked(marked.removesuffix("-marked"), holder, key)
            case ["take", metal, thing, "from", holder] if holder in HOLDERS:
                return self._taken((metal, thing), holder)
            case ["rub", metal, thing, "with", stuff] if stuff in STUFFS:
                return self._rubbed((metal, thing), stuff)
            case ["put", metal, thing, "on", place] if place in PLACES:
                return self._put((metal, thing), place)
            case ["brew", brew, "tea", "from", one, "and", other] if {one, other} <= set(HERBS):
                return self._brewed(brew, (one, other))
        return Seen(text=f"Nobody understands {action!r}. Verbs: {'; '.join(TEXT_WORLD.verbs)}.", understood=False)

    def _around(self) -> str:
        here = [self._described(name) for name, room in HOLDERS.items() if room == self._room]
        return f" Here: {', '.join(here)}." if here else ""

    def _described(self, holder: str) -> str:
        mark = self._locked.get(holder)
        return f"a {holder}" if mark is None else f"a locked {holder} marked with a {mark}"

    def _near(self, holder: str) -> bool:
        return HOLDERS[holder] == self._room

    def _opened(self, holder: str) -> Seen:
        if not self._near(holder):
            return Seen(text=f"The {holder} is not in this room.")
        if holder in self._locked:
            return Seen(text=f"The {holder} is locked, and does not open.")
        self._open.add(holder)
        thing = self._task.thing
        inside = thing is not None and not self._held and self._task.rules.home[thing[1]] == holder
        return Seen(text=f"In the {holder}: {' '.join(thing) if inside and thing else 'dust'}.")

    def _unlocked(self, mark: str, holder: str, key: str) -> Seen:
        if not self._near(holder) or self._locked.get(holder) != mark:
            return Seen(text=f"No {holder} with such a lock is in this room.")
        if self._task.rules.key[mark] != key:
            return Seen(text=f"The {key} key breaks in the lock.", over=True)
        del self._locked[holder]
        return Seen(text=f"The {holder} is unlocked.")

    def _taken(self, thing: tuple[str, str], holder: str) -> Seen:
        there = self._near(holder) and holder in self._open and not self._held
        if not there or thing != self._task.thing or self._task.rules.home[thing[1]] != holder:
            return Seen(text=f"There is no {' '.join(thing)} to take.")
        self._held = True
        return Seen(text=f"You have the {' '.join(thing)}.")

    def _rubbed(self, thing: tuple[str, str], stuff: str) -> Seen:
        if not self._held or thing != self._task.thing or self._room != "kitchen":
            return Seen(text="You cannot do that here.")
        if self._task.rules.stuff[thing[0]] != stuff:
            return Seen(text=f"The {stuff} spoils the {' '.join(thing)}.", over=True)
        self._shiny = True
        return Seen(text=f"The {' '.join(thing)} shines.")

    def _put(self, thing: tuple[str, str], place: str) -> Seen:
        if not self._held or thing != self._task.thing or PLACES[place] != self._room:
            return Seen(text="You cannot do that here.")
        done = place == self._task.place and (self._shiny or not self._task.polished)
        return Seen(text=f"The {' '.join(thing)} is on the {place}.", over=True, succeeded=done)

    def _brewed(self, brew: str, herbs: tuple[str, str]) -> Seen:
        if self._room != "kitchen" or brew not in BREWS:
            return Seen(text="You cannot do that here.")
        if self._task.rules.brew[brew] != herbs:
            return Seen(text="The tea is bitter, and poured away.", over=True)
        return Seen(text=f"The {brew} tea is right.", over=True, succeeded=brew == self._task.brew)


class TextWorld:
    """The house."""

    name: Final = "text"
    about: Final = "A house whose locks, metals, recipes and hiding places follow hidden rules."
    verbs: Final[Sequence[str]] = (
        "look", "go to ROOM", "open HOLDER", "unlock MARK-marked HOLDER with COLOUR key",
        "take METAL THING from HOLDER", "rub METAL THING with STUFF", "put METAL THING on PLACE",
        "brew KIND tea from HERB and HERB",
    )  # fmt: skip

    def tasks(self, seed: int, count: int) -> list[HouseTask]:
        rules = hidden_rules(seed)
        return [_task(rules, _lot(f"{seed} task {n}")) for n in range(count)]

    def play(self, goal: str, first: str, choose: Choose) -> Play:
        if match := _BREW.fullmatch(goal):
            yield "go to kitchen"
            yield f"brew {match[1]} tea from {choose(_brew_choice(match[1]))}"
            return
        polish = _POLISH.fullmatch(goal)
        match = polish or _BRING.fullmatch(goal)
        if match is None:
            return
        metal, thing, place = match.groups()
        marks: dict[str, str] = dict(_MARKED.findall(first))
        yield from _found(metal, thing, marks, choose)
        if polish:
            yield "go to kitchen"
            yield f"rub {metal} {thing} with {choose(_stuff_choice(metal, thing))}"
        yield f"go to {PLACES[place]}"
        yield f"put {metal} {thing} on {place}"


def _found(metal: str, thing: str, marks: Mapping[str, str], choose: Choose) -> Play:
    """Look for a thing, and take it: in one holder after the other, until it is there."""
    left = list(HOLDERS)
    room = "hall"
    while left:
        holder = choose(_home_choice(metal, thing, left, marks))
        left.remove(holder)
        if HOLDERS[holder] != room:
            room = HOLDERS[holder]
            yield f"go to {room}"
        if mark := marks.get(holder):
            yield f"unlock {mark}-marked {holder} with {choose(_key_choice(mark, holder))} key"
        seen = yield f"open {holder}"
        if f"{metal} {thing}" in seen.text:
            yield f"take {metal} {thing} from {holder}"
            return


def _options(names: Sequence[str], form: str) -> tuple[Option, ...]:
    """Options that an action takes in which the name stands in a form, such as "with {} key"."""
    return tuple(Option(name=name, told_by=_says(form.format(name))) for name in names)


def _says(words: str) -> Callable[[str], bool]:
    """Tell actions that hold these words."""
    pattern = re.compile(rf"\b{re.escape(words)}\b", re.IGNORECASE)
    return lambda action: pattern.search(action) is not None


def _home_choice(metal: str, thing: str, left: Sequence[str], marks: Mapping[str, str]) -> StreamChoice:
    """Where to look: rather in what is not locked, as long as nothing is known."""
    question = f"Where do I take the {metal} {thing} from?"
    options = (replace(each, prior=0.0 if each.name in marks else 0.5) for each in _options(left, "from {}"))
    return StreamChoice(question=question, about=("take", thing), options=tuple(options))


def _key_choice(mark: str, holder: str) -> StreamChoice:
    question = f"Which key unlocks the {mark}-marked {holder}?"
    return StreamChoice(question=question, about=("unlock", f"{mark}-marked"), options=_options(KEYS, "with {} key"))


def _stuff_choice(metal: str, thing: str) -> StreamChoice:
    question = f"What do I rub the {metal} {thing} with?"
    return StreamChoice(question=question, about=("rub", metal), options=_options(STUFFS, "with {}"))


def _brew_choice(brew: str) -> StreamChoice:
    pairs = [" and ".join(pair) for pair in permutations(HERBS, 2)]
    return StreamChoice(
        question=f"What do I brew the {brew} tea from?", about=("brew", brew), options=_options(pairs, "from {}")
    )


def hidden_rules(seed: int) -> HouseRules:
    """Draw the hidden rules of a seed."""
    lot = _lot(f"{seed} rules")
    pairs = list(permutations(HERBS, 2))
    return HouseRules(
        home={thing: lot.choice(tuple(HOLDERS)) for thing in THINGS},
        key={mark: lot.choice(KEYS) for mark in MARKS},
        stuff={metal: lot.choice(STUFFS) for metal in METALS},
        brew={brew: lot.choice(pairs) for brew in BREWS},
    )


def _task(rules: HouseRules, lot: random.Random) -> HouseTask:
    kind = lot.choice(("bring", "polish", "polish", "brew"))
    metal, thing, place = lot.choice(METALS), lot.choice(THINGS), lot.choice(tuple(PLACES))
    brew = lot.choice(BREWS)
    locks = dict(zip(lot.sample(tuple(HOLDERS), 3), lot.sample(MARKS, 3), strict=True))
    goals = {
        "bring": f"Put the {metal} {thing} on the {place}.",
        "polish": f"Polish the {metal} {thing} and put it on the {place}.",
        "brew": f"Brew the {brew} tea.",
    }
    return HouseTask(
        goal=goals[kind],
        rules=rules,
        thing=None if kind == "brew" else (metal, thing),
        polished=kind == "polish",
        place=place,
        brew=brew if kind == "brew" else "",
        locks=locks,
    )


def _lot(of: str) -> random.Random:
    return random.Random(f"house {of}")  # noqa: S311


TEXT_WORLD: Final = TextWorld()
"""The one that streams run in."""
