"""The blocks of memory that stand in conversations: a block once placed is placed again, byte for byte.

A model's endpoint keeps what it computed of a prompt's beginning. A block that changed, or that moved, would have all
behind it computed anew: so each stays where it was placed, behind the message that it was recalled for, for as long as
the conversation goes on. What was erased or forgotten since goes at once, whatever that costs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnemic.core.items import State
from mnemic.core.mutex import Mutex
from mnemic.errors import NotFound

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.memory import ScopedMemory


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """What memory said to one message.

    Attributes:
        text: As it stands in the prompt; empty where nothing was recalled.
        always: Its always-on part; empty where the block has none.
        items: All that it shows.
    """

    text: str
    always: str = ""
    items: tuple[ItemId, ...] = ()

    @property
    def size(self) -> int:
        """About how many bytes it takes here."""
        return 2 * len(self.text) + 64 * len(self.items) + 256


@dataclass(frozen=True, slots=True)
class Written:
    """A message of the user's that has been written.

    Attributes:
        at: When, by the monotonic clock, seconds.
        items: What it is kept as.
    """

    at: float
    items: tuple[ItemId, ...]


class PlacedBlocks:
    """Blocks by conversation and message, the longest unused going first. Safe for many threads.

    Args:
        limit: Most bytes that all of them take.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._lock = Mutex()
        self._blocks: OrderedDict[bytes, PlacedBlock] = OrderedDict()
        self._written: OrderedDict[bytes, Written] = OrderedDict()

    def placed(self, digests: Sequence[bytes]) -> dict[bytes, PlacedBlock]:
        """The blocks that stand behind these messages."""
        with self._lock:
            for digest in digests:
                if digest in self._blocks:
                    self._blocks.move_to_end(digest)
            return {digest: self._blocks[digest] for digest in digests if digest in self._blocks}

    def place(self, digest: bytes, block: PlacedBlock) -> PlacedBlock:
        """Keep a block for its message; if another request was faster, its block stands, and is returned."""
        with self._lock:
            if digest in self._blocks:
                return self._blocks[digest]
            self._blocks[digest] = block
            self._size += block.size
            while self._size > self._limit and len(self._blocks) > 1:
                _, oldest = self._blocks.popitem(last=False)
                self._size -= oldest.size
            return block

    def drop(self, digest: bytes) -> None:
        """Let a block go, of which something may not be shown any more."""
        with self._lock:
            if (block := self._blocks.pop(digest, None)) is not None:
                self._size -= block.size

    def written(self, digest: bytes, since: float) -> Written | None:
        """What a message is kept as, if it was written since; None for not."""
        with self._lock:
            written = self._written.get(digest)
            return written if written is not None and written.at >= since else None

    def note_written(self, digest: bytes, written: Written) -> None:
        """Note that a message has been written."""
        with self._lock:
            self._written[digest] = written
            self._written.move_to_end(digest)
            while len(self._written) > self._limit // _WRITTEN_SIZE:
                self._written.popitem(last=False)


_WRITTEN_SIZE = 512
"""About how many bytes a note of a written message takes."""


class StripedLocks:
    """So many locks that two keys seldom share one, and the same key always does."""

    def __init__(self, count: int) -> None:
        self._locks = [Mutex() for _ in range(count)]

    def of(self, key: bytes) -> Mutex:
        """The lock of a key, which is a digest."""
        return self._locks[int.from_bytes(key[:4]) % len(self._locks)]


def withdrawn(me: ScopedMemory, ids: Sequence[ItemId]) -> set[ItemId]:
    """Those of some items that may not be shown any more: erased, forgotten, or expired. A superseded one may."""
    shown = {version.item.id for version in me.visible(ids)}
    return {id for id in ids if id not in shown and not _is_history(me, id)}


def _is_history(me: ScopedMemory, id: ItemId) -> bool:
    """Whether an item that is not visible was superseded."""
    try:
        versions = me.history(id)
    except NotFound:
        return False
    return next((v.item.state for v in reversed(versions) if v.item.id == id), State.RETIRED) is State.SUPERSEDED
