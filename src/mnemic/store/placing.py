"""Move buckets of tenants from one PostgreSQL server to another while they are read and written.

A tenant is copied as `store.moving` copies it, and then brought up to date again and again, while its users go on: by
the journal what was added and closed, by comparing what stands beside. The last round runs behind the lock on its head
on the server that it leaves, and ends with a mark there: whoever comes to it from then on is refused. Then it has its
name on the other server. So at no moment is it written to in two places; cut between the mark and the name it is in
neither, and the next run goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from mnemic.errors import Conflict, Invalid, NotFound, StoreCorrupt
from mnemic.store.engine import audit, tenant_copy
from mnemic.store.engine.rows import Rows
from mnemic.store.engine.tenant_copy import CopyDiffersError, CopyMark, TenantCopy
from mnemic.store.moving import Probe, Progress, copy_of, drop_copy, drop_orphaned, tenants_of, write_pieces
from mnemic.store.postgres import placement_rows
from mnemic.store.postgres.postgres_store import PostgresStore
from mnemic.store.postgres.postgres_tables import PostgresSpaces
from mnemic.store.postgres.transaction import ServerTransaction
from mnemic.store.values.buckets import BUCKETS, Kept, Placement, bucket_of, checked_bucket
from mnemic.store.values.row_values import TenantRow

SHORT_SECONDS: Final = 0.25
"""A round that took no longer than this is followed by the fence."""
ROUNDS: Final = 8
"""Most rounds before the fence, however much is written meanwhile."""
_ATTEMPTS: Final = 3
"""How often a copy is made anew where something was erased or dropped meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedTenant:
    """A tenant that has come to another server.

    Attributes:
        rounds: How often it was copied, or brought up to date, before the fence.
        fenced: Seconds in which nobody could write to it.
    """

    tenant: str
    commits: int
    rounds: int
    fenced: float


# The table


def read_placement(directory: PostgresStore) -> Placement:
    """Read the table of all servers from the first of them.

    Raises:
        NotFound: this server has none.
    """
    with directory.read() as snapshot:
        table = placement_rows.placement(_transaction(snapshot.tables))
    if table is None:
        raise NotFound("this server has no placement; `mnemic place add NAME URL` makes one, itself first")
    return table


def add_server(directory: PostgresStore, server: PostgresStore, name: str, url: str) -> Placement:
    """Add a server, without buckets; the first one of all is the directory itself, with all of them.

    Raises:
        Conflict: there is one of this name, or it is one of another placement, or has tenants that would be lost sight
            of.
    """
    first = server.origin() == directory.origin()
    with directory.read() as snapshot:
        before = placement_rows.placement(_transaction(snapshot.tables))
    if (before is None) != first:
        said = "is in the placement already" if first else "cannot be added before the server that has the table"
        raise Conflict(f"server {name!r} {said}")
    if before is not None and name in before.servers and before.servers[name] != url:
        raise Conflict(f"there is a server {name!r} already; choose another name")
    if not first and tenants_of(server):
        raise Conflict(f"server {name!r} has tenants already; move them to the first server with `mnemic move`")
    server.transact(_keep, Kept(name, (1 << BUCKETS) - 1 if first else 0))
    return directory.transact(_add_server, name, url)


def _keep(rows: Rows, now: Kept) -> None:
    before = placement_rows.kept(_transaction(rows))
    if before is not None and before.server != now.server:
        raise Conflict(f"it is server {before.server!r} of a placement already")
    if before is None:
        placement_rows.set_kept(_transaction(rows), now)


def _add_server(rows: Rows, name: str, url: str) -> Placement:
    before = placement_rows.placement(_transaction(rows)) or Placement({})
    table = before if name in before.servers else before.with_server(name, url)
    placement_rows.set_placement(_transaction(rows), table)
    return table


# A bucket


