"""Items, their versions and states, links between them, and their strength."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Final, NamedTuple

from mnemic.core.ids import ItemId

Slot = str | int | float | bool | None | list["Slot"] | dict[str, "Slot"]
"""What an item's slots may hold: JSON."""


ENDED: Final = "ended"
"""The slot that is true of a statement of the profile which says what is so no longer: no part of who somebody is."""

WRONG: Final = "wrong"
"""The slot of a statement of the profile that holds what was said by mistake, or was rejected, in its place."""

DOUBTS: Final = "doubts"
"""The slot of something said that may take a standing instruction back: that instruction, in its words."""

UPKEEP: Final = "upkeep"
"""The slot of what a strategy's upkeep wrote: that it cites evidence does not say that `on_write` was given that."""

RERUN: Final = "rerun"
"""The slot of what was retired for its evidence to be digested again."""

HIDDEN_WHOLE: Final = "hidden_whole"
"""The slot of what its owner hid with all that its strategy had derived: they rejected the strategy's run and none of
its items, so a rerun, which is the later wish, derives them anew."""


class Kind(StrEnum):
    """The kinds of item. The first three are evidence: cited by id, never revised."""

    TURN = "turn"
    DOCUMENT = "document"
    CHUNK = "chunk"
    ENTITY = "entity"
    FACT = "fact"
    EPISODE = "episode"
    PROFILE = "profile"
    PROCEDURE = "procedure"
    INSIGHT = "insight"
    SUMMARY = "summary"
    RESOURCE = "resource"
    PLAN = "plan"


EVIDENCE: Final = frozenset({Kind.TURN, Kind.DOCUMENT, Kind.CHUNK})


class State(IntEnum):
    """The states of an item. Strength never changes one; only a commit does. The numbers are part of the format."""

    ACTIVE = 1
    SUPERSEDED = 2
    RETIRED = 3


class Channel(StrEnum):
    """The channel by which an item came in. Set by us, never by the text."""

    USER = "user"
    TOOL = "tool"
    IMPORT = "import"
    MODEL = "model"


class Sight(StrEnum):
    """Who sees in recall what a strategy derived; listings, histories and audits show it to everybody."""

    ALL = "all"
    """Every recall, beside the evidence."""
    OWN = "own"
    """Recall by its strategy, and that strategy's own searches; its profile and rules are in nobody's context."""
    NONE = "none"
    """Nobody's recall, and it has no vector: it is reached by key, by link and by listing."""


def author_of(slots: Mapping[str, Slot], derived: bool) -> str | None:
    """Name the strategy that derived an item; the slot alone does not say so, for anybody may give theirs one."""
    by = slots.get("by")
    return by if derived and isinstance(by, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A remembered unit, exactly as it was given; a change is a new version, never an edit.

    Attributes:
        id: Assigned by the kernel before the commit; order is the journal's seq, never the id.
        text: What is remembered, in the words it was given.
        key: What is indexed in place of `text`, if not the text itself.
        slots: What is special to one mechanism (`speaker`, `role`, `caption`, `title` ...); JSON.
        source: The evidence it was derived from; empty for what was observed.
        context: What else whoever derived it was shown: it does not rest on that, but may have its words, so it is
            erased with any of it.
        said: When the message or document itself says it was said (aware, UTC).
        said_offset: Minutes east of UTC on the source's own clock ("yesterday evening" needs it).
        known_to: When we were told otherwise; None while it stands.
        valid_from, valid_to: When it is true in the world, `[from, to)`; None means open.
        expires: From when on nobody is shown it any more; None for never.
        pos: Order within its session.
        sight: Who sees it in recall, if it was derived; what was observed or written, everybody sees.
    """

    id: ItemId
    kind: Kind
    text: str
    said: datetime
    said_offset: int = 0
    key: str | None = None
    slots: Mapping[str, Slot] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    source: tuple[ItemId, ...] = ()
    context: tuple[ItemId, ...] = ()
    state: State = State.ACTIVE
    pinned: bool = False
    known_to: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires: datetime | None = None
    agent: str | None = None
    session: str | None = None
    pos: int = 0
    channel: Channel = Channel.USER
    sight: Sight = Sight.ALL

    @property
    def erased_with(self) -> tuple[ItemId, ...]:
        """Whatever its words may come from: its source, then its context."""
        return (*self.source, *self.context) if self.context else self.source

    @property
    def author(self) -> str | None:
        """The strategy that derived it, as its slot `by` says; None for what was observed or written."""
        return author_of(self.slots, bool(self.source))

    def is_recalled_by(self, reader: str | None) -> bool:
        """Whether a recall shows it to a strategy, which sees what it derived for itself; None: to everybody else."""
        return self.sight is Sight.ALL or (self.sight is Sight.OWN and reader is not None and self.author == reader)


class Wording(NamedTuple):
    """What an item says, when it was said, and who sees it: all that its token streams are made of.

    Attributes:
        said: Microseconds.
        derived: Whether it cites evidence.
    """

    kind: Kind
    text: str
    key: str | None
    slots: Mapping[str, Slot]
    derived: bool
    said: int
    said_offset: int
    sight: Sight


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of an item, visible to commits in `[seq_from, seq_to)`; `seq_to` is None while it stands."""

    item: Item
    seq_from: int
    seq_to: int | None
    recorded: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A typed, weighted edge from one item to another.

    Attributes:
        type: What the edge says, such as `supersedes` or `about`.
        weight: At least 0.
        evidence: What it rests on beside its ends: it is erased with any of these, as with an end.
        by: The strategy that tied it; "" for anybody else.
        upkeep: Whether that strategy's upkeep did.
    """

    src: ItemId
    dst: ItemId
    type: str
    weight: float = 1.0
    evidence: tuple[ItemId, ...] = ()
    by: str = ""
    upkeep: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """How worth recalling an item is; never how true. Not versioned, not undone.

    Attributes:
        uses: How often it was shown.
        useful: How often it was cited, confirmed or rewarded.
        harms: How often it misled.
        last_used: When it was last shown, or None.
    """

    uses: int = 0
    useful: int = 0
    harms: int = 0
    last_used: datetime | None = None
