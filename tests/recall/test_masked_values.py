"""A mask is no answer to a question for the value under it."""

from __future__ import annotations

from time import process_time

import pytest

from mnemic import Memory
from mnemic.recall.masked_values import is_masked_for

CPU_SECONDS = 5.0
"""A pass over a text takes a fraction of a second; one for each of its characters, tens of seconds."""
MASKED = [
    ("What is my card number?", "My card is **** 4432."),
    ("What is my card number?", "My card number is **** **** **** 4432."),
    ("What's my password?", "My password is [redacted]."),
    ("What's my wifi password?", "The wifi password is [masked password]"),
    ("What is my phone number?", "My phone number is xxx-xx-2211."),
    ("What is my SSN?", "my ssn: XXX-XX-1234"),
    ("What is my email?", "My email is a***@mail.example."),
    ("我的密码是什么？", "我的密码是******。"),
    ("我的身份证号是多少？", "我的身份证号是[已隐藏]。"),
    ("我的卡号是多少？", "卡号 6222 **** **** 4432"),
    ("What is my password?", "It is ****."),
    ("What is my password?", "My password? ******"),
    ("What is my password?", "***Update***: my password is ****."),
    ("What is my wifi password?", "The wifi password (do not share): ****"),
    ("What is my card number?", "My card number is 1234 5678 90** ****."),
    ("我的密码是什么？", "我的密码（新的）是******。"),
]


@pytest.mark.parametrize(("question", "text"), MASKED)
def test_a_mask_is_told(question: str, text: str) -> None:
    assert is_masked_for(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What are the last four digits of my card?", "My card is **** 4432."),
        ("我的卡尾号是多少？", "我的卡是**** 4432。"),
        ("What is my phone number?", "My old one was xxx-xx-2211, the new one is 0171 555 9934."),
        ("What is my email?", "It was [redacted], now it is ada@new.example."),
        ("What did I think of the film?", "The film was **** out of five."),
        ("Where do I live?", "I live in [redacted], near the river."),
        ("What is my phone number?", "My phone number is 0171 555 9934."),
        ("What is my locker code?", "My locker code is 4432, **really** easy."),
        ("Which email do I use?", "My XXL shirts come from there, mail is ada@x.example"),
        ("What's my wifi password?", "My wifi password is swordfish (the old one was ****)."),
        ("Where is the spare key?", "*** Reminder *** the spare key is under the mat"),
        ("Which card games do I love?", "***Update***: I love card games"),
        ("Where is the spare key?", "Notes\n***\nThe spare key is under the mat."),
        ("What's my password?", "My password is swordfish. The film got **** in the paper."),
        ("What's my password?", "My password is swordfish (the old password was ****)."),
        ("Where is the spare key?", "*** The spare key is under the mat ***"),
        ("我的密码是什么？", "我的密码是芝麻开门（旧的是****）。"),
    ],
)
def test_what_gives_the_value_or_is_asked_for_something_else_is_no_mask(question: str, text: str) -> None:
    assert not is_masked_for(question, text)


@pytest.mark.parametrize(
    "again", ["12 ", "0123 ", "x ", "* ", "*** ", "1234 *** ", ".", "a", "***a", "xx-", "(***", " "]
)
def test_a_long_text_is_looked_through_once(again: str) -> None:
    started = process_time()
    run = again * (40_000 // len(again))
    is_masked_for("What is my phone number?", f"{run}x ***")
    is_masked_for("What is my phone number?", f"*** {run}")
    assert process_time() - started < CPU_SECONDS


@pytest.mark.parametrize(("question", "text"), MASKED)
def test_what_is_masked_is_not_answered(question: str, text: str) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="noor")
        me.observe(text)
        me.observe("Rain all day.")
        answered = me.ask(question)
        assert (answered.known, answered.short, answered.citations) == (False, "", ())
