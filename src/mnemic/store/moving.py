"""Move tenants from one store into another of any kind: piece by piece, and seen by nobody before all is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, Protocol

from mnemic.artefacts.artefact_files import Wall
from mnemic.errors import Conflict, NotFound, Refused, StoreCorrupt
from mnemic.store.contract import Store
from mnemic.store.engine import tenant_copy
from mnemic.store.engine.artefact_rows import lasting_artefacts
from mnemic.store.engine.rows import Rows
from mnemic.store.engine.tenant_copy import COPIED, CopyDiffersError, CopyMark, TenantCopy
from mnemic.store.values.receipts import MovedTenant
from mnemic.store.values.row_values import COPYING, TenantRow

Progress = Callable[[str, int, int], None]
"""Told what is being copied, how much of it is there, and of how much."""
Probe = Callable[[str], None]
_ATTEMPTS: Final = 2
"""A copy that an earlier run left, and that does not fit any more, is made once more from the beginning."""


class NamedStore(Store, Protocol):
    """A store that has a random name of its own."""

    def origin(self) -> str:
        """That name."""
        ...


def tenants_of(store: Store) -> list[str]:
    """The names of a store's tenants; those that were erased, and copies that are not whole, have none."""
    with store.read() as snapshot:
        return [row.name for row in snapshot.tables.spaces.tenants() if row.name is not None]


def move_tenant(
    source: NamedStore,
    dest: Store,
    name: str,
    *,
    progress: Progress = lambda what, done, of: None,
    probe: Probe = lambda point: None,
) -> MovedTenant:
    """Copy a tenant with all that the store has of it; the source keeps it as it is.

    Cut short at any moment, nothing of it is seen in `dest`, and the next run goes on from there. What was moved before
    and is the same still is left as it is.

    Args:
        probe: Called after each piece (fault injection).

    Raises:
        NotFound: the source has no such tenant.
        Conflict: `dest` has one of this name, or somebody wrote to the source's meanwhile.
        Refused: what a model computed of it and cannot make again has no place in `dest`.
        StoreCorrupt: the copy is not what the source is.
    """
    drop_orphaned(source, dest)
    for attempt in range(_ATTEMPTS):
        try:
            return _move(source, dest, name, progress, probe)
        except CopyDiffersError as error:
            drop_copy(dest, name)
            if attempt == _ATTEMPTS - 1:
                raise StoreCorrupt(f"tenant {name!r} was not moved: {error}; `mnemic verify` the source") from error
    raise AssertionError("unreachable")


def _move(source: NamedStore, dest: Store, name: str, progress: Progress, probe: Probe) -> MovedTenant:
    with source.read() as snapshot:
        rows = snapshot.tables
        tenant = rows.spaces.tenant(name)
        if tenant is None:
            raise NotFound(f"no tenant {name!r} in the store that is moved from")
        mark = CopyMark(name, source.origin(), tenant.seq, tenant.hash.hex(), tenant.horizon)
        state_hash = snapshot.state_hash(name)
        if _was_moved(dest, mark):
            return MovedTenant(tenant=name, commits=0, state_hash=state_hash, there=True)
        number, left = dest.transact(tenant_copy.begin, rows, mark)
        if not left.is_of(mark):
            drop_copy(dest, name)
            number, left = dest.transact(tenant_copy.begin, rows, mark)
        probe("move:begun")
        copy = copy_of(dest, rows, rows.spaces.known_tenant(name), number, left)
        write_pieces(copy, dest, progress, probe)
        _carry_artefacts(source, dest, rows, copy)
        probe("move:artefacts")
        dest.transact(copy.settle, state_hash)
        probe("move:settled")
        source.transact(_publish_fenced, copy, dest)
    probe("move:published")
    return MovedTenant(tenant=name, commits=tenant.seq - left.upto, state_hash=state_hash)


def _was_moved(dest: Store, mark: CopyMark) -> bool:
    """Whether the tenant is in `dest` as this very copy."""
    with dest.read() as snapshot:
        here = snapshot.tables.spaces.tenant(mark.name)
        before = None if here is None else tenant_copy.copies_here(snapshot.tables, COPIED).get(here.id)
    return here is not None and before is not None and before.is_of(mark) and here.hash.hex() == mark.hash


