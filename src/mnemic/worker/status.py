"""The status of lanes and jobs: what waits, runs, fails or is dead."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from mnemic.artefacts.artefact_records import ADAPTER_AUTHOR
from mnemic.core.clock import moment
from mnemic.core.listing import Cursors, Listing, one_page
from mnemic.core.scope import Shared
from mnemic.derive.runs import awaiting_more, evidence_left
from mnemic.lanes.following import OF_NO_STRATEGY, follows
from mnemic.store.engine.job_queue import AGAIN, DIGEST, SHARE_USED
from mnemic.store.values.work import Job, JobState, Lane

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.strategies.base import Strategy

WAITING: Final = "waiting"
RUNNING: Final = "running"
FAILING: Final = "failing"

_NO_LONGER: Final = "it is not followed here now, so nobody tries it again"

_PAGE: Final = 1_000
"""Spaces with work that are looked up together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkEntry:
    """The status of one lane or job.

    Attributes:
        id: Of a job; None for a lane.
        name: The lane's name, or what the job does; a dead letter goes by the lane that gave it up.
        tenant, user: Whose; `user` is None for what all share, and both are "" for the store's own work.
        state: `waiting`, `running`, `failing` (it waits after a failure), `dead`, `done` or `cancelled`.
        pending: How many passages lie before a lane, and once these make no unit of its strategy yet, how many of them
            it reads; 1 for a job that is not over.
        lacks: What is yet to be said until they make one, such as "143 more tokens"; "" where work can go on.
        owner, since: Who runs it, "host pid ...", and since when.
        attempts: Failures in a row.
        error: The last one.
        not_before: When it may be tried again, if that is still to come.
        ver: The version that a dead letter is about, by its local number; 0 for anything else.
        item: The item of that version, whose words its owner may read; None for anything else, or once it is gone.
        branch: The user's branch that it is of; "" for the memory itself.
        at: When a job was tried last, or given up, or else ordered; None for a lane.
    """

    name: str
    state: str
    id: int | None = None
    tenant: str = ""
    user: str | None = ""
    pending: int = 0
    owner: str = ""
    since: datetime | None = None
    attempts: int = 0
    error: str = ""
    not_before: datetime | None = None
    ver: int = 0
    item: ItemId | None = None
    branch: str = ""
    at: datetime | None = None
    lacks: str = ""


def work_status(
    snapshot: Snapshot,
    lanes: Mapping[str, str],
    by_default: Sequence[str],
    now: int,
    limit: int,
    after: str | None,
    *,
    over: bool = False,
    strategies: Collection[Strategy] = (),
) -> Listing[WorkEntry]:
    """List lanes that have something before them, then jobs, the most urgent first, a page at a time.

    Lanes behind them failed last, and their strategy is not followed any more: why they failed stays to be seen.

    Args:
        lanes: The lanes that are followed here, and why one cannot be gone on with; "" where nothing is wrong.
        by_default: The strategies that are followed for users who have chosen none.
        after: The cursor of the page before.
        over: Jobs that are done or cancelled, too.
        strategies: Those that are followed here; what another is to derive again waits for it.
    """
    states = tuple(JobState) if over else (JobState.WAITING, JobState.DEAD)
    every = [*lanes, *_left(snapshot, lanes)]
    # A place is the lane by its place in the list and a space, or past all lanes a job by its priority and number.
    cursors = Cursors(repr(("jobs", over, tuple(every))), 3)
    stage, *past = (0, 0, 0) if after is None else cursors.read(after)
    numbered: list[tuple[tuple[int, int, int], WorkEntry]] = []
    authors = {strategy.by for strategy in strategies}
    for place, name in enumerate(every):
        left = limit + 1 - len(numbered)
        if place >= stage and left:
            last = past[0] if place == stage else 0
            waiting = _waiting(snapshot, name, by_default, last) if name in lanes else _failed(snapshot, name, last)
            strategy = next((known for known in strategies if known.name == name), None)
            for space, entry in _lanes(snapshot, name, strategy, lanes.get(name, ""), now, list(islice(waiting, left))):
                if entry.error and (name not in lanes or not follows(snapshot, space, name, by_default)):
                    entry = replace(entry, error=f"{entry.error}; {_NO_LONGER}", not_before=None)
                numbered.append(((place, space, 0), entry))
    if left := limit + 1 - len(numbered):
        behind = (past[0], past[1]) if stage == len(every) and after is not None else None
        for job in snapshot.jobs(*states, after=behind, limit=left):
            entry = job_entry(snapshot, job, now)
            author = entry.name.removeprefix(AGAIN)
            if entry.name != author not in authors and entry.state == WAITING:
                waits_for = f"it waits for a strategy that writes as {author!r}: none is followed here"
                learns = "it waits for `mnemic neural learn`, or a worker where torch is installed"
                entry = replace(entry, error=learns if author == ADAPTER_AUTHOR else waits_for)
            numbered.append(((len(every), job.order.priority, job.id), entry))
    page = one_page(numbered, limit, lambda last: cursors.write(*last[0]))
    return Listing(tuple(entry for _, entry in page), page.next)


