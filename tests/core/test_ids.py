"""Ids: 128 bits and 26 characters, there and back, ordered as their bytes are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import Invalid
from mnemic.core.ids import SystemEntropy, from_bytes, new_id, to_bytes


@given(st.binary(min_size=16, max_size=16))
def test_bytes_survive_the_way_there_and_back(raw: bytes) -> None:
    assert to_bytes(from_bytes(raw)) == raw


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16))
def test_ids_sort_as_their_bytes_do(a: bytes, b: bytes) -> None:
    assert (from_bytes(a) < from_bytes(b)) == (a < b)


def test_a_later_id_sorts_after_an_earlier_one() -> None:
    entropy = SystemEntropy()
    assert new_id(1_000_000, entropy) < new_id(2_000_000, entropy)


@pytest.mark.parametrize(
    "bad", ["", "z" * 26, "0" * 25, "0" * 27, "O" * 26, "l" + "0" * 25, "0" * 25 + "\n", None, 7, "８" * 26]
)
def test_what_is_no_id_is_refused(bad: object) -> None:
    with pytest.raises(Invalid, match="is not an item id"):
        to_bytes(bad)  # type: ignore[arg-type]
