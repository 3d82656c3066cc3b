"""Entries of a file, each a point of a list with its mark: written, and read as people edit them.

An entry begins where a point of a list begins at the left edge. All further lines of its text are indented by two
characters, so that whatever Markdown they hold, a heading or a fence that nobody closed, belongs to that point for
every renderer, and no line of a text can pass for an entry. The mark is a comment with the item's id, which no
renderer shows.

    - **Ada** 14:05: I moved to Lisbon last week. <!-- ^01jq3c9vq0w8x5n4k2m7r6t1ze -->
    - **Bea** 14:06: <!-- ^01jq3c9vq0w8x5n4k2m7r6t1zf -->
      Two lines,
      one entry.

The first mark of an entry is its own; a text that looks as if it held one is written below it. What a person writes
without a mark is new: a point, or a paragraph at the left edge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from mnemic.markdown_folder.shown_items import ShownItem, plain_text

PIN: Final = "📌"

_MARK: Final = re.compile(r"[ \t]*(?<!\\)<!--[ \t]*\^([0-9A-Za-z]{26})[ \t]*-->")
_LIKE_A_MARK: Final = re.compile(r"(?<!\\)<!--[ \t]*\^")
_POINT: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_RULE: Final = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}")
_HEADING: Final = re.compile(r"#{1,6}(?:[ \t]|$)")
_DAY: Final = re.compile(r"#{1,6}[ \t]+(\d{4}-\d{2}-\d{2})(?!\d)")
_COMMENT: Final = re.compile(r"<!--(?:(?!-->).)*-->", re.DOTALL)
_FENCE: Final = re.compile(r"(`{3,}|~{3,})")
_PINNED: Final = re.compile(PIN + r"\ufe0f?[ \t]*")
_HEAD: Final = re.compile(
    r"(?=\*\*|\d)(?:\*\*(?P<name>(?:[^*\\\n]|\\.)+)\*\*)?[ \t]*(?P<time>\d{1,2}:\d{2})?:(?:[ \t]+|(?=\n)|$)"
)
_ESCAPED: Final = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEntry:
    """An entry as it stands in a file.

    Attributes:
        line: Where it begins, from 1.
        mark: The id that its mark names; None where it has no mark.
        damaged: It has no mark, but something that looks like one.
    """

    line: int
    shown: ShownItem
    mark: str | None = None
    damaged: bool = False


@dataclass(slots=True)
class EntryReading:
    """What was read of a file of entries.

    Attributes:
        passed: Line and words of what is no entry: headings, comments, rules.
    """

    entries: list[ReadEntry] = field(default_factory=list)
    passed: list[tuple[int, str]] = field(default_factory=list)


def mark_of(id: str) -> str:
    """The mark that ties an entry to an item."""
    return f"<!-- ^{id} -->"


def write_entry(shown: ShownItem, id: str) -> str:
    """One entry, ending in a line feed: on one line if it reads the same from there, else with its text below."""
    head = (f"{PIN} " if shown.pinned else "") + _head(shown)
    if "\n" not in shown.text:
        line = f"- {head}{shown.text} {mark_of(id)}\n"
        read = read_entries(line.removesuffix("\n").split("\n"), named=bool(shown.day)).entries
        if len(read) == 1 and read[0].mark == id and read[0].shown.completed(shown) == shown:
            return line
    below = "".join(f"  {line}\n" if line else "\n" for line in shown.text.split("\n"))
    return f"- {head}{mark_of(id)}\n{below}"


def _head(shown: ShownItem) -> str:
    if not shown.time:
        return ""
    name = "".join(f"\\{c}" if c in "\\*<" else c for c in shown.name)
    return f"**{name}** {shown.time}: " if name else f"{shown.time}: "


@dataclass(slots=True)
class _Lines:
    """The lines of one entry as they come."""

    line: int
    day: str
    lines: list[str]
    point: bool
    fence: str = ""


def read_entries(lines: Iterable[str], *, named: bool, first: int = 1) -> EntryReading:
    """Read the entries of a file, given its lines without line ends.

    Args:
        named: Whether entries say who said them and when, below headings with the day.
        first: The number of the first line.
    """
    reading, day, current = EntryReading(), "", None
    for number, line in enumerate(lines, first):
        kind = _kind_of(line, current)
        if kind == "more" and current is not None:
            _continue(current, line)
            continue
        if kind == "blank":
            continue
        _close(reading, current, named=named)
        current = None
        if kind == "passed":
            heading = _DAY.match(line)
            if heading and named:
                day = heading[1]
            else:
                reading.passed.append((number, line))
        else:
            opened = _POINT.match(line)
            current = _Lines(number, day, [line[opened.end() :] if opened else line], bool(opened))
            current.fence = "" if opened else _fence_after(line, "")
    _close(reading, current, named=named)
    return reading


def _kind_of(line: str, current: _Lines | None) -> str:
    """What a line is to the entry before it: `more` of it, `blank`, `passed` by, or the beginning of a `new` one."""
    point = _POINT.match(line)
    if current is not None and current.fence and not (point and _MARK.search(line)):
        return "more"
    if not line.strip(" \t"):
        return "more" if current is not None else "blank"
    if line[0] in " \t":
        return "new" if current is None else "more"
    if _HEADING.match(line) or _RULE.fullmatch(line):
        return "passed"
    if point or current is None or not current.lines[-1].strip(" \t"):
        return "new"
    return "more"


def _continue(entry: _Lines, line: str) -> None:
    entry.lines.append(_outdented(line) if entry.point else line)
    if not entry.point:
        entry.fence = _fence_after(line, entry.fence)


def _outdented(line: str) -> str:
    if line.startswith("\t"):
        return line[1:]
    return line[min(2, len(line) - len(line.lstrip(" "))) :]


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open behind a line of a paragraph, as it was opened; "" for none."""
    mark = _FENCE.match(line)
    if mark is None or (fence and not mark[1].startswith(fence)):
        return fence
    return "" if fence else mark[1]


