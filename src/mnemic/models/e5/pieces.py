"""Text into the pieces of words that the encoder knows: a unigram language model and the best path through it.

Source: Kudo, "Subword Regularization", arXiv:1804.10959, section 3.2 (SentencePiece's unigram model). No piece reaches
over the start of a word, so words are cut one by one and the common ones remembered.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from mnemic.models.e5.weights import Vocabulary

SPACE: Final = "\u2581"
"""How the start of a word is written in a piece."""

_SPACES: Final = re.compile(" +")
_WORD: Final = re.compile(f"{SPACE}[^{SPACE}]*")
_REMEMBERED: Final = 1 << 14
_WORD_LENGTH: Final = 24
"""Longest word that is remembered, in characters; what is longer is seldom seen twice."""

_UNKNOWN_PENALTY: Final = 10.0
"""How much worse than the least likely piece an unknown character is, as SentencePiece has it."""


class Pieces:
    """Cuts texts into ids of pieces. Safe for many threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._scores, self._unknown, self._folding = vocabulary.scores, vocabulary.unknown, vocabulary.folding
        self._ids = {piece: id for id, piece in enumerate(vocabulary.pieces) if id != vocabulary.unknown}
        self._longest = max(map(len, vocabulary.pieces))
        self._worst = min(self._scores) - _UNKNOWN_PENALTY
        self._remembered = lru_cache(_REMEMBERED)(self._best_path)

    def ids(self, text: str) -> list[int]:
        """The ids of the pieces of a text, without those that mark its begin and end."""
        folded = _SPACES.sub(SPACE, text.translate(self._folding))
        ids: list[int] = []
        for word in _WORD.findall(folded if folded.startswith(SPACE) else SPACE + folded):
            ids += self._remembered(word) if len(word) <= _WORD_LENGTH else self._best_path(word)
        return ids

    def _best_path(self, word: str) -> tuple[int, ...]:
        """The pieces whose probabilities have the greatest product."""
        best = [0.0, *[float("-inf")] * len(word)]
        back = [(0, 0)] * (len(word) + 1)  # the piece that ends here, and where it begins
        for start in range(len(word)):
            score = best[start]
            for stop in range(start + 1, min(start + self._longest, len(word)) + 1):
                id = self._ids.get(word[start:stop])
                if id is not None and score + self._scores[id] > best[stop]:
                    best[stop], back[stop] = score + self._scores[id], (id, start)
            if score + self._worst > best[start + 1]:
                best[start + 1], back[start + 1] = score + self._worst, (self._unknown, start)
        return _walked(back)


def _walked(back: list[tuple[int, int]]) -> tuple[int, ...]:
    ids = []
    at = len(back) - 1
    while at:
        id, at = back[at]
        ids.append(id)
    return tuple(reversed(ids))
