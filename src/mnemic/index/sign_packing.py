"""A pack of signs: one bit a dimension of the vectors of a space, so that a first question need not read the vectors.

By the signs it finds a few hundred candidates, and reads the vectors of those alone (`index.signs`). A pack holds all
of a space's vectors of one embedder up to some version, and is made of them; where it does not say what a reader would
have worked out itself, down to the mean, the reader reads the vectors.
"""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.errors import Conflict
from mnemic.index.columns import Column
from mnemic.index.packing import sound_body
from mnemic.index.signs import PackedSigns, Signed
from mnemic.index.vectors import VectorTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from mnemic.index.columns import EntryColumns
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.work import EmbedderRow, VectorRow

SIGN_BUILD: Final = 1
"""The number of this layout; packs of any other are made anew."""

_BLOCK: Final = 4_096
"""Vectors that are read, in some five milliseconds, before a closing door is looked at."""

_WORD: Final = 8
"""Bytes that every section is a multiple of."""


def pack_signs(signed: Signed, held: NDArray[np.bool_]) -> bytes:
    """Write down the signs of the rows that `held` goes over."""
    signs = np.where(held, signed.signs[:, : len(held)], np.uint64(0))
    head = np.array([signed.dims, len(held), signed.fitted], "<i8")
    sections = (head, signed.mean.astype("<f4"), np.packbits(held), signs)
    return b"".join(_padded(section.tobytes()) for section in sections)


def unpack_signs(body: NDArray[np.uint8], upto: int) -> PackedSigns:
    """Read what `pack_signs` wrote, once its digest has been checked."""
    dims, rows, fitted = np.frombuffer(body, "<i8", 3).tolist()
    at = 3 * _WORD
    mean = np.frombuffer(body, "<f4", dims, at).astype(np.float32)
    at += _whole(4 * dims)
    held = np.unpackbits(body[at : at + -(-rows // 8)], count=rows).astype(np.bool_)
    at += _whole(-(-rows // 8))
    words = -(-dims // 64)
    signs = np.frombuffer(body, np.uint64, words * rows, at).reshape(words, rows)
    return PackedSigns(Signed(dims, (), signs, mean, fitted).with_room(rows), held, upto)


def packed_signs(snapshot: Snapshot, space: int, embedder: EmbedderRow) -> PackedSigns | None:
    """Read the pack of a space's vectors; None where there is none, or none that can be trusted."""
    for row in snapshot.packs(space, embedder.id):
        body = sound_body(row, snapshot.pack_body(row.id), SIGN_BUILD)
        if body is not None and row.after == 0:
            packed = unpack_signs(body, row.upto)
            return packed if packed.signed.dims == embedder.dims and len(packed.held) == row.rows else None
    return None


def signs_of(
    snapshot: Snapshot,
    space: int,
    embedder: EmbedderRow,
    columns: EntryColumns,
    upto: int,
    closing: Callable[[], bool] = lambda: False,
) -> tuple[bytes, int] | None:
    """Make a pack's bytes of the vectors up to a version, and how many rows it holds; None for few vectors.

    Raises:
        Conflict: `closing` said so between two blocks of vectors.
    """
    table = VectorTable(embedder.dims)
    rows = takewhile(lambda row: row.ver <= upto, snapshot.vectors(space, embedder.id))
    table.take(columns, _unless(closing, rows))
    signed, some, _ = table.sight()
    if not isinstance(signed, Signed):
        return None
    held = np.zeros(int(columns.column(Column.VER).searchsorted(upto, "right")), np.bool_)
    held[: len(some)] = some
    # Rows at the end that have no vector have no signs either.
    return pack_signs(signed.with_signs(len(held)), held), len(held)


def _unless(closing: Callable[[], bool], rows: Iterator[VectorRow]) -> Iterator[VectorRow]:
    while block := list(islice(rows, _BLOCK)):
        if closing():
            raise Conflict("the store is being closed; signs are packed when it is opened again")
        yield from block


def _padded(raw: bytes) -> bytes:
    return raw + bytes(-len(raw) % _WORD)


def _whole(size: int) -> int:
    return size + -size % _WORD
