"""Run a strategy's lane, one run at a time: plan it, drive the flow, commit its edits and the lane's step together.

A strategy that asks a model leases its lane, is pinned to the commit at which it was first leased, and has its answers
recorded as they arrive: a run that is cut short repeats its flow and pays for no answer twice. One that asks none takes
no lease: it costs milliseconds, and of two workers that did the same the second is refused by the cursor.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mnemic.derive.drafting import commit_run
from mnemic.derive.drive import driven
from mnemic.derive.lookup_tags import filled_tags
from mnemic.derive.runs import RunOptions, StrategyRun, due_lane, next_look, next_run, run_versions
from mnemic.errors import Conflict
from mnemic.flow import Flow
from mnemic.lanes.failures import crashes_repeatedly, lease_denied, shrink_after_crash
from mnemic.lanes.slices import BUSY, HOUSE, IDLE, LEASE_SECONDS, WAITS, Slice
from mnemic.registry import STRATEGIES, load
from mnemic.store.engine.lane_cursors import claim, put_off, release
from mnemic.store.requests import look, transact

if TYPE_CHECKING:
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.work import Lane
    from mnemic.strategies.base import Strategy
    from mnemic.writing import Desk


def strategy_slice(desk: Desk, strategy: Strategy, space: int, options: RunOptions) -> Flow[Slice]:
    """Run a strategy once over a space, if a run is due.

    Raises:
        MnemicError: it failed; whoever runs this says so with `failures.report_failure`, and nothing is lost.
    """
    filled = yield from filled_tags(desk, strategy, space)
    if filled is not None:
        return filled
    if strategy.budget.calls > 0:
        return (yield from _leased_slice(desk, strategy, space, options))
    return (yield from _unleased_slice(desk, strategy, space, options))


def _leased_slice(desk: Desk, strategy: Strategy, space: int, options: RunOptions) -> Flow[Slice]:
    now = desk.clock.now()
    due = yield from look(lambda s: due_lane(s, strategy, space, options, now))
    if due is None:
        return (yield from _put_off(strategy, space, options, now))
    lane = yield from transact(claim, space, due.name, options.owner, LEASE_SECONDS)
    if lane is None:
        return (yield from lease_denied(space, due.name))
    if crashes_repeatedly(lane):
        return (yield from shrink_after_crash(lane, partial(run_versions, strategy)))
    run = yield from look(lambda s: next_run(s, strategy, space, lane, options))
    if run is not None:
        edits, known = yield from driven(desk, strategy, run, maintain=options.maintain)
        yield from commit_run(desk, strategy, run, edits, known)
    yield from transact(release, space, lane.name, options.owner)
    return BUSY if run is None else _done(run)


def _put_off(strategy: Strategy, space: int, options: RunOptions, now: int) -> Flow[Slice]:
    """Have the space looked at again when a trigger fires at the soonest, or something is written to it."""
    then = yield from look(lambda s: next_look(s, strategy, space, options, now))
    if then is not None and not options.asked:
        yield from transact(put_off, then.lane, then.seq, then.at)
    return IDLE


def _unleased_slice(desk: Desk, strategy: Strategy, space: int, options: RunOptions) -> Flow[Slice]:
    now = desk.clock.now()
    lane, run = yield from look(lambda s: _due_run(s, strategy, space, options, now))
    if lane is None:
        return (yield from _put_off(strategy, space, options, now))
    if lane.leased <= now < lane.not_before:
        return WAITS
    if run is None:
        return BUSY
    edits, known = yield from driven(desk, strategy, run, maintain=options.maintain)
    try:
        yield from commit_run(desk, strategy, run, edits, known)
    except Conflict:
        return BUSY  # somebody else went on, or changed what this rests on: it is read again from where they left it
    return _done(run)


def _done(run: StrategyRun) -> Slice:
    """What a run did; one that passed over what its strategy does not read did something too."""
    return Slice(done=max(1, len(run.vers)))


def _due_run(
    snapshot: Snapshot, strategy: Strategy, space: int, options: RunOptions, now: int
) -> tuple[Lane | None, StrategyRun | None]:
    """Return the lane and the run that is due, or none; it reads the present, pinned to no commit."""
    lane = due_lane(snapshot, strategy, space, options, now)
    return lane, None if lane is None else next_run(snapshot, strategy, space, replace(lane, seq=0), options)


def house_slice(desk: Desk, space: int) -> Flow[Slice]:
    """Run the rules over what was said last, for a reader who waits for it."""
    return strategy_slice(desk, load(STRATEGIES, HOUSE)(), space, RunOptions(owner="", asked=True))