def _close(reading: EntryReading, current: _Lines | None, *, named: bool) -> None:
    if current is None:
        return
    raw = "\n".join(current.lines)
    mark = _MARK.search(raw)
    text = raw if mark is None else raw[: mark.start()] + raw[mark.end() :]
    if mark is None and not current.point and _COMMENT.fullmatch(raw.strip()) and not _LIKE_A_MARK.search(raw):
        reading.passed.append((current.line, current.lines[0]))
        return
    pin = _PINNED.match(text)
    text = text[pin.end() :] if pin else text
    head = _HEAD.match(text) if named else None
    if head is not None and (head["name"] or head["time"]):
        text = text[head.end() :]
    else:
        head = None
    name, time = ("", "") if head is None else (_ESCAPED.sub(r"\1", head["name"] or ""), head["time"] or "")
    shown = ShownItem(
        text=plain_text(text), name=name, day=current.day, time=time.zfill(5) if time else "", pinned=bool(pin)
    )
    damaged = mark is None and _LIKE_A_MARK.search(raw) is not None
    reading.entries.append(
        ReadEntry(line=current.line, shown=shown, mark=mark[1].lower() if mark else None, damaged=damaged)
    )


def line_of_mark(text: str, id: str) -> int:
    """The line of a file in which the mark of an item stands first; 1 where it stands nowhere."""
    place = text.find(f"^{id}")
    return text.count("\n", 0, max(place, 0)) + 1


def bullets(entries: Iterable[str]) -> Iterator[str]:
    """Entries in a row, of which those with several lines stand by themselves."""
    before = ""
    for entry in entries:
        if before and (entry.count("\n") > 1 or before.count("\n") > 1):
            yield "\n"
        yield entry
        before = entry
