"""Claude's export: conversations, attachments, projects and memory."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemic.core.items import Kind
from mnemic.ingest import Message, Skipped, detect, read

Write = Callable[[str, str | bytes], Path]

CHAT = {
    "uuid": "c1",
    "name": "Bread",
    "created_at": "2025-03-01T10:00:00.000000Z",
    "account": {"uuid": "a1"},
    "chat_messages": [
        {
            "uuid": "m1",
            "sender": "human",
            "text": "How long does sourdough rise?",
            "content": [{"type": "text", "text": "How long does sourdough rise?"}],
            "created_at": "2025-03-01T10:00:01.500000Z",
            "attachments": [{"file_name": "recipe.txt", "extracted_content": "Flour, water, salt."}],
            "files": [{"file_name": "loaf.png"}],
        },
        {
            "uuid": "m2",
            "sender": "assistant",
            "text": "",
            "content": [
                {"type": "thinking", "thinking": "It depends."},
                {"type": "tool_use", "name": "search", "input": {}},
                {"type": "tool_result", "content": [{"type": "text", "text": "found"}]},
                {"type": "text", "text": "Eight hours, cool."},
            ],
            "created_at": "2025-03-01T10:00:09Z",
        },
        {"uuid": "m3", "sender": "human", "text": "Old form, no blocks."},
        {"uuid": "m4", "sender": "human", "text": "", "content": []},
        "no message",
    ],
}


def given(write: Write, *records: Any, **options: Any) -> tuple[list[Message], list[Skipped]]:
    path = write("conversations.json", json.dumps(records))
    assert detect(path) == "claude"
    both = list(read(path, **options))
    return [m for m in both if isinstance(m, Message)], [m for m in both if isinstance(m, Skipped)]


def test_a_conversation_is_a_session_of_what_was_spoken(write: Write) -> None:
    messages, skipped = given(write, CHAT)
    assert [(m.key, m.slots.get("role"), m.text) for m in messages] == [
        ("claude:c1:m1", "user", "How long does sourdough rise?"),
        ("claude:c1:m1/attachment-1", None, "Flour, water, salt."),
        ("claude:c1:m2", "assistant", "Eight hours, cool."),
        ("claude:c1:m3", "user", "Old form, no blocks."),
    ]
    assert {m.session for m in messages} == {"c1"}
    assert messages[0].said == datetime(2025, 3, 1, 10, 0, 1, 500_000, tzinfo=UTC)
    assert messages[0].slots["attachments"] == ["recipe.txt", "loaf.png"]
    assert (messages[1].kind, messages[1].slots["title"]) == (Kind.DOCUMENT, "recipe.txt")
    assert messages[3].said == datetime(2025, 3, 1, 10, tzinfo=UTC), "the time of the conversation"
    assert [one.why for one in skipped] == [
        "is of a tool, or a thought; --tools takes it in",
        "is empty",
        "is str, not an object",
    ]


def test_thoughts_and_tools_are_taken_in_where_they_are_asked_for(write: Write) -> None:
    messages, _ = given(write, CHAT, tools=True)
    assert messages[2].text == "It depends.\nsearch\nfound\nEight hours, cool."


def test_projects_and_memory_are_documents(write: Write) -> None:
    project = {
        "uuid": "p1",
        "name": "House",
        "description": "The new house",
        "prompt_template": "Answer briefly.",
        "created_at": "2025-02-01T00:00:00Z",
        "docs": [
            {"uuid": "d1", "filename": "plan.md", "content": "Three rooms.", "created_at": "2025-02-02T00:00:00Z"}
        ],
    }
    memory = {"conversations_memory": "Keeps bees.", "project_memories": {"p1": "Builds."}, "account_uuid": "a1"}
    messages, skipped = given(write, project, memory)
    assert [(m.key, m.text, m.slots["title"]) for m in messages] == [
        ("claude:p1:description", "The new house", "House"),
        ("claude:p1:prompt_template", "Answer briefly.", "House"),
        ("claude:p1:d1", "Three rooms.", "plan.md"),
        ("claude:memories:conversations", "Keeps bees.", "Claude's memory"),
        ("claude:memories:project/p1", "Builds.", "Claude's memory"),
    ]
    assert messages[2].slots["heading"] == "House"
    assert skipped == []


def test_what_is_of_no_known_shape_is_named(write: Write) -> None:
    _, skipped = given(write, CHAT, {"uuid": "x"}, 7)
    assert [one.where for one in skipped][-2:] == ["element 2", "element 3"]


USER = {"uuid": "a1", "full_name": "Ada Lind", "email_address": "ada@example.org", "verified_phone_number": "+351"}
BARE_PROJECT = {"uuid": "p9", "name": "Empty", "description": "", "prompt_template": "", "docs": [], "is_private": True}
BARE_CHAT = {"uuid": "c9", "name": "", "account": {"uuid": "a1"}, "chat_messages": []}
BARE_MEMORY = {"conversations_memory": "", "project_memories": {}, "account_uuid": "a1"}


@pytest.mark.parametrize(
    ("name", "record", "why"),
    [
        ("users.json", USER, "is the account (name and address), which is not remembered"),
        ("projects.json", BARE_PROJECT, "is a project without instructions or documents"),
        ("conversations.json", BARE_CHAT, "is a conversation without messages"),
        ("memories.json", BARE_MEMORY, "is a memory of nothing"),
    ],
)
def test_what_holds_nothing_to_remember_is_recognised_and_told(
    write: Write, name: str, record: dict[str, Any], why: str
) -> None:
    path = write(name, json.dumps([record], indent=2))
    assert detect(path) == "claude"
    (skipped,) = read(path)
    assert isinstance(skipped, Skipped)
    assert skipped.why == why


def test_the_files_of_an_export_are_recognised_in_a_folder_and_in_a_zip(write: Write, tmp_path: Path) -> None:
    project = {**BARE_PROJECT, "prompt_template": "Answer in rhyme."}
    memory = {**BARE_MEMORY, "conversations_memory": "Ada bakes.", "project_memories": {"p9": "Rhymes."}}
    files = {"conversations.json": [CHAT], "users.json": [USER], "projects.json": [project], "memories.json": [memory]}
    folder = tmp_path / "data-2026-02-01-batch-0000"
    folder.mkdir()
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for name, records in files.items():
            (folder / name).write_text(json.dumps(records))
            archive.writestr(name, json.dumps(records))
    for path in (folder, tmp_path / "export.zip"):
        both = list(read(path))
        texts = {one.text for one in both if isinstance(one, Message)}
        assert {"Answer in rhyme.", "Ada bakes.", "Rhymes.", "How long does sourdough rise?"} <= texts
        told = [one.why for one in both if isinstance(one, Skipped)]
        assert "is the account (name and address), which is not remembered" in told
        assert not any("no part of an export" in why for why in told)
