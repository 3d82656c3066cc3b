"""What neighbouring time expressions mean together: "last Friday" and "evening", "March" and "May", 去年 and 三月."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Final

from mnemic.core.timex_calendar import DAY, Anchor, Atom, Span, away_about, calendar_unit, days, stretch, week_of
from mnemic.core.timex_en_words import NUMBER, UNITS, quantity
from mnemic.core.timex_tense import in_its_tense

_BESIDE: Final = re.compile(
    r"|的|那天|(?:,? ?(?:at|in the|during the|on the|around|about|on|of)?(?: the)? ?)|[ ,]*[（(]\w{2,9}[)）] ?"
)
_WEEKDAY_THEN_DATE: Final = re.compile(r"|,? ?(?:the )?|[（(]")
_IN_YEAR: Final = re.compile(r"的?|,? |'s | (?:in|on)(?: the)? ")
_OF_YEAR: Final = re.compile(r",? (?:of |in )?")
_OF_WEEK: Final = re.compile(r"的?|'?s? (?:on |of )?")
_TO: Final = re.compile(r" (?:to|until|till|through|thru) (?:the )?| ?[-–—~～] ?|到|至")
_AND: Final = re.compile(r" and |[和与]")
_SINCE: Final = re.compile(r"\b(?:ever )?since (?:about |around |late |early )?(?:the )?\Z")
_SINCE_AFTER: Final = re.compile("(?:以来|至今|到现在|开始|起(?![床来飞跑点火码]))")
_BETWEEN: Final = re.compile(r"(?:\bbetween (?:the )?|从|在)\Z")
_FROM: Final = re.compile(r"(?:\bfrom (?:the )?|自?从|自)\Z")
_AMONG: Final = re.compile("之间|期间|间")
_STRETCH: Final = re.compile(
    r"\b(?:(?P<third>early|mid|late)[ -](?:in )?|(?:the )?(?P<end>(?:very )?(?:start|beginning|middle|end)) of "
    r"|(?:the )?(?P<week>week) of )(?:the )?\Z"
)
_SIDE: Final = re.compile(" (?:before|prior to|after) ")
_APART: Final = re.compile(
    rf"\b(?:{NUMBER} {UNITS}|the (?P<unit2>weekend|week|month|year)) (?P<side>before|prior to|after) (?:the )?\Z"
)
_LOOK: Final = 24


def longest(atoms: list[Atom]) -> list[Atom]:
    """Choose the longest of any atoms that overlap, in order of place."""
    kept: list[Atom] = []
    run: list[Atom] = []
    reach = 0
    for candidate in sorted(atoms, key=lambda atom: atom.lo):
        if candidate.lo >= reach:
            kept += _longest(run)
            run = []
        run.append(candidate)
        reach = max(reach, candidate.hi)
    return kept + _longest(run)


def _longest(run: list[Atom]) -> list[Atom]:
    kept: list[Atom] = []
    for candidate in sorted(run, key=lambda atom: (atom.lo - atom.hi, atom.lo)):
        if all(candidate.hi <= other.lo or other.hi <= candidate.lo for other in kept):
            kept.append(candidate)
    return sorted(kept, key=lambda atom: atom.lo)


def join(atoms: list[Atom], low: str, a: Anchor) -> list[Atom]:
    """Combine each atom with its neighbours; those that count only beside another are dropped."""
    heard = _pairs([in_its_tense(atom, low, a) for atom in atoms], low, a)
    heard = [_stretched(atom, low) for atom in heard]
    heard = [_apart(atom, low, a) for atom in heard]
    heard = _ranges(heard, low)
    heard = [_since(atom, low, a) for atom in heard]
    return [atom for atom in heard if atom.span is not None and not atom.weak]


def _pairs(atoms: list[Atom], low: str, a: Anchor) -> list[Atom]:
    heard: list[Atom] = []
    for atom in atoms:
        while heard:
            both = _together(heard[-1], atom, low[heard[-1].hi : atom.lo])
            if both is None:
                break
            heard.pop()
            atom = both
        heard.append(atom)
    return heard


def _together(first: Atom, second: Atom, gap: str) -> Atom | None:
    if first.span is None or second.span is None or len(gap) > 16:
        return None
    try:
        return _on_the_clock(first, second, gap) or _dated(first, second, gap)
    except (ValueError, OverflowError):
        return replace(first, hi=second.hi, span=None)


def _on_the_clock(first_atom: Atom, second_atom: Atom, gap: str) -> Atom | None:
    """Combine a day with a part of the day or a clock time beside it, in either order."""
    day, clock = (first_atom, second_atom) if second_atom.clock else (second_atom, first_atom)
    if clock.clock is None or day.clock is not None or day.span is None or day.kind not in ("day", "part"):
        return None
    if not _BESIDE.fullmatch(gap) or (day.kind == "part" and clock.kind == "part"):
        return None
    midnight, minute = divmod(day.span[0], DAY)
    first, after = clock.clock
    later = _later(minute, first) if clock.vague and day.kind == "part" else 0
    span = (midnight * DAY + first + later, midnight * DAY + after + later)
    return Atom(first_atom.lo, second_atom.hi, clock.kind, span)


def _later(part: int, clock: int) -> int:
    """Compute by how many minutes a twelve-hour clock moves in a part of the day that begins at `part`."""
    if part < 12 * 60:
        return 0
    return DAY if clock < 5 * 60 and part >= 18 * 60 else DAY // 2


def _dated(first: Atom, second: Atom, gap: str) -> Atom | None:
    """Combine a weekday with its date, a date or season with its year, a weekday with its week."""
    for what, when, early in ((second, first, True), (first, second, False)):
        if what.repeats is None or when.span is None or when.repeats is not None:
            continue
        weekly = what.repeats.weekday >= 0
        if when.kind == "year" and not weekly and (_IN_YEAR if early else _OF_YEAR).fullmatch(gap):
            year = date.fromordinal(when.span[0] // DAY).year
            return Atom(first.lo, second.hi, what.kind, what.repeats.in_year(year))
        if when.kind == "week" and weekly and _OF_WEEK.fullmatch(gap):
            return Atom(first.lo, second.hi, what.kind, what.repeats.earliest(when.span[0] // DAY))
    return _weekday_and_date(first, second, gap)


def _apart(atom: Atom, low: str, a: Anchor) -> Atom:
    """Move a date by the distance named before it: "two days before 3 May", "the week after 3 May"."""
    if atom.span is None or atom.kind != "day":
        return atom
    match = _led(_APART, low, atom)
    if match is None:
        return atom
    start, sign = atom.lo - len(match[0]), -1 if match["side"] in ("before", "prior to") else 1
    try:
        return Atom(start, atom.hi, *_counted_from(match, sign, atom.span[0] // DAY))
    except (ValueError, OverflowError):
        return replace(atom, lo=start, span=None)


def _counted_from(distance: re.Match[str], sign: int, day: int) -> tuple[str, Span]:
    then = Anchor.at(day * DAY)
    if then is None:
        raise OverflowError("outside years 1-9999")
    if distance["number"]:
        return away_about(distance["unit"], quantity(distance["number"]), sign, then)
    return distance["unit2"], calendar_unit(distance["unit2"], sign, then)


def _weekday_and_date(first: Atom, second: Atom, gap: str) -> Atom | None:
    if first.kind != "day" or second.kind != "day" or first.span is None or second.span is None:
        return None
    if _SIDE.fullmatch(gap) and _is_weekday(first) and first.repeats and not _is_weekday(second):
        day = second.span[0] // DAY
        before = first.repeats.latest(day - 1) if gap != " after " else first.repeats.earliest(day + 1)
        return Atom(first.lo, second.hi, "day", before)
    if not _WEEKDAY_THEN_DATE.fullmatch(gap):
        return None
    for weekday, dated in ((first, second), (second, first)):
        if _is_weekday(weekday) and not _is_weekday(dated):
            return replace(dated, lo=first.lo, hi=second.hi, weak=False)
    return None


def _is_weekday(atom: Atom) -> bool:
    return atom.repeats is not None and atom.repeats.weekday >= 0


def _led(by: re.Pattern[str], low: str, atom: Atom) -> re.Match[str] | None:
    """Match the English words in front of an atom; they end in a space or hyphen."""
    if low[atom.lo - 1 : atom.lo] not in (" ", "-"):
        return None
    return by.search(low[max(0, atom.lo - _LOOK) : atom.lo])


def _stretched(atom: Atom, low: str) -> Atom:
    """Narrow an atom to the part that words before it name: early, mid, late, its beginning or end, the week of it."""
    if atom.span is None or atom.clock is not None or atom.kind in ("hour", "part"):
        return atom
    match = _led(_STRETCH, low, atom)
    if match is None or (match["week"] and atom.kind != "day") or (not match["week"] and atom.kind == "day"):
        return atom
    start = atom.lo - len(match[0])
    if match["week"]:
        return Atom(start, atom.hi, "week", week_of(atom.span[0] // DAY))
    which = match["third"] or {"beginning": "start"}.get(match["end"].split()[-1], match["end"].split()[-1])
    return Atom(start, atom.hi, "range", stretch(which, atom.kind, atom.span))


def _ranges(atoms: list[Atom], low: str) -> list[Atom]:
    heard: list[Atom] = []
    for atom in atoms:
        both = _range(heard[-1], atom, low) if heard else None
        if both is not None:
            heard.pop()
        heard.append(both or atom)
    return heard


def _range(first: Atom, second: Atom, low: str) -> Atom | None:
    gap, lead = low[first.hi : second.lo], low[max(0, first.lo - _LOOK) : first.lo]
    if first.span is None or second.span is None or len(gap) > 12:
        return None
    tail = _AMONG.match(low, second.hi)
    opening = _BETWEEN.search(lead) if _AND.fullmatch(gap) else _FROM.search(lead) or _BETWEEN.search(lead)
    if not (_TO.fullmatch(gap) or (_AND.fullmatch(gap) and (opening or tail))):
        return None
    span = _from_to(first, second)
    if span is None:
        return None
    lo = first.lo - len(opening[0]) if opening and opening[0] != "在" else first.lo
    return Atom(lo, tail.end() if tail else second.hi, "range", span)


def _from_to(first: Atom, second: Atom) -> Span | None:
    """Span from one atom through another, an open end moved next to the fixed one; clock times end where they say."""
    if first.span is None or second.span is None:
        return None
    (start, _), (last, end) = first.span, second.span
    if second.clock and first.kind == "hour":
        end = start // DAY * DAY + second.clock[0]
    elif second.repeats:
        end = second.repeats.earliest(start // DAY)[1]
    elif first.repeats and start > last:
        start = first.repeats.latest(last // DAY)[0]
    return (start, end) if start < end else None


def _since(atom: Atom, low: str, a: Anchor) -> Atom:
    """Extend an atom from its beginning to the end of the day of speaking."""
    if atom.span is None or atom.clock is not None or atom.span[0] > a.day * DAY + a.minute:
        return atom
    front, tail = _led(_SINCE, low, atom), _SINCE_AFTER.match(low, atom.hi)
    if not front and not tail:
        return atom
    opening = front or _FROM.search(low[max(0, atom.lo - _LOOK) : atom.lo])
    lo, hi = atom.lo - len(opening[0] if opening else ""), tail.end() if tail else atom.hi
    return Atom(lo, hi, "range", days(atom.span[0] // DAY, a.day + 1))
