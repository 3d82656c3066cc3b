"""The trainer of retention: one definition of the features, rewards as replayed, learning that learns."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mnemic.errors import Invalid
from mnemic.lab.tasks.paging.replay import replay
from mnemic.lab.tasks.paging.retention_training import Recipe, Rolled, rollouts, train, write
from mnemic.lab.tasks.paging.traces import PageTrace, Reference, page
from mnemic.tiers.policies.learned import NAMES, Learned, features

SMALL = Recipe(updates=12, groups=2, rollouts=8, by_hand=False, horizon=60, space=0.0, rate=0.2)


def told(pages: int = 40) -> PageTrace:
    """A talk in which every fourth turn says something, and only those are asked about, once each, in a drawn order."""
    draw = np.random.default_rng(1)
    telling = [n for n in range(pages) if n % 4 == 0]
    made = tuple(page(f"t{n}", tokens=9, position=n, importance=0.9 if n % 4 == 0 else 0.1) for n in range(pages))
    reads = tuple(Reference(int(n), write=False) for n in draw.permutation(telling))
    return PageTrace(
        family="told", name="told", pages=made, references=(*(Reference(n, True) for n in range(pages)), *reads)
    )


def test_columns_and_single_pages_have_the_same_features() -> None:
    given = {"importance": 0.7, "novelty": 0.4, "facts": 3.0, "tokens": 21.0, "assistant": 1.0, "position": 8.0}
    given |= {"age": 31.0, "idle": 4.0, "uses": 2.0}
    one = features(**given)
    many = features(**{name: np.array([value, 1.0]) for name, value in given.items()}, log=np.log, exp=np.exp)
    assert len(one) == len(NAMES)
    assert [float(column[0]) for column in many] == pytest.approx(one)


def test_a_law_so_sharp_that_nothing_is_left_to_chance_replays_as_the_policy_does() -> None:
    trace = told()
    weights = np.array([1e6 * (name in ("importance", "sittings", "turns")) for name in NAMES])
    rolled = rollouts(trace, 6, weights, Recipe(rollouts=2, space=0.0), np.random.default_rng(0))
    policy = Learned(tuple(weights / 1e6))
    assert rolled.rewards[:, 0].sum() == replay(trace, policy, 6).hits


def test_an_advantage_is_over_the_group_and_for_what_came_after() -> None:
    rewards = np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    found = Rolled([], rewards).advantages(horizon=1)
    assert found.tolist() == [[-0.5, 0.5], [-0.5, 0.5], [0.0, 0.0]]
    assert Rolled([], rewards).advantages(horizon=9)[0].tolist() == [-1.0, 1.0]


def test_space_costs_what_its_tokens_are() -> None:
    trace = told()
    free, dear = (
        rollouts(trace, 6, np.zeros(len(NAMES)), replace(SMALL, space=space), np.random.default_rng(0)).rewards
        for space in (0.0, 0.5)
    )
    assert np.allclose(free[-1] - dear[-1], 0.5)


def test_it_learns_what_is_asked_about_and_the_same_each_time() -> None:
    trace = told()
    weights = train([trace], SMALL)
    assert weights[NAMES.index("importance")] > 0.5
    assert np.array_equal(weights, train([trace], SMALL))
    assert replay(trace, Learned(tuple(weights)), 8).hits > 2 * replay(trace, Learned((0.0,) * len(NAMES)), 8).hits


def test_the_file_says_what_it_was_made_from(tmp_path: Path) -> None:
    write(np.arange(float(len(NAMES))), SMALL, ["a"], tmp_path / "w.json")
    record = json.loads((tmp_path / "w.json").read_text())
    assert tuple(record["weights"]) == NAMES
    assert record["recipe"]["updates"] == SMALL.updates
    assert record["data"] == ["a"]


def test_nothing_to_learn_from_is_said() -> None:
    with pytest.raises(Invalid, match="paths"):
        train([])
