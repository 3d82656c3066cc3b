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
_WORD: Final = re.compile(r".{1,12}?(?:\s{1,12}+|\Z)|.{1,12}", re.DOTALL)

BYTES_A_TOKEN: Final = 16
"""Most UTF-8 bytes that count as one token: runs of blanks are free up to here, and a budget bounds bytes too."""


def count_tokens(text: str) -> int:
    """Estimate how many tokens a model's tokeniser makes of `text`; needs no download.

    By rule: one for each seven letters begun of a Latin word, each three digits, each character of an unspaced script,
    each three letters of another script, each punctuation mark, each run of line ends; but at least one for each
    `BYTES_A_TOKEN` bytes begun, which only long runs of blanks reach. Never more than characters; joining two texts
    never gives more than the sum, nor less than either.

    Measured against the byte-pair vocabularies cl100k / o200k: English chat and articles 0-20 % over, code 5-20 % over,
    Chinese 17 % under / 37 % over, Japanese and Korean 15 % under to 23 % over, emoji about half.
    """
    return max(len(_PIECE.findall(text)), _at_least(text, BYTES_A_TOKEN))


def _at_least(text: str, bytes_a_token: int) -> int:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // bytes_a_token)


def cut(text: str, limit: int, bytes_a_token: int = BYTES_A_TOKEN) -> list[str]:
    """Cut a text into pieces of at most `limit` tokens, where a paragraph, else a sentence, else a word ends.

    The pieces joined are `text`. A piece is over the limit only if twelve characters of it, and as many blanks, are.

    Args:
        bytes_a_token: So many bytes count as one token at the most: no piece has more than `limit` times as many.
    """
    return _pack(text, limit, bytes_a_token, (_PARAGRAPH, _SENTENCE, _WORD))


def _pack(text: str, limit: int, bytes_a_token: int, levels: tuple[re.Pattern[str], ...]) -> list[str]:
    def cost(piece: str) -> int:
        return max(count_tokens(piece), _at_least(piece, bytes_a_token))

    if not levels or cost(text) <= limit:
        return [text]
    pieces: list[str] = []
    room = 0
    for unit in levels[0].findall(text):
        size = cost(unit)
        if pieces and size <= room:
            pieces[-1] += unit
            room -= size
        else:
            pieces += _pack(unit, limit, bytes_a_token, levels[1:])
            room = limit - cost(pieces[-1])
    return pieces
