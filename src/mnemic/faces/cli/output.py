"""Writes what commands say: colour only in a terminal, control characters made visible, JSON for programs."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TextIO

import click

from mnemic.core.sanitize import for_json, for_terminal

_COLOUR: Final = re.compile(r"(\x1b\[[0-9;]*m)")
_NARROW: Final = 40
_LINES: Final = 8
_CHARACTERS: Final = 600
_REST: Final = 60
"""Characters that are shown rather than announced."""


def plain(text: str) -> str:
    """Spell out control characters: what was remembered must not steer the terminal that shows it."""
    return for_terminal(text)


def flat(text: str) -> str:
    """Put `text` on one line, control characters spelt out."""
    return plain(" ".join(text.split()))


def excerpt(text: str, id: str) -> str:
    """Cut an item's text to what a list can bear, and say how to see the rest."""
    kept = "\n".join(text.split("\n")[:_LINES])[:_CHARACTERS].rstrip()
    left = len(text) - len(kept)
    return text if left <= _REST else f"{kept} ... ({left:,} more characters; `mnemic show {id}`)"


def indented(text: str) -> str:
    """Indent every line of `text`."""
    return "\n".join(f"   {line}" for line in plain(text.replace("\r\n", "\n")).split("\n"))


def width(text: str) -> int:
    """Count the columns that `text` takes in a terminal; a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


def cut(text: str, columns: int) -> str:
    """Cut `text` to so many columns, with a mark where something was left out."""
    if width(text) <= columns:
        return text
    kept, left = "", columns - 1
    for character in text:
        left -= width(character)
        if left < 0:
            break
        kept += character
    return kept + "…"


def day(when: datetime) -> str:
    """Write a moment as its date and minute."""
    return f"{when.year:04}-{when:%m-%d %H:%M}"


def size(count: float) -> str:
    """Write a number of bytes as a person reads it."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:,.0f} {unit}" if unit == "B" else f"{count:,.1f} {unit}"
        count /= 1024
    return f"{count:,.1f} GiB"


def freed(count: int) -> str:
    """Say how much smaller a file has become, or larger."""
    return f"{size(count)} freed" if count >= 0 else f"{size(-count)} more than before"


def many(count: int, noun: str) -> str:
    """Write a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


class Output:
    """Where a command writes.

    Attributes:
        json: Whether it writes for a program.
        color: Whether escape codes may go out.
        margin: What every line for a person begins with.
    """

    def __init__(self, *, json: bool, color: bool, margin: str = "") -> None:
        self.json, self.color, self.margin = json, color, margin

    @property
    def columns(self) -> int | None:
        """How wide a terminal is; None in a pipe, where nothing is cut."""
        if not sys.stdout.isatty():
            return None
        import shutil

        return max(shutil.get_terminal_size().columns, _NARROW)

    @property
    def draws(self) -> bool:
        """Whether bars may be drawn: for a person, whose terminal standard error is."""
        return not self.json and sys.stderr.isatty()

    def ink(self, text: str, **style: Any) -> str:
        """Style `text` as `click.style` does, if colour may go out."""
        return click.style(text, **style) if self.color else text

    def dim(self, text: str) -> str:
        return self.ink(text, dim=True)

    def bold(self, text: str) -> str:
        return self.ink(text, bold=True)

    def line(self, text: str = "") -> None:
        """Print one line for a person."""
        click.echo(self.margin + self._steady(text) if text else "", color=self.color)

    def note(self, text: str) -> None:
        """Print one line for a person on standard error; a program gets none."""
        if not self.json:
            text = self._steady(text)
            click.echo(click.style(text, dim=True) if self.color else text, err=True)

    def _steady(self, text: str) -> str:
        """Spell out what steers a terminal, but for our own colours: names and paths come this way too."""
        parts = _COLOUR.split(text) if self.color else [text]
        return "".join(part if place % 2 else plain(part) for place, part in enumerate(parts))

    def answer(self, record: Mapping[str, Any], *lines: str) -> None:
        """Print what a command has to say: one JSON document for a program, lines for a person."""
        if self.json:
            self.document(record)
            return
        for line in lines:
            self.line(line)

    def record(self, record: Mapping[str, Any]) -> None:
        """Print one JSON document on a line."""
        click.echo(encoded(record, sys.stdout))

    def records(self, records: Sequence[Mapping[str, Any]], next: str | None) -> None:
        """Print the records of a page, a JSON document on each line; the last has the cursor of the page behind it."""
        for place, record in enumerate(records, start=1):
            self.record({**record, "next": next} if next is not None and place == len(records) else record)

    def more(self, next: str | None) -> None:
        """Tell a person how to get the page behind this one, if there is one."""
        if next is not None:
            self.note(f"there is more: the same again with --after {next}")

    def document(self, record: Mapping[str, Any]) -> None:
        """Print one JSON document, indented."""
        click.echo(encoded(record, sys.stdout, indent=2))

    def table(self, rows: Iterable[Sequence[str]], *, head: Sequence[str] = ()) -> None:
        """Print rows in columns; the last column is not padded."""
        cells = [tuple(row) for row in rows]
        every = [tuple(head), *cells] if head else cells
        if not every:
            return
        widths = [max(width(row[i]) for row in every) for i in range(len(every[0]) - 1)]
        for place, row in enumerate(every):
            padded = [cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=False)]
            text = "  ".join((*padded, row[-1])).rstrip()
            self.line(self.dim(text) if head and place == 0 else text)


def encoded(record: object, stream: TextIO | None = None, indent: int | None = None) -> str:
    """Encode a record as JSON that `stream` can carry; left out, a file in UTF-8."""
    ascii_only = stream is not None and (stream.encoding or "").lower().replace("-", "") != "utf8"
    return for_json(json.dumps(record, ensure_ascii=ascii_only, indent=indent, allow_nan=False, default=_plain_value))


def _plain_value(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple | frozenset | set):
        return list(value)
    return str(value)
