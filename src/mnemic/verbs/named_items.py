"""What stands in a snapshot that a verb names: an item, the sources it cites, the chunks of a document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from mnemic.core.ids import ItemId
from mnemic.core.items import Kind, Version
from mnemic.core.scope import Shared
from mnemic.derive.strategy_lane import house_slice
from mnemic.derive.unread import FarBehind
from mnemic.errors import NotFound
from mnemic.flow import Flow
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import look
from mnemic.verbs.who import Who, on_shelf, own_or_none, spaces_of

if TYPE_CHECKING:
    from mnemic.derive.unread import UnreadRules
    from mnemic.writing import Desk

T = TypeVar("T")


def standing_versions(snapshot: Snapshot, who: Who, ids: Sequence[ItemId]) -> dict[ItemId, Version]:
    """The standing versions of items, in whatever state, in the order given.

    Raises:
        NotFound: one of them is not this user's own, or not on this shelf.
    """
    found = snapshot.standing(own_or_none(snapshot, who), ids) if ids else {}
    for item in ids:
        if item not in found or not on_shelf(who.scope, found[item].item):
            raise absent(item)
    return found


def standing_version(snapshot: Snapshot, who: Who, item: ItemId) -> Version:
    """The standing version of one item, in whatever state; `NotFound` as above."""
    return standing_versions(snapshot, who, (item,))[item]


def absent(item: str) -> NotFound:
    """What to raise for an item that is not there, or not shown."""
    return NotFound(f"no item {item} here")


def cited_versions(snapshot: Snapshot, who: Who, ids: Sequence[ItemId]) -> dict[ItemId, Version]:
    """The evidence that is cited, as far as it is there."""
    return snapshot.standing(spaces_of(snapshot, who), ids) if ids else {}


def refuse_uncited(found: Mapping[ItemId, Version], ids: Sequence[ItemId]) -> None:
    """Raise `NotFound` for a source that is cited and not there."""
    missing = [item for item in ids if item not in found]
    if missing:
        raise NotFound(f"no item {missing[0]} here to cite as a source")


def chunks_of(snapshot: Snapshot, who: Who, versions: Iterable[Version]) -> dict[ItemId, Version]:
    """The chunks of the documents among these versions: a document is forgotten as a whole."""
    documents = [version.item.id for version in versions if version.item.kind is Kind.DOCUMENT]
    spaces = own_or_none(snapshot, who) if documents else ()
    parts = [part for space in spaces for part in snapshot.derived(space, documents)]
    return {i: v for i, v in snapshot.standing(spaces, parts).items() if v.item.kind is Kind.CHUNK}


def unread_versions(snapshot: Snapshot, who: Who, desk: Desk, unread: UnreadRules) -> dict[ItemId, Version]:
    """What rules would write or change for this user if they ran now, in whatever state; nothing in the past."""
    if not who.past.is_now or isinstance(who.scope.user, Shared):
        return {}
    heads = snapshot.spaces(own_or_none(snapshot, who))
    return {
        item.id: Version(item=item, seq_from=head.seq, seq_to=None, recorded=item.said)
        for head in heads
        for item in unread.read(snapshot, desk, head).items.values()
    }


def catch_up(who: Who, desk: Desk) -> Flow[bool]:
    """Have rules read what this user has said, and write what they make of it; whether they wrote anything."""
    spaces = yield from look(lambda s: () if isinstance(who.scope.user, Shared) else own_or_none(s, who))
    did = False
    for space in spaces:
        while (yield from house_slice(desk, space)).done:
            did = True
    return did


def look_ahead(who: Who, desk: Desk, of: Callable[[Snapshot], T]) -> Flow[T]:
    """Look at a snapshot with what rules make of unread turns; where too many wait for that, rules read them first.

    It ends: a space refuses to be read ahead once for each place that its rules have come to.
    """
    while True:
        try:
            return (yield from look(of))
        except FarBehind:
            yield from catch_up(who, desk)


def look_again(who: Who, desk: Desk, of: Callable[[Snapshot], T]) -> Flow[T]:
    """What a look finds; where it misses something, what rules have not written yet is written first.

    A reader is shown what rules make of a turn before they have written it, and may name it at once.
    """
    try:
        return (yield from look(of))
    except NotFound:
        if not (yield from catch_up(who, desk)):
            raise
    return (yield from look(of))
