"""MemPalace: one palace, a wing for each user and a room for each session, its own hybrid search, with our vectors."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from mnemic.lab.contestants.peers.peer_wire import GivenDoc, PeerMeans, serve


class MemPalaceMemory:
    """Files documents as drawers; our vectors come by the door for an endpoint of embeddings, without the network."""

    def __init__(self, given: PeerMeans) -> None:
        self._given, self._palace = given, str(given.folder / "palace")
        embedding = import_module("mempalace.embedding")

        class GivenEmbedding(embedding.OpenAICompatEmbeddingFunction):  # type: ignore[misc, name-defined]
            def embed_query(self, input: Sequence[str]) -> list[list[float]]:
                return [given.query(text) for text in input]

            def __call__(self, input: Sequence[str]) -> list[list[float]]:
                return given.passages(list(input))

        setattr(embedding, "OpenAICompatEmbeddingFunction", GivenEmbedding)  # noqa: B010
        self._drawers = import_module("mempalace.palace").get_collection(self._palace, create=True)
        self._search = import_module("mempalace.searcher").search_memories
        self._wings: dict[str, str] = {}

    def add(self, docs: Sequence[GivenDoc]) -> None:
        metadatas: list[dict[str, Any]] = []
        for doc in docs:
            wing = self._wings.setdefault(doc.ns, f"user{len(self._wings)}")
            metadatas.append({
                "wing": wing, "room": "talk", "source_file": f"{wing}/{doc.id}", "chunk_index": 0, "doc": doc.id,
                "filed_at": doc.when,
            })  # fmt: skip
        ids = [f"{row['wing']}/{row['doc']}" for row in metadatas]
        self._drawers.upsert(ids=ids, documents=[doc.told for doc in docs], metadatas=metadatas)

    def settle(self) -> None:
        """Nothing: each drawer is on the disk when it is filed."""

    def rank(self, ns: str, text: str, k: int) -> tuple[list[str], list[float]]:
        if ns not in self._wings:
            return [], []
        found = self._search(text, self._palace, wing=self._wings[ns], n_results=k)
        if "error" in found:
            raise RuntimeError(found["error"])
        return [hit["source_path"].partition("/")[2] for hit in found["results"]], []


if __name__ == "__main__":
    serve(MemPalaceMemory)
