"""The session bench: stretches of a long talk, and windows over a published conversation."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from mnemic.lab.kit.datasets import load
from mnemic.lab.tasks.session.prefix import Played, PrefixReuse, prefix
from mnemic.lab.tasks.session.session_bench import PARTS, LongTalk, long_talk
from mnemic.lab.tasks.session.session_report import figures, show, write_csv

pytestmark = pytest.mark.heavy

FIXTURE = Path(__file__).parents[3] / "fixtures" / "locomo_small.json"


SIGNS: list[tuple[str, int, int]] = []


@pytest.fixture(scope="module")
def talk() -> LongTalk:
    SIGNS.clear()
    return long_talk(
        "memory:", tokens=12_000, budget=1_000, every=8, policy=None, seed=0, progress=lambda *sign: SIGNS.append(sign)
    )


def test_a_talk_is_measured_in_stretches_and_its_table_does_not_grow_beyond_what_it_remembers(talk: LongTalk) -> None:
    assert len(talk.stretches) == PARTS
    assert talk.stretches[-1].tokens >= 12_000
    assert all(one.turns and one.turn > 0 for one in talk.stretches)
    assert all(0 < one.live <= one.resident + 1 for one in talk.stretches)
    assert talk.counters["references"] == talk.counters["hits"] + talk.counters["faults"]  # type: ignore[operator]


def test_planted_facts_are_found_early_and_late(talk: LongTalk) -> None:
    assert talk.early == 1
    assert talk.late >= 0.9


def test_stretches_come_as_a_sheet_and_all_of_it_for_machines(talk: LongTalk, tmp_path: Path) -> None:
    write_csv(talk, tmp_path / "s.csv")
    with (tmp_path / "s.csv").open() as file:
        assert len(list(csv.DictReader(file))) == PARTS
    stream = io.StringIO()
    show(talk, [], figures(talk, [], budget=1_000, whole=True), stream, as_json=True)
    made = json.loads(stream.getvalue())
    assert made["long"]["growth"] == pytest.approx(talk.growth)
    assert [one["met"] for one in made["figures"]] == [None] * 5


def test_a_long_talk_tells_how_far_it_is_while_it_is_spoken(talk: LongTalk) -> None:
    done = [spoken for _, spoken, _ in SIGNS]
    assert len(done) > 3
    assert done == sorted(done)
    assert SIGNS[-1] == ("talk", 12_000, 12_000)


def played(**more: object) -> PrefixReuse:
    progress = more.pop("progress", lambda *_: None)
    return prefix(load(FIXTURE), budget=600, policy="lru", seed=0, embedder=None, progress=progress, **more)  # type: ignore[arg-type]


def test_windows_over_conversations_are_scored_beside_context_together_and_each() -> None:
    signs: list[tuple[str, int, int]] = []
    found = played(progress=lambda *sign: signs.append(sign))
    assert found.whole.questions == sum(one.questions for one in found.each) > 0
    assert 0 <= found.whole.reuse <= 1
    assert 0 <= found.whole.found <= 1
    assert signs
    stream = io.StringIO()
    show(None, [found], figures(None, [found], budget=600, whole=True), stream, as_json=False)
    assert "prefix reused" in stream.getvalue()
    assert all(one.name in stream.getvalue() for one in found.each)


def test_a_limit_asks_the_first_questions_only() -> None:
    assert played(limit=1).whole.questions == 1
    assert len(played(limit=1).each) == 1


def test_what_is_missed_is_said_where_the_bars_are_stated_for_it() -> None:
    one = Played(
        name="lru", questions=9, windows=9, found=0.9, packed=0.91, rendered=100, reused=81, hits=1, references=2
    )
    must = figures(None, [PrefixReuse(whole=one, each=())], budget=4_000, whole=True)
    assert [figure.met for figure in must] == [True, False]
    assert {figure.met for figure in figures(None, [PrefixReuse(whole=one, each=())], budget=4_000, whole=False)} == {
        None
    }
