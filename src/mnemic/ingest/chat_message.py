"""A message as chat models take it, OpenAI's parts and Anthropic's blocks alike, as one thing to remember."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from json import dumps
from typing import Any, Final

from mnemic.core.checking import clean_name, shown
from mnemic.core.clock import instant, since_1970
from mnemic.core.items import Slot
from mnemic.errors import Invalid
from mnemic.ingest.message import Message

TIMES: Final = ("time", "ts", "timestamp", "said", "created_at")
"""What messages call the time at which they were said."""
_FIELDS: Final = frozenset({"role", "content", "name", "tool_calls", "tool_call_id", *TIMES})
SPOKEN_PARTS: Final = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""Types of parts that are words of whoever sends the message, and the field in which these stand."""
_NOTED: Final = {"image_url": "image", "input_image": "image", "input_audio": "audio", "input_file": "file"}
"""Other parts are noted by their type, or by a plainer name."""

CONTENT: Final = "content"
"""The slot of what a message of calls had as its content: nothing, a text, or blocks, to be given back to a model."""

KEPT: Final = 8_000
"""Most characters that are kept in that slot beside the text; of longer ones only the tools' blocks, without words."""

_CALLS: Final = "Give a list of {id, type, function: {name, arguments}}, as chat models do."

_EMPTY: Final[dict[str, Slot]] = {"type": "text", "text": ""}


@dataclass(slots=True)
class _Read:
    """A content as it was read: its words, its calls as OpenAI writes them, and its parts in plain form."""

    words: list[str] = field(default_factory=list)
    calls: list[Slot] = field(default_factory=list)
    parts: list[Slot] = field(default_factory=list)
    results: bool = False


def from_chat(chat: Mapping[str, object], common: Message) -> Message:
    """A chat message as a `Message`: `role`, `content`, `name`, `time`, and for tools `tool_calls`, `tool_call_id`.

    Its time, which may be called `timestamp` too, is a datetime, an ISO string, or seconds since 1970 UTC; it comes
    before that of `common`.
    Texts in parts are joined by line breaks, and a part that is no text is noted as such (`[image]`): it is not kept.
    Blocks `tool_use` are calls; a message of `tool_result` blocks is a tool's. Both are kept as blocks besides.

    Raises:
        Invalid: a field or a part cannot be read; it is named.
    """
    unknown = sorted(str(name) for name in set(chat) - _FIELDS)
    if unknown:
        raise Invalid(f"messages.{unknown[0]}", "is no field of a chat message", "Use a Message for more.")
    slots = dict(common.slots)
    for slot, name in (("role", "role"), ("speaker", "name"), ("tool_call_id", "tool_call_id")):
        if chat.get(name) is not None:
            slots[slot] = clean_name(f"messages.{name}", chat[name])
    content: object = chat.get("content")
    read = _read(content) if isinstance(content, list | tuple) else None
    text: object = content if read is None else "\n".join(read.words)
    calls = chat.get("tool_calls")
    if calls is not None and not isinstance(calls, list | tuple):
        raise Invalid("messages.tool_calls", f"is {shown(calls)}", _CALLS)
    calls = calls or (None if read is None else read.calls)
    if calls:
        slots["tool_calls"] = calls  # type: ignore[assignment]  # kept as it came, to be given back to the model
        if not isinstance(text, str) or len(text) <= KEPT:
            slots[CONTENT] = text  # type: ignore[assignment]  # checked with the text, of which it is a part
        text = f"{text}\n{calls_in_words(calls)}" if text else calls_in_words(calls)
    if read is not None and (read.calls or read.results):
        slots[CONTENT] = read.parts if len("".join(read.words)) <= KEPT else _bare(read.parts)
    if read is not None and read.results:
        slots["role"] = "tool"
    return replace(common, text=text, slots=slots, said=_said(chat, common.said))  # type: ignore[arg-type]  # checked as any text is


