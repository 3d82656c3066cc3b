"""The baselines rank a corpus small enough to see through as they say they do."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from mnemic.lab.kit import baselines
from mnemic.lab.kit.baselines import BAR, Baseline, Blend, NoMemory, RecentWindow, lineup
from mnemic.lab.kit.datasets import BenchQuestion, Dataset, Doc


def docs(*texts: str, session: str = "S1", when: str = "") -> list[Doc]:
    return [
        Doc(ns="n", id=str(i), session=session, pos=i, when=when, said=None, speaker="Ada", text=text)
        for i, text in enumerate(texts)
    ]


def elsewhere(text: str, when: str = "") -> Doc:
    return Doc(ns="n", id="9", session="S2", pos=0, when=when, said=None, speaker="Ada", text=text)


def asked(text: str) -> BenchQuestion:
    return BenchQuestion(ns="n", id="q", text=text, answer="", category="", gold=(), sessions=())


def taught(baseline: Baseline, corpus: Sequence[Doc]) -> Baseline:
    baseline.ingest(corpus)
    return baseline


class Letters:
    """An embedder that counts letters."""

    name = "letters"
    dims = 26

    def passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.array([self.query(text) for text in texts], np.float32)

    def query(self, text: str) -> npt.NDArray[np.float32]:
        counts = np.array([text.lower().count(c) for c in "abcdefghijklmnopqrstuvwxyz"], np.float32)
        unit: npt.NDArray[np.float32] = counts / np.linalg.norm(counts)
        return unit


def test_no_memory_finds_nothing() -> None:
    assert taught(NoMemory(), docs("tea")).rank(asked("tea?")).ids == ()


def test_the_recent_window_is_the_last_turns_whatever_is_asked() -> None:
    assert taught(RecentWindow(), docs("a", "b", "c")).rank(asked("a?")).ids == ("2", "1", "0")


def test_bm25_scores_are_those_of_the_formula() -> None:
    corpus = docs("tea tea", "coffee", "tea milk sugar honey")
    ranking = taught(Blend((1.0, baselines.turns)), corpus).rank(asked("tea"))
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    mean = (3 + 2 + 5) / 3  # the speaker is a word of each

    def score(times: int, length: int) -> float:
        return idf * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length / mean))

    assert ranking.ids == ("0", "2", "1")
    assert ranking.scores == pytest.approx((score(2, 3), score(1, 5), 0.0))


def test_the_date_of_the_session_can_be_asked_for() -> None:
    corpus = [*docs("tea", when="8 May, 2023"), elsewhere("tea", when="9 June, 2023")]
    assert taught(Blend((1.0, baselines.dated)), corpus).rank(asked("tea in June")).ids[0] == "9"


def test_a_window_finds_a_turn_by_its_neighbours_words_within_the_session_only() -> None:
    corpus = [*docs("rain", "umbrella", "nothing"), elsewhere("sun")]
    ranking = taught(Blend((1.0, baselines.window)), corpus).rank(asked("umbrella"))
    assert set(ranking.ids[:3]) == {"0", "1", "2"}
    assert ranking.scores[3] == 0


def test_a_blend_lies_between_its_arms(pair: Dataset) -> None:
    corpus, question = pair.corpora[0].docs, pair.questions[1]
    both = taught(Blend((0.6, baselines.dated), (0.4, baselines.window)), corpus).rank(question)
    assert 0 < both.scores[0] <= 1
    assert list(both.scores) == sorted(both.scores, reverse=True)


def test_an_empty_corpus_and_a_question_of_stop_words_rank_nothing_first() -> None:
    for make in lineup().values():
        assert taught(make(), []).rank(asked("tea")).ids == ()
    ranking = taught(Blend((0.6, baselines.dated), (0.4, baselines.window)), docs("tea", "milk")).rank(asked("the"))
    assert ranking.scores == (0.0, 0.0)


def test_dense_rows_appear_only_with_an_embedder() -> None:
    assert "dense turns" not in lineup()
    assert BAR in lineup()
    rows = lineup(Letters())
    assert set(rows) - set(lineup()) == {"dense turns", "hybrid"}
    for name in ("dense turns", "hybrid"):
        assert taught(rows[name](), docs("zebra", "queue")).rank(asked("queue")).ids[0] == "1"
