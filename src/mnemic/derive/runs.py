"""Plan a strategy's run: whether it is due, and which evidence, known facts and hidden items it starts from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mnemic.core.clock import FOREVER
from mnemic.core.items import RERUN, UPKEEP, Item, State, Version
from mnemic.core.memory_blocks import without_memory
from mnemic.core.queries import View
from mnemic.core.scope import Shared
from mnemic.core.visibility import has_expired
from mnemic.lanes.slices import entries_of_run, next_vers
from mnemic.store.engine.codec import kind_number
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.drafts import Advance, JobStep
from mnemic.store.values.work import Lane
from mnemic.strategies.base import EPOCH, Given
from mnemic.strategies.triggers import SECOND, Feedback, Waiting, ends_task, fired, first_moment
from mnemic.strategies.units import lacks

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.strategies.base import Strategy
    from mnemic.strategies.triggers import Trigger
    from mnemic.strategies.units import Unit

KNOWN: Final = 10_000
"""Most standing instructions and profile facts of one space that a run is given."""

CATCH_UP: Final = 500
"""Most versions of one run where somebody waits for it."""

LOOK_AGAIN: Final = 3_600 * SECOND
"""Longest that a lane is left alone (microseconds): another process may follow it with other triggers."""

MAINTAIN: Final = ":maintain"
"""What follows a strategy's name in the lane of its upkeep."""

_PASSED: Final = 10_000
"""Parts of what a strategy does not read that one run passes over, about."""

_LONGEST_UNIT: Final = 2_000
"""Parts of a unit, about: a longer one is cut there."""

_LEAST_PAGE: Final = 64
"""Parts that are looked at together, at least."""

_GROWTH: Final = 4
"""How many times as many parts are looked at where those make no unit."""

_LOOKED: Final = 256
"""Versions looked at together to see whether a trigger fires."""

_COUNTED: Final = 10_000
"""Passages before a lane that are looked at one by one, where it is told how many of them its strategy reads."""

_BYTES_A_TERM: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyRun:
    """A planned run of a strategy: what it starts from, and which lane or job its commit moves.

    Attributes:
        lane: As it stands, leased if the strategy asks models.
        given: For the strategy.
        known: The versions of what it was given as known.
        hidden: What the owner hid of what was derived from this evidence before: what the run leaves out.
        vers: The versions before the run, of those that the strategy reads.
        upto: How far the strategy has read after it: of the kinds that it reads, it is shown nothing that came later.
        epoch: How often something was erased in the space.
        number: What the journal calls the space: ids are made of it, so that they are the same wherever it is loaded.
        made: What was derived from these versions before, by whomever.
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
    upto: int = FOREVER
    epoch: int = 0
    number: int = 0
    made: frozenset[ItemId] = frozenset()
    step: Advance | None = None
    job: JobStep | None = None

    @property
    def view(self) -> View:
        """The view that the run reads by: the commit that it is pinned to."""
        return View(at=self.lane.seq or None)


class NextLook(NamedTuple):
    """A lane as it was when nothing was to be done yet, the last commit of its space then, and when to look again."""

    lane: Lane
    seq: int
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of a run.

    Attributes:
        owner: Under which lease.
        asked: Somebody waits for it.
        force: Whatever the triggers say.
        maintain: `on_maintain` in place of `on_write`.
        after_writing: Not while `on_write` has a run due: of a talk that is cut into units, upkeep would see what came
            of the first.
        keep_answers: What models answered outlives the run.
    """

    owner: str
    asked: bool = False
    force: bool = False
    maintain: bool = False
    after_writing: bool = False
    keep_answers: bool = False


def lane_name(strategy: Strategy, *, maintain: bool) -> str:
    """Name the lane of a strategy, or that of its upkeep."""
    return strategy.name + MAINTAIN if maintain else strategy.name


