"""What somebody takes back within one message never stands in the profile: the value after it does."""

from __future__ import annotations

import pytest
from profile_days import said


@pytest.mark.parametrize(
    "text",
    [
        "my number is 555-0101, no wait, 555-0199",
        "My number is 555-0101, sorry, 555-0199.",
        "My number is 555-0101. No wait, 555-0199.",
        "my number is 555-0101... wait no 555-0199",
        "My number is 555-0101 - no, it's 555-0199, thanks",
        "My number is 555-0101, no, 555-0111, argh, 555-0199.",
        "My number is 555-0101, make that 555-0199.",
    ],
)
def test_a_number_after_a_second_thought_is_the_one(text: str) -> None:
    assert said(text) == {("phone_number", "555-0199")}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("my email is a@b.com, sorry, a@d.com", {("e-mail", "a@d.com")}),
        ("My email is a@b.com (sorry, a@d.com)", {("e-mail", "a@d.com")}),
        ("My email is a@b.com, I mean a@d.com", {("e-mail", "a@d.com")}),
        ("我的手机号是13800001111，不对，是13900002222", {("phone_number", "13900002222")}),
        ("我的手机号是13800001111，哦不，13900002222", {("phone_number", "13900002222")}),
        ("我的手机号是13800001111。不对，应该是13900002222。", {("phone_number", "13900002222")}),
        ("我的手机号是13800001111，对不起，是13900002222", {("phone_number", "13900002222")}),
        ("我的手机号是13800001111，错了，13900002222", {("phone_number", "13900002222")}),
        ("我的手机号是13800001111，不不不不，等等，是13900002222", {("phone_number", "13900002222")}),
        ("我的邮箱是a@b.com，等等，是a@d.com", {("e-mail", "a@d.com")}),
        ("I live in Leeds, no wait, Bradford", {("city", "Bradford")}),
        ("I'm 34, sorry, 35.", {("age", 35)}),
        ("我住在成都，不对，重庆", {("city", "重庆")}),
        (
            "I live in Leeds, my number is 555-0101, no wait, 555-0199",
            {("phone_number", "555-0199"), ("city", "Leeds")},
        ),
    ],
)
def test_what_comes_after_a_second_thought_takes_the_place_of_what_is_like_it(
    text: str, facts: set[tuple[object, object]]
) -> None:
    assert said(text) == facts


@pytest.mark.parametrize(
    "text",
    [
        "my number is 555-0101, sorry for the delay",
        "my number is 555-0101, sorry, 555-0199 is my wife's",
        "my number is 555-0101, no, not 555-0199",
        "my number is 555-0101, no rush, call 555-0199 if urgent",
        "my number is 555-0101, sorry, Bradford is far",
        "my number is 555-0101, no wait, a@b.com is better",
        "我的手机号是555-0101，不对外公开",
        "我的手机号是555-0101，不是555-0199",
    ],
)
def test_what_is_no_second_thought_leaves_the_value(text: str) -> None:
    assert said(text) == {("phone_number", "555-0101")}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("My number is 555-0101. My wife's is 555-0102, no wait, 555-0199.", ("phone_number", "555-0101")),
        ("I'm 34. My niece is 2, sorry, 3.", ("age", 34)),
    ],
)
def test_a_second_thought_about_what_is_somebody_elses_leaves_the_speakers_own(
    text: str, fact: tuple[object, object]
) -> None:
    assert said(text) == {fact}


def test_a_second_thought_about_a_city_needs_a_name_to_itself() -> None:
    assert said("I live in Leeds, sorry, London is too dear for me.") == {("city", "Leeds")}


@pytest.mark.parametrize(
    "text",
    [
        "I feel sorry I live in Cork.",
        "She made me wait I live in Cork.",
        "I was so sorry I live in Cork.",
        "She felt sorry I work at Lego.",
    ],
)
def test_what_somebody_is_sorry_for_is_no_second_thought(text: str) -> None:
    assert said(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "I live in Cork, sorry I live in Galway.",
        "I live in Cork. Sorry I live in Galway.",
        "I live in Cork, no wait I live in Galway.",
        "I live in Cork, oh wait, I live in Galway.",
        "I live in Cork - oops I live in Galway.",
        "I live in Cork, wait no I live in Galway.",
        "I live in Cork (sorry I live in Galway).",
    ],
)
def test_what_is_said_anew_after_a_second_thought_is_the_value(text: str) -> None:
    assert said(text) == {("city", "Galway")}
