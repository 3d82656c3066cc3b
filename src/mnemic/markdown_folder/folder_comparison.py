"""A folder compared with the memory that it was written from: what a person has changed, and where memory has moved on.

Three states of an entry are told apart: as it was written (the digest in the manifest), as it stands in the folder, and
as it stands in memory. What differs in the folder alone is a change; what differs in both, differently, is a conflict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from mnemic.core.clock import source_time
from mnemic.core.ids import ItemId
from mnemic.core.items import Slot
from mnemic.markdown_folder.entry_syntax import PIN, ReadEntry, line_of_mark
from mnemic.markdown_folder.folder_disk import DiskFile
from mnemic.markdown_folder.folder_layout import FolderPage, is_laid_out, page_of
from mnemic.markdown_folder.folder_manifest import FolderManifest, WrittenEntry
from mnemic.markdown_folder.folder_reading import FolderNote, FolderProblem, ReadPage, TextLimits, read_page
from mnemic.markdown_folder.shown_items import ShownItem, shown_item
from mnemic.verbs.hand_editing import HeldText

_STEP: Final = timedelta(microseconds=1)


class EditSort(StrEnum):
    """What a person has done to an entry."""

    ADDED = "added"
    EDITED = "edited"
    PINNED = "pinned"
    UNPINNED = "unpinned"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderChange:
    """An entry that a person has changed.

    Attributes:
        path, line: Where it stands; the file that it stood in, and line 0, if it was removed.
        id: None for a new one.
        before: What memory says; "" for a new one.
        after: What the folder says; "" for one that was removed.
    """

    sort: EditSort
    path: str
    line: int
    id: ItemId | None
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderConflict:
    """An entry that a person has changed, and memory too since the folder was written.

    Attributes:
        memory: What memory says by now; None if it was forgotten there.
    """

    change: FolderChange
    memory: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEdit:
    """A change with all that it takes to write it.

    Attributes:
        held: The item as it stands; None for a new one.
        shown: What the folder says of it, with what was left out; None if it was removed.
        after: When what stands before a new entry on its page was said; None if that is now, or nothing does.
        others: Further fields of a new document.
        conflicts: Memory has changed it too.
    """

    change: FolderChange
    page: FolderPage
    held: HeldText | None = None
    shown: ShownItem | None = None
    after: datetime | None = None
    others: Mapping[str, Slot] = field(default_factory=dict)
    conflicts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderComparison:
    """What a person has changed in a folder.

    Attributes:
        folder: Where it is.
        seq: The commit that it was written as of.
        changes: In the order of the folder, what was removed last.
        conflicts: What memory has changed too.
        problems: What cannot be taken; while there is any, nothing is written.
        notes: What is no memory, or has no effect.
        behind: How many items memory has changed, got or lost since, which the next writing brings.
    """

    folder: str
    seq: int
    changes: tuple[FolderChange, ...]
    conflicts: tuple[FolderConflict, ...]
    problems: tuple[FolderProblem, ...]
    notes: tuple[FolderNote, ...]
    behind: int

    @property
    def is_clean(self) -> bool:
        """Whether the folder can be written again without losing anything that somebody wrote there."""
        return not (self.changes or self.conflicts or self.problems or any(note.lost for note in self.notes))


@dataclass(slots=True)
class FolderFindings:
    """What comparing a folder found.

    Attributes:
        homes: By a document's id, the file in which it was found.
        read: The paths of the files that were read and taken.
    """

    edits: list[FolderEdit] = field(default_factory=list)
    problems: list[FolderProblem] = field(default_factory=list)
    notes: list[FolderNote] = field(default_factory=list)
    homes: dict[str, str] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)
    behind: int = 0

    def reported(self, folder: str, seq: int) -> FolderComparison:
        """What a caller is told of it."""
        clashes = [edit for edit in self.edits if edit.conflicts]
        return FolderComparison(
            folder=folder,
            seq=seq,
            changes=tuple(edit.change for edit in self.edits if not edit.conflicts),
            conflicts=tuple(
                FolderConflict(change=each.change, memory=each.held.text if each.held and each.held.visible else None)
                for each in clashes
            ),
            problems=tuple(sorted(self.problems, key=lambda each: (each.path, each.line))),
            notes=tuple(sorted(self.notes, key=lambda each: (each.path, each.line))),
            behind=self.behind,
        )


class FolderReader:
    """Reads the files of a folder, and compares them with what memory holds.

    Files whose bytes are those that were written are not looked into.
    """

    def __init__(self, manifest: FolderManifest, files: Iterable[DiskFile], limits: TextLimits) -> None:
        self._manifest = manifest
        self._written = manifest.entries
        self._found = FolderFindings()
        self._untouched: dict[str, DiskFile] = {}
        self._pages: list[ReadPage] = []
        self._unread: set[str] = set()
        foreign = Counter[str]()
        for file in files:
            known = manifest.pages.get(file.path)
            if file.foreign:
                foreign[file.path] += 1
            elif known is not None and not file.wrong and file.hash == known.hash:
                self._untouched[file.path] = file
            else:
                self._take(read_page(file, known, limits))
        for path in foreign:
            self._found.notes.append(FolderNote(path=path, line=1, note="is no Markdown, and is left alone"))

    def _take(self, page: ReadPage) -> None:
        self._pages.append(page)
        self._found.problems += page.problems
        self._found.notes += page.notes
        self._found.read += [page.file.path] if page.entries else []
        if page.problems and (known := self._manifest.pages.get(page.file.path)):
            self._unread |= known.entries.keys()

    @property
    def ids(self) -> list[ItemId]:
        """The items that the folder names, or did when it was written."""
        marks = [entry.mark for page in self._pages for entry in page.entries if entry.mark]
        return [ItemId(id) for id in dict.fromkeys((*self._written, *marks))]

    def compare(self, held: Sequence[HeldText]) -> FolderFindings:
        """Compare the folder with what memory holds of these items, and of all that is visible."""
        by_id: dict[str, HeldText] = {held_text.id: held_text for held_text in held}
        visible = {id for id, held_text in by_id.items() if held_text.visible}
        laid = {
            id: held_text
            for id, held_text in by_id.items()
            if held_text.visible and is_laid_out(held_text.item, visible)
        }
        fresh = Counter(_wording(held_text, None) for id, held_text in laid.items() if id not in self._written)
        seen = self._places()
        for page in self._pages:
            _PageComparison(self._found, page, self._written, by_id, fresh).compare(seen)
        for path, known in self._manifest.pages.items():
            for id, entry in known.entries.items():
                if path in self._untouched and id not in by_id:
                    self._found.notes.append(_erased(path, line_of_mark(self._untouched[path].text, id)))
                elif id not in seen and id not in self._unread and id in by_id and by_id[id].visible:
                    self._removed(path, known.page, by_id[id], entry)
        self._found.homes |= {
            known.page.id: path
            for path, known in self._manifest.pages.items()
            if known.page.sort == "document" and path in self._untouched
        }
        same = sum(id in laid and laid[id].version.seq_from == entry.seq for id, entry in self._written.items())
        self._found.behind = len(self._written.keys() | laid.keys()) - same
        return self._found

    def _places(self) -> dict[str, tuple[str, int]]:
        """Where the mark of each item stands; a second place of one is a problem."""
        seen: dict[str, tuple[str, int]] = {}
        for path in self._untouched:
            seen |= dict.fromkeys(self._manifest.pages[path].entries, (path, 0))
        for page in self._pages:
            for entry in page.entries:
                if entry.mark is None:
                    continue
                if entry.mark in seen:
                    path, line = seen[entry.mark]
                    line = line or line_of_mark(self._untouched[path].text, entry.mark)
                    page.refuse(
                        entry.line,
                        f"has the mark of another entry ({path}, line {line})",
                        "Take the mark out of the one that is new.",
                    )
                    self._found.problems.append(page.problems[-1])
                seen.setdefault(entry.mark, (page.file.path, entry.line))
        return seen

    def _removed(self, path: str, page: FolderPage, held: HeldText, written: WrittenEntry) -> None:
        now = shown_item(held.item, held.text)
        change = FolderChange(sort=EditSort.REMOVED, path=path, line=0, id=held.id, before=held.text, after="")
        clash = written.digest != now.digest
        self._found.edits.append(FolderEdit(change=change, page=page, held=held, conflicts=clash))


def _wording(held: HeldText, shown: ShownItem | None) -> tuple[FolderPage, str, str]:
    """What a new entry is known by: the page, and who says what on it."""
    shown = shown or shown_item(held.item, held.text)
    return _place(page_of(held.item, shown)), shown.name, shown.text


def _place(page: FolderPage) -> FolderPage:
    """A page, without what tells a document or a day from another."""
    return FolderPage(page.sort, page.session, page.agent, "", page.path)


@dataclass(slots=True)
class _PageComparison:
    """Compares the entries of one file with memory.

    Attributes:
        fresh: How often memory holds each wording that the folder was not written with: an entry without a mark that
            says one of these was brought back before, by somebody who was stopped before the folder was written anew.
    """

    findings: FolderFindings
    read: ReadPage
    written: Mapping[str, WrittenEntry]
    by_id: Mapping[str, HeldText]
    fresh: Counter[tuple[FolderPage, str, str]]
    before: datetime | None = None

    def compare(self, seen: Mapping[str, tuple[str, int]]) -> None:
        """Compare them in order, each with what `seen` says is its place."""
        for entry in self.read.entries:
            if entry.mark is None:
                self._new(entry)
            elif seen[entry.mark] == (self.read.file.path, entry.line):
                self._marked(entry, entry.mark)

    def _new(self, entry: ReadEntry) -> None:
        shown = entry.shown
        if shown.time and not shown.day:
            if self.before is None:
                self._refuse(entry, "says a time and no day", "Put it below a heading such as `## 2026-03-01`.")
                return
            shown = replace(shown, day=f"{self.before.year:04}-{self.before:%m-%d}")
        wording = (_place(self.read.page), shown.name, shown.text)
        if self.fresh[wording]:
            self.fresh[wording] -= 1
            return
        change = self._change(EditSort.ADDED, entry, None)
        after = self._said_after(shown)
        self.findings.edits.append(
            FolderEdit(change=change, page=self.read.page, shown=shown, after=after, others=self.read.others)
        )

    def _said_after(self, shown: ShownItem) -> datetime | None:
        """When what stands before a new entry was said, if that is its day too; the next entry follows this one."""
        before = self.before
        if before is None or shown.time or (shown.day and shown.day != f"{before.year:04}-{before:%m-%d}"):
            return None
        self.before = before + _STEP
        return before

    def _marked(self, entry: ReadEntry, mark: str) -> None:
        held = self.by_id.get(mark)
        written = self.written.get(mark)
        if held is None and written is not None and entry.shown.digest == written.digest:
            self.findings.notes.append(_erased(self.read.file.path, entry.line))
            return
        if held is None:
            self._refuse(
                entry,
                f"names {mark}, which is nothing of this memory: it was erased, or is another's",
                "Delete the entry; or, to remember its words, its mark.",
            )
            return
        now = shown_item(held.item, held.text)
        shown = entry.shown.completed(now)
        if now.day:
            self.before = source_time(held.item.said, held.item.said_offset)
        if self.read.page.sort == "document":
            self.findings.homes[mark] = self.read.file.path
        self._moved(entry, held, now)
        if (shown == now and held.visible) or (written is not None and shown.digest == written.digest):
            return
        if written is None:
            self._refuse(
                entry,
                f"has a mark ({mark}) that this folder was not written with, and other words",
                "Take the mark out to remember the words as new.",
            )
            return
        wording = _wording(held, shown)
        if not held.visible and self.fresh[wording]:
            self.fresh[wording] -= 1
            return
        safe = held.visible and (held.version.seq_from == written.seq or now.digest == written.digest)
        change = self._change(_sort_of(now, shown), entry, held)
        if now.text == shown.text:  # it is told by what differs
            change = replace(change, before=_whole_line(now), after=_whole_line(shown))
        self.findings.edits.append(
            FolderEdit(change=change, page=self.read.page, held=held, shown=shown, conflicts=not safe)
        )

    def _refuse(self, entry: ReadEntry, problem: str, remedy: str) -> None:
        self.read.refuse(entry.line, problem, remedy)
        self.findings.problems.append(self.read.problems[-1])

    def _moved(self, entry: ReadEntry, held: HeldText, now: ShownItem) -> None:
        if (
            held.visible
            and self.read.page.sort != "document"
            and _place(self.read.page) != _place(page_of(held.item, now))
        ):
            self.read.note(entry.line, "stands in another file than it was written to; it goes back there")
            self.findings.notes.append(self.read.notes[-1])

    def _change(self, sort: EditSort, entry: ReadEntry, held: HeldText | None) -> FolderChange:
        return FolderChange(
            sort=sort,
            path=self.read.file.path,
            line=entry.line,
            id=held.id if held else None,
            before=held.text if held else "",
            after=entry.shown.text,
        )


def _erased(path: str, line: int) -> FolderNote:
    """What to note of an entry that stands as it was written, and whose item was erased since."""
    return FolderNote(path=path, line=line, note="was erased from memory, and goes when the folder is written again")


def _sort_of(now: ShownItem, shown: ShownItem) -> EditSort:
    if now.pinned != shown.pinned and now == replace(shown, pinned=now.pinned):
        return EditSort.PINNED if shown.pinned else EditSort.UNPINNED
    return EditSort.EDITED


def _whole_line(shown: ShownItem) -> str:
    """An entry with its pin, with who said it and when, or with its title and tags."""
    pin = PIN if shown.pinned else ""
    said, tags = f"{shown.day} {shown.time}".strip(), " ".join(f"#{tag}" for tag in shown.tags)
    head = ", ".join(filter(None, (pin, shown.title, shown.name, said, tags)))
    return f"{head}: {shown.text}" if head else shown.text
