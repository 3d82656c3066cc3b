"""Rows as values: what the tables of a store hold, for whoever reads or writes them (`engine/rows`)."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeVar

from mnemic.core.ids import ItemId
from mnemic.core.queries import Filter, View
from mnemic.core.scope import Shared

BEHIND: Final = "behind"
"""The memo that counts a tenant's events behind its horizon."""


class TenantRow(NamedTuple):
    """A tenant and the head of its journal, which is its last commit; `name` is None once it is erased.

    `set_tenant` sets the name and the horizon; the head follows `add_change`.
    """

    id: int
    name: str | None
    seq: int
    at: int
    hash: bytes
    horizon: int
    horizon_hash: bytes


class SpaceRow(NamedTuple):
    """One user's space, or a branch of one; `user` is None and `secret` empty once its user is erased.

    A branch has a name, and reads its `parent` as of commit `base`; `lanes` says whether its writes are understood.
    """

    id: int
    tenant: int
    user: str | Shared | None
    secret: bytes
    seq: int
    epoch: int
    parent: int = 0
    base: int = 0
    branch: str = ""
    lanes: bool = True


class BranchPoint(NamedTuple):
    """Where a new space comes off: its parent and the commit that it reads it at, its name, whether it has lanes."""

    parent: int = 0
    base: int = 0
    branch: str = ""
    lanes: bool = True


TRUNK: Final = BranchPoint()
"""A space of its own."""


class ChangeRow(NamedTuple):
    """One commit; `actor` is a name's number, `cause` a seq or 0."""

    tenant: int
    seq: int
    space: int
    at: int
    actor: int
    cause: int
    hash: bytes


class EventRow(NamedTuple):
    """One event; `ver` or `lver` says which version it wrote (0: none). Salt and payload go when they are erased."""

    tenant: int
    seq: int
    n: int
    verb: int
    item: bytes | None
    ver: int
    lver: int
    payload: bytes | None
    salt: bytes | None
    digest: bytes


class VersionRow(NamedTuple):
    """One version of an item: its body, and the body's projections."""

    ver: int
    space: int
    id: bytes
    seq_from: int
    seq_to: int
    n: int
    state: int
    kind: int
    said: int
    known_to: int
    valid_from: int
    valid_to: int
    agent: int
    session: int
    pos: int
    body: bytes


class LinkRow(NamedTuple):
    """One version of a link; `type` is a name's number, `open` false once it is unlinked."""

    lver: int
    space: int
    src: bytes
    dst: bytes
    type: int
    seq_from: int
    seq_to: int
    n: int
    open: bool
    body: bytes


class SpentVersion(NamedTuple):
    """Of a version, what compaction goes by; `pinned` and `source` are what its body says."""

    ver: int
    space: int
    id: bytes
    seq_from: int
    seq_to: int
    n: int
    session: int
    retired: bool
    pinned: bool
    source: tuple[bytes, ...]


class SpentLink(NamedTuple):
    """Of a version of a link, what compaction goes by."""

    lver: int
    space: int
    src: bytes
    dst: bytes
    seq_from: int
    n: int


class EntryNames(NamedTuple):
    """Names that a stretch of entries uses; how many entries that is, the last of them, whether there are more."""

    names: set[int]
    entries: int
    upto: int
    more: bool


class Descent(NamedTuple):
    """What a space comes off (0: nothing), and whose it is: everybody's, somebody's, or, once erased, nobody's."""

    id: int
    parent: int
    shared: bool
    owned: bool


class KeyRow(NamedTuple):
    """An idempotency key: a keyed hash of it, the salted digest of what came with it, and what it became."""

    space: int
    hash: bytes
    salt: bytes
    digest: bytes
    seq: int
    item: bytes | None
    lasting: bool
    at: int


class StrengthRow(NamedTuple):
    """Counters of use; `last_used` 0 for never."""

    space: int
    id: bytes
    uses: int
    useful: int
    harms: int
    last_used: int


class HoldRow(NamedTuple):
    """A legal hold. `space` 0 means the whole tenant; with `item` or `session` only that; `seq` is the head it met."""

    id: int
    tenant: int
    space: int
    item: bytes | None
    session: str
    reason: str
    actor: str
    at: int
    seq: int


class SessionRow(NamedTuple):
    """One session's window: who has it open, and what it counts by.

    Attributes:
        session: The number of its name.
        owner: Who holds the lease, "" for nobody; it may be taken over once `lease_until` (microseconds) has passed.
        budget: Its tokens.
        policy: The name of what chose its pages.
        clock: References so far.
        turns: Turns so far.
        seq: The commit up to which its pages are written down.
    """

    space: int
    session: int
    owner: str
    lease_until: int
    budget: int
    policy: str
    clock: int
    turns: int
    seq: int


class PageRow(NamedTuple):
    """One page of a session, as it was written down last; `tiers.base.Page` says what the numbers are."""

    item: ItemId
    resident: bool
    tokens: int
    born: int
    last_use: int
    uses: int
    arrived: int
    pinned: bool
    position: int
    segment: int
    importance: float
    novelty: float
    entities: int


class Walk(NamedTuple):
    """Which versions are walked over: those that a filter and a view show, at most `limit` in order of their number.

    Attributes:
        after: Those numbered up to here are passed over.
        newest: From the highest number down.
    """

    where: Filter
    view: View
    after: int
    limit: int
    newest: bool = False


Cursor = tuple[int, int]
"""A place in an order of rows; (0, 0) lies before the first."""
T = TypeVar("T")
Page = tuple[list[T], Cursor | None]
"""Some rows, and the place to go on from; None where there are no more."""
