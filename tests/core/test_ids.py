"""Ids: 128 bits and 26 characters, there and back, ordered as their bytes are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import Invalid
from mnemic.core.ids import SystemEntropy, from_bytes, new_id, prefix_range, suffix_bytes, to_bytes


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


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16), st.integers(1, 26))
def test_an_id_begins_with_characters_just_if_it_lies_in_their_range(raw: bytes, other: bytes, length: int) -> None:
    span = prefix_range(from_bytes(raw)[:length])
    assert span is not None
    assert span[0] <= raw <= span[1]
    assert (span[0] <= other <= span[1]) == from_bytes(other).startswith(from_bytes(raw)[:length])


def test_no_id_begins_with_what_is_more_than_128_bits() -> None:
    assert prefix_range("8") is None


@given(st.binary(min_size=16, max_size=16), st.integers(0, 26))
def test_an_id_ends_in_the_bytes_of_its_last_characters(raw: bytes, length: int) -> None:
    tail = suffix_bytes(from_bytes(raw)[26 - length :])
    assert raw.endswith(tail)
    assert len(tail) == 5 * length // 8
