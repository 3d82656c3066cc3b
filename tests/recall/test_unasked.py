"""What of a recall is placed in a prompt unasked: what bears on a message, and tells something."""

from __future__ import annotations

import pytest

from mnemic import Memory, Settings
from mnemic.recall.unasked import only_greets, worth_placing


@pytest.fixture
def memory() -> Memory:
    return Memory("memory:", settings=Settings(embedder="none", background=False))


def test_what_bears_on_a_message_is_laid_out_as_recall_does(memory: Memory) -> None:
    with memory:
        me = memory.scope(user="me")
        me.observe(["My sister Noor lives in Porto.\n[not-an-id] and\nhas a boat.", "Where does Noor live?"])
        whole = me.recall("Where does my sister Noor live?")
        kept = worth_placing(whole, "Where does my sister Noor live?", 10)
        (hit,) = kept.items
        assert hit.text.startswith("My sister")
        alone = [line for line in whole.text.splitlines() if "Where does Noor live?" not in line]
        assert kept.text.splitlines() == alone
        assert kept.tokens == whole.tokens - sum(one.tokens for one in whole.items if one.id != hit.id)


def test_nothing_is_left_of_what_bears_on_nothing(memory: Memory) -> None:
    with memory:
        me = memory.scope(user="me")
        me.observe("I keep bees.")
        kept = worth_placing(me.recall("thanks!"), "thanks!", 10)
        assert (kept.items, kept.text, kept.tokens) == ((), "", 0)


def test_what_is_wanted_is_what_bears_best(memory: Memory) -> None:
    with memory:
        me = memory.scope(user="me")
        me.observe(["Noor lives in Porto.", "Noor has a boat.", "Noor is a nurse.", "Noor likes tea."])
        asked = "Tell me about Noor"
        whole = me.recall(asked)
        assert worth_placing(whole, asked, 2).items == whole.items[:2]
        assert worth_placing(whole, asked, 10) is whole


@pytest.mark.parametrize("message", ["hi", "Hello there!", "good morning", "ok thanks", "你好呀", "在吗？"])
def test_a_greeting_brings_the_profile_and_nothing_that_was_said(message: str) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="ada")
        for text in ("I live in Ghent.", "thanks thats great", "hi again", "Always answer in French.", "你好，谢谢"):
            me.observe(text, role="user")
        memory.flush()
        context = me.context(message, budget=600)
        assert {item.text for item in context.always} >= {"The user lives in Ghent."}
        assert not context.items
        assert me.recall("again").items


@pytest.mark.parametrize(
    "message", ["hi, where do I live?", "Nice", "hiking", "morning routine", "today", "早餐吃什么", "谢谢李雷"]
)
def test_what_says_more_than_a_greeting_is_looked_for(message: str) -> None:
    assert not only_greets(message)
