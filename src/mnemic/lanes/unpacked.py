"""Which spaces have entries enough outside of packs that some should be packed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mnemic.core.mutex import Mutex

if TYPE_CHECKING:
    from mnemic.store.contract import Store


class UnpackedSpaces:
    """Tracks the spaces of one open store that wait to be packed. Safe for many threads.

    A space is looked at after so many versions have arrived, or were embedded, that it may have enough of them, and
    when somebody has had to read its entries or vectors one by one. Spaces in which nothing happens cost nothing.

    Args:
        least: Entries of a pack; 0 where nothing is packed.
    """

    def __init__(self, store: Store, least: int) -> None:
        self._store, self.least = store, least
        self._lock = Mutex()
        self._waiting: set[int] = set()
        self._embedded: Counter[int] = Counter()
        self._seen: int | None = None
        self._all_seen = False

    def want(self, space: int) -> None:
        """Note that a reader had to read many entries of a space."""
        with self._lock:
            self._waiting.add(space)

    def embedded(self, space: int, count: int) -> None:
        """Note that so many entries of a space have vectors now, whose signs may be worth packing."""
        with self._lock:
            self._embedded[space] += count
            if 0 < self.least <= self._embedded[space]:
                del self._embedded[space]
                self._waiting.add(space)

    def done(self, space: int) -> None:
        """Note that a space has all packs that it should have."""
        with self._lock:
            self._waiting.discard(space)

    def known(self) -> list[int]:
        """The spaces that are known to wait, without another look."""
        with self._lock:
            return sorted(self._waiting)

    def waiting(self, *, every: bool = False) -> list[int]:
        """The spaces that wait.

        Args:
            every: Whether all spaces are looked at, if this process never did.
        """
        if not self.least:
            return []
        # Readers call `want` while they read: whoever has the lock must not wait to read.
        with self._store.read() as snapshot, self._lock:
            highest = snapshot.highest()
            if every and not self._all_seen:
                self._waiting.update(snapshot.unpacked(self.least))
                self._seen, self._all_seen = highest, True
            elif self._seen is None:
                self._seen = highest
            elif highest - self._seen >= self.least:
                self._waiting.update(snapshot.spaces_since(self._seen))
                self._seen = highest
            return sorted(self._waiting)
