from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mnemic.core.queries import Context
from mnemic.recall.answer import Answer, answer


@pytest.fixture
def two(world: Any) -> Any:
    """What two people told each other in May 2024, and what one told in Chinese."""
    world.say("The weather is fine. I slept well!", by="Bob", session="a", pos=0)
    world.say("Hi Bob! Yesterday I bought a cello. It was a bargain.", by="Ada", session="a", pos=1)
    world.say("Lovely! Who sold you the cello?", by="Bob", session="a", pos=2)
    world.say("An old friend called Marta Lind, she is moving.", by="Ada", session="a", pos=3)
    world.say("I practise the flute four times a week, at home in Porto.", by="Bob", session="b", pos=0, day=2)
    world.say("I keep two cats and a parrot. My cats hate the parrot.", by="Ada", session="b", pos=1, day=2)
    world.say("我上周末去了杭州。在杭州吃了醋鱼，很好吃。", by="林", session="c", pos=0, day=7)
    return world


def asked(world: Any, question: str, confidence: float = 0.9) -> Answer:
    return answer(question, replace(world.recall(question), confidence=confidence))


def test_the_sentence_that_answers_is_quoted_word_for_word_with_its_id(two: Any) -> None:
    answered = asked(two, "What pets does Ada keep?")
    (citation,) = answered.citations
    assert answered.known
    assert citation.id == two.items[5].id
    assert citation.quote == "I keep two cats and a parrot."
    assert answered.text == f'"I keep two cats and a parrot." [{citation.id}]'
    assert str(answered) == answered.text


def test_what_is_quoted_stands_in_what_is_cited(two: Any) -> None:
    texts = {item.id: item.text for item in two.items}
    for question in ("When did Ada buy a cello?", "Which pets are there?", "我去了哪里？", "How is the weather?"):
        for citation in asked(two, question).citations:
            assert citation.quote in texts[citation.id]


def test_when_is_answered_by_a_date_resolved_against_the_day_it_was_said(two: Any) -> None:
    answered = asked(two, "When did Ada buy a cello?")
    assert answered.short == "5 May 2024"
    assert answered.text.startswith('5 May 2024: "Yesterday I bought a cello."')


def test_when_without_a_date_in_the_words_is_the_day_it_was_said(two: Any) -> None:
    assert asked(two, "When did Ada mention her parrot?").short == "8 May 2024"


def test_longer_times_are_given_as_they_are(world: Any) -> None:
    world.say("I graduated in March 2019", by="Ada")
    world.say("I visited my aunt last week", by="Bob")
    world.say("I started to paint in 2016", by="Eve")
    assert asked(world, "When did Ada graduate?").short == "March 2019"
    assert asked(world, "When did Bob visit his aunt?").short == "29 April 2024 - 5 May 2024"
    assert asked(world, "When did Eve start to paint?").short == "2016"


@pytest.mark.parametrize(
    ("said", "question", "short"),
    [
        ("My flight leaves at 7:40.", "When does Ada's flight leave?", "7:40"),
        ("The dentist is tomorrow at 3pm.", "When is Ada's dentist?", "7 May 2024, 15:00"),
        ("On 3 May at 18:30 the choir sang.", "When did Ada's choir sing?", "3 May 2024, 18:30"),
        ("会议改到下午三点了。", "Ada的会议什么时候？", "下午三点"),
        ("火车是明天早上九点半的。", "Ada的火车什么时候？", "2024年5月7日, 09:30"),
    ],
)
def test_a_time_of_day_is_told_with_its_day_where_one_was_named(
    world: Any, said: str, question: str, short: str
) -> None:
    world.say(said, by="Ada")
    assert asked(world, question).short == short


def test_how_many_where_and_who_are_told_first(two: Any) -> None:
    assert asked(two, "How often does Bob practise the flute?").short == "four times a week"
    assert asked(two, "How many cats does Ada keep?").short == "two cats"
    assert asked(two, "Where does Bob practise the flute?").short == "Porto"
    assert asked(two, "Who sold Ada the cello?").short == "Marta Lind"


def test_the_answer_to_a_question_in_the_chat_is_preferred_to_the_question(two: Any) -> None:
    assert asked(two, "Who sold Ada the cello?").citations[0].id == two.items[3].id


