"""A fact told beside an order stands once, in the profile, and the order without it, unless it needs those words."""

from __future__ import annotations

import pytest
from profile_days import after, turn

from mnemic import Kind


def standing(text: str) -> list[str]:
    return [item.text for item in after(turn(text)) if item.kind is Kind.PROCEDURE and item.slots.get("standing")]


def profiled(text: str) -> list[str]:
    return [item.text for item in after(turn(text)) if item.kind is Kind.PROFILE]


@pytest.mark.parametrize(
    ("text", "order", "fact"),
    [
        ("我对花生过敏，别推荐含花生的零食", "别推荐含花生的零食", "用户对花生过敏。"),
        ("我对花生过敏，所以以后别推荐含花生的零食", "以后别推荐含花生的零食", "用户对花生过敏。"),
        (
            "I'm allergic to peanuts, so no recipes with peanuts please",
            "no recipes with peanuts please",
            "The user is allergic to peanuts.",
        ),
    ],
)
def test_an_order_stands_without_the_fact_that_the_profile_holds(text: str, order: str, fact: str) -> None:
    assert standing(text) == [order]
    assert profiled(text) == [fact]


@pytest.mark.parametrize(
    "text",
    [
        "我对花生过敏，请注意",
        "我对花生过敏，推荐菜的时候记住",
        "I'm allergic to peanuts, always keep that in mind when suggesting recipes",
        "I'm allergic to peanuts, from now on keep that in mind.",
        "I'm allergic to peanuts, please remember that.",
    ],
)
def test_a_fact_that_is_to_be_kept_in_mind_is_no_instruction(text: str) -> None:
    assert standing(text) == []
    assert len(profiled(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "I'm allergic to peanuts, so always check recipes for them before you send me one",
        "Never suggest recipes with peanuts, I'm allergic to peanuts.",
        "My sister is allergic to peanuts, so no recipes with peanuts please",
        "From now on, no recipes with peanuts please",
        "我妹妹对花生过敏，以后别推荐含花生的零食",
    ],
)
def test_an_order_that_needs_its_words_is_whole(text: str) -> None:
    kept = standing(text)
    assert len(kept) <= 1
    assert all(order.rstrip(".") in text and len(order) >= len(text) - 3 for order in kept)
