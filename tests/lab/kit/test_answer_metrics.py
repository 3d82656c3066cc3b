"""Metrics of answers and rankings against definitions written another way, and against the packages that have them."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from random import Random

import numpy as np
import pytest

from mnemic.lab.kit import metrics
from mnemic.lab.kit.answer_metrics import bleu_1, exact_match, longest_common, parts_f1, rouge_l, squad_f1, token_f1

CASES = 1_000
WORDS = (
    "the",
    "red",
    "kayak",
    "a",
    "blue",
    "Kite",
    "was",
    "bought,",
    "in",
    "Lisbon",
    "(on)",
    "7",
    "2023!",
    "yes",
    "no",
)


def pairs(seed: int = 0) -> list[tuple[str, str]]:
    draw = Random(seed)
    return [
        (" ".join(draw.choices(WORDS, k=draw.randrange(9))), " ".join(draw.choices(WORDS, k=draw.randrange(9))))
        for _ in range(CASES)
    ]


def rankings(seed: int = 0) -> list[tuple[list[str], list[str]]]:
    draw = Random(seed)
    docs = [f"d{n}" for n in range(12)]
    return [(draw.sample(docs, draw.randrange(1, 5)), draw.sample(docs, draw.randrange(13))) for _ in range(CASES)]


@pytest.mark.parametrize(
    ("answered", "right", "exact", "squad", "bleu", "rouge"),
    [
        ("the red kayak", "Red kayak.", 1, 1, 1 / 3, 4 / 5),
        ("red kayak", "a blue kayak", 0, 1 / 2, math.exp(-1 / 2) / 2, 2 / 5),
        ("", "red", 0, 0, 0, 0),
        ("yes", "yes it was", 0, 0, math.exp(-2), 1 / 2),
        ("kayak red", "red kayak", 0, 1, 1, 1 / 2),
        ("red red red", "red", 0, 1 / 2, 1 / 3, 1 / 2),
    ],
)
def test_answers_scored_by_hand(
    answered: str, right: str, exact: float, squad: float, bleu: float, rouge: float
) -> None:
    assert exact_match(answered, right) == exact
    assert squad_f1(answered, right) == pytest.approx(squad)
    assert bleu_1(answered, right) == pytest.approx(bleu)
    assert rouge_l(answered, right) == pytest.approx(rouge)


def test_stems_and_parts() -> None:
    assert token_f1("two red kayaks", "the two red kayak") == 1
    assert parts_f1("kayaks, a tent", "tents, kayak") == 1
    assert parts_f1("kayaks", "kayak, tent") == 1 / 2
    assert parts_f1("", "kayak") == 0


def test_a_longest_common_sequence_is_the_longest_there_is() -> None:
    def recursive(a: str, b: str) -> int:
        @cache
        def best(i: int, j: int) -> int:
            if i == len(a) or j == len(b):
                return 0
            return 1 + best(i + 1, j + 1) if a[i] == b[j] else max(best(i + 1, j), best(i, j + 1))

        return best(0, 0)

    draw = Random(1)
    for _ in range(CASES):
        a, b = ("".join(draw.choices("abc", k=draw.randrange(8))) for _ in "ab")
        assert longest_common(a, b) == recursive(a, b)


def test_an_answer_is_nearest_to_itself_and_every_score_is_a_share() -> None:
    for answered, right in pairs():
        for metric in (token_f1, parts_f1, exact_match, squad_f1, bleu_1, rouge_l):
            assert 0 <= metric(answered, right) <= 1
        for metric in (exact_match, token_f1, squad_f1, rouge_l):
            assert metric(answered, right) == pytest.approx(metric(right, answered))
        if any(word.lower() not in ("a", "an", "the", "and") for word in right.split()):
            assert squad_f1(right, right) == bleu_1(right, right) == rouge_l(right, right) == exact_match(right, right)


def test_unigram_precision_clips_what_is_said_too_often() -> None:
    for answered, right in pairs():
        given, wanted = answered.lower().split(), right.lower().split()
        if not given:
            assert bleu_1(answered, right) == 0
            continue
        left, hits = list(wanted), 0
        for word in given:
            if word in left:
                left.remove(word)
                hits += 1
        short = min(1.0, math.exp(1 - len(wanted) / len(given)))
        assert bleu_1(answered, right) == pytest.approx(short * hits / len(given))


def test_rankings_scored_in_another_way() -> None:
    for gold, ranked in rankings():
        for k in (1, 3, 5, 10):
            hits = [doc in gold for doc in ranked[:k]]
            assert metrics.recall(gold, ranked, k) == pytest.approx(sum(hits) / len(gold))
            assert metrics.any_at(gold, ranked, k) == any(hits)
            assert metrics.all_at(gold, ranked, k) == (sum(hits) == len(gold))
            gain = sum(hit / math.log2(n + 2) for n, hit in enumerate(hits))
            ideal = sum(1 / math.log2(n + 2) for n in range(min(k, len(gold))))
            assert metrics.usual_ndcg(gold, ranked, k) == pytest.approx(gain / ideal)
        places = [ranked.index(doc) + 1 for doc in gold if doc in ranked]
        assert metrics.reciprocal_rank(gold, ranked) == pytest.approx(1 / min(places) if places else 0)


def test_rankings_agree_with_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    for gold, ranked in rankings():
        if len(ranked) < 2:
            continue
        wanted = np.array([[float(doc in gold) for doc in ranked]])
        falling = np.array([[float(-n) for n in range(len(ranked))]])
        if not wanted.any() or not set(gold) <= set(ranked):
            continue
        for k in (3, 10):
            assert metrics.usual_ndcg(gold, ranked, k) == pytest.approx(sklearn.ndcg_score(wanted, falling, k=k))
    draw = Random(2)
    for _ in range(CASES):
        sides = [draw.choice((True, False)) for _ in range(draw.randrange(2, 12))]
        scores = [draw.choice((0.1, 0.5, 0.9)) for _ in sides]
        if len(set(sides)) == 2:
            split = [[s for s, side in zip(scores, sides, strict=True) if side is which] for which in (True, False)]
            assert metrics.auroc(*split) == pytest.approx(sklearn.roc_auc_score(sides, scores))


def test_rouge_agrees_with_rouge_score() -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rougeL"], use_stemmer=False)
    for answered, right in pairs():
        assert rouge_l(answered, right) == pytest.approx(scorer.score(right, answered)["rougeL"].fmeasure)


def test_intervals_agree_with_scipy() -> None:
    scipy = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(3).random(300)
    ours = metrics.estimates({"": values}, 0)[""]
    theirs = scipy.bootstrap((values,), np.mean, method="percentile", n_resamples=5_000, random_state=1)
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=4e-3)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=4e-3)


def test_whole_conversations_are_drawn() -> None:
    """Questions of one conversation that go the same way are no evidence of their own: its interval is wider."""
    groups = [f"talk {n // 50}" for n in range(400)]
    values = np.array([float(int(group[-1]) % 2) for group in groups])
    by_question = metrics.estimates({"": values}, 0)[""]
    by_conversation = metrics.clustered(values, groups, 0)
    assert by_conversation.mean == by_question.mean == 0.5
    assert by_conversation.high - by_conversation.low > 4 * (by_question.high - by_question.low)
    some = values.copy()
    some[::2] = math.nan
    assert metrics.clustered(some, groups, 0).n == 8
    assert Counter(groups)["talk 0"] == 50
