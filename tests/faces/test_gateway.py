"""The gateway, driven by OpenAI's own client, before an upstream of ours."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx2
import openai
import pytest

from mnemic import Memory, ScopedMemory, Settings
from mnemic.credentials.authenticator import Authenticator
from mnemic.credentials.principal import Right
from mnemic.credentials.quotas import Quotas
from mnemic.errors import StoreError
from mnemic.faces.gateway.relay import GatewayOptions, application
from mnemic.faces.gateway.remembering import MemoryMode, Remembering
from mnemic.testing.chat_server import Server, events, reply, serving, status
from mnemic.testing.replying import ReplyingChat
from patience import PATIENCE, eventually
from serving_app import serving_app


class Between:
    """A gateway, its memory, its upstream, and a client of it."""

    def __init__(self, memory: Memory, upstream: Server, address: str, options: GatewayOptions) -> None:
        self.memory, self.upstream, self.address, self.options = memory, upstream, address, options
        self.me = memory.scope(user="me")
        self.client = openai.OpenAI(base_url=f"{address}/v1", api_key="sk-upstream", max_retries=0)

    def say(self, *turns: str, **more: Any) -> str:
        """Send a conversation, user and assistant in turn, the user's last."""
        roles = ("user", "assistant")
        messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(turns)]
        answer = self.client.chat.completions.create(model="m", messages=messages, **more)  # type: ignore[call-overload]
        return str(answer.choices[0].message.content)

    def sent(self) -> list[str]:
        """The contents of the messages that the upstream was sent last."""
        return [message["content"] for message in self.upstream.asked[-1]["messages"]]

    def kept(self) -> list[tuple[str, str]]:
        turns = [version.item for version in self.me.list(limit=100)]
        return [(str(turn.slots.get("role")), turn.text) for turn in reversed(turns) if turn.kind.value == "turn"]


@contextmanager
def between(answer: Any = lambda ask: "Noted.", **options: Any) -> Iterator[Between]:
    remembering = {name: options.pop(name) for name in ("clock",) if name in options}
    with Memory("memory:", settings=Settings(embedder="none")) as memory, serving(ReplyingChat(answer)) as upstream:
        quotas = options.pop("quotas", Quotas())
        asked = Authenticator(memory.keys, quotas=quotas) if options.pop("keys", False) else None
        given = GatewayOptions(upstream=upstream.url, **{"recall_seconds": PATIENCE, "user": "me", **options})
        app = application(Remembering(memory, budget=given.budget, cache=given.cache, **remembering), given, asked)
        with serving_app(app) as address:
            it = Between(memory, upstream, address, given)
            with it.client:
                yield it


def test_what_was_said_is_kept_and_comes_back_in_a_later_conversation() -> None:
    with between() as it:
        assert it.say("I live in Lisbon and keep two cats.") == "Noted."
        assert it.kept() == [("user", "I live in Lisbon and keep two cats."), ("assistant", "Noted.")]
        it.say("Which city do I live in?")
        (sent,) = it.sent()
        assert sent.startswith("Which city do I live in?\n\n<memory")
        assert "I live in Lisbon" in sent


def test_a_block_once_placed_stays_byte_for_byte_and_the_prefix_with_it() -> None:
    with between(lambda ask: f"answer {len(ask.messages)}") as it:
        it.me.observe(["My sister Noor lives in Porto.", "I am allergic to peanuts.", "Always answer in metric units."])
        it.memory.flush()
        turns: list[str] = []
        before: list[str] = []
        for said in ("Where does Noor live?", "What am I allergic to?", "And what of my sister?"):
            turns.append(said)
            answer = it.say(*turns)
            sent = it.sent()
            assert sent[: len(before)] == before
            before = sent
            turns.append(answer)
        assert sum(text.count("<memory-always") for text in before) == 1
        assert sum(text.count("Noor lives in Porto") for text in before) == 1


def test_what_is_erased_or_forgotten_leaves_the_blocks_that_showed_it() -> None:
    with between() as it:
        receipt = it.me.observe("My sister Noor lives in Porto.")
        it.say("Where does Noor live?")
        assert "Porto" in it.sent()[0]
        it.me.erase(receipt.ids[0])
        it.say("Where does Noor live?", "Noted.", "Thanks!")
        assert not any("Porto" in text for text in it.sent())


