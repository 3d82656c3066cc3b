"""Strategies read copies of one journal, alone and mixed; what they find and take stands in the log."""

from __future__ import annotations

import importlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from mnemic.errors import Invalid
from mnemic.lab.contestants.mnemic_contestant import MnemicContestant
from mnemic.lab.contestants.strategy_contestant import (
    MixtureContestant,
    StrategyContestant,
    after_papers,
    idle_over,
    learns_from_tries,
    members_of,
    tasks_asked,
    without_each_task,
)
from mnemic.lab.entries import contestants
from mnemic.lab.kit import log
from mnemic.lab.kit.contestant import Means
from mnemic.lab.kit.datasets import Corpus, Doc, made_dataset
from mnemic.lab.kit.log import LoggedRun, records
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_report import plain, report
from mnemic.lab.kit.scripted_readers import ScriptedReader, terse
from mnemic.lab.kit.stream_memories import rows as stream_rows
from mnemic.lab.tasks.standing_task import StandingTask
from mnemic.lab.tasks.strategies_bench import bench_strategies
from mnemic.registry import STRATEGIES
from mnemic.strategies.judging import JudgeTask
from mnemic.strategies.mem0 import Mem0
from mnemic.strategies.trajectories import ActionStep, Trajectory


class Mine(Mem0):
    name: ClassVar[str] = "mine"
    by: ClassVar[str] = "mine"


