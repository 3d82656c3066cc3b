"""Rows, and what a keeper must be able to do with them inside one transaction.

Everything that gives a commit, an erasure or an audit its meaning is written once, above this
protocol (`ledger`, `erasure`, `audit`, `transfer`); a keeper only finds, adds and removes rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from mnemic.core.items import State
from mnemic.core.queries import Entry, Filter, View
from mnemic.core.scope import Shared


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
    """One user's space; `user` is None and `secret` empty once its user is erased."""

    id: int
    tenant: int
    user: str | Shared | None
    secret: bytes
    seq: int
    epoch: int


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


def shown_states(view: View) -> tuple[State, ...]:
    """The states that a view shows: superseded items are part of what was known, and of what held."""
    if view.as_of is None and view.valid_at is None:
        return (State.ACTIVE,)
    return (State.ACTIVE, State.SUPERSEDED)


class Rows(Protocol):
    """One transaction over the tables; the writing methods only inside a write."""

    # Tenants, spaces, names
    def tenant(self, name: str) -> TenantRow | None: ...
    def tenant_row(self, tenant: int) -> TenantRow: ...
    def tenants(self) -> list[TenantRow]: ...
    def add_tenant(self, name: str) -> TenantRow: ...
    def set_tenant(self, row: TenantRow) -> None: ...
    def space(self, tenant: int, user: str | Shared) -> SpaceRow | None: ...
    def space_rows(self, ids: Sequence[int]) -> list[SpaceRow]: ...
    def tenant_spaces(self, tenant: int) -> list[SpaceRow]: ...
    def add_space(self, tenant: int, user: str | Shared, secret: bytes) -> SpaceRow: ...
    def set_space(self, row: SpaceRow) -> None: ...
    def name(self, space: int, text: str) -> int | None: ...
    def name_text(self, name: int) -> str | None: ...
    def names(self, space: int) -> list[tuple[int, str]]: ...
    def add_name(self, space: int, text: str) -> int: ...
    def load_space(self, space: int, tenant: int, user: str | Shared | None, secret: bytes) -> None: ...
    def load_name(self, name: int, space: int, text: str) -> None: ...

    # The journal
    def add_change(self, row: ChangeRow) -> None: ...
    def add_event(self, row: EventRow) -> None: ...
    def changes(self, tenant: int, after: int, limit: int, newest: bool) -> list[ChangeRow]: ...
    def events(self, tenant: int, first: int, last: int) -> list[EventRow]: ...
    def seq_at(self, tenant: int, at: int) -> int: ...
    def times(self, tenant: int, seqs: Sequence[int]) -> dict[int, int]: ...

    # Versions, entries, links
    def add_version(self, row: VersionRow) -> int: ...
    def close_version(self, row: VersionRow, seq_to: int) -> None: ...
    def standing(self, space: int, item: bytes) -> VersionRow | None: ...
    def version_rows(self, space: int, vers: Sequence[int]) -> list[VersionRow]: ...
    def written(self, space: int, seq: int) -> list[VersionRow]: ...
    def item_rows(self, space: int, item: bytes) -> list[VersionRow]: ...
    def visible(
        self,
        spaces: Sequence[int],
        items: Sequence[bytes] | None,
        where: Filter,
        view: View,
        after: int,
        limit: int,
        newest: bool,
    ) -> list[VersionRow]: ...
    def count(self, spaces: Sequence[int], where: Filter, view: View) -> int: ...
    def all_versions(self, space: int) -> Iterator[VersionRow]: ...
    def add_entries(self, space: int, entries: Iterable[Entry]) -> None: ...
    def entries(self, space: int, after: int) -> Iterator[Entry]: ...
    def entry_terms(self, space: int, ver: int) -> tuple[bytes, ...]: ...
    def closed(self, space: int, after_seq: int) -> list[tuple[int, int]]: ...
    def add_link(self, row: LinkRow) -> int: ...
    def close_link(self, row: LinkRow, seq_to: int) -> None: ...
    def standing_link(self, space: int, src: bytes, dst: bytes, type_: int) -> LinkRow | None: ...
    def links_of(self, space: int, item: bytes) -> list[LinkRow]: ...
    def links_written(self, space: int, seq: int) -> list[LinkRow]: ...
    def all_links(self, space: int) -> Iterator[LinkRow]: ...
    def add_derived(self, space: int, source: bytes, item: bytes) -> None: ...
    def derived(self, space: int, source: bytes) -> list[bytes]: ...
    def add_strength(self, row: StrengthRow) -> None: ...
    def strength(self, space: int, item: bytes) -> StrengthRow | None: ...
    def strengths(self, space: int) -> list[StrengthRow]: ...

    # Keys and tombstones
    def key(self, space: int, hashed: bytes) -> KeyRow | None: ...
    def add_key(self, row: KeyRow) -> None: ...
    def keys(self, space: int) -> list[KeyRow]: ...
    def forget_keys(self, before: int) -> None: ...
    def add_tomb(self, space: int, item: bytes, seq: int) -> None: ...
    def tombs(self, space: int) -> list[tuple[bytes, int]]: ...

    # Taking out
    def drop_item(self, space: int, item: bytes, seq: int) -> tuple[int, int]: ...
    def drop_space(self, space: int) -> tuple[int, int]: ...
    def drop_closed(self, tenant: int, horizon: int) -> int: ...
    def blank_event(self, tenant: int, seq: int, n: int) -> None: ...
