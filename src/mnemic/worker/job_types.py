"""Job types: what a job of each name does, one slice at a time, under the job's lease.

A row of `JOB_TYPES` is all that a new sort of job takes: a flow that does a little and says whether there is more. What
it writes with `Draft.job` or `Vectors.job` finishes the job in the same transaction, so that a kill between the two
cannot have it done twice; work that may be repeated without harm just returns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.events import Verb
from mnemic.core.items import HIDDEN_WHOLE, RERUN, Item, State, Version
from mnemic.core.queries import Filter
from mnemic.core.transitions import retired
from mnemic.derive.drafting import commit_run
from mnemic.derive.drive import driven
from mnemic.derive.runs import MAINTAIN, RunOptions, dead_letter_run, rederiving_run
from mnemic.derive.strategy_lane import strategy_slice
from mnemic.errors import Conflict, Invalid, MnemicError, NoModel, NotFound, OverQuota, UnusableModel
from mnemic.flow import Flow
from mnemic.lanes.embedding_slice import embed_letter
from mnemic.lanes.failures import ANSWERS, CONFLICT_SECONDS, is_ill, may_just_be_well, waits_for_share
from mnemic.lanes.slices import DERIVER
from mnemic.past.branching import put_of
from mnemic.past.undoing import reopening
from mnemic.store.engine.job_queue import AGAIN, DIGEST, NO_MODEL, end
from mnemic.store.engine.lane_cursors import claim, release
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import commit, look, transact
from mnemic.store.values.drafts import Advance, Draft, JobStep, Op, Put
from mnemic.store.values.work import Job, JobState, Lane, Order

if TYPE_CHECKING:
    from mnemic.strategies.base import Strategy
    from mnemic.writing import Desk

LEASE_SECONDS: Final = 60.0
TRIES: Final = 3
"""How often a job is tried before it is dead."""

NO_MODEL_SECONDS: Final = 60.0
"""How long a job waits that asks a language model where none can be asked, or the one that is set is ill."""

_EMBED: Final = "embed:"
_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class JobContext:
    """What a slice of a job needs from the process that runs it."""

    desk: Desk
    strategies: tuple[Strategy, ...]
    keep_answers: bool = False

    def strategy(self, name: str) -> Strategy:
        """Find the strategy of a name.

        Raises:
            Invalid: nobody follows it here.
        """
        strategy = next((strategy for strategy in self.strategies if strategy.name == name), None)
        if strategy is None:
            raise Invalid(
                "strategy",
                f"{name!r} is not followed here",
                "Name it in the setting `strategies`, or have the user `follow` it.",
            )
        return strategy


JobSlice = Callable[[JobContext, Job, JobStep], Flow[bool]]
"""Does one slice of a job; whether there is more to do."""


def digest(context: JobContext, job: Job, step: JobStep) -> Flow[bool]:
    """Run a strategy over one dead letter's version again, out of its turn."""
    space, ver, lane = job.order.space, job.order.ver, job.order.payload.decode()
    if model := embeds(job):
        yield from embed_letter(space, model, ver, step)
        return False
    strategy = context.strategy(lane.partition(":")[0])
    run = yield from look(lambda s: dead_letter_run(s, strategy, space, ver, lane, step))
    if run is not None:
        edits, known = yield from driven(context.desk, strategy, run, maintain=lane != strategy.name)
        yield from commit_run(context.desk, strategy, run, edits, known)
    return False


def rederive(context: JobContext, job: Job, step: JobStep, *, strategy: Strategy) -> Flow[bool]:
    """Run a strategy again over what stays of the evidence of something that was erased."""
    asked, space = _payload(job), job.order.space
    name = strategy.name + MAINTAIN if asked["upkeep"] else strategy.name
    run = yield from look(lambda s: rederiving_run(s, strategy, space, asked["sources"], name, step))
    if run is not None:
        edits, known = yield from driven(context.desk, strategy, run, maintain=asked["upkeep"])
        yield from commit_run(context.desk, strategy, run, edits, known)
    return False


def rerun(context: JobContext, job: Job, step: JobStep) -> Flow[bool]:
    """Retire what a strategy made of a space and send its lane back to the beginning, in one commit."""
    strategy = context.strategy(_payload(job)["strategy"])
    names = (strategy.name, strategy.name + MAINTAIN)
    leased: list[Lane] = []
    for name in names:
        lane = yield from transact(claim, job.order.space, name, step.owner, LEASE_SECONDS)
        if lane is not None:
            leased.append(lane)
    if len(leased) == len(names):
        write, upkeep = leased
        draft = yield from look(lambda s: _undone(s, strategy, write, step))
        # Nobody else goes on with its upkeep meanwhile: the lease is given back when the rest has landed too.
        back = Advance(name=upkeep.name, owner=step.owner, after=upkeep.cursor, upto=0, again=True)
        yield from commit(replace(draft, ops=(), expect={}, unkeyed=frozenset(), lane=back, job=None))
        yield from commit(draft)
    for lane in leased:
        yield from transact(release, lane.space, lane.name, step.owner)
    if len(leased) < len(names):
        raise Conflict(f"another worker has a lane of {strategy.name}; this comes after it")
    return False


