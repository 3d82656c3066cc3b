"""What a strategy's run is about: whether it is time for one, and what it is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.items import Item, State, Version
from mnemic.core.queries import View
from mnemic.core.scope import Shared
from mnemic.derive.hidden import derived_from, hidden_of, spent_of
from mnemic.lanes.slices import next_vers
from mnemic.store.drafts import Advance, JobStep
from mnemic.store.following import Lane
from mnemic.store.snapshot import Snapshot
from mnemic.strategies.base import Given
from mnemic.strategies.triggers import Waiting, fired

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.strategies.base import Strategy

KNOWN: Final = 10_000
"""Most standing instructions and profile facts of one space that a run is given."""

CATCH_UP: Final = 500
"""Most versions of one run where somebody waits for it."""

MAINTAIN: Final = ":maintain"
"""What follows a strategy's name in the lane of its upkeep."""

_LOOKED: Final = 256
"""Versions looked at together to see whether a trigger fires."""

_BYTES_A_TERM: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one run is about.

    Attributes:
        lane: As it stands, leased if the strategy asks models.
        given: For the strategy.
        known: The versions of what it was given as known.
        hidden: What the owner hid of what was derived from these before.
        vers: The versions that the run covers.
        step, job: What its commit moves: the lane, or a dead letter's job.
    """

    space: int
    tenant: str
    user: str | Shared
    branch: str
    lane: Lane
    given: Given
    known: tuple[Version, ...]
    hidden: Mapping[ItemId, Item]
    vers: tuple[int, ...]
    step: Advance | None = None
    job: JobStep | None = None

    @property
    def view(self) -> View:
        """What the run reads: the commit it is pinned to."""
        return View(at=self.lane.seq or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How a run is made.

    Attributes:
        owner: Under which lease.
        asked: Somebody waits for it.
        force: Whatever the triggers say.
        maintain: `on_maintain` in place of `on_write`.
        keep_answers: What models answered outlives the run.
    """

    owner: str
    asked: bool = False
    force: bool = False
    maintain: bool = False
    keep_answers: bool = False


def lane_name(strategy: Strategy, how: How) -> str:
    """The lane of a strategy, or that of its upkeep."""
    return strategy.name + MAINTAIN if how.maintain else strategy.name


def ready(snapshot: Snapshot, strategy: Strategy, space: int, how: How, now: int) -> Lane | None:
    """The lane, if a trigger fires on what lies past its cursor, or all of that is what the strategy wrote itself.

    The latter sets off no trigger, and is stepped over.
    """
    lane = snapshot.lane(space, lane_name(strategy, how))
    if snapshot.newest(space) <= lane.cursor:
        return None
    triggers = strategy.maintain if how.maintain else strategy.triggers
    nothing = Waiting(ran=lane.leased, asked=how.asked)
    least = replace(nothing, count=1, since=now, last=now)  # where this fires, whatever waits fires too
    if how.force or lane.stride or lane.seq or fired(triggers, least, now):
        return lane
    waiting: Waiting | None = None
    for waiting in _counted(snapshot, strategy, lane, nothing):
        if fired(triggers, waiting, now):
            return lane
    return lane if waiting is not None and not waiting.count else None


def _counted(snapshot: Snapshot, strategy: Strategy, lane: Lane, waiting: Waiting) -> Iterator[Waiting]:
    """What waits and is not the strategy's own, counted up in steps, so that nobody counts further than a trigger
    asks."""
    cursor = lane.cursor
    while vers := next_vers(snapshot, lane.space, replace(lane, cursor=cursor, seq=0, stride=0), _LOOKED):
        found = snapshot.versions(lane.space, vers)
        others = {ver: v for ver in vers if (v := found.get(ver)) is not None and not _is_own(v.item, strategy)}
        entries = takewhile(lambda entry: entry.ver <= vers[-1], snapshot.entries(lane.space, cursor))
        tokens = sum(len(entry.terms) // _BYTES_A_TERM for entry in entries if entry.ver in others)
        waiting, cursor = waiting.plus(list(others.values()), tokens), vers[-1]
        yield waiting


def gathered(snapshot: Snapshot, strategy: Strategy, space: int, lane: Lane, how: How) -> Run | None:
    """What the next run is about; None for a space that is gone, or a lane that has nothing left.

    What was said to all users at once is nobody's: no strategy reads it.
    """
    limit = CATCH_UP if how.asked else strategy.batch
    vers = next_vers(snapshot, space, lane, limit)
    (head,) = snapshot.spaces((space,))
    if head.user is None or not head.lanes or not vers:
        return None
    step = Advance(name=lane.name, owner=lane.owner, after=lane.cursor, upto=vers[-1], keep_answers=how.keep_answers)
    return _run(snapshot, strategy, space, lane, vers, step=step)


def letter(snapshot: Snapshot, strategy: Strategy, space: int, ver: int, lane: str, job: JobStep) -> Run | None:
    """A run about one version that the lane gave up; None where space or version are gone."""
    (head,) = snapshot.spaces((space,))
    if head.user is None or not snapshot.versions(space, [ver]):
        return None
    return _run(snapshot, strategy, space, Lane(space=space, name=lane), [ver], job=job)


def _run(snapshot: Snapshot, strategy: Strategy, space: int, lane: Lane, vers: list[int], **what: Any) -> Run:
    """A run over what the strategy has not read, oldest first; what it wrote itself is never its evidence.

    A turn that it derived from before was read before: it is here again because it was pinned, say. Upkeep is given
    those too.
    """
    (head,) = snapshot.spaces((space,))
    assert head.user is not None
    known = tuple(snapshot.core((space,), View(at=lane.seq or None), KNOWN))
    fresh = [] if isinstance(head.user, Shared) else _readable(snapshot, strategy, space, vers, lane)
    own = [] if lane.name.endswith(MAINTAIN) else derived_from(snapshot, strategy, space, fresh)
    spent = spent_of(own)
    evidence = tuple(sorted((item for item in fresh if item.id not in spent), key=lambda item: item.said))
    given = Given(user=str(head.user), evidence=evidence, known=tuple(version.item for version in known))
    return Run(
        space=space,
        tenant=dict(snapshot.tenants())[head.tenant],
        user=head.user,
        branch=head.branch,
        lane=lane,
        given=given,
        known=known,
        hidden=hidden_of(own),
        vers=tuple(vers),
        **what,
    )


def _readable(snapshot: Snapshot, strategy: Strategy, space: int, vers: list[int], lane: Lane) -> list[Item]:
    """What the strategy reads of these versions."""
    upto = lane.seq or None
    found = snapshot.versions(space, vers).values()
    shown = (v.item for v in found if v.seq_to is None or (upto is not None and v.seq_to > upto))
    read = (item for item in shown if item.kind in strategy.reads and item.state is State.ACTIVE)
    return [item for item in read if not _is_own(item, strategy)]


def _is_own(item: Item, strategy: Strategy) -> bool:
    """Whether a strategy wrote an item itself."""
    return item.slots.get("by") == strategy.by
