"""Stems of English words as LoCoMo's script has them: Porter's rules (Program 14, 1980) as NLTK extends them.

PyStemmer's Porter is the original: it makes `us` of use and `on` of one, which would count as hits. What NLTK adds:
words of two letters stay, a few irregular ones are listed, `ies` and `ied` of four letters keep their e, a y is a
vowel's own unless a consonant stands before it, and `fulli`, `logi`, `alli` are endings.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_IRREGULAR: Final = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
    "innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing", "cannings": "canning",
    "canning": "canning", "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip

_DERIVED: Final = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful"),
)  # fmt: skip
"""Endings of endings, the first that fits counting."""

_FURTHER: Final = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip

_LAST: Final = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem of a word in lower case."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _without_y(_without_past(_singular(word)))
    word = _swapped(_underived(word), _FURTHER)
    return _without_e(_without_last(word))


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_past(word: str) -> str:
    """Take off `ed` and `ing`, and mend what is left: hopping is hop, hoping is hope."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    ending = next((e for e in ("ed", "ing") if word.endswith(e) and "v" in _sounds(word[: -len(e)])), "")
    if not ending:
        return word
    left = word[: -len(ending)]
    if left.endswith(("at", "bl", "iz")):
        return left + "e"
    if len(left) > 1 and left[-1] == left[-2] and _sounds(left)[-1] == "c":
        return left if left[-1] in "lsz" else left[:-1]
    return left + "e" if _measure(left) == 1 and _is_short(left) else left


def _without_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and len(word) > 2 and _sounds(word[:-1])[-1] == "c" else word


def _underived(word: str) -> str:
    while word.endswith("alli") and _measure(word[:-4]):
        word = word[:-2]
    if not any(word.endswith(ending) for ending, _ in _DERIVED) and word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) else word
    return _swapped(word, _DERIVED)


def _swapped(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    for ending, other in rules:
        if word.endswith(ending):
            left = word[: -len(ending)]
            return left + other if _measure(left) else word
    return word


def _without_last(word: str) -> str:
    for ending in _LAST:
        if word.endswith(ending):
            left = word[: -len(ending)]
            fits = _measure(left) > 1 and (ending != "ion" or left[-1] in "st")
            return left if fits else word
    return word


def _without_e(word: str) -> str:
    if word.endswith("e"):
        left, measure = word[:-1], _measure(word[:-1])
        word = left if measure > 1 or (measure == 1 and not _is_short(left)) else word
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _sounds(word: str) -> str:
    """A `v` for each vowel and a `c` for each consonant; y is one behind a vowel, and at the beginning."""
    sounds = ""
    for n, letter in enumerate(word):
        vowel = letter in "aeiou" or (letter == "y" and n > 0 and sounds[-1] == "c")
        sounds += "v" if vowel else "c"
    return sounds


def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant."""
    return _sounds(word).count("vc")


def _is_short(word: str) -> bool:
    """Whether it ends like hop: a consonant that is no w, x or y behind a vowel behind a consonant, or is like `at`."""
    sounds = _sounds(word)
    return (sounds.endswith("cvc") and word[-1] not in "wxy") or sounds == "vc"
