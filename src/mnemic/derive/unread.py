"""Work out, for one reader and without writing, what the rules will derive from turns that no run has read yet."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from mnemic.derive.drafting import draft_run
from mnemic.derive.drive import driven
from mnemic.derive.runs import RunOptions, StrategyRun, next_run
from mnemic.flow import Flow, Pause, Request, run
from mnemic.lanes.slices import HOUSE
from mnemic.registry import STRATEGIES, load
from mnemic.store.requests import Look
from mnemic.store.values.drafts import Put

if TYPE_CHECKING:
    from mnemic.core.items import Item
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.drafts import Draft
    from mnemic.store.values.heads import SpaceHead
    from mnemic.store.values.work import Lane
    from mnemic.strategies.base import Strategy
    from mnemic.writing import Desk

AHEAD: Final = 500
"""Most parts of unread versions that are read for one answer, as many as one run takes."""

SPACES: Final = 256
"""Most spaces for which an answer is kept."""


class FarBehind(Exception):
    """More waits for the rules than a reader reads ahead: they are to read it first."""


class UnreadRules:
    """Caches what the rules derive from each user's unread turns, once for each commit that a reader sees.

    Safe for many threads: whoever comes second at worst works it out again.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[tuple[int, int, int], tuple[Item, ...]]] = {}
        self._refused_at: dict[int, int] = {}
        """By space, the cursor at which rules were found far behind."""

    def clear(self) -> None:
        """Drop every cached derivation."""
        self._known.clear()
        self._refused_at.clear()

    def read(self, snapshot: Snapshot, desk: Desk, head: SpaceHead) -> tuple[Item, ...]:
        """Read the items that a run of the rules would write or change in a space now, as it would leave them.

        They have the ids that the run will give them, unless something is erased before it.

        Raises:
            FarBehind: more waits than is read ahead, told once for each cursor: where rules cannot go on from there,
                the last of what waits is read.
        """
        lane = snapshot.lane(head.id, HOUSE)
        if not head.lanes or snapshot.newest(head.id) <= lane.cursor:
            return ()
        place, known = (lane.cursor, head.seq, head.epoch), self._known.get(head.id)
        if known is None or known[0] != place:
            ahead = sum(1 for _ in islice(snapshot.entries(head.id, lane.cursor), AHEAD + 1))
            if ahead > AHEAD and self._refused_at.get(head.id) != lane.cursor:
                self._refused_at[head.id] = lane.cursor
                raise FarBehind
            if len(self._known) >= SPACES:
                self._known.clear()
            known = self._known[head.id] = place, _made(snapshot, desk, lane)
        return known[1]


def _made(snapshot: Snapshot, desk: Desk, lane: Lane) -> tuple[Item, ...]:
    """Draft what a run over the last waiting versions of a lane would write."""
    waiting = deque((entry.ver for entry in snapshot.entries(lane.space, lane.cursor)), AHEAD)
    if not waiting:
        return ()
    cut_through = len(waiting) == AHEAD and waiting[0] != waiting[-1]  # the first may be there in part
    strategy, ahead = load(STRATEGIES, HOUSE)(), replace(lane, cursor=waiting[0] - (not cut_through), seq=0, stride=0)
    planned = next_run(snapshot, strategy, lane.space, ahead, RunOptions(owner="", asked=True))
    if planned is None:
        return ()
    draft = run(_drafted(desk, strategy, planned), partial(_answered, snapshot))
    return tuple(op.item for op in draft.ops if isinstance(op, Put))


def _drafted(desk: Desk, strategy: Strategy, planned: StrategyRun) -> Flow[Draft]:
    edits, known = yield from driven(desk, strategy, planned)
    return (yield from draft_run(desk, strategy, planned, edits, known))


def _answered(snapshot: Snapshot, request: Request) -> Any:
    """Answer the requests of rules: a look by the snapshot, and a pause by nothing, as nobody waits here."""
    match request:
        case Look(of):
            return of(snapshot)
        case Pause():
            return None
        case _:
            raise TypeError(f"rules ask for {type(request).__name__}, which a reader cannot answer")
