"""The ledgers of claims: each promise of a strategy, or of a memory inside a model is shown, or says why not."""

from __future__ import annotations

import ast
import runpy
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from mnemic.lab.tasks.neural.experiment import EXPERIMENTS
from mnemic.registry import STRATEGIES

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "claims.py"))
Ledger = dict[str, list[dict[str, Any]]]
LEDGER: Ledger = SCRIPT["ledger"]("strategies")
NEURAL: Ledger = SCRIPT["ledger"]("neural")


def faults(
    ledger: Ledger, collected: set[str], must: Collection[str] = (*STRATEGIES,), may: Collection[str] = ("memagent",)
) -> list[str]:
    """What is wrong with a ledger: who promises nothing, claims without a proof, and proofs that nobody collects."""
    wrong = [f"{name} promises nothing" for name in must if not ledger.get(name)]
    wrong += [f"nobody is called {name}" for name in ledger if name not in {*must, *may, "every"}]
    for name, claims in ledger.items():
        for one in claims:
            if bool(one.get("tests")) == bool(one.get("not_held")):
                wrong.append(f"{name}: {one['claim']} Tests, or a reason why it is not held")
            wrong += [f"{name}: there is no test {test}" for test in one.get("tests", ()) if test not in collected]
    return wrong


@pytest.fixture(scope="module")
def collected() -> set[str]:
    """The files below `tests/` that claims name, and the ids of the tests that pytest collects of them, unparametrised.

    They are read from the files: to have pytest import them all once more takes longer than all the rest.
    """
    ids: set[str] = set()
    every = [one for ledger in (LEDGER, NEURAL) for claims in ledger.values() for one in claims]
    for file in {test.partition("::")[0] for one in every for test in one.get("tests", ())}:
        if (ROOT / "tests" / file).exists():
            body = ast.parse((ROOT / "tests" / file).read_text("utf-8")).body
            tests = [one.name for one in body if isinstance(one, ast.FunctionDef) and one.name.startswith("test_")]
            ids |= {file, *(f"{file}::{test}" for test in tests)}
    return ids


def test_each_promise_is_shown_by_tests_that_there_are(collected: set[str]) -> None:
    assert faults(LEDGER, collected) == []
    assert faults(NEURAL, collected, EXPERIMENTS, EXPERIMENTS) == []


def test_a_promise_without_a_proof_and_a_strategy_without_promises_are_found(collected: set[str]) -> None:
    bare = {name: claims for name, claims in LEDGER.items() if name != "zep"}
    assert faults(bare, collected) == ["zep promises nothing"]
    for claim in ({}, {"tests": []}, {"tests": ["strategies/test_zep.py"], "not_held": "both"}):
        assert faults({**LEDGER, "zep": [{"section": "1", "claim": "So.", **claim}]}, collected) == [
            "zep: So. Tests, or a reason why it is not held"
        ]
    gone = {"section": "1", "claim": "So.", "tests": ["strategies/test_zep.py::test_gone"]}
    assert faults({**LEDGER, "zep": [gone]}, collected) == ["zep: there is no test strategies/test_zep.py::test_gone"]


@pytest.mark.parametrize("folder", SCRIPT["LEDGERS"])
def test_the_page_of_claims_is_current(folder: str) -> None:
    assert SCRIPT["path"](folder).read_text("utf-8") == SCRIPT["page"](folder), "run scripts/claims.py"
