"""What memory has done about messages of prompts, so that it does the same when they come again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnemic.core.ids import ItemId


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptMessage:
    """What memory put behind one message of a prompt, and what that message is kept as.

    Attributes:
        name: Tells it from all others of this user: a digest of the conversation up to it.
        block: The words behind it, byte for byte; empty where memory had none, None where it was not asked.
        always: The part of the block that is always on; empty where it has none.
        shows: All items that the block shows.
        unwritten: Of these, those that rules had yet to write; it is not packed.
        drawn_from: What those come from.
        kept_as: The items that the message, and what answered it, were written as.
        kept_at: When the message was last written, seconds since 1970; 0 for never.
    """

    name: str
    block: str | None = None
    always: str = ""
    shows: tuple[ItemId, ...] = ()
    kept_as: tuple[ItemId, ...] = ()
    kept_at: float = 0.0
    unwritten: tuple[ItemId, ...] = ()
    drawn_from: tuple[ItemId, ...] = ()

    @property
    def size(self) -> int:
        """About how many bytes it takes in a process."""
        return 2 * len(self.block or "") + 2 * len(self.always) + 64 * len(self.shows + self.kept_as) + 256

    def without_block(self) -> PromptMessage:
        """The same, as if memory had not been asked."""
        return replace(self, block=None, always="", shows=(), unwritten=(), drawn_from=())

    def then(self, later: PromptMessage) -> PromptMessage:
        """Add what was done later: the first block stays, what is kept adds up."""
        first = self if self.block is not None else later
        return PromptMessage(
            name=self.name, block=first.block, always=first.always, shows=first.shows, unwritten=first.unwritten,
            drawn_from=first.drawn_from,
            kept_as=tuple(dict.fromkeys((*self.kept_as, *later.kept_as))), kept_at=max(self.kept_at, later.kept_at),
        )  # fmt: skip


def packed_message(message: PromptMessage) -> bytes:
    """Pack all but its name into bytes."""
    values = (message.block, message.always, message.shows, message.drawn_from, message.kept_as, message.kept_at)
    return json.dumps(values, separators=(",", ":")).encode()


def unpacked_message(name: str, packed: bytes) -> PromptMessage:
    """Make a message of its name and what was packed."""
    block, always, shows, drawn_from, kept_as, kept_at = json.loads(packed)
    return PromptMessage(
        name=name, block=block, always=always, shows=_ids(shows), drawn_from=_ids(drawn_from), kept_as=_ids(kept_as),
        kept_at=kept_at,
    )  # fmt: skip


def _ids(given: Sequence[str]) -> tuple[ItemId, ...]:
    return tuple(map(ItemId, given))
