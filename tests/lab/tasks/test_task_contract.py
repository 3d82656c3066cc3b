"""Every task keeps the contract of tasks, on a sample of its data; and a scorer that is wrong does not.

A task that is new is added to `SAMPLES`, or has a file of its own beside this one whose name begins alike.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from mnemic.lab.entries import TASKS
from mnemic.lab.entries import task as named_task
from mnemic.lab.kit.datasets import Dataset
from mnemic.lab.kit.metrics import METRICS, Outcome, recall
from mnemic.lab.kit.task import BenchTask
from mnemic.lab.tasks import asked_task
from mnemic.lab.tasks.current.current_cases import CurrentPlan
from mnemic.lab.tasks.current_task import CurrentTask
from mnemic.lab.tasks.everyday_task import EverydayTask
from mnemic.lab.tasks.locomo_task import LOCOMO
from mnemic.lab.tasks.small.everyday_cases import EverydayPart
from mnemic.lab.tasks.small_task import SmallTask
from mnemic.lab.tasks.standing_task import StandingTask
from mnemic.testing import task_contract
from mnemic.testing.task_contract import *  # noqa: F403


def _unified(path: Path) -> Path:
    """Three passages with titles, and a question that needs two of them."""
    titles = ("Hollow Reed", "Petra Lind", "Barges")
    records: list[dict[str, Any]] = [
        {"type": "doc", "ns": "x", "id": f"p{n}", "session": title, "pos": 0, "ts": "", "speaker": title,
         "text": f"A passage about {title}."}
        for n, title in enumerate(titles)
    ]  # fmt: skip
    records += [
        {"type": "query", "ns": "x", "id": "q0", "text": "Who directed Hollow Reed?", "category": "two",
         "gold": ["p0", "p1"], "gold_sessions": []},
        {"type": "query", "ns": "x", "id": "q1", "text": "Who was it?", "category": "one", "gold": [],
         "gold_sessions": []},
    ]  # fmt: skip
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))
    return path


def _passages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return _unified(tmp_path / "set.jsonl.gz")


def _locomo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return Path(__file__).parent.with_name("two_people.json")


def _asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    _unified(tmp_path / "gvd_zh.jsonl.gz")
    rows = [{"id": "a", "data": "gvd_zh", "ns": "x", "style": "plain", "text": "什么？", "gold": ["p2"]}]
    monkeypatch.setattr(asked_task, "_rows", lambda: rows)
    return tmp_path


def _its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a task makes itself is read from nowhere."""
    return tmp_path


SAMPLES: Final[Mapping[str, Callable[[Path, pytest.MonkeyPatch], Path]]] = {
    "asked": _asked,
    "locomo": _locomo,
    "multihop": _passages,
    "multihop-untitled": _passages,
    "hotpotqa": _passages,
    "2wiki": _passages,
    "musique": _passages,
    "current": _its_own,
    "everyday": _its_own,
    "small": _its_own,
    "standing": _its_own,
}
FEW: Final[Mapping[str, BenchTask]] = {
    "current": CurrentTask(plan=CurrentPlan(limit=4)),
    "everyday": EverydayTask(part=EverydayPart.PAIR),
    "small": SmallTask(each=2),
    "standing": StandingTask(limit=4),
}
"""Tasks that make more than is looked at here."""


@pytest.fixture(params=SAMPLES)
def task(request: pytest.FixtureRequest) -> BenchTask:
    return FEW.get(request.param) or named_task(request.param)


@pytest.fixture
def data(task: BenchTask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return SAMPLES[task.name](tmp_path, monkeypatch)


def test_no_task_goes_without_the_contract() -> None:
    others = "".join(file.read_text("utf-8") for file in Path(__file__).parent.glob("test_task_contract_*.py"))
    assert [name for name in TASKS if name not in SAMPLES and f'"{name}"' not in others] == []


def _generous(outcome: Outcome) -> float:
    """Counts a question without a ranking as found."""
    return recall(outcome.gold, outcome.ranked, 10) if outcome.ranked else 1.0


def _upside_down(outcome: Outcome) -> float:
    return recall(outcome.gold, outcome.ranked[::-1], 1)


def _over(outcome: Outcome) -> float:
    return len(set(outcome.gold) & set(outcome.ranked))


@pytest.mark.parametrize(
    ("wrong", "caught"),
    [
        (_generous, task_contract.test_nothing_that_was_not_found_scores),
        (_upside_down, task_contract.test_finding_it_later_scores_no_more),
        (_over, task_contract.test_a_metric_is_a_share_of_one_or_none_at_all),
    ],
)
def test_a_scorer_that_is_wrong_is_caught(
    wrong: Callable[[Outcome], float], caught: Callable[[BenchTask, Dataset], None], pair: Dataset
) -> None:
    lying = replace(LOCOMO, metrics={**METRICS, LOCOMO.headline: wrong})
    caught(LOCOMO, pair)
    with pytest.raises(AssertionError):
        caught(lying, pair)
