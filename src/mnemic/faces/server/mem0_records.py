"""Makes mem0's records of ours, and the addresses of memories, which say whose memory an item is in."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Any

from mnemic.core.ids import item_id
from mnemic.core.items import State
from mnemic.errors import Invalid, NotFound
from mnemic.faces.server.mem0_filters import APP, METADATA

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Slot, Version


def address(id: ItemId, user: str) -> str:
    """Make the id of a memory, which alone leads to it: the item's, a dot, and its user in URL-safe base64."""
    return f"{id}.{urlsafe_b64encode(user.encode()).decode().rstrip('=')}"


def read_address(given: str) -> tuple[ItemId, str | None]:
    """Read the id of a memory: the item's, and whose memory it is in; None for that of whoever asks.

    Raises:
        NotFound: no memory can have it.
    """
    id, dot, user = given.partition(".")
    try:
        item = item_id("memory_id", id)
        if not dot:
            return item, None
        whose = urlsafe_b64decode(user + "=" * (-len(user) % 4)).decode()
    except (Invalid, ValueError) as error:
        raise NotFound(f"no memory {given[:60]!r} here") from error
    if not whose or address(item, whose) != given:
        raise NotFound(f"no memory {given[:60]!r} here")
    return item, whose


def memory_record(item: Item, user: str, recorded: datetime, memory_id: str = "") -> dict[str, Any]:
    """Make the record of a memory.

    Args:
        recorded: When it was last changed.
        memory_id: What it was asked for by; left out, its own address.
    """
    return {
        "id": memory_id or address(item.id, user),
        "memory": item.text,
        "hash": hashlib.md5(item.text.encode(), usedforsecurity=False).hexdigest(),
        "user_id": user,
        "agent_id": item.agent,
        "app_id": item.slots.get(APP),
        "run_id": item.session,
        "metadata": metadata_of(item.slots),
        "categories": list(item.tags),
        "created_at": item.said.astimezone(UTC).isoformat(),
        "updated_at": recorded.astimezone(UTC).isoformat(),
        "expiration_date": _expiration(item.expires),
        "kind": item.kind.value,
    }


def metadata_of(slots: Mapping[str, Slot]) -> dict[str, Any]:
    """Read mem0's metadata out of an item's slots: what came in here, and what was imported."""
    imported = slots.get("metadata")
    own = {name.removeprefix(METADATA): value for name, value in slots.items() if name.startswith(METADATA)}
    return {**(imported if isinstance(imported, Mapping) else {}), **own}


def slots_of(metadata: Mapping[str, Any], app: str | None = None) -> dict[str, Any]:
    """Make the slots that hold mem0's metadata, and its `app_id`."""
    return {**{METADATA + name: value for name, value in metadata.items()}, **({APP: app} if app else {})}


def history_records(versions: Sequence[Version], memory_id: str, user: str) -> list[dict[str, Any]]:
    """Make the records of what became of a memory, oldest first: ADD, UPDATE for each change, DELETE at its end."""
    records: list[dict[str, Any]] = []
    shown = [each for place, each in enumerate(versions) if not _replaced(each, versions[place + 1 :])]
    for place, version in enumerate(shown):
        before = shown[place - 1] if place else None
        gone = version.item.state is State.RETIRED
        records.append(
            {
                "id": f"{version.item.id}-{version.seq_from}",
                "memory_id": memory_id,
                "input": None,
                "old_memory": None if before is None else before.item.text,
                "new_memory": None if gone else version.item.text,
                "event": "DELETE" if gone else "ADD" if before is None else "UPDATE",
                "user_id": user,
                "metadata": metadata_of(version.item.slots),
                "categories": list(version.item.tags),
                "created_at": version.item.said.astimezone(UTC).isoformat(),
                "updated_at": version.recorded.astimezone(UTC).isoformat(),
                "is_deleted": gone,
            }
        )
    return records


def _replaced(version: Version, later: Sequence[Version]) -> bool:
    """Whether a version only says that its item stands no longer, and another item of the story stands for it."""
    return version.item.state is not State.ACTIVE and any(
        later_version.item.id != version.item.id for later_version in later
    )


def _expiration(expires: datetime | None) -> str | None:
    if expires is None:
        return None
    return expires.date().isoformat() if expires.timetz() == time(tzinfo=UTC) else expires.isoformat()
