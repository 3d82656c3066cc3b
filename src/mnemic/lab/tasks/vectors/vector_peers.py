"""The systems that search vectors, each behind the same five verbs. All but ours are optional: the extra `bench`."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

import apsw
import numpy as np

from mnemic.index.vectors import VectorTable, VisibleVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Groups = NDArray[np.int64]

NEIGHBOURS, BUILDING = 16, 100
"""Of every HNSW graph: links of a node, and how many candidates its making looks at."""

WIDTHS: Final = (10, 16, 32, 64, 128, 256, 512)
"""How many candidates a graph's search looks at: the fewest that reach the recall asked for are taken."""

TREES: Final = 50

Search = Callable[["Floats", int], "NDArray[np.intp]"]
"""A question's vector, and how many rows are wanted -> rows, nearest first."""


class Peer(Protocol):
    """One system. Vectors are rows of unit length, numbered from 0.

    Attributes:
        package: What has to be installed for it; "" for ours.
        widths: Settings of its search, cheapest first; empty where there is none.
        filters: How it searches among some rows only.
        adds: Whether one more vector can be added.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    widths: ClassVar[tuple[int, ...]]
    filters: ClassVar[str]
    adds: ClassVar[bool]

    def build(self, vectors: Floats, groups: Groups) -> None:
        """Take in all vectors, on one thread where that can be set."""
        ...

    def widen(self, width: int) -> None:
        """Search with one of `widths`."""
        ...

    def search(self, query: Floats, k: int) -> NDArray[np.intp]:
        """The rows nearest to a question."""
        ...

    def among(self, most: int) -> Search:
        """Search among the rows of groups 0 to `most`; what can be prepared once is prepared here."""
        ...

    def add(self, vector: Floats) -> None:
        """Add one, so that the next search finds it."""
        ...


class Fixed:
    """What systems without a setting, and those that take no filter, do."""

    package: ClassVar[str] = ""
    widths: ClassVar[tuple[int, ...]] = ()
    filters: ClassVar[str] = "exact"
    adds: ClassVar[bool] = True

    def widen(self, width: int) -> None:
        """There is nothing to set."""


class Ours(Fixed):
    """mnemic's own: exact up to 20,000, sign bits and an exact rerank above."""

    name: ClassVar[str] = "mnemic"

    def build(self, vectors: Floats, groups: Groups) -> None:
        self._table = VectorTable(vectors.shape[1])
        for first in range(0, len(vectors), 4_096):
            block = vectors[first : first + 4_096].astype(np.float16)
            self._table.fill(np.arange(first, first + len(block)), block)
        self._groups = groups
        self._count = len(vectors)
        self._sight = VisibleVectors(self._table.sight(), np.arange(self._count))

    def search(self, query: Floats, k: int) -> NDArray[np.intp]:
        return _nearest(self._sight, query, k)

    def among(self, most: int) -> Search:
        sight = VisibleVectors(self._table.sight(), np.where(self._groups <= most, np.arange(self._count), -1))
        return lambda query, k: _nearest(sight, query, k)

    def add(self, vector: Floats) -> None:
        self._table.fill(np.array([self._count]), vector[None].astype(np.float16))
        self._count += 1
        self._sight = VisibleVectors(self._table.sight(), np.arange(self._count))


def _nearest(sight: VisibleVectors, query: Floats, k: int) -> NDArray[np.intp]:
    similar = sight.similar(query)
    k = min(k, len(similar.scores))
    best = np.argpartition(-similar.scores, k - 1)[:k] if k else np.empty(0, np.intp)
    return similar.places[best[np.argsort(-similar.scores[best])]]


