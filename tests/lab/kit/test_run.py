"""A run leaves a log from which every figure can be computed again, however far it came."""

from __future__ import annotations

import contextlib
import io
import json
import math
import multiprocessing
import os
import re
import signal
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from mnemic.errors import Invalid, NotFound
from mnemic.lab.kit import log
from mnemic.lab.kit import run as runs
from mnemic.lab.kit.baselines import BAR, lineup
from mnemic.lab.kit.contest import Limits
from mnemic.lab.kit.contestant import Means, OwnFigures, RankedDocs
from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Dataset
from mnemic.lab.kit.output_places import refuse_file, refuse_log, refuse_page
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_page import page
from mnemic.lab.kit.run_report import RunReport, SystemRow, as_json, markdown, plain, provenance, report, show, tables
from mnemic.lab.kit.tables import bar, in_markdown

BASELINES = tuple(lineup())


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

    def figures(self) -> OwnFigures:
        return OwnFigures()

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

    def figures(self) -> OwnFigures:
        return OwnFigures(bytes_per_message=1_000, lag_ms=2)

    def close(self) -> None:
        pass


def plan(path: Path, rows: Sequence[str] = BASELINES, limit: int | None = None) -> RunPlan:
    return RunPlan(tasks={"locomo": path}, rows=tuple(rows), limit=limit)


def rows_of(made: RunReport) -> dict[str, SystemRow]:
    (only,) = made.tasks
    return {row.system: row for row in only.rows}


@pytest.fixture
def bench_log(locomo_file: Path, tmp_path: Path) -> Path:
    return run(plan(locomo_file), tmp_path / "logs")


