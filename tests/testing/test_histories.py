"""Random histories of every verb leave both stores as the plain model says; the long run is a command of its own.

`python -m mnemic.testing.histories --histories 200 --operations 500 --seed 0` is the long one.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mnemic.core.items import Kind, State
from mnemic.testing.histories import __main__ as command
from mnemic.testing.histories.acts import WEIGHTS, Act, acts, shrunk
from mnemic.testing.histories.history import History
from mnemic.testing.histories.history_world import STORES
from mnemic.testing.model import Model, ModelVersion
from mnemic.testing.model_time import TimeModel

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("seed", range(3))
def test_a_history_leaves_both_stores_as_the_model_says(seed: int) -> None:
    figures = History(seed).run(acts(seed, 120))
    assert figures.acts.total() == 120
    assert figures.commits


@pytest.mark.parametrize("seed", range(2))
def test_a_history_is_carried_beside_another_tenant_again_and_again(seed: int) -> None:
    given = acts(f"carried {seed}", 160)
    carried = [Act("carry", act.picks) if n % 8 == 7 else act for n, act in enumerate(given)]
    assert History(f"carried {seed}").run(carried).acts["carry"] >= 20


def test_every_act_comes_up() -> None:
    assert {act.name for act in acts(0, 2_000)} == set(WEIGHTS)
    assert acts(3, 20) == acts(3, 20) != acts(4, 20)


def test_a_store_that_does_something_else_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TimeModel, "merge", lambda self, user, name, prefer, now: (set(), 0, set(), None))
    assert any(command._failure(seed, acts(seed, 200), STORES) for seed in range(6))


@pytest.mark.parametrize("weakened", ["_before", "expired"])
def test_a_store_that_lets_time_run_out_otherwise_is_found(monkeypatch: pytest.MonkeyPatch, weakened: str) -> None:
    """A model whose undo brings back an end that had come, and one for which nothing ever expires."""
    if weakened == "expired":
        monkeypatch.setattr(ModelVersion, "expired", lambda self, now: False)
    else:
        monkeypatch.setattr(
            Model,
            "_before",
            lambda self, versions, place: versions[place - 1].says if place else replace(
                versions[-1].says, state=State.RETIRED, unwritten=True
            ),
        )  # fmt: skip
    lived = ("write", "write", "time_passes", "time_passes", "retire", "undo")
    given = [Act(lived[n % len(lived)], act.picks) for n, act in enumerate(acts("ends", 240))]
    assert command._failure(0, given, STORES)


def test_the_lane_of_expiry_retires_in_histories() -> None:
    assert sum(History(seed).run(acts(seed, 200)).retired for seed in range(2)) > 5


def test_the_model_forgets_the_merges_of_a_branch_that_was_dropped() -> None:
    model, now = TimeModel(), datetime(2026, 1, 1, tzinfo=UTC)
    says = ModelVersion(text="Home is Rome", kind=Kind.FACT, said=now)
    first = model.add("ada", {"home": says}, now)
    model.branch("ada", "try", now)
    model.revise("ada/try", "home", "Home is Oslo", now)
    model.merge("ada", "try", "", now)
    model.drop("ada", "try", now)
    model.branch("ada", "try", now, first)
    model.forget("ada/try", ["home"], now)
    assert model.merge("ada", "try", "", now)[2] == {"home"}


def test_what_fails_is_made_shorter() -> None:
    given = [Act(name, (number,)) for number, name in enumerate("abcdefghij")]
    short = shrunk(given, lambda some: {"c", "h"} <= {act.name for act in some}, 200)
    assert [act.name for act in short] == ["c", "h"]


def test_the_command_says_the_seed_and_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--histories", "1", "--operations", "30", "--seed", "7"]) == 0
    told = capsys.readouterr().out
    assert "seed 7" in told
    assert "30 acts" in told
