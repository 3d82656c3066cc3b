"""Read the export of Claude: conversations, what was attached to them, projects, the memory it kept, the account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from mnemic.core.items import Kind
from mnemic.ingest.intake import Intake, Options, RawRecord
from mnemic.ingest.jsonio import elements
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.source import Source

_ROLES: Final = {"human": "user", "assistant": "assistant"}
_SPOKEN: Final = ("text", "voice_note")
_UNSPOKEN: Final = "is of a tool, or a thought; --tools takes it in"


def read_claude(source: Source, options: Options) -> Iterator[Message | Skipped]:
    """One message for each of a conversation, in its order; a document for each text attached, project and memory.

    A conversation is a session, its name the slot `title`. Files without text leave their names in `attachments`. Whose
    account it is, and what holds nothing, is skipped and told.

    Raises:
        Invalid: the file is not JSON from here on.
    """
    for number, record in enumerate(elements(source), start=1):
        intake = Intake("claude", options)  # one a conversation: what it remembers of ids ends with it
        for parsed in _record(record, number, options):
            yield parsed if isinstance(parsed, Skipped) else intake.take(parsed)


def _record(record: object, number: int, options: Options) -> Iterator[RawRecord | Skipped]:
    fields = _object(record)
    if isinstance(fields.get("chat_messages"), list):
        messages, bare = _conversation(fields, number, options), "is a conversation without messages"
    elif "conversations_memory" in fields or "project_memories" in fields:
        messages, bare = _memories(fields, number), "is a memory of nothing"
    elif "docs" in fields or "prompt_template" in fields:
        messages, bare = _project(fields, number), "is a project without instructions or documents"
    elif "email_address" in fields:
        messages, bare = iter(()), "is the account (name and address), which is not remembered"
    else:
        messages, bare = iter(()), "is no conversation, project or memory"
    first = next(messages, None)
    yield Skipped(where=f"element {number}", why=bare) if first is None else first
    yield from messages


def _conversation(conversation: Mapping[str, object], number: int, options: Options) -> Iterator[RawRecord | Skipped]:
    name = conversation.get("uuid") or f"conversation-{number}"
    for n, message in enumerate(_list(conversation.get("chat_messages")), start=1):
        where = f"conversation {number}, message {n}"
        if not isinstance(message, Mapping):
            yield Skipped(where=where, why=f"is {type(message).__name__}, not an object")
            continue
        time = message.get("created_at") or conversation.get("created_at")
        own_id = message.get("uuid") or f"message-{n}"
        yield from _message(message, where, name, conversation.get("name"), time, own_id, options)
        for a, attached in enumerate(_list(message.get("attachments")), start=1):
            text = _object(attached).get("extracted_content")
            if isinstance(text, str) and text.strip():
                title = _object(attached).get("file_name") or "attachment"
                yield _document(f"{where}, attachment {a}", text, f"{own_id}/attachment-{a}", name, title, time, name)


def _message(
    message: Mapping[str, object],
    where: str,
    name: object,
    title: object,
    time: object,
    own_id: object,
    options: Options,
) -> Iterator[RawRecord | Skipped]:
    text, aside, by_tool = _content(message, tools=options.tools)
    attached = [
        str(label)
        for attachment in [*_list(message.get("attachments")), *_list(message.get("files"))]
        if (label := _object(attachment).get("file_name"))
    ]
    if aside:
        yield Skipped(where=where, why=_UNSPOKEN)
    elif not text and not attached:
        yield Skipped(where=where, why="is empty")
    if text or attached:
        sender = message.get("sender")
        yield RawRecord(
            where=where,
            place=str(own_id),
            text=text or f"[{', '.join(attached)}]",
            id=own_id,
            conversation=name,
            session=name,
            time=time,
            slots={
                "role": "tool" if by_tool else (_ROLES.get(sender, sender) if isinstance(sender, str) else None),
                "title": title,
                "conversation": name,
                "attachments": list(dict.fromkeys(attached)),
            },
        )


def _content(message: Mapping[str, object], *, tools: bool) -> tuple[str, int, bool]:
    """The text of a message, how many of its blocks with text were left out, and whether one left in is a tool's."""
    blocks = [_object(part) for part in _list(message.get("content"))]
    texts, aside, by_tool = [], 0, False
    for block in blocks:
        text = _block_text(block)
        if block.get("type") in _SPOKEN:
            texts.append(text)
        elif tools:
            texts.append(text)
            by_tool = by_tool or (bool(text.strip()) and message.get("sender") == "human")
        else:
            aside += bool(text.strip())
    if not any(block.get("type") in _SPOKEN for block in blocks) and isinstance(plain := message.get("text"), str):
        texts.insert(0, plain if not blocks or tools or not aside else "")
    return "\n".join(text for text in texts if text.strip()), aside, by_tool


def _block_text(block: Mapping[str, object]) -> str:
    for name in ("text", "thinking"):
        if isinstance(text := block.get(name), str):
            return text
    inner = block.get("content")
    if isinstance(inner, list):
        return "\n".join(_block_text(_object(block_part)) for block_part in inner)
    return inner if isinstance(inner, str) else str(block.get("name") or "")


def _memories(memory: Mapping[str, object], number: int) -> Iterator[RawRecord | Skipped]:
    where = f"memory {number}"
    texts = {"": memory.get("conversations_memory"), **_object(memory.get("project_memories"))}
    for project, text in texts.items():
        if isinstance(text, str) and text.strip():
            own_id = f"project/{project}" if project else "conversations"
            yield _document(where, text, own_id, "memories", "Claude's memory", None, None)


def _project(exported: Mapping[str, object], number: int) -> Iterator[RawRecord | Skipped]:
    name, where = exported.get("uuid") or f"project-{number}", f"project {number}"
    for field in ("description", "prompt_template"):
        text = exported.get(field)
        if isinstance(text, str) and text.strip():
            yield _document(where, text, field, name, exported.get("name"), exported.get("created_at"), None, field)
    for n, document in enumerate(_list(exported.get("docs")), start=1):
        fields = _object(document)
        title, time = fields.get("filename") or f"document {n}", fields.get("created_at") or exported.get("created_at")
        own_id = fields.get("uuid") or f"document-{n}"
        yield _document(
            f"{where}, document {n}", fields.get("content"), own_id, name, title, time, None, exported.get("name")
        )


def _document(
    where: str,
    text: object,
    own_id: object,
    name: object,
    title: object,
    time: object,
    session: object,
    heading: object = None,
) -> RawRecord:
    return RawRecord(
        where=where,
        place=str(own_id),
        text=text,
        id=own_id,
        conversation=name,
        session=session,
        time=time,
        kind=Kind.DOCUMENT,
        slots={"title": title, "heading": heading},
    )


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
