"""The bench of the served memory speaks to real processes and reports what it measured, at any size."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.lab.tasks.serving.serving_bench import (
    ECHO,
    OURS,
    CallTimes,
    PipeClient,
    ServerCommand,
    ServingTimes,
    StartTimes,
    bench_serving,
    show,
)

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def served() -> ServingTimes:
    parts: list[str] = []
    found = bench_serving(rounds=1, calls=3, items=20, model="none", progress=parts.append)
    assert parts == ["starts", "round trips, words alone"]
    return found


def test_a_small_run_measures_every_server_and_every_tool(served: ServingTimes) -> None:
    assert [start.name for start in served.starts] == [ECHO, OURS]
    assert served.starts[0].ratio == 1
    for start in served.starts:
        assert 0 < start.hello < start.listed < start.called
    assert [call.name for call in served.calls] == [f"{ECHO}: echo", "remember", "recall", "context"]
    for call in served.calls:
        assert call.calls == 3
        assert 0 < call.p50 <= call.p95
        assert (call.embedding, call.beside50) == (0, call.p50)


def test_a_run_is_shown_as_tables_and_as_json(served: ServingTimes) -> None:
    table, machine = io.StringIO(), io.StringIO()
    show(served, table)
    show(served, machine, as_json=True)
    told = json.loads(machine.getvalue())
    assert told["header"]["size"]["items"] == 20
    for one in (*told["starts"], *told["calls"]):
        assert one["name"] in table.getvalue()


def test_a_figure_over_its_bar_says_so() -> None:
    slow = StartTimes(name=OURS, hello=0.71, listed=1, called=1, ratio=1)
    fast = StartTimes(name=OURS, hello=0.7, listed=1, called=1, ratio=1)
    call = CallTimes(name="recall, auto", p50=30, p95=40, embedding=19, beside50=11, beside95=21, calls=1)
    shown = io.StringIO()
    show(ServingTimes(header={}, starts=(slow, fast), calls=(call,)), shown)
    assert shown.getvalue().count("MISSED") == 2
    assert shown.getvalue().count("met") == 1


def test_a_server_that_does_not_answer_is_named(tmp_path: Path) -> None:
    silent = ServerCommand(name="silent", command=(sys.executable, "-c", ""), tool="", arguments={}, environment={})
    with pytest.raises(Invalid, match="ended before it answered initialize"):
        PipeClient(silent)
