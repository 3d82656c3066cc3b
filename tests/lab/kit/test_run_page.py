"""A run as a page: it needs nothing else, says what went badly, and no text of the data steers it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.lab.kit.answer_stage import AnswerPlan
from mnemic.lab.kit.comparison import change_table, changes
from mnemic.lab.kit.made_samples import write_samples
from mnemic.lab.kit.metrics import Estimate
from mnemic.lab.kit.plot_frame import COLOURS
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_page import page, page_table, sorted_by, write_page
from mnemic.lab.kit.run_pictures import bars
from mnemic.lab.kit.run_report import RunReport, best_first, chief, markdown, overview, plain, report, tables, worst
from mnemic.lab.kit.tables import TextTable, percent
from mnemic.lab.tasks.small_task import SmallTask

EVIL = "<script>alert(1)</script> | *x* \u202e"


class Outline(HTMLParser):
    """Counts tags, and checks that they close."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)


@pytest.fixture
def made(locomo_file: Path, tmp_path: Path) -> RunReport:
    samples = json.loads(locomo_file.read_text("utf-8"))
    samples[0]["qa"][0]["question"] = EVIL
    samples[0]["conversation"]["session_1"][0]["text"] += EVIL
    path = tmp_path / "evil.json"
    path.write_text(json.dumps(samples), encoding="utf-8")
    rows = ("no memory", "BM25 turns", "recent window")
    return report(run(RunPlan(tasks={"locomo": path}, rows=rows), tmp_path / "a.jsonl"))


def test_a_page_needs_nothing_else_and_closes_what_it_opens(made: RunReport) -> None:
    shown = page(made)
    outline = Outline()
    outline.feed(shown)
    assert outline.open == []
    assert outline.tags.count("script") == 1
    assert {"table", "svg", "details"} <= set(outline.tags)
    assert not re.search(r"(src|href|url)\s*[=(]", shown)
    assert "prefers-color-scheme: dark" in shown
    assert 'name="viewport"' in shown
    for name in ("no memory", "BM25 turns", "recent window", "2 faults in the data"):
        assert name in shown


def test_no_text_of_the_data_steers_a_page_or_a_list(made: RunReport) -> None:
    assert EVIL not in page(made)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page(made)
    assert "\u202e" not in page(made)
    listed = markdown(made)
    assert "<script>" not in listed
    assert r"\<script\>" in listed


def test_the_worst_questions_stand_with_what_was_wanted_and_what_came_first(made: RunReport) -> None:
    (of,) = made.tasks
    assert chief(of) == "no memory"
    bad = worst(of, "no memory")
    assert len(bad) == 5
    assert bad[0].score == 0
    assert bad[0].wanted[0].rank is None
    assert bad[0].wanted[0].text
    assert worst(of, "recent window") == []
    assert [question.id for question in worst(of, "no memory", 2)] == [question.id for question in bad[:2]]


@pytest.fixture
def answered(locomo_file: Path, tmp_path: Path) -> RunReport:
    asked = AnswerPlan(model=f"scripted:{EVIL}", judges=('scripted:{"reasoning": "", "label": "RIGHT"}', "scripted:hm"))
    rows = ("no memory", "BM25 turns")
    return report(run(RunPlan(tasks={"locomo": locomo_file}, rows=rows, answers=asked), tmp_path / "b.jsonl"))


def test_answers_and_marks_stand_on_the_page_beside_what_was_right(answered: RunReport) -> None:
    shown = page(answered)
    outline = Outline()
    outline.feed(shown)
    assert outline.open == []
    assert EVIL not in shown
    assert "Answers: LoCoMo F1, and what judges found right" in shown
    assert "right answer: " in shown
    assert ", right, unread</span>" in shown
    (bad, *_) = worst(answered.tasks[0], "no memory")
    assert bad.right
    assert [marks for _, _, marks in bad.answers] == [", right, unread"]
    assert "answered by scripted:" in markdown(answered)


def test_what_was_found_by_depth_and_category_is_drawn(made: RunReport) -> None:
    shown = page(made)
    assert "R@k, %, by k" in shown
    assert shown.count('<polyline class="curve') == 3
    assert "R@10 by category" in shown
    for category in ("single-hop", "multi-hop", "temporal"):
        assert f"<button>{category}</button>" in shown


def test_the_best_stand_first_on_the_board_and_equals_by_name(made: RunReport) -> None:
    (of,) = made.tasks
    found = {row.system: row.scores["R@10"].mean for row in of.rows}
    assert found["no memory"] < found["BM25 turns"] <= found["recent window"]
    board = page(made).partition("Leaderboard")[2].partition("</table>")[0]
    names = re.findall(r'<tr[^>]*><th scope="row">([^<]+)</th>', board)
    assert names == sorted(found, key=lambda name: (-found[name], name))
    assert names[-1] == "no memory"
    level = replace(of, rows=tuple(replace(row, scores=of.rows[0].scores) for row in of.rows))
    assert [row.system for row in best_first(level)] == ["BM25 turns", "no memory", "recent window"]


def test_every_picture_says_in_words_what_it_draws(made: RunReport) -> None:
    shown = page(made)
    labels = re.findall(r'<svg [^>]*aria-label="([^"]+)"', shown)
    assert len(labels) == shown.count("<svg ")
    (of,) = made.tasks
    for row in of.rows:
        assert any(label.startswith(f"{percent(row.scores['R@10'])} %") for label in labels)
        (by_depth,) = [label for label in labels if label.startswith("R@k, %, by k. ")]
        assert f"{row.system}: 1: {100 * row.scores['R@1'].mean:.1f}, " in by_depth


