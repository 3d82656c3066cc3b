"""Estimate a text's length in a model's tokens, and cut a text that is too long."""

from __future__ import annotations

import re
from typing import Final

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3105-\u9fff\ua960-\ud7ff\uf900-\ufaff"
)
_PIECE: Final = re.compile(
    r"'?[a-zA-Z]{1,7}|\d{1,3}|" + f"[{_UNSPACED}]" + r"|[^\W\d_a-zA-Z" + _UNSPACED + r"]{1,3}|[^\w\s]|_|\n+"
)
# Each unit runs on, without ever going back, to where it ends: a pattern that tries every end costs the square.
_PARAGRAPH: Final = re.compile(r".(?:[^\n]++|\n(?![ \t\r]*+\n))*+(?:\n[ \t\r]*+\n\s*+|\Z)", re.DOTALL)
_SENTENCE: Final = re.compile(
    r".(?:[^.!?;。！？；…\n]++|[.!?;]++[\"')\]]*+(?!\s))*+"
    r"(?:[.!?;]++[\"')\]]*+\s++|[。！？；…]++[”’」』）]*+\s*+|\n\s*+|\Z)",
    re.DOTALL,
)
_WORD: Final = re.compile(r".{1,12}?(?:\s+|\Z)|.{1,12}", re.DOTALL)


def count_tokens(text: str) -> int:
    """Estimate how many tokens a model's tokeniser makes of `text`; needs no download.

    By rule: one for each seven letters begun of a Latin word, each three digits, each character of an unspaced script,
    each three letters of another script, each punctuation mark, each run of line ends. Never more than characters;
    joining two texts never gives more than the sum, nor less than either.

    Measured against the byte-pair vocabularies cl100k / o200k: English chat and articles 0-20 % over, code 5-20 % over,
    Chinese 17 % under / 37 % over, Japanese and Korean 15 % under to 23 % over, emoji about half.
    """
    return len(_PIECE.findall(text))


def cut(text: str, limit: int) -> list[str]:
    """Cut a text into pieces of at most `limit` tokens, where a paragraph, else a sentence, else a word ends.

    The pieces joined are `text`. A piece is over the limit only if twelve characters of it are.
    """
    return _pack(text, limit, (_PARAGRAPH, _SENTENCE, _WORD))


def _pack(text: str, limit: int, levels: tuple[re.Pattern[str], ...]) -> list[str]:
    if count_tokens(text) <= limit or not levels:
        return [text]
    pieces: list[str] = []
    room = 0
    for unit in levels[0].findall(text):
        cost = count_tokens(unit)
        if pieces and cost <= room:
            pieces[-1] += unit
            room -= cost
        else:
            pieces += _pack(unit, limit, levels[1:])
            room = limit - count_tokens(pieces[-1])
    return pieces