def test_a_superseded_fact_stays_where_it_was_placed() -> None:
    with between() as it:
        old = it.me.write("Ada lives in Paris").ids[0]
        it.say("Where does Ada live?")
        first = it.sent()[0]
        it.me.supersede(old, "Ada lives in Lisbon")
        it.say("Where does Ada live?", "Noted.", "Where does Ada live now?")
        assert it.sent()[0] == first
        assert "Lisbon" in it.sent()[2]


def test_an_answer_that_is_asked_for_anew_keeps_one_question() -> None:
    with between() as it:
        it.say("I sold my car.")
        it.upstream.chat = ReplyingChat(lambda ask: "Sold, I see.")
        it.say("I sold my car.")
        assert it.kept() == [("user", "I sold my car."), ("assistant", "Noted."), ("assistant", "Sold, I see.")]


def test_the_same_words_on_another_day_are_kept_again() -> None:
    now = [1_000_000.0]
    with between(clock=lambda: now[0]) as it:
        it.say("I am hungry.")
        now[0] += 10_000.0
        it.upstream.chat = ReplyingChat(lambda ask: "Eat something.")
        it.upstream.faults = [_with_id("chat-2", "Eat something.")]
        it.say("I am hungry.")
        assert [text for role, text in it.kept() if role == "user"] == ["I am hungry.", "I am hungry."]


def _with_id(id: str, text: str) -> Any:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return lambda handler: reply(handler, json.dumps({"id": id, "choices": [choice]}).encode())


def test_a_stream_is_passed_on_and_kept_when_its_end_is_seen() -> None:
    with between(lambda ask: "You keep two cats.") as it:
        stream = it.client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "I keep two cats."}], stream=True
        )
        words = []
        for chunk in stream:
            words.append(chunk.choices[0].delta.content or "")
            if chunk.choices[0].finish_reason:
                assert it.kept() == [("user", "I keep two cats."), ("assistant", "You keep two cats.")]
        assert "".join(words) == "You keep two cats."


def test_a_stream_that_breaks_off_is_kept_as_far_as_it_came() -> None:
    def breaking(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        chunk = {"id": "chat-9", "choices": [{"index": 0, "delta": {"content": "You keep tw"}, "finish_reason": None}]}
        data = f"data: {json.dumps(chunk)}\n\nda".encode()
        handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        handler.wfile.flush()
        handler.close_connection = True
        handler.connection.close()

    with between() as it:
        it.upstream.faults = [breaking]
        words: list[str] = []
        stream = it.client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "I keep two cats."}], stream=True
        )
        with stream, pytest.raises(openai.APIError, match="broke off"):
            words.extend(chunk.choices[0].delta.content or "" for chunk in stream)
        assert words == ["You keep tw"]
        eventually(lambda: len(it.kept()) == 2)
        assert it.kept() == [("user", "I keep two cats."), ("assistant", "You keep tw")]
        (broken,) = (v.item for v in it.me.list() if v.item.slots.get("role") == "assistant")
        assert broken.slots["unfinished"] is True


def test_with_memory_off_bytes_pass_as_they_are() -> None:
    raw = b'{"messages" : [{"role":"user","content":"caf\\u00e9 1.50"}],  "x": 1.0}'
    answered = b'{"id":"q" , "choices":[]}'

    def echo(handler: BaseHTTPRequestHandler) -> None:
        reply(handler, answered, X_Request_Id="r-1")

    with between() as it:
        it.upstream.faults = [echo]
        headers = {"Mnemic-Memory": "off", "Content-Type": "application/json"}
        response = httpx2.post(f"{it.address}/v1/chat/completions", content=raw, headers=headers, timeout=PATIENCE)
        assert (response.content, response.headers["x-request-id"]) == (answered, "r-1")
        assert it.upstream.raw == [raw]
        assert it.kept() == []
        assert not [name for name in response.headers if name.startswith("mnemic")]


def test_headers_say_what_memory_did() -> None:
    with between() as it:
        (lives,) = it.me.observe("I live in Lisbon.").ids
        response = it.client.chat.completions.with_raw_response.create(
            model="m", messages=[{"role": "user", "content": "Where do I live?"}]
        )
        shown = response.headers["mnemic-recalled"].split(", ")
        assert response.headers["mnemic-recall"] == f"ok; {len(shown)} items"
        assert lives in shown
        assert response.headers["mnemic-write"].startswith("ok; commit ")


