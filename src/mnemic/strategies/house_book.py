"""The book of the strategy `house`: the statements that hold so far, filed by what its rules ask of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from mnemic.core.items import DOUBTS, ENDED, WRONG, Kind, Sight, State
from mnemic.core.uninterrupted import import_whole
from mnemic.strategies.base import Derivation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Slot

NAMING: Final = frozenset({"call me", "叫我"})
"""Rules of what asks for a name and nothing else, which a newer name replaces."""
NAMING_BESIDES: Final = frozenset({"call me besides", "叫我并"})
"""Rules of what asks for a name and more: of it a newer name takes only the name's place."""
_Place: TypeAlias = tuple[str, ...]
"""Where statements are filed: what is asked of them, and its answer."""


@dataclass(frozen=True, slots=True)
class BookedStatement:
    """A statement that holds, or once did: where it is, and what it says."""

    at: ItemId | int
    text: str
    slots: Mapping[str, Slot]
    said: datetime
    valid_from: datetime | None = None

    @property
    def began(self) -> datetime:
        """Since when it is so, as far as we know."""
        return self.valid_from or self.said

    @property
    def order(self) -> tuple[datetime, datetime, str]:
        """What orders statements by when they began, whatever order they are met in."""
        return self.began, self.said, self.text


class HouseBook:
    """Files the statements that hold so far, known or newly derived, by what rules ask of them, and those that did.

    A fact is filed by its subject and slot, and by its value; an instruction by its subject, its words as they are
    compared, and each word that says what it is about. So what a turn costs does not grow with what is known.

    Attributes:
        written: What is to be written.
    """

    def __init__(self, known: Sequence[Item]) -> None:
        self.written: list[Derivation] = []
        self._known = known
        self._filed: dict[_Place, dict[ItemId | int, BookedStatement]] | None = None
        self._places: dict[ItemId | int, tuple[_Place, ...]] = {}
        self._past: dict[_Place, list[BookedStatement]] = {}

    def write_history(self, derivation: Derivation, *place: str) -> None:
        """Write a statement that something newer has taken the place of already, unless it is known as history."""
        if not self.past(*place):
            self._file_past(self._booked(derivation))
            self.written.append(derivation)

    def write(self, derivation: Derivation) -> None:
        """Write a statement, which holds from here on; what it supersedes or revokes does so no longer."""
        for gone in (derivation.supersedes, *derivation.revokes):
            if gone is not None:
                for place in self._places.pop(gone, ()):
                    self._past.setdefault(place, []).append(self._files[place].pop(gone))
        self._file(self._booked(derivation))
        self.written.append(derivation)

    def filed(self, *place: str) -> Sequence[BookedStatement]:
        """Return the statements that hold and are filed at a place, the oldest first."""
        return list(self._files.get(place, {}).values())

    def past(self, *place: str) -> Sequence[BookedStatement]:
        """Return the statements that held once and were filed at a place, in no order; what is known of these."""
        return self._past.get(place, ())

    def alone(self, *place: str) -> Sequence[BookedStatement] | None:
        """Return the one statement that is filed at a place, or none; None if there are more."""
        return self.filed(*place) if len(self._files.get(place, {})) <= 1 else None

    def origin(self, statement: BookedStatement) -> tuple[ItemId, ...]:
        """The items that a statement has its words from: itself, or if it is of this run what it was derived from."""
        if not isinstance(statement.at, int):
            return (statement.at,)
        derivation = self.written[statement.at]
        return (*derivation.source, *derivation.context)

    @property
    def _files(self) -> dict[_Place, dict[ItemId | int, BookedStatement]]:
        """What is filed; what is known is filed when a turn first asks, for most say nothing that rules look up."""
        if self._filed is None:
            self._filed = {}
            for item in self._known:
                if item.kind not in (Kind.PROCEDURE, Kind.PROFILE):
                    continue
                statement = BookedStatement(item.id, item.text, item.slots, item.said, item.valid_from)
                if item.state is State.ACTIVE:
                    self._file(statement)
                elif item.state is State.SUPERSEDED:
                    self._file_past(statement)
        return self._filed

    def _booked(self, derivation: Derivation) -> BookedStatement:
        """The statement of what is about to be written."""
        at = len(self.written)
        return BookedStatement(at, derivation.text, derivation.slots, derivation.said, derivation.valid_from)

    def _file(self, statement: BookedStatement) -> None:
        places = self._places[statement.at] = tuple(dict.fromkeys(_places(statement)))
        for place in places:
            self._files.setdefault(place, {})[statement.at] = statement

    def _file_past(self, statement: BookedStatement) -> None:
        for place in dict.fromkeys(_places(statement)):
            self._past.setdefault(place, []).append(statement)


