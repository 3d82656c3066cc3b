"""The bench of what engines keep: its controls are caught, and its parts find nothing where all is well."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic.lab.tasks.kv import artefact_cuts
from mnemic.lab.tasks.kv.artefact_cuts import cut_power
from mnemic.lab.tasks.kv.damage import changed_bytes, measure_damage
from mnemic.models.chat import gguf
from mnemic.models.chat.gguf import ENGINE, SMOLLM2_PACKAGE

ABSENT = importlib.util.find_spec(ENGINE) is None or not any(importlib.metadata.distributions(name=SMOLLM2_PACKAGE))


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """The bench sets the threads of every engine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gguf, "THREADS", gguf.THREADS)
        yield


@pytest.mark.heavy
def test_power_cuts_harm_nothing_and_a_name_before_its_sync_is_caught(tmp_path: Path) -> None:
    cuts = cut_power(tmp_path, 8, 3, sound=True, acts=("save", "erase"))
    assert (sum(cuts.cut.values()), cuts.wrong) == (8, [])
    late = cut_power(tmp_path, 24, 3, sound=False, acts=("save", "erase"))
    assert all(late.faults().values())


@pytest.mark.heavy
def test_a_power_cut_amid_learning_is_gone_on_with_and_one_before_its_sync_is_caught(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")
    (tmp_path / "late").mkdir()
    cuts = cut_power(tmp_path, 10, 3, sound=True, acts=("learn",))
    assert (cuts.cut, cuts.wrong) == ({"learn": 10}, [])
    assert cut_power(tmp_path / "late", 12, 3, sound=False, acts=("learn",)).faults()["learn"]


@pytest.mark.heavy
def test_a_cut_that_tried_nothing_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object, **named: object) -> None:
        raise OSError("it never came to its point")

    monkeypatch.setattr(artefact_cuts, "_life", fail)
    with pytest.raises(ChildProcessError):
        cut_power(tmp_path, 2, 3, sound=True, acts=("save",))


def test_every_change_is_one() -> None:
    whole = bytes(range(256)) * 40
    changes = [changed_bytes(whole, random.Random(seed)) for seed in range(60)]
    assert sum(changed != whole for changed in changes) >= 58  # a swap at the first byte may be none
    assert any(len(changed) < len(whole) for changed in changes)
    assert any(len(changed) > len(whole) for changed in changes)


@pytest.mark.heavy
@pytest.mark.model
@pytest.mark.skipif(ABSENT, reason="xllamacpp or the weights are not installed")
def test_changed_artefacts_reach_no_engine_and_kill_one_that_is_not_warned(tmp_path: Path) -> None:
    safe, control = measure_damage(tmp_path, 16, 5)
    assert safe.met
    assert control.met
    assert "believed" in control.detail