def test_what_is_always_on_is_not_counted_as_recalled_for_a_message() -> None:
    with between() as it:
        it.me.observe(["Always answer in metric units.", "I live in Lisbon."])
        it.memory.flush()
        answer = it.client.chat.completions.with_raw_response.create(
            model="m", messages=[{"role": "user", "content": "thanks!"}]
        )
        assert "metric units" in it.sent()[0]
        assert answer.headers["mnemic-recall"] == "ok; 0 items"
        assert "mnemic-recalled" not in answer.headers


def test_a_write_that_fails_is_told() -> None:
    with between() as it:
        it.memory.close()
        response = it.client.chat.completions.with_raw_response.create(
            model="m", messages=[{"role": "user", "content": "Where do I live?"}]
        )
        assert response.parse().choices[0].message.content == "Noted."
        assert response.headers["mnemic-recall"].startswith("failed")
        assert response.headers["mnemic-write"].startswith("failed")


def test_a_recall_that_takes_too_long_is_gone_on_without() -> None:
    with between(recall_seconds=0.0) as it:
        it.me.observe("I live in Lisbon.")
        response = it.client.chat.completions.with_raw_response.create(
            model="m", messages=[{"role": "user", "content": "Where do I live?"}]
        )
        assert response.headers["mnemic-recall"].startswith("late")
        assert it.sent() == ["Where do I live?"]
        assert ("user", "Where do I live?") in it.kept()


