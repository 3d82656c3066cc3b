"""What language models said in a run: answers over what was recalled, and what judges said of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

OWN: Final = ""
"""The reader of a contestant's own answers, which are given without a model."""

FULL: Final = "full context"
"""Under whose name a model is read that was shown all documents of a question's corpus, and no memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWords:
    """One reply of a model, and what it took.

    Attributes:
        asked: A hash of who was asked what; equal ones have the same reply.
        text: "" where it failed.
        prompt_tokens, answer_tokens: As the model counted them, or guessed by bytes where it did not.
        milliseconds: Until its last word.
        again: The same was asked before in this run: this one was not sent.
        failed: Why there is none; "" if there is one.
    """

    asked: str
    text: str = ""
    prompt_tokens: int = 0
    answer_tokens: int = 0
    milliseconds: float = 0.0
    again: bool = False
    failed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAnswer:
    """What a model answered to a question over what a contestant recalled for it."""

    system: str
    ns: str
    question: str
    reader: str
    said: ModelWords

    @property
    def key(self) -> tuple[str, ...]:
        """What it is known by in its task."""
        return self.system, self.ns, self.question, self.reader


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReply:
    """What a judge said of an answer.

    Attributes:
        reader: The model that answered, or `OWN`.
        turn: The how manieth time it was asked, from 0.
    """

    system: str
    ns: str
    question: str
    reader: str
    judge: str
    turn: int
    said: ModelWords

    @property
    def key(self) -> tuple[str, ...]:
        """What it is known by in its task."""
        return self.system, self.ns, self.question, self.reader, self.judge, str(self.turn)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairReply:
    """Which of two answers a judge found better.

    Attributes:
        other: The contestant whose answer stood beside that of `system`.
        swapped: The other's answer stood first.
    """

    system: str
    other: str
    ns: str
    question: str
    reader: str
    judge: str
    swapped: bool
    said: ModelWords

    @property
    def key(self) -> tuple[str, ...]:
        """What it is known by in its task."""
        return self.system, self.other, self.ns, self.question, self.reader, self.judge, str(self.swapped)
