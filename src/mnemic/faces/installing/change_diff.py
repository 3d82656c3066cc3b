"""A change as it is shown before it is made: a diff without others' secrets, and without lines of a megabyte."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from mnemic.faces.installing.install_plan import PlannedChange
from mnemic.faces.installing.masking import masked_json, masked_toml

LONG: Final = 400
"""Characters from which a line is cut."""
AROUND: Final = 120
"""Characters that stay on either side of what changes in a line that is cut."""
MOST: Final = 2_000
"""Characters that are shown of a stretch that changes."""


def diff(change: PlannedChange, *, comments: bool) -> list[str]:
    """What changes in a file, as lines of a unified diff; a missing end of the last line is told.

    Args:
        comments: Whether the file may hold comments, if it is JSON.
    """
    path, after = str(change.display_path), change.after
    lines = difflib.unified_diff(
        _lines(_masked(change, change.file.text, comments)),
        _lines(_masked(change, after or "", comments)),
        os.devnull if change.file.raw is None else path,
        os.devnull if after is None else path,
        lineterm="",
    )
    head, body = 2, list(lines)
    return body[:head] + _cut(body[head:])


def _masked(change: PlannedChange, text: str, comments: bool) -> str:
    return masked_toml(text) if change.display_path.suffix == ".toml" else masked_json(text, comments=comments)


def _lines(text: str) -> list[str]:
    """Lines without their ends; where the last has none, that stands there as a line of its own."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if not lines[-1] else [*lines, "\\ No newline at end of file"]


def _cut(lines: Sequence[str]) -> list[str]:
    """The lines, each cut to what a terminal bears: what is taken out and put in, to what differs between the two."""
    runs = [(sign, list(run)) for sign, run in groupby(lines, key=lambda line: line[:1])]
    narrowed: list[str] = []
    for place, (sign, run) in enumerate(runs):
        next_to = {"-": place + 1, "+": place - 1}.get(sign, -1)
        other = runs[next_to][1] if 0 <= next_to < len(runs) and {sign, runs[next_to][0]} == {"-", "+"} else []
        narrowed += [_narrowed(line, other[i] if i < len(other) else "") for i, line in enumerate(run)]
    return narrowed


def _narrowed(line: str, other: str) -> str:
    """A line as far as it differs from the one that it replaces, or that replaces it."""
    if len(line) <= LONG:
        return line
    sign, line, other = line[:1], line[1:], other[1:]
    same = _same(line, other)
    same_end = _same(line[same:][::-1], other[same:][::-1])
    start, end = max(0, same - AROUND), min(len(line), len(line) - same_end + AROUND)
    middle = line[start:end]
    if len(middle) > MOST:
        middle = middle[: MOST // 2] + _omitted(len(middle) - MOST) + middle[-MOST // 2 :]
    return sign + _omitted(start) + middle + _omitted(len(line) - end)


def _same(first: str, second: str) -> int:
    """How many characters two texts share at their beginning."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if first.startswith(second[:middle]) else (low, middle - 1)
    return low


def _omitted(count: int) -> str:
    return f" ... {count:,} characters ... " if count else ""
