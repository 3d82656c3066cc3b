"""A user's memory as a folder of Markdown: written, compared, brought back in one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from mnemic._version import __version__
from mnemic.core.checking import did_you_mean
from mnemic.core.events import Receipt
from mnemic.core.ids import ItemId
from mnemic.errors import Conflict, Invalid
from mnemic.flow import Flow
from mnemic.markdown_folder.file_names import folded
from mnemic.markdown_folder.folder_comparison import (
    EditSort,
    FolderChange,
    FolderComparison,
    FolderEdit,
    FolderFindings,
    FolderReader,
)
from mnemic.markdown_folder.folder_disk import README, FolderDisk
from mnemic.markdown_folder.folder_layout import LaidPage, is_laid_out, laid_out
from mnemic.markdown_folder.folder_manifest import (
    MANIFEST,
    FolderManifest,
    WrittenEntry,
    WrittenPage,
    decoded_manifest,
    encoded_manifest,
    is_a_home,
)
from mnemic.markdown_folder.folder_plan import planned
from mnemic.markdown_folder.folder_reading import TextLimits
from mnemic.opening import Opened
from mnemic.verbs.hand_editing import HandEdited, HeldText
from mnemic.verbs.who import Who

T = TypeVar("T")

SIDES: Final = ("folder", "memory")
"""Whose word counts where both have changed the same entry."""

FolderProgress: TypeAlias = Callable[[int, int], object]
"""Takes how many files are written, and how many there are."""

_README: Final = """\
# Your memory, as files

`mnemic files write` made this folder. Read it, edit it, then bring it back:

    mnemic files status .     what you have changed
    mnemic files apply .      take it over, in one commit that `mnemic undo` takes back

- Change the words of an entry, and leave the comment `<!-- ^... -->` behind it as it is: it says which memory that is.
- A new point of a list (`- ...`) is a new memory. In a conversation, `- **Ada** 14:05: ...` below a heading
  `## 2026-03-01` says who said it and when. A new file is a new document.
- Begin an entry with 📌 to pin it: then it is always at hand.
- Delete an entry to have it forgotten: `mnemic files apply . --forget-removed`.

What others erase from the memory stays in these files until they are written again.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderWrite:
    """What was written into a folder.

    Attributes:
        seq: The last commit that it shows.
        items: How many entries it has.
        files: How many files it has, without our own two.
        written, removed: How many files were new or changed, and how many have gone.
        left_out: Visible items that are not shown: what strategies keep for themselves, what is over or taken back.
        lost: What a person had changed there and was written over; only if that was forced.
    """

    folder: str
    seq: int
    items: int
    files: int
    written: int
    removed: int
    left_out: int
    lost: FolderComparison | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderApply:
    """What bringing a folder back did, or would do.

    Attributes:
        receipt: Of the commit; None if nothing was written.
        applied: The changes that were written, or would be.
        left: What was removed from the folder and stays in memory, and conflicts in which memory's word counts.
        found: All that was found.
        refused: Whether nothing was written because of conflicts.
    """

    receipt: Receipt | None
    applied: tuple[FolderChange, ...]
    left: tuple[FolderChange, ...]
    found: FolderComparison
    refused: bool = False


