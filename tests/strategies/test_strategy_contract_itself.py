"""What the suite that strategies are held to finds wrong with one that has a mistake."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic import Kind, Memory, Settings
from mnemic.core.clock import moment
from mnemic.core.ids import from_bytes
from mnemic.core.items import Item
from mnemic.strategies.base import Given
from mnemic.testing import strategy_contract
from mnemic.testing.generators import START

sys.path.insert(0, str(Path(__file__).parent))
from minding import Reckless
from wordy import Wordy


def given(*texts: str) -> Given:
    items = (
        Item(
            id=from_bytes((n + 1).to_bytes(16, "big")),
            kind=Kind.TURN,
            text=text,
            said=moment(START) + timedelta(hours=n),
        )
        for n, text in enumerate(texts)
    )
    return Given(user="ada", evidence=tuple(items))


def test_a_strategy_whose_order_is_that_of_a_set_is_found_out() -> None:
    turns = given("I moved from Paris to Lisbon in March.", "From now on, answer in French.")
    strategy_contract.test_given_the_same_it_asks_and_edits_the_same(Wordy(), turns, lambda ask: "")
    with pytest.raises(AssertionError):
        strategy_contract.test_the_order_of_sets_changes_nothing(Wordy(), turns, lambda ask: "")


def test_a_recall_whose_order_is_that_of_a_set_is_found_out() -> None:
    quiet = Settings(background=False, embedder="none")
    texts = ["I moved from Paris to Lisbon in March.", "I like fado.", "My sister lives in Porto.", "ok", "well"]
    with Memory("memory:", settings=quiet, strategies=[Reckless()]) as memory, pytest.raises(AssertionError):
        strategy_contract.test_its_recall_is_the_same_whatever_the_order_of_sets(
            Reckless(), memory, texts, lambda ask: ""
        )