class SqliteVec(Fixed):
    """sqlite-vec: a virtual table that is scanned; filters are columns of it. On disk, as it is used."""

    name: ClassVar[str] = "sqlite-vec"
    package: ClassVar[str] = "sqlite_vec"

    def build(self, vectors: Floats, groups: Groups) -> None:
        module = importlib.import_module(self.package)
        self._folder = tempfile.TemporaryDirectory(prefix="mnemic-vectors-")
        self._db = apsw.Connection(str(Path(self._folder.name) / "vectors.db"))
        self._db.enable_load_extension(True)
        self._db.load_extension(module.loadable_path())
        columns = f"v float[{vectors.shape[1]}] distance_metric=cosine, part integer"
        self._db.execute(f"CREATE VIRTUAL TABLE t USING vec0({columns})")
        rows = (
            (n, vector.tobytes(), int(group)) for n, (vector, group) in enumerate(zip(vectors, groups, strict=True))
        )
        with self._db:
            self._db.executemany("INSERT INTO t(rowid, v, part) VALUES (?, ?, ?)", rows)
        self._count = len(vectors)

    def search(self, query: Floats, k: int) -> NDArray[np.intp]:
        rows = self._db.execute("SELECT rowid FROM t WHERE v MATCH ? AND k = ?", (query.tobytes(), k))
        return np.array([row for (row,) in rows])

    def among(self, most: int) -> Search:
        ask = "SELECT rowid FROM t WHERE v MATCH ? AND k = ? AND part <= ?"
        return lambda query, k: np.array([row for (row,) in self._db.execute(ask, (query.tobytes(), k, most))])

    def add(self, vector: Floats) -> None:
        self._db.execute("INSERT INTO t(rowid, v, part) VALUES (?, ?, 2)", (self._count, vector.tobytes()))
        self._count += 1


class FaissFlat(Fixed):
    """FAISS without an index: the product with every vector."""

    name: ClassVar[str] = "FAISS flat"
    package: ClassVar[str] = "faiss"

    def build(self, vectors: Floats, groups: Groups) -> None:
        self._faiss = importlib.import_module(self.package)
        self._faiss.omp_set_num_threads(1)
        self._groups = groups
        self._index = self._made(vectors.shape[1])
        self._index.add(vectors)

    def search(self, query: Floats, k: int) -> NDArray[np.intp]:
        return self._search(query, k, None)

    def among(self, most: int) -> Search:
        chosen = self._faiss.IDSelectorBatch(np.flatnonzero(self._groups <= most))
        parameters = self._limited(chosen)
        return lambda query, k: self._search(query, k, parameters)

    def add(self, vector: Floats) -> None:
        self._index.add(vector[None])

    def _search(self, query: Floats, k: int, parameters: Any) -> NDArray[np.intp]:
        rows: NDArray[np.intp] = self._index.search(query[None], k, params=parameters)[1][0]
        return rows

    def _made(self, dims: int) -> Any:
        return self._faiss.IndexFlatIP(dims)

    def _limited(self, chosen: Any) -> Any:
        return self._faiss.SearchParameters(sel=chosen)


