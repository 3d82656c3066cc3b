"""The blocks of memory that stand in conversations: a block once placed is placed again, byte for byte.

A model's endpoint keeps what it computed of a prompt's beginning. A block that changed, or that moved, would have all
behind it computed anew: so each stays where it was placed, behind the message that it was recalled for, for as long as
the conversation goes on, whichever process it goes through. What was erased or forgotten since goes at once, whatever
that costs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mnemic.core.items import State
from mnemic.core.mutex import Mutex
from mnemic.errors import NotFound

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.memory import ScopedMemory
    from mnemic.store.values.prompt_messages import PromptMessage


class StandingBlocks:
    """What memory did about messages of prompts, as the store keeps it, and as this process knows it before that.

    A block is in this process from when it is placed, so that a request that goes out with one, or goes without since
    memory was late, is followed by the same. It is in the store from when its exchange is written, or at the end of an
    answer where nothing is. Safe for many threads.

    Args:
        limit: Most bytes of blocks in this process; the longest unused go first.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._lock = Mutex()
        self._here: OrderedDict[str, PromptMessage] = OrderedDict()

    def find(self, me: ScopedMemory, names: Sequence[str]) -> dict[str, PromptMessage]:
        """What is known of messages, by name; without the blocks of which something may not be shown any more.

        Raises:
            MnemicError: memory cannot be asked.
        """
        kept = me.prompt_messages(names)
        with self._lock:
            here = {name: self._here[name] for name in names if name in self._here}
            for name in here:
                self._here.move_to_end(name)
        known = {
            name: kept[name].then(here[name]) if name in kept and name in here else kept.get(name) or here[name]
            for name in names
            if name in kept or name in here
        }
        gone = _withdrawn(me, list(dict.fromkeys(id for block in known.values() for id in block.shows)))
        for name, block in known.items():
            if gone.intersection(block.shows):
                self._drop(name)
                known[name] = replace(block, block="", always="", shows=())
        return known

    def place(self, message: PromptMessage) -> PromptMessage:
        """Have a block stand in this process; if another request was faster, its block stands, and is returned."""
        with self._lock:
            if message.name in self._here:
                return self._here[message.name]
            self._here[message.name] = message
            self._size += message.size
            while self._size > self._limit and len(self._here) > 1:
                _, oldest = self._here.popitem(last=False)
                self._size -= oldest.size
            return message

    def placed(self, name: str) -> PromptMessage | None:
        """The block that was placed in this process for a message, if there is one."""
        with self._lock:
            return self._here.get(name)

    def _drop(self, name: str) -> None:
        with self._lock:
            if (message := self._here.pop(name, None)) is not None:
                self._size -= message.size


def _withdrawn(me: ScopedMemory, ids: Sequence[ItemId]) -> set[ItemId]:
    """Those of some items that may not be shown any more: erased, forgotten, or expired. A superseded one may."""
    shown = {version.item.id for version in me.visible(ids)} if ids else set()
    return {id for id in ids if id not in shown and not _may_be_shown(me, id)}


def _may_be_shown(me: ScopedMemory, id: ItemId) -> bool:
    """Whether an item that is not visible is one that rules have yet to write, or was superseded."""
    try:
        return me.get(id).item.id == id
    except NotFound:
        pass
    try:
        versions = me.history(id)
    except NotFound:
        return False
    return next((v.item.state for v in reversed(versions) if v.item.id == id), State.RETIRED) is State.SUPERSEDED
