"""chromadb: a collection for each user in a database on the disk, HNSW by cosine, with our vectors."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import groupby
from typing import Any

from mnemic.lab.contestants.peers.peer_wire import GivenDoc, PeerMeans, serve


class ChromaMemory:
    """Adds documents with their vectors; a query is a vector, too."""

    def __init__(self, given: PeerMeans) -> None:
        chromadb = import_module("chromadb")
        config = import_module("chromadb.config")
        self._given = given
        self._client = chromadb.PersistentClient(
            str(given.folder / "chroma"), settings=config.Settings(anonymized_telemetry=False)
        )
        self._by_ns: dict[str, Any] = {}

    def add(self, docs: Sequence[GivenDoc]) -> None:
        for ns, group in groupby(docs, key=lambda doc: doc.ns):
            same = list(group)
            told = [doc.told for doc in same]
            self._collection(ns).add(
                ids=[doc.id for doc in same],
                documents=told,
                embeddings=self._given.passages(told),
                metadatas=[{"session": doc.session, "when": doc.when} for doc in same],
            )

    def settle(self) -> None:
        """Nothing: each addition is on the disk when it returns."""

    def rank(self, ns: str, text: str, k: int) -> tuple[list[str], list[float]]:
        if ns not in self._by_ns:
            return [], []
        found = self._by_ns[ns].query(query_embeddings=[self._given.query(text)], n_results=k, include=["distances"])
        return list(found["ids"][0]), [1 - distance for distance in found["distances"][0]]

    def _collection(self, ns: str) -> Any:
        if ns not in self._by_ns:
            self._by_ns[ns] = self._client.create_collection(
                f"user-{len(self._by_ns)}", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
        return self._by_ns[ns]


if __name__ == "__main__":
    serve(ChromaMemory)
