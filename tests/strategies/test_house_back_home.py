"""Who is back where they lived before lives there again; not who is back for a while, or where nobody lives."""

from __future__ import annotations

import pytest
from profile_days import said


@pytest.mark.parametrize(
    "back",
    [
        "Ottawa didn't work out, we are back in Montreal since last week",
        "We're back in Montreal now.",
        "I'm back in Montreal",
        "I'm back in Montreal after three years in Ottawa.",
        "I'm back home in Montreal, still unpacking.",
        "back home in Montreal",
        "Back in Montreal since March.",
        "moved back to Montreal",
        "We moved back to Montreal.",
        "we ended up moving back to Montreal",
        "We ended up back in Montreal again.",
        "im back in montreal for good",
    ],
)
def test_who_is_back_somewhere_lives_there(back: str) -> None:
    assert said("I live in Montreal.", "We moved to Ottawa.", back) == {("city", "Montreal")}


@pytest.mark.parametrize(
    "back",
    ["搬回成都了", "我又搬回成都了", "回到成都住了", "又回成都了", "上海待不下去，我又回成都了。", "我们又回绵阳住了"],
)
def test_in_chinese_who_is_back_somewhere_lives_there(back: str) -> None:
    assert said("我住在成都", "我搬到上海了", back) == {("city", "绵阳" if "绵阳" in back else "成都")}


@pytest.mark.parametrize(
    "back",
    [
        "I'm back in the office",
        "I'm back in IT.",
        "We're back in the Bridge Inn, same sticky table.",
        "I was back in 2019 a student.",
        "I'm back in March.",
        "I'm back in Montreal for the weekend",
        "I'm back in Montreal for a visit",
        "I'm back in Montreal for work.",
        "I'm back in Montreal on Friday",
        "I'm back in Montreal, visiting my parents.",
        "I'm back in Montreal and flying out again tomorrow.",
        "I'm back in Montreal now, just for a few days.",
        "Back in Montreal again, at the same hotel.",
        "we were back in Montreal when it happened",
        "I'll be back in Montreal soon.",
        "When I'm back in Montreal I'll call.",
        "Back in Montreal, people are nicer.",
        "back in Montreal I had a cat",
        "My sister is back in Montreal.",
        "My sister moved out. Back in Montreal since March.",
        "If we moved back to Montreal we would need a car.",
        "I wish I were back in Montreal.",
        "I nearly moved back to Montreal.",
        "I'm back in Montreal Canadiens gear",
    ],
)
def test_who_is_back_for_a_while_or_at_no_home_does_not_live_there(back: str) -> None:
    assert said("I live in Ottawa.", back) == {("city", "Ottawa")}


@pytest.mark.parametrize(
    "back",
    [
        *(
            "回老家住了一周",
            "回成都住了一周",
            "又回成都了，周末就走",
            "又回成都出差了",
            "国庆又回成都了",
            "我弟从深圳搬回成都",
        ),
        *(
            "回到公司了",
            "又回公司了",
            "我又回老家住了",
            "回到成都了，待三天",
            "我打算搬回成都",
            "要是搬回成都就好了",
            "我妈又回成都了",
        ),
    ],
)
def test_in_chinese_who_is_back_for_a_while_does_not_live_there(back: str) -> None:
    assert said("我住在上海", back) == {("city", "上海")}