@dataclass(slots=True)
class BucketMove:
    """A bucket on its way from one server to another.

    Args:
        directory: The server that has the table.
        source, dest: The two servers; either may be the directory.
    """

    directory: PostgresStore
    source: PostgresStore
    dest: PostgresStore
    bucket: int
    to: str
    progress: Progress = lambda what, done, of: None
    probe: Probe = lambda point: None
    placed: list[PlacedTenant] = field(default_factory=list)

    def run(self) -> Iterator[PlacedTenant]:
        """Move every tenant of the bucket, and then have new ones made on the other server; tell of each.

        Cut anywhere, it goes on where it was when it is run again.

        Raises:
            Conflict: the bucket is on its way to a third server.
        """
        checked_bucket(self.bucket)
        self.directory.transact(_begin_bucket, self.bucket, self.to)
        self.probe("place:begun")
        with self.source.read() as snapshot:
            gone = _spaces(snapshot.tables).gone_tenants()
        drop_orphaned(self.source, self.dest, gone)
        yield from self._tenants()
        self.source.transact(_close_bucket, self.bucket)
        self.probe("place:closed")
        yield from self._tenants()  # those that were made meanwhile; no more can be
        self.dest.transact(_open_bucket, self.bucket)
        self.probe("place:opened")
        self.directory.transact(_end_bucket, self.bucket, self.to)
        self.probe("place:ended")

    def _tenants(self) -> Iterator[PlacedTenant]:
        names = [name for name in tenants_of(self.source) if bucket_of(name) == self.bucket]
        with self.source.read() as snapshot:
            gone = [name for name in _spaces(snapshot.tables).gone_tenants() if bucket_of(name) == self.bucket]
        for name in (*gone, *names):
            placed = TenantMove(self.source, self.dest, name, self.to, self.progress, self.probe).run()
            if placed is not None:
                yield placed


def _begin_bucket(rows: Rows, bucket: int, to: str) -> None:
    table = placement_rows.placement(_transaction(rows))
    if table is None:
        raise NotFound("this server has no placement any more")
    if table.moving.get(bucket, to) != to:
        raise Conflict(f"bucket {bucket} is on its way to server {table.moving[bucket]!r}; finish that first")
    if bucket not in table.moving:
        placement_rows.set_placement(_transaction(rows), table.with_move(bucket, to))


def _close_bucket(rows: Rows, bucket: int) -> None:
    _set_bucket(rows, bucket, kept=False)


def _open_bucket(rows: Rows, bucket: int) -> None:
    """Have tenants of a bucket made here again; of those that left before and were erased elsewhere nothing stays."""
    _set_bucket(rows, bucket, kept=True)
    for name in _spaces(rows).gone_tenants():
        if bucket_of(name) == bucket:
            _spaces(rows).forget_gone(name)


def _set_bucket(rows: Rows, bucket: int, *, kept: bool) -> None:
    transaction = _transaction(rows)
    transaction.alone()
    before = placement_rows.kept(transaction)
    if before is None:
        raise NotFound("it is a server of no placement any more")
    placement_rows.set_kept(transaction, before.with_bucket(bucket, kept=kept))


def _end_bucket(rows: Rows, bucket: int, to: str) -> None:
    table = placement_rows.placement(_transaction(rows))
    if table is not None:
        placement_rows.set_placement(_transaction(rows), table.with_end(bucket, to))


# A tenant