@pytest.fixture
def oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes `oracle`, `oracle2` (which stops at its third question) and `fickle` contestants."""
    made = {"oracle": partial(_oracle, 99), "oracle2": partial(_oracle, 2), "fickle": _fickle}
    monkeypatch.setattr(runs, "contestants", lambda names: {name: made[name] for name in names})


def _oracle(works: int, means: Means) -> Oracle:
    return Oracle(works)


def _fickle(means: Means) -> Fickle:
    return Fickle()


def test_the_log_is_named_after_the_data_and_never_overwritten(bench_log: Path, locomo_file: Path) -> None:
    assert bench_log.name.startswith("two_people-")
    with pytest.raises(Invalid, match="exists"):
        run(plan(locomo_file), bench_log)


def test_the_header_says_what_ran_on_what_with_what(bench_log: Path) -> None:
    header = log.read(bench_log).header
    assert header["data"]["locomo"]["evidence_mended"] == 3
    assert header["data"]["locomo"]["evidence_dropped"] == 2
    assert [fault["what"] for fault in header["data"]["locomo"]["faults_listed"]] == [
        "evidence of pair-1-q3 names no document: 'D'",
        "evidence of pair-1-q4 names no document: D7:9",
    ]
    assert header["settings"]["contestants"] == {"locomo": list(BASELINES)}
    assert header["settings"]["limit"] is None
    assert {"mnemic", "git", "packages", "machine", "argv", "seed"} <= header.keys()


def test_every_question_of_every_system_is_there_with_what_was_ranked(bench_log: Path, pair: Dataset) -> None:
    read = log.read(bench_log)
    assert read.complete
    assert list(read.answers) == list(BASELINES)
    for answers in read.answers.values():
        assert [a.question for a in answers] == [q.id for q in pair.questions]
        assert [a.gold for a in answers] == [q.gold for q in pair.questions]
    assert read.docs["pair-1"]["D2:1"].session == "S2"
    assert read.docs["pair-1"]["D2:1"].tokens > 0
    assert read.costs["no memory"].messages == 6


@pytest.mark.usefixtures("oracle")
def test_a_log_gives_back_what_was_written(locomo_file: Path, pair: Dataset, tmp_path: Path) -> None:
    read = log.read(run(plan(locomo_file, ["oracle"]), tmp_path / "a.jsonl"))
    assert [a.ranked for a in read.answers["oracle"]] == [q.gold for q in pair.questions]
    assert read.answers["oracle"][2].scores == (1.0, 1.0)
    assert read.costs["oracle"].bytes_per_message == 1_000
    outcome = read.outcome(read.answers["oracle"][3])
    assert outcome.ranked_sessions == ("S2", "S10")
    assert math.isnan(read.outcome(read.answers["oracle"][5]).score)
    assert read.questions["pair-1", "pair-1-q0"] == pair.questions[0].text
    assert read.texts["pair-1", "D1:3"].startswith("Look at this.")


@pytest.mark.usefixtures("oracle")
def test_nobody_gains_in_the_first_ten_by_being_asked_for_more(locomo_file: Path, tmp_path: Path) -> None:
    path = run(plan(locomo_file, ["fickle"], limit=1), tmp_path / "a.jsonl")
    (answer,) = log.read(path).answers["fickle"]
    assert answer.ranked == ("D1:1", "D1:2", "D2:1")
    assert answer.scores == (3.0, 2.0, 9.0)


@pytest.mark.usefixtures("oracle")
def test_a_run_cut_short_leaves_a_log_that_reads_and_reports(locomo_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with contextlib.suppress(KeyboardInterrupt):
        run(plan(locomo_file, ["oracle2"]), path)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"kind":"answer","sys')
    read = log.read(path)
    assert not read.complete
    assert len(read.answers["oracle2"]) == 2


def test_a_run_goes_on_where_it_ended(locomo_file: Path, tmp_path: Path) -> None:
    whole = run(plan(locomo_file), tmp_path / "whole.jsonl")
    lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
    for cut in (1, 4, len(lines) // 2, len(lines) - 1):
        path = tmp_path / f"{cut}.jsonl"
        path.write_text("".join(lines[:cut]) + lines[cut][:9], encoding="utf-8")
        assert run(plan(locomo_file), path, resume=True) == path
        assert log.read(path).complete
        for name, row in rows_of(report(path)).items():
            assert row.scores == rows_of(report(whole))[name].scores
    before = whole.read_text(encoding="utf-8")
    run(plan(locomo_file), whole, resume=True)
    assert whole.read_text(encoding="utf-8") == before


def test_a_run_cut_between_two_corpora_goes_on_with_both(locomo_file: Path, tmp_path: Path) -> None:
    (sample,) = json.loads(locomo_file.read_text(encoding="utf-8"))
    both = tmp_path / "both.json"
    both.write_text(json.dumps([sample, {**sample, "sample_id": "pair-2"}]), encoding="utf-8")
    whole = run(plan(both, ["BM25 turns"]), tmp_path / "whole.jsonl")
    lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path / "cut.jsonl"
    path.write_text("".join(lines[:2]), encoding="utf-8")  # the header, and the first of two corpora
    run(plan(both, ["BM25 turns"]), path, resume=True)
    assert log.read(path).docs == log.read(whole).docs
    assert rows_of(report(path))["BM25 turns"].scores == rows_of(report(whole))["BM25 turns"].scores


def test_only_a_log_is_gone_on_with(locomo_file: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="resume"):
        run(plan(locomo_file), tmp_path, resume=True)


def test_a_log_that_is_gone_on_with_is_complete_when_it_ends_again(bench_log: Path) -> None:
    with log.Log(bench_log, going_on=True) as going_on:
        going_on.add("resumed")
    assert not log.read(bench_log).complete


def test_a_row_that_needs_an_embedder_is_refused_without_one(locomo_file: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="'hybrid' needs an embedder"):
        run(plan(locomo_file, ["hybrid"]), tmp_path)


class Foreign:
    """Gives what NumPy counts in, and a ranking of anyone's making."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = tuple(ids)

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        pass

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        return RankedDocs(self._ids, tuple(np.float32(1) for _ in self._ids))

    def figures(self) -> OwnFigures:
        return OwnFigures(bytes_per_message=np.int64(7), model_calls=np.float32(2))  # type: ignore[arg-type]

    def close(self) -> None:
        pass


def _foreign(ids: Sequence[str], means: Means) -> Foreign:
    return Foreign(ids)


