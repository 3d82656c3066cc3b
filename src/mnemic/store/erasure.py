"""Taking content out for good: what goes, what follows it, and what the journal keeps to say so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mnemic.core.events import Verb
from mnemic.core.ids import Entropy, ItemId, from_bytes, to_bytes
from mnemic.errors import Invalid, NotFound
from mnemic.store import ledger
from mnemic.store.base import Erasure
from mnemic.store.codec import canonical
from mnemic.store.rows import Rows, SpaceRow, TenantRow

OUTSIDE: Final = (
    "copies and exports that you took out",
    "backups taken before (restoring one here replays this erasure)",
    "prompts and logs of programs that were shown it",
)
"""What no store can reach, for the receipt."""


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure took out."""

    seq: int | None
    ids: tuple[ItemId, ...]
    versions: int
    links: int


def apply(rows: Rows, erasure: Erasure, now: int, entropy: Entropy) -> Erased:
    """Erase inside the transaction that `rows` stands for.

    Items go with all that was derived from them, and leave a tombstone: their id, and nothing of what they said.

    Raises:
        NotFound: there is no such tenant or user.
    """
    tenant = rows.tenant(erasure.tenant)
    if tenant is None:
        raise NotFound(f"no tenant {erasure.tenant!r} here")
    if erasure.whole:
        return _whole(rows, tenant, erasure, now, entropy)
    space = None if erasure.user is None else rows.space(tenant.id, erasure.user)
    if space is None:
        raise NotFound("nothing was ever remembered for this user")
    return _items(rows, tenant, space, erasure, now, entropy)


def _items(rows: Rows, tenant: TenantRow, space: SpaceRow, erasure: Erasure, now: int, entropy: Entropy) -> Erased:
    known = (raw for item in erasure.ids if rows.item_rows(space.id, raw := to_bytes(item)))
    going = _with_derived(rows, space.id, known)
    if not going:
        return Erased(None, (), 0, 0)
    actor = rows.name(space.id, erasure.actor) or rows.add_name(space.id, erasure.actor)
    ids = tuple(from_bytes(raw) for raw in going)
    payload = canonical({"ids": list(ids), **_reason(erasure)})
    seq = ledger.journal(rows, tenant, space.id, Verb.ERASED, payload, actor, now, entropy)
    counts = [rows.drop_item(space.id, raw, seq) for raw in going]
    rows.set_space(space._replace(seq=seq, epoch=space.epoch + 1))
    return Erased(seq, ids, sum(v for v, _ in counts), sum(n for _, n in counts))


def _with_derived(rows: Rows, space: int, items: Iterable[bytes]) -> list[bytes]:
    going = dict.fromkeys(items)
    queue = list(going)
    while queue:
        for derived in rows.derived(space, queue.pop()):
            if derived not in going:
                going[derived] = None
                queue.append(derived)
    return list(going)


def _whole(rows: Rows, tenant: TenantRow, erasure: Erasure, now: int, entropy: Entropy) -> Erased:
    if erasure.user is None:
        spaces = rows.tenant_spaces(tenant.id)
        rows.set_tenant(tenant._replace(name=None))
    else:
        space = rows.space(tenant.id, erasure.user)
        if space is None:
            raise NotFound("nothing was ever remembered for this user")
        spaces = [space]
    ids = tuple(dict.fromkeys(from_bytes(row.id) for space in spaces for row in rows.all_versions(space.id)))
    payload = canonical({"spaces": [space.id for space in spaces], **_reason(erasure)})
    # The journal's names outlive a user's; one who erases themselves leaves no name behind.
    actor = 0 if erasure.actor == erasure.user else rows.name(0, erasure.actor) or rows.add_name(0, erasure.actor)
    seq = ledger.journal(
        rows, tenant, spaces[0].id if len(spaces) == 1 else 0, Verb.ERASED, payload, actor, now, entropy
    )
    counts = [rows.drop_space(space.id) for space in spaces]
    for space in spaces:
        rows.set_space(space._replace(seq=seq, epoch=space.epoch + 1))
    return Erased(seq, ids, sum(v for v, _ in counts), sum(n for _, n in counts))


def _reason(erasure: Erasure) -> dict[str, str]:
    return {"reason": erasure.reason} if erasure.reason else {}


def compact(rows: Rows, name: str, horizon: int, actor: str, now: int, entropy: Entropy) -> int:
    """Drop what was closed at or before commit `horizon`, inside a transaction; returns how many versions went.

    Raises:
        NotFound: there is no such tenant.
        Invalid: the horizon lies ahead of the journal, or behind the one it has.
    """
    tenant = rows.tenant(name)
    if tenant is None:
        raise NotFound(f"no tenant {name!r} here")
    if not tenant.horizon <= horizon <= tenant.seq:
        raise Invalid(
            "horizon",
            f"commit {horizon} is not between {tenant.horizon} and {tenant.seq}",
            "`mnemic log` shows the commits.",
        )
    if horizon == tenant.horizon:
        return 0
    (change,) = rows.changes(tenant.id, horizon - 1, 1, False)
    gone = rows.drop_closed(tenant.id, horizon)
    rows.set_tenant(tenant._replace(horizon=horizon, horizon_hash=change.hash))
    who = rows.name(0, actor) or rows.add_name(0, actor)
    seq = ledger.journal(rows, tenant, 0, Verb.COMPACTED, canonical({"horizon": horizon}), who, now, entropy)
    for space in rows.tenant_spaces(tenant.id):
        rows.set_space(space._replace(seq=seq, epoch=space.epoch + 1))
    return gone
