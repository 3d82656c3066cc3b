"""Sum up passages by their own sentences, within a budget of tokens.

A sentence is worth the weight of its words among all sentences for its length (the centroid of MEAD, Radev et al.
2004), more with a time or a number; MMR leaves out what is said already; what is chosen stands in its order.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from mnemic.core.tokens import count_tokens, cut
from mnemic.core.uninterrupted import import_whole
from mnemic.strategies.knowledge import Condensing, Passages, PassageSummary
from mnemic.strategies.rules.sentence_relevance import content_terms, diverse

_FIGURE: Final = re.compile(r"\d")
_WITH_FIGURE: Final = 1.25
"""What a date or a number multiplies a sentence's worth by: these are what a summary most easily loses."""
_EVEN: Final = 8
"""Added to the length of a sentence, so that the shortest are not the best."""


class _Line(NamedTuple):
    """A sentence with who says it, and its passage."""

    text: str
    place: int
    terms: list[str]


def extractive_summary(given: Condensing) -> PassageSummary:
    """Choose sentences until the budget is spent; the first that does not fit is passed over, shorter ones may."""
    lines = list(_lines(given.passages))
    room, chosen = given.budget, list[int]()
    worth = _worth(lines)
    for place in diverse(worth, [line.terms for line in lines]):
        cost = count_tokens(lines[place].text) + bool(chosen)
        if cost <= room:
            chosen.append(place)
            room -= cost
    if not chosen:
        return _beginning(lines, worth, given.budget)
    kept = [lines[place] for place in sorted(chosen)]
    return PassageSummary(
        text="\n".join(line.text for line in kept), source=tuple(dict.fromkeys(line.place for line in kept))
    )


def _lines(passages: Passages) -> Iterator[_Line]:
    import_whole("mnemic.extract.sentences")
    from mnemic.extract.sentences import written_sentences

    for place, passage in enumerate(passages):
        for sentence in written_sentences(passage.text):
            written = " ".join(sentence.split())
            line = f"{passage.speaker}: {written}" if passage.speaker else written
            if terms := content_terms(written):
                yield _Line(line, place, terms)


def _worth(lines: list[_Line]) -> list[float]:
    """Weigh sentences; of a word that stands in all of them next to nothing is left."""
    counts = Counter(term for line in lines for term in line.terms)
    held_by = Counter(term for line in lines for term in set(line.terms))
    weights = {term: counts[term] * math.log((1 + len(lines)) / held_by[term]) for term in counts}
    return [
        (_WITH_FIGURE if _FIGURE.search(line.text) else 1.0)
        * math.fsum(weights[term] for term in set(line.terms))
        / math.sqrt(_EVEN + len(line.terms))
        for line in lines
    ]


def _beginning(lines: list[_Line], worth: list[float], budget: int) -> PassageSummary:
    """Take the beginning of the best sentence, where none fits whole; nothing where not even that does."""
    if lines and budget > 0:
        best = lines[max(range(len(lines)), key=lambda place: (worth[place], -place))]
        if count_tokens(text := cut(best.text, budget)[0].strip()) <= budget:
            return PassageSummary(text=text, source=(best.place,))
    return PassageSummary(text="", source=())