def dead_letters(snapshot: Snapshot, now: int, limit: int, after: str | None) -> Listing[WorkEntry]:
    """List the dead letters by number, a page at a time: versions and jobs that were given up after their last try."""
    cursors = Cursors("dead", 1)
    (past,) = (0,) if after is None else cursors.read(after)
    page = one_page(
        snapshot.jobs(JobState.DEAD, after=(0, past), limit=limit + 1, by_number=True),
        limit,
        lambda last: cursors.write(last.id),
    )
    return Listing(tuple(job_entry(snapshot, job, now) for job in page), page.next)


def _lanes(
    snapshot: Snapshot,
    name: str,
    strategy: Strategy | None,
    trouble: str,
    now: int,
    waiting: Sequence[tuple[int, int, int]],
) -> Iterator[tuple[int, WorkEntry]]:
    """Describe a lane in the spaces in which it has work, each with the space."""
    pending, spaces = snapshot.pending(waiting), [space for space, _, _ in waiting]
    rows = snapshot.lane_rows(name, spaces)
    snapshot.spaces(spaces)  # all at once, whose they are
    for place in waiting:
        space, passages = place[0], pending.get(place[0], 0)
        lane = rows.get(space) or Lane(space=space, name=name)
        left = passages if strategy is None else evidence_left(snapshot, strategy, place, passages)
        entry = _lane_entry(snapshot, lane, left, trouble, now)
        more = None if strategy is None else awaiting_more(snapshot, strategy, space)
        yield space, entry if more is None else replace(entry, pending=more.items, lacks=more.lacks)


def _waiting(snapshot: Snapshot, name: str, by_default: Sequence[str], after: int) -> Iterator[tuple[int, int, int]]:
    """Yield the spaces past one in which a lane has work, with its cursor and the newest version there.

    Of users who do not follow its strategy only those are told of at whom it failed.
    """
    page = snapshot.backlog(name, after, _PAGE)
    while page:
        failed = {space for space, lane in snapshot.lane_rows(name, [place[0] for place in page]).items() if lane.error}
        yield from (place for place in page if place[0] in failed or follows(snapshot, place[0], name, by_default))
        page = snapshot.backlog(name, page[-1][0], _PAGE) if len(page) == _PAGE else []


def _failed(snapshot: Snapshot, name: str, after: int) -> Iterator[tuple[int, int, int]]:
    """Yield the spaces past one in which a lane failed that nobody follows here, as `_waiting` does."""
    spaces = (space for space, _ in snapshot.failing(name) if space > after)
    while page := list(islice(spaces, _PAGE)):
        yield from snapshot.waiting(name, page)


def _left(snapshot: Snapshot, lanes: Collection[str]) -> list[str]:
    """Name the lanes of strategies that failed last and that are none of these."""
    strange = (name for name in snapshot.failing_lanes() if name not in lanes)
    return [name for name in strange if name.partition(":")[0] not in OF_NO_STRATEGY]


def _lane_entry(snapshot: Snapshot, lane: Lane, pending: int, trouble: str, now: int) -> WorkEntry:
    error = lane.error or trouble
    running = bool(lane.owner) and lane.leased <= now < lane.lease_until
    tenant, user, branch = _whose(snapshot, lane.space)
    return WorkEntry(
        name=lane.name,
        state=RUNNING if running else FAILING if error and not error.startswith(SHARE_USED) else WAITING,
        tenant=tenant,
        user=user,
        pending=pending,
        owner=lane.owner if running else "",
        since=moment(lane.leased) if running else None,
        attempts=lane.attempt,
        error=error,
        not_before=moment(lane.not_before) if lane.not_before > now else None,
        branch=branch,
    )


def job_entry(snapshot: Snapshot, job: Job, now: int) -> WorkEntry:
    """Describe the status of a job."""
    running = job.is_running(now)
    tenant, user, branch = _whose(snapshot, job.order.space)
    version = snapshot.versions(job.order.space, [job.order.ver]).get(job.order.ver) if job.order.ver else None
    failing = job.state is JobState.WAITING and bool(job.error) and not job.error.startswith(SHARE_USED)
    return WorkEntry(
        id=job.id,
        name=job.order.payload.decode() if job.order.name == DIGEST else job.order.name,
        state=RUNNING if running else FAILING if failing else job.state.name.lower(),
        tenant=tenant,
        user=user,
        pending=int(job.state is JobState.WAITING),
        owner=job.owner if running else "",
        since=moment(job.leased) if running else None,
        attempts=job.attempts,
        error=job.error,
        not_before=moment(job.order.not_before) if job.order.not_before > now else None,
        ver=job.order.ver,
        item=None if version is None else version.item.id,
        branch=branch,
        at=moment(max(job.leased, job.at)),
    )


def _whose(snapshot: Snapshot, space: int) -> tuple[str, str | None, str]:
    if not space:
        return "", "", ""
    (head,) = snapshot.spaces((space,))
    return snapshot.tenant_name(head.tenant), None if isinstance(head.user, Shared) else head.user, head.branch
