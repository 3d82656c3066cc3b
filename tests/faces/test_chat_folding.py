"""Text that comes in pieces is folded as if it had come at once."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.faces.chat.folding import BREAK, Fold, folded
from mnemic.faces.cli.output import plain, width

TEXTS = st.text(st.sampled_from("ab  \n\t,我们é\x1b-"), max_size=80)


@pytest.mark.parametrize(
    ("text", "columns", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one two", 20, ["one two"]),
        ("abcdefghij k", 4, ["abcd", "efgh", "ij k"]),
        ("我们在里斯本", 5, ["我们", "在里", "斯本"]),
        ("一 two", 6, ["一 two"]),
        ("one\n\ntwo", 9, ["one", "", "two"]),
        ("", 5, [""]),
    ],
)
def test_lines_break_between_words(text: str, columns: int, lines: list[str]) -> None:
    assert folded(text, columns) == lines


def test_lines_after_the_first_can_hang() -> None:
    assert folded("one two three", 7, hang=2) == ["one two", "  three"]


@pytest.mark.parametrize("text", ["a" * 500, "e\u0301" * 500, " " * 500, "a" * 25 + " " * 500])
def test_no_more_than_a_line_is_held_back(text: str) -> None:
    fold = Fold(10)
    shown = "".join(part for character in text for part in fold.feed(character))
    rest = "".join(fold.end())
    assert width(rest) <= 10
    assert (shown + rest).split(BREAK) == folded(text, 10)


@given(TEXTS, st.integers(2, 12), st.lists(st.integers(0, 80), max_size=6))
def test_pieces_fold_as_the_whole_does(text: str, columns: int, cuts: list[int]) -> None:
    fold = Fold(columns)
    edges = [0, *sorted(cuts), len(text)]
    parts = [part for a, b in itertools.pairwise(edges) for part in fold.feed(text[a:b])]
    assert "".join((*parts, *fold.end())).split(BREAK) == folded(text, columns)


@given(TEXTS, st.integers(2, 12))
def test_no_line_is_too_wide_and_no_word_is_lost(text: str, columns: int) -> None:
    lines = folded(text, columns)
    assert all(width(line) <= columns for line in lines)
    assert "".join("".join(lines).split()) == "".join(plain(text).split())
