"""Streams as one HTML page that needs nothing else: success against the index of the task, and the tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mnemic.lab.kit.curve_plot import PlottedCurve, PlottedPoint, curve_plot
from mnemic.lab.kit.html_page import html_page, in_html, write_html
from mnemic.lab.kit.run_page import page_table, plots
from mnemic.lab.kit.stream_report import notes, stream_tables

if TYPE_CHECKING:
    from mnemic.lab.kit.stream_report import StreamReport, StreamRow


def write_stream_page(made: StreamReport, path: Path) -> Path:
    """Write the page of a run of streams.

    Raises:
        Invalid: the file cannot be written.
    """
    return write_html(stream_page(made), path)


def stream_page(made: StreamReport) -> str:
    """The page of a run of streams."""
    return html_page(f"mnemic bench stream: {made.header['world']}", _body(made))


def _body(made: StreamReport) -> Iterator[str]:
    head = made.header
    yield f"<h1>Experience streams: {in_html(head['world'])}</h1>"
    about = f"{head['about']} {head['started'][:16]} UTC, mnemic {head['mnemic']}"
    yield f'<p class="dim">{in_html(about)}</p>'
    yield "<h2>Done against the index of the task, beside retrying alone</h2>"
    yield from plots(_curves(row, made.control) for row in made.rows if row is not made.control)
    for table in stream_tables(made):
        yield f"<h3>{in_html(table.title)}</h3>"
        yield from page_table(table)
    yield f"<ul>{''.join(f'<li>{in_html(note)}</li>' for note in notes(made))}</ul>"


def _curves(row: StreamRow, control: StreamRow | None) -> str:
    """One memory's curve with its intervals, and the control's dashed."""
    beside = [] if control is None else [_curve(control, control=True)]
    return curve_plot(f"{row.name}: done, %, part by part", [_curve(row), *beside], top=100)


def _curve(row: StreamRow, *, control: bool = False) -> PlottedCurve:
    points = (
        PlottedPoint(f"{n}", 100 * part.mean, 100 * part.low, 100 * part.high)
        for n, part in enumerate(row.curve, start=1)
        if not math.isnan(part.mean)
    )
    return PlottedCurve(row.name, tuple(points), control=control)
