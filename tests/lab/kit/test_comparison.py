"""Two runs are compared question by question; a stage of recall has a price."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.lab.contestants.mnemic_contestant import WHOLE
from mnemic.lab.kit import run as runs
from mnemic.lab.kit.comparison import change_table, changes, price_notes, price_tables, prices, settings_that_differ
from mnemic.lab.kit.contestant import Means, OwnFigures, RankedDocs
from mnemic.lab.kit.datasets import BenchQuestion
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_page import page
from mnemic.lab.kit.run_report import as_json, report, tables
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
    known = {"none": (), "few": FEW, "more": MORE, WHOLE: MORE, "without dense": FEW, "without hubs": MORE}
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
    (table,) = price_tables(of, [first, second])
    assert "R@10 of the whole: 60.0" in aligned(table)
    assert "points per call" not in table.columns  # no stage asks a model
    assert prices(report(logged(locomo_file, tmp_path / "b.jsonl", "few")).tasks[0], 0) == []
    assert "What each stage is worth" in page(made)
    assert "What each stage is worth" not in page(report(tmp_path / "b.jsonl"))


def test_stages_that_have_nothing_to_do_without_an_embedder_are_left_out(locomo_file: Path, tmp_path: Path) -> None:
    rows = (WHOLE, "without dense", "without dense+hubs", "without dense+links")
    (of,) = report(logged(locomo_file, tmp_path / "a.jsonl", *rows)).tasks
    assert [row.system for row in of.rows] == [WHOLE, "without dense+links"]
    why = "it leaves out nothing, since without an embedder nothing is near in meaning"
    assert [note for note in of.notes if "was left out" in note] == [
        f"`{row}` was left out: {why}." for row in ("without dense", "without dense+hubs")
    ]
    assert any("ran by itself" in note for note in price_notes(of, prices(of, 0)))


@pytest.mark.usefixtures("made")
def test_no_interval_is_made_of_fewer_than_five_questions(locomo_file: Path, tmp_path: Path) -> None:
    few = report(logged(locomo_file, tmp_path / "a.jsonl", WHOLE, "without dense", limit=3))
    (of,) = few.tasks
    parts = prices(of, few.seed)
    shown = [*tables(of)[:2], *price_tables(of, parts), change_table(changes(few, few))]
    text = "\n".join(map(aligned, shown))
    assert not {"±", "[", "nan"} & {sign for sign in ("±", "[", "nan") if sign in text}
    assert "none of fewer than 5 questions" in "\n".join(of.notes)
    assert json.loads(as_json(few))["tasks"]["locomo"]["rows"][0]["scores"]["R@10"]["low"] is None
    (enough,) = report(logged(locomo_file, tmp_path / "b.jsonl", "few")).tasks
    found, *_ = tables(enough)
    assert "±" in aligned(found)


@pytest.mark.usefixtures("made")
def test_no_interval_is_shown_where_all_values_are_alike(locomo_file: Path, tmp_path: Path) -> None:
    alike = report(logged(locomo_file, tmp_path / "a.jsonl", "none", "more", WHOLE, "without hubs"))
    (of,) = alike.tasks
    shown = [*tables(of)[:2], *price_tables(of, prices(of, 0)), change_table(changes(alike, alike))]
    text = "\n".join(map(aligned, shown))
    assert "±" in text
    assert "±0.0" not in text
    assert "+0.0 [" not in text
    assert "nor where all draws come to the same" in "\n".join(of.notes)
    assert "+0.0 [" not in page(alike)


class Reading(Knowing):
    """One that knows more, and asks a model for it: so many calls and tokens for a document and for a question."""

    def __init__(self, categories: tuple[str, ...], calls: float, means: Means) -> None:
        super().__init__(categories, means)
        self._calls = calls

    def figures(self) -> OwnFigures:
        calls = self._calls
        return OwnFigures(model_calls=calls, model_tokens=100 * calls, recall_calls=1.0, recall_tokens=50.0)


def test_what_a_model_is_worth_to_a_strategy_is_points_for_each_call(
    locomo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {
        "mem0": partial(Reading, MORE, 0.5),
        "mem0 without extract_items": partial(Reading, FEW, 0.25),
        "mem0 without merge_decide": partial(Reading, MORE, 0.75),  # the rules made more to ask
    }
    monkeypatch.setattr(runs, "contestants", lambda names: {name: known[name] for name in names})
    plan = RunPlan(tasks={"locomo": locomo_file}, rows=tuple(known), means=Means(reader="copying"))
    (of,) = report(run(plan, tmp_path / "a.jsonl")).tasks
    extracting, merging = made = prices(of, 0)
    assert (extracting.of, extracting.without) == ("mem0", "extract_items")
    assert extracting.points.mean == pytest.approx(2 / 5)
    assert (extracting.calls, extracting.tokens, extracting.recall_calls) == (0.25, 25, 0)
    assert extracting.per_call == pytest.approx(40 / 0.25)
    assert merging.calls == -0.25
    assert math.isnan(merging.per_call)
    (table,) = price_tables(of, made)
    cells = dict(zip(table.columns, table.rows[0], strict=True))
    assert cells["calls/doc saved"] == "+0.250"
    assert cells["points per call"] == "+160.00"
    notes = " ".join(price_notes(of, made))
    assert "points say nothing of a real one" in notes
    assert "judged by rules" in notes
    assert "points per call" in page(report(tmp_path / "a.jsonl"))
