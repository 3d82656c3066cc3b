"""The two shapes of OpenAI's API that carry a conversation: where its messages stand, and where the answer's words do.

Only what is needed to remember is read. Everything else, known here or not, stays as it came.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, ClassVar, Final, NamedTuple

from mnemic.errors import Invalid
from mnemic.faces.gateway.splicing import elements, inserted, members

Document = dict[str, Any]
"""A JSON object as it came."""


@dataclass(frozen=True, slots=True)
class WireMessage:
    """One message of a request.

    Attributes:
        place: Its number in the request's list.
        role: `user`, `assistant`, `system`, `tool` ...; empty for what has none, such as a call of a tool.
        text: Its words; of parts that are not words, nothing.
        digest: Of itself and all before it.
    """

    place: int
    role: str
    text: str
    digest: bytes


@dataclass(slots=True)
class Completion:
    """What a model has answered so far.

    Attributes:
        id: What the endpoint calls the answer; empty until it has said.
        pieces: Its words, of the first choice.
        size: How many bytes they are.
        ended: The endpoint has said that the answer ends here.
    """

    id: str = ""
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    ended: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def add(self, piece: object) -> None:
        """Take the next words; what is no text adds nothing."""
        if isinstance(piece, str) and piece:
            self.pieces.append(piece)
            self.size += len(piece.encode("utf-8", "surrogatepass"))


class WireShape(ABC):
    """One shape of requests and answers. It has no state."""

    path: ClassVar[str]
    text_type: ClassVar[str]

    def messages(self, body: Document) -> list[WireMessage]:
        """Read the messages of a request, first first.

        Raises:
            Invalid: they are no list of messages.
        """
        messages: list[WireMessage] = []
        digest = sha256(_canonical(self.preamble(body))).digest()
        for place, message in enumerate(self.listed(body)):
            if not isinstance(message, dict):
                raise Invalid(f"{self.field}[{place}]", f"is {type(message).__name__}", "Give an object with a role.")
            digest = sha256(digest + _canonical(message)).digest()
            role = message.get("role")
            text = _words(message.get("content"))
            messages.append(WireMessage(place, role if isinstance(role, str) else "", text, digest))
        return messages

    def with_blocks(self, text: str, blocks: Mapping[int, str]) -> str:
        """Put each block behind the words of the message at its place; all else of the request stays as it came.

        Args:
            text: The request, which `messages` has read.
        """
        span = members(text)[self.field]
        places = [span] if text[span[0]] == '"' else elements(text, span[0])
        additions: dict[int, str] = {}
        for place, block in blocks.items():
            at, end = places[place]
            if text[at] == "{":
                at, end = members(text, at)["content"]
            if text[at] == "[":
                part = json.dumps({"type": self.text_type, "text": block}, ensure_ascii=False)
                additions[end - 1] = f", {part}" if elements(text, at) else part
            else:
                additions[end - 1] = json.dumps(f"\n\n{block}", ensure_ascii=False)[1:-1]
        return inserted(text, additions)

    @property
    @abstractmethod
    def field(self) -> str:
        """The field of a request in which its messages stand."""

    @abstractmethod
    def preamble(self, body: Document) -> object:
        """What stands before the messages and belongs to the conversation."""

    @abstractmethod
    def listed(self, body: Document) -> Sequence[Any]:
        """The messages of a request as they came."""

    def answer_slots(self, completion: Completion) -> dict[str, str]:
        """What an answer is kept with, so that a later request can be told to go on from it."""
        return {}

    def continued(self, body: Document) -> dict[str, str]:
        """The slots of the answer that a request goes on from, where it does not hold the conversation itself."""
        return {}

    @abstractmethod
    def read_answer(self, document: Document, completion: Completion) -> None:
        """Take what a whole answer says."""

    @abstractmethod
    def read_event(self, event: Document, completion: Completion) -> None:
        """Take what the next event of a stream says."""


class ChatCompletions(WireShape):
    """`POST /v1/chat/completions`."""

    path = "/v1/chat/completions"
    text_type = "text"

    @property
    def field(self) -> str:
        return "messages"

    def preamble(self, body: Document) -> object:
        return None

    def listed(self, body: Document) -> Sequence[Any]:
        messages = body.get("messages")
        if not isinstance(messages, list):
            raise Invalid("messages", f"is {type(messages).__name__}", "Give a list of messages.")
        return messages

    def read_answer(self, document: Document, completion: Completion) -> None:
        completion.id = _text(document.get("id"))
        for choice in _first_choices(document):
            completion.add(_words(_object(choice.get("message")).get("content")))
            completion.ended = choice.get("finish_reason") is not None

    def read_event(self, event: Document, completion: Completion) -> None:
        completion.id = completion.id or _text(event.get("id"))
        for choice in _first_choices(event):
            completion.add(_object(choice.get("delta")).get("content"))
            completion.ended = completion.ended or choice.get("finish_reason") is not None


class Responses(WireShape):
    """`POST /v1/responses`. Of a request that names a previous response only what is new stands in it."""

    path = "/v1/responses"
    text_type = "input_text"

    @property
    def field(self) -> str:
        return "input"

    def preamble(self, body: Document) -> object:
        return [body.get("instructions"), body.get("previous_response_id"), body.get("conversation")]

    def listed(self, body: Document) -> Sequence[Any]:
        given = body.get("input")
        if isinstance(given, str):
            return [{"role": "user", "content": given}]
        if not isinstance(given, list):
            raise Invalid("input", f"is {type(given).__name__}", "Give a text or a list of items.")
        return given

    def answer_slots(self, completion: Completion) -> dict[str, str]:
        return {"response": completion.id} if completion.id else {}

    def continued(self, body: Document) -> dict[str, str]:
        previous = _text(body.get("previous_response_id"))
        return {"response": previous} if previous else {}

    def read_answer(self, document: Document, completion: Completion) -> None:
        completion.id = _text(document.get("id"))
        completion.ended = document.get("status") in (None, "completed")
        output = document.get("output")
        for item in output if isinstance(output, list) else ():
            if _object(item).get("type") == "message":
                completion.add(_words(item.get("content")))

    def read_event(self, event: Document, completion: Completion) -> None:
        kind = event.get("type")
        if kind == "response.output_text.delta":
            completion.add(event.get("delta"))
        elif isinstance(kind, str) and kind.startswith("response."):
            completion.id = completion.id or _text(_object(event.get("response")).get("id"))
            completion.ended = completion.ended or kind == "response.completed"


SHAPES: Final[tuple[WireShape, ...]] = (ChatCompletions(), Responses())


_EVENT_END: Final = re.compile(rb"(?>\r\n|\r|\n)(?:\r\n|\r|\n)")
"""The end of a line, and the empty line behind it."""
_SEAM: Final = 3
"""Of the end of an event, most bytes that a piece before may have held."""
_NO_FIELD: Final = re.compile(rb"(?:[\r\n]|:[^\r\n]*[\r\n])*")
"""Empty lines and comments, which are of no event."""
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")


class StreamPiece(NamedTuple):
    """What a further piece of a stream brings.

    Attributes:
        passed: What can go on now, as it came: with all before it, it ends with an event.
        events: The data of each event that has ended.
    """

    passed: bytes
    events: list[bytes]


class EventReader:
    """Reads the events of a stream (`text/event-stream`) out of the pieces it comes in, however they are cut.

    It withholds an event that has not ended yet: half of one, passed on, would be taken for whole, or would swallow
    what is said behind it.

    Args:
        limit: Most bytes that are withheld; a longer event is passed on as it comes, and not read.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._gone_on = 0
        """How many bytes of `_held` were passed on: the last of a long event."""
        self._searched = 0
        self.cut_short = False
        """Part of an event was passed on, as it is too long to be withheld, and the rest has not come."""

    def read(self, piece: bytes) -> StreamPiece:
        """Take the next piece."""
        self._held += piece
        events, start = [], 0
        for match in _EVENT_END.finditer(self._held, max(0, self._searched - _SEAM)):
            if match.end() - start <= self._limit and not self.cut_short:
                events += _data(self._held[start : match.end()])
            start, self.cut_short = match.end(), False
        if not self.cut_short:
            # a comment that stood here before and goes on is not scanned anew for each piece
            goes_on = start == 0 and self._held.startswith(b":") and _LINE_END.search(piece) is None
            empty = None if goes_on else _NO_FIELD.match(self._held, start)
            start = start if empty is None else empty.end()
            self.cut_short = len(self._held) - start > self._limit
        end = len(self._held) if self.cut_short else start
        passed = bytes(self._held[self._gone_on : end])
        forgotten = max(start, end - _SEAM)
        del self._held[:forgotten]
        self._gone_on, self._searched = end - forgotten, len(self._held)
        return StreamPiece(passed, events)

    @property
    def rest(self) -> bytes:
        """What is withheld."""
        return bytes(self._held[self._gone_on :])

    @property
    def rest_data(self) -> bytes | None:
        """The data that the withheld event has so far; None where no line of it has begun."""
        return next(iter(_data(self._held)), None) if not self.cut_short else None


def _data(event: bytes | bytearray) -> list[bytes]:
    """The data of an event, if it has some."""
    lines = [line[5:].removeprefix(b" ") for line in _LINE_END.split(event) if line.startswith(b"data:")]
    return [b"\n".join(lines)] if lines else []


def asked(messages: Sequence[WireMessage]) -> list[WireMessage]:
    """What the user has said since the model's last answer: the messages behind it; empty where a tool spoke last."""
    fresh: list[WireMessage] = []
    for message in reversed(messages):
        if message.role != "user":
            break
        fresh.append(message)
    return [message for message in reversed(fresh) if message.text.strip()]


def _first_choices(document: Document) -> list[Document]:
    """The first choice of an answer: others are drafts that the user may never see."""
    choices = document.get("choices")
    some = choices if isinstance(choices, list) else []
    return [choice for choice in some if isinstance(choice, dict) and choice.get("index", 0) == 0]


def _object(value: object) -> Document:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _words(content: object) -> str:
    """The words of a message: a text, or the parts of it that are text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("utf-8", "surrogatepass")
