"""What of a text its speaker says in their own voice: sentences, with quotations and code blanked out.

A quoted "always obey" or a line of code is shown, not said; it must never be taken for the speaker's word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.extract.quotation import own_label, own_words

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT: Final = 500
"""Most characters in a sentence that somebody says; it also bounds what a pattern can cost."""

_STRAIGHT: Final = str.maketrans("\u2018\u2019\u02bc", "'''")
_END: Final = re.compile(r"[!?。！？；]+[)\]”’\"'*~]*|\n+[)\]”’\"']*|(?<!\.)\.++[*~_]{0,3}(?=\s|$|[\u3400-\u9fff])")
BULLET: Final = re.compile(
    r"(?:[-*+•·–—→▪◦‣][ \t]++|\(?(?:\d{1,3}|[a-z])\)[ \t]++|[（(][一二三四五六七八九十\d]{1,3}[）)][ \t]*+"
    r"|[①-⑳][ \t]*+|[一二三四五六七八九十]{1,2}、[ \t]*+|\d{1,3}、[ \t]*+)(?:\[[ xX]\][ \t]++)?"
)
"""The mark of a point in a list, and the box of a task behind it."""
_EMPHASIS: Final = "*~_"
_RUNS: Final = {mark: re.compile(re.escape(mark) + "+") for mark in _EMPHASIS}
_SHORTENED: Final = re.compile(r"(?:\b(?:dr|mr|mrs|ms|prof|st|vs|etc|jr|sr|no|approx|e\.g|i\.e|a\.m|p\.m)|\b[a-z])$")

_SHORT: Final = 8
"""Characters before a full stop that tell whether it shortens a word: as many as the longest of `_SHORTENED` has."""
_ASKS: Final = re.compile(r"[?？][)\]”’\"' !]*$")
_TAG: Final = re.compile(
    r"(?:[,.] *(?:(?:would|will|could|can) you(?: please)?|ok(?:ay)?|please|alright|all right|deal|got it|thanks|right"
    r"|yeah)|好吗|好吧|好不好|可以吗|行吗|行不行|好么|成吗|知道了?吗|明白了?吗|懂了?吗) *[?？]+[)\]”’\"' !]*$"
)
"""What turns an order into a polite one."""


_WRITTEN: Final = re.compile(
    r"\S(?:[^.!?。！？；;\n]|[.](?=\w)|(?<=\b[DMSJ]r)[.]|(?<=\b[MD]rs)[.]"
    r"|(?<=\bM[st])[.]|(?<=\bSt)[.]|(?<=\bProf)[.])*+"
    r"(?:[.!?]++[\"'”’)\]]*+(?=\s|\Z)|[。！？；;]++[”’」』）]*+|\n|\Z|[.!?]++)"
)
"""One pass: what it took it never gives back, so that blanks or dots cost no more than other characters."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence in its speaker's own voice.

    Attributes:
        low: In lower case with straight apostrophes, what is quoted blanked; as long as it is in the text.
        written: The same in the letters of the text.
        start: Where it begins in the text.
        asks: It ends in a question mark, and not in "would you?".
    """

    low: str
    written: str
    start: int
    asks: bool


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text, in order; what runs on for over `LIMIT` characters is data, not speech, and left out."""
    own = own_words(text)
    low = lowered(own)
    begin = own_label(text)
    for end in _END.finditer(low, begin):
        last_word = max(begin, end.start() - _SHORT)  # only so far back: "a. a. a." is one sentence of any length
        if end.group()[0] == "." and _SHORTENED.search(low, last_word, end.start()) and end.end() < len(low):
            continue
        yield from _sentence(text, low, own, begin, end.end())
        begin = end.end()
    yield from _sentence(text, low, own, begin, len(low))


def written_sentences(text: str) -> list[str]:
    """The sentences of a text, English or Chinese, as they stand in it, quotations included."""
    return [sentence.strip() for sentence in _WRITTEN.findall(text)]


_WRAPPED: Final = re.compile(r"(?<=[^\n]{50})(?<![.!?:;|。！？：；])\n(?=[^\W\d_])")


def unwrapped(text: str) -> str:
    """Put a blank for each line end that only wraps a long line, every character still in its place."""
    return _WRAPPED.sub(" ", text)


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each of these sentences begins and ends, the blanks behind it included."""
    return (sentence.span() for sentence in _WRITTEN.finditer(text))


def _sentence(text: str, low: str, own: str, begin: int, end: int) -> Iterator[Sentence]:
    whole = low[begin:end]
    stripped = whole.strip()
    if 0 < len(stripped) <= LIMIT:
        start = begin + whole.index(stripped)
        if not stripped[0].isalpha() or stripped[-1] in _EMPHASIS or BULLET.match(stripped):
            first, last = _without_markup(text[start : start + len(stripped)])
            start, stripped = start + first, stripped[first:last]
            if not stripped:
                return
        asks = _ASKS.search(stripped) is not None and _TAG.search(stripped) is None
        yield Sentence(stripped, own[start : start + len(stripped)], start, asks)


def lowered(text: str) -> str:
    """Lower case with straight apostrophes, every character still in its place ("İ" lowers to two)."""
    low = text.translate(_STRAIGHT).lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _without_markup(written: str) -> tuple[int, int]:
    """Where a sentence begins and ends without a list's mark before it and emphasis that is around all of it.

    What is emphasised within it stays as it is: "answer in **French**".
    """
    first, last = 0, len(written)
    if bullet := BULLET.match(written):
        first = bullet.end()
    while last > first and (written[first] in _EMPHASIS or written[last - 1] in _EMPHASIS):
        mark = written[first] if written[first] in _EMPHASIS else written[last - 1]
        runs = [run.span() for run in _RUNS[mark].finditer(written, first, last)]
        begins, ends = runs[0][0] == first, runs[-1][1] == last
        if len(runs) > 2 or (len(runs) == 2 and not (begins and ends)):
            break
        first, last = (runs[0][1] if begins else first), (runs[-1][0] if ends else last)
    return first, max(first, last)
