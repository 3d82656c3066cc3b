"""A strategy's lane, one run at a time: evidence in, the strategy's flow driven, its edits and the step in one commit.

A strategy that asks a model leases its lane, is pinned to the commit at which it was first leased, and has its answers
recorded as they arrive: a run that is cut short repeats its flow and pays for no answer twice. One that asks none takes
no lease: it costs milliseconds, and of two workers that did the same the second is refused by the cursor.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mnemic.derive.drafting import drafted
from mnemic.derive.drive import driven
from mnemic.derive.runs import How, gathered, lane_name, ready
from mnemic.errors import Conflict
from mnemic.flow import Flow
from mnemic.lanes.slices import (
    BUSY,
    HOUSE,
    IDLE,
    LEASE_SECONDS,
    WAITS,
    Slice,
    deadly,
    held,
    lessened,
)
from mnemic.registry import STRATEGIES, load
from mnemic.store.lanes import claim, release
from mnemic.store.requests import commit, look, transact

if TYPE_CHECKING:
    from mnemic.strategies.base import Strategy
    from mnemic.writing import Desk


def strategy_slice(desk: Desk, strategy: Strategy, space: int, how: How) -> Flow[Slice]:
    """One run, if it is time for one.

    Raises:
        MnemicError: it failed; whoever runs this says so with `lanes.failed`, and nothing is lost.
    """
    now, leased, name = desk.clock.now(), strategy.budget.calls > 0, lane_name(strategy, how)
    lane = yield from look(lambda s: ready(s, strategy, space, how, now))
    if lane is None:
        return IDLE
    if leased:
        lane = yield from transact(claim, space, name, how.owner, LEASE_SECONDS)
    if lane is None:
        return (yield from held(space, name))
    if not leased and lane.leased <= now < lane.not_before:
        return WAITS
    if leased and deadly(lane):
        return (yield from lessened(lane, strategy.batch))
    pinned = lane if leased else replace(lane, seq=0)
    run = yield from look(lambda s: gathered(s, strategy, space, pinned, how))
    if run is None:
        if leased:
            yield from transact(release, space, name, how.owner)
        return BUSY
    edits, known = yield from driven(desk, strategy, run, maintain=how.maintain)
    try:
        yield from commit(drafted(desk, strategy, run, edits, known))
    except Conflict:
        if leased:
            raise
        return BUSY  # somebody else went on, or changed what this rests on: it is read again from where they left it
    if leased:
        yield from transact(release, space, name, how.owner)
    return Slice(done=len(run.vers))


def house_slice(desk: Desk, space: int) -> Flow[Slice]:
    """What rules make of what was said last, for somebody who waits for it."""
    return strategy_slice(desk, load(STRATEGIES, HOUSE)(), space, How(owner="", asked=True))
