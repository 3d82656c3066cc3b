"""Both real stores and the plain model at the same moment, and what must be the same in all three."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from mnemic.collecting.expiring import START, find_expired, retire_expired
from mnemic.core.clock import moment
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Version
from mnemic.core.scope import SHARED as ALL
from mnemic.core.scope import Shared
from mnemic.errors import MnemicError
from mnemic.flow import run
from mnemic.memory import Memory, ScopedMemory
from mnemic.settings import Settings
from mnemic.store.contract import Store
from mnemic.store.postgres.postgres_store import PostgresStore
from mnemic.store.sqlite.sqlite_store import MemoryStore, SqliteStore
from mnemic.testing.generators import ManualClock, SeededEntropy
from mnemic.testing.model import SHARED, ModelVersion, VersionSpan
from mnemic.testing.model_time import TimeModel, owner

T = TypeVar("T")
STORES: Final = ("sqlite", "memory")
LOGGED: Final = 60
"""Commits of each log that are compared, the newest."""
SETTINGS: Final = Settings(use_flush_seconds=1e6, background=False, embedder="none")


class HistoryError(AssertionError):
    """A store did not do what the model says."""


class HistoryWorld:
    """The stores, opened in a folder of their own, the model, and the clock they share.

    Args:
        stores: Which real stores take part; one on a server by the URL of an empty database. The file is not synced:
            nobody asks here what a power cut would leave.
    """

    def __init__(self, seed: int | str, stores: Sequence[str] = STORES) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="history-"))
        self.clock = ManualClock()
        self.entropies = {name: SeededEntropy(f"{seed}") for name in stores}
        self.memories = {name: self.open(name) for name in stores}
        self.model = TimeModel()

    def open(self, name: str) -> Memory:
        """A store of this world, over what it held before."""
        store: Store
        if name.startswith("postgresql:"):
            store = PostgresStore(name, clock=self.clock, entropy=self.entropies[name])
        elif name == "memory":
            store = MemoryStore(clock=self.clock, entropy=self.entropies[name])
        else:
            path = self.folder / "memory.db"
            store = SqliteStore(path, clock=self.clock, entropy=self.entropies[name], synchronous="OFF")
        return Memory(store, settings=SETTINGS, clock=self.clock, entropy=self.entropies[name])

    def close(self) -> None:
        """Let go of the stores and their folder."""
        for memory in self.memories.values():
            memory.close()
        shutil.rmtree(self.folder)

    @property
    def now(self) -> datetime:
        return moment(self.clock.now())

    def handle(self, memory: Memory, key: str, session: str | None = None) -> ScopedMemory:
        """A memory of the model, in a real store."""
        user: str | Shared = ALL if owner(key) == SHARED else owner(key)
        return memory.scope(user=user, session=session).on_branch(key.partition("/")[2])

    def retire_expired(self, memory: Memory) -> list[tuple[str, list[ItemId]]]:
        """Have a store retire what has expired until nothing is left; the memory and the items of each commit."""
        opened, retired = memory._opened, list[tuple[str, list[ItemId]]]()
        after: tuple[int, int] | None = START
        while after is not None:
            with opened.store.read() as snapshot:
                expired = find_expired(snapshot, after)
                heads = snapshot.spaces(list(expired.by_space))
            for head, items in zip(heads, expired.by_space.values(), strict=True):
                run(retire_expired(head.id, items), opened.answering.perform)
                user = SHARED if isinstance(head.user, Shared) else head.user
                retired.append((f"{user}/{head.branch}" if head.branch else f"{user}", list(items)))
            after = expired.last
        return retired

    def both(self, act: Callable[[Memory], T]) -> T | MnemicError:
        """What every store answers, which must be the same; an error is an answer."""
        answers = {name: _answered(partial(act, memory)) for name, memory in self.memories.items()}
        comparable = {name: _comparable(answer) for name, answer in answers.items()}
        first = next(iter(comparable.values()))
        if any(answer_there != first for answer_there in comparable.values()):
            raise HistoryError(f"the stores disagree: {comparable}")
        return next(iter(answers.values()))

    def expect(self, done: Any, by_model: Callable[[], T]) -> T | None:
        """What the model answers to an act that is done; None if all refuse alike."""
        before, said = self.model.seq, _answered(by_model)
        if isinstance(said, MnemicError) or isinstance(done, MnemicError):
            self.same(type(done), type(said), f"refused: {done!r} and {said!r}")
            self.same(self.model.seq, before, "a refusal that wrote")
            return None
        return said

    @staticmethod
    def same(actual: object, wanted: object, what: str) -> None:
        """Hold what a store says against what the model says.

        Raises:
            HistoryError: they differ.
        """
        if actual != wanted:
            raise HistoryError(f"{what}: {actual!r}, not {wanted!r}")

    def shows(self, handle: ScopedMemory, shown: dict[str, VersionSpan], what: str) -> None:
        """Whether a handle shows exactly this."""
        self.same(handle.count(), len(shown), f"{what}: count")
        actual: dict[str, object] = {v.item.id: told_version(v) for v in handle.list(limit=100_000)}
        for item in actual.keys() | shown.keys():
            was = shown.get(item)
            self.same(actual.get(item), None if was is None else told_was(was), f"{what}: {item}")

    def check(self) -> None:
        """Everything that can be seen now, in every memory, and that the stores are one."""
        for memory in self.memories.values():
            for key in self.model.spaces:
                handle = self.handle(memory, key)
                self.shows(handle, self.model.seen(key, self.now), f"{key} now")
                known = [seq for seq in self.model.logged(key)[::-1] if seq > self.model.horizon]
                commits = [change.seq for change in handle.log(limit=LOGGED, after=self.model.horizon)]
                self.same(commits, known[:LOGGED], f"{key} log")
        self.check_hashes()

    def check_hashes(self) -> None:
        """Whether the stores hold the same, byte for byte."""
        if self.model.seq:
            self.same(len({memory.admin.state_hash() for memory in self.memories.values()}), 1, "state hashes")

    def check_sound(self) -> None:
        """Whether every store holds together, and holds what the others do."""
        for name, memory in self.memories.items():
            self.same(memory.admin.verify(), [], f"verify {name}")
        self.check_hashes()


def told_version(version: Version) -> tuple[object, ...]:
    """What a real version says, as the model tells it."""
    return version.seq_from, version.seq_to, _facts(version.item)


def told_was(was: VersionSpan) -> tuple[object, ...]:
    """What a version of the model says."""
    return was.first, was.end, facts_of(was.says)


def _facts(item: Item) -> tuple[object, ...]:
    return (
        item.text, item.kind, item.said, item.state, item.known_to, item.valid_from, item.valid_to, item.source,
        item.session, item.tags, item.pinned, item.expires,
    )  # fmt: skip


def facts_of(says: ModelVersion) -> tuple[object, ...]:
    """What the model's text says, as a real item's is told."""
    return (
        says.text, says.kind, says.said, says.state, says.known_to, says.valid_from, says.valid_to, says.source,
        says.session, says.tags, says.pinned, says.expires,
    )  # fmt: skip


def _answered(act: Callable[[], T]) -> T | MnemicError:
    try:
        return act()
    except MnemicError as error:
        return error


def _comparable(answer: Any) -> Any:
    """An answer without what two stores need not agree on."""
    if isinstance(answer, MnemicError):
        return type(answer), str(answer)
    if hasattr(answer, "scanned"):
        return answer.seq, answer.ids, answer.versions, answer.links
    if hasattr(answer, "milliseconds"):
        return answer.text, [recalled.id for recalled in answer.items], answer.seq
    return answer
