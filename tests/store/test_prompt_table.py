"""What memory put into prompts, kept beside the journal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import Memory, ScopedMemory, Settings
from mnemic.core.ids import ItemId
from mnemic.core.items import Channel
from mnemic.ingest.message import ExchangeMessage, Message
from mnemic.store.values.prompt_messages import PromptMessage, packed_message, unpacked_message
from mnemic.testing.generators import ManualClock

DAY = 86_400 * 1_000_000
QUIET = Settings(embedder="none", background=False)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[Memory]:
    with Memory("memory:", settings=QUIET, clock=clock) as memory:
        yield memory


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="me")


def _said(text: str, prompt: str) -> ExchangeMessage:
    return ExchangeMessage(said=Message(text=text, key=""), channel=Channel.USER, prompt=prompt, at=7.0)


def test_an_exchange_is_one_commit_with_what_its_prompt_was_given(me: ScopedMemory) -> None:
    told = me.observe("Noor lives in Porto.").ids[0]
    block = PromptMessage(name="m1", block="<memory>Porto</memory>", shows=(told,))
    receipt = me.observe_exchange([_said("Where?", "m1"), _said("In Porto.", "m1")], prompts=[block])
    assert [change.seq for change in me.log(limit=1)] == [receipt.seq]
    kept = me.prompt_messages(["m1", "m2"])
    assert list(kept) == ["m1"]
    assert (kept["m1"].block, kept["m1"].kept_as, kept["m1"].kept_at) == (block.block, receipt.ids, 7.0)


def test_the_first_block_stays_and_what_is_kept_adds_up(me: ScopedMemory) -> None:
    first = me.observe_exchange([_said("Hello.", "m1")])
    for words in ("one", "two"):
        me.observe_exchange((), prompts=[PromptMessage(name="m1", block=words)])
    second = me.observe_exchange([_said("Hi.", "m1")])
    kept = me.prompt_messages(["m1"])["m1"]
    assert (kept.block, kept.kept_as) == ("one", first.ids + second.ids)


def test_keeping_a_block_alone_is_no_commit_and_makes_no_user(memory: Memory, me: ScopedMemory) -> None:
    nobody = memory.scope(user="nobody")
    nobody.observe_exchange((), prompts=[PromptMessage(name="m1", block="words")])
    assert not nobody.prompt_messages(["m1"])
    me.observe("Hello.")
    before = me.log(limit=1)
    me.observe_exchange((), prompts=[PromptMessage(name="m1", block="words")])
    assert me.log(limit=1) == before
    assert me.prompt_messages(["m1"])["m1"].block == "words"


def test_what_shows_something_goes_with_it(me: ScopedMemory) -> None:
    one, other = me.observe(["Noor lives in Porto.", "Ada lives in Oslo."]).ids
    me.observe_exchange(
        (),
        prompts=[
            PromptMessage(name="m1", block="Porto", shows=(one,)),
            PromptMessage(name="m2", block="Oslo", shows=(other,)),
        ],
    )
    me.erase(one)
    assert list(me.prompt_messages(["m1", "m2"])) == ["m2"]


def test_a_block_is_not_kept_of_what_is_gone_by_then(me: ScopedMemory) -> None:
    one = me.observe("Noor lives in Porto.").ids[0]
    me.observe("Hello.")
    me.erase(one)
    me.observe_exchange((), prompts=[PromptMessage(name="m1", block="Porto", shows=(one,))])
    assert me.prompt_messages(["m1"])["m1"].block is None


def test_nobody_finds_what_is_another_users(memory: Memory, me: ScopedMemory) -> None:
    for user in ("me", "bob"):
        memory.scope(user=user).observe("Hello.")
    me.observe_exchange((), prompts=[PromptMessage(name="m1", block="words")])
    assert not memory.scope(user="bob").prompt_messages(["m1"])
    assert not memory.scope(user="me", tenant="other").prompt_messages(["m1"])


def test_rows_go_when_no_provider_can_hold_their_prompt_any_more(me: ScopedMemory, clock: ManualClock) -> None:
    me.observe("Hello.")
    me.observe_exchange((), prompts=[PromptMessage(name="m1", block="words")])
    clock.tick(30 * DAY)
    assert me.prompt_messages(["m1"])
    clock.tick(30 * DAY)
    me.observe_exchange((), prompts=[PromptMessage(name="m2", block="more")])
    assert list(me.prompt_messages(["m1", "m2"])) == ["m2"]


def test_who_is_erased_leaves_none(memory: Memory, me: ScopedMemory) -> None:
    me.observe("Hello.")
    me.observe_exchange((), prompts=[PromptMessage(name="m1", block="words")])
    me.erase_user()
    assert not me.prompt_messages(["m1"])


IDS = st.lists(st.sampled_from([ItemId(f"{n:026d}") for n in range(5)]), unique=True).map(tuple)


@given(st.builds(PromptMessage, name=st.just("m"), block=st.none() | st.text(), always=st.text(), shows=IDS,
                 kept_as=IDS, drawn_from=IDS, kept_at=st.floats(0, 2e9)))  # fmt: skip
def test_what_is_packed_comes_back(message: PromptMessage) -> None:
    assert unpacked_message("m", packed_message(message)) == message
