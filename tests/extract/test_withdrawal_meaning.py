"""What only reports the speaker's own life is told from a wish that somebody has."""

from __future__ import annotations

import pytest

from mnemic.extract.withdrawal_meaning import has_cue, is_of_own_life


@pytest.mark.parametrize(
    ("text", "is_report"),
    [
        ("我现在想事先知道细节", False),
        ("我想着重看结论", False),
        ("我想到时候先看结论", False),
        ("我最近老想事", True),
        ("我夜里一直想着工作", True),
        ("我忽然想到外婆", True),
        ("我昨天想起外婆", True),
        ("我很想家", True),
        ("我换手机号了，新号是13900001111。", True),
        ("换了新号码，13900002222。", True),
        ("我换邮箱了，新邮箱是lin@a.com", True),
        ("我换工作了，现在在华为上班。", True),
        ("我改名了，现在叫林月。", True),
        ("我换工作了，英文就行", False),
        ("我换手机了，现在你可以发表情", False),
        ("我换手机了，屏幕大，长一点也能看", False),
        ("新手那个说法作废", False),
    ],
)
def test_a_wish_in_chinese_is_no_report_and_a_thought_is_one(text: str, is_report: bool) -> None:
    assert is_of_own_life(text) is is_report


@pytest.mark.parametrize(
    ("text", "is_report"),
    [
        ("i'm done with the quizzes", False),
        ("i'm through with rhymes", False),
        ("i'm done at the bakery", True),
        ("i've finished my shift", True),
    ],
)
def test_who_is_done_with_something_may_have_had_enough_of_it(text: str, is_report: bool) -> None:
    assert is_of_own_life(text) is is_report


@pytest.mark.parametrize(
    ("text", "cued"),
    [
        ("我换手机号了", False),
        ("换了新工作", False),
        ("我换了个房子", False),
        ("换回中文", True),
        ("换个语气", True),
        ("换成表格", True),
    ],
)
def test_who_changes_what_they_own_gives_no_cue_that_something_is_lifted(text: str, cued: bool) -> None:
    assert has_cue(text) is cued
