"""Two runs are compared question by question; a stage of recall has a price."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.lab.contestants.mnemic_contestant import WHOLE
from mnemic.lab.kit import run as runs
from mnemic.lab.kit.comparison import change_table, changes, price_table, prices, settings_that_differ
from mnemic.lab.kit.contestant import Means, OwnFigures, RankedDocs
from mnemic.lab.kit.datasets import BenchQuestion
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_page import page
from mnemic.lab.kit.run_report import report
from mnemic.lab.kit.tables import aligned


class Knowing:
    """Ranks the evidence of questions of some categories, and nothing else."""

    def __init__(self, categories: tuple[str, ...], means: Means) -> None:
        self._categories = categories

    def ingest(self, corpora: object) -> None:
        pass

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        return RankedDocs(question.gold if question.category in self._categories else ())

    def figures(self) -> OwnFigures:
        return OwnFigures()

    def close(self) -> None:
        pass


FEW, MORE = ("temporal",), ("temporal", "multi-hop", "open-domain")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"few": FEW, "more": MORE, WHOLE: MORE, "without dense": FEW, "without hubs": MORE}
    monkeypatch.setattr(runs, "contestants", lambda names: {n: partial(Knowing, known[n]) for n in names})


def logged(path: Path, out: Path, *rows: str, limit: int | None = None) -> Path:
    return run(RunPlan(tasks={"locomo": path}, rows=rows, limit=limit), out)


@pytest.mark.usefixtures("made")
def test_what_rose_and_what_fell_between_two_runs_of_one_contestant(locomo_file: Path, tmp_path: Path) -> None:
    before = report(logged(locomo_file, tmp_path / "a.jsonl", "few"))
    after = report(logged(locomo_file, tmp_path / "b.jsonl", "more"))
    (change,) = [change for change in changes(before, after) if change.metric == "R@10"]
    assert (change.system, change.by_question.n, change.rose, change.fell) == ("more after few", 5, 2, 0)
    assert (change.before, change.after) == pytest.approx((1 / 5, 3 / 5))
    assert change.by_question.mean == pytest.approx(2 / 5)
    (back,) = [change for change in changes(after, before) if change.metric == "R@10"]
    assert (back.by_question.mean, back.rose, back.fell) == (pytest.approx(-2 / 5), 0, 2)
    assert "more after few" in aligned(change_table([change]))
    assert list(settings_that_differ(before, after)) == ["contestants locomo: few before, more after"]


@pytest.mark.usefixtures("made")
def test_only_questions_that_both_asked_are_compared(locomo_file: Path, tmp_path: Path) -> None:
    before = report(logged(locomo_file, tmp_path / "a.jsonl", "few", limit=2))
    after = report(logged(locomo_file, tmp_path / "b.jsonl", "few"))
    assert {change.by_question.n for change in changes(before, after)} == {2}
    other = tmp_path / "other.json"
    other.write_text(locomo_file.read_text("utf-8") + "\n", encoding="utf-8")
    with pytest.raises(Invalid, match="shares no task"):
        changes(before, report(logged(other, tmp_path / "c.jsonl", "few")))


@pytest.mark.usefixtures("made")
def test_what_is_lost_without_a_stage_is_its_worth(locomo_file: Path, tmp_path: Path) -> None:
    made = report(logged(locomo_file, tmp_path / "a.jsonl", WHOLE, "without hubs", "without dense"))
    (of,) = made.tasks
    first, second = prices(of, made.seed)
    assert (first.without, second.without) == ("dense", "hubs")
    assert first.points.mean == pytest.approx(2 / 5)
    assert second.points.mean == 0
    assert first.milliseconds.n == 6
    assert "R@10 of the whole: 60.0" in aligned(price_table(of, [first, second]))
    assert prices(report(logged(locomo_file, tmp_path / "b.jsonl", "few")).tasks[0], 0) == []
    assert "What each stage is worth" in page(made)
    assert "What each stage is worth" not in page(report(tmp_path / "b.jsonl"))
