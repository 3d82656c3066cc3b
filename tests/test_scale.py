"""The plans of docs/scale.md follow from its script, and the script from what it says was measured."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCALE = runpy.run_path(str(ROOT / "scripts" / "scale.py"))


def test_the_tables_of_the_page_are_those_that_the_script_makes() -> None:
    page = (ROOT / "docs" / "scale.md").read_text()
    assert SCALE["written"](page) == page, "run scripts/scale.py --write"
    for name, (value, _) in SCALE["MEASURED"].items():
        assert f"| {name} | {value:,} |" in page


def test_more_items_take_more_and_what_breaks_first_follows_from_what_is_used() -> None:
    plans = [SCALE["plan"](items) for items in SCALE["PLANS"]]
    primaries = [int(each["primaries, each with a standby"]) for each in plans]
    assert primaries == sorted(primaries)
    assert primaries[0] < primaries[-1]
    for each in plans:
        used = [
            int(share.strip(" %")) for share in each["share of a database node used: disk, memory, cores"].split(",")
        ]
        assert max(used) <= 100
        assert each["what breaks first"] == ("disk", "memory", "cores")[used.index(max(used))]


@pytest.mark.parametrize("kept", [0.02, 0.05])
def test_a_user_who_comes_to_the_same_server_meets_a_warm_catalogue_more_often(kept: float) -> None:
    warm = SCALE["warm_share"]
    assert warm(8, kept, by_user=True) > warm(8, kept, by_user=False) + 0.1
    assert warm(1, kept, by_user=True) == pytest.approx(warm(1, kept, by_user=False), abs=0.02)
    assert warm(8, kept, by_user=True) < warm(8, 2 * kept, by_user=True)
