"""Expiry (TTL): items that have outlived their retention class. What has a moment of its own to expire needs no run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from mnemic.core.clock import moment
from mnemic.tiers.collectors.base import Choice, Ground, StandingItem


class Expiry:
    """Chooses expired items. It alone takes evidence, because its owner set a class for it.

    A class's time runs from when the item was last written, or from the end of its validity if that is later.
    """

    name: ClassVar[str] = "ttl"

    def choose(self, ground: Ground) -> Iterator[Choice]:
        for item in ground.free():
            if why := _expired(item, ground):
                yield Choice(item.id, why)


def _expired(item: StandingItem, ground: Ground) -> str:
    name = ground.retention.of(item.kind, item.tags)
    lasts = ground.retention.lasts(name)
    if lasts is None:
        return ""
    ended = max(item.written, item.until or item.written) + lasts
    return f"class {name} kept it until {moment(ended):%Y-%m-%d %H:%M}" if ended <= ground.now else ""