def test_figures_of_numpy_become_plain_numbers(
    locomo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "contestants", lambda names: {"foreign": partial(_foreign, ["D1:1"])})
    read = log.read(run(plan(locomo_file, ["foreign"]), tmp_path / "a.jsonl"))
    assert read.costs["foreign"].bytes_per_message == 7
    assert read.costs["foreign"].model_calls == 2
    assert read.answers["foreign"][0].scores == (1,)


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (["D1:1", "D1:1"], "'D1:1' was ranked twice"),
        ([f"D1:{n}" for n in range(11)], "11 documents were ranked where 10 were asked for"),
        (["D9:9"], "'D9:9' was ranked, which is no document"),
    ],
)
def test_a_ranking_that_breaks_the_protocol_is_an_error(
    ids: Sequence[str], told: str, locomo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "contestants", lambda names: {"foreign": partial(_foreign, ids)})
    with pytest.raises(ValueError, match=told):
        run(plan(locomo_file, ["foreign"]), tmp_path / "a.jsonl")


def test_a_run_that_goes_on_with_other_settings_is_refused_with_the_difference(
    locomo_file: Path, tmp_path: Path
) -> None:
    path = run(plan(locomo_file, limit=2), tmp_path / "a.jsonl")
    with pytest.raises(Invalid, match="limit: 2 then, 3 now"):
        run(plan(locomo_file, limit=3), path, resume=True)
    other = tmp_path / "other.json"
    other.write_text(locomo_file.read_text(encoding="utf-8") + " ", encoding="utf-8")
    with pytest.raises(Invalid, match="tasks locomo: "):
        run(plan(other, limit=2), path, resume=True)


def test_jobs_and_limits_are_settings_too(locomo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "compete_apart", lambda jobs, take, failed, **how: None)
    path = run(plan(locomo_file), tmp_path / "a.jsonl", apart=Limits(disk_mib=40))
    with pytest.raises(Invalid, match="jobs: 1 then, 2 now"):
        run(plan(locomo_file), path, resume=True, apart=Limits(disk_mib=40), at_once=2)
    with pytest.raises(Invalid, match="limits disk_mib: 40 then, 50 now"):
        run(plan(locomo_file), path, resume=True, apart=Limits(disk_mib=50))


def test_damage_in_the_middle_and_strange_files_are_refused(bench_log: Path, tmp_path: Path) -> None:
    lines = bench_log.read_text(encoding="utf-8").splitlines(keepends=True)
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text("".join([*lines[:3], "{broken\n", *lines[3:]]), encoding="utf-8")
    strange = tmp_path / "strange.jsonl"
    strange.write_text('{"a": 1}\n', encoding="utf-8")
    with pytest.raises(Invalid, match=r"line 4 of damaged\.jsonl is not JSON"):
        log.read(damaged)
    with pytest.raises(Invalid):
        log.read(strange)
    with pytest.raises(NotFound):
        log.read(tmp_path / "nowhere.jsonl")


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("42", "is JSON, but no record"),
        ("[]", "is JSON, but no record"),
        ("{}", "is no record of a run: it says no kind"),
        ('{"kind":7,"task":"locomo"}', "is no record of a run: it says no kind"),
        ('{"kind":"answers","task":"locomo"}', "is no record of a run: its kind is 'answers'"),
        ('{"kind":"cost","task":"dmr"}', "is of 'dmr', which is no task of this run"),
        ('{"kind":"text","ns":"a","id":"b","text":"c"}', "is of '', which is no task of this run"),
        ('{"kind":"answer","task":"locomo","ns":"pair-1"}', "has not the fields of a record `answer`"),
        ('{"kind":"corpus","task":"locomo","ns":"pair-1","docs":[1]}', "has not the fields of a record `corpus`"),
        ('{"kind":"text","task":"locomo","ns":[],"id":"b","text":"c"}', "has not the fields of a record `text`"),
        ('{"kind":"cost","task":"locomo","system":"BM25 turns"}', "has not the fields of a record `cost`"),
        ('{"kind":"mark","task":"locomo","said":3}', "has not the fields of a record `mark`"),
        ('{"kind":"run","bench":"run"}', "begins a second run"),
    ],
)
def test_a_line_that_is_other_json_is_named_with_what_is_wrong(
    line: str, wrong: str, bench_log: Path, tmp_path: Path
) -> None:
    lines = bench_log.read_text(encoding="utf-8").splitlines(keepends=True)
    changed = tmp_path / "changed.jsonl"
    changed.write_text("".join([*lines[:6], f"{line}\n", *lines[7:]]), encoding="utf-8")
    with pytest.raises(Invalid, match=re.escape(f"line 7 of changed.jsonl {wrong}")):
        log.read(changed)


