"""Lease lanes, move their cursors, keep the vectors that they fill; add and retire embedders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from mnemic.core.clock import FOREVER
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.store.engine import job_queue
from mnemic.store.engine.rows import RESTS, Rows
from mnemic.store.values.drafts import Advance
from mnemic.store.values.work import EmbedderRow, EmbedderState, Lane, Vectors, allowed_vector_sizes, embedding_lane

SLICE: Final = 1000
"""Most vectors taken out in one transaction when an embedder goes."""

FOLLOW_SPACES: Final = 10_000
"""Spaces looked over in one transaction when somebody begins to follow a lane."""


def enlist(rows: Rows, name: str, dims: int, state: EmbedderState) -> int:
    """Make an embedder known, unless it is; its number. One that was retiring takes `state`.

    Raises:
        Conflict: an embedder of this name has other dimensions.
    """
    known = next((row for row in rows.vectors.embedders() if row.name == name), None)
    if known is None:
        return rows.vectors.add_embedder(name, dims, state)
    if known.dims != dims:
        raise Conflict(
            f"embedder {name!r} has {known.dims} dimensions here, not {dims}; give the other one its own name"
        )
    if known.state is EmbedderState.RETIRING:
        rows.vectors.set_embedder(known._replace(state=state))
    return known.id


def appoint(rows: Rows, model: int, state: EmbedderState) -> None:
    """Say what an embedder's vectors are for.

    Raises:
        NotFound: there is no such embedder.
    """
    rows.vectors.set_embedder(_embedder(rows, model)._replace(state=state))


def dismiss(rows: Rows, model: int) -> bool:
    """Delete some vectors of an embedder, and at last its row; whether there is more to do.

    Its row goes last, so that a cut shows; meanwhile it is retiring. Nothing is to do for one that is not there.
    """
    row = _find(rows, model)
    if row is None:
        return False
    if row.state is not EmbedderState.RETIRING:
        rows.vectors.set_embedder(row._replace(state=EmbedderState.RETIRING))
    rows.lanes.drop_lanes(embedding_lane(model))
    rows.packs.drop_of_embedder(model)
    if rows.vectors.drop_vectors(model, SLICE):
        return True
    rows.vectors.drop_embedder(model)
    return False


def follow(rows: Rows, name: str) -> bool:
    """One slice of writing down where a lane that nobody followed yet has work; whether there is more to do.

    What is written meanwhile, and from then on, brings its own rows: it is followed from the first slice on.
    """
    upto = rows.lanes.followed(name) or 0
    spaces = [] if upto == FOREVER else rows.lanes.space_numbers(upto, FOLLOW_SPACES)
    rows.lanes.add_due(name, [space for space, _, _ in rows.lanes.waiting(name, spaces)])
    more = len(spaces) == FOLLOW_SPACES
    rows.lanes.set_followed(name, spaces[-1] if more else FOREVER)
    return more


def unfollow(rows: Rows, names: Sequence[str]) -> None:
    """Have nobody follow these lanes: each goes on from its cursor when somebody follows it again."""
    for name in names:
        rows.lanes.unfollow(name)


def rest(rows: Rows, name: str, idle: Mapping[int, int]) -> None:
    """Have a lane look no more at these spaces, in which it has nothing to do, until something is written there.

    Args:
        idle: Spaces, each with its highest version as it was when nothing was to be done there: it was erased, say, or
            its user does not follow the lane. Where something was written since, it is looked at again.
    """
    waiting = {space: newest for space, _, newest in rows.lanes.waiting(name, list(idle))}
    rows.lanes.drop_due(name, [space for space in idle if space not in waiting])
    for space, newest in waiting.items():
        if newest == idle[space]:
            rows.lanes.put_off(name, space, RESTS)


def put_off(rows: Rows, seen: Lane, seq: int, at: int) -> None:
    """Have a lane look at a space again at this time, unless something was committed or the lane moved since.

    Args:
        seen: The lane as it was when nothing was to be done yet.
        seq: The last commit of its space then: feedback, which wakes strategies too, is a commit without versions.
    """
    here = any(row.seq == seq for row in rows.spaces.space_rows((seen.space,)))
    if here and rows.lanes.lane(seen.space, seen.name) == seen:
        rows.lanes.put_off(seen.name, seen.space, at)


def claim(rows: Rows, space: int, name: str, owner: str, seconds: float) -> Lane | None:
    """Lease a lane for `seconds`; None while another's lease lives, before its time, in an erased space.

    A lease, and a wait, hold from when the lane was last leased: a clock that was set back behind that ends both. A
    lease that nobody gave back counts as a failed attempt (`job_queue.attempts_after_lapse`).
    """
    if not owner:
        raise Invalid("owner", "is empty", "Name who leases the lane.")
    lane, now = rows.lanes.lane(space, name), rows.now()
    others = lane.owner not in ("", owner)
    holds_until = max(lane.not_before, lane.lease_until if others else 0)
    if lane.leased <= now < holds_until or not job_queue.is_owned(rows, space):
        return None
    (home,) = rows.spaces.space_rows((space,))
    seq = lane.seq or rows.spaces.tenant_row(home.tenant).seq
    leased = replace(lane, owner=owner, lease_until=now + round(seconds * 1_000_000), seq=seq, leased=now)
    if others:
        attempt = job_queue.attempts_after_lapse(lane.attempt, lane.error)
        leased = replace(leased, attempt=attempt, error=job_queue.LAPSED)
    rows.lanes.set_lane(leased)
    rows.lanes.put_off(name, space, 0)  # whatever becomes of the run, it is looked at again
    return leased


def release(
    rows: Rows,
    space: int,
    name: str,
    owner: str,
    error: str = "",
    not_before: int = 0,
    stride: int = 0,
    reach: int = 0,
    *,
    tried: bool = True,
) -> None:
    """Give a lease back; with an error, one more failed attempt. Without effect if the lease has passed on.

    A run that failed keeps the commit it is pinned to, so that the next one may repeat it.

    Args:
        stride, reach: With an error, the most versions that a run may take until the cursor has come to `reach`.
        tried: Whether an error counts as an attempt: not where nothing could be tried.
    """
    lane = rows.lanes.lane(space, name)
    if not owner or lane.owner != owner:
        return
    freed = replace(lane, owner="", lease_until=0, not_before=not_before, error=error)
    if error:
        rows.lanes.set_lane(replace(freed, attempt=lane.attempt + tried, stride=stride, reach=reach))
    else:
        rows.lanes.set_lane(replace(freed, attempt=0, seq=0))


def bury(rows: Rows, space: int, name: str, owner: str, after: int, ver: int, error: str) -> int:
    """Move a lane past a version that cannot be digested, and keep that as a dead job; returns the job's number.

    Raises:
        Conflict: the cursor or the lease is another's.
    """
    attempts = rows.lanes.lane(space, name).attempt + 1
    advance(rows, space, Advance(name=name, owner=owner, after=after, upto=ver))
    return job_queue.letter(rows, space, name, ver, attempts, error)


def keep(rows: Rows, batch: Vectors) -> int:
    """Write vectors and move their lane; returns how many were written. A row whose part was erased is left out.

    Raises:
        Conflict: the lane's cursor or lease is another's, or the embedder retires.
        NotFound: there is no such embedder, or the space was erased.
        Invalid: a row is of the wrong size or outside the step.
    """
    embedder = _embedder(rows, batch.model)
    if not job_queue.is_owned(rows, batch.space):
        raise NotFound(f"space {batch.space} is not here, or was erased")
    _check(batch, embedder)
    if embedder.state is EmbedderState.RETIRING:
        raise Conflict(f"embedder {embedder.name!r} retires; enlist it again to fill its vectors")
    if batch.job is not None:
        job_queue.finish(rows, batch.job)
        _start_caches_over(rows, batch.space)
    else:
        step = Advance(name=batch.lane, owner=batch.owner, after=batch.after, upto=batch.upto)
        advance(rows, batch.space, step)
    rows.packs.drop_with_vectors(batch.space, batch.model, batch.after, batch.upto)
    return rows.vectors.add_vectors(batch.space, batch.model, batch.rows)


def add_traits(rows: Rows, space: int, model: int, traits: Mapping[tuple[int, int], bytes], *, last: bool) -> int:
    """Put traits behind vectors that have none; how many. Vectors and lane stay as they are, and so do packs of signs.

    Args:
        traits: By version and part. A vector that has gone, or has traits by now, is left out.
        last: None of the space are to come after these, so that caches start over, once.

    Raises:
        NotFound: there is no such embedder.
        Invalid: traits of the wrong size.
    """
    bare, whole = allowed_vector_sizes(_embedder(rows, model).dims)
    if wrong := [given for given in traits.values() if bare + len(given) != whole]:
        raise Invalid("traits", f"are {len(wrong[0])} bytes", f"They are {whole - bare}.")
    if not job_queue.is_owned(rows, space):
        return 0
    known = list(rows.vectors.vectors_of(space, model, sorted({ver for ver, _ in traits})))
    grown = [
        row._replace(f16=row.f16 + traits[row.ver, row.part])
        for row in known
        if len(row.f16) == bare and (row.ver, row.part) in traits
    ]
    if last:
        _start_caches_over(rows, space)
    return rows.vectors.add_vectors(space, model, grown)


def _start_caches_over(rows: Rows, space: int) -> None:
    (home,) = rows.spaces.space_rows((space,))
    rows.spaces.set_space(home._replace(epoch=home.epoch + 1))


def advance(rows: Rows, space: int, step: Advance) -> None:
    """Move a lane's cursor.

    Raises:
        Conflict: it stands elsewhere, or the lease is another's.
        Invalid: the step goes back.
    """
    if step.upto < step.after and not step.again:
        raise Invalid("upto", f"{step.upto} lies before {step.after}", "A lane only goes on.")
    lane = rows.lanes.lane(space, step.name)
    if lane.owner != step.owner:
        raise Conflict(f"lane {step.name!r} is leased to {lane.owner or 'nobody'}, not {step.owner!r}; claim it again")
    if lane.cursor != step.after:
        raise Conflict(f"lane {step.name!r} stands at {lane.cursor}, not {step.after}; go on from there")
    ran = lane.leased if lane.owner else rows.now()
    moved = replace(lane, cursor=step.upto, seq=0, attempt=0, error="", leased=ran)
    rows.lanes.set_lane(moved if step.upto < lane.reach and not step.again else replace(moved, stride=0, reach=0))
    if rows.items.newest(space) <= step.upto:
        rows.lanes.drop_due(step.name, (space,))
    elif step.again:
        rows.lanes.make_due(space)
    else:
        rows.lanes.put_off(step.name, space, 0)
    if not step.keep_answers and not step.again:
        rows.lanes.drop_answers(space, step.name)


def _check(batch: Vectors, embedder: EmbedderRow) -> None:
    if batch.lane != embedding_lane(batch.model):
        raise Invalid("lane", f"{batch.lane!r} is not the embedder's", f"It is {embedding_lane(batch.model)!r}.")
    for row in batch.rows:
        if len(row.f16) not in allowed_vector_sizes(embedder.dims):
            raise Invalid(
                "rows", f"a vector has {len(row.f16)} bytes", f"{embedder.name!r} has {embedder.dims} numbers."
            )
        # A reader that has followed the lane to its cursor looks only past it: a vector behind it would never be seen.
        if not batch.after < row.ver <= batch.upto:
            raise Invalid("rows", f"version {row.ver} is outside the step", "A step keeps what lies in it.")


def _embedder(rows: Rows, model: int) -> EmbedderRow:
    row = _find(rows, model)
    if row is None:
        raise NotFound(f"no embedder {model} here")
    return row


def _find(rows: Rows, model: int) -> EmbedderRow | None:
    return next((row for row in rows.vectors.embedders() if row.id == model), None)