def test_a_colour_that_a_page_draws_with_is_one_in_light_and_in_dark(made: RunReport) -> None:
    shown = page(made)
    light, _, dark = shown.partition("prefers-color-scheme: dark")
    used = set(re.findall(r"var\((--\w+)\)", shown))
    assert {f"--c{n}" for n in range(COLOURS)} <= used
    for name in used:
        assert f"{name}: #" in light
        assert f"{name}: #" in dark or name == "--card"


def test_a_page_that_cannot_be_written_is_refused(made: RunReport, tmp_path: Path) -> None:
    assert write_page(made, tmp_path / "a.html").read_text("utf-8").startswith("<!doctype html>")
    for nowhere in (tmp_path, tmp_path / "deep" / "a.html"):
        with pytest.raises(Invalid, match="cannot write"):
            write_page(made, nowhere)
    assert not (tmp_path / "deep").exists()


def test_several_tasks_stand_at_a_glance_first_each_with_a_way_to_it(tmp_path: Path) -> None:
    locomo = Path(__file__).parent.with_name("two_people.json")
    plan = RunPlan(tasks={"locomo": locomo, "locomo-audited": locomo}, rows=("BM25 turns", "no memory"), limit=3)
    made = report(run(plan, tmp_path / "a.jsonl"))
    of = {row[0]: row[1:] for row in overview(made).rows}
    assert list(of) == ["locomo", "locomo-audited"]
    for each in made.tasks:
        found = [f"{100 * row.scores[each.task.headline].mean:.1f}" for row in each.rows]
        assert of[each.task.name] == (each.task.headline, "3", *found)
    written = page(made)
    for name in of:
        assert written.index(f'<a href="#{name}">') < written.index(f'<h2 id="{name}">')
    assert plain(made).startswith("Every task at a glance")
    one = report(run(replace(plan, tasks={"locomo": locomo}), tmp_path / "b.jsonl"))
    assert "at a glance" not in page(one)
    assert "at a glance" not in plain(one)


def test_what_a_task_makes_itself_is_marked_wherever_its_figures_stand(tmp_path: Path) -> None:
    one = RunPlan(tasks={"small": Path()}, rows=("BM25 found",), variants={"small": SmallTask(each=1)})
    made = report(run(one, tmp_path / "a.jsonl"))
    for shown in (plain(made), markdown(made), page(made)):
        assert "Evidence found, % (made up)" in shown
        assert "cases of our own" in shown
    later = report(run(one, tmp_path / "b.jsonl"))
    compared = changes(made, later)
    assert all((change.task, change.made_up) == ("small", True) for change in compared)
    assert {row[0] for row in change_table(compared).rows} == {"small (made up)"}


def test_the_best_row_stands_first_in_every_table(tmp_path: Path) -> None:
    locomo = Path(__file__).parent.with_name("two_people.json")
    made = report(run(RunPlan(tasks={"locomo": locomo}, rows=("no memory", "BM25 turns")), tmp_path / "a.jsonl"))
    for table in tables(made.tasks[0])[:3]:
        assert [row[0] for row in table.rows] == ["BM25 turns", "no memory"]


def test_at_a_glance_samples_are_marked_and_strategies_said_to_be_ours(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples")
    tasks = {"locomo": Path(__file__).parent.with_name("two_people.json"), "beam": tmp_path / "samples" / "beam"}
    for rows, ours in ((("BM25 turns",), False), (("BM25 turns", "mem0"), True)):
        made = report(run(RunPlan(tasks=tasks, rows=rows, limit=2), tmp_path / f"{ours}.jsonl"))
        assert [row[0] for row in overview(made).rows] == ["locomo", "beam (made up)"]
        for shown in (plain(made), markdown(made), page(made)):
            before, _, _ = shown.partition("Evidence found")
            assert "says nothing about a memory" in before
            assert shown.count("beam (made up)") > 1
            assert "Evidence found, % (made up)" in shown
            assert "locomo (made up)" not in shown
            assert ("own strategies, after these papers" in before) is ours
        assert [any("own strategies" in note for note in each.notes) for each in made.tasks] == [ours, ours]
        assert [any("made up" in note for note in each.notes) for each in made.tasks] == [False, True]


def test_cells_are_sorted_by_the_number_they_begin_with_and_dashes_and_words_by_none() -> None:
    cells = {
        "62.1 ±3.0": 62.1,
        "1,234": 1234,
        "+3.2 [+1.0, +5.4]": 3.2,
        "-27.4 [-]": -27.4,
        "50 %": 50,
        "at once": math.inf,
    }
    assert {cell: sorted_by(cell) for cell in cells} == cells
    assert [sorted_by(cell) for cell in ("-", "", "yes", "R@10")] == [None] * 4


def test_words_and_figures_are_columns_of_their_own_sort_and_bars_of_characters_none() -> None:
    rows = (("a", "R@10", "1,000", "███", "-"), ("0.6 b", "", "-", "", "-"))
    shown = "".join(page_table(TextTable("", ("task", "headline", "n", "bar", "none"), rows)))
    assert '<th scope="col" class="words"><button>task' in shown, "though a name begins with digits"
    assert '<th scope="col" class="words"><button>headline' in shown
    assert '<th scope="col"><button>n</button>' in shown
    assert '<td data-value="1000">1,000</td>' in shown
    assert "<button>bar" not in shown
    assert '<th scope="col"><button>none' in shown


def test_a_mean_without_an_interval_is_drawn_as_a_dot() -> None:
    drawn = bars(Estimate(0.5, math.nan, math.nan, 3))
    assert "<circle" in drawn
    assert 'class="range"' not in drawn
    assert bars(Estimate(math.nan, math.nan, math.nan, 0)) == ""