def due_lane(snapshot: Snapshot, strategy: Strategy, space: int, options: RunOptions, now: int) -> Lane | None:
    """Return the lane if a run is due: a trigger fires on what is past the cursor, or the strategy reads none of it.

    What it does not read, or wrote itself, sets off no trigger; a run steps over it.
    """
    if options.after_writing:
        writing = replace(options, maintain=False, after_writing=False)
        if due_lane(snapshot, strategy, space, writing, now) is not None:
            return None
    lane = snapshot.lane(space, lane_name(strategy, maintain=options.maintain))
    if snapshot.newest(space) <= lane.cursor:
        return None
    if _makes_no_unit(snapshot, strategy, lane):
        return None
    triggers = strategy.maintain if options.maintain else strategy.triggers
    nothing = replace(_before_counting(snapshot, lane, triggers), asked=options.asked)
    least = replace(nothing, count=1, since=now, last=now)  # where this fires, whatever waits fires too
    if options.force or lane.stride or lane.seq or fired(triggers, least, now):
        return lane
    waiting: Waiting | None = None
    for waiting in _counted(snapshot, strategy, lane, nothing):
        if fired(triggers, waiting, now):
            return lane
    return lane if waiting is not None and not (waiting.count or waiting.tasks) else None


def next_look(snapshot: Snapshot, strategy: Strategy, space: int, options: RunOptions, now: int) -> NextLook | None:
    """Find when a lane whose triggers do not fire is to be looked at again, if nothing is written; None for at once."""
    lane = snapshot.lane(space, lane_name(strategy, maintain=options.maintain))
    (head,) = snapshot.spaces((space,))
    if not next_vers(snapshot, replace(lane, seq=0, stride=0), 1):
        return None
    if _makes_no_unit(snapshot, strategy, lane):  # what others wrote behind it need not be read to say so
        return NextLook(lane, head.seq, now + LOOK_AGAIN)
    triggers = strategy.maintain if options.maintain else strategy.triggers
    counts = list(_counted(snapshot, strategy, lane, _before_counting(snapshot, lane, triggers)))
    at = first_moment(triggers, counts[-1], now, now + LOOK_AGAIN)
    return NextLook(lane, head.seq, at) if at - now > SECOND else None


def _before_counting(snapshot: Snapshot, lane: Lane, triggers: Sequence[Trigger]) -> Waiting:
    """What is known before any version is counted: when the lane ran, and what was said of items since."""
    if not any(isinstance(trigger, Feedback) for trigger in triggers):
        return Waiting(ran=lane.leased)
    return Waiting(ran=lane.leased, judged=snapshot.judgements(lane.space, lane.cursor, lane.leased))


