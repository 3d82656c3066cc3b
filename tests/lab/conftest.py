"""A LoCoMo file of our own: two people, three sessions, five questions scored by hand and one without evidence.

And runs of one task as it is set.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mnemic.lab.kit import log
from mnemic.lab.kit.datasets import Dataset, load
from mnemic.lab.kit.log import LoggedRun
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.task import BenchTask


@pytest.fixture
def locomo_file() -> Path:
    return Path(__file__).with_name("two_people.json")


@pytest.fixture
def pair(locomo_file: Path) -> Dataset:
    return load(locomo_file)


Logged = Callable[..., LoggedRun]
"""Runs a task by its own rows, or by those that are named, in this process, and reads the log."""


@pytest.fixture(scope="session")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Logged:
    def of(task: BenchTask, *rows: str) -> LoggedRun:
        plan = RunPlan(tasks={task.name: Path()}, rows=rows, variants={task.name: task})
        return log.read(run(plan, tmp_path_factory.mktemp("runs") / "a.jsonl"))

    return of
