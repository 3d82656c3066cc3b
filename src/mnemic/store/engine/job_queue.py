"""Order jobs, lease them, finish or steer them; keep dead letters and what models answered."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mnemic.core.ids import to_bytes
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.store.engine import lineage
from mnemic.store.engine.rows import Rows
from mnemic.store.values.drafts import JobStep
from mnemic.store.values.work import Job, JobState, Lane, Order, RecordedAnswer

LAPSED: Final = "its worker ended, or was too slow, before it was done"
"""The error of a lease that nobody gave back: one more failed attempt."""

SHARE_USED: Final = "what it may ask a language model within an hour is used up"
"""How the error of a lane or job begins that waits for its user's next hour of questions: nothing went wrong."""

NO_MODEL: Final = "no language model can be asked"
"""How the error of a job begins that waits until one can: nothing was tried."""

DIGEST: Final = "digest"
"""The name of a dead letter: one version, to be digested by the lane that its payload names."""

AGAIN: Final = "again:"
"""How the names of jobs begin that have what stays of erased items' sources digested again; then comes their author."""


def letter(rows: Rows, space: int, lane: str, ver: int, attempts: int, error: str) -> int:
    """Keep a version that a lane gave up as a dead job; its number."""
    order = Order(space=space, name=DIGEST, key=f"{lane}:{ver}", payload=lane.encode(), ver=ver)
    known, now = rows.lanes.find_job(space, order.name, order.key), rows.now()
    number = rows.lanes.add_job(order, now) if known is None else known.id
    rows.lanes.set_job(Job(id=number, order=order, state=JobState.DEAD, attempts=attempts, error=error, at=now))
    return number


def order(rows: Rows, order: Order) -> int:
    """Order a job, unless it was ordered before; its number.

    Raises:
        NotFound: its space is not here, or was erased.
    """
    if not order.name or not order.key:
        raise Invalid("name" if order.key else "key", "is empty", "Say what is to be done, and under which key.")
    if order.space and not is_owned(rows, order.space):
        raise NotFound(f"space {order.space} is not here, or was erased")
    known = rows.lanes.find_job(order.space, order.name, order.key)
    return rows.lanes.add_job(order, rows.now()) if known is None else known.id


def claim(rows: Rows, names: Sequence[str], owner: str, seconds: float) -> Job | None:
    """Lease the most urgent job of these names that may be done now and that nobody does; None for none."""
    if not owner:
        raise Invalid("owner", "is empty", "Name who leases the job.")
    now = rows.now()
    job = rows.lanes.due_job(names, now)
    if job is None:
        return None
    leased = replace(job, owner=owner, leased=now, lease_until=now + round(seconds * 1_000_000))
    if job.owner:
        leased = replace(leased, attempts=attempts_after_lapse(job.attempts, job.error), error=LAPSED)
    rows.lanes.set_job(leased)
    return leased


def attempts_after_lapse(attempts: int, error: str) -> int:
    """Count a lease that nobody gave back as one more failed attempt.

    Of failures of another kind before it one counts at most: they may have been a model's that was ill, and of no
    evidence. So what fails and crashes in turn comes to its last attempt all the same.
    """
    return (attempts if error == LAPSED else min(attempts, 1)) + 1


def end(
    rows: Rows, step: JobStep, state: JobState, error: str = "", not_before: int = 0, *, tried: bool = True
) -> bool:
    """Say what became of a job; with an error, one more failed attempt. False if the lease has passed on.

    `WAITING` gives it back to be gone on with, not before its time.

    Args:
        tried: Whether an error counts as an attempt: not where nothing could be tried.
    """
    job = rows.lanes.job(step.id)
    if job is None or not step.owner or job.owner != step.owner:
        return False
    order = replace(job.order, not_before=not_before)
    attempts = job.attempts + (tried and bool(error))
    rows.lanes.set_job(replace(job, order=order, state=state, attempts=attempts, owner="", lease_until=0, error=error))
    return True


def finish(rows: Rows, step: JobStep) -> None:
    """Mark a job as done, in the transaction that does it.

    Raises:
        Conflict: the lease has passed on.
    """
    if not end(rows, step, JobState.DONE):
        raise Conflict(f"job {step.id} is no longer leased to {step.owner!r}; whoever has it does it")


