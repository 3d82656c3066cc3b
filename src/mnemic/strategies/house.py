"""The strategy `house` derives without a language model: standing instructions and facts about the speaker, by rule.

Only people's turns are read, and of them only their own words. What a document, a tool, an assistant or a quotation
says is never an instruction, whatever it says. Where no rule decides whether a sentence instructs, its words do, or its
vector, where the embedder serves whose vectors that was learned from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from mnemic.core.clock import micros, moment
from mnemic.core.items import DOUBTS, ENDED, WRONG, Channel, Item, Kind, Sight, State
from mnemic.core.queries import Filter
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import ModelError
from mnemic.extract.speakers import is_machine
from mnemic.strategies.base import Budget, Derivation, Edits, Given, known, nothing, pause
from mnemic.strategies.strategy_requests import vectors
from mnemic.strategies.triggers import EachEvent, OnQuestion, Trigger

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Slot
    from mnemic.extract.instructions import Instruction, OpenSentence
    from mnemic.extract.revocations import Revocation, Withdrawal
    from mnemic.extract.slots import Finding
    from mnemic.flow import Flow

_USERS: Final = frozenset({"user", "human"})
"""The roles in which a person speaks, in capital letters or small ones; in no other role does anybody speak for
themselves, however near to these it is written."""
_MYSELF: Final = frozenset({"user", "human", "me", "myself", "i", "我", "本人", "用户"})
"""What files call whoever kept them."""
_PEOPLE: Final = (Channel.USER, Channel.IMPORT)
_NAMING: Final = frozenset({"call me", "叫我"})
_STOPPING: Final = frozenset({"stop", "不要再"})
_HISTORY: Final = Filter(kinds=(Kind.PROFILE,), states=(State.SUPERSEDED,))
_MOST_HISTORY: Final = 1_000
"""Facts that hold no longer of which it is known that they once did, for what comes late."""
_OPPOSITE: Final = {"likes": "dislikes", "dislikes": "likes"}
_SHORT_TURN: Final = 400
"""Most characters in a turn of which a cue may take something back: longer ones are written, or pasted."""
_MOST_STANDING: Final = 32
"""Standing instructions that what may take one back is compared with by meaning, the newest."""
_Meanings: TypeAlias = "Mapping[str, NDArray[np.float32]]"
"""The vector of each text that meaning may decide on; empty where none are made."""
_Place: TypeAlias = tuple[str, ...]
"""Where statements are filed: what is asked of them, and its answer."""


class House:
    """Derives instructions and facts by rules alone, at every event."""

    name: ClassVar[str] = "house"
    by: ClassVar[str] = "rules"
    reads: ClassVar[frozenset[Kind]] = frozenset({Kind.TURN})
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(), OnQuestion())
    maintain: ClassVar[tuple[Trigger, ...]] = ()
    budget: ClassVar[Budget] = Budget()
    batch: ClassVar[int] = 64

    def on_write(self, given: Given) -> Flow[Edits]:
        """Derive what `digest` does, with a pause after every turn, which takes some hundred microseconds.

        Where vectors of the right embedder are made here, they tell which sentences instruct that no rule decides.
        """
        readings = []
        for item in given.evidence:
            readings += _readings(item, given.user)
            yield from pause()
        meanings = yield from _meanings(readings, given.known)
        standing = _instructing(readings, meanings)
        written = _filed(readings, given.known, standing, meanings)
        if any(derivation.outdated_by is not None for derivation in written):
            history = yield from known(_HISTORY, _MOST_HISTORY)
            written = _filed(readings, (*given.known, *history), standing, meanings)
        return Edits(write=tuple(written))

    on_maintain = nothing


def digest(items: Sequence[Item], known: Sequence[Item], user: str) -> list[Derivation]:
    """Derive what is to be written for `items`, in the order of what they say, by rules and words alone.

    Args:
        items: Evidence not digested yet, oldest first; what is not a person's turn is passed over.
        known: The standing instructions and profile facts that the same memory holds; others are passed over. Of a
            slot with one value the newer by `said` stays, and the older becomes history; what is known already is not
            written again.
        user: Whose memory it is. Only this user, or who has the role of one, instructs; other names are partners in
            a conversation, whose facts are kept and whose orders are not ours.
    """
    readings = [reading for item in items for reading in _readings(item, user)]
    return _filed(readings, known, _worded(readings), {})


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a person's turn says, whatever is known.

    Attributes:
        instructs: The speaker's orders are meant for this user's agent.
        said: What rules decide, in the order in which it is numbered; what is `open` is numbered after it, and last
            what is `hinted`.
        hinted: Sentences that may take something back by their meaning, or by a cue alone.
    """

    item: Item
    subject: str
    instructs: bool
    said: tuple[Revocation | Instruction | Finding, ...]
    open: tuple[OpenSentence, ...]
    hinted: tuple[Revocation, ...]

    @property
    def told(self) -> Iterator[Instruction]:
        """What rules decide that instructs."""
        import_whole("mnemic.extract.instructions")
        from mnemic.extract.instructions import Instruction

        return (one for one in self.said if isinstance(one, Instruction))


