"""The application over a memory of the test's own, asked in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from starlette.testclient import TestClient

from mnemic import Memory, Settings
from mnemic.faces.server.application import application
from mnemic.faces.server.service import LoopbackAuthenticator, Service

SETTINGS = Settings(embedder="none", background=False)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory("memory:", settings=SETTINGS) as opened:
        yield opened


@pytest.fixture
def serving(memory: Memory, caplog: pytest.LogCaptureFixture) -> Iterator[Callable[..., TestClient]]:
    """Makes a client of the memory; whatever it asks, nothing unexpected happens on the server's side."""
    with ExitStack() as stack:

        def serve(authenticator: Any = None, **how: Any) -> TestClient:
            service = Service(
                memory,
                LoopbackAuthenticator(SETTINGS) if authenticator is None else authenticator,
                read_only=how.pop("read_only", False),
                pool=how.pop("pool", None),
            )
            return stack.enter_context(TestClient(application(service, **how), base_url="http://localhost"))

        yield serve
    assert [one.message for one in caplog.records if one.name == "mnemic.server"] == []


@pytest.fixture
def client(serving: Callable[..., TestClient]) -> TestClient:
    return serving()
