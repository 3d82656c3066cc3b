"""Score sentences by a question, and choose those that say different things: BM25 and MMR over a few hundred texts.

BM25 after Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009); maximal marginal relevance after
Carbonell and Goldstein (SIGIR 1998). The catalogue scores the entries of a whole memory by its own arrays
(`recall.gather`); here the texts are those of one task, and nothing is indexed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import is_stop, tokenise
from mnemic.strategies.knowledge import Inquiry

if TYPE_CHECKING:
    from mnemic.strategies.strategy_requests import SearchHit

_K1: Final = 1.2
_B: Final = 0.75
RELEVANCE: Final = 0.7
"""What relevance weighs where likeness to what is chosen already weighs the rest."""
_NEARLY_BEST: Final = 0.8
"""Share of the best passage's score from which another one is recognised beside it."""


def content_terms(text: str) -> list[str]:
    """The tokens of a text that say what it is about; of Chinese the pairs."""
    return [term for term in tokenise(text) if (len(term) > 1 or term.isdecimal()) and not is_stop(term)]


def bm25(question: str, texts: Sequence[Sequence[str]]) -> list[float]:
    """Score texts, each by its terms, for a question; 0 for what shares no term with it."""
    counts = [Counter(terms) for terms in texts]
    held_by = Counter(term for count in counts for term in count)
    mean = sum(map(len, texts)) / len(texts) if texts else 0.0
    asked = list(dict.fromkeys(content_terms(question)))
    weights = {term: math.log(1 + (len(texts) - held_by[term] + 0.5) / (held_by[term] + 0.5)) for term in asked}
    return [
        sum(
            weights[term] * count[term] * (_K1 + 1) / (count[term] + _K1 * (1 - _B + _B * len(terms) / mean))
            for term in asked
            if term in count
        )
        for count, terms in zip(counts, texts, strict=True)
    ]


def diverse(scores: Sequence[float], texts: Sequence[Sequence[str]]) -> Iterator[int]:
    """Yield the places of texts that score above 0: next is always what is relevant and unlike those before.

    What has just the terms of one before it never comes; of equals the first comes first.
    """
    best = max(scores, default=0.0)
    sets = [frozenset(terms) for terms in texts]
    likeness = dict.fromkeys((place for place, score in enumerate(scores) if score > 0), 0.0)
    while likeness:
        chosen = max(
            likeness,
            key=lambda place: (RELEVANCE * scores[place] / best - (1 - RELEVANCE) * likeness[place], -place),
        )
        likeness = {place: like for place, like in likeness.items() if sets[place] != sets[chosen]}
        for place in likeness:
            likeness[place] = max(likeness[place], similarity(sets[place], sets[chosen]))
        yield chosen


def similarity(terms: frozenset[str], others: frozenset[str]) -> float:
    """The cosine of two sets of terms."""
    return len(terms & others) / math.sqrt(len(terms) * len(others)) if terms and others else 0.0


def nearness(text: str, hits: Sequence[SearchHit]) -> list[float]:
    """How near each of the hits of a search is to a text: in meaning if that is known of all, else in words.

    A search's own scores weigh words by how rare they are in the whole memory; this does not hang on what else is held.
    """
    cosines = [hit.cosine for hit in hits if hit.cosine is not None]
    if len(cosines) == len(hits):
        return cosines
    terms = frozenset(content_terms(text))
    return [similarity(terms, frozenset(content_terms(hit.item.text))) for hit in hits]


def recognised(given: Inquiry) -> tuple[int, ...]:
    """Recognise the passages that bear on a question nearly as much as the best one does, the best first."""
    scores = bm25(given.question, [content_terms(f"{passage.speaker} {passage.text}") for passage in given.passages])
    best = max(scores, default=0.0)
    kept = [place for place, score in enumerate(scores) if score > 0 and score >= _NEARLY_BEST * best]
    return tuple(sorted(kept, key=lambda place: (-scores[place], place))[: given.most])
