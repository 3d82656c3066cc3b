"""The port for language models: a conversation in, the answer out, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from mnemic.errors import Invalid, ModelError

LIMIT: Final = 512
"""Tokens that an answer may have, unless it is said otherwise."""


class CutOff(ModelError):
    """The answer came to its limit; what came before stands."""

    def __init__(self, name: str, limit: int) -> None:
        super().__init__(f"{name}: the answer was cut off at {limit} tokens")
        self.limit = limit


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Chat(Protocol):
    """A language model that answers a conversation. Safe for many threads.

    Attributes:
        name: How it is named again, and how errors call it; never holds a key.
    """

    name: str

    def stream(self, messages: Sequence[ChatMessage], *, limit: int = LIMIT) -> Iterator[str]:
        """The answer in pieces, none of them empty, as they come; closing the iterator stops the model.

        Args:
            messages: At least one; the last is the user's.
            limit: Most tokens, as the model counts them.

        Raises:
            Invalid: there is nothing to answer; before anything is sent.
            ModelError: the model failed, or the answer broke off. What came before stands.
            CutOff: it came to its limit.
        """
        ...


def checked(messages: Sequence[ChatMessage], limit: int) -> list[dict[str, str]]:
    """Check messages; return them as every engine takes them, in characters that every encoding has.

    Raises:
        Invalid: nothing is asked, or no token may answer.
    """
    if not messages or messages[-1].role != "user":
        raise Invalid("messages", "end without a user's", "The last message is the one to be answered.")
    if limit < 1:
        raise Invalid("limit", f"is {limit}", "Allow at least one token.")
    return [{"role": one.role, "content": one.content.encode("utf-8", "replace").decode()} for one in messages]
