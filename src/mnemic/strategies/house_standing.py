"""What the strategy `house` does with standing instructions: one is given, stopped, contradicted, or taken back."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from mnemic.core.items import DOUBTS, Kind
from mnemic.core.uninterrupted import import_whole
from mnemic.strategies.house_book import NAMING, NAMING_BESIDES, BookedStatement, HouseBook, derived_by_rules, of_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Slot
    from mnemic.extract.instructions import Instruction
    from mnemic.extract.revocations import Revocation, Withdrawal
    from mnemic.strategies.base import Derivation

Meanings: TypeAlias = "Mapping[str, NDArray[np.float32]]"
"""The vector of each text, in lower case, that meaning may decide on; empty where none are made."""
_STOPPING: Final = frozenset({"stop", "不要再"})


_CLAUSE_END: Final = re.compile("[,;，；] ?")
_LEAVE: Final = re.compile(r"\b(?:you|u|we) (?:can|may|could)\b|\bfeel free\b|\bfine\b|可以|能", re.IGNORECASE)
"""Gives leave and orders nothing."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A sentence that took something back, and the instruction that it was, as it stood."""

    revocation: Revocation
    instruction: str


def write_revocation(
    item: Item, subject: str, key: str, revocation: Revocation, book: HouseBook, meanings: Meanings, *, instructs: bool
) -> list[TakenBack]:
    """Write the revocation, if it is clear what it is about; its words are no instruction beside it (`asked_instead`).

    Of an instruction for several things, what is not taken back goes on to stand; what cannot be cut is in doubt.

    Args:
        instructs: By rule it is an instruction itself, so that by its meaning it only puts another in doubt.
    """
    import_whole("mnemic.extract.instruction_halves", "mnemic.extract.revocations")
    from mnemic.extract.instruction_halves import is_partly_meant, without
    from mnemic.extract.revocations import Withdrawal, names_more, speaks_of_others

    if revocation.way is Withdrawal.EVERY:
        return _all_taken_back(item, subject, key, revocation, book)
    if revocation.way is Withdrawal.HINTS:
        meant, sure = _hinted_at(book, subject, revocation.text, item.said, meanings, orders=instructs)
    elif revocation.way in (Withdrawal.LAST, Withdrawal.USUAL):
        meant, sure = _pointed_at(book, subject, revocation, item.said)
    else:
        meant = _meant(book, subject, revocation.topic, item.said, revocation.way)
        sure = meant is not None and (
            revocation.way is Withdrawal.UNDOES or not names_more(revocation.topic, meant.text)
        )
    sure = sure and not speaks_of_others(revocation.text)
    if meant is None:
        return []
    if sure and is_partly_meant(meant.text, revocation.topic):
        rest = without(meant.text, revocation.topic)
        if rest is not None:
            kept = derived_by_rules(item, key, Kind.PROCEDURE, rest, meant.slots, supersedes=meant.at)
            book.write(replace(kept, context=book.origin(meant)))  # the rest is said in its words
        else:
            book.write(_doubt(item, subject, key, revocation, meant, book))
        return [TakenBack(revocation, meant.text)]
    if not sure:
        book.write(_doubt(item, subject, key, revocation, meant, book))
        return []
    if revocation.way is Withdrawal.REPLACES:
        slots = _instruction_slots(subject, "instead", standing=True)
        book.write(derived_by_rules(item, key, Kind.PROCEDURE, revocation.text, slots, supersedes=meant.at))
        return [TakenBack(revocation, meant.text)]
    slots = _instruction_slots(subject, "taken back", standing=False)
    book.write(derived_by_rules(item, key, Kind.PROCEDURE, revocation.text, slots, revokes=(meant.at,)))
    return [TakenBack(revocation, meant.text)]


def _all_taken_back(item: Item, subject: str, key: str, revocation: Revocation, book: HouseBook) -> list[TakenBack]:
    """Write a revocation of all that stands and was said before."""
    standing = [stood for stood in book.filed("stands", subject) if stood.said <= item.said]
    if not standing:
        return []
    slots = _instruction_slots(subject, "taken back", standing=False)
    revokes = tuple(stood.at for stood in standing)
    book.write(derived_by_rules(item, key, Kind.PROCEDURE, revocation.text, slots, revokes=revokes))
    return [TakenBack(revocation, stood.text) for stood in standing]


def _pointed_at(
    book: HouseBook, subject: str, revocation: Revocation, said: datetime
) -> tuple[BookedStatement | None, bool]:
    """Find the standing instruction that a sentence points at, and whether it surely does.

    "That rule" is the newest, surely where no other stands or it says so itself. What is usual again may have ended the
    only one that the sentence has something in common with, or else the newest.
    """
    import_whole("mnemic.extract.revocations")
    from mnemic.extract.revocations import Withdrawal, points_at_newest

    stood = [standing for standing in book.filed("stands", subject) if standing.said <= said]
    if not stood:
        return None, False
    newest = max(reversed(stood), key=lambda standing: standing.said)  # of those said at once, what was filed last
    if revocation.way is Withdrawal.USUAL:
        sharing = list(_sharing(book, subject, revocation.text, said).values())
        return (sharing[0], True) if len(sharing) == 1 else (newest, False)
    return newest, len(stood) == 1 or points_at_newest(revocation)


