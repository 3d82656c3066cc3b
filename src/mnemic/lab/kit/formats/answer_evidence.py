"""Evidence where a data set gives answers only: the documents that hold an answer's words.

It is a stand-in, and told as such: a document that says the same in other words is missed, and one that holds the
words by chance is taken. So a question of which too many documents hold the answer has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from mnemic.core.tokens import is_stop, tokenise

MOST: Final = 5
"""Documents that may hold an answer; where more do, it does not tell which is meant."""


def content(text: str) -> tuple[str, ...]:
    """The stems of a text that carry something, in their order."""
    return tuple(token for token in tokenise(text) if not is_stop(token))


def by_words(answer: str, docs: Mapping[str, frozenset[str]], most: int = MOST) -> tuple[str, ...]:
    """Documents that hold every word of an answer that carries something; none where more than `most` do.

    Args:
        docs: The stems of each.
    """
    wanted = frozenset(content(answer))
    found = tuple(id for id, held in docs.items() if wanted <= held) if wanted else ()
    return found if len(found) <= most else ()


def by_most_words(points: Sequence[str], docs: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """For each of some points the document that holds most of its words, if it holds half of them.

    Args:
        docs: The stems of each.
    """
    found: dict[str, None] = {}
    for wanted in (frozenset(content(point)) for point in points):
        nearest = max(docs, key=lambda id: len(wanted & docs[id]), default=None)
        if nearest is not None and wanted and 2 * len(wanted & docs[nearest]) >= len(wanted):
            found[nearest] = None
    return tuple(found)


def spaced(text: str) -> str:
    """A text in lower case with a blank round each word: one holds another, as a phrase, where this holds that."""
    return f" {' '.join(''.join(c if c.isalnum() else ' ' for c in text.lower()).split())} "


def by_phrase(answers: Sequence[str], docs: Mapping[str, str]) -> tuple[str, ...]:
    """Documents that hold one of the answers as a phrase.

    Args:
        docs: Each as `spaced`.
    """
    phrases = [phrase for phrase in map(spaced, answers) if phrase.strip()]
    return tuple(id for id, text in docs.items() if any(phrase in text for phrase in phrases))
