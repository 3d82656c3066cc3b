"""Makes JSON of what a store as a whole does: its size, its users, lanes and jobs, and the strategies there are."""

from __future__ import annotations

import re
from inspect import getdoc
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.clock import moment
from mnemic.operations.records import iso

if TYPE_CHECKING:
    from mnemic.admin import Behind, Stats, UserStats
    from mnemic.core.listing import Listing
    from mnemic.credentials.keys import AccessKey
    from mnemic.store.values.heads import Hold
    from mnemic.strategies.base import Strategy
    from mnemic.worker.status import WorkEntry

_COST: Final = re.compile(r"([\d.]+) calls and (\d+) tokens a message")


def stats_record(counted: Stats, page: Listing[UserStats]) -> dict[str, Any]:
    """Make the record of a store's size, with a page of its users."""
    users = list(map(user_record, page))
    return {
        "url": counted.url,
        "bytes": counted.bytes,
        "artefact_bytes": counted.artefact_bytes,
        "format": counted.format,
        "items": counted.items,
        "user_count": counted.user_count,
        "users": users,
        "next": page.next,
    }


def user_record(counted: UserStats) -> dict[str, Any]:
    """Make the record of what one user has; `user` is None for what a tenant shares."""
    return {
        "tenant": counted.tenant,
        "user": counted.user,
        "items": counted.items,
        "last_commit": counted.commits,
    }


def work_record(entry: WorkEntry) -> dict[str, Any]:
    """Make the record of a lane or job."""
    return {
        "id": entry.id,
        "name": entry.name,
        "tenant": entry.tenant,
        "user": entry.user,
        "state": entry.state,
        "pending": entry.pending,
        "lacks": entry.lacks or None,
        "owner": entry.owner or None,
        "since": None if entry.since is None else entry.since.isoformat(),
        "attempts": entry.attempts,
        "error": entry.error or None,
        "not_before": None if entry.not_before is None else entry.not_before.isoformat(),
        "version": entry.ver or None,
        "item": entry.item,
        "branch": entry.branch or None,
        "at": None if entry.at is None else entry.at.isoformat(),
    }


def lane_record(behind: Behind) -> dict[str, Any]:
    """Make the record of a lane."""
    return {
        "lane": behind.lane,
        "embedder": behind.embedder or None,
        "pending": behind.pending,
        "error": behind.error or None,
        "dead": behind.dead,
        "begun": behind.begun,
        "lacks": behind.lacks or None,
    }


def strategy_record(strategy: Strategy, *, followed: bool) -> dict[str, Any]:
    """Make the record of a strategy."""
    budget, cost = strategy.budget, stated_cost(strategy)
    return {
        "name": strategy.name,
        "followed": followed,
        "summary": summary(strategy),
        "reads": sorted(strategy.reads),
        "calls_a_run": budget.calls,
        "tokens_a_run": budget.tokens or None,
        "calls_a_message": cost[0] if cost else None,
        "tokens_a_message": cost[1] if cost else None,
        "own_recall": hasattr(strategy, "on_recall"),
    }


def summary(strategy: Strategy) -> str:
    """Read the first sentence of what a strategy says of itself."""
    described = (getdoc(type(strategy)) or "").partition("\n\n")[0]
    return " ".join(described.split()).partition(". ")[0].rstrip(".")


def stated_cost(strategy: Strategy) -> tuple[float, int] | None:
    """Read the calls and tokens a message that a strategy says it costs; None where it asks nobody or does not say."""
    stated = _COST.search(" ".join((getdoc(type(strategy)) or "").split())) if strategy.budget.calls else None
    return (float(stated[1]), int(stated[2])) if stated else None


def key_record(key: AccessKey) -> dict[str, Any]:
    """Make the record of an access key, which holds no secret."""
    return {
        "id": key.id,
        "name": key.name,
        "tenant": key.tenant,
        "user": key.user,
        "right": key.right.name.lower(),
        "shared": key.shared,
        "created": key.created.isoformat(),
        "expires": iso(key.expires),
        "last_used": iso(key.last_used),
        "revoked": iso(key.revoked),
    }


def hold_record(hold: Hold) -> dict[str, Any]:
    """Make the record of a legal hold; without a user and not shared, it is of the whole tenant."""
    user = hold.user if isinstance(hold.user, str) else None
    return {
        "id": hold.id,
        "user": user,
        "shared": hold.user is not None and user is None,
        "item": hold.item,
        "session": hold.session,
        "reason": hold.reason,
        "actor": hold.actor,
        "at": moment(hold.at).isoformat(),
        "seq": hold.seq,
    }
