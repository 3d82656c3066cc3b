"""Asks mnemic as if its file held only some of its documents.

The words, statistics and links of what it may not see are out of reach: a question is answered as by a memory that was
given the rest alone. What is seen is said to the store's snapshot, by the same door as what a branch hides of its
parent, so that recall itself is the one that everybody uses.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from mnemic.collecting.housekeeping import Collected
from mnemic.core.clock import micros
from mnemic.core.queries import Query, View
from mnemic.index.catalogues import Catalogues
from mnemic.ingest.message import Message
from mnemic.lab.kit.contestant import RankedDocs
from mnemic.memory import Memory
from mnemic.models.base import Embedder
from mnemic.recall.pipeline import recall
from mnemic.registry import STORES, load
from mnemic.store.contract import Store
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.heads import SpaceHead

NOW: Final = micros(datetime(2025, 1, 1, tzinfo=UTC))
"""When questions are asked: passages have no date, and nothing here depends on one."""

_USER: Final = "reader"


class Sighted:
    """A memory of documents, each known by its slot `doc`."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        """`embedder`: what meaning is read with; None for words alone."""
        self._folder = tempfile.TemporaryDirectory(prefix="mnemic-lab-")
        path = Path(self._folder.name) / "memory.db"
        self._memory = Memory(path, embedder=embedder or "none")
        self._me = self._memory.scope(user=_USER)
        self._embedder = embedder
        self._store: Store = load(STORES, "sqlite")(path)
        self._catalogues = Catalogues(self._memory.settings.catalogue_bytes, self._memory.settings.pack_rows)
        self._vers: dict[str, list[int]] = {}
        self._last = 0

    def observe(self, messages: Sequence[Message]) -> None:
        """Take in some documents, in one commit; it is over when all of them can be recalled."""
        self._me.observe(messages)
        if self._embedder is not None:
            self._memory.flush()
        with self._store.read() as snapshot:
            self._shelve(snapshot, self._space(snapshot))

    def rank(self, text: str, k: int, seen: Collection[str] | None = None) -> RankedDocs:
        """At most `k` documents, best first.

        Args:
            seen: The only documents that it may see, of those observed; None for all.
        """
        if not self._vers or (seen is not None and not seen):
            return RankedDocs(())
        with self._store.read() as snapshot:
            context = recall(
                _Blinkers.on(snapshot, self._unseen(seen)), self._catalogues, self._query(snapshot, text, k)
            )
        best: dict[str, float] = {}
        for recalled in context:
            best.setdefault(str(recalled.item.slots["doc"]), recalled.score)
        return RankedDocs(tuple(best), tuple(best.values()))

    def collect(self, keep: str) -> Collected:
        """Collect what garbage there is, and of the past keep so much, such as `1000 commits`."""
        return self._memory.admin.gc(keep=keep)

    def close(self) -> None:
        """Let go of everything."""
        self._store.close()
        self._memory.close()
        self._folder.cleanup()

    def _space(self, snapshot: Snapshot) -> int:
        tenant = snapshot.tenant(self._memory.settings.tenant)
        head = None if tenant is None else snapshot.space(tenant, _USER)
        assert head is not None, "something was observed"
        return head.id

    def _shelve(self, snapshot: Snapshot, space: int) -> None:
        """Note the versions of what has just come."""
        fresh = sorted({entry.ver for entry in snapshot.entries(space, self._last)})
        for ver, version in snapshot.versions(space, fresh).items():
            doc = version.item.slots.get("doc")
            if isinstance(doc, str):
                self._vers.setdefault(doc, []).append(ver)
        self._last = max(fresh, default=self._last)

    def _unseen(self, seen: Collection[str] | None) -> tuple[int, ...]:
        if seen is None:
            return ()
        shown = seen if isinstance(seen, (set, frozenset, dict)) else frozenset(seen)
        return tuple(sorted(ver for doc, vers in self._vers.items() if doc not in shown for ver in vers))

    def _query(self, snapshot: Snapshot, text: str, k: int) -> Query:
        vectors = {
            row.id: self._embedder.query(text)
            for row in snapshot.embedders()
            if self._embedder is not None and row.name == self._embedder.name
        }
        return Query(text=text, now=NOW, spaces=(self._space(snapshot),), k=k, vectors=vectors)


class _Blinkers:
    """A snapshot that hides some versions; all else is asked of the snapshot itself."""

    def __init__(self, snapshot: Snapshot, hidden: tuple[int, ...]) -> None:
        self._snapshot, self._hidden = snapshot, hidden

    @classmethod
    def on(cls, snapshot: Snapshot, hidden: tuple[int, ...]) -> Snapshot:
        return cast(Snapshot, cls(snapshot, hidden)) if hidden else snapshot

    def read_set(self, spaces: Sequence[int], view: View) -> list[tuple[SpaceHead, View, tuple[int, ...]]]:
        every = self._snapshot.read_set(spaces, view)
        return [(head, within, tuple(sorted({*hidden, *self._hidden}))) for head, within, hidden in every]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._snapshot, name)
