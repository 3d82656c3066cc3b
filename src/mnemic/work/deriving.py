"""A strategy's lane, one run at a time: evidence in, the strategy's flow driven, its edits and the step in one commit.

A strategy that asks a model leases its lane, is pinned to the commit at which it was first leased, and has its answers
recorded as they arrive: a run that is cut short repeats its flow and pays for no answer twice. One that asks none takes
no lease: it costs milliseconds, and of two workers that did the same the second is refused by the cursor.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.clock import micros
from mnemic.core.events import Verb
from mnemic.core.items import Channel, Item, Link, State, Version
from mnemic.core.queries import View
from mnemic.core.scope import Shared
from mnemic.errors import Conflict, Invalid, MnemicError, OverBudget
from mnemic.flow import All, Flow, Request
from mnemic.models.requests import Ask
from mnemic.past.undoing import SUPERSEDES
from mnemic.registry import STRATEGIES, load
from mnemic.store.base import Advance, Answer, Draft, JobStep, Lane, Op, Put, Snapshot, Tie
from mnemic.store.requests import claim, commit, look, record, release
from mnemic.strategies.base import Bond, Derivation, Edits, Given, Known, Ref, Revision
from mnemic.work.hidden import derived_from, hidden_of, spared, spent_of
from mnemic.work.lanes import (
    BUSY,
    DERIVER,
    HOUSE,
    IDLE,
    LEASE_SECONDS,
    WAITS,
    Slice,
    deadly,
    held,
    lessened,
    next_vers,
)
from mnemic.work.triggers import Waiting, fired
from mnemic.writing import closed_by

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.strategies.base import Strategy
    from mnemic.writing import Desk

KNOWN: Final = 10_000
"""Most standing instructions and profile facts of one space that a run is given."""

CATCH_UP: Final = 500
"""Most versions of one run where somebody waits for it."""

MAINTAIN: Final = ":maintain"
"""What follows a strategy's name in the lane of its upkeep."""

_LOOKED: Final = 256
"""Versions looked at together to see whether a trigger fires."""

BYTES_A_TOKEN: Final = 4
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


def followed(named: str) -> tuple[str, ...]:
    """The names of the strategies that a setting names, separated by commas, each once; none is loaded.

    Raises:
        Invalid: there is none of a name.
    """
    names = tuple(dict.fromkeys(name.strip() for name in named.split(",") if name.strip()))
    for name in names:
        if name not in STRATEGIES:
            raise Invalid("strategies", f"{name!r} is not known", f"Known: {', '.join(sorted(STRATEGIES))}.")
    return names


def strategies(named: str) -> list[Strategy]:
    """The strategies that a setting names.

    Raises:
        Invalid: there is none of a name.
    """
    return [load(STRATEGIES, name)() for name in followed(named)]


def strategy_slice(desk: Desk, strategy: Strategy, space: int, how: How) -> Flow[Slice]:
    """One run, if it is time for one.

    Raises:
        MnemicError: it failed; whoever runs this says so with `lanes.failed`, and nothing is lost.
    """
    now, leased = desk.clock.now(), strategy.budget.calls > 0
    lane = yield from look(lambda s: _ready(s, strategy, space, how, now))
    if lane is None:
        return IDLE
    if leased:
        lane = yield from claim(space, lane.name, how.owner, LEASE_SECONDS)
    if lane is None:
        return (yield from held(space, lane_name(strategy, how)))
    if not leased and lane.leased <= now < lane.not_before:
        return WAITS
    if leased and deadly(lane):
        return (yield from lessened(lane, strategy.batch))
    ready = lane if leased else replace(lane, seq=0)
    run = yield from look(lambda s: gathered(s, strategy, space, ready, how))
    if run is None:
        if leased:
            yield from release(space, lane.name, how.owner)
        return BUSY
    edits = yield from driven(desk, strategy, run, maintain=how.maintain)
    try:
        yield from commit(drafted(desk, strategy, run, edits))
    except Conflict:
        if leased:
            raise
        return BUSY  # somebody else went on, or changed what this rests on: it is read again from where they left it
    if leased:
        yield from release(space, lane.name, how.owner)
    return Slice(done=len(run.vers))


def house_slice(desk: Desk, space: int) -> Flow[Slice]:
    """What rules make of what was said last, for somebody who waits for it."""
    return strategy_slice(desk, load(STRATEGIES, HOUSE)(), space, How(owner="", asked=True))


