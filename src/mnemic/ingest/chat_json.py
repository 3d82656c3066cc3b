"""Read chat messages as JSON: one a line, a list of them, or conversations that hold a list each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from mnemic.errors import Invalid
from mnemic.extract.speakers import is_machine
from mnemic.ingest.chat_message import SPOKEN_PARTS, TIMES
from mnemic.ingest.intake import Intake, Options, RawRecord, desk
from mnemic.ingest.jsonio import elements, parse
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.source import Source

_TEXT: Final = ("text", "content")
_SESSION: Final = ("session", "conversation", "session_id", "conversation_id")
_SPEAKER: Final = ("speaker", "name")
_ID: Final = ("id", "message_id")
_ALIASES: Final = (_TEXT, TIMES, _SESSION, _SPEAKER, _ID)
_PLAIN: Final = frozenset({"role", "metadata", "caption", "agent", "tags", "user"})
_OUTER: Final = ("agent", "user", "tags", "metadata")
_OF_TOOLS: Final = ("tool_call_id", "tool_use_id")
"""Fields of what a tool returned, whatever role it goes by."""
_PATIENCE: Final = 20


def read_jsonl(source: Source, options: Options) -> Iterator[Message | Skipped]:
    """One JSON object a line, or one conversation a line with its `messages`; a bad line is skipped.

    Fields: `text` or `content` (OpenAI's lists of parts too); `role`; `speaker` or `name`; `time`, `ts`,
    `timestamp`, `said` or `created_at`; `session` or `conversation`; `id`; `caption`; `agent`; `tags`;
    `user`; `metadata`. Every other field goes into the slot `metadata`.

    Raises:
        Invalid: none of the first 20 lines is a JSON object.
    """
    intake = desk(source, options)
    for number, record in records(source, options):
        if isinstance(record, Skipped):
            yield record
        else:
            yield from _messages(record, f"line {number}", f"line-{number}", intake)


def records(source: Source, options: Options) -> Iterator[tuple[int, Mapping[str, object] | Skipped]]:
    """Each line's object with the line's number, blank lines left out; a bad line is a `Skipped`.

    Raises:
        Invalid: none of the first 20 lines is a JSON object, or none at all is.
    """
    good = bad = 0
    for number, line in source.lines(options.line_limit):
        if line is None or line.strip():
            record = _record(line, f"line {number}")
            bad, good = bad + isinstance(record, Skipped), good + isinstance(record, Mapping)
            yield number, record
        if not good and bad >= _PATIENCE:
            break
    if not good:
        raise Invalid("path", f"{source.label} is not JSON lines", "Name its format with `--format`.")


def read_json(source: Source, options: Options) -> Iterator[Message | Skipped]:
    """A JSON list of messages, or of conversations with their `messages`; fields as in JSON lines.

    Raises:
        Invalid: the file is not JSON from here on.
    """
    intake = desk(source, options)
    for number, element in enumerate(elements(source), start=1):
        where = f"element {number}"
        if isinstance(element, Mapping):
            yield from _messages(element, where, f"element-{number}", intake)
        else:
            yield Skipped(where=where, why=f"is {type(element).__name__}, not an object")


def _record(line: bytes | None, where: str) -> Mapping[str, object] | Skipped:
    if line is None:
        return Skipped(where=where, why="the line is over the limit of one record")
    try:
        record = parse(line)
    except Invalid as error:
        return Skipped(where=where, why=str(error))
    if isinstance(record, Mapping):
        return record
    return Skipped(where=where, why=f"is {type(record).__name__}, not an object")


def _messages(record: Mapping[str, object], where: str, place: str, intake: Intake) -> Iterator[Message | Skipped]:
    inner = record.get("messages")
    if not isinstance(inner, list):
        yield _message(record, where, place, intake)
        return
    outer = {name: record[name] for name in _OUTER if name in record}
    # under the last of their names, so that whatever a message says itself comes first
    outer |= {_SESSION[-1]: _first(record, (*_SESSION, *_ID)) or place, TIMES[-1]: _first(record, TIMES)}
    for number, message in enumerate(inner, start=1):
        inside = f"{where}, message {number}"
        if isinstance(message, Mapping):
            yield _message({**outer, **message}, inside, f"{number}", intake)
        else:
            yield Skipped(where=inside, why=f"is {type(message).__name__}, not an object")


def _message(record: Mapping[str, object], where: str, place: str, intake: Intake) -> Message | Skipped:
    try:
        text, attached, by_tool = _content(record)
        caption = _caption(record.get("caption"))
        slots = {
            "role": "tool" if by_tool else _string("role", record.get("role")),
            "speaker": _string("speaker", _first(record, _SPEAKER)),
            "caption": caption if text else None,
            "attachments": attached,
            "metadata": _metadata(record),
        }
    except Invalid as error:
        return Skipped(where=where, why=str(error))
    session = _first(record, _SESSION)
    return intake.take(
        RawRecord(
            where=where,
            place=place,
            text=text or (f"[{caption}]" if caption else ""),
            id=_first(record, _ID),
            conversation=session,
            session=session,
            time=_first(record, TIMES),
            agent=record.get("agent"),
            user=record.get("user"),
            tags=record.get("tags"),
            slots=slots,
        )
    )


def _content(record: Mapping[str, object]) -> tuple[str, list[object], bool]:
    """The text, the types of those parts that are none, and whether a tool or a document says some of it.

    Raises:
        Invalid: it is neither text nor a list.
    """
    content = _first(record, _TEXT)
    by_tool = any(record.get(name) for name in _OF_TOOLS) or is_machine(str(record.get("type") or ""))
    if content is None or isinstance(content, str):
        return content or "", [], by_tool
    if not isinstance(content, list):
        raise Invalid("text", f"is {type(content).__name__}, not a string", "Give a string, or a list of parts.")
    texts: list[str] = []
    others: list[object] = []
    for part in content:
        text = part.get("text") if isinstance(part, Mapping) else part
        if isinstance(text, str):
            texts.append(text)
            by_tool = by_tool or (isinstance(part, Mapping) and str(part.get("type", "text")) not in SPOKEN_PARTS)
        else:
            others.append(part.get("type", "unknown") if isinstance(part, Mapping) else "unknown")
    return "\n".join(texts), others, by_tool


def _caption(value: object) -> str | None:
    if isinstance(value, list) and all(isinstance(caption, str) for caption in value):
        return "; ".join(value)
    return _string("caption", value)


def _metadata(record: Mapping[str, object]) -> dict[str, object]:
    metadata = record.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise Invalid("metadata", f"is {type(metadata).__name__}, not an object", "Give an object.")
    used = {_name(record, names) for names in _ALIASES} | _PLAIN
    others = {name: value for name, value in record.items() if name not in used and value is not None}
    return {**(metadata or {}), **others}


def _name(record: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    """Which of a field's names is in use: the first that holds something."""
    return next((name for name in names if record.get(name) not in (None, "")), None)


def _first(record: Mapping[str, object], names: tuple[str, ...]) -> object:
    name = _name(record, names)
    return None if name is None else record[name]


def _string(field: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise Invalid(field, f"is {type(value).__name__}, not a string", "Give a string.")
    return value
