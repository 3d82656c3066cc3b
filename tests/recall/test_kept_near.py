"""What bears most stays among the first three candidates, and what all arms found best among the first five."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mnemic.recall.currency import AMONG_FIVE, AMONG_THREE, kept_near

ORDERS = st.integers(1, 24).flatmap(
    lambda count: st.tuples(
        st.permutations(range(count)),
        st.lists(st.floats(-9, 9, width=32), min_size=count, max_size=count),
        st.lists(st.booleans(), min_size=count, max_size=count),
    )
)


def kept(order: list[int], bearing: list[float], off: list[bool]) -> list[int]:
    now = kept_near(np.array(order, np.intp), np.array(bearing, np.float32), np.array(off, np.bool_))
    return [int(at) for at in now]


def test_what_all_arms_found_best_is_among_the_first_five_and_pushed_out_by_none_that_they_found_next() -> None:
    order = [7, 6, 5, 4, 3, 2, 1, 0]
    assert kept(order, [0.0] * 7 + [1.0], [False] * 8) == [7, 6, 5, 4, 0, 3, 2, 1]


def test_what_bears_most_stays_third_before_it() -> None:
    order = [7, 6, 5, 4, 3, 2, 1, 0]
    assert kept(order, [0.0] * 3 + [1.0] + [0.0] * 4, [False] * 8) == [7, 6, 3, 5, 0, 4, 2, 1]


@given(ORDERS)
def test_whatever_the_order_the_first_stays_and_each_is_as_near_as_it_must_be(
    drawn: tuple[list[int], list[float], list[bool]],
) -> None:
    order, bearing, off = drawn
    now = kept(order, bearing, off)
    most = int(np.argmax(np.array(bearing, np.float32)))
    best = set() if off[0] else {0}
    assert sorted(now) == sorted(order)
    assert now[0] == order[0]
    assert most in now[:AMONG_THREE]
    assert best <= set(now[:AMONG_FIVE])
    others = [at for at in order if at not in best | {most}]
    assert [at for at in now if at in others] == others
