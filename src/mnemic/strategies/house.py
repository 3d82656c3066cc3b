"""The house's own way, without a model: standing instructions and simple facts about the speaker, by rule.

Only people's turns are read, and of them only their own words. What a document, a tool, an assistant or a quotation
says is never an instruction, whatever it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from mnemic.core.clock import micros, moment
from mnemic.core.items import Channel, Item, Kind, State
from mnemic.strategies.base import Budget, Derivation, Edits, Given, nothing, pause
from mnemic.strategies.triggers import EachEvent, Query, Trigger

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Slot
    from mnemic.extract.instructions import Instruction
    from mnemic.extract.revocations import Revocation
    from mnemic.extract.slots import Finding
    from mnemic.flow import Flow

_NOBODY: Final = frozenset(
    {
        *("assistant", "system", "tool", "function", "developer", "ai", "bot", "model", "agent"),
        *("chatgpt", "claude", "gemini", "copilot", "gpt", "助手", "系统", "智能体", "机器人"),
    }
)
_USERS: Final = frozenset({"user", "human"})
_PEOPLE: Final = (Channel.USER, Channel.IMPORT)
_NAMING: Final = frozenset({"call me", "叫我"})
_STOPPING: Final = frozenset({"stop", "不要再"})
_OPPOSITE: Final = {"likes": "dislikes", "dislikes": "likes"}


class House:
    """The first strategy: rules alone, for every event."""

    name: ClassVar[str] = "house"
    by: ClassVar[str] = "rules"
    reads: ClassVar[frozenset[Kind]] = frozenset({Kind.TURN})
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(), Query())
    maintain: ClassVar[tuple[Trigger, ...]] = ()
    budget: ClassVar[Budget] = Budget()
    batch: ClassVar[int] = 64

    def on_write(self, given: Given) -> Flow[Edits]:
        """What `digest` finds; it takes a breath after every turn, which are some hundred microseconds each."""
        book = _Book(given.known)
        for item in given.evidence:
            _take_in(item, book, given.user)
            yield from pause()
        return Edits(write=tuple(book.written))

    on_maintain = nothing


def digest(items: Sequence[Item], known: Sequence[Item], user: str) -> list[Derivation]:
    """What to write for `items`, in the order of what they say.

    Args:
        items: Evidence not digested yet, oldest first; what is not a person's turn is passed over.
        known: The standing instructions and profile facts that the same memory holds; others are passed over. Of a
            slot with one value the newer by `said` stays; what is known already is not written again.
        user: Whose memory it is. Only this user, or who has the role of one, instructs; other names are partners in
            a conversation, whose facts are kept and whose orders are not ours.
    """
    book = _Book(known)
    for item in items:
        _take_in(item, book, user)
    return book.written


def _take_in(item: Item, book: _Book, user: str) -> None:
    if subject := speaker(item):
        _read(item, subject, book, instructs=_instructs(item, subject, user))


def speaker(item: Item) -> str | None:
    """Who says a turn, "user" if they have no name; None if it is no person's turn."""
    if item.kind is not Kind.TURN or item.channel not in _PEOPLE:
        return None
    role, name = (str(item.slots.get(slot) or "").strip() for slot in ("role", "speaker"))
    if role.casefold() in _NOBODY or name.casefold() in _NOBODY:
        return None
    return name or "user"


def _instructs(item: Item, subject: str, user: str) -> bool:
    """Whether a speaker's orders are meant for this user's agent."""
    role = str(item.slots.get("role") or "").casefold()
    return subject == "user" or role in _USERS or subject.casefold() == user.casefold()


@dataclass(frozen=True, slots=True)
class _Held:
    """One thing that holds: where it is, and what it says."""

    at: ItemId | int
    text: str
    slots: Mapping[str, Slot]
    said: datetime


class _Book:
    """What holds so far, known or newly derived, and what is to be written."""

    def __init__(self, known: Sequence[Item]) -> None:
        self.written: list[Derivation] = []
        self._held = [
            _Held(item.id, item.text, item.slots, item.said)
            for item in known
            if item.state is State.ACTIVE and item.kind in (Kind.PROCEDURE, Kind.PROFILE)
        ]

    def write(self, derivation: Derivation) -> None:
        gone = {derivation.supersedes, *derivation.revokes}
        self._held = [held for held in self._held if held.at not in gone]
        if derivation.slots.get("standing") is not False:
            place = len(self.written)
            self._held.append(_Held(place, derivation.text, derivation.slots, derivation.said))
        self.written.append(derivation)

    def standing(self, subject: str) -> list[_Held]:
        return [
            held for held in self._held if held.slots.get("standing") is True and held.slots.get("subject") == subject
        ]

    def facts(self, subject: str, *names: str) -> list[_Held]:
        return [held for held in self._held if held.slots.get("slot") in names and held.slots.get("subject") == subject]