@dataclass(slots=True)
class TenantMove:
    """One tenant on its way, while its users go on."""

    source: PostgresStore
    dest: PostgresStore
    name: str
    to: str
    progress: Progress
    probe: Probe
    _checked: int = 0
    """The commit as of which all of the copy was checked against the source."""
    _rounds: int = 0
    _copy: TenantCopy | None = None
    """The copy as of the last round, which the next goes on from."""
    _origin: str = ""

    def run(self) -> PlacedTenant | None:
        """Move it; None where it had come there before, and only the rest was to be taken out, or where it was erased.

        Raises:
            Conflict: `dest` has a tenant of this name.
            StoreCorrupt: the copy is not what the source is.
        """
        with self.source.read() as snapshot:
            gone = _spaces(snapshot.tables).gone_tenants().get(self.name)
        if gone is not None and self._has_come():
            self._take_out(gone[0].id)
            return None
        for attempt in range(_ATTEMPTS):
            try:
                return self._move(fenced=gone is not None)
            except NotFound:  # erased as a whole meanwhile
                drop_copy(self.dest, self.name)
                return None
            except CopyDiffersError as error:
                drop_copy(self.dest, self.name)
                with self.source.read() as snapshot:
                    gone = _spaces(snapshot.tables).gone_tenants().get(self.name)
                if attempt == _ATTEMPTS - 1:
                    raise StoreCorrupt(
                        f"tenant {self.name!r} was not moved: {error}; is it swept or erased from just now? If not,"
                        " `mnemic verify`"
                    ) from error
        raise AssertionError("unreachable")

    def _has_come(self) -> bool:
        with self.dest.read() as snapshot:
            return snapshot.tables.spaces.named_tenant(self.name) is not None

    def _move(self, *, fenced: bool) -> PlacedTenant:
        self._rounds, self._copy, self._origin = 0, None, self.source.origin()
        embedded: Mapping[int, int] = {}
        if not fenced:
            embedded = self._catch_up()
        began = time.monotonic()
        if not fenced:
            self.source.transact(self._fence, embedded)
            self.probe("place:fenced")
        with self.source.read() as snapshot:  # nobody writes to it any more
            rows = snapshot.tables
            tenant = _spaces(rows).gone_tenants()[self.name][0]
            if self._copy is None:  # an earlier run was cut here: all is checked anew
                copy = self._round(rows, tenant, {})
                self.dest.transact(copy.settle, audit.tenant_state_hash(rows, tenant))
            else:
                copy = self._copy.of_moment(rows, tenant)
            self.dest.transact(copy.publish)
        took = time.monotonic() - began
        self.probe("place:published")
        self._take_out(tenant.id)
        self.probe("place:taken-out")
        return PlacedTenant(tenant=self.name, commits=tenant.seq, rounds=self._rounds, fenced=took)

    def _catch_up(self) -> Mapping[int, int]:
        """Copy the tenant, and bring the copy up to date until a round is short; what of it is embedded."""
        embedded: Mapping[int, int] = {}
        for number in range(ROUNDS):
            began = time.monotonic()
            with self.source.read() as snapshot:
                rows = snapshot.tables
                tenant = rows.spaces.known_tenant(self.name)
                copy = self._round(rows, tenant, embedded)
                if not number:
                    self.dest.transact(copy.settle, snapshot.state_hash(self.name))
                    self._checked = tenant.seq
                embedded = tenant_copy.embedded_upto(rows, tenant.id)
            self.probe("place:round")
            if number and time.monotonic() - began <= SHORT_SECONDS:
                break
        return embedded

    def _fence(self, rows: Rows, embedded: Mapping[int, int]) -> None:
        """Bring the copy up to date once more, behind the lock on the tenant's head, and leave the mark."""
        tenant = rows.spaces.known_tenant(self.name)
        copy = self._round(rows, tenant, embedded)
        self.dest.transact(copy.settle_since, self._checked)
        self.probe("place:settled")
        _spaces(rows).leave(tenant.id, self.to)

    def _round(self, rows: Rows, tenant: TenantRow, embedded: Mapping[int, int]) -> TenantCopy:
        """Bring what there is of the copy to the moment of the source's rows."""
        mark = CopyMark(self.name, self._origin, tenant.seq, tenant.hash.hex(), tenant.horizon)
        if self._copy is None:
            number, left = self.dest.transact(_begin, rows, tenant, mark)
            copy = TenantCopy(rows, tenant, number, left, {})
        else:
            copy = self._copy.of_moment(rows, tenant)
        later = not copy.mark.is_of(mark)
        if later or len(rows.spaces.tenant_spaces(tenant.id)) != len(copy.spaces):  # one may come without a commit
            if later and not tenant_copy.can_go_on(rows, tenant, copy.mark, mark):
                raise CopyDiffersError("something of it was erased, dropped or taken back meanwhile")
            self.dest.transact(copy.advance, mark)
        if self._copy is None or not copy.models:
            copy = copy_of(self.dest, rows, tenant, copy.number, copy.mark)
        copy.embedded = embedded
        write_pieces(copy, self.dest, self.progress, self.probe)
        copy.mark = replace(mark, upto=mark.seq)
        self._copy = copy
        self._rounds += 1
        return copy

    def _take_out(self, tenant: int) -> None:
        """Take out what the tenant left on the server that it was moved from."""
        while self.source.transact(_take_out, tenant, self.name):
            pass


def _begin(rows: Rows, source: Rows, tenant: TenantRow, mark: CopyMark) -> tuple[int, CopyMark]:
    return tenant_copy.begin_tenant(rows, source, tenant.id, mark)


def _take_out(rows: Rows, tenant: int, name: str) -> bool:
    _spaces(rows).reopen(tenant)
    return tenant_copy.take_out(rows, tenant, name)


def _transaction(rows: Rows) -> ServerTransaction:
    return _spaces(rows).relations.transaction


def _spaces(rows: Rows) -> PostgresSpaces:
    if not isinstance(rows.spaces, PostgresSpaces):
        raise Invalid("store", "is a file", "Tenants are placed on PostgreSQL servers.")
    return rows.spaces
