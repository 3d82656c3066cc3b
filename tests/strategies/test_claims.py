"""The ledger of claims: each promise of a strategy is shown by tests that there are, or says why it is not held."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path
from typing import Any

import pytest

from mnemic.registry import STRATEGIES

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "claims.py"))
LEDGER: dict[str, list[dict[str, Any]]] = SCRIPT["ledger"]()


def faults(ledger: dict[str, list[dict[str, Any]]], collected: set[str]) -> list[str]:
    """What is wrong with a ledger: strategies and claims without a proof, and proofs that nobody collects."""
    wrong = [f"{name} promises nothing" for name in STRATEGIES if not ledger.get(name)]
    wrong += [f"nobody is called {name}" for name in ledger if name not in {*STRATEGIES, "memagent", "every"}]
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
    for file in {
        test.partition("::")[0] for claims in LEDGER.values() for one in claims for test in one.get("tests", ())
    }:
        if (ROOT / "tests" / file).exists():
            body = ast.parse((ROOT / "tests" / file).read_text("utf-8")).body
            tests = [one.name for one in body if isinstance(one, ast.FunctionDef) and one.name.startswith("test_")]
            ids |= {file, *(f"{file}::{test}" for test in tests)}
    return ids


def test_each_promise_is_shown_by_tests_that_there_are(collected: set[str]) -> None:
    assert faults(LEDGER, collected) == []


def test_a_promise_without_a_proof_and_a_strategy_without_promises_are_found(collected: set[str]) -> None:
    bare = {name: claims for name, claims in LEDGER.items() if name != "zep"}
    assert faults(bare, collected) == ["zep promises nothing"]
    for claim in ({}, {"tests": []}, {"tests": ["strategies/test_zep.py"], "not_held": "both"}):
        assert faults({**LEDGER, "zep": [{"section": "1", "claim": "So.", **claim}]}, collected) == [
            "zep: So. Tests, or a reason why it is not held"
        ]
    gone = {"section": "1", "claim": "So.", "tests": ["strategies/test_zep.py::test_gone"]}
    assert faults({**LEDGER, "zep": [gone]}, collected) == ["zep: there is no test strategies/test_zep.py::test_gone"]


def test_the_page_of_claims_is_current() -> None:
    assert SCRIPT["PAGE"].read_text("utf-8") == SCRIPT["page"](), "run scripts/claims.py"
