from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.mask import mask
from mnemic.core.tokens import BYTES_A_TOKEN, count_tokens, cut

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
    "sk-",
    "-----END PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n",
    "MIIEvQIBADANBgkqhkiG9w0B\n-----END PRIVATE KEY-----",
    "api_key=",
    "password",
    "password is ",
    "PASSWORD=x",
    "Bearer ",
    "Cookie: a=b; ",
    "https://a:",
    "a://",
    "?key=",
    "4111 ",
    "4111-1111-",
    "AKIA",
    "M.",
    "1/",
    "密码是",
]


@given(st.text(alphabet="ab .!?;\"')]\n\t。”é😀", max_size=200), st.integers(1, 20))
def test_the_pieces_of_a_text_are_the_text_and_within_the_limit(text: str, limit: int) -> None:
    pieces = cut(text, limit)
    assert "".join(pieces) == text
    assert all(count_tokens(piece) <= limit or len(piece.strip()) <= 12 for piece in pieces)


def test_a_text_that_begins_with_much_space_is_cut() -> None:
    assert "".join(cut(" " * 30 + "one two three", 2)) == " " * 30 + "one two three"


_BLANKS = " \t\n\r\v\f\x1c\x85\xa0\u1680\u2003\u2028\u202f\u3000"


@given(st.text(alphabet=st.sampled_from(_BLANKS + "ab.你😀\u200b")), st.integers(1, 2_000))
def test_no_text_has_more_bytes_than_its_tokens_stand_for(text: str, times: int) -> None:
    assert len((text * times).encode()) <= BYTES_A_TOKEN * count_tokens(text * times)


@pytest.mark.parametrize("blank", _BLANKS)
def test_thirty_thousand_blanks_count(blank: str) -> None:
    assert count_tokens("a" + blank * 30_000) >= 30_000 // BYTES_A_TOKEN
    assert count_tokens("a b\tc\nd") == 5  # single ones are free, and a line end counts as before


@given(st.text(alphabet=st.sampled_from(_BLANKS + "ab.你")), st.integers(1, 2_000), st.integers(16, 400))
def test_no_piece_has_more_bytes_than_its_limit_stands_for(text: str, times: int, limit: int) -> None:
    pieces = cut(text * times, limit, 8)
    assert "".join(pieces) == text * times
    assert all(len(piece.encode()) <= 8 * limit for piece in pieces)


@pytest.mark.parametrize("unit", _PATHOLOGICAL)
@pytest.mark.parametrize("work", [lambda text: cut(text, 400), mask], ids=["cut", "mask"])
def test_no_text_costs_the_square_of_its_length(work: Callable[[str], object], unit: str) -> None:
    short, long = (unit * (size // len(unit)) for size in (10_000, 80_000))
    most = 16 * min(_seconds(work, short) for _ in range(3)) + 0.1
    goes = (_seconds(work, long) for _ in range(3))  # a collection of all that other tests left may fall into one
    assert any(seconds < most for seconds in goes)


def _seconds(work: Callable[[str], object], text: str) -> float:
    """The processor time of one go."""
    started = time.thread_time()
    work(text)
    return time.thread_time() - started
