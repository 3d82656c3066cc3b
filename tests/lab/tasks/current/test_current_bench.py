"""The bench of what holds now counts right, keeps what was held back to itself, and shows builders what failed."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mnemic.faces.cli.app import cli
from mnemic.lab.tasks.current import current_bench, current_report
from mnemic.lab.tasks.current.current_bench import BestRanks, CurrentOutcome, CurrentPlan, bench_current
from mnemic.lab.tasks.current.current_cases import Half
from mnemic.lab.tasks.current.current_report import RANKED, figures, grouped, scores, show, write_failures
from mnemic.lab.tasks.current.grading import Grade, Verdict

FEW = CurrentPlan(limit=2)


@pytest.fixture(scope="module")
def outcomes() -> list[CurrentOutcome]:
    return bench_current(FEW)


def test_every_question_of_the_plan_is_asked_and_ranked(outcomes: list[CurrentOutcome]) -> None:
    assert {o.case.lang for o in outcomes} == {"en", "zh"}
    assert len({o.case.id for o in outcomes}) == 4
    for o in outcomes:
        places = [hit.place for hit in o.hits]
        assert o.ranks.current == next((n for n, at in enumerate(places, 1) if at in o.question.current), None)
        assert 0 <= o.unfounded <= 1


def test_the_same_plan_gives_the_same_outcomes(outcomes: list[CurrentOutcome]) -> None:
    again = bench_current(FEW)
    assert [(o.ranks, o.baseline, o.grade) for o in again] == [(o.ranks, o.baseline, o.grade) for o in outcomes]


def test_a_plan_names_kinds_and_languages() -> None:
    plan = CurrentPlan(limit=1, kinds=("ended",), langs=("zh",))
    assert {(o.case.kind, o.case.lang) for o in bench_current(plan)} == {("ended", "zh")}


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
    write_failures([lost], 1, told)
    assert lost.question.text in told.getvalue()
    assert "ask: wrong, 0.90" in told.getvalue()
    assert told.getvalue().endswith("1 of 1 questions failed; 1 shown\n")


def test_of_what_was_held_back_only_figures_are_shown(outcomes: list[CurrentOutcome]) -> None:
    shown: dict[Half, str] = {}
    for half in Half:
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


def test_the_command_writes_json_for_programs() -> None:
    done = CliRunner().invoke(cli, ["bench", "current", "--embedder", "none", "--limit", "1", "--json"])
    report: dict[str, Any] = json.loads(done.stdout)
    assert {figure["name"] for figure in report["figures"]} >= {"current above every outdated", "ask: right"}
    assert report["rows"]["all"]["n"] == len(report["questions"])


def test_the_reliability_diagram_is_drawn(
    outcomes: list[CurrentOutcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    from mnemic.lab.tasks.current.current_plots import draw

    assert draw(outcomes, tmp_path).read_text().startswith("<?xml")


def test_what_was_held_back_is_not_read_without_being_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Half] = []
    monkeypatch.setattr(current_bench, "read_cases", lambda half: read.append(half) or [])
    assert bench_current() == []
    assert read == [Half.DEVELOPMENT]
    assert current_report.figures([]) == []
