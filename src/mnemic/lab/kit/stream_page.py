"""Streams as one HTML page that needs nothing else: success against the index of the task, and the tables."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

from mnemic.core.sanitize import for_terminal
from mnemic.errors import Invalid
from mnemic.lab.kit.stream_report import notes, stream_tables

if TYPE_CHECKING:
    from mnemic.lab.kit.metrics import Estimate
    from mnemic.lab.kit.stream_report import StreamReport, StreamRow
    from mnemic.lab.kit.tables import TextTable

_WIDTH: Final = 420
_HEIGHT: Final = 220
_EDGE: Final = 36


def write_stream_page(made: StreamReport, path: Path) -> Path:
    """Write the page of a run of streams.

    Raises:
        Invalid: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(stream_page(made), encoding="utf-8")
    except OSError as error:
        raise Invalid("html", f"cannot write {path.name}: {error.strerror}", "Name a file you can write.") from error
    return path


def stream_page(made: StreamReport) -> str:
    """The page of a run of streams."""
    folder = resources.files("mnemic.lab.kit")
    script = folder.joinpath("run_page.js").read_text("utf-8")
    return Template(folder.joinpath("run_page.html").read_text("utf-8")).substitute(
        title=_text(f"mnemic bench stream: {made.header['world']}"),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        script=script,
        body="\n".join(_body(made)),
    )


def _body(made: StreamReport) -> Iterator[str]:
    head = made.header
    yield f"<h1>Experience streams: {_text(head['world'])}</h1>"
    yield f'<p class="dim">{_text(head["about"])} {_text(head["started"][:16])} UTC, mnemic {_text(head["mnemic"])}</p>'
    yield "<h3>Done against the index of the task, beside retrying alone</h3>"
    yield '<div class="plots">'
    for row in made.rows:
        if made.control is None or row is not made.control:
            yield _curves(row, made.control)
    yield "</div>"
    for table in stream_tables(made):
        yield f"<h3>{_text(table.title)}</h3>"
        yield from _table(table)
    yield f"<ul>{''.join(f'<li>{_text(note)}</li>' for note in notes(made))}</ul>"


def _curves(row: StreamRow, control: StreamRow | None) -> str:
    """One memory's curve with its intervals, and the control's dashed."""
    drawn = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{_text(row.name)}">']
    for share in (0.0, 0.5, 1.0):
        y = _y(share)
        drawn.append(f'<line class="axis" x1="{_EDGE}" x2="{_WIDTH - 8}" y1="{y}" y2="{y}"/>')
        drawn.append(f'<text x="{_EDGE - 4}" y="{y + 4}" text-anchor="end">{100 * share:.0f}</text>')
    if control is not None:
        drawn.append(_line(control.curve, 'stroke="var(--dim)" stroke-dasharray="4 4"'))
    for place, part in enumerate(row.curve):
        x = _x(place, len(row.curve))
        drawn.append(f'<line class="range" x1="{x}" x2="{x}" y1="{_y(part.low)}" y2="{_y(part.high)}"/>')
        drawn.append(f'<circle class="dot" cx="{x}" cy="{_y(part.mean)}" r="3.5"/>')
    drawn.append(_line(row.curve, 'stroke="var(--mark)"'))
    drawn.append(f'<text x="{_EDGE}" y="{_HEIGHT - 4}">{_text(row.name)}; dashed: retry</text></svg>')
    return "".join(drawn)


def _line(curve: Sequence[Estimate], style: str) -> str:
    points = " ".join(f"{_x(place, len(curve))},{_y(part.mean)}" for place, part in enumerate(curve))
    return f'<polyline fill="none" {style} points="{points}"/>'


def _x(place: int, of: int) -> float:
    return round(_EDGE + 10 + (_WIDTH - _EDGE - 28) * (place / max(1, of - 1)), 1)


def _y(share: float) -> float:
    return round(10 + (_HEIGHT - 40) * (1 - share), 1)


def _table(table: TextTable) -> Iterator[str]:
    yield '<div class="wide"><table><thead><tr>'
    yield "".join(f'<th><button type="button">{_text(name)}</button></th>' for name in table.columns)
    yield "</tr></thead><tbody>"
    for row in table.rows:
        yield f"<tr>{''.join(f'<td>{_text(cell.strip())}</td>' for cell in row)}</tr>"
    yield "</tbody></table></div>"


def _text(text: object) -> str:
    return escape(for_terminal(str(text)))
