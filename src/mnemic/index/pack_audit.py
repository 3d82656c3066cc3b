"""Checking packs: each is made again of the entries that it holds, and compared byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mnemic.core.uninterrupted import import_whole
from mnemic.index.packing_lane import entries_between
from mnemic.store.values.receipts import Fault

if TYPE_CHECKING:
    from mnemic.store.contract import Store
    from mnemic.store.engine.snapshot import Snapshot


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
                import_whole("mnemic.index.packing")
                from mnemic.index.packing import PACK_BUILD, pack, sound_body
            for row in packs:
                where = f"space {head.id}, pack of versions {row.after + 1} to {row.upto}"
                body = sound_body(row, snapshot.pack_body(row.id))
                if row.build == PACK_BUILD and body is None:
                    yield Fault(
                        where=where, problem="its bytes are not those that were digested; `flush` makes it anew"
                    )
                elif body is not None:
                    columns = entries_between(snapshot, head.id, row.after, row.upto, seq=row.seq)
                    if (columns.rows, pack(columns)) != (row.rows, body.tobytes()):
                        yield Fault(where=where, problem="holds other entries than there are")
