"""The speed run measures what it says, at any size; no test here asserts how fast the machine is."""

from __future__ import annotations

import io
import json

import pytest
from click.testing import CliRunner

from mnemic.lab.kit.figures import Figure, show
from mnemic.lab.tasks import speed_bench
from mnemic.lab.tasks.speed_bench import SpeedSize, bench_speed, main

pytestmark = pytest.mark.heavy

SMALL = SpeedSize(items=60, users=3, turns=40, rounds=2, questions=6)


def test_a_small_run_gives_every_figure_with_its_bar() -> None:
    parts: list[str] = []
    found = bench_speed(SMALL, parts.append)
    assert parts == list(speed_bench.PARTS)
    bars = [figure.bar for figure in found.figures if figure.bar is not None]
    assert bars == [0.3, 5, 5, 5, 10, 2, 2, 1.3, 1.3]
    assert all(figure.value == figure.value for figure in found.figures)
    table, machine = io.StringIO(), io.StringIO()
    show(found, table)
    show(found, machine, as_json=True)
    for figure in found.figures:
        assert figure.name in table.getvalue()
    assert len(json.loads(machine.getvalue())["figures"]) == len(found.figures)


def test_a_figure_knows_whether_it_reaches_its_bar() -> None:
    assert Figure(name="a", value=1, unit="ms", bar=1).met is True
    assert Figure(name="a", value=2, unit="ms", bar=1).met is False
    assert Figure(name="a", value=2, unit="x", bar=1, more=True).met is True
    assert Figure(name="a", value=2, unit="x").met is None


def test_the_command_says_what_it_takes() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    assert "--items" in result.output
