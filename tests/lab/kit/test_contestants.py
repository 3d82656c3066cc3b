"""mnemic takes part in its own benchmark through the public API, on a real file, like anyone's program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mnemic.core.items import Kind
from mnemic.errors import Invalid
from mnemic.lab.contestants.baseline_contestant import BaselineContestant
from mnemic.lab.contestants.mnemic_contestant import Ablated, MnemicContestant
from mnemic.lab.entries import contestants
from mnemic.lab.kit.baselines import lineup
from mnemic.lab.kit.contestant import Means
from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Dataset, Doc, message
from mnemic.lab.kit.peer_table import peer_tables
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_report import report
from mnemic.lab.kit.tables import in_markdown
from mnemic.models.scripted_embedder import ScriptedEmbedder


@pytest.fixture
def mnemic(pair: Dataset) -> Iterator[MnemicContestant]:
    with closing(MnemicContestant()) as system:
        system.ingest(pair.corpora)
        yield system


def asked(text: str, ns: str) -> BenchQuestion:
    return BenchQuestion(ns=ns, id="q", text=text, answer="", category="", gold=(), sessions=())


def test_mnemic_ranks_the_documents_of_its_corpus_best_first(mnemic: MnemicContestant, pair: Dataset) -> None:
    ranking = mnemic.rank(asked("What became of Noor's pottery class?", "pair-1"), 5)
    assert set(ranking.ids[:2]) == {"D1:1", "D2:2"}
    assert set(ranking.ids) <= {doc.id for doc in pair.corpora[0].docs}
    assert len(ranking.ids) == len(set(ranking.ids)) == len(ranking.scores) <= 5
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)


def test_mnemic_says_what_it_cost(mnemic: MnemicContestant) -> None:
    figures = mnemic.figures()
    assert figures.bytes_per_message is not None
    assert figures.bytes_per_message > 0
    assert figures.lag_ms is not None
    assert figures.lag_ms > 0


def test_its_bytes_are_those_of_its_file_at_rest(
    mnemic: MnemicContestant, pair: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mnemic, "_lag", lambda: None)  # would write more
    told = mnemic.figures().bytes_per_message
    mnemic._memory.close()
    assert not mnemic._path.with_name("memory.db-wal").exists()
    assert told == mnemic._path.stat().st_size / sum(len(corpus.docs) for corpus in pair.corpora)


def test_a_question_of_another_corpus_is_answered_from_that_one_only(mnemic: MnemicContestant) -> None:
    mnemic.ingest([Corpus(ns="bob", docs=())])
    assert mnemic.rank(asked("pottery class?", "bob"), 5).ids == ()


def test_a_whole_run_puts_mnemic_beside_its_baselines(locomo_file: Path, tmp_path: Path) -> None:
    (made,) = report(run(RunPlan(tasks={"locomo": locomo_file}), tmp_path)).tasks
    rows = {row.system: row for row in made.rows}
    assert list(rows) == ["mnemic", *lineup()]
    assert rows["mnemic"].scores["R@10"].mean > 0.5
    assert rows["mnemic"].cost is not None
    assert rows["mnemic"].cost.model_calls == 0


def test_a_row_for_each_stage_that_is_left_out(locomo_file: Path, tmp_path: Path) -> None:
    names = ("mnemic", "without dense", "without session+speaker")
    plan = RunPlan(tasks={"locomo": locomo_file}, rows=names, means=Means(embedder="scripted:64"))
    made = report(run(plan, tmp_path))
    rows = {row.system: row for row in made.tasks[0].rows}
    assert tuple(rows) == names
    assert made.header["settings"]["contestants"] == {"locomo": list(names)}
    assert made.header["settings"]["embedder"] == "scripted:64"
    assert all(row.scores["R@10"].mean > 0.5 for row in rows.values())


def test_leaving_out_nothing_ranks_as_the_public_api_does(pair: Dataset) -> None:
    with (
        closing(MnemicContestant(ScriptedEmbedder(64))) as whole,
        closing(Ablated(ScriptedEmbedder(64), frozenset())) as same,
    ):
        for system in (whole, same):
            system.ingest(pair.corpora)
        assert all(whole.rank(q, 5) == same.rank(q, 5) for q in pair.questions)


def test_a_stage_that_is_none_is_refused() -> None:
    with pytest.raises(Invalid, match="without"):
        contestants(["without luck"])
    with pytest.raises(Invalid, match="recent window"):
        contestants(["magic"])
    with pytest.raises(Invalid, match="twice"):
        contestants(["mnemic", "mnemic"])


def test_passages_become_documents_with_a_title_and_turns_have_a_speaker() -> None:
    def doc(when: str, session: str) -> Doc:
        return Doc(ns="n", id="p1", session=session, pos=0, when=when, said=None, speaker="Ada", text="x")

    assert message(doc("", "Ada")).kind is Kind.DOCUMENT
    assert message(doc("", "Ada")).slots["title"] == "Ada"
    assert message(doc("8 May, 2023", "S1")).kind is Kind.TURN
    assert message(doc("8 May, 2023", "S1")).slots["speaker"] == "Ada"


def test_baselines_give_no_more_than_they_are_asked_for(pair: Dataset) -> None:
    system = BaselineContestant("recent window", Means())
    system.ingest(pair.corpora)
    assert system.rank(pair.questions[0], 2).ids == ("D10:1", "D2:2")


def test_who_makes_the_vectors_of_a_cold_cache_is_told(locomo_file: Path, tmp_path: Path) -> None:
    means = Means(embedder="scripted:64", cache=tmp_path / "vectors")
    plan = RunPlan(tasks={"locomo": locomo_file}, rows=("dense turns", "without links"), means=means)
    begin = "The cache of vectors was not full: in their times "

    def told(log: Path) -> list[str]:
        return [note for note in report(log).tasks[0].notes if note.startswith(begin)]

    cold, warm = run(plan, tmp_path / "cold.jsonl"), run(plan, tmp_path / "warm.jsonl")
    (note,) = told(cold)

    made = {row.system: row.cost.vectors_made for row in report(cold).tasks[0].rows if row.cost is not None}
    assert sum(made.values()) == next((tmp_path / "vectors").iterdir()).stat().st_size // (16 + 4 * 64)
    assert made["dense turns"] > 0
    assert f"`dense turns` made {made['dense turns']}" in note
    assert in_markdown(note) in peer_tables(cold)[0]
    assert told(warm) == []
    assert begin not in peer_tables(warm)[0]
