"""What a strategy says that it costs is what `mnemic bench strategies` counts over the bundled conversation."""

from __future__ import annotations

import re
from typing import Final

import pytest

from mnemic.lab.kit.replays import HOUSE
from mnemic.lab.kit.scripted_readers import ScriptedReader, terse
from mnemic.lab.tasks.strategies_bench import Mixture, bench_strategies
from mnemic.lab.tasks.strategies_report import CostRow, read_strategies
from mnemic.registry import STRATEGIES
from mnemic.strategies.base import Strategy
from mnemic.strategies.loading import strategies
from mnemic.strategies.mem0 import Mem0

COUNTED: Final[dict[str, tuple[Strategy, ...]]] = {
    "mem0, adding only": (Mem0(add_only=True),),
    **{name: strategies((name,)) for name in STRATEGIES if name != HOUSE},
}


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CostRow]:
    out = tmp_path_factory.mktemp("runs")
    chat = ScriptedReader("scripted:terse", terse)
    mixtures = {name: Mixture(name=name, members=members) for name, members in COUNTED.items()}
    asked = [mixtures.pop("memoryos")]  # what is shown is promoted: its cost is stated after all questions
    logs = (
        bench_strategies(out=out, mixtures=list(mixtures.values()), limit=1, model=chat),
        bench_strategies(out=out, mixtures=asked, model=chat),
    )
    return {row.mixture: row for log in logs for row in read_strategies(log).costs}


@pytest.mark.parametrize("name", COUNTED)
def test_calls_and_tokens_a_message_are_those_that_the_docstring_states(name: str, costs: dict[str, CostRow]) -> None:
    stated = f"{costs[name].calls:.2f} calls and {costs[name].tokens:.0f} tokens"
    (strategy,) = COUNTED[name]
    assert stated in re.sub(r"\s+", " ", type(strategy).__doc__ or ""), stated