def test_a_recall_that_is_late_or_fails_costs_no_standing_instruction(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(self: ScopedMemory, *given: Any, **named: Any) -> Any:
        raise StoreError("no")

    with between(recall_seconds=2.0) as it:
        it.me.observe(["Always answer in metric units.", "I live in Lisbon.", "The spare key is under the blue pot."])
        it.memory.flush()
        slow = threading.Event()
        for line, how in (("late", None), ("failed", failing)):
            with monkeypatch.context() as patched:
                if how is None:
                    _slowly(patched, "recall", slow)
                else:
                    patched.setattr(ScopedMemory, "recall", how)
                answer = it.client.chat.completions.with_raw_response.create(
                    model="m", messages=[{"role": "user", "content": f"Where is the spare key, {line}?"}]
                )
                slow.set()
            assert answer.headers["mnemic-recall"].startswith(line)
            assert answer.headers["mnemic-recall"].endswith("2 items placed all the same")
            assert len(answer.headers["mnemic-recalled"].split(", ")) == 2
            assert "metric units" in it.sent()[0]
            assert "lives in Lisbon" in it.sent()[0]
            assert "blue pot" not in it.sent()[0]
            assert [record.message for record in caplog.records][-1].startswith(f"recall {line}")
        before = it.sent()[0]
        it.say("Where is the spare key, failed?", "Noted.", "And where is that key, under what?")
        assert it.sent()[0] == before
        assert "blue pot" in it.sent()[2]
        assert "<memory-always" not in it.sent()[2]


def test_looks_that_are_given_up_before_they_begin_leave_room_for_others() -> None:
    with between(recall_seconds=0.0) as it:
        it.me.observe("I live in Lisbon.")
        for number in range(40):
            it.say(f"Hello {number}.")
        object.__setattr__(it.options, "recall_seconds", PATIENCE)
        it.say("Where do I live?")
        assert "I live in Lisbon" in it.sent()[0]


@pytest.mark.parametrize("message", ["thanks!", "ok", "Write a haiku about the sea.", "谢谢", "What is 17 times 23?"])
def test_what_asks_nothing_of_memory_brings_nothing(message: str) -> None:
    with between() as it:
        it.me.observe(["I live in Lisbon.", "My cat is called Miso.", "I am allergic to peanuts."])
        it.memory.flush()
        it.say(message)
        assert "<memory note" not in it.sent()[0]


def test_neither_questions_nor_torsos_are_placed() -> None:
    with between() as it:
        it.me.observe(["What is my cat called?", "And what was the name of my cat?", "My cat is called Miso."])
        it.me.observe("My cat is", slots={"role": "assistant", "unfinished": True})
        it.memory.flush()
        it.say("What is my cat called again?")
        (sent,) = it.sent()
        assert "My cat is called Miso." in sent
        assert "name of my cat" not in sent
        assert sent.count("What is my cat called") == 1
        assert "unfinished" not in sent
        assert not [line for line in sent.splitlines() if line.endswith("My cat is")]


@pytest.mark.parametrize("mode", [MemoryMode.READ, MemoryMode.WRITE])
def test_a_mode_of_one_direction_leaves_the_other(mode: MemoryMode) -> None:
    with between() as it:
        it.me.observe("I live in Lisbon.")
        it.say("Where do I live?", extra_headers={"Mnemic-Memory": mode.value})
        assert ("Lisbon" in it.sent()[0]) is mode.reads
        assert (("user", "Where do I live?") in it.kept()) is mode.writes


def test_users_and_conversations_are_named_by_headers_or_the_request() -> None:
    with between() as it:
        it.say("I live in Lisbon.", extra_headers={"X-OpenWebUI-User-Id": "ada", "X-OpenWebUI-Chat-Id": "chat-7"})
        it.say("I live in Oslo.", user="bob")
        assert it.kept() == []
        (asked, _) = reversed(it.memory.scope(user="ada").list())
        assert (asked.item.text, asked.item.session) == ("I live in Lisbon.", "chat-7")
        assert it.memory.scope(user="bob").list()[-1].item.text == "I live in Oslo."
        it.say("Where do I live?", user="bob")
        assert "Lisbon" not in it.sent()[0]


def test_a_task_of_the_applications_own_passes_without_memory() -> None:
    with between() as it:
        it.me.observe("I live in Lisbon.")
        task = "### Task:\nGive this chat a title.\nUSER: I live in Lisbon."
        it.say(task, extra_headers={"X-OpenWebUI-User-Id": "me", "X-OpenWebUI-Chat-Id": "chat-7"})
        assert it.sent() == [task]
        assert it.kept() == [("None", "I live in Lisbon.")]


def test_tools_images_and_fields_that_nobody_knows_pass_untouched() -> None:
    tools = [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    with between() as it:
        it.me.observe("The red house is Ada's.")
        it.client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": [{"type": "text", "text": "Whose is the red house?"}, image]}],  # type: ignore[list-item]
            tools=tools,  # type: ignore[arg-type]
            extra_body={"reasoning": {"effort": "low"}, "seed": 7},
        )
        sent = it.upstream.asked[-1]
        assert (sent["tools"], sent["reasoning"], sent["seed"]) == (tools, {"effort": "low"}, 7)
        assert sent["messages"][0]["content"][:2] == [{"type": "text", "text": "Whose is the red house?"}, image]
        assert "Ada" in sent["messages"][0]["content"][2]["text"]
        assert it.kept()[1] == ("user", "Whose is the red house?")


def test_the_upstreams_key_is_passed_on_and_nowhere_kept(caplog: pytest.LogCaptureFixture) -> None:
    with between() as it:
        it.say("Hello there.")
        assert httpx2.Headers(it.upstream.headers[-1])["authorization"] == "Bearer sk-upstream"
        assert "sk-upstream" not in b"".join(it.memory.admin.export()).decode() + caplog.text


def test_an_error_of_the_upstream_comes_through_and_nothing_is_kept() -> None:
    with between() as it:
        it.upstream.faults = [status(429, b'{"error": {"message": "slow down"}}', Retry_After="7")]
        with pytest.raises(openai.RateLimitError, match="slow down") as caught:
            it.say("Hello there.")
        assert caught.value.response.headers["retry-after"] == "7"
        assert "429" in caught.value.response.headers["mnemic-write"]
        assert it.kept() == []


def test_an_upstream_that_is_not_there_is_said_to_be() -> None:
    with Memory("memory:", settings=Settings(embedder="none")) as memory:
        options = GatewayOptions(upstream="http://127.0.0.1:9/v1", user="me")
        with serving_app(application(Remembering(memory, budget=500, cache=1_000_000), options)) as address:
            client = openai.OpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0)
            with client, pytest.raises(openai.InternalServerError, match="cannot be reached"):
                client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "not JSON"),
        (b"[]", "is list"),
        (b'{"messages": 7}', "messages: is int"),
        (b'{"messages": ["hi"]}', "messages[0]"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b'{"messages": [], "user": "\\u0000"}', "user"),
    ],
)
def test_a_request_that_cannot_be_read_is_refused(body: bytes, said: str) -> None:
    with between() as it:
        response = httpx2.post(f"{it.address}/v1/chat/completions", content=body, timeout=PATIENCE)
        assert response.status_code == 400
        assert said in response.json()["error"]["message"]
        assert it.upstream.asked == []


def test_a_mode_that_is_none_is_refused() -> None:
    with between() as it:
        response = httpx2.post(
            f"{it.address}/v1/chat/completions", json={}, headers={"Mnemic-Memory": "maybe"}, timeout=PATIENCE
        )
        assert (response.status_code, "off, read, write, both" in response.text) == (400, True)