def _said(chat: Mapping[str, object], otherwise: datetime | None) -> datetime | None:
    """When a message says that it was said, under the first name that holds something."""
    for name in TIMES:
        given = chat.get(name)
        if isinstance(given, int | float) and not isinstance(given, bool):
            return since_1970(given, f"messages.{name}")
        if given is not None:
            return instant(f"messages.{name}", given)
    return otherwise


def calls_in_words(calls: object) -> str:
    """What a model asked of tools, in words that can be found again: `name(arguments)`, a line each.

    Raises:
        Invalid: it is not what models ask of tools.
    """
    try:
        return "\n".join(f"{call['function']['name']}({call['function']['arguments']})" for call in calls)  # type: ignore[attr-defined]
    except (TypeError, KeyError) as error:
        raise Invalid("messages.tool_calls", "is not what models ask of tools", _CALLS) from error


def _read(parts: Sequence[object]) -> _Read:
    read = _Read()
    for place, part in enumerate(parts):
        where = f"messages.content[{place}]"
        kind = _kind(part, where)
        if kind == "tool_use":
            _call(part, where, read)  # type: ignore[arg-type]  # `_kind` has seen that it is a mapping
        elif kind == "tool_result":
            _result(part, where, read)  # type: ignore[arg-type]
        else:
            read.words.append(_part_words(part, kind, where))  # type: ignore[arg-type]
            read.parts += [{"type": "text", "text": read.words[-1]}] if read.words[-1] else []
    return read


def _bare(parts: Sequence[Slot]) -> list[Slot]:
    """The tools' blocks without words, behind an empty text that stands for these."""
    tools = [part for part in parts if isinstance(part, dict) and part["type"] != "text"]
    return [dict(_EMPTY), *({**part, "content": ""} if "content" in part else part for part in tools)]


def is_bare(parts: Sequence[Slot]) -> bool:
    """Whether blocks were kept without their words, which are the item's."""
    return parts[:1] == [_EMPTY]


def _kind(part: object, where: str) -> str:
    if not isinstance(part, Mapping):
        raise Invalid(where, f"is {type(part).__name__}", "Give parts such as {'type': 'text', 'text': ...}.")
    kind = part.get("type")
    if not isinstance(kind, str) or not kind:
        raise Invalid(where, "has no type", "Give parts such as {'type': 'text', 'text': ...}.")
    return clean_name(f"{where}.type", kind)


def _part_words(part: Mapping[str, Any], kind: str, where: str) -> str:
    """The words of a part, or that there was one that is none."""
    if kind not in SPOKEN_PARTS:
        return f"[{_NOTED.get(kind, kind)}]"
    words = part.get(SPOKEN_PARTS[kind])
    if not isinstance(words, str):
        raise Invalid(f"{where}.{SPOKEN_PARTS[kind]}", f"is {type(words).__name__}, not a string", "Give its text.")
    return words


def _call(part: Mapping[str, Any], where: str, read: _Read) -> None:
    name, id = (clean_name(f"{where}.{field}", part.get(field)) for field in ("name", "id"))
    try:
        arguments = dumps(part.get("input", {}), ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"{where}.input", f"is not JSON ({error})", "Give what the model gave.") from error
    read.calls.append({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
    read.parts.append({"type": "tool_use", "id": id, "name": name, "input": part.get("input", {})})


def _result(part: Mapping[str, Any], where: str, read: _Read) -> None:
    """A tool's result; its own parts may be texts and what is noted, no tools again."""
    call, content = clean_name(f"{where}.tool_use_id", part.get("tool_use_id")), part.get("content", "")
    if isinstance(content, list | tuple):
        kinds = [(part, f"{where}.content[{i}]") for i, part in enumerate(content)]
        content = "\n".join(_part_words(part, _kind(part, at), at) for part, at in kinds)
    if not isinstance(content, str):
        raise Invalid(f"{where}.content", f"is {type(content).__name__}", "Give a text, or a list of parts.")
    read.results = True
    read.words.append(content)
    failed: dict[str, Slot] = {"is_error": True} if part.get("is_error") else {}
    read.parts.append({"type": "tool_result", "tool_use_id": call, "content": content, **failed})
