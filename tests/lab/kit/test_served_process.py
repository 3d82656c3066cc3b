"""Servers that measurements start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import mnemic
from mnemic.lab.kit.served_process import SAME_CODE


@pytest.mark.heavy
def test_a_python_that_is_started_runs_the_code_that_measures(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import mnemic; print(mnemic.__file__)"]
    said = subprocess.run(command, env=SAME_CODE, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert Path(said.strip()) == Path(mnemic.__file__)
