"""Tools and schemas for models that know of neither: said in words, and an action read out of the JSON of an answer.

The form of an action, its thought first: `{"thought": "...", "action": {"tool": "NAME", "arguments": {...}}}`, or
`{"thought": "...", "action": {"answer": ...}}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from mnemic.models.chat.base import Ask, ChatMessage, Pieces, Reply, Schema, ToolCall, reply_of
from mnemic.models.chat.soundness import Unfit, fitting

_TOOLS: Final = """You may use these tools:
{tools}

Reply with one JSON object and nothing else. First a thought, then the action: either one call of a tool,
{{"thought": "...", "action": {{"tool": "NAME", "arguments": {{...}}}}}}
or, once you need no tool any more, the answer:
{{"thought": "...", "action": {{"answer": {answer}}}}}"""

_SCHEMA: Final = "Reply with JSON and nothing else. It fits this schema: {schema}"


def in_words(ask: Ask) -> Ask:
    """Say in the conversation which tools there are and what was called: what is left asks for JSON by a schema."""
    if not ask.tools:
        return ask
    tools = "\n".join(f"- {tool.name}: {tool.description} Arguments: {_compact(tool.parameters)}" for tool in ask.tools)
    answer = '"..."' if ask.schema is None else f"JSON of this schema: {_compact(ask.schema)}"
    messages = tuple(_plain(message) for message in ask.messages)
    worded = _with_instruction(messages, _TOOLS.format(tools=tools, answer=answer))
    return replace(ask, messages=worded, schema=action_schema(ask), tools=())


def schema_in_words(ask: Ask) -> Ask:
    """Say in the conversation which schema the answer has to fit."""
    if ask.schema is None:
        return ask
    return replace(ask, messages=_with_instruction(ask.messages, _SCHEMA.format(schema=_compact(ask.schema))))


def actions_of(ask: Ask, pieces: Pieces) -> Pieces:
    """Read the action out of an answer to `in_words(ask)`; where no tools were offered, it passes as it is."""
    if not ask.tools:
        return (yield from pieces)
    reply = _acted(ask, reply_of(pieces))
    if reply.text:
        yield reply.text
    return reply


def action_schema(ask: Ask) -> Schema:
    """Make the schema of an action: a call of one of the tools, or the answer."""
    answer = {"type": "string"} if ask.schema is None else ask.schema
    calls = [_object(tool={"type": "string", "enum": [tool.name]}, arguments=tool.parameters) for tool in ask.tools]
    return _object(thought={"type": "string"}, action={"anyOf": [*calls, _object(answer=answer)]})


def _acted(ask: Ask, reply: Reply) -> Reply:
    """Make the reply that an action means; what is none is taken for the answer itself."""
    try:
        value = fitting(reply.text, action_schema(ask))
    except Unfit:
        return reply
    assert isinstance(value, Mapping)
    action = value["action"]
    if "tool" not in action:
        answer = action["answer"]
        return replace(reply, text=answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))
    before = sum(len(message.calls) for message in ask.messages)
    call = ToolCall(f"call_{before + 1}", action["tool"], json.dumps(action["arguments"], ensure_ascii=False))
    return replace(reply, text="", calls=(call,))


def _plain(message: ChatMessage) -> ChatMessage:
    """Say a call, or its result, in a message that every model understands."""
    if message.role == "tool":
        return ChatMessage("user", f"Result of {message.answers}:\n{message.content}")
    if not message.calls:
        return message
    calls = "\n".join(f"{call.id}: {call.name} {call.arguments}" for call in message.calls)
    return ChatMessage(message.role, f"{message.content}\n{calls}".strip())


def _with_instruction(messages: tuple[ChatMessage, ...], text: str) -> tuple[ChatMessage, ...]:
    """Add to what the system says, first of all messages: what stays the same is to stand before what changes."""
    if messages and messages[0].role == "system":
        return (ChatMessage("system", f"{messages[0].content}\n\n{text}"), *messages[1:])
    return (ChatMessage("system", text), *messages)


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _compact(schema: Schema) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
