"""A cross-encoder: it reads a question and what was said to it as one text, whether that answers it, and how.

Source: Devlin et al., "BERT", arXiv:1810.04805, section 4: two texts go through the encoder behind one another, each
piece of one seeing all pieces of the other, and a linear layer tells from the result what they are to each other. What
the layer and low-rank updates of the encoder (`models.e5.adapter`) have learned lies in `readings.npz`, beside this
file, as `python -m mnemic.lab.reading_training` makes it. Departure: the mean over all pieces is read, as E5 has it, in
place of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.models.base import AnswerReading
from mnemic.models.e5.adapter import AdaptedReader

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mnemic.models.e5.encoder import Encoder
    from mnemic.models.e5.pieces import Pieces

    Floats = NDArray[np.float32]

MOST_SAID: Final = 3
"""Statements that are read with a question, the newest ones."""
NEWEST_PIECES: Final = 56
"""Pieces of the newest statement that are read, its first ones."""
OLDER_PIECES: Final = 36
"""The same of each older one."""
QUESTION_PIECES: Final = 60
SCALE: Final = 20.0
"""What the mean over the pieces is multiplied with: its numbers are small."""


def read_together(pieces: Pieces, begin: int, end: int, question: str, said: Sequence[str]) -> list[int]:
    """Join a question and statements, one at least and the oldest first, to the ids of one text."""
    *older, newest = said[-MOST_SAID:]
    ids = [begin, *pieces.ids(f"query: {question}")[:QUESTION_PIECES], end]
    for text in older:
        ids += [*pieces.ids(f"passage: {text}")[:OLDER_PIECES], end]
    return [*ids, *pieces.ids(f"passage: {newest}")[:NEWEST_PIECES], end]


class AnswerReader(AdaptedReader):
    """What was learned to read a question together with what was said, in the order of `AnswerReading`."""

    __slots__ = ()

    def read(self, encoder: Encoder, ids: Sequence[int]) -> AnswerReading:
        """Read one text."""
        mean = encoder.means([ids], adapter=self.adapter)[0]
        unit = mean / np.linalg.norm(mean)
        return AnswerReading(*map(float, SCALE * unit @ self.weights + self.biases))
