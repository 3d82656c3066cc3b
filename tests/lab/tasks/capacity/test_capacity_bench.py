"""The text sweep: what is logged can be counted again, and the figures obey what must hold."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from mnemic.errors import Invalid
from mnemic.lab.tasks.capacity import capacity_report
from mnemic.lab.tasks.capacity.capacity_bench import (
    StreamQuestion,
    TextSweep,
    bench_capacity,
    measure,
    pages_in,
    pages_of,
    stream,
)
from mnemic.lab.tasks.capacity.capacity_report import (
    COLUMNS,
    LARGE,
    SweepResults,
    bars,
    read_sweep,
    show_sweep,
    tables,
    write_csv,
)
from mnemic.lab.tasks.capacity.cues import Asker, Cue
from mnemic.lab.tasks.capacity.hot_tier import BASELINES

WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in ("rt", "lk", "nd", "sp", "x")]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw = Random(0)
    path = tmp_path_factory.mktemp("text") / "book.txt"
    path.write_text(" ".join(draw.choice(WORDS) for _ in range(6_000)))
    return path


@pytest.fixture(scope="module")
def swept(book: Path) -> SweepResults:
    sweep = TextSweep(
        laws=("recent", "uniform"), capacities=("3", "20%", "100%"), policies=("lru", "importance"), every=2
    )
    return read_sweep(bench_capacity(book, out=book.parent / "runs", sweep=sweep))


def test_with_room_for_everything_every_row_finds_what_the_archive_does(swept: SweepResults) -> None:
    most = max(swept.header["capacities"])
    for law in ("recent", "uniform"):
        lines = [line for line in swept.lines if (line.law, line.capacity) == (law, most)]
        assert len(lines) == 2 + 3 * 2
        assert len({line.hit1.mean for line in lines}) == 1
        assert all(line.faults == 0 for line in lines)


def test_hits_and_faults_are_all_the_questions_and_nobody_beats_belady(swept: SweepResults) -> None:
    for line in swept.lines:
        if line.archive:
            assert line.hits + line.faults == line.questions
            assert line.of_belady <= 1
            assert line.policy not in BASELINES
        assert 0 <= line.hit1.low <= line.hit1.mean <= line.hit1.high <= 1


def test_a_window_of_three_finds_recent_things_and_hardly_any_others(swept: SweepResults) -> None:
    recent, uniform = (swept.at(law, "sliding window", 3, archive=False) for law in ("recent", "uniform"))
    assert recent is not None
    assert uniform is not None
    assert recent.hit1.mean > uniform.hit1.mean


def test_the_csv_and_the_json_hold_every_line(swept: SweepResults, tmp_path: Path) -> None:
    rows = list(csv.DictReader(write_csv(swept, tmp_path / "figures.csv").read_text().splitlines()))
    told = io.StringIO()
    show_sweep(swept, told, "json")
    made = json.loads(told.getvalue())
    assert len(rows) == len(made["rows"]) == len(swept.lines)
    assert tuple(rows[0]) == COLUMNS
    assert made["complete"]
    assert made["collected"]["longest_ms"] >= 0
    assert any("the longest pause" in note for note in made["notes"])


def test_a_table_has_a_row_for_every_policy(swept: SweepResults) -> None:
    shown = tables(swept)
    assert [table.title.split(":")[0] for table in shown] == ["recent"] * 3 + ["uniform"] * 3
    assert [row[0] for row in shown[0].rows[:-1]] == swept.header["policies"]
    told = io.StringIO()
    show_sweep(replace(swept, complete=False), told, "markdown")
    assert "cut short" in told.getvalue()
    assert "|---|" in told.getvalue()


def test_a_question_is_never_about_what_has_not_come() -> None:
    chunks = tuple(f"{n} marker{n} " + " ".join(WORDS[n : n + 20]) for n in range(45))
    by_law, collected = stream(chunks, [Asker("uniform", 0)], 10)
    asked = by_law["uniform"]
    assert collected.taken == ()
    assert [one.seen for one in asked] == [10, 20, 30, 40, 45]
    assert all(max(one.ranked) < one.seen and one.cue.target < one.seen for one in asked)


def test_what_is_first_among_residents_is_what_a_tier_alone_finds() -> None:
    pages = pages_in([f"page {n}" for n in range(6)])
    questions = [
        StreamQuestion(4, Cue(0, "q"), (0, 3), 1.0),
        StreamQuestion(6, Cue(4, "q"), (0, 4), 1.0),
    ]
    alone = measure(pages, questions, ("fifo", 2, False), 0)
    assert alone.found == (False, True)
    assert alone.hits == (False, False)
    behind = measure(pages, questions, ("lru", 3, True), 0)
    assert behind.found == (False, False)  # page 0 was brought in by the first question, and stands above page 4
    assert behind.hits == (False, True)
    assert behind.evictions == 4


def test_capacities_are_pages_or_shares() -> None:
    assert pages_of(["50", "1%", "0.001%", "100%"], 1000) == (1, 10, 50, 1000)
    for told in ("many", "-3", "0", "120%", "nan"):
        with pytest.raises(Invalid, match="capacit"):
            pages_of([told], 100)


def test_a_log_of_another_bench_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"kind": "run", "format": 1}\n')
    with pytest.raises(Invalid, match="not the log of a text sweep"):
        read_sweep(other)


def test_of_a_large_text_more_is_found_with_an_archive_than_by_a_window_of_any_size(swept: SweepResults) -> None:
    data = {**swept.header["data"], "chunks": LARGE}
    large = replace(swept, header={**swept.header, "data": data})
    assert bars(swept) == []
    assert [figure.met for figure in bars(large)] == [True, True]
    poor = [replace(line, hit1=replace(line.hit1, mean=0.0)) if line.archive else line for line in swept.lines]
    assert [figure.met for figure in bars(replace(large, lines=tuple(poor)))] == [False, False]


def test_pictures_are_drawn_of_every_law(swept: SweepResults, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from mnemic.lab.tasks.capacity.capacity_plots import draw_sweep

    drawn = draw_sweep(swept, tmp_path)
    assert [path.name for path in drawn] == ["capacity-recent.svg", "capacity-uniform.svg"]
    assert all("<svg" in path.read_text() for path in drawn)


def test_slow_policies_are_left_out_of_large_tiers_and_named(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.lab.tasks.capacity.capacity_bench.WEIGHABLE", 5)
    sweep = TextSweep(laws=("uniform",), capacities=("5", "9"), policies=("heat",), limit=30)
    made = read_sweep(bench_capacity(book, out=book.parent / "few.jsonl", sweep=sweep))
    assert {line.capacity for line in made.lines if line.policy == "heat"} == {5}
    assert any("Not run above 5 pages" in note and "heat" in note for note in capacity_report.notes(made))
