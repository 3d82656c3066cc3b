"""The keeper in memory: the same contract as a file, in this process and gone with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from mnemic.core.clock import Clock, SystemClock
from mnemic.core.events import Receipt, Verb
from mnemic.core.forking import renew_in_child
from mnemic.core.ids import Entropy, SystemEntropy
from mnemic.errors import Invalid, NotFound, StoreError, StoreLocked
from mnemic.store import audit, compaction, erasure, holds, jobs, lanes, ledger, rewinding, transfer
from mnemic.store.drafts import Draft, Erasure, JobStep
from mnemic.store.following import Answer, EmbedderState, Job, JobState, Lane, Order, Vectors
from mnemic.store.gate import Gate
from mnemic.store.heads import Hold, Info
from mnemic.store.listening import Bell
from mnemic.store.memory_rows import MemoryRows
from mnemic.store.memory_tables import Tables
from mnemic.store.meters import Carrier
from mnemic.store.receipts import ErasureReceipt, Fault, Rewound, Swept
from mnemic.store.rows_snapshot import RowsSnapshot
from mnemic.store.snapshot import Snapshot

PATIENCE: Final = 30.0
"""Seconds that a writer waits for readers to end."""
_DAY: Final = 86_400 * 1_000_000


class MemoryStore:
    """A store in dicts. Safe to share between threads; a forked child goes on with a copy of its own.

    Readers share it; a writer waits until they are done, and they wait for it. So a thread must end its read before
    it writes: a snapshot never changes under its reader.
    """

    def __init__(self, *, clock: Clock | None = None, entropy: Entropy | None = None) -> None:
        self._clock, self._entropy = clock or SystemClock(), entropy or SystemEntropy()
        self._tables = Tables()
        self._gate = Gate()
        self._sweeps: dict[str, compaction.Sweep] = {}
        self._bell, self._carrier = Bell(), Carrier()
        self._swept = 0
        self._closed = False
        renew_in_child(self)

    def commit(self, draft: Draft) -> Receipt:
        prepared = ledger.prepare(draft, self._entropy)
        with self._writing() as rows:
            swept = self._sweep_keys(rows)
            receipt = ledger.apply(rows, prepared, self._clock.now())
            if (meter := self._carrier.due(self._clock.now())) is not None:
                rows.set_meter(meter)
            self._swept = swept
        return receipt

    def enlist(self, name: str, dims: int, state: EmbedderState) -> int:
        with self._writing() as rows:
            return lanes.enlist(rows, name, dims, state)

    def appoint(self, model: int, state: EmbedderState) -> None:
        with self._writing() as rows:
            lanes.appoint(rows, model, state)

    def dismiss(self, model: int) -> None:
        more = True
        while more:
            with self._writing() as rows:
                more = lanes.dismiss(rows, model)

    def claim(self, space: int, lane: str, owner: str, seconds: float) -> Lane | None:
        with self._writing() as rows:
            return lanes.claim(rows, space, lane, owner, seconds, self._clock.now())

    def release(
        self, space: int, lane: str, owner: str, error: str = "", not_before: int = 0, stride: int = 0, reach: int = 0
    ) -> None:
        with self._writing() as rows:
            lanes.release(rows, space, lane, owner, error, not_before, stride, reach)

    def bury(self, space: int, lane: str, owner: str, after: int, ver: int, error: str) -> int:
        with self._writing() as rows:
            return lanes.bury(rows, space, lane, owner, after, ver, error, self._clock.now())

    def prolong(self, space: int, owner: str, seconds: float, job: int = 0) -> bool:
        with self._writing() as rows:
            return jobs.prolong(rows, space, owner, seconds, self._clock.now(), job)

    def record(self, answer: Answer) -> bool:
        with self._writing() as rows:
            return jobs.record(rows, answer, self._clock.now())

    def order(self, order: Order) -> int:
        with self._writing() as rows:
            return jobs.order(rows, order, self._clock.now())

    def claim_job(self, names: Sequence[str], owner: str, seconds: float) -> Job | None:
        with self._writing() as rows:
            return jobs.claim(rows, names, owner, seconds, self._clock.now())

    def end_job(self, step: JobStep, state: JobState, error: str = "", not_before: int = 0) -> bool:
        with self._writing() as rows:
            return jobs.end(rows, step, state, error, not_before)

    def steer_job(self, job: int, state: JobState) -> Job:
        with self._writing() as rows:
            return jobs.steer(rows, job, state)

    def moved(self) -> tuple[int, ...]:
        self._refuse_closed()
        return (self._bell.count,)

    def keep(self, batch: Vectors) -> int:
        with self._writing() as rows:
            return lanes.keep(rows, batch)

    @contextmanager
    def read(self) -> Iterator[Snapshot]:
        with self._reading() as rows:
            yield RowsSnapshot(rows)

    def wait(self, tenant: str, after: int, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while True:
            rung = self._bell.count
            with self._reading() as rows:
                row = rows.tenant(tenant)
            if row is not None and row.seq > after:
                return True
            if not self._bell.wait(rung, until - time.monotonic()):
                return False

    def carry(self, told: Callable[[], tuple[str, bytes] | None]) -> None:
        self._carrier.give(told, self._clock.now())

    def erase(self, erasure_: Erasure) -> ErasureReceipt:
        with self._writing() as rows:
            done = erasure.apply(rows, erasure_, self._clock.now(), self._entropy)
        return ErasureReceipt(
            seq=done.seq,
            ids=done.ids,
            versions=done.versions,
            links=done.links,
            status="clean",
            scanned=(),
            outside=erasure.OUTSIDE,
        )

    def settle(self) -> bool:
        self._refuse_closed()
        return True

    def compact(self, tenant: str, horizon: int) -> int:
        with self._writing() as rows:
            rows.forget_keys(self._clock.now() - ledger.KEY_LIFE)
        self.move_horizon(tenant, horizon)
        versions, swept = 0, Swept(more=True)
        while swept.more:
            swept = self.sweep(tenant, compaction.SLICE_SECONDS)
            versions += swept.versions
        return versions

    def move_horizon(self, tenant: str, horizon: int) -> int:
        with self._writing() as rows:
            return compaction.move(rows, tenant, horizon, self._clock.now(), self._entropy)

    def sweep(self, tenant: str, seconds: float) -> Swept:
        with self._writing() as rows:
            begun = time.monotonic()
            sweep = self._sweeps.pop(tenant, None) or compaction.Sweep(tenant)
            tally, more = sweep.slice(rows, lambda: time.monotonic() - begun < seconds)
            if not more:
                sweep.end()
            self._sweeps[tenant] = sweep
        taken = time.monotonic() - begun
        return Swept(
            versions=tally.versions, links=tally.links, events=tally.events, names=tally.names, seconds=taken, more=more
        )

    def enter(self, tenant: str, verb: Verb, payload: bytes, memos: Mapping[str, bytes]) -> int:
        with self._writing() as rows:
            return compaction.enter(rows, tenant, verb, payload, memos, self._clock.now(), self._entropy)

    def jot(self, tenant: str, memos: Mapping[str, bytes]) -> None:
        with self._writing() as rows:
            compaction.jot(rows, tenant, memos)

    def hold(self, hold: Hold) -> int:
        with self._writing() as rows:
            return holds.place(rows, hold, self._clock.now(), self._entropy)

    def lift(self, tenant: str, hold: int) -> None:
        with self._writing() as rows:
            holds.lift(rows, tenant, hold, self._clock.now(), self._entropy)

    def verify(self) -> Iterator[Fault]:
        with self._reading() as rows:
            faults = list(audit.verify(rows))
        yield from faults

    def state_hash(self, tenant: str) -> str:
        with self._reading() as rows:
            return audit.state_hash(rows, tenant)

    def export(self, tenant: str) -> Iterator[bytes]:
        with self._reading() as rows:
            lines = list(transfer.export(rows, tenant))
        yield from lines

    def load(self, lines: Iterator[bytes]) -> int:
        with self._writing() as rows:
            return transfer.load(rows, lines)

    def backup(self, dest: Path) -> None:
        """Refused: there is no file to copy. The lines of `export`, one tenant at a time, are what can be kept.

        Raises:
            Invalid: always.
        """
        raise Invalid(
            "store", f"is in memory, there is no file to copy to {dest}", "Write the lines of export(tenant) to a file."
        )

    def checkpoint(self, name: str) -> None:
        """Refused, as a backup is.

        Raises:
            Invalid: always.
        """
        self.backup(Path("checkpoints") / name)

    def drop_checkpoint(self, name: str) -> None:
        raise NotFound(f"no checkpoint {name!r} here; a store in memory has none")

    def rewind(self, tenant: str, seq: int) -> Rewound:
        with self._writing() as rows:
            return rewinding.rewind(rows, tenant, seq, self._clock.now(), self._entropy)

    def info(self) -> Info:
        with self._reading():
            size = self._tables.nbytes
        return Info(url="memory:", engine="memory", format=transfer.JOURNAL, bytes=size, folded=size, settings={})

    def close(self) -> None:
        """Let go of everything it holds."""
        with self._alone():
            self._closed = True
            self._tables = Tables()
        self._bell.ring()

    def _sweep_keys(self, rows: MemoryRows) -> int:
        """Once a day, forget the idempotency keys that have lived their time; returns when that was last done."""
        now = self._clock.now()
        if now - self._swept <= _DAY:
            return self._swept
        rows.forget_keys(now - ledger.KEY_LIFE)
        return now

    @contextmanager
    def _reading(self) -> Iterator[MemoryRows]:
        with self._gate.reading():
            self._refuse_closed()
            yield MemoryRows(self._tables)

    @contextmanager
    def _writing(self) -> Iterator[MemoryRows]:
        if self._gate.held:
            raise StoreError("this thread is reading the store in memory; end the read, then write")
        with self._alone():
            self._refuse_closed()
            try:
                yield MemoryRows(self._tables)
            except BaseException:
                self._tables.undoing.roll_back()
                raise
            changed = self._tables.undoing.settle()
        if changed:
            self._bell.ring()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self._gate.alone(PATIENCE) as alone:
            if not alone:
                raise StoreLocked(f"readers have held the store in memory for {PATIENCE:.0f} s; end them, then retry")
            yield

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError("the store in memory is closed, and what it held is gone; open another")

    def renew(self) -> None:
        """In a forked child: whoever held the gate is not there, and what it had half done is taken back."""
        self._gate = Gate()
        self._sweeps.clear()
        self._bell = Bell()
        self._tables.undoing.roll_back()