def _places(statement: BookedStatement) -> Iterator[_Place]:
    """Name the places at which a statement is filed."""
    import_whole("mnemic.extract.entities", "mnemic.extract.revocations", "mnemic.extract.slots")
    from mnemic.extract.entities import canonical
    from mnemic.extract.revocations import aspects_named, telling
    from mnemic.extract.slots import NAMED, PEOPLE, is_single

    slots = statement.slots
    subject, slot = slots.get("subject"), slots.get("slot")
    if not isinstance(subject, str):
        return
    if slots.get("standing") is True:
        yield "stands", subject
        yield "said", subject, canonical(statement.text)
        yield from (("about", subject, word) for word in telling(statement.text))
        yield from (("aspect", subject, aspect) for aspect in aspects_named(statement.text))
        if slots.get("rule") in NAMING:
            yield "naming", subject
    if isinstance(doubted := slots.get(DOUBTS), str):
        yield "doubted", subject, canonical(doubted)
    if not isinstance(slot, str):
        return
    value = same_value(slots.get("value"))
    if slots.get(ENDED) is True:
        yield "ended", subject, slot, value
    else:
        yield "value", subject, slot, value
        yield "holds", subject, value
        yield from (("holds", subject, other) for other in other_forms(slot, slots.get("value")))
        if slot == "pet" or slot in PEOPLE:
            yield "living", subject, called(slots.get("value"))
        if slot == "pet":
            yield "pet", subject, called(slots.get("value"))
        yield from (("kept_from", subject, food) for food in kept_from(slot, value))
        yield from (("owned", subject, name) for name in owned_as(slot, str(slots.get("value"))))
        if slot in NAMED:
            yield "named", subject
    if slots.get(ENDED) is not True or is_single(slot):
        yield "slot", subject, slot
    if (wrong := slots.get(WRONG)) is not None:
        yield "ended", subject, slot, same_value(wrong)


def of_rules(subject: str) -> dict[str, Slot]:
    """The slots of whatever rules derive about somebody."""
    return {"subject": subject, "by": "rules"}


def same_value(value: Slot) -> str:
    """A value as it is compared with others: a text in its canonical form."""
    import_whole("mnemic.extract.entities")
    from mnemic.extract.entities import canonical

    return canonical(value) if isinstance(value, str) else str(value)


def called(value: Slot) -> str:
    """What the value of a pet or a person calls it: of "Moss (cat)", "moss"."""
    return same_value(str(value).partition(" (")[0])


def other_forms(slot: str, value: Slot) -> Iterator[str]:
    """How else somebody may say a value whose slot has a form of its own: an age with its years, a day in words."""
    if slot == "age":
        yield from (same_value(f"{value}{years}") for years in ("岁", "周岁", " years old", " years"))


_MEAT: Final = "meat chicken beef pork lamb turkey bacon ham steak"
_MEAT_CHINESE: Final = "肉 鸡肉 牛肉 猪肉 羊肉"
_KEPT_FROM: Final = {
    "gluten": "bread pasta wheat gluten",
    "dairy": "milk cheese cream butter yoghurt yogurt dairy",
    "lactose": "milk cheese cream butter yoghurt yogurt dairy",
    "keto": "bread pasta",
    "low carb": "bread pasta",
    "sugar": "sugar chocolate",
    "无麸质": "", "麸质": "", "乳糖": "", "生酮": "", "低碳": "", "无糖": "",
}  # fmt: skip
"""What a diet that one keeps for one's health is called, and foods that who keeps it does not eat."""
_MEATLESS: Final = {
    "vegan": f"{_MEAT} fish cheese eggs milk",
    "plant based": f"{_MEAT} fish cheese eggs milk",
    "vegetarian": f"{_MEAT} fish",
    "veggie": f"{_MEAT} fish",
    "pescatarian": _MEAT,
    "pescetarian": _MEAT,
    **dict.fromkeys(("全素", "纯素"), f"{_MEAT_CHINESE} 鱼 海鲜 鸡蛋 蛋 牛奶 奶 奶酪"),
    **dict.fromkeys(("素", "蛋奶素"), f"{_MEAT_CHINESE} 鱼 海鲜"),
    **dict.fromkeys(("鱼", "海"), _MEAT_CHINESE),
}
"""The same of one kept for other reasons, which somebody who eats normally again after an illness still keeps."""


def kept_from(slot: str, value: str) -> Iterator[str]:
    """The foods that somebody does not eat by a diet, and "" for all of them together where it is for their health."""
    if slot == "diet":
        diet = value.replace("-", " ")
        for name, foods in _KEPT_FROM.items():
            if diet.startswith(name):
                yield from ("", *foods.split())
        yield from (food for name, foods in _MEATLESS.items() if diet.startswith(name) for food in foods.split())


_WITH_KIND: Final = re.compile(r"(?P<name>.+) \((?P<kind>[^()]+)\)")
_COUNTED: Final = re.compile(r"(?:an?|the|my|our|one) |[一二两三几\d]*[只条头匹对台辆部架把套块艘个]")
_THINGS: Final = {"pet": (), "possession": (), "car": ("car", "车"), "phone": ("phone", "手机")}
"""Slots of what somebody owns, and what anything that fills one is called."""


def owned_as(slot: str, value: str) -> Iterator[str]:
    """How somebody may call what they own when they say that it is gone: "Moss (cat)" is Moss, and the cat.

    Of several words the last may stand alone: "a grand piano" is the piano.
    """
    if slot not in _THINGS:
        return
    named = _WITH_KIND.fullmatch(value)
    bare = _COUNTED.sub("", value, count=1) if _COUNTED.match(value) else value
    forms = (named["name"], named["kind"]) if named else (bare, bare.rpartition(" ")[2])
    yield from dict.fromkeys(map(same_value, (*forms, *_THINGS[slot])))


def derived_by_rules(
    item: Item,
    key: str,
    kind: Kind,
    text: str,
    slots: Mapping[str, Slot],
    *,
    valid_from: datetime | None = None,
    supersedes: ItemId | int | None = None,
    revokes: tuple[ItemId | int, ...] = (),
) -> Derivation:
    """Derive a statement from one turn, for everybody's sight."""
    return Derivation(
        key=key,
        kind=kind,
        text=text,
        slots=slots,
        source=(item.id,),
        said=item.said,
        said_offset=item.said_offset,
        valid_from=valid_from,
        sight=Sight.ALL,  # in the always-on part of a context: what rules derive has no words to be searched by
        supersedes=supersedes,
        revokes=revokes,
    )
