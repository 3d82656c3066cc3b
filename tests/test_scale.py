"""The plans of docs/scale.md follow from its script, and the script from what it says was measured."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SCALE = runpy.run_path(str(ROOT / "scripts" / "scale.py"))


def test_the_tables_of_the_page_are_those_that_the_script_makes() -> None:
    page = (ROOT / "docs" / "scale.md").read_text()
    assert SCALE["written"](page) == page, "run scripts/scale.py --write"
    for name, (value, _) in SCALE["MEASURED"].items():
        assert f"| {name} | {value:,} |" in page


def plan_of(items: int, **given: float) -> Any:
    return SCALE["plan"](items, SCALE["Assumptions"](**given))


def test_more_items_take_more_and_what_breaks_first_follows_from_what_is_used() -> None:
    plans = [plan_of(items) for items in SCALE["PLANS"]]
    primaries = [each.primaries for each in plans]
    assert primaries == sorted(primaries)
    assert primaries[0] < primaries[-1]
    for each in plans:
        assert max(each.used.values()) == each.used[each.first] <= 1


def test_every_primary_has_servers_and_workers_of_its_own_and_the_nodes_hold_them_all() -> None:
    for each in [*(plan_of(items) for items in SCALE["PLANS"]), plan_of(10**9, questions_a_day=300)]:
        assert each.servers % each.primaries == each.workers % each.primaries == 0
        assert min(each.servers, each.workers) >= 2 * each.primaries
        assert each.nodes * SCALE["Assumptions"]().node_cores >= each.servers + each.workers
    assert plan_of(10**9, questions_a_day=300).servers > plan_of(10**9).servers


def test_what_is_assumed_are_options(capsys: pytest.CaptureFixture[str]) -> None:
    SCALE["main"](["--items", "1000000000", "--node-memory", "128", "--items-per-user", "200"])
    shown = capsys.readouterr().out
    assert "| memory of a node | 128 GB | `--node-memory` |" in shown
    assert "| users | 5,000,000 |" in shown
    assert plan_of(10**9, node_memory=128).primaries < plan_of(10**9).primaries
    for refused in (["--node-memory", "0"], ["--write", "--room", "1"], ["--nodes", "3"]):
        with pytest.raises(SystemExit, match="2"):
            SCALE["main"](refused)
    with pytest.raises(SystemExit, match="0"):
        SCALE["main"](["--help"])
    assert "--items-per-user" in capsys.readouterr().out


@pytest.mark.parametrize("kept", [0.02, 0.05])
def test_a_user_who_comes_to_the_same_server_meets_a_warm_catalogue_more_often(kept: float) -> None:
    warm = SCALE["warm_share"]
    assert warm(8, kept, by_user=True) > warm(8, kept, by_user=False) + 0.1
    assert warm(1, kept, by_user=True) == pytest.approx(warm(1, kept, by_user=False), abs=0.02)
    assert warm(8, kept, by_user=True) < warm(8, 2 * kept, by_user=True)
