"""Numbers are chosen on some questions and held to others: what is no gain there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from mnemic.errors import Invalid
from mnemic.lab.kit.tables import aligned
from mnemic.lab.kit.tuning import (
    AS_IT_IS,
    Setting,
    TunedTask,
    Tuning,
    Values,
    alone_table,
    change_table,
    choice_table,
    folds_of,
    tune,
    verdict,
)

N = 120
GRID = {"reach": (1.0, 2.0, 3.0), "depth": (1.0, 2.0)}


def task(name: str, conversations: int = 12) -> TunedTask:
    spaces = tuple(f"talk {n % conversations}" for n in range(N))
    return TunedTask(name=name, headline="R@10", spaces=spaces, categories=tuple("ab"[n % 2] for n in range(N)))


def measured(gains: Mapping[str, Callable[[dict[str, float], np.ndarray], np.ndarray]]) -> Callable[[Setting], Values]:
    """Values of half a hit each, and what a setting adds to them, by task."""
    at = np.arange(N)
    return lambda setting: {name: {"R@10": 0.5 + gain(dict(setting), at)} for name, gain in gains.items()}


def tuned(gains: Mapping[str, Callable[[dict[str, float], np.ndarray], np.ndarray]], steps: int = 3) -> Tuning:
    return tune([task(name) for name in gains], GRID, measured(gains), folds=4, steps=steps)


def test_a_gain_that_holds_everywhere_is_chosen_without_each_fold_and_kept() -> None:
    made = tuned({"one": lambda s, at: (s.get("reach") == 3.0) * 0.1 + 0 * at, "other": lambda s, at: 0.0 * at})
    assert {fold.setting for fold in made.folds} == {(("reach", 3.0),)} == {made.fitted}
    assert made.gain.mean == pytest.approx(0.05)
    assert made.wins
    (whole,) = [change for change in made.changes if change.headline and change.task == "one"]
    assert (whole.before, whole.after, whole.rose, whole.fell) == (pytest.approx(0.5), pytest.approx(0.6), N, 0)
    assert "keep reach 3" in verdict(made)


def test_numbers_are_moved_one_after_the_other_and_no_further_than_is_allowed() -> None:
    def both(s: dict[str, float], at: np.ndarray) -> np.ndarray:
        return 0.1 * (s.get("reach") == 2.0) + 0.05 * (s.get("depth") == 2.0) + 0 * at

    assert tuned({"one": both}).fitted == (("depth", 2.0), ("reach", 2.0))
    assert tuned({"one": both}, steps=1).fitted == (("reach", 2.0),)


def test_what_lets_a_task_fall_by_more_than_a_point_is_refused_however_much_another_gains() -> None:
    made = tuned(
        {"one": lambda s, at: 0.3 * ("reach" in s) + 0 * at, "other": lambda s, at: -0.02 * ("reach" in s) + 0 * at}
    )
    assert made.fitted == AS_IT_IS
    assert not made.wins
    less = tuned(
        {"one": lambda s, at: 0.3 * ("reach" in s) + 0 * at, "other": lambda s, at: -0.009 * ("reach" in s) + 0 * at}
    )
    assert less.wins


def test_a_gain_of_one_conversation_does_not_hold_for_the_others() -> None:
    """Each place of `reach` suits one fold and costs the others nothing where it is chosen: held, none gains."""

    def of_one(s: dict[str, float], at: np.ndarray) -> np.ndarray:
        return np.where((at % 12) % 4 == 1, 0.4, -0.1) * ("depth" in s)

    made = tuned({"one": of_one})
    assert made.fitted == (("depth", 2.0),)
    assert sum(fold.setting == AS_IT_IS for fold in made.folds) == 1
    assert made.gain.mean < 0
    assert not made.wins
    assert "one would lose" in verdict(made)


def test_a_gain_that_may_be_chance_changes_nothing() -> None:
    lucky = np.random.default_rng(0).permutation(np.where(np.arange(N) < N // 2 + 3, 1.0, -1.0))
    made = tuned({"one": lambda s, at: 0.2 * lucky * ("depth" in s)})
    assert not made.wins
    assert "leave the numbers as they are" in verdict(made)


def test_folds_hold_whole_conversations_and_questions_where_those_are_few() -> None:
    many = task("many")
    folds = folds_of([many], 4)["many"]
    assert {len({folds[n] for n in range(N) if many.spaces[n] == space}) for space in many.spaces} == {1}
    assert np.bincount(folds).tolist() == [30, 30, 30, 30]
    assert np.bincount(folds_of([task("pool", conversations=1)], 4)["pool"]).tolist() == [30, 30, 30, 30]


def test_a_conversation_that_two_tasks_ask_about_is_in_one_fold() -> None:
    """Else it is tuned on in one and held out in the other."""
    first = task("first", conversations=6)
    other = replace(first, name="other", spaces=first.spaces[::-1])
    folds = folds_of([first, other], 4)
    assert folds["other"].tolist() == folds["first"].tolist()[::-1]


def test_questions_without_the_metric_count_for_nothing() -> None:
    made = tuned({"one": lambda s, at: np.where(at % 2, np.nan, 0.1 * ("reach" in s))})
    (whole,) = [change for change in made.changes if change.headline]
    assert (whole.by_question.n, whole.after) == (N // 2, pytest.approx(0.6))
    assert [change.category for change in made.changes] == ["", "a"]


def test_a_setting_is_measured_once_and_each_number_alone_is_told_of() -> None:
    asked: list[Setting] = []
    known = measured({"one": lambda s, at: 0.1 * (s.get("reach") == 2.0) + 0 * at})

    def counting(setting: Setting) -> Values:
        asked.append(setting)
        return known(setting)

    made = tune([task("one")], GRID, counting, folds=4, steps=3)
    assert len(asked) == len(set(asked)) == made.tried
    assert made.alone == {
        (("reach", 2.0),): {"one": pytest.approx(0.1)},
        (("reach", 3.0),): {"one": 0.0},
        (("depth", 2.0),): {"one": 0.0},
    }
    shown = "\n".join(aligned(table(made)) for table in (change_table, choice_table, alone_table))
    assert "reach 2" in shown
    assert "+10.0" in shown
    assert "one: b" in shown


def test_one_fold_is_refused() -> None:
    with pytest.raises(Invalid, match="folds"):
        tune([task("one")], GRID, measured({"one": lambda s, at: 0.0 * at}), folds=1, steps=1)
