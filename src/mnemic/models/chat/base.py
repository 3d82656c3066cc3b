"""The port for language models: a conversation in, the answer out, piece by piece, and at its end what it took."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, Protocol, TypeAlias

from mnemic.errors import Invalid, ModelError, UnusableModel
from mnemic.flow import Request

LIMIT: Final = 512
"""Tokens that an answer may have, unless it is said otherwise."""

BYTES_A_TOKEN: Final = 4
"""Bytes of text that are taken for a token where nobody has counted."""

Schema: TypeAlias = Mapping[str, object]
"""A JSON schema."""


class Size(StrEnum):
    """Which of the models that settings name is asked: `model`, or `small_model` for what a small one can do."""

    SMALL = "small"
    LARGE = "large"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that a model asks for.

    Attributes:
        id: What the message with its result names.
        arguments: A JSON object as the model wrote it, so possibly none.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool that a model may ask to be called; `parameters` is the schema of its arguments, an object."""

    name: str
    description: str
    parameters: Schema


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation.

    Attributes:
        calls: Of the assistant: the tools that it asked for.
        answers: Of a tool: the id of the call whose result this is.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""


@dataclass(frozen=True, slots=True)
class Ask(Request):
    """A request for a language model's answer to a conversation.

    Attributes:
        messages: At least one; the last is the user's, or a tool's result.
        limit: Most tokens of the answer, as the model counts them.
        schema: What the answer fits, as JSON; None for prose.
        task: What it is asked for, as meters name it.
        temperature: How freely it chooses its words; None for the model's own habit, which those that take none keep.
        tools: What it may ask to be called, in place of an answer.
        sound: Whether an answer is one that may be given again to who asks the same: only such are recorded. What does
            not fit the schema never is.
    """

    messages: tuple[ChatMessage, ...]
    limit: int = LIMIT
    schema: Schema | None = None
    task: str = ""
    size: Size = Size.LARGE
    temperature: float | None = None
    tools: tuple[ToolOffer, ...] = ()
    sound: Callable[[str], bool] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole answer, and what it took.

    Attributes:
        model: Who answered, as the endpoint says; where it does not say, the name it is asked by.
        prompt_tokens, answer_tokens: As the model counted them.
        estimated: Nobody counted: tokens are guessed by bytes.
        calls: The tools that it asks for; `text` may be empty then.
    """

    text: str
    model: str
    prompt_tokens: int
    answer_tokens: int
    estimated: bool = False
    calls: tuple[ToolCall, ...] = ()


class CutOff(ModelError):
    """The answer came to its limit; what came before stands.

    Attributes:
        reply: What came, and what it took.
    """

    def __init__(self, name: str, limit: int, reply: Reply) -> None:
        super().__init__(f"{name}: the answer was cut off at {limit} tokens")
        self.limit = limit
        self.reply = reply


Pieces: TypeAlias = Generator[str, None, Reply]
"""An answer as it comes: pieces of its text, none of them empty, and the whole at the end."""


class Chat(Protocol):
    """A language model that answers a conversation. Safe for many threads.

    Attributes:
        name: How it is named again, and how errors call it; never holds a key.
    """

    name: str

    def stream(self, ask: Ask) -> Pieces:
        """The answer in pieces, as they come; closing the generator stops the model.

        Where `ask` has a schema, the model is held to it as well as it can be; what comes may still be something else.
        Tools are asked for in `Reply.calls`, whatever the model's own way is.

        Raises:
            Invalid: there is nothing to answer; before anything is sent.
            ModelError: the model failed, or the answer broke off. What came before stands.
            CutOff: it came to its limit.
        """
        ...


def reply_of(pieces: Pieces) -> Reply:
    """Read an answer to its end, and return the whole.

    Raises:
        ModelError: as `Chat.stream`; `UnusableModel`: it came from an object that keeps not to that.
    """
    whole = _ending_in_a_reply(pieces)
    while True:
        try:
            next(whole)
        except StopIteration as done:
            reply: Reply = done.value
            return reply


def pieces_of(chat: Chat, ask: Ask) -> Pieces:
    """Have a model answer in pieces, as `Chat.stream`, where it may be an object of its user's own.

    Raises:
        UnusableModel: what it streams is no generator, or does not end in a reply.
    """
    return (yield from _ending_in_a_reply(chat.stream(ask)))


def _ending_in_a_reply(pieces: Pieces) -> Pieces:
    wanted = "it yields pieces of the answer and ends with `return Reply(text=..., model=..., prompt_tokens=..., "
    wanted += "answer_tokens=...)` (mnemic.models.chat.base)"
    if not isinstance(pieces, Generator):
        raise UnusableModel(f"the model's `stream(ask)` returned {type(pieces).__name__}, and no generator: {wanted}")
    reply: object = yield from pieces
    if not isinstance(reply, Reply):
        raise UnusableModel(f"the model's `stream(ask)` ended with {type(reply).__name__}, and no Reply: {wanted}")
    return reply


def refuse_unanswerable(ask: Ask) -> None:
    """Refuse what nobody can answer.

    Raises:
        Invalid: nothing is asked, or no token may answer.
    """
    if not ask.messages or ask.messages[-1].role not in ("user", "tool"):
        raise Invalid("messages", "end without a user's", "The last message is the one to be answered.")
    if ask.limit < 1:
        raise Invalid("limit", f"is {ask.limit}", "Allow at least one token.")


def estimated_prompt(ask: Ask) -> int:
    """Guess the tokens of a prompt by its bytes."""
    return sum(len(message.content.encode("utf-8", "replace")) for message in ask.messages) // BYTES_A_TOKEN


def estimated_reply(ask: Ask, model: str, text: str) -> Reply:
    """Make the reply of a model that counts no tokens."""
    tokens = max(1, len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)
    return Reply(text=text, model=model, prompt_tokens=estimated_prompt(ask), answer_tokens=tokens, estimated=True)
