"""Keeping packs: what replaces what, and when what was packed is no longer so; once for every keeper."""

from __future__ import annotations

from mnemic.store.engine import job_queue
from mnemic.store.engine.rows import Rows
from mnemic.store.values.work import NewPack


def keep_pack(rows: Rows, new: NewPack) -> bool:
    """Keep a pack in place of others, unless something that it holds was taken out since; whether it was kept.

    Entries are never changed but for their end, which a reader asks for, and none comes in between others: those that
    are there as many as were packed, in a space that nothing was erased from or brought back in, are the ones packed.
    """
    row = new.row
    homes = rows.spaces.space_rows((row.space,))
    if not job_queue.is_owned(rows, row.space) or any(home.epoch != new.epoch for home in homes):
        return False
    if rows.items.entry_count(row.space, row.after, row.upto, row.rows + 1) != row.rows:
        return False
    beside = (pack for pack in rows.packs.packs(row.space) if pack.id not in new.instead)
    if any(pack.after < row.upto and row.after < pack.upto for pack in beside):
        return False
    rows.packs.drop_packs(new.instead)
    rows.packs.add_pack(row, new.body)
    return True
