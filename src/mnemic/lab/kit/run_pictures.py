"""The pictures of a run's page, as SVG that takes its colours from the page: intervals, costs, and how deep to look."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.curve_plot import PlottedCurve, PlottedPoint, curve_plot
from mnemic.lab.kit.html_page import in_html, is_ours
from mnemic.lab.kit.plot_frame import FLOOR, LEFT, RIGHT, TOP, axes, figure
from mnemic.lab.kit.plot_names import LINE, NamedDot, PlacedName, place_names
from mnemic.lab.kit.tables import percent

if TYPE_CHECKING:
    from mnemic.lab.kit.metrics import Estimate
    from mnemic.lab.kit.run_report import SystemRow, TaskReport

_DEPTHS: Final = (1, 2, 5, 10, 20, 50)
_APART: Final = 44.0
"""How far two figures below an axis stand from each other at the least."""


def bars(*estimates: Estimate, wide: int = 210) -> str:
    """Intervals one under the other, from 0 to 100 per cent, so many pixels wide."""
    if all(math.isnan(estimate.mean) for estimate in estimates):
        return ""
    tall = 4 + 10 * len(estimates)
    drawn = []
    for n, estimate in enumerate(estimates):
        y = 7 + 10 * n
        drawn.append(f'<line class="axis" x1="5" x2="205" y1="{y}" y2="{y}"/>')
        if estimate.has_interval:
            ends = f'x1="{5 + 200 * estimate.low:.1f}" x2="{5 + 200 * estimate.high:.1f}"'
            drawn.append(f'<line class="range" {ends} y1="{y}" y2="{y}"/>')
        if not math.isnan(estimate.mean):
            drawn.append(f'<circle class="dot" cx="{5 + 200 * estimate.mean:.1f}" cy="{y}" r="4"/>')
    told = in_html("; ".join(f"{percent(estimate)} %" for estimate in estimates))
    size = f'viewBox="0 0 210 {tall}" width="{wide}"'
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
    costs, floor = [x for x, _, _ in points], max(FLOOR, TOP + 1.5 * LINE * len(points))
    axis = _CostAxis(min(costs) if logarithmic else 0.0, max(costs), logarithmic)
    told = {system: f"{system}: {x:,.2f}, {y:.1f}" for x, y, system in points}
    dots = [NamedDot(axis.across(x), floor - (floor - TOP) * y / 100, system) for x, y, system in points]
    names = place_names(dots, TOP - LINE / 2, floor - 1)
    drawn = [axes(100, floor), *_cost_marks(axis, floor), *(_way_to(name) for name in names if name.moved)]
    drawn += [_dot(dot, told[dot.name]) for dot in dots]
    drawn += map(_name, names)
    scale = " (logarithmic)" if logarithmic else ""
    return figure(f"{of.task.headline}, %, against {name}{scale}", list(told.values()), drawn, floor=floor)


@dataclass(frozen=True, slots=True)
class _CostAxis:
    """Where a cost stands on the lower axis."""

    low: float
    high: float
    logarithmic: bool

    def across(self, cost: float) -> float:
        low, high, at = (math.log10(x) if self.logarithmic else x for x in (self.low, self.high, cost))
        return LEFT + 8 + (RIGHT - LEFT - 16) * ((at - low) / (high - low) if high > low else 0.5)


def _cost_marks(axis: _CostAxis, floor: float) -> Iterator[str]:
    """Figures below the axis: both ends, and on a logarithmic one the powers of ten for which there is room."""
    shown = [axis.low, axis.high] if axis.across(axis.high) - axis.across(axis.low) >= _APART else [axis.high]
    if axis.logarithmic:
        powers = (10.0**n for n in range(math.ceil(math.log10(axis.low)), math.floor(math.log10(axis.high)) + 1))
        for power in powers:
            if all(abs(axis.across(power) - axis.across(other)) >= _APART for other in shown):
                shown.append(power)
    for cost in shown:
        x = axis.across(cost)
        yield f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{floor:g}" y2="{floor + 4:g}"/>'
        yield f'<text x="{x:.1f}" y="{floor + 16:g}" text-anchor="middle">{_short(cost)}</text>'


def _short(cost: float) -> str:
    return f"{cost:,.0f}" if cost >= 100 else f"{cost:.3g}"


def _dot(dot: NamedDot, told: str) -> str:
    kind, title = "dot ours" if is_ours(dot.name) else "dot", f"<title>{in_html(told)}</title>"
    return f'<circle class="{kind}" cx="{dot.x:.1f}" cy="{dot.y:.1f}" r="5">{title}</circle>'


def _name(name: PlacedName) -> str:
    kind, anchor = "name ours" if is_ours(name.dot.name) else "name", "end" if name.leftwards else "start"
    at = f'x="{name.x:.1f}" y="{name.y + 4:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {at}>{in_html(name.text)}</text>'


def _way_to(name: PlacedName) -> str:
    ends = f'x1="{name.dot.x:.1f}" y1="{name.dot.y:.1f}" x2="{name.x:.1f}" y2="{name.y:.1f}"'
    return f'<line class="way" {ends}/>'


def depth_plot(rows: Sequence[SystemRow]) -> str:
    """How much evidence is found among the first k, a line for each contestant; "" where nobody ranks several deep."""
    depths = [k for k in _DEPTHS if all(f"R@{k}" in row.scores for row in rows)]
    if len(depths) < 2:
        return ""
    curves = []
    for row in rows:
        heights = [100 * row.scores[f"R@{k}"].mean for k in depths]
        if not any(map(math.isnan, heights)):
            points = (PlottedPoint(f"{k}", height) for k, height in zip(depths, heights, strict=True))
            curves.append(PlottedCurve(row.system, tuple(points)))
    return curve_plot("R@k, %, by k", curves, top=100)
