"""Text folded into lines of so many columns as it comes, piece by piece; a Chinese character takes two."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mnemic.faces.cli.output import plain, width

_WIDE: Final = "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
_ATOM: Final = re.compile(rf"\n|[^\S\n]+|[{_WIDE}]|[^\s{_WIDE}]+")

BREAK: Final = "\n"


class Fold:
    """Breaks text between words, or between wide characters; a word that fits no line is broken where the line ends.

    Args:
        columns: Of a line, at least 2.
        hang: Columns that every line but the first is set in by.
    """

    def __init__(self, columns: int, *, hang: int = 0) -> None:
        self._columns, self._hang = columns, hang
        self._gap = ""
        self._used = 0
        self._word: list[str] = []
        self._wide = 0
        self._torn = False

    def feed(self, text: str) -> Iterator[str]:
        """Take more text; yield what can be written for sure by now: pieces of lines, and `BREAK` where one ends."""
        for atom in _ATOM.findall(plain(text.replace("\r\n", "\n").replace("\t", "    "))):
            if _is_whole(atom):
                yield from self._let_go()
                self._torn = False
                yield from self._atom(atom)
            elif self._torn:
                yield from self._broken(atom)
            else:
                yield from self._grown(atom)

    def end(self) -> Iterator[str]:
        """Yield what is still held back; drop blanks at the end."""
        yield from self._let_go()
        self._gap, self._torn = "", False

    def _grown(self, atom: str) -> Iterator[str]:
        """Add to the word that is held back until it ends, or until no line is long enough for it."""
        self._word.append(atom)
        self._wide += width(atom)
        if self._wide > self._columns:
            yield from self._let_go()
            self._torn = True

    def _let_go(self) -> Iterator[str]:
        word = "".join(self._word)
        self._word, self._wide = [], 0
        if word:
            yield from self._atom(word)

    def _atom(self, atom: str) -> Iterator[str]:
        if atom == "\n":
            yield from self._break()
        elif atom.isspace():
            self._gap += atom
        elif self._used + width(self._gap + atom) <= self._columns:
            yield self._written(self._gap + atom)
        elif self._used > self._hang:
            yield from self._break()
            yield from self._atom(atom)
        else:
            yield from self._broken(self._gap + atom)

    def _broken(self, word: str) -> Iterator[str]:
        for character in word:
            if self._used + width(character) > self._columns:
                yield from self._break()
            yield self._written(character)

    def _written(self, text: str) -> str:
        self._used += width(text)
        self._gap = ""
        return text

    def _break(self) -> Iterator[str]:
        yield BREAK
        self._used = 0
        self._gap = ""
        if self._hang:
            yield self._written(" " * self._hang)


def _is_whole(atom: str) -> bool:
    """Whether it is no part of a longer word."""
    return atom.isspace() or re.fullmatch(f"[{_WIDE}]", atom) is not None


def folded(text: str, columns: int, *, hang: int = 0) -> list[str]:
    """Fold a whole text into lines."""
    fold = Fold(columns, hang=hang)
    return "".join((*fold.feed(text), *fold.end())).split(BREAK)
