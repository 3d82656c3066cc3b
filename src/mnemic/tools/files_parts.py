"""The parts of a file put together again: which of them belong together, and a line where one is missing."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.tools.files_tree import StoredPart


def copies(parts: Sequence[StoredPart]) -> list[tuple[StoredPart, ...]]:
    """The files that the parts kept under one path make up, those in the lead that were written later.

    A part goes with the nearest one before it that says there is more: two files of one path do not mix.

    Args:
        parts: The later written first.
    """
    found: list[list[StoredPart]] = []
    for part in sorted(parts, key=lambda one: one.number):
        waiting = [file for file in found if file[-1].more and file[-1].number < part.number]
        if waiting:
            max(waiting, key=lambda file: file[-1].number).append(part)
        else:
            found.append([part])
    return [tuple(file) for file in found]


def completed(parts: Sequence[StoredPart]) -> tuple[StoredPart, ...]:
    """The parts of a file in their order, and for those that are missing one that says so in a line."""
    found: list[StoredPart] = []
    for part in parts:
        at = _next(found)
        if part.number > at:
            found.append(_gap(found, part, at, part.number - at))
        found.append(part)
    if found[-1].more:
        found.append(_gap(found, found[-1], _next(found), None))
    return tuple(found)


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
