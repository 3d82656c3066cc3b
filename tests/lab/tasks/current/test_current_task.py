"""The bench of what holds now counts right, keeps what was held back to itself, and shows builders what failed."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mnemic.faces.cli.app import cli
from mnemic.lab.kit.log import LoggedRun
from mnemic.lab.kit.metrics import Outcome
from mnemic.lab.kit.run_report import report
from mnemic.lab.tasks import current_task
from mnemic.lab.tasks.current import current_report
from mnemic.lab.tasks.current.current_cases import CurrentPlan, Half, read_cases, read_filler
from mnemic.lab.tasks.current.current_outcomes import BestRanks, CurrentOutcome, current_outcomes
from mnemic.lab.tasks.current.current_report import ANSWERED, RANKED, figures, grouped, scores, show, write_failures
from mnemic.lab.tasks.current.grading import Grade, Verdict
from mnemic.lab.tasks.current_task import CURRENT, CurrentTask

FEW = CurrentPlan(limit=2)


@pytest.fixture(scope="module")
def ran(logged: Callable[..., LoggedRun]) -> LoggedRun:
    return logged(CurrentTask(plan=FEW))


@pytest.fixture(scope="module")
def outcomes(ran: LoggedRun) -> list[CurrentOutcome]:
    return current_outcomes(ran, "mnemic")


def test_every_question_of_the_plan_is_asked_and_ranked(outcomes: list[CurrentOutcome]) -> None:
    assert {o.case.lang for o in outcomes} == {"en", "zh"}
    assert len({o.case.id for o in outcomes}) == 4
    for o in outcomes:
        places = [hit.place for hit in o.hits]
        assert o.ranks.current == next((n for n, at in enumerate(places, 1) if at in o.question.current), None)
        assert 0 <= o.unfounded <= 1


def test_the_same_plan_gives_the_same_outcomes(
    outcomes: list[CurrentOutcome], logged: Callable[..., LoggedRun]
) -> None:
    again = current_outcomes(logged(CurrentTask(plan=FEW)), "mnemic")
    assert [(o.ranks, o.baseline, o.grade) for o in again] == [(o.ranks, o.baseline, o.grade) for o in outcomes]


def test_a_plan_names_kinds_and_languages() -> None:
    plan = CurrentPlan(limit=1, kinds=("ended",), langs=("zh",))
    asked = CurrentTask(plan=plan).read(Path()).questions
    assert {(q.key["kind"], q.origin) for q in asked if q.key} == {(("ended",), "zh")}


def test_each_question_is_asked_elsewhere_too_where_nothing_answers_it(ran: LoggedRun) -> None:
    answers = ran.answers["mnemic"]
    own, elsewhere = answers[::2], answers[1::2]
    assert [a.question for a in own] == [a.question for a in elsewhere]
    assert {a.category for a in elsewhere} == {"abstention"}
    assert all(a.given is not None for a in answers)


def test_the_metrics_of_the_frame_are_those_of_the_tables(ran: LoggedRun, outcomes: list[CurrentOutcome]) -> None:
    made: list[Outcome] = [ran.outcome(a) for a in ran.answers["mnemic"] if a.category != "abstention"]
    same = {
        "current first": RANKED["mnemic: R@1"], "current in 5": RANKED["mnemic: R@5"],
        "above outdated": RANKED["mnemic: above outdated"], "right person": RANKED["mnemic: right person"],
        "answered right": ANSWERED["right"], "wrong, sure": ANSWERED["wrong, sure"],
    }  # fmt: skip
    for name, measure in same.items():
        assert [CURRENT.metrics[name](o) for o in made] == pytest.approx([measure(o) for o in outcomes], nan_ok=True)


def test_any_contestant_has_tables_of_its_own(ran: LoggedRun) -> None:
    titles = [table.title for table in CURRENT.tables(ran, 0)]
    assert titles == [
        "What is recalled, mnemic, %", "What is answered, mnemic, %", "What confidence is worth, mnemic",
        "What is recalled, BM25 found, %",
    ]  # fmt: skip


def _ranked(o: CurrentOutcome, current: int | None, outdated: int | None, others: int | None) -> CurrentOutcome:
    question = replace(o.question, current=(1,), outdated=(0,), others=(2,), as_of=None, valid_at=None)
    case = replace(o.case, kind="look_alike")
    return replace(o, case=case, question=question, ranks=BestRanks(current, outdated, others))


@pytest.mark.parametrize(
    ("ranks", "above", "person", "first", "fifth"),
    [
        ((1, 2, 3), 1, 1, 1, 1),
        ((2, 1, None), 0, 1, 0, 1),
        ((6, None, 5), 1, 0, 0, 0),
        ((None, None, None), 0, 0, 0, 0),
    ],
)
def test_ranks_are_counted_by_hand(
    outcomes: list[CurrentOutcome], ranks: Sequence[int | None], above: int, person: int, first: int, fifth: int
) -> None:
    o = _ranked(outcomes[0], *ranks)
    counted = [RANKED[f"mnemic: {name}"](o) for name in ("above outdated", "right person", "R@1", "R@5")]
    assert counted == [above, person, first, fifth]


def test_questions_without_a_metric_are_left_out_of_it(outcomes: list[CurrentOutcome]) -> None:
    o = _ranked(outcomes[0], 1, None, None)
    plain = replace(o, question=replace(o.question, outdated=(), others=()))
    found = scores([o, plain], RANKED, 0)
    assert found["mnemic: above outdated"].n == found["mnemic: right person"].n == 1
    assert found["mnemic: R@1"].n == 2
    assert found["mnemic: earlier R@1"].n == 0


def test_figures_stand_beside_their_bars(outcomes: list[CurrentOutcome]) -> None:
    right = Grade(Verdict.RIGHT, holds=True, given=True, confidence=1.0)
    perfect = [replace(_ranked(o, 1, 2, 3), grade=right, unfounded=0.0) for o in outcomes]
    assert all(figure.met is not False for figure in figures(perfect))
    assert any(figure.met is False for figure in figures(outcomes))


def test_rows_are_by_language_and_kind_or_type(outcomes: list[CurrentOutcome]) -> None:
    assert list(grouped(outcomes))[:3] == ["all", "English", "Chinese"]
    assert "  replaced_once" in grouped(outcomes)
    assert "  English replaced_once" in grouped(outcomes, "kind")
    assert "  place" in grouped(outcomes, "type")


def test_failures_show_the_case_what_came_and_what_was_answered(outcomes: list[CurrentOutcome]) -> None:
    lost = replace(outcomes[0], grade=Grade(Verdict.WRONG, holds=False, given=True, confidence=0.9))
    told = io.StringIO()
    write_failures([lost], FEW, 1, told)
    assert lost.question.text in told.getvalue()
    assert "ask: wrong, 0.90" in told.getvalue()
    assert all(
        turn.text in told.getvalue() for case in read_cases(FEW.half) if case.id == lost.case.id for turn in case.turns
    )
    assert told.getvalue().endswith("1 of 1 questions failed; 1 shown\n")


def test_of_what_was_held_back_only_figures_are_shown(outcomes: list[CurrentOutcome]) -> None:
    shown: dict[Half, str] = {}
    for half in (Half.DEVELOPMENT, Half.HELD_BACK):
        told = io.StringIO()
        for as_json in (True, False):
            show(outcomes, replace(FEW, half=half), told, as_json=as_json)
        shown[half] = told.getvalue()
    words = [o.question.text for o in outcomes] + [turn.text for o in outcomes for turn in o.case.turns]
    assert any(word in shown[Half.DEVELOPMENT] for word in words)
    assert not any(word in shown[Half.HELD_BACK] for word in words)


def test_failures_of_what_was_held_back_are_refused() -> None:
    for bench in ("current", "standing"):
        done = CliRunner().invoke(cli, ["bench", bench, "--held-back", "--failures", "1"])
        assert done.exit_code != 0
        assert "held back" in done.output


def test_of_what_only_checks_failures_are_refused_and_the_half_held_back_is_not_asked_with_it() -> None:
    for more, why in (("--failures=1", "only checks"), ("--held-back", "goes with no --held-back")):
        done = CliRunner().invoke(cli, ["bench", "current", "--check", more])
        assert done.exit_code != 0
        assert why in done.output


def test_the_command_writes_json_for_programs(tmp_path: Path) -> None:
    out = str(tmp_path / "a.jsonl")
    how = ["--embedder", "none", "--limit", "1", "--langs", "en", "--here", "--out", out, "--json"]
    done = CliRunner().invoke(cli, ["bench", "current", *how])
    shown: dict[str, Any] = json.loads(done.stdout)
    assert {figure["name"] for figure in shown["figures"]} >= {"current above every outdated", "ask: right"}
    assert shown["rows"]["all"]["n"] == len(shown["questions"])
    (again,) = report(Path(out)).tasks
    assert [row.system for row in again.rows] == ["mnemic", "BM25 found"]
    assert again.rows[0].scores["current first"].mean == shown["rows"]["all"]["mnemic: R@1"]["mean"]


def test_a_run_of_what_is_held_back_leaves_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the cases for development: what is looked at is where words go, not whose they are."""
    monkeypatch.setattr(current_task, "read_cases", lambda half: read_cases(Half.DEVELOPMENT))
    monkeypatch.setattr(current_task, "read_filler", lambda half: read_filler(Half.DEVELOPMENT))
    monkeypatch.chdir(tmp_path)
    how = ["--held-back", "--embedder", "none", "--limit", "1", "--langs", "en", "--here"]
    done = CliRunner().invoke(cli, ["bench", "current", *how])
    assert done.exit_code == 0, done.output
    assert "ask: right" in done.output
    assert list(tmp_path.iterdir()) == []
    refused = CliRunner().invoke(cli, ["bench", "current", *how, "--html", "a.html"])
    assert isinstance(refused.exception, SystemExit)
    assert "leaves no log" in refused.output


def test_the_reliability_diagram_is_drawn(
    outcomes: list[CurrentOutcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    from mnemic.lab.tasks.current.current_plots import draw

    assert draw(outcomes, tmp_path).read_text().startswith("<?xml")


def test_what_was_held_back_is_not_read_without_being_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Half] = []
    monkeypatch.setattr(current_task, "read_cases", lambda half: read.append(half) or [])
    assert CURRENT.read(Path()).questions == ()
    assert read == [Half.DEVELOPMENT]
    assert current_report.figures([]) == []
