"""What a flow may ask of models: the vectors of passages, those of a question, answers in words, and whose they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from mnemic.flow import Flow, Request
from mnemic.models.chat.base import LIMIT, Ask, ChatMessage, Reply, Size

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Embed(Request):
    """The vectors of some passages by one embedder of the store, half precision, little-endian, one each."""

    model: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EmbedQuestion(Request):
    """A question's vector by each embedder that serves the store; none, with a note, where one fails: words answer."""

    text: str


@dataclass(frozen=True, slots=True)
class CrossEncode(Request):
    """An `AnswerReading` of a question and what was said to it, the oldest first; None where nobody here reads so."""

    question: str
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Meant:
    """A question's vectors by the embedder's number in the store, the preferred one first.

    Attributes:
        notes: Why there are fewer vectors than one would expect.
        embedders: The names of those embedders, by the same number.
        unfilled: An embedder is to fill the store and has made no vector in it yet.
    """

    vectors: Mapping[int, NDArray[np.float32]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    embedders: Mapping[int, str] = field(default_factory=dict)
    unfilled: bool = False


@dataclass(frozen=True, slots=True)
class NameModel(Request):
    """The name of the language model of a size; "" where there is none."""

    size: Size


@dataclass(frozen=True, slots=True)
class AskEach(Request):
    """Answers to several questions that do not wait for each other, in their order: each a reply, or how it failed."""

    asks: tuple[Ask, ...]


@dataclass(frozen=True, slots=True)
class AskMetered(Request):
    """The same, and what each takes is metered.

    Attributes:
        strategy: Under which name.
        space: Whose meter it is, beside that of the installation.
    """

    strategy: str
    space: int
    asks: tuple[Ask, ...]


class JudgedBy(StrEnum):
    """Who judged a task in the end."""

    ANSWER = "answer"
    """The model, at once."""
    REPAIR = "repair"
    """The model, once it was told what was wrong with its first answer."""
    RULES = "rules"
    """Rules, for neither answer was sound."""
    RULES_BY_BUDGET = "rules_by_budget"
    """Rules, for the run had asked all that it may."""
    RULES_ALONE = "rules_alone"
    """Rules, for there is no model."""


@dataclass(frozen=True, slots=True)
class CountJudged(Request):
    """Nothing: meters count that a task was judged, and by whom."""

    task: str
    by: JudgedBy


HARMLESS: Final = "Are you there? Answer with one word."
"""What a healthy language model has no trouble with."""


def ask(messages: Sequence[ChatMessage], limit: int = LIMIT) -> Flow[str]:
    """Ask the language model for its whole answer to a conversation, in words; a flow that wants more yields an `Ask`.

    Raises:
        ModelError: it failed; `NoModel`: there is none; `OverBudget`: this run has asked enough.
    """
    reply: Reply = yield Ask(tuple(messages), limit)
    return reply.text


def embed(model: int, texts: Sequence[str]) -> Flow[Sequence[bytes]]:
    """Ask an embedder for the vectors of passages, in their order.

    Raises:
        ModelError: the embedder cannot be opened or failed.
    """
    vectors: Sequence[bytes] = yield Embed(model, tuple(texts))
    return vectors
