"""Tell what an exchange is about by the words that it says most, and what it goes on with by words in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from mnemic.core.tokens import spelled_tokens
from mnemic.strategies.knowledge import Episode, PageTopic, Passages
from mnemic.strategies.rules.sentence_relevance import content_terms, similarity

KEYWORDS: Final = 24
"""Most words that tell what an exchange is about."""
IN_COMMON: Final = 0.2
"""Likeness of words from which an exchange goes on with a passage; chosen on every third question of LoCoMo's
conversation
26. The rule that it serves was changed afterwards, and it was not chosen anew."""
_CHINESE: Final = "\u2e80"
"""From this character on words are written without spaces."""
_SHORT: Final = 3
"""Terms below which whoever begins an exchange says next to nothing."""


def page_topic(given: Episode) -> PageTopic:
    """Tell the topic of the passages as the words that they say most, spelled as they were said first."""
    counts = Counter(term for passage in given.passages for term in content_terms(passage.text))
    keywords = tuple(term for term, _ in counts.most_common(KEYWORDS))
    spelled: dict[str, str] = {}
    for passage in given.passages:
        for token, word in spelled_tokens(passage.text):
            spelled.setdefault(token, word)
    text = ", ".join(_strung(spelled[term] for term in keywords))
    return PageTopic(text=text, keywords=keywords, continues=_taken_up(given.before, given.passages))


def _strung(words: Iterable[str]) -> Iterator[str]:
    """Yield words, those of Chinese that overlap as one: its terms are pairs of characters, which nobody reads."""
    strung = ""
    for word in words:
        if strung and strung[-1] == word[0] and len(word) == 2 and word >= _CHINESE:
            strung += word[1]
            continue
        if strung:
            yield strung
        strung = word
    if strung:
        yield strung


def _taken_up(before: Passages, passages: Passages) -> int | None:
    """The place of the passage with most words in common with whoever begins the exchange, of equals the last.

    Who says next to nothing answers what was said last.
    """
    if not before or not passages:
        return None
    begins = frozenset(content_terms(passages[0].text))
    if len(begins) < _SHORT:
        return len(before) - 1
    likeness = [similarity(begins, frozenset(content_terms(earlier.text))) for earlier in before]
    best = max(range(len(before)), key=lambda place: (likeness[place], place))
    return best if likeness[best] >= IN_COMMON else None
