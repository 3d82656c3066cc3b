"""When a record says it was said: the forms that sources use, made aware or refused."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Final

from mnemic.core.clock import since_1970
from mnemic.core.timex import parse_said
from mnemic.errors import Invalid

_LONGEST: Final = 100
_FORMS: Final = "Give a time such as 2026-02-01T18:30+01:00, or 2026-02-01 18:30 and its zone."
_DIGITS: Final = re.compile(r"\d{10}|\d{13}|\d{16}")


def said_at(raw: object, zone: str | None) -> datetime | None:
    """The aware time that a record's own time field names, on the source's clock; None where it names none.

    Numbers are seconds since 1970 UTC, or milli- or microseconds where they are too large for that.

    Raises:
        Invalid: not a time, or a time without zone while `zone` is None.
    """
    if raw is None or raw == "":
        return None
    if isinstance(raw, str):
        text = raw.strip()
        if len(text) > _LONGEST:
            raise Invalid("time", f"has {len(text)} characters", f"Times have at most {_LONGEST}.")
        return since_1970(int(text)) if _DIGITS.fullmatch(text) else _written(text, zone)
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        return since_1970(raw)
    raise Invalid("time", f"is {type(raw).__name__}, not a time", "Give an ISO time or seconds since 1970.")


def known_zone(name: str | None) -> str | None:
    """`name` itself, if it is a time zone.

    Raises:
        Invalid: it is none.
    """
    if name is not None:
        try:
            parse_said("2000-01-01", zone=name)
        except Invalid as error:
            raise Invalid("zone", f"{name[:60]!r} is not a time zone", error.remedy) from error
    return name


def _written(text: str, zone: str | None) -> datetime:
    if zone is not None:
        return _aware(text, zone)
    try:
        return _aware(text, None)
    except Invalid as unzoned:
        try:
            _aware(text, "UTC")
        except Invalid:
            raise unzoned from None
        raise Invalid(
            "time", f"{text!r} has no time zone", "Name the source's zone, such as `--zone Europe/Lisbon`."
        ) from unzoned


def _aware(text: str, zone: str | None) -> datetime:
    try:
        when, offset = parse_said(text, zone=zone)
        return when.astimezone(timezone(timedelta(minutes=offset)))
    except OverflowError as error:
        raise Invalid("time", f"{text!r} leaves years 1-9999", "Give a time within years 1-9999.") from error
    except Invalid as error:
        if error.field != "time":
            raise
        raise Invalid("time", error.problem, _FORMS) from error
