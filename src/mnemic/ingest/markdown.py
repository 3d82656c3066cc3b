"""Read Markdown: a document for each heading, under the path of headings that lead to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from mnemic.core.items import Kind
from mnemic.errors import Invalid
from mnemic.ingest.frontmatter import Line, split_front_matter
from mnemic.ingest.intake import Options, RawRecord, desk
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.source import Source

_ATX: Final = re.compile(r" {0,3}(?P<marks>#{1,6})(?![^ \t])")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_NO_TITLE: Final = re.compile(r"[ \t]*([-*+>|#]|\d+[.)])|[ \t]*$| {4}|\t")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_DATES: Final = ("date", "created", "created_at", "time")


@dataclass(slots=True)
class _Section:
    """The lines from one heading up to the next, the heading's own included."""

    number: int
    line: int
    path: tuple[tuple[int, str], ...] = ()
    lines: list[str] = field(default_factory=list)
    opening: int = 0
    size: int = 0

    def add(self, line: str, limit: int) -> None:
        """Add a line; far past the limit only the fact that it is too long is kept."""
        if self.size <= limit:
            self.lines.append(line)
            self.size += len(line) + 1

    def under(self, level: int, title: str) -> tuple[tuple[int, str], ...]:
        """The path of a heading that follows this section."""
        return (*(step for step in self.path if step[0] < level), (level, title))

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip("\n")

    @property
    def bare(self) -> bool:
        """Whether it holds nothing but its heading."""
        return not any(line.strip() for line in self.lines[self.opening :])


def read_markdown(source: Source, options: Options) -> Iterator[Message | Skipped]:
    """One document for each heading with text under it, and one for the text before the first heading.

    Front matter between two `---` lines gives `date`, `title` and `tags`; its other fields go into
    the slot `metadata`. A heading with nothing under it but smaller headings is only part of their path.

    Raises:
        Invalid: a line is not UTF-8, or over the limit of one record.
    """
    intake = desk(source, options)
    matter, lines = split_front_matter(_lines(source, options.line_limit))
    before: _Section | None = None
    for section in _sections(lines, options.limit):
        if before and not (before.bare and len(section.path) > len(before.path)):
            yield intake.take(_raw_record(before, matter, source.stem, options.own_zone))
        before = section
    if before:
        yield intake.take(_raw_record(before, matter, source.stem, options.own_zone))


def _raw_record(section: _Section, matter: Mapping[str, object], title: str, zone: str) -> RawRecord:
    others = {name: value for name, value in matter.items() if name not in (*_DATES, "title", "tags")}
    return RawRecord(
        where=f"line {section.line}",
        place=f"section-{section.number}",
        text=section.text,
        time=next((matter[name] for name in _DATES if matter.get(name)), None),
        zone=zone,
        kind=Kind.DOCUMENT,
        tags=matter.get("tags") or None,
        slots={
            "title": matter.get("title") or title,
            "heading": " > ".join(name for _, name in section.path if name),
            "metadata": others,
        },
    )


def _lines(source: Source, limit: int) -> Iterator[Line]:
    for number, raw in source.lines(limit):
        if raw is None:
            raise Invalid("path", f"{source.label}, line {number} is over the limit of one record", "Break it up.")
        yield number, source.decoded(raw, number)


def _sections(lines: Iterator[Line], limit: int) -> Iterator[_Section]:
    """Sections in order; the text before the first heading comes first, if there is any."""
    section = _Section(number=0, line=1)
    fence = ""
    for number, line in lines:
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and (heading := _heading(line, section)):
            level, title, opening = heading
            following = _Section(section.number + 1, number, section.under(level, title), opening, len(opening))
            del section.lines[len(section.lines) - (len(opening) - 1) :]
            if section.path or not section.bare:
                yield section
            section = following
            continue
        section.add(line, limit)
    if section.path or not section.bare:
        yield section


def _heading(line: str, before: _Section) -> tuple[int, str, list[str]] | None:
    """Level, title and lines of the heading that `line` completes, if it completes one."""
    if m := _ATX.match(line):
        return len(m["marks"]), _title(line[m.end() :]), [line]
    own = len(before.lines) - before.opening  # counted, not copied: this is asked of every line of a section
    if not own or not (m := _UNDERLINE.fullmatch(line)) or _NO_TITLE.match(before.lines[-1]):
        return None
    if own > 1 and before.lines[-2].strip():
        return None
    return 1 if m[1][0] == "=" else 2, before.lines[-1].strip(), [before.lines[-1], line]


def _title(text: str) -> str:
    """The title that stands behind a heading's marks, without the marks that may close it."""
    title = text.rstrip(" \t")
    unmarked = title.rstrip("#")
    return (unmarked if unmarked != title and unmarked[-1:] in (" ", "\t", "") else title).strip()
