"""The words that English names times with, and the patterns made of them."""

from __future__ import annotations

from typing import Final

from mnemic.core.timex_calendar import FEW, Quantity

MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
ORDINALS: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth",
    "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
)  # fmt: skip
SMALL: Final = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen",
)  # fmt: skip
NUMBERS: Final[dict[str, Quantity]] = {
    **{word: (n, n) for n, word in enumerate(SMALL, 1)},
    **{word: (n, n) for n, word in zip((20, 30, 40, 50), ("twenty", "thirty", "forty", "fifty"), strict=True)},
    "a": (1, 1),
    "an": (1, 1),
    "couple": (2, 3),
    "few": FEW,
    "several": (3, 7),
    "some": FEW,
}
DECADES: Final = ["twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"]
SEASON_NAMES: Final = {"spring": 0, "summer": 1, "autumn": 2, "fall": 2, "winter": 3}
SHIFTS: Final = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1, "upcoming": 1}
NAMED_PARTS: Final = {"lunchtime": "noon", "midnight": "night", "tonight": "night"}

MONTH_WORDS: Final = frozenset((
    *MONTHS,
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december", "sept",
))  # fmt: skip
WEEKDAY_WORDS: Final = frozenset((
    *WEEKDAYS,
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "tues", "thur", "thurs",
))  # fmt: skip
UNIT_WORDS: Final = frozenset((
    "minute", "hour", "day", "week", "weekend", "fortnight", "month", "quarter", "year", "decade",
))  # fmt: skip
UNITS_WORDS: Final = UNIT_WORDS | {word + "s" for word in UNIT_WORDS}
PICK_WORDS: Final = frozenset(SHIFTS)
DIGIT: Final = frozenset("0")
"""What the word set of a text holds if the text holds any digit."""
FOUR_DIGITS: Final = frozenset({"0000"})
"""What it holds if four digits stand together."""
DATED: Final = DIGIT | {word.rpartition("-")[2] for word in ORDINALS}
"""A word of this is in any text that names a day of a month."""
DOM_WORDS: Final = DIGIT | {word.partition("-")[0] for word in ORDINALS}
"""A day of a month begins with one of these."""

MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b(?:\.(?= ?\d))?"
)
WEEKDAY: Final = (
    r"(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?"
    r"|sun(?:day)?)"
)
DOM: Final = r"(?:\d{1,2}(?:st|nd|rd|th)?|" + "|".join(sorted(ORDINALS, key=len, reverse=True)) + r")\b"
TO: Final = r" ?(?:-|–|to|through) ?"
YEAR: Final = r"(?P<year>\d{4})(?![\d:])"
PICK: Final = r"(?P<pick>(?:this )?(?:last|past|previous|next|coming|upcoming)|this)"
NUMBER: Final = (
    r"(?P<number>\d{1,4}|half an?|(?:a )?(?:couple(?: of)?|few)|(?:a )?good few|"
    + "|".join(sorted(NUMBERS, key=len, reverse=True))
    + ")"
)
UNITS: Final = r"(?P<unit>minute|hour|day|weekend|week|fortnight|month|quarter|year|decade)s?\b"
COUNTED: Final = (
    r"(?! ?(?:years?|months?|weeks?|days?|hours?|minutes?|seconds?|times|people|persons|users|members|students|guests"
    r"|(?:wo)?men|miles?|kms?|kilomet\w+|met(?:er|re)s?|f(?:ee|oo)?t|inches|yards|kgs?|kilos?|grams?|lbs?|pounds|tons?"
    r"|lit(?:er|re)s?|ml|dollars?|bucks|euros?|usd|eur|yuan|rmb|cents|percent|points?|votes|words|pages|steps"
    r"|calories|kcal|items|pieces|copies|files|lines|rows|records|tokens|mb|gb|tb|px|pixels|rpm|watts|volts|degrees"
    r"|songs|books|photos|followers|subscribers|square|sq|cc|mm|cm|mg|mah|hp)\b)"
)
"""What may not follow a number that is a year: what is counted."""

FULL_MONTH: Final = frozenset((
    "january", "february", "april", "june", "july", "august", "september", "october", "november", "december",
))  # fmt: skip


def quantity(number: str) -> Quantity:
    if number.isdigit():
        return int(number), int(number)
    word = number.removesuffix(" of").split()[-1]
    return NUMBERS[word]


def dom_of(text: str) -> int:
    return ORDINALS.index(text) + 1 if text in ORDINALS else int(text.rstrip("stndrh"))


def month_named(name: str) -> int:
    """1-12. Raises ValueError if `name` is no month or its abbreviation."""
    if name.lower() not in MONTH_WORDS:
        raise ValueError("no such month")
    return MONTHS.index(name[:3].lower()) + 1
