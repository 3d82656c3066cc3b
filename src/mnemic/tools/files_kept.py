"""How a tree of files is kept: a file is an item, its edits revisions, and a long file several items.

An item of kind RESOURCE says in its slots where its file is (`path`) and which part of it this is (`part`, from 0); its
text is that part exactly, so that recall finds it. All but the last say that there is `more`, so that a file does not
get shorter without a word when one of them is forgotten. What an item's text cannot be stands in a slot: a blank part
in `blank`. A folder that holds nothing is an item too, and says so by `folder`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, zip_longest
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mnemic.core.items import Channel, Kind, Slot
from mnemic.core.mask import mask
from mnemic.core.queries import Filter
from mnemic.errors import Invalid, TooLarge
from mnemic.tools.files_tree import ROOT, VIEWS, File, Place, StoredPart, Tree, Untold, parents, place_of, shown
from mnemic.verbs.statements import Statement
from mnemic.verbs.transacting import Transaction

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Version
    from mnemic.settings import Settings

T = TypeVar("T")

TAG: Final = "memory-file"
KEPT: Final = Filter(kinds=(Kind.RESOURCE,), tags=(TAG,))
"""The items that hold files and empty folders."""

BLANK: Final = "(blank)"
EMPTY_FOLDER: Final = "(empty folder)"
_BYTES_ESCAPED: Final = 8
"""More than a blank character takes in the JSON of a slot."""


def folded(versions: Sequence[Version]) -> Tree:
    """The tree that items stand for, given in the order in which they were written.

    Two items may say that they hold the same part of the same file, where a deletion was undone after the file was made
    anew: the later one does, and the other is shown under a name of its own, `notes (2).md`.
    """
    folders: dict[Place, tuple[ItemId, ...]] = {}
    parts: dict[Place, list[StoredPart]] = defaultdict(list)
    for version in reversed(versions):
        if (kept := _kept(version.item)) is None:
            continue
        folders.update((parent, ()) for parent in parents(kept.place) if parent not in folders)
        if version.item.slots.get("folder") is True:
            folders[kept.place] = (*folders.get(kept.place, ()), version.item.id)
        else:
            parts[kept.place].append(kept)
    return Tree(_files(parts, folders), folders)


def _files(parts: Mapping[Place, Sequence[StoredPart]], folders: Container[Place]) -> dict[Place, File]:
    files: dict[Place, File] = {}
    for place, same in parts.items():
        for n, copy in enumerate(_copies(same)):
            kept = _completed(copy)
            free = place if n == 0 and place not in folders else _free_name(place, (files, parts, folders))
            files[free] = File("".join(part.text for part in kept), kept)
    return files


def _copies(parts: Sequence[StoredPart]) -> list[tuple[StoredPart, ...]]:
    """The files that the parts kept under one path make up, those in the lead that were written later.

    A part goes with the nearest one before it that says there is more: two files of one path do not mix.

    Args:
        parts: The later written first.
    """
    copies: list[list[StoredPart]] = []
    for part in sorted(parts, key=lambda part_of_file: part_of_file.number):
        waiting = [file for file in copies if file[-1].more and file[-1].number < part.number]
        if waiting:
            max(waiting, key=lambda file: file[-1].number).append(part)
        else:
            copies.append([part])
    return [tuple(file) for file in copies]


def _completed(parts: Sequence[StoredPart]) -> tuple[StoredPart, ...]:
    """The parts of a file in their order, and for those that are missing one that says so in a line."""
    parts_so_far: list[StoredPart] = []
    for part in parts:
        at = _next(parts_so_far)
        if part.number > at:
            parts_so_far.append(_gap(parts_so_far, part, at, part.number - at))
        parts_so_far.append(part)
    if parts_so_far[-1].more:
        parts_so_far.append(_gap(parts_so_far, parts_so_far[-1], _next(parts_so_far), None))
    return tuple(parts_so_far)


def _next(parts: Sequence[StoredPart]) -> int:
    return parts[-1].number + parts[-1].span if parts else 0


def _gap(before: Sequence[StoredPart], beside: StoredPart, at: int, size: int | None) -> StoredPart:
    """What stands for parts that are missing from number `at` on; a size of None: nobody knows how many."""
    within = "\n" if before and not before[-1].text.endswith("\n") else ""
    line = f"{within}[{_missing(at + 1, size)}; undo brings back what was forgotten]\n"
    return StoredPart(None, beside.place, at, line, more=size is not None, span=size or 1)


def _missing(first: int, size: int | None) -> str:
    if size is None:
        return f"this file from part {first} on is missing: it was forgotten or erased"
    if size == 1:
        return f"part {first} of this file is missing: it was forgotten or erased"
    return f"parts {first} to {first + size - 1} of this file are missing: they were forgotten or erased"


def _free_name(place: Place, taken: Sequence[Container[Place]]) -> Place:
    stem, dot, suffix = place[-1].rpartition(".")
    names = (f"{stem} ({n}){dot}{suffix}" if stem else f"{suffix} ({n})" for n in count(2))
    return next(free for name in names if not any((free := (*place[:-1], name)) in some for some in taken))


def _kept(item: Item) -> StoredPart | None:
    """What an item holds of a file; None if it was tagged as if it did, and does not say of which that can be."""
    path, number, blank = item.slots.get("path"), item.slots.get("part", 0), item.slots.get("blank")
    if not isinstance(path, str) or not isinstance(number, int) or number < 0:
        return None
    try:
        place = place_of(path)
    except (Untold, Invalid):
        return None
    text = blank if isinstance(blank, str) and item.text == BLANK else item.text
    if place[:1] in ((), (VIEWS,)):
        return None
    return StoredPart(item.id, place, number, text, more=item.slots.get("more") is True)


@dataclass(slots=True)
class _Book:
    """What is to be written, revised and hidden, as it is found out."""

    write: list[Statement] = field(default_factory=list)
    revise: dict[ItemId, dict[str, object]] = field(default_factory=dict)
    retire: list[ItemId] = field(default_factory=list)

    def put(self, kept: StoredPart | None, new: StoredPart) -> None:
        if kept is None or kept.id is None:
            self.write.append(_statement(**_fields(new)))
        elif replace(kept, id=None) != new:
            self.revise[kept.id] = _fields(new)

    def hide(self, parts: Iterable[StoredPart]) -> None:
        self.retire += [kept.id for kept in parts if kept.id is not None]


def edits(before: Tree, after: Tree, answer: T, settings: Settings) -> Transaction[T]:
    """What turns the items of one tree into those of another.

    Raises:
        TooLarge: a file is over the setting `input_limit`.
    """
    if after is before:
        return Transaction(answer=answer)
    book = _Book()
    for place, file in after.files.items():
        if before.files.get(place) is not file:
            _file_edits(book, place, file, settings)
    _folder_edits(book, before, after)
    standing = {kept.id for file in after.files.values() for kept in file.kept}
    book.hide(kept for file in before.files.values() for kept in file.kept if kept.id not in standing)
    return Transaction(answer=answer, write=tuple(book.write), revise=book.revise, retire=tuple(book.retire))


def _file_edits(book: _Book, place: Place, file: File, settings: Settings) -> None:
    size = len(file.text.encode())
    if size > settings.input_limit:
        raise TooLarge("file", f"{shown(place)} would have {size:,} bytes", f"At most {settings.input_limit:,}.")
    text = mask(file.text)[0] if settings.mask_secrets and size > settings.item_limit else file.text
    head, tail, pieces = changed(text, [kept.text for kept in file.kept], settings.item_limit)
    old = file.kept[head : len(file.kept) - tail]
    rows = [(kept, kept.text) for kept in file.kept[:head]]
    rows += zip_longest(old[: len(pieces)], pieces)
    rows += [(kept, kept.text) for kept in file.kept[len(file.kept) - tail :]]
    number = 0
    for at, (kept, piece) in enumerate(rows, 1):
        missing = kept is not None and kept.id is None and kept.text == piece
        if not missing:
            book.put(kept, StoredPart(None, place, number, piece, more=at < len(rows)))
        number += kept.span if missing else 1
    book.hide(old[len(pieces) :])


def _folder_edits(book: _Book, before: Tree, after: Tree) -> None:
    """A folder is an item of its own while it holds nothing, and only then."""
    full = {place[:-1] for place in (*after.files, *after.folders)}
    for place, ids in after.folders.items():
        if place not in full and not ids:
            slots: dict[str, Slot] = {"path": shown(place), "title": _title(place), "folder": True}
            book.write.append(_statement(text=EMPTY_FOLDER, slots=slots))
    for place, ids in before.folders.items():
        stays = place in after.folders and place not in full
        book.retire += ids[1:] if stays else ids


def changed(text: str, parts: Sequence[str], limit: int) -> tuple[int, int, list[str]]:
    """How to keep a text that was kept in `parts`: how many of the first and of the last stay, and what comes between.

    A change rewrites the part it is in, and the one beside it where both have room in one; each of the new parts has at
    most `limit` bytes.
    """
    if len(text.encode()) <= limit and _fits(text, limit):
        return 0, 0, [text]
    head, start = 0, 0
    while head < len(parts) and text.startswith(parts[head], start):
        start += len(parts[head])
        head += 1
    tail, end = 0, len(text)
    while tail < len(parts) - head and text.endswith(parts[-1 - tail], start, end):
        end -= len(parts[-1 - tail])
        tail += 1
    between = text[start:end]
    if between and head and _fits(parts[head - 1] + between, limit):
        head, between = head - 1, parts[head - 1] + between
    elif between and tail and _fits(between + parts[-tail], limit):
        tail, between = tail - 1, between + parts[-tail]
    return head, tail, list(cut(between, limit))


def _fits(text: str, limit: int) -> bool:
    return len(text.encode()) <= (limit if text.strip() else limit // _BYTES_ESCAPED)


def cut(text: str, limit: int) -> Iterator[str]:
    """`text` in pieces of at most `limit` bytes, cut after a line, else a space, where one ends in the second half.

    What has to be cut at all is cut to half the limit, so that pieces have room to grow.
    """
    if not text:
        return
    room = limit if _fits(text, limit) else limit // 2 if text.strip() else limit // _BYTES_ESCAPED
    at = 0
    while at < len(text):
        window = text[at : at + room].encode()[:room].decode(errors="ignore") or text[at]
        if at + len(window) < len(text):
            window = window[: _end(window)]
        if not _fits(window, limit):
            window = window[: max(1, limit // (4 * _BYTES_ESCAPED))]
        yield window
        at += len(window)


def _end(window: str) -> int:
    """Where to cut: behind the last line end, else the last space, of the second half; else at the end."""
    half = len(window) // 2
    return window.rfind("\n", half) + 1 or window.rfind(" ", half) + 1 or len(window)


def _fields(part: StoredPart) -> dict[str, Any]:
    """Text and slots of the item that holds a part."""
    slots: dict[str, Slot] = {"path": shown(part.place), "title": _title(part.place)}
    if part.number:
        slots["part"] = part.number
    if part.more:
        slots["more"] = True
    if part.text.strip():
        return {"text": part.text, "slots": slots}
    return {"text": BLANK, "slots": {**slots, "blank": part.text}}


def _statement(text: str, slots: dict[str, Slot]) -> Statement:
    return Statement(text=text, kind=Kind.RESOURCE, slots=slots, tags=(TAG,), channel=Channel.MODEL)


def _title(place: Place) -> str:
    return shown(place).removeprefix(f"{ROOT}/")
