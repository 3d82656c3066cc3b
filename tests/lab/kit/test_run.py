"""A run leaves a log from which every figure can be computed again, however far it came."""

from __future__ import annotations

import contextlib
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from mnemic.errors import Invalid, NotFound
from mnemic.lab.kit import log
from mnemic.lab.kit.baselines import BAR, RankedDocs, lineup
from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Dataset
from mnemic.lab.kit.log import Log
from mnemic.lab.kit.run import run
from mnemic.lab.kit.run_report import RunReport, as_json, plain, report, show
from mnemic.lab.kit.systems import Entrant, SystemFigures
from mnemic.lab.kit.tables import bar
from mnemic.lab.tasks.locomo_bench import bench_locomo

BASELINES = list(lineup())


class Fickle:
    """Ranks otherwise when asked for more."""

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        pass

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        return (
            RankedDocs(("D1:1", "D1:2"), (3.0, 2.0))
            if k == 10
            else RankedDocs(("D2:1", "D1:2", "D1:1"), (9.0, 8.0, 7.0))
        )

    def figures(self) -> SystemFigures:
        return SystemFigures()

    def close(self) -> None:
        pass


class Oracle:
    """Knows the gold, and stops working after so many questions."""

    def __init__(self, works: int) -> None:
        self._works = works

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        self._known = corpora

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        if k == 10:  # a question's first ask
            self._works -= 1
        if self._works < 0:
            raise KeyboardInterrupt
        return RankedDocs(question.gold, tuple(1.0 for _ in question.gold))

    def figures(self) -> SystemFigures:
        return SystemFigures(bytes_per_message=1_000, lag_ms=2)

    def close(self) -> None:
        pass


@pytest.fixture
def bench_log(locomo_file: Path, tmp_path: Path) -> Path:
    return bench_locomo(locomo_file, out=tmp_path / "logs", systems=BASELINES)


def oracle_run(data: Dataset, path: Path, works: int) -> Path:
    with Log(path) as book:
        book.header(benchmark="t", seed=0, data={}, effective={})
        with contextlib.suppress(KeyboardInterrupt):
            run(data, [Entrant("oracle", lambda: Oracle(works))], book)
    return path


def test_the_log_is_named_after_the_data_and_never_overwritten(bench_log: Path, locomo_file: Path) -> None:
    assert bench_log.name.startswith("two_people-")
    with pytest.raises(Invalid, match="exists"):
        bench_locomo(locomo_file, out=bench_log)


def test_the_header_says_what_ran_on_what_with_what(bench_log: Path) -> None:
    header = log.read(bench_log).header
    assert header["data"]["evidence_mended"] == 3
    assert header["data"]["evidence_dropped"] == 2
    assert header["effective"]["systems"] == BASELINES
    assert header["passed"]["limit"] is None
    assert {"mnemic", "git", "packages", "machine", "argv", "seed"} <= header.keys()


def test_every_question_of_every_system_is_there_with_what_was_ranked(bench_log: Path, pair: Dataset) -> None:
    read = log.read(bench_log)
    assert read.complete
    assert list(read.answers) == BASELINES
    for answers in read.answers.values():
        assert [a.question for a in answers] == [q.id for q in pair.questions]
        assert [a.gold for a in answers] == [q.gold for q in pair.questions]
    assert read.docs["pair-1"]["D2:1"].session == "S2"
    assert read.docs["pair-1"]["D2:1"].tokens > 0
    assert read.costs["no memory"].messages == 6


def test_a_log_gives_back_what_was_written(pair: Dataset, tmp_path: Path) -> None:
    read = log.read(oracle_run(pair, tmp_path / "a.jsonl", 99))
    assert [a.ranked for a in read.answers["oracle"]] == [q.gold for q in pair.questions]
    assert read.answers["oracle"][2].scores == (1.0, 1.0)
    assert read.costs["oracle"].bytes_per_message == 1_000
    outcome = read.outcome(read.answers["oracle"][3])
    assert outcome.ranked_sessions == ("S2", "S10")
    assert math.isnan(read.outcome(read.answers["oracle"][5]).score)


def test_nobody_gains_in_the_first_ten_by_being_asked_for_more(pair: Dataset, tmp_path: Path) -> None:
    with Log(tmp_path / "a.jsonl") as book:
        book.header(benchmark="t", seed=0, data={}, effective={})
        run(pair.first(1), [Entrant("fickle", Fickle)], book)
    (answer,) = log.read(tmp_path / "a.jsonl").answers["fickle"]
    assert answer.ranked == ("D1:1", "D1:2", "D2:1")
    assert answer.scores == (3.0, 2.0, 9.0)


