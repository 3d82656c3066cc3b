"""Tables: aligned text for a terminal or a pipe, Markdown for a page; and values as JSON has them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from mnemic.core.sanitize import for_terminal
from mnemic.lab.kit.metrics import Estimate

MADE_UP: Final = " (made up)"
"""What follows a name or a title wherever figures are of made-up data."""

_BREAKS: Final = re.compile(r"[\r\n\t\v\f\x1c-\x1e\x85\u2028\u2029]+")
_BLOCKS: Final = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class TextTable:
    """Cells as they are shown: the first column and those in `words` to the left, figures to the right."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: tuple[int, ...] = (0,)


def named_as_made_up(name: str, yes: bool) -> str:
    """A name as it stands beside figures, which says so where their data is made up."""
    return f"{name}{MADE_UP}" if yes else name


def made_up(table: TextTable) -> TextTable:
    """The same table, whose title says that its figures are of made-up data."""
    return replace(table, title=f"{table.title}{MADE_UP}")


def bar(share: float, width: int = 12) -> str:
    """A share in [0, 1] as a bar of `width` characters at most, an eighth of one fine."""
    if math.isnan(share):
        return ""
    whole, eighths = divmod(round(min(max(share, 0.0), 1.0) * width * 8), 8)
    return (_BLOCKS[-1] * whole + (_BLOCKS[eighths] if eighths else "")).ljust(width)


def aligned(table: TextTable) -> str:
    """One table as aligned text."""
    lines = [tuple(map(in_line, line)) for line in (table.columns, *table.rows)]
    widths = [max(display_width(cell) for cell in column) for column in zip(*lines, strict=True)]
    shown = [in_line(table.title)]
    for line in lines:
        cells = enumerate(zip(line, widths, strict=True))
        shown.append("  ".join(_padded(cell, width, left=n in table.words) for n, (cell, width) in cells).rstrip())
    return "\n".join(shown)


def piped(table: TextTable) -> str:
    """One table in Markdown, for a page."""
    columns, *rows = (f"| {' | '.join(map(in_markdown, row))} |" for row in (table.columns, *table.rows))
    rule = f"|---|{'---:|' * (len(table.columns) - 1)}"
    return "\n".join([f"**{in_markdown(table.title)}**", "", columns, rule, *rows])


def in_line(text: str) -> str:
    """A text on one line that steers no terminal; spaces at its ends stay, by which rows are indented."""
    return for_terminal(_BREAKS.sub(" ", text))


def in_markdown(text: str) -> str:
    """A text on one line in which neither Markdown nor a terminal has anything to read."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", for_terminal(" ".join(text.split())))


def percent(value: Estimate) -> str:
    """A share with its interval, in per cent; a dash for either where there is none."""
    if math.isnan(value.mean):
        return "-"
    interval = f"{100 * value.low:.0f}, {100 * value.high:.0f}" if value.has_interval else "-"
    return f"{100 * value.mean:.1f} [{interval}]"


def percent_of(value: Estimate, interval: bool = False) -> str:
    """A share in per cent, with half of its interval where that is wanted and there is one."""
    if math.isnan(value.mean):
        return "-"
    half = f" ±{50 * (value.high - value.low):.1f}" if interval and value.has_interval else ""
    return f"{100 * value.mean:.1f}{half}"


def signed(value: Estimate | None) -> str:
    """A difference of shares in points, with its interval; a dash where there is none."""
    if value is None or math.isnan(value.mean):
        return "-"
    interval = f" [{100 * value.low:+.1f}, {100 * value.high:+.1f}]" if value.has_interval else ""
    return f"{100 * value.mean:+.1f}{interval}"


def _padded(cell: str, width: int, *, left: bool) -> str:
    space = " " * (width - display_width(cell))
    return cell + space if left else space + cell


def display_width(text: str) -> int:
    """How many columns a terminal gives a text."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def finite(value: object) -> object:
    """The same with null for what is no number, as JSON has it."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {key: finite(inner) for key, inner in value.items()}
        case list() | tuple():
            return [finite(inner) for inner in value]
        case _:
            return value
