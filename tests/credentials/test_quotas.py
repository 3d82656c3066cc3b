"""Quotas: no stretch of time gives a key more than its bucket and what came back meanwhile."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.credentials import quotas as module
from mnemic.credentials.principal import Principal, Right
from mnemic.credentials.quotas import DAY, MINUTE, Quotas
from mnemic.errors import Invalid, OverQuota

ADA = Principal(name="laptop", tenant="home", user="ada", right=Right.WRITE, key="a")
BOB = Principal(name="laptop", tenant="home", user="bob", right=Right.WRITE, key="b")


def test_a_key_that_has_asked_its_fill_is_told_when_to_come_back(seconds: Any) -> None:
    quotas = Quotas(requests_a_minute=3, seconds=seconds)
    for _ in range(3):
        quotas.charge(ADA, writes=False)
    with pytest.raises(OverQuota, match="3 requests a minute") as told:
        quotas.charge(ADA, writes=False)
    assert told.value.retry_after == pytest.approx(MINUTE / 3)
    quotas.charge(BOB, writes=False)
    seconds.now += told.value.retry_after + 1e-6
    quotas.charge(ADA, writes=False)


def test_a_refused_write_costs_no_request_and_a_read_no_write(seconds: Any) -> None:
    quotas = Quotas(requests_a_minute=2, writes_a_day=1, seconds=seconds)
    quotas.charge(ADA, writes=True)
    for _ in range(5):
        with pytest.raises(OverQuota, match="1 writes a day") as told:
            quotas.charge(ADA, writes=True)
        assert told.value.retry_after == pytest.approx(DAY)
    quotas.charge(ADA, writes=False)
    with pytest.raises(OverQuota, match="2 requests a minute"):
        quotas.charge(ADA, writes=False)


@given(st.integers(1, 20), st.lists(st.floats(0, 30), max_size=60))
def test_no_stretch_of_time_gives_more_than_the_bucket_and_what_came_back(limit: int, pauses: list[float]) -> None:
    now = [0.0]
    quotas = Quotas(requests_a_minute=limit, seconds=lambda: now[0])
    taken: list[float] = []
    for pause in pauses:
        now[0] += pause
        with suppress(OverQuota):
            quotas.charge(ADA, writes=False)
            taken.append(now[0])
    for first in range(len(taken)):
        for last in range(first, len(taken)):
            assert last - first + 1 <= limit + (taken[last] - taken[first]) * limit / MINUTE + 1e-6


@given(st.integers(1, 1_000), st.integers(1, 1_000), st.floats(0, 1e5))
def test_who_waits_as_long_as_told_is_let_in(limit: int, asked: int, pause: float) -> None:
    now = [pause]
    quotas = Quotas(requests_a_minute=limit, seconds=lambda: now[0])
    for _ in range(min(asked, 50)):
        try:
            quotas.charge(ADA, writes=False)
        except OverQuota as told:
            now[0] += told.retry_after * (1 + 1e-9) + 1e-6
            quotas.charge(ADA, writes=False)


def test_no_limit_is_no_limit_and_no_number_below_it_is_taken() -> None:
    quotas = Quotas()
    for _ in range(10_000):
        quotas.charge(ADA, writes=True)
    with pytest.raises(Invalid, match="writes_a_day"):
        Quotas(writes_a_day=-1)


def test_counts_of_keys_that_rest_are_let_go(seconds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 10)
    quotas = Quotas(requests_a_minute=1, seconds=seconds)
    for n in range(9):
        quotas.charge(Principal(name=str(n), tenant="home", user=None, right=Right.READ), writes=False)
    seconds.now += MINUTE
    for principal in (ADA, BOB):
        quotas.charge(principal, writes=False)
    assert len(quotas._buckets) == 2
    with pytest.raises(OverQuota):
        quotas.charge(ADA, writes=False)
