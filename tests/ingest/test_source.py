"""Opening a source: gzip, standard input, progress, and files that are not what they claim."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemic.errors import Invalid, NotFound
from mnemic.ingest import READERS, Message, count_hint, detect, read

Write = Callable[[str, str | bytes], Path]

CHAT = "".join(json.dumps({"text": f"line number {n}", "id": n}) + "\n" for n in range(20_000))


def test_gzip_is_undone_whatever_the_file_is_called(write: Write) -> None:
    packed = gzip.compress(b'{"text": "hello"}\n')
    for name in ("a.jsonl.gz", "a.jsonl"):
        (message,) = read(write(name, packed))
        assert isinstance(message, Message)
        assert message.key == "a::line-1"


def test_a_truncated_gzip_gives_what_was_whole_and_then_says_so(write: Write) -> None:
    packed = gzip.compress(CHAT.encode())
    messages = read(write("a.jsonl.gz", packed[: len(packed) // 2]))
    assert isinstance(next(messages), Message)
    with pytest.raises(Invalid, match="truncated gzip"):
        list(messages)


def test_a_damaged_gzip_is_refused(write: Write) -> None:
    packed = bytearray(gzip.compress(CHAT.encode()))
    packed[200:400] = bytes(200)
    with pytest.raises(Invalid, match="gzip"):
        list(read(write("a.jsonl.gz", bytes(packed))))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty"),
        ("\ufeffhello".encode("utf-16"), "UTF-16"),
        (b"\x89PNG\r\n\x1a\n" + bytes(64), "binary|not UTF-8"),
        (b"SQLite format 3\x00" + bytes(64), "is binary"),
        ("caf\xe9 au lait\n".encode("latin-1"), "is not UTF-8"),
    ],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.txt", "a.md"])
def test_a_file_that_is_no_text_is_refused_with_a_remedy(write: Write, name: str, content: bytes, problem: str) -> None:
    path = write(name, content)
    with pytest.raises(Invalid, match=problem) as refused:
        list(read(path))
    assert refused.value.field == "path"
    assert refused.value.remedy
    with pytest.raises(Invalid, match=problem):
        detect(path)


def test_a_utf8_mark_at_the_start_is_no_part_of_the_text(write: Write) -> None:
    (message,) = read(write("a.jsonl", b'\xef\xbb\xbf{"text": "hello"}\n'))
    assert isinstance(message, Message)


def test_a_missing_file_and_an_unknown_format_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        list(read(tmp_path / "none.txt"))
    with pytest.raises(Invalid, match="cannot be read"):
        list(read("a\x00b"))
    with pytest.raises(Invalid, match="is not one we read") as refused:
        read(tmp_path / "a.txt", "docx")
    assert all(name in refused.value.remedy for name in READERS)


def test_standard_input_is_read_and_its_format_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "hello"}\n')))
    (message,) = read("-")
    assert isinstance(message, Message)
    assert message.key == "stdin::line-1"
    assert count_hint("-") == 0


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_progress_rises_to_the_size_of_the_file(write: Write, name: str) -> None:
    path = write(name, gzip.compress(CHAT.encode(), 1) if name.endswith("gz") else CHAT)
    told: list[int] = []
    assert sum(isinstance(m, Message) for m in read(path, progress=told.append)) == 20_000
    assert told == sorted(told)
    assert told[-1] == count_hint(path) == path.stat().st_size


def test_messages_come_before_the_file_is_read_to_its_end(write: Write) -> None:
    told: list[int] = []
    messages = read(write("a.jsonl", CHAT), progress=told.append)
    next(messages)
    assert max(told, default=0) < len(CHAT) // 2


def test_reading_again_gives_the_same_messages(write: Write) -> None:
    path = write("a.jsonl", CHAT)
    assert list(read(path)) == list(read(path))


@pytest.mark.parametrize(
    ("name", "head", "format"),
    [
        ("a.jsonl", '{"text": "x"}', "jsonl"),
        ("a.jsonl", '{"text": "x", "conversation": "c", "sample_id": 1, "evidence": 2}', "jsonl"),
        ("a.jsonl", "broken {\n", "jsonl"),
        ("a.jsonl", '{"type": "doc", "ns": "n", "id": "1", "text": "x"}', "unified"),
        ("a.json", '{"role": "user", "content": "x"}\n{"role": "user", "content": "y"}\n', "jsonl"),
        ("a.json", '[\n {"role": "user", "content": "x"}]', "json"),
        ("a", '[{"role": "user", "content": "x"}]', "json"),
        ("a", '{\n "messages": []}', "json"),
        ("a.json", '[{"sample_id": "s", "conversation": {"speaker_a": "A"', "locomo"),
        ("a.json", '[{"qa": [{"question": "x", "evidence": ["D1:1"]', "locomo"),
        ("a.json", '[{"question_id": "q", "haystack_dates": [', "longmemeval"),
        ("a.md", "[link](x)\n", "markdown"),
        ("a.markdown", "{", "markdown"),
        ("a.txt", "[2025-01-01] it rained.\n", "text"),
        ("a.txt", "Ada: hi\nBo: hi\nAda: bye\n", "dialogue"),
        ("a.json", '[{"title": "t", "create_time": 1.5, "mapping": {"n": {', "chatgpt"),
        ("a.json", '[{"uuid": "u", "name": "n", "chat_messages": [', "claude"),
        ("a.json", '[{"conversations_memory": "m", "account_uuid": "u"}]', "claude"),
        ("a.json", '{"results": [{"id": "1", "memory": "m", "user_id": "u"}]}', "mem0"),
        ("memory.jsonl", '{"type": "entity", "name": "n", "entityType": "t", "observations": []}', "memory-server"),
        ("memory.json", '{"type":"relation","from":"a","to":"b","relationType":"r"}', "memory-server"),
        ("a.htm", "<p>x", "html"),
        ("a", "<!DOCTYPE html>\n<p>x", "html"),
        ("a.py", "{'x': 1}\n", "code"),
        ("a", "%PDF-1.7\n\x00\x01", "pdf"),
    ],
)
def test_the_format_is_seen_from_name_and_first_bytes(write: Write, name: str, head: str, format: str) -> None:
    assert detect(write(name, head)) == format
