"""What ended with nothing in its place is answered by none any more; a change is answered by what came."""

from __future__ import annotations

from typing import Any

import pytest

from mnemic.core.queries import Context, Recalled
from mnemic.recall.answer import draft_answer
from mnemic.recall.endings import tells_only_an_end

ENDED = (
    ("Who is my partner?", "Mia and I broke up on Thursday. It's fine.", "My partner Mia sings alto."),
    ("What band am I in?", "The band dissolved, we had no drummer.", "My band is called Mudlark."),
    ("我的对象是谁?", "我跟小周分了，别再问了。", "我的对象小周会做饭。"),
    ("Which magazine do I get?", "I cancelled the Gardener, too dear.", "The Gardener comes every Monday."),
    ("我的对象是谁?", "我跟小周分手了，别再问了。", "我的对象小周会做饭。"),
    ("我在哪家健身房?", "健身卡退掉了，膝盖不行。", "我办了一张健身卡。"),
    ("Which choir am I in?", "My throat is bad, so I gave up my place in the choir.", "I sing in the Larkhill choir."),
    ("Who teaches me Greek?", "We stopped the Greek today. I could use a card for Eleni.", "Eleni teaches me Greek."),
    ("What band am I in?", "We split up in May.", "My band is called Mudlark."),
    ("Who am I seeing?", "Mia and I broke up on Thursday.", "I am seeing Mia."),
    ("What do I do for a living?", "I resigned on Monday.", "I do roofs for a living."),
    (
        "What am I taking for gout?",
        "She's taken me off colchicine and won't give me anything else.",
        "I take colchicine.",
    ),
    (
        "What paper do I get?",
        "Killed the Courier, not getting another one, 3 a week is too dear.",
        "I get the Courier.",
    ),
    ("Who is our lodger?", "Piotr has gone home to Gdansk. I'm not having anybody else in.", "Piotr is our lodger."),
    ("我租的仓库在哪?", "仓库今天跟老板退了 我也不敢再压货了", "我在码头租了个仓库。"),
    ("我现在包谁家的果园?", "跟老冯结清了，果园不包了，谁的也不包。", "我包了老冯家的果园。"),
    ("What instrument does Lily play?", "Lily quit piano, she sleeps a lot now.", "Lily plays piano."),
    ("What instrument does Lily play?", "Lily quit piano, she plays nothing at all now.", "Lily plays piano."),
    ("我在哪个舞团?", "膝盖做了手术，我已经退出舞团了，也不打算再参加别的。", "我在红枫舞团跳舞。"),
)
GOES_ON = (
    ("Who does my back?", "Vukovic retired, Piers does it now.", "Vukovic does my back."),
    ("When do I fly?", "They cancelled our flight, it leaves on 2 October.", "We fly in April."),
    ("Where do I study?", "I quit nursing! I'm at Salford, in physiotherapy.", "I study nursing."),
    ("Who was my partner?", "Mia and I broke up on Thursday.", "My partner Mia sings alto."),
    ("How old is my daughter?", "I quit smoking the day she was born.", "My daughter is six."),
    ("我的对象是谁?", "跟大刚散伙了,现在给我送汤的是阿蒙。", "我的对象大刚会做饭。"),
    ("我的医生是谁?", "我十分了解我的医生。", "我的医生是李大夫。"),
    ("Who is my partner?", "My partner is done with work at five.", "My partner Mia sings alto."),
    ("On which day is choir?", "Choir is on Mondays since the caretaker retired.", "Choir is on Wednesdays."),
    ("Who is my partner?", "If Mia and I broke up I would move.", "My partner Mia sings alto."),
    ("Who is my partner?", "I wish Mia and I broke up.", "My partner Mia sings alto."),
    ("我的对象是谁?", "要是我跟小周分手了，真不敢想", "我的对象小周会做饭。"),
    ("What does Rafi do?", "Rafi's given up plumbing!! He's a trainee baker.", "Rafi is a plumber."),
    ("Where does Nuala live?", "Nuala sold her flat and is renting above a bakery.", "Nuala has a flat."),
    ("What is in my pond?", "No more koi in the pond: cleared it for lilies.", "There are koi in my pond."),
    ("Where do I bank?", "I closed the lot there and went back to the credit union.", "I bank with Halden."),
    ("Who is my physio?", "My physio says no more running, so I sold my shoes.", "My physio is Ingrid."),
    ("When did I leave the choir?", "I gave up my place in the choir on Friday.", "I sing in the choir."),
    ("Why am I off colchicine?", "She's taken me off colchicine, it hurt my stomach.", "I take colchicine."),
    ("Who teaches me Greek?", "I have Eleni for Greek and do not want anyone else.", "Eleni teaches me Greek."),
    ("我住哪里?", "我把老房子卖了，在烟台买了个小院。", "我住老房子。"),
    ("What instrument does Lily play?", "Lily quit piano, she plays the drums now. pray for us", "Lily plays piano."),
    ("What do I drink?", "Quit coffee, I drink green tea now.", "I drink coffee."),
    ("What instrument does Lily play?", "Lily quit piano, now she does violin.", "Lily plays piano."),
    ("小丽学什么乐器?", "小丽不弹钢琴了，改打鼓了", "小丽在学弹钢琴。"),
    ("小丽学什么乐器?", "小丽不弹钢琴了，现在打鼓", "小丽在学弹钢琴。"),
    ("Who is my partner?", "We dumped the mattress at the tip.", "My partner Mia sings alto."),
    ("Who teaches me Greek?", "My Greek teacher Eleni dumped a pile of homework on us.", "Eleni teaches me Greek."),
    ("Which room do I have?", "My room is single.", "I have a room at the back."),
    ("Which choir room do I have?", "My choir room is single glazed.", "I have the choir room at the back."),
    ("What bike do I have?", "I returned my bike to its shed.", "My bike is a Brompton."),
    ("我的会员卡是哪家的?", "会员卡捐了十块积分", "我办了一张山姆会员卡。"),
    ("Who is staying with us?", "Tom and I separated last week.", "We have my mum staying with us, Tom is happy."),
    ("Who is our lodger?", "I got dumped on Friday.", "Piotr is our lodger."),
    ("Who teaches me Greek?", "I got laid off today.", "Eleni teaches me Greek."),
    ("Which choir am I in?", "We had our baby on Tuesday.", "I sing in the Larkhill choir."),
    ("Who looks after my cat?", "Jo and I broke up. So it goes.", "My cat is with Jo's sister."),
    ("谁住在我们家?", "我跟小周分手了。", "我妈住在我们家。"),
    ("谁教我希腊语?", "我失业了。", "李老师教我希腊语。"),
    ("我毕业后去了哪里?", "我毕业去了深圳。", "我在读大学。"),
)


