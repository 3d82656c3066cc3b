"""Reindex a store: with another embedder, whose vectors answer once all are there, or for the traits that are not."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import sleep
from typing import TYPE_CHECKING, Final

from mnemic.errors import MnemicError
from mnemic.flow import run
from mnemic.lanes.embedding_slice import EMBED_PARTS, embed_slice, embed_traits
from mnemic.lanes.failures import report_failure
from mnemic.lanes.slices import Slice, next_vers
from mnemic.meaning import WORDS_ALONE
from mnemic.models.model_requests import embed
from mnemic.store.engine.lane_cursors import appoint, dismiss, enlist
from mnemic.store.values.work import EmbedderState, allowed_vector_sizes, embedding_lane

if TYPE_CHECKING:
    from mnemic.models.base import Embedder
    from mnemic.opening import Opened

_BUSY_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexed:
    """The outcome of a reindex.

    Attributes:
        embedder: Whose vectors serve the store now; "" for words alone.
        passages: How many were embedded.
        traits: How many vectors that were there were given their traits.
        dismissed: The embedders whose vectors are gone.
    """

    embedder: str
    passages: int
    traits: int
    dismissed: tuple[str, ...]


def reindex(opened: Opened, embedder: Embedder | None, on_slice: Callable[[int], None]) -> Reindexed:
    """Make every vector anew with `embedder`, or drop all of them for None.

    Of an embedder that serves already vectors stay, and those without the traits that it tells get them. Cut short, it
    goes on where it was when it is called again. The old vectors answer until the last new one is there; what is
    written meanwhile gets both.

    Args:
        on_slice: Called after each slice with how many passages it dealt with.

    Raises:
        ModelError: the embedder failed; the old vectors still serve.
        NotFound: another process has dismissed the embedder meanwhile.
    """
    if embedder is None:
        choice = opened.store.transact(enlist, WORDS_ALONE, 1, EmbedderState.SERVING)
        return Reindexed(embedder="", passages=0, traits=0, dismissed=_dismiss_others(opened, choice))
    name, dims = embedder.name, embedder.dims
    model = opened.store.transact(enlist, name, dims, EmbedderState.FILLING)
    opened.meaning.adopt(embedder)
    passages = _fill(opened, model, on_slice)
    traits = _fill_traits(opened, name, on_slice)
    opened.store.transact(appoint, model, EmbedderState.SERVING)
    return Reindexed(embedder=name, passages=passages, traits=traits, dismissed=_dismiss_others(opened, model))


def _fill(opened: Opened, model: int, on_slice: Callable[[int], None]) -> int:
    owner, passages = uuid.uuid4().hex, 0
    while spaces := opened.background.backlog.behind(embedding_lane(model)):
        for space, epoch in spaces.items():
            did = _slice(opened, model, space, owner, epoch)
            if did.busy:
                sleep(_BUSY_SECONDS)
            else:
                passages += did.done
                on_slice(did.done)
    return passages


def _fill_traits(opened: Opened, name: str, on_slice: Callable[[int], None]) -> int:
    """Give the vectors that were made before their embedder told traits theirs; how many."""
    embedder = next((row for row in opened.meaning.rows() if row.name == name), None)
    if embedder is None:
        return 0  # another process has changed to another meanwhile
    (bare, _), filled = allowed_vector_sizes(embedder.dims), 0
    for space in opened.meaning.lacking_traits(name):
        with opened.store.read() as snapshot:
            keys = [(row.ver, row.part) for row in snapshot.vectors(space, embedder.id) if len(row.f16) == bare]
        for start in range(0, len(keys), EMBED_PARTS):
            stop = start + EMBED_PARTS
            did = embed_traits(space, embedder, keys[start:stop], last=stop >= len(keys))
            filled += (done := run(did, opened.answering.perform))
            on_slice(done)
    return filled


def _slice(opened: Opened, model: int, space: int, owner: str, epoch: int) -> Slice:
    perform, lane = opened.answering.perform, embedding_lane(model)
    try:
        return run(embed_slice(space, model, owner), perform)
    except MnemicError as error:
        probe = embed(model, ["hello"])
        taken = partial(next_vers, limit=EMBED_PARTS)
        if run(report_failure(space, lane, owner, error, opened.clock.now(), probe, taken, epoch), perform):
            return Slice(done=1)
        raise


def _dismiss_others(opened: Opened, model: int) -> tuple[str, ...]:
    others = [row for row in opened.meaning.rows() if row.id != model]
    for row in others:
        opened.store.transact(appoint, row.id, EmbedderState.RETIRING)
    for row in others:
        while opened.store.transact(dismiss, row.id):
            pass  # in slices that let writers through
    return tuple(row.name for row in others if row.name != WORDS_ALONE)
