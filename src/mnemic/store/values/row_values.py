"""The rows of a store's tables as values, which `engine/rows` reads and writes."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple, TypeVar

from mnemic.core.clock import FOREVER
from mnemic.core.ids import ItemId
from mnemic.core.queries import Filter, View
from mnemic.core.scope import Shared

BEHIND: Final = "behind"
"""The memo that counts a tenant's events behind its horizon."""
COPYING: Final = "copying"
"""The memo of a tenant that is being copied here, has no name yet and is not whole."""


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
    `id` is the store's own; the journal calls a space by its `number` in the tenant, and the names in it by theirs. No
    new name is given a number up to `spent`: names that are gone may have had them.
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
    number: int = 0
    spent: int = 0


class NameRow(NamedTuple):
    """A name of an agent, a session, a link type or an actor; the journal calls it by its `number` in the space."""

    id: int
    space: int
    number: int
    text: str


class BranchPoint(NamedTuple):
    """A new branch's parent, the commit as of which it reads it, its name, and whether it has lanes."""

    parent: int = 0
    base: int = 0
    branch: str = ""
    lanes: bool = True


TRUNK: Final = BranchPoint()
"""The branch point of a user's own space, which has no parent."""


class ChangeRow(NamedTuple):
    """One commit; `actor` is the number of a name in the space, `cause` a seq or 0."""

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
    """One version of an item: its encoded body, and columns copied from the body for filters and views.

    `said` is when it was said, `known_to` when it stopped being believed, `pos` its place in its session, `expires`
    when it is shown no more (0: never).
    """

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
    channel: int
    expires: int
    sight: int
    body: bytes


class LinkRow(NamedTuple):
    """One version of a link; `type` is the id of a name, `open` false once it is unlinked."""

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


class WrittenRow(NamedTuple):
    """What an event says of the row that it wrote: its number, its place and its bytes.

    Attributes:
        item: Of a link, the one that it starts at.
        open: Of a link.
    """

    number: int
    space: int
    item: bytes
    seq_from: int
    n: int
    body: bytes
    open: bool = False


class CompactionVersion(NamedTuple):
    """The columns of a version by which compaction decides; `pinned` and `erased_with` are read from its body."""

    ver: int
    space: int
    id: bytes
    seq_from: int
    seq_to: int
    n: int
    session: int
    retired: bool
    pinned: bool
    erased_with: tuple[bytes, ...]


class CompactionLink(NamedTuple):
    """The columns of a version of a link by which compaction decides."""

    lver: int
    space: int
    src: bytes
    dst: bytes
    seq_from: int
    n: int


class EntryNames(NamedTuple):
    """The names that a stretch of entries uses, its number of entries, its last entry, and whether there are more."""

    names: set[int]
    entries: int
    upto: int
    more: bool


class Descent(NamedTuple):
    """A space's parent (0: none), whether it is the tenant's shared one, and whether it still has an owner."""

    id: int
    parent: int
    shared: bool
    owned: bool


class KeyRow(NamedTuple):
    """An idempotency key: a keyed hash of it, the salted digest of its content, and the item written under it."""

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
    """A legal hold, set at commit `seq`. `space` 0 means the whole tenant; with `item` or `session` only that."""

    id: int
    tenant: int
    space: int
    item: bytes | None
    session: str
    reason: str
    actor: str
    at: int
    seq: int


class CredentialRow(NamedTuple):
    """What one can prove to be somebody by: an access key, a one-time link, a session of a browser.

    Attributes:
        id: What names it in lists and logs; no secret.
        kind: A `CredentialKind`.
        hash: SHA-256 of the secret text that is presented; the text itself is nowhere.
        name: Who acts by it, as the journal calls them.
        user: Whose memory alone it opens; None for any user of the tenant.
        right: The number of a `Right`.
        shared: 1 if the tenant's common space may be written to.
        issuer: The id of the credential that it was made by, and ends with; "" for none.
        created, expires, used, revoked: Microseconds since 1970; `FOREVER` for no end, 0 for never.
    """

    id: str
    kind: int
    hash: bytes
    name: str
    tenant: str
    user: str | None
    right: int
    shared: int
    issuer: str
    created: int
    expires: int
    used: int = 0
    revoked: int = 0


class CredentialKind(IntEnum):
    """What a row of `credential` is for."""

    KEY = 1
    LINK = 2
    SESSION = 3


class SessionRow(NamedTuple):
    """One session's window: who has it open, its budget and policy, and its counters.

    Attributes:
        session: The id of its name.
        owner: Who holds the lease, "" for nobody; it may be taken over once `lease_until` (microseconds) has passed.
        budget: Its tokens.
        policy: The name of its replacement policy.
        clock: References so far.
        turns: Turns so far.
        seq: The last commit that its stored pages account for.
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
    """One page of a session as it was stored last; `tiers.base.Page` says what the numbers are."""

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
    """Selects versions: those that a filter and a view show, at most `limit`, in ascending order of their number.

    Attributes:
        after: Versions numbered up to here are left out.
        newest: In descending order instead.
        before: So are versions numbered from here on.
    """

    where: Filter
    view: View
    after: int
    limit: int
    newest: bool = False
    before: int = FOREVER


Cursor = tuple[int, int]
"""A place in an order of rows; (0, 0) lies before the first."""
T = TypeVar("T")
Page = tuple[list[T], Cursor | None]
"""Some rows, and the place to go on from; None where there are no more."""
