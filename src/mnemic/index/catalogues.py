"""The catalogues of spaces: one per space, in memory, built from the store's entries and following its journal."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, TypeVar

from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Mutex
from mnemic.core.uninterrupted import import_whole
from mnemic.settings import PACK_ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mnemic.core.queries import Filter, LaterEvidence, View
    from mnemic.index.catalogue import Catalogue
    from mnemic.index.columns import Shelves
    from mnemic.index.link_table import SpaceLinks
    from mnemic.index.reading import Reading
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.heads import SpaceHead
    from mnemic.store.values.work import PackRow

    Floats = NDArray[np.float32]

T = TypeVar("T")


class Catalogues:
    """The catalogues of the spaces read lately, within a number of bytes. Safe for many threads.

    Attributes:
        unpacked: Called with a space of which at least a pack's entries had to be read one by one, or of which packs
            are not what was kept, and with those.
    """

    def __init__(self, limit: int, pack_rows: int = PACK_ROWS) -> None:
        """Hold nothing yet.

        Args:
            limit: Bytes that all of them may take; the one in use may exceed it alone.
            pack_rows: Entries of a pack; 0 reads no packs.
        """
        self._limit, self._pack_rows = limit, pack_rows
        self.unpacked: Callable[[int, Sequence[PackRow]], None] = lambda space, unsound: None
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over with nothing held, as a forked child must."""
        self._lock = Mutex()
        self._held: OrderedDict[int, tuple[Mutex, Catalogue]] = OrderedDict()
        self._bytes: dict[int, int] = {}
        self._total = 0

    def readings(
        self,
        snapshot: Snapshot,
        spaces: Sequence[int],
        view: View,
        where: Filter,
        asked: Mapping[int, Floats] = {},
        reader: str | None = None,
    ) -> list[Reading]:
        """Make the read set of each space, as far as this snapshot sees, with vectors to compare a question with.

        Args:
            asked: The question as each embedder reads it whose vectors are wanted. The first question may find only
                those vectors there that it looks at: whoever asks another asks for readings anew.
            reader: The strategy that asks, if one does: it sees what it keeps for itself.
        """
        return [
            self._reading(snapshot, head, within, where, asked, _shelves(snapshot, head.id, where, hidden, reader))
            for head, within, hidden in snapshot.read_set(spaces, view)
        ]

    def links(
        self, snapshot: Snapshot, spaces: Sequence[int], view: View, later: LaterEvidence | None = None
    ) -> list[SpaceLinks]:
        """The links of each layer of a read set, the nearest first, and which items the view shows there.

        Args:
            later: What is not shown of one of the spaces.
        """

        def of(head: SpaceHead, within: View, hidden: tuple[int, ...]) -> SpaceLinks:
            here = later if later is not None and later.space == head.id else None
            return self._followed(snapshot, head, lambda c: c.links(snapshot, head.seq, within, hidden, here))

        return [of(*layer) for layer in snapshot.read_set(spaces, view)]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._held.clear()
            self._bytes.clear()
            self._total = 0

    @property
    def nbytes(self) -> int:
        """Memory taken by all, about."""
        return self._total

    def _reading(
        self,
        snapshot: Snapshot,
        head: SpaceHead,
        view: View,
        where: Filter,
        asked: Mapping[int, Floats],
        shelves: Shelves,
    ) -> Reading:
        def read(catalogue: Catalogue) -> Reading:
            for model in asked:
                catalogue.follow_vectors(snapshot, head, model, by_signs=True)
            reading = catalogue.reading(snapshot, head.seq, view, where, shelves)
            if not catalogue.fetch(snapshot, reading, asked):  # a pack told of vectors that are not there
                for model in asked:
                    catalogue.follow_vectors(snapshot, head, model)
                reading = catalogue.reading(snapshot, head.seq, view, where, shelves)
            return reading

        return self._followed(snapshot, head, read)

    def _followed(self, snapshot: Snapshot, head: SpaceHead, of: Callable[[Catalogue], T]) -> T:
        """What one thread at a time makes of a space's catalogue, once that has followed a snapshot."""
        lock, catalogue = self._catalogue(head)
        with lock:
            if catalogue.changing:  # it has taken in some of what was new, was interrupted, and would take it in again
                catalogue = type(catalogue)(head.id, head.epoch, packs=self._pack_rows > 0)
                self._held[head.id] = lock, catalogue
            catalogue.changing = True
            if catalogue.seq < head.seq:
                catalogue.follow(snapshot, head)
            made = of(catalogue)
            unpacked, catalogue.unpacked = catalogue.unpacked, 0
            unsound, catalogue.unsound = catalogue.unsound, ()
            catalogue.changing = False
            taken = catalogue.nbytes
        self._account(head.id, catalogue, taken)
        if unsound or unpacked >= self._pack_rows > 0:
            self.unpacked(head.id, unsound)
        return made

    def _catalogue(self, head: SpaceHead) -> tuple[Mutex, Catalogue]:
        import_whole("mnemic.index.catalogue")
        from mnemic.index.catalogue import Catalogue  # numpy is paid for by the first question, not at the door

        with self._lock:
            held = self._held.get(head.id)
            if held is not None and held[1].epoch > head.epoch:
                # A reader from before an erasure or a rewind: what has gone since must not enter what others read.
                return Mutex(), Catalogue(head.id, head.epoch, packs=False)
            if held is None or held[1].epoch < head.epoch:
                held = self._held[head.id] = (Mutex(), Catalogue(head.id, head.epoch, packs=self._pack_rows > 0))
            self._held.move_to_end(head.id)
            return held

    def _account(self, space: int, catalogue: Catalogue, taken: int) -> None:
        with self._lock:
            if space in self._held and self._held[space][1] is catalogue:
                self._total += taken - self._bytes.get(space, 0)
                self._bytes[space] = taken
            while self._total > self._limit and len(self._held) > 1:
                self._let_go(next(iter(self._held)))

    def _let_go(self, space: int) -> None:
        self._held.pop(space, None)
        self._total -= self._bytes.pop(space, 0)


def _shelves(snapshot: Snapshot, space: int, where: Filter, hidden: tuple[int, ...], reader: str | None) -> Shelves:
    import_whole("mnemic.index.columns")
    from mnemic.index.columns import Shelves

    agent = None if where.agent is None else snapshot.name_id(space, where.agent)
    session = None if where.session is None else snapshot.name_id(space, where.session)
    return Shelves(
        agent=-1 if where.agent is not None and agent is None else agent,
        session=-1 if where.session is not None and session is None else session,
        hidden=hidden,
        reader=reader,
    )
