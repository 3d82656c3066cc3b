"""What follows a write: one slice of a lane at a time, as flows. A lane is a cursor over a space's versions.

A strategy's lane gives new evidence to it and writes what it makes of that; `embed:<model>` gives every passage its
vector. A slice reads what lies past the cursor, and moves the cursor in the same transaction that keeps what came of
it, so that nothing is done twice and nothing is lost, whoever is killed when. One that fails is done again, three times
whole and then in halves, until the version is found that cannot be digested: that one goes to the dead letters, and the
lane goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, islice, takewhile
from typing import Final

from mnemic.core.parts import passage_texts
from mnemic.errors import Compacted, Conflict, MnemicError, ModelError, NotFound, StoreError
from mnemic.flow import Flow
from mnemic.models.model_requests import embed
from mnemic.store.drafts import JobStep
from mnemic.store.following import Lane, VectorRow, Vectors, embedding_lane
from mnemic.store.jobs import LAPSED
from mnemic.store.lanes import bury, claim, keep, release
from mnemic.store.requests import look, transact
from mnemic.store.snapshot import Snapshot

HOUSE: Final = "house"
"""The lane of the strategy `house`."""

EMBED: Final = "embed"
JOBS: Final = "jobs"
"""What a worker calls the lanes of embedders, all together, and jobs among the lanes that it does."""

DERIVER: Final = "mnemic"
"""Who acts, for the journal, where nobody asked for it."""

LEASE_SECONDS: Final = 60.0
"""How long a slice may take before another worker may claim its lane."""

EMBED_PARTS: Final = 64
"""Most passages of one slice."""

BACKOFF_SECONDS: Final = (1, 2, 5, 15, 60)
"""How long a lane waits after its first, second ... failure in a row."""

WHOLE_TRIES: Final = 3
"""How often a run is tried as it is before it is halved."""

CONFLICT_SECONDS: Final = 0.2
"""How long a run waits that somebody else's write has overtaken."""


@dataclass(frozen=True, slots=True)
class Slice:
    """What one slice did.

    Attributes:
        done: How many passages or versions it dealt with; 0 for none: nothing there, or its time has not come.
        busy: Another worker has the lane, or it waits after a failure.
        waits: It is the latter: nobody does anything about it before its time.
    """

    done: int = 0
    busy: bool = False
    waits: bool = False


BUSY: Final = Slice(busy=True)
WAITS: Final = Slice(busy=True, waits=True)
IDLE: Final = Slice()


def embed_slice(
    space: int, model: int, owner: str, parts: int = EMBED_PARTS, at_once: int = EMBED_PARTS
) -> Flow[Slice]:
    """Give the passages past the cursor their vectors.

    Args:
        parts: Most passages, at least one version's.
        at_once: Most passages of one request, but for a version that has more.

    Raises:
        ModelError: the embedder failed; whoever runs this says so with `failed`, and nothing is lost.
    """
    name = embedding_lane(model)
    lane = yield from transact(claim, space, name, owner, LEASE_SECONDS)
    if lane is None:
        return (yield from held(space, name))
    if deadly(lane):
        return (yield from lessened(lane, parts))
    found = yield from look(lambda s: _unembedded(s, space, model, lane, parts))
    rows, upto = yield from _embedded(model, found, at_once)
    batch = Vectors(space=space, model=model, rows=rows, lane=name, owner=owner, after=lane.cursor, upto=upto)
    try:
        yield from transact(keep, batch)
    except (Conflict, NotFound):
        return BUSY  # the lease ran out and somebody else went on, or the space was erased meanwhile
    yield from transact(release, space, name, owner)
    return Slice(done=max(1, len(rows)))


def _embedded(model: int, found: _Unembedded, at_once: int) -> Flow[tuple[tuple[VectorRow, ...], int]]:
    """Vectors, a request at a time, and how far they reach: as far as a request that failed, which is not the first.

    What came before that is kept, and the next slice begins with what failed.
    """
    rows: list[VectorRow] = []
    for passages in _requests(found.passages, at_once):
        try:
            vectors = yield from embed(model, [text for _, _, text in passages])
        except ModelError:
            if not rows:
                raise
            return tuple(rows), rows[-1].ver
        rows += [VectorRow(ver, part, v) for (ver, part, _), v in zip(passages, vectors, strict=True)]
    return tuple(rows), found.upto


def _requests(passages: list[tuple[int, int, str]], at_once: int) -> Iterator[list[tuple[int, int, str]]]:
    """Passages by the request, each of whole versions."""
    request: list[tuple[int, int, str]] = []
    for _, parts in groupby(passages, lambda passage: passage[0]):
        version = list(parts)
        if request and len(request) + len(version) > at_once:
            yield request
            request = []
        request += version
    if request:
        yield request


def held(space: int, name: str) -> Flow[Slice]:
    """Why a lane could not be leased: it is another's, or it waits."""
    lane = yield from look(lambda s: s.lane(space, name))
    return BUSY if lane.owner else WAITS


def deadly(lane: Lane) -> bool:
    """Whether a lane's last runs all ended without a word, as when they kill their process."""
    return lane.error == LAPSED and lane.attempt >= WHOLE_TRIES


def lessened(lane: Lane, limit: int) -> Flow[Slice]:
    """Have a leased lane take half of what it took, or give up the one version that is left.

    Args:
        limit: The most parts that its runs took.
    """
    vers = yield from look(lambda s: next_vers(s, lane.space, lane, limit))
    if not vers:
        yield from transact(release, lane.space, lane.name, lane.owner)
        return IDLE
    buried = yield from _less(lane, lane.owner, vers, f"{LAPSED}, time and again")
    return Slice(done=int(buried), busy=not buried)


