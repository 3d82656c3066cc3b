"""A little of the torture of workers: killed while they derive, they derive everything, and nothing twice."""

from __future__ import annotations

import pytest

from mnemic.testing.torture.workers import workers

pytestmark = pytest.mark.heavy


def test_killed_workers_lose_nothing_and_do_nothing_twice() -> None:
    report = workers(6, 5)
    assert report.problems == []
    assert int(report.figures["workers killed"]) >= 6