def test_an_answer_that_ranks_what_no_corpus_holds_is_named(bench_log: Path, tmp_path: Path) -> None:
    lines = bench_log.read_text(encoding="utf-8").splitlines(keepends=True)
    (n,) = [n for n, line in enumerate(lines) if '"corpus"' in line]
    first = next(n for n, line in enumerate(lines, start=1) if '"answer"' in line and '"ranked":["' in line)
    changed = tmp_path / "changed.jsonl"
    changed.write_text("".join([*lines[:n], lines[n + 1], *lines[n + 1 :]]), encoding="utf-8")
    with pytest.raises(Invalid, match=rf"line {first} of changed\.jsonl ranks 'D\d+:\d+', .* no line before it"):
        log.read(changed)


def test_answers_that_another_line_took_the_place_of_are_counted_in_the_notes(bench_log: Path, tmp_path: Path) -> None:
    lines = bench_log.read_text(encoding="utf-8").splitlines(keepends=True)
    first, *others = [n for n, line in enumerate(lines) if '"answer"' in line and f'"system":"{BAR}"' in line]
    lines[others[0]] = lines[first]
    changed = tmp_path / "changed.jsonl"
    changed.write_text("".join(lines), encoding="utf-8")
    (of,) = report(changed).tasks
    asked = len(others) + 1
    assert f"Of `{BAR}` {asked - 1} of {asked} answers stand in the log: lines are missing." in of.notes
    (whole,) = report(bench_log).tasks
    assert not any("lines are missing" in note for note in whole.notes)


def test_the_report_is_computed_from_the_log_alone_and_the_same_each_time(bench_log: Path) -> None:
    assert as_json(report(bench_log)) == as_json(report(bench_log))
    rows = rows_of(report(bench_log))
    assert rows["no memory"].scores["R@10"].mean == 0
    assert rows["recent window"].scores["R@10"].mean == 1
    assert rows["recent window"].scores["R@10"].n == 5
    assert rows["recent window"].answerable["R@10"].n == 4
    assert rows["recent window"].scores["R@1"].mean == pytest.approx(0.5 / 5)
    assert rows["recent window"].categories["multi-hop"]["R@10"].n == 1
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
    assert all(row.scores["R@10"].mean == 1 for row in rows_of(report(changed)).values())


def test_each_metric_counts_its_own_questions_and_the_notes_those_whose_turns_are_lost(tmp_path: Path) -> None:
    said = {"type": "doc", "ns": "a", "session": "S1", "pos": 0, "ts": "", "speaker": "Ada"}
    docs = [{**said, "id": f"D1:{n}", "text": f"My {word} is blue."} for n, word in enumerate(("hat", "cup", "car"), 1)]
    gold: list[list[str]] = [["D1:1"], ["D1:2"], ["D1:3"], ["D1:1"], [], ["D9:9"]]
    asked = [
        {"type": "query", "ns": "a", "id": f"q{n}", "text": "Blue?", "category": "temporal", "gold": ids,
         "gold_sessions": ["S1"]}
        for n, ids in enumerate(gold)
    ]  # fmt: skip
    (data := tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in (*docs, *asked)))
    made = report(run(plan(data, ["BM25 turns"]), tmp_path / "logs"))
    scores = rows_of(made)["BM25 turns"].scores
    assert (scores["R@10"].n, scores["session any@5"].n) == (4, 6)
    found, *_, by_category = tables(made.tasks[0])
    assert [row[1] for row in (*found.rows, *by_category.rows)] == ["4", "4", "4"]
    (of_data,) = [note for note in made.tasks[0].notes if note.startswith("a, sha256")]
    assert "6 questions, 0 without evidence and left out, 2 with none but a session: no metric of turns" in of_data
    assert "n is of R@10; of ses any@5, ses any@10: 6." in made.tasks[0].notes


