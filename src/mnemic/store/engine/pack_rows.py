"""Keeping packs: what replaces what, and when what was packed is no longer so; once for every keeper."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.store.engine import job_queue
from mnemic.store.engine.rows import Rows
from mnemic.store.values.work import EmbedderState, NewPack, PackRow, embedding_lane


def keep_pack(rows: Rows, new: NewPack) -> bool:
    """Keep a pack in place of others, unless something that it holds was taken out since; whether it was kept.

    Entries are never changed but for their end, which a reader asks for, and none comes in between others: those that
    are there as many as were packed, in a space that nothing was erased from or brought back in, are the ones packed.
    Vectors that come behind their embedder's lane take the packs with them that they would belong to.
    """
    row = new.row
    homes = rows.spaces.space_rows((row.space,))
    if not job_queue.is_owned(rows, row.space) or any(home.epoch != new.epoch for home in homes):
        return False
    if rows.items.entry_count(row.space, row.after, row.upto, row.rows + 1) != row.rows:
        return False
    if row.model and not _filled(rows, row):
        return False
    beside = (pack for pack in rows.packs.packs(row.space, row.model) if pack.id not in new.instead)
    if any(pack.after < row.upto and row.after < pack.upto for pack in beside):
        return False
    rows.packs.drop_packs(new.instead)
    rows.packs.add_pack(row, new.body)
    return True


def drop_unsound(rows: Rows, unsound: Sequence[PackRow]) -> None:
    """Take out packs that nobody can trust, as they were seen: whoever packs next finds them missing."""
    for row in unsound:
        rows.packs.drop_packs([kept.id for kept in rows.packs.packs(row.space, row.model) if kept == row])


def _filled(rows: Rows, row: PackRow) -> bool:
    """Whether an embedder stays, and its lane has come as far as a pack of its vectors reaches."""
    stays = any(
        model.id == row.model and model.state is not EmbedderState.RETIRING for model in rows.vectors.embedders()
    )
    return stays and rows.lanes.lane(row.space, embedding_lane(row.model)).cursor >= row.upto
