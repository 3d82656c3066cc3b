"""Move the horizon, and delete what lies behind it: one slice at a time, so that writers get in between.

The horizon moves first, in a short commit: from then on the past behind it is refused (`Compacted`). What nobody can
ask for any more goes afterwards, in slices. Each leaves a store that `verify` finds sound, so it may be cut short at
any moment: the next sweep finds what is left. What stands is kept, and so is what anything that is kept rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from mnemic.core.events import Verb
from mnemic.errors import Invalid, Refused
from mnemic.store.contract import Store
from mnemic.store.engine import ledger
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.holds import holds_of, horizon_floor
from mnemic.store.engine.rows import Rows
from mnemic.store.engine.sweep_phases import Phase, SweepStep, SweptCounts, Turnover, phases
from mnemic.store.values.receipts import Swept
from mnemic.store.values.row_values import BEHIND, TenantRow

SLICE_SECONDS: Final = 0.03
"""How long one slice keeps a writer of its own process waiting, about; one of another process up to twice that."""

MOST: Final = 1_000
"""Rows after which a slice begins no step more."""
_STEP: Final = 128
"""Rows between two looks at the clock."""


def move(rows: Rows, name: str, horizon: int) -> int:
    """Give up the past before commit `horizon`, inside a transaction; nothing is dropped yet. Returns where it was.

    Raises:
        NotFound: there is no such tenant.
        Invalid: the horizon lies ahead of the journal, or behind the one it has.
        Refused: a branch, checkpoint, hold or job still needs what lies behind it.
    """
    tenant = rows.spaces.known_tenant(name)
    if not tenant.horizon <= horizon <= tenant.seq:
        raise Invalid(
            "horizon",
            f"commit {horizon} is not between {tenant.horizon} and {tenant.seq}",
            "`mnemic log` shows the commits.",
        )
    if horizon == tenant.horizon:
        return horizon
    floor = horizon_floor(rows, tenant)
    if horizon > floor.seq:
        raise Refused(f"the horizon stays at commit {floor.seq} or before: {floor.why}")
    (change,) = rows.journal.changes(tenant.id, horizon - 1, 1, False)
    # The chain vouches for nothing behind the horizon: what stays there is counted, and the count follows what goes.
    kept = int(rows.notes.memo(tenant.id, BEHIND) or 0) + rows.journal.count_events(tenant.id, tenant.horizon, horizon)
    rows.notes.set_memo(tenant.id, BEHIND, b"%d" % kept)
    rows.spaces.set_tenant(tenant._replace(horizon=horizon, horizon_hash=change.hash))
    rows.past.drop_changes(tenant.id, horizon, (tenant.horizon,))
    ledger.journal(rows, tenant, None, Verb.COMPACTED, canonical({"horizon": horizon}))
    return tenant.horizon


def compact(store: Store, tenant: str, horizon: int) -> int:
    """Move the horizon of a tenant and sweep until nothing is left behind it; returns how many versions went.

    Raises:
        NotFound, Invalid, Refused: as `move` does.
    """
    store.transact(move, tenant, horizon)
    versions, swept = 0, Swept(more=True)
    while swept.more:
        swept = store.sweep(tenant, SLICE_SECONDS)
        versions += swept.versions
    return versions


class TenantSweep:
    """Sweeps a tenant slice by slice, again and again, and remembers how far it has come."""

    def __init__(self, tenant: str) -> None:
        self.tenant = tenant
        self._phases: Iterator[Phase] = iter(())
        self._phase: Phase | None = None
        self._last: TenantRow | None = None
        self._turnovers: dict[int, Turnover] = {}

    def slice(self, rows: Rows, go_on: Callable[[], bool]) -> tuple[SweptCounts, bool]:
        """Drop some rows inside a transaction, while `go_on`; what went, and whether there may be more.

        Raises:
            NotFound: there is no such tenant.
        """
        tenant = rows.spaces.known_tenant(self.tenant)
        step = SweepStep(rows, tenant, holds_of(rows, tenant.id))
        if not self._follows(rows, tenant):
            self._phases, self._phase = phases(rows.spaces.descents(tenant.id), self._turnovers), None
        self._last = tenant
        begun = True
        while begun or (go_on() and step.tally.rows < MOST):
            begun = False
            self._phase = self._phase or next(self._phases, None)
            if self._phase is None:
                return step.tally, False
            if not self._phase.step(step, _STEP):
                self._phase = None
        return step.tally, True

    def _follows(self, rows: Rows, tenant: TenantRow) -> bool:
        """Whether the journal only went on since the last slice: after a rewind its numbers were given out again."""
        last = self._last
        if last is None or (last.id, last.horizon) != (tenant.id, tenant.horizon):
            return False
        if not last.seq:
            return True
        return any(row.hash == last.hash for row in rows.journal.changes(tenant.id, last.seq - 1, 1, False))

    def end(self) -> None:
        """Begin again with the next slice."""
        self._last = None


def jot(rows: Rows, name: str, memos: Mapping[str, bytes]) -> TenantRow:
    """Keep small facts about a tenant; returns it.

    Raises:
        NotFound: there is no such tenant.
    """
    tenant = rows.spaces.known_tenant(name)
    for key, value in memos.items():
        rows.notes.set_memo(tenant.id, key, value)
    return tenant


def enter(rows: Rows, name: str, verb: Verb, payload: bytes, memos: Mapping[str, bytes]) -> int:
    """Journal an event about a tenant, inside a transaction, and keep small facts with it; returns its seq.

    Raises:
        NotFound: there is no such tenant.
    """
    tenant = jot(rows, name, memos)
    return ledger.journal(rows, tenant, None, verb, payload)
