"""The strategy `house` derives without a language model: standing instructions and facts about the speaker, by rule.

Only people's turns are read, and of them only their own words. What a document, a tool, an assistant or a quotation
says is never an instruction, whatever it says. Where no rule decides whether a sentence instructs, its words do, or its
vector, where the embedder serves whose vectors that was learned from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from mnemic.core.clock import micros
from mnemic.core.items import Channel, Item, Kind, State
from mnemic.core.queries import Filter
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import ModelError
from mnemic.extract.speakers import is_machine, is_users_role, names_user
from mnemic.models.base import PassageReading
from mnemic.strategies.base import Budget, Derivation, Edits, Given, known, nothing, pause
from mnemic.strategies.house_book import HouseBook
from mnemic.strategies.house_profile import write_finding
from mnemic.strategies.house_standing import Meanings, TakenBack, asked_instead, write_instruction, write_revocation
from mnemic.strategies.strategy_requests import vectors
from mnemic.strategies.triggers import EachEvent, OnQuestion, Trigger

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mnemic.core.items import Slot
    from mnemic.extract.instructions import Instruction, OpenSentence
    from mnemic.extract.revocations import Revocation
    from mnemic.extract.slots import Finding
    from mnemic.flow import Flow

_PEOPLE: Final = (Channel.USER, Channel.IMPORT)
_HISTORY: Final = Filter(kinds=(Kind.PROFILE,), states=(State.SUPERSEDED,))
_MOST_HISTORY: Final = 1_000
"""Facts that hold no longer of which it is known that they once did, for what comes late."""
_SHORT_TURN: Final = 400
"""Most characters in a turn of which a cue may take something back: longer ones are written, or pasted."""
_MOST_STANDING: Final = 32
"""Standing instructions that what may take one back is compared with by meaning, the newest."""


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
        """Derive what `digest` does of turns as they were written, so that no cut into runs decides what comes of them.

        It pauses after every turn, which takes some hundred microseconds. Where vectors of the right embedder are made
        here, they tell which sentences instruct that no rule decides: one after an earlier layer and one by layers that
        learned it; where either is missing, words tell.
        """
        readings = []
        for item in given.as_written:
            readings += _readings(item, given.user)
            yield from pause()
        meanings = yield from _meanings(readings, given.known)
        standing = yield from _instructing(readings, meanings)
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
    def instructions(self) -> Iterator[Instruction]:
        """What rules decide that instructs."""
        import_whole("mnemic.extract.instructions")
        from mnemic.extract.instructions import Instruction

        return (saying for saying in self.said if isinstance(saying, Instruction))

    @property
    def facts(self) -> Iterator[Finding]:
        """What it says of its speaker."""
        import_whole("mnemic.extract.slots")
        from mnemic.extract.slots import Finding

        return (saying for saying in self.said if isinstance(saying, Finding))


def _readings(item: Item, user: str) -> list[_Reading]:
    """Read a turn, if it is a person's."""
    if not (subject := speaker(item, user)):
        return []
    import_whole("mnemic.extract.instructions", "mnemic.extract.revocations")
    import_whole("mnemic.extract.sentences", "mnemic.extract.slots")
    from mnemic.extract.instructions import read_by_rules  # whose patterns only who reads something needs
    from mnemic.extract.revocations import DECIDED, hinted, revocations
    from mnemic.extract.sentences import sentences
    from mnemic.extract.slots import slots

    spoken = tuple(sentences(item.text))
    facts = slots(item.text, subject, micros(item.said), item.said_offset, spoken)
    instructions, left = read_by_rules(item.text, spoken)
    withdrawn = revocations(item.text, spoken)
    said: tuple[Revocation | Instruction | Finding, ...] = (*withdrawn, *instructions, *facts)
    instructs = _instructs(item, subject, user)
    if not instructs:
        return [_Reading(item, subject, instructs, said, (), ())]
    hints = hinted(item.text, spoken) if len(item.text) <= _SHORT_TURN else []
    decided = {revocation.start for revocation in withdrawn if revocation.way in DECIDED}
    hints = [hint for hint in hints if hint.start not in decided]
    return [_Reading(item, subject, instructs, said, tuple(left), tuple(hints))]


def _worded(readings: Sequence[_Reading]) -> frozenset[str]:
    """Choose the sentences that instruct by rules, and open ones that do by their words alone."""
    worded = frozenset(wish.low for reading in readings for wish in reading.open if wish.worded)
    return worded | set(_ruled(readings))


def _ruled(readings: Sequence[_Reading]) -> list[str]:
    """Choose the sentences in which rules find an instruction, and meaning may find none."""
    return [by_rule.low for reading in readings for by_rule in reading.instructions if by_rule.low]


def _meanings(readings: Sequence[_Reading], known: Sequence[Item]) -> Flow[Meanings]:
    """Embed the sentences that rules leave open or may err about, and what may take something back with what stands.

    There are none without an embedder.

    Most talk could take something back, so that a sentence is asked about that only if something stands, and it is open
    and so embedded anyway, or may bear on what stands. This is then embedded anew, the newest of it.
    """
    texts = [wish.low for reading in readings for wish in reading.open]
    texts += _ruled(readings)
    left_open = frozenset(texts)
    hints = [(reading, wish) for reading in readings for wish in reading.hinted]
    if hints:
        held = [item for item in known if item.state is State.ACTIVE and item.slots.get("standing") is True]
        stood = [item.text.lower() for item in sorted(held, key=lambda item: item.said, reverse=True)][:_MOST_STANDING]
        stood += [wish.text.lower() for reading in readings for wish in reading.instructions]
        stood += [wish.low for reading in readings for wish in reading.open]
        named = set().union(*map(_subjects_of, stood))
        about = hints if stood else []
        asked = [
            low
            for reading, wish in about
            if (low := wish.text.lower()) in left_open or _may_bear_on(reading, wish, named)
        ]
        texts += [*asked, *stood] if asked else []
    if not texts:
        return {}
    import_whole("mnemic.extract.instruction_meaning")
    from mnemic.extract.instruction_meaning import EMBEDDER

    once = tuple(dict.fromkeys(texts))
    try:
        made = yield from vectors(*once, embedder=EMBEDDER, reading=PassageReading.INTERMEDIATE)
    except ModelError:
        made = ()
    return dict(zip(once, made, strict=True)) if made else {}


