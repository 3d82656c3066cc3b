"""Rows, and what a keeper must be able to do with them inside one transaction.

Everything that gives a commit, an erasure or an audit its meaning is written once, above this
protocol (`ledger`, `erasure`, `audit`, `transfer`); a keeper only finds, adds and removes rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, TypeVar

from mnemic.core.clock import Clock
from mnemic.core.ids import Entropy
from mnemic.core.queries import Entry, Filter, View
from mnemic.core.scope import Shared
from mnemic.store.following import EmbedderRow, EmbedderState, Job, Lane, Order, VectorRow
from mnemic.store.heads import CheckpointRow, Wear
from mnemic.store.meters import MeterRow
from mnemic.store.pages import PageRow, SessionRow


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


class Line(NamedTuple):
    """Where a new space comes off: its parent and the commit that it reads it at, its name, whether it has lanes."""

    parent: int = 0
    base: int = 0
    branch: str = ""
    lanes: bool = True


TRUNK: Final = Line()
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


class Borne(NamedTuple):
    """Names that a stretch of entries bears: how many entries that is, which is the last, whether there may be more."""

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


class SpaceTables(Protocol):
    """Tenants and whose memory each space is."""

    def tenant(self, name: str) -> TenantRow | None: ...
    def tenant_row(self, tenant: int) -> TenantRow: ...
    def tenants(self) -> list[TenantRow]: ...
    def add_tenant(self, name: str) -> TenantRow: ...
    def set_tenant(self, row: TenantRow) -> None: ...
    def space(self, tenant: int, user: str | Shared, branch: str = "") -> SpaceRow | None: ...
    def space_rows(self, ids: Sequence[int]) -> list[SpaceRow]: ...
    def tenant_spaces(self, tenant: int) -> list[SpaceRow]: ...
    def add_space(self, tenant: int, user: str | Shared, secret: bytes, line: Line = TRUNK) -> SpaceRow: ...
    def set_space(self, row: SpaceRow) -> None: ...
    def load_space(
        self, space: int, tenant: int, user: str | Shared | None, secret: bytes, line: Line = TRUNK
    ) -> None: ...
    def descents(self, tenant: int) -> list[Descent]: ...
    def drop_space(self, space: int) -> tuple[int, int]: ...
    def drop_spaces(self, spaces: Sequence[int]) -> None: ...


class NameTable(Protocol):
    """The names of agents, sessions, link types and actors, by number."""

    def name(self, space: int, text: str) -> int | None: ...
    def name_text(self, name: int) -> str | None: ...
    def names(self, space: int) -> list[tuple[int, str]]: ...
    def add_name(self, space: int, text: str) -> int: ...
    def load_name(self, name: int, space: int, text: str) -> None: ...
    def name_numbers(self, space: int, after: int, limit: int) -> list[int]: ...
    def drop_names(self, space: int, names: Sequence[int]) -> None: ...
    def drop_bare_name(self, space: int, text: str) -> None: ...


class JournalTables(Protocol):
    """Commits and their events; the idempotency keys and tombstones that are known by them."""

    def add_change(self, row: ChangeRow) -> None: ...
    def add_event(self, row: EventRow) -> None: ...
    def changes(self, tenant: int, after: int, limit: int, newest: bool) -> list[ChangeRow]: ...
    def events(self, tenant: int, first: int, last: int) -> list[EventRow]: ...
    def noted(self, tenant: int, verbs: Sequence[int], after: int) -> list[int]: ...
    def seq_at(self, tenant: int, at: int) -> int: ...
    def times(self, tenant: int, seqs: Sequence[int]) -> dict[int, int]: ...
    def key(self, space: int, hashed: bytes) -> KeyRow | None: ...
    def add_key(self, row: KeyRow) -> None: ...
    def keys(self, space: int) -> list[KeyRow]: ...
    def drop_keys(self, space: int, item: bytes) -> None: ...
    def forget_keys(self, before: int) -> None: ...
    def add_tomb(self, space: int, item: bytes, seq: int) -> None: ...
    def tombs(self, space: int) -> list[tuple[bytes, int]]: ...


class ItemTables(Protocol):
    """Versions of items, their entries in the catalogue, counters of use."""

    def add_version(self, row: VersionRow) -> int: ...
    def close_version(self, row: VersionRow, seq_to: int) -> None: ...
    def standing(self, space: int, item: bytes) -> VersionRow | None: ...
    def version_rows(self, space: int, vers: Sequence[int]) -> list[VersionRow]: ...
    def written(self, space: int, seq: int) -> list[VersionRow]: ...
    def item_rows(self, space: int, item: bytes) -> list[VersionRow]: ...
    def covered(self, space: int, below: int, at: int) -> list[bytes]: ...
    def visible(self, spaces: Sequence[int], items: Sequence[bytes] | None, walk: Walk) -> list[VersionRow]: ...
    def count(self, spaces: Sequence[int], where: Filter, view: View) -> int: ...
    def all_versions(self, space: int) -> Iterator[VersionRow]: ...
    def add_entries(self, space: int, entries: Iterable[Entry]) -> None: ...
    def entries(self, space: int, after: int) -> Iterator[Entry]: ...
    def entry_terms(self, space: int, ver: int) -> tuple[bytes, ...]: ...
    def closed(self, space: int, after_seq: int) -> list[tuple[int, int]]: ...
    def core(self, space: int, view: View, limit: int) -> list[VersionRow]: ...
    def newest(self, space: int) -> int: ...
    def highest(self) -> int: ...
    def arrived(self, after: int) -> dict[int, int]: ...
    def add_strength(self, row: StrengthRow) -> None: ...
    def set_strength(self, row: StrengthRow) -> None: ...
    def strength(self, space: int, item: bytes) -> StrengthRow | None: ...
    def strengths(self, space: int) -> list[StrengthRow]: ...
    def drop_item(self, space: int, item: bytes, seq: int) -> tuple[int, int]: ...


class LinkTables(Protocol):
    """Links between items, and which item was derived from which."""

    def add_link(self, row: LinkRow) -> int: ...
    def close_link(self, row: LinkRow, seq_to: int) -> None: ...
    def standing_link(self, space: int, src: bytes, dst: bytes, type_: int) -> LinkRow | None: ...
    def links_of(self, space: int, item: bytes) -> list[LinkRow]: ...
    def links_written(self, space: int, seq: int) -> list[LinkRow]: ...
    def all_links(self, space: int) -> Iterator[LinkRow]: ...
    def add_derived(self, space: int, source: bytes, item: bytes) -> None: ...
    def derived(self, space: int, source: bytes) -> list[bytes]: ...


class VectorTables(Protocol):
    """Embedders and the vectors of entries."""

    def embedders(self) -> list[EmbedderRow]: ...
    def add_embedder(self, name: str, dims: int, state: EmbedderState) -> int: ...
    def set_embedder(self, row: EmbedderRow) -> None: ...
    def drop_embedder(self, model: int) -> None: ...
    def vectors(self, space: int, model: int, after: int) -> Iterator[VectorRow]: ...
    def vector_sizes(self, space: int) -> Iterator[tuple[int, int, int, int]]: ...
    def add_vectors(self, space: int, model: int, vectors: Iterable[VectorRow]) -> int: ...
    def carry_vectors(self, home: int, ver: int, space: int, to: int) -> None: ...
    def drop_vectors(self, model: int, limit: int) -> int: ...


class LaneTables(Protocol):
    """Work that follows a write: lanes, jobs, what models answered."""

    def lane(self, space: int, name: str) -> Lane: ...
    def set_lane(self, lane: Lane) -> None: ...
    def drop_lanes(self, name: str) -> None: ...
    def backlog(self, name: str) -> list[tuple[int, int, int]]: ...
    def lanes(self, space: int | None = None) -> list[Lane]: ...
    def leased(self, tenant: int) -> list[tuple[str, int]]: ...
    def jobs(self, states: Sequence[int]) -> list[Job]: ...
    def job(self, number: int) -> Job | None: ...
    def find_job(self, space: int, name: str, key: str) -> Job | None: ...
    def due_job(self, names: Sequence[str], now: int) -> Job | None: ...
    def add_job(self, order: Order, at: int) -> int: ...
    def set_job(self, job: Job) -> None: ...
    def answer(self, space: int, lane: str, hashed: bytes) -> bytes | None: ...
    def add_answer(self, space: int, lane: str, hashed: bytes, answered: bytes, given: Sequence[bytes]) -> None: ...
    def drop_answers(self, space: int, lane: str) -> None: ...
    def drop_all_answers(self, spaces: Sequence[int]) -> None: ...


class SessionTables(Protocol):
    """Sessions and the pages of their windows."""

    def session(self, space: int, session: int) -> SessionRow | None: ...
    def sessions(self, space: int) -> list[SessionRow]: ...
    def set_session(self, row: SessionRow) -> None: ...
    def pages(self, space: int, session: int, items: Sequence[bytes] | None) -> list[PageRow]: ...
    def put_pages(self, space: int, session: int, pages: Iterable[PageRow]) -> None: ...


class PastTables(Protocol):
    """What lies behind a horizon, or after a commit, found in pages and taken out."""

    def closed_versions(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[SpentVersion]: ...
    def retired_versions(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[SpentVersion]: ...
    def retired_among(self, space: int, horizon: int, items: Sequence[bytes]) -> list[SpentVersion]: ...
    def versions_of(self, space: int, items: Sequence[bytes]) -> list[SpentVersion]: ...
    def spent_links(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[SpentLink]: ...
    def links_among(self, spaces: Sequence[int], items: Sequence[bytes]) -> list[SpentLink]: ...
    def cited(self, spaces: Sequence[int], items: Sequence[bytes], *, live: bool = False) -> set[bytes]: ...
    def bound(self, spaces: Sequence[int], horizon: int, items: Sequence[bytes]) -> set[bytes]: ...
    def borne(self, space: int, after: int) -> Borne: ...
    def tied(self, after: int) -> tuple[set[int], set[bytes], int, bool]: ...
    def tied_since(self, tenant: int, seq: int) -> tuple[set[int], set[bytes]]: ...
    def drop_versions(self, tenant: int, horizon: int, versions: Sequence[SpentVersion]) -> None: ...
    def drop_links(self, tenant: int, horizon: int, links: Sequence[SpentLink]) -> None: ...
    def drop_traces(self, spaces: Sequence[int], items: Sequence[bytes]) -> None: ...
    def drop_derived(self, space: int, pairs: Sequence[tuple[bytes, bytes]]) -> None: ...
    def drop_after(self, tenant: int, seq: int) -> int: ...
    def wear(self, spaces: Sequence[int]) -> Wear: ...
    def spent_events(self, tenant: int, horizon: int, after: Cursor, limit: int) -> Page[Cursor]: ...
    def acted(self, tenant: int, after: int) -> tuple[set[int], int, bool]: ...
    def drop_events(self, tenant: int, horizon: int, events: Iterable[tuple[int, int]]) -> None: ...
    def drop_changes(self, tenant: int, horizon: int, seqs: Iterable[int]) -> None: ...


class NoteTables(Protocol):
    """What is known of a store beside its journal: legal holds, checkpoints, small facts, meters."""

    def meters(self) -> list[MeterRow]: ...
    def set_meter(self, row: MeterRow) -> None: ...
    def checkpoints(self, tenant: int) -> list[CheckpointRow]: ...
    def add_checkpoints(self, rows: Sequence[CheckpointRow]) -> None: ...
    def drop_checkpoint(self, name: str) -> None: ...
    def holds(self, tenant: int) -> list[HoldRow]: ...
    def add_hold(self, row: HoldRow) -> int: ...
    def set_hold(self, row: HoldRow) -> None: ...
    def drop_hold(self, hold: int) -> None: ...
    def memo(self, tenant: int, name: str) -> bytes | None: ...
    def set_memo(self, tenant: int, name: str, value: bytes) -> None: ...


@dataclass(frozen=True, slots=True)
class Rows:
    """One transaction over the tables, in groups; what writes is called only inside a write.

    Attributes:
        entropy: What salts and secrets are drawn from.
    """

    spaces: SpaceTables
    names: NameTable
    journal: JournalTables
    items: ItemTables
    links: LinkTables
    vectors: VectorTables
    lanes: LaneTables
    sessions: SessionTables
    past: PastTables
    notes: NoteTables
    clock: Clock
    entropy: Entropy

    def now(self) -> int:
        """The time by the store's clock, in microseconds."""
        return self.clock.now()