def _readings(item: Item, user: str) -> list[_Reading]:
    """Read a turn, if it is a person's."""
    if not (subject := speaker(item, user)):
        return []
    import_whole("mnemic.extract.instructions", "mnemic.extract.revocations")
    import_whole("mnemic.extract.sentences", "mnemic.extract.slots")
    from mnemic.extract.instructions import told_and_open  # whose patterns only who reads something needs
    from mnemic.extract.revocations import hinted, revocations
    from mnemic.extract.sentences import sentences
    from mnemic.extract.slots import slots

    spoken = tuple(sentences(item.text))
    facts = slots(item.text, subject, micros(item.said), item.said_offset, spoken)
    told, left = told_and_open(item.text, spoken)
    said: tuple[Revocation | Instruction | Finding, ...] = (*revocations(item.text, spoken), *told, *facts)
    instructs = _instructs(item, subject, user)
    if not instructs:
        return [_Reading(item, subject, instructs, said, (), ())]
    hints = hinted(item.text, spoken) if len(item.text) <= _SHORT_TURN else []
    unruled = tuple(hint for hint in hints if not any(hint.start <= one.start < hint.end for one in told))
    return [_Reading(item, subject, instructs, said, tuple(left), unruled)]


def _worded(readings: Sequence[_Reading]) -> frozenset[str]:
    """Choose the open sentences that instruct by their words alone."""
    return frozenset(one.low for reading in readings for one in reading.open if one.worded)


def _meanings(readings: Sequence[_Reading], known: Sequence[Item]) -> Flow[_Meanings]:
    """Embed the sentences that rules leave open, and what may take something back with what stands; empty without.

    Most talk could take something back, so that a sentence is embedded for that only if something stands, and it has
    the form of a withdrawal or shares a word or an aspect with what stands. This is then embedded anew, the newest of
    it.
    """
    texts = [one.low for reading in readings for one in reading.open]
    hints = [(reading, one) for reading in readings for one in reading.hinted]
    if hints:
        held = [item for item in known if item.state is State.ACTIVE and item.slots.get("standing") is True]
        stood = [item.text for item in sorted(held, key=lambda item: item.said, reverse=True)][:_MOST_STANDING]
        stood += [one.text for reading in readings for one in reading.told]
        stood += [one.instruction.text for reading in readings for one in reading.open]
        named = set().union(*map(_subjects_of, stood))
        about = hints if stood else []
        asked = [one.text for reading, one in about if _has_form(reading, one) or _subjects_of(one.text) & named]
        texts += [*asked, *stood] if asked else []
    if not texts:
        return {}
    import_whole("mnemic.extract.instruction_meaning")
    from mnemic.extract.instruction_meaning import EMBEDDER

    once = tuple(dict.fromkeys(texts))
    try:
        made = yield from vectors(*once, embedder=EMBEDDER)
    except ModelError:
        made = ()
    return dict(zip(once, made, strict=True)) if made else {}


