"""LoCoMo keeps the contract of tasks; and a scorer that is wrong does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic.lab.kit.datasets import Dataset
from mnemic.lab.kit.metrics import METRICS, Outcome, recall
from mnemic.lab.kit.task import BenchTask
from mnemic.lab.tasks.locomo_task import LOCOMO
from mnemic.testing import task_contract
from mnemic.testing.task_contract import *  # noqa: F403


@pytest.fixture
def task() -> BenchTask:
    return LOCOMO


@pytest.fixture
def data(locomo_file: Path) -> Path:
    return locomo_file


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
