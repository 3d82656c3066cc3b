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


STATED = "import sys; from mnemic.extract.slots import slots; slots(sys.argv[1], 'ada', 0)"


@pytest.mark.parametrize(
    "text",
    [
        "豆包" + "已经刚刚终于" * 60 + "送得",
        "毛毛" + "刚刚" * 180 + "死得",
        "医生" * 190 + "不是对虾过敏x",
        "不" * 400 + "我对",
    ],
    ids=("given", "died", "doctor", "no"),
)
def test_a_long_run_before_what_it_says_of_somebody_is_read_at_once(text: str) -> None:
    subprocess.run([sys.executable, "-c", STATED, text], check=True, timeout=PATIENCE)


RESTATED = "import sys; from mnemic.recall.put_right import restated; list(restated(sys.argv[1]))"


@pytest.mark.parametrize(
    "text",
    [
        "不对" + "我" * 10000,
        "不对" + "我的" * 10000,
        "不对" + "现在家的" * 10000,
        "不对" + "我刚才" * 10000,
        "我住在成都" + "，不对" * 10000,
        "我住在成都" + "… " * 30000 + "不对",
        "no, i live in x" + " " * 60000 + "y",
        "no, i live in x " + "-" * 60000 + "y",
        "no, i live in x, " + "no, " * 10000,
    ],
    ids=("me", "mine", "at_home", "just_now", "taken_back", "dots", "spaces", "dashes", "noes"),
)
def test_a_long_run_in_what_is_said_anew_is_read_at_once(text: str) -> None:
    subprocess.run([sys.executable, "-c", RESTATED, text], check=True, timeout=PATIENCE)
