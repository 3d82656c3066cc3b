"""The lane of an embedder: each slice embeds the next passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, takewhile
from typing import Final

from mnemic.core.parts import passage_texts
from mnemic.errors import Conflict, ModelError, NotFound
from mnemic.flow import Flow
from mnemic.lanes.failures import crashes_repeatedly, lease_denied, shrink_after_crash
from mnemic.lanes.slices import BUSY, IDLE, LEASE_SECONDS, Slice, next_vers
from mnemic.models.model_requests import embed
from mnemic.store.engine.lane_cursors import add_traits, claim, keep, release
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import look, transact
from mnemic.store.values.drafts import JobStep
from mnemic.store.values.work import EmbedderRow, Lane, VectorRow, Vectors, allowed_vector_sizes, embedding_lane

EMBED_PARTS: Final = 64
"""Most passages of one slice."""


def embed_slice(
    space: int, model: int, owner: str, parts: int = EMBED_PARTS, at_once: int = EMBED_PARTS, *, hurried: bool = False
) -> Flow[Slice]:
    """Give the passages past the cursor their vectors.

    Args:
        parts: Most passages, at least one version's.
        at_once: Most passages of one request, but for a version that has more.
        hurried: Somebody waits: a version that alone has more than `parts` is left for later.

    Raises:
        ModelError: the embedder failed; whoever runs this says so with `report_failure`, and nothing is lost.
    """
    name = embedding_lane(model)
    lane = yield from transact(claim, space, name, owner, LEASE_SECONDS)
    if lane is None:
        return (yield from lease_denied(space, name))
    if crashes_repeatedly(lane):
        return (yield from shrink_after_crash(lane, partial(next_vers, limit=parts)))
    unembedded = yield from look(lambda s: _unembedded(s, space, model, lane, parts))
    if hurried and len(unembedded.passages) > parts:
        if (last := unembedded.passages[-1][0]) == unembedded.passages[0][0]:
            yield from transact(release, space, name, owner)
            return IDLE
        unembedded = _Unembedded([p for p in unembedded.passages if p[0] != last], last - 1)
    rows, upto = yield from _embedded(model, unembedded, at_once)
    batch = Vectors(space=space, model=model, rows=rows, lane=name, owner=owner, after=lane.cursor, upto=upto)
    try:
        yield from transact(keep, batch)
    except (Conflict, NotFound):
        return BUSY  # the lease ran out and somebody else went on, or the space was erased meanwhile
    yield from transact(release, space, name, owner)
    return Slice(done=max(1, len(rows)))


def _embedded(model: int, unembedded: _Unembedded, at_once: int) -> Flow[tuple[tuple[VectorRow, ...], int]]:
    """Embed passages, a request at a time; return the vectors, and the version that they reach: up to a failed request.

    What came before that is kept, and the next slice begins with what failed.
    """
    rows: list[VectorRow] = []
    for passages in _requests(unembedded.passages, at_once):
        try:
            vectors = yield from embed(model, [text for _, _, text in passages])
        except ModelError:
            if not rows:
                raise
            return tuple(rows), rows[-1].ver
        rows += [VectorRow(ver, part, v) for (ver, part, _), v in zip(passages, vectors, strict=True)]
    return tuple(rows), unembedded.upto


def _requests(passages: list[tuple[int, int, str]], at_once: int) -> Iterator[list[tuple[int, int, str]]]:
    """Divide passages into requests, each of whole versions."""
    request: list[tuple[int, int, str]] = []
    for _, parts in groupby(passages, lambda passage: passage[0]):
        version = list(parts)
        if request and len(request) + len(version) > at_once:
            yield request
            request = []
        request += version
    if request:
        yield request


def embed_letter(space: int, model: int, ver: int, step: JobStep) -> Flow[None]:
    """Give a version that its lane gave up its vectors after all, and finish the job.

    Raises:
        ModelError: the embedder failed again.
        Conflict: the job is another's.
    """
    name = embedding_lane(model)
    passages = yield from look(lambda s: _passages(s, space, model, [ver], ver - 1))
    vectors = (yield from embed(model, [text for _, _, text in passages])) if passages else []
    rows = tuple(VectorRow(ver, part, v) for (_, part, _), v in zip(passages, vectors, strict=True))
    span = {"after": ver - 1, "upto": ver}
    batch = Vectors(space=space, model=model, rows=rows, lane=name, owner=step.owner, job=step, **span)
    yield from transact(keep, batch)


def embed_traits(space: int, embedder: EmbedderRow, keys: Sequence[tuple[int, int]], *, last: bool) -> Flow[int]:
    """Give vectors that were made before their embedder told traits what it tells of their passages; how many.

    Args:
        keys: Version and part of each.
        last: None of the space come after these.

    Raises:
        ModelError: the embedder failed.
    """
    _, whole = allowed_vector_sizes(embedder.dims)
    vers, asked = sorted({ver for ver, _ in keys}), set(keys)
    every = yield from look(lambda s: list(_texts(s, space, vers)))
    passages = [passage for passage in every if passage[:2] in asked]
    vectors = (yield from embed(embedder.id, [text for _, _, text in passages])) if passages else []
    pairs = zip(passages, vectors, strict=True)
    traits = {(ver, part): v[2 * embedder.dims :] for (ver, part, _), v in pairs if len(v) == whole}
    try:
        return (yield from transact(add_traits, space, embedder.id, traits, last=last))
    except NotFound:
        return 0  # the embedder was dismissed meanwhile


@dataclass(frozen=True, slots=True)
class _Unembedded:
    """Passages without a vector: (ver, part, text), and how far they reach."""

    passages: list[tuple[int, int, str]]
    upto: int


def _unembedded(snapshot: Snapshot, space: int, model: int, lane: Lane, parts: int) -> _Unembedded:
    """Read the next passages without a vector: one whole version at least, about `parts` at most, within the stride."""
    vers = next_vers(snapshot, lane, parts)
    if not vers:
        return _Unembedded([], lane.cursor)
    return _Unembedded(_passages(snapshot, space, model, vers, lane.cursor), vers[-1])


def _passages(snapshot: Snapshot, space: int, model: int, vers: list[int], cursor: int) -> list[tuple[int, int, str]]:
    ahead = snapshot.vectors(space, model, cursor)
    have = {(row.ver, row.part) for row in takewhile(lambda row: row.ver <= vers[-1], ahead)}
    return [passage for passage in _texts(snapshot, space, vers) if passage[:2] not in have]


def _texts(snapshot: Snapshot, space: int, vers: list[int]) -> Iterator[tuple[int, int, str]]:
    versions = snapshot.versions(space, vers)
    for ver in vers:
        if ver in versions:
            yield from ((ver, part, text) for part, text in enumerate(passage_texts(versions[ver].item)))
