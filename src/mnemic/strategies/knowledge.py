"""What tasks are given and what they find, as plain values: passages, facts, triples, decisions, insights, notes.

A passage goes by its place among those given, from 0 on: what is found cites those places, never an id. None of these
values has a field for scope, trust, standing or erasure: whatever a model says, it cannot say that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeAlias

from mnemic.core.items import Item, Kind


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to be judged.

    Attributes:
        speaker: Who says it; "" where nobody is named.
        said: When; None where that does not matter.
        said_offset: Minutes east of UTC on the speaker's clock.
    """

    text: str
    speaker: str = ""
    said: datetime | None = None
    said_offset: int = 0


Passages: TypeAlias = tuple[Passage, ...]


def passage_of(item: Item) -> Passage:
    """Make the passage that an item is: of a turn, with the name or else the role of whoever says it."""
    named = (item.slots.get("speaker") or item.slots.get("role")) if item.kind is Kind.TURN else None
    return Passage(item.text, "" if named is None else str(named).strip(), item.said, item.said_offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedFact:
    """A statement that stands for itself.

    Attributes:
        source: The passages that say so.
        subject, slot, value: What it fills, where that is known: "Ada", "city", "Porto".
        since, until: When it began and ceased to be so, where the passages tell.
        ended: It is so no longer.
    """

    text: str
    source: tuple[int, ...] = ()
    subject: str = ""
    slot: str = ""
    value: str = ""
    since: datetime | None = None
    until: datetime | None = None
    ended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Triple:
    """A relation between two things that are named, and the sentence that states it.

    Attributes:
        source: The passage that says so.
    """

    subject: str
    predicate: str
    object: str
    fact: str
    source: int
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Episode:
    """Passages to be judged, and those before them, by which "it" and "there" are understood."""

    before: Passages
    passages: Passages


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTopic:
    """What an exchange is about, told by the words of a judge, and what it goes on with.

    Attributes:
        continues: The place of the earlier passage that it takes up; None where it begins something of its own.
    """

    text: str
    keywords: tuple[str, ...] = ()
    continues: int | None = None


@dataclass(frozen=True, slots=True)
class EntityMatching:
    """Names, each with a fact that it was found in, and the names of known things, one of which it may mean."""

    names: tuple[tuple[str, str], ...]
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FactMatching:
    """New facts, and known ones that they may repeat or contradict; places go on from these."""

    new: tuple[Triple, ...]
    old: tuple[Triple, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactMatch:
    """How a new fact stands to those before it, by their places among the known ones and then the new ones.

    Attributes:
        same: They say the same.
        over: They cannot be true at the same time.
    """

    same: tuple[int, ...] = ()
    over: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Merging:
    """New facts, and the old ones that they may say again, add to or contradict."""

    new: tuple[StatedFact, ...]
    old: tuple[StatedFact, ...]


class MergeOp(StrEnum):
    """What becomes of a new fact beside the old ones: the operations of Mem0 (arXiv:2504.19413, section 2.1)."""

    ADD = "add"
    """It is kept beside them."""
    UPDATE = "update"
    """It says more about the same than an old one, in whose place it goes, in the words of the decision."""
    DELETE = "delete"
    """An old one holds no longer because of it; it is kept."""
    NOOP = "noop"
    """An old one says as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeDecision:
    """What becomes of one new fact.

    Attributes:
        new, old: The places of the facts; `old` is None to add.
        text: The words in which the new fact is kept.
    """

    new: int
    op: MergeOp
    old: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Condensing:
    """Passages to be summed up, in at most so many tokens."""

    passages: Passages
    budget: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageSummary:
    """A summary, and the passages that it is made of."""

    text: str
    source: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question, and passages that may bear on it; at most so many results are wanted."""

    question: str
    passages: Passages
    most: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedInsight:
    """What follows from several passages, which it cites."""

    text: str
    source: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingNote:
    """A note taken while reading: its words, and the numbers of the pieces that say so."""

    text: str
    source: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WordCounts:
    """How many of the sentences that were read hold a word: by that rules tell words that say much from others.

    Attributes:
        sentences: How many were read in all.
        holding: By word, how many of them hold it; of the words that matter to the question.
    """

    sentences: int = 0
    holding: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwriting:
    """A step of reading: the notes so far, and the next segment, for a question that is known beforehand.

    Attributes:
        first: The number of the segment's first piece: pieces are numbered through the whole reading.
        budget: Most tokens of the new notes, one a line.
        counts: Of all that was read, this segment included; None where nobody counts: then rules count the segment.
    """

    question: str
    notes: tuple[ReadingNote, ...]
    segment: Sequence[str]
    first: int = 0
    budget: int = 1024
    counts: WordCounts | None = None


@dataclass(frozen=True, slots=True)
class SentenceCard:
    """A sentence as a policy sees it that keeps notes.

    Attributes:
        features: What speaks for it, each between 0 and 1: share of the question's words and names that it holds,
            weighed by how rare they are; whether it begins with one of them.
        names: Hashes of the names that it tells and the question does not.
    """

    features: tuple[float, float]
    names: tuple[int, ...]


class NotesPolicy(Protocol):
    """Chooses what the notes of a reader hold once a segment was read, in place of a model or rules."""

    @property
    def name(self) -> str:
        """Which: another policy, or one that has learnt since, reads the same text anew."""
        ...

    def chosen(self, held: Sequence[SentenceCard], read: Sequence[SentenceCard]) -> Sequence[int]:
        """Places in `held` and then `read` of what is to be kept, the most wanted first; what fits the notes is kept.

        The same cards give the same places: a reading that was cut short goes on as if it had not been.
        """
        ...


def notes_text(notes: Sequence[ReadingNote]) -> str:
    """Lay out notes, one a line: what they cost is what this text costs."""
    return "\n".join(note.text for note in notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesRead:
    """A question, and the notes from which alone it is to be answered."""

    question: str
    notes: tuple[ReadingNote, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesAnswer:
    """An answer out of notes.

    Attributes:
        text: "" where the notes do not hold it.
        source: The pieces that say so.
    """

    text: str = ""
    source: tuple[int, ...] = ()
