"""A memory of nobody's, run as a peer is: it ranks by words in common, and fails as it is told when asked again."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

from mnemic.lab.contestants.peers.peer_wire import GivenDoc, PeerMeans, serve


class FakeMemory:
    def __init__(self, given: PeerMeans) -> None:
        self._given, self._how, self._asked = given, sys.argv[3], 0
        self._docs: dict[str, dict[str, set[str]]] = {}
        self._held: list[bytearray] = []
        print("a banner on standard output is no answer")

    def add(self, docs: Sequence[GivenDoc]) -> None:
        vectors = self._given.passages([doc.told for doc in docs])
        assert all(len(vector) == self._given.dims for vector in vectors)
        for doc in docs:
            self._docs.setdefault(doc.ns, {})[doc.id] = set(doc.told.lower().split())

    def settle(self) -> None:
        (self._given.folder / "kept").write_bytes(b"x" * 1000)

    def rank(self, ns: str, text: str, k: int) -> tuple[list[str], list[float]]:
        assert len(self._given.query(text)) == self._given.dims
        self._asked += 1
        if self._asked == 2:
            self._fail()
        words = set(text.lower().split())
        scores = {id: float(len(words & said)) for id, said in self._docs.get(ns, {}).items()}
        best = sorted(scores, key=lambda id: (-scores[id], id))[:k]
        return best, [scores[id] for id in best]

    def _fail(self) -> None:
        match self._how:
            case "raise":
                raise ValueError("no such\nluck")
            case "abort":
                os.abort()
            case "leave":
                os._exit(3)
            case "babble":
                os.write(4, b"I am well, thank you\n")  # where it answers
            case "hang":
                time.sleep(1e6)
            case "eat":
                while True:
                    self._held.append(bytearray(os.urandom(1 << 20) * 16))
            case "flood":
                with (self._given.folder / "flood").open("wb") as file:
                    while True:
                        file.write(bytes(1 << 22))
                        file.flush()
                        time.sleep(0.01)


if __name__ == "__main__":
    serve(FakeMemory)
