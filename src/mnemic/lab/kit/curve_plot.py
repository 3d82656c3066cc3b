"""Curves over the same named places, such as lengths of a text or parts of a stream, as a picture of a page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mnemic.lab.kit.html_page import in_html
from mnemic.lab.kit.plot_frame import COLUMN, FLOOR, LEFT, RIGHT, TOP, axes, colour_class, figure
from mnemic.lab.kit.tables import display_width


@dataclass(frozen=True, slots=True)
class PlottedPoint:
    """A value at a named place, with its interval; NaN bounds where it has none."""

    place: str
    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def words(self) -> str:
        """The place, the value and the interval."""
        interval = f" [{self.low:,.1f}, {self.high:,.1f}]" if self.low < self.high else ""
        return f"{self.place}: {self.value:,.1f}{interval}"


@dataclass(frozen=True, slots=True)
class PlottedCurve:
    """A line of a picture: its name, and its points from left to right.

    Attributes:
        control: Whether it is what the others are held against, which is drawn dashed and without a colour.
    """

    name: str
    points: tuple[PlottedPoint, ...]
    control: bool = False


def curve_plot(title: str, curves: Sequence[PlottedCurve], *, top: float = 0.0) -> str:
    """Draw curves; "" where there is no point.

    Args:
        top: The value at the top; the largest of all when left out.
    """
    curves = [curve for curve in curves if curve.points]
    if not (places := list(dict.fromkeys(point.place for curve in curves for point in curve.points))):
        return ""
    highest = top or max(point.value for curve in curves for point in curve.points) or 1.0
    step = (RIGHT - LEFT) / max(1, len(places) - 1)
    across = {place: LEFT + n * step for n, place in enumerate(places)}
    looks = ["dim dashed" if curve.control else colour_class(n) for n, curve in enumerate(curves)]
    drawn = [axes(highest), *_places(across, step)]
    for look, curve in zip(looks, curves, strict=True):
        drawn += _curve(look, curve, across, highest)
    told = [f"{curve.name}: {', '.join(point.words for point in curve.points)}" for curve in curves]
    return figure(title, told, drawn, keys=[(look, each.name) for look, each in zip(looks, curves, strict=True)])


def _places(across: dict[str, float], step: float) -> Iterator[str]:
    """The names below the axis: all, or as many as there is room for."""
    widest = COLUMN * (1 + max(map(display_width, across)))
    every = max(1, math.ceil(widest / step))
    for n, (place, x) in enumerate(across.items()):
        if n % every == 0:
            anchor = "end" if x + widest / 2 > RIGHT + 16 else "middle"
            at = RIGHT + 14 if anchor == "end" else x
            yield f'<text x="{at:.0f}" y="{FLOOR + 16}" text-anchor="{anchor}">{in_html(place)}</text>'


def _curve(look: str, curve: PlottedCurve, across: dict[str, float], highest: float) -> Iterator[str]:
    def height(value: float) -> str:
        return f"{FLOOR - (FLOOR - TOP) * value / highest:.1f}"

    way = " ".join(f"{across[point.place]:.1f},{height(point.value)}" for point in curve.points)
    yield f'<polyline class="curve {look}" points="{way}"><title>{in_html(curve.name)}</title></polyline>'
    for point in curve.points:
        x = f"{across[point.place]:.1f}"
        if not math.isnan(point.low):
            ends = f'y1="{height(point.low)}" y2="{height(point.high)}"'
            yield f'<line class="curve {look}" x1="{x}" x2="{x}" {ends}/>'
        told = in_html(f"{curve.name}: {point.words}")
        yield f'<circle class="point {look}" cx="{x}" cy="{height(point.value)}" r="3"><title>{told}</title></circle>'
