"""Whom a text speaks of first, by its tokens: "my sister" is not whoever speaks, and 我妹 is not 我."""

from __future__ import annotations

import numpy as np
import pytest

from mnemic.core.tokens import terms
from mnemic.recall.sentence_cues import Spoken, spoken_of


def _first(text: str) -> Spoken:
    tokens = np.frombuffer(terms(text), np.uint64)
    (row,) = spoken_of(tokens, np.zeros(len(tokens), np.intp), 1)
    return Spoken(int(np.argmax(row[: Spoken.SELF])))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("I live in Hull.", Spoken.FIRST_SELF),
        ("My brother just moved to Hull, I stay.", Spoken.FIRST_KIN),
        ("My locker is number 12.", Spoken.FIRST_MINE),
        ("She moved to Tacoma last month.", Spoken.FIRST_OTHER),
        ("Boxes everywhere.", Spoken.NOBODY),
        ("我住在长春", Spoken.FIRST_SELF),
        ("我妹去年搬到珠海了", Spoken.FIRST_KIN),
        ("我老婆对芒果过敏", Spoken.FIRST_KIN),
        ("他现在在昆明", Spoken.FIRST_OTHER),
        ("我跟她说我在中壢修電梯", Spoken.FIRST_SELF),
    ],
)
def test_whom_a_text_names_first(text: str, first: Spoken) -> None:
    assert _first(text) is first


def test_texts_of_several_rows_are_told_apart() -> None:
    streams = [np.frombuffer(terms(text), np.uint64) for text in ("so my", "sister left", "")]
    rows = np.repeat(np.arange(3), [len(stream) for stream in streams])
    found = spoken_of(np.concatenate(streams), rows, 3)
    assert found[:, : Spoken.SELF].argmax(axis=1).tolist() == [Spoken.FIRST_MINE, Spoken.FIRST_KIN, Spoken.NOBODY]
