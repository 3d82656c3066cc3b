"""Changes, one per commit, and their events, one per thing changed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from mnemic.core.ids import ItemId


class Verb(IntEnum):
    """The kinds of event. The numbers are part of the format: never reuse one."""

    WROTE = 1
    REVISED = 2
    SUPERSEDED = 3
    RETIRED = 4
    REOPENED = 5
    PINNED = 6
    UNPINNED = 7
    LINKED = 8
    UNLINKED = 9
    UNDID = 10
    ERASED = 11
    USED = 12
    COMPACTED = 13
    NOTED = 14
    BRANCHED = 15
    MERGED = 16
    REVERTED = 17
    COLLECTED = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A thing changed by a commit.

    Attributes:
        n: Its place in the commit, from 0.
        item: The item changed, or a link's source; None for an event about the store itself.
        payload: What an event that writes no version carries; None for the others, and once erased.
        erased: The bytes it wrote are gone, on purpose; the digest that covers them stays.
    """

    n: int
    verb: Verb
    item: ItemId | None
    payload: bytes | None
    digest: bytes
    erased: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A commit of a tenant.

    Attributes:
        seq: 1, 2, 3 ... per tenant, without gaps; all its events share it.
        space: The id of the space that it changed, in this store; 0 for a commit of the whole tenant.
        at: When the journal took it (aware, UTC); never decreasing.
        actor: Who did it.
        cause: The seq that made it happen, or None.
        hash: SHA-256 over the previous hash, the envelope (with the space's number in the tenant) and the digests.
    """

    seq: int
    space: int
    at: datetime
    actor: str
    cause: int | None
    hash: bytes
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a write says when it returns: by then it is on disk and recallable by its words.

    Attributes:
        seq: The commit it landed in; for a repeated key, the first one's.
        ids: The items it wrote or changed, in the order given; a repeated key gives the first one's ids.
        repeated: How many of them were there already: landed before under the same key, or changed by nothing.
        masked: How many secrets were masked before the journal, by kind.
        behind: How many passages of this user wait to be understood, if more than the setting `backlog_limit`; 0
            otherwise. It is as of the last seconds, and counted to ten thousand or four times the limit. Nothing is
            refused or dropped: whoever can write more slowly may take it as a sign to.
    """

    seq: int
    ids: tuple[ItemId, ...]
    repeated: int = 0
    masked: tuple[tuple[str, int], ...] = ()
    behind: int = 0

    @property
    def id(self) -> ItemId:
        """The first id; most writes have just one."""
        return self.ids[0]


def counts_reading(change: Change) -> bool:
    """Whether a commit only counts that items were shown, as mnemic 0.1 wrote them: it is in no user's log."""
    return bool(change.events) and all(map(_counts_reading, change.events))


def _counts_reading(event: Event) -> bool:
    if event.verb is not Verb.USED or event.payload is None:
        return False
    return not any(useful or harms for _, useful, harms, _ in json.loads(event.payload).values())
