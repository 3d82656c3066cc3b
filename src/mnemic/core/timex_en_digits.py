"""How English names times in digits: dates, years, decades, the clock; one rule for each way.

Conventions where English is ambiguous: 05/07/2023 is month first, unless the first number cannot be a month; 5.7.2023
is day first. A clock time means the hour that begins there. "The 90s" is the latest that has begun.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.timex_calendar import (
    DAY,
    Anchor,
    Atom,
    Repeats,
    Rule,
    Span,
    atom,
    before,
    clock_atom,
    day_of,
    days,
    hour,
    month_day,
    months,
    one_day,
    open_atom,
    rule,
    years,
)
from mnemic.core.timex_en_words import (
    COUNTED,
    DECADES,
    DIGIT,
    FOUR_DIGITS,
    NUMBERS,
    SHIFTS,
    SMALL,
)

_ON: Final = re.compile(r"\b(?:on|since|until|till|by|from|before|after|of) \Z")


# Dates in digits


@rule(
    r"(?<![\d./-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:t(\d{1,2}):(\d{2})(?::\d{2}(?:\.\d+)?)?z?)?(?![\d-])",
    "-/.",
    begins=DIGIT,
)
def _iso(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    day = day_of(int(match[1]), int(match[3]), int(match[4]))
    if match[5] is None:
        return atom(match, "day", one_day(day))
    first, after = hour(_minutes(int(match[5]), int(match[6])))
    return atom(match, "hour", (day * DAY + first, day * DAY + after))


@rule(r"(?<![\d/.-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|(?<=/)\d{2})(?![\d/-])(?!\.\d)", "-/.", begins=DIGIT)
def _slashed(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    month, dom, year = int(match[1]), int(match[3]), int(match[4])
    if match[2] == "." or month > 12:
        month, dom = dom, month
    return atom(match, "day", one_day(day_of(year + 2000 * (len(match[4]) == 2), month, dom)))


@rule(
    r"\b(?:on|by|since|until|till|before|after|from) "
    r"(?P<date>(1[0-2]|0?[1-9])/(3[01]|[12]\d|0?[1-9]))(?![\d/.%-])(?! of\b)",
    "/",
)
def _slashed_short(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    what = Repeats("day", month=int(match[2]), dom=int(match[3]))
    return Atom(match.start("date"), match.end(), "day", what.latest(a.day), repeats=what)


@rule(r"(?<![\d/.-])(19\d\d|20\d\d)-(0[1-9]|1[0-2])(?![\w/-])(?!\.\d)", "-", begins=DIGIT)
def _year_month(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return atom(match, "month", months(int(match[1]), int(match[2])))


_NOT_YEAR: Final = re.compile(
    r"\b(?:room|number|no\.?|page|route|windows|version|flight|code|pin|top|model|area|building|office) \Z"
)


@rule(
    rf"(?<![\w$£€¥#.,:/+*=《-])(?:19\d\d|20\d\d|2100)(?![\w:/%+*=°$€£]|[.,-]\d){COUNTED}",
    FOUR_DIGITS,
    begins=DIGIT,
)
def _year(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    if _NOT_YEAR.search(before(match.string, match.start())):
        return None
    return atom(match, "year", years(int(match[0])))


@rule(r"(?<![\w$#.,:/-])(19\d\d|20\d\d) ?[-–] ?(19\d\d|20\d\d)(?![\w:/%-]|[.,]\d)", "-–", begins=DIGIT)
def _years(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return atom(match, "range", days(years(int(match[1]))[0] // DAY, years(int(match[2]))[1] // DAY))


@rule(r"\b(?:the )?(1\d\d0|20\d0)'?s\b|\bthe '?(\d0)'?s\b(?! ?%)|(?<!\w)'(\d0)s\b", "s", DIGIT)
def _decade(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return _ten_years(match, int(match[1] or match[2] or match[3]), a)


@rule(rf"\bthe ({'|'.join(DECADES)})\b", DECADES)
def _decade_word(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return _ten_years(match, 10 * DECADES.index(match[1]) + 20, a)


def _ten_years(match: re.Match[str], first: int, a: Anchor) -> Atom:
    if first < 100:
        first += a.year - a.year % 100
        first -= 100 * (first > a.year)
    return atom(match, "range", years(first, 10))


@rule(
    r"\bthe (?P<dom>\d{1,2})(?:st|nd|rd|th)(?: of (?P<which>last|this|next|the) month)?"
    r"(?=[,.!?;)]|$| (?:and|we|i|at|to|but|so|because)\b)",
    ("st", "nd", "rd", "th"),
)
def _on_the(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    dom, shift = int(match["dom"]), SHIFTS.get(match["which"] or "this", 0)
    if not match["which"] and not _ON.search(before(match.string, match.start())):
        return None
    if not match["which"]:
        return open_atom(match, Repeats("day", dom=dom), a)
    return atom(match, "day", one_day(month_day(a, shift, dom)))


@rule(r"\bq([1-4])(?:,? (?:of )?((?:19|20)\d\d))?\b", {"q"}, DIGIT)
def _quarter(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    if not match[2] and not raw[match.start()].isupper():
        return None
    return atom(match, "range", months(int(match[2] or a.year), 3 * int(match[1]) - 2, 3), weak=not match[2])


# The clock


def _minutes(hours: int, minutes: int) -> int:
    if hours > 23 or minutes > 59:
        raise ValueError("no such time of day")
    return 60 * hours + minutes


def twelve(hours: int, half: str) -> int:
    """The hour of the day of a twelve-hour clock; `half` is "a" or "p". Raises ValueError if there is no such hour."""
    if not 1 <= hours <= 12:
        raise ValueError("no such hour")
    return hours % 12 + 12 * (half.lower() == "p")


@rule(
    r"(?<![\d:.,/$])(\d{1,2})(?:[:.](\d{2}))?(?::\d{2})? ?([ap])(?:m\b|\.m\b\.?)",
    DIGIT,
    ("am", "pm", "a", "p"),
    begins=DIGIT,
)
def _clock_half(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    minute = _minutes(twelve(int(match[1]), match[3]), int(match[2] or 0))
    return clock_atom(match, hour(minute), a, kind="hour", weak=False)


@rule(r"(?<![\d:.,/$-])(\d{1,2}):(\d{2})(?::\d{2})?(?![\d:/]| ?[ap]\.?m\b)", ":", begins=DIGIT)
def _clock(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    hours = int(match[1])
    sure = len(match[1]) == 2 or bool(_AT.search(before(match.string, match.start())))
    return clock_atom(
        match, _hour(hours, int(match[2])), a, kind="hour", weak=not sure, vague=0 < hours < 12 and match[1][0] != "0"
    )


def _hour(hours: int, minutes: int) -> Span:
    return hour(_minutes(hours, minutes))


_AT: Final = re.compile(r"\b(?:at|by|around|until|till|since|from|before|after) \Z")
_CLOCK_WORDS: Final = "(?P<hour>" + "|".join(SMALL[:12]) + r"|\d{1,2})"


@rule(
    rf"(?<![\d:.])\b{_CLOCK_WORDS}(?: o'clock| in the (?P<part>morning|afternoon|evening)| at (?P<night>night))+",
    ("clock", "the", "at"),
    holds=(" o'clock", " in the morning", " in the afternoon", " in the evening", " at night"),
)
def _clock_spoken(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    word = match["hour"]
    hours = int(word) if word.isdigit() else NUMBERS[word][0]
    part = match["part"] or match["night"]
    if part:
        hours = twelve(hours, "a" if part == "morning" else "p")
    return clock_atom(match, _hour(hours, 0), a, kind="hour", weak=part is None, vague=part is None)


RULES: Final[tuple[Rule, ...]] = (
    _iso,
    _slashed,
    _slashed_short,
    _year_month,
    _year,
    _years,
    _decade,
    _decade_word,
    _on_the,
    _quarter,
    _clock_half,
    _clock,
    _clock_spoken,
)
