"""What stands in a space and passes a filter: followed from commit to commit, instead of being read again."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Mutex
from mnemic.core.queries import View
from mnemic.core.visibility import has_expired, shown_by

if TYPE_CHECKING:
    from mnemic.core.items import Version
    from mnemic.core.queries import Filter
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.heads import SpaceHead

LIMIT: Final = 128 * 1024 * 1024
"""Bytes that all spaces and filters may take, about; the one in use may exceed it alone."""

_EVER: Final = View(moment=0)
"""What stands whether it has expired or not: what is held may be read at any time."""

_PAGE: Final = 1_000

_OBJECTS: Final = 2_048
"""Bytes that a decoded version takes beside its text, about."""


@dataclass(slots=True)
class _Standing:
    """What stood as of commit `seq`, by local number; numbers up to `newest` have been seen, `mortal` ones expire."""

    epoch: int
    seq: int = 0
    newest: int = 0
    versions: dict[int, Version] = field(default_factory=dict)
    nbytes: int = 0
    mortal: int = 0
    lock: Mutex = field(default_factory=Mutex)

    def follow(self, snapshot: Snapshot, head: SpaceHead, where: Filter) -> None:
        """Take in what was written and let go of what was closed, up to a snapshot's head."""
        # What was closed before the horizon, and went with it, can no longer be told.
        if self.newest and self.seq >= snapshot.head(head.tenant).horizon:
            self._take_changes(snapshot, head.id, where)
        else:
            self._take_all(snapshot, head.id, where)
        self.seq, self.newest = head.seq, snapshot.newest(head.id)

    def _take_all(self, snapshot: Snapshot, space: int, where: Filter) -> None:
        after, self.nbytes, self.mortal = 0, 0, 0
        self.versions.clear()  # a reading that was cut short has left what may have been closed since
        while page := snapshot.scan((space,), where, _EVER, after=after, limit=_PAGE):
            after = page[-1][0]
            for ver, version in page:
                self._hold(ver, version)

    def _take_changes(self, snapshot: Snapshot, space: int, where: Filter) -> None:
        """By number: a scan would look at all of the space to find what is new."""
        for ver, _ in snapshot.closed(space, self.seq):
            self._drop(ver)
        fresh = dict.fromkeys(entry.ver for entry in snapshot.entries(space, self.newest))
        versions, shown = snapshot.versions(space, list(fresh)), shown_by(_EVER, where)
        for ver in fresh:
            if shown(versions[ver]):
                self._hold(ver, versions[ver])

    def _hold(self, ver: int, version: Version) -> None:
        self._drop(ver)
        self.versions[ver] = version
        self.nbytes += _taken(version)
        self.mortal += version.item.expires is not None

    def _drop(self, ver: int) -> None:
        gone = self.versions.pop(ver, None)
        if gone is not None:
            self.nbytes -= _taken(gone)
            self.mortal -= gone.item.expires is not None

    def shown(self, now: int) -> list[Version]:
        """List what has not expired by now."""
        held = self.versions.values()
        return [version for version in held if not has_expired(version.item, now)] if self.mortal else list(held)


def _taken(version: Version) -> int:
    return _OBJECTS + 4 * len(version.item.text)


class Standings:
    """What transactions read lately, at hand for the next one. Safe for many threads."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over with nothing held, as a forked child must."""
        self._lock = Mutex()
        self._held: OrderedDict[tuple[int, Filter], _Standing] = OrderedDict()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._held.clear()

    def read(self, snapshot: Snapshot, head: SpaceHead, where: Filter) -> tuple[int, list[Version]]:
        """What stands, in the order it was written, and the commit it stands as of: the snapshot's head, or a later
        one that another thread has read already.
        """
        held = self._of(head, where)
        if held.epoch > head.epoch:  # from before an erasure: what has gone since must not enter what others read
            held = _Standing(head.epoch)
        with held.lock:
            if held.seq < head.seq:
                held.follow(snapshot, head, where)
            state = held.seq, held.shown(snapshot.now)
        self._let_go()
        return state

    def _of(self, head: SpaceHead, where: Filter) -> _Standing:
        key = head.id, where
        with self._lock:
            held = self._held.get(key)
            if held is None or held.epoch < head.epoch:
                held = self._held[key] = _Standing(head.epoch)
            self._held.move_to_end(key)
            return held

    def _let_go(self) -> None:
        with self._lock:
            while len(self._held) > 1 and sum(held.nbytes for held in self._held.values()) > self._limit:
                self._held.popitem(last=False)
