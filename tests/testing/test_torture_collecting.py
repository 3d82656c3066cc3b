"""A little of the torture of the collector: killed while others write, it loses nothing and takes nothing held."""

from __future__ import annotations

import pytest

from mnemic.testing.torture.collecting import collecting

pytestmark = pytest.mark.heavy


def test_a_killed_collector_loses_nothing_that_others_write_beside_it() -> None:
    report = collecting(8, 5, writers=1)
    assert report.problems == []
    assert report.figures["collectors killed"] == 8
    assert int(report.figures["at named points"]) >= 1
    assert int(report.figures["acknowledged acts checked"]) > 50
