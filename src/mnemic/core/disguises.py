"""Read a text without what hides letters from a reader of patterns: full-width forms, and characters of no width.

Only what a pattern then finds is replaced; all else stays as it was written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

Replacement: TypeAlias = Callable[[re.Match[str]], str]
"""What stands in place of a match; what it matched, if it stays."""

_WIDTHLESS: Final = "\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff"
_DISGUISED: Final = re.compile(
    f"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\u24b6-\u24e9\U0001d400-\U0001d7ff]|[A-Za-z0-9][{_WIDTHLESS}]"
)
_BEFORE: Final = 200
_BEHIND: Final = 400
"""Characters before and behind a word in which what it tells is looked for."""
_WORD: Final = re.compile(r"\S*+")
_UNIT: Final = re.compile(f".[{_WIDTHLESS}]*+", re.DOTALL)
"""A character with what has no width behind it."""


def is_disguised(text: str) -> bool:
    """Whether letters or digits of a text may be read as others than a pattern sees."""
    return not text.isascii() and _DISGUISED.search(text) is not None


class MaskedText:
    """A text of which patterns replace what they find, as it stands.

    Attributes:
        text: The text as patterns read it.
    """

    def __init__(self, written: str) -> None:
        self.text = written

    def written(self) -> str:
        """The text as it was written, but for what was replaced."""
        return self.text

    def replace(self, pattern: re.Pattern[str], replaced: Replacement, near: Sequence[str] = (), to: str = "") -> None:
        """Replace each match as `re.sub` does.

        Args:
            near: Words in small letters; if given, only matches that begin near one of them are looked for.
            to: What such a match reaches to at most, from the second line on; it may begin anywhere in the line of the
                word. Without it, it is looked for in some hundred characters, and to the end of the word there.
        """
        replacements = ((match, replaced(match)) for match in self._matches(pattern, near, to))
        if changed := [(match, shown) for match, shown in replacements if shown != match[0]]:
            self._put(changed)

    def _matches(self, pattern: re.Pattern[str], near: Sequence[str], to: str) -> Iterator[re.Match[str]]:
        if not near:
            yield from pattern.finditer(self.text)
            return
        at = 0
        for begin, end in self._windows(near, to):
            for match in pattern.finditer(self.text, max(at, begin), end):
                at = match.end()
                yield match

    def _windows(self, near: Sequence[str], to: str) -> Iterator[tuple[int, int]]:
        """Where to look: around each of the words, in order, none overlapping the one before."""
        low = self.text.lower()
        if len(low) != len(self.text):
            yield 0, len(low)
            return
        places = sorted(place for word in near if word in low for place in _places(low, word))
        begin = end = 0
        for place in places:
            if place - _BEFORE > end:
                if end:
                    yield begin, end
                begin = place - _BEFORE
            begin = self.text.rfind("\n", 0, begin) + 1 if to and begin > 0 else max(0, begin)
            if place + _BEHIND > end:
                end = self._end(place, to)
        if end:
            yield begin, end

    def _end(self, place: int, to: str) -> int:
        if to:
            line = self.text.find("\n", place)
            end = self.text.find(to, line + 2) if line >= 0 else line
            return end if end >= 0 else len(self.text)
        word = _WORD.match(self.text, min(place + _BEHIND, len(self.text)))
        return word.end() if word else len(self.text)

    def _put(self, changed: Sequence[tuple[re.Match[str], str]]) -> None:
        """Put in place of each match what is shown there."""
        pieces: list[str] = []
        at = 0
        for match, shown in changed:
            pieces += (self.text[at : match.start()], shown)
            at = match.end()
        self.text = "".join((*pieces, self.text[at:]))


class UndisguisedText(MaskedText):
    """A disguised text, read without its disguise, and with what was written for each character."""

    def __init__(self, written: str) -> None:
        plain: list[str] = []
        self._units: list[str] = []
        """What was written for each character of the text."""
        for unit in _UNIT.findall(written):
            folded = unicodedata.normalize("NFKC", unit[0]) if ord(unit[0]) > 127 else unit[0]
            plain.append(folded if len(folded) == 1 and folded.isascii() else unit[0])
            self._units.append(unit)
        super().__init__("".join(plain))

    def written(self) -> str:
        """The text in its disguise, but for what was replaced."""
        return "".join(self._units)

    def _put(self, changed: Sequence[tuple[re.Match[str], str]]) -> None:
        """Put in place of each match what is shown there; what both begin with stays as it was written."""
        units: list[str] = []
        at = 0
        for match, shown in changed:
            pairs = enumerate(zip(shown, match[0], strict=False))
            same = next((n for n, (character, other) in pairs if character != other), min(len(shown), len(match[0])))
            units += (*self._units[at : match.start() + same], *shown[same:])
            at = match.end()
        super()._put(changed)
        self._units = [*units, *self._units[at:]]


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))
