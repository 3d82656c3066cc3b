"""txtai: an index for each user, Faiss with our vectors and its BM25 together, as its option `hybrid` has it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import groupby
from typing import Any

from mnemic.lab.contestants.peers.peer_wire import GivenDoc, PeerMeans, serve


class TxtaiMemory:
    """Upserts documents. The index asks one function for both sorts of vectors; it is told which it is."""

    def __init__(self, given: PeerMeans) -> None:
        self._embeddings = import_module("txtai.embeddings").Embeddings
        self._numpy = import_module("numpy")
        self._given, self._asking = given, False
        self._by_ns: dict[str, Any] = {}

    def add(self, docs: Sequence[GivenDoc]) -> None:
        for ns, group in groupby(docs, key=lambda doc: doc.ns):
            rows = [(doc.id, doc.told, None) for doc in group]
            if ns not in self._by_ns:
                self._by_ns[ns] = self._embeddings(
                    {"method": "external", "transform": lambda texts: self._embed(texts), "hybrid": True}
                )
            self._by_ns[ns].upsert(rows)

    def settle(self) -> None:
        for n, index in enumerate(self._by_ns.values()):
            index.save(str(self._given.folder / f"user-{n}"))

    def rank(self, ns: str, text: str, k: int) -> tuple[list[str], list[float]]:
        if ns not in self._by_ns:
            return [], []
        self._asking = True
        try:
            found = self._by_ns[ns].search(text, k)
        finally:
            self._asking = False
        return [id for id, _ in found], [score for _, score in found]

    def _embed(self, texts: Sequence[str]) -> Any:
        rows = [self._given.query(text) for text in texts] if self._asking else self._given.passages(texts)
        return self._numpy.array(rows, dtype="float32")


if __name__ == "__main__":
    serve(TxtaiMemory)
