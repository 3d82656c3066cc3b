"""A LoCoMo file of our own: two people, three sessions, five questions scored by hand and one without evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.lab.kit.datasets import Dataset, load


@pytest.fixture
def locomo_file() -> Path:
    return Path(__file__).with_name("two_people.json")


@pytest.fixture
def pair(locomo_file: Path) -> Dataset:
    return load(locomo_file)