def _less(lane: Lane, owner: str, vers: list[int], told: str) -> Flow[bool]:
    """Halve what failed, for the next run, or bury what is left of it; whether it was buried."""
    if len(vers) == 1:
        yield from transact(bury, lane.space, lane.name, owner, lane.cursor, vers[0], told)
        yield from transact(release, lane.space, lane.name, owner)
        return True
    yield from transact(release, lane.space, lane.name, owner, told, 0, len(vers) // 2, max(lane.reach, vers[-1]))
    return False


def epoch_of(snapshot: Snapshot, space: int) -> int:
    """How often something was erased in a space; 0 for the store's own work."""
    return sum(head.epoch for head in snapshot.spaces((space,)))


def embed_letter(space: int, model: int, ver: int, step: JobStep) -> Flow[None]:
    """Give a version that its lane gave up its vectors after all, and finish the job.

    Raises:
        ModelError: the embedder failed again.
        Conflict: the job is another's.
    """
    name = embedding_lane(model)
    found = yield from look(lambda s: _passages(s, space, model, [ver], ver - 1))
    vectors = (yield from embed(model, [text for _, _, text in found])) if found else []
    rows = tuple(VectorRow(ver, part, v) for (_, part, _), v in zip(found, vectors, strict=True))
    span = {"after": ver - 1, "upto": ver}
    batch = Vectors(space=space, model=model, rows=rows, lane=name, owner=step.owner, job=step, **span)
    yield from transact(keep, batch)


@dataclass(frozen=True, slots=True)
class _Unembedded:
    """Passages without a vector: (ver, part, text), and how far they reach."""

    passages: list[tuple[int, int, str]]
    upto: int


def _unembedded(snapshot: Snapshot, space: int, model: int, lane: Lane, parts: int) -> _Unembedded:
    """At least one whole version; at most about so many passages, and as many versions as the lane's stride."""
    vers = next_vers(snapshot, space, lane, parts)
    if not vers:
        return _Unembedded([], lane.cursor)
    return _Unembedded(_passages(snapshot, space, model, vers, lane.cursor), vers[-1])


def _passages(snapshot: Snapshot, space: int, model: int, vers: list[int], cursor: int) -> list[tuple[int, int, str]]:
    ahead = snapshot.vectors(space, model, cursor)
    have = {(row.ver, row.part) for row in takewhile(lambda row: row.ver <= vers[-1], ahead)}
    versions = snapshot.versions(space, vers)
    return [
        (ver, part, text)
        for ver in vers
        if ver in versions
        for part, text in enumerate(passage_texts(versions[ver].item))
        if (ver, part) not in have
    ]


def next_vers(snapshot: Snapshot, space: int, lane: Lane, limit: int) -> list[int]:
    """The next versions of a lane, as many as have about `limit` parts, and no more than its stride.

    A run that is pinned takes none that came later, so that it takes the same when it is done again.
    """
    entries = snapshot.entries(space, lane.cursor)
    pinned = entries if not lane.seq else takewhile(lambda entry: entry.seq_from <= lane.seq, entries)
    vers = [ver for ver, _ in groupby(entry.ver for entry in islice(pinned, limit))]
    return vers[: lane.stride] if lane.stride else vers


def failed(
    space: int, name: str, owner: str, error: MnemicError, now: int, probe: Flow[object], limit: int, epoch: int
) -> Flow[bool]:
    """Say that a lane's run failed: it waits, is halved, or gives up the one version that cannot be digested.

    Before anything is given up, the model that failed is asked something harmless: where it fails at that too, it is
    the model that is ill and not the version, and the lane just waits.

    Args:
        probe: What a healthy model has no trouble with.
        limit: The most parts that the run took.
        epoch: That of the space when the run began. An error may quote what was erased since, and is not kept then.

    Returns:
        Whether a version was given up.
    """
    found, present = yield from look(lambda s: (s.lane(space, name), epoch_of(s, space)))
    if epoch != present and found.owner != owner:
        return False  # an erasure took the lease: the run is repeated as it was, and finds the answers that were left
    lane = yield from transact(claim, space, name, owner, LEASE_SECONDS)
    if lane is None:
        return False
    erased = epoch != (yield from look(lambda s: epoch_of(s, space)))
    if erased or isinstance(error, Conflict | Compacted):  # it was overtaken: thought again from the present
        yield from transact(release, space, name, owner, not_before=now + round(CONFLICT_SECONDS * 1_000_000))
        return False
    wait, told = now + _backoff(lane), str(error) or type(error).__name__
    vers = yield from look(lambda s: next_vers(s, space, lane, limit))
    early = lane.attempt + 1 < WHOLE_TRIES and (not lane.stride or len(vers) == 1)
    if early or not vers or isinstance(error, StoreError) or (yield from _is_ill(error, probe)):
        yield from transact(release, space, name, owner, told, wait, lane.stride, lane.reach)
        return False
    return (yield from _less(lane, owner, vers, told))


def unheard(space: int, owner: str, error: MnemicError, now: int) -> Flow[None]:
    """Write down why an embedder that has no lane yet cannot be asked, where other processes find it."""
    lane = yield from transact(claim, space, EMBED, owner, LEASE_SECONDS)
    if lane is not None:
        yield from transact(release, space, EMBED, owner, str(error), now + _backoff(lane))


def _is_ill(error: MnemicError, probe: Flow[object]) -> Flow[bool]:
    """Whether it is the model that fails, whatever it is asked."""
    if not isinstance(error, ModelError):
        probe.close()
        return False
    try:
        yield from probe
    except MnemicError:
        return True
    return False


def _backoff(lane: Lane) -> int:
    return BACKOFF_SECONDS[min(lane.attempt, len(BACKOFF_SECONDS) - 1)] * 1_000_000
