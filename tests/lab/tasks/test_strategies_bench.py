"""The bench of strategies replays one journal under each, and its tables follow from its log."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import ClassVar

import pytest

from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.errors import Invalid
from mnemic.flow import Flow
from mnemic.lab.kit.datasets import Dataset
from mnemic.lab.kit.log import records
from mnemic.lab.kit.replays import ReplayedMemory, bundled_journal, journal_of
from mnemic.lab.kit.scripted_readers import ScriptedReader, terse
from mnemic.lab.tasks.strategies_bench import ALL, Mixture, bench_strategies, mixtures_of, reader_of
from mnemic.lab.tasks.strategies_report import STATED, bars, read_strategies, show, tables
from mnemic.registry import STRATEGIES
from mnemic.settings import Settings
from mnemic.strategies import (
    Asked,
    Budget,
    Derivation,
    EachEvent,
    Edits,
    Given,
    Pick,
    Sight,
    TurnUnit,
    Unit,
    known,
    nothing,
)
from mnemic.strategies.triggers import Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Writes a note on each turn, which rests on the note before it, too, and recalls them oldest first."""

    name: ClassVar[str] = "chain"
    by: ClassVar[str] = "chain"
    reads: ClassVar[frozenset[Kind]] = frozenset({Kind.TURN})
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(),)
    maintain: ClassVar[tuple[Trigger, ...]] = ()
    budget: ClassVar[Budget] = Budget()
    batch: ClassVar[int] = 8
    unit: ClassVar[Unit] = TurnUnit()
    sight: ClassVar[Sight] = Sight.OWN

    def on_write(self, given: Given) -> Flow[Edits]:
        (turn,) = given.evidence
        before = yield from known(Filter(kinds=(Kind.SUMMARY,), by=(self.by,)), 1)
        note = Derivation(
            key=f"{self.name}:{turn.id}", kind=Kind.SUMMARY, text=f"Noted: {turn.text}", slots={"by": self.by},
            source=(turn.id, *(one.id for one in before)), said=turn.said, sight=self.sight,
        )  # fmt: skip
        return Edits(write=(note,))

    on_maintain = nothing

    def on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]:
        notes = yield from known(Filter(kinds=(Kind.SUMMARY,), by=(self.by,)), 1_000)
        return [Pick(item=one, score=1.0) for one in reversed(notes)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loud(Chain):
    """The same, and everybody's recall finds its notes: it moves that."""

    name: ClassVar[str] = "loud"
    by: ClassVar[str] = "loud"
    sight: ClassVar[Sight] = Sight.ALL


PLACE = "test_strategies_bench:Chain"


def test_mixtures_are_read_by_name_and_house_is_in_all_of_them() -> None:
    read = mixtures_of(["mem0", f"zep+{PLACE}", "house+mem0", ALL])
    assert [one.name for one in read] == ["mem0", "zep+chain", ALL]
    registered = [name for name in STRATEGIES if name != "house"]
    assert [member.name for member in read[-1].members] == registered
    assert [one.name for one in mixtures_of([])] == [*registered, ALL]


@pytest.mark.parametrize("named", ["house", "mem0+mem0", "mem0+", "nobody"])
def test_mixtures_that_cannot_be_are_refused(named: str) -> None:
    with pytest.raises(Invalid):
        mixtures_of([named])


def test_a_journal_has_the_conversations_that_are_named_and_questions_with_evidence(pair: Dataset) -> None:
    journal = journal_of(pair, ("pair-1",), 2)
    assert [one.gold for one in journal.questions] == [("lab:pair-1:D1:3",), ("lab:pair-1:D1:2",)]
    assert journal.size == 6
    with pytest.raises(Invalid, match="conversations"):
        journal_of(pair, ("nobody",))


def test_a_copy_is_read_by_others_and_the_first_memory_stays_as_it_was(tmp_path: Path) -> None:
    journal = bundled_journal(1)
    strategy = Chain()
    with closing(ReplayedMemory(tmp_path / "a.db")) as memory:
        memory.take_in(journal)
        memory.digest()
        with closing(memory.copied(tmp_path / "b.db", [strategy], None)) as copy:
            assert copy.digest().unread == ""
            assert copy.derived(strategy, ["ada"]) == journal.size
            rests_on = [copy.turns_of("ada", one) for one in copy.recalled(journal.questions[0], by="chain").items]
            assert rests_on[:2] == [["demo:s01:1"], ["demo:s01:1", "demo:s01:2"]]
        assert memory.derived(strategy, ["ada"]) == 0


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over five questions: a strategy that moves nobody, one that moves everybody, and one that asks a model."""
    own = [Mixture(name=one.name, members=(one,)) for one in (Chain(), Loud())]
    locomo = Path(__file__).parent.parent / "two_people.json"
    model = ScriptedReader("scripted:terse", terse)
    return bench_strategies(locomo, out=tmp_path_factory.mktemp("runs"), mixtures=[*own, "hippo2"], model=model)


def test_what_is_found_follows_from_what_was_shown(log: Path) -> None:
    report = read_strategies(log)
    assert report.complete
    rows = {row.by: row for row in report.found}
    assert list(rows) == ["house", "chain", "loud", "hippo2"]
    for by, row in rows.items():
        shown = [one for one in records(log) if one["kind"] == "shown" and by == one["by"] == row.by]
        shown = [one for one in shown if one["mixture"] == row.mixture]
        assert row.n == len(shown) == 5
        for k in (1, 5, 10):
            credited = [set(chain.from_iterable(one["turns"][:k])) for one in shown]
            shares = [
                len(set(one["gold"]) & turns) / len(one["gold"]) for one, turns in zip(shown, credited, strict=True)
            ]
            assert row.scores[f"R@{k}"].mean == pytest.approx(sum(shares) / 5)
        assert row.scores["tokens"].mean == pytest.approx(sum(sum(one["tokens"][:10]) for one in shown) / 5)
    assert rows["chain"].scores["turns"].mean == 6  # six notes: each is credited with all turns before it
    assert rows["chain"].scores["R@1"].mean < rows["chain"].scores["R@5"].mean < 1
    assert rows["chain"].scores["R@10"].mean == 1
    assert rows["chain"].scores["within 300"].mean == 1
    assert math.isnan(rows["chain"].by_conversation.low)


def test_who_moves_everybodys_recall_is_told_and_misses_a_bar(log: Path) -> None:
    report = read_strategies(log)
    changed = {row.mixture: row.changed for row in report.isolation}
    assert changed["chain"] == changed["hippo2"] == 0
    assert changed["loud"] > 0
    assert all(row.slower.low <= row.slower.mean <= row.slower.high for row in report.isolation)
    assert bars(report) == []
    report.header["data"]["questions"] = STATED
    assert [one.name for one in bars(report)][:2] == ["chain: R@10 of recall moved", "chain: recall slower"]


def test_costs_are_those_of_the_meters_and_on_top_of_house(log: Path) -> None:
    costs = {row.mixture: row for row in read_strategies(log).costs}
    assert list(costs) == ["house", "chain", "loud", "hippo2"]
    assert (costs["chain"].calls, costs["chain"].derived) == (0, {"chain": 6})
    assert (costs["hippo2"].calls, costs["hippo2"].by_rules) == (1.0, 0.0)
    assert costs["hippo2"].tokens > 0
    assert costs["house"].bytes > costs["hippo2"].bytes >= 0
    assert math.isnan(costs["chain"].by_rules)


def test_a_report_is_shown_as_text_markdown_and_json(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = read_strategies(log)
    assert [len(table.rows) for table in tables(report)] == [4, 3, 4]
    for form in (None, "markdown"):
        show(report, sys.stdout, form)
        assert "everybody" in capsys.readouterr().out
    show(report, sys.stdout, "json")
    assert json.loads(capsys.readouterr().out)["found"][1]["by"] == "chain"


def test_another_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text('{"kind": "run", "format": 1, "bench": "hotpot"}\n')
    with pytest.raises(Invalid, match="not a log of this bench"):
        read_strategies(tmp_path / "run.jsonl")


def test_rules_judge_where_there_is_no_model(tmp_path: Path) -> None:
    assert reader_of("none", None, Settings()) is None
    report = read_strategies(bench_strategies(out=tmp_path, mixtures=["mem0"], limit=1))
    assert {row.mixture: row.by_rules for row in report.costs}["mem0"] == 1
    with pytest.raises(Invalid, match="conversations"):
        bench_strategies(out=tmp_path, mixtures=["mem0"], conversations=["a"])
