"""Tell whether two names are so alike that they are one, spelled otherwise: Graphiti's rule for what needs no model.

Zep (arXiv:2501.13956, section 2.2.1) leaves it to a model which entities are one; its code decides first what is
certain: names that are specific enough, of which nine in ten groups of three letters are the same. There MinHash and
LSH pick who is compared; here the few that a search brought are compared exactly, so that none is missed.
"""

from __future__ import annotations

from collections import Counter
from math import log2
from typing import Final

from mnemic.core.uninterrupted import import_whole

SHINGLE: Final = 3
JACCARD: Final = 0.9
LETTERS: Final = 6
ENTROPY: Final = 1.5
"""Of Graphiti's `dedup_helpers`: letters of a group, share of groups, and from when on a name of one word, by its
letters and by the entropy of these in bits, says enough to be told from others."""


def alike(name: str, other: str) -> bool:
    """Whether two names are one for certain: the same but for case, or specific and nearly the same."""
    plain = plain_name(name), plain_name(other)
    return plain[0] == plain[1] or (all(map(is_specific, plain)) and likeness(*plain) >= JACCARD)


def plain_name(name: str) -> str:
    """Write a name as names are compared: in small letters, without article, possessive and quotation marks."""
    import_whole("mnemic.extract.entities")
    from mnemic.extract.entities import canonical

    return canonical(name)


def is_specific(name: str) -> bool:
    """Whether a name is long or has several words, and does not repeat a few letters."""
    letters = name.replace(" ", "")
    if len(name) < LETTERS and len(name.split()) < 2:
        return False
    shares = (count / len(letters) for count in Counter(letters).values())
    return -sum(share * log2(share) for share in shares) >= ENTROPY


def likeness(name: str, other: str) -> float:
    """The share of groups of three letters that two names have in common, 0 to 1 (Jaccard)."""
    groups, others = _shingles(name), _shingles(other)
    return len(groups & others) / max(1, len(groups | others))


def _shingles(name: str) -> set[str]:
    letters = name.replace(" ", "")
    return {letters[at : at + SHINGLE] for at in range(max(1, len(letters) - SHINGLE + 1))}
