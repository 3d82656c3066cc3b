"""Tells by the profile that what somebody said of themselves is so no longer, in whatever words they ended it.

"I eat fish again" names no vegetarian, and ends one: the rules that keep the profile read it so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.items import ENDED
from mnemic.core.tokens import tokenise
from mnemic.extract.chinese import has_chinese
from mnemic.extract.patterns import SlotAct
from mnemic.extract.slots import slots

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    stated = [
        (finding.slot, str(finding.value))
        for finding in slots(sentence, "user", micros(said.said), said.said_offset)
        if finding.act is SlotAct.STATES and _names(question, str(finding.value))
    ]
    later = (fact for fact in facts if micros(fact.said) > micros(said.said) and said.id not in fact.source)
    ends = [fact for fact in later if any(_ends(fact, slot, value) for slot, value in stated)]
    return max(ends, key=lambda fact: micros(fact.said), default=None)


def _names(question: str, value: str) -> bool:
    """Whether a question names a value."""
    return value in question if has_chinese(value) else set(tokenise(value)) <= set(tokenise(question))


def _ends(fact: Item, slot: str, value: str) -> bool:
    """Whether a fact says that a value fills a slot no longer, or names a diet that leaves no room for it."""
    if fact.slots.get("slot") != slot:
        return False
    other = str(fact.slots.get("value"))
    if fact.slots.get(ENDED) is True:
        return other.casefold() == value.casefold()
    return slot == "diet" and _is_another_diet(value, other)


def _is_another_diet(value: str, other: str) -> bool:
    """Whether who keeps to the other diet keeps to this one no longer: a vegan is a vegetarian still."""
    before, now = (next((n for n, form in enumerate(_DIETS) if form.match(each)), None) for each in (value, other))
    return None not in (before, now) and before != now and (before, now) != (_VEGETARIAN, _VEGAN)
