"""Every task of a published data set keeps the contract of tasks, on made-up samples in its published form."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.lab import entries
from mnemic.lab.kit.made_samples import write_samples
from mnemic.lab.kit.task import BenchTask
from mnemic.testing.task_contract import *  # noqa: F403

NAMES = (
    "locomo",
    "locomo-audited",
    "longmemeval",
    "longmemeval-m",
    "gvd-en",
    "gvd-zh",
    "dmr",
    "memdaily",
    "beam",
    "mab-retrieval",
    "mab-learning",
    "mab-long-range",
    "mab-conflict",
    "multihop",
    "multihop-untitled",
)


@pytest.fixture(scope="module")
def samples_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    write_samples(folder)
    return folder


@pytest.fixture(params=NAMES)
def task(request: pytest.FixtureRequest) -> BenchTask:
    return entries.task(request.param)


@pytest.fixture
def data(task: BenchTask, samples_folder: Path) -> Path:
    return samples_folder / task.name.removesuffix("-audited").removesuffix("-untitled")
