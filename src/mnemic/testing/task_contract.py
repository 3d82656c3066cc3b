"""The contract of tasks as tests: what every task promises, and that its metrics tell a right ranking from a wrong one.

A task proves itself with one import and two fixtures, in a test file of its own::

    from mnemic.testing.task_contract import *


    @pytest.fixture
    def task():
        return MyTask()


    @pytest.fixture
    def data(tmp_path):  # a file or folder with a few samples of its data
        ...
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from mnemic.lab.kit.answer_metrics import paper_rule
from mnemic.lab.kit.contestant import GivenAnswer
from mnemic.lab.kit.datasets import BenchQuestion, Dataset
from mnemic.lab.kit.metrics import Outcome, within
from mnemic.lab.kit.task import BenchTask, rule_of

_COSTS = ("tokens@",)
"""How metrics begin that count something, and are no share of 1."""


@pytest.fixture
def samples(task: BenchTask, data: Path) -> Dataset:
    """The data of the task."""
    return task.read(data)


def outcome(dataset: Dataset, question: BenchQuestion, ranked: Sequence[str], answer: str | None = None) -> Outcome:
    """What a ranking comes to, with an answer that quotes its first document."""
    session = {doc.id: doc.session for corpus in dataset.corpora if corpus.ns == question.ns for doc in corpus.docs}
    given = None
    if answer is not None:
        given = GivenAnswer(short=answer, cited=tuple(ranked[:1]), known=bool(answer), confidence=0.5)
    return Outcome(
        question=question.id,
        category=question.category,
        gold=question.gold,
        sessions=question.sessions,
        ranked=tuple(ranked),
        ranked_sessions=tuple(session[doc] for doc in ranked),
        tokens=tuple(10 for _ in ranked),
        wanted=question.answer,
        given=given,
        key=question.key,
    )


def _others(dataset: Dataset, question: BenchQuestion) -> list[str]:
    """Documents that answer nothing of a question."""
    docs = [doc for corpus in dataset.corpora if corpus.ns == question.ns for doc in corpus.docs]
    return [doc.id for doc in docs if doc.id not in question.gold and doc.session not in question.sessions]


def test_a_question_is_asked_of_a_corpus_that_is_there_and_evidence_points_into_it(samples: Dataset) -> None:
    ids = {corpus.ns: {doc.id for doc in corpus.docs} for corpus in samples.corpora}
    assert samples.questions
    assert len({(question.ns, question.id) for question in samples.questions}) == len(samples.questions)
    for question in samples.questions:
        assert question.ns in ids
        assert set(question.gold) <= ids[question.ns]


def test_reading_again_reads_the_same(task: BenchTask, data: Path) -> None:
    assert task.read(data) == task.read(data)


def test_what_it_shows_it_measures(task: BenchTask) -> None:
    assert task.headline in task.shown
    assert set(task.shown) <= set(within(task.metrics, task.depth))
    assert task.rows
    assert task.depth >= 10


def test_the_evidence_ranked_first_is_the_best_there_is(task: BenchTask, samples: Dataset) -> None:
    for question in samples.questions:
        best = [*question.gold, *_others(samples, question)]
        score = task.metrics[task.headline](outcome(samples, question, best, question.answer))
        assert score == 1 or math.isnan(score) or len(question.gold) > 5


def test_a_metric_is_a_share_of_one_or_none_at_all(task: BenchTask, samples: Dataset) -> None:
    for question in samples.questions:
        rankings: tuple[list[str], ...] = (list(question.gold), _others(samples, question), [])
        for ranked in rankings:
            made = outcome(samples, question, ranked, question.answer)
            for name, metric in task.metrics.items():
                value = metric(made)
                assert math.isnan(value) or 0 <= value <= 1 or name.startswith(_COSTS), name


def test_nothing_that_was_not_found_scores(task: BenchTask, samples: Dataset) -> None:
    """A scorer that gives points for what is not there would be found out here."""
    told = 0
    for question in samples.questions:
        if not question.gold:
            continue
        for ranked in (_others(samples, question), []):
            score = task.metrics[task.headline](outcome(samples, question, ranked, ""))
            assert score == 0
            told += 1
    assert told


def test_finding_it_later_scores_no_more(task: BenchTask, samples: Dataset) -> None:
    if all(question.of_context for question in samples.questions if question.gold):
        pytest.skip("what stands in a context has no ranks")
    fell = 0
    for question in samples.questions:
        others = _others(samples, question)
        if not question.gold or not others:
            continue
        scores = []
        for before in range(len(others) + 1):
            ranked = [*others[:before], *question.gold, *others[before:]]
            scores.append([task.metrics[name](outcome(samples, question, ranked, "")) for name in task.shown])
        for column in zip(*scores, strict=True):
            measured = [score for score in column if not math.isnan(score)]
            assert measured == sorted(measured, reverse=True)
            fell += len(set(measured)) > 1
    assert fell, "no metric tells an early rank from a late one: have more documents in the samples"


def test_answers_in_words_are_scored_by_a_rule_that_there_is(task: BenchTask, samples: Dataset) -> None:
    score = paper_rule(rule_of(task))
    for question in samples.questions:
        assert score("", question.answer, question.category) == 0 or not question.answer.strip()
        assert 0 <= score(question.answer, question.answer, question.category) <= 1


def test_a_question_without_evidence_has_no_headline(task: BenchTask, samples: Dataset) -> None:
    for question in samples.questions:
        if not question.scorable:
            made = outcome(samples, question, _others(samples, question)[:5], "")
            assert math.isnan(task.metrics[task.headline](made))
