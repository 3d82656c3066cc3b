"""Checking packs: each is made again of the entries or vectors that it holds, and compared byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from mnemic.core.uninterrupted import import_whole
from mnemic.index.packing_lane import entries_between
from mnemic.store.values.receipts import Fault

if TYPE_CHECKING:
    from mnemic.index.columns import EntryColumns
    from mnemic.store.contract import Store
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.heads import SpaceHead
    from mnemic.store.values.work import EmbedderRow, PackRow

_UNDIGESTED: Final = "its bytes are not those that were digested; `flush` makes it anew"


def verify_with_packs(store: Store) -> list[Fault]:
    """Check a store and, where nothing is wrong with what they are made of, its packs; return what is wrong."""
    faults = list(store.verify())
    if not faults:
        with store.read() as snapshot:
            faults += wrong_packs(snapshot)
    return faults


def wrong_packs(snapshot: Snapshot) -> Iterator[Fault]:
    """The packs that do not hold what they were made of; those of another build are read by nobody, and passed over."""
    embedders = {row.id: row for row in snapshot.embedders()}
    for tenant, _ in snapshot.tenants():
        for head in snapshot.all_spaces(tenant):
            for row in snapshot.all_packs(head.id):
                if not row.model:
                    yield from _wrong_entries(snapshot, row)
                elif row.model in embedders:
                    yield from _wrong_signs(snapshot, head, row, embedders[row.model])
                else:
                    yield Fault(where=_named(row), problem=f"is of embedder {row.model}, which is not there")


def _wrong_entries(snapshot: Snapshot, row: PackRow) -> Iterator[Fault]:
    import_whole("mnemic.index.packing")
    from mnemic.index.packing import PACK_BUILD, pack, sound_body

    body = sound_body(row, snapshot.pack_body(row.id))
    if row.build == PACK_BUILD and body is None:
        yield Fault(where=_named(row), problem=_UNDIGESTED)
    elif body is not None:
        columns = entries_between(snapshot, row.space, row.after, row.upto, seq=row.seq)
        if (columns.rows, pack(columns)) != (row.rows, body.tobytes()):
            yield Fault(where=_named(row), problem="holds other entries than there are")


def _wrong_signs(snapshot: Snapshot, head: SpaceHead, row: PackRow, embedder: EmbedderRow) -> Iterator[Fault]:
    import_whole("mnemic.index.packing", "mnemic.index.sign_packing")
    from mnemic.index.packing import sound_body
    from mnemic.index.sign_packing import SIGN_BUILD, signs_of

    body = sound_body(row, snapshot.pack_body(row.id), SIGN_BUILD)
    if row.build == SIGN_BUILD and body is None:
        yield Fault(where=_named(row), problem=_UNDIGESTED)
    elif body is not None:
        made = signs_of(snapshot, row.space, embedder, _columns(snapshot, head), row.upto)
        if made != (body.tobytes(), row.rows):
            yield Fault(where=_named(row), problem="holds other signs than the vectors have")


def _columns(snapshot: Snapshot, head: SpaceHead) -> EntryColumns:
    import_whole("mnemic.index.catalogue")
    from mnemic.index.catalogue import Catalogue

    catalogue = Catalogue(head.id, head.epoch, packs=False)
    catalogue.follow(snapshot, head)
    return catalogue.columns


def _named(row: PackRow) -> str:
    of = f" of the signs of embedder {row.model}" if row.model else ""
    return f"space {row.space}, pack{of} of versions {row.after + 1} to {row.upto}"
