"""Read HTML: a document for each heading, lists and tables as text, navigation and scripts left out."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from mnemic.core.items import Kind
from mnemic.errors import Invalid
from mnemic.ingest.intake import Options, RawRecord, desk
from mnemic.ingest.markup import Tag, events
from mnemic.ingest.message import Message, Skipped
from mnemic.ingest.source import Source

_SPACE: Final = re.compile(r"[ \t\r\n\f]+")
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_PARAGRAPH_TAGS: Final = """
p div section article main header footer aside table ul ol dl blockquote pre figure form fieldset details address hr
body html
"""
_LINE_TAGS: Final = "li tr br dt dd caption figcaption summary option legend"
_LEFT_OUT_TAGS: Final = "nav template svg math canvas object button select noscript"
_PARAGRAPHS: Final = frozenset(_PARAGRAPH_TAGS.split())
_LINES: Final = frozenset(_LINE_TAGS.split())
_LEFT_OUT: Final = frozenset(_LEFT_OUT_TAGS.split())
_MENU_ENDS: Final = ("main", "article", "body", "html")
_CHARSET: Final = re.compile(rb"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_ZONED: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)")
_PUBLISHED: Final = ("article:published_time", "date", "dc.date", "datepublished")


@dataclass(slots=True)
class _Section:
    """The text from one heading up to the next, the heading's own included."""

    number: int
    path: tuple[tuple[int, str], ...] = ()
    text: str = ""
    bare: bool = True


@dataclass(slots=True)
class _Page:
    """A page as it is read: tags move it on, texts are laid into lines."""

    sections: list[_Section] = field(default_factory=lambda: [_Section(0)])
    title: str = ""
    published: str = ""
    left_out: dict[str, int] = field(default_factory=dict)
    _pieces: list[str] = field(default_factory=list)
    _gap: str = ""
    _within: str = ""
    _depth: int = 0
    _inside: str = ""
    _heading: list[str] | None = None
    _lists: list[int | None] = field(default_factory=list)
    _cells: int = 0

    def take(self, event: Tag | str) -> None:
        """Read one event."""
        if isinstance(event, str):
            self._text(event)
        elif self._within:
            self._leave(event)
        elif event.name in _LEFT_OUT:
            if not event.closes and not event.raw.endswith("/"):
                self._within, self._depth = event.name, 1
        else:
            self._tag(event)

    def end(self) -> None:
        """What is still in hand belongs to the last section."""
        if self._heading is not None:
            self._open(0)
        self._flush()

    def _leave(self, tag: Tag) -> None:
        if tag.name == self._within:
            self._depth += -1 if tag.closes else 1
        if not self._depth or (self._within == "nav" and tag.name in _MENU_ENDS):
            self._within = ""
            self._break("\n\n")

    def _text(self, text: str) -> None:
        if self._within:
            self.left_out[self._within] = self.left_out.get(self._within, 0) + len(text.strip())
        elif self._inside == "title":
            self.title = self.title or _SPACE.sub(" ", text).strip()
        elif self._heading is not None:
            self._heading.append(text)
        elif self._inside == "pre":
            self._lay(text)
        else:
            plain = _SPACE.sub(" ", text)
            if plain.startswith(" ") and not self._gap:
                self._gap = " "
            if plain.strip():
                self._lay(plain.strip())
            if plain.endswith(" "):
                self._gap = self._gap or " "

    def _lay(self, text: str) -> None:
        if self._pieces:
            self._pieces.append(self._gap)
        self._gap = ""
        self._pieces.append(text)

    def _break(self, gap: str) -> None:
        if len(gap) > len(self._gap.strip(" ")):
            self._gap = gap

    def _tag(self, tag: Tag) -> None:
        name = tag.name
        if name in ("title", "pre"):
            self._inside = "" if tag.closes else name
        if name in _HEADINGS:
            self._open(_HEADINGS[name])
            self._heading = None if tag.closes else []
        elif self._heading is not None and name in _PARAGRAPHS | _LINES:
            self._heading.append(" ")
        elif name in _PARAGRAPHS:
            self._break("\n\n")
        elif name in _LINES:
            self._break("\n")
        if name == "meta" and tag.attribute("property").lower() + tag.attribute("name").lower() in _PUBLISHED:
            self.published = self.published or tag.attribute("content").strip()
        if name == "img" and (shown := tag.attribute("alt").strip()):
            self._text(f" [{shown}] ")
        self._listed(tag)
        self._tabled(tag)

    def _listed(self, tag: Tag) -> None:
        if tag.name in ("ul", "ol"):
            if not tag.closes:
                self._lists.append(1 if tag.name == "ol" else None)
            elif self._lists:
                self._lists.pop()
        elif tag.name == "li" and not tag.closes:
            number = self._lists[-1] if self._lists else None
            self._gap = "\n" if self._pieces else ""
            self._lay("  " * min(max(len(self._lists) - 1, 0), 8) + ("-" if number is None else f"{number}."))
            self._gap = " "
            if number is not None:
                self._lists[-1] = number + 1

    def _tabled(self, tag: Tag) -> None:
        if tag.name == "tr":
            self._cells = 0
        elif tag.name in ("td", "th") and not tag.closes:
            self._cells += 1
            if self._cells > 1:
                self._gap = " "
                self._lay("|")
            self._gap = self._gap if self._cells == 1 else " "

    def _open(self, level: int) -> None:
        """A heading is complete: what follows stands under it."""
        title = _SPACE.sub(" ", "".join(self._heading or [])).strip()
        self._heading = None
        if not title:
            return
        self._flush()
        before = self.sections[-1]
        path = (*(step for step in before.path if step[0] < level), (level, title))
        self.sections.append(_Section(before.number + 1, path, title))
        self._gap = "\n\n"

    def _flush(self) -> None:
        text, section = "".join(self._pieces).strip(), self.sections[-1]
        self._pieces, self._gap = [], ""
        if text:
            section.text = f"{section.text}\n\n{text}" if section.text else text
            section.bare = False


