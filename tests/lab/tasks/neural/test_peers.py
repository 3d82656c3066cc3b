"""Packages of others: environments that cannot be made, runs that come to nothing, and what a run reads and prints."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")
pytest.importorskip("gguf", reason="needs mnemic[neural]")

from mnemic.lab.kit.foreign_environment import PeerFailed
from mnemic.lab.tasks.neural import peers_experiment
from mnemic.lab.tasks.neural.experiment import BY_NAME, EXPERIMENTS
from mnemic.lab.tasks.neural.mechanism_bench import _checked
from mnemic.lab.tasks.neural.peer_runs import PeerResult, PeerRun, measured
from mnemic.lab.tasks.neural.peers_experiment import PEERS, started

PYTHON = Path(sys.executable)


def run(folder: Path, task: str = "titans") -> PeerRun:
    return PeerRun(task=task, peer=False, seed=0, steps=1, folder=str(folder))


def test_others_are_run_only_when_they_are_named() -> None:
    assert "peers" in BY_NAME
    assert "peers" not in _checked((), quick=False)
    assert set(_checked((), quick=False)) == EXPERIMENTS.keys() - BY_NAME
    assert _checked(("peers",), quick=True) == ("peers",)


def test_every_package_is_asked_for_in_one_version_and_lies_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*given: object, **options: object) -> None:
        homes.append(given[0])
        raise OSError("no room")

    homes: list[object] = []
    monkeypatch.setattr("venv.create", refused)
    for peer in PEERS:
        assert all("==" in requirement for requirement in peer.requirements)
        with pytest.raises(PeerFailed, match="cannot be made: no room"):
            peer.environment.make(tmp_path)
    assert len(set(homes)) == len(PEERS)
    assert homes == [environment_of for environment_of in homes if Path(str(environment_of)).parent == tmp_path]


def test_a_run_that_comes_to_nothing_says_why_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers_experiment, "_START", "raise ImportError('no module named faiss')")
    with pytest.raises(PeerFailed, match="it did not run: ImportError: no module named faiss"):
        started(PYTHON, run(tmp_path))
    monkeypatch.setattr(peers_experiment, "_START", "print('nothing to see')")
    with pytest.raises(PeerFailed, match="it did not run"):
        started(PYTHON, run(tmp_path))


def test_a_result_is_the_last_line_whatever_a_package_prints_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = """
import json, sys
given = json.load(sys.stdin)
print("hello")
print(json.dumps({"quality": 0.5, "step": 2.0, "weights": given["steps"]}))
"""
    monkeypatch.setattr(peers_experiment, "_START", said)
    assert started(PYTHON, run(tmp_path)) == PeerResult(0.5, 2.0, 1)


@pytest.mark.parametrize("task", ["titans", "infini"])
def test_ours_is_trained_in_the_same_outer_model(tmp_path: Path, task: str) -> None:
    first, again = (measured(run(tmp_path, task)) for _ in range(2))
    assert first.quality == again.quality
    assert 0 <= first.quality < 0.3
    assert first.step > 0
    assert first.weights > 4 * 64 * 64 - 1
