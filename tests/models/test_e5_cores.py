"""Work on one core each, and the other cores given back."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from mnemic.models.e5.cores import at_once, hands
from patience import PATIENCE


def blas_threads() -> list[int]:
    threadpoolctl = pytest.importorskip("threadpoolctl")
    assert np.ones((2, 2)) @ np.ones(2) is not None  # a BLAS is loaded
    return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]


def test_shares_come_back_in_their_order() -> None:
    assert at_once(lambda n: n * n, [3, 1, 2]) == [9, 1, 4]
    assert at_once(len, ["alone"]) == [5]
    assert at_once(len, []) == []


def test_there_is_a_core_to_use() -> None:
    assert 1 <= hands() <= 4


def test_products_keep_to_one_thread_inside_and_to_what_they_had_after() -> None:
    before = blas_threads()
    assert at_once(lambda _: blas_threads(), [0]) == [[1] * len(before)]
    assert blas_threads() == before


def test_who_leaves_first_does_not_free_the_threads_of_who_stays() -> None:
    before, entered, left = blas_threads(), threading.Event(), threading.Event()
    seen: list[list[int]] = []

    def stays(_: int) -> None:
        entered.set()
        assert left.wait(PATIENCE)
        seen.append(blas_threads())

    staying = threading.Thread(target=at_once, args=(stays, [0]))
    staying.start()
    assert entered.wait(PATIENCE)
    at_once(len, ["in and out"])
    left.set()
    staying.join(PATIENCE)
    assert seen == [[1] * len(before)]
    assert blas_threads() == before


def test_an_error_gives_the_threads_back() -> None:
    before = blas_threads()
    with pytest.raises(ZeroDivisionError):
        at_once(lambda n: 1 // n, [1, 0])
    assert blas_threads() == before
