"""Random histories of every verb leave PostgreSQL and SQLite with the same, row by row and rank by rank."""

from __future__ import annotations

import pytest

from mnemic.testing.histories.acts import acts
from mnemic.testing.histories.history import History

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("seed", range(2))
def test_a_history_leaves_both_stores_as_the_model_says(seed: int, postgres_database: str) -> None:
    figures = History(f"server {seed}", ("sqlite", postgres_database)).run(acts(f"server {seed}", 120))
    assert figures.acts.total() == 120
    assert figures.commits
