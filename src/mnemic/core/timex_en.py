"""How English names times: one rule for each way, read against the speaker's calendar.

Conventions where English is ambiguous: 05/07/2023 is month first, unless the first number cannot be a month; 5.7.2023 is
day first. "Last Friday" is the latest before today, "next Friday" the first after today, "this Friday" the one of this
week, Monday to Sunday. A month, season, date or weekday alone is the latest that has begun.
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
    Span,
    atom,
    away_about,
    before,
    calendar_unit,
    clock_atom,
    day_of,
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

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_ORDINALS: Final = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
    "twenty-first",
    "twenty-second",
    "twenty-third",
    "twenty-fourth",
    "twenty-fifth",
    "twenty-sixth",
    "twenty-seventh",
    "twenty-eighth",
    "twenty-ninth",
    "thirtieth",
    "thirty-first",
]
_SMALL: Final = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
]
_NUMBERS: Final[dict[str, Quantity]] = {
    **{word: (n, n) for n, word in enumerate(_SMALL, 1)},
    **{word: (n, n) for n, word in zip((20, 30, 40, 50), ("twenty", "thirty", "forty", "fifty"), strict=True)},
    "a": (1, 1),
    "an": (1, 1),
    "couple": (2, 3),
    "few": FEW,
    "several": (3, 7),
    "some": FEW,
}
_DECADES: Final = ["twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"]
_SEASONS: Final = {"spring": 0, "summer": 1, "autumn": 2, "fall": 2, "winter": 3}
_SHIFTS: Final = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1, "upcoming": 1}
_NAMED_PARTS: Final = {"lunchtime": "noon", "midnight": "night", "tonight": "night"}

_MONTH_WORDS: Final = frozenset(
    [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "sept",
    ]
) | frozenset(_MONTHS)
_WEEKDAY_WORDS: Final = frozenset(
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "tues", "thur", "thurs"]
) | frozenset(_WEEKDAYS)
_UNIT_WORDS: Final = frozenset(
    ["minute", "hour", "day", "week", "weekend", "fortnight", "month", "quarter", "year", "decade"]
)
_UNITS_WORDS: Final = _UNIT_WORDS | {word + "s" for word in _UNIT_WORDS}
_PICK_WORDS: Final = frozenset(_SHIFTS)
_DIGIT: Final = frozenset("0")
"""What the word set of a text holds if the text holds any digit."""

_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b(?:\.(?= ?\d))?"
)
_WEEKDAY: Final = r"(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
_DOM: Final = r"(?:\d{1,2}(?:st|nd|rd|th)?|" + "|".join(sorted(_ORDINALS, key=len, reverse=True)) + r")\b"
_TO: Final = r" ?(?:-|–|to|through) ?"
_YEAR: Final = r"(?P<year>\d{4})(?![\d:])"
_PICK: Final = r"(?P<pick>(?:this )?(?:last|past|previous|next|coming|upcoming)|this)"
_NUMBER: Final = (
    r"(?P<number>\d{1,4}|half an?|(?:a )?(?:couple(?: of)?|few)|(?:a )?good few|"
    + "|".join(sorted(_NUMBERS, key=len, reverse=True))
    + ")"
)
_UNITS: Final = r"(?P<unit>minute|hour|day|weekend|week|fortnight|month|quarter|year|decade)s?\b"
_COUNTED: Final = (
    r"(?! ?(?:years?|months?|weeks?|days?|hours?|minutes?|seconds?|times|people|persons|users|members|students|guests|men|women"
    r"|miles?|kms?|kilomet\w+|met(?:er|re)s?|feet|foot|ft|inches|yards|kgs?|kilos?|grams?|lbs?|pounds|tons?|liters?|litres?|ml"
    r"|dollars?|bucks|euros?|usd|eur|yuan|rmb|cents|percent|points?|votes|words|pages|steps|calories|kcal|items|pieces|copies"
    r"|files|lines|rows|records|tokens|mb|gb|tb|px|pixels|rpm|watts|volts|degrees|songs|books|photos|followers|subscribers"
    r"|square|sq|cc|mm|cm|mg|mah|hp)\b)"
)

_EVERY: Final = re.compile(r"\b(?:every|each|most|any)(?: other| single)? \Z")
_NAMED_DAY: Final = re.compile(r"\b(?:black|good|cyber|ash|super|palm|easter|bloody|casual|holy|shrove|giving) \Z")
_LEAD: Final = re.compile(
    r"\b(?:in|since|of|until|till|by|during|from|through|before|after|around|about|early|mid|late|last|next)[ -](?:the )?\Z"
)
_PLAIN_LEAD: Final = re.compile(r"\b(?:in|since|until|till|during|early|mid|late)[ -]\Z")
_ON: Final = re.compile(r"\b(?:on|since|until|till|by|from|before|after|of) \Z")
_SEASON_LEAD: Final = re.compile(
    r"\b(?:in|during|over|since|until|till|throughout|by|early|mid|late|this past)[ -](?:the )?\Z"
)
_WITHIN: Final = re.compile(r"\b(?:in|over|within|during|for) the \Z")
_RATE: Final = re.compile(
    r"\b(?:times?|once|twice|thrice|first|best|worst|ever|hours?|minutes?|days?|weeks?|months?) \Z"
)
_DOES: Final = re.compile(
    r" (?:said|says|told|asked|called|came|loves|likes|smiled|laughed|texted|texts|thinks|thought)\b"
)
_FULL_MONTH: Final = frozenset(
    ["january", "february", "april", "june", "july", "august", "september", "october", "november", "december"]
)


def words(low: str) -> set[str]:
    """The words of a lower-case text, and "0" if it holds a digit."""
    found = set(_WORD.findall(low))
    if _ANY_DIGIT.search(low):
        found.add("0")
    return found


_WORD: Final = re.compile("[a-z]+")
_ANY_DIGIT: Final = re.compile(r"\d")


def _quantity(number: str) -> Quantity:
    if number.isdigit():
        return int(number), int(number)
    word = number.removesuffix(" of").split()[-1]
    return _NUMBERS[word]


def _dom(text: str) -> int:
    return _ORDINALS.index(text) + 1 if text in _ORDINALS else int(text.rstrip("stndrh"))


def _pick(match: re.Match[str], what: Repeats, a: Anchor) -> Atom:
    shift = _SHIFTS[match["pick"].split()[-1]]
    if shift == 0:
        return atom(match, what.kind, what.this(a))
    return atom(match, what.kind, what.last(a) if shift < 0 else what.earliest(a.day + 1))


# Days beside the day of speaking


_DEICTIC: Final = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "today": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}


@rule(
    r"\b(?:the day before yesterday|the day after tomorrow|yesterday|today|tomorrow)\b",
    ("yesterday", "today", "tomorrow"),
)
def _deictic(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return atom(match, "day", one_day(a.day + _DEICTIC[match[0]]))


@rule(r"\b(?:tonight|this (morning|afternoon|evening)|last (night|evening))\b", ("tonight", "this", "last"))
def _part_of_now(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    first, after = PARTS[match[1] or match[2] or "night"]
    day = (a.day - bool(match[2])) * DAY
    return atom(match, "part", (day + first, day + after))


@rule(r"\bthe other (day|night|week)\b", ("other",))
def _the_other_day(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    reach = 21 if match[1] == "week" else 7
    return atom(match, "range", days(a.day - reach, a.day))


@rule(
    r"\b(?:early |late )?(morning|afternoon|evening|night|noon|midday|midnight|lunchtime)\b",
    ("morning", "afternoon", "evening", "night", "noon", "midday", "midnight", "lunchtime"),
)
def _part(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    if match[1] in ("noon", "midday", "midnight"):
        minute = 24 * 60 if match[1] == "midnight" else 12 * 60
        return clock_atom(match, hour(minute), a, kind="hour", weak=not raw[: match.start()].lower().endswith("at "))
    return clock_atom(match, PARTS[_NAMED_PARTS.get(match[1], match[1])], a, kind="part", weak=True)


# Weeks, months, years beside the present one


@rule(rf"\b{_PICK} (?P<unit>weekend|week|month|quarter|year|decade)\b", _PICK_WORDS, _UNIT_WORDS)
def _unit(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    pick, unit = match["pick"].split()[-1], match["unit"]
    shift = _SHIFTS[pick]
    running = pick == "past" or (pick == "last" and _WITHIN.search(before(raw.lower(), match.start())))
    if running and unit != "weekend":
        return atom(match, "range", window(unit, 1, -1, a))
    return atom(match, _kind(unit), calendar_unit(unit, shift, a))


def _kind(unit: str) -> str:
    return "range" if unit in ("quarter", "decade") else unit


@rule(
    rf"\b(?:{_NUMBER} (?:long |short |full |whole )?{_UNITS}(?P<or> or (?:so|two|three))? (?:ago|back|(?:from|before) (?:now|today)|hence))\b",
    _UNITS_WORDS,
    ("ago", "back", "from", "before", "hence"),
)
def _ago(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    sign = 1 if match[0].endswith(("from now", "from today", "hence")) else -1
    return _from_now(match, sign, a)


@rule(
    rf"\bin (?:about |around |another |just |roughly )?{_NUMBER} {_UNITS}(?:(?:'s?)? time\b)?(?P<or>)(?! ago)",
    ("in",),
    _UNITS_WORDS,
)
def _in(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    if match["unit"] in ("minute", "hour") or _RATE.search(before(raw.lower(), match.start())):
        return None
    return _from_now(match, 1, a)


_HALVES: Final = {"year": ("month", 6), "month": ("day", 15), "decade": ("year", 5), "hour": ("minute", 30)}


def _from_now(match: re.Match[str], sign: int, a: Anchor) -> Atom | None:
    number, unit = match["number"], match["unit"]
    if number.startswith("half"):
        if unit not in _HALVES:
            return None
        unit, count = _HALVES[unit]
        return atom(match, *away_about(unit, (count, count), sign, a))
    low, high = _quantity(number)
    high = max(high, {" or two": 2, " or three": 3}.get(match["or"] or "", 0))
    return atom(match, *away_about(unit, (low, high), sign, a))


@rule(rf"\b(?:these )?(last|past|previous|next|coming) {_NUMBER} {_UNITS}", _PICK_WORDS, _UNITS_WORDS)
def _window(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    if match["number"] in ("a", "an") or match["number"].startswith("half"):
        return None
    return atom(match, "range", window(match["unit"], _quantity(match["number"])[1], _SHIFTS[match[1]], a))


@rule(r"\b(earlier|later) (?:this|in the) (week|month|year)\b", ("earlier", "later"))
def _earlier(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    first, after = calendar_unit(match[2], 0, a)
    span = (first, a.day * DAY) if match[1] == "earlier" else ((a.day + 1) * DAY, after)
    return atom(match, "range", span if span[0] < span[1] else (first, after))


_ENDS: Final = {"start": "start", "beginning": "start", "middle": "middle", "end": "end"}


@rule(
    r"\b(start|beginning|middle|end) of the (week|month|year)\b(?! (?:before|after))", _ENDS, ("week", "month", "year")
)
def _end_of_the(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return atom(match, "range", stretch(_ENDS[match[1]], match[2], calendar_unit(match[2], 0, a)))


@rule(
    rf"\bthe (?:{_WEEKDAY}|(?P<unit>weekend|week|month|year)) (before last|after next)\b",
    ("before", "after"),
    ("last", "next"),
)
def _before_last(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    back = match[0].endswith("before last")
    if match["unit"]:
        return atom(match, match["unit"], calendar_unit(match["unit"], -2 if back else 2, a))
    what = weekly(_WEEKDAYS.index(match["weekday"][:3]))
    start = (what.last(a) if back else what.earliest(a.day + 1))[0] // DAY
    return atom(match, "day", one_day(start + (-7 if back else 7)))


@rule(r"\b(?:over|on|at|during) (?P<unit>the weekend)\b(?! (?:of|before|after)\b)", ("weekend",))
def _the_weekend(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return Atom(match.start("unit"), match.end(), "weekend", WEEKEND.latest(a.day), repeats=WEEKEND)


# Days of the week


@rule(rf"\b(?:{_PICK} )?{_WEEKDAY}\b(?!\.?\w)", _WEEKDAY_WORDS)
def _weekday(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    word, lead = match["weekday"], before(raw.lower(), match.start())
    what = weekly(_WEEKDAYS.index(word[:3]))
    if _EVERY.search(lead) or _NAMED_DAY.search(lead):
        return None
    short = not word.endswith("day")
    capital = raw[match.start("weekday")].isupper()
    if short and not capital and (word in ("sat", "sun", "mon") or not (match["pick"] or lead.endswith("on "))):
        return None
    if match["pick"]:
        return _pick(match, what, a)
    return open_atom(match, what, a, weak=short and not _ON.search(lead))


@rule(rf"\b{_NUMBER} {_WEEKDAY}s ago\b", ("ago",), {word + "s" for word in _WEEKDAY_WORDS})
def _weekdays_ago(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    low, high = _quantity(match["number"])
    latest = weekly(_WEEKDAYS.index(match["weekday"][:3])).last(a)[0] // DAY
    return atom(match, "day" if low == high else "range", days(latest - 7 * (high - 1), latest - 7 * (low - 1) + 1))


# Months and dates by name


def month_named(name: str) -> int:
    """1-12. Raises ValueError if `name` is no month or its abbreviation."""
    if name.lower() not in _MONTH_WORDS:
        raise ValueError("no such month")
    return _MONTHS.index(name[:3].lower()) + 1


def _month_number(match: re.Match[str]) -> int:
    return month_named(match["month"])


def _month_is_meant(match: re.Match[str], raw: str, *, sure: bool) -> bool:
    """Whether "may" or "march" beside a number is the month: by its capital, a year, a suffix or a preposition."""
    if match["month"] not in ("may", "march") or sure or raw[match.start("month")].isupper():
        return True
    return bool(_ON.search(before(raw.lower(), match.start())))


def _dates(match: re.Match[str], a: Anchor, *, weak: bool) -> Atom:
    month, dom = _month_number(match), _dom(match["dom"])
    if match["year"]:
        first = day_of(int(match["year"]), month, dom)
        what = None
    else:
        what = Repeats("day", month=month, dom=dom)
        first = what.latest(a.day)[0] // DAY
    if not match["until"]:
        return atom(match, "day", one_day(first), weak=weak, repeats=what)
    return atom(match, "range", days(first, first + _dom(match["until"]) - dom + 1), weak=weak)


@rule(
    rf"\b{_MONTH} (?:the )?(?P<dom>{_DOM})(?:{_TO}(?P<until>\d{{1,2}}(?:st|nd|rd|th)?)\b)?(?![:.]\d)(?:,? {_YEAR})?",
    _MONTH_WORDS,
)
def _month_first(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    sure = bool(match["year"]) or match["dom"][-1] in "tdh"
    word_dom = match["dom"] in _ORDINALS
    return _dates(match, a, weak=not _month_is_meant(match, raw, sure=sure and not word_dom))


@rule(
    rf"(?<![\d:.,/-])\b(?P<dom>{_DOM})(?:{_TO}(?P<until>\d{{1,2}}(?:st|nd|rd|th)?))? (?P<of>of )?{_MONTH}(?:,? {_YEAR})?",
    _MONTH_WORDS,
)
def _day_first(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    if match["dom"] in _ORDINALS and not match["of"]:
        return None
    return _dates(match, a, weak=not _month_is_meant(match, raw, sure=bool(match["of"] or match["year"])))


@rule(rf"\b{_MONTH},? (?:of )?{_YEAR}{_COUNTED}", _MONTH_WORDS, _DIGIT)
def _month_of_year(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return atom(match, "month", months(int(match["year"]), _month_number(match)))


@rule(rf"\b(?:{_PICK} )?{_MONTH}(?! ?\d)", _MONTH_WORDS)
def _month(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    what = Repeats("month", month=_month_number(match))
    lead, word = before(raw.lower(), match.start()), match["month"]
    capital = raw[match.start("month")].isupper()
    if _EVERY.search(lead) or _DOES.match(raw, match.end()):
        return None
    if match["pick"]:
        return None if match["pick"] == "this" and word not in _FULL_MONTH and not capital else _pick(match, what, a)
    meant = word in _FULL_MONTH or (_LEAD if capital else _PLAIN_LEAD).search(lead)
    return open_atom(match, what, a, weak=not meant) if meant or capital else None


# Seasons


@rule(rf"\b(?:{_PICK} )?(?P<season>spring|summer|autumn|fall|winter)\b(?!-|time\b)", _SEASONS)
def _season(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    what, lead = SEASONS[_SEASONS[match["season"]]], before(raw.lower(), match.start())
    if _EVERY.search(lead):
        return None
    if match["pick"]:
        return _pick(match, what, a)
    return open_atom(match, what, a, weak=not _SEASON_LEAD.search(lead))


# Dates in digits


@rule(r"(?<![\d./-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:t(\d{1,2}):(\d{2})(?::\d{2}(?:\.\d+)?)?z?)?(?![\d-])", _DIGIT)
def _iso(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    day = day_of(int(match[1]), int(match[3]), int(match[4]))
    if match[5] is None:
        return atom(match, "day", one_day(day))
    first, after = hour(_minutes(int(match[5]), int(match[6])))
    return atom(match, "hour", (day * DAY + first, day * DAY + after))


@rule(r"(?<![\d/.-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|(?<=/)\d{2})(?![\d/-])(?!\.\d)", _DIGIT)
def _slashed(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    month, dom, year = int(match[1]), int(match[3]), int(match[4])
    if match[2] == "." or month > 12:
        month, dom = dom, month
    return atom(match, "day", one_day(day_of(year + 2000 * (len(match[4]) == 2), month, dom)))


@rule(
    r"\b(?:on|by|since|until|till|before|after|from) (?P<date>(1[0-2]|0?[1-9])/(3[01]|[12]\d|0?[1-9]))(?![\d/.%-])(?! of\b)",
    _DIGIT,
)
def _slashed_short(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    what = Repeats("day", month=int(match[2]), dom=int(match[3]))
    return Atom(match.start("date"), match.end(), "day", what.latest(a.day), repeats=what)


@rule(r"(?<![\d/.-])(19\d\d|20\d\d)-(0[1-9]|1[0-2])(?![\w/-])(?!\.\d)", _DIGIT)
def _year_month(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return atom(match, "month", months(int(match[1]), int(match[2])))


_NOT_YEAR: Final = re.compile(
    r"\b(?:room|number|no\.?|page|route|windows|version|flight|code|pin|top|model|area|building|office) \Z"
)


@rule(rf"(?<![\w$£€¥#.,:/+*=-])(?:19\d\d|20\d\d|2100)(?![\w:/%+*=°$€£]|[.,-]\d){_COUNTED}", _DIGIT)
def _year(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    if _NOT_YEAR.search(before(raw.lower(), match.start())):
        return None
    return atom(match, "year", years(int(match[0])))


@rule(r"(?<![\w$#.,:/-])(19\d\d|20\d\d) ?[-–] ?(19\d\d|20\d\d)(?![\w:/%-]|[.,]\d)", _DIGIT)
def _years(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return atom(match, "range", days(years(int(match[1]))[0] // DAY, years(int(match[2]))[1] // DAY))


@rule(r"\b(?:the )?(1\d\d0|20\d0)'?s\b|\bthe '?(\d0)'?s\b(?! ?%)|(?<!\w)'(\d0)s\b", _DIGIT)
def _decade(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return _ten_years(match, int(match[1] or match[2] or match[3]), a)


@rule(rf"\bthe ({'|'.join(_DECADES)})\b", _DECADES)
def _decade_word(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return _ten_years(match, 10 * _DECADES.index(match[1]) + 20, a)


def _ten_years(match: re.Match[str], first: int, a: Anchor) -> Atom:
    if first < 100:
        first += a.year - a.year % 100
        first -= 100 * (first > a.year)
    return atom(match, "range", years(first, 10))


@rule(
    r"\bthe (?P<dom>\d{1,2})(?:st|nd|rd|th)(?: of (?P<which>last|this|next|the) month)?(?=[,.!?;)]|$| (?:and|we|i|at|to|but|so|because)\b)",
    _DIGIT,
)
def _on_the(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    dom, shift = int(match["dom"]), _SHIFTS.get(match["which"] or "this", 0)
    if not match["which"] and not _ON.search(before(raw.lower(), match.start())):
        return None
    if not match["which"] and month_day(a, 0, dom) > a.day:
        shift = -1
    return atom(match, "day", one_day(month_day(a, shift, dom)))


@rule(r"\bq([1-4])(?:,? (?:of )?((?:19|20)\d\d))?\b", {"q"}, _DIGIT)
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
    r"(?<![\d:.,/$])(\d{1,2})(?:[:.](\d{2}))?(?::\d{2})? ?([ap])\.?m\b(?:\.(?! [A-Z]|$))?",
    _DIGIT,
    ("am", "pm", "a", "p"),
)
def _clock_half(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    minute = _minutes(twelve(int(match[1]), match[3]), int(match[2] or 0))
    return clock_atom(match, hour(minute), a, kind="hour", weak=False)


@rule(r"(?<![\d:.,/$-])(\d{1,2}):(\d{2})(?::\d{2})?(?![\d:/]| ?[ap]\.?m\b)", _DIGIT)
def _clock(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    hours = int(match[1])
    sure = len(match[1]) == 2 or bool(_AT.search(before(raw.lower(), match.start())))
    return clock_atom(
        match, _hour(hours, int(match[2])), a, kind="hour", weak=not sure, vague=0 < hours < 12 and match[1][0] != "0"
    )


def _hour(hours: int, minutes: int) -> Span:
    return hour(_minutes(hours, minutes))


_AT: Final = re.compile(r"\b(?:at|by|around|until|till|since|from|before|after) \Z")
_CLOCK_WORDS: Final = "(?P<hour>" + "|".join(_SMALL[:12]) + r"|\d{1,2})"


@rule(
    rf"(?<![\d:.])\b{_CLOCK_WORDS}(?: o'clock| in the (?P<part>morning|afternoon|evening)| at (?P<night>night))+",
    ("clock", "the", "at"),
)
def _clock_spoken(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    word = match["hour"]
    hours = int(word) if word.isdigit() else _NUMBERS[word][0]
    part = match["part"] or match["night"]
    if part:
        hours = twelve(hours, "a" if part == "morning" else "p")
    return clock_atom(match, _hour(hours, 0), a, kind="hour", weak=part is None, vague=part is None)


RULES: Final[tuple[Rule, ...]] = (
    _deictic,
    _part_of_now,
    _the_other_day,
    _part,
    _unit,
    _ago,
    _in,
    _window,
    _earlier,
    _end_of_the,
    _before_last,
    _the_weekend,
    _weekday,
    _weekdays_ago,
    _month_first,
    _day_first,
    _month_of_year,
    _month,
    _season,
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
