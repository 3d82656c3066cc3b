"""Commits of one process are heard by clients of another, each once and in order, though the server is restarted."""

from __future__ import annotations

import pytest

from mnemic.lab.tasks.feed_bench import FeedLoad, bench_feed

pytestmark = pytest.mark.heavy


def test_every_commit_is_heard_once_across_a_restart() -> None:
    found = bench_feed(FeedLoad(clients=6, commits=40, gap=0.01, silence=0.1))
    figures = {figure.name: figure for figure in found.figures}
    assert figures["clients that missed, repeated or misplaced a commit"].value == 0
