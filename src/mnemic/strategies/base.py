"""The plug point for understanding: a strategy is a flow from evidence to edits that says when it runs, at what cost.

    class Shout:
        name = by = "shout"
        reads, triggers, maintain = frozenset({Kind.TURN}), (EachEvent(),), ()
        budget, batch = Budget(), 64

        def on_write(self, given: Given) -> Flow[Edits]:
            yield from pause()
            return Edits(write=tuple(shouted(item) for item in given.evidence))

        on_maintain = nothing

Named in the setting `strategies` (`package.module:Shout`), or handed over in `Memory(strategies=...)`, lanes run it;
one test with `testing.strategy_contract` holds it to what it promises. `mnemic.strategies` has all it needs. It may
ask a model (`models.model_requests.ask`), its memory (`known` here, others in `strategies.strategy_requests`), for a
breath (`pause`); it writes nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import ClassVar, Final, Protocol

from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind, Sight, Slot
from mnemic.core.queries import Filter
from mnemic.flow import Flow, Pause, Request
from mnemic.strategies.triggers import Trigger

EPOCH: Final = datetime.fromtimestamp(0, UTC)


Ref = ItemId | int
"""An item that is there already, by its id, or one of the same edits, by its place in `write`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """An item to write, and which older items it supersedes or retires.

    Attributes:
        key: The same for the same evidence, whenever it is digested: "<strategy>:<source id>:<n>".
        text: What is remembered; an instruction is kept exactly as it was said.
        slots: `by`, which is the strategy's, and what is special to it.
        source: What it rests on: any item that the run was shown, at least one, and of its evidence first.
        context: What else was shown to whoever judged, beside what it rests on, and what of its words may come from:
            it is erased with any of that, and of the source that stays is derived again.
        said, said_offset: Of the evidence.
        valid_from, valid_to: Since when it is so, and until when, where the evidence names a time.
        words: What is searched in place of its text.
        sight: Who sees it in recall.
        supersedes: What it takes the place of. What something newer still has superseded is shortened: news that comes
            late between two others supersedes the one and is outdated by the other.
        outdated_by: What has taken its place already, where it is news that came late: it is written as history.
        revokes: What holds no longer because of it.
    """

    key: str
    kind: Kind
    text: str
    slots: Mapping[str, Slot]
    source: tuple[ItemId, ...]
    said: datetime
    said_offset: int = 0
    context: tuple[ItemId, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    words: str | None = None
    sight: Sight = Sight.OWN
    tags: tuple[str, ...] = ()
    supersedes: Ref | None = None
    outdated_by: Ref | None = None
    revokes: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bond:
    """A link to write.

    Attributes:
        source: What it rests on beside its ends, of what the run was shown: once any of this is erased the link goes,
            and the strategy is given again what stays. None for all the evidence of the run. () where it goes with an
            end anyway, since its ends are, or rest on, all that it was tied for.
    """

    src: Ref
    dst: Ref
    type: str
    weight: float = 1.0
    source: tuple[ItemId, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A change to an item that the strategy wrote and this run has read; None leaves a field as it is.

    Attributes:
        source: What it rests on from now on, beside what it rests on already.
        context: What may have given it words besides, beside what may have before.
        words: What is searched in place of its text.
    """

    id: ItemId
    text: str | None = None
    words: str | None = None
    valid_to: datetime | None = None
    source: tuple[ItemId, ...] = ()
    context: tuple[ItemId, ...] = ()
    slots: Mapping[str, Slot] | None = None
    tags: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """An item of the strategy's own that holds no longer, and nothing takes its place.

    Attributes:
        at: Until when it held in the world.
        said: When that was said: what was known before still shows it.
        source: What says so, at least one: added to what the item rests on, and tied to it by a link `supersedes`, so
            that it holds again once these are taken back.
    """

    id: ItemId
    at: datetime
    said: datetime
    source: tuple[ItemId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """The outcome of a run, committed at once with the step of its lane; it may be empty.

    Attributes:
        tie: Links to write; of the same ends and type they become one, of the greatest weight, resting on all of these.
        untie: Links to take away, of any type but `supersedes`, that stand where the run is pinned; their weights and
            sources are not compared.
        end: What holds no longer, without a successor.
    """

    write: tuple[Derivation, ...] = ()
    revise: tuple[Revision, ...] = ()
    retire: tuple[ItemId, ...] = ()
    tie: tuple[Bond, ...] = ()
    untie: tuple[Bond, ...] = ()
    end: tuple[End, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The input of a run.

    Attributes:
        user: Whose memory it is.
        evidence: What is new, of the kinds that the strategy reads, by `said`, and never empty: nothing that it wrote
            itself, and for `on_write` nothing that it has derived from before. What memory itself laid out for a prompt
            is left out of its text.
        known: What is always at hand: the profile, standing instructions, what is pinned.
        now: When the newest of what the run is about was recorded: the same whenever it is run, and run again.
        written: The ids of the evidence in the order in which it was written, which no cut into runs changes.

    What stands here as known, and what the run looks up, its edits may change, tie and cite.
    """

    user: str
    evidence: tuple[Item, ...]
    known: tuple[Item, ...] = ()
    now: datetime = EPOCH
    written: tuple[ItemId, ...] = ()

    @property
    def as_written(self) -> tuple[Item, ...]:
        """The evidence in the order of `written`: whoever reads in it makes the same of each turn however runs fall."""
        place = {id: n for n, id in enumerate(self.written)}
        return tuple(sorted(self.evidence, key=lambda item: place.get(item.id, 0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question to a strategy's own recall, `on_recall`.

    Attributes:
        text: As asked.
        now: When it is asked.
        k: Most items that will be shown; more picks may be returned.
        where: Which items are asked for; every search of the recall is narrowed by it.
    """

    text: str
    now: datetime
    k: int
    where: Filter = Filter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """An item that a strategy's recall answers with; picks are ranked as they are returned, best first.

    Attributes:
        item: One that its requests showed. Of an item that is picked twice the first pick counts.
        score: What it is ranked by.
        components: What the score is made of, by name; told by `explain`.
        why: One line for a person, such as "two steps from Ada along 'works at'".
    """

    item: Item
    score: float
    components: Mapping[str, float] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most that one run may ask of models; a request beyond raises `OverBudget` in the flow.

    Rules judge what is left over then. So a budget that falls short of the longest run lets the cut into runs decide.

    Attributes:
        calls: 0 for a strategy without a model: it needs no lease, and runs in the user's own process too.
        tokens: Of prompts and answers together, as models count them; a question is refused if it and the longest
            answer that it allows, at four bytes a token, would go beyond. 0 for no bound of its own.
        seconds: From the first request on; 0 for no bound of its own.
    """

    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0


class Strategy(Protocol):
    """Derives edits from evidence. It holds no state: what it knows is in its input, or it asks for it.

    Attributes:
        name: Of its lane, and the beginning of its keys.
        by: What the slot `by` says in everything that it writes, and in nothing that anybody else writes.
        reads: The kinds of items that it digests.
        triggers: When `on_write` runs over what was written since the last run.
        maintain: When `on_maintain` runs over what was written since it ran last.
        batch: The most versions of one run.

    One may state a `unit` (`strategies.units`): then `on_write` is given one unit of the journal at a time, in place of
    as many versions as there are, so that what it makes does not depend on when it is run.

    One may state `lookup_tags(self, item: Item) -> Sequence[str]`: the tags by which it looks up an item of its own, ()
    for none. What an earlier version of it derived without them is given them before its next run.

    One may state `asks: tuple[str, ...]`, the ids of the tasks that it puts to a model: each can then be left to its
    rules by itself, to see what the model is worth there (`mnemic bench ablate --strategies`).

    One may have a recall of its own, `on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]`, which `recall(by=...)`
    runs over the newest commit; it may ask what a run may, and changes nothing.
    """

    name: ClassVar[str]
    by: ClassVar[str]
    reads: ClassVar[frozenset[Kind]]
    triggers: ClassVar[tuple[Trigger, ...]]
    maintain: ClassVar[tuple[Trigger, ...]]
    budget: ClassVar[Budget]
    batch: ClassVar[int]

    def on_write(self, given: Given) -> Flow[Edits]:
        """Derive edits from new evidence. Given the same and answered alike, it asks and edits alike."""
        ...

    def on_maintain(self, given: Given) -> Flow[Edits]:
        """Derive edits from what was written since the last upkeep, when there is time."""
        ...


@dataclass(frozen=True, slots=True)
class Known(Request):
    """Items that stand in the run's space at the commit to which the run is pinned, the last written first."""

    where: Filter = field(default_factory=Filter)
    limit: int = 100


def known(where: Filter = Filter(), limit: int = 100) -> Flow[Sequence[Item]]:
    """Look up items that stand, the last written first; what was looked up may be revised, retired or superseded."""
    items: Sequence[Item] = yield Known(where, limit)
    return items


def pause() -> Flow[None]:
    """Offer a pause, at which whoever drives the flow may let a waiting verb through."""
    yield Pause()


def nothing(self: Strategy, given: Given) -> Flow[Edits]:
    """Return no edits: the `on_maintain` of a strategy without upkeep."""
    yield from ()
    return Edits()