def asked_instead(instruction: Instruction, taken: TakenBack) -> Instruction | None:
    """What a sentence that takes an instruction back asks for in its place: another name, or the other side of it."""
    import_whole("mnemic.extract.instructions", "mnemic.extract.revocations")
    from mnemic.extract.instructions import instructions
    from mnemic.extract.revocations import Withdrawal, asks_other_side

    clauses = _CLAUSE_END.split(taken.revocation.text)[1:]
    if taken.revocation.way is Withdrawal.REPLACES:
        return None  # it stands as a whole
    asked = [clause_instruction for clause in clauses for clause_instruction in instructions(clause)]
    if taken.revocation.way is Withdrawal.ALLOWS:
        asked.append(instruction)
    for new in asked:
        if new.rule in NAMING | NAMING_BESIDES or (
            asks_other_side(new.text, taken.instruction) and not _LEAVE.search(new.text)
        ):
            return new
    return None


def _doubt(
    item: Item, subject: str, key: str, revocation: Revocation, meant: BookedStatement, book: HouseBook
) -> Derivation:
    slots = {**_instruction_slots(subject, "in doubt", standing=False), DOUBTS: meant.text}
    doubt = derived_by_rules(item, key, Kind.PROCEDURE, revocation.text, slots)
    return replace(doubt, context=book.origin(meant))  # it quotes what it doubts


def _hinted_at(
    book: HouseBook, subject: str, text: str, said: datetime, meanings: Meanings, *, orders: bool
) -> tuple[BookedStatement | None, bool]:
    """Find the one standing instruction, said before, that a sentence may take back, and whether it surely does.

    Without vectors only a cue tells, and words in common with one instruction alone.

    Args:
        orders: A rule finds an instruction in the sentence itself, so that it takes none back for sure, and only if it
            gives leave one with which it has no matter in common.
    """
    import_whole("mnemic.extract.chinese", "mnemic.extract.entities")
    import_whole("mnemic.extract.revocations", "mnemic.extract.withdrawal_meaning")
    from mnemic.extract.chinese import simple
    from mnemic.extract.entities import canonical
    from mnemic.extract.revocations import says_of_same
    from mnemic.extract.withdrawal_meaning import (
        TAKES_BACK,
        doubted,
        gives_leave,
        has_cue,
        is_of_others,
        is_of_own_life,
        nearest,
        withdraws,
    )

    low, plain = text.lower(), simple(text.lower())
    sharing, others = _sharing(book, subject, text, said), is_of_others(plain)
    if is_of_own_life(plain):  # who dreams in Dutch says nothing of answers in French
        sharing = {at: standing for at, standing in sharing.items() if says_of_same(text, standing.text)}
    if low not in meanings:
        meant = len(sharing) == 1 and has_cue(plain) and not others and not orders
        return (next(iter(sharing.values())) if meant else None), True
    likely = withdraws(meanings[low], low)
    stood = (
        standing
        for standing in book.filed("stands", subject)
        if standing.said <= said and standing.text.lower() in meanings
    )
    near = [standing for standing in stood if canonical(standing.text) != canonical(text)]
    vectors, shares = (
        [meanings[standing.text.lower()] for standing in near],
        [standing.at in sharing for standing in near],
    )
    may_hide = likely > TAKES_BACK and not others and not orders
    place = nearest(meanings[low], vectors, shares) if may_hide else None
    if place is not None and (shares[place] or not is_of_own_life(plain)):
        return near[place], True
    place = doubted(low, likely, meanings[low], vectors, shares)
    if place is None or (orders and not shares[place] and not gives_leave(plain)):
        return None, False
    return near[place], False


def _sharing(book: HouseBook, subject: str, text: str, said: datetime) -> dict[ItemId | int, BookedStatement]:
    """The standing instructions, said by then, with which a text has a telling word or an aspect in common."""
    import_whole("mnemic.extract.revocations")
    from mnemic.extract.revocations import aspects_named, telling

    places = [*(("about", word) for word in telling(text)), *(("aspect", aspect) for aspect in aspects_named(text))]
    return {
        standing.at: standing
        for place, word in places
        for standing in book.filed(place, subject, word)
        if standing.said <= said
    }


