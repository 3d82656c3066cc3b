"""What stands in a snapshot that a verb names: an item, the sources it cites, the chunks of a document."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.core.ids import ItemId
from mnemic.core.items import Kind, Version
from mnemic.errors import NotFound
from mnemic.flow import Flow
from mnemic.shelves import on_shelf
from mnemic.store.requests import look
from mnemic.store.snapshot import Snapshot
from mnemic.verbs.who import Who, own_or_none


def standing(who: Who, item: ItemId) -> Flow[Version]:
    """The standing version of an item, in whatever state; `NotFound` unless it is this user's own and on this shelf."""
    version = yield from look(lambda s: s.standing(own_or_none(s, who), [item]).get(item))
    if version is None or not on_shelf(who.scope, version.item):
        raise absent(item)
    return version


def absent(item: str) -> NotFound:
    """What to raise for an item that is not there, or not shown."""
    return NotFound(f"no item {item} here")


def sources_of(snapshot: Snapshot, spaces: tuple[int, ...], ids: Sequence[ItemId]) -> dict[ItemId, Version]:
    """The evidence that is cited; `NotFound` names what is not there."""
    found = snapshot.standing(spaces, ids) if ids else {}
    missing = [item for item in ids if item not in found]
    if missing:
        raise NotFound(f"no item {missing[0]} here to cite as a source")
    return found


def chunks_of(snapshot: Snapshot, spaces: tuple[int, ...], items: Sequence[ItemId]) -> list[ItemId]:
    """The chunks of the documents among these items: a document is forgotten as a whole."""
    documents = [i for i, v in snapshot.standing(spaces, items).items() if v.item.kind is Kind.DOCUMENT]
    parts = [part for space in spaces for part in snapshot.derived(space, documents)] if documents else []
    return [i for i, v in snapshot.standing(spaces, parts).items() if v.item.kind is Kind.CHUNK]
