"""A sentence with a long run of one sign is read in time that grows with its length, whatever the patterns are."""

from __future__ import annotations

import subprocess
import sys

import pytest

READ = """
import sys
from mnemic.extract.revocations import hinted
from mnemic.extract.sentences import sentences
text = sys.argv[1] * 400 + sys.argv[2]
spoken = sentences(text)
hinted(text, spoken)
"""
PATIENCE = 120.0
"""Seconds: what takes exponential time would not end in any."""


@pytest.mark.parametrize(
    ("run", "end"),
    [("哈", "不要表情了x"), ("嗯", "不要表情了x"), ("ok, ", "no more emojis x"), ("了", "别用表情x")],
    ids=("laughter", "hum", "ok", "particle"),
)
def test_a_long_run_is_read_at_once(run: str, end: str) -> None:
    subprocess.run([sys.executable, "-c", READ, run, end], check=True, timeout=PATIENCE)
