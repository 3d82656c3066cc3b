"""A strategy's lane, one run at a time: evidence in, the strategy's flow driven, its edits and the step in one commit.

A strategy that asks a model leases its lane, is pinned to the commit at which it was first leased, and has its answers
recorded as they arrive: a run that is cut short repeats its flow and pays for no answer twice. One that asks none takes
no lease: it costs milliseconds, and of two workers that did the same the second is refused by the cursor.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mnemic.derive.drafting import commit_run
from mnemic.derive.drive import driven
from mnemic.derive.runs import RunOptions, due_lane, lane_name, next_run
from mnemic.errors import Conflict
from mnemic.flow import Flow
from mnemic.lanes.failures import crashes_repeatedly, lease_denied, shrink_after_crash
from mnemic.lanes.slices import BUSY, HOUSE, IDLE, LEASE_SECONDS, WAITS, Slice
from mnemic.registry import STRATEGIES, load
from mnemic.store.requests import claim, look, release

if TYPE_CHECKING:
    from mnemic.strategies.base import Strategy
    from mnemic.writing import Desk


def strategy_slice(desk: Desk, strategy: Strategy, space: int, options: RunOptions) -> Flow[Slice]:
    """Make one run of a strategy, if it is time for one.

    Raises:
        MnemicError: it failed; whoever runs this says so with `failures.report_failure`, and nothing is lost.
    """
    now, leased = desk.clock.now(), strategy.budget.calls > 0
    lane = yield from look(lambda s: due_lane(s, strategy, space, options, now))
    if lane is None:
        return IDLE
    if leased:
        lane = yield from claim(space, lane.name, options.owner, LEASE_SECONDS)
    if lane is None:
        return (yield from lease_denied(space, lane_name(strategy, maintain=options.maintain)))
    if not leased and lane.leased <= now < lane.not_before:
        return WAITS
    if leased and crashes_repeatedly(lane):
        return (yield from shrink_after_crash(lane, strategy.batch))
    pinned = lane if leased else replace(lane, seq=0)
    run = yield from look(lambda s: next_run(s, strategy, space, pinned, options))
    if run is None:
        if leased:
            yield from release(space, lane.name, options.owner)
        return BUSY
    edits, known = yield from driven(desk, strategy, run, maintain=options.maintain)
    try:
        yield from commit_run(desk, strategy, run, edits, known)
    except Conflict:
        if leased:
            raise
        return BUSY  # somebody else went on, or changed what this rests on: it is read again from where they left it
    if leased:
        yield from release(space, lane.name, options.owner)
    return Slice(done=len(run.vers))


def house_slice(desk: Desk, space: int) -> Flow[Slice]:
    """Have rules read what was said last, for somebody who waits for it."""
    return strategy_slice(desk, load(STRATEGIES, HOUSE)(), space, RunOptions(owner="", asked=True))
