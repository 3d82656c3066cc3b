"""Learns the weights of `extract.instruction_wording` from labelled sentences, and writes them beside it.

    python -m mnemic.lab.instruction_training [--out FILE]

A logistic model over the features of a sentence, from the sentences for development and training, those written to
learn from alone, and small talk, which instructs nobody. It first says what it found, with the rules, among sentences
that it had not seen (four folds), so that the threshold can be judged. No file of the held-back half is read.
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
from mnemic.extract.instruction_wording import LONGEST, THRESHOLD, features, table
from mnemic.extract.instructions import instructions
from mnemic.extract.sentences import Sentence, sentences
from mnemic.lab.tasks.current.current_cases import Half, read_filler
from mnemic.lab.tasks.standing_bench import StandingSentence, more_sentences, read_sentences

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
"""The least weight that is kept."""
SPREAD: Final = frozenset({"", "house"})
"""Hands that every fold has: nobody's, and ours."""
SIDES: Final[Mapping[str, Callable[[StandingSentence], bool]]] = {
    "other hands": lambda one: one.hand not in SPREAD,
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
    """What each sentence weighs most where the model has seen none of its hand, nor it.

    Hands that write in different languages share a fold. Sentences of no hand, and of the house, are spread over all.
    """
    folds = _folds(labelled)
    weighed = [0.0] * len(labelled)
    for fold in range(FOLDS):
        model = learned(list(examples([one for one, of in zip(labelled, folds, strict=True) if of != fold])))
        for n in (n for n, of in enumerate(folds) if of == fold):
            weighed[n] = max(
                (_weighed(model, one) for one in sentences(labelled[n].text) if not one.asks), default=-99.0
            )
    return weighed


def _folds(labelled: Sequence[StandingSentence]) -> list[int]:
    """The fold of each sentence."""
    of_hand: dict[str, int] = {}
    for lang in ("en", "zh"):
        hands = sorted({one.hand for one in labelled if one.lang == lang} - SPREAD)
        of_hand |= {hand: n % FOLDS for n, hand in enumerate(hands)}
    return [of_hand.get(one.hand, n % FOLDS) for n, one in enumerate(labelled)]


def _weighed(model: WordingModel, sentence: Sentence) -> float:
    """What a sentence weighs; a long one is not judged."""
    return model.weight(features(sentence.low)) if len(sentence.low) <= LONGEST else -99.0


def told_apart(labelled: Sequence[StandingSentence], weighed: Sequence[float]) -> Iterator[str]:
    """By threshold, what rules and weights find of the instructions, and of the others."""
    ruled = [any(one.rule != "wording" for one in instructions(sentence.text)) for sentence in labelled]
    right = [sentence.instructs for sentence in labelled]
    for threshold in (99.0, 1.5, 1.2, 1.0, 0.8, 0.6, THRESHOLD, 0.0):
        found = np.array([rule or weight > threshold for rule, weight in zip(ruled, weighed, strict=True)])
        of, others = found[np.array(right)], found[~np.array(right)]
        yield f"above {threshold:g}: {of.sum()} of {len(of)} found, {others.sum()} of {len(others)} others\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Train the weights and write them."""
    parser = argparse.ArgumentParser(
        prog="python -m mnemic.lab.instruction_training", description=__doc__.split("\n", 1)[0]
    )
    beside = Path(instruction_wording.__file__).with_name("instruction_weights.tsv")
    parser.add_argument("--out", type=Path, default=beside)
    given = parser.parse_args(arguments)
    labelled = [*read_sentences(Half.DEVELOPMENT), *read_sentences(Half.TRAINING), *more_sentences(), *small_talk()]
    weighed = unseen(labelled)
    for title, belongs in SIDES.items():
        side = [(one, weight) for one, weight in zip(labelled, weighed, strict=True) if belongs(one)]
        sys.stderr.write(f"{title}\n")
        sys.stderr.writelines(told_apart([one for one, _ in side], [weight for _, weight in side]))
    model = learned(list(examples(labelled)))
    kept = {feature: value for feature, value in model.weights.items() if abs(value) >= LEAST}
    given.out.write_text(table(kept, model.bias), "utf-8")


if __name__ == "__main__":
    main()
