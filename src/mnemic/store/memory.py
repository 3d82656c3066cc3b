"""The keeper in memory: the same contract as a file, in this process and gone with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from mnemic.core.clock import Clock, SystemClock
from mnemic.core.events import Receipt
from mnemic.core.forking import renew_in_child
from mnemic.core.ids import Entropy, SystemEntropy
from mnemic.errors import Invalid, StoreError, StoreLocked
from mnemic.store import audit, erasure, lanes, ledger, transfer
from mnemic.store.base import (
    Draft,
    EmbedderState,
    Erasure,
    ErasureReceipt,
    Fault,
    Info,
    Lane,
    Snapshot,
    Vectors,
)
from mnemic.store.gate import Gate
from mnemic.store.memory_rows import MemoryRows
from mnemic.store.memory_tables import Tables
from mnemic.store.snapshot import RowsSnapshot

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
        self._swept = 0
        self._closed = False
        renew_in_child(self)

    def commit(self, draft: Draft) -> Receipt:
        prepared = ledger.prepare(draft, self._entropy)
        with self._writing() as rows:
            swept = self._sweep_keys(rows)
            receipt = ledger.apply(rows, prepared, self._clock.now())
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

    def release(self, space: int, lane: str, owner: str, error: str = "", not_before: int = 0) -> None:
        with self._writing() as rows:
            lanes.release(rows, space, lane, owner, error, not_before)

    def keep(self, batch: Vectors) -> int:
        with self._writing() as rows:
            return lanes.keep(rows, batch)

    @contextmanager
    def read(self) -> Iterator[Snapshot]:
        with self._reading() as rows:
            yield RowsSnapshot(rows)

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
            return erasure.compact(rows, tenant, horizon, self._clock.now(), self._entropy)

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

    def info(self) -> Info:
        with self._reading():
            size = self._tables.nbytes
        return Info(url="memory:", engine="memory", format=transfer.JOURNAL, bytes=size, settings={})

    def close(self) -> None:
        """Let go of everything it holds."""
        with self._alone():
            self._closed = True
            self._tables = Tables()

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
            self._tables.undoing.settle()

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
        self._tables.undoing.roll_back()
