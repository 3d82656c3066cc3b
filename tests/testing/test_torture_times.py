"""Copies, merges and going back, killed at every named point: each has happened or it has not."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.testing.torture.times import times

pytestmark = pytest.mark.heavy

OLD = Path(__file__).parent.parent / "golden" / "format-2.db"


def test_a_kill_leaves_what_was_before_or_what_comes_after() -> None:
    report = times(runs=1, old=OLD)
    assert report.passed, report.problems
    assert all(count for name, count in report.figures.items() if "named points" in name)