class FaissGraph(FaissFlat):
    """FAISS's HNSW."""

    name: ClassVar[str] = "FAISS HNSW"
    widths: ClassVar[tuple[int, ...]] = WIDTHS
    filters: ClassVar[str] = "while walking"

    def widen(self, width: int) -> None:
        self._index.hnsw.efSearch = width

    def _made(self, dims: int) -> Any:
        index = self._faiss.IndexHNSWFlat(dims, NEIGHBOURS, self._faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = BUILDING
        return index

    def _limited(self, chosen: Any) -> Any:
        return self._faiss.SearchParametersHNSW(sel=chosen, efSearch=self._index.hnsw.efSearch)


def _fetching(search: Search, kept: NDArray[np.bool_]) -> Search:
    """For a system that takes no filter: it is asked for so many more that enough should be left, the rest dropped."""
    more = 1.5 * len(kept) / max(1, int(kept.sum()))

    def among(query: Floats, k: int) -> NDArray[np.intp]:
        rows = search(query, min(int(k * more), len(kept)))
        return rows[kept[rows]][:k]

    return among


class Usearch(Fixed):
    """usearch, single precision."""

    name: ClassVar[str] = "usearch HNSW"
    package: ClassVar[str] = "usearch"
    widths: ClassVar[tuple[int, ...]] = WIDTHS
    filters: ClassVar[str] = "more asked for"

    def build(self, vectors: Floats, groups: Groups) -> None:
        make = importlib.import_module("usearch.index").Index
        self._groups = groups
        self._index = make(
            ndim=vectors.shape[1], metric="ip", dtype="f32", connectivity=NEIGHBOURS, expansion_add=BUILDING
        )
        self._index.add(np.arange(len(vectors)), vectors, threads=1)

    def widen(self, width: int) -> None:
        self._index.expansion_search = width

    def search(self, query: Floats, k: int) -> NDArray[np.intp]:
        return np.asarray(self._index.search(query, k, threads=1).keys, np.intp)

    def among(self, most: int) -> Search:
        return _fetching(self.search, self._groups <= most)

    def add(self, vector: Floats) -> None:
        self._index.add(len(self._index), vector, threads=1)


class Hnswlib(Fixed):
    """hnswlib; its filter is a function of Python's, called for each node that it comes to."""

    name: ClassVar[str] = "hnswlib HNSW"
    package: ClassVar[str] = "hnswlib"
    widths: ClassVar[tuple[int, ...]] = WIDTHS
    filters: ClassVar[str] = "while walking"

    def build(self, vectors: Floats, groups: Groups) -> None:
        self._groups = groups
        self._index = importlib.import_module(self.package).Index("ip", vectors.shape[1])
        self._index.init_index(len(vectors) + 1_000, BUILDING, NEIGHBOURS)
        self._index.add_items(vectors, num_threads=1)

    def widen(self, width: int) -> None:
        self._index.set_ef(width)

    def search(self, query: Floats, k: int) -> NDArray[np.intp]:
        return np.asarray(self._index.knn_query(query, k, num_threads=1)[0][0], np.intp)

    def among(self, most: int) -> Search:
        kept = (self._groups <= most).tolist()

        def search(query: Floats, k: int) -> NDArray[np.intp]:
            try:
                neighbours = self._index.knn_query(query, k, num_threads=1, filter=kept.__getitem__)
            except RuntimeError:  # it met fewer than k
                return np.empty(0, np.intp)
            return np.asarray(neighbours[0][0], np.intp)

        return search

    def add(self, vector: Floats) -> None:
        self._index.add_items(vector[None], num_threads=1)


class Annoy(Fixed):
    """Annoy: trees of random cuts; once built nothing can be added."""

    name: ClassVar[str] = "Annoy"
    package: ClassVar[str] = "annoy"
    widths: ClassVar[tuple[int, ...]] = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
    filters: ClassVar[str] = "more asked for"
    adds: ClassVar[bool] = False

    def build(self, vectors: Floats, groups: Groups) -> None:
        self._groups = groups
        self._look = self.widths[0]
        self._index = importlib.import_module(self.package).AnnoyIndex(vectors.shape[1], "angular")
        self._index.set_seed(1)
        for number, vector in enumerate(vectors):
            self._index.add_item(number, vector)
        self._index.build(TREES, n_jobs=1)

    def widen(self, width: int) -> None:
        self._look = width

    def search(self, query: Floats, k: int) -> NDArray[np.intp]:
        return np.array(self._index.get_nns_by_vector(query, k, search_k=max(self._look, k)), np.intp)

    def among(self, most: int) -> Search:
        return _fetching(self.search, self._groups <= most)

    def add(self, vector: Floats) -> None:
        raise TypeError("it is built once")


PEERS: Final[tuple[Callable[[], Peer], ...]] = (Ours, SqliteVec, FaissFlat, FaissGraph, Usearch, Hnswlib, Annoy)