def _read(item: Item, subject: str, book: _Book, *, instructs: bool) -> None:
    """Number what the text says, whatever is known, so that the same saying has the same key ever after."""
    from mnemic.extract.instructions import instructions  # whose patterns only who reads something needs
    from mnemic.extract.revocations import Revocation, revocations
    from mnemic.extract.slots import Finding, slots

    facts = slots(item.text, subject, micros(item.said), item.said_offset)
    said: list[Revocation | Instruction | Finding] = [*revocations(item.text), *instructions(item.text), *facts]
    undone: list[str] = []
    for n, found in enumerate(said):
        key = f"house:{item.id}:{n}"
        if not instructs and not isinstance(found, Finding):
            continue
        if isinstance(found, Revocation):
            undone += _take_back(item, subject, key, found, book)
        elif isinstance(found, Finding):
            _state(item, key, found, book)
        elif not any(found.text in text for text in undone):
            _stand(item, subject, key, found, book)


def _take_back(item: Item, subject: str, key: str, found: Revocation, book: _Book) -> list[str]:
    """Write the revocation, if it is clear what it is about; the text that is spent by it."""
    from mnemic.extract.revocations import revoked

    standing = [held for held in book.standing(subject) if held.said <= item.said]
    which = revoked(found.topic, [held.text for held in standing])
    if which is None:
        return []
    slots = _instruction_slots(subject, "taken back", standing=False)
    book.write(_derived(item, key, Kind.PROCEDURE, found.text, slots, revokes=(standing[which].at,)))
    return [found.text]


def _stand(item: Item, subject: str, key: str, found: Instruction, book: _Book) -> None:
    from mnemic.extract.entities import canonical
    from mnemic.extract.revocations import revoked

    standing = book.standing(subject)
    same = canonical(found.text)
    if any(canonical(held.text) == same for held in standing):
        return
    named = [held for held in standing if held.slots.get("rule") in _NAMING] if found.rule in _NAMING else []
    if any(held.said > item.said for held in named):
        return
    others = [held for held in standing if held.said <= item.said and held not in named]
    stopped = revoked(found.text, [held.text for held in others]) if found.rule in _STOPPING else None
    derivation = _derived(
        item,
        key,
        Kind.PROCEDURE,
        found.text,
        _instruction_slots(subject, found.rule, standing=True),
        supersedes=named[0].at if named else None,
        revokes=() if stopped is None else (others[stopped].at,),
    )
    book.write(derivation)


def _state(item: Item, key: str, found: Finding, book: _Book) -> None:
    from mnemic.extract.phrasing import phrased

    value = _same(found.value)
    facts = book.facts(found.subject, found.slot)
    if any(_same(held.slots.get("value")) == value for held in facts):
        return
    if not found.single:
        facts = [
            held
            for held in book.facts(found.subject, _OPPOSITE.get(found.slot, ""))
            if _same(held.slots.get("value")) == value
        ]
    if any(held.said > item.said for held in facts):
        return
    derivation = _derived(
        item,
        key,
        Kind.PROFILE,
        phrased(found),
        {"slot": found.slot, "value": found.value, "subject": found.subject, "by": "rules"},
        valid_from=moment(found.since.start) if found.since else None,
        supersedes=facts[0].at if facts else None,
    )
    book.write(derivation)


def _same(value: Slot) -> str:
    from mnemic.extract.entities import canonical

    return canonical(value) if isinstance(value, str) else str(value)


def _instruction_slots(subject: str, rule: str, *, standing: bool) -> dict[str, Slot]:
    return {"standing": standing, "rule": rule, "subject": subject, "by": "rules"}


def _derived(
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
    return Derivation(
        key=key,
        kind=kind,
        text=text,
        slots=slots,
        source=(item.id,),
        said=item.said,
        said_offset=item.said_offset,
        valid_from=valid_from,
        supersedes=supersedes,
        revokes=revokes,
    )
