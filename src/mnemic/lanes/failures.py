"""A lane whose run failed is repeated, halved, and at last gives up the version that cannot be digested.

A run is done again three times whole and then in halves, until the version is found that cannot be digested: that one
goes to the dead letters, and the lane goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mnemic.core.clock import moment
from mnemic.errors import (
    Compacted,
    Conflict,
    MnemicError,
    ModelError,
    NoModel,
    OverQuota,
    StoreError,
    UnusableModel,
)
from mnemic.flow import Flow
from mnemic.lanes.slices import BUSY, EMBED, IDLE, LEASE_SECONDS, WAITS, Slice, epoch_of
from mnemic.store.engine.job_queue import LAPSED
from mnemic.store.engine.lane_cursors import bury, claim, release
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import look, transact
from mnemic.store.values.work import Lane

BACKOFF_SECONDS: Final = (1, 2, 5, 15, 60)
"""How long a lane waits after its first, second ... failure in a row."""

WHOLE_TRIES: Final = 3
"""How often a run is tried as it is before it is halved."""

ANSWERS: Final = "; asked something harmless it answered"
"""What an error ends with after which the model was found well: the next failure is laid to what it was asked."""

CONFLICT_SECONDS: Final = 0.2
"""How long a run waits that somebody else's write has overtaken."""


Taken = Callable[[Snapshot, Lane], list[int]]
"""Tells which versions the run of a lane takes as it stands."""


def lease_denied(space: int, name: str) -> Flow[Slice]:
    """Say why a lane could not be leased: it waits, or it is another's, who may have given it back by now."""
    lane, now = yield from look(lambda s: (s.lane(space, name), s.now))
    return WAITS if not lane.owner and lane.leased <= now < lane.not_before else BUSY


def crashes_repeatedly(lane: Lane) -> bool:
    """Whether a lane's last runs all ended without giving their lease back, as when they kill their process."""
    return lane.error == LAPSED and lane.attempt >= WHOLE_TRIES


def shrink_after_crash(lane: Lane, taken: Taken) -> Flow[Slice]:
    """Have a leased lane whose runs crash take half of what they took, or give up the one version that is left."""
    vers = yield from look(lambda s: taken(s, lane))
    if not vers:
        yield from transact(release, lane.space, lane.name, lane.owner)
        return IDLE
    buried = yield from _halve_or_bury(lane, lane.owner, vers, f"{LAPSED}, time and again")
    return Slice(done=int(buried), busy=not buried)


def _halve_or_bury(lane: Lane, owner: str, vers: list[int], error: str) -> Flow[bool]:
    """Have the next run take half of what failed, or bury the one version left of it; whether it was buried."""
    if len(vers) == 1:
        yield from transact(bury, lane.space, lane.name, owner, lane.cursor, vers[0], error)
        yield from transact(release, lane.space, lane.name, owner)
        return True
    known = ANSWERS if lane.error.endswith(ANSWERS) else ""
    reach = max(lane.reach, vers[-1])
    yield from transact(release, lane.space, lane.name, owner, error + known, 0, len(vers) // 2, reach)
    return False


def report_failure(
    space: int, name: str, owner: str, error: MnemicError, now: int, probe: Flow[object], taken: Taken, epoch: int
) -> Flow[bool]:
    """Record that a lane's run failed: the lane waits, is halved, or gives up the one version that cannot be digested.

    Before anything is given up, the model that failed is asked something harmless: where it fails at that too, it is
    the model that is ill and not the version, and the lane just waits. Where it answers it may only just have got well,
    so the run is tried once more: what fails between two such answers is at fault.

    Args:
        probe: What a healthy model has no trouble with.
        epoch: That of the space when the run began. An error may quote what was erased since, and is not kept then.

    Returns:
        Whether a version was given up.
    """
    present, epoch_now = yield from look(lambda s: (s.lane(space, name), epoch_of(s, space)))
    if epoch != epoch_now and present.owner != owner:
        return False  # an erasure took the lease: the run is repeated as it was, and finds the answers that were left
    lane = yield from transact(claim, space, name, owner, LEASE_SECONDS)
    if lane is None:
        return False
    erased = epoch != (yield from look(lambda s: epoch_of(s, space)))
    if erased or isinstance(error, Conflict | Compacted):  # it was overtaken: thought again from the present
        yield from transact(release, space, name, owner, not_before=now + round(CONFLICT_SECONDS * 1_000_000))
        return False
    not_before, message = now + _backoff(lane), str(error) or type(error).__name__
    if isinstance(error, OverQuota):
        message = waits_for_share(error, now)
    if isinstance(error, NoModel | UnusableModel | OverQuota):  # nothing was tried; another process may go on at once
        yield from transact(release, space, name, owner, message, 0, lane.stride, lane.reach, tried=False)
        return False
    vers = yield from look(lambda s: taken(s, lane))
    early = lane.attempt + 1 < WHOLE_TRIES and (not lane.stride or len(vers) == 1)
    if early or not vers or isinstance(error, StoreError) or (yield from is_ill(error, probe)):
        yield from transact(release, space, name, owner, message, not_before, lane.stride, lane.reach)
        return False
    if may_just_be_well(error, lane.error):
        yield from transact(release, space, name, owner, message + ANSWERS, now, lane.stride, lane.reach)
        return False
    return (yield from _halve_or_bury(lane, owner, vers, message))


def report_unreachable_embedder(space: int, owner: str, error: MnemicError, now: int) -> Flow[None]:
    """Record why an embedder that has no lane yet cannot be asked, where other processes find it."""
    lane = yield from transact(claim, space, EMBED, owner, LEASE_SECONDS)
    if lane is not None:
        yield from transact(release, space, EMBED, owner, str(error), now + _backoff(lane))


def is_ill(error: MnemicError, probe: Flow[object]) -> Flow[bool]:
    """Whether the model itself fails: it does so at the harmless `probe` too."""
    if not isinstance(error, ModelError):
        probe.close()
        return False
    try:
        yield from probe
    except MnemicError:
        return True
    return False


def may_just_be_well(error: MnemicError, last: str) -> bool:
    """Whether a model that failed and then answered was not known to be well before: so its last error tells."""
    return isinstance(error, ModelError) and not last.endswith(ANSWERS)


def waits_for_share(error: OverQuota, now: int) -> str:
    """Say that what may be asked within an hour is used up, and when the next question may be asked."""
    return f"{error}: it goes on at {moment(now + round(error.retry_after * 1_000_000)):%H:%M:%S} UTC"


def _backoff(lane: Lane) -> int:
    return BACKOFF_SECONDS[min(lane.attempt, len(BACKOFF_SECONDS) - 1)] * 1_000_000
