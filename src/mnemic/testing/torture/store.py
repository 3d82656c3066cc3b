"""The store by itself under torture: drafts written by hand, no kernel above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

from mnemic.core.clock import moment
from mnemic.core.events import Receipt, Verb
from mnemic.core.ids import ItemId, from_bytes
from mnemic.core.items import Item, Kind, Link, State
from mnemic.core.parts import entry_terms
from mnemic.core.queries import Filter
from mnemic.errors import MnemicError, NotFound
from mnemic.flow import Request, run
from mnemic.index.packing_lane import pack_slice
from mnemic.store.engine import rewinding
from mnemic.store.engine.use_counters import Shown, count_shown
from mnemic.store.requests import Commit, Look, Transact
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.drafts import Draft, Erasure, Op, Put, Tie
from mnemic.testing.torture import engine
from mnemic.testing.torture.engine import AheadClock
from mnemic.testing.torture.life import ActResult, WorkingLife
from mnemic.testing.torture.subject import ActReport, Audit, How

_START: Final = datetime(2026, 1, 1, tzinfo=UTC)


class StoreSubject:
    """`SqliteStore`, driven through its contract."""

    name = "store"
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

    def life(self, who: str, seed: int, *, alone: bool = False) -> WorkingLife:
        return WorkingLife(_Hands(self._store, self._clock, who, seed), who, seed, alone=alone)

    def recall(self, who: str) -> int:
        with self._store.read() as snapshot:
            tenant = snapshot.tenant(engine.TENANT)
            space = None if tenant is None else snapshot.space(tenant, who)
            return 0 if space is None else len(snapshot.latest((space.id,), Filter(), limit=10))

    def backup(self, dest: Path) -> None:
        self._store.backup(dest)

    def close(self) -> None:
        self._store.close()


class _Hands:
    acts = frozenset(
        {
            *("observe", "write", "revise", "supersede", "forget", "link", "erase", "rewind", "collect"),
            *("write_expiring", "retire", "pack", "count", "load"),
        }
    )
    reopens = False

    def __init__(self, store: SqliteStore, clock: AheadClock, who: str, seed: int) -> None:
        self._store, self._clock = store, clock
        self._who = who
        self._random = Random(f"ids:{who}:{seed}")
        self._said = _START

    def observe(self, texts: tuple[str, ...], key: str) -> ActResult:
        items = [self._item(Kind.TURN, text) for text in texts]
        return self._commit(*(self._put(Verb.WROTE, item, f"{key}:{i}") for i, item in enumerate(items)))

    def write(self, text: str, key: str) -> ActResult:
        return self._commit(self._put(Verb.WROTE, self._item(Kind.FACT, text), key))

    def revise(self, item: ItemId, text: str, key: str) -> ActResult:
        return self._commit(self._put(Verb.REVISED, replace(self._standing(item), text=text), key))

    def supersede(self, item: ItemId, text: str, key: str) -> ActResult:
        newer = self._item(Kind.FACT, text)
        old = replace(self._standing(item), state=State.SUPERSEDED, known_to=newer.said, valid_to=newer.said)
        return self._commit(self._put(Verb.WROTE, newer, key), self._put(Verb.SUPERSEDED, old, f"{key}:old"))

    def forget(self, item: ItemId, key: str) -> ActResult:
        return self._commit(self._put(Verb.RETIRED, replace(self._standing(item), state=State.RETIRED), key))

    def link(self, src: ItemId, dst: ItemId, key: str) -> ActResult:
        return self._commit(Tie(verb=Verb.LINKED, link=Link(src=src, dst=dst, type=engine.LINK)))

    def undo(self, seq: int, key: str) -> ActResult:
        raise NotFound("a store by itself undoes nothing")

    def erase(self, item: ItemId) -> ActResult:
        receipt = self._store.erase(Erasure(tenant=engine.TENANT, user=self._who, ids=(item,)))
        return ActResult(seq=receipt.seq or 0, clean=receipt.status == "clean")

    def rewind(self, seq: int) -> ActResult:
        return ActResult(seq=self._store.transact(rewinding.rewind, engine.TENANT, seq).seq)

    def collect(self, seq: int) -> ActResult:
        engine.collect(self._store, seq)
        return ActResult(seq=seq)

    def write_expiring(self, text: str, key: str) -> ActResult:
        expires = moment(self._clock.now()) + engine.EXPIRES
        return self._commit(self._put(Verb.WROTE, replace(self._item(Kind.FACT, text), expires=expires), key))

    def retire(self, items: tuple[ItemId, ...]) -> ActResult:
        return ActResult(seq=engine.retire(self._store, self._perform, self._clock, self._who, items))

    def pack(self) -> ActResult:
        """Pack words: a store by itself has no vectors."""
        space = engine.space_of(self._store, self._who)
        while run(pack_slice(space, engine.LEAST), self._perform).done:
            pass
        return ActResult(seq=0)

    def count(self) -> ActResult:
        space = engine.space_of(self._store, self._who)
        with self._store.read() as snapshot:
            shown = {v.item.id: Shown(1, self._clock.now()) for v in snapshot.latest((space,), limit=5)}
        self._store.transact(count_shown, {(engine.TENANT, self._who): shown})
        return ActResult(seq=0)

    def load(self, tenant: str) -> ActResult:
        engine.load(self._store, tenant)
        return ActResult(seq=0)

    def head(self) -> tuple[int, str]:
        return engine.head(self._store)

    def _perform(self, request: Request) -> Any:
        match request:
            case Look(of):
                with self._store.read() as snapshot:
                    return of(snapshot)
            case Commit(draft):
                return self._store.commit(draft)
            case Transact(work, args, kwargs):
                return self._store.transact(work, *args, **kwargs)
        raise TypeError(type(request).__name__)

    def _item(self, kind: Kind, text: str) -> Item:
        self._said += timedelta(hours=1)
        return Item(id=from_bytes(self._random.randbytes(16)), kind=kind, text=text, said=self._said)

    def _put(self, verb: Verb, item: Item, key: str) -> Put:
        terms = None if verb in (Verb.SUPERSEDED, Verb.RETIRED) else entry_terms(item)
        return Put(verb=verb, item=item, terms=terms, key=key, content=f"{verb.name}:{item.text}".encode())

    def _standing(self, item: ItemId) -> Item:
        with self._store.read() as snapshot:
            tenant = snapshot.tenant(engine.TENANT)
            space = None if tenant is None else snapshot.space(tenant, self._who)
            standing = {} if space is None else snapshot.standing((space.id,), (item,))
        if item not in standing:
            raise NotFound(f"no item {item} here")
        return standing[item].item

    def _commit(self, *ops: Op) -> ActResult:
        receipt: Receipt = self._store.commit(Draft(tenant=engine.TENANT, user=self._who, actor=self._who, ops=ops))
        return ActResult(seq=receipt.seq, ids=receipt.ids)
