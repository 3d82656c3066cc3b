"""The comparison of vector indexes measures what it says; peers that are not installed are named, not passed over."""

from __future__ import annotations

import io
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mnemic.lab.tasks.vectors import vector_bench
from mnemic.lab.tasks.vectors.vector_bench import bench_vectors, main, show, table
from mnemic.lab.tasks.vectors.vector_data import multiplied, synthetic
from mnemic.lab.tasks.vectors.vector_peers import PEERS, Ours


@pytest.fixture
def ours_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which no peer is installed."""
    monkeypatch.setattr(vector_bench, "find_spec", lambda name: None)


def test_made_vectors_crowd_as_an_embedders_do() -> None:
    cloud = synthetic(4_000, 200)
    cosines = cloud.vectors[:500] @ cloud.vectors.T
    asked = cloud.questions @ cloud.vectors.T
    assert np.linalg.norm(cloud.vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert float(cosines.mean()) == pytest.approx(0.81, abs=0.02)
    assert float(asked.mean()) == pytest.approx(0.75, abs=0.02)
    assert float(np.median(asked.max(axis=1))) == pytest.approx(0.87, abs=0.02)
    assert np.bincount(cloud.groups).tolist() == [40, 360, 3_600]


def test_an_embedders_vectors_are_multiplied(tmp_path: Path) -> None:
    few = synthetic(300, 20)
    np.savez(tmp_path / "some.npz", P=few.vectors, Q=few.questions)
    assert len(multiplied([tmp_path / "some.npz"], 100, 10).vectors) == 100
    cloud = multiplied([tmp_path / "some.npz"], 900, 10)
    assert (cloud.vectors.shape, cloud.questions.shape) == ((900, 384), (10, 384))
    assert np.linalg.norm(cloud.vectors, axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.usefixtures("ours_alone")
def test_a_run_without_peers_says_which_are_missing() -> None:
    parts: list[str] = []
    run = bench_vectors(iter([synthetic(400, 30)]), parts.append)
    (one,) = run.measurements
    assert (one.name, one.rows) == ("mnemic", 400)
    assert one.all.recall > 0.98
    assert {name: point.recall > 0.98 for name, point in one.filtered.items()} == {"10 %": True, "1 %": True}
    assert run.missing == tuple(make().name for make in PEERS if make is not Ours)
    shown, machine = io.StringIO(), io.StringIO()
    show(run, shown)
    show(run, machine, as_json=True)
    assert shown.getvalue().count("not installed") == len(run.missing)
    assert json.loads(machine.getvalue())["measurements"][0]["name"] == "mnemic"
    assert len({len(row) for row in (table(run, 400).columns, *table(run, 400).rows)}) == 1


@pytest.mark.parametrize("make", PEERS, ids=lambda make: make.__name__)
def test_each_system_finds_what_is_nearest_and_what_is_added(make: type[Ours]) -> None:
    peer = make()
    if peer.package and find_spec(peer.package) is None:
        pytest.skip(f"{peer.package} is not installed")
    cloud = synthetic(500, 5)
    peer.build(cloud.vectors, cloud.groups)
    for width in peer.widths[-1:]:
        peer.widen(width)
    assert peer.search(cloud.vectors[3], 5)[0] == 3
    few = peer.among(1)(cloud.vectors[3], 5)
    assert (cloud.groups[few] <= 1).all()
    if peer.adds:
        peer.add(cloud.questions[0])
        assert peer.search(cloud.questions[0], 1).tolist() == [500]


def test_the_command_says_what_it_takes() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    assert "--vectors" in result.output
