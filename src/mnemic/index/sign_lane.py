"""The lane that packs signs: each slice makes the pack of one embedder's vectors in a space, where it would be of use.

There is one pack of an embedder's vectors in a space, from its first entry on. It is made anew when enough has come
behind it, so that each vector is read few times for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mnemic.core.clock import FOREVER
from mnemic.core.uninterrupted import import_whole
from mnemic.flow import Flow
from mnemic.lanes.slices import BUSY, IDLE, Slice
from mnemic.store.engine.pack_rows import keep_pack
from mnemic.store.requests import look, transact
from mnemic.store.values.work import EmbedderState, NewPack, PackRow, embedding_lane

if TYPE_CHECKING:
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.heads import SpaceHead
    from mnemic.store.values.work import EmbedderRow

_TAIL: Final = 8
"""A pack is made anew when one in so many of its rows has come behind it."""


def sign_slice(space: int, least: int) -> Flow[Slice]:
    """Make the next pack of signs in a space.

    Args:
        least: Entries that must have come behind a pack before it is made anew.
    """
    new = yield from look(lambda snapshot: next_signs(snapshot, space, least))
    if new is None:
        return IDLE
    kept = yield from transact(keep_pack, new)
    return Slice(done=max(1, new.row.rows)) if kept else BUSY  # something that was packed has gone meanwhile


def next_signs(snapshot: Snapshot, space: int, least: int) -> NewPack | None:
    """Make the pack of signs that a space lacks; None where it has all that it should have, and they are sound."""
    for head in snapshot.spaces((space,)):
        if head.user is not None:
            return _next(snapshot, head, least)
    return None


def _next(snapshot: Snapshot, head: SpaceHead, least: int) -> NewPack | None:
    import_whole("mnemic.index.catalogue", "mnemic.index.sign_packing")
    from mnemic.index.catalogue import Catalogue
    from mnemic.index.packing import digest_of
    from mnemic.index.sign_packing import SIGN_BUILD, signs_of

    for embedder in snapshot.embedders():
        if not _due(snapshot, head.id, embedder, least):
            continue
        cursor = snapshot.lane(head.id, embedding_lane(embedder.id)).cursor
        catalogue = Catalogue(head.id, head.epoch)
        catalogue.follow(snapshot, head)
        if made := signs_of(snapshot, head.id, embedder, catalogue.columns, cursor):
            body, rows = made
            row = PackRow(0, head.id, 0, cursor, head.seq, rows, SIGN_BUILD, b"", embedder.id)
            instead = tuple(old.id for old in snapshot.packs(head.id, embedder.id))
            row = row._replace(digest=digest_of(row, body))
            return NewPack(row=row, body=body, epoch=head.epoch, instead=instead)
    return None


def _due(snapshot: Snapshot, space: int, embedder: EmbedderRow, least: int) -> bool:
    """Whether a space has vectors of an embedder that its pack should hold, and holds not."""
    if embedder.state is EmbedderState.RETIRING:
        return False
    import_whole("mnemic.index.sign_packing", "mnemic.index.vectors")
    from mnemic.index.sign_packing import packed_signs
    from mnemic.index.signs import fitting
    from mnemic.index.vectors import most_exact

    cursor, many = snapshot.lane(space, embedding_lane(embedder.id)).cursor, most_exact(embedder.dims) + 1
    packed = packed_signs(snapshot, space, embedder)
    if packed is None:
        return snapshot.entry_count(space, 0, cursor, many) == many
    most = max(least, len(packed.held) // _TAIL)
    fresh = snapshot.entry_count(space, packed.upto, cursor, most)
    behind = snapshot.entry_count(space, packed.upto, FOREVER, packed.count)
    return fresh == most or (fresh > 0 and fitting(packed.count + behind) > packed.signed.fitted)
