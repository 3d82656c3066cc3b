"""Time expressions are found and resolved; ordinary words are left alone; what cannot be read is refused by name."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.core import timex, timex_en, timex_en_digits, timex_zh
from mnemic.core.clock import micros, moment
from mnemic.core.timex import TimeSpan, find_times, parse_said, parse_when
from mnemic.errors import Invalid

SAID = micros(datetime(2023, 5, 17, 14, 30, tzinfo=UTC))  # a Wednesday

ENGLISH = """
I went to a support group yesterday | yesterday | 2023-05-16 | day
the day before yesterday we ate out | the day before yesterday | 2023-05-15 | day
see you tomorrow! | tomorrow | 2023-05-18 | day
the day after tomorrow | the day after tomorrow | 2023-05-19 | day
Today was long | Today | 2023-05-17 | day
we met on 7 May 2023 in Rome | 7 May 2023 | 2023-05-07 | day
on May 7th we met | May 7th | 2023-05-07 | day
May 7th, 2022 | May 7th, 2022 | 2022-05-07 | day
taken on December 1,2022 | December 1,2022 | 2022-12-01 | day
the 7th of May | 7th of May | 2023-05-07 | day
on June 3 | June 3 | 2022-06-03 | day
the first of January | first of January | 2023-01-01 | day
May the fourth | May the fourth | 2023-05-04 | day
due 2023-05-07, then | 2023-05-07 | 2023-05-07 | day
born 05/07/2023 | 05/07/2023 | 2023-05-07 | day
born 25/07/2022 | 25/07/2022 | 2022-07-25 | day
born 5/7/22 | 5/7/22 | 2022-05-07 | day
am 7.5.2023 | 7.5.2023 | 2023-05-07 | day
I paid on 3/22 | 3/22 | 2023-03-22 | day
Sept. 5, 2022 | Sept. 5, 2022 | 2022-09-05 | day
29 February | 29 February | 2020-02-29 | day
Friday, May 5, 2023 | Friday, May 5, 2023 | 2023-05-05 | day
2023/05/30 (Tue) | 2023/05/30 | 2023-05-30 | day
in May 2022 | May 2022 | 2022-05-01..2022-06-01 | month
in May, 2022 | May, 2022 | 2022-05-01..2022-06-01 | month
2022-11 was cold | 2022-11 | 2022-11-01..2022-12-01 | month
back in 2019 | 2019 | 2019-01-01..2020-01-01 | year
2021 was hard | 2021 | 2021-01-01..2022-01-01 | year
in the summer of 2022 | summer of 2022 | 2022-06-01..2022-09-01 | season
winter 2021 was mild | winter 2021 | 2021-12-01..2022-03-01 | season
last summer | last summer | 2022-06-01..2022-09-01 | season
this summer we go | this summer | 2023-06-01..2023-09-01 | season
next winter | next winter | 2023-12-01..2024-03-01 | season
in the fall | fall | 2022-09-01..2022-12-01 | season
last year's summer | last year's summer | 2022-06-01..2022-09-01 | season
last Friday | last Friday | 2023-05-12 | day
We met early last weekend | early last weekend | 2023-05-13 | range
late this weekend | late this weekend | 2023-05-21 | range
mid next weekend | mid next weekend | 2023-05-27..2023-05-29 | range
at the end of the last 2 days | the end of the last 2 days | 2023-05-17 | range
late in the last 1 day | late in the last 1 day | 2023-05-17 | range
next Tuesday | next Tuesday | 2023-05-23 | day
this Friday | this Friday | 2023-05-19 | day
on Monday I ran | Monday | 2023-05-15 | day
last Wednesday | last Wednesday | 2023-05-10 | day
Wednesday | Wednesday | 2023-05-17 | day
two Fridays ago | two Fridays ago | 2023-05-05 | day
Friday last week | Friday last week | 2023-05-12 | day
on Tuesday of next week | Tuesday of next week | 2023-05-23 | day
the Friday before last | the Friday before last | 2023-05-05 | day
we met on Fri | Fri | 2023-05-12 | day
this weekend | this weekend | 2023-05-20..2023-05-22 | weekend
last weekend was fun | last weekend | 2023-05-13..2023-05-15 | weekend
over the weekend | the weekend | 2023-05-13..2023-05-15 | weekend
two weekends ago | two weekends ago | 2023-05-06..2023-05-08 | weekend
last week | last week | 2023-05-08..2023-05-15 | week
this week | this week | 2023-05-15..2023-05-22 | week
next week | next week | 2023-05-22..2023-05-29 | week
the week before last | the week before last | 2023-05-01..2023-05-08 | week
last month | last month | 2023-04-01..2023-05-01 | month
next month | next month | 2023-06-01..2023-07-01 | month
last year | last year | 2022-01-01..2023-01-01 | year
this year | this year | 2023-01-01..2024-01-01 | year
three days ago | three days ago | 2023-05-14 | day
10 days ago | 10 days ago | 2023-05-07 | day
two weeks ago | two weeks ago | 2023-04-30..2023-05-07 | week
a week ago | a week ago | 2023-05-07..2023-05-14 | week
a month ago | a month ago | 2023-04-01..2023-05-01 | month
six months ago | six months ago | 2022-11-01..2022-12-01 | month
half a year ago | half a year ago | 2022-11-01..2022-12-01 | month
about 5 years ago | 5 years ago | 2018-01-01..2019-01-01 | year
a decade ago | a decade ago | 2013-01-01..2014-01-01 | year
a few days ago | a few days ago | 2023-05-12..2023-05-16 | range
a couple of days ago | a couple of days ago | 2023-05-14..2023-05-16 | range
several months ago | several months ago | 2022-10-01..2023-03-01 | range
a week or two ago | a week or two ago | 2023-04-30..2023-05-14 | range
the other day | the other day | 2023-05-10..2023-05-17 | range
in three months | in three months | 2023-08-01..2023-09-01 | month
in 3 days | in 3 days | 2023-05-20 | day
two weeks from now | two weeks from now | 2023-05-28..2023-06-04 | week
the last two weeks | last two weeks | 2023-05-03..2023-05-18 | range
over the past 3 months | past 3 months | 2023-02-17..2023-05-18 | range
the next few days | next few days | 2023-05-18..2023-05-23 | range
in the past year | past year | 2022-05-17..2023-05-18 | range
earlier this week | earlier this week | 2023-05-15..2023-05-17 | range
later this month | later this month | 2023-05-18..2023-06-01 | range
last July | last July | 2022-07-01..2022-08-01 | month
last March | last March | 2023-03-01..2023-04-01 | month
next July | next July | 2023-07-01..2023-08-01 | month
in march | march | 2023-03-01..2023-04-01 | month
in August | August | 2022-08-01..2022-09-01 | month
March of last year | March of last year | 2022-03-01..2022-04-01 | month
last year in March | last year in March | 2022-03-01..2022-04-01 | month
since March | since March | 2023-03-01..2023-05-18 | range
ever since last summer | ever since last summer | 2022-06-01..2023-05-18 | range
since 2020 | since 2020 | 2020-01-01..2023-05-18 | range
between March and May | between March and May | 2023-03-01..2023-06-01 | range
from November to February 2022 | from November to February 2022 | 2021-11-01..2022-03-01 | range
from 3 May to 7 May | from 3 May to 7 May | 2023-05-03..2023-05-08 | range
May 3-7, 2022 | May 3-7, 2022 | 2022-05-03..2022-05-08 | range
2019-2021 | 2019-2021 | 2019-01-01..2022-01-01 | range
from 2019 to 2021 | from 2019 to 2021 | 2019-01-01..2022-01-01 | range
early May | early May | 2023-05-01..2023-05-11 | range
mid-June 2022 | mid-June 2022 | 2022-06-11..2022-06-21 | range
late last month | late last month | 2023-04-21..2023-05-01 | range
the end of April | the end of April | 2023-04-21..2023-05-01 | range
at the beginning of 2022 | the beginning of 2022 | 2022-01-01..2022-03-01 | range
late 2022 | late 2022 | 2022-09-01..2023-01-01 | range
the end of the month | end of the month | 2023-05-21..2023-06-01 | range
on the Monday before July 24, 2022 | Monday before July 24, 2022 | 2022-07-18 | day
the Friday after 3 May | Friday after 3 May | 2023-05-05 | day
two days before 3 May 2023 | two days before 3 May 2023 | 2023-05-01 | day
the week before 3 May 2023 | the week before 3 May 2023 | 2023-04-24..2023-05-01 | week
two weeks ago on Sunday | two weeks ago on Sunday | 2023-04-30 | day
to bed at 10 pm. | 10 pm | 2023-05-17T22:00..2023-05-17T23:00 | hour
on the Monday before July 24, 2022 | Monday before July 24, 2022 | 2022-07-18 | day
the Friday after 3 May | Friday after 3 May | 2023-05-05 | day
two days before 3 May 2023 | two days before 3 May 2023 | 2023-05-01 | day
the week before 3 May 2023 | the week before 3 May 2023 | 2023-04-24..2023-05-01 | week
the week of May 3 | the week of May 3 | 2023-05-01..2023-05-08 | week
music of the 90s | the 90s | 1990-01-01..2000-01-01 | range
the early 1980s | early 1980s | 1980-01-01..1984-01-01 | range
in the nineties | the nineties | 1990-01-01..2000-01-01 | range
Q3 2022 | Q3 2022 | 2022-07-01..2022-10-01 | range
last quarter | last quarter | 2023-01-01..2023-04-01 | range
on the 12th, we | the 12th | 2023-05-12 | day
on the 3rd of last month | the 3rd of last month | 2023-04-03 | day
tonight | tonight | 2023-05-17T18:00..2023-05-18T04:00 | part
last night | last night | 2023-05-16T18:00..2023-05-17T04:00 | part
this morning | this morning | 2023-05-17T05:00..2023-05-17T12:00 | part
yesterday evening | yesterday evening | 2023-05-16T17:00..2023-05-16T23:00 | part
last Friday night | last Friday night | 2023-05-12T18:00..2023-05-13T04:00 | part
the morning of May 7 | morning of May 7 | 2023-05-07T05:00..2023-05-07T12:00 | part
at 8:30 pm | 8:30 pm | 2023-05-17T20:30..2023-05-17T21:30 | hour
yesterday at 8pm | yesterday at 8pm | 2023-05-16T20:00..2023-05-16T21:00 | hour
8:30 p.m. on 7 May, 2023 | 8:30 p.m. on 7 May, 2023 | 2023-05-07T20:30..2023-05-07T21:30 | hour
2023-05-07 20:15 | 2023-05-07 20:15 | 2023-05-07T20:15..2023-05-07T21:15 | hour
2023-05-07T20:15:30Z | 2023-05-07T20:15:30Z | 2023-05-07T20:15..2023-05-07T21:15 | hour
yesterday evening at 8 o'clock | yesterday evening at 8 o'clock | 2023-05-16T20:00..2023-05-16T21:00 | hour
nine in the morning on Monday | nine in the morning on Monday | 2023-05-15T09:00..2023-05-15T10:00 | hour
from 8 pm to 10 pm | from 8 pm to 10 pm | 2023-05-17T20:00..2023-05-17T22:00 | range
two hours ago | two hours ago | 2023-05-17T12:00..2023-05-17T13:00 | hour
"""

CHINESE = """
我昨天去了医院 | 昨天 | 2023-05-16 | day
前天下雨了 | 前天 | 2023-05-15 | day
大前天 | 大前天 | 2023-05-14 | day
明天见 | 明天 | 2023-05-18 | day
后天出发 | 后天 | 2023-05-19 | day
大后天 | 大后天 | 2023-05-20 | day
今天天气真好 | 今天 | 2023-05-17 | day
今日 | 今日 | 2023-05-17 | day
今晚吃什么 | 今晚 | 2023-05-17T18:00..2023-05-18T04:00 | part
昨晚没睡好 | 昨晚 | 2023-05-16T18:00..2023-05-17T04:00 | part
明早出发 | 明早 | 2023-05-18T05:00..2023-05-18T12:00 | part
昨天晚上 | 昨天晚上 | 2023-05-16T18:00..2023-05-17T04:00 | part
今天的下午 | 今天的下午 | 2023-05-17T12:00..2023-05-17T18:00 | part
上周五我辞职了 | 上周五 | 2023-05-12 | day
下周二开会 | 下周二 | 2023-05-23 | day
这周三 | 这周三 | 2023-05-17 | day
上上周一 | 上上周一 | 2023-05-01 | day
上个星期天 | 上个星期天 | 2023-05-14 | day
下礼拜三 | 下礼拜三 | 2023-05-24 | day
星期三我休息 | 星期三 | 2023-05-17 | day
礼拜五 | 礼拜五 | 2023-05-12 | day
周日去爬山 | 周日 | 2023-05-21 | day
周日去爬山了 | 周日 | 2023-05-14 | day
上周 | 上周 | 2023-05-08..2023-05-15 | week
这周很忙 | 这周 | 2023-05-15..2023-05-22 | week
下个星期 | 下个星期 | 2023-05-22..2023-05-29 | week
上个周末 | 上个周末 | 2023-05-13..2023-05-15 | weekend
这个周末 | 这个周末 | 2023-05-20..2023-05-22 | weekend
周末我去了上海 | 周末 | 2023-05-13..2023-05-15 | weekend
上个月 | 上个月 | 2023-04-01..2023-05-01 | month
上上个月 | 上上个月 | 2023-03-01..2023-04-01 | month
本月 | 本月 | 2023-05-01..2023-06-01 | month
下月 | 下月 | 2023-06-01..2023-07-01 | month
上月底 | 上月底 | 2023-04-21..2023-05-01 | range
下个月初 | 下个月初 | 2023-06-01..2023-06-11 | range
上个月7号 | 上个月7号 | 2023-04-07 | day
月初我搬家了 | 月初 | 2023-05-01..2023-05-11 | range
去年 | 去年 | 2022-01-01..2023-01-01 | year
前年 | 前年 | 2021-01-01..2022-01-01 | year
明年 | 明年 | 2024-01-01..2025-01-01 | year
今年三月 | 今年三月 | 2023-03-01..2023-04-01 | month
去年的5月 | 去年的5月 | 2022-05-01..2022-06-01 | month
去年三月七号 | 去年三月七号 | 2022-03-07 | day
去年五月底 | 去年五月底 | 2022-05-21..2022-06-01 | range
去年夏天 | 去年夏天 | 2022-06-01..2022-09-01 | season
2022年的冬天 | 2022年的冬天 | 2022-12-01..2023-03-01 | season
去年年底 | 去年年底 | 2022-11-01..2023-01-01 | range
年初换了工作 | 年初 | 2023-01-01..2023-03-01 | range
今年上半年 | 今年上半年 | 2023-01-01..2023-07-01 | range
2023年5月7日 | 2023年5月7日 | 2023-05-07 | day
二零二三年五月七日 | 二零二三年五月七日 | 2023-05-07 | day
22年5月 | 22年5月 | 2022-05-01..2022-06-01 | month
五月七号 | 五月七号 | 2023-05-07 | day
5月6日 | 5月6日 | 2023-05-06 | day
十二月二十五日 | 十二月二十五日 | 2022-12-25 | day
十月廿三日 | 十月廿三日 | 2022-10-23 | day
六月 | 六月 | 2022-06-01..2022-07-01 | month
2019年 | 2019年 | 2019-01-01..2020-01-01 | year
一九九八年 | 一九九八年 | 1998-01-01..1999-01-01 | year
九十年代 | 九十年代 | 1990-01-01..2000-01-01 | range
上世纪80年代 | 上世纪80年代 | 1980-01-01..1990-01-01 | range
三天前 | 三天前 | 2023-05-14 | day
十五天之前 | 十五天之前 | 2023-05-02 | day
两个星期前 | 两个星期前 | 2023-04-30..2023-05-07 | week
一周以前 | 一周以前 | 2023-05-07..2023-05-14 | week
三个月前 | 三个月前 | 2023-02-01..2023-03-01 | month
半年前 | 半年前 | 2022-11-01..2022-12-01 | month
一年半前 | 一年半前 | 2021-11-01..2021-12-01 | month
五年前 | 五年前 | 2018-01-01..2019-01-01 | year
几个月前 | 几个月前 | 2022-12-01..2023-04-01 | range
前几天 | 前几天 | 2023-05-10..2023-05-17 | range
三天后 | 三天后 | 2023-05-20 | day
两周之后 | 两周之后 | 2023-05-28..2023-06-04 | week
最近三天 | 最近三天 | 2023-05-14..2023-05-18 | range
过去两周 | 过去两周 | 2023-05-03..2023-05-18 | range
未来三个月 | 未来三个月 | 2023-05-18..2023-08-18 | range
从三月到五月 | 从三月到五月 | 2023-03-01..2023-06-01 | range
五月三日至七日 | 五月三日至七日 | 2023-05-03..2023-05-08 | range
三月和五月之间 | 三月和五月之间 | 2023-03-01..2023-06-01 | range
2019年到2021年 | 2019年到2021年 | 2019-01-01..2022-01-01 | range
自从三月以来 | 自从三月以来 | 2023-03-01..2023-05-18 | range
从去年开始 | 从去年开始 | 2022-01-01..2023-05-18 | range
上周五晚上八点半 | 上周五晚上八点半 | 2023-05-12T20:30..2023-05-12T21:30 | hour
明天下午三点 | 明天下午三点 | 2023-05-18T15:00..2023-05-18T16:00 | hour
5月7日15:30 | 5月7日15:30 | 2023-05-07T15:30..2023-05-07T16:30 | hour
早上七点一刻 | 早上七点一刻 | 2023-05-17T07:15..2023-05-17T08:15 | hour
上週五 | 上週五 | 2023-05-12 | day
五月七號 | 五月七號 | 2023-05-07 | day
三個月前 | 三個月前 | 2023-02-01..2023-03-01 | month
後天 | 後天 | 2023-05-19 | day
兩個禮拜前 | 兩個禮拜前 | 2023-04-30..2023-05-07 | week
這個週末 | 這個週末 | 2023-05-20..2023-05-22 | weekend
晚上八點 | 晚上八點 | 2023-05-17T20:00..2023-05-17T21:00 | hour
"""

IN_TENSE = """
my sister visits in March | 2024-03-01..2024-04-01
my sister visited in March | 2023-03-01..2023-04-01
we're flying to Rome in April | 2024-04-01..2024-05-01
we flew to Rome in April | 2023-04-01..2023-05-01
handed in my notice, starting at Oakham on the 4th of April | 2024-04-04
getting married on the 4th of April | 2024-04-04
got married on the 4th of April | 2023-04-04
flying on the 4th of April was cheap | 2023-04-04
booked the van, moving to Hull on the 4th of April | 2024-04-04
she arrives on March 5 | 2024-03-05
the dentist called, it's March 5 now | 2024-03-05
my appointment is on March 3 at 9:30 am | 2024-03-03T09:30..2024-03-03T10:30
my appointment was on March 3 | 2023-03-03
the exam was moved to March 5 | 2024-03-05
I booked a table for 2 May | 2024-05-02
I booked a table on 2 May | 2023-05-02
In April, we will move to Leeds | 2024-04-01..2024-05-01
they got married and will fly to Japan in April | 2024-04-01..2024-05-01
I am reading what she wrote in April | 2023-04-01..2023-05-01
we have been here since March | 2023-03-01..2023-05-18
I was going to leave in April | 2023-04-01..2023-05-01
the talk is from 3 to 5 March | 2024-03-03..2024-03-06
the talk was from 3 to 5 March | 2023-03-03..2023-03-06
I'm off in May | 2023-05-01..2023-06-01
the photos from March are lovely | 2023-03-01..2023-04-01
I work late on Monday and see the doctor | 2023-05-15
I'm seeing the doctor on Monday | 2023-05-22
I saw the doctor on Monday | 2023-05-15
my birthday is on 3 March | 2023-03-03
what am I doing in April? | 2024-04-01..2024-05-01
where did we go in April? | 2023-04-01..2023-05-01
we are away from April to June | 2024-04-01..2024-07-01
what did I do in April? | 2023-04-01..2023-05-01
Dentist appointment: March 5 | 2024-03-05
the rent is due on the 3rd | 2023-06-03
got a date for mum's hip op on the 24th | 2023-05-24
I got a present on the 24th | 2023-04-24
I paid on the 3rd | 2023-05-03
我妹妹三月来看我 | 2024-03-01..2024-04-01
我妹妹三月来看过我 | 2023-03-01..2023-04-01
我四月要去北京了 | 2024-04-01..2024-05-01
我四月去了北京 | 2023-04-01..2023-05-01
我是四月去的 | 2023-04-01..2023-05-01
我四月本来要去北京 | 2023-04-01..2023-05-01
预产期是四月 | 2024-04-01..2024-05-01
牙医打电话来了，改到三月五号了 | 2024-03-05
我的牙医预约是三月五号下午三点 | 2024-03-05T15:00..2024-03-05T16:00
我的生日是三月五号 | 2023-03-05
体检是九号 | 2023-06-09
体检是九号去的 | 2023-05-09
我三月份住在哪儿？ | 2023-03-01..2023-04-01
我们将于三月三日至五日开会 | 2024-03-03..2024-03-06
周一我要去看医生 | 2023-05-22
周一我去看了医生 | 2023-05-15
7月1号起转产品，不做运营了 | 2023-07-01
我从6月1号起在腾讯上班 | 2023-06-01
我从3月1号起在腾讯上班 | 2023-03-01..2023-05-18
7月1号起我就没喝过酒 | 2022-07-01..2023-05-18
6月1号起我一直吃素 | 2022-06-01..2023-05-18
"""

TIMELESS = """
That may be true, but you may not like it
They march on through the mud
May I come in?
I met May and April loves tea
We hired June Diane Raphael
Rome wasn't built in a day
Give me a second, on second thought
The sun is up and she sat down
You mon ami
We wed for love
The spring in the mattress broke
Don't fall off the ladder
I need a new mattress and a coffee
He ran 2000 metres and 1950 steps
It cost $2020 and weighs 1999 kg
Room 2012 is upstairs
Call 555-2023-1999
Version 2.0.2023 of the app
She scored 24/7 and 3/4
I walk every Friday and each summer
Black Friday sales
We are open 24 hours
Two days of rest
It takes three weeks
I like mornings and nights
my Mondays are slow
a dated joke about dates
It was the first time in 10 years
in my 20s
the 3rd floor and the 7th seat
The quarter was lost in the machine
week after week
an hour of yoga
The decade of the brain
It is 30 degrees
Chapter 12, verse 7:4a
I'm mature for my age
The deck, the jangling, the novel
He marched; she is decent; they juncture
你好，很高兴认识你
一天一个苹果
我每周三次去健身房
每个星期三都开会
目前天气不错
聪明天真的孩子
之后天就亮了
他是三年级的学生
我有一点点累
有三点建议
这周围的环境很好
地铁7号线
我住在3号楼
一周有七天
三个月大的小猫
年轻人喜欢月亮
第三天后来怎么样
周到的服务
今年轻的不多
上班下班
半天没说话
五个小时的车程
每年一次
我喜欢吃月饼
"""


def spans(text: str, said: int = SAID, offset: int = 0) -> list[TimeSpan]:
    return find_times(text, said, offset)


def shown(us: int) -> str:
    return moment(us).strftime("%Y-%m-%dT%H:%M").removesuffix("T00:00")


def rows(table: str) -> list[tuple[str, ...]]:
    return [tuple(cell.strip() for cell in line.split(" | ")) for line in table.strip().splitlines()]


@pytest.mark.parametrize(("text", "words", "when", "kind"), rows(ENGLISH) + rows(CHINESE))
def test_an_expression_is_found_and_resolved(text: str, words: str, when: str, kind: str) -> None:
    start, _, end = when.partition("..")
    end = end or shown(micros(datetime.fromisoformat(start).replace(tzinfo=UTC) + timedelta(days=1)))
    found = [(span.text, shown(span.start), shown(span.end), span.kind) for span in spans(text)]
    assert found == [(words, start, end, kind)]


@pytest.mark.parametrize(("text", "when"), rows(IN_TENSE))
def test_a_time_without_a_year_is_ahead_or_past_by_its_tense(text: str, when: str) -> None:
    start, _, end = when.partition("..")
    end = end or shown(micros(datetime.fromisoformat(start).replace(tzinfo=UTC) + timedelta(days=1)))
    assert [(shown(span.start), shown(span.end)) for span in spans(text)] == [(start, end)]


@pytest.mark.parametrize("text", TIMELESS.strip().splitlines())
def test_a_sentence_without_a_time_has_none(text: str) -> None:
    assert spans(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "30 February 2023",
        "2023-13-45",
        "7 May 0000",
        "0000-01-01",
        "13月5日",
        "2月30日",
        "9999 years ago",
        "99:99 pm",
        "25点整",
    ],
)
def test_what_names_no_day_in_years_1_to_9999_is_left_out(text: str) -> None:
    assert spans(text) == []


def test_several_expressions_come_in_order_of_place() -> None:
    found = spans("Yesterday I ran, 上周五我游泳, and in 2019 I rowed.")
    assert [span.text for span in found] == ["Yesterday", "上周五", "2019"]


def test_the_longest_of_overlapping_readings_wins() -> None:
    assert [span.text for span in spans("the day before yesterday")] == ["the day before yesterday"]


def test_positions_hold_in_text_whose_lower_case_is_longer() -> None:
    assert [span.text for span in spans("İİİİ said so yesterday")] == ["yesterday"]


@pytest.mark.parametrize(("offset", "day"), [(0, "2023-05-16"), (10 * 60, "2023-05-17"), (-15 * 60, "2023-05-15")])
def test_yesterday_is_the_speakers_own(offset: int, day: str) -> None:
    (span,) = find_times("yesterday", SAID, offset)
    assert shown(span.start + offset * 60_000_000) == day


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    st.integers(-14 * 60, 14 * 60),
    st.sampled_from([("yesterday", -1), ("今天", 0), ("three days ago", -3), ("后天", 2)]),
)
def test_days_begin_at_the_speakers_midnight(said: datetime, offset: int, case: tuple[str, int]) -> None:
    words, shift = case
    (span,) = spans(words, micros(said.replace(tzinfo=UTC)), offset)
    local = (said + timedelta(minutes=offset)).date() + timedelta(days=shift)
    midnight = datetime(local.year, local.month, local.day, tzinfo=timezone(timedelta(minutes=offset)))
    assert (span.start, span.end) == (micros(midnight), micros(midnight) + 86_400_000_000)


FRAGMENTS = [line[0] for line in rows(ENGLISH) + rows(CHINESE)] + list("0123456789:-/.,年月日号周天点前后上下 May")
MOMENTS = st.integers(micros(datetime.min.replace(tzinfo=UTC)), micros(datetime.max.replace(tzinfo=UTC)))


@given(
    st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=6).map("".join)),
    MOMENTS,
    st.integers(-1440, 1440),
)
def test_any_text_at_any_time_gives_spans_within_years_1_to_9999(text: str, said: int, offset: int) -> None:
    for span in spans(text, said, offset):
        assert span.start < span.end
        assert moment(span.start) <= moment(span.end)
        assert span.text in text


NOW = SAID
WHEN = [
    ("2026-02-01", "UTC", True, "2026-02-01T23:59:59.999999+00:00"),
    ("2026-02-01", "UTC", False, "2026-02-01T00:00+00:00"),
    ("2026-02-01", "Asia/Shanghai", True, "2026-02-01T23:59:59.999999+08:00"),
    ("2023-03-26", "Europe/Lisbon", True, "2023-03-26T23:59:59.999999+01:00"),
    ("2026-02-01T10:00", "Asia/Shanghai", True, "2026-02-01T10:00+08:00"),
    ("2026-02-01T10:00:00Z", "Asia/Shanghai", True, "2026-02-01T10:00+00:00"),
    ("2026-02-01 10:00+02:00", "UTC", False, "2026-02-01T10:00+02:00"),
    ("yesterday", "UTC", True, "2023-05-16T23:59:59.999999+00:00"),
    (" Yesterday ", "UTC", False, "2023-05-16T00:00+00:00"),
    ("today", "Pacific/Auckland", False, "2023-05-18T00:00+12:00"),
    ("now", "UTC", True, "2023-05-17T14:30+00:00"),
    ("last March", "UTC", True, "2023-03-31T23:59:59.999999+00:00"),
    ("in March 2022", "UTC", False, "2022-03-01T00:00+00:00"),
    ("去年三月", "Asia/Shanghai", True, "2022-03-31T23:59:59.999999+08:00"),
    ("2025", "UTC", True, "2025-12-31T23:59:59.999999+00:00"),
    ("2026-02", "UTC", True, "2026-02-28T23:59:59.999999+00:00"),
    ("9999-12-31", "UTC", True, "9999-12-31T23:59:59.999999+00:00"),
    ("0001-01-01", "UTC", False, "0001-01-01T00:00+00:00"),
]


@pytest.mark.parametrize(("text", "zone", "end", "expected"), WHEN)
def test_a_reader_may_name_a_moment_in_many_ways(text: str, zone: str, end: bool, expected: str) -> None:
    assert parse_when(text, zone=zone, now=NOW, end=end) == micros(datetime.fromisoformat(expected))


UNREADABLE = [
    "",
    "  ",
    "soon",
    "0000-01-01",
    "10000-01-01",
    "2026-02-30",
    "yesterday and today",
    "12",
    "2026-13",
    "一点",
    "\x00",
    "\ud800",
]


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_moment_that_cannot_be_read_is_refused_with_its_remedy(text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        parse_when(text, zone="UTC", now=NOW, end=True)
    assert refusal.value.field == "time"
    assert "2026-02-01" in refusal.value.remedy


@pytest.mark.parametrize(("text", "zone"), [("0001-01-01", "Asia/Shanghai"), ("9999-12-31", "America/New_York")])
def test_a_moment_that_leaves_the_calendar_in_utc_is_refused(text: str, zone: str) -> None:
    with pytest.raises(Invalid, match="9999"):
        parse_when(text, zone=zone, now=NOW, end=text[0] == "9")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "/etc/passwd", "a\x00b"])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(Invalid, match="timezone"):
        parse_when("2026-02-01", zone=zone, now=NOW, end=True)


SAYINGS = [
    ("1:56 pm on 8 May, 2023", "UTC", "2023-05-08T13:56+00:00"),
    ("12:05 am on 8 May, 2023", "Asia/Shanghai", "2023-05-08T00:05+08:00"),
    ("2023/05/30 (Tue) 21:48", "America/New_York", "2023-05-30T21:48-04:00"),
    ("2023/05/30", "UTC", "2023-05-30T00:00+00:00"),
    ("8 May 2023", "UTC", "2023-05-08T00:00+00:00"),
    ("2023-04-27", "Asia/Shanghai", "2023-04-27T00:00+08:00"),
    ("2023-04-27T10:00:00+05:30", None, "2023-04-27T10:00+05:30"),
    ("2023-04-27T10:00:00+05:30", "UTC", "2023-04-27T10:00+05:30"),
    ("2023-04-27T10:00:00.123456Z", None, "2023-04-27T10:00:00.123456+00:00"),
    ("1683554160", None, "2023-05-08T13:56+00:00"),
    ("1683554160.25", None, "2023-05-08T13:56:00.250000+00:00"),
    ("1683554160250", None, "2023-05-08T13:56:00.250000+00:00"),
    ("1683554160250.5", None, "2023-05-08T13:56:00.250500+00:00"),
    ("1683554160", "Asia/Shanghai", "2023-05-08T21:56+08:00"),
    ("-1000000000.5", None, "1938-04-24T22:13:19.500000+00:00"),
]


@pytest.mark.parametrize(("text", "zone", "expected"), SAYINGS)
def test_a_source_may_say_its_time_in_many_forms(text: str, zone: str | None, expected: str) -> None:
    exact = datetime.fromisoformat(expected)
    when, offset = parse_said(text, zone=zone)
    assert (when, offset, when.tzinfo) == (exact, (exact.utcoffset() or timedelta()) // timedelta(minutes=1), UTC)


@pytest.mark.parametrize("text", ["2023-04-27", "2023-04-27T10:00", "1:56 pm on 8 May, 2023", "2023/05/30 (Tue) 21:48"])
def test_a_time_without_zone_is_refused_on_a_write(text: str) -> None:
    with pytest.raises(Invalid, match="name a default zone"):
        parse_said(text, zone=None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "0000-01-01T00:00Z",
        "10000-01-01T00:00Z",
        "13:56 pm on 8 May, 2023",
        "1:56 pm on 31 June, 2023",
        "1:56 pm on 8 Mayhem, 2023",
        "2023/02/30",
        "0001-01-01T00:00+05:00",
        "12345",
        "999999999999999",
        "nan",
        "\ud800",
    ],
)
def test_a_saying_that_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        parse_said(text, zone="UTC")
    assert refusal.value.field == "time"


@given(st.text(max_size=40), st.sampled_from(["UTC", "Asia/Shanghai"]))
def test_any_text_is_read_or_refused(text: str, zone: str) -> None:
    for read in (lambda: parse_when(text, zone=zone, now=NOW, end=True), lambda: parse_said(text, zone=zone)):
        with suppress(Invalid):
            read()


WORDS = sorted(
    {word for rule in timex_en.RULES + timex_en_digits.RULES for need in (*rule.needs, rule.begins) for word in need}
)
SPOKEN = st.lists(
    st.one_of(
        st.sampled_from(
            [*WORDS, *(word + "s" for word in WORDS), "half past", "o'clock", "in the evenings", "at nightfall"]
        ),
        st.sampled_from(["7", "12", "1990s", "3:30", "30/4", "5.7.2023", "2023-05-07", "2019 - 2021", "٢٠٢٣", "9am"]),
        st.sampled_from(
            ["seven", "twelve", "the", "at", "in", "of", "-", "to", ",", "前天", "三月", "去年夏天", "下周三"]
        ),
    ),
    max_size=6,
)


@settings(max_examples=500)
@given(SPOKEN, st.sampled_from([" ", "", "-", ". "]))
def test_no_rule_that_matches_is_passed_over(spoken: list[str], between: str) -> None:
    low = between.join(spoken).lower()
    rules, simple = timex._candidates(low)
    applied = {rule.pattern: rule for rule in rules}
    for rule in timex_en.RULES + timex_en_digits.RULES + (() if low.isascii() else timex_zh.RULES):
        matches = [match.span() for match in re.finditer(rule.pattern, simple)]
        if matches:
            assert [match.span() for match in applied[rule.pattern].matches(simple)] == matches
            assert not rule.holds or any(part in simple for part in rule.holds)
