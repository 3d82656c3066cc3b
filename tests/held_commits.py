"""Commits that wait, so that a test can act in the middle of one."""

from __future__ import annotations

import asyncio
import threading

import pytest

from mnemic.core.events import Receipt
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.drafts import Draft
from patience import PATIENCE


class HeldCommits:
    """Holds up the commits of every store on a file until it is told to let them go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.began, self.go_on = threading.Event(), threading.Event()
        commit = SqliteStore.commit

        def held(store: SqliteStore, draft: Draft) -> Receipt:
            self.began.set()
            assert self.go_on.wait(PATIENCE)
            return commit(store, draft)

        monkeypatch.setattr(SqliteStore, "commit", held)

    async def begun(self) -> None:
        """Wait until the first of them has come."""
        assert await asyncio.to_thread(self.began.wait, PATIENCE)
