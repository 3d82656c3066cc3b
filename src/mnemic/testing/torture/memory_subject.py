"""The whole engine under torture: `Memory` as a program uses it, over a store on a faulty disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mnemic import Memory, Settings
from mnemic.core.ids import ItemId
from mnemic.errors import MnemicError
from mnemic.index import vectors
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.store.contract import Store
from mnemic.store.engine import rewinding
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.torture import engine
from mnemic.testing.torture.engine import AheadClock
from mnemic.testing.torture.life import ActResult, WorkingLife
from mnemic.testing.torture.subject import ActReport, Audit, How

_SETTINGS: Final = Settings(pack_rows=engine.LEAST)
_DIMS: Final = 1_024
"""Of more than a row's worth at full precision, so that few are held exactly."""

_PATIENCE: Final = 2.0
"""Seconds for which a flush waits for lanes that others have."""


class MemorySubject:
    """`mnemic.Memory`, driven through its public methods."""

    name = "memory"
    errors: tuple[type[Exception], ...] = (MnemicError,)

    def open(self, path: Path, how: How) -> _Open:
        clock = AheadClock()
        store = SqliteStore(path, vfs=how.vfs, synchronous=how.synchronous, probe=how.probe, clock=clock)
        return _Open(store, clock)

    def audit(self, path: Path, said: Sequence[ActReport]) -> Audit:
        return engine.audit(path, said)


class _Open:
    def __init__(self, store: SqliteStore, clock: AheadClock) -> None:
        self._store, self._clock = store, clock
        vectors.EXACT = engine.LEAST  # type: ignore[misc]  # a pack of signs is for many, and lives are short
        self._memory = Memory(store, settings=_SETTINGS, clock=clock, embedder=ScriptedEmbedder(_DIMS))

    def life(self, who: str, seed: int, *, alone: bool = False) -> WorkingLife:
        hands = MemoryHands(self._store, self._memory, who, self._clock)
        return WorkingLife(hands, who, seed, alone=alone)

    def recall(self, who: str) -> int:
        return len(self._memory.scope(user=who).recall("who moved from Paris to Lisbon, and why?").items)

    def backup(self, dest: Path) -> None:
        self._memory.admin.backup(dest)

    def close(self) -> None:
        self._memory.close()


class MemoryHands:
    """The calls of a life, made to one user's memory."""

    acts = frozenset(
        {
            *("observe", "write", "revise", "supersede", "forget", "link", "undo", "erase", "rewind", "collect"),
            *("write_expiring", "retire", "pack", "count", "load"),
        }
    )
    reopens = True

    def __init__(self, store: Store, memory: Memory, who: str, clock: AheadClock) -> None:
        self._store, self._who, self._clock = store, who, clock
        self._opened, self._me = memory._opened, memory.scope(user=who)

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

    def write_expiring(self, text: str, key: str) -> ActResult:
        receipt = self._me.write(text, key=key, expires=engine.EXPIRES)
        return ActResult(seq=receipt.seq, ids=receipt.ids)

    def retire(self, items: tuple[ItemId, ...]) -> ActResult:
        perform = self._opened.answering.perform
        return ActResult(seq=engine.retire(self._store, perform, self._clock, self._who, items))

    def pack(self) -> ActResult:
        """Pack words, give them vectors and pack their signs, with all else that a flush does.

        A lane that somebody leased who was killed, or could not give it back, is free when its lease has run out.
        """
        self._opened.background.drain(seconds=_PATIENCE)
        return ActResult(seq=0)

    def count(self) -> ActResult:
        self._me.recall("who moved from Paris to Lisbon, and why?")
        self._opened.uses.flush()
        return ActResult(seq=0)

    def load(self, tenant: str) -> ActResult:
        engine.load(self._store, tenant)
        return ActResult(seq=0)

    def head(self) -> tuple[int, str]:
        return engine.head(self._store)
