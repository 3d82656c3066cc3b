"""A store with keys, a clock that is turned by hand, and the lines of the access log."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mnemic.credentials.keys import Keys
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.generators import ManualClock, SeededEntropy


class Seconds:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def store(tmp_path: Path, clock: ManualClock) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "memory.db", clock=clock)) as store:
        yield store


@pytest.fixture
def keys(store: SqliteStore, clock: ManualClock, seconds: Seconds) -> Keys:
    return Keys(store, clock, SeededEntropy("keys"), seconds)


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Callable[[], list[dict[str, Any]]]:
    """The lines of the access log so far."""
    caplog.set_level(logging.INFO, "mnemic.access")
    return lambda: [json.loads(line.getMessage()) for line in caplog.records if line.name == "mnemic.access"]
