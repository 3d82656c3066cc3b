"""What the strategy `house` does with findings about the profile: something is so, is so no longer, or never was."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import moment
from mnemic.core.items import ENDED, WRONG, Kind
from mnemic.core.uninterrupted import import_whole
from mnemic.strategies.house_book import BookedStatement, HouseBook, called, derived_by_rules, of_rules, same_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Slot
    from mnemic.extract.slots import Finding
    from mnemic.strategies.base import Derivation

_OPPOSITE: Final = {"likes": "dislikes", "dislikes": "likes"}

_ALIKE: Final = 0.7
"""How like two names are, of 1, from which the one may be the right spelling of the other."""
_SHORT_NAME: Final = 5
"""Characters of the shortest name that is no Chinese one."""
_ONE_OF_KIND: Final = re.compile(r"(?:an?|one) [^()]+|一[只条头匹个][^()]+")
_NAMED: Final = re.compile(r".+ \((?P<kind>[^()]+)\)")


def write_finding(item: Item, key: str, finding: Finding, book: HouseBook) -> None:
    """Write what a finding says: that something is so, is so no longer, or was said by mistake."""
    import_whole("mnemic.extract.patterns")
    from mnemic.extract.patterns import SlotAct

    match finding.act:
        case SlotAct.STATES:
            _state(item, key, finding, book)
        case SlotAct.ENDS:
            _end(item, key, finding, book)
        case SlotAct.CORRECTS:
            _put_right(item, key, finding, book)
        case SlotAct.SPELLS:
            _spell(item, key, finding, book)


def _state(item: Item, key: str, finding: Finding, book: HouseBook) -> None:
    """Write that something is so, unless that is known: as history where something newer says otherwise.

    Of a slot with one value that history finds its place: it ends what began before it, and ends when the next began.
    An end, or a correction, that was said later stays: old evidence does not bring back what it took away. What was
    put right was never so, and is no history.
    """
    value = same_value(finding.value)
    if book.filed("value", finding.subject, finding.slot, value):
        return
    filling = book.filed("slot", finding.subject, finding.slot)
    if any(_is_nameless(str(finding.value), str(fact.slots.get("value"))) for fact in filling):
        return
    if finding.implied and any(fact.slots.get(ENDED) is not True for fact in filling):
        return  # "our flat in Leith" may be a second one
    if finding.single:
        facts = filling
    else:
        facts = [
            *book.filed("value", finding.subject, _OPPOSITE.get(finding.slot, ""), value),
            *(fact for fact in filling if _is_nameless(str(fact.slots.get("value")), str(finding.value))),
        ]
    ended = book.filed("ended", finding.subject, finding.slot, value)
    slots = {"slot": finding.slot, "value": finding.value, **of_rules(finding.subject)}
    since = moment(finding.since.start) if finding.since else None
    newer = [fact for fact in (*facts, *ended) if fact.said > item.said or _is_history(finding, fact)]
    if any(fact in ended and fact.slots.get(ENDED) is not True for fact in newer):
        return
    if newer:
        past = book.past("slot", finding.subject, finding.slot) if finding.single else ()
        began = since or item.said
        before = max((fact for fact in past if fact.began <= began), key=lambda fact: fact.order, default=None)
        after = min((*newer, *(fact for fact in past if fact.began > began)), key=lambda fact: fact.order)
        late = _profiled(item, key, finding, slots, since, gone=() if before is None else (before.at,))
        book.write_history(replace(late, outdated_by=after.at), "value", finding.subject, finding.slot, value)
        return
    over = (statement.at for statement in (*facts, *ended) if statement in facts or statement.slots.get(ENDED) is True)
    book.write(_profiled(item, key, finding, slots, since, gone=tuple(dict.fromkeys(over))))


def _is_nameless(bare: str, named: str) -> bool:
    """Whether a value is one of a kind without its name, and another names it: "a dog" and "Max (dog)"."""
    one, name = _ONE_OF_KIND.fullmatch(bare), _NAMED.fullmatch(named)
    return bool(one and name) and bare.endswith(name["kind"] if name else "")


def _is_history(finding: Finding, fact: BookedStatement) -> bool:
    """Whether what a finding dates was over before a fact, which names its own beginning, began."""
    return finding.since is not None and fact.valid_from is not None and moment(finding.since.end) <= fact.valid_from


def _end(item: Item, key: str, finding: Finding, book: HouseBook) -> None:
    """Write that something is so no longer: it closes the fact, and keeps older words from saying it again.

    An end that names no value closes what is known to fill the slot, if that is clear; where nothing does, it says
    nothing. Neither does one of which only what is known could tell the slot.
    """
    facts = _filling(finding, book)
    if facts is None or any(fact.said > item.said or _is_history(finding, fact) for fact in facts):
        return
    own: Mapping[str, Slot] = {"slot": finding.slot, "value": finding.value}
    whole = finding.slot and finding.value and not _is_part_of(finding, facts)
    borrows = bool(facts) and not (whole and WRONG not in facts[0].slots)
    marked = facts[0].slots if borrows else own
    if not facts and (not finding.slot or not finding.value or _is_taken(finding, book)):
        return
    marks = {ENDED: True, **({WRONG: marked[WRONG]} if WRONG in marked else {})}
    slots = {"slot": marked["slot"], "value": marked["value"], **marks, **of_rules(finding.subject)}
    since = moment(finding.since.start) if finding.since else None
    began = max(since, facts[0].said) if since and facts else since  # it was so when it was last said
    end = _profiled(item, key, finding, slots, began, gone=tuple(fact.at for fact in facts))
    book.write(replace(end, context=book.origin(facts[0])) if borrows else end)


def _filling(finding: Finding, book: HouseBook) -> Sequence[BookedStatement] | None:
    """Find the fact that a finding ends; none if none is known, None if it cannot be told which."""
    if finding.among == "owned":
        value = same_value(finding.value)
        return book.alone("owned", finding.subject, value) or book.alone("holds", finding.subject, value)
    if finding.among:
        return book.alone(finding.among, finding.subject, same_value(finding.value))
    if not finding.slot:
        return book.alone("holds", finding.subject, same_value(finding.value))
    if finding.value:
        return _of_value(finding, book)
    facts = book.alone("slot", finding.subject, finding.slot)
    return None if facts is None else [fact for fact in facts if fact.slots.get(ENDED) is not True]


def _of_value(finding: Finding, book: HouseBook) -> Sequence[BookedStatement]:
    """Find the facts that hold the value of a finding: as it is written, else of another number ("egg", "eggs")."""
    value = same_value(finding.value)
    other = value.removesuffix("s") if value.endswith("s") else f"{value}s"
    facts = book.filed("value", finding.subject, finding.slot, value) or book.filed(
        "value", finding.subject, finding.slot, other
    )
    if facts or finding.slot != "employer":
        return facts
    filling = book.filed("slot", finding.subject, finding.slot)
    return filling if _is_part_of(finding, filling) else ()


def _is_part_of(finding: Finding, facts: Sequence[BookedStatement]) -> bool:
    """Whether a finding calls the employer of a fact by the end of its Chinese name: 杭州一家银行 is 银行."""
    if finding.slot != "employer":
        return False
    import_whole("mnemic.extract.chinese")
    from mnemic.extract.chinese import has_chinese

    value = same_value(finding.value)
    if not has_chinese(value):
        return False
    names = [same_value(str(fact.slots.get("value"))) for fact in facts if fact.slots.get(ENDED) is not True]
    return len(names) == 1 and names[0] != value and names[0].endswith(value)


def _is_taken(finding: Finding, book: HouseBook) -> bool:
    """Whether the end of a value is known, or something else fills the slot."""
    ended = book.filed("ended", finding.subject, finding.slot, same_value(finding.value))
    return bool(ended or (finding.single and book.filed("slot", finding.subject, finding.slot)))


def _put_right(item: Item, key: str, finding: Finding, book: HouseBook) -> None:
    """Write what is right in place of the one fact that says what was wrong, as if it had been said then."""
    wrong = _mistaken(finding, book)
    if wrong is not None:
        _write_right(item, key, finding, wrong, book)


def _mistaken(finding: Finding, book: HouseBook) -> BookedStatement | None:
    """Find the one fact, of the slot that a finding names if it does, that says what was wrong in whatever form."""
    import_whole("mnemic.extract.slots")
    from mnemic.extract.slots import birthday

    said = str(finding.wrong)
    for form in dict.fromkeys((said, birthday(said) or said)):
        value = same_value(form)
        if finding.slot:
            wrong = book.filed("value", finding.subject, finding.slot, value)
        else:
            wrong = book.alone("holds", finding.subject, value) or ()
        if wrong:
            return wrong[0]
    return None


def _spell(item: Item, key: str, finding: Finding, book: HouseBook) -> None:
    """Write a name as it is spelt in place of the one that is known and written much like it, if it is one alone."""
    value = same_value(finding.value)
    like = [fact for fact in book.filed("named", finding.subject) if _is_like(called(fact.slots.get("value")), value)]
    if len(like) == 1:
        _write_right(item, key, finding, like[0], book)


def _is_like(name: str, other: str) -> bool:
    """Whether two names differ in a few letters only, or in one of the characters of a Chinese one."""
    if name == other:
        return False
    if not name.isascii() and len(name) == len(other) < _SHORT_NAME:
        return name[0] == other[0] and sum(map(str.__eq__, name, other)) == len(name) - 1
    return SequenceMatcher(None, name, other).ratio() >= _ALIKE


def _write_right(item: Item, key: str, finding: Finding, fact: BookedStatement, book: HouseBook) -> None:
    """Write the right value in place of a fact, unless it was said later, or is known to hold."""
    import_whole("mnemic.extract.slots")
    from mnemic.extract.slots import typed

    if fact.said > item.said:
        return
    slot = str(fact.slots["slot"])
    kind = _NAMED.fullmatch(str(fact.slots["value"])) if slot == "pet" else None
    value = typed(slot, f"{finding.value} ({kind['kind']})" if kind else str(finding.value))
    if value is None or book.filed("value", finding.subject, slot, same_value(value)):
        return
    slots = {"slot": slot, "value": value, WRONG: fact.slots["value"], **of_rules(finding.subject)}
    right = _profiled(item, key, finding, slots, fact.began, gone=(fact.at,))
    book.write(replace(right, context=book.origin(fact)))


def _profiled(
    item: Item,
    key: str,
    finding: Finding,
    slots: Mapping[str, Slot],
    valid_from: datetime | None,
    *,
    gone: tuple[ItemId | int, ...],
) -> Derivation:
    """Derive a statement of the profile from a finding, in place of what is gone."""
    import_whole("mnemic.extract.phrasing")
    from mnemic.extract.phrasing import phrased

    text = phrased(
        str(slots["slot"]), str(slots["value"]), finding.subject, finding.text, ended=slots.get(ENDED) is True
    )
    return derived_by_rules(
        item,
        key,
        Kind.PROFILE,
        text,
        slots,
        valid_from=valid_from,
        supersedes=gone[0] if gone else None,
        revokes=gone[1:],
    )