def copy_of(dest: Store, rows: Rows, tenant: TenantRow, number: int, mark: CopyMark) -> TenantCopy:
    """The copy of a tenant that was begun in `dest` under a number, of this moment of its source.

    Raises:
        CopyDiffersError: it has other spaces than the source has.
    """
    with dest.read() as there:
        by_number = {row.number: row.id for row in there.tables.spaces.tenant_spaces(number)}
    own = rows.spaces.tenant_spaces(tenant.id)
    if {row.number for row in own} != by_number.keys():  # a space may come without a commit
        raise CopyDiffersError("it has other spaces than when its copy was begun")
    copy = TenantCopy(rows, tenant, number, mark, {row.id: by_number[row.number] for row in own})
    dest.transact(copy.embedders)
    return copy


def write_pieces(copy: TenantCopy, dest: Store, progress: Progress, probe: Probe) -> None:
    """Write every piece of a copy that is not there yet, each in a transaction of its own."""
    for piece in copy.name_pieces():
        dest.transact(_write, piece)
        probe("move:names")
    for upto, piece in copy.journal_pieces():
        dest.transact(_write, piece)
        probe("move:journal")
        progress("commits", upto, copy.tenant.seq)
    done = 0
    for size, piece in copy.vector_pieces():
        dest.transact(_write, piece)
        probe("move:vectors")
        progress("versions with vectors", done := done + size, max(done, 1))
    done = 0
    for size, piece in copy.space_pieces():
        dest.transact(_write, piece)
        probe("move:beside")
        progress("spaces", done := done + size, len(copy.spaces))


def _carry_artefacts(source: Store, dest: Store, rows: Rows, copy: TenantCopy) -> None:
    """Copy what models have computed and cannot make again, behind the walls that the copy has.

    Raises:
        Refused: there is some, and no folder for it where the tenant goes.
    """
    walls = {Wall(copy.tenant.id, here): Wall(copy.number, there) for here, there in copy.spaces.items()}
    by_wall = {} if source.artefacts is None else lasting_artefacts(rows, walls)
    if source.artefacts is None or not by_wall:
        return
    if dest.artefacts is None:
        count = sum(map(len, by_wall.values()))
        raise Refused(
            f"tenant {copy.mark.name!r} has {count:,} artefacts that cannot be made again, and the store that it goes"
            " to keeps none; move it to a file, or erase them first (`mnemic neural list`)"
        )
    for wall, lasting in by_wall.items():
        for artefact in lasting.values():
            with suppress(NotFound):  # `verify` says so, there as here
                if not dest.artefacts.path(walls[wall], artefact.stored.sha256).is_file():
                    dest.artefacts.keep(walls[wall], source.artefacts.verified(wall, artefact.stored))


def _write(rows: Rows, piece: tenant_copy.Piece) -> None:
    piece(rows)


def _publish_fenced(rows: Rows, copy: TenantCopy, dest: Store) -> None:
    """Publish a copy inside a write transaction of its source: nobody writes to the tenant before it is there.

    Raises:
        Conflict: somebody has written to it since it was copied.
    """
    # A server locks the tenant's head as the work first looks at it; a file has one writer.
    if rows.spaces.tenant_row(copy.tenant.id) != copy.tenant:
        raise Conflict(
            f"tenant {copy.mark.name!r} was written to meanwhile; stop whoever writes to it, and move it again"
        )
    dest.transact(copy.publish)


def drop_copy(dest: Store, name: str) -> None:
    """Take out what an earlier run has left of a tenant."""
    drop_copies(dest, lambda mark: mark.name == name)


def drop_orphaned(source: NamedStore, dest: Store, kept: Iterable[str] = ()) -> None:
    """Take out of `dest` what cut runs have left of tenants that `source` has no more: they were erased there since.

    Args:
        kept: Names of tenants whose copies stay though the source does not list them.
    """
    with dest.read() as snapshot:
        left = tenant_copy.copies_here(snapshot.tables, COPYING)
    if left:
        names, origin = {*tenants_of(source), *kept}, source.origin()
        drop_copies(dest, lambda mark: mark.origin == origin and mark.name not in names)


def drop_copies(dest: Store, doomed: Callable[[CopyMark], bool]) -> None:
    """Take out copies that are not whole, by their marks."""
    with dest.read() as snapshot:
        left = tenant_copy.copies_here(snapshot.tables, COPYING)
    for number in [number for number, mark in left.items() if doomed(mark)]:
        while dest.transact(tenant_copy.drop_spaces, number):
            pass
        dest.transact(tenant_copy.drop, number)
