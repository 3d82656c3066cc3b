"""Queries and their answers: views of the past, filters, entries, hits, contexts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from mnemic.core.facets import SlotValue
from mnemic.core.ids import ItemId
from mnemic.core.items import Channel, Item, Kind, Sight, State
from mnemic.core.uninterrupted import import_whole

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from mnemic.core.timex import TimeSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The past that a read sees. The three times combine; all None is now.

    Attributes:
        at: The journal as it stood after this commit: `seq_from <= at < seq_to`.
        as_of: What was known at this moment (microseconds): `said <= as_of < known_to`.
        valid_at: What we now believe held at this moment (microseconds): `valid_from <= valid_at < valid_to`.
        moment: When it is looked (microseconds): what expires by then is not shown. Left out, a snapshot puts in when
            it was taken, and with `at` when that commit was made.
    """

    at: int | None = None
    as_of: int | None = None
    valid_at: int | None = None
    moment: int | None = None

    @property
    def past(self) -> bool:
        """Whether anything but now is asked for."""
        return not (self.at is None and self.as_of is None and self.valid_at is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A condition on items; every field left out means any.

    Attributes:
        kinds, tags, channels: Any of these.
        slots: Each of these slots with exactly this value, a text, a whole number, true, false or None; a mapping does.
        agent, session: Exactly this shelf.
        said_from, said_to: Said within `[from, to)`, microseconds.
        states: Left out, the states that the view shows.
        by: Derived by any of these strategies: what they keep for their own recall is then seen too.
        sights: Seen by any of these: `(Sight.ALL,)` leaves out what strategies keep for their own recall.
    """

    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    channels: tuple[Channel, ...] = ()
    slots: tuple[tuple[str, SlotValue], ...] = ()
    agent: str | None = None
    session: str | None = None
    said_from: int | None = None
    said_to: int | None = None
    states: tuple[State, ...] = ()
    by: tuple[str, ...] = ()
    sights: tuple[Sight, ...] = ()

    def __post_init__(self) -> None:
        for name in ("kinds", "tags", "channels", "states", "by", "sights"):
            if isinstance(given := getattr(self, name), list):  # so that a filter can be compared, and be a key
                object.__setattr__(self, name, tuple(given))
        if isinstance(self.slots, Mapping):
            object.__setattr__(self, "slots", tuple(self.slots.items()))

    def within(self, other: Filter) -> Filter | None:
        """Narrow this filter to what passes another too; None if nothing can.

        Where both name tags, an item must have one that both name: no filter asks for one of each.
        """
        any_of: dict[str, tuple[object, ...]] = {}
        for name in ("kinds", "tags", "channels", "states", "by", "sights"):
            mine, theirs = getattr(self, name), getattr(other, name)
            any_of[name] = tuple(tag for tag in mine if tag in theirs) if mine and theirs else mine or theirs
            if mine and theirs and not any_of[name]:
                return None
        shelves: dict[str, str | None] = {}
        for name in ("agent", "session"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if None not in (mine, theirs) and mine != theirs:
                return None
            shelves[name] = theirs if mine is None else mine
        starts = [start for start in (self.said_from, other.said_from) if start is not None]
        ends = [end for end in (self.said_to, other.said_to) if end is not None]
        fields: dict[str, Any] = {**any_of, **shelves}
        return Filter(
            slots=tuple(dict.fromkeys((*self.slots, *other.slots))),
            said_from=max(starts, default=None),
            said_to=min(ends, default=None),
            **fields,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterEvidence:
    """What a strategy reads and was not given yet: versions of one space past `upto`, of these kinds, but its own.

    Attributes:
        kinds: As columns hold them.
        by: What its items' slot `by` says.
    """

    space: int
    upto: int
    kinds: tuple[int, ...]
    by: str


class Entry(NamedTuple):
    """A part of a version as the catalogue sees it: every filter's field, and the token stream.

    Times are microseconds, open ends are `FOREVER`; `agent` and `session` are the store's
    numbers for the names, 0 for none; `expires` is 0 for never. `terms` is the token stream in order, eight bytes a
    token, little-endian (`core.tokens` says how a token becomes eight bytes). `pinned` is 0 or 1.
    """

    ver: int
    part: int
    seq_from: int
    seq_to: int
    state: int
    kind: int
    said: int
    known_to: int
    valid_from: int
    valid_to: int
    agent: int
    session: int
    pos: int
    pinned: int
    channel: int
    expires: int
    sight: int
    terms: bytes


class Stage(StrEnum):
    """The stages of recall that can be left out for an ablation."""

    DENSE = "dense"
    """Nearness in meaning."""
    HUBS = "hubs"
    """That what is near to everything is near to any question."""
    NEIGHBOURS = "neighbours"
    """What the entries beside one say, in words and in meaning."""
    SESSION = "session"
    """What the whole session says."""
    SPEAKER = "speaker"
    """Who said it."""
    PRONOUNS = "pronouns"
    """Whom "I" and "you" mean, in the question and in what was said."""
    TIME = "time"
    """When it was said, and what time it speaks of."""
    ROUTING = "routing"
    """That a question for several things is answered from several sessions, so that one session says less."""
    LINKS = "links"
    """Steps along the names in documents."""
    CURRENCY = "currency"
    """That what bears on the question stands first, and of the states of one matter the one that holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question to memory, all names resolved.

    Attributes:
        text: The question, as asked.
        now: When it is asked, microseconds; relative dates in it are resolved against this.
        offset: Minutes east of UTC where it is asked.
        spaces: Where to look; scores and statistics never leave these.
        k: Most items to return.
        budget: Most tokens to return, or None.
        vectors: The question as each embedder of the store reads it, by its number there; none for words alone. An
            entry is compared by the first of them that it has a vector of.
        embedders: The names of those embedders.
        unfilled: An embedder is to fill the store and has made no vector yet: all that is there waits for one.
        without: Stages that are left out.
        reader: The strategy that asks, by what its items' slot `by` says: it sees what it keeps for itself.
        besides: Items that the asker shows already: they are passed over, and take none of `k` and no room.
    """

    text: str
    now: int
    spaces: tuple[int, ...]
    offset: int = 0
    view: View = View()
    where: Filter = Filter()
    k: int = 10
    budget: int | None = None
    vectors: Mapping[int, NDArray[np.float32]] = field(default_factory=dict)
    embedders: Mapping[int, str] = field(default_factory=dict)
    unfilled: bool = False
    without: frozenset[Stage] = frozenset()
    reader: str | None = None
    besides: frozenset[ItemId] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A candidate on its way through the stages of recall.

    Attributes:
        space, ver: Where it lies.
        doc: Its number in the space's catalogue.
        score: What it is ranked by; comparable within one recall only.
        components: What the score is made of, by name.
        reasons: Why it is here, in words a person can read.
        bearing: The log odds that it speaks of what is asked, where that was looked at; else None.
        succession: Its place among the states of one matter, 1 for the one that answers; 0 if it is none of several.
        same_matter: The log odds that it is of one matter with what goes first, and of the first that it has taken the
            place of another; None where that was not looked at.
        same_topic: How likely it is on the topic that is asked about, where that is plainly one; else None.
        traits: What the embedder tells of it beside its vector, by `models.base.TRAITS`; None where it tells
            nothing.
    """

    space: int
    ver: int
    doc: int
    score: float
    components: Mapping[str, float] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    bearing: float | None = None
    succession: int = 0
    same_matter: float | None = None
    same_topic: float | None = None
    traits: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A recalled item with its source, scores and reasons.

    Attributes:
        seq: The commit that wrote this version.
        tokens: What it costs in a prompt, by the token counter.
        bearing: The log odds that it speaks of what is asked, where that was looked at; else None.
        succession: Its place among the states of one matter, 1 for the one that answers; 0 if it is none of several.
        same_matter: The log odds that it is of one matter with what goes first, and of the first that it has taken the
            place of another; None where that was not looked at.
        same_topic: How likely it is on the topic that is asked about, where that is plainly one; else None.
        traits: What the embedder tells of it beside its vector, by `models.base.TRAITS`; None where it tells
            nothing.
    """

    item: Item
    seq: int
    score: float
    components: Mapping[str, float]
    reasons: tuple[str, ...]
    tokens: int
    bearing: float | None = None
    succession: int = 0
    same_matter: float | None = None
    same_topic: float | None = None
    traits: tuple[float, ...] | None = None

    @property
    def id(self) -> ItemId:
        return self.item.id

    @property
    def text(self) -> str:
        return self.item.text

    @property
    def said(self) -> datetime:
        return self.item.said


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A candidate that recall dropped: at which stage, and why."""

    stage: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The answer of a recall: the evidence, best first, and a text ready for a prompt.

    Attributes:
        tokens: What `text` costs, by the token counter; at most the budget.
        considered: How many entries were scored.
        seq: The last commit of the memories that were read: the state that answered. Reading does not move it.
        notes: What was understood of the question (time spans, names), one line each.
        milliseconds: How long it took.
        stages: With `explain`, how many candidates entered and left each stage, in order.
        always: What the always-on part of `text` shows, in its order; only `context` has one.
        confidence: How likely the evidence holds the answer, 0 to 1; 0 where there is none.
        pending: Items that have no vector yet, and so are found by their words alone.
        spans: The stretches of time that the question speaks of.
    """

    text: str
    tokens: int
    items: tuple[Recalled, ...]
    considered: int
    seq: int
    notes: tuple[str, ...] = ()
    milliseconds: float = 0.0
    stages: tuple[tuple[str, int, int], ...] = ()
    always: tuple[Item, ...] = ()
    confidence: float = 0.0
    pending: int = 0
    spans: tuple[TimeSpan, ...] = ()

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        import_whole("mnemic.core.display")
        from mnemic.core.display import evidence_html

        evidence = [(recalled.item, recalled.score, recalled.reasons) for recalled in self.items]
        figures = [
            f"{len(self.items)} of {self.considered} considered",
            f"{self.tokens} tokens",
            f"confidence {self.confidence:.2f}",
            f"{self.milliseconds:.1f} ms",
            *([f"{self.pending} not yet read for meaning"] if self.pending else []),
            *self.notes,
        ]
        return evidence_html(self.always, evidence, figures)

    def __iter__(self) -> Iterator[Recalled]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> Recalled:
        return self.items[place]
