"""The lane that packs: each slice makes the next pack of a space, and keeps it in place of what it was made of.

A space's packs follow each other. Small ones come from entries, a few thousand at a time, and as soon as some of one
size stand side by side they become one: so a space has few of them, and each entry is packed few times.
"""

from __future__ import annotations

from itertools import groupby, islice, takewhile
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import FOREVER
from mnemic.core.uninterrupted import import_whole
from mnemic.flow import Flow
from mnemic.lanes.slices import BUSY, IDLE, Slice
from mnemic.store.engine.pack_rows import keep_pack
from mnemic.store.requests import look, transact
from mnemic.store.values.work import NewPack, PackRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mnemic.index.columns import EntryColumns
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.heads import SpaceHead

FAN: Final = 4
"""Packs of one size that become one."""

LARGEST: Final = FAN * FAN
"""The largest pack in least ones: with sixty-five thousand rows a row's number takes two bytes, a write a few
megabytes."""


_LOAD: Final = 10_000
"""Entries read at once."""


def pack_slice(space: int, least: int) -> Flow[Slice]:
    """Make the next pack of a space.

    Args:
        least: Entries of one that is not made of others.
    """
    new = yield from look(lambda snapshot: next_pack(snapshot, space, least))
    if new is None:
        return IDLE
    kept = yield from transact(keep_pack, new)
    return Slice(done=max(1, new.row.rows)) if kept else BUSY  # something that was packed has gone meanwhile


def next_pack(snapshot: Snapshot, space: int, least: int) -> NewPack | None:
    """Make the pack that a space lacks most; None where it has all that it should have, and they are sound."""
    for head in snapshot.spaces((space,)):
        if head.user is not None:
            packs = snapshot.packs(space)
            return (
                _of_what_is_left(snapshot, head, packs, least)
                or _of_neighbours(snapshot, head, packs, least)
                or _of_damaged(snapshot, head, packs)
            )
    return None


def _of_what_is_left(snapshot: Snapshot, head: SpaceHead, packs: Sequence[PackRow], least: int) -> NewPack | None:
    """Pack entries between two packs, however few, so that each begins where one ends; or enough past the last."""
    reached = 0
    for row in packs:
        if reached < row.after:
            return _of_entries(snapshot, head, reached, row.after, least)
        reached = row.upto
    if snapshot.entry_count(head.id, reached, FOREVER, least) < least:
        return None
    return _of_entries(snapshot, head, reached, FOREVER, least)


def _of_neighbours(snapshot: Snapshot, head: SpaceHead, packs: Sequence[PackRow], least: int) -> NewPack | None:
    """Make one pack of several of a size that stand side by side; one that is damaged is made anew first."""
    for size, group in groupby(packs, lambda row: _size(row, least)):
        alike = list(group)[:FAN]
        if size is None or len(alike) < FAN:
            continue
        while sum(row.rows for row in alike) > LARGEST * least:
            alike.pop()
        return _of_damaged(snapshot, head, alike) or _merged(snapshot, head, alike)
    return None


def _size(row: PackRow, least: int) -> int | None:
    """Which size a pack is of; None for the largest, which stay as they are."""
    if row.rows < FAN * least:
        return 0
    return 1 if row.rows < LARGEST * least // 2 else None


def _of_damaged(snapshot: Snapshot, head: SpaceHead, packs: Sequence[PackRow]) -> NewPack | None:
    """Make the first pack anew that no reader trusts."""
    import_whole("mnemic.index.packing")
    from mnemic.index.packing import sound_body

    for row in packs:
        if sound_body(row, snapshot.pack_body(row.id)) is None:
            return _packed(head, entries_between(snapshot, head.id, row.after, row.upto), row.after, row.upto, (row,))
    return None


def _merged(snapshot: Snapshot, head: SpaceHead, packs: Sequence[PackRow]) -> NewPack:
    import_whole("mnemic.index.columns", "mnemic.index.packing")
    from mnemic.index.columns import EntryColumns
    from mnemic.index.packing import sound_body, unpack

    bodies = (sound_body(row, snapshot.pack_body(row.id)) for row in packs)
    columns = EntryColumns([unpack(body) for body in bodies if body is not None])
    columns.close(snapshot.closed(head.id, min(row.seq for row in packs)))
    return _packed(head, columns, packs[0].after, packs[-1].upto, packs)


def _of_entries(snapshot: Snapshot, head: SpaceHead, after: int, upto: int, most: int) -> NewPack:
    """Pack whole versions past `after`: about so many entries, or all up to `upto`."""
    columns = entries_between(snapshot, head.id, after, upto, most)
    ends = columns.last_ver if columns.rows >= most else upto
    return _packed(head, columns, after, ends if ends != FOREVER else columns.last_ver, ())


def entries_between(
    snapshot: Snapshot, space: int, after: int, upto: int, most: int | None = None, seq: int = FOREVER
) -> EntryColumns:
    """Read the entries of whole versions past `after`, up to `upto`; about `most` of them.

    Args:
        seq: The commit to read them as of: what was closed later stands open.
    """
    import_whole("mnemic.index.columns")
    from mnemic.index.columns import EntryColumns

    columns, fresh = EntryColumns(), snapshot.entries(space, after, upto)
    batch = list(islice(fresh, most or _LOAD))
    if batch and most is not None:
        batch += takewhile(lambda entry: entry.ver == batch[-1].ver, fresh)
    while batch:
        columns.add(batch)
        batch = list(islice(fresh, _LOAD)) if most is None else []
    columns.reopen(seq)
    return columns


def _packed(head: SpaceHead, columns: EntryColumns, after: int, upto: int, instead: Iterable[PackRow]) -> NewPack:
    import_whole("mnemic.index.packing")
    from mnemic.index.packing import PACK_BUILD, digest_of, pack

    body = pack(columns)
    row = PackRow(0, head.id, after, upto, head.seq, columns.rows, PACK_BUILD, b"")
    row = row._replace(digest=digest_of(row, body))
    return NewPack(row=row, body=body, epoch=head.epoch, instead=tuple(old.id for old in instead))
