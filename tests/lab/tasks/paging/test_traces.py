"""Traces: what is drawn is drawn again alike, what is kept is read back, what is broken is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.lab.kit.datasets import BenchQuestion, Dataset
from mnemic.lab.tasks.paging import dialogues
from mnemic.lab.tasks.paging.traces import SYNTHETIC, PageTrace, load, save

FIXTURE = Path(__file__).parents[4] / "src/mnemic/lab/fixtures/paging_errands.jsonl"


def reads(trace: PageTrace) -> list[str]:
    return [trace.pages[one.page].id for one in trace.references if not one.write]


@pytest.mark.parametrize("family", SYNTHETIC)
def test_a_synthetic_trace_comes_from_its_seed(family: str) -> None:
    made = SYNTHETIC[family](3)
    assert made == SYNTHETIC[family](3)
    assert made != SYNTHETIC[family](4)
    assert made.reads > len(made.pages) / 2


@pytest.mark.parametrize("family", SYNTHETIC)
def test_each_page_is_written_once_before_it_is_read(family: str) -> None:
    seen: set[int] = set()
    for reference in SYNTHETIC[family](0).references:
        assert reference.write == (reference.page not in seen)
        seen.add(reference.page)


def test_a_trace_is_read_back_as_it_was_kept(tmp_path: Path, pair: Dataset) -> None:
    traces = [*dialogues.spread(pair, 0), SYNTHETIC["loop"](0)]
    save(traces, tmp_path / "t.jsonl")
    assert load(tmp_path / "t.jsonl") == traces


def test_no_word_of_a_conversation_is_kept(tmp_path: Path, pair: Dataset) -> None:
    save(dialogues.after(pair, 0), tmp_path / "t.jsonl")
    kept = (tmp_path / "t.jsonl").read_text()
    assert not any(doc.text in kept for corpus in pair.corpora for doc in corpus.docs)


def test_the_fixture_is_a_trace() -> None:
    (made,) = load(FIXTURE)
    assert (made.family, len(made.pages), made.reads) == ("errands", 6, 5)
    assert made.pages[0].importance > made.pages[1].importance


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"read": "a"}\n', "no head"),
        ("nonsense\n", "not JSON"),
        ('{"trace": "t", "family": "f"}\n{"other": 1}\n', "line 2 is no line"),
        ('{"trace": "t", "family": "f"}\n{"read": "a"}\n', "no trace"),
        ('{"trace": "t", "family": "f"}\n{"page": "a"}\n{"read": "a"}\n{"write": "a"}\n', "after its first"),
        ('{"trace": "t", "family": "f"}\n{"page": "a", "tokens": "many"}\n{"read": "a"}\n', "tokens"),
    ],
)
def test_what_is_no_trace_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(Invalid, match=complaint):
        load(tmp_path / "t.jsonl")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot read"):
        load(tmp_path / "none.jsonl")


def test_after_reads_the_evidence_at_the_end_in_the_order_of_the_data(pair: Dataset) -> None:
    for trace in dialogues.after(pair, 0):
        writes = sum(one.write for one in trace.references)
        assert all(one.write for one in trace.references[:writes])
        asked = [q for q in pair.questions if q.ns == trace.name and q.scorable]
        assert reads(trace) == [doc for q in asked for doc in q.gold]


def test_shuffled_asks_the_same_in_a_drawn_order(pair: Dataset) -> None:
    for straight, drawn in zip(dialogues.after(pair, 0), dialogues.shuffled(pair, 0), strict=True):
        assert sorted(reads(straight)) == sorted(reads(drawn))
        assert straight.pages == drawn.pages


@pytest.mark.parametrize("seed", range(5))
def test_spread_asks_nothing_before_it_was_said(pair: Dataset, seed: int) -> None:
    for trace, straight in zip(dialogues.spread(pair, seed), dialogues.after(pair, seed), strict=True):
        assert sorted(reads(trace)) == sorted(reads(straight))
        said: set[int] = set()
        for one in trace.references:
            assert one.write or one.page in said
            said.add(one.page)


def test_recalled_reads_what_is_found_of_what_was_said(pair: Dataset) -> None:
    last = {corpus.ns: [doc.id for doc in corpus.docs][::-1] for corpus in pair.corpora}

    def find(question: BenchQuestion, k: int) -> list[str]:
        return last[question.ns][:k]

    for trace in dialogues.recalled(pair, 0, find):
        newest = -1
        for one in trace.references:
            newest = one.page if one.write else newest
            assert one.write or newest - dialogues.READ < one.page <= newest


def test_recalled_asks_questions_that_name_no_evidence_too(pair: Dataset) -> None:
    bare = replace(pair, questions=tuple(replace(one, gold=(), sessions=()) for one in pair.questions))
    first = {corpus.ns: [doc.id for doc in corpus.docs] for corpus in pair.corpora}
    (trace,) = dialogues.recalled(bare, 0, lambda question, k: first[question.ns][:1])
    assert trace.reads == len(pair.questions)
    assert list(dialogues.spread(bare, 0)) == []