def _meant(
    book: HouseBook, subject: str, topic: str, said: datetime, way: Withdrawal | None = None
) -> BookedStatement | None:
    """Find the one standing instruction, said by then, that a topic is about: by its words, or else by its aspects.

    Args:
        way: How it is withdrawn; None if it is told to stop, so that only words tell.
    """
    import_whole("mnemic.extract.revocations")
    from mnemic.extract.revocations import aspects_named, revoked, telling, withdrawable

    for place, asked in (("about", telling(topic)), ("aspect", aspects_named(topic) if way else set())):
        shared: dict[ItemId | int, int] = {}
        about: dict[ItemId | int, BookedStatement] = {}
        for word in asked:
            for statement in book.filed(place, subject, word):
                if statement.said <= said and (way is None or withdrawable(topic, way, statement.text)):
                    about[statement.at] = statement
                    shared[statement.at] = shared.get(statement.at, 0) + 1
        which = revoked(len(asked), shared)
        if which is not None:
            return about[which]
    return None


def write_instruction(item: Item, subject: str, key: str, instruction: Instruction, book: HouseBook) -> None:
    """Write a standing instruction, in place of what it repeats in doubt, stops or contradicts."""
    import_whole("mnemic.extract.entities", "mnemic.extract.instruction_halves")
    from mnemic.extract.entities import canonical
    from mnemic.extract.instruction_halves import without_name

    asks_name = instruction.rule in NAMING | NAMING_BESIDES
    named = book.filed("naming", subject) if asks_name else ()
    besides = (without_name(instruction.text) if asks_name else None) or instruction.text
    if any(statement.said > item.said for statement in named):
        if instruction.rule in NAMING:
            return
        asks_name, named, instruction = False, (), replace(instruction, text=besides)
    same = book.filed("said", subject, canonical(instruction.text))
    if same and not book.filed("doubted", subject, canonical(instruction.text)):
        return
    ended = _take_names_out(item, subject, key, besides, book) if asks_name else []
    stopped = _meant(book, subject, instruction.text, item.said) if instruction.rule in _STOPPING else None
    ended += [] if stopped is None else [stopped.at]
    ended += _contradicted(book, subject, besides, item.said)
    replaced = next((standing.at for standing in (*same, *named)), None)
    derivation = derived_by_rules(
        item,
        key,
        Kind.PROCEDURE,
        instruction.text,
        _instruction_slots(subject, instruction.rule, standing=True),
        supersedes=replaced,
        revokes=tuple(at for at in dict.fromkeys(ended) if at != replaced),
    )
    book.write(derivation)


def _take_names_out(item: Item, subject: str, key: str, besides: str, book: HouseBook) -> list[ItemId | int]:
    """Write what else is asked for by instructions that ask for a name too, in their place: a newer name is given.

    Args:
        besides: What is asked for beside the newer name.

    Returns:
        Instructions of which nothing is left to stand.
    """
    import_whole("mnemic.extract.instruction_halves")
    from mnemic.extract.instruction_halves import without_name

    ended: list[ItemId | int] = []
    for n, meant in enumerate(book.filed("aspect", subject, "naming")):
        if meant.said > item.said or (rest := without_name(meant.text)) is None:
            continue
        if _is_overtaken(rest, meant, subject, besides, book):
            ended.append(meant.at)
            continue
        contrary = tuple(_contradicted(book, subject, rest, meant.said))
        kept = derived_by_rules(
            item, f"{key}:{n}", Kind.PROCEDURE, rest, meant.slots, supersedes=meant.at, revokes=contrary
        )
        book.write(replace(kept, context=book.origin(meant)))  # the rest is said in its words
    return ended


def _is_overtaken(rest: str, meant: BookedStatement, subject: str, besides: str, book: HouseBook) -> bool:
    """Whether the rest of an instruction stands already, or something newer asks for the same or the contrary."""
    import_whole("mnemic.extract.entities", "mnemic.extract.revocations")
    from mnemic.extract.entities import canonical
    from mnemic.extract.revocations import aspects_named, contradicts

    newer = [
        standing.text
        for aspect in aspects_named(rest)
        for standing in book.filed("aspect", subject, aspect)
        if standing.said > meant.said
    ]
    return (
        canonical(besides) == canonical(rest)
        or bool(book.filed("said", subject, canonical(rest)))
        or any(contradicts(text, rest) for text in (besides, *newer))
    )


def _contradicted(book: HouseBook, subject: str, text: str, said: datetime) -> Iterator[ItemId | int]:
    """Yield what stands and was said before, and that a new instruction asks the contrary of."""
    import_whole("mnemic.extract.revocations")
    from mnemic.extract.revocations import aspects_named, contradicts

    for aspect in aspects_named(text):
        for standing in book.filed("aspect", subject, aspect):
            if standing.said <= said and contradicts(text, standing.text):
                yield standing.at


def _instruction_slots(subject: str, rule: str, *, standing: bool) -> dict[str, Slot]:
    return {"standing": standing, "rule": rule, **of_rules(subject)}
