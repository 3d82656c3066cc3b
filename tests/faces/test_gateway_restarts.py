"""What a gateway keeps of conversations under way: it is restarted, or another process answers the next message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest

from mnemic import SHARED, Memory, Settings
from mnemic.faces.gateway.relay import GatewayOptions, application
from mnemic.faces.gateway.remembering import Remembering
from mnemic.testing.chat_server import Server, serving
from mnemic.testing.replying import ReplyingChat
from serving_app import serving_app

QUIET = Settings(embedder="none", background=False)


class Conversation:
    """A talk whose messages may go through any gateway; it notes each prompt that reached the upstream."""

    def __init__(self, upstream: Server, user: str = "me", **headers: str) -> None:
        self.upstream, self.headers = upstream, {"Mnemic-User": user, **headers}
        self.messages: list[dict[str, str]] = []
        self.prompts: list[list[str]] = []

    def say(self, address: str, text: str) -> httpx2.Response:
        self.messages.append({"role": "user", "content": text})
        body = {"model": "m", "messages": self.messages}
        response = httpx2.post(f"{address}/v1/chat/completions", json=body, headers=self.headers, timeout=60)
        self.messages.append(response.raise_for_status().json()["choices"][0]["message"])
        self.prompts.append([message["content"] for message in self.upstream.asked[-1]["messages"]])
        return response

    @property
    def least_prefix(self) -> float:
        """The least share of a prompt that begins the next one, in characters."""
        shares = []
        for before, after in zip(self.prompts, self.prompts[1:], strict=False):
            a, b = "\0".join(before), "\0".join(after)
            same = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
            shares.append(same / len(a))
        return min(shares)


@contextmanager
def gateway(path: Path, upstream: Server) -> Iterator[str]:
    with Memory(path, settings=QUIET) as memory:
        options = GatewayOptions(upstream=upstream.url, recall_seconds=30.0)
        app = application(Remembering(memory, budget=options.budget, cache=options.cache), options)
        with serving_app(app) as address:
            yield address


@pytest.fixture
def upstream() -> Iterator[Server]:
    with serving(ReplyingChat(lambda ask: f"Noted, that was message {len(ask.messages)}.")) as server:
        yield server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Memory(tmp_path / "memory.db", settings=QUIET) as memory:
        memory.scope(user="me").observe(
            ["My sister Noor lives in Porto.", "I am allergic to peanuts.", "Always answer in metric units."]
        )
        memory.flush()
    return tmp_path / "memory.db"


SAID = ("Where does my sister Noor live?", "What am I allergic to?", "What did I say of units?", "And of my sister?")


@pytest.mark.parametrize("mode", ["both", "read"])
def test_a_prompt_begins_like_the_one_before_it_though_the_gateway_is_restarted(
    path: Path, upstream: Server, mode: str
) -> None:
    talk = Conversation(upstream, **{"Mnemic-Memory": mode})
    for said in SAID:
        with gateway(path, upstream) as address:
            talk.say(address, said)
    assert talk.least_prefix >= 0.95
    assert any("Porto" in text for text in talk.prompts[0])
    assert sum(text.count("lives in Porto") for text in talk.prompts[-1]) == 1


def test_gateways_beside_each_other_send_the_same_prompts(path: Path, upstream: Server) -> None:
    with ExitStack() as stack:
        addresses = [stack.enter_context(gateway(path, upstream)) for _ in range(2)]
        talk = Conversation(upstream)
        for n, said in enumerate(SAID):
            talk.say(addresses[n % 2], said)
        assert talk.least_prefix >= 0.95


def test_what_the_prompt_says_itself_is_not_recalled_into_it_after_a_restart(path: Path, upstream: Server) -> None:
    talk = Conversation(upstream)
    for said in ("The parcel weighs nine pounds.", "How much does the parcel weigh?"):
        with gateway(path, upstream) as address:
            talk.say(address, said)
    assert "nine pounds" not in talk.prompts[-1][2]


def test_an_answer_asked_for_anew_of_another_process_keeps_one_question(path: Path, upstream: Server) -> None:
    for _ in range(2):
        with gateway(path, upstream) as address:
            Conversation(upstream).say(address, "I sold my car.")
    with Memory(path, settings=QUIET) as memory:
        said = [v.item.text for v in memory.scope(user="me").list() if v.item.slots.get("role") == "user"]
    assert said == ["I sold my car."]


def test_what_was_erased_is_not_shown_from_a_block_that_was_kept(path: Path, upstream: Server) -> None:
    talk = Conversation(upstream)
    with gateway(path, upstream) as address:
        talk.say(address, SAID[0])
    with Memory(path, settings=QUIET) as memory:
        me = memory.scope(user="me")
        (told,) = (version for version in me.list() if "Porto" in version.item.text)
        me.erase(told.item.id)
    files = [file.read_bytes() for file in path.parent.rglob("*") if file.is_file()]
    assert not any(b"Porto" in content for content in files)
    with gateway(path, upstream) as address:
        talk.say(address, "Thanks!")
    assert not any("Porto" in text for text in talk.prompts[-1])


@pytest.fixture
def unread(tmp_path: Path) -> Path:
    """A store in which rules have yet to write what they make of a turn."""
    with Memory(tmp_path / "memory.db", settings=QUIET) as memory:
        memory.scope(user="me").observe("I live in Lisbon.")
    return tmp_path / "memory.db"


def test_what_rules_have_yet_to_write_stays_where_it_was_placed(unread: Path, upstream: Server) -> None:
    talk = Conversation(upstream)
    for said in ("Where do I live?", "Thanks!"):
        with gateway(unread, upstream) as address:
            talk.say(address, said)
        with Memory(unread, settings=QUIET) as memory:
            memory.flush()
    assert "user lives in Lisbon" in talk.prompts[0][0]
    assert talk.least_prefix >= 0.95


def test_what_was_drawn_from_what_is_erased_is_not_shown_from_a_block_that_was_kept(
    unread: Path, upstream: Server
) -> None:
    talk = Conversation(upstream)
    with gateway(unread, upstream) as address:
        talk.say(address, "Where do I live?")
    with Memory(unread, settings=QUIET) as memory:
        me = memory.scope(user="me")
        me.erase(*(version.item.id for version in me.list() if "Lisbon" in version.item.text))
    files = [file.read_bytes() for file in unread.parent.rglob("*") if file.is_file()]
    assert not any(b"Lisbon" in content for content in files)
    with gateway(unread, upstream) as address:
        talk.say(address, "Thanks!")
    assert not any("Lisbon" in text for text in talk.prompts[-1])


def test_what_was_forgotten_is_not_shown_from_a_block_that_was_kept(path: Path, upstream: Server) -> None:
    talk = Conversation(upstream)
    with gateway(path, upstream) as address:
        talk.say(address, SAID[0])
    with Memory(path, settings=QUIET) as memory:
        me = memory.scope(user="me")
        me.forget(*(version.item.id for version in me.list() if "Porto" in version.item.text))
    with gateway(path, upstream) as address:
        talk.say(address, "Thanks!")
    assert not any("Porto" in text for text in talk.prompts[-1])


def test_the_same_conversation_of_another_user_has_blocks_of_its_own(path: Path, upstream: Server) -> None:
    with gateway(path, upstream) as address:
        Conversation(upstream).say(address, SAID[0])
    other = Conversation(upstream, user="bob")
    with gateway(path, upstream) as address:
        other.say(address, SAID[0])
        other.say(address, "Thanks!")
    assert not any("Porto" in text for prompt in other.prompts for text in prompt)


def test_a_block_that_shows_what_is_shared_is_not_kept_where_its_erasure_would_not_reach_it(
    path: Path, upstream: Server
) -> None:
    with Memory(path, settings=QUIET) as memory:
        shared = memory.scope(user=SHARED)
        told = shared.observe("The canteen opens at noon.").ids[0]
    talk = Conversation(upstream)
    with gateway(path, upstream) as address:
        talk.say(address, "When does the canteen open?")
        assert "at noon" in talk.prompts[-1][0]
        talk.say(address, "Thanks!")
        assert "at noon" in talk.prompts[-1][0], "it stays as long as the process does"
    with Memory(path, settings=QUIET) as memory:
        memory.scope(user=SHARED).erase(told)
    files = [file.read_bytes() for file in path.parent.rglob("*") if file.is_file()]
    assert not any(b"at noon" in content for content in files)
