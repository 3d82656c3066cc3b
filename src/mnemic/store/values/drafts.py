"""A caller's requests to a store for a write: the operations and the draft of one commit, or an erasure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from mnemic.core.events import Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Link, Strength
from mnemic.core.scope import Shared
from mnemic.store.values.row_values import PageRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """Write a version of an item.

    Attributes:
        terms: The token streams of its parts; None carries its predecessor's over, and its vectors with them (text and
            key unchanged).
        key: Idempotency key, unique in the space; the store keeps only a keyed hash of it.
        content: What the caller gave, canonically encoded; the same key with other content is a conflict.
        lasting: An import's key: it outlives the item's erasure, so that the same import run again brings nothing back.
    """

    verb: Verb
    item: Item
    terms: tuple[bytes, ...] | None
    key: str | None = None
    content: bytes = b""
    lasting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """Write (`LINKED`) or close (`UNLINKED`) a link."""

    verb: Verb
    link: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """An event that writes no version: it carries its payload in the journal itself."""

    verb: Verb
    payload: bytes
    item: ItemId | None = None


Op = Put | Tie | Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """Moves a lane's cursor: the commit's operations were derived from the versions past `after`, up to `upto`.

    Attributes:
        owner: Who holds the lane's lease; "" while nobody does.
        after, upto: Where the cursor must stand before the commit, and where it stands after: versions' local numbers.
        again: The cursor goes back to `upto`, so that what lies past it is read once more.
        keep_answers: What models answered in this run is kept, for a run that repeats it.
    """

    name: str
    owner: str
    after: int
    upto: int
    again: bool = False
    keep_answers: bool = False


@dataclass(frozen=True, slots=True)
class JobStep:
    """The job that a commit finishes, under the lease of `owner`."""

    id: int
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """Makes a branch, in the commit that carries it.

    Attributes:
        of: The parent: a branch of the same user; "" for the user's own space.
        base: The commit as of which it reads its parent; None for the last one before it.
        lanes: Whether strategies and embedders read what is written to it, as they do in a user's own space.
    """

    of: str = ""
    base: int | None = None
    lanes: bool = False


class Paging(NamedTuple):
    """Stores the state of a session's window and of its changed pages, along with a turn or alone.

    Attributes:
        session: Its name.
        owner: Who has the session open; the write is refused if another has it, or had it since.
        seconds: How long the lease is to last from now; 0 gives it back.
        rows: Pages whose state has changed.
        taking: Whether the session is being opened: it may be taken from an owner who gave it back or let it lapse.
    """

    session: str
    owner: str
    seconds: float
    budget: int
    policy: str
    clock: int
    turns: int
    seq: int
    rows: tuple[PageRow, ...] = ()
    taking: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A commit as its author proposes it: the store writes all of `ops`, or none.

    Attributes:
        expect: For an item that must not have changed: the `seq_from` of its standing version, 0 for "must not exist".
        uncited: Items of this space that no live item may cite once this is written, or the draft is refused.
        unkeyed: Items that give their idempotency keys up, so that the same may be written under them again.
        used: Counts to add to items' counters of use.
        upon: The space's last commit as its author saw it (0 before the first): refused once the space has moved on.
        lane: The step of a lane that this commit is. Without ops it moves the cursor and is no commit: it gets no seq.
            With one, every source that an item cites must still be there.
        job: The job that this commit finishes. Without ops it is no commit either.
        paging: What a session writes of its window along with it. Without ops it is no commit either.
        branch: The branch that is written to; "" for the user's own space.
        fork: How that branch is made; None where it must be there.
    """

    tenant: str
    user: str | Shared
    actor: str
    ops: tuple[Op, ...]
    cause: int | None = None
    expect: Mapping[ItemId, int] = field(default_factory=dict)
    uncited: frozenset[ItemId] = frozenset()
    unkeyed: frozenset[ItemId] = frozenset()
    used: Mapping[ItemId, Strength] = field(default_factory=dict)
    upon: int | None = None
    lane: Advance | None = None
    job: JobStep | None = None
    paging: Paging | None = None
    branch: str = ""
    fork: Fork | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What somebody names to be erased: items by id, those of a session, those of a source.

    Attributes:
        agent, shelf: The agent and the session whose items alone are seen from where it was asked; None for all.
    """

    ids: tuple[ItemId, ...] = ()
    session: str | None = None
    source: str | None = None
    agent: str | None = None
    shelf: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """Names what to erase: items and all that was derived from them, or a whole user or tenant.

    Attributes:
        reopen: Versions that stand again once these items are gone, written in the same commit.
        expect: For each of those, the `seq_from` of the version that must still stand.
        branch: The branch whose view reopens; with `whole`, the branch that is dropped. Items go from every branch.
        names: Texts of names that go too, unless something that stays bears them: that of a session, which may outlive
            its last item.
        named: What was named, which is looked for again in each copy of the store that lies beside it.
    """

    tenant: str
    user: str | Shared | None
    ids: tuple[ItemId, ...] = ()
    whole: bool = False
    actor: str = "me"
    reason: str = ""
    reopen: tuple[Put, ...] = ()
    expect: Mapping[ItemId, int] = field(default_factory=dict)
    branch: str = ""
    names: tuple[str, ...] = ()
    named: Named = Named()
