"""The pictures of a run's page, as SVG that takes its colours from the page: intervals, costs, and how deep to look."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.html_page import in_html
from mnemic.lab.kit.tables import percent

if TYPE_CHECKING:
    from mnemic.lab.kit.metrics import Estimate
    from mnemic.lab.kit.run_report import SystemRow, TaskReport

_WIDTH: Final = 420
_HEIGHT: Final = 260
_EDGE: Final = 44
_FLOOR: Final = _HEIGHT - _EDGE
_TALL: Final = _HEIGHT - 2 * _EDGE
_WIDE: Final = _WIDTH - 2 * _EDGE

COLOURS: Final = 8
"""How many colours a page has; the next contestant takes the first again."""

_DEPTHS: Final = (1, 2, 5, 10, 20, 50)


def bars(*estimates: Estimate) -> str:
    """Intervals one under the other, from 0 to 100 per cent."""
    if all(math.isnan(estimate.mean) for estimate in estimates):
        return ""
    tall = 4 + 10 * len(estimates)
    drawn = []
    for n, estimate in enumerate(estimates):
        y = 7 + 10 * n
        drawn.append(f'<line class="axis" x1="5" x2="205" y1="{y}" y2="{y}"/>')
        if not math.isnan(estimate.low):
            ends = f'x1="{5 + 200 * estimate.low:.1f}" x2="{5 + 200 * estimate.high:.1f}"'
            drawn.append(f'<line class="range" {ends} y1="{y}" y2="{y}"/>')
            drawn.append(f'<circle class="dot" cx="{5 + 200 * estimate.mean:.1f}" cy="{y}" r="4"/>')
    told = in_html("; ".join(f"{percent(estimate)} %" for estimate in estimates))
    size = f'viewBox="0 0 210 {tall}" width="210" height="{tall}"'
    return f'<svg {size} role="img" aria-label="{told}">{"".join(drawn)}</svg>'


def pictures(of: TaskReport) -> Iterator[str]:
    """Quality against what it costs and how deep it is looked: those for which there are figures."""
    rows = [row for row in of.rows if row.asked]
    drawn = (
        cost_plot(of, rows, "tokens a question", lambda row: row.tokens, logarithmic=False),
        cost_plot(of, rows, "p50 of a recall, ms", lambda row: row.p50_ms, logarithmic=True),
        cost_plot(of, rows, "p95 of a recall, ms", lambda row: row.p95_ms, logarithmic=True),
        cost_plot(of, rows, "model calls a message", _calls, logarithmic=False) if any(map(_calls, rows)) else "",
        depth_plot(rows),
    )
    return filter(None, drawn)


def _calls(row: SystemRow) -> float:
    return row.cost.model_calls if row.cost else 0.0


def cost_plot(
    of: TaskReport, rows: Sequence[SystemRow], name: str, cost: Callable[[SystemRow], float], *, logarithmic: bool
) -> str:
    """Quality against what it costs, a dot for each contestant; "" where there is none."""
    points = [(cost(row), 100 * row.scores[of.task.headline].mean, row.system) for row in rows]
    points = [point for point in points if not any(map(math.isnan, point[:2])) and (point[0] > 0 or not logarithmic)]
    if not points:
        return ""

    def scaled(value: float) -> float:
        return math.log10(value) if logarithmic else value

    low = min(scaled(x) for x, _, _ in points) if logarithmic else 0.0
    high = max(scaled(x) for x, _, _ in points)
    title, told_of = f"{of.task.headline}, %, against {name}", []
    drawn = [_frame(title)]
    for x, y, system in sorted(points):
        across = _EDGE + _WIDE * (scaled(x) - low) / ((high - low) or 1)
        up, flipped = _FLOOR - _TALL * y / 100, across > _WIDTH * 0.6
        anchor = f'text-anchor="{"end" if flipped else "start"}"'
        told_of.append(f"{system}: {x:,.2f}, {y:.1f}")
        told = f"<title>{in_html(told_of[-1])}</title>"
        drawn.append(f'<circle class="dot" cx="{across:.1f}" cy="{up:.1f}" r="5">{told}</circle>')
        drawn.append(
            f'<text x="{across + (-8 if flipped else 8):.1f}" y="{up + 4:.1f}" {anchor}>{in_html(system)}</text>'
        )
    ends = (10**low, 10**high) if logarithmic else (low, high)
    for at, end, anchor in ((_EDGE, ends[0], "start"), (_WIDTH - _EDGE, ends[1], "end")):
        drawn.append(f'<text x="{at}" y="{_FLOOR + 15}" text-anchor="{anchor}">{end:,.4g}</text>')
    return _svg(title, told_of, drawn)


def depth_plot(rows: Sequence[SystemRow]) -> str:
    """How much evidence is found among the first k, a line for each contestant; "" where nobody ranks several deep."""
    depths = [k for k in _DEPTHS if all(f"R@{k}" in row.scores for row in rows)]
    if len(depths) < 2 or not rows:
        return ""
    step = _WIDE * 0.6 / (len(depths) - 1)
    title, told = "R@k, %, by k", []
    drawn = [_frame(title)]
    for n, k in enumerate(depths):
        drawn.append(f'<text x="{_EDGE + n * step:.0f}" y="{_FLOOR + 15}" text-anchor="middle">{k}</text>')
    for n, row in enumerate(rows):
        heights = [row.scores[f"R@{k}"].mean for k in depths]
        if any(map(math.isnan, heights)):
            continue
        way = " ".join(f"{_EDGE + i * step:.1f},{_FLOOR - _TALL * y:.1f}" for i, y in enumerate(heights))
        at, colour = _EDGE + 12 * n, f"c{n % COLOURS}"
        told.append(f"{row.system}: {', '.join(f'{k}: {100 * y:.1f}' for k, y in zip(depths, heights, strict=True))}")
        drawn.append(f'<polyline class="curve {colour}" points="{way}"><title>{in_html(row.system)}</title></polyline>')
        drawn.append(f'<line class="curve {colour}" x1="282" x2="296" y1="{at}" y2="{at}"/>')
        drawn.append(f'<text x="300" y="{at + 4}">{in_html(row.system[:20])}</text>')
    return _svg(title, told, drawn)


@dataclass(frozen=True, slots=True)
class PlottedCurve:
    """A line of a picture: its name, and its points from left to right, each named below the axis."""

    name: str
    points: tuple[tuple[str, float], ...]


def curve_plot(title: str, curves: Sequence[PlottedCurve], *, top: float = 0.0) -> str:
    """Curves over the same named places, such as lengths of a text; "" where there are none.

    Args:
        top: The value at the top; the largest of all when left out.
    """
    if not (names := list(dict.fromkeys(name for curve in curves for name, _ in curve.points))):
        return ""
    highest = top or max(value for curve in curves for _, value in curve.points) or 1.0
    step = _WIDE * 0.6 / max(1, len(names) - 1)
    drawn, told_of = [_frame(title, top or highest)], []
    for n, name in enumerate(names):
        drawn.append(f'<text x="{_EDGE + n * step:.0f}" y="{_FLOOR + 15}" text-anchor="middle">{in_html(name)}</text>')
    for n, curve in enumerate(curves):
        at = [(_EDGE + names.index(name) * step, _FLOOR - _TALL * value / highest) for name, value in curve.points]
        told = ", ".join(f"{name} {value:,.1f}" for name, value in curve.points)
        told_of.append(f"{curve.name}: {told}")
        way, colour, row = " ".join(f"{x:.1f},{y:.1f}" for x, y in at), f"c{n % COLOURS}", _EDGE + 12 * n
        drawn.append(f'<polyline class="curve {colour}" points="{way}"><title>{in_html(told)}</title></polyline>')
        drawn.append(f'<line class="curve {colour}" x1="282" x2="296" y1="{row}" y2="{row}"/>')
        drawn.append(f'<text x="300" y="{row + 4}">{in_html(curve.name[:20])}</text>')
    return _svg(title, told_of, drawn)


def _frame(title: str, top: float = 100) -> str:
    drawn = [f'<path class="axis" fill="none" d="M{_EDGE} {_EDGE}V{_FLOOR}H{_WIDTH - _EDGE}"/>']
    for share in (0, 50, 100):
        at = _FLOOR - _TALL * share / 100 + 4
        drawn.append(f'<text x="{_EDGE - 6}" y="{at:.0f}" text-anchor="end">{top * share / 100:.3g}</text>')
    drawn.append(f'<text x="{_EDGE}" y="{_EDGE - 22}">{in_html(title)}</text>')
    return "".join(drawn)


def _svg(title: str, told: Sequence[str], drawn: Sequence[str]) -> str:
    """A picture, with the numbers that it draws in words for who does not see it."""
    label = in_html(f"{title}. {'; '.join(told)}")
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">{"".join(drawn)}</svg>'
