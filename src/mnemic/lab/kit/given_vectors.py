"""Gives a memory vectors that were made elsewhere, by the door that an embedder's lane uses."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from mnemic.store.engine import lane_cursors
from mnemic.store.values.work import EmbedderState, VectorRow, Vectors, embedding_lane

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from mnemic.store.contract import Store

NAME: Final = "given"
"""The embedder that they are said to be of."""

SLICE: Final = 64
"""Vectors kept at once, as the lane keeps them."""


def give_vectors(store: Store, space: int, vectors: NDArray[np.float16]) -> int:
    """Give each entry of a space the next vector, from the first on again when they end; the embedder's number."""
    model = store.transact(lane_cursors.enlist, NAME, vectors.shape[1], EmbedderState.SERVING)
    with store.read() as snapshot:
        places = [(entry.ver, entry.part) for entry in snapshot.entries(space)]
    after, lane = 0, embedding_lane(model)
    for rows in _whole_versions(
        VectorRow(ver, part, vectors[n % len(vectors)].tobytes()) for n, (ver, part) in enumerate(places)
    ):
        upto = rows[-1].ver
        step = Vectors(space=space, model=model, rows=rows, lane=lane, owner="", after=after, upto=upto)
        store.transact(lane_cursors.keep, step)
        after = upto
    return model


def _whole_versions(rows: Iterable[VectorRow]) -> Iterator[tuple[VectorRow, ...]]:
    """Divide rows into slices, each of whole versions."""
    stream = iter(rows)
    last: VectorRow | None = None
    while True:
        slice_ = [*([last] if last else []), *islice(stream, SLICE)]
        last = None
        for row in stream:
            if row.ver != slice_[-1].ver:
                last = row
                break
            slice_.append(row)
        if not slice_:
            return
        yield tuple(slice_)
