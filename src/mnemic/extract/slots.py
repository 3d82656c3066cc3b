"""Simple facts that somebody states about themselves: name, home, work, family, tastes; precise first.

The patterns, one to a way of saying it, are in `slots_en` and `slots_zh`; what they catch is checked by its type here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.core.timex import find_times
from mnemic.core.timex_en_words import month_named
from mnemic.core.timex_zh_words import numeral
from mnemic.extract import slots_en, slots_zh
from mnemic.extract.chinese import has_chinese, simple
from mnemic.extract.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mnemic.core.timex import TimeSpan
    from mnemic.extract.patterns import SlotPattern
    from mnemic.extract.sentences import Sentence

Value = str | int

_SINGLE_WORDS: Final = """
name age birthday city origin employer job school partner mother father diet e-mail native_language
"""
SINGLE: Final = frozenset(_SINGLE_WORDS.split())
"""Slots that hold one value at a time, so that a newer one supersedes; so does every `favourite ...`."""

_AGES: Final = range(3, 121)

_BIRTHDAYS: Final = (
    re.compile(r"(?P<month>[A-Za-z]{3,9})\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>\d{4}))?"),
    re.compile(r"(?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)?(?: of)? (?P<month>[A-Za-z]{3,9})(?:,? (?P<year>\d{4}))?"),
    re.compile(r"(?P<year>\d{4})[-/.年](?P<month>\d{1,2})[-/.月](?P<day>\d{1,2})[日号]?"),
    re.compile(
        r"(?:(?P<year>\d{4})年)?(?P<month>[\d一二三四五六七八九十]{1,2})月(?P<day>[\d一二三四五六七八九十]{1,3})[日号]?"
    ),
    re.compile(r"(?P<year>(?:19|20)\d{2})年?"),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a speaker states about themselves.

    Attributes:
        slot: "name", "age", "birthday", "city", "origin", "employer", "job", "school", "partner", a relation such as
            "sister", "pet", "likes", "dislikes", "allergy", "diet", "language", "native_language", "e-mail" or
            "favourite ..." with what it is the favourite of.
        value: As it was written; of an age a number, of a birthday "1990-05-08", "--05-08" or "1990".
        text: The sentence that says so, `text[start:end]` of what it was found in.
        subject: Who it is about: the speaker.
        single: The slot holds one value at a time.
        since: The stretch of time in which it came to be true, if its clause names one.
    """

    slot: str
    value: Value
    text: str
    start: int
    end: int
    subject: str
    single: bool
    since: TimeSpan | None = None


def slots(
    text: str, subject: str, said: int, offset: int = 0, spoken: Iterable[Sentence] | None = None
) -> list[Finding]:
    """What `subject` states about themselves in `text`, in order; a value once.

    Args:
        said: When it was said, microseconds since 1970: "in March" is resolved against this.
        offset: Minutes east of UTC on the speaker's clock.
        spoken: The sentences of the text, if they are known.
    """
    findings: dict[tuple[str, Value], Finding] = {}
    for sentence in sentences(text) if spoken is None else spoken:
        if sentence.asks:
            continue
        end = sentence.start + len(sentence.low)
        for statement, value, clause in _stated(sentence):
            finding = Finding(
                slot=statement.slot,
                value=value,
                text=text[sentence.start : end],
                start=sentence.start,
                end=end,
                subject=subject,
                single=statement.slot in SINGLE or statement.slot.startswith("favourite "),
                since=_since(clause, said, offset) if statement.begins else None,
            )
            findings.setdefault((finding.slot, value), finding)
    return list(findings.values())


def _stated(sentence: Sentence) -> Iterator[tuple[SlotPattern, Value, str]]:
    """Each statement of a sentence with its value and the clause that makes it."""
    for low, language in _languages(sentence):
        if language.UNSAID.search(low):
            continue
        lower = low.lower()
        for pattern in language.STATEMENTS:
            if not pattern.may_match(lower):
                continue
            for match in pattern.pattern.finditer(low):
                for raw in pattern.values(match):
                    if (value := _valid(pattern.slot, raw, language.NOTHING)) is not None:
                        yield pattern.named(match), value, _clause(low, match)


def _languages(
    sentence: Sentence,
) -> Iterator[tuple[str, type[slots_en.English] | type[slots_zh.Chinese]]]:
    if has_chinese(sentence.written):
        yield simple(sentence.written), slots_zh.Chinese
    if slots_en.English.CUE.search(sentence.low):
        yield sentence.written.translate(_STRAIGHT), slots_en.English


_STRAIGHT: Final = str.maketrans("\u2018\u2019\u02bc", "'''")


def _valid(slot: str, raw: str, nothing: re.Pattern[str]) -> Value | None:
    value = raw.strip(" ,.!，。！、的了呢啊呀吧_")
    if not value or nothing.fullmatch(value):
        return None
    check = _TYPES.get(slot)
    return check(value) if check else value


def _age(value: str) -> int | None:
    years = int(value) if value.isdecimal() else slots_zh.number(value)
    return years if years in _AGES else None


def birthday(text: str) -> str | None:
    """ "1990-05-08", "--05-08" where no year is named, or "1990"; None if it is no date."""
    for form in _BIRTHDAYS:
        if (match := form.fullmatch(text.strip())) is None:
            continue
        parts = match.groupdict()
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


_TYPES: Final[dict[str, Callable[[str], Value | None]]] = {"age": _age, "birthday": birthday}


_BETWEEN: Final = re.compile(r"[,，;；]| and | but ")


def _clause(low: str, match: re.Match[str]) -> str:
    """What is said around a match without a comma or "and" between."""
    begin = max((gap.end() for gap in _BETWEEN.finditer(low, 0, match.start())), default=0)
    end = _BETWEEN.search(low, match.end())
    return low[begin : end.start() if end else len(low)]


def _since(text: str, said: int, offset: int) -> TimeSpan | None:
    """The one time that the clause names, if it has begun; with two we cannot tell which is meant."""
    times = find_times(text, said, offset)
    return times[0] if len(times) == 1 and times[0].start <= said else None
