"""A report as tables: rich in a terminal, aligned text in a pipe, Markdown for a page."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TextIO

from mnemic.lab.kit.log import Cost
from mnemic.lab.kit.metrics import Estimate
from mnemic.lab.kit.report import HEADLINE, Report, Row, as_json

_BLOCKS: Final = " ▏▎▍▌▋▊▉█"
_SHOWN: Final = (
    ("R@1", "R@1"),
    ("R@5", "R@5"),
    ("R@10", "R@10"),
    ("R@20", "R@20"),
    ("R@50", "R@50"),
    ("any@5", "any@5"),
    ("session any@5", "ses any@5"),
    ("session any@10", "ses any@10"),
    ("R@1k tokens", "1k"),
    ("R@2k tokens", "2k"),
    ("R@4k tokens", "4k"),
)
_INSTANT: Final = 1e6
_WITH_INTERVAL: Final = frozenset({"R@5", "R@10"})


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as they are shown: the first column and those in `words` to the left, figures to the right."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: tuple[int, ...] = (0,)


def tables(made: Report) -> tuple[Table, ...]:
    """What was found, by category, and what it cost."""
    return _found(made), _by_category(made), _costs(made)


def plain(made: Report) -> str:
    """Aligned text without colour."""
    return _stacked(made, _aligned)


def markdown(made: Report) -> str:
    """The same for a page."""
    return _stacked(made, _piped)


def show(made: Report, stream: TextIO, form: str | None = None) -> None:
    """Write the report: as `json`, `markdown` or `plain`, or when None as the stream suits it best.

    A terminal narrower than the widest table gets aligned text, which it can scroll, not folded cells.
    """
    if form == "json":
        stream.write(as_json(made) + "\n")
    elif form == "markdown":
        stream.write(markdown(made) + "\n")
    elif form == "plain" or not stream.isatty():
        stream.write(plain(made) + "\n")
    else:
        _rich(made, stream)


def bar(share: float, width: int = 12) -> str:
    """A share in [0, 1] as a bar of `width` characters at most, an eighth of one fine."""
    if math.isnan(share):
        return ""
    whole, eighths = divmod(round(min(max(share, 0.0), 1.0) * width * 8), 8)
    return (_BLOCKS[-1] * whole + (_BLOCKS[eighths] if eighths else "")).ljust(width)


def aligned(table: Table) -> str:
    """One table as aligned text."""
    return "\n".join(_aligned(table))


def piped(table: Table) -> str:
    """One table for a page."""
    return "\n".join(_piped(table))


def _found(made: Report) -> Table:
    header = ("system", "n", *(short for _, short in _SHOWN), HEADLINE)
    return Table("1. Evidence found, %", header, tuple(_found_cells(row) for row in made.rows))


def _found_cells(row: Row) -> tuple[str, ...]:
    scores = row.scores
    cells = (_percent(scores[name], name in _WITH_INTERVAL) for name, _ in _SHOWN)
    counted = max(scores[HEADLINE].n, scores["session any@5"].n)
    return row.system, f"{counted:,}", *cells, bar(scores[HEADLINE].mean)


def _by_category(made: Report) -> Table:
    names = list(dict.fromkeys(name for row in made.rows for name in row.categories))
    sizes = {name: max(row.categories[name].n for row in made.rows if name in row.categories) for name in names}
    header = (
        "system",
        *(f"{name} ({sizes[name]})" for name in names),
        "answerable only",
        "all, beside the bar",
        "AUROC",
    )
    return Table(f"2. {HEADLINE} by category, %", header, tuple(_category_cells(row, names) for row in made.rows))


def _category_cells(row: Row, names: Sequence[str]) -> tuple[str, ...]:
    nothing = Estimate(math.nan, math.nan, math.nan, 0)
    return (
        row.system,
        *(_percent(row.categories.get(name, nothing), True) for name in names),
        _percent(row.answerable[HEADLINE], True),
        _signed(row.gain),
        _number(row.auroc, 2),
    )


def _costs(made: Report) -> Table:
    header = (
        "system",
        "ingest turns/s",
        "bytes/message",
        "write to recall ms",
        "recall p50 ms",
        "p95 ms",
        "tokens/question",
        "model calls/message",
    )
    return Table(
        "3. What it cost (recall and tokens: the ten best)", header, tuple(_cost_cells(row) for row in made.rows)
    )


def _cost_cells(row: Row) -> tuple[str, ...]:
    cost = row.cost
    return (
        row.system,
        _rate(cost),
        _number(cost.bytes_per_message if cost else None, 0),
        _number(cost.lag_ms if cost else None, 2),
        _number(row.p50_ms, 2),
        _number(row.p95_ms, 2),
        _number(row.tokens, 0),
        _number(cost.model_calls if cost else None, 0),
    )


def _rate(cost: Cost | None) -> str:
    if cost is None:
        return "-"
    rate = cost.messages / max(cost.ingest_seconds, 1e-9)
    return _number(rate, 0) if rate < _INSTANT else "at once"


def _percent(value: Estimate, interval: bool = False) -> str:
    if math.isnan(value.mean):
        return "-"
    shown = f"{100 * value.mean:.1f}"
    return f"{shown} ±{50 * (value.high - value.low):.1f}" if interval else shown


def _signed(value: Estimate | None) -> str:
    if value is None or math.isnan(value.mean):
        return "-"
    return f"{100 * value.mean:+.1f} [{100 * value.low:+.1f}, {100 * value.high:+.1f}]"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:,.{digits}f}"


def _stacked(made: Report, form: Callable[[Table], Iterator[str]]) -> str:
    blocks = ["\n".join(form(table)) for table in tables(made)]
    return "\n\n".join([*blocks, "\n".join(f"* {note}" for note in made.notes)])


def _aligned(table: Table) -> Iterator[str]:
    lines = (table.columns, *table.rows)
    widths = [max(_width(cell) for cell in column) for column in zip(*lines, strict=True)]
    yield table.title
    for line in lines:
        cells = enumerate(zip(line, widths, strict=True))
        yield "  ".join(_padded(cell, width, left=n in table.words) for n, (cell, width) in cells).rstrip()


def _piped(table: Table) -> Iterator[str]:
    yield f"**{table.title}**"
    yield ""
    yield f"| {' | '.join(table.columns)} |"
    yield f"|---|{'---:|' * (len(table.columns) - 1)}"
    for row in table.rows:
        yield f"| {' | '.join(cell.strip() for cell in row)} |"


def _padded(cell: str, width: int, *, left: bool) -> str:
    space = " " * (width - _width(cell))
    return cell + space if left else space + cell


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _rich(made: Report, stream: TextIO) -> None:
    from rich.console import Console  # rich is loaded only for a terminal
    from rich.table import Table as Grid

    console = Console(file=stream, highlight=False)
    for table in tables(made):
        widest = max(map(_width, _aligned(table)))
        if widest > console.width:
            stream.write(aligned(table) + "\n\n")
            continue
        grid = Grid(title=table.title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for n, column in enumerate(table.columns):
            grid.add_column(column, justify="left" if n == 0 else "right", no_wrap=True)
        for row in table.rows:
            grid.add_row(*row, style="bold" if row[0] == "mnemic" else None)
        console.print(grid, end="\n\n")
    for note in made.notes:
        console.print(f"* {note}", style="dim", markup=False)
