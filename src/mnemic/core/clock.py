"""Clocks, injected, and times: aware UTC datetimes in the API, integer microseconds inside."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final, Protocol

from mnemic.core.checking import shown
from mnemic.errors import Invalid

FOREVER: Final = 2**63 - 1
"""The end of an open interval, in microseconds or in commits."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_FIRST: Final = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST: Final = (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC) - _EPOCH) // _MICROSECOND

_MILLISECONDS_FROM: Final = 1e11
_MICROSECONDS_FROM: Final = 1e14

_UNITS: Final = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800, "year": 31_557_600}
_SHORT: Final = {"s": "second", "min": "minute", "h": "hour", "d": "day", "w": "week", "y": "year"}
_SPAN: Final = re.compile(r"(\d{1,30})\s*([a-z]+?)s?")


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> int:
        """Microseconds since 1970 UTC."""
        ...


class SystemClock:
    """Tells the time by the machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1000


def micros(when: datetime, field: str = "time") -> int:
    """Convert an aware datetime to microseconds since 1970 UTC (years 1-9999).

    Raises:
        Invalid: `when` carries no zone, or leaves years 1-9999 when taken to UTC.
    """
    if when.tzinfo is None or when.utcoffset() is None:
        raise Invalid(field, f"{when.isoformat()} has no time zone", "Add one, such as +00:00, or name a default zone.")
    us = (when - _EPOCH) // _MICROSECOND
    if not _FIRST <= us <= _LAST:
        raise Invalid(field, f"{when.isoformat()} leaves years 1-9999 in UTC", "Give a time within years 1-9999.")
    return us


def source_time(when: datetime, offset: int) -> datetime:
    """Convert a moment to its source's own clock, `offset` minutes east of UTC."""
    try:
        return when.astimezone(timezone(timedelta(minutes=offset)))
    except OverflowError:  # the first and the last day there are
        return when


def within_years(us: int) -> int:
    """Return microseconds since 1970, if they lie in years 1-9999.

    Raises:
        OverflowError: they do not.
    """
    if not _FIRST <= us <= _LAST:
        raise OverflowError(f"{us} leaves years 1-9999")
    return us


def instant(field: str, value: object) -> datetime:
    """`value` as a datetime: one, or a time or a day in ISO 8601. It may be without a zone; `aware` gives it one."""
    when = _iso(field, value) if isinstance(value, str) else value
    if not isinstance(when, datetime):
        raise Invalid(field, f"is {shown(value)}, not a time", _TIMES)
    if when.tzinfo is not None:
        micros(when, field)
    return when


def aware(field: str, value: object, zone: str) -> datetime:
    """`value` as an aware datetime within years 1-9999: one that has no zone is on the clocks of `zone`."""
    when = instant(field, value)
    if when.tzinfo is None:
        when = when.replace(tzinfo=time_zone(zone))
        micros(when, field)
    return when


def _iso(field: str, text: str) -> datetime:
    text = str.__str__(text)  # of a type of the caller's own, whatever that makes of it
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise Invalid(field, f"{shown(text)} is no time", _TIMES) from error


_TIMES: Final = "Give a datetime, or a time in ISO 8601 such as 2026-03-01T18:30+01:00 or 2026-03-01."


def since_1970(count: float, field: str = "time") -> datetime:
    """The moment so many seconds after 1970 UTC; a larger count is of milliseconds, a still larger of microseconds."""
    try:
        if abs(count) >= _MICROSECONDS_FROM:
            return _EPOCH + timedelta(microseconds=count)
        if abs(count) >= _MILLISECONDS_FROM:
            return _EPOCH + timedelta(milliseconds=count)
        return _EPOCH + timedelta(seconds=count)
    except (OverflowError, ValueError) as error:
        raise Invalid(field, f"{shown(count)} leaves years 1-9999", "Give seconds since 1970 UTC.") from error


def span(text: str) -> int | None:
    """Read a span of time such as `30 days`, `30d` or `12 hours`, in microseconds; None where a text is none."""
    match = _SPAN.fullmatch(text.strip().casefold())
    unit = None if match is None else _SHORT.get(match[2], match[2])
    return None if match is None or unit not in _UNITS else int(match[1]) * _UNITS[unit] * 1_000_000


def moment_or_span(field: str, value: object) -> datetime | timedelta:
    """`value` as a datetime or a timedelta: one of these, a time in ISO 8601, or a span; see `instant`."""
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str):
        return instant(field, value)
    text = str.__str__(value)
    if (length := span(text)) is not None:
        try:
            return timedelta(microseconds=length)
        except OverflowError as error:
            raise Invalid(field, f"{shown(text)} leaves years 1-9999", "Give a shorter span.") from error
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError as error:
        remedy = "Give a span such as '30 days' or '30d', or a time such as 2030-01-31T18:00+00:00."
        raise Invalid(field, f"{shown(text)} is neither a time nor a span", remedy) from error
    return instant(field, when)


def expiry(field: str, given: datetime | timedelta, now: int) -> int:
    """Count on the clock when something expires, in microseconds: at a time, or so long after now.

    Raises:
        Invalid: it leaves the years that there are.
    """
    if isinstance(given, datetime):
        return micros(given, field)
    us = now + given // _MICROSECOND
    if not _FIRST <= us <= _LAST:
        raise Invalid(field, f"{given} from now leaves years 1-9999", "Give a shorter span.")
    return us


def moment(us: int) -> datetime:
    """Convert microseconds since 1970 to an aware UTC datetime."""
    return _EPOCH + timedelta(microseconds=us)


def moments(times: Iterable[int]) -> list[datetime]:
    """Convert many at once."""
    return [_EPOCH + timedelta(microseconds=us) for us in times]


def offset_minutes(when: datetime) -> int:
    """Return the UTC offset of an aware datetime, in minutes east."""
    offset = when.utcoffset()
    return 0 if offset is None else round(offset / timedelta(minutes=1))


def time_zone(name: str) -> tzinfo:
    """Look up the time zone of an IANA name.

    Raises:
        Invalid: none is known by it here.
    """
    if name == "UTC":
        return UTC  # also where the machine has no zone data
    from zoneinfo import ZoneInfo  # most programs name no zone

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise Invalid(
            "timezone", f"{name[:60]!r} is no time zone known here", "Use an IANA name, such as Europe/Lisbon."
        ) from error
