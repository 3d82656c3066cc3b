"""What the answers to several tasks have in common: reasoning first, handles that were shown, lengths, dates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final

from mnemic.core.json_schema import Schema, many, shape, text, whole
from mnemic.core.sanitize import without_unseen
from mnemic.models.chat.soundness import Unfit

SENTENCE: Final = 400
"""Most characters of one statement in an answer."""

_DATE: Final = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


def reasoned(**fields: Schema) -> dict[str, Any]:
    """The schema of an answer that begins with the model's reasoning, so that it thinks before it decides."""
    return shape({"reasoning": text("one or two short sentences"), **fields})


def short(most: int = SENTENCE, least: int = 1) -> dict[str, Any]:
    """The schema of a text of so many characters."""
    return {**text(), "minLength": least, "maxLength": most}


def cited(most: int = 8) -> dict[str, Any]:
    """The schema of a list of handles."""
    return many(whole(low=1), minItems=1, maxItems=most)


def places(handles: list[int], shown: int, first: int = 1) -> tuple[int, ...]:
    """Return the places of what handles cite, each once.

    Raises:
        Unfit: one was not shown.
    """
    unknown = [handle for handle in handles if not first <= handle < first + shown]
    if unknown:
        raise Unfit(f"there is no [{unknown[0]}]; numbers go from {first} to {first + shown - 1}")
    return tuple(dict.fromkeys(handle - first for handle in handles))


def one_line(written: str) -> str:
    """Bring a statement of a model on one line, without what nobody sees.

    Raises:
        Unfit: nothing is left.
    """
    line = " ".join(without_unseen(written).split())
    if not line:
        raise Unfit("a text is empty")
    return line


def day(written: str, offset: int) -> datetime | None:
    """Read "2024", "2024-05" or "2024-05-08" as its beginning on the clock of whoever said so; None for "".

    Raises:
        Unfit: it is no date.
    """
    if not written.strip():
        return None
    match = _DATE.fullmatch(written.strip())
    if match is None:
        raise Unfit(f"{written[:40]!r} is no date; write YYYY-MM-DD, YYYY-MM, YYYY, or nothing")
    year, month, date = (int(part or 1) for part in match.groups())
    try:
        return datetime(year, month, date, tzinfo=timezone(timedelta(minutes=offset))).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unfit(f"{written[:40]!r} is no date of the calendar") from None


def held(stated: Mapping[str, Any], offset: int) -> tuple[datetime | None, datetime | None]:
    """Read since when and until when something is so; what begins and ends in one day, month or year lasts that long.

    Raises:
        Unfit: these are no dates, or it ends before it begins.
    """
    since, until = day(stated["since"], offset), day(stated["until"], offset)
    if since is not None and until is not None and until <= since:
        until = _end_of(stated["until"].strip(), until, offset)
        if until <= since:
            raise Unfit("something ends before it begins")
    return since, until


def _end_of(written: str, begins: datetime, offset: int) -> datetime:
    """The end of the day, month or year that `day` read as this beginning."""
    local = begins.astimezone(timezone(timedelta(minutes=offset)))
    months = {0: 12, 1: 1}.get(written.count("-"), 0)
    try:
        if not months:
            return begins + timedelta(days=1)
        year, month = divmod(12 * local.year + local.month - 1 + months, 12)
        return local.replace(year=year, month=month + 1).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unfit(f"{written[:40]!r} is no date of the calendar") from None
