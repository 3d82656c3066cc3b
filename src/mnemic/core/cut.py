"""How long a text is in a model's tokens, and where to cut one that is too long."""

from __future__ import annotations

import re
from typing import Final

_PIECE: Final = re.compile(
    r"([a-zA-Z]+)|(\d+)|([\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3105-\u9fff\ua960-\ud7ff\uf900-\ufaff]+)|([^\W\d_a-zA-Z]+)|([^\w\s]|_)|(\n+)"
)
_PARAGRAPH: Final = re.compile(r".+?(?:\n[ \t\r]*\n\s*|\Z)", re.DOTALL)
_SENTENCE: Final = re.compile(r".+?(?:[.!?;]+[\"')\]]*\s+|[。！？；…]+[”’」』）]*\s*|\n\s*|\Z)", re.DOTALL)
_WORD: Final = re.compile(r".{1,12}?(?:\s+|\Z)|.{1,12}", re.DOTALL)


def count_tokens(text: str) -> int:
    """About how many tokens a model's tokeniser makes of `text`; needs no download.

    By rule: a Latin word counts one for each seven letters begun, digits one for each three, an unspaced script one a
    character, other scripts one for each three letters, a punctuation mark or a run of line ends one each.
    """
    total = 0
    for latin, digits, unspaced, other, mark, _ in _PIECE.findall(text):
        if latin:
            total += (len(latin) + 6) // 7
        elif mark:
            total += 1
        elif unspaced:
            total += len(unspaced)
        elif digits:
            total += (len(digits) + 2) // 3
        else:
            total += (len(other) + 2) // 3 if other else 1
    return total


def cut(text: str, limit: int) -> list[str]:
    """`text` in pieces of at most `limit` tokens, cut where a paragraph, else a sentence, else a word ends.

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
        if cost <= room:
            pieces[-1] += unit
            room -= cost
        else:
            pieces += _pack(unit, limit, levels[1:])
            room = limit - count_tokens(pieces[-1])
    return pieces
