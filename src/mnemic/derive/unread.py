"""Work out, for readers and without writing, what the rules will derive from turns that no run has read yet."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.forking import renew_in_child
from mnemic.core.items import Item, Kind, Link, State, Version
from mnemic.core.mutex import Mutex
from mnemic.derive.drafting import draft_run
from mnemic.derive.drive import driven
from mnemic.derive.runs import RunOptions, StrategyRun, next_run
from mnemic.flow import Flow, Pause, Request, run
from mnemic.lanes.following import follows
from mnemic.lanes.slices import HOUSE
from mnemic.registry import STRATEGIES, load
from mnemic.store.requests import Look
from mnemic.store.values.drafts import Put, Tie
from mnemic.strategies.strategy_requests import EmbedTexts

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.drafts import Draft
    from mnemic.store.values.heads import SpaceHead
    from mnemic.store.values.work import Lane
    from mnemic.strategies.base import Strategy
    from mnemic.writing import Desk

AHEAD: Final = 500
"""Most parts of unread versions that are read for one answer, as many as one run takes."""

SPACES: Final = 256
"""Most spaces of which derivations are cached."""

BYTES: Final = 16 * 1024 * 1024
"""Bytes that all cached derivations may take, about; the space in use may exceed it alone."""

_OBJECTS: Final = 2_048
"""Bytes that a derived item takes beside its text, about."""

_ALWAYS_ON: Final = (Kind.PROFILE, Kind.PROCEDURE)
"""Kinds that rules are given as known: one more of them may change what earlier turns come to."""


class FarBehind(Exception):
    """More waits for the rules than a reader reads ahead: they are to read it first."""


@dataclass(frozen=True, slots=True)
class Underived:
    """The outcome of a run that nobody has made yet: items and links as it would leave them.

    Attributes:
        items: What it would write or change, by id, the new ones in the order it would write them.
        links: What it would link, always with one of `items` at an end.
    """

    items: Mapping[ItemId, Item] = field(default_factory=dict)
    links: tuple[Link, ...] = ()


NOTHING: Final = Underived()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Progress:
    """How far a reader has come with a space's unread turns, and what they came to.

    Attributes:
        cursor, epoch, seq: Of the rules' lane and of the space, as they were.
        newest: The last version that was looked at.
        parts: How many parts of versions lie between the cursor and it.
        extends: Whether later turns may be added; else all is read again.
    """

    cursor: int
    epoch: int
    seq: int
    newest: int
    parts: int
    extends: bool = True
    underived: Underived = NOTHING

    @property
    def nbytes(self) -> int:
        """Memory that it takes, about."""
        return sum(_OBJECTS + 4 * len(item.text) for item in self.underived.items.values())


class UnreadRules:
    """Caches what the rules derive from each user's unread turns, and adds to it what is said later, turn by turn.

    All is read again where a run would: once its cursor has moved, or something was changed, erased or undone. Safe
    for many threads: whoever comes second at worst works it out again.
    """

    def __init__(self) -> None:
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over with nothing cached, as a forked child must."""
        self._lock = Mutex()
        self._cached: OrderedDict[int, _Progress] = OrderedDict()
        self._refused_at: dict[int, int] = {}
        """By space, the cursor at which rules were found far behind."""

    def clear(self) -> None:
        """Drop every cached derivation."""
        with self._lock:
            self._cached.clear()
            self._refused_at.clear()

    def read(self, snapshot: Snapshot, desk: Desk, head: SpaceHead) -> Underived:
        """Read what a run of the rules would write or change in a space now, as it would leave it.

        Items have the ids that the run will give them, unless something is erased before it. What is cached of spaces
        in which something was erased meanwhile, by whomever, is dropped.

        Raises:
            FarBehind: more waits than is read ahead; raised once for each cursor: where rules cannot go on from there,
                the last of what waits is read.
        """
        self._drop_erased(snapshot, head.id)
        lane, newest = snapshot.lane_and_newest(head.id, HOUSE)
        if not head.lanes or newest <= lane.cursor or not follows(snapshot, head.id, HOUSE, desk.strategies):
            self._drop(head.id)
            return NOTHING
        before = self._cached.get(head.id)
        if before is not None and (before.cursor, before.epoch) != (lane.cursor, head.epoch):
            self._drop(head.id)
            before = None
        if before is not None and before.seq == head.seq:
            return before.underived
        progress = None
        if before is not None and before.extends and before.seq < head.seq:
            progress = _extended(snapshot, desk, head, lane, before)
        if progress is None:
            progress = self._from_cursor(snapshot, desk, head, lane)
        if before is None or before.seq <= head.seq:  # another thread may have come further, in a later snapshot
            self._keep(head.id, progress)
        return progress.underived

    def read_if_near(self, snapshot: Snapshot, desk: Desk, head: SpaceHead) -> Underived:
        """Read as `read` does, and nothing where more waits than is read ahead: for who does not wait for rules."""
        try:
            return self.read(snapshot, desk, head)
        except FarBehind:
            self._refused_at.pop(head.id, None)  # whoever does wait is still to be told
            return NOTHING

    def _from_cursor(self, snapshot: Snapshot, desk: Desk, head: SpaceHead, lane: Lane) -> _Progress:
        """Read all that waits, or the last of it where rules cannot go on."""
        waiting = deque(entry.ver for entry in islice(snapshot.entries(head.id, lane.cursor), AHEAD + 1))
        far = len(waiting) > AHEAD
        if far and self._refused_at.get(head.id) != lane.cursor:
            self._refused_at[head.id] = lane.cursor
            raise FarBehind
        start = lane.cursor
        if far:
            waiting = deque((entry.ver for entry in snapshot.entries(head.id, lane.cursor)), AHEAD + 1)
            start = waiting[0] - (waiting[0] == waiting[-1])  # of the first there may be a part only
        progress = _Progress(
            cursor=lane.cursor, epoch=head.epoch, seq=head.seq, newest=waiting[-1], parts=len(waiting), extends=not far
        )
        return _continued(snapshot, desk, progress, _planned(snapshot, replace(lane, cursor=start)))

    def _drop_erased(self, snapshot: Snapshot, reading: int) -> None:
        """Drop what is cached of other spaces in which something was erased since: their users may never read again."""
        with self._lock:
            cached = {space: progress.epoch for space, progress in self._cached.items() if space != reading}
        if not cached:
            return
        epochs = {head.id: head.epoch for head in snapshot.spaces(tuple(cached))}
        for space, epoch in cached.items():
            if epochs.get(space) != epoch:
                self._drop(space)

    def _drop(self, space: int) -> None:
        with self._lock:
            self._cached.pop(space, None)

    def _keep(self, space: int, progress: _Progress) -> None:
        with self._lock:
            self._cached[space] = progress
            self._cached.move_to_end(space)
            total = sum(cached.nbytes for cached in self._cached.values())
            while len(self._cached) > 1 and (len(self._cached) > SPACES or total > BYTES):
                total -= self._cached.popitem(last=False)[1].nbytes


