"""Time expressions in English and Chinese, resolved by rule against the moment they were said.

The rules are in `timex_en` and `timex_zh`, the arithmetic in `timex_calendar`; `timex_join` hears neighbours together.
Of readings that overlap the longest wins. What names no day in years 1-9999 is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Final

from mnemic.core import timex_en, timex_en_digits, timex_en_words, timex_zh, timex_zh_words
from mnemic.core.clock import micros, moment, offset_minutes, time_zone
from mnemic.core.timex_calendar import Anchor, Atom, Rule
from mnemic.core.timex_join import join, longest
from mnemic.errors import Invalid

_MINUTE: Final = 60_000_000
_EPOCH: Final = datetime(1970, 1, 1).toordinal() * 1440
_EARLIEST: Final = micros(datetime.min.replace(tzinfo=UTC))
_LATEST: Final = micros(datetime.max.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A span of time that words of a text name.

    Attributes:
        start: Microseconds since 1970 UTC, inclusive.
        end: Exclusive.
        text: The words that said so.
        kind: "day", "week", "month", "year", "weekend", "season", "part" (of a day), "range" or "hour".
    """

    start: int
    end: int
    text: str
    kind: str


def find_times(text: str, said: int, offset: int = 0) -> list[TimeSpan]:
    """Find the time expressions in a text, in order of place.

    Args:
        said: When it was said, microseconds since 1970; relative expressions are resolved against this.
        offset: Minutes east of UTC on the speaker's clock.
    """
    anchor = Anchor.at(said // _MINUTE + offset + _EPOCH)
    if anchor is None:
        return []
    spans = (_utc(atom, text, offset) for atom in _atoms(text, anchor))
    return [span for span in spans if span.start < span.end]


def _utc(atom: Atom, text: str, offset: int) -> TimeSpan:
    start, end = ((minutes - _EPOCH - offset) * _MINUTE for minutes in atom.span or (0, 0))
    return TimeSpan(max(start, _EARLIEST), min(end, _LATEST), text[atom.lo : atom.hi], atom.kind)


def _atoms(text: str, anchor: Anchor) -> list[Atom]:
    low = _lower(text)
    rules, low = _candidates(low)
    atoms = [atom for rule in rules for atom in rule.find(low, text, anchor)]
    return join(longest(atoms), low, anchor) if atoms else []


def _lower(text: str) -> str:
    """Lower a text's case with every character in its place ("İ" lowers to two)."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _candidates(low: str) -> tuple[tuple[Rule, ...], str]:
    """Choose the rules whose words occur at all, and the text they read: most messages name no time and stop here."""
    rules = _ENGLISH.applicable(_english_words(low))
    if low.isascii():
        return rules, low
    characters = set(low)
    simple = timex_zh_words.simplified(low, characters)
    return rules + _CHINESE.applicable(characters if simple is low else set(simple)), simple


def _english_words(low: str) -> set[str]:
    """The words of a lower-case text, "0" if it holds a digit, "0000" if four together, and marks between digits."""
    spelled = set(_WORD.findall(low))
    if _ANY_DIGIT.search(low):
        spelled.add("0")
        spelled.update(_BETWEEN_DIGITS.findall(low))
        if _FOUR_DIGITS.search(low):
            spelled.add("0000")
    return spelled


_WORD: Final = re.compile("[a-z]+")
_ANY_DIGIT: Final = re.compile(r"\d")
_FOUR_DIGITS: Final = re.compile(r"\d\d\d\d")
_BETWEEN_DIGITS: Final = re.compile(r"\d ?([:/.–-])(?= ?\d)")
_KEPT: Final = 4096
"""Sets of words of which it is kept which rules apply to them: texts of a kind share a few hundred."""


class _Language:
    """The rules of one language, and the words that they go by."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._rules = rules
        self._words = frozenset(word for rule in rules for words in (*rule.needs, rule.begins) for word in words)
        self._needing: dict[str, list[int]] = {}
        for place, rule in enumerate(rules):
            for word in rule.needs[0]:
                self._needing.setdefault(word, []).append(place)
        self._known = lru_cache(maxsize=_KEPT)(self._applying)

    def applicable(self, words: set[str]) -> tuple[Rule, ...]:
        return self._known(self._words & words)

    def _applying(self, words: frozenset[str]) -> tuple[Rule, ...]:
        places = sorted({place for word in words for place in self._needing.get(word, ())})
        narrowed = (self._rules[place].among(words) for place in places)
        return tuple(rule for rule in narrowed if rule is not None)


_ENGLISH: Final = _Language(timex_en.RULES + timex_en_digits.RULES)
_CHINESE: Final = _Language(timex_zh.RULES)


# Moments that a person or a source names outright


def parse_when(text: str, *, zone: str, now: int, end: bool) -> int:
    """Parse a time that a reader typed, to microseconds since 1970.

    Takes an ISO date or datetime, or one expression as `find_times` reads it ("yesterday", "last March", "去年三月").
    A datetime without zone is on the clock of `zone`.

    Args:
        zone: The reader's time zone, an IANA name.
        now: When it is asked, microseconds; relative expressions are resolved against this.
        end: Of what lasts (a bare date, a month) the last microsecond, rather than the first.

    Raises:
        Invalid: no single time can be read, or it leaves years 1-9999.
    """
    clock, asked = time_zone(zone), text.strip()
    if asked.lower() == "now":
        return now
    exact = None if _is_date(asked) else _iso(asked)
    if exact is not None:
        return micros(exact if exact.tzinfo else exact.replace(tzinfo=clock))
    first, after = _whole(asked, moment(now).astimezone(clock))
    return micros(_last(after, clock) if end else _local(first, clock))


def _whole(asked: str, now: datetime) -> tuple[int, int]:
    """Find the span of a text that is one time expression, in minutes on the reader's clock."""
    anchor = Anchor.at(now.toordinal() * 1440 + now.hour * 60 + now.minute)
    atoms = _atoms(asked, anchor) if anchor else []
    for atom in atoms:
        if atom.span and not asked[atom.hi :].strip(" .,。") and _FILLER.fullmatch(asked[: atom.lo]):
            return atom.span
    raise _unreadable(asked)


_FILLER: Final = re.compile(r"(?:(?:in|on|at|by|as of|before|until|during|the|在|到)\s*)*", re.IGNORECASE)
_DATE_FIRST: Final = re.compile(r"(?P<month>[0-9]{4}-[0-9]{2})-[0-9]{2}(?![0-9])")
_FORMS: Final = "Give a date such as 2026-02-01, a time such as 2026-02-01T18:30+01:00, or words such as 'last March'."


def _unreadable(text: str) -> Invalid:
    if (day := _DATE_FIRST.match(text)) and not _is_date(day[0]) and _is_date(f"{day['month']}-01"):
        return Invalid("time", f"{text[:60]!r} names a day that its month does not have", _FORMS)
    problem = f"{text[:60]!r} is not a time in years 1-9999 that we can read" if text else "is empty"
    return Invalid("time", problem, _FORMS)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _local(minutes: int, clock: tzinfo) -> datetime:
    return (datetime.min + timedelta(minutes=minutes - 1440)).replace(tzinfo=clock)


def _last(minutes: int, clock: tzinfo) -> datetime:
    """Find the last microsecond before a local time; where the clock is turned back, the later of the two."""
    last = datetime.min + timedelta(minutes=minutes - 1440, microseconds=-1)
    return last.replace(tzinfo=clock, fold=1)


def parse_said(text: str, *, zone: str | None) -> tuple[datetime, int]:
    """Parse a source's time stamp: aware, in UTC, with the minutes east of UTC of the source's clock.

    Takes ISO 8601, "1:56 pm on 8 May, 2023", "2023/05/30 (Tue) 21:48", a date alone (its first moment), and seconds or
    milliseconds since 1970.

    Args:
        zone: The IANA name of the zone to assume where the text names none; None refuses such texts.

    Raises:
        Invalid: no time can be read, it leaves years 1-9999, or it has no zone and none is assumed.
    """
    given = text.strip()
    when = _epoch(given) or _iso(given) or _spoken(given)
    if when is None:
        raise _unreadable(given)
    if when.tzinfo is None:
        if zone is None:
            raise Invalid(
                "time", f"{given[:60]!r} has no time zone", "Add one, such as +00:00, or name a default zone."
            )
        when = when.replace(tzinfo=time_zone(zone))
    elif _EPOCH_FORM.fullmatch(given) and zone is not None:
        when = _shown(when, time_zone(zone))
    return moment(micros(when)), offset_minutes(when)


_EPOCH_FORM: Final = re.compile(r"(-?[0-9]{9,14})(?:\.([0-9]{1,9}))?")
_MILLISECONDS_FROM: Final = 10**11
"""Larger numbers are milliseconds: as seconds they would lie after the year 5138."""


def _epoch(text: str) -> datetime | None:
    match = _EPOCH_FORM.fullmatch(text)
    if match is None:
        return None
    whole = int(match[1])
    unit = 1000 if abs(whole) >= _MILLISECONDS_FROM else 1_000_000
    part = int((match[2] or "0").ljust(9, "0")) * unit // 10**9
    try:
        return moment(whole * unit + (-part if whole < 0 else part))
    except OverflowError as error:
        raise _unreadable(text) from error


def _shown(when: datetime, clock: tzinfo) -> datetime:
    try:
        return when.astimezone(clock)
    except OverflowError as error:
        raise _unreadable(when.isoformat()) from error


_SPOKEN: Final = re.compile(
    r"(?:(?P<hour>\d{1,2}):(?P<minute>\d\d) ?(?P<half>[ap])\.?m\.?,? (?:on )?)?"
    r"(?P<dom>\d{1,2}) (?P<month>[a-z]{3,9})\.?,? (?P<year>\d{4})",
    re.IGNORECASE | re.ASCII,
)
_SLASHED: Final = re.compile(
    r"(\d{4})/(\d{1,2})/(\d{1,2})(?: ?\([A-Za-z]{2,9}\))?(?: (\d{1,2}):(\d\d)(?::(\d\d))?)?", re.ASCII
)


def _spoken(text: str) -> datetime | None:
    try:
        if match := _SLASHED.fullmatch(text):
            year, month, dom, hour, minute, second = (int(part or 0) for part in match.groups())
            return datetime(year, month, dom, hour, minute, second)
        if match := _SPOKEN.fullmatch(text):
            hour = timex_en_digits.twelve(int(match["hour"] or 12), match["half"] or "a")
            month = timex_en_words.month_named(match["month"])
            return datetime(int(match["year"]), month, int(match["dom"]), hour, int(match["minute"] or 0))
    except ValueError as error:
        raise _unreadable(text) from error
    return None