def test_a_request_over_the_limit_is_refused() -> None:
    with between(body_limit=1_000) as it:
        response = httpx2.post(f"{it.address}/v1/chat/completions", content=b"x" * 2_000, timeout=PATIENCE)
        assert response.status_code == 413


def test_the_shape_of_responses_remembers_too() -> None:
    answer = {
        "id": "resp-1",
        "object": "response",
        "status": "completed",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Noted."}]}],
    }
    with between() as it:
        it.me.observe("I live in Lisbon.")
        it.upstream.faults = [lambda handler: reply(handler, json.dumps(answer).encode())]
        it.client.responses.create(model="m", input="Where do I live?", instructions="Be brief.")
        assert it.upstream.asked[-1]["input"].startswith("Where do I live?\n\n<memory")
        assert it.kept()[1:] == [("user", "Where do I live?"), ("assistant", "Noted.")]


def test_a_stream_of_responses_is_kept() -> None:
    told = [
        {"type": "response.created", "response": {"id": "resp-2"}},
        {"type": "response.output_text.delta", "delta": "No"},
        {"type": "response.output_text.delta", "delta": "ted."},
        {"type": "response.completed", "response": {"id": "resp-2"}},
    ]
    with between() as it:
        it.upstream.faults = [events(*map(json.dumps, told))]
        body = {"model": "m", "input": [{"role": "user", "content": "I sold my car."}], "stream": True}
        response = httpx2.post(f"{it.address}/v1/responses", json=body, timeout=PATIENCE)
        assert ": mnemic-write ok; commit " in response.text
        assert it.kept() == [("user", "I sold my car."), ("assistant", "Noted.")]


def test_other_paths_pass_through() -> None:
    with between() as it:
        it.upstream.faults = [lambda handler: reply(handler, b'{"data": []}')]
        response = httpx2.post(f"{it.address}/v1/embeddings?x=1", json={"input": "a"}, timeout=PATIENCE)
        assert (response.json(), it.upstream.paths[-1]) == ({"data": []}, "/v1/embeddings?x=1")


def test_a_key_says_whose_memory_it_is_and_never_goes_upstream() -> None:
    with between(keys=True) as it:
        mine = it.memory.keys.create("phone", tenant="default", user="ada", right=Right.WRITE)
        it.say("I live in Lisbon.", extra_headers={"Mnemic-Key": mine.text}, user="an id of the application")
        (asked, _) = reversed(it.memory.scope(user="ada").list())
        assert (asked.item.text, it.memory.scope(user="ada").log()[-1].actor) == ("I live in Lisbon.", "phone")
        it.say("Where do I live?", extra_headers={"Authorization": f"Bearer {mine.text}"})
        assert "Lisbon" in it.sent()[0]
        assert mine.text not in str(it.upstream.headers)
        with pytest.raises(openai.PermissionDeniedError):
            it.say("Where does Bob live?", extra_headers={"Mnemic-Key": mine.text, "Mnemic-User": "bob"})


def test_nobody_is_served_without_a_key_where_keys_are_asked_for() -> None:
    with between(keys=True) as it:
        for headers in ({}, {"Mnemic-Key": "mk_unknown_key"}):
            with pytest.raises(openai.AuthenticationError):
                it.say("Where do I live?", extra_headers=headers)
        with pytest.raises(openai.AuthenticationError):
            it.client.models.list()
        assert it.upstream.asked == []


def test_a_key_that_reads_reads_only() -> None:
    with between(keys=True) as it:
        key = it.memory.keys.create("reader", tenant="default", right=Right.READ).text
        with pytest.raises(openai.PermissionDeniedError):
            it.say("I live in Oslo.", extra_headers={"Mnemic-Key": key}, user="bob")
        it.say("I live in Oslo.", extra_headers={"Mnemic-Key": key, "Mnemic-Memory": "read"}, user="bob")
        assert it.memory.scope(user="bob").count() == 0


def test_a_key_over_its_quota_is_told_when_to_come_back() -> None:
    with between(keys=True, quotas=Quotas(writes_a_day=1)) as it:
        key = it.memory.keys.create("phone", tenant="default", user="ada", right=Right.WRITE).text
        it.say("I live in Oslo.", extra_headers={"Mnemic-Key": key})
        with pytest.raises(openai.RateLimitError) as caught:
            it.say("I live in Bergen.", extra_headers={"Mnemic-Key": key})
        assert int(caught.value.response.headers["retry-after"]) > 0


