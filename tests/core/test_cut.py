from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.mask import mask
from mnemic.core.tokens import count_tokens, cut

_PATHOLOGICAL = [
    "!",
    "!)",
    "! ",
    ".",
    "'",
    "\n",
    " \n",
    "\r\n\r",
    "。”",
    "a",
    "1,",
    "4 ",
    "eyJ",
    "eyJaaaaaaaaaa-",
    "eyJaaaaaaaaaa.",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN A A ",
    "sk-aaaaaaaaaaaaaaaaaaa ",
]


@given(st.text(alphabet="ab .!?;\"')]\n\t。”é😀", max_size=200), st.integers(1, 20))
def test_the_pieces_of_a_text_are_the_text_and_within_the_limit(text: str, limit: int) -> None:
    pieces = cut(text, limit)
    assert "".join(pieces) == text
    assert all(count_tokens(piece) <= limit or len(piece.strip()) <= 12 for piece in pieces)


def test_a_text_that_begins_with_much_space_is_cut() -> None:
    assert "".join(cut(" " * 30 + "one two three", 2)) == " " * 30 + "one two three"


@pytest.mark.parametrize("unit", _PATHOLOGICAL)
@pytest.mark.parametrize("work", [lambda text: cut(text, 400), mask], ids=["cut", "mask"])
def test_no_text_costs_the_square_of_its_length(work: Callable[[str], object], unit: str) -> None:
    short, long = (_seconds(work, unit * (size // len(unit))) for size in (25_000, 200_000))
    assert long < 16 * short + 0.2


def _seconds(work: Callable[[str], object], text: str) -> float:
    started = time.thread_time()
    work(text)
    return time.thread_time() - started
