"""The paging benchmark: counts that can be checked by hand, figures that follow from them, and its command."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.lab.kit.metrics import Estimate
from mnemic.lab.tasks.paging.paging_bench import FAMILIES, PagingPlan, PagingRow, capacity, gather, measure, ratio
from mnemic.lab.tasks.paging.paging_report import COLUMNS, bars, mean_closed, tables, write_csv
from mnemic.lab.tasks.paging.replay import ReplayTally, replay
from mnemic.lab.tasks.paging.traces import load
from mnemic.tiers.policies import open_policy

ERRANDS = Path(__file__).parents[4] / "src/mnemic/lab/fixtures/paging_errands.jsonl"


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
    rows = measure(load(ERRANDS), PagingPlan(policies=("lru", "importance"), capacities=(0.5,)))
    lru, importance = rows
    assert lru.closed.mean == 0
    assert importance.closed.mean == 1
    assert importance.of_optimal == 1
    assert mean_closed(rows, "importance", ["errands"]) == 1


def test_where_lru_has_all_there_is_no_gap() -> None:
    (row,) = measure(load(ERRANDS), PagingPlan(policies=("lru",), capacities=(1.0,)))
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
    rows = measure(load(ERRANDS), PagingPlan(policies=("lru", "arc"), capacities=(0.5,)))
    write_csv(rows, tmp_path / "t.csv")
    lines = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert tuple(lines[0]) == COLUMNS
    assert [line["policy"] for line in lines] == ["lru", "arc"]


def test_conversations_become_traces_and_one_that_is_not_there_is_named(locomo_file: Path) -> None:
    families = ["after", "spread", "recalled", "loop"]
    every = list(gather([locomo_file], [ERRANDS], families, PagingPlan(draws=2)))
    counted = {family: sum(trace.family == family for trace in every) for family in (*families, "errands")}
    conversations = counted["after"]
    assert counted == {
        "after": conversations, "spread": 2 * conversations, "recalled": 2 * conversations, "loop": 2, "errands": 1,
    }  # fmt: skip
    with pytest.raises(Invalid, match="nobody"):
        list(gather([locomo_file], [], ["after"], PagingPlan(conversations=("nobody",))))
    with pytest.raises(Invalid, match="families"):
        list(gather([], [], ["dreams"], PagingPlan()))


def test_only_the_first_so_many_questions_are_asked(locomo_file: Path) -> None:
    few, all_ = (list(gather([locomo_file], [], ["after"], PagingPlan(limit=limit))) for limit in (1, None))
    assert 0 < sum(one.reads for one in few) < sum(one.reads for one in all_)


def test_recalling_tells_how_far_it_is_and_asks_each_question_once(locomo_file: Path) -> None:
    told: list[tuple[str, int, int]] = []
    list(gather([locomo_file], [], ["recalled"], PagingPlan(draws=3), lambda *one: told.append(one)))
    assert told == [("recall", n, 6) for n in range(1, 7)]


def test_draws_of_one_conversation_are_no_evidence_of_another() -> None:
    """Three draws of the same are one: the interval is over conversations, not over what was drawn of them."""
    (trace,) = load(ERRANDS)
    twin = replace(trace, name="twin", references=trace.references[:-2])
    policies = PagingPlan(policies=("fifo",), capacities=(0.5,))
    two = measure([trace, twin], policies)[0].hit_rate
    six = measure([trace, twin] * 3, policies)[0].hit_rate
    assert (six.mean, six.low, six.high, six.n) == (two.mean, two.low, two.high, two.n)


def test_nothing_to_measure_is_said() -> None:
    with pytest.raises(Invalid, match="paths"):
        measure([], PagingPlan())


def test_the_record_for_machines_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    from mnemic.lab.tasks.paging.paging_report import show

    plan = PagingPlan(policies=("lru",), capacities=(1.0,))
    show(measure(load(ERRANDS), plan), plan, sys.stdout, as_json=True)
    record = json.loads(capsys.readouterr().out)
    assert record["rows"][0]["closed"] is None
    assert tuple(record["rows"][0]) == COLUMNS


def every_row(plan: PagingPlan, hits: dict[str, float], optimal: float = 0.5) -> list[PagingRow]:
    """Each policy with one hit rate everywhere."""

    def row(family: str, share: float, policy: str) -> PagingRow:
        rate, gap = hits[policy], (hits[policy] - hits["lru"]) / (optimal - hits["lru"])
        tally = ReplayTally(reads=1, hits=0, evictions=0, prefetched=0, prefetch_hits=0, written=1, through=0, back=0)
        return PagingRow(
            family=family, capacity=share, policy=policy, traces=1, hit_rate=Estimate(rate, rate, rate, 1),
            optimal=optimal, closed=Estimate(gap, gap, gap, 1), tally=tally,
        )  # fmt: skip

    return [row(family, share, policy) for family in FAMILIES for share in plan.capacities for policy in hits]


def test_the_bars_are_a_quarter_of_the_gap_and_more_than_lru_and_the_window_everywhere() -> None:
    plan = PagingPlan(policies=("lru", "window", "adaptive"))
    good = bars(every_row(plan, {"lru": 0.1, "window": 0.0, "adaptive": 0.2}), plan)
    assert [(figure.value, figure.met) for figure in good] == [(pytest.approx(25), True), (8, True)]
    poor = bars(every_row(plan, {"lru": 0.1, "window": 0.19, "adaptive": 0.19}), plan)
    assert [figure.met for figure in poor] == [False, False]


def test_the_bars_hold_for_what_they_were_stated_for() -> None:
    policies = ("lru", "window", "adaptive")
    plan = PagingPlan(policies=policies)
    rows = every_row(plan, {"lru": 0.1, "window": 0.0, "adaptive": 0.2})
    assert bars([row for row in rows if row.family != "recalled"], plan) == []
    assert bars([row for row in rows if row.policy != "window"], plan) == []
    for other in (
        PagingPlan(policies=policies, limit=3),
        PagingPlan(policies=policies, by_tokens=True),
        PagingPlan(capacities=(0.5,)),
    ):
        assert bars(rows, other) == []
