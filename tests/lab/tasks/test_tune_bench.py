"""Numbers of recall are tuned on tasks: a setting is what recall by these numbers would rank."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.lab.contestants.mnemic_contestant import MnemicContestant, Reweighed
from mnemic.lab.kit.contestant import SHOWN, Means, RankedDocs
from mnemic.lab.kit.datasets import Dataset
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_report import report
from mnemic.lab.tasks import tune_bench
from mnemic.lab.tasks.small.small_bench import small_dataset
from mnemic.lab.tasks.tune_bench import TunePlan, bench_tune, grid_of
from mnemic.recall.recall_weights import WEIGHTS


def ranked(contestant: MnemicContestant, data: Dataset) -> list[RankedDocs]:
    return [contestant.rank(question, SHOWN) for question in data.questions]


def seen(rankings: Sequence[RankedDocs]) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    return [(ranking.ids, [hit.docs for hit in ranking.hits]) for ranking in rankings]


@pytest.mark.parametrize("told", [False, True])
def test_what_is_kept_of_questions_is_ranked_as_recall_ranks_it(pair: Dataset, told: bool) -> None:
    data = small_dataset(0, 1) if told else pair
    with closing(MnemicContestant(told=told)) as usual, closing(Reweighed(None, told=told)) as kept:
        for contestant in (usual, kept):
            contestant.ingest(data.corpora)
        expected = ranked(usual, data)
        assert seen(ranked(kept, data)) == seen(expected)
        kept.weights = WEIGHTS.varied({"by_words.own": 5, "by_words.window": 0})
        assert [ranking.scores for ranking in ranked(kept, data)] != [ranking.scores for ranking in expected]
        kept.weights = WEIGHTS
        assert seen(ranked(kept, data)) == seen(expected)


def plan(path: Path, *numbers: str) -> TunePlan:
    return TunePlan(tasks={"locomo": path}, numbers=numbers, folds=2, steps=1, means=Means())


def test_before_is_what_a_run_says(locomo_file: Path, tmp_path: Path) -> None:
    (made,) = report(run(RunPlan(tasks={"locomo": locomo_file}, rows=("mnemic",)), tmp_path)).tasks
    (row,) = made.rows
    tuned = bench_tune(plan(locomo_file, "by_words.window"))
    whole = {change.metric: change.before for change in tuned.changes if not change.category}
    assert whole == {metric: pytest.approx(row.scores[metric].mean) for metric in ("R@10", "R@1", "R@5", "any@5")}
    assert set(tuned.alone) == {(("by_words.window", 0.402),), (("by_words.window", 0.9),)}


def test_what_two_tasks_ask_counts_for_the_first(locomo_file: Path) -> None:
    twice = replace(plan(locomo_file, "new"), tasks={"locomo": locomo_file, "locomo-audited": locomo_file})
    with pytest.raises(Invalid, match="locomo-audited has no question"):
        bench_tune(twice)


def test_a_number_that_is_put_to_nothing_is_plain_zero() -> None:
    assert [str(value) for value in grid_of(["marks.hub"], (0, 2.0))["marks.hub"]] == ["-0.5", "0.0", "-1.0"]


def test_a_number_that_recall_does_not_have_is_refused() -> None:
    with pytest.raises(Invalid, match=r"marks\.hup"):
        grid_of(["marks.hup"], (2.0,))


def test_what_stands_in_the_log_is_not_measured_again(
    locomo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "runs" / "tune.jsonl"
    first = bench_tune(plan(locomo_file, "by_words.window"), out)
    monkeypatch.setattr(Reweighed, "ingest", lambda self, corpora: pytest.fail("taken in again"))
    again = bench_tune(plan(locomo_file, "by_words.window"), out)
    assert (again.changes, again.alone) == (first.changes, first.alone)
    with pytest.raises(pytest.fail.Exception, match="taken in again"):
        bench_tune(replace(plan(locomo_file, "by_words.window"), limit=3), out)
    monkeypatch.setattr(tune_bench, "_digest_of_package", lambda: "other code, committed or not")
    with pytest.raises(pytest.fail.Exception, match="taken in again"):
        bench_tune(plan(locomo_file, "by_words.window"), out)


def test_a_log_of_another_bench_is_refused_before_anything_is_measured(locomo_file: Path, tmp_path: Path) -> None:
    (out := tmp_path / "run.jsonl").write_text('{"kind": "run", "bench": "run"}\n')
    with pytest.raises(Invalid, match="no log of `bench tune`"):
        bench_tune(plan(locomo_file, "by_words.window"), out)
    assert len(out.read_text().splitlines()) == 1
