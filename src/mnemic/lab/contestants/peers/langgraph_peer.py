"""LangGraph's SqliteStore: a namespace for each user, `text` indexed with our vectors, searched by cosine.

SQLite comes from pysqlite3: that of many builds of Python cannot load sqlite-vec, which the store needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from mnemic.lab.contestants.peers.peer_wire import GivenDoc, PeerMeans, serve


class LangGraphMemory:
    """Puts documents by batches. The store asks one function for both sorts of vectors; it is told which it is.

    What is embedded is named by `text_fields`: the option `fields`, which its description shows, is passed over.
    """

    def __init__(self, given: PeerMeans) -> None:
        sqlite, store = import_module("langgraph.store.sqlite"), import_module("langgraph.store.base")
        self._put_op = store.PutOp
        self._given, self._asking = given, False
        connection = import_module("pysqlite3").connect(
            given.folder / "store.sqlite", check_same_thread=False, isolation_level=None
        )
        self._store = sqlite.SqliteStore(
            connection, index={"dims": given.dims, "embed": self._embed, "text_fields": ["text"]}
        )
        self._store.setup()
        self._namespaces: dict[str, tuple[str, str]] = {}

    def add(self, docs: Sequence[GivenDoc]) -> None:
        puts: list[Any] = []
        for doc in docs:
            namespace = self._namespaces.setdefault(doc.ns, ("memories", f"user-{len(self._namespaces)}"))
            puts.append(self._put_op(namespace, doc.id, {"text": doc.told, "session": doc.session, "when": doc.when}))
        self._store.batch(puts)

    def settle(self) -> None:
        """Nothing: each batch is a transaction."""

    def rank(self, ns: str, text: str, k: int) -> tuple[list[str], list[float]]:
        if ns not in self._namespaces:
            return [], []
        self._asking = True
        try:
            found = self._store.search(self._namespaces[ns], query=text, limit=k)
        finally:
            self._asking = False
        return [item.key for item in found], [item.score for item in found]

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._given.query(text) for text in texts] if self._asking else self._given.passages(texts)


if __name__ == "__main__":
    serve(LangGraphMemory)