def _subjects_of(text: str) -> set[str]:
    """Name what a text is about: its telling words and aspects of an answer."""
    import_whole("mnemic.extract.revocations")
    from mnemic.extract.revocations import aspects_named, telling

    return telling(text) | aspects_named(text)


def _may_bear_on(reading: _Reading, hint: Revocation, named: Collection[str]) -> bool:
    """Whether a hinted sentence has a cue or the form of a withdrawal, speaks to the assistant, or of what is named."""
    import_whole("mnemic.extract.chinese", "mnemic.extract.revocations", "mnemic.extract.withdrawal_meaning")
    from mnemic.extract.chinese import simple
    from mnemic.extract.revocations import Revocation
    from mnemic.extract.withdrawal_meaning import has_cue, speaks_to_assistant

    low = simple(hint.text.lower())
    if has_cue(low) or speaks_to_assistant(low):
        return True
    formed = any(isinstance(saying, Revocation) and saying.start == hint.start for saying in reading.said)
    return formed or any(name in named for name in _subjects_of(hint.text))


def _instructing(readings: Sequence[_Reading], meanings: Meanings) -> Flow[frozenset[str]]:
    """Choose the sentences that instruct, by their vectors; by rules and words alone where there are none.

    Of what the form all but decides, which is most of other talk, no second vector is asked for.
    """
    ruled = _ruled(readings)
    lows = list(dict.fromkeys((*ruled, *(wish.low for reading in readings for wish in reading.open))))
    if not lows or not meanings:
        return _worded(readings)
    import_whole("mnemic.extract.instruction_meaning")
    from mnemic.extract.instruction_meaning import EMBEDDER, MOST_READ, formed, linear_layer

    passed = dict(zip(lows, formed([meanings[low] for low in lows], lows, ruled).tolist(), strict=True))
    undecided = [low for low, by in passed.items() if abs(by) < MOST_READ]
    if undecided:
        try:
            adapted = yield from vectors(*undecided, embedder=EMBEDDER, reading=PassageReading.INSTRUCTION)
        except ModelError:
            adapted = ()
        if not adapted:
            return _worded(readings)
        for low, read in zip(undecided, linear_layer().values(adapted).tolist(), strict=True):
            passed[low] += read
    return frozenset(low for low, by in passed.items() if by > 0)


def _filed(
    readings: Sequence[_Reading], known: Sequence[Item], standing: Collection[str], meanings: Meanings
) -> list[Derivation]:
    """Derive what is to be written for what was read, given what is known and which sentences instruct."""
    book = HouseBook(known)
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
    if (role and not is_users_role(role)) or is_machine(name):
        return None
    subject = name or "user"
    claimed = item.channel is Channel.IMPORT and not role
    return None if claimed and names_user(subject, user) else subject


def _written(slot: Slot) -> str:
    """The words of a name; what is no text is no person's."""
    return "" if slot is None else str(slot).strip()


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
    import_whole("mnemic.extract.instruction_facts")
    from mnemic.extract.instruction_facts import without_fact

    orders = (
        without_fact(instruction, reading.facts)
        for reading in _readings(as_own, user)
        for instruction in (*reading.instructions, *(wish.instruction for wish in reading.open if wish.worded))
    )
    return tuple(order.text for order in orders if order is not None)


def _file_reading(reading: _Reading, book: HouseBook, standing: Collection[str], meanings: Meanings) -> None:
    """Write what a turn says, numbered whatever is known and stands, so that a saying has the same key ever after."""
    import_whole("mnemic.extract.instruction_facts", "mnemic.extract.instructions", "mnemic.extract.revocations")
    import_whole("mnemic.extract.slots")
    from mnemic.extract.instruction_facts import without_fact
    from mnemic.extract.instructions import OpenSentence
    from mnemic.extract.revocations import Revocation
    from mnemic.extract.slots import Finding

    item, subject = reading.item, reading.subject
    undone: list[TakenBack] = []
    numbered = list(enumerate((*reading.said, *reading.open, *reading.hinted)))
    hints = len(reading.said) + len(reading.open)
    for n, saying in (*numbered[hints:], *numbered[:hints]):  # what takes something back is no instruction beside it
        key = f"house:{item.id}:{n}"
        if isinstance(saying, Finding):
            write_finding(item, key, saying, book)
            continue
        if not reading.instructs:
            continue
        if not isinstance(saying, Revocation) and saying.low and saying.low not in standing:
            continue
        if isinstance(saying, Revocation):
            if not any(saying.text in taken.revocation.text for taken in undone):
                instructs = any(
                    saying.start <= read_instruction.start < saying.end
                    and (not read_instruction.low or read_instruction.low in standing)
                    for read_instruction in reading.instructions
                )
                undone += write_revocation(item, subject, key, saying, book, meanings, instructs=instructs)
            continue
        instruction = saying.instruction if isinstance(saying, OpenSentence) else saying
        taken = next((taken for taken in undone if instruction.text in taken.revocation.text), None)
        asked = asked_instead(instruction, taken) if taken else instruction
        order = without_fact(asked, reading.facts) if asked else None
        if order is not None:
            write_instruction(item, subject, key, order, book)
