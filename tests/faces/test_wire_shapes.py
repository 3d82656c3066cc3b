"""What the gateway reads of OpenAI's wire: streams however they are cut, messages whatever they hold."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.faces.gateway import wire_shapes
from mnemic.faces.gateway.splicing import decoded
from mnemic.faces.gateway.wire_shapes import SHAPES, ChatCompletions, Completion, EventReader

LINE = st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=("Cs",)))
DATA = st.lists(LINE, min_size=1, max_size=3)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(DATA, max_size=6), st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_events_are_the_same_however_the_stream_is_cut(events: list[list[str]], end: str, data: st.DataObject) -> None:
    stream = "".join("".join(f"data: {line}{end}" for line in lines) + end for lines in events).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    reader = EventReader(1_000_000)
    read = [reader.read(stream[a:b]) for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert [event.decode() for piece in read for event in piece.events] == ["\n".join(lines) for lines in events]
    assert b"".join(piece.passed for piece in read) == stream


@given(st.lists(DATA, max_size=3), st.sampled_from(["\n", "\r\n", "\r"]), LINE.filter(bool), st.integers(1, 9))
def test_what_goes_on_ends_with_an_event(events: list[list[str]], end: str, half: str, step: int) -> None:
    stream = "".join("".join(f"data: {line}{end}" for line in lines) + end for lines in events).encode()
    broken = stream + f"data: {half}".encode()
    reader = EventReader(1_000_000)
    passed = b"".join(reader.read(broken[at : at + step]).passed for at in range(0, len(broken), step))
    assert (passed, reader.rest) == (stream, f"data: {half}".encode())
    assert reader.rest_data == half.encode()


@given(st.integers(1, 50), st.integers(1, 7), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_an_event_over_the_limit_is_passed_over_and_the_next_is_read(words: int, step: int, end: bytes) -> None:
    stream = (b"data: " + b"x" * (100 + words) + b"\n\n: comment\n\ndata: next\n\n").replace(b"\n", end)
    reader = EventReader(100)
    read = [reader.read(stream[at : at + step]) for at in range(0, len(stream), step)]
    assert [event for piece in read for event in piece.events] == [b"next"]
    assert b"".join(piece.passed for piece in read) == stream


@given(st.integers(100, 300), st.integers(1, 7))
def test_of_an_event_over_the_limit_no_more_than_that_is_withheld(words: int, step: int) -> None:
    stream = b"data: before\n\ndata: " + b"x" * words
    reader, came, passed = EventReader(100), 0, 0
    for at in range(0, len(stream), step):
        came += len(stream[at : at + step])
        passed += len(reader.read(stream[at : at + step]).passed)
        assert came - passed <= 100
    assert reader.cut_short is (words + 6 > 100)


def test_a_long_comment_in_small_pieces_is_scanned_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece had all of it scanned anew, in the event loop: 100 KB held up every other request for seconds."""
    scanned, pattern = 0, wire_shapes._NO_FIELD

    class Counting:
        def match(self, held: bytearray, start: int) -> re.Match[bytes] | None:
            nonlocal scanned
            scanned += len(held) - start
            return pattern.match(held, start)

    monkeypatch.setattr(wire_shapes, "_NO_FIELD", Counting())
    stream = b": " + b"x" * 5_000 + b"\n: more\ndata: next\n\n"
    reader = EventReader(1_000_000)
    read = [reader.read(stream[at : at + 10]) for at in range(0, len(stream), 10)]
    assert [event for piece in read for event in piece.events] == [b"next"]
    assert b"".join(piece.passed for piece in read) == stream
    assert scanned < 2 * len(stream)


@given(ANYTHING)
def test_an_answer_of_any_form_is_read_without_a_fault(document: Any) -> None:
    for shape in SHAPES:
        for given_document in ({"id": document}, {"choices": document}, {"output": document}, {"choices": [document]}):
            shape.read_answer(given_document, Completion())
            shape.read_event({"type": "response.created", "response": document, **given_document}, Completion())


BLANK = st.text(" \n\t\r", max_size=2)


@given(ANYTHING, st.text(), st.booleans(), BLANK, st.sampled_from(["utf-8", "utf-16-le", "utf-32-be"]), st.booleans())
def test_a_block_is_all_that_is_added_to_a_request(
    other: Any, said: str, parts: bool, blank: str, encoding: str, plain: bool
) -> None:
    shape = ChatCompletions()
    content: Any = [{"type": "text", "text": said}, {"image": other}] if parts else said
    body = {"x": other, "messages": [{"role": "system", "content": other}, {"y": other, "content": content}], "z": 1.50}
    text = blank + json.dumps(body, ensure_ascii=plain, separators=(blank + ",", ":" + blank)) + blank
    placed = shape.with_blocks(text, {1: 'a "block"\n\U0001f408'})
    added = '\\n\\na \\"block\\"\\n\U0001f408'
    if parts:
        added = ', {"type": "text", "text": "' + added.removeprefix("\\n\\n") + '"}'
    places = [n for n in range(len(text) + 1) if text[:n] + added + text[n:] == placed]
    assert places, "one text more, and nothing else"
    sent = json.loads(placed)["messages"][1]["content"]
    assert (sent[-1]["text"] if parts else sent).endswith('a "block"\n\U0001f408')
    assert decoded(text.encode(encoding)) == text


def test_of_members_that_come_twice_the_last_counts() -> None:
    text = '{"messages": 1, "messages": [{"content": "a", "content": "b"}]}'
    assert ChatCompletions().with_blocks(text, {0: "c"}).endswith('"content": "a", "content": "b\\n\\nc"}]}')


@given(ANYTHING)
def test_a_message_of_any_form_is_read_without_a_fault(content: Any) -> None:
    (message,) = ChatCompletions().messages({"messages": [{"role": "user", "content": content, "extra": content}]})
    assert isinstance(message.text, str)


@given(st.lists(st.text(max_size=5), max_size=5), st.lists(st.text(max_size=5), max_size=5))
def test_digests_agree_as_far_as_two_conversations_do(first: list[str], second: list[str]) -> None:
    shape = ChatCompletions()
    a, b = (
        [message.digest for message in shape.messages({"messages": [{"role": "user", "content": one} for one in said]})]
        for said in (first, second)
    )
    shorter = min(len(first), len(second))
    same = next((n for n in range(shorter) if first[n] != second[n]), shorter)
    assert a[:same] == b[:same]
    assert not set(a[same:]) & set(b[same:])
