"""What any memory must beat: nothing, the recent past, and plain BM25 over turns, dates and windows.

The BM25 here (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009; k1 = 1.2, b = 0.75)
is written for itself and shares only the tokeniser with `index.catalogues`, so that it is a peer of ours and
not us. Dense rows need an embedder and are absent without one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol, TypeAlias

import numpy as np

from mnemic.core.tokens import is_stop, tokenise
from mnemic.lab.kit.contestant import RankedDocs
from mnemic.lab.kit.datasets import BenchQuestion, Doc
from mnemic.lab.kit.metrics import Array
from mnemic.models.base import Embedder

BAR: Final = "0.6 BM25+date + 0.4 window"
"""The bar for anything without a model: the row that differences are taken against."""

FOUND: Final = "BM25 found"
"""Plain BM25 that finds nothing where no word is shared: what stands beside memories of a few things."""

DENSE: Final = ("dense turns", "hybrid")
"""The rows that need an embedder."""


class Baseline(Protocol):
    """Ranks the documents of one corpus for questions."""

    def ingest(self, docs: Sequence[Doc]) -> None:
        """Take in a corpus, in the order it was said; called once."""
        ...

    def rank(self, question: BenchQuestion) -> RankedDocs:
        """Rank all documents that bear on the question, best first."""
        ...


class NoMemory:
    """Remembers nothing, so that only the model's own knowledge is left."""

    def ingest(self, docs: Sequence[Doc]) -> None:
        """Do nothing."""

    def rank(self, question: BenchQuestion) -> RankedDocs:
        return RankedDocs(())


class RecentWindow:
    """Ranks the last turns, newest first, as a context window without memory holds them."""

    def __init__(self) -> None:
        self._ids: tuple[str, ...] = ()

    def ingest(self, docs: Sequence[Doc]) -> None:
        self._ids = tuple(doc.id for doc in reversed(docs))

    def rank(self, question: BenchQuestion) -> RankedDocs:
        return RankedDocs(self._ids)


class Sharing:
    """Another's ranking without what scores nothing: a turn that shares no word with the question is not found."""

    def __init__(self, ranker: Blend) -> None:
        self._ranker = ranker

    def ingest(self, docs: Sequence[Doc]) -> None:
        self._ranker.ingest(docs)

    def rank(self, question: BenchQuestion) -> RankedDocs:
        full = self._ranker.rank(question)
        found = sum(score > 0 for score in full.scores)
        return RankedDocs(full.ids[:found], full.scores[:found])


Arm: TypeAlias = Callable[[Sequence[Doc]], Callable[[str], Array]]
"""Documents to a scorer; a scorer takes a question's text to one score a document."""


class Blend:
    """Sums the scores of several arms with weights, each divided by its best; a single arm keeps its own scores."""

    def __init__(self, *arms: tuple[float, Arm]) -> None:
        self._arms = arms
        self._ids: tuple[str, ...] = ()
        self._scorers: list[tuple[float, Callable[[str], Array]]] = []

    def ingest(self, docs: Sequence[Doc]) -> None:
        self._ids = tuple(doc.id for doc in docs)
        self._scorers = [(weight, arm(docs)) for weight, arm in self._arms if docs]

    def rank(self, question: BenchQuestion) -> RankedDocs:
        if not self._ids:
            return RankedDocs(())
        scored = [(weight, scorer(question.text)) for weight, scorer in self._scorers]
        total = scored[0][1] if len(scored) == 1 else np.sum([w * _scaled(s) for w, s in scored], axis=0)
        return _ranking(self._ids, total)


def turns(docs: Sequence[Doc]) -> Callable[[str], Array]:
    """Score by BM25 over "speaker: text"."""
    return _bm25([_spoken(doc) for doc in docs])


def dated(docs: Sequence[Doc]) -> Callable[[str], Array]:
    """Score by BM25 over the session's date, the speaker and the text."""
    return _bm25([f"{doc.when} {_spoken(doc)}" for doc in docs])


def window(docs: Sequence[Doc]) -> Callable[[str], Array]:
    """Score by BM25 over each turn together with its neighbour on either side within the session."""
    return _bm25([" ".join(_spoken(near) for near in _beside(docs, i)) for i in range(len(docs))])


def dense(embedder: Embedder) -> Arm:
    """Score by the cosine of the embedder's vectors of "speaker: text" and of the question."""

    def arm(docs: Sequence[Doc]) -> Callable[[str], Array]:
        rows = embedder.passages([_spoken(doc) for doc in docs])
        return lambda text: (rows @ embedder.query(text)).astype(np.float64)

    return arm


def lineup(embedder: Embedder | None = None) -> dict[str, Callable[[], Baseline]]:
    """List every baseline by the name of its row, weakest first; the dense ones only with an embedder."""
    rows: dict[str, Callable[[], Baseline]] = {
        "no memory": NoMemory,
        "recent window": RecentWindow,
        "BM25 turns": lambda: Blend((1.0, turns)),
        "BM25+date": lambda: Blend((1.0, dated)),
        "BM25 window": lambda: Blend((1.0, window)),
        BAR: lambda: Blend((0.6, dated), (0.4, window)),
    }
    if embedder is not None:
        cosine = dense(embedder)
        dense_turns, hybrid = DENSE
        rows[dense_turns] = lambda: Blend((1.0, cosine))
        rows[hybrid] = lambda: Blend((0.45, dated), (0.3, window), (0.25, cosine))
    return rows


def stood_beside(usual: str, rows: Sequence[str]) -> str:
    """The row that others are compared with: the usual one, else the first baseline, else the first; "" of none."""
    if usual in rows:
        return usual
    baselines = {*lineup(), FOUND, *DENSE}
    return next((row for row in rows if row in baselines), rows[0] if rows else "")


def _spoken(doc: Doc) -> str:
    return f"{doc.speaker or doc.role}: {doc.text}"


def _beside(docs: Sequence[Doc], i: int) -> list[Doc]:
    near = docs[max(i - 1, 0) : i + 2]
    return [doc for doc in near if doc.session == docs[i].session]


def words(text: str) -> list[str]:
    """Split a text into the words that baselines count: our token stream without stop words."""
    return [token for token in tokenise(text) if not is_stop(token)]


def _bm25(texts: Iterable[str], k1: float = 1.2, b: float = 0.75) -> Callable[[str], Array]:
    counts = [Counter(words(text)) for text in texts]
    lengths = np.array([sum(c.values()) for c in counts], dtype=np.float64)
    damping = k1 * (1 - b + b * lengths / max(float(lengths.mean()), 1.0))
    seen: dict[str, list[tuple[int, int]]] = {}
    for doc, count in enumerate(counts):
        for word, times in count.items():
            seen.setdefault(word, []).append((doc, times))
    postings = {word: np.array(pairs).T for word, pairs in seen.items()}

    def score(text: str) -> Array:
        total = np.zeros(len(counts))
        for word in set(words(text)) & postings.keys():
            where, often = postings[word]
            idf = math.log(1 + (len(counts) - len(where) + 0.5) / (len(where) + 0.5))
            total[where] += idf * often * (k1 + 1) / (often + damping[where])
        return total

    return score


def _scaled(scores: Array) -> Array:
    best = float(np.max(scores))
    return scores / best if best > 0 else scores


def _ranking(ids: Sequence[str], scores: Array) -> RankedDocs:
    order = np.argsort(-scores, kind="stable")
    return RankedDocs(tuple(ids[i] for i in order), tuple(float(scores[i]) for i in order))
