"""mem0: one memory in a local Qdrant, each document a message of a user taken as it is, with our vectors.

Nothing is inferred: that takes a language model. Its keyword search takes a model from a hub, and is off without.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from mnemic.lab.contestants.peers.peer_wire import GivenDoc, PeerMeans, serve


class Mem0Memory:
    """Adds one message after the other, as its API has it, and searches by user."""

    def __init__(self, given: PeerMeans) -> None:
        mem0 = import_module("mem0")
        store = {"collection_name": "memories", "path": str(given.folder / "qdrant"), "on_disk": True}
        unasked = {"api_key": "none"}
        self._memory = mem0.Memory.from_config({
            "vector_store": {"provider": "qdrant", "config": store | {"embedding_model_dims": given.dims}},
            "embedder": {"provider": "openai", "config": unasked | {"embedding_dims": given.dims}},
            "llm": {"provider": "openai", "config": unasked},
            "history_db_path": str(given.folder / "history.db"),
        })  # fmt: skip
        self._memory.embedding_model = _embedding(given, self._memory.embedding_model.config)
        self._users: dict[str, str] = {}

    def add(self, docs: Sequence[GivenDoc]) -> None:
        for doc in docs:
            user = self._users.setdefault(doc.ns, f"user-{len(self._users)}")
            metadata = {"doc": doc.id, "session": doc.session, "when": doc.when}
            self._memory.add(doc.told, user_id=user, metadata=metadata, infer=False)

    def settle(self) -> None:
        """Nothing: each message is on the disk when it is added."""

    def rank(self, ns: str, text: str, k: int) -> tuple[list[str], list[float]]:
        if ns not in self._users:
            return [], []
        found = self._memory.search(text, filters={"user_id": self._users[ns]}, top_k=k, threshold=0.0)["results"]
        return [hit["metadata"]["doc"] for hit in found], [hit["score"] for hit in found]


def _embedding(given: PeerMeans, config: Any) -> Any:
    """An embedder of its kind that brings our vectors."""

    class GivenEmbedding(import_module("mem0.embeddings.base").EmbeddingBase):  # type: ignore[misc]
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            return given.query(text) if memory_action == "search" else given.passages([text])[0]

    return GivenEmbedding(config)


if __name__ == "__main__":
    serve(Mem0Memory)
