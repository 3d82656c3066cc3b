"""Speaks OpenAI's chat protocol, as endpoints and llama.cpp do: the body of a question, the chunks of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from mnemic.errors import ModelError
from mnemic.models.chat.base import (
    Ask,
    ChatMessage,
    CutOff,
    Pieces,
    Reply,
    ToolCall,
    ToolOffer,
    estimated_reply,
    refuse_unanswerable,
)  # fmt: skip

_SHOWN: Final = 200
"""Characters of a complaint that are passed on."""


def messages_of(ask: Ask) -> list[dict[str, Any]]:
    """Write the messages of a question, in characters that every encoding has.

    Raises:
        Invalid: nothing is asked, or no token may answer.
    """
    refuse_unanswerable(ask)
    return [_message(message) for message in ask.messages]


def _message(message: ChatMessage) -> dict[str, Any]:
    written: dict[str, Any] = {"role": message.role, "content": message.content.encode("utf-8", "replace").decode()}
    if message.calls:
        written["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.role == "tool":
        written["tool_call_id"] = message.answers
    return written


def response_format(ask: Ask) -> dict[str, Any]:
    """Write the schema of a question; strictly kept where OpenAI's own rules for that allow it."""
    assert ask.schema is not None
    wanted = {"name": ask.task or "answer", "schema": ask.schema, "strict": _may_be_strict(ask.schema)}
    return {"type": "json_schema", "json_schema": wanted}


def _may_be_strict(schema: object) -> bool:
    """Whether every object in a schema lists all of its properties as required, and allows no others."""
    if isinstance(schema, list):
        return all(map(_may_be_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        named = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(named):
            return False
    return all(map(_may_be_strict, schema.values()))


def functions(tools: Iterable[ToolOffer]) -> list[dict[str, Any]]:
    """Write the tools that are offered."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in tools
    ]


def _beginning(text: str) -> str:
    return text[:_SHOWN].strip()


def words(chunks: Iterable[object], name: str, ask: Ask, *, excerpt: Callable[[str], str] = _beginning) -> Pieces:
    """Yield what the chunks add to the answer, in order; none of it empty.

    Args:
        chunks: Decoded ones; a whole answer, which has `message` in place of `delta`, counts as one chunk.
        name: How errors call the model.
        excerpt: What errors show of something that came in place of an answer.

    Raises:
        ModelError: a chunk is an error or none at all; the answer broke off or was empty.
        CutOff: it came to its limit.
    """
    gathered = _Gathered(name, excerpt)
    for chunk in chunks:
        if text := gathered.add(chunk):
            yield text
    return gathered.reply(ask)


class _Gathered:
    """What the chunks of one answer have said so far."""

    def __init__(self, name: str, excerpt: Callable[[str], str]) -> None:
        self._name, self._excerpt = name, excerpt
        self._finish: str | None = None
        self._texts: list[str] = []
        self._calls: dict[int, ToolCall] = {}
        self._model = name
        self._usage: tuple[int, int] | None = None

    def add(self, chunk: object) -> str:
        """Take in a chunk; return the text it adds.

        Raises:
            ModelError: it is an error, or no chunk.
        """
        if not isinstance(chunk, Mapping):
            raise ModelError(f"{self._name}: the answer is none: {self._excerpt(repr(chunk))}")
        if error := chunk.get("error"):
            raise ModelError(f"{self._name}: {self._excerpt(_complaint(error))}")
        try:
            choices = chunk["choices"]
            self._note(chunk)
            if not choices:  # what it cost, or how far the prompt is read
                return ""
            said: Any = choices[0].get("delta") or choices[0].get("message") or {}
            text, reason = said.get("content") or "", choices[0].get("finish_reason")
            for place, call in enumerate(said.get("tool_calls") or ()):
                self._call(call.get("index", place), call)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ModelError(f"{self._name}: the answer holds no words ({error!r})") from error
        if not isinstance(text, str) or not isinstance(reason, str | None):
            raise ModelError(f"{self._name}: the answer holds no words")
        self._finish = self._finish or reason
        self._texts.append(text)
        return text

    def _note(self, chunk: Mapping[str, Any]) -> None:
        """Note who answers, and what it took, where the chunk says so."""
        if isinstance(chunk.get("model"), str) and chunk["model"]:
            self._model = self._excerpt(chunk["model"])
        usage = chunk.get("usage")
        if isinstance(usage, Mapping):
            prompt, answer = usage.get("prompt_tokens"), usage.get("completion_tokens", 0)
            if isinstance(prompt, int) and isinstance(answer, int) and min(prompt, answer) >= 0:
                self._usage = prompt, answer

    def _call(self, place: int, part: Mapping[str, Any]) -> None:
        """Add a part of a tool's call to what came of it before."""
        before = self._calls.get(place, ToolCall("", "", ""))
        function = part.get("function") or {}
        self._calls[place] = ToolCall(
            before.id or part.get("id") or f"call_{place + 1}",
            before.name + (function.get("name") or ""),
            before.arguments + (function.get("arguments") or ""),
        )

    def reply(self, ask: Ask) -> Reply:
        """Return the whole answer.

        Raises:
            ModelError: it broke off, or is none.
            CutOff: it came to its limit.
        """
        if self._finish is None:
            raise ModelError(f"{self._name}: the answer broke off")
        calls = tuple(call for _, call in sorted(self._calls.items()))
        reply = replace(estimated_reply(ask, self._model, "".join(self._texts)), calls=calls)
        if self._usage is not None:
            prompt, answer = self._usage
            reply = replace(reply, prompt_tokens=prompt, answer_tokens=answer, estimated=False)
        if self._finish == "length":
            raise CutOff(self._name, ask.limit, reply)
        if self._finish == "content_filter" or not (reply.text or calls):
            raise ModelError(f"{self._name}: there is no answer (finish_reason {self._excerpt(self._finish)})")
        return reply


def _complaint(error: object) -> str:
    message = error.get("message", error) if isinstance(error, Mapping) else error
    return " ".join(str(message).split())