def test_json_markdown_and_plain_text_show_every_system(bench_log: Path) -> None:
    made = report(bench_log)
    for form in ("json", "markdown", "plain", None):
        stream = io.StringIO()
        show(made, stream, form)
        for name in BASELINES:
            assert name in stream.getvalue()
    loaded = json.loads(as_json(made))
    assert loaded["tasks"]["locomo"]["rows"][0]["scores"]["R@10"]["mean"] == 0
    assert loaded["tasks"]["locomo"]["rows"][0]["auroc"] is None


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


STEERS = "a | b `c` \x1b[2J [red]d\u202e\ne"


def test_no_word_of_the_data_steers_a_terminal_or_a_table(
    locomo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    samples = json.loads(locomo_file.read_text("utf-8"))
    samples[0]["qa"][0] |= {"category": STEERS, "question": STEERS}
    evil = tmp_path / "evil.json"
    evil.write_text(json.dumps(samples), encoding="utf-8")
    made = report(run(plan(evil, ["BM25 turns"]), tmp_path / "a.jsonl"))
    monkeypatch.setenv("COLUMNS", "400")
    for form in ("markdown", "plain", None):
        stream = Terminal() if form is None else io.StringIO()
        show(made, stream, form)
        shown = stream.getvalue().replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "")
        assert "\x1b" not in shown.replace("\x1b[1;31m", "")
        assert "\u202e" not in shown
        assert "\\x1b" in shown
        if form == "markdown":
            assert "a \\| b \\`c\\`" in shown
        else:
            assert "[red]d" in shown


def test_the_footnotes_say_which_rows_need_an_embedder(bench_log: Path) -> None:
    assert any("embedder" in note for note in report(bench_log).tasks[0].notes)


@pytest.mark.parametrize(
    ("rows", "against"),
    [
        (("no memory", BAR), BAR),
        (("hippo2", "BM25 turns", "recent window"), "BM25 turns"),
        (("hippo2", "mem0"), "hippo2"),
    ],
)
def test_who_runs_is_held_against_the_usual_row_or_the_first_baseline_or_the_first(
    locomo_file: Path, tmp_path: Path, rows: tuple[str, ...], against: str
) -> None:
    made = report(run(plan(locomo_file, rows, 3), tmp_path / "a.jsonl"))
    (of,) = made.tasks
    assert of.against == against
    assert {row.system for row in of.rows if row.gain is None} == {against}
    shown = plain(made)
    assert f"beside {against}" in shown
    assert f"Differences are from `{against}`" in shown
    assert (f"(`{BAR}` took no part)" in shown) is (against != BAR)
    assert f"<button>beside {against}</button>" in page(made)


def test_a_markdown_report_says_first_where_it_is_from_as_the_page_does(bench_log: Path) -> None:
    made = report(bench_log)
    head, origin, *_ = markdown(made).split("\n\n")
    assert head == "# locomo"
    for line in provenance(made):
        assert in_markdown(line) in origin
        assert line in page(made)
    assert "seed 0" in origin
    assert made.header["mnemic"] in origin