def _subjects_of(text: str) -> set[str]:
    """Name what a text is about: its telling words and aspects of an answer."""
    import_whole("mnemic.extract.revocations")
    from mnemic.extract.revocations import aspects_named, telling

    return telling(text) | aspects_named(text)


def _has_form(reading: _Reading, hint: Revocation) -> bool:
    """Whether a form of words makes a hinted sentence a withdrawal, of whatever."""
    import_whole("mnemic.extract.revocations")
    from mnemic.extract.revocations import Revocation

    return any(isinstance(one, Revocation) and one.start == hint.start for one in reading.said)


def _instructing(readings: Sequence[_Reading], meanings: _Meanings) -> frozenset[str]:
    """Choose the open sentences that instruct, by their vectors; by their words alone where there are none."""
    lows = list(dict.fromkeys(one.low for reading in readings for one in reading.open))
    if not lows or not meanings:
        return _worded(readings)
    import_whole("mnemic.extract.instruction_meaning")
    from mnemic.extract.instruction_meaning import meant_as_instructions

    meant = meant_as_instructions([meanings[low] for low in lows], lows)
    return frozenset(low for low, is_meant in zip(lows, meant, strict=True) if is_meant)


def _filed(
    readings: Sequence[_Reading], known: Sequence[Item], standing: Collection[str], meanings: _Meanings
) -> list[Derivation]:
    """Derive what is to be written for what was read, given what is known and which open sentences instruct."""
    book = _Book(known)
    for reading in readings:
        _file_reading(reading, book, standing, meanings)
    return book.written


def speaker(item: Item, user: str) -> str | None:
    """Name the person whose own words a turn holds, "user" if they have no name; None if nobody's can be told.

    Where a role is given it must be a person's, and a name no model's or tool's. A file that gives no role only claims
    who speaks: its lines say something about others, but nothing in the name of `user`.
    """
    if item.kind is not Kind.TURN or item.channel not in _PEOPLE or item.slots.get("tool_call_id"):
        return None
    role, name = item.slots.get("role"), _written(item.slots.get("speaker"))
    if (role and not _is_persons(role)) or is_machine(name):
        return None
    subject = name or "user"
    claimed = item.channel is Channel.IMPORT and not role
    return None if claimed and _is_user(subject, user) else subject


def _is_persons(role: Slot) -> bool:
    """Whether a role is one of people, letter by letter: a program that writes it otherwise means something else."""
    return isinstance(role, str) and role.isascii() and role.lower() in _USERS


def _written(slot: Slot) -> str:
    """The words of a name; what is no text is no person's."""
    return "" if slot is None else str(slot).strip()


def _is_user(subject: str, user: str) -> bool:
    return subject.casefold() in (user.casefold(), *_MYSELF)


def _instructs(item: Item, subject: str, user: str) -> bool:
    """Whether a speaker's orders are meant for this user's agent."""
    return bool(item.slots.get("role")) or subject.casefold() in ("user", user.casefold())