def _counted(snapshot: Snapshot, strategy: Strategy, lane: Lane, waiting: Waiting) -> Iterator[Waiting]:
    """Count what waits that the strategy reads, and the ends of tasks of any kind, in growing steps."""
    cursor = lane.cursor
    while vers := next_vers(snapshot, replace(lane, cursor=cursor, seq=0, stride=0), _LOOKED):
        versions = snapshot.versions(lane.space, vers)
        others = {ver: v for ver in vers if (v := versions.get(ver)) is not None and not is_own(v.item, strategy)}
        read = {ver: version for ver, version in others.items() if version.item.kind in strategy.reads}
        entries = takewhile(lambda entry: entry.ver <= vers[-1], snapshot.entries(lane.space, cursor))
        tokens = sum(len(entry.terms) // _BYTES_A_TERM for entry in entries if entry.ver in read)
        ended = sum(ends_task(version.item) for ver, version in others.items() if ver not in read)
        waiting, cursor = waiting.plus(list(read.values()), tokens), vers[-1]
        waiting = replace(waiting, tasks=waiting.tasks + ended)
        yield waiting


def lane_versions(snapshot: Snapshot, strategy: Strategy, lane: Lane, limit: int) -> tuple[dict[int, Version], int]:
    """Take the next versions past a strategy's lane that it reads, about `limit` parts together, and how far that goes.

    What it does not read, or wrote itself, is passed over, up to `_PASSED` parts: it fills no run.
    """
    taken: dict[int, Version] = {}
    upto, parts, passed = lane.cursor, 0, 0
    kinds = {kind_number(kind) for kind in strategy.reads}
    entries = entries_of_run(snapshot, lane)
    while passed < _PASSED and (page := list(islice(entries, max(limit, _LEAST_PAGE)))):
        readable = list(dict.fromkeys(entry.ver for entry in page if entry.kind in kinds))
        versions = snapshot.versions(lane.space, readable) if readable else {}
        for entry in page:
            version = versions.get(entry.ver)
            if version is None or is_own(version.item, strategy):
                passed += 1
            elif entry.ver not in taken and (parts >= limit or len(taken) == (lane.stride or limit)):
                return taken, upto
            else:
                taken[entry.ver] = version
                parts += 1
            upto = entry.ver
    return taken, upto


def run_versions(strategy: Strategy, snapshot: Snapshot, lane: Lane) -> list[int]:
    """The numbers of the versions that a strategy's run takes as its lane stands."""
    return list(_taken(snapshot, strategy, lane, strategy.batch)[0])


def _taken(snapshot: Snapshot, strategy: Strategy, lane: Lane, limit: int) -> tuple[dict[int, Version], int]:
    """Take the versions of a strategy's next run, and how far that goes: its next unit, if it has one, or a batch.

    What makes no unit yet is left; where nothing is read, it is passed over. A run that failed is done again in parts,
    which need not be units.
    """
    unit = unit_of(strategy, lane)
    if unit is None or lane.stride:
        return lane_versions(snapshot, strategy, lane, limit)
    looked, newest = min(_LEAST_PAGE, _LONGEST_UNIT), snapshot.newest(lane.space)
    while True:
        versions, upto = lane_versions(snapshot, strategy, lane, looked)
        if not versions:
            return versions, upto
        length = unit.length([version.item for version in versions.values()])
        if length is not None:
            taken = dict(islice(versions.items(), length))
            return taken, max(taken)
        if newest <= upto:
            return {}, lane.cursor
        if looked == _LONGEST_UNIT:
            return versions, upto
        looked = min(_GROWTH * looked, _LONGEST_UNIT)


def _makes_no_unit(snapshot: Snapshot, strategy: Strategy, lane: Lane) -> bool:
    """Whether what waits is the tail of a journal, which makes no unit of the strategy yet."""
    return unit_of(strategy, lane) is not None and _taken(snapshot, strategy, lane, strategy.batch)[1] == lane.cursor


class Unfinished(NamedTuple):
    """The tail of a journal that makes no unit of a strategy yet: how many items, and what it lacks."""

    items: int
    lacks: str


def awaiting_more(snapshot: Snapshot, strategy: Strategy, space: int) -> Unfinished | None:
    """Count what a strategy reads that makes no unit yet, until more is written; None where a run has something to do.

    What it wrote itself lies there too, and is not counted.
    """
    lane = snapshot.lane(space, strategy.name)
    unit = unit_of(strategy, lane)
    if unit is None or _taken(snapshot, strategy, lane, strategy.batch)[1] != lane.cursor:
        return None
    versions = lane_versions(snapshot, strategy, lane, _LONGEST_UNIT)[0]
    return Unfinished(len(versions), lacks(unit, [version.item for version in versions.values()]))


def evidence_left(snapshot: Snapshot, strategy: Strategy, place: tuple[int, int, int], passages: int) -> int:
    """Count the passages past a lane's cursor that its strategy reads: what it wrote itself lies there too.

    Args:
        place: The space, the lane's cursor in it and the newest version there, as `Snapshot.backlog` lists them.
        passages: How many lie there in all; past the first `_COUNTED` they are taken as they are.
    """
    kinds = {kind_number(kind) for kind in strategy.reads}
    return passages - sum(entry.kind not in kinds for entry in islice(snapshot.entries(*place), _COUNTED))


def unit_of(strategy: Strategy, lane: Lane) -> Unit | None:
    """The unit by which a lane is cut: that of `on_write`, if its strategy states one."""
    unit: Unit | None = getattr(strategy, "unit", None)
    return None if lane.name.endswith(MAINTAIN) else unit


def next_run(snapshot: Snapshot, strategy: Strategy, space: int, lane: Lane, options: RunOptions) -> StrategyRun | None:
    """Plan the next run of a lane; None for a space that is gone, or a lane that has nothing left.

    What was said to all users at once is nobody's: no strategy reads it.
    """
    limit = CATCH_UP if options.asked else strategy.batch
    versions, upto = _taken(snapshot, strategy, lane, limit)
    (head,) = snapshot.spaces((space,))
    if head.user is None or not head.lanes or upto == lane.cursor:
        return None
    step = Advance(name=lane.name, owner=lane.owner, after=lane.cursor, upto=upto, keep_answers=options.keep_answers)
    return _run(snapshot, strategy, space, lane, versions, step=step, upto=upto)


def dead_letter_run(
    snapshot: Snapshot, strategy: Strategy, space: int, ver: int, lane: str, job: JobStep
) -> StrategyRun | None:
    """Plan a run about one version that the lane gave up; None where space or version are gone."""
    (head,) = snapshot.spaces((space,))
    versions = snapshot.versions(space, [ver])
    if head.user is None or not versions:
        return None
    return _run(snapshot, strategy, space, Lane(space=space, name=lane), versions, job=job)


def rederiving_run(
    snapshot: Snapshot, strategy: Strategy, space: int, sources: Sequence[ItemId], lane: str, job: JobStep
) -> StrategyRun | None:
    """Plan a run over what stays of the evidence of an erased item; None where nothing does, or the space is gone."""
    (head,) = snapshot.spaces((space,))
    numbers = snapshot.numbers(space, sources)
    if head.user is None or not head.lanes or not numbers:
        return None
    versions = snapshot.versions(space, sorted(numbers.values()))
    return _run(snapshot, strategy, space, Lane(space=space, name=lane), versions, again=True, job=job)


def _run(
    snapshot: Snapshot,
    strategy: Strategy,
    space: int,
    lane: Lane,
    versions: Mapping[int, Version],
    *,
    again: bool = False,
    **moves: Any,
) -> StrategyRun:
    """Plan a run over what the strategy has not read, oldest first; what it wrote itself is never its evidence.

    A turn that it derived from before was read before: it is here again because it was pinned, say. Upkeep is given
    those too; with `again`, so is `on_write`.
    """
    (head,) = snapshot.spaces((space,))
    assert head.user is not None
    fresh = [] if isinstance(head.user, Shared) else _readable(strategy, versions.values(), lane, snapshot.now)
    made = _derived_items(snapshot, space, fresh)
    own = [] if lane.name.endswith(MAINTAIN) else [item for item in made if is_own(item, strategy)]
    before = set() if again else already_read(own)
    evidence = tuple(sorted((item for item in fresh if item.id not in before), key=lambda item: item.said))
    # A run over the strategy's own writes steps over them, and there are more such runs than others.
    known = tuple(snapshot.core((space,), View(at=lane.seq or None), KNOWN, strategy.by)) if evidence else ()
    now = max((version.recorded for version in versions.values()), default=EPOCH)
    given = Given(
        user=str(head.user),
        evidence=evidence,
        known=tuple(version.item for version in known),
        now=now,
        written=tuple(item.id for item in fresh if item.id not in before),
    )
    return StrategyRun(
        space=space,
        tenant=snapshot.tenant_name(head.tenant),
        user=head.user,
        branch=head.branch,
        lane=lane,
        given=given,
        known=known,
        hidden=hidden_of(own),
        vers=tuple(versions),
        epoch=head.epoch,
        number=head.number,
        made=frozenset(item.id for item in made),
        **moves,
    )


def _readable(strategy: Strategy, versions: Iterable[Version], lane: Lane, now: int) -> list[Item]:
    """Choose among versions the items that stand and that the strategy reads, without what memory said in them."""
    upto = lane.seq or None
    shown = (v.item for v in versions if v.seq_to is None or (upto is not None and v.seq_to > upto))
    read = (item for item in shown if item.kind in strategy.reads and item.state is State.ACTIVE)
    others = (item for item in read if not is_own(item, strategy) and not has_expired(item, now))
    return [news for item in others for news in _news(item)]


def _news(item: Item) -> Iterator[Item]:
    """Yield an item without what memory itself put into the prompt that it was taken from, unless that is all of it."""
    left = without_memory(item.text)
    if left == item.text:
        yield item
    elif left.strip():
        yield replace(item, text=left)


def is_own(item: Item, strategy: Strategy) -> bool:
    """Whether a strategy wrote an item itself."""
    return item.author == strategy.by


def _derived_items(snapshot: Snapshot, space: int, evidence: Sequence[Item]) -> list[Item]:
    """Find what anybody made of this evidence before, whatever became of it."""
    derived = snapshot.standing((space,), snapshot.derived(space, [item.id for item in evidence]))
    return [version.item for version in derived.values()]


def hidden_of(own: Sequence[Item]) -> dict[ItemId, Item]:
    """Choose what of the strategy's own its owner hid: what is retired, and not for a rerun."""
    return {item.id: item for item in own if item.state is State.RETIRED and not item.slots.get(RERUN)}


def already_read(own: Sequence[Item]) -> set[ItemId]:
    """Choose the evidence that was read before: of which something stands, or nothing was taken back for a rerun.

    What upkeep wrote says nothing of that.
    """
    own = [item for item in own if not item.slots.get(UPKEEP)]
    stands = {source for item in own if item.state is not State.RETIRED for source in item.source}
    again = {source for item in own if item.slots.get(RERUN) for source in item.source}
    return stands | ({source for item in own for source in item.source} - again)
