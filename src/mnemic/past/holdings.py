"""All that is held of a user: every item in whatever state, with its earlier versions, its links and its uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.core.ids import ItemId
from mnemic.core.items import Link, Strength, Version
from mnemic.store.engine.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """One item with all that is kept of it.

    Attributes:
        version: Its last version, which may be retired, superseded or expired.
        earlier: Its versions before that, as far as they are kept, oldest first.
        links: Those that start at it and stand.
        strength: How often it was shown, helped, misled.
    """

    version: Version
    earlier: tuple[Version, ...]
    links: tuple[Link, ...]
    strength: Strength


def holdings_of(snapshot: Snapshot, space: int, versions: Sequence[Version]) -> list[Holding]:
    """All that a space holds of some items, of which these are the versions that are shown."""
    ids = [version.item.id for version in versions]
    if not ids:
        return []
    stories, uses = snapshot.histories((space,), ids), snapshot.strength(space, ids)
    links: dict[ItemId, list[Link]] = {}
    for link in snapshot.links((space,), ids):
        links.setdefault(link.src, []).append(link)
    return [
        Holding(
            version=version,
            earlier=tuple(
                earlier_version
                for earlier_version in stories.get(version.item.id, ())
                if earlier_version.seq_from < version.seq_from
            ),
            links=tuple(links.get(version.item.id, ())),
            strength=uses.get(version.item.id, Strength()),
        )
        for version in versions
    ]
