"""What people say of themselves in passing, as chats are typed, and what only looks like it."""

from __future__ import annotations

import pytest

from mnemic.core.clock import micros
from mnemic.core.timex import parse_said
from mnemic.extract.patterns import SlotAct
from mnemic.extract.slots import Finding, slots

SAID = micros(parse_said("2025-05-20T12:00:00+00:00", zone=None)[0])

STATED = """
my other half Priya makes the best dal | partner | Priya
the kids stayed with my nan Edith | grandmother | Edith
my lad Owen starts school on Monday | son | Owen
day three at the bakery and my feet know it | employer | the bakery
we've been in Leeds two years now | city | Leeds
working from home in Bristol these days | city | Bristol
moved to Ghent last month, still in boxes | city | Ghent
turned 41 last week and my back agrees | age | 41
been veggie since March | diet | veggie
I teach year 4, so I'm wrecked by Friday | job | teacher
I nurse on the stroke ward, nights mostly | job | nurse
born and bred in Cork, me | origin | Cork
I'm a proper northerner, born and raised in Leeds | origin | Leeds
Good news! Turned 41 yesterday. | age | 41
I called my sister. Moved to Ghent last month. | city | Ghent
My sister is happy. I gave up smoking in January. | avoids | smoking
Life is good. Moved to Ghent last month. | city | Ghent
gave up smoking in January | avoids | smoking
stopped drinking in March and sleeping great | avoids | drinking
me and Tom got engaged!! | partner | Tom
I've got type 1 so I count carbs | health | type 1 diabetes
我上周刚满三十 | age | 30
我老家湖南的，没辣椒吃不下 | origin | 湖南
刚入职美团第三天，累瘫了 | employer | 美团
我是教语文的，嗓子天天哑 | job | 教语文
我在三中教物理 | job | 教物理
我开了个小面馆，起早贪黑的 | job | 开面馆
我妹妹小雨今年考研 | sister | 小雨
闺女叫糖糖，四岁半 | daughter | 糖糖
我们家狗豆豆又拆家了 | pet | 豆豆 (狗)
我吃素三年多了 | diet | 素
"""

NOT_STATED = """
my other half of the sandwich
my lad is asleep
day three at the festival and my feet know it
day three at the hospital with dad
we've been in Rome two days now
been in meetings two hours now
moved to Plan B last month
moved to Ghent in the film, then to Rome
turned 90 degrees and fell off
turned 41 pages today
been veggie burgers all week
I teach my dog tricks
nurse on the stroke ward was lovely
born and bred in captivity, those pandas
gave up smoking salmon, the oven does it
gave up
stopped drinking straws being used
Mum had her party. Turned 60 yesterday.
My sister is happy. Moved to Ghent last month.
My sister is happy. Really happy. Moved to Ghent last month.
my sister is happy, been in Ghent two years now
My dad is doing better. Gave up smoking in January.
She loves animals. Been veggie since March.
Tom is doing better. Gave up smoking in January.
day two at the garage and still no car
day two at the salon and my hair is still wet
my husband, born and bred in Cork, hates it
My dad hates it. Born and bred in Cork.
Been in Lockdown two months now
me and Tom got lost
me and Tom got engaged in a fight
I've got type 1 errors in the report
如果我刚满三十就好了
我快满三十了
我快三十岁了
我满了一杯
我老家具都扔了
我教他英语
我在家教孩子语文
我开了个小玩笑
我们家狗天天拆家
我们家狗偷偷跑了
他吃素三年了
我妹妹小心眼
闺女叫天天都很吵
"""


def rows(written: str) -> list[tuple[str, ...]]:
    return [tuple(part.strip() for part in line.split(" | ")) for line in written.strip().splitlines()]


def found(text: str) -> list[Finding]:
    return slots(text, "user", SAID, 0)


@pytest.mark.parametrize(("text", "slot", "value"), rows(STATED))
def test_what_is_said_in_passing_is_taken(text: str, slot: str, value: str) -> None:
    assert (slot, value, SlotAct.STATES) in [(one.slot, str(one.value), one.act) for one in found(text)]


@pytest.mark.parametrize("text", NOT_STATED.strip().splitlines())
def test_what_only_looks_like_it_is_not(text: str) -> None:
    assert [(one.slot, one.value) for one in found(text)] == []


def test_who_left_a_firm_by_name_is_there_no_longer() -> None:
    (left,) = found("上个月从字节离职了")
    assert (left.slot, left.value, left.act) == ("employer", "字节", SlotAct.ENDS)