def steer(rows: Rows, number: int, state: JobState) -> Job:
    """Cancel a job that waits, or have one done that is dead or was cancelled.

    Raises:
        NotFound: there is no such job.
        Invalid: a person can only cancel or retry.
    """
    if state not in (JobState.CANCELLED, JobState.WAITING):
        raise Invalid("state", f"is {state.name}", "Cancel a job, or have it wait to be done again.")
    job = rows.lanes.job(number)
    if job is None:
        raise NotFound(f"no job {number} here")
    ended = (JobState.DEAD, JobState.CANCELLED)
    if (state is JobState.CANCELLED and job.state is JobState.WAITING) or (
        state is JobState.WAITING and job.state in ended
    ):
        order = replace(job.order, not_before=0)
        job = replace(job, order=order, state=state, attempts=0, owner="", lease_until=0)
        rows.lanes.set_job(job)
    return job


def hasten(rows: Rows, number: int) -> None:
    """Have a job that waits until a language model can be asked be done now: whoever hastens it may have one."""
    job = rows.lanes.job(number)
    if job is not None and job.state is JobState.WAITING and job.error.startswith(NO_MODEL):
        rows.lanes.set_job(replace(job, order=replace(job.order, not_before=0)))


def prolong(rows: Rows, space: int, owner: str, seconds: float, job: int = 0) -> bool:
    """Prolong the leases that a run holds: those of a space's lanes and of a job that are `owner`'s still.

    Returns:
        Whether there were any. Those that have passed on, or that an erasure has taken, are not had back.
    """
    if not owner:
        return False
    until = rows.now() + round(seconds * 1_000_000)
    held = [lane for lane in rows.lanes.lanes(space) if lane.owner == owner]
    for lane in held:
        rows.lanes.set_lane(replace(lane, lease_until=until))
    done = rows.lanes.job(job) if job else None
    if done is not None and done.owner == owner:
        rows.lanes.set_job(replace(done, lease_until=until))
        return True
    return bool(held)


def give_back(rows: Rows, space: int, owner: str) -> None:
    """Give back what a run holds that was cut short, lanes of a space and a job: it counts as no failed attempt."""
    for lane in rows.lanes.lanes(space):
        if lane.owner == owner:
            rows.lanes.set_lane(replace(lane, owner="", lease_until=0))
    for job in rows.lanes.jobs((JobState.WAITING,)):
        if job.owner == owner:
            rows.lanes.set_job(replace(job, owner="", lease_until=0))


def record(rows: Rows, answer: RecordedAnswer) -> bool:
    """Keep what a model answered, and prolong the lease under which it was asked; whether that is held still.

    The answer stays until the lane's run lands or something is erased that it may hold; where something that was given
    to models goes in another way, by compaction or back in time, answers go too. If an erasure has taken the lease, of
    something that the run was not given, the answer is kept all the same, for whoever repeats the run.

    Raises:
        Conflict: the lease has passed on, or something that the run was given has gone: nothing of that answer stays.
    """
    inputs = [to_bytes(item) for item in answer.inputs]
    owned = is_owned(rows, answer.space) and _are_there(rows, answer.space, inputs)
    holder = rows.lanes.job(answer.job) if answer.job else rows.lanes.lane(answer.space, answer.lane)
    held = holder is not None and holder.owner == answer.owner
    if not owned or not (held or _is_taken(holder, answer)):
        raise Conflict(f"lane {answer.lane!r} is no longer leased to {answer.owner!r}; whoever has it asks again")
    if held:
        prolong(rows, answer.space, answer.owner, answer.seconds, answer.job)
    hashed = request_hash(rows, answer.space, answer.request)
    rows.lanes.add_answer(answer.space, answer.lane, hashed, answer.answer, inputs)
    return held


def _is_taken(holder: Job | Lane | None, answer: RecordedAnswer) -> bool:
    """Whether an erasure took the lane's lease, nobody has gone on since, and it is known what the answer may hold."""
    return isinstance(holder, Lane) and not holder.owner and bool(answer.inputs) and 0 < holder.seq == answer.pin


def _are_there(rows: Rows, space: int, items: Sequence[bytes]) -> bool:
    """Whether a space still has all of these: neither erased, nor compacted, nor taken back in time."""
    (row,) = rows.spaces.space_rows((space,))
    return len(lineage.standing(rows, row, items)) == len(set(items))


def recorded(rows: Rows, space: int, lane: str, request: bytes) -> bytes | None:
    """Look up what a model answered to the same request before."""
    return rows.lanes.answer(space, lane, request_hash(rows, space, request)) if is_owned(rows, space) else None


def request_hash(rows: Rows, space: int, request: bytes) -> bytes:
    """Hash a request with the space's secret, so that it can be compared and not guessed."""
    (row,) = rows.spaces.space_rows((space,))
    return hashlib.blake2b(request, key=row.secret, digest_size=32).digest()


def is_owned(rows: Rows, space: int) -> bool:
    """Whether a space is there and was not erased."""
    return any(row.user is not None for row in rows.spaces.space_rows((space,)))
