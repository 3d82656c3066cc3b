"""The bench of recall's stages asks the same memory with each stage left out, and tells what each costs."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path

from mnemic.core.queries import Stage
from mnemic.lab.tasks.stages_bench import (
    BARRED,
    NONE,
    StageRecall,
    StagesSize,
    bench_stages,
    mixed_talk,
    remember_talk,
)


def test_talk_says_nothing_twice_and_is_the_same_for_the_same_seed() -> None:
    turns = list(islice(mixed_talk(0), 12_000))
    assert len({(turn.slots["role"], turn.text) for turn in turns}) > 11_900
    assert turns[:900] == list(islice(mixed_talk(0), 900))
    assert {turn.slots["role"] for turn in turns[:300]} == {"user", "assistant"}


def test_a_stage_that_is_left_out_takes_no_part(tmp_path: Path) -> None:
    remember_talk(tmp_path / "m.db", 300, 0, None)
    with closing(StageRecall(tmp_path / "m.db", None)) as asked:
        whole, without = (asked.recalled(asked.query("Where do I live?", out)) for out in (NONE, BARRED))
    assert whole.considered == 300
    assert any(one.bearing is not None for one in whole)
    assert all(one.bearing is None for one in without)


def test_each_stage_is_measured_and_both_that_the_bar_names() -> None:
    done: list[tuple[str, int, int]] = []
    size = StagesSize(turns=(60, 90), rounds=1, limit=3)
    found = bench_stages(size, progress=lambda *told: done.append(told))
    assert {name for name, _, _ in done} == {"60 turns", "asked of 60", "90 turns", "asked of 90"}
    assert len(found.figures) == 2 * (1 + 1 + len(Stage))
    assert found.figures[0].name == "recall amid 60 turns: CPU"
    assert [one.name for one in found.figures if one.bar] == [
        f"amid {turns}, whole against without currency and links" for turns in (60, 90)
    ]
    assert all(one.value > 0 for one in found.figures)
    assert not size.stated
    assert StagesSize().stated