def _slowly(monkeypatch: pytest.MonkeyPatch, verb: str, slow: threading.Event) -> None:
    """Have a verb of memory wait until an event is set."""
    quick = getattr(ScopedMemory, verb)

    def waiting(self: ScopedMemory, *given: Any, **named: Any) -> Any:
        slow.wait(PATIENCE)
        return quick(self, *given, **named)

    monkeypatch.setattr(ScopedMemory, verb, waiting)


def test_what_was_erased_is_not_sent_though_memory_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    with between() as it:
        receipt = it.me.observe("My sister Noor lives in Porto.")
        it.say("Where does Noor live?")
        assert "Porto" in it.sent()[0]
        it.me.erase(receipt.ids[0])
        slow = threading.Event()
        _slowly(monkeypatch, "recall", slow)
        object.__setattr__(it.options, "recall_seconds", 0.5)
        try:
            it.say("Where does Noor live?", "Noted.", "Thanks!")
        finally:
            slow.set()
        assert not any("Porto" in text for text in it.sent())


def test_a_doubt_that_is_erased_leaves_the_block_that_quoted_it() -> None:
    with between() as it:
        it.me.observe("I live in Paris.", speaker="me")
        doubt = it.me.observe("Packing boxes for Lisbon, goodbye Paris!", speaker="me")
        it.memory.flush()
        it.say("What do you know of me?")
        it.me.erase(doubt.ids[0])
        it.say("What do you know of me?", "Noted.", "Thanks!")
        assert not any("goodbye Paris" in text for text in it.sent())


def test_who_leaves_before_the_first_word_has_said_what_they_said() -> None:
    def silent(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        with suppress(ConnectionError):
            for _ in range(500):
                handler.wfile.write(b": thinking\n\n")
                handler.wfile.flush()
                time.sleep(0.01)

    with between() as it:
        it.upstream.faults = [silent]
        body = {"model": "m", "messages": [{"role": "user", "content": "I sold my car."}], "stream": True}
        with httpx2.stream("POST", f"{it.address}/v1/chat/completions", json=body, timeout=PATIENCE) as response:
            next(response.iter_raw())
        eventually(lambda: it.kept() == [("user", "I sold my car.")])


def test_an_answer_that_breaks_off_is_told_in_the_shape_of_clients() -> None:
    def short(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"id": "x", ')
        handler.close_connection = True

    with between() as it:
        it.upstream.faults = [short]
        with pytest.raises(openai.InternalServerError, match="broke off"):
            it.say("I sold my car.")
        assert it.kept() == [("user", "I sold my car.")]


def test_nothing_that_proved_who_asks_goes_upstream() -> None:
    with between(keys=True) as it:
        key = it.memory.keys.create("phone", tenant="default", user="ada", right=Right.WRITE).text
        headers = {"X-API-Key": key, "api-key": key}
        body = {"model": "m", "messages": [{"role": "user", "content": "I sold my car."}]}
        assert (
            httpx2.post(f"{it.address}/v1/chat/completions", json=body, headers=headers, timeout=PATIENCE).status_code
            == 200
        )
        assert key not in str(it.upstream.headers)


def test_the_same_message_sent_at_once_is_kept_once() -> None:
    with between() as it:
        body = {"model": "m", "messages": [{"role": "user", "content": "I sold my car."}]}
        with ThreadPoolExecutor(6) as pool:
            post = partial(httpx2.post, f"{it.address}/v1/chat/completions", json=body, timeout=PATIENCE)
            answers = list(pool.map(lambda _: post(), range(6)))
        assert {answer.status_code for answer in answers} == {200}
        assert [role for role, _ in it.kept()].count("user") == 1


def test_a_system_message_that_changes_leaves_the_conversation_what_it_is() -> None:
    with between() as it:
        for clock in ("9:00", "9:01"):
            messages = [{"role": "system", "content": f"It is {clock}."}, {"role": "user", "content": "I am Ada."}]
            it.client.chat.completions.create(model="m", messages=messages)  # type: ignore[arg-type]
        assert len({version.item.session for version in it.me.list()}) == 1


def test_a_path_goes_up_as_it_came() -> None:
    with between() as it:
        it.upstream.faults = [lambda handler: reply(handler, b"{}")]
        httpx2.post(f"{it.address}/v1/files/a%2Fb?x=%2F", json={}, timeout=PATIENCE)
        assert it.upstream.paths[-1] == "/v1/files/a%2Fb?x=%2F"
