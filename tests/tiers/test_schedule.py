"""Triggers rise with what they measure, and the bandit finds the one that pays."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.tiers.schedule import TRIGGERS, Bandit, Measures, RunTrigger, Thresholds, firing, reward

_FIELDS = ("since", "dead", "free", "grown", "idle")
_NUMBERS = st.floats(0, 1e6, allow_nan=False)
_MEASURES = st.builds(Measures, **dict.fromkeys(_FIELDS, _NUMBERS))


@pytest.mark.parametrize("trigger", TRIGGERS, ids=lambda trigger: trigger.name)
@given(measures=_MEASURES, field=st.sampled_from(_FIELDS), more=_NUMBERS)
def test_a_trigger_never_falls_as_a_measure_rises(
    trigger: RunTrigger, measures: Measures, field: str, more: float
) -> None:
    higher = replace(measures, **{field: getattr(measures, field) + more})
    assert trigger.urge(higher) >= trigger.urge(measures)


def test_nothing_fires_on_a_fresh_store() -> None:
    assert firing(Measures()) == []
    assert firing(Measures(since=1e9, dead=1.0)) == ["periodic", "fragmentation"]
    assert firing(Measures(idle=61.0)) == []
    assert firing(Measures(idle=61.0, dead=0.1)) == ["load"]


@given(seed=st.integers(0, 1_000))
def test_the_bandit_finds_the_better_arm(seed: int) -> None:
    draw, bandit, picks = Random(seed), Bandit(epsilon=0.1), []
    pays = {"bad": 0.2, "good": 1.0, "worst": -1.0}
    for turn in range(300):
        arm = bandit.pick(list(pays), seed * 1_000 + turn)
        assert arm is not None
        bandit.learn(arm, draw.gauss(pays[arm], 0.2))
        picks.append(arm)
    assert picks[100:].count("good") >= 0.8 * len(picks[100:])


def test_the_bandit_follows_none_that_has_never_paid_but_by_a_draw() -> None:
    bandit = Bandit({"load": 3}, {"load": -2.0}, epsilon=0.0)
    assert bandit.pick(["load"], 1) is None
    assert bandit.pick(["load", "growth"], 1) == "growth"
    assert replace(bandit, epsilon=1.0).pick(["load"], 1) == "load"
    assert bandit.pick([], 1) is None


@given(rewards=st.lists(st.tuples(st.sampled_from(["a", "b"]), st.floats(-10, 10)), max_size=30))
def test_what_the_bandit_has_learnt_can_be_put_away_and_taken_out(rewards: list[tuple[str, float]]) -> None:
    bandit = Bandit()
    for name, worth in rewards:
        bandit.learn(name, worth)
    again = Bandit.from_state(bandit.state())
    assert (again.runs, again.worth) == (bandit.runs, bandit.worth)


def test_a_pause_costs_what_its_megabytes_would_have_been_worth() -> None:
    assert reward(64 * 2**20, 1.0) == 0
    assert reward(2**20, 0.0) == 1


def test_thresholds_are_settings_and_nought_is_never() -> None:
    sooner = Thresholds(seconds=10, share=0.2, growth=0.1, idle=5)
    assert firing(Measures(since=11), sooner.triggers()) == ["periodic"]
    assert firing(Measures(dead=0.25), sooner.triggers()) == ["fragmentation"]
    assert firing(Measures(grown=0.2), sooner.triggers()) == ["growth"]
    assert firing(Measures(idle=6, dead=0.1), sooner.triggers()) == ["load"]
    never = Thresholds(seconds=0, share=0, growth=0, idle=0)
    assert firing(Measures(since=1e9, dead=1, free=1, grown=9, idle=1e9), never.triggers()) == []
