"""Chat messages as models take them: contents in parts, tools' calls and results, and what is given back of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mnemic import Invalid, Memory
from mnemic.session import Session

CALLS = [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"18"}'}}]


@pytest.fixture
def s() -> Iterator[Session]:
    with Memory("memory:") as memory, memory.session("chat", user="ada", budget=2000) as opened:
        yield opened


@pytest.mark.parametrize("content", [None, "", "Let me look."])
def test_a_call_is_given_back_with_the_content_it_had(s: Session, content: str | None) -> None:
    given: list[dict[str, object]] = [
        {"role": "user", "content": "How is it there?"},
        {"role": "assistant", "content": content, "tool_calls": CALLS},
        {"role": "tool", "content": "sunny", "tool_call_id": "c1"},
    ]
    s.observe(given)
    assert s.messages() == given
    assert 'weather({"city":"18"})' in s.window().text


def test_text_parts_are_one_text(s: Session) -> None:
    s.observe(
        {"role": "user", "content": [{"type": "text", "text": "Look at this."}, {"type": "text", "text": "Nice?"}]}
    )
    assert s.messages() == [{"role": "user", "content": "Look at this.\nNice?"}]


def test_a_part_that_is_no_text_is_noted(s: Session) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    sound = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    s.observe({"role": "user", "content": [{"type": "text", "text": "My cat."}, picture, sound]})
    s.observe({"role": "user", "content": [{"type": "image", "source": {"type": "base64", "data": "AAAA"}}]})
    assert [one["content"] for one in s.messages()] == ["My cat.\n[image]\n[audio]", "[image]"]


def test_blocks_of_tools_come_back_as_blocks(s: Session) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Porto"}}
    given: list[dict[str, object]] = [
        {"role": "user", "content": "How is it in Porto?"},
        {"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, use]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "sunny"}]},
    ]
    items = s.observe(given).ids
    assert s.messages() == given
    assert 'weather({"city":"Porto"})' in s.window().text
    s.page_out(items[1])
    assert len(s.window()) == 1, "a result is never parted from its call"


def test_a_result_s_own_parts_are_read_too(s: Session) -> None:
    inner = [{"type": "text", "text": "a map"}, {"type": "image", "source": {"type": "url", "url": "x"}}]
    result = {"type": "tool_result", "tool_use_id": "t1", "content": inner, "is_error": True}
    s.observe({"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "map", "input": {}}]})
    s.observe({"role": "user", "content": [result, {"type": "text", "text": "and now?"}]})
    assert s.messages()[1]["content"] == [
        {"type": "tool_result", "tool_use_id": "t1", "content": "a map\n[image]", "is_error": True},
        {"type": "text", "text": "and now?"},
    ]


def test_a_long_result_is_remembered_whole_and_shown_in_part(s: Session) -> None:
    words = "The harbour opens at ten. " * 600
    s.observe({"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "map", "input": {}}]})
    item = s.observe({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": words}]}).ids[
        0
    ]
    told = str(s.messages()[1]["content"])
    assert "'tool_use_id': 't1'" in told
    assert f"{item} holds the rest" in told


def test_secrets_in_blocks_are_masked_wherever_they_stand(s: Session) -> None:
    key = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
    use = {"type": "tool_use", "id": "t1", "name": "login", "input": {"key": key}}
    calls = [{"id": "c1", "type": "function", "function": {"name": "login", "arguments": f'{{"key":"{key}"}}'}}]
    s.observe({"role": "assistant", "content": [use]})
    s.observe({"role": "assistant", "content": f"with {key}", "tool_calls": calls})
    assert key not in str(s.messages())
    assert all(key not in str(page) for page in s._flows.contents.lines.values())


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (7, r"content\[1\].*int"),
        ({"text": "x"}, r"content\[1\].*no type"),
        ({"type": "text", "text": 7}, r"content\[1\]\.text.*int"),
        ({"type": "tool_use", "input": {}}, r"content\[1\]\.name"),
        ({"type": "tool_result", "tool_use_id": "t", "content": 7}, r"content\[1\]\.content.*int"),
    ],
)
def test_a_part_that_cannot_be_read_is_named(s: Session, part: object, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        s.observe({"role": "user", "content": [{"type": "text", "text": "a"}, part]})


def test_messages_begin_at_a_user_s_turn_once_something_was_cut(s: Session) -> None:
    opening = s.observe({"role": "assistant", "content": "Welcome."}).ids[0]
    question = s.observe({"role": "user", "content": "Which pot leaks?"}).ids[0]
    s.observe([{"role": "assistant", "content": "The blue one."}, {"role": "user", "content": "Thanks."}])
    assert s.messages()[0] == {"role": "assistant", "content": "Welcome."}
    s.page_out(opening)
    s.page_out(question)
    told = s.messages()
    assert told[0]["role"] == "system"
    assert "The blue one." in str(told[0]["content"])
    assert told[1:] == [{"role": "user", "content": "Thanks."}]
