"""The expected calibration error, and its bins, on answers counted by hand."""

from __future__ import annotations

import math

import pytest

from mnemic.lab.kit.calibration import error_estimate, expected_error, reliability


def test_the_error_of_a_few_answers_is_what_is_counted_by_hand() -> None:
    sure, right = [0.95, 0.95, 0.55, 1.0], [True, False, True, True]
    last, middle = reliability(sure, right)[9], reliability(sure, right)[5]
    assert (last.n, last.right) == (3, pytest.approx(2 / 3))
    assert last.confidence == pytest.approx(2.9 / 3)
    assert (middle.n, middle.right, middle.confidence) == (1, 1.0, 0.55)
    assert expected_error(sure, right) == pytest.approx((abs(2.9 - 2) + abs(0.55 - 1)) / 4)


def test_who_is_right_as_often_as_sure_has_no_error_and_who_never_is_has_all_of_it() -> None:
    assert expected_error([0.75] * 4, [True, True, True, False]) == 0
    assert expected_error([1.0, 1.0], [False, False]) == 1


def test_the_interval_holds_the_error_and_nothing_has_none() -> None:
    found = error_estimate([0.9] * 50, [True] * 40 + [False] * 10, 0)
    assert found.low <= found.mean <= found.high
    assert found.mean == pytest.approx(0.1)
    assert math.isnan(error_estimate([], [], 0).mean)
    assert math.isnan(expected_error([], []))
