"""The session bench: stretches of a long talk, and windows over a published conversation."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from mnemic.lab.datasets import load
from mnemic.lab.session import PARTS, LongTalk, long_talk, prefix, show, write_csv

FIXTURE = Path(__file__).parent.parent / "fixtures" / "locomo_small.json"


@pytest.fixture(scope="module")
def talk() -> LongTalk:
    return long_talk("memory:", tokens=12_000, budget=1_000, every=8, policy=None, seed=0, told=lambda *_: None)


def test_a_talk_is_measured_in_stretches_and_its_table_does_not_grow_beyond_what_it_remembers(talk: LongTalk) -> None:
    assert len(talk.stretches) == PARTS
    assert talk.stretches[-1].tokens >= 12_000
    assert all(one.turns and one.turn > 0 for one in talk.stretches)
    assert talk.counters["references"] == talk.counters["hits"] + talk.counters["faults"]  # type: ignore[operator]


def test_planted_facts_are_found_early_and_late(talk: LongTalk) -> None:
    assert talk.early == 1
    assert talk.late >= 0.9


def test_stretches_come_as_a_sheet_and_all_of_it_for_machines(talk: LongTalk, tmp_path: Path) -> None:
    write_csv(talk, tmp_path / "s.csv")
    with (tmp_path / "s.csv").open() as file:
        assert len(list(csv.DictReader(file))) == PARTS
    stream = io.StringIO()
    show(talk, [], stream, as_json=True)
    assert json.loads(stream.getvalue())["long"]["growth"] == pytest.approx(talk.growth)


def test_windows_over_a_conversation_are_scored_beside_context() -> None:
    told: list[str] = []
    found = prefix(
        load(FIXTURE), budget=600, policy="lru", seed=0, embedder=None, told=lambda what, *_: told.append(what)
    )
    assert found.questions > 0
    assert 0 <= found.reuse <= 1
    assert 0 <= found.found <= 1
    assert told
    stream = io.StringIO()
    show(None, [found], stream, as_json=False)
    assert "prefix reused" in stream.getvalue()
