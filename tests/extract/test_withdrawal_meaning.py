"""What only reports the speaker's own life is told from a wish that somebody has."""

from __future__ import annotations

import pytest

from mnemic.extract.withdrawal_meaning import is_of_own_life


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
