"""Experiments that lay several things side by side: a table with a column for each, and a picture with a bar for each.

The name of every figure is of the form `column: row`.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from pathlib import Path
from typing import Final

from mnemic.lab.kit.plot_style import STYLE
from mnemic.lab.tasks.neural.mechanism_bench import MechanismRun, SeededFigure

NOTHING: Final = "-"
"""What a cell of a table shows where there is no number."""

_ACROSS: Final = 3
"""Bars' panels beside each other."""
_BEST: Final = "#7c3aed"
_REST: Final = "#94a3b8"
_WIDE: Final = 30
"""How much longer than the shortest the longest bar is where an axis is drawn in powers of ten."""


def grid(run: MechanismRun) -> dict[str, dict[str, SeededFigure]]:
    """The figures by row and column, both in the order they came."""
    rows: dict[str, dict[str, SeededFigure]] = {}
    for one in run.figures:
        column, row = one.figure.name.split(": ", 1)
        rows.setdefault(row, {})[column] = one
    return rows


def columns(run: MechanismRun) -> list[str]:
    """What is laid side by side."""
    return list(dict.fromkeys(one.figure.name.split(": ", 1)[0] for one in run.figures))


def grid_block(run: MechanismRun) -> list[str]:
    """The table in Markdown, rows of missed bars first; a figure that misses its bar is marked."""
    heads, rows = columns(run), grid(run)
    if len(heads) > len(rows) + 2:  # too wide for a page: a line for each instead
        heads, rows = (
            list(rows),
            {head: {row: cells[head] for row, cells in rows.items() if head in cells} for head in heads},
        )
    lines = [f"| | {' | '.join(heads)} |", f"|---|{'---:|' * len(heads)}"]
    for row, cells in sorted(rows.items(), key=lambda item: not any(one.mean.met is False for one in item[1].values())):
        shown = [cell(cells[head]) if head in cells else NOTHING for head in heads]
        lines.append(f"| {row} | {' | '.join(shown)} |")
    return lines


def cell(one: SeededFigure) -> str:
    """A figure's mean, and its range where there are several seeds."""
    mean = one.mean
    if math.isnan(mean.value):
        return NOTHING
    shown = short(mean.value)
    if one.figure.unit:
        shown = f"{shown} {one.figure.unit}"
    if len(one.values) > 1 and min(one.values) < max(one.values):
        shown = f"{shown} ({short(min(one.values))} to {short(max(one.values))})"
    return f"**{shown}, missed**" if mean.met is False else shown


def short(value: float) -> str:
    """A number as a page shows it."""
    if 0 < abs(value) < 1e-4:
        return "about 0"
    if 0 < abs(value) < 0.01:
        return f"{value:.1g}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}" if abs(value) >= 10 else f"{value:.2f}"


def draw_grid(run: MechanismRun, path: Path) -> bool:
    """Write the table as SVG, a panel of bars for each row that has a figure for most columns and tells them apart."""
    if importlib.util.find_spec("matplotlib") is None:
        return False
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    plots = importlib.import_module("matplotlib.pyplot")
    heads = [head for head in columns(run) if sum(head in cells for cells in grid(run).values()) > 1]
    rows = {row: cells for row, cells in grid(run).items() if _tells_apart(cells, heads)}
    down = -(-len(rows) // _ACROSS)
    with matplotlib.rc_context(STYLE):
        size = (3.1 * _ACROSS, (0.27 * len(heads) + 0.75) * down)
        figure, axes = plots.subplots(down, _ACROSS, figsize=size, sharey=True, squeeze=False)
        for n, axis in enumerate(axes.flat):
            axis.set_visible(n < len(rows))
        for axis, (row, cells) in zip(axes.flat, rows.items(), strict=False):
            values = [max(cells[head].mean.value, 0.0) if head in cells else 0.0 for head in heads]
            best = min(values) if _cost(cells) else max(values)
            axis.barh(heads, values, color=[_BEST if value == best else _REST for value in values])
            for at, value in enumerate(values):
                axis.annotate(f" {short(value)}", (value, at), va="center", fontsize=7)
            filled = [value for value in values if value > 0]
            if _cost(cells) and max(filled) >= _WIDE * min(filled):
                axis.set_xscale("log")
            axis.margins(x=0.25)
            axis.tick_params(labelsize=8)
            axis.tick_params(axis="x", labelbottom=False)
            unit = next(iter(cells.values())).figure.unit
            axis.set_title(f"{row}{f', {unit}' if unit else ''}", fontsize=8)
        axes[0][0].invert_yaxis()
        figure.tight_layout()
        figure.savefig(path, metadata={"Date": None})
        plots.close(figure)
    return True


def _cost(cells: dict[str, SeededFigure]) -> bool:
    """Whether less is better: what has a unit is a cost."""
    return bool(next(iter(cells.values())).figure.unit)


def _tells_apart(cells: dict[str, SeededFigure], heads: list[str]) -> bool:
    values = {cells[head].mean.value for head in heads if head in cells}
    return len(values) > 1 and sum(head in cells for head in heads) == len(heads)