def maintain(context: JobContext, job: Job, step: JobStep) -> Flow[bool]:
    """Run a strategy's upkeep now, whatever its triggers say."""
    strategy = context.strategy(_payload(job)["strategy"])
    options = RunOptions(owner=step.owner, force=True, maintain=True, keep_answers=context.keep_answers)
    did = yield from strategy_slice(context.desk, strategy, job.order.space, options)
    if did.busy:
        raise Conflict(f"the upkeep of {strategy.name} is another worker's, or waits; this comes after it")
    return bool(did.done)


JOB_TYPES: dict[str, JobSlice] = {DIGEST: digest, "rerun": rerun, "maintain": maintain}
"""What a job of each name does. Floors above add theirs when a store is opened: `Background.job_types`."""


def strategies_job_types(strategies: Sequence[Strategy]) -> dict[str, JobSlice]:
    """What jobs do that only a process may claim which follows the strategy that they are about."""
    return {AGAIN + strategy.by: partial(rederive, strategy=strategy) for strategy in strategies}


def rerun_order(space: int, strategy: str, key: str) -> Order:
    """Make the order to digest a space again from its beginning."""
    return Order(name="rerun", key=key, space=space, payload=json.dumps({"strategy": strategy}).encode(), priority=1)


def _payload(job: Job) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(job.order.payload or b"{}")
    return payload


def _undone(snapshot: Snapshot, strategy: Strategy, lane: Lane, step: JobStep) -> Draft:
    space = lane.space
    (head,) = snapshot.spaces((space,))
    if head.user is None:
        raise NotFound(f"space {space} is not here, or was erased")
    own = _to_take_back(snapshot, space, strategy)
    gone = {version.item.id for version in own}
    back = reopening(snapshot, space, gone, gone)
    ops: list[Op] = [Put(verb=Verb.RETIRED, item=retired(v.item, **{RERUN: True}), terms=None) for v in own]
    ops += [put_of(again, version.item) for version, again in back]
    return Draft(
        tenant=dict(snapshot.tenants())[head.tenant],
        user=head.user,
        branch=head.branch,
        actor=DERIVER,
        ops=tuple(ops),
        expect={version.item.id: version.seq_from for version in (*own, *(version for version, _ in back))},
        unkeyed=frozenset(gone),
        lane=Advance(name=lane.name, owner=step.owner, after=lane.cursor, upto=0, again=True),
        job=step,
    )


def _to_take_back(snapshot: Snapshot, space: int, strategy: Strategy) -> list[Version]:
    """Read what a strategy derived in a space, but for what its owner hid by itself."""
    where = Filter(by=(strategy.by,), states=(State.ACTIVE, State.SUPERSEDED, State.RETIRED))
    versions: list[Version] = []
    after = 0
    while page := snapshot.scan((space,), where, after=after, limit=_PAGE):
        after = page[-1][0]
        versions += [version for _, version in page if version.item.author == strategy.by]
    return [version for version in versions if _goes_for_rerun(version.item)]


def _goes_for_rerun(item: Item) -> bool:
    """Whether a rerun takes an item back: it stands, or was hidden with all that its strategy derived, and only so."""
    return item.state is not State.RETIRED or bool(item.slots.get(HIDDEN_WHOLE) and not item.slots.get(RERUN))


def end_slice(step: JobStep, *, more: bool) -> Flow[bool]:
    """Record that a slice of a job is done, and whether that was the last."""
    state = JobState.WAITING if more else JobState.DONE
    return (yield from transact(end, step, state))


def report_failed_job(
    context: JobContext, job: Job, step: JobStep, error: MnemicError, probe: Flow[object]
) -> Flow[bool]:
    """Record that a slice of a job failed: it is tried again, and dead after the last try.

    A conflict just waits. So does a job whose model is ill, which fails at the harmless `probe` too, one whose model
    may only just have got well, and one for which no model can be asked, or no more within this hour: that was no
    attempt.
    """
    now, message = context.desk.clock.now(), str(error) or type(error).__name__
    later = now + round(NO_MODEL_SECONDS * 1_000_000)
    if isinstance(error, NoModel | UnusableModel):
        cause = f"{NO_MODEL}: {message}"
        return (yield from transact(end, step, JobState.WAITING, cause, later, tried=False))
    if isinstance(error, OverQuota):
        cause, soon = waits_for_share(error, now), round(min(error.retry_after, NO_MODEL_SECONDS) * 1_000_000)
        return (yield from transact(end, step, JobState.WAITING, cause, now + soon, tried=False))
    if isinstance(error, Conflict):
        soon = now + round(CONFLICT_SECONDS * 1_000_000)
        return (yield from transact(end, step, JobState.WAITING, not_before=soon))
    if job.attempts + 1 < TRIES:
        return (yield from transact(end, step, JobState.WAITING, message, now + 2**job.attempts * 1_000_000))
    if (yield from is_ill(error, probe)):
        return (yield from transact(end, step, JobState.WAITING, message, later, tried=False))
    if may_just_be_well(error, job.error):
        return (yield from transact(end, step, JobState.WAITING, message + ANSWERS, now, tried=False))
    return (yield from transact(end, step, JobState.DEAD, message))


def embeds(job: Job) -> int:
    """Tell which embedder a job asks, by its number; 0 for none."""
    lane = job.order.payload.decode() if job.order.name == DIGEST else ""
    return int(lane.removeprefix(_EMBED)) if lane.startswith(_EMBED) else 0
