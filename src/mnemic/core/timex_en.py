"""How English names times in words: one rule for each way, read against the speaker's calendar.

Conventions where English is ambiguous: "last Friday" is the latest before today, "next Friday" the first after today,
"this Friday" the one of this week, Monday to Sunday. A month, season, date or weekday alone is the latest that has
begun, unless its clause tells of what is ahead (`timex_tense`).
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.timex_calendar import (
    DAY,
    PARTS,
    SEASONS,
    WEEKEND,
    Anchor,
    Atom,
    Repeats,
    Rule,
    atom,
    away_about,
    before,
    calendar_unit,
    clock_atom,
    day_of,
    days,
    hour,
    months,
    one_day,
    open_atom,
    rule,
    stretch,
    weekly,
    window,
)
from mnemic.core.timex_en_words import (
    COUNTED,
    DATED,
    DOM,
    DOM_WORDS,
    FOUR_DIGITS,
    FULL_MONTH,
    MONTH,
    MONTH_WORDS,
    NAMED_PARTS,
    NUMBER,
    ORDINALS,
    PICK,
    PICK_WORDS,
    SEASON_NAMES,
    SHIFTS,
    TO,
    UNIT_WORDS,
    UNITS,
    UNITS_WORDS,
    WEEKDAY,
    WEEKDAY_WORDS,
    WEEKDAYS,
    YEAR,
    dom_of,
    month_named,
    quantity,
)

_EVERY: Final = re.compile(r"\b(?:every|each|most|any)(?: other| single)? \Z")
_NAMED_DAY: Final = re.compile(r"\b(?:black|good|cyber|ash|super|palm|easter|bloody|casual|holy|shrove|giving) \Z")
_LEAD: Final = re.compile(
    r"\b(?:in|since|of|until|till|by|during|from|through|before|after|around|about|early|mid|late)[ -](?:the )?\Z"
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
_SURNAME: Final = re.compile(" [A-Z][a-z]")
_DOES: Final = re.compile(
    r" (?:said|says|told|asked|called|came|loves|likes|smiled|laughed|texted|texts|thinks|thought)\b"
)


def _pick(match: re.Match[str], what: Repeats, a: Anchor) -> Atom:
    shift = SHIFTS[match["pick"].split()[-1]]
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


@rule(
    r"\b(?:tonight|this (morning|afternoon|evening)|last (night|evening))\b",
    ("tonight", "this", "last"),
    holds=("tonight", "this morning", "this afternoon", "this evening", "last night", "last evening"),
    begins=("tonight", "this", "last"),
)
def _part_of_now(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    first, after = PARTS[match[1] or match[2] or "night"]
    day = (a.day - bool(match[2])) * DAY
    return atom(match, "part", (day + first, day + after))


@rule(r"\bthe other (day|night|week)\b", ("other",), holds=("the other ",))
def _the_other_day(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    reach = 21 if match[1] == "week" else 7
    return atom(match, "range", days(a.day - reach, a.day))


_PARTS_OF_A_DAY: Final = ("morning", "afternoon", "evening", "night", "noon", "midday", "midnight", "lunchtime")


@rule(
    r"\b(?:early |late )?(morning|afternoon|evening|night|noon|midday|midnight|lunchtime)\b",
    _PARTS_OF_A_DAY,
    begins=("early", "late", *_PARTS_OF_A_DAY),
)
def _part(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    if match[1] in ("noon", "midday", "midnight"):
        minute = 24 * 60 if match[1] == "midnight" else 12 * 60
        return clock_atom(
            match, hour(minute), a, kind="hour", weak=not before(match.string, match.start()).endswith("at ")
        )
    return clock_atom(match, PARTS[NAMED_PARTS.get(match[1], match[1])], a, kind="part", weak=True)


# Weeks, months, years beside the present one


@rule(rf"\b{PICK} (?P<unit>weekend|week|month|quarter|year|decade)\b", PICK_WORDS, UNIT_WORDS, begins=PICK_WORDS)
def _unit(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    pick, unit = match["pick"].split()[-1], match["unit"]
    shift = SHIFTS[pick]
    running = pick == "past" or (pick == "last" and _WITHIN.search(before(match.string, match.start())))
    if running and unit != "weekend":
        return atom(match, "range", window(unit, 1, -1, a))
    return atom(match, _kind(unit), calendar_unit(unit, shift, a))


def _kind(unit: str) -> str:
    return "range" if unit in ("quarter", "decade") else unit


@rule(
    rf"\b(?:{NUMBER} (?:long |short |full |whole )?{UNITS}(?P<or> or (?:so|two|three))?"
    r" (?:ago|back|(?:from|before) (?:now|today)|hence))\b",
    UNITS_WORDS,
    ("ago", "back", "from", "before", "hence"),
    holds=(" ago", " back", " from now", " from today", " before now", " before today", " hence"),
)
def _ago(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    sign = 1 if match[0].endswith(("from now", "from today", "hence")) else -1
    return _from_now(match, sign, a)


@rule(
    rf"\bin (?:about |around |another |just |roughly )?{NUMBER} {UNITS}(?:(?:'s?)? time\b)?(?P<or>)(?! ago)",
    ("in",),
    UNITS_WORDS,
)
def _in(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    if match["unit"] in ("minute", "hour") or match[0] in ("in a day", "in one day"):
        return None
    if _RATE.search(before(match.string, match.start())):
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
    low, high = quantity(number)
    high = max(high, {" or two": 2, " or three": 3}.get(match["or"] or "", 0))
    return atom(match, *away_about(unit, (low, high), sign, a))


_WINDOWS: Final = PICK_WORDS - {"this", "upcoming"}


@rule(
    rf"\b(?:these )?(last|past|previous|next|coming) {NUMBER} {UNITS}",
    _WINDOWS,
    UNITS_WORDS,
    begins=_WINDOWS | {"these"},
)
def _window(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    if match["number"] in ("a", "an") or match["number"].startswith("half"):
        return None
    return atom(match, "range", window(match["unit"], quantity(match["number"])[1], SHIFTS[match[1]], a))


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
    rf"\bthe (?:{WEEKDAY}|(?P<unit>weekend|week|month|year)) (before last|after next)\b",
    ("before", "after"),
    ("last", "next"),
    holds=("before last", "after next"),
)
def _before_last(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    back = match[0].endswith("before last")
    if match["unit"]:
        return atom(match, match["unit"], calendar_unit(match["unit"], -2 if back else 2, a))
    what = weekly(WEEKDAYS.index(match["weekday"][:3]))
    start = (what.last(a) if back else what.earliest(a.day + 1))[0] // DAY
    return atom(match, "day", one_day(start + (-7 if back else 7)))


@rule(r"\b(?:over|on|at|during) (?P<unit>the weekend)\b(?! (?:of|before|after)\b)", ("weekend",))
def _the_weekend(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return Atom(match.start("unit"), match.end(), "weekend", WEEKEND.latest(a.day), repeats=WEEKEND)


# Days of the week


@rule(rf"\b(?:{PICK} )?{WEEKDAY}\b(?!\.?\w)", WEEKDAY_WORDS, begins=PICK_WORDS | WEEKDAY_WORDS)
def _weekday(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    word, lead = match["weekday"], before(match.string, match.start())
    what = weekly(WEEKDAYS.index(word[:3]))
    if _EVERY.search(lead) or _NAMED_DAY.search(lead):
        return None
    short = not word.endswith("day")
    capital = raw[match.start("weekday")].isupper()
    if short and not capital and (word in ("sat", "sun", "mon") or not (match["pick"] or lead.endswith("on "))):
        return None
    if match["pick"]:
        return _pick(match, what, a)
    return open_atom(match, what, a, weak=short and not _ON.search(lead))


@rule(rf"\b{NUMBER} {WEEKDAY}s ago\b", ("ago",), {word + "s" for word in WEEKDAY_WORDS})
def _weekdays_ago(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    low, high = quantity(match["number"])
    latest = weekly(WEEKDAYS.index(match["weekday"][:3])).last(a)[0] // DAY
    return atom(match, "day" if low == high else "range", days(latest - 7 * (high - 1), latest - 7 * (low - 1) + 1))


# Months and dates by name


def _month_number(match: re.Match[str]) -> int:
    return month_named(match["month"])


def _month_is_meant(match: re.Match[str], raw: str, *, sure: bool) -> bool:
    """Whether "may" or "march" beside a number is the month: by its capital, a year, a suffix or a preposition."""
    if match["month"] not in ("may", "march") or sure or raw[match.start("month")].isupper():
        return True
    return bool(_ON.search(before(match.string, match.start())))


def _dates(match: re.Match[str], a: Anchor, *, weak: bool) -> Atom:
    month, dom = _month_number(match), dom_of(match["dom"])
    if match["year"]:
        first = day_of(int(match["year"]), month, dom)
        what = None
    else:
        until = dom_of(match["until"]) if match["until"] else 0
        what = Repeats("range" if until else "day", month=month, dom=dom, until=until)
        first = what.latest(a.day)[0] // DAY
    if not match["until"]:
        return atom(match, "day", one_day(first), weak=weak, repeats=what)
    return atom(match, "range", days(first, first + dom_of(match["until"]) - dom + 1), weak=weak, repeats=what)


@rule(
    rf"\b{MONTH} (?:the )?(?P<dom>{DOM})(?:{TO}(?P<until>\d{{1,2}}(?:st|nd|rd|th)?)\b)?(?![:.]\d)(?:(?:,? |,){YEAR})?",
    MONTH_WORDS,
    DATED,
    begins=MONTH_WORDS,
)
def _month_first(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    sure = bool(match["year"]) or match["dom"][-1] in "tdh"
    word_dom = match["dom"] in ORDINALS
    return _dates(match, a, weak=not _month_is_meant(match, raw, sure=sure and not word_dom))


@rule(
    rf"(?<![\d:.,/-])\b(?P<dom>{DOM})(?:{TO}(?P<until>\d{{1,2}}(?:st|nd|rd|th)?))?"
    rf" (?P<of>of )?{MONTH}(?:(?:,? |,){YEAR})?",
    MONTH_WORDS,
    DATED,
    begins=DOM_WORDS,
)
def _day_first(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    if match["dom"] in ORDINALS and not match["of"]:
        return None
    return _dates(match, a, weak=not _month_is_meant(match, raw, sure=bool(match["of"] or match["year"])))


@rule(rf"\b{MONTH},? (?:of )?{YEAR}{COUNTED}", MONTH_WORDS, FOUR_DIGITS, begins=MONTH_WORDS)
def _month_of_year(match: re.Match[str], raw: str, a: Anchor) -> Atom:
    return atom(match, "month", months(int(match["year"]), _month_number(match)))


@rule(rf"\b(?:{PICK} )?{MONTH}(?! ?\d)", MONTH_WORDS, begins=PICK_WORDS | MONTH_WORDS)
def _month(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    what = Repeats("month", month=_month_number(match))
    lead, word = before(match.string, match.start()), match["month"]
    capital = raw[match.start("month")].isupper()
    if _EVERY.search(lead) or _DOES.match(match.string, match.end()):
        return None
    if match["pick"]:
        return None if match["pick"] == "this" and word not in FULL_MONTH and not capital else _pick(match, what, a)
    meant = word in FULL_MONTH or (_LEAD if capital else _PLAIN_LEAD).search(lead)
    if not _LEAD.search(lead) and capital and _SURNAME.match(raw, match.end()):
        return None
    return open_atom(match, what, a, weak=not meant) if meant or capital else None


# Seasons


@rule(
    rf"\b(?:{PICK} )?(?P<season>spring|summer|autumn|fall|winter)\b(?!-|time\b)",
    SEASON_NAMES,
    begins=PICK_WORDS | SEASON_NAMES.keys(),
)
def _season(match: re.Match[str], raw: str, a: Anchor) -> Atom | None:
    what, lead = SEASONS[SEASON_NAMES[match["season"]]], before(match.string, match.start())
    if _EVERY.search(lead):
        return None
    if match["pick"]:
        return _pick(match, what, a)
    return open_atom(match, what, a, weak=not _SEASON_LEAD.search(lead))


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
)
