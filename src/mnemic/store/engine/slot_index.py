"""Indexing a slot: a slice writes facets of the next versions, and moves the slot's lane in the same transaction."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Final

from mnemic.core.facets import slot_facets
from mnemic.core.ids import from_bytes
from mnemic.errors import StoreCorrupt
from mnemic.store.engine import job_queue
from mnemic.store.engine.codec import decode_item
from mnemic.store.engine.rows import Rows
from mnemic.store.values.row_values import VersionRow
from mnemic.store.values.work import slot_lane

VERSIONS: Final = 1_000
"""Versions of one slice: some ten milliseconds, for which a writer waits."""


def index_slot(rows: Rows, space: int, slot: str) -> int:
    """Write the facets of a slot of the next versions past its lane's cursor; how many versions were looked at.

    Nothing is leased: whoever comes second finds the cursor moved, and goes on from there.
    """
    lane = rows.lanes.lane(space, slot_lane(slot))
    if not job_queue.is_owned(rows, space):
        return 0
    later = rows.items.versions_past(space, lane.cursor, VERSIONS)
    rows.items.add_facets(space, [(row.ver, facet) for row in later for facet in _facets_of(row, slot)])
    if later:
        rows.lanes.set_lane(replace(lane, cursor=later[-1].ver))
    if len(later) < VERSIONS:
        rows.lanes.drop_due(lane.name, (space,))
    return len(later)


def _facets_of(row: VersionRow, slot: str) -> set[bytes]:
    with suppress(StoreCorrupt):  # a body that cannot be read is told by `verify`, and keeps no lane from going on
        return slot_facets(decode_item(from_bytes(row.id), row.body).slots, (slot,))
    return set()
