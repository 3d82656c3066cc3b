"""Yes or no is read of what somebody did, and of the kin they have, only where they plainly said so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind
from mnemic.recall.deeds_and_kin import told_of_deed, told_of_kin

DEEDS = """
We sold the Skoda and got a Dacia instead. => Did I sell the Skoda? => yes
We sold the Skoda and got a Dacia instead. => Have I sold the Skoda? => yes
We sold the Skoda and got a Dacia instead. => Did we get a Dacia? => yes
We sold the Skoda and got a Dacia instead. => Did I sell the Dacia? => none
We sold the Skoda. => Did I buy the Skoda? => none
We've finally sold the old blue Skoda. => Did I sell the Skoda? => yes
Sold the Skoda today! => Did I sell the Skoda? => yes
Tom and I sold the Skoda. => Did we sell the Skoda? => yes
We sold Tom the Skoda. => Did I sell the Skoda? => yes
I gave up Portuguese, no time. => Did I give up Portuguese? => yes
We adopted a puppy called Biscuit. => Did I adopt a puppy? => yes
I moved to Bath. => Did I move to Bath? => yes
I quit the choir. => Did I quit the choir? => yes
I've taken the exam. => Have I taken the exam? => yes
I packed the boxes and sold the Skoda. => Did I sell the Skoda? => yes
We didn't sell the Skoda. => Did I sell the Skoda? => no
I haven't sold the Skoda yet. => Have I sold the Skoda? => no
We never sold the Skoda. => Did I sell the Skoda? => no
We didn't sell the Skoda. | We sold the Skoda at last. => Did I sell the Skoda? => yes
We sold the Skoda. | The sale fell through. => Did I sell the Skoda? => none
We sold the Skoda. | Scratch that. => Did I sell the Skoda? => none
We sold the Skoda. | Actually it was the Dacia. => Did I sell the Skoda? => none
We sold the Skoda. | We didn't hand over the Skoda. => Did I sell the Skoda? => none
We sold the Skoda. | Glad we sold the Skoda. => Did I sell the Skoda? => yes
We sold the Skoda. | We sold the boat. => Did I sell the Skoda? => yes
We sold the Skoda keys. => Did I sell the Skoda? => none
We sold the trailer of the Skoda. => Did I sell the Skoda? => none
We nearly sold the Skoda. => Did I sell the Skoda? => none
If we sold the Skoda, we'd walk. => Did I sell the Skoda? => none
I dreamt we sold the Skoda. => Did I sell the Skoda? => none
I wish we sold the Skoda. => Did I sell the Skoda? => none
We might sell the Skoda. => Did I sell the Skoda? => none
We want to sell the Skoda. => Did I sell the Skoda? => none
We will sell the Skoda. => Did I sell the Skoda? => none
We're selling the Skoda. => Did I sell the Skoda? => none
Should we have sold the Skoda? => Did I sell the Skoda? => none
My sister sold the Skoda. => Did I sell the Skoda? => none
Tom said "We sold the Skoda". => Did I sell the Skoda? => none
Tom sold the Skoda. => Did I sell the Skoda? => none
Tom thinks we sold the Skoda. => Did I sell the Skoda? => none
I heard my neighbour lost the cat, sold the Skoda. => Did I sell the Skoda? => none/yes
We sold the Skoda. => Do I have to sell the Skoda? => none
We sold the Skoda. => Did Tom sell the Skoda? => none
我们把斯柯达卖了。 => 我把斯柯达卖了吗？ => yes
我们把斯柯达卖了。 => 我卖了斯柯达吗？ => yes
昨天终于把那辆斯柯达卖掉了，换了辆新的。 => 我把斯柯达卖了吗？ => yes
我卖了斯柯达。 => 我卖掉了斯柯达没有？ => yes
我没把斯柯达卖掉。 => 我把斯柯达卖了吗？ => no
我们没卖斯柯达。 => 我卖了斯柯达吗？ => no
我姐姐把斯柯达卖了。 => 我把斯柯达卖了吗？ => none
我差点把斯柯达卖了。 => 我把斯柯达卖了吗？ => none
我想把斯柯达卖了。 => 我把斯柯达卖了吗？ => none
如果我把斯柯达卖了，就没车了。 => 我把斯柯达卖了吗？ => none
我们把斯柯达卖了。 | 后来买家反悔了。 => 我把斯柯达卖了吗？ => none
我们把船卖了。 => 我把斯柯达卖了吗？ => none
我们把斯柯达买了。 => 我把斯柯达卖了吗？ => none
"""

KIN = """
I have a brother. => Do I have a brother? => yes
I've got two brothers. => Do I have any brothers? => yes
I have an older brother. => Do I have a brother? => yes
My brother Owen is a baker in Cardiff. => Do I have a brother? => yes
My brother lives in Ulm. => Do I have a sibling? => yes
I have a daughter. => Do I have children? => yes
I don't have a sister, I have a brother. => Do I have a brother? => yes
I don't have a sister, I have a brother. => Do I have a sister? => no
I have no sisters. => Do I have a sister? => no
I'm an only child. => Do I have a brother? => no
I have a brother. => Do I have a sister? => none
I have a brother. => Do I have an uncle? => none
My brother's wife is a nurse. => Do I have a sister? => none
I have a friend with a brother. => Do I have a brother? => none
I have a brother-in-law. => Do I have a brother? => none
I have a half brother. => Do I have a brother? => none
Tom has a brother. => Do I have a brother? => none
I wish I had a brother. => Do I have a brother? => none
If I have a son, he'll be Max. => Do I have a son? => none
Do I have a brother? => Do I have a brother? => none
Ann said "I have a brother". => Do I have a brother? => none
I have a brother. | My brother died in May. => Do I have a brother? => open
I have a brother. => Do I have a younger brother? => none
I have a wife. => Do I have a wife? => none
我有个哥哥。 => 我有哥哥吗？ => yes
我哥哥是面包师。 => 我有哥哥吗？ => yes
我有两个姐姐。 => 我有没有姐姐？ => yes
我有个女儿。 => 我有孩子吗？ => yes
我没有姐姐，只有一个哥哥。 => 我有姐姐吗？ => no
我是独生子。 => 我有哥哥吗？ => no
我有个哥哥。 => 我有姐姐吗？ => none
我有个表哥。 => 我有哥哥吗？ => none
小李有个哥哥。 => 我有哥哥吗？ => none
要是我有个哥哥就好了。 => 我有哥哥吗？ => none
我有个哥哥。 | 我哥哥去年去世了。 => 我有哥哥吗？ => open
"""


def said(told: str) -> list[Item]:
    """Statements, parted by " | ", told a day apart."""
    first = datetime(2026, 5, 1, tzinfo=UTC)
    return [
        Item(id=ItemId(f"{n:026}"), kind=Kind.TURN, text=text, said=first + timedelta(days=n))
        for n, text in enumerate(told.split(" | "))
    ]


@pytest.mark.parametrize("row", DEEDS.strip().splitlines())
def test_a_deed_is_read_where_verb_and_object_stand_in_a_clause_of_the_speakers(row: str) -> None:
    told, question, answer = row.split(" => ")
    read = told_of_deed(question, said(told))
    assert ("none" if read is None else {None: "open", True: "yes", False: "no"}[read.yes]) in answer.split("/")


@pytest.mark.parametrize("row", KIN.strip().splitlines())
def test_kin_are_read_where_the_speaker_has_them_or_speaks_of_them(row: str) -> None:
    told, question, answer = row.split(" => ")
    read = told_of_kin(question, said(told))
    assert ("none" if read is None else {None: "open", True: "yes", False: "no"}[read.yes]) == answer
