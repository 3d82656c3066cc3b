"""The cold run measures what it says, at any size; no test here asserts how fast the machine is."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.lab.tasks import cold_bench
from mnemic.lab.tasks.cold_bench import ColdSize, bench_cold, read_once

pytestmark = pytest.mark.heavy


def test_a_small_run_gives_every_figure_with_its_bar(tmp_path: Path) -> None:
    parts: list[str] = []
    found = bench_cold(ColdSize(items=5_000, rounds=1), parts.append, folder=tmp_path)
    assert parts == ["5,000 items", "5,000 items with vectors", "500 items", "500 items with vectors"]
    assert [figure.bar for figure in found.figures] == [0.15, 300, 0.9, 0.3, None, 0.02, None]
    assert all(figure.value > 0 for figure in found.figures)
    assert list(tmp_path.iterdir()) == []


def test_what_is_timed_begins_with_packs_or_does_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.db"
    assert cold_bench._filled(path, 5_000, 0) > 0
    asked: list[int] = []
    monkeypatch.setattr("mnemic.index.catalogue.sound_body", lambda row, body: asked.append(row.rows))
    assert read_once(path, 0) > 0
    assert asked == []
    assert read_once(path, 4_096) > 0
    assert asked == [4_096]