def test_a_run_cut_short_leaves_a_log_that_reads_and_reports(pair: Dataset, tmp_path: Path) -> None:
    path = oracle_run(pair, tmp_path / "a.jsonl", 3)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"kind":"answer","sys')
    read = log.read(path)
    assert not read.complete
    assert len(read.answers["oracle"]) == 3


def test_damage_in_the_middle_and_strange_files_are_refused(bench_log: Path, tmp_path: Path) -> None:
    lines = bench_log.read_text(encoding="utf-8").splitlines(keepends=True)
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text("".join([*lines[:3], "{broken\n", *lines[3:]]), encoding="utf-8")
    strange = tmp_path / "strange.jsonl"
    strange.write_text('{"a": 1}\n', encoding="utf-8")
    for path in (damaged, strange):
        with pytest.raises(Invalid):
            log.read(path)
    with pytest.raises(NotFound):
        log.read(tmp_path / "nowhere.jsonl")


def test_the_report_is_computed_from_the_log_alone_and_the_same_each_time(bench_log: Path) -> None:
    assert as_json(report(bench_log)) == as_json(report(bench_log))
    rows = {row.system: row for row in report(bench_log).rows}
    assert rows["no memory"].scores["R@10"].mean == 0
    assert rows["recent window"].scores["R@10"].mean == 1
    assert rows["recent window"].scores["R@10"].n == 5
    assert rows["recent window"].answerable["R@10"].n == 4
    assert rows["recent window"].scores["R@1"].mean == pytest.approx(0.5 / 5)
    assert rows["recent window"].categories["multi-hop"].n == 1
    assert rows[BAR].gain is None
    assert rows["no memory"].gain is not None
    assert rows["no memory"].gain.mean == -rows[BAR].scores["R@10"].mean


def test_an_edited_log_gives_other_figures(bench_log: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.jsonl"
    lines = [json.loads(line) for line in bench_log.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if line["kind"] == "answer":
            line["ranked"] = line["gold"]
    changed.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert all(row.scores["R@10"].mean == 1 for row in report(changed).rows)


def test_json_markdown_and_plain_text_show_every_system(bench_log: Path) -> None:
    made = report(bench_log)
    for form in ("json", "markdown", "plain", None):
        stream = io.StringIO()
        show(made, stream, form)
        for name in BASELINES:
            assert name in stream.getvalue()
    loaded = json.loads(as_json(made))
    assert loaded["rows"][0]["scores"]["R@10"]["mean"] == 0
    assert loaded["rows"][0]["auroc"] is None


def test_a_terminal_gets_tables_that_fit_it(bench_log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for columns in ("60", "250"):
        monkeypatch.setenv("COLUMNS", columns)
        stream = Terminal()
        show(report(bench_log), stream)
        assert "0.6 BM25+date + 0.4 window" in stream.getvalue()
        assert "…" not in stream.getvalue()


def test_the_footnotes_say_which_rows_need_an_embedder(bench_log: Path) -> None:
    assert any("embedder" in note for note in report(bench_log).notes)


def test_a_limit_and_a_choice_of_systems_are_kept(locomo_file: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    path = bench_locomo(
        locomo_file,
        out=tmp_path / "x.jsonl",
        systems=["BM25 turns"],
        limit=2,
        progress=lambda *step: seen.append(step),
    )
    made: RunReport = report(path)
    assert [(row.system, row.asked) for row in made.rows] == [("BM25 turns", 2)]
    assert seen == [("BM25 turns", 0, 2), ("BM25 turns", 1, 2), ("BM25 turns", 2, 2)]


def test_an_unknown_system_is_refused_with_those_there_are(locomo_file: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="recent window"):
        bench_locomo(locomo_file, out=tmp_path, systems=["magic"])
    assert list(tmp_path.iterdir()) == []


def test_a_limit_below_one_is_refused_before_anything_is_written(locomo_file: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="limit"):
        bench_locomo(locomo_file, out=tmp_path, limit=0)
    assert list(tmp_path.iterdir()) == []


def test_a_run_cut_short_before_its_first_answer_still_reports(locomo_file: Path, tmp_path: Path) -> None:
    def interrupted(system: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        bench_locomo(locomo_file, out=tmp_path / "x.jsonl", systems=BASELINES, progress=interrupted)
    made = report(tmp_path / "x.jsonl")
    assert made.rows == ()
    assert not made.complete
    assert "cut short" in plain(made)


@pytest.mark.parametrize(("share", "drawn"), [(0, ""), (1, "█" * 12), (0.5, "█" * 6), (1 / 24, "▌"), (math.nan, "")])
def test_bars_are_an_eighth_of_a_character_fine(share: float, drawn: str) -> None:
    assert bar(share).strip() == drawn
