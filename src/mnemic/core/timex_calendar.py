"""The calendar under the time expressions: minutes on the speaker's own clock, and what a rule finds in a text.

A `Span` is `(start, end)` in minutes since midnight of day 0 of the proleptic Gregorian calendar (day 1 is 1 January of
year 1), on the speaker's clock, end exclusive. Integers reach the end of year 9999 where `datetime` overflows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int]
Quantity: TypeAlias = tuple[int, int]
"""The least and the most that a number word may mean: "three" is (3, 3), "a few" is (2, 5)."""

DAY: Final = 1440
LAST_DAY: Final = date.max.toordinal()
FEW: Final[Quantity] = (2, 5)

PARTS: Final[dict[str, Span]] = {
    "dawn": (0, 6 * 60),
    "morning": (5 * 60, 12 * 60),
    "noon": (11 * 60, 13 * 60),
    "afternoon": (12 * 60, 18 * 60),
    "evening": (17 * 60, 23 * 60),
    "night": (18 * 60, 28 * 60),
}
"""Parts of a day, in minutes after its midnight; a night runs to four the next morning."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The speaker's own calendar at the moment of speaking.

    Attributes:
        day: Days since day 0.
        minute: Minutes since midnight.
        weekday: 0 is Monday.
    """

    day: int
    minute: int
    year: int
    month: int
    weekday: int

    @classmethod
    def at(cls, minutes: int) -> Anchor | None:
        """The anchor `minutes` after midnight of day 0, or None outside years 1-9999."""
        day, minute = divmod(minutes, DAY)
        if not 1 <= day <= LAST_DAY:
            return None
        when = date.fromordinal(day)
        return cls(day, minute, when.year, when.month, when.weekday())


def days(first: int, after: int) -> Span:
    """Span from midnight of day `first` to midnight of day `after`.

    Raises:
        OverflowError: outside years 1-9999.
    """
    if not 1 <= first < after <= LAST_DAY + 1:
        raise OverflowError("outside years 1-9999")
    return first * DAY, after * DAY


def one_day(day: int) -> Span:
    return days(day, day + 1)


def day_of(year: int, month: int, dom: int) -> int:
    """Compute the day number of a date. Raises ValueError if there is no such date."""
    return date(year, month, dom).toordinal()


def month_start(year: int, month: int) -> int:
    """Compute the first day of a month; `month` may run past 1-12 into other years."""
    years, index = divmod(month - 1, 12)
    if (year + years, index) == (10000, 0):
        return LAST_DAY + 1
    return date(year + years, index + 1, 1).toordinal()


def months(year: int, month: int, count: int = 1) -> Span:
    return days(month_start(year, month), month_start(year, month + count))


def years(year: int, count: int = 1) -> Span:
    return months(year, 1, 12 * count)


def month_day(a: Anchor, shift: int, dom: int) -> int:
    """Number the day, the `dom`-th of the month `shift` after the present one. Raises ValueError if there is none."""
    first, after = months(a.year, a.month + shift)
    if not 1 <= dom <= (after - first) // DAY:
        raise ValueError("no such day in that month")
    return first // DAY + dom - 1


def week_of(day: int) -> Span:
    """Span the week, Monday to Sunday, that holds a day."""
    monday = day - (day - 1) % 7
    return days(monday, monday + 7)


@dataclass(frozen=True, slots=True)
class Repeats:
    """A time that comes again every week (`weekday` is set), every month (`month` is 0) or every year.

    Attributes:
        dom: Day of the month, or 0 for the whole of it.
        until: Its last day of the month, if it lasts several days.
        length: Months (yearly) or days (weekly) that it lasts.
        part: Which stretch of the month is meant, or "" for all of it.
    """

    kind: str
    weekday: int = -1
    month: int = 0
    dom: int = 0
    length: int = 1
    part: str = ""
    until: int = 0

    def in_year(self, year: int) -> Span:
        """Find the occurrence that begins in `year`."""
        if self.dom:
            first = day_of(year, self.month, self.dom)
            return days(first, first + max(self.until - self.dom, 0) + 1)
        span = months(year, self.month, self.length)
        return stretch(self.part, "month", span) if self.part else span

    def in_week(self, day: int) -> Span:
        """Find the occurrence in the week, Monday to Sunday, of `day`."""
        first = week_of(day)[0] // DAY + self.weekday
        return days(first, first + self.length)

    def last(self, a: Anchor) -> Span:
        """Find the latest occurrence that was over before today."""
        return _first(span for span in self._back(a.day, a.year) if span[1] <= a.day * DAY)

    def latest(self, day: int) -> Span:
        """Find the latest occurrence that begins on `day` or before."""
        return _first(span for span in self._back(day, date.fromordinal(day).year) if span[0] <= day * DAY)

    def earliest(self, day: int) -> Span:
        """Find the first occurrence that begins on `day` or after."""
        return _first(span for span in self._ahead(day) if span[0] >= day * DAY)

    def this(self, a: Anchor) -> Span:
        """Find the occurrence of this week or year; a winter belongs to the December it begins in, until May."""
        if self.weekday >= 0:
            return self.in_week(a.day)
        return self.in_year(a.year - (self.month + self.length > 13 and a.month < 6))

    def _back(self, day: int, year: int) -> Iterator[Span]:
        if self.weekday >= 0:
            return (self.in_week(day - 7 * n) for n in range(3))
        if not self.month:
            return self._monthly(day, range(0, -4, -1))
        return _dated(self, range(year, year - 9, -1))

    def _ahead(self, day: int) -> Iterator[Span]:
        if self.weekday >= 0:
            return (self.in_week(day + 7 * n) for n in range(3))
        if not self.month:
            return self._monthly(day, range(4))
        year = date.fromordinal(day).year
        return _dated(self, range(year, year + 9))

    def _monthly(self, day: int, shifts: Iterable[int]) -> Iterator[Span]:
        """Date a day of the month in the months so far from that of `day`, leaving out those that have no such day."""
        if (then := Anchor.at(day * DAY)) is None:
            return
        for shift in shifts:
            try:
                yield one_day(month_day(then, shift, self.dom))
            except ValueError:
                continue


def _dated(what: Repeats, among: Iterable[int]) -> Iterator[Span]:
    """Date a recurrence; 29 February skips the years that have none."""
    for year in among:
        try:
            yield what.in_year(year)
        except ValueError:
            continue


def _first(spans: Iterator[Span]) -> Span:
    for span in spans:
        return span
    raise ValueError("no such time")


def weekly(weekday: int) -> Repeats:
    return Repeats("day", weekday=weekday)


WEEKEND: Final = Repeats("weekend", weekday=5, length=2)
SEASONS: Final = tuple(Repeats("season", month=month, length=3) for month in (3, 6, 9, 12))
"""Spring, summer, autumn, winter: meteorological, northern; the winter of a year begins in its December."""


def calendar_unit(unit: str, shift: int, a: Anchor) -> Span:
    """Span the calendar week, weekend, month, quarter, year or decade `shift` after the present one."""
    match unit:
        case "day":
            return one_day(a.day + shift)
        case "week":
            return week_of(a.day + 7 * shift)
        case "weekend":
            return WEEKEND.in_week(a.day + 7 * shift)
        case "month":
            return months(a.year, a.month + shift)
        case "quarter":
            return months(a.year, a.month - (a.month - 1) % 3 + 3 * shift, 3)
        case "year":
            return years(a.year + shift)
        case _:
            return years(a.year - a.year % 10 + 10 * shift, 10)


def away(unit: str, count: int, a: Anchor) -> Span:
    """Span what lies `count` units from now (negative: ago), as loosely as people mean it.

    Days are exact; a week is the seven days centred on the day; months and years are calendar ones; hours and minutes
    are the hour round the moment; a decade ago is a calendar year.
    """
    match unit:
        case "week":
            return days(a.day + 7 * count - 3, a.day + 7 * count + 4)
        case "fortnight":
            return away("week", 2 * count, a)
        case "decade":
            return years(a.year + 10 * count)
        case "hour" | "minute":
            middle = a.day * DAY + a.minute + count * (60 if unit == "hour" else 1)
            return middle - 30, middle + 30
        case _:
            return calendar_unit(unit, count, a)


KINDS: Final = {"fortnight": "week", "decade": "year", "minute": "hour", "quarter": "range"}


def away_about(unit: str, count: Quantity, sign: int, a: Anchor) -> tuple[str, Span]:
    """The kind and span of "three weeks ago" or "a few weeks ago": all that the number may mean."""
    low, high = (away(unit, sign * n, a) for n in count)
    kind = KINDS.get(unit, unit) if count[0] == count[1] else "range"
    return kind, (min(low[0], high[0]), max(low[1], high[1]))


def window(unit: str, count: int, sign: int, a: Anchor) -> Span:
    """Span the last (up to and with today) or next (from tomorrow) `count` units."""
    if unit in ("hour", "minute"):
        now, reach = a.day * DAY + a.minute, count * (60 if unit == "hour" else 1)
        return (now - reach, now + 1) if sign < 0 else (now, now + reach)
    edge = _shifted(unit, sign * count, a)
    return days(edge, a.day + 1) if sign < 0 else days(a.day + 1, edge + 1)


def _shifted(unit: str, count: int, a: Anchor) -> int:
    per = {"day": 1, "week": 7, "weekend": 7, "fortnight": 14}.get(unit)
    if per:
        return a.day + per * count
    per = {"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit]
    into = a.day - month_start(a.year, a.month)
    first, after = months(a.year, a.month + per * count)
    return min(first // DAY + into, after // DAY - 1)


_STRETCHES: Final[dict[str, dict[str, tuple[int, int]]]] = {
    "decade": {"early": (0, 4), "mid": (4, 7), "late": (7, 10)},
    "year": {"early": (0, 4), "mid": (4, 8), "late": (8, 12), "start": (0, 2), "middle": (5, 7), "end": (10, 12)},
    "month": {"early": (0, 10), "mid": (10, 20), "late": (20, 31)},
    "week": {"early": (0, 3), "mid": (2, 5), "late": (4, 7)},
}
"""Which years, months or days of it, from 0, end exclusive."""
_SAME: Final = {"start": "early", "middle": "mid", "end": "late"}


def stretch(which: str, kind: str, span: Span) -> Span:
    """Narrow a span to its early, mid or late part, or start, middle or end (other for years); else thirds."""
    first, after = span[0] // DAY, span[1] // DAY
    decade = kind == "range" and after - first > 3600
    table = _STRETCHES.get("decade" if decade else kind)
    if table is None:
        length = after - first
        third = max(1, length // 3)  # of two days one is early and one is late
        middle = (third, length - third) if length > 2 else (0, length)
        table = {"early": (0, third), "mid": middle, "late": (length - third, length)}
    low, high = table.get(which) or table[_SAME[which]]
    if decade or kind == "year":
        per, year = 12 if decade else 1, date.fromordinal(first).year
        return months(year, 1 + per * low, per * (high - low))
    return days(first + low, min(first + high, after))


@dataclass(frozen=True, slots=True)
class Atom:
    """A time expression as a rule read it, before its neighbours are heard.

    Attributes:
        lo, hi: Where its words are, `text[lo:hi]`.
        span: None if the words name a date that there is none of, such as 30 February.
        weak: It counts only beside another, as "evening" does, or "May" without a preposition.
        repeats: What comes again, if the words left open which one is meant.
        clock: Minutes after midnight, if the words left open which day.
        vague: The clock may mean morning or evening.
    """

    lo: int
    hi: int
    kind: str
    span: Span | None
    weak: bool = False
    repeats: Repeats | None = None
    clock: Span | None = None
    vague: bool = False


Reader: TypeAlias = Callable[[re.Match[str], str, Anchor], Atom | None]
"""From a match in the lower-case text, the text as written, and the anchor; None if it is no time after all."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One way of naming a time.

    Attributes:
        pattern: Compiled when first tried: compiling them all would be most of the time that importing mnemic takes.
        needs: Tried only if the text holds a word (a character, in Chinese) of each set; the rarest first.
        holds: Tried only if one of these stands in the text, if within a word; none: always.
        begins: Tried only where one of these words begins, or a number for "0"; none: everywhere. A pattern that begins
            with a look around is tried at every character otherwise.
    """

    needs: tuple[frozenset[str], ...]
    pattern: str
    read: Reader
    holds: tuple[str, ...] = ()
    begins: frozenset[str] = frozenset()

    def among(self, words: Set[str]) -> Rule | None:
        """The rule as far as it goes in a text of these words; None if it matches nowhere there."""
        if any(map(words.isdisjoint, self.needs)):
            return None
        begins = self.begins & words
        if not self.begins:
            return self
        return Rule(self.needs, self.pattern, self.read, self.holds, begins) if begins else None

    def find(self, low: str, raw: str, a: Anchor) -> Iterator[Atom]:
        if self.holds and not any(part in low for part in self.holds):
            return
        for match in self.matches(low):
            try:
                atom = self.read(match, raw, a)
            except (ValueError, OverflowError):
                atom = Atom(match.start(), match.end(), "day", None)
            if atom is not None:
                yield atom

    def matches(self, low: str) -> Iterator[re.Match[str]]:
        """The matches in a lower-case text, one after the other."""
        pattern = _compiled(self.pattern)
        return _matches_at(pattern, low, _places(low, self.begins)) if self.begins else pattern.finditer(low)


def _places(low: str, begins: frozenset[str]) -> list[int]:
    """Where one of these words or, for "0", a number begins, and where a word holds one, in order."""
    places = [number.start() for number in _NUMBER.finditer(low)] if "0" in begins else []
    for word in begins - {"0"}:
        at = low.find(word)
        while at >= 0:
            places.append(at)
            at = low.find(word, at + 1)
    places.sort()
    return places


def _matches_at(pattern: re.Pattern[str], low: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    """What `finditer` finds, if no match begins elsewhere."""
    reach = 0
    for at in places:
        if at >= reach and (match := pattern.match(low, at)):
            reach = match.end()
            yield match


_NUMBER: Final = re.compile(r"\d+")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def rule(
    pattern: str, *needs: Iterable[str], holds: tuple[str, ...] = (), begins: Iterable[str] = ()
) -> Callable[[Reader], Rule]:
    """Make the reader below it a rule for `pattern`."""
    return lambda read: Rule(tuple(frozenset(need) for need in needs), pattern, read, holds, frozenset(begins))


def atom(match: re.Match[str], kind: str, span: Span, *, weak: bool = False, repeats: Repeats | None = None) -> Atom:
    """Make an atom of the whole match."""
    return Atom(match.start(), match.end(), kind, span, weak, repeats)


def clock_atom(match: re.Match[str], clock: Span, a: Anchor, *, kind: str, weak: bool, vague: bool = False) -> Atom:
    """Make an atom of a part of a day or a clock time, today's until a neighbour says otherwise."""
    span = a.day * DAY + clock[0], a.day * DAY + clock[1]
    return Atom(match.start(), match.end(), kind, span, weak, clock=clock, vague=vague)


def open_atom(match: re.Match[str], what: Repeats, a: Anchor, *, weak: bool = False) -> Atom:
    """Make an atom of a recurring time, the latest that has begun until a neighbour says otherwise."""
    return atom(match, what.kind, what.latest(a.day), weak=weak, repeats=what)


def hour(minute: int) -> Span:
    """Span the hour that begins at a clock time."""
    return minute, minute + 60


def before(text: str, at: int) -> str:
    """Take the few words in front of `at`, enough to see a preposition."""
    return text[max(0, at - 24) : at]
