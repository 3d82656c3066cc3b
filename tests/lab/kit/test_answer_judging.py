"""Judges' replies are read or counted, never guessed; agreement and spread are those of the textbooks."""

from __future__ import annotations

import json
import math
from random import Random

import pytest

from mnemic.lab.kit.answer_judging import agreement, mark, preference, settled, spread, temperature

CASES = 1_000


def said(label: str) -> str:
    return json.dumps({"reasoning": "So it says.", "label": label})


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (said("RIGHT"), True),
        (said("WRONG"), False),
        (f"```json\n{said('WRONG')}\n```", False),
        ("RIGHT", True),
        (' "WRONG". ', False),
        ("It is RIGHT, not WRONG.", None),
        ("I would say that it is right", None),
        (said("right"), None),
        (said("MAYBE"), None),
        ('{"label": "RIGHT"', None),
        ('{"label": "RIGHT"}', None),
        ('[{"label": "RIGHT"}]', None),
        ("", None),
    ],
)
def test_a_mark_is_read_or_there_is_none(reply: str, found: bool | None) -> None:
    assert mark(reply) is found


@pytest.mark.parametrize(
    ("straight", "swapped", "came"),
    [
        ("A", "B", 1),
        ("B", "A", -1),
        ("SAME", "SAME", 0),
        ("A", "A", 0),  # whichever stands first
        ("B", "B", 0),
        ("A", "SAME", 0),
        ("A", "either", None),
    ],
)
def test_a_preference_counts_where_both_orders_have_it(straight: str, swapped: str, came: int | None) -> None:
    assert settled(preference(said(straight), swapped=False), preference(said(swapped), swapped=True)) == came


def test_agreement_by_hand() -> None:
    yes, no = [True] * 3 + [False], [True, True, False, False]
    found = agreement(yes, no)
    assert found.same == 3 / 4
    assert found.kappa == pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2))
    assert agreement([True, None, False], [True, True, None]).n == 1
    assert math.isnan(agreement([True], [True]).kappa)  # chance alone would have them agree
    assert math.isnan(agreement([], []).same)
    assert agreement([True, False], [False, True]).kappa == -1


def test_agreement_agrees_with_scikit_learn() -> None:
    theirs = pytest.importorskip("sklearn.metrics").cohen_kappa_score
    draw = Random(5)
    for _ in range(CASES):
        one = [draw.choice((True, False)) for _ in range(draw.randrange(2, 20))]
        other = [draw.random() < 0.7 if same else draw.choice((True, False)) for same in one]
        if len({*one, *other}) == 2:
            assert agreement(one, other).kappa == pytest.approx(theirs(one, other))


def test_agreement_is_the_share_beyond_chance() -> None:
    """Written another way: of the pairs by which two judges could do better than if their marks were shuffled."""
    draw = Random(6)
    for _ in range(CASES):
        one, other = ([draw.random() < 0.6 for _ in range(12)] for _ in "ab")
        shuffled = sum(a == b for a in one for b in other) / 144
        if shuffled < 1:
            same = sum(a == b for a, b in zip(one, other, strict=True)) / 12
            assert agreement(one, other).kappa == pytest.approx((same - shuffled) / (1 - shuffled))


def test_the_spread_of_runs_is_that_of_their_shares() -> None:
    came = spread([[True, True, False, None], [True, False], [None], [True, True]])
    assert came.mean == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    assert (came.low, came.high) == (1 / 2, 1)
    assert came.deviation == pytest.approx(
        math.sqrt(((2 / 3 - 13 / 18) ** 2 + (1 / 2 - 13 / 18) ** 2 + (5 / 18) ** 2) / 2)
    )
    assert math.isnan(spread([[True]]).deviation)
    assert math.isnan(spread([[None]]).mean)


def test_a_judge_that_is_asked_several_times_may_choose_its_words() -> None:
    assert temperature(1) == 0
    assert temperature(2) > 0