def test_what_the_turn_before_asks_counts_for_the_answer_to_it(world: Any) -> None:
    """The turn that asks answers nothing itself, and is quoted by nobody."""
    world.say("My art hangs in the hall, and I made it with care.", by="Ada", session="a")
    world.say("How long have you been making art?", by="Bob", session="b", pos=0)
    world.say("Seven years now, and it calms me.", by="Ada", session="b", pos=1)
    assert [citation.id for citation in asked(world, "How long has Ada been making art?").citations] == [
        world.items[2].id
    ]


def test_chinese_is_answered_in_chinese(two: Any) -> None:
    answered = asked(two, "我什么时候去了杭州？")
    assert answered.citations[0].quote == "我上周末去了杭州。"
    assert answered.short == "2024年5月11日 - 2024年5月12日"
    assert asked(two, "我上周末去了哪里？").short.startswith("杭州")


@pytest.mark.parametrize(
    "said",
    [
        "I had told you the conference was in Thessaloniki; I misspoke, it is in Ioannina.",
        "会议原说在泉州开；说错了，是在漳州。",
    ],
)
def test_what_a_semicolon_joins_is_quoted_together(world: Any, said: str) -> None:
    world.say(said, by="user")
    answered = asked(world, "会议在哪里开？" if "会议" in said else "Where is the conference?")
    assert [citation.quote for citation in answered.citations] == [said]


def test_a_question_for_several_things_quotes_several_items(world: Any) -> None:
    world.say("I play the cello on Mondays", by="Ada", session="a")
    world.say("I play the flute on Sundays", by="Ada", session="b")
    world.say("Rain again", by="Ada", session="c")
    answered = asked(world, "Which instruments does Ada play?")
    assert {citation.id for citation in answered.citations} == {world.items[0].id, world.items[1].id}


def test_another_persons_words_about_themselves_do_not_answer(world: Any) -> None:
    world.say("I painted a lake", by="Bob", session="a")
    world.say("I painted a harbour", by="Ada", session="b")
    assert asked(world, "What did Ada paint?").citations[0].quote == "I painted a harbour"


def test_it_does_not_know_where_confidence_is_low_and_quotes_nothing(two: Any) -> None:
    answered = asked(two, "What did Ada keep?", confidence=0.2)
    assert not answered.known
    assert answered.citations == ()
    assert answered.confidence < 0.2
    assert answered.text.startswith("I do not know")
    nothing = Context(text="", tokens=0, items=(), considered=0, seq=0)
    assert answer("我去了哪里？", nothing).text.startswith("不知道")


def test_it_does_not_know_where_nothing_was_found() -> None:
    nothing = Context(text="", tokens=0, items=(), considered=0, seq=0, confidence=0.9)
    assert not answer("Who?", nothing).known


def test_a_year_that_nobody_said_is_given_only_to_what_is_past(world: Any) -> None:
    world.say("We are getting married on 14 October", by="Ada")
    world.say("I moved to Porto on 20 October", by="Bob")
    world.say("十月十二号有钢琴比赛", by="林")
    assert asked(world, "When is Ada getting married?").short == "14 October"
    assert asked(world, "When did Bob move to Porto?").short == "20 October 2023"
    assert asked(world, "林的钢琴比赛是什么时候？").short == "十月十二号"


def test_a_month_before_i_is_no_name(world: Any) -> None:
    world.say("On 7 July I start at the harbour, with Marta Lind as my manager", by="Ada")
    assert asked(world, "Who is Ada's manager at the harbour?").short == "Marta Lind"


def test_a_question_that_was_asked_before_is_no_answer_to_itself(world: Any) -> None:
    world.say("Where is my passport?", by="user")
    assert not asked(world, "Where is my passport?").known
    world.say("My passport is in the blue drawer.", by="user")
    assert '"My passport is in the blue drawer."' in asked(world, "where is my passport").text


def test_what_a_turn_asks_is_not_quoted_where_it_answers_itself(world: Any) -> None:
    world.say("What do I drink when I write? Rooibos, always a whole pot.", by="")
    assert "Rooibos" in asked(world, "What do I drink when I write?").text
