"""The comparison of engines counts what it says it counts."""

from __future__ import annotations

import numpy as np
import pytest

from mnemic.lab.kit.datasets import BenchQuestion, Corpus, Dataset, Doc
from mnemic.lab.tasks.embedding_bench import paces, recall_shares
from mnemic.models.scripted_embedder import ScriptedEmbedder


def doc(ns: str, id: str) -> Doc:
    return Doc(ns=ns, id=id, session="s", pos=0, when="", said=None, speaker="Ana", text=id)


def question(ns: str, *gold: str) -> BenchQuestion:
    return BenchQuestion(ns=ns, id="q", text="?", answer="", category="single-hop", gold=gold, sessions=())


def test_evidence_is_looked_for_in_the_questions_own_corpus() -> None:
    corpora = (Corpus(ns="a", docs=tuple(doc("a", f"a{n}") for n in range(8))), Corpus(ns="b", docs=(doc("b", "b0"),)))
    questions = (question("a", "a0", "a7"), question("b", "b0"), question("b"))
    dataset = Dataset(name="n", sha256="", corpora=corpora, questions=questions)
    docs = np.zeros((9, 9), np.float32)
    docs[np.arange(8), np.arange(8)] = np.linspace(1, 0.1, 8)
    asked = np.ones((3, 9), np.float32)
    assert recall_shares(dataset, docs, asked) == {5: pytest.approx(0.75), 10: pytest.approx(1.0)}


def test_both_engines_are_timed_at_the_same_work() -> None:
    shown = list(paces(ScriptedEmbedder(8), ScriptedEmbedder(8), rounds=2))
    assert [pace.work for pace in shown] == ["short turns", "150-word passages", "questions"]
    assert all(min(pace.ours, pace.wheels, pace.ratio) > 0 for pace in shown)
