"""The strategies of experience keep the contract of strategies, each over tries at two tasks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import pytest

from mnemic.models.chat.base import Ask
from mnemic.strategies.base import Strategy
from mnemic.strategies.expel import Expel
from mnemic.strategies.gmemory import GMemory
from mnemic.strategies.reflexion import Reflexion
from mnemic.strategies.reme import ReMe
from mnemic.strategies.skills import Skills
from mnemic.strategies.trajectories import ActionStep, Trajectory
from mnemic.testing.strategy_contract import *  # noqa: F403
from mnemic.testing.strategy_contract import Model

ANSWERS: Final[dict[str, object]] = {
    "make_plan": {"plan": "The chalk was wrong; take the vinegar."},
    "experience_pieces": {"pieces": ["When bronze is dull, take vinegar."]},
    "contrast_lessons": {"changes": [{"do": "add", "lesson": 0, "text": "Bronze wants vinegar."}]},
}


def tried(metal: str, with_what: str, *, succeeded: bool) -> str:
    seen = "It shines." if succeeded else "It is scratched for good."
    steps = (ActionStep("go to cellar", "There is a shelf."), ActionStep(f"rub {metal} bowl with {with_what}", seen))
    return Trajectory(task=f"Polish the {metal} bowl", steps=steps, succeeded=succeeded).text


@pytest.fixture(params=(Reflexion, Expel, Skills, ReMe, GMemory), ids=lambda kind: kind.name)
def strategy(request: pytest.FixtureRequest) -> Strategy:
    made: Callable[[], Strategy] = request.param
    return made()


@pytest.fixture  # type: ignore[no-redef]
def texts() -> list[str]:
    """In place of the suite's."""
    return [
        tried("bronze", "chalk", succeeded=False),
        tried("bronze", "vinegar", succeeded=True),
        "What a day!",
        tried("silver", "vinegar", succeeded=False),
        tried("silver", "chalk", succeeded=True),
        tried("pewter", "chalk", succeeded=True),
    ]


def _answer(ask: Ask) -> str:
    return json.dumps({"reasoning": "So it went.", **ANSWERS[ask.task]})  # type: ignore[dict-item]


@pytest.fixture  # type: ignore[no-redef]
def model() -> Model:
    """In place of the suite's."""
    return _answer
