"""What a question and an answer can carry comes through a run and its log, and asks nothing of who ignores it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from mnemic.lab.kit import log
from mnemic.lab.kit import run as runs
from mnemic.lab.kit.contestant import (
    ContextLine,
    CreditedHit,
    GivenAnswer,
    Means,
    OwnFigures,
    QuotedDocs,
    RankedDocs,
)
from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Dataset, Doc
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.tasks.locomo_task import LOCOMO

NOON = datetime(2025, 3, 3, 12, tzinfo=UTC)
HIT = CreditedHit(("a", "b"), 7, "a fact of both")
ANSWER = GivenAnswer(
    short="Bern", cited=("a",), known=True, confidence=math.nan, text="Bern. [x]", value="Bern",
    quotes=(QuotedDocs("I live in Bern.", ("a",)),),
)  # fmt: skip
LINES = (ContextLine(text="Answer in French.", docs=("b",), standing=True, doubted=True),)


def told() -> Dataset:
    doc = Doc(ns="n", id="a", session="", pos=0, when="", said=NOON, speaker="", text="I live in Bern.", role="user")
    asked = BenchQuestion(
        ns="n", id="q", text="Where do I live?", answer="Bern", category="place", gold=("a",), sessions=(), asked=NOON,
        key={"outdated": ("b",), "wrong": ("Paris",)},
    )  # fmt: skip
    standing = BenchQuestion(
        ns="n", id="s", text="", answer="", category="standing", gold=("b",), sessions=(), of_context=True
    )
    corpus = Corpus(ns="n", docs=(doc, replace(doc, id="b", text="Answer in French.")), told=True)
    return Dataset(name="told", sha256="0", corpora=(corpus,), questions=(asked, standing))


@dataclass(frozen=True, kw_only=True)
class ToldTask:
    """LoCoMo's metrics over a memory that was told two things."""

    name: str = "locomo"
    depth: int = 10
    answered: bool = True
    about: str = LOCOMO.about
    headline: str = "R@10"
    shown: dict[str, str] = field(default_factory=lambda: {"R@10": "R@10"})
    rows: tuple[str, ...] = ("mnemic",)
    against: str = "BM25 turns"
    notes: tuple[str, ...] = ()
    metrics = LOCOMO.metrics
    tables = LOCOMO.tables

    def read(self, where: Path) -> Dataset:
        return told()


class Ranking:
    """Knows nothing of moments or contexts."""

    def __init__(self, means: Means) -> None:
        self.means = means

    def ingest(self, corpora: Sequence[Corpus]) -> None:
        pass

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        return RankedDocs(("a",))

    def figures(self) -> OwnFigures:
        return OwnFigures()

    def close(self) -> None:
        pass


class Telling(Ranking):
    """Shows a fact, answers, and keeps a line in the context."""

    def rank(self, question: BenchQuestion, k: int) -> RankedDocs:
        assert not question.of_context
        return RankedDocs(("a", "b"), (), (HIT,))

    def answer(self, question: BenchQuestion) -> GivenAnswer:
        return ANSWER

    def context(self, question: BenchQuestion) -> tuple[ContextLine, ...]:
        return LINES


class Stranger(Telling):
    """Quotes what is no document."""

    def answer(self, question: BenchQuestion) -> GivenAnswer:
        return replace(ANSWER, quotes=(QuotedDocs("words", ("z",)),))


def logged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, made: type[Ranking]) -> list[log.LoggedAnswer]:
    monkeypatch.setattr(runs, "contestants", lambda names: {"one": partial(made)})
    plan = RunPlan(tasks={"locomo": tmp_path}, rows=("one",), variants={"locomo": ToldTask()})
    return log.read(run(plan, tmp_path / "a.jsonl")).answers["one"]


def test_what_is_shown_answered_and_stands_comes_back_from_the_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked, standing = logged(monkeypatch, tmp_path, Telling)
    assert asked.hits == (HIT,)
    assert asked.given is not None
    assert math.isnan(asked.given.confidence)
    assert replace(asked.given, confidence=0) == replace(ANSWER, confidence=0)
    assert (asked.block, asked.key) == (None, {"outdated": ("b",), "wrong": ("Paris",)})
    assert (standing.block, standing.given, standing.ranked) == (LINES, None, ("b",))


def test_who_keeps_no_context_is_asked_for_a_ranking(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked, standing = logged(monkeypatch, tmp_path, Ranking)
    assert (asked.given, asked.hits) == (None, ())
    assert (standing.block, standing.ranked) == (None, ("a",))


def test_a_quote_of_what_is_no_document_breaks_the_protocol(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'z' was shown or quoted"):
        logged(monkeypatch, tmp_path, Stranger)


def test_vectors_of_talk_that_comes_again_are_kept_meanwhile() -> None:
    once = Means(embedder="scripted:8", same_talk=True).opened_embedder()
    assert once is not None
    assert type(once).__name__ == "CachedEmbedder"
    assert type(Means(embedder="scripted:8").opened_embedder()).__name__ != "CachedEmbedder"