def _extended(snapshot: Snapshot, desk: Desk, head: SpaceHead, lane: Lane, before: _Progress) -> _Progress | None:
    """Add what was said since; None where all is to be read again, for what was read before may come to something else.

    Nothing may have been changed: every new version is of a new item, and of none that rules are given as known.
    """
    parts = [entry.ver for entry in islice(snapshot.entries(head.id, before.newest), AHEAD + 1 - before.parts)]
    if before.parts + len(parts) > AHEAD or before.seq < snapshot.head(head.tenant).horizon:
        return None
    if snapshot.closed(head.id, before.seq):
        return None
    fresh = [version.item for version in snapshot.versions(head.id, list(dict.fromkeys(parts))).values()]
    if any(item.pinned or item.kind in _ALWAYS_ON or item.state is not State.ACTIVE for item in fresh):
        return None
    newest = parts[-1] if parts else before.newest
    progress = replace(before, seq=head.seq, newest=newest, parts=before.parts + len(parts))
    if not any(item.kind in _rules().reads for item in fresh):
        return progress
    return _continued(snapshot, desk, progress, _planned(snapshot, replace(lane, cursor=before.newest)))


def _planned(snapshot: Snapshot, lane: Lane) -> StrategyRun | None:
    """Plan a run of the rules over what lies past a lane's cursor, as the run of a caller who waits for it."""
    return next_run(snapshot, _rules(), lane.space, replace(lane, seq=0, stride=0), RunOptions(owner="", asked=True))


def _continued(snapshot: Snapshot, desk: Desk, progress: _Progress, plan: StrategyRun | None) -> _Progress:
    """Make a planned run, on top of what rules made of the turns before, up to the draft of its commit."""
    if plan is None or not plan.given.evidence:
        return progress
    draft = run(_drafted(desk, _rules(), _on_top(plan, progress)), partial(_answered, snapshot))
    changed = {op.item.id: op.item for op in draft.ops if isinstance(op, Put)}
    links = tuple(op.link for op in draft.ops if isinstance(op, Tie))
    return replace(
        progress,
        extends=progress.extends and not plan.hidden,  # rules go on as if what is hidden had been written
        underived=Underived({**progress.underived.items, **changed}, (*progress.underived.links, *links)),
    )


def _on_top(plan: StrategyRun, progress: _Progress) -> StrategyRun:
    """Give a planned run as known what was made of earlier turns, as if that had been written."""
    known = {version.item.id: version for version in plan.known}
    for id, item in progress.underived.items.items():
        known[id] = Version(item=item, seq_from=progress.seq, seq_to=None, recorded=item.said)
    given = replace(plan.given, known=tuple(version.item for version in known.values()))
    return replace(plan, known=tuple(known.values()), given=given)


def _rules() -> Strategy:
    strategy: Strategy = load(STRATEGIES, HOUSE)()
    return strategy


def _drafted(desk: Desk, strategy: Strategy, planned: StrategyRun) -> Flow[Draft]:
    edits, known = yield from driven(desk, strategy, planned)
    return (yield from draft_run(desk, strategy, planned, edits, known))


def _answered(snapshot: Snapshot, request: Request) -> Any:
    """Answer the requests of rules: a look by the snapshot, a pause by nothing, and no vectors: readers do not wait."""
    match request:
        case Look(of):
            return of(snapshot)
        case Pause():
            return None
        case EmbedTexts():
            return ()
        case _:
            raise TypeError(f"rules ask for {type(request).__name__}, which a reader cannot answer")
