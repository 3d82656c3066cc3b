"""Which spaces have entries or vectors enough outside of packs that some should be packed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mnemic.core.mutex import Mutex
from mnemic.store.values.work import EmbedderState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mnemic.store.contract import Store
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.work import PackRow


class UnpackedSpaces:
    """Tracks the spaces of one open store that wait to be packed. Safe for many threads.

    A space is looked at after so many versions have arrived, or were embedded, that it may have enough of them, and
    when somebody has had to read its entries or vectors one by one. Spaces in which nothing happens cost nothing.

    Args:
        least: Entries of a pack; 0 where nothing is packed.
        most_exact: Up to how many vectors of so many dimensions no signs are packed.
    """

    def __init__(self, store: Store, least: int, most_exact: Callable[[int], int]) -> None:
        self._store, self.least, self._most_exact = store, least, most_exact
        self._lock = Mutex()
        self._waiting: set[int] = set()
        self._unsound: set[PackRow] = set()
        self._embedded: Counter[int] = Counter()
        self._seen: int | None = None
        self._all_seen = False

    def want(self, space: int) -> None:
        """Note that a reader had to read many entries of a space."""
        with self._lock:
            self._waiting.add(space)

    def distrust(self, unsound: Iterable[PackRow]) -> None:
        """Note packs that are not what was kept: they are made anew, or else taken out at the end."""
        with self._lock:
            for row in unsound:
                self._unsound.add(row)
                self._waiting.add(row.space)

    def unsound(self) -> tuple[PackRow, ...]:
        """The packs that somebody has seen not to be what was kept."""
        with self._lock:
            return tuple(self._unsound)

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
                self._waiting.update(self._unsigned(snapshot))
                self._seen, self._all_seen = highest, True
            elif self._seen is None:
                self._seen = highest
            elif highest - self._seen >= self.least:
                self._waiting.update(snapshot.spaces_since(self._seen))
                self._seen = highest
            return sorted(self._waiting)

    def _unsigned(self, snapshot: Snapshot) -> Iterator[int]:
        """The spaces with entries enough, packed or about to be, for a pack of signs that is not there.

        Whether so many of them have vectors is asked where the pack is made.
        """
        for embedder in snapshot.embedders():
            if embedder.state is EmbedderState.RETIRING:
                continue
            for space, packed in snapshot.unsigned(embedder.id).items():
                if packed + self.least > self._most_exact(embedder.dims):
                    yield space
