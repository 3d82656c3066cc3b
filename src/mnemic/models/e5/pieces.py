"""Text into the pieces of words that the encoder knows: a unigram language model and the best path through it.

Source: Kudo, "Subword Regularization", arXiv:1804.10959, section 3.2 (SentencePiece's unigram model). No piece reaches
over the start of a word, so words are cut one by one and the common ones remembered. A piece is found by its CRC-32 in
a sorted array, which is mapped from the disk; a dictionary of 250,000 strings would have to be built at each start.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

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


def piece_arrays(vocabulary: Vocabulary) -> dict[str, NDArray[np.generic]]:
    """Make what `Pieces` finds a piece by: sorted checksums, the id behind each, and the longest piece's length."""
    text, ends = vocabulary.text.tobytes(), vocabulary.offsets.tolist()
    checksums = np.fromiter((zlib.crc32(text[start:stop]) for start, stop in pairwise(ends)), np.uint32, len(ends) - 1)
    order = np.argsort(checksums, kind="stable")
    leads = np.concatenate(([0], np.cumsum((vocabulary.text & 0xC0) != 0x80)))
    longest = np.diff(leads[vocabulary.offsets]).max()
    return {
        "piece.checksums": checksums[order],
        "piece.ids": order.astype(np.uint32),
        "piece.longest": np.array([longest], np.uint32),
    }


class Pieces:
    """Cuts texts into ids of pieces. Safe for many threads.

    Args:
        arrays: As `piece_arrays` makes them; they may be read-only.
    """

    def __init__(self, vocabulary: Vocabulary, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        # Memory views answer with plain numbers, several times as fast as arrays do.
        self._text, self._offsets = vocabulary.text.data, vocabulary.offsets.data
        self._scores, self._unknown = vocabulary.scores.data, vocabulary.unknown
        self._folding = vocabulary.folding
        self._checksums, self._by_checksum = arrays["piece.checksums"].data, arrays["piece.ids"].data
        self._longest = int(arrays["piece.longest"].data[0])
        self._worst = float(vocabulary.scores.min()) - _UNKNOWN_PENALTY
        self._remembered = lru_cache(_REMEMBERED)(self._best_path)

    def ids(self, text: str) -> list[int]:
        """Cut a text into the ids of its pieces, without those that mark its begin and end."""
        folded = _SPACES.sub(SPACE, text.translate(self._folding))
        ids: list[int] = []
        for word in _WORD.findall(folded if folded.startswith(SPACE) else SPACE + folded):
            ids += self._remembered(word) if len(word) <= _WORD_LENGTH else self._best_path(word)
        return ids

    def _best_path(self, word: str) -> tuple[int, ...]:
        """Find the pieces whose probabilities have the greatest product."""
        best = [0.0, *[float("-inf")] * len(word)]
        back = [(0, 0)] * (len(word) + 1)  # the piece that ends here, and where it begins
        for start in range(len(word)):
            score = best[start]
            for stop in range(start + 1, min(start + self._longest, len(word)) + 1):
                id = self._id(word[start:stop].encode("utf-8", "surrogatepass"))
                if id is not None and score + self._scores[id] > best[stop]:
                    best[stop], back[stop] = score + self._scores[id], (id, start)
            if score + self._worst > best[start + 1]:
                best[start + 1], back[start + 1] = score + self._worst, (self._unknown, start)
        return _walked(back)

    def _id(self, piece: bytes) -> int | None:
        """Look up the id of a piece; of several of the same text the last, and none for the one that means unknown."""
        checksum, found = zlib.crc32(piece), None
        at = bisect_left(self._checksums, checksum)
        while at < len(self._checksums) and self._checksums[at] == checksum:
            id = self._by_checksum[at]
            if id != self._unknown and self._text[self._offsets[id] : self._offsets[id + 1]] == piece:
                found = id
            at += 1
        return found


def _walked(back: list[tuple[int, int]]) -> tuple[int, ...]:
    ids = []
    at = len(back) - 1
    while at:
        id, at = back[at]
        ids.append(id)
    return tuple(reversed(ids))
