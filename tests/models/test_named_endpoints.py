"""A store does not choose where questions go: an endpoint is asked only if the caller names it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from endpoint_server import Server, serving

from mnemic import Memory
from mnemic.models.openai_embedder import EmbeddingEndpoint
from mnemic.settings import Settings


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def store(server: Server, tmp_path: Path) -> Path:
    """A store with vectors of an endpoint, as somebody hands it on."""
    path = tmp_path / "memory.db"
    with Memory(path, embedder=EmbeddingEndpoint("words-1", server.url, key="")) as memory:
        memory.scope(user="ada").observe("The ferry leaves at noon.")
        memory.flush()
    assert server.asked
    server.asked.clear()
    return path


@pytest.mark.parametrize("named", ["scripted", "openai:words-1@http://127.0.0.1:9/v1", "openai:words-2@{url}"])
def test_an_endpoint_that_only_the_store_names_is_asked_nothing(store: Path, server: Server, named: str) -> None:
    with Memory(store, settings=Settings(embedder=named.format(url=server.url))) as memory:
        me = memory.scope(user="ada")
        found = me.recall("When does the ferry leave?")
        me.observe("A secret of mine.")
        memory.flush()
    assert server.asked == []
    assert [item.text for item in found.items] == ["The ferry leaves at noon."]
    assert any("by words alone" in note and "MNEMIC_EMBEDDER" in note for note in found.notes)


def test_one_that_the_settings_or_the_argument_name_is_asked(store: Path, server: Server) -> None:
    name = f"openai:words-1@{server.url}"
    for opened in ({"settings": Settings(embedder=name)}, {"embedder": name}):
        with Memory(store, **opened) as memory:  # type: ignore[arg-type]
            assert memory.scope(user="ada").recall("When does the ferry leave?").notes == ()
        assert server.asked
        server.asked.clear()


def test_reindexing_away_from_it_asks_it_nothing(store: Path, server: Server) -> None:
    with Memory(store, embedder="scripted") as memory:
        memory.admin.reindex("scripted")
        assert memory.scope(user="ada").recall("When does the ferry leave?").notes == ()
    assert server.asked == []
