"""Tables and folders of the laboratory list the same: a task or a contestant is a file and a line."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from mnemic.core.queries import Stage
from mnemic.errors import Invalid
from mnemic.lab.contestants.mnemic_contestant import MnemicContestant
from mnemic.lab.entries import CONTESTANTS, TASKS, contestants, offered, task
from mnemic.lab.kit.baselines import BAR, DENSE
from mnemic.lab.kit.contestant import Means
from mnemic.registry import STRATEGIES


def modules(folder: str, ending: str) -> set[str]:
    root = Path(str(resources.files("mnemic.lab") / folder))
    return {file.stem for file in root.glob(f"*{ending}.py")}


def test_tables_and_folders_list_the_same() -> None:
    assert {place.partition(":")[0].rpartition(".")[2] for place in TASKS.values()} == modules("tasks", "_task")
    named = {place.partition(":")[0].rpartition(".")[2] for place in CONTESTANTS.values()}
    assert named == modules("contestants", "_contestant")


def test_a_task_goes_by_the_name_in_the_table_and_its_rows_are_offered() -> None:
    for name in TASKS:
        assert task(name).name == name
        assert {*task(name).rows, task(name).against} <= set(offered())


def test_everybody_is_offered_by_the_name_of_a_row() -> None:
    names = set(offered())
    assert {"mnemic", BAR, *DENSE, *(f"without {stage}" for stage in Stage)} <= names
    assert set(STRATEGIES) - names == {"house"}  # it has no recall of its own: that of `mnemic` is meant
    assert list(contestants(["without dense+session", "hippo2"])) == ["without dense+session", "hippo2"]


def test_two_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CONTESTANTS, "second", CONTESTANTS["baselines"])
    with pytest.raises(Invalid, match="another's name"):
        offered()


class Outsider(MnemicContestant):
    """A contestant of somebody else's package."""

    def __init__(self, means: Means) -> None:
        super().__init__(means.opened_embedder())


def test_a_contestant_of_ones_own_is_named_by_its_place() -> None:
    place = f"{__name__}:Outsider"
    (make,) = contestants([place]).values()
    made = make(Means())
    made.close()
    assert isinstance(made, Outsider)
    with pytest.raises(Invalid, match="no module"):
        contestants(["nobodys.package:Thing"])["nobodys.package:Thing"](Means())