def read_html(source: Source, options: Options) -> Iterator[Message | Skipped]:
    """One document for each heading with text under it, and one for the text before the first heading.

    The page's title and the path of headings go into slots; lists and tables are kept as lines; scripts, styles and
    comments are no text. A page that is not UTF-8 is read by the encoding it declares.

    Raises:
        Invalid: it is in no encoding that it declares.
        TooLarge: the page has more bytes than a text may have, four times over.
    """
    page = _Page()
    for event in events(_decoded(source, source.whole(options.line_limit))):
        page.take(event)
    page.end()
    intake = desk(source, options)
    for before, section in zip([None, *page.sections[:-1]], page.sections, strict=True):
        if before is not None and not (before.bare and len(section.path) > len(before.path)) and before.text:
            yield intake.take(_raw_record(before, page, source.stem))
    if page.sections[-1].text:
        yield intake.take(_raw_record(page.sections[-1], page, source.stem))
    for name, size in page.left_out.items():
        if size:
            yield Skipped(where=f"<{name}>", why="is not read: navigation and what is no text")


def _raw_record(section: _Section, page: _Page, stem: str) -> RawRecord:
    zoned = _ZONED.fullmatch(page.published)
    return RawRecord(
        where=f"section {section.number}",
        place=f"section-{section.number}",
        text=section.text,
        time=page.published if zoned else None,
        kind=Kind.DOCUMENT,
        slots={
            "title": page.title or stem,
            "heading": " > ".join(name for _, name in section.path),
            "metadata": {} if zoned or not page.published else {"published": page.published},
        },
    )


def _decoded(source: Source, raw: bytes) -> str:
    declared = _CHARSET.search(raw[:4096])
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        if declared is None:
            return source.decoded(raw)
    try:
        return raw.decode(codecs.lookup(declared[1].decode("ascii")).name)
    except (LookupError, UnicodeError) as error:
        problem = f"{source.label} is neither UTF-8 nor the {declared[1].decode('ascii')} that it declares"
        raise Invalid("path", problem, "Save it as UTF-8.") from error
