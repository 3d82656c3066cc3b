"""How Chinese names times, in simplified and traditional characters: one rule for each way.

Conventions: weeks run from Monday; 周三 alone is the latest that has begun, unless its clause tells of what is ahead
(`timex_tense`), 这周三 the one of this week; 年底 is November and December, 年初 January and February; 几 and 数 mean
two to five; 晚上 runs to four the next morning. Festivals and the lunar calendar are not read.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.timex_calendar import (
    DAY,
    FEW,
    PARTS,
    SEASONS,
    WEEKEND,
    Anchor,
    Atom,
    Quantity,
    Repeats,
    Rule,
    atom,
    away_about,
    before,
    calendar_unit,
    clock_atom,
    days,
    hour,
    month_day,
    months,
    one_day,
    open_atom,
    rule,
    stretch,
    weekly,
    window,
    years,
)
from mnemic.core.timex_zh_words import (
    NUMBER,
    NUMERAL,
    PART,
    PART_NAMES,
    PICK,
    SHIFTS,
    STRETCH_NAMES,
    UNIT_NAMES,
    numeral,
)

_EVERY: Final = re.compile("(?:每|每个|逢|各|各个|双)$")


def _year_number(text: str, a: Anchor) -> int:
    year = numeral(text)
    if len(text) > 2:
        return year
    return year + 2000 - 100 * (year + 2000 > a.year + 20)


# Days beside the day of speaking


@rule(
    "(?:大前|大后|(?<![目之以从眼面空提当年月日天])前|(?<![之以然最今雨背])后|昨|今|(?<![聪证光透文])明)(?:天|日|儿个?)(?!头条|方舟)"
    "|[昨今明前后](?:晚上?|夜里?|早上?|晨)",
    "天日儿晚夜早晨",
    "昨今明前后",
)
def _day(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    which = match[0].rstrip("天日儿个晚上夜里早晨")
    part = match[0][len(which)]
    if part == "日" and which in ("前", "后"):
        return None
    day = a.day + SHIFTS[which]
    if part not in PART_NAMES:
        return atom(match, "day", one_day(day))
    first, after = PARTS[PART_NAMES[part]]
    return atom(match, "part", (day * DAY + first, day * DAY + after))


@rule("前(?:几|两|些)天|这(?:几|两)天|前阵子|前段时间|不久前", "天阵段久", "前这")
def _these_days(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    word = match[0]
    if "天" not in word:
        return atom(match, "range", days(a.day - 60, a.day))
    reach = 3 if "两" in word else 7
    return atom(match, "range", days(a.day - reach, a.day) if word[0] == "前" else days(a.day - 3, a.day + 2))


# Days of the week


@rule(
    rf"(?<![晚早以]){PICK}(?:周|星期|礼拜)(?![围遭密折旋年岁])(?:(?P<weekday>[一二三四五六日天])(?![次个位遍项件种])|(?P<end>末))?",
    "周星礼",
    "上下本这",
)
def _week(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    shift = SHIFTS[match["pick"]]
    if match["end"]:
        return atom(match, "weekend", calendar_unit("weekend", shift, a))
    if match["weekday"]:
        return atom(match, "day", weekly(_weekday_number(match)).in_week(a.day + 7 * shift))
    return atom(match, "week", calendar_unit("week", shift, a))


def _weekday_number(match: re.Match[str]) -> int:
    return min("一二三四五六日天".index(match["weekday"]), 6)


@rule(
    rf"(?<![\d{NUMERAL}几半每逢整双四])(?:(?:星期|礼拜)(?P<weekday>[一二三四五六日天])|周(?P<short>[一二三四五六日]))(?![次个位遍项件种])",
    "周星礼",
    "一二三四五六日天",
)
def _weekday(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    if _EVERY.search(before(raw, match.start())):
        return None
    return open_atom(match, weekly(min("一二三四五六日天".index(match["weekday"] or match["short"]), 6)), a)


@rule("(?<![每上下这本个])周末(?![愉快]|快乐)", "周", "末")
def _weekend(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    return open_atom(match, WEEKEND, a)


# Months


@rule(
    rf"(?<![晚早以]){PICK}月(?![亮饼球色光薪台票])份?(?:(?P<part>初|底|末|中旬?|上旬|下旬)|(?P<dom>{NUMBER})[号日])?",
    "月",
    "上下本这",
)
def _month_beside(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    shift = SHIFTS[match["pick"]]
    if match["dom"]:
        return atom(match, "day", one_day(month_day(a, shift, numeral(match["dom"]))))
    return _in_part(match, "month", calendar_unit("month", shift, a))


def _in_part(match: re.Match[str], kind: str, span: tuple[int, int]) -> Atom:
    if match["part"] is None:
        return atom(match, kind, span)
    return atom(match, "range", stretch(STRETCH_NAMES[match["part"]], kind, span))


@rule(rf"(?<![\d{NUMERAL}个几上下这本年每岁日])月(?P<part>初|底|末)", "月", "初底末")
def _part_of_this_month(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return _in_part(match, "month", calendar_unit("month", 0, a))


_YEAR_BEFORE: Final = (
    r"(?:(?P<year>\d{4}|(?<!\d)\d{2}|[〇零一二三四五六七八九]{4}"
    r"|(?<![〇零一二三四五六七八九])[〇零一二三四五六七八九]{2})年)"
)


@rule(
    rf"(?<![第\d{NUMERAL}几]){_YEAR_BEFORE}?(?P<month>\d{{1,2}}|[一二三四五六七八九十]{{1,2}})月(?![亮饼球色光薪台票子嫂花]|革命|怀胎)"
    rf"(?:份|(?P<part>初|底|末|中旬?|上旬|下旬)|(?P<dom>{NUMBER})(?:[日号])?(?:[到至~～—–-]+(?P<until>{NUMBER}))?[日号])?",
    "月",
    frozenset("0123456789０１２３４５６７８９一二三四五六七八九十"),
)
def _date(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    month, year = numeral(match["month"]), _year_number(match["year"], a) if match["year"] else None
    if not 1 <= month <= 12:
        raise ValueError("no such month")
    dom, until = numeral(match["dom"] or "0"), numeral(match["until"] or "0")
    what = Repeats("range" if until else "day" if dom else "month", month=month, dom=dom, until=until)
    if match["dom"] and not what.dom:
        raise ValueError("no such day")
    span = what.in_year(year) if year is not None else what.latest(a.day)
    if match["until"]:
        reached = days(span[0] // DAY, span[0] // DAY + until - dom + 1)
        return atom(match, "range", reached, repeats=None if year is not None else what)
    if match["part"]:
        part = STRETCH_NAMES[match["part"]]
        return Atom(
            match.start(),
            match.end(),
            "range",
            stretch(part, "month", span),
            repeats=None if year else _stretched(what, part),
        )
    return atom(match, what.kind, span, repeats=None if year is not None else what)


def _stretched(what: Repeats, part: str) -> Repeats:
    """A part of a month that comes again: its year may stand in front of it."""
    return Repeats("range", month=what.month, part=part)


@rule(
    rf"(?<![第\d{NUMERAL}月年])(?P<dom>\d{{1,2}}|[{NUMERAL}]{{1,3}})号(?=$|[，。！？、；,.!?;\s]|那天|当天|[早晚我他她们去来到前后之以开要就是在的和与至回见]|[上下中]午)",
    "号",
)
def _day_of_month(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return open_atom(match, Repeats("day", dom=numeral(match["dom"])), a)


# Years, decades, seasons


_YEAR_PART: Final = "(?P<part>年?初|年?底|年?末|年中)?(?P<half>上半年|下半年)?"
_NO_YEAR: Final = "(?![轻纪龄级夕薪货糕幼])"


@rule(
    rf"(?:大前|大后|(?<![以之从目年百千万])前|(?<![以之然最随])后|(?<!过)去|今|明|本|来)年{_NO_YEAR}{_YEAR_PART}",
    "年",
    "前后去今明本来",
)
def _year_beside(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    shift = SHIFTS[match[0][: match[0].index("年")]]
    return _year_or_part(match, a.year + shift)


def _year_or_part(match: re.Match[str], year: int) -> Atom:
    if match["half"]:
        return atom(match, "range", months(year, 1 if match["half"][0] == "上" else 7, 6))
    return _in_part(match, "year", years(year))


@rule(
    rf"(?<![\d〇零一二三四五六七八九])(?P<year>(?:19|20)\d\d|2100|[一二][〇零一二三四五六七八九]{{3}})年(?!代|历史|的历史|来|间){_YEAR_PART}",
    "年",
)
def _year(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return _year_or_part(match, numeral(match["year"]))


@rule(
    rf"(?<![每新去今明前后来本\d{NUMERAL}百千半])(?:(?P<part>年初|年底|年末|年中)|(?P<half>上半年|下半年))",
    "年",
    "初底末中半",
)
def _part_of_this_year(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return _year_or_part(match, a.year)


@rule(r"(?:(?:上个?|二十|20)世纪)?(?P<decade>(?<!\d)\d{1,3}0|[二三四五六七八九]十)年代", "年", "代")
def _decade(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    first = numeral(match["decade"])
    if first < 100:
        first += a.year - a.year % 100
        first -= 100 * (first > a.year or "世纪" in match[0])
    return atom(match, "range", years(first, 10))


@rule("(?:(?P<pick>这个?|上个?|下个?))?(?P<season>[春夏秋冬])[天季]", "春夏秋冬", "天季")
def _season(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    what = SEASONS["春夏秋冬".index(match["season"])]
    pick = (match["pick"] or "")[:1]
    if not pick:
        return open_atom(match, what, a, weak=True)
    return atom(match, "season", {"这": what.this(a), "上": what.last(a), "下": what.earliest(a.day + 1)}[pick])


@rule("(?P<pick>上上|上|下|本|这)一?个?季度", "季", "度")
def _quarter(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return atom(match, "range", calendar_unit("quarter", SHIFTS[match["pick"]], a))


# So long ago, in so long, these last


_COUNT: Final = rf"(?P<count>好?几|数|若干|半|十?几|(?<!第){NUMBER})"
_UNIT: Final = "(?:个?(?P<unit>周末|星期|礼拜|小时|钟头|季度)|个(?P<month>月)|(?P<plain>天|日|周|年|分钟))"
_LAPSE_NEEDS: Final = ("天日周星礼月年小钟分季",)


def _count(match: re.Match[str]) -> Quantity:
    word = match["count"]
    named = {"几": FEW, "数": FEW, "若干": FEW, "好几": (3, 9), "十几": (11, 19)}.get(word)
    return named or (numeral(word), numeral(word))


def _unit(match: re.Match[str]) -> str:
    return UNIT_NAMES[match["unit"] or match["month"] or match["plain"]]


_HALVES: Final = {"year": ("month", 6), "month": ("day", 15), "hour": ("minute", 30)}


@rule(
    rf"(?<![\d{NUMERAL}几月第年]){_COUNT}{_UNIT}(?P<half>半)?[多来]?(?:以|之)?(?P<side>前(?![面方提往进途辈线景])|后(?![面方悔果台代]))",
    *_LAPSE_NEEDS,
    "前后",
)
def _ago(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    return _lapse(match, -1 if match["side"] == "前" else 1, a)


def _lapse(match: re.Match[str], sign: int, a: Anchor) -> Atom | None:
    unit = _unit(match)
    if match["count"] == "半":
        if unit not in _HALVES:
            return None
        unit, half = _HALVES[unit]
        return atom(match, *away_about(unit, (half, half), sign, a))
    low, high = _count(match)
    if unit == "year" and "half" in match.re.groupindex and match["half"]:
        unit, low, high = "month", 12 * low + 6, 12 * high + 6
    return atom(match, *away_about(unit, (low, high), sign, a))


@rule(rf"(?<!不)再?过{_COUNT}{_UNIT}(?!前|以前|之前|了)", *_LAPSE_NEEDS, "过")
def _after(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    """过去 needs no guard: 去 is no number."""
    return _lapse(match, 1, a)


@rule(rf"(?P<way>过去|最近|近|这|未来|接下来|今后)的?(?:这)?{_COUNT}{_UNIT}", *_LAPSE_NEEDS, "过最近这未接今")
def _window(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    unit, ahead = _unit(match), match["way"] in ("未来", "接下来", "今后")
    if match["count"] == "半":
        if unit not in _HALVES:
            return None
        unit, high = _HALVES[unit]
    else:
        high = _count(match)[1]
    if match["way"] == "这" and high == 1:
        return None
    return atom(match, "range", window(unit, high, 1 if ahead else -1, a))


# Parts of a day, the clock


@rule(f"{PART}|(?<=[一二三四五六日天末号])(?P<short>[晚早])(?![上晨安饭会点了期日报间到来])", "晨早上中午晚夜")
def _part(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return clock_atom(match, PARTS[PART_NAMES[match["part"] or match["short"]]], a, kind="part", weak=True)


@rule(
    rf"{PART}?(?:的)?(?<![\d{NUMERAL}:：.第有差])(?P<hour>\d{{1,2}}|[{NUMERAL}]{{1,3}})"
    rf"(?:[点时](?![都也儿不没点半个小好]|东西|建议|心意|意思|关系)(?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<minute>\d{{1,2}}|[{NUMERAL}]{{1,3}})分?|(?P<sharp>钟|整))?|点(?P<half2>半)|[:：](?P<colon>\d{{2}})(?![\d:：]))",
    "点时:：",
)
def _clock(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    hours, minutes = numeral(match["hour"]), _minute(match)
    part = PART_NAMES.get(match["part"] or "")
    if hours > 24 or minutes > 59:
        raise ValueError("no such time of day")
    if part in ("afternoon", "evening", "night") and hours < 12:
        hours += 24 if part == "night" and hours < 5 else 12
    if part == "noon" and hours < 3:
        hours += 12
    if part == "night" and hours == 12:
        hours = 24
    is_plain = part or match["half"] or match["half2"] or match["sharp"] or (match["colon"] and len(match["hour"]) == 2)
    return clock_atom(
        match, hour(60 * hours + minutes), a, kind="hour", weak=not is_plain, vague=part is None and 0 < hours < 12
    )


def _minute(match: re.Match[str]) -> int:
    if match["half"] or match["half2"]:
        return 30
    if match["quarter"]:
        return 15 if match["quarter"] == "一" else 45
    return numeral(match["minute"] or match["colon"] or "0")


RULES: Final[tuple[Rule, ...]] = (
    _day,
    _these_days,
    _week,
    _weekday,
    _weekend,
    _month_beside,
    _part_of_this_month,
    _date,
    _day_of_month,
    _year_beside,
    _year,
    _part_of_this_year,
    _decade,
    _season,
    _quarter,
    _ago,
    _after,
    _window,
    _part,
    _clock,
)
