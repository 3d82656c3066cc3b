"""Check a store against itself, section by section; compute the one hash of its state.

A row of truth has one event that says so, an event has its row, and what is derived is made again and compared. What
cannot even be read is a fault like any other: checking never raises.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from mnemic.errors import MnemicError
from mnemic.store.engine.audit_journal import JournalAudit
from mnemic.store.engine.audit_rows import SpaceAudit, leftovers, owners, strays, undue
from mnemic.store.engine.rows import Rows
from mnemic.store.values.receipts import Fault
from mnemic.store.values.row_values import COPYING, TenantRow

MOST: Final = 100
"""Faults that one section names; of the rest it says how many there are."""
_UNREADABLE: Final[tuple[type[Exception], ...]] = (
    MnemicError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, struct.error,
    AssertionError, MemoryError,
)  # fmt: skip
"""What reading damaged rows may end in."""


def verify(rows: Rows, *unreadable: type[Exception]) -> Iterator[Fault]:
    """Yield every disagreement between the journal, its versions and links, and what is derived from them.

    Args:
        unreadable: What the store itself raises where it cannot read a row.
    """
    yield from guarded("spaces", owners(rows), *unreadable)
    yield from guarded("rows of no space", strays(rows), *unreadable)
    yield from guarded("what is due", undue(rows), *unreadable)
    try:
        unfinished = rows.notes.memos(COPYING)  # not whole, and found by nobody
        tenants = [tenant for tenant in rows.spaces.tenants() if tenant.id not in unfinished]
    except _UNREADABLE + unreadable as error:
        yield _unread("tenants", error)
        return
    for tenant in tenants:
        yield from _verify_tenant(rows, tenant, *unreadable)


def verify_loaded(rows: Rows, tenant: TenantRow) -> Iterator[Fault]:
    """Yield every disagreement in one tenant, of which all that follows from its items was made just before.

    The other tenants of the store are not looked at.
    """
    yield from guarded("spaces", owners(rows, (tenant,)))
    yield from _verify_tenant(rows, tenant, remake=False)


def _verify_tenant(rows: Rows, tenant: TenantRow, *unreadable: type[Exception], remake: bool = True) -> Iterator[Fault]:
    journal = JournalAudit(rows, tenant)
    yield from guarded(f"journal of tenant {tenant.id}", journal.faults(), *unreadable)
    try:
        spaces = rows.spaces.tenant_spaces(tenant.id)
    except _UNREADABLE + unreadable as error:
        yield _unread(f"spaces of tenant {tenant.id}", error)
        return
    for space in spaces:
        audit = SpaceAudit(rows, space, journal.chronicle, remake=remake)
        for what, faults in audit.sections():
            yield from guarded(f"{what} of space {space.id}", faults, *unreadable)
    yield from guarded(f"rows of tenant {tenant.id} that were erased", leftovers(rows, tenant), *unreadable)
    yield from guarded(f"tombstones of tenant {tenant.id}", journal.unmarked(), *unreadable)


def guarded(section: str, faults: Iterable[Fault], *unreadable: type[Exception]) -> Iterator[Fault]:
    """Yield the faults of a section: so many by name and then how many more, and where it can be read no further."""
    listed_faults = iter(faults)
    try:
        yield from islice(listed_faults, MOST)
        if more := sum(1 for _ in listed_faults):
            yield Fault(where=section, problem=f"{more} more faults")
    except _UNREADABLE + unreadable as error:
        yield _unread(section, error)


def _unread(section: str, error: Exception) -> Fault:
    return Fault(where=section, problem=f"cannot be read: {type(error).__name__}: {error}"[:300])


def state_hash(rows: Rows, name: str) -> str:
    """Compute SHA-256 over ids, seqs and digests of the retained versions and links of a tenant, in hexadecimal.

    Raises:
        NotFound: there is no such tenant.
    """
    return tenant_state_hash(rows, rows.spaces.known_tenant(name))


def tenant_state_hash(rows: Rows, tenant: TenantRow) -> str:
    """Compute the same of a tenant that may have no name yet."""
    digests = {(e.seq, e.n): e.digest for e in rows.journal.events(tenant.id, 0, tenant.seq)}
    lines: list[bytes] = []
    for space in rows.spaces.tenant_spaces(tenant.id):
        for v in rows.items.all_versions(space.id):
            lines.append(b"%d %s %d %d %s" % (space.number, v.id, v.seq_from, v.seq_to, digests[v.seq_from, v.n]))
        for ln in rows.links.all_links(space.id):
            lines.append(
                b"%d %s %s %d %d %s"
                % (space.number, ln.src, ln.dst, ln.seq_from, ln.seq_to, digests[ln.seq_from, ln.n])
            )
    return hashlib.sha256(b"\n".join(sorted(lines))).hexdigest()
