"""Time, randomness, names and texts for tests: a clock you set, bytes from a seed, the strings that break things."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from mnemic.core.clock import micros

START: Final = micros(datetime(2026, 1, 1, tzinfo=UTC))


class ManualClock:
    """A clock that stands still until it is told; `step` microseconds pass with each look at it."""

    def __init__(self, start: int = START, *, step: int = 0) -> None:
        self._now, self._step = start, step

    def now(self) -> int:
        self._now += self._step
        return self._now

    def tick(self, by: int = 1_000_000) -> None:
        """Let microseconds pass, or turn the clock back."""
        self._now += by


class SeededEntropy:
    """Random bytes that are the same for the same seed."""

    def __init__(self, seed: int | str = 0) -> None:
        self._random = random.Random(seed)

    def bytes(self, n: int) -> bytes:
        return self._random.randbytes(n)


NAMES: Final = (
    "ada",
    "Ada",
    "ADA",
    "ad",
    "ada ",
    " ada",
    "ada%",
    "ad_",
    "ad*",
    "a?a",
    "[a]da",
    "аda",  # a Cyrillic first letter
    "ａｄａ",
    "ada\u200b",
    "\u202eada",
    "e\u0301mile",
    "\u00e9mile",
    "straße",
    "STRASSE",
    "ı",
    "i",
    "İ",
    "عائشة",
    "小明",
    "👩‍💻",
    "ada'; DROP TABLE version; --",
    'ada" OR "1"="1',
    "ada) UNION SELECT body FROM version --",
    "../ada",
    "ada/../bob",
    "None",
    "null",
    "0",
    "1",
    "SHARED",
    "Shared.SHARED",
    "(erased)",
    "x" * 256,
)
"""Names that only the whole name tells apart: prefixes, cases, homoglyphs, equal forms, patterns, statements."""

TEXTS: Final = (
    ".",
    "0",
    "'",
    '"; DROP TABLE version; --',
    "tabs\tand\nlines\r\nand a bell\a",
    "a\u202eb\u2066c",
    "مرحبا بالعالم",
    "我在里斯本住了三年",
    "これは日本語のテキストです",
    "👩‍👩‍👧‍👦 family 🇵🇹",
    "Аpple with a Cyrillic letter",
    "e\u0301 and \u00e9",
    "ﬁne ligatures ﬀ",
    "\ufeffa byte order mark",
    "{}",
    '{"kind": "fact", "text": "not an item"}',
    "null",
    "\\u0000 written out",
    "%s %d {0} ${HOME} `id`",
    "\U0001f9ff\U000e0041",
    "I moved on 7 May 2023, no: 2023-05-08",
    "long " * 3_000,
    "汉" * 12_000,
    "x" * 64 * 1024,
)
"""Texts that someone will try: quotes, controls, both directions, scripts, look-alikes, JSON, formats, long ones."""

REFUSED: Final = ("", " ", "\n\t", "a\x00b", "lone \ud800 surrogate")
"""Texts that no store can keep as they are."""


def words(seed: int | str = 0) -> Iterator[str]:
    """Words that no text holds by chance, each once."""
    source = random.Random(seed)
    number = 0
    while True:
        number += 1
        yield "".join(source.choice("bcdfghjklmnpqrstvwxz") for _ in range(10)) + str(number)