def _ready(snapshot: Snapshot, strategy: Strategy, space: int, how: How, now: int) -> Lane | None:
    """The lane, if a trigger fires on what lies past its cursor."""
    lane = snapshot.lane(space, lane_name(strategy, how))
    if snapshot.newest(space) <= lane.cursor:
        return None
    triggers = strategy.maintain if how.maintain else strategy.triggers
    nothing = Waiting(ran=lane.leased, asked=how.asked)
    least = replace(nothing, count=1, since=now, last=now)  # where this fires, whatever waits fires too
    if how.force or lane.stride or lane.seq or fired(triggers, least, now):
        return lane
    return lane if any(fired(triggers, waiting, now) for waiting in _counted(snapshot, lane, nothing)) else None


def _counted(snapshot: Snapshot, lane: Lane, waiting: Waiting) -> Iterator[Waiting]:
    """What waits, counted up in steps, so that nobody counts further than a trigger asks."""
    cursor = lane.cursor
    while vers := next_vers(snapshot, lane.space, replace(lane, cursor=cursor, seq=0, stride=0), _LOOKED):
        entries = takewhile(lambda entry: entry.ver <= vers[-1], snapshot.entries(lane.space, cursor))
        tokens = sum(len(entry.terms) // _BYTES_A_TERM for entry in entries)
        versions = snapshot.versions(lane.space, vers)
        waiting, cursor = waiting.plus([versions[ver] for ver in vers if ver in versions], tokens), vers[-1]
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
    """A run over what the strategy has not read, oldest first.

    A turn that it derived from before was read before: it is here again because it was pinned, say. Upkeep is given
    all.
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
    return [item for item in shown if item.kind in strategy.reads and item.state is State.ACTIVE]


def driven(desk: Desk, strategy: Strategy, run: Run, *, maintain: bool = False) -> Flow[Edits]:
    """What a strategy's flow returns: its reads answered as of the run's pin, its models' answers recorded, its budget
    kept, and what its owner hid left out. Errors of a request are thrown in; what it does not catch ends the run."""
    flow = strategy.on_maintain(run.given) if maintain else strategy.on_write(run.given)
    meter = _Meter(desk, strategy)
    try:
        request = next(flow)
        while True:
            try:
                answer = yield from _answered(request, run, meter)
            except Conflict:
                raise  # the run is over: the lease has passed on, or the store is being closed
            except MnemicError as error:
                request = flow.throw(error)
            else:
                request = flow.send(answer)
    except StopIteration as done:
        edits: Edits = done.value
        return (yield from spared(run.space, run.hidden, edits))
    finally:
        flow.close()


def _answered(request: Request, run: Run, meter: _Meter) -> Flow[Any]:
    match request:
        case All(requests):
            outcomes: list[Any] = []
            for one in requests:
                try:
                    outcomes.append((yield from _answered(one, run, meter)))
                except Conflict:
                    raise
                except MnemicError as error:
                    outcomes.append(error)
            return outcomes
        case Known(where, limit):
            found = yield from look(lambda s: s.latest((run.space,), where, run.view, limit=limit))
            return [version.item for version in found]
        case Ask():
            return (yield from _asked(request, run, meter))
        case _:
            return (yield request)


def _asked(request: Ask, run: Run, meter: _Meter) -> Flow[str]:
    """A model's answer; the one that was recorded, if this was asked before."""
    asked = json.dumps([request.limit, *((m.role, m.content) for m in request.messages)]).encode()
    before = yield from look(lambda s: s.recorded(run.space, run.lane.name, asked))
    if before is not None:
        return before.decode()
    meter.count(request)
    answer: str = yield request
    yield from record(_kept(run, asked, answer.encode()))
    return answer


def _kept(run: Run, asked: bytes, answered: bytes) -> Answer:
    """The answer under the lease of the run: of its lane, or of a dead letter's job."""
    owner, job = (run.lane.owner, 0) if run.job is None else (run.job.owner, run.job.id)
    seconds = LEASE_SECONDS
    return Answer(
        space=run.space, lane=run.lane.name, asked=asked, answered=answered, owner=owner, job=job, seconds=seconds
    )


class _Meter:
    """What one run has asked of models."""

    def __init__(self, desk: Desk, strategy: Strategy) -> None:
        self._clock, self._name, self._budget = desk.clock, strategy.name, strategy.budget
        self._calls = self._tokens = self._began = 0

    def count(self, request: Ask) -> None:
        """Count one question.

        Raises:
            OverBudget: it is one too many.
        """
        now, most = self._clock.now(), self._budget
        self._began = self._began or now
        self._calls += 1
        self._tokens += tokens_of(request)
        over = [
            name
            for name, spent, limit in (
                ("calls", self._calls, most.calls),
                ("tokens", self._tokens, most.tokens or self._tokens),
                ("seconds", (now - self._began) / 1_000_000, most.seconds or float("inf")),
            )
            if spent > limit
        ]
        if over:
            raise OverBudget(f"strategy {self._name}: this run is over its budget of {over[0]}")


def tokens_of(request: Ask) -> int:
    """About how many tokens a question and its answer may cost."""
    return sum(len(m.content.encode()) for m in request.messages) // BYTES_A_TOKEN + request.limit


def drafted(desk: Desk, strategy: Strategy, run: Run, edits: Edits) -> Draft:
    """The commit of a run: what it writes, what that takes the place of, and the step of the lane.

    Raises:
        Invalid: an edit names what is not there, or is not the strategy's to make.
    """
    known = {version.item.id: version for version in run.known}
    evidence = {item.id: item for item in run.given.evidence}
    fresh = [_derived_item(desk, strategy, d, evidence) for d in edits.write]
    closed: dict[ItemId, Item] = {}
    ties: list[Op] = []
    for newer, d in zip(fresh, edits.write, strict=True):
        for ref in ([] if d.supersedes is None else [d.supersedes]) + list(d.revokes):
            older = fresh[ref] if isinstance(ref, int) else _known(known, ref).item
            closed[older.id] = closed_by(older, newer)
            ties.append(Tie(verb=Verb.LINKED, link=Link(src=newer.id, dst=older.id, type=SUPERSEDES)))
    puts = [desk.put(Verb.WROTE, closed.get(i.id, i), key=d.key) for i, d in zip(fresh, edits.write, strict=True)]
    ends = [Put(verb=Verb.SUPERSEDED, item=item, terms=None) for id, item in closed.items() if id in known]
    changed = [_revised(desk, strategy, known, one) for one in edits.revise]
    gone = [_retired(strategy, known, id) for id in edits.retire]
    bonds = [Tie(verb=Verb.LINKED, link=_link(bond, fresh)) for bond in edits.tie]
    touched = {put.item.id for put in (*ends, *changed, *gone)}
    return Draft(
        tenant=run.tenant,
        user=run.user,
        branch=run.branch,
        actor=DERIVER,
        ops=(*puts, *ends, *changed, *gone, *ties, *bonds),
        expect={id: known[id].seq_from for id in touched},
        lane=run.step,
        job=run.job,
    )


def _known(known: dict[ItemId, Version], id: ItemId) -> Version:
    if id not in known:
        raise Invalid("edits", f"{id} was not given as known", "A strategy changes only what it was given.")
    return known[id]


def _own(strategy: Strategy, version: Version) -> Item:
    if version.item.slots.get("by") != strategy.by:
        raise Invalid("edits", f"{version.item.id} is not by {strategy.by}", "A strategy revises only its own.")
    return version.item


def _derived_item(desk: Desk, strategy: Strategy, d: Derivation, evidence: dict[ItemId, Item]) -> Item:
    """It belongs to the user and the agent it was said to, not to the session it was said in."""
    if not d.source or d.source[0] not in evidence or d.slots.get("by") != strategy.by:
        raise Invalid("edits", f"{d.key} cites no evidence of this run, or not its author", "See strategies.base.")
    return Item(
        id=desk.fresh_id(),
        kind=d.kind,
        text=d.text,
        slots=d.slots,
        tags=d.tags,
        source=d.source,
        said=d.said,
        said_offset=d.said_offset,
        valid_from=d.valid_from,
        agent=evidence[d.source[0]].agent,
        pos=micros(d.said),
        channel=Channel.MODEL if strategy.budget.calls else Channel.USER,
    )


def _revised(desk: Desk, strategy: Strategy, known: dict[ItemId, Version], one: Revision) -> Put:
    given = {"text": one.text, "slots": one.slots, "tags": one.tags}
    fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return desk.put(Verb.REVISED, replace(_own(strategy, _known(known, one.id)), **fields))


def _retired(strategy: Strategy, known: dict[ItemId, Version], id: ItemId) -> Put:
    item = replace(_own(strategy, _known(known, id)), state=State.RETIRED)
    return Put(verb=Verb.RETIRED, item=item, terms=None)


def _link(bond: Bond, fresh: list[Item]) -> Link:
    def named(ref: Ref) -> ItemId:
        return fresh[ref].id if isinstance(ref, int) else ref

    return Link(src=named(bond.src), dst=named(bond.dst), type=bond.type, weight=bond.weight)