class ScopeFolder:
    """One user's memory as one folder."""

    def __init__(self, opened: Opened, who: Who, folder: str | Path) -> None:
        self._opened, self._who, self._name = opened, who, str(folder)
        self._disk = FolderDisk(folder)

    def write(self, *, force: bool = False, progress: FolderProgress | None = None) -> FolderWrite:
        """Write the folder, as `ScopedMemory.write_folder` says."""
        manifest, lost = self._manifest(), None
        homes: Mapping[str, str] = {}
        if manifest is None and not self._disk.is_empty() and not force:
            raise Conflict(
                f"{self._disk.root} holds files and was not written from a memory; name an empty folder, or say force "
                "(--force) to write beside them: files of the same names are written over"
            )
        if manifest is not None:
            findings, held, seq = self._compared(manifest)
            compared = findings.reported(self._name, manifest.seq)
            if not compared.is_clean and not force:
                raise Conflict(_unsaved(compared))
            lost = None if compared.is_clean else compared
            homes = findings.homes
        else:
            seq, held = self._run(self._opened.kernel.held_texts(self._who, ()))
        read = findings.read if manifest is not None and lost is None else ()
        done = self._write(manifest, seq, held, homes, read, progress)
        return replace(done, lost=lost)

    def compare(self) -> FolderComparison:
        """Compare the folder with memory, as `ScopedMemory.compare_folder` says."""
        manifest = self._own_manifest()
        findings, _, _ = self._compared(manifest)
        return findings.reported(self._name, manifest.seq)

    def apply(
        self,
        *,
        dry_run: bool = False,
        forget_removed: bool = False,
        prefer: str | None = None,
        progress: FolderProgress | None = None,
    ) -> FolderApply:
        """Bring the folder back, as `ScopedMemory.apply_folder` says."""
        if prefer is not None and prefer not in SIDES:
            raise Invalid("prefer", f"{prefer!r} is no side", did_you_mean(prefer, SIDES))
        manifest = self._own_manifest()
        findings, _, _ = self._compared(manifest)
        compared = findings.reported(self._name, manifest.seq)
        if findings.problems and not dry_run:
            raise _refusal(compared)
        left = [edit for edit in findings.edits if _stays(edit, prefer, forget_removed=forget_removed)]
        edits = [edit for edit in findings.edits if edit not in left]
        done = FolderApply(
            receipt=None,
            applied=tuple(edit.change for edit in edits),
            left=tuple(edit.change for edit in left),
            found=compared,
        )
        if prefer is None and any(edit.conflicts and edit not in left for edit in findings.edits):
            return replace(done, applied=(), left=(), refused=True)
        if dry_run or not (edits or left):
            return done
        self._disk.prepare()
        if not edits:
            return done
        edited = self._run(self._opened.kernel.edit_by_hand(self._who, planned(edits)))
        self._write_again(manifest, findings, edits, edited, progress)
        return replace(done, receipt=edited.receipt)

    def _write_again(
        self,
        manifest: FolderManifest,
        findings: FolderFindings,
        edits: Sequence[FolderEdit],
        edited: HandEdited,
        progress: FolderProgress | None,
    ) -> None:
        """Write the folder with what was just brought back; a document stays in the file that it was found in."""
        homes = {str(edited.reworded.get(ItemId(id), ItemId(id))): path for id, path in findings.homes.items()}
        new = (edit for edit in edits if edit.held is None)
        homes |= {
            id: edit.change.path for edit, id in zip(new, edited.added, strict=True) if edit.page.sort == "document"
        }
        seq, held = self._run(self._opened.kernel.held_texts(self._who, ()))
        self._write(manifest, seq, held, homes, findings.read, progress)

    def _compared(self, manifest: FolderManifest) -> tuple[FolderFindings, list[HeldText], int]:
        settings = self._opened.settings
        limits = TextLimits(settings.item_limit, settings.input_limit)
        reader = FolderReader(manifest, self._disk.files(), limits)
        seq, held = self._run(self._opened.kernel.held_texts(self._who, reader.ids))
        return reader.compare(held), held, seq

    def _write(
        self,
        manifest: FolderManifest | None,
        seq: int,
        held: Sequence[HeldText],
        homes: Mapping[str, str],
        read: Iterable[str],
        progress: FolderProgress | None,
    ) -> FolderWrite:
        """Write all files, each whole or not at all, and the manifest last; delete those that hold nothing any more.

        Args:
            read: Files that somebody changed or made, and whose entries stand elsewhere by now, or are forced away.
        """
        visible = {held_text.id for held_text in held if held_text.visible}
        shown = [held_text for held_text in held if held_text.visible and is_laid_out(held_text.item, visible)]
        pages = list(laid_out(shown, {id: path for id, path in homes.items() if is_a_home(path)}))
        before = {} if manifest is None else manifest.pages
        hashes = {file.path: file.hash for file in self._disk.files()} if before else {}
        self._disk.prepare()
        written: dict[str, WrittenPage] = {}
        fresh = 0
        for number, page in enumerate(pages, 1):
            hash = self._disk.hash_of(page.text)
            if hashes.get(page.path) != hash:
                self._disk.replace(page.path, page.text)
                fresh += 1
            written[page.path] = _written(page, hash)
            if progress is not None:
                progress(number, len(pages))
        going = self._gone({*before, *read}, hashes, written)
        for path in going:
            self._disk.remove(path)
        if not (self._disk.root / README).exists():
            self._disk.replace(README, _README)
        now = FolderManifest(self._who.scope, self._who.branch, seq, __version__, written)
        self._disk.replace(MANIFEST, encoded_manifest(now))
        return FolderWrite(
            folder=self._name,
            seq=seq,
            items=len(shown),
            files=len(pages),
            written=fresh,
            removed=len(going),
            left_out=len(visible) - len(shown),
        )

    def _gone(self, ours: Iterable[str], there: Mapping[str, str], written: Mapping[str, WrittenPage]) -> list[str]:
        kept = {folded(path) for path in written}
        return sorted(path for path in ours if path in there and folded(path) not in kept)

    def _manifest(self) -> FolderManifest | None:
        text = self._disk.read_manifest()
        return None if text is None else self._checked(text)

    def _own_manifest(self) -> FolderManifest:
        return self._checked(self._disk.existing_manifest())

    def _checked(self, text: str) -> FolderManifest:
        manifest = decoded_manifest(text, f"{self._name}/{MANIFEST}")
        manifest.check_owner(self._name, self._who.scope, self._who.branch)
        return manifest

    def _run(self, flow: Flow[T]) -> T:
        return self._opened.answering.verb(flow, self._who)


def _written(page: LaidPage, hash: str) -> WrittenPage:
    entries = {str(held.id): WrittenEntry(held.version.seq_from, shown.digest) for held, shown in page.entries}
    return WrittenPage(hash, page.page, entries)


def _stays(edit: FolderEdit, prefer: str | None, *, forget_removed: bool) -> bool:
    """Whether memory stays as it is, whatever the folder says."""
    if edit.conflicts and prefer == "memory":
        return True
    return edit.change.sort is EditSort.REMOVED and not forget_removed


def _unsaved(comparison: FolderComparison) -> str:
    lost = sum(note.lost for note in comparison.notes)
    counts = (
        (len(comparison.changes) + len(comparison.conflicts), "changes that memory does not have"),
        (len(comparison.problems), "places that cannot be read"),
        (lost, "lines that are no memory"),
    )
    counted = ", ".join(f"{count} {what}" for count, what in counts if count)
    return (
        f"{comparison.folder} holds {counted}; nothing was written. `mnemic files status` lists them, "
        "`mnemic files apply` takes the changes over, force (--force) writes over all of it"
    )


def _refusal(comparison: FolderComparison) -> Invalid:
    first, *more = comparison.problems
    remedy = first.remedy + (f" There are {len(more)} more: `mnemic files status` lists them." if more else "")
    return Invalid(f"{first.path}, line {first.line}", first.problem, f"{remedy} Nothing was written.")
