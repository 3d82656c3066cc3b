"""Streams as one HTML page that needs nothing else: success against the index of the task, and the tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.html_page import html_page, in_html, write_html
from mnemic.lab.kit.run_page import page_table
from mnemic.lab.kit.stream_report import notes, stream_tables
from mnemic.lab.kit.tables import percent

if TYPE_CHECKING:
    from mnemic.lab.kit.metrics import Estimate
    from mnemic.lab.kit.stream_report import StreamReport, StreamRow

_WIDTH: Final = 420
_HEIGHT: Final = 220
_EDGE: Final = 36


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
    yield "<h3>Done against the index of the task, beside retrying alone</h3>"
    yield '<div class="plots">'
    for row in made.rows:
        if made.control is None or row is not made.control:
            yield _curves(row, made.control)
    yield "</div>"
    for table in stream_tables(made):
        yield f"<h3>{in_html(table.title)}</h3>"
        yield from page_table(table)
    yield f"<ul>{''.join(f'<li>{in_html(note)}</li>' for note in notes(made))}</ul>"


def _curves(row: StreamRow, control: StreamRow | None) -> str:
    """One memory's curve with its intervals, and the control's dashed."""
    told = f"{row.name}, done %, part by part: {', '.join(map(percent, row.curve))}"
    drawn = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{in_html(told)}">']
    for share in (0.0, 0.5, 1.0):
        y = _y(share)
        drawn.append(f'<line class="axis" x1="{_EDGE}" x2="{_WIDTH - 8}" y1="{y}" y2="{y}"/>')
        drawn.append(f'<text x="{_EDGE - 4}" y="{y + 4}" text-anchor="end">{100 * share:.0f}</text>')
    if control is not None:
        drawn.append(_line(control.curve, 'stroke="var(--dim)" stroke-dasharray="4 4"'))
    for place, part in enumerate(row.curve):
        x = _x(place, len(row.curve))
        if not math.isnan(part.low):
            drawn.append(f'<line class="range" x1="{x}" x2="{x}" y1="{_y(part.low)}" y2="{_y(part.high)}"/>')
        drawn.append(f'<circle class="dot" cx="{x}" cy="{_y(part.mean)}" r="3.5"/>')
    drawn.append(_line(row.curve, 'stroke="var(--mark)"'))
    drawn.append(f'<text x="{_EDGE}" y="{_HEIGHT - 4}">{in_html(row.name)}; dashed: retry</text></svg>')
    return "".join(drawn)


def _line(curve: Sequence[Estimate], style: str) -> str:
    points = " ".join(f"{_x(place, len(curve))},{_y(part.mean)}" for place, part in enumerate(curve))
    return f'<polyline fill="none" {style} points="{points}"/>'


def _x(place: int, of: int) -> float:
    return round(_EDGE + 10 + (_WIDTH - _EDGE - 28) * (place / max(1, of - 1)), 1)


def _y(share: float) -> float:
    return round(10 + (_HEIGHT - 40) * (1 - share), 1)
