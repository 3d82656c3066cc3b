"""The laws that strategies rank by are monotone, and defined where nothing differs."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from mnemic.strategies.laws import EQUAL, min_max, recency

HOURS = st.floats(min_value=-1e6, max_value=1e6)
VALUES = st.lists(st.floats(min_value=-1e9, max_value=1e9), max_size=20)


@given(HOURS, HOURS)
def test_what_was_used_later_is_never_less_recent(hours: float, more: float) -> None:
    sooner, later = sorted((hours, more))
    assert 0 <= recency(later) <= recency(sooner) <= 1


def test_an_hour_leaves_what_the_paper_says() -> None:
    assert recency(0) == recency(-5) == 1
    assert math.isclose(recency(1), 0.995)
    assert math.isclose(recency(24), 0.995**24)


@given(VALUES)
def test_scaling_keeps_the_order_and_lies_between_0_and_1(values: list[float]) -> None:
    scaled = min_max(values)
    assert len(scaled) == len(values)
    assert all(0 <= one <= 1 for one in scaled)
    for one, part in zip(values, scaled, strict=True):
        assert all(part <= other for more, other in zip(values, scaled, strict=True) if more >= one)


@given(st.floats(min_value=-1e9, max_value=1e9), st.integers(1, 5))
def test_what_does_not_differ_is_all_the_same(value: float, count: int) -> None:
    assert min_max([value] * count) == [EQUAL] * count
    assert min_max([]) == []


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=9), st.integers(1, 7))
def test_scaling_does_not_hang_on_the_unit(values: list[int], factor: int) -> None:
    assert min_max(values) == min_max([factor * value for value in values])
