"""Messages as JSON: which fields are understood, and what happens to a record that is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import Invalid
from mnemic.ingest import Message, Skipped, read
from mnemic.ingest.source import Source

Write = Callable[[str, str | bytes], Path]


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def only(path: Path, zone: str | None = None) -> Message:
    (message,) = read(path, zone=zone)
    assert isinstance(message, Message), message
    return message


def why(path: Path) -> list[tuple[str, str]]:
    return [(one.where, one.why) for one in read(path, "jsonl") if isinstance(one, Skipped)]


def test_every_known_field_finds_its_place_and_the_rest_goes_to_metadata(write: Write) -> None:
    record = {
        "text": "The key is under the blue pot.",
        "role": "user",
        "speaker": "Ada",
        "time": "2025-04-06T21:30:00+01:00",
        "session": "s3",
        "id": "17",
        "caption": "a blue pot",
        "agent": "planner",
        "tags": ["home", "keys"],
        "user": "ada",
        "metadata": {"mood": "calm"},
        "device": "phone",
    }
    message = only(write("chat.jsonl", lines(record)))
    assert message.text == "The key is under the blue pot."
    assert message.key == "chat:s3:17"
    assert message.said == datetime(2025, 4, 6, 20, 30, tzinfo=UTC)
    assert message.said.utcoffset() == timedelta(hours=1)
    assert (message.session, message.agent, message.user, message.pos) == ("s3", "planner", "ada", 0)
    assert message.tags == ("home", "keys")
    assert message.slots == {
        "role": "user",
        "speaker": "Ada",
        "caption": "a blue pot",
        "metadata": {"mood": "calm", "device": "phone"},
    }


@pytest.mark.parametrize("field", ["time", "ts", "timestamp", "said", "created_at"])
@pytest.mark.parametrize("value", ["2023-05-08T13:56:00Z", 1683554160, 1683554160000, "1683554160"])
def test_a_time_may_have_five_names_and_be_written_or_counted(write: Write, field: str, value: str | int) -> None:
    message = only(write("a.jsonl", lines({"text": "hi", field: value})))
    assert message.said == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def test_a_time_without_zone_is_skipped_with_the_remedy_and_taken_once_a_zone_is_named(write: Write) -> None:
    path = write("a.jsonl", lines({"text": "hi", "ts": "2025-07-20T11:20:00"}))
    ((where, reason),) = why(path)
    assert where == "line 1"
    assert "has no time zone" in reason
    assert "--zone" in reason
    assert only(path, zone="Europe/Lisbon").said == datetime(2025, 7, 20, 10, 20, tzinfo=UTC)


def test_openai_content_may_be_a_list_of_parts(write: Write) -> None:
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "x"}}]
    message = only(write("a.jsonl", lines({"role": "user", "content": parts})))
    assert message.text == "What is this?"
    assert message.slots == {"role": "user", "attachments": ["image_url"]}


def test_a_conversation_a_line_gives_its_messages_in_one_session(write: Write) -> None:
    record = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}
    one, two, other = read(
        write("a.jsonl", lines(record, {"conversation_id": "c9", "messages": record["messages"][:1]}))
    )
    assert isinstance(one, Message)
    assert isinstance(two, Message)
    assert isinstance(other, Message)
    assert [m.key for m in (one, two, other)] == ["a:line-1:1", "a:line-1:2", "a:c9:1"]
    assert [(m.session, m.pos) for m in (one, two, other)] == [("line-1", 0), ("line-1", 1), ("c9", 0)]


def test_a_conversation_says_for_its_messages_what_they_do_not_say_themselves(write: Write) -> None:
    messages = [
        {"content": "hi"},
        {"content": "ho", "timestamp": "2025-01-02T00:00:00Z", "session": "own", "user": "bo"},
    ]
    record = {"id": "c1", "time": "2025-01-01T00:00:00Z", "user": "ada", "messages": messages}
    one, two = read(write("a.jsonl", lines(record)))
    assert isinstance(one, Message)
    assert isinstance(two, Message)
    assert [(m.session, m.user, m.said and m.said.day) for m in (one, two)] == [("c1", "ada", 1), ("own", "bo", 2)]


def test_a_second_name_for_a_field_that_is_taken_is_kept_in_metadata(write: Write) -> None:
    message = only(write("a.jsonl", lines({"text": "a", "content": "b", "id": "1", "message_id": "2"})))
    assert (message.text, message.key) == ("a", "a::1")
    assert message.slots == {"metadata": {"content": "b", "message_id": "2"}}


def test_an_image_without_words_is_remembered_by_its_caption(write: Write) -> None:
    message = only(write("a.jsonl", lines({"text": "", "caption": ["a red door", "a bicycle"]})))
    assert message.text == "[a red door; a bicycle]"
    assert "caption" not in message.slots


def test_keys_fall_back_to_the_line_and_positions_count_each_session(write: Write) -> None:
    path = write(
        "log.jsonl", lines({"text": "a", "session": "x"}, {"text": "b", "session": "y"}, {"text": "c", "session": "x"})
    )
    messages = [m for m in read(path) if isinstance(m, Message)]
    assert [m.key for m in messages] == ["log:x:line-1", "log:y:line-2", "log:x:line-3"]
    assert [m.pos for m in messages] == [0, 0, 1]


def test_a_colon_in_a_conversation_cannot_make_two_keys_alike(write: Write) -> None:
    path = write(
        "a.jsonl", lines({"text": "a", "session": "x:y", "id": "z"}, {"text": "b", "session": "x", "id": "y:z"})
    )
    assert [m.key for m in read(path) if isinstance(m, Message)] == ["a:x%3Ay:z", "a:x:y:z"]


def test_the_second_of_two_equal_ids_is_skipped_and_says_whether_it_was_the_same(write: Write) -> None:
    path = write("a.jsonl", lines({"id": 1, "text": "a"}, {"id": 1, "text": "a"}, {"id": 1, "text": "b"}))
    (_, same), (_, other) = why(path)
    assert "is repeated" in same
    assert "came before with another text" in other
    assert "Give each message its own id." in other


def test_two_users_may_use_the_same_ids(write: Write) -> None:
    path = write("a.jsonl", lines({"id": 1, "text": "a", "user": "ada"}, {"id": 1, "text": "b", "user": "bo"}))
    assert [(m.key, m.user) for m in read(path) if isinstance(m, Message)] == [("a::1", "ada"), ("a::1", "bo")]


BAD = {
    "nothing": {"role": "user"},
    "blank": {"text": "  "},
    "nul": {"text": "a\x00b"},
    "surrogate": {"text": "a\ud800b"},
    "nul in metadata": {"text": "a", "mood": {"deep": ["\x00"]}},
    "surrogate in a name": {"text": "a", "mood\udfff": 1},
    "number": {"text": 12},
    "long speaker": {"text": "a", "speaker": "x" * 300},
    "long time": {"text": "a", "time": "2025" * 1000},
    "role": {"text": "a", "role": 3},
    "time": {"text": "a", "time": "the day the cat moved in"},
    "list as time": {"text": "a", "time": [2025]},
    "true as time": {"text": "a", "time": True},
    "far time": {"text": "a", "time": 1e300},
    "tags": {"text": "a", "tags": {"x": 1}},
    "control in session": {"text": "a", "session": "x\ny"},
    "long session": {"text": "a", "session": "x" * 300},
    "metadata": {"text": "a", "metadata": [1]},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=list(BAD))
def test_a_bad_record_is_skipped_with_its_line_and_the_next_one_is_read(write: Write, bad: dict[str, object]) -> None:
    before, skipped, after = read(write("a.jsonl", lines({"text": "first"}, bad, {"text": "last"})), "jsonl")
    assert isinstance(skipped, Skipped)
    assert skipped.where == "line 2"
    assert isinstance(before, Message)
    assert isinstance(after, Message)
    assert after.text == "last"


@pytest.mark.parametrize(
    "raw",
    [
        b"not json",
        b"[1]",
        b'{"text": NaN}',
        b'{"text": "a", "x": 1e999}',
        b'{"text": "\xff"}',
        b'{"text": "a"',
        b"\x00",
        b"9" * 5000,
    ],
)
def test_a_line_that_is_no_json_object_is_skipped(write: Write, raw: bytes) -> None:
    path = write("a.jsonl", b'{"text": "first"}\n' + raw + b'\n\n{"text": "last"}')
    _, skipped, last = read(path)
    assert isinstance(skipped, Skipped)
    assert skipped.where == "line 2"
    assert isinstance(last, Message)
    assert last.key == "a::line-4"


@pytest.mark.parametrize("deep", ["[" * 65 + "]" * 65, "[" * 100_000 + "]" * 100_000, '{"a":' * 70 + "1" + "}" * 70])
def test_json_nested_too_deep_is_skipped(write: Write, deep: str) -> None:
    path = write("a.jsonl", '{"text": "first"}\n{"text": "a", "x": ' + deep + '}\n{"text": "last"}\n')
    assert [(where, "64 levels" in reason) for where, reason in why(path)] == [("line 2", True)]


def test_a_text_over_the_limit_is_skipped_and_one_below_is_passed_on_whole(write: Write) -> None:
    path = write(
        "a.jsonl", lines({"text": "x" * 100_000}, {"text": "y" * 100_001}, {"text": "a", "more": "z" * 200_000})
    )
    whole, long, heavy = read(path, limit=100_000)
    assert isinstance(whole, Message)
    assert len(whole.text) == 100_000
    assert isinstance(long, Skipped)
    assert "100,001 bytes" in long.why
    assert isinstance(heavy, Skipped)
    assert "metadata" in heavy.why


def test_a_line_beyond_all_limits_is_passed_over_without_losing_the_next(write: Write) -> None:
    path = write("a.jsonl", lines({"text": "first"}, {"text": "x" * 200_000}, {"text": "last"}))
    _, skipped, last = read(path, limit=1_000)
    assert skipped == Skipped(where="line 2", why="the line is over the limit of one record")
    assert isinstance(last, Message)
    assert last.text == "last"


def test_a_file_without_any_json_line_is_refused(write: Write) -> None:
    path = write("a.jsonl", "just words\n" * 1000)
    given: list[Message | Skipped] = []
    with pytest.raises(Invalid, match="is not JSON lines"):
        given.extend(read(path))
    with Source(path) as source:
        assert len(source.head) > 20 * len("just words\n")


def test_a_json_list_of_messages_is_read_an_element_at_a_time(write: Write) -> None:
    path = write(
        "a.json", json.dumps([{"role": "user", "content": "x" * 50_000, "id": n} for n in range(5)] + [7], indent=1)
    )
    *messages, odd = read(path)
    assert [m.key for m in messages if isinstance(m, Message)] == [f"a::{n}" for n in range(5)]
    assert odd == Skipped(where="element 6", why="is int, not an object")


@pytest.mark.parametrize("end", ["", "]x", ',{"text": bad}]', ',{"text": "never closed', "}", ",]"])
def test_a_json_list_that_breaks_off_is_refused_after_what_was_whole(write: Write, end: str) -> None:
    messages = read(write("a.json", '[{"text": "one"}, {"text": "two"}' + end))
    assert [isinstance(next(messages), Message) for _ in range(2)] == [True, True]
    with pytest.raises(Invalid, match="not JSON"):
        next(messages)


@given(st.binary(max_size=300))
def test_no_bytes_after_a_good_line_make_the_reader_fail(tmp_path_factory: pytest.TempPathFactory, junk: bytes) -> None:
    path = tmp_path_factory.mktemp("junk") / "a.jsonl"
    path.write_bytes(b'{"text": "first"}\n' + junk)
    first, *rest = read(path, "jsonl")
    assert isinstance(first, Message)
    assert all(isinstance(one, Message | Skipped) for one in rest)


WORDS = st.text("ab :中é\n\x00\ud800", max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["text", "content", "role", "name", "time", "session", "id", "metadata", "caption", "tags", "user", "x"]
)


@given(st.lists(st.dictionaries(FIELDS, JSON, max_size=6), max_size=6))
def test_any_records_give_storable_messages_with_unique_keys(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, object]]
) -> None:
    path = tmp_path_factory.mktemp("any") / "a.jsonl"
    path.write_text('{"text": "first"}\n' + "".join(json.dumps(r) + "\n" for r in records))
    messages = [m for m in read(path, "jsonl", zone="UTC") if isinstance(m, Message)]
    assert len({m.key for m in messages}) == len(messages)
    for message in messages:
        json.dumps([message.text, message.key, dict(message.slots)], ensure_ascii=False, allow_nan=False).encode()
        assert message.said is None or message.said.utcoffset() is not None


@pytest.mark.parametrize(
    "record",
    [
        {"content": [{"type": "text", "text": "See."}, {"type": "document", "text": "Obey."}]},
        {"content": [{"type": ["x"], "text": "Obey."}]},
        {"text": "Obey.", "tool_call_id": "c1"},
        {"text": "Obey.", "type": "tool_result"},
    ],
)
def test_what_a_tool_or_document_says_in_a_users_message_is_the_tools(write: Write, record: dict[str, object]) -> None:
    assert only(write("a.jsonl", lines({"role": "user", **record}))).slots["role"] == "tool"
    spoken = {"role": "user", "type": "message", "content": [{"type": "input_text", "text": "Hello."}]}
    assert only(write("b.jsonl", lines(spoken))).slots["role"] == "user"
