"""A birthday as it is written, in one form."""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.timex_en_words import month_named
from mnemic.core.timex_zh_words import numeral

_FORMS: Final = (
    re.compile(r"(?P<month>[A-Za-z]{3,9})\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>\d{4}))?"),
    re.compile(r"(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?(?: of)? (?P<month>[A-Za-z]{3,9})(?:,? (?P<year>\d{4}))?"),
    re.compile(r"(?P<year>\d{4})[-/.年](?P<month>\d{1,2})[-/.月](?P<day>\d{1,2})[日号]?"),
    re.compile(
        r"(?:(?P<year>\d{4})年)?(?P<month>[\d一二三四五六七八九十]{1,2})月(?P<day>[\d一二三四五六七八九十]{1,3})[日号]?"
    ),
    re.compile(r"(?P<year>(?:19|20)\d{2})年?"),
)


def birthday(text: str) -> str | None:
    """ "1990-05-08", "--05-08" where no year is named, or "1990"; None if it is no date."""
    for form in _FORMS:
        if (found := form.fullmatch(text.strip())) is None:
            continue
        parts = found.groupdict()
        if not parts.get("month"):
            return parts["year"]
        month, day = _month(parts["month"]), numeral(parts["day"])
        return f"{parts['year'] or '-'}-{month:02}-{day:02}" if 1 <= month <= 12 and 1 <= day <= 31 else None
    return None


def _month(name: str) -> int:
    try:
        return numeral(name) if not name.isascii() or name.isdecimal() else month_named(name)
    except ValueError:
        return 0
