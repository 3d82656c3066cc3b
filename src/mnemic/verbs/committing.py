"""The one door that verbs write through: a draft of who writes what, committed, or thought again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from mnemic.core.events import Receipt
from mnemic.core.ids import ItemId
from mnemic.core.items import Strength
from mnemic.errors import Conflict
from mnemic.flow import Flow
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import commit, look
from mnemic.store.values.drafts import Draft, Erasure, Op
from mnemic.verbs.who import Who, last_commit

if TYPE_CHECKING:
    from mnemic.store.values.drafts import Paging

T = TypeVar("T")

TRIES: Final = 1_000
"""How often a transaction is thought again because others wrote meanwhile; one of them got through each time."""


def committed(
    who: Who,
    ops: Sequence[Op],
    *,
    expect: Mapping[ItemId, int] | None = None,
    masked: tuple[tuple[str, int], ...] = (),
    paging: Paging | None = None,
) -> Flow[Receipt]:
    """Write `ops` in one commit; how many secrets were `masked` is told in its receipt."""
    receipt = yield from commit(draft_of(who, tuple(ops), expect=expect, paging=paging))
    return replace(receipt, masked=masked) if masked else receipt


def draft_of(
    who: Who,
    ops: tuple[Op, ...],
    *,
    expect: Mapping[ItemId, int] | None = None,
    used: Mapping[ItemId, Strength] | None = None,
    paging: Paging | None = None,
) -> Draft:
    """The commit of `ops` by this one, not written yet."""
    return Draft(
        tenant=who.scope.tenant, user=who.scope.user, actor=who.actor, ops=ops, expect=expect or {},
        used=used or {}, paging=paging, branch=who.branch,
    )  # fmt: skip


def compare_and_commit(
    who: Who, think: Callable[[Snapshot], tuple[T, Draft]], *, dry_run: bool = False
) -> Flow[tuple[T, Receipt | None]]:
    """Commit what a look at the store comes to, looking again as long as others were quicker."""
    for _ in range(TRIES):
        answer, draft = yield from look(think)
        if dry_run or not draft.ops:
            return answer, None
        try:
            return answer, (yield from commit(draft))
        except Conflict:
            if (yield from look(lambda s: last_commit(s, who))) == draft.upon:
                raise
    raise Conflict(f"others were quicker {TRIES} times in a row; try again once less is written")


def erasure_of(who: Who, *, ids: tuple[ItemId, ...] = (), whole: bool = False, reason: str) -> Erasure:
    """What this one erases: items, which go from every branch, or (`whole`) all that the user has."""
    return Erasure(
        tenant=who.scope.tenant, user=who.scope.user, ids=ids, whole=whole, actor=who.actor, reason=reason,
        branch="" if whole else who.branch,
    )  # fmt: skip
