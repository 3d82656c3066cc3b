"""Tells by the profile that what somebody said of themselves is so no longer, in whatever words they ended it.

"I eat fish again" names no vegetarian, and ends one: the rules that keep the profile read it so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.items import ENDED, WRONG
from mnemic.core.tokens import tokenise
from mnemic.extract.chinese import has_chinese
from mnemic.extract.patterns import SlotAct
from mnemic.extract.slots import slots

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item

_DIETS: Final = (
    re.compile(r"vegan|plant[ -]based|[全纯]素", re.IGNORECASE),
    re.compile(r"vegetarian|veggie|素|蛋奶素", re.IGNORECASE),
    re.compile(r"pesc[ae]tarian|[鱼海]鲜?素", re.IGNORECASE),
    re.compile(r"flexitarian|omnivore|carnivore|everything|anything", re.IGNORECASE),
)
"""Diets by what who keeps one eats, the strictest first; who keeps to one of them keeps to no other."""
_VEGAN, _VEGETARIAN = 0, 1


def end_of(question: str, said: Item, sentence: str, facts: Iterable[Item]) -> Item | None:
    """The newest fact by which what a question names, and a sentence once stated, is so no longer; None for none.

    Args:
        said: What the sentence stands in.
        facts: What the profile says of whoever said it, with what it says is no longer so.
    """
    stated = [(slot, value) for slot, value in _stated(said, sentence) if _names(question, value)]
    ends = [fact for fact in facts if any(_ends(fact, said, slot, value) for slot, value in stated)]
    return max(ends, key=lambda fact: micros(fact.said), default=None)


def states_only_what_ended(said: Item, facts: Sequence[Item]) -> bool:
    """Whether what somebody said states something that is so no longer, and of its kind nothing that no fact says.

    Args:
        facts: What the profile says of whoever said it, with what it says is no longer so.
    """
    stated = _stated(said, said.text)
    over = {(slot, value) for slot, value in stated if any(_ends(fact, said, slot, value) for fact in facts)}
    known = {(fact.slots.get("slot"), str(fact.slots.get("value")).casefold()) for fact in facts}
    beside = [(slot, value) for slot, value in stated if (slot, value) not in over and slot in dict(over)]
    return bool(over) and all((slot, value.casefold()) in known for slot, value in beside)


def of_same_slots(facts: Sequence[Item], ended: Sequence[Item]) -> list[Item]:
    """Of what the profile says is no longer so, what fills a slot of some facts."""
    wanted = {fact.slots.get("slot") for fact in facts}
    return [fact for fact in ended if fact.slots.get("slot") in wanted]


def read_in(facts: Sequence[Item]) -> set[ItemId]:
    """The ids of facts, and of what these were read in."""
    return {id for fact in facts for id in (fact.id, *fact.source)}


def _stated(said: Item, text: str) -> list[tuple[str, str]]:
    """The slots and values that rules read in words of whoever said something."""
    findings = slots(text, "user", micros(said.said), said.said_offset)
    return [(finding.slot, str(finding.value)) for finding in findings if finding.act is SlotAct.STATES]


def _names(question: str, value: str) -> bool:
    """Whether a question names a value."""
    return value in question if has_chinese(value) else set(tokenise(value)) <= set(tokenise(question))


def _ends(fact: Item, said: Item, slot: str, value: str) -> bool:
    """Whether a fact says that what was said before fills a slot no longer, or names a diet that leaves no room for it.

    Or that it was never so: another value was put in its place.
    """
    if fact.slots.get("slot") != slot or micros(fact.said) <= micros(said.said) or said.id in fact.source:
        return False
    other = str(fact.slots.get("value"))
    gone = (other if fact.slots.get(ENDED) is True else None, fact.slots.get(WRONG))
    if value.casefold() in (str(each).casefold() for each in gone if each is not None):
        return True
    if fact.slots.get(ENDED) is True:
        return False
    return slot == "diet" and _is_another_diet(value, other)


def _is_another_diet(value: str, other: str) -> bool:
    """Whether who keeps to the other diet keeps to this one no longer: a vegan is a vegetarian still."""
    before, now = (next((n for n, form in enumerate(_DIETS) if form.match(each)), None) for each in (value, other))
    return None not in (before, now) and before != now and (before, now) != (_VEGETARIAN, _VEGAN)
