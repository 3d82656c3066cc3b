"""Metrics of answers and rankings against definitions written another way, and against the packages that have them."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from random import Random

import numpy as np
import pytest

from mnemic.lab.kit import metrics
from mnemic.lab.kit.answer_metrics import (
    WORD_METRICS,
    WordMetric,
    bag_f1,
    bleu_1,
    exact_match,
    locomo_f1,
    longest_common,
    parts_f1,
    rouge_l,
    says_no,
    set_f1,
    squad_f1,
    token_f1,
    words_and_marks,
)
from mnemic.lab.kit.porter import stem

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
    "used",
    "us",
    "isn't",
    "Ada's",
    "well-lit",
    "9:30",
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
        ("the red kayak", "Red kayak.", 1, 1, 2 / 3, 4 / 5),
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


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("use", "use"), ("us", "us"), ("one", "one"), ("on", "on"), ("plays", "play"), ("enjoyed", "enjoy"),
        ("flies", "fli"), ("dies", "die"), ("dying", "die"), ("tried", "tri"), ("hopping", "hop"), ("hoping", "hope"),
        ("psychology", "psycholog"), ("hopefully", "hope"), ("traditionally", "tradit"), ("agreed", "agre"),
        ("relational", "relat"), ("news", "news"), ("falling", "fall"), ("adoption", "adopt"),
        ("controllable", "control"),
    ],
)  # fmt: skip
def test_words_are_stemmed_as_by_the_published_script(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


def test_stems_agree_with_nltk() -> None:
    theirs = pytest.importorskip("nltk.stem").PorterStemmer()
    draw = Random(4)
    endings = (
        "",
        "s",
        "ed",
        "ing",
        "ies",
        "ied",
        "eed",
        "ational",
        "logi",
        "alli",
        "fulli",
        "ness",
        "ion",
        "e",
        "ll",
        "y",
    )
    for _ in range(10 * CASES):
        word = "".join(draw.choices("abcdeiklnostuvyzg", k=draw.randrange(1, 8))) + draw.choice(endings)
        word += draw.choice(("", "s", "ly", "ement"))
        assert stem(word) == theirs.stem(word), word


@pytest.mark.parametrize(
    ("category", "answered", "right", "score"),
    [
        ("multi-hop", "a tent, two kayaks", "kayak, tent", (2 / 3 + 1) / 2),
        ("single-hop", "a tent, two kayaks", "kayak, tent", 4 / 5),
        ("open-domain", "likely yes", "Likely yes; she said she would", 1),
        ("temporal", "7 May 2023", "May 2023", 4 / 5),
        ("adversarial", "That is not mentioned.", "a tent", 1),
        ("adversarial", "a tent", "a tent", 0),
    ],
)
def test_locomo_scores_by_category(category: str, answered: str, right: str, score: float) -> None:
    assert locomo_f1(answered, right, category) == pytest.approx(score)


def test_an_answer_that_says_no_is_known_by_its_words() -> None:
    assert says_no("No information available.")
    assert says_no("It was NOT MENTIONED")
    assert not says_no("No.")


def test_chinese_is_scored_by_characters() -> None:
    for metric in (token_f1, set_f1, squad_f1, bleu_1, rouge_l):
        assert metric("两棵枇杷树", "枇杷树") == pytest.approx(3 / 5 if metric is bleu_1 else 3 / 4)
    assert token_f1("枇杷树。", "枇杷树") == 1


# Each rule against its definition written another way


def by_hand_locomo(answered: str, right: str) -> float:
    """The script's rule, as it is written there: commas go, case, punctuation, articles, blanks, then stems."""

    def words(text: str) -> list[str]:
        text = "".join(c for c in text.replace(",", "").lower() if c not in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
        return [stem(word) for word in text.split() if word not in ("a", "an", "the", "and")]

    given, wanted = words(answered), words(right)
    shared = sum(min(given.count(word), wanted.count(word)) for word in set(given))
    if not shared:
        return 0.0
    precision, recall = shared / len(given), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def by_hand_parts(answered: str, right: str) -> float:
    best = [max(by_hand_locomo(given, wanted) for given in answered.split(",")) for wanted in right.split(",")]
    return float(np.mean(best))


def by_hand_set(answered: str, right: str) -> float:
    given, wanted = (set("".join(" " if c in ".,!?" else c for c in t.lower()).split()) for t in (answered, right))
    if not given & wanted:
        return 0.0
    precision, recall = len(given & wanted) / len(given), len(given & wanted) / len(wanted)
    return 2 * precision * recall / (precision + recall)


def by_hand_squad_words(text: str) -> list[str]:
    text = "".join(c for c in text.lower() if c not in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    return [word for word in text.split() if word not in ("a", "an", "the")]


def by_hand_exact(answered: str, right: str) -> float:
    return float(by_hand_squad_words(answered) == by_hand_squad_words(right))


def by_hand_squad(answered: str, right: str) -> float:
    given, wanted = by_hand_squad_words(answered), by_hand_squad_words(right)
    if given != wanted and (given in (["yes"], ["no"]) or wanted in (["yes"], ["no"])):
        return 0.0
    shared = sum(min(given.count(word), wanted.count(word)) for word in set(given))
    return 2 * shared / (len(given) + len(wanted)) if shared else 0.0


def by_hand_bleu(answered: str, right: str) -> float:
    given, left = words_and_marks(answered), list(words_and_marks(right))
    length, hits = len(left), 0
    for word in given:
        if word in left:
            left.remove(word)
            hits += 1
    return min(1.0, math.exp(1 - length / len(given))) * hits / len(given) if given else 0.0


def by_hand_rouge(answered: str, right: str) -> float:
    given, wanted = ("".join(c if c in LETTERS else " " for c in text.lower()).split() for text in (answered, right))

    @cache
    def longest(i: int, j: int) -> int:
        if i == len(given) or j == len(wanted):
            return 0
        return 1 + longest(i + 1, j + 1) if given[i] == wanted[j] else max(longest(i + 1, j), longest(i, j + 1))

    common = longest(0, 0)
    return 2 * common / (len(given) + len(wanted)) if common else 0.0


LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
BY_HAND: dict[str, WordMetric] = {
    "token F1": by_hand_locomo,
    "by parts": by_hand_parts,
    "set F1": by_hand_set,
    "exact": by_hand_exact,
    "SQuAD F1": by_hand_squad,
    "BLEU-1": by_hand_bleu,
    "ROUGE-L": by_hand_rouge,
}


def held_to(reference: WordMetric, metric: WordMetric) -> None:
    for answered, right in pairs():
        assert metric(answered, right) == pytest.approx(reference(answered, right)), (answered, right)


@pytest.mark.parametrize("name", WORD_METRICS)
def test_a_rule_agrees_with_its_definition_written_another_way(name: str) -> None:
    held_to(BY_HAND[name], WORD_METRICS[name])


WRONG: dict[str, tuple[str, WordMetric]] = {
    "articles count": ("token F1", lambda a, b: bag_f1(*([stem(word) for word in t.lower().split()] for t in (a, b)))),
    "no stems, sets for bags": ("token F1", set_f1),
    "recall alone": ("token F1", lambda a, b: float(set(b.lower().split()) <= set(a.lower().split()))),
    "parts are not told apart": ("by parts", token_f1),
    "the best part alone": ("by parts", lambda a, b: max(token_f1(a, part) for part in b.split(","))),
    "bags for sets": ("set F1", lambda a, b: bag_f1(a.lower().split(), b.lower().split())),
    "case counts": ("exact", lambda a, b: float(a == b)),
    "what holds it is enough": ("exact", lambda a, b: float(b.lower() in a.lower())),
    "yes and no in part": ("SQuAD F1", lambda a, b: bag_f1(by_hand_squad_words(a), by_hand_squad_words(b))),
    "no penalty for brevity": ("BLEU-1", lambda a, b: _precision(a, b)),
    "the answer is taken for the right one": ("BLEU-1", lambda a, b: bleu_1(b, a)),
    "words in any order": ("ROUGE-L", lambda a, b: bag_f1(a.lower().split(), b.lower().split())),
    "everything is right": ("ROUGE-L", lambda a, b: 1.0),
}  # fmt: skip


def _precision(answered: str, right: str) -> float:
    given = words_and_marks(answered)
    return (Counter(given) & Counter(words_and_marks(right))).total() / len(given) if given else 0.0


@pytest.mark.parametrize("what", WRONG)
def test_a_scorer_that_is_wrong_is_caught(what: str) -> None:
    name, wrong = WRONG[what]
    with pytest.raises(AssertionError):
        held_to(BY_HAND[name], wrong)


def test_bleu_agrees_with_nltk() -> None:
    bleu = pytest.importorskip("nltk.translate.bleu_score")
    split = pytest.importorskip("nltk.tokenize").NLTKWordTokenizer().tokenize
    smooth = bleu.SmoothingFunction().method1
    for answered, right in pairs():
        given, wanted = split(answered.lower()), split(right.lower())
        assert words_and_marks(answered) == given
        theirs = bleu.sentence_bleu([wanted], given, weights=(1, 0, 0, 0), smoothing_function=smooth) if given else 0
        assert bleu_1(answered, right) == pytest.approx(theirs)


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
        for metric in WORD_METRICS.values():
            assert 0 <= metric(answered, right) <= 1
        for metric in (exact_match, token_f1, set_f1, squad_f1, rouge_l):
            assert metric(answered, right) == pytest.approx(metric(right, answered))
        if any(word.lower() not in ("a", "an", "the", "and") for word in right.split()):
            assert squad_f1(right, right) == bleu_1(right, right) == rouge_l(right, right) == exact_match(right, right)


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


def test_a_draw_without_any_question_of_a_metric_says_nothing_of_it() -> None:
    one = metrics.estimates({"": np.array([1.0, math.nan, math.nan])}, 0)[""]
    assert (one.mean, one.low, one.high, one.n) == (1, 1, 1, 1)
    none = metrics.estimates({"": np.array([math.nan, math.nan]), "other": np.array([1.0, math.nan])}, 0)
    assert none[""].n == 0
    assert none["other"].low == 1


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
