"""The paging benchmark: counts that can be checked by hand, figures that follow from them, and its command."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.lab.paging import Plan, capacity, gather, measure, ratio
from mnemic.lab.paging_report import COLUMNS, mean_closed, tables, write_csv
from mnemic.lab.replay import replay
from mnemic.lab.traces import load
from mnemic.tiers.policies import open_policy

ERRANDS = Path(__file__).parents[2] / "src/mnemic/lab/fixtures/paging_errands.jsonl"


def test_lru_on_the_fixture_is_as_counted_by_hand() -> None:
    """Window of 3: key thanks train | key hit | nice out: thanks | sounds out: train | train fault, out: key |
    gift out: nice | key fault, out: sounds | gift hit | train hit."""
    (trace,) = load(ERRANDS)
    tally = replay(trace, open_policy("lru"), 3)
    assert (tally.reads, tally.hits, tally.faults, tally.evictions, tally.written) == (5, 3, 2, 5, 6)
    assert tally.through == 11 + 5
    assert tally.back == 5 + 3


def test_what_a_page_says_helps_on_the_fixture() -> None:
    (trace,) = load(ERRANDS)
    assert replay(trace, open_policy("importance"), 3).hits == 5


def test_a_window_in_tokens_holds_what_fits() -> None:
    (trace,) = load(ERRANDS)
    assert capacity(trace, 1.0, by_tokens=True) == 50
    assert replay(trace, open_policy("lru"), 50, by_tokens=True).evictions == 0
    assert replay(trace, open_policy("lru"), 20, by_tokens=True).evictions > 0


def test_prefetched_pages_are_counted_apart() -> None:
    (trace,) = load(ERRANDS)
    tally = replay(trace, open_policy("fifo"), 3, prefetch=1)
    assert tally.prefetched > 0
    assert tally.prefetch_hits <= tally.prefetched


def test_lru_closes_nothing_and_what_is_best_closes_all() -> None:
    rows = measure(load(ERRANDS), Plan(policies=("lru", "importance"), capacities=(0.5,)))
    lru, importance = rows
    assert lru.closed.mean == 0
    assert importance.closed.mean == 1
    assert importance.of_optimal == 1
    assert mean_closed(rows, "importance", ["errands"]) == 1


def test_where_lru_has_all_there_is_no_gap() -> None:
    (row,) = measure(load(ERRANDS), Plan(policies=("lru",), capacities=(1.0,)))
    assert row.hit_rate.mean == 1
    assert math.isnan(row.closed.mean)
    assert any("-" in cell for table in tables([row]) for line in table.rows for cell in line)


def test_a_ratio_is_of_sums_with_an_interval_around_it() -> None:
    import numpy as np

    found = ratio(np.array([1.0, 3.0]), np.array([4.0, 4.0]), 0)
    assert found.mean == 0.5
    assert found.low <= 0.5 <= found.high
    assert math.isnan(ratio(np.zeros(2), np.zeros(2), 0).mean)


def test_the_sheet_has_a_line_for_each_row(tmp_path: Path) -> None:
    rows = measure(load(ERRANDS), Plan(policies=("lru", "arc"), capacities=(0.5,)))
    write_csv(rows, tmp_path / "t.csv")
    lines = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert tuple(lines[0]) == COLUMNS
    assert [line["policy"] for line in lines] == ["lru", "arc"]


def test_conversations_become_traces_and_one_that_is_not_there_is_named(locomo_file: Path) -> None:
    families = ["after", "spread", "recalled", "loop"]
    every = list(gather([locomo_file], [ERRANDS], families, Plan(draws=2)))
    counted = {family: sum(trace.family == family for trace in every) for family in (*families, "errands")}
    conversations = counted["after"]
    assert counted == {
        "after": conversations, "spread": 2 * conversations, "recalled": 2 * conversations, "loop": 2, "errands": 1,
    }  # fmt: skip
    with pytest.raises(Invalid, match="nobody"):
        list(gather([locomo_file], [], ["after"], Plan(), ["nobody"]))
    with pytest.raises(Invalid, match="families"):
        list(gather([], [], ["dreams"], Plan()))


def test_nothing_to_measure_is_said() -> None:
    with pytest.raises(Invalid, match="paths"):
        measure([], Plan())


def test_the_record_for_machines_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    from mnemic.lab.paging_report import show

    plan = Plan(policies=("lru",), capacities=(1.0,))
    show(measure(load(ERRANDS), plan), plan, sys.stdout, as_json=True)
    record = json.loads(capsys.readouterr().out)
    assert record["rows"][0]["closed"] is None
    assert tuple(record["rows"][0]) == COLUMNS
