"""LlamaIndex: a VectorStoreIndex for each user in its own simple store, nodes with our vectors, kept as its JSON."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import groupby
from typing import Any

from mnemic.lab.contestants.peers.peer_wire import GivenDoc, PeerMeans, serve


class LlamaIndexMemory:
    """Inserts nodes that have their vectors; a question goes to the index's retriever with its own."""

    def __init__(self, given: PeerMeans) -> None:
        self._given = given
        self._core, self._schema = import_module("llama_index.core"), import_module("llama_index.core.schema")
        mock = import_module("llama_index.core.embeddings").MockEmbedding(embed_dim=given.dims)  # never asked
        self._core.Settings.embed_model = mock
        self._by_ns: dict[str, Any] = {}

    def add(self, docs: Sequence[GivenDoc]) -> None:
        for ns, group in groupby(docs, key=lambda doc: doc.ns):
            same = list(group)
            nodes = [
                self._schema.TextNode(
                    id_=doc.id, text=doc.told, metadata={"session": doc.session, "when": doc.when}, embedding=vector
                )
                for doc, vector in zip(same, self._given.passages([doc.told for doc in same]), strict=True)
            ]
            if ns not in self._by_ns:
                self._by_ns[ns] = self._core.VectorStoreIndex(nodes=[])
            self._by_ns[ns].insert_nodes(nodes)

    def settle(self) -> None:
        for n, index in enumerate(self._by_ns.values()):
            index.storage_context.persist(str(self._given.folder / f"user-{n}"))

    def rank(self, ns: str, text: str, k: int) -> tuple[list[str], list[float]]:
        if ns not in self._by_ns:
            return [], []
        asked = self._schema.QueryBundle(text, embedding=self._given.query(text))
        found = self._by_ns[ns].as_retriever(similarity_top_k=k).retrieve(asked)
        return [node.node.node_id for node in found], [node.score for node in found]


if __name__ == "__main__":
    serve(LlamaIndexMemory)
