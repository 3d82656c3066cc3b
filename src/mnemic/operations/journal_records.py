"""Makes JSON of what the journal tells: commits, notices of the feed, branches, merges, differences; and of windows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mnemic.core.clock import moment
from mnemic.core.events import Verb
from mnemic.core.items import Item
from mnemic.core.scope import Shared
from mnemic.operations.records import item_record, link_record

if TYPE_CHECKING:
    from mnemic.core.events import Change, Event
    from mnemic.core.items import Link
    from mnemic.past.branching import Branch
    from mnemic.past.journal_views import Difference
    from mnemic.past.merging import Clash, Merge
    from mnemic.store.values.row_values import PageRow, SessionRow
    from mnemic.watching.feed import Notice


def change_record(change: Change) -> dict[str, Any]:
    """Make the record of a commit, without the words it wrote."""
    return {
        "seq": change.seq,
        "at": change.at.isoformat(),
        "actor": change.actor,
        "cause": change.cause,
        "hash": change.hash.hex(),
        "events": [event_record(event) for event in change.events],
    }


def event_record(event: Event) -> dict[str, Any]:
    """Make the record of an event."""
    record = {"n": event.n, "verb": event.verb.name.lower(), "item": event.item, "erased": event.erased}
    if event.verb is Verb.COLLECTED and event.payload:
        record["collected"] = json.loads(event.payload)
    return {**record, "what": "branch" if drops_branch(event) else None}


def drops_branch(event: Event) -> bool:
    """Whether this is a branch that was dropped; its name went with it."""
    return event.verb is Verb.ERASED and b'"what":"branch"' in (event.payload or b"")


def notice_record(notice: Notice) -> dict[str, Any]:
    """Make the record of a commit as the feed reports it, without the words it wrote."""
    return {
        "seq": notice.seq,
        "mark": notice.mark,
        "at": notice.at.isoformat(),
        "user": None if isinstance(notice.user, Shared) else notice.user,
        "shared": notice.shared,
        "actor": notice.actor,
        "cause": notice.cause,
        "events": [event_record(event) for event in notice.events],
    }


def difference_record(difference: Difference) -> dict[str, Any]:
    """Make the record of an item that differs between two commits."""
    return {
        "id": difference.id,
        "before": item_record(difference.before) if difference.before else None,
        "after": item_record(difference.after) if difference.after else None,
    }


def branch_record(branch: Branch) -> dict[str, Any]:
    """Make the record of a branch."""
    return {
        "name": branch.name,
        "of": branch.of or None,
        "base": branch.base,
        "seq": branch.seq,
        "understood": branch.understood,
    }


def merge_record(merged: Merge, *, dry_run: bool) -> dict[str, Any]:
    """Make the record of what a merge did, or would do."""
    return {
        "seq": merged.seq,
        "dry_run": dry_run,
        "ids": list(merged.ids),
        "links": merged.links,
        "prefer": merged.prefer or None,
        "repeated": merged.repeated,
        "conflicts": [_clash_record(clash) for clash in merged.conflicts],
    }


def _clash_record(clash: Clash) -> dict[str, Any]:
    sides = (("base", clash.base), ("branch", clash.branch), ("parent", clash.parent))
    return {"id": clash.id, **{name: _side_record(said) for name, said in sides}}


def _side_record(version: Item | Link | None) -> dict[str, Any] | None:
    if version is None:
        return None
    return item_record(version) if isinstance(version, Item) else link_record(version)


def session_record(name: str, row: SessionRow) -> dict[str, Any]:
    """Make the record of a session's window."""
    return {
        "session": name,
        "budget": row.budget,
        "policy": row.policy,
        "turns": row.turns,
        "references": row.clock,
        "seq": row.seq,
        "open_until": moment(row.lease_until).isoformat() if row.owner else None,
    }


def page_record(page: PageRow) -> dict[str, Any]:
    """Make the record of a page, with the tier it is in."""
    record = {name: value for name, value in page._asdict().items() if name != "item"}
    return {"id": page.item, "tier": tier(page), **record}


def tier(page: PageRow) -> str:
    """Name the tier that a page is in: `short`, the window, or `middle`, behind it."""
    return "short" if page.resident else "middle"
