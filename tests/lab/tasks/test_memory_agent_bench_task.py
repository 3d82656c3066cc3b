from __future__ import annotations

import math
from pathlib import Path

from mnemic.lab.kit.made_samples import write_samples
from mnemic.lab.kit.metrics import Outcome
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_report import plain, report
from mnemic.lab.tasks.memory_agent_bench_task import newest_first


def ranking(*ranked: str, outdated: tuple[str, ...] = ("1", "2")) -> Outcome:
    return Outcome(
        question="q", category="conflict", gold=("9",), sessions=(), ranked=ranked, ranked_sessions=ranked,
        tokens=(1,) * len(ranked), key={"outdated": outdated},
    )  # fmt: skip


def test_the_latest_fact_is_held_against_those_that_it_replaced() -> None:
    assert newest_first(ranking("5", "9", "2")) == 1
    assert newest_first(ranking("5", "2", "9")) == 0
    assert newest_first(ranking("5")) == 0
    assert math.isnan(newest_first(ranking("9", outdated=())))


def test_what_was_found_is_told_by_source(tmp_path: Path) -> None:
    write_samples(tmp_path)
    plan = RunPlan(tasks={"mab-conflict": tmp_path / "mab-conflict"}, rows=("BM25 turns",))
    shown = plain(report(run(plan, tmp_path / "run.jsonl")))
    assert "By source, BM25 turns, %" in shown
    assert "factconsolidation_sh_made  24 of 24" in shown
