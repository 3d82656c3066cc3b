"""Checkpoints of a store and going back to one of its commits: what `admin` does with time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from mnemic.core.checking import clean_file_name
from mnemic.core.clock import moment
from mnemic.errors import Compacted, Invalid, NotFound
from mnemic.opening import Opened, When, recorded_moment
from mnemic.settings import Settings
from mnemic.store.contract import Store
from mnemic.store.engine import rewinding
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.heads import CheckpointRow, Head
from mnemic.store.values.receipts import Rewound


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A copy of the store that was made beside it; of one on a server, a restore point in its log.

    Attributes:
        seq, hash: The tenant's commit that it holds, and its state hash.
        at: When it was made.
        path: Its file, which `restore` takes; None on a server.
        point: What the server calls the restore point; "" for a file.
        there: Whether the file is still there; of a server's log nothing is known here.
    """

    name: str
    seq: int
    at: datetime
    hash: str
    path: Path | None
    there: bool
    point: str = ""


def take_checkpoint(opened: Opened, name: str, tenant: str) -> Checkpoint:
    """Make a copy beside the store; left without a name it is called after the moment."""
    with opened.store.read() as snapshot:
        if snapshot.tenant(tenant) is None:
            raise NotFound(f"tenant {tenant!r} has nothing that a checkpoint could hold")
    opened.uses.flush()
    called = clean_file_name("name", name) if name else f"{moment(opened.clock.now()):%Y%m%dT%H%M%S.%f}Z"
    opened.store.checkpoint(called)
    return next(made for made in checkpoints_of(opened, tenant) if made.name == called)


def checkpoints_of(opened: Opened, tenant: str) -> list[Checkpoint]:
    """List the checkpoints that hold a tenant, by commit."""
    with opened.store.read() as snapshot:
        number = snapshot.tenant(tenant)
        rows = [] if number is None else snapshot.checkpoints(number)
    folder = opened.store.info().beside
    return [_checkpoint(row, folder) for row in rows]


def _checkpoint(row: CheckpointRow, folder: Path | None) -> Checkpoint:
    file = None if folder is None else row.within(folder)
    return Checkpoint(
        name=row.name,
        seq=row.seq,
        at=moment(row.at),
        hash=row.hash,
        path=file,
        there=file is None or file.exists(),
        point=row.file if file is None else "",
    )


def commit_at(opened: Opened, to: int | When, tenant: str) -> int:
    """Return the commit that going back to `to` would end at.

    Raises:
        NotFound: there is no such tenant.
        Invalid: there is no such commit, or nothing had been recorded by then.
        Compacted: it lies behind the horizon.
    """
    with opened.store.read() as snapshot:
        seq = _commit(snapshot, tenant, to, opened.settings, opened.clock.now())
        number = snapshot.tenant(tenant)
        head = Head(seq=0, at=0, hash=b"") if number is None else snapshot.head(number)
    if not 0 <= seq <= head.seq:
        raise Invalid("to", f"commit {seq} is not between 0 and {head.seq}", "`mnemic log` shows the commits.")
    if seq < head.horizon:
        raise Compacted(f"commit {seq} lies behind the horizon, which is commit {head.horizon}")
    return seq


def rewind(opened: Opened, to: int | When, tenant: str) -> Rewound:
    """Bring a tenant of an open store back to a commit, or to a recorded moment."""
    opened.uses.flush()
    with opened.store.read() as snapshot:
        seq = _commit(snapshot, tenant, to, opened.settings, opened.clock.now())
    done = opened.store.transact(rewinding.rewind, tenant, seq)
    opened.kernel.standings.clear()
    opened.kernel.catalogues.clear()
    opened.meaning.forget()
    return done


def going_back(to: int | When, tenant: str, settings: Settings, now: int) -> Callable[[Store], None]:
    """Make what brings a copy back: to a commit of `tenant`, or all tenants to a moment, which some came after."""

    def go(store: Store) -> None:
        with store.read() as snapshot:
            seqs = {tenant: to} if isinstance(to, int) else _everyone(snapshot, to, settings, now)
        for name, seq in seqs.items():
            store.transact(rewinding.rewind, name, seq)

    return go


def _everyone(snapshot: Snapshot, to: When, settings: Settings, now: int) -> dict[str, int]:
    """Find the last commit of each tenant at a recorded moment; 0 for one that was not there yet."""
    tenants = snapshot.tenants()
    last = max((snapshot.head(number).at for number, _ in tenants), default=0)
    at = recorded_moment(to, "to", settings, now, lambda: last)
    seqs = {name: snapshot.seq_at(number, at) for number, name in tenants}
    if not any(seqs.values()) and not any(snapshot.head(number).horizon for number, _ in snapshot.tenants()):
        raise _nothing_by(to)
    return seqs


def _nothing_by(to: When) -> Invalid:
    return Invalid("to", f"nothing was recorded by {to}", "`mnemic log --oldest-first` shows the first commit.")


def _commit(snapshot: Snapshot, tenant: str, to: int | When, settings: Settings, now: int) -> int:
    if isinstance(to, int):
        return to
    number = snapshot.tenant(tenant)
    if number is None:
        raise NotFound(f"no tenant {tenant!r} here")
    seq = snapshot.seq_at(number, recorded_moment(to, "to", settings, now, lambda: snapshot.head(number).at))
    if not seq and not snapshot.head(number).horizon:  # behind one, 0 says no more than that it is gone
        raise _nothing_by(to)
    return seq
