"""OpenAI's own client through the gateway: responses by stream and by id, tools in both shapes, images."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import openai
import pytest

from mnemic import Memory, ScopedMemory, Settings
from mnemic.faces.gateway.relay import GatewayOptions, application
from mnemic.faces.gateway.remembering import Remembering
from mnemic.testing.chat_server import Server, events, reply, serving
from mnemic.testing.replying import ReplyingChat
from serving_app import serving_app


class Between:
    """A client of a gateway, its user's memory, and its upstream, which answers by a script."""

    def __init__(self, me: ScopedMemory, upstream: Server, client: openai.OpenAI) -> None:
        self.me, self.upstream, self.client = me, upstream, client

    def answer(self, *documents: Any) -> None:
        """Have the upstream answer with these, in turn."""
        self.upstream.faults += [lambda handler, one=one: reply(handler, json.dumps(one).encode()) for one in documents]

    def kept(self) -> list[tuple[str, str]]:
        return [(str(v.item.slots.get("role")), v.item.text) for v in reversed(self.me.list())]


@pytest.fixture
def between() -> Iterator[Between]:
    with _between() as it:
        yield it


@contextmanager
def _between() -> Iterator[Between]:
    settings = Settings(embedder="none", background=False)
    with Memory("memory:", settings=settings) as memory, serving(ReplyingChat(lambda ask: "Noted.")) as upstream:
        options = GatewayOptions(upstream=upstream.url, user="me", recall_seconds=30.0)
        remembering = Remembering(memory, budget=options.budget, cache=options.cache)
        with (
            serving_app(application(remembering, options)) as address,
            openai.OpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client,
        ):
            yield Between(memory.scope(user="me"), upstream, client)


def response(id: str, *output: dict[str, Any], status: str = "completed") -> dict[str, Any]:
    return {
        "id": id, "object": "response", "created_at": 1, "model": "m", "status": status, "output": list(output),
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip


def message(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "msg-1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


CALL = {"id": "fc-1", "type": "function_call", "call_id": "c-1", "name": "weather", "arguments": "{}"}
TOOL: Any = {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": True}


def streamed(id: str, *words: str) -> Any:
    at = {"item_id": "msg-1", "output_index": 0, "content_index": 0}
    told = [
        {"type": "response.created", "response": response(id, status="in_progress")},
        {"type": "response.output_item.added", "output_index": 0, "item": {**message(""), "content": []}},
        {"type": "response.content_part.added", "part": message("")["content"][0], **at},
        *({"type": "response.output_text.delta", "delta": word, "logprobs": [], **at} for word in words),
        {"type": "response.completed", "response": response(id, message("".join(words)))},
    ]
    return events(*(json.dumps({"sequence_number": n, **one}) for n, one in enumerate(told)))


def test_a_stream_of_responses_comes_event_by_event_and_is_kept(between: Between) -> None:
    between.me.observe("I live in Lisbon.")
    between.upstream.faults = [streamed("resp-1", "In ", "Lisbon.")]
    with between.client.responses.stream(model="m", input="Where do I live?") as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds.count("response.output_text.delta") == 2
    assert final.output_text == "In Lisbon."
    assert "I live in Lisbon" in between.upstream.asked[0]["input"]
    assert between.kept()[1:] == [("user", "Where do I live?"), ("assistant", "In Lisbon.")]


def test_what_goes_on_from_a_response_is_of_its_conversation(between: Between) -> None:
    between.upstream.faults = [streamed("resp-1", "Noted.")]
    between.client.responses.create(model="m", input="I sold my car.", stream=True).response.read()
    between.answer(response("resp-2", message("Yes.")), response("resp-3", message("Blue.")))
    second = between.client.responses.create(model="m", input="Is it sold?", previous_response_id="resp-1")
    between.client.responses.create(model="m", input="Which colour?", previous_response_id=second.id)
    assert [asked.get("previous_response_id") for asked in between.upstream.asked] == [None, "resp-1", "resp-2"]
    turns = [version.item for version in between.me.list()]
    assert len(turns) == 6
    assert len({turn.session for turn in turns}) == 1


def test_calls_of_tools_in_responses_pass_and_words_alone_are_kept(between: Between) -> None:
    between.answer(response("resp-1", CALL), response("resp-2", message("It rains.")))
    first = between.client.responses.create(model="m", input="What is the weather?", tools=[TOOL])
    (call,) = first.output
    assert call.type == "function_call"
    output: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}
    between.client.responses.create(model="m", input=[output], tools=[TOOL], previous_response_id=first.id)
    assert between.upstream.asked[1]["input"] == [output]
    assert between.upstream.asked[1]["tools"] == [TOOL]
    assert between.kept() == [("user", "What is the weather?"), ("assistant", "It rains.")]


def test_a_round_of_tools_leaves_the_prompt_before_it_as_it_was(between: Between) -> None:
    between.me.observe("I live in Lisbon.")
    call = {"id": "c-1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'}}
    asks = {"role": "assistant", "content": None, "tool_calls": [call]}
    says = {"role": "assistant", "content": "It rains."}
    between.answer(
        {"id": "chat-1", "choices": [{"index": 0, "message": asks, "finish_reason": "tool_calls"}]},
        {"id": "chat-2", "choices": [{"index": 0, "message": says, "finish_reason": "stop"}]},
    )
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "Weather where I live?"}, image]}]
    tools: Any = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
    answer = between.client.chat.completions.create(model="m", messages=messages, tools=tools)
    messages += [answer.choices[0].message, {"role": "tool", "tool_call_id": "c-1", "content": "rain"}]
    between.client.chat.completions.create(model="m", messages=messages, tools=tools)
    first, second = (asked["messages"] for asked in between.upstream.asked)
    assert second[0] == first[0]
    assert first[0]["content"][:2] == messages[0]["content"]
    assert "Lisbon" in first[0]["content"][2]["text"]
    assert second[1]["tool_calls"] == [call]
    assert second[2] == messages[2]
    assert between.kept()[1:] == [("user", "Weather where I live?"), ("assistant", "It rains.")]
