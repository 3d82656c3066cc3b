"""Pages and the plug point over them: a policy says which resident page leaves a context window next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, Protocol

from mnemic.core.ids import ItemId


class Tier(IntEnum):
    """The tier that a page lies in, from the window down to the archive. The numbers are part of the format."""

    SHORT = 1
    """In the window."""
    MIDDLE = 2
    """Out of the window, in a segment of its session that is."""
    LONG = 3
    """In the archive: recall finds it, and that is a page fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One item rendered to tokens, as it lies in a context window, with all that a policy may go by.

    Attributes:
        tokens: What it costs in the window.
        born: When it first came in: the session's own count of references, so that a trace replays alike.
        last_use: The reference that used it last; `born` if none has.
        uses: How often it was used since it was born.
        arrived: The reference that last brought it into the window.
        pinned: It never leaves.
        dirty: Its state here is not yet in the store.
        position: Its place in the session, from 0; recalled pages of other sessions have -1.
        role: `user`, `assistant`, `tool`, `segment` ...; "" if unknown.
        segment: The topic segment it lies in, by number; -1 for none.
        importance: 0 to 1, from what it says (`tiers.features`); 0.5 if nobody has looked.
        novelty: 0 to 1, the share of its terms that the session had not seen before.
        entities: How many names, dates and numbers it holds.
    """

    id: ItemId
    tokens: int
    born: int
    last_use: int
    uses: int = 0
    arrived: int = 0
    tier: Tier = Tier.SHORT
    pinned: bool = False
    dirty: bool = False
    position: int = -1
    role: str = ""
    segment: int = -1
    importance: float = 0.5
    novelty: float = 0.5
    entities: int = 0


class Policy(Protocol):
    """Chooses which resident page leaves the window next.

    It holds only what it has been told, and answers alike when told alike: one that draws is given its seed. Pinned
    pages and those that may not be split are kept out of `victim` by the pager, for every policy alike.
    """

    name: ClassVar[str]

    def admitted(self, page: Page, now: int) -> None:
        """Record that a page came into the window: written there, or brought back by a fault."""
        ...

    def used(self, page: Page, now: int) -> None:
        """Record that a resident page was used; `page` counts this use."""
        ...

    def left(self, page: Page, now: int) -> None:
        """Record that a page left the window."""
        ...

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """Choose the page of these that leaves next; equal ones in the order they arrived, then by id.

        The page that came last may be the one: it need not stay for having come last. A policy keeps an order of its
        own and looks pages up here, so a pager hands over what it has and copies nothing.

        Args:
            pages: Residents that may leave, by id: at least one, none that `left`, all that were `admitted`.
        """
        ...
