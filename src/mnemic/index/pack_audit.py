"""Checking packs: each is made again of the entries or vectors that it holds, and compared byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from mnemic.index.packing_lane import entries_between
from mnemic.store.values.receipts import Fault

if TYPE_CHECKING:
    from mnemic.store.contract import Store
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.heads import SpaceHead
    from mnemic.store.values.work import EmbedderRow

_UNDIGESTED: Final = "its bytes are not those that were digested; `flush` makes it anew"


def verify_with_packs(store: Store) -> list[Fault]:
    """Check a store and, where nothing is wrong with what they are made of, its packs; return what is wrong."""
    faults = list(store.verify())
    if not faults:
        with store.read() as snapshot:
            faults += wrong_packs(snapshot)
    return faults


def wrong_packs(snapshot: Snapshot) -> Iterator[Fault]:
    """The packs that do not hold what their entries say; those of another build are read by nobody, and passed over."""
    for tenant, _ in snapshot.tenants():
        for head in snapshot.all_spaces(tenant):
            if packs := snapshot.packs(head.id):
                from mnemic.index.packing import PACK_BUILD, pack, sound_body
            for row in packs:
                where = f"space {head.id}, pack of versions {row.after + 1} to {row.upto}"
                body = sound_body(row, snapshot.pack_body(row.id))
                if row.build == PACK_BUILD and body is None:
                    yield Fault(where=where, problem=_UNDIGESTED)
                elif body is not None:
                    columns = entries_between(snapshot, head.id, row.after, row.upto, seq=row.seq)
                    if (columns.rows, pack(columns)) != (row.rows, body.tobytes()):
                        yield Fault(where=where, problem="holds other entries than there are")
            for embedder in snapshot.embedders():
                yield from _wrong_signs(snapshot, head, embedder)


def _wrong_signs(snapshot: Snapshot, head: SpaceHead, embedder: EmbedderRow) -> Iterator[Fault]:
    """The packs of signs that do not say what vectors say."""
    for row in snapshot.packs(head.id, embedder.id):
        from mnemic.index.catalogue import Catalogue
        from mnemic.index.packing import sound_body
        from mnemic.index.sign_packing import SIGN_BUILD, signs_of

        where = f"space {head.id}, pack of the signs of embedder {embedder.id} up to version {row.upto}"
        body = sound_body(row, snapshot.pack_body(row.id), SIGN_BUILD)
        if row.build == SIGN_BUILD and body is None:
            yield Fault(where=where, problem=_UNDIGESTED)
        elif body is not None:
            catalogue = Catalogue(head.id, head.epoch, packs=False)
            catalogue.follow(snapshot, head)
            if signs_of(snapshot, head.id, embedder, catalogue.columns, row.upto) != (body.tobytes(), row.rows):
                yield Fault(where=where, problem="holds other signs than vectors have")
