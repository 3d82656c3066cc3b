"""What a file of a folder says: its entries, what of it is no memory, and what cannot be taken, with the line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from mnemic.core.checking import NAME_LIMIT
from mnemic.core.ids import item_id
from mnemic.core.items import Slot
from mnemic.errors import Invalid
from mnemic.markdown_folder.document_syntax import FileHead, file_head, read_document
from mnemic.markdown_folder.entry_syntax import ReadEntry, read_entries
from mnemic.markdown_folder.folder_disk import DiskFile
from mnemic.markdown_folder.folder_layout import FolderPage, page_at, title_of
from mnemic.markdown_folder.folder_manifest import WrittenPage
from mnemic.writing import clean_tags

_WORDS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderProblem:
    """Something in a folder that cannot be taken; while there is one, nothing is written.

    Attributes:
        path, line: Where it is.
        problem, remedy: As in an error.
    """

    path: str
    line: int
    problem: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderNote:
    """Something in a folder that is no memory, or has no effect.

    Attributes:
        lost: It is gone once the folder is written again.
    """

    path: str
    line: int
    note: str
    lost: bool = False


@dataclass(frozen=True, slots=True)
class TextLimits:
    """Most bytes of a statement (setting `item_limit`), and of a turn or document (`input_limit`)."""

    statement: int
    evidence: int


@dataclass(slots=True)
class ReadPage:
    """A file of a folder as it was read.

    Attributes:
        others: Of a document, fields of its front matter that are no part of what a folder shows.
    """

    file: DiskFile
    page: FolderPage
    entries: list[ReadEntry] = field(default_factory=list)
    others: Mapping[str, Slot] = field(default_factory=dict)
    problems: list[FolderProblem] = field(default_factory=list)
    notes: list[FolderNote] = field(default_factory=list)

    def refuse(self, line: int, problem: str, remedy: str) -> None:
        """Note that something cannot be taken."""
        self.problems.append(FolderProblem(path=self.file.path, line=line, problem=problem, remedy=remedy))

    def note(self, line: int, note: str, *, lost: bool = False) -> None:
        """Note what is no memory."""
        self.notes.append(FolderNote(path=self.file.path, line=line, note=note, lost=lost))


def read_page(file: DiskFile, known: WrittenPage | None, limits: TextLimits) -> ReadPage:
    """Read a file.

    Args:
        known: What was written there; None for a file that somebody has put there.
    """
    head = file_head(file.text)
    read = ReadPage(file, page_at(file.path, head.fields) if known is None else known.page)
    if file.wrong:
        read.refuse(1, file.wrong, "Put a file of Markdown in UTF-8 in its place, or take it out of the folder.")
    elif head.broken and read.page.sort != "statements":
        read.refuse(1, "opens front matter by `---` and never ends it", "End it by a line `---`.")
    elif read.page.sort == "document":
        _read_document(read, head, known is not None)
    else:
        _read_entries(read, head)
    read.entries = [entry for entry in read.entries if _is_sound(read, entry, limits)]
    return read


def _read_document(read: ReadPage, head: FileHead, known: bool) -> None:
    document = read_document(head)
    mark = document.mark or (read.page.id if known else None)
    if mark is None and not document.shown.text:
        read.note(1, "is empty")
        return
    if document.wrong:
        read.refuse(1, document.wrong, "Write it so, or leave it out.")
    if document.others and mark is not None:
        fields = ", ".join(document.others)
        read.note(1, f"fields that are no part of a memory: {fields}", lost=True)
    read.others = document.others
    read.entries.append(ReadEntry(line=head.first, shown=document.shown, mark=mark))


def _read_entries(read: ReadPage, head: FileHead) -> None:
    lines, first = (read.file.text.split("\n"), 1) if head.broken else (head.lines, head.first)
    reading = read_entries(lines, named=read.page.sort == "conversation", first=first)
    title = title_of(read.page)
    for line, words in reading.passed:
        if words.rstrip() != title:
            excerpt = words.strip() if len(words.strip()) <= _WORDS else f"{words.strip()[: _WORDS - 1]}…"
            read.note(line, f"a heading, rule or comment of your own is no memory: {excerpt}", lost=True)
    for name in ("session", "agent") if read.page.sort == "conversation" else ():
        written = getattr(read.page, name)
        if head.fields.get(name, written or "") != (written or ""):
            read.note(1, f"the {name} of a conversation cannot be changed here", lost=True)
    read.entries = [entry for entry in reading.entries if entry.shown.text or entry.mark or entry.damaged]
    if read.page.day:
        read.entries = [_dated(entry, read.page.day) for entry in read.entries]


def _dated(entry: ReadEntry, day: str) -> ReadEntry:
    """A new entry of a page that is one day's, which needs no heading."""
    if entry.mark or entry.shown.day:
        return entry
    return replace(entry, shown=replace(entry.shown, day=day))


def _is_sound(read: ReadPage, entry: ReadEntry, limits: TextLimits) -> bool:
    """Whether an entry can be taken; if not, it is noted why."""
    shown, before = entry.shown, len(read.problems)
    if entry.damaged or (entry.mark and not _is_id(entry.mark)):
        read.refuse(
            entry.line, "has a mark that is damaged", "Undo the change of `<!-- ^... -->`; a new entry has none."
        )
    if not shown.text.strip():
        read.refuse(
            entry.line, "has a mark and no words", "Write some, or delete the whole entry to have it forgotten."
        )
    if "\x00" in shown.text + shown.name + shown.title:
        read.refuse(entry.line, "holds a NUL", "This looks binary; remove it.")
    limit = limits.statement if read.page.sort == "statements" else limits.evidence
    if (size := len(shown.text.encode())) > limit:
        read.refuse(entry.line, f"has {size:,} bytes, over {limit:,}", "Make it shorter, or several of it.")
    if len(shown.name) > NAME_LIMIT:
        read.refuse(entry.line, "has a name that is too long", f"Names have at most {NAME_LIMIT} characters.")
    if not _is_moment(shown.day, shown.time):
        read.refuse(entry.line, f"is dated {shown.day} {shown.time}".rstrip(), "There is no such time; correct it.")
    try:
        clean_tags(shown.tags)
    except Invalid as error:
        read.refuse(1, f"{error.field} {error.problem}", error.remedy)
    return len(read.problems) == before


def _is_id(mark: str) -> bool:
    try:
        item_id("mark", mark)
    except Invalid:
        return False
    return True


def _is_moment(day: str, time: str) -> bool:
    try:
        datetime.fromisoformat(f"{day or '2000-01-01'}T{time or '00:00'}")
    except ValueError:
        return False
    return True