def withheld_instructions(item: Item, user: str) -> tuple[str, ...]:
    """Find what a person's turn instructs, as far as words tell, and stands for nobody: its speaker need not be `user`.

    It would stand with the role of a user, or under the user's own name.
    """
    subject = speaker(item, user)
    if subject is None or _instructs(item, subject, user):
        return ()
    as_own = replace(item, slots={**item.slots, "role": "user"})
    return tuple(
        told.text
        for reading in _readings(as_own, user)
        for told in (*reading.told, *(one.instruction for one in reading.open if one.worded))
    )


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement that holds: where it is, and what it says."""

    at: ItemId | int
    text: str
    slots: Mapping[str, Slot]
    said: datetime
    valid_from: datetime | None = None

    @property
    def began(self) -> datetime:
        """Since when it is so, as far as we know."""
        return self.valid_from or self.said


class _Book:
    """Files the statements that hold so far, known or newly derived, by what rules ask of them.

    A fact is filed by its subject and slot, and by its value; an instruction by its subject, its words as they are
    compared, and each word that says what it is about. So what a turn costs does not grow with what is known.

    Attributes:
        written: What is to be written.
    """

    def __init__(self, known: Sequence[Item]) -> None:
        self.written: list[Derivation] = []
        self._known = known
        self._filed: dict[_Place, dict[ItemId | int, _Statement]] | None = None
        self._places: dict[ItemId | int, list[_Place]] = {}
        self._history: set[_Place] = set()

    def write_history(self, derivation: Derivation, *place: str) -> None:
        """Write a statement that something newer has taken the place of already, unless it is known as history."""
        if place not in self._history:
            self._history.add(place)
            self.written.append(derivation)

    def write(self, derivation: Derivation) -> None:
        """Write a statement, which holds from here on; what it supersedes or revokes does so no longer."""
        for gone in (derivation.supersedes, *derivation.revokes):
            if gone is not None:
                for place in self._places.pop(gone, ()):
                    self._files[place].pop(gone, None)
        self._file(
            _Statement(len(self.written), derivation.text, derivation.slots, derivation.said, derivation.valid_from)
        )
        self.written.append(derivation)

    def filed(self, *place: str) -> Sequence[_Statement]:
        """Return the statements that hold and are filed at a place, the oldest first."""
        return list(self._files.get(place, {}).values())

    def alone(self, *place: str) -> Sequence[_Statement] | None:
        """Return the one statement that is filed at a place, or none; None if there are more."""
        return self.filed(*place) if len(self._files.get(place, {})) <= 1 else None

    def origin(self, statement: _Statement) -> tuple[ItemId, ...]:
        """The items that a statement has its words from: itself, or if it is of this run what it was derived from."""
        if not isinstance(statement.at, int):
            return (statement.at,)
        derivation = self.written[statement.at]
        return (*derivation.source, *derivation.context)

    @property
    def _files(self) -> dict[_Place, dict[ItemId | int, _Statement]]:
        """What is filed; what is known is filed when a turn first asks, for most say nothing that rules look up."""
        if self._filed is None:
            self._filed = {}
            for item in self._known:
                if item.kind not in (Kind.PROCEDURE, Kind.PROFILE):
                    continue
                statement = _Statement(item.id, item.text, item.slots, item.said, item.valid_from)
                if item.state is State.ACTIVE:
                    self._file(statement)
                elif item.state is State.SUPERSEDED:
                    self._history.update(place for place in _places(statement) if place[0] == "value")
        return self._filed

    def _file(self, statement: _Statement) -> None:
        places = self._places[statement.at] = list(_places(statement))
        for place in places:
            self._files.setdefault(place, {})[statement.at] = statement


def _places(statement: _Statement) -> Iterator[_Place]:
    """Name the places at which a statement is filed."""
    import_whole("mnemic.extract.entities", "mnemic.extract.revocations", "mnemic.extract.slots")
    from mnemic.extract.entities import canonical
    from mnemic.extract.revocations import aspects_named, telling
    from mnemic.extract.slots import is_single

    slots = statement.slots
    subject, slot = slots.get("subject"), slots.get("slot")
    if not isinstance(subject, str):
        return
    if slots.get("standing") is True:
        yield "stands", subject
        yield "said", subject, canonical(statement.text)
        yield from (("about", subject, word) for word in telling(statement.text))
        yield from (("aspect", subject, aspect) for aspect in aspects_named(statement.text))
        if slots.get("rule") in _NAMING:
            yield "naming", subject
    if isinstance(doubted := slots.get(DOUBTS), str):
        yield "doubted", subject, canonical(doubted)
    if not isinstance(slot, str):
        return
    value = _same(slots.get("value"))
    if slots.get(ENDED) is True:
        yield "ended", subject, slot, value
    else:
        yield "value", subject, slot, value
        yield "holds", subject, value
    if slots.get(ENDED) is not True or is_single(slot):
        yield "slot", subject, slot
    if (wrong := slots.get(WRONG)) is not None:
        yield "ended", subject, slot, _same(wrong)


def _file_reading(reading: _Reading, book: _Book, standing: Collection[str], meanings: _Meanings) -> None:
    """Write what a turn says, numbered whatever is known and stands, so that a saying has the same key ever after."""
    import_whole("mnemic.extract.instructions", "mnemic.extract.revocations", "mnemic.extract.slots")
    from mnemic.extract.instructions import OpenSentence
    from mnemic.extract.revocations import Revocation
    from mnemic.extract.slots import Finding

    item, subject = reading.item, reading.subject
    undone: list[str] = []
    numbered = list(enumerate((*reading.said, *reading.open, *reading.hinted)))
    hints = len(reading.said) + len(reading.open)
    for n, saying in (*numbered[hints:], *numbered[:hints]):  # what takes something back is no instruction beside it
        key = f"house:{item.id}:{n}"
        if isinstance(saying, Finding):
            _take_down(item, key, saying, book)
            continue
        if not reading.instructs or (isinstance(saying, OpenSentence) and saying.low not in standing):
            continue
        if isinstance(saying, Revocation):
            if not any(saying.text in text for text in undone):
                undone += _take_back(item, subject, key, saying, book, meanings)
            continue
        told = saying.instruction if isinstance(saying, OpenSentence) else saying
        if not any(told.text in text for text in undone):
            _stand(item, subject, key, told, book)


def _take_back(
    item: Item, subject: str, key: str, revocation: Revocation, book: _Book, meanings: _Meanings
) -> list[str]:
    """Write the revocation, if it is clear what it is about; its words are no instruction beside it."""
    import_whole("mnemic.extract.revocations")
    from mnemic.extract.revocations import Withdrawal

    if revocation.way is Withdrawal.HINTS:
        meant, sure = _hinted_at(book, subject, revocation.text, item.said, meanings)
    else:
        meant, sure = _meant(book, subject, revocation.topic, item.said, revocation.way), True
    if meant is None:
        return []
    if not sure:
        slots = {**_instruction_slots(subject, "in doubt", standing=False), DOUBTS: meant.text}
        book.write(_derived(item, key, Kind.PROCEDURE, revocation.text, slots))
        return []
    slots = _instruction_slots(subject, "taken back", standing=False)
    book.write(_derived(item, key, Kind.PROCEDURE, revocation.text, slots, revokes=(meant.at,)))
    return [revocation.text]


def _hinted_at(
    book: _Book, subject: str, text: str, said: datetime, meanings: _Meanings
) -> tuple[_Statement | None, bool]:
    """Find the one standing instruction, said before, that a sentence may take back, and whether it surely does.

    Without vectors only a cue tells, and words in common with one instruction alone.
    """
    import_whole("mnemic.extract.chinese", "mnemic.extract.revocations", "mnemic.extract.withdrawal_meaning")
    from mnemic.extract.chinese import simple
    from mnemic.extract.revocations import aspects_named, telling
    from mnemic.extract.withdrawal_meaning import ABOUT, MAY_TAKE_BACK, OF_CUE, TAKES_BACK, has_cue, nearest, withdraws

    low = simple(text).lower()
    places = [*(("about", word) for word in telling(text)), *(("aspect", aspect) for aspect in aspects_named(text))]
    sharing = {one.at: one for place, word in places for one in book.filed(place, subject, word) if one.said <= said}
    if text not in meanings:
        return (next(iter(sharing.values())) if len(sharing) == 1 and has_cue(low) else None), True
    likely = withdraws(meanings[text], low) + (OF_CUE if has_cue(low) else 0.0)
    if likely <= MAY_TAKE_BACK:
        return None, False
    near = [one for one in book.filed("stands", subject) if one.said <= said and one.text in meanings]
    vectors, shares = [meanings[one.text] for one in near], [one.at in sharing for one in near]
    if likely > TAKES_BACK and (place := nearest(meanings[text], vectors, shares)) is not None:
        return near[place], True
    place = nearest(meanings[text], vectors, shares, near=ABOUT, ahead=0.0)
    return (None if place is None else near[place]), False


def _meant(book: _Book, subject: str, topic: str, said: datetime, way: Withdrawal | None = None) -> _Statement | None:
    """Find the one standing instruction, said by then, that a topic is about: by its words, or else by its aspects.

    Args:
        way: How it is withdrawn; None if it is told to stop, so that only words tell.
    """
    import_whole("mnemic.extract.revocations")
    from mnemic.extract.revocations import aspects_named, revoked, telling, withdrawable

    for place, asked in (("about", telling(topic)), ("aspect", aspects_named(topic) if way else set())):
        shared: dict[ItemId | int, int] = {}
        about: dict[ItemId | int, _Statement] = {}
        for word in asked:
            for statement in book.filed(place, subject, word):
                if statement.said <= said and (way is None or withdrawable(topic, way, statement.text)):
                    about[statement.at] = statement
                    shared[statement.at] = shared.get(statement.at, 0) + 1
        which = revoked(len(asked), shared)
        if which is not None:
            return about[which]
    return None


def _stand(item: Item, subject: str, key: str, instruction: Instruction, book: _Book) -> None:
    import_whole("mnemic.extract.entities")
    from mnemic.extract.entities import canonical

    same = book.filed("said", subject, canonical(instruction.text))
    if same and not book.filed("doubted", subject, canonical(instruction.text)):
        return
    named = book.filed("naming", subject) if instruction.rule in _NAMING else ()
    if any(statement.said > item.said for statement in named):
        return
    stopped = _meant(book, subject, instruction.text, item.said) if instruction.rule in _STOPPING else None
    ended = [] if stopped is None else [stopped.at]
    ended += _contradicted(book, subject, instruction.text, item.said)
    derivation = _derived(
        item,
        key,
        Kind.PROCEDURE,
        instruction.text,
        _instruction_slots(subject, instruction.rule, standing=True),
        supersedes=next((one.at for one in (*same, *named)), None),
        revokes=tuple(dict.fromkeys(ended)),
    )
    book.write(derivation)


def _contradicted(book: _Book, subject: str, text: str, said: datetime) -> Iterator[ItemId | int]:
    """Yield what stands and was said before, and that a new instruction asks the contrary of."""
    import_whole("mnemic.extract.revocations")
    from mnemic.extract.revocations import aspects_named, contradicts

    for aspect in aspects_named(text):
        for one in book.filed("aspect", subject, aspect):
            if one.said <= said and contradicts(text, one.text):
                yield one.at


def _take_down(item: Item, key: str, finding: Finding, book: _Book) -> None:
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


def _state(item: Item, key: str, finding: Finding, book: _Book) -> None:
    """Write that something is so, unless that is known: as history where something newer says otherwise.

    An end, or a correction, that was said later stays: old evidence does not bring back what it took away. What was
    put right was never so, and is no history.
    """
    value = _same(finding.value)
    if book.filed("value", finding.subject, finding.slot, value):
        return
    if finding.single:
        facts = book.filed("slot", finding.subject, finding.slot)
    else:
        facts = book.filed("value", finding.subject, _OPPOSITE.get(finding.slot, ""), value)
    ended = book.filed("ended", finding.subject, finding.slot, value)
    slots = {"slot": finding.slot, "value": finding.value, **_of_rules(finding.subject)}
    since = moment(finding.since.start) if finding.since else None
    newer = [one for one in (*facts, *ended) if one.said > item.said or _is_history(finding, one)]
    if any(one in ended and one.slots.get(ENDED) is not True for one in newer):
        return
    if newer:
        first = min(newer, key=lambda one: one.began)
        late = replace(_profiled(item, key, finding, slots, since, gone=()), outdated_by=first.at)
        book.write_history(late, "value", finding.subject, finding.slot, value)
        return
    over = (statement.at for statement in (*facts, *ended) if statement in facts or statement.slots.get(ENDED) is True)
    book.write(_profiled(item, key, finding, slots, since, gone=tuple(dict.fromkeys(over))))


def _is_history(finding: Finding, fact: _Statement) -> bool:
    """Whether what a finding dates was over before a fact, which names its own beginning, began."""
    return finding.since is not None and fact.valid_from is not None and moment(finding.since.end) <= fact.valid_from


def _end(item: Item, key: str, finding: Finding, book: _Book) -> None:
    """Write that something is so no longer: it closes the fact, and keeps older words from saying it again.

    An end that names no value closes what is known to fill the slot, if that is clear; where nothing does, it says
    nothing. Neither does one of which only what is known could tell the slot.
    """
    facts = _filling(finding, book)
    if facts is None or any(fact.said > item.said or _is_history(finding, fact) for fact in facts):
        return
    own: Mapping[str, Slot] = {"slot": finding.slot, "value": finding.value}
    borrows = bool(facts) and not (finding.slot and finding.value and WRONG not in facts[0].slots)
    told = facts[0].slots if borrows else own
    if not facts and (not finding.slot or not finding.value or _is_taken(finding, book)):
        return
    marks = {ENDED: True, **({WRONG: told[WRONG]} if WRONG in told else {})}
    slots = {"slot": told["slot"], "value": told["value"], **marks, **_of_rules(finding.subject)}
    since = moment(finding.since.start) if finding.since else None
    began = max(since, facts[0].said) if since and facts else since  # it was so when it was last said
    end = _profiled(item, key, finding, slots, began, gone=tuple(fact.at for fact in facts))
    book.write(replace(end, context=book.origin(facts[0])) if borrows else end)


def _filling(finding: Finding, book: _Book) -> Sequence[_Statement] | None:
    """Find the fact that a finding ends; none if none is known, None if it cannot be told which."""
    if not finding.slot:
        return book.alone("holds", finding.subject, _same(finding.value))
    if finding.value:
        return book.filed("value", finding.subject, finding.slot, _same(finding.value))
    facts = book.alone("slot", finding.subject, finding.slot)
    return None if facts is None else [fact for fact in facts if fact.slots.get(ENDED) is not True]


def _is_taken(finding: Finding, book: _Book) -> bool:
    """Whether the end of a value is known, or something else fills the slot."""
    ended = book.filed("ended", finding.subject, finding.slot, _same(finding.value))
    return bool(ended or (finding.single and book.filed("slot", finding.subject, finding.slot)))


def _put_right(item: Item, key: str, finding: Finding, book: _Book) -> None:
    """Write what is right in place of the one fact that says what was wrong, as if it had been said then."""
    import_whole("mnemic.extract.slots")
    from mnemic.extract.slots import typed

    wrong = book.alone("holds", finding.subject, _same(finding.wrong))
    if not wrong or wrong[0].said > item.said:
        return
    fact = wrong[0]
    slot = str(fact.slots["slot"])
    value = typed(slot, str(finding.value))
    if value is None or book.filed("value", finding.subject, slot, _same(value)):
        return
    slots = {"slot": slot, "value": value, WRONG: fact.slots["value"], **_of_rules(finding.subject)}
    book.write(_profiled(item, key, finding, slots, fact.began, gone=(fact.at,)))


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
    return _derived(
        item,
        key,
        Kind.PROFILE,
        text,
        slots,
        valid_from=valid_from,
        supersedes=gone[0] if gone else None,
        revokes=gone[1:],
    )


def _of_rules(subject: str) -> dict[str, Slot]:
    return {"subject": subject, "by": "rules"}


def _same(value: Slot) -> str:
    import_whole("mnemic.extract.entities")
    from mnemic.extract.entities import canonical

    return canonical(value) if isinstance(value, str) else str(value)


def _instruction_slots(subject: str, rule: str, *, standing: bool) -> dict[str, Slot]:
    return {"standing": standing, "rule": rule, **_of_rules(subject)}


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
        sight=Sight.ALL,  # in the always-on part of a context: what rules derive has no words to be searched by
        supersedes=supersedes,
        revokes=revokes,
    )
