"""Collectors choose which items of a space may go, and why: pure functions over what stands there, under common rules.

No collector sees a word of what is remembered: an item is a number of facts about it, and of its text only a digest.
What is pinned, held, kept by its class, or what something live rests on is out of reach for every one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from mnemic.core.ids import ItemId
from mnemic.core.items import EVIDENCE, Kind, State
from mnemic.tiers.retention import KEEP, Retention


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingItem:
    """The facts that a collector may know of an item that stands and is not retired.

    Attributes:
        seq: The commit that wrote its standing version.
        written: When that was, microseconds.
        until: When its validity ends, microseconds; None for open.
        digest: Of its text, kind, slots and shelves: equal ones say the same.
        uses, useful: How often it was shown, and how often it helped.
    """

    id: ItemId
    kind: Kind
    seq: int
    written: int
    state: State = State.ACTIVE
    source: tuple[ItemId, ...] = ()
    tags: tuple[str, ...] = ()
    pinned: bool = False
    until: int | None = None
    digest: bytes = b""
    uses: int = 0
    useful: int = 0

    @property
    def derived(self) -> bool:
        """Whether an item was derived from evidence and is not evidence itself."""
        return bool(self.source) and self.kind not in EVIDENCE


@dataclass(frozen=True, slots=True)
class StandingLink:
    """A link that stands."""

    src: ItemId
    dst: ItemId
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The input of a collector: the standing items and links of one space, the time, and the retention rules.

    Attributes:
        items: The items that stand and are not retired, in the order they were written.
        edges: The links that stand.
        keep_reasons: Items that a legal hold keeps, or a user who cites what is shared; each with the reason to give.
        shared_sources: Sources that are not among `items` but stand in the tenant's shared space.
        gone_ends: Ends of links that were retired so long ago that no undo brings them back.
        now: The present moment, in microseconds.
        head: The tenant's last commit.
    """

    items: Mapping[ItemId, StandingItem]
    edges: Sequence[StandingLink] = ()
    keep_reasons: Mapping[ItemId, str] = field(default_factory=dict)
    shared_sources: frozenset[ItemId] = frozenset()
    gone_ends: frozenset[ItemId] = frozenset()
    now: int = 0
    head: int = 0
    retention: Retention = field(default_factory=Retention)

    def spared(self, item: StandingItem) -> str:
        """Say why no collector may take an item; "" if one may."""
        if item.pinned:
            return "pinned"
        if item.id in self.keep_reasons:
            return self.keep_reasons[item.id]
        return "kept by its retention class" if self.retention.of(item.kind, item.tags) == KEEP else ""

    def free(self) -> Iterator[StandingItem]:
        """List the items that a collector may take, in the order they were written."""
        return (item for item in self.items.values() if not self.spared(item))


@dataclass(frozen=True, slots=True)
class Choice:
    """An item that may go, with a reason that quotes nothing of it.

    Attributes:
        heir: The item that takes over its sources.
    """

    id: ItemId
    reason: str
    heir: ItemId | None = None


class Collector(Protocol):
    """A rule that chooses which items may go."""

    name: ClassVar[str]

    def choose(self, ground: Ground) -> Iterable[Choice]:
        """Choose the items of `ground.free()` that may go; each at most once."""
        ...


def chosen(collectors: Sequence[Collector], ground: Ground) -> dict[str, list[Choice]]:
    """Run the collectors in order; return what each takes by its name, nothing twice.

    What anything live still rests on is left, whoever chose it: what rests on it goes first, or nothing does.
    """
    choices: dict[ItemId, tuple[str, Choice]] = {}
    for collector in collectors:
        for choice in collector.choose(ground):
            if choice.id in ground.items and not ground.spared(ground.items[choice.id]):
                choices.setdefault(choice.id, (collector.name, choice))
    for cited in _rested_on(ground, [choice for _, choice in choices.values()]):
        del choices[cited]
    by_collector: dict[str, list[Choice]] = {collector.name: [] for collector in collectors}
    for name, choice in choices.values():
        heir = choice.heir if choice.heir not in choices else None
        by_collector[name].append(Choice(choice.id, choice.reason, heir))
    return by_collector


def in_layers(
    choices_by_collector: Mapping[str, Sequence[Choice]], ground: Ground
) -> Iterator[tuple[str, list[Choice]]]:
    """Order the choices in layers by collector, so that no item goes before those that cite it."""
    remaining = {choice.id: (name, choice) for name, choices in choices_by_collector.items() for choice in choices}
    while remaining:
        cited = {source for item in remaining for source in ground.items[item].source if source != item}
        # Items that cite each other in a circle go at once.
        layer = [item for item in remaining if item not in cited] or list(remaining)
        layer_choices = [remaining.pop(item) for item in layer]
        for collector in choices_by_collector:
            if choices := [choice for name, choice in layer_choices if name == collector]:
                yield collector, choices


def _rested_on(ground: Ground, going: Sequence[Choice]) -> set[ItemId]:
    """Find the chosen items that one that stays cites, at any remove; an heir cites what it takes over too."""
    going_ids = {choice.id for choice in going}
    over: dict[ItemId | None, list[ItemId]] = {}
    for choice in going:
        over.setdefault(choice.heir, []).extend(ground.items[choice.id].source)
    cited: set[ItemId] = set()
    queue = [item for item in ground.items.values() if item.id not in going_ids]
    while queue:
        item = queue.pop()
        for source in (*item.source, *over.get(item.id, ())):
            if source in going_ids:
                going_ids.discard(source)
                cited.add(source)
                queue.append(ground.items[source])
    return cited
