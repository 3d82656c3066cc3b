"""The port for embedders: text in, vectors of unit length out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how close they are in meaning.

    Attributes:
        name: Identity of weights and revision, kept with every vector; vectors of two names are never compared.
        dims: How many numbers a vector has.

    An embedder that works on another machine says so by `remote = True`: it is handed any number of texts at once.
    """

    name: str
    dims: int

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of things to be found, one row each, in order; rows have unit length.

        Raises:
            ModelError: the model or its endpoint failed.
        """
        ...

    def query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question, of unit length."""
        ...


class PassageReading(StrEnum):
    """How a passage is read for its vector: the method of an embedder. Only vectors of one reading are compared."""

    PASSAGE = "passages"
    INTERMEDIATE = "intermediate"
    INSTRUCTION = "instructions"


TRAITS: Final = ("supposed", "own", "informs", "state", "change", "end", "correct", "negate")
"""What is told of a passage beside its vector, as log odds of each: that all it says is only supposed, planned, nearly
so or dreamt; that it is about whoever says it; that it informs of something worth asking for; and that it says how
things are, that something has changed, has ended, was told wrongly before, or is not so.
"""
MAX_LOG_ODDS: Final = 6.0
"""The largest log odds of a trait, either way: beyond, no reader is surer."""


class TraitEmbedder(Embedder, Protocol):
    """An embedder that also tells of a passage what it does, whom it is about and whether it is so.

    To tell what is so from what is only supposed is the task of Saurí and Pustejovsky, "FactBank: a corpus annotated
    with event factuality" (2009); what a sentence does is its dialogue act.
    """

    def passages_with_traits(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """`passages`, and behind each vector the log odds of its `TRAITS`: (n, dims + 8).

        (n, dims) where it can tell nothing.

        Raises:
            ModelError: the model or its endpoint failed.
        """
        ...


class LayeredEmbedder(Embedder, Protocol):
    """An embedder of many layers that also hands out what its texts look like part of the way.

    Last layers bring together what is about the same; layers before them still tell how a thing is said, an order
    from a report, and so serve those who judge that. They cost less, too.
    """

    def intermediate(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of passages after an earlier layer, one row each, in order; rows have unit length.

        They are compared with one another alone, never with those of `passages`.
        """
        ...


class InstructionEmbedder(Embedder, Protocol):
    """An embedder of which some layers learned to tell whether a text instructs."""

    def instructions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of passages by layers that learned to tell whether they instruct, one row each, of unit length."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """What a reader makes of a question and what was said to it: log odds of each, up to a common constant.

    Attributes:
        no: To a question for yes or no it says no.
        open: It does not answer the question.
        yes: It says yes.
        tells: Of what is asked for, it tells it.
        ended: It says that there is none any more.
    """

    no: float
    open: float
    yes: float
    tells: float
    ended: float

    def of_yes_or_no(self) -> tuple[float, float, float]:
        """How likely it says no, leaves a question for yes or no open, and says yes."""
        return _shares(self.no, self.open, self.yes)

    def of_a_value(self) -> tuple[float, float, float]:
        """How likely it tells what another question asks for, does not, and says that there is none any more."""
        return _shares(self.tells, self.open, self.ended)


def _shares(*odds: float) -> tuple[float, float, float]:
    most = max(odds)
    first, second, third = (math.exp(value - most) for value in odds)
    whole = first + second + third
    return first / whole, second / whole, third / whole


class ReadingEmbedder(Embedder, Protocol):
    """An embedder that also reads a question and what was said to it together, each in the light of the other."""

    def reading(self, question: str, said: Sequence[str]) -> AnswerReading | None:
        """Whether what was said, the oldest first, answers a question; None where it cannot tell.

        Raises:
            ModelError: the model failed.
        """
        ...
