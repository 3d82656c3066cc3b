"""What the READMEs say that mnemic finds is what the last full run found."""

from __future__ import annotations

import copy
import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from mnemic.errors import Invalid
from mnemic.lab.kit.answer_stage import AnswerPlan
from mnemic.lab.kit.kept_results import keep, kept
from mnemic.lab.kit.peer_table import kept_table
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_report import report

ROOT = Path(__file__).resolve().parent.parent
TWO_PEOPLE = ROOT / "tests" / "lab" / "two_people.json"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("readme_figures", ROOT / "scripts" / "readme_figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readmes_say_what_the_results_say(script: ModuleType) -> None:
    for page, text in script.pages().items():
        assert "<!-- figures " in text
        assert page.read_text("utf-8") == text, "run scripts/readme_figures.py"


def test_a_figure_of_a_readme_is_one_of_a_result(script: ModuleType) -> None:
    results = kept(script.RESULTS)
    locomo = results["locomo"]["rows"]["mnemic"]["scores"]["R@10"]
    shown = script.table(results, "en")
    assert f"**{100 * locomo[0]:.1f} [" in shown
    assert results["locomo"]["commit"][:10] in shown


def test_a_result_that_differs_makes_another_page(script: ModuleType) -> None:
    """A check that cannot fail is none."""
    other = copy.deepcopy(kept(script.RESULTS))
    other["locomo"]["rows"]["mnemic"]["scores"]["R@10"][0] += 0.01
    for page, text in script.pages(other).items():
        assert page.read_text("utf-8") != text
    with pytest.raises(Invalid, match="no task that a README shows"):
        script.table({}, "en")


def test_pages_of_docs_say_what_the_results_say(script: ModuleType) -> None:
    for page, text in script.documents().items():
        assert "<!-- /figures -->" in text
        assert page.read_text("utf-8") == text, "run scripts/readme_figures.py"
    for held in kept(script.PEERS).values():
        ours = next(row for row in held["table"]["rows"] if row["system"] == "mnemic")
        assert "| mnemic | " in kept_table(held).markdown()
        assert sum(row["peer"] and not row["failure"] for row in held["table"]["rows"]) >= 5
        assert ours["values"][0] > 0
        assert held["dirty"] is False


def test_a_table_of_peers_says_when_it_was_taken_of_what_and_who_is_missing(script: ModuleType) -> None:
    page = script.documents()[ROOT / "docs" / "peers.md"]
    for held in kept(script.PEERS).values():
        note = script.run_note(held)
        assert page.count(note) == 1
        for part in (held["started"][:10], held["commit"][:10], held["embedder"]):
            assert part in note
    held = {**kept(script.PEERS)["locomo-with-hipporag"], "unfinished": ["txtai", "A-Mem"]}
    assert script.run_note(held).endswith("Did not come to its end, and has no row: txtai.")
    assert "end" not in script.run_note({**held, "unfinished": ["A-Mem"]})


def test_a_result_says_on_what_it_was_taken(script: ModuleType) -> None:
    for name, result in kept(script.RESULTS).items():
        assert result["task"] == name
        assert result["rows"]["mnemic"]["scores"][result["headline"]][3] > 0
        assert re.fullmatch("[0-9a-f]{64}", result["data"]["sha256"])
        assert result["dirty"] is False


def test_what_is_kept_holds_figures_and_no_text_of_the_data(tmp_path: Path) -> None:
    plan = RunPlan(tasks={"locomo": TWO_PEOPLE}, rows=("mnemic", "BM25 turns"), answers=AnswerPlan())
    made = report(run(plan, tmp_path / "a.jsonl"))
    (path,) = keep(made, tmp_path / "results").written
    assert path.name == "locomo.json"
    held = path.read_text("utf-8")
    (sample,) = json.loads(TWO_PEOPLE.read_text("utf-8"))
    words = [
        *(asked["question"] for asked in sample["qa"]),
        *(turn["text"] for turn in sample["conversation"]["session_2"]),
    ]
    assert not [text for text in words if text in held]
    result = kept(tmp_path / "results")["locomo"]
    assert result["rows"]["mnemic"]["scores"]["R@10"][3] == 5
    assert result["answered"][0]["reader"] == ""
    keep(made, tmp_path / "results")  # over what was there


def test_only_what_was_run_in_full_is_kept(tmp_path: Path) -> None:
    limited = report(run(RunPlan(tasks={"locomo": TWO_PEOPLE}, rows=("BM25 turns",), limit=2), tmp_path / "a.jsonl"))
    with pytest.raises(Invalid, match="limited to 2 questions"):
        keep(limited, tmp_path)
    both = RunPlan(tasks={"locomo": TWO_PEOPLE, "locomo-audited": TWO_PEOPLE}, rows=("BM25 turns",))
    log = run(both, tmp_path / "b.jsonl")
    lines = log.read_text("utf-8").splitlines(keepends=True)
    log.write_text("".join(lines[:-2]), "utf-8")  # without the last one's cost, and the end
    made = keep(report(log), tmp_path / "results")
    assert [path.name for path in made.written] == ["locomo.json"]
    assert made.left == {"locomo-audited": "BM25 turns did not come to its end"}
    log.write_text("".join(lines[:3]), "utf-8")
    with pytest.raises(Invalid, match="no task that was run in full"):
        keep(report(log), tmp_path / "results")


def test_figures_without_the_models_that_were_to_be_asked_are_not_kept(tmp_path: Path) -> None:
    plan = RunPlan(tasks={"locomo": TWO_PEOPLE}, rows=("BM25 turns",), answers=AnswerPlan(model="scripted:yes"))
    whole = report(run(plan, tmp_path / "a.jsonl"))
    with pytest.raises(Invalid, match="still to be asked"):
        keep(replace(whole, complete=False), tmp_path)
    assert keep(whole, tmp_path).left == {}