ROWS = ("mnemic", "mem0", "hippo2", "mem0+hippo2", "beside mem0")
TAKEN_IN: list[Path] = []


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two strategies, both together, and everybody's recall beside one of them."""
    backup, means = MnemicContestant.backup, Means(reader="scripted")

    def counted(self: MnemicContestant, to: Path) -> None:
        if to.parent.name.startswith("mnemic-lab-journals-"):  # what a file takes is measured by copies elsewhere
            TAKEN_IN.append(to)
        backup(self, to)

    locomo = Path(__file__).parent.with_name("two_people.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MnemicContestant, "backup", counted)
        plan = RunPlan(tasks={"locomo": locomo}, rows=ROWS, means=means)
        return run(plan, tmp_path_factory.mktemp("runs") / "a.jsonl")


@pytest.fixture(scope="module")
def ran(path: Path) -> LoggedRun:
    return log.read(path)


def test_the_journal_is_taken_in_once_and_gone_afterwards(ran: LoggedRun) -> None:
    assert list(ran.answers) == list(ROWS)
    assert len(TAKEN_IN) == 1
    assert not TAKEN_IN[0].parent.exists()


def test_what_they_take_is_what_comes_on_top_of_the_journal(path: Path, ran: LoggedRun) -> None:
    whole, mem0, hippo2 = (ran.costs[name] for name in ("mnemic", "mem0", "hippo2"))
    assert (whole.replayed, whole.model_calls, whole.model_tokens) == (False, 0, 0)
    assert (mem0.replayed, hippo2.replayed) == (True, True)
    assert hippo2.model_calls == 1
    assert hippo2.model_tokens > hippo2.model_calls
    assert whole.bytes_per_message is not None
    assert hippo2.bytes_per_message is not None
    assert whole.bytes_per_message > hippo2.bytes_per_message >= 0
    shown = plain(report(path))
    assert "mem0 *" in shown
    assert "taken in once" in shown


def test_tokens_are_those_of_what_is_shown(ran: LoggedRun) -> None:
    for answer in (*ran.answers["mem0"], *ran.answers["mem0+hippo2"]):
        assert answer.tokens == sum(hit.tokens for hit in answer.hits)
    assert any(answer.tokens for answer in ran.answers["mem0+hippo2"])


def test_everybodys_recall_finds_beside_a_strategy_what_it_finds_without(ran: LoggedRun) -> None:
    beside, without = (ran.answers[name] for name in ("beside mem0", "mnemic"))
    assert [answer.ranked for answer in beside] == [answer.ranked for answer in without]


def test_the_recalls_of_a_mixture_take_turns(ran: LoggedRun) -> None:
    for mixed, mem0, hippo2 in zip(*(ran.answers[n] for n in ("mem0+hippo2", "mem0", "hippo2")), strict=True):
        firsts = [answer.hits[0].docs for answer in (mem0, hippo2) if answer.hits]
        assert [hit.docs for hit in mixed.hits][: len(firsts)] == firsts
        assert not mixed.scores


def test_a_strategy_finds_what_the_bench_of_strategies_found(ran: LoggedRun, tmp_path: Path) -> None:
    locomo = Path(__file__).parent.with_name("two_people.json")
    model = ScriptedReader("scripted:terse", terse)
    replay = bench_strategies(locomo, out=tmp_path / "b.jsonl", mixtures=["mem0"], model=model)
    shown = {r["question"]: r for r in records(replay) if r["kind"] == "shown" and r["by"] == "mem0"}
    assert len(shown) == 5
    for answer in ran.answers["mem0"]:
        if answer.question in shown:
            credited = [sorted(f"lab:{answer.ns}:{doc}" for doc in hit.docs) for hit in answer.hits]
            assert credited == shown[answer.question]["turns"][:10]
            assert [hit.tokens for hit in answer.hits] == shown[answer.question]["tokens"][:10]


def test_what_is_left_to_rules_is_asked_no_model_and_all_else_is(tmp_path: Path) -> None:
    locomo = Path(__file__).parent.with_name("two_people.json")
    rows = ("zep", "zep without match_entities", f"zep without {'+'.join(tasks_asked('zep'))}", "zep without model")
    plan = RunPlan(tasks={"locomo": locomo}, rows=rows, means=Means(reader="copying"))
    costs = log.read(run(plan, tmp_path / "a.jsonl")).costs
    calls = [costs[row].model_calls for row in rows]
    assert calls[0] > calls[1] > 0
    assert calls[2:] == [0, 0]
    assert costs["zep"].model_tokens > costs[rows[1]].model_tokens > 0


def test_what_a_recall_asks_is_left_to_rules_too(tmp_path: Path) -> None:
    locomo = Path(__file__).parent.with_name("two_people.json")
    rows = ("hippo2", "hippo2 without filter_evidence", "hippo2 without extract_triples")
    plan = RunPlan(tasks={"locomo": locomo}, rows=rows, means=Means(reader="copying"))
    costs = log.read(run(plan, tmp_path / "a.jsonl")).costs
    whole, filtered_by_rules, extracted_by_rules = (costs[row] for row in rows)
    assert (whole.recall_calls, filtered_by_rules.recall_calls) == (pytest.approx(1, abs=0.5), 0)
    assert whole.recall_tokens > filtered_by_rules.recall_tokens == 0
    assert whole.model_calls == filtered_by_rules.model_calls > extracted_by_rules.model_calls == 0


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_states_all_that_it_asks_a_model(name: str) -> None:
    asking = importlib.import_module(STRATEGIES[name].partition(":")[0])
    modules = [
        asking,
        *([importlib.import_module("mnemic.strategies.fact_book")] if "FactBook" in vars(asking) else []),
    ]
    used = {value.id for module in modules for value in vars(module).values() if isinstance(value, JudgeTask)}
    assert set(tasks_asked(name)) == used


def test_what_nobody_asks_cannot_be_left_out() -> None:
    for named, why in (
        ("mem0 without extract_item", "Did you mean 'extract_items'"),
        ("skills without make_plan", "skills asks no model anything"),
        ("mem0+hippo2 without page_topic", "asks no model for 'page_topic'"),
    ):
        with pytest.raises(Invalid, match=why):
            contestants([named])


def test_mixtures_are_read_by_name() -> None:
    made = contestants(["mem0+zep", "beside mem0+zep", "0.6 BM25+date + 0.4 window"])
    for name, sort in zip(list(made)[:2], (MixtureContestant, StrategyContestant), strict=True):
        with closing(made[name](Means())) as contestant:
            assert isinstance(contestant, sort)
    with closing(contestants(["mem0+zep without merge_decide"]).popitem()[1](Means())) as contestant:
        assert isinstance(contestant, MixtureContestant)
    for named in ("mem0+nobody", "beside nobody", "mem0+mem0", "house+mem0"):
        with pytest.raises(Invalid):
            contestants([named])


def test_strategies_of_experience_are_left_out_where_nothing_was_tried_with_the_reason(tmp_path: Path) -> None:
    locomo = Path(__file__).parent.with_name("two_people.json")
    named = ("BM25 turns", "reflexion", "beside expel")
    path = run(RunPlan(tasks={"locomo": locomo}, rows=named), tmp_path / "a.jsonl")
    assert list(log.read(path).answers) == ["BM25 turns"]
    for row in named[1:]:
        assert f"`{row}` was left out: {row.removeprefix('beside ')} would learn from tries" in plain(report(path))
    with pytest.raises(Invalid, match="leaves nobody for locomo: reflexion would learn"):
        run(RunPlan(tasks={"locomo": locomo}, rows=("reflexion",)), tmp_path / "b.jsonl")


def test_strategies_that_read_turns_alone_are_left_out_where_there_are_none_with_the_reason(tmp_path: Path) -> None:
    passages = Doc(ns="a", id="1", session="Reed", pos=0, when="", said=None, speaker="Reed", text="Reed is a drama.")
    data = made_dataset("passages", [Corpus(ns="a", docs=(passages,))], [])
    left = {
        name: idle_over(make, data)
        for name, make in contestants(
            ["mem0", "zep", "stream", "memoryos", "hippo2", "beside mem0+zep", "BM25 turns", "mnemic"]
        ).items()
    }
    assert {name for name, why in left.items() if not why} == {"hippo2", "BM25 turns", "mnemic"}
    assert left["mem0"] == "mem0 reads no document, and the data holds nothing else"
    assert left["beside mem0+zep"] == "mem0 and zep read no document, and the data holds nothing else"
    turn = replace(passages, session="S1")
    talk = made_dataset("talk", [Corpus(ns="a", docs=(passages, turn))], [])
    assert idle_over(contestants(["mem0"])["mem0"], talk) == ""


def test_strategies_of_experience_take_part_where_the_data_tells_of_tries() -> None:
    tried = Trajectory(task="open the box", steps=(ActionStep("pull", "it opens"),), succeeded=True)
    doc = Doc(ns="a", id="1", session="", pos=0, when="", said=None, speaker="a", text=tried.text)
    data = made_dataset("tries", [Corpus(ns="a", docs=(doc,))], [])
    for name, make in contestants(["reflexion", "mem0+skills", "mem0", "BM25 turns"]).items():
        assert idle_over(make, data) == "", name


def test_what_stands_in_the_context_beside_strategies_is_what_stands_without(tmp_path: Path) -> None:
    task = StandingTask(limit=2)
    plan = RunPlan(tasks={"standing": Path()}, variants={"standing": task}, rows=("mnemic", "mem0", "mem0+hippo2"))
    answers = log.read(run(plan, tmp_path / "a.jsonl")).answers
    stands = {row: [sorted(line.text for line in each.block or ()) for each in answers[row]] for row in plan.rows}
    assert any(stands["mnemic"])  # sorted: what was told at one moment stands in any order
    assert stands["mem0"] == stands["mem0+hippo2"] == stands["mnemic"]


def test_who_learns_from_tries_has_a_row_in_streams() -> None:
    assert [name for name in STRATEGIES if learns_from_tries(name)] == list(stream_rows())[4:]


def test_what_a_strategy_of_ones_own_asks_can_be_left_out_of_it() -> None:
    own = f"{__name__}:Mine"
    rows = without_each_task([own])
    assert rows == [own, *(f"{own} without {task}" for task in ("extract_items", "merge_decide", "model"))]
    made = contestants(rows)
    for row in rows:
        with closing(made[row](Means())) as contestant:
            assert isinstance(contestant, StrategyContestant)


def test_members_may_stand_apart() -> None:
    assert members_of("beside mem0 + zep without model") == ["mem0", "zep"]
    assert "mem0 + zep without match_facts" in without_each_task(["mem0 + zep"])
    assert after_papers(["mem0 + zep"]) == ["mem0", "zep"]
