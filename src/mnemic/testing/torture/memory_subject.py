"""The whole engine under torture: `Memory` as a program uses it, over a store on a faulty disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mnemic import Memory, ScopedMemory
from mnemic.core.ids import ItemId
from mnemic.errors import MnemicError
from mnemic.store.contract import Store
from mnemic.store.engine import rewinding
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.torture import engine
from mnemic.testing.torture.life import ActResult, WorkingLife
from mnemic.testing.torture.subject import ActReport, Audit, How


class MemorySubject:
    """`mnemic.Memory`, driven through its public methods."""

    name = "memory"
    errors: tuple[type[Exception], ...] = (MnemicError,)

    def open(self, path: Path, how: How) -> _Open:
        return _Open(SqliteStore(path, vfs=how.vfs, synchronous=how.synchronous, probe=how.probe))

    def audit(self, path: Path, said: Sequence[ActReport]) -> Audit:
        return engine.audit(path, said)


class _Open:
    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._memory = Memory(store)

    def life(self, who: str, seed: int, *, alone: bool = False) -> WorkingLife:
        return WorkingLife(MemoryHands(self._store, self._memory.scope(user=who)), who, seed, alone=alone)

    def recall(self, who: str) -> int:
        return len(self._memory.scope(user=who).recall("who moved from Paris to Lisbon, and why?").items)

    def backup(self, dest: Path) -> None:
        self._memory.admin.backup(dest)

    def close(self) -> None:
        self._memory.close()


class MemoryHands:
    """The calls of a life, made to one user's memory."""

    acts = frozenset(
        {"observe", "write", "revise", "supersede", "forget", "link", "undo", "erase", "rewind", "collect"}
    )
    reopens = True

    def __init__(self, store: Store, me: ScopedMemory) -> None:
        self._store = store
        self._me = me

    def observe(self, texts: tuple[str, ...], key: str) -> ActResult:
        receipt = self._me.observe(texts, speaker="Ada", key=key)
        return ActResult(seq=receipt.seq, ids=receipt.ids)

    def write(self, text: str, key: str) -> ActResult:
        receipt = self._me.write(text, key=key)
        return ActResult(seq=receipt.seq, ids=receipt.ids)

    def revise(self, item: ItemId, text: str, key: str) -> ActResult:
        return ActResult(seq=self._me.revise(item, text).seq)

    def supersede(self, item: ItemId, text: str, key: str) -> ActResult:
        receipt = self._me.supersede(item, text, key=key)
        return ActResult(seq=receipt.seq, ids=receipt.ids)

    def forget(self, item: ItemId, key: str) -> ActResult:
        return ActResult(seq=self._me.forget(item).seq)

    def link(self, src: ItemId, dst: ItemId, key: str) -> ActResult:
        return ActResult(seq=self._me.link(src, dst, engine.LINK).seq)

    def undo(self, seq: int, key: str) -> ActResult:
        return ActResult(seq=self._me.undo(seq).seq)

    def erase(self, item: ItemId) -> ActResult:
        receipt = self._me.erase(item)
        return ActResult(seq=receipt.seq or 0, clean=receipt.status == "clean")

    def rewind(self, seq: int) -> ActResult:
        return ActResult(seq=self._store.transact(rewinding.rewind, engine.TENANT, seq).seq)

    def collect(self, seq: int) -> ActResult:
        engine.collect(self._store, seq)
        return ActResult(seq=seq)

    def head(self) -> tuple[int, str]:
        return engine.head(self._store)
