"""Every metric against numbers worked out by hand, and intervals against what bootstrap theory says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.lab.kit import metrics
from mnemic.lab.kit.metrics import Outcome

SESSION = {"D1:1": "S1", "D1:2": "S1", "D1:3": "S1", "D2:1": "S2", "D2:2": "S2", "D10:1": "S10"}
COST = {"D1:1": 400, "D1:2": 500, "D1:3": 600, "D2:1": 700, "D2:2": 800, "D10:1": 2_000}


def outcome(gold: str, ranked: str, category: str = "single-hop") -> Outcome:
    wanted, found = tuple(gold.split()), tuple(ranked.split())
    return Outcome(
        question="q",
        category=category,
        gold=wanted,
        sessions=metrics.distinct(SESSION[g] for g in wanted),
        ranked=found,
        ranked_sessions=tuple(SESSION[f] for f in found),
        tokens=tuple(COST[f] for f in found),
    )


FIVE = (
    outcome("D1:3", "D1:3 D1:1 D2:2 D2:1 D1:2 D10:1"),
    outcome("D1:2", "D2:1 D1:2 D10:1 D1:1 D1:3 D2:2", "temporal"),
    outcome("D1:1 D2:2", "D2:2 D1:3 D1:2 D2:1 D10:1 D1:1", "multi-hop"),
    outcome("D2:1 D10:1", "D1:1 D1:2 D1:3 D2:1 D2:2", "open-domain"),
    outcome("D1:2", "", "adversarial"),
)


def test_what_looks_deeper_than_was_asked_for_is_left_out() -> None:
    ten = metrics.within({**metrics.METRICS, "own": len}, 10)  # type: ignore[dict-item]
    assert {"R@1", "R@10", "nDCG@10", "tokens@10", "MRR", "session any@1", "own"} <= ten.keys()
    assert not {"R@20", "all@50", "tokens@50", "session R@5", "R@1k tokens"} & ten.keys()
    assert metrics.within(metrics.METRICS, metrics.DEPTH) == metrics.METRICS


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [
        ("R@1", [1, 0, 0.5, 0, 0]),
        ("R@5", [1, 1, 0.5, 0.5, 0]),
        ("R@10", [1, 1, 1, 0.5, 0]),
        ("any@1", [1, 0, 1, 0, 0]),
        ("any@5", [1, 1, 1, 1, 0]),
        ("all@5", [1, 1, 0, 0, 0]),
        ("all@10", [1, 1, 1, 0, 0]),
        ("session R@1", [1, 0, 0.5, 0, 0]),
        ("session R@5", [1, 1, 1, 0.5, 0]),
        ("session any@1", [1, 0, 1, 0, 0]),
        ("session all@5", [1, 1, 1, 0, 0]),
        ("R@1k tokens", [1, 0, 0.5, 0, 0]),
        ("R@2k tokens", [1, 1, 0.5, 0, 0]),
        ("R@4k tokens", [1, 1, 0.5, 0.5, 0]),
        ("tokens@10", [5_000, 5_000, 5_000, 3_000, 0]),
        ("NDCG@5", [1, 1, 0.5, 0.25, 0]),
    ],
)
def test_five_questions_scored_by_hand(name: str, by_hand: list[float]) -> None:
    assert list(metrics.measure(FIVE)[name]) == pytest.approx(by_hand)


def test_ndcg_discounts_from_the_third_rank_on() -> None:
    both = outcome("D1:1 D2:2", "D2:2 D1:3 D1:2 D2:1 D10:1 D1:1")
    assert metrics.ndcg(both.gold, both.ranked, 10) == pytest.approx((1 + 1 / math.log2(6)) / 2)
    assert metrics.ndcg(both.gold, both.ranked, 5) == pytest.approx(0.5)


def test_a_question_without_turn_evidence_has_no_turn_metric_and_keeps_its_session_metric() -> None:
    only_session = Outcome(
        question="q",
        category="",
        gold=(),
        sessions=("S2",),
        ranked=("a", "b"),
        ranked_sessions=("S1", "S2"),
        tokens=(1, 1),
    )
    measured = metrics.measure([only_session])
    assert math.isnan(measured["R@10"][0])
    assert math.isnan(measured["NDCG@10"][0])
    assert measured["session R@5"][0] == 1
    assert measured["session R@1"][0] == 0


def test_the_budget_ends_at_the_first_turn_that_does_not_fit() -> None:
    assert metrics.fitting([400, 700, 100], 1_000) == 1
    assert metrics.fitting([400, 600, 1], 1_000) == 2
    assert metrics.fitting([], 1_000) == 0


def test_auroc_counts_ties_half() -> None:
    assert metrics.auroc([3, 2], [1, 0]) == 1
    assert metrics.auroc([1], [1]) == 0.5
    assert metrics.auroc([3, 1], [2, 1]) == pytest.approx(2.5 / 4)
    assert math.isnan(metrics.auroc([], [1]))


@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_auroc_is_the_share_of_pairs_won(positive: list[int], negative: list[int]) -> None:
    won = sum((p > n) + (p == n) / 2 for p in positive for n in negative)
    assert metrics.auroc(positive, negative) == pytest.approx(won / len(positive) / len(negative))


def test_an_interval_holds_the_mean_and_is_as_wide_as_theory_says() -> None:
    values = np.array([0.0, 1.0] * 200)
    found = metrics.estimates({"x": values}, seed=1)["x"]
    assert found.mean == 0.5
    assert found.n == 400
    assert found.high - found.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(400), rel=0.1)


@pytest.mark.parametrize(
    ("values", "doubt"),
    [([1.0] * 300, False), ([1 / 3] * 7, False), ([0.0] * 6, False), ([0.0] * 299 + [1.0], True), ([math.nan], False)],
)
def test_draws_that_are_all_alike_tell_of_no_doubt(values: list[float], doubt: bool) -> None:
    assert metrics.estimates({"x": np.array(values)}, 0)["x"].has_interval is doubt
    assert metrics.clustered(np.array(values), [str(n) for n in range(len(values))], 0).has_interval is doubt


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.random.default_rng(0).random(50)
    assert metrics.estimates({"x": values}, 3) == metrics.estimates({"x": values}, 3)
    assert metrics.estimates({"x": values}, 3) != metrics.estimates({"x": values}, 4)


def test_questions_without_the_metric_are_left_out_of_mean_interval_and_n() -> None:
    found = metrics.estimates({"x": np.array([math.nan, 1.0, 1.0, math.nan]), "y": np.ones(4)}, 0)
    assert (found["x"].mean, found["x"].n, found["x"].high) == (1, 2, 1)
    assert found["y"].n == 4
    assert math.isnan(metrics.estimates({"x": np.array([math.nan])}, 0)["x"].mean)
    assert metrics.estimates({"x": np.array([])}, 0)["x"].n == 0


def test_a_paired_difference_sees_what_two_intervals_hide() -> None:
    base = np.random.default_rng(0).random(200)
    gain = metrics.difference(base + 0.01, base, seed=0)
    assert gain.mean == pytest.approx(0.01)
    assert gain.low == pytest.approx(0.01, abs=1e-4)
    assert gain.high == pytest.approx(0.01, abs=1e-4)


@given(st.sets(st.sampled_from("abcdefgh"), min_size=1), st.permutations("abcdefgh"))
def test_recall_never_falls_as_k_grows_and_ends_at_one(gold: set[str], ranked: list[str]) -> None:
    wanted = sorted(gold)
    by_k = [metrics.recall(wanted, ranked, k) for k in range(9)]
    assert by_k == sorted(by_k)
    assert by_k[-1] == 1
    assert all(metrics.all_at(wanted, ranked, k) <= r <= metrics.any_at(wanted, ranked, k) for k, r in enumerate(by_k))