def test_a_limit_and_a_choice_of_systems_are_kept(locomo_file: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    path = run(
        plan(locomo_file, ["BM25 turns"], limit=2), tmp_path / "x.jsonl", progress=lambda *step: seen.append(step)
    )
    assert [(name, row.asked) for name, row in rows_of(report(path)).items()] == [("BM25 turns", 2)]
    assert list(dict.fromkeys(seen)) == [("BM25 turns", 0, 2), ("BM25 turns", 1, 2), ("BM25 turns", 2, 2)]


def test_an_unknown_system_is_refused_with_those_there_are(locomo_file: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="recent window"):
        run(plan(locomo_file, ["magic"]), tmp_path)
    assert list(tmp_path.iterdir()) == []


class Noting:
    """Notes how many documents it was given."""

    given: ClassVar[list[int]] = []

    read_by: ClassVar[list[str]] = []

    def __init__(self, means: Means) -> None:
        self.read_by.append(means.reader)

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        self.given.append(sum(len(corpus.docs) for corpus in corpora))

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        return RankedDocs(())

    def figures(self) -> OwnFigures:
        return OwnFigures()

    def close(self) -> None:
        pass


def test_who_runs_in_this_process_tries_a_few_documents_first_and_none_of_it_is_logged(
    locomo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "contestants", lambda names: {"noting": Noting})
    plan = RunPlan(tasks={"locomo": locomo_file}, rows=("noting",), means=Means(reader="copying"), limit=2)
    path = run(plan, tmp_path / "a.jsonl", warm=True)
    few, whole = Noting.given
    assert few < whole
    assert Noting.read_by == ["none", "copying"]  # a model that is paid is not asked for nothing
    logged = log.read(path)
    assert logged.costs["noting"].messages == whole
    assert len(logged.answers["noting"]) == 2


def test_where_nothing_can_be_written_is_told_before_anything_runs(locomo_file: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "deep"
    (tmp_path / "file").touch()
    (tmp_path / "there.jsonl").touch()
    for out, why in (
        (nowhere / "runs" / "a.jsonl", f"lies in {nowhere}, which is not there"),
        (nowhere / "runs", f"lies in {nowhere}, which is not there"),
        (tmp_path / "file" / "a.jsonl", "which is no folder"),
        (tmp_path / "there.jsonl", "exists"),
    ):
        with pytest.raises(Invalid, match=re.escape(why)):
            run(RunPlan(tasks={"locomo": Path("nowhere.json")}), out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "there.jsonl"]
    refuse_page(tmp_path / "new" / "a.html", made=refuse_log(tmp_path / "new" / "a.jsonl"))
    for place, why in ((nowhere / "a.html", "is not there"), (tmp_path, "is a folder")):
        with pytest.raises(Invalid, match=why):
            refuse_page(place)


def test_a_limit_below_one_is_refused_before_anything_is_written(locomo_file: Path, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="limit"):
        run(plan(locomo_file, limit=0), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("apart", [None, Limits()])
def test_nobody_at_once_is_refused_before_anything_is_written(
    locomo_file: Path, tmp_path: Path, apart: Limits | None
) -> None:
    with pytest.raises(Invalid, match="jobs: is 0"):
        run(plan(locomo_file), tmp_path / "a.jsonl", apart=apart, at_once=0)
    assert list(tmp_path.iterdir()) == []


def test_a_log_may_be_called_anything_where_a_file_is_meant(tmp_path: Path) -> None:
    (there := tmp_path / "tune.log").touch()
    refuse_file(there, going_on=True)
    with pytest.raises(Invalid, match="exists"):
        refuse_file(there)
    with pytest.raises(Invalid, match="exists"):
        log.Log(there)
    with pytest.raises(Invalid, match="is a folder"):
        refuse_file(tmp_path, going_on=True)


def test_a_run_cut_short_before_its_first_answer_still_reports(locomo_file: Path, tmp_path: Path) -> None:
    def interrupted(system: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        run(plan(locomo_file), tmp_path / "x.jsonl", progress=interrupted)
    made = report(tmp_path / "x.jsonl")
    assert made.tasks[0].rows == ()
    assert not made.complete
    assert "cut short" in plain(made)


@pytest.mark.parametrize(("share", "drawn"), [(0, ""), (1, "█" * 12), (0.5, "█" * 6), (1 / 24, "▌"), (math.nan, "")])
def test_bars_are_an_eighth_of_a_character_fine(share: float, drawn: str) -> None:
    assert bar(share).strip() == drawn


class Sick:
    """Fails in one way or another at its second question."""

    def __init__(self, how: str) -> None:
        self._how, self._asked, self._written = how, 0, 0
        self._held: list[bytearray] = []

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        pass

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        self._asked += k == 10
        if self._asked == 2:
            self.fail()
        return RankedDocs(question.gold)

    def fail(self) -> None:
        if self._how == "crash":
            print("all is well")  # must spoil neither the report nor what is said of the crash
            raise ZeroDivisionError("no such luck")
        if self._how == "bear":  # whoever it began holds what it has open
            multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,)).start()
        if self._how in ("die", "bear"):
            os.kill(os.getpid(), signal.SIGKILL)
        while True:
            if (
                self._how == "eat" and len(self._held) * 20_000_000 < 1_500_000_000
            ):  # a limit that fails must not take all
                self._held.append(bytearray(b"x" * 20_000_000))
            if self._how == "flood" and self._written < 200:
                self._written += 1
                with tempfile.NamedTemporaryFile(delete=False) as file:
                    file.write(b"x" * 1_000_000)
            time.sleep(0.01)

    def figures(self) -> OwnFigures:
        return OwnFigures()

    def close(self) -> None:
        pass


def _sick(how: str, means: Means) -> Sick:
    return Sick(how)


@pytest.mark.heavy
@pytest.mark.skipif(not Path("/proc").exists(), reason="nobody tells how much memory a process holds")
@pytest.mark.parametrize(
    ("how", "limits", "told"),
    [
        ("crash", Limits(), "crashed: ZeroDivisionError: no such luck"),
        ("die", Limits(), "crashed: signal 9"),
        ("bear", Limits(), "crashed: signal 9"),
        # That a limit reaches even what a contestant begins, `test_offspring.py` shows in every run.
        pytest.param("eat", Limits(memory_mib=600), "took too much memory", marks=pytest.mark.slow),
        pytest.param("flood", Limits(disk_mib=40), "filled the disk", marks=pytest.mark.slow),
    ],
)
def test_a_contestant_that_fails_is_a_row_that_says_so(
    how: str,
    limits: Limits,
    told: str,
    locomo_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(runs, "contestants", lambda names: {"sick": partial(_sick, how), "well": partial(_oracle, 99)})
    path = run(plan(locomo_file, ["sick", "well"]), tmp_path / "a.jsonl", apart=limits)
    rows = rows_of(report(path))
    assert rows["sick"].failure.startswith(told)
    assert (rows["sick"].asked, rows["sick"].cost) == (1, None)
    assert (rows["well"].asked, rows["well"].failure) == (6, "")
    assert rows["well"].cost is not None
    assert "sick (failed)" in plain(report(path))
    assert capfd.readouterr().out == ""
    assert log.read(path).complete


@pytest.mark.heavy
def test_a_contestant_that_hangs_is_ended(locomo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "contestants", lambda names: {"sick": partial(_sick, "hang")})
    path = run(plan(locomo_file, ["sick"]), tmp_path / "a.jsonl", apart=Limits(silent_seconds=1))
    assert rows_of(report(path))["sick"].failure.startswith("hung: nothing came for")


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="interrupts cannot be put off here")
def test_who_is_being_begun_when_an_interrupt_comes_is_ended_too(
    locomo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    deaf_to_none = threading.Thread(target=over.wait)
    begin = SpawnProcess.start
    begun: list[SpawnProcess] = []
    uninterrupted: list[SpawnProcess] = []

    def interrupted(process: SpawnProcess) -> None:
        begin(process)
        begun.append(process)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)  # it is heard within this, if it is heard at all
        uninterrupted.append(process)

    monkeypatch.setattr(SpawnProcess, "start", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # who tests may ignore it
    deaf_to_none.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(plan(locomo_file, ["BM25 turns"]), tmp_path / "logs", apart=Limits())
        assert [process.is_alive() for process in begun] == [False]
        assert uninterrupted == begun
    finally:
        signal.signal(signal.SIGINT, before)
        over.set()
        for process in begun:
            process.kill()


def test_where_figures_are_from_is_told_by_task_where_it_differs(locomo_file: Path, tmp_path: Path) -> None:
    made = report(run(plan(locomo_file, ["BM25 turns"]), tmp_path / "a.jsonl"))
    (whole,) = made.tasks
    other = {**whole.run.header, "settings": {**whole.run.header["settings"], "limit": 50}}
    cut = replace(whole, run=replace(whole.run, header=other), task=replace(whole.task, name="longmemeval-m"))
    began, settings, longer, machine = provenance(replace(made, tasks=(whole, cut)))
    assert (began, machine) == (provenance(made)[0], provenance(made)[-1])
    assert "limit none" in settings
    assert settings.endswith(" (locomo)")
    assert "limit 50" in longer
    assert longer.endswith(" (longmemeval-m)")