@pytest.mark.parametrize(("question", "newer", "older"), ENDED)
def test_an_end_alone_is_told_from_a_change(question: str, newer: str, older: str) -> None:
    assert tells_only_an_end(question, newer, [older])


@pytest.mark.parametrize(("question", "newer", "older"), GOES_ON)
def test_what_came_in_the_place_of_something_is_no_end(question: str, newer: str, older: str) -> None:
    assert not tells_only_an_end(question, newer, [older])


@pytest.mark.parametrize(("question", "newer", "older"), ENDED)
def test_what_ended_is_answered_by_none_any_more(world: Any, question: str, newer: str, older: str) -> None:
    for day, text in enumerate((older, newer)):
        world.say(text, day=day, by="")
    items = [
        Recalled(item=item, seq=1, score=1.0, components={}, reasons=(), tokens=9, bearing=4.0, succession=place)
        for place, item in enumerate(reversed(world.items), start=1)
    ]
    context = Context(text="", tokens=0, items=tuple(items), considered=2, seq=1, confidence=0.9)
    drafted = draft_answer(question, context)
    assert drafted is not None
    assert drafted.grounds.ended
    answered = drafted.answered(0.7)
    assert not answered.known
    assert not answered.citations
    assert [citation.quote for citation in answered.nearest] == [newer]
    assert ("已经没有了" if "我" in question else "None any more") in answered.text
