"""What a mechanism's experiment measured, as tables for a terminal and a page, and its curves as a picture."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from mnemic.lab.kit.figures import Figure
from mnemic.lab.kit.plot_style import STYLE
from mnemic.lab.kit.tables import TextTable
from mnemic.lab.tasks.neural.grid_report import NOTHING, draw_grid, grid_block
from mnemic.lab.tasks.neural.mechanism_bench import MechanismRun, SeededFigure

_COLOURS: Final = ("#7c3aed", "#475569", "#0d9488", "#c2410c", "#2563eb", "#a16207", "#94a3b8", "#db2777")
"""Of curves in the order they come; the mechanism's own is first."""

SIDE_BY_SIDE: Final = frozenset({"matrix", "peers"})
"""Experiments of which every figure's name is `column: row`."""

_NEAR: Final = 0.1
"""What is no further from ours than this share of it comes near."""
_RIVAL: Final = "near ours, or better"

_WIDE: Final = 16
"""How much larger than the smallest the largest place is where an axis is drawn in powers of two."""


def extent(run: MechanismRun) -> str:
    """How much was measured."""
    return f"{'quick' if run.quick else 'full'} mode, {len(run.seeds)} seed{'s' if len(run.seeds) != 1 else ''}"


def ran(run: MechanismRun) -> str:
    """One line that says on what a run was made, and what it cost."""
    header = run.header
    commit = (header.get("git") or {}).get("commit") or ""
    load = f"load {header['load_before']} before and {header['load_after']} after"
    return (
        f"{extent(run).capitalize()}, one thread: {header['cpu_seconds']:,.0f} CPU-s, "
        f"{header['wall_seconds']:,.0f} s by the clock ({load}); torch {header['torch']}, "
        f"{header['started'][:10]}{f', commit {commit[:8]}' if commit else ''}."
    )


def table(run: MechanismRun) -> TextTable:
    """The figures beside their bars."""
    rows = tuple(tuple(cell.replace("**", "") for cell in _cells(one)) for one in run.figures)
    return TextTable(f"{run.mechanism}: {ran(run)}", ("figure", "measured", "range", "must", ""), rows, (0, 4))


def page_block(run: MechanismRun, picture: str = "", among: int = 1) -> str:
    """A run in Markdown, as a page shows it: what it was made on, figures beside bars, the unflattering first, curves.

    Args:
        picture: Of the curves, as the page links to it.
        among: How many runs it was chosen from.
    """
    made = f"{ran(run)} {_chosen(among)}"
    if run.mechanism in SIDE_BY_SIDE:
        drawn = ["", f"![{run.mechanism}: the table below as bars]({picture})"] if picture else []
        return "\n".join([made, *drawn, "", *grid_block(run), *_remarks(run)])
    rows = [f"| {' | '.join(_cells(one, beside=beside))} |" for one, beside in unflattering_first(run.figures)]
    parts = [made, "", "| | measured | range | must | |", "|---|---:|---:|---:|---|", *rows]
    if run.points:
        parts += ["", *_curves(run)]
    parts += _remarks(run)
    if picture:
        parts += ["", f"![{run.mechanism}: the curves above]({picture})"]
    return "\n".join(parts)


def unflattering_first(figures: Sequence[SeededFigure]) -> list[tuple[SeededFigure, bool]]:
    """Bars that are missed, then what comes near a judged figure or is better, then the rest, each as they came.

    What stands beside a judged figure is called as it is, behind whose it is: "no adapter: asked as taught".

    Returns:
        Each with whether it comes near.
    """
    ours = {_of_whom(one)[1]: one.mean for one in figures if one.figure.bar is not None}
    marked = [(one, _comes_near(one, ours.get(_of_whom(one)[1]))) for one in figures]
    return sorted(marked, key=lambda at: (at[0].mean.met is not False, not at[1]))


def _of_whom(one: SeededFigure) -> tuple[str, str]:
    """Whose a figure is, and of what; ours may be nobody's."""
    whose, _, what = one.figure.name.rpartition(": ")
    return whose, what


def _comes_near(one: SeededFigure, ours: Figure | None) -> bool:
    theirs = one.mean
    whose = _of_whom(one)[0]
    if ours is None or theirs.bar is not None or theirs.unit != ours.unit or not whose:
        return False
    if not ours.more and whose.endswith("no adapter"):  # the bare model does no harm
        return False
    most = _NEAR * abs(ours.value)
    return theirs.value >= ours.value - most if ours.more else theirs.value <= ours.value + most


def _chosen(among: int) -> str:
    """Which of the runs of a file a page shows, and by what."""
    if among == 1:
        return "The only run in its file."
    return f"Of the {among} runs in its file: full mode before quick, then most seeds, then the newest."


def draw(run: MechanismRun, path: Path) -> bool:
    """Write the curves of a run as SVG; False where it has none, or matplotlib (the extra `bench`) is missing."""
    if run.mechanism in SIDE_BY_SIDE:
        return draw_grid(run, path)
    if not run.points or importlib.util.find_spec("matplotlib") is None:
        return False
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    plots = importlib.import_module("matplotlib.pyplot")
    with matplotlib.rc_context(STYLE):
        figure, axis = plots.subplots(figsize=(7, 3.6))
        numbers = [at for at in run.places if not isinstance(at, str)]
        if len(numbers) == len(run.places):
            _draw_lines(axis, run, numbers)
        else:
            _draw_bars(axis, run)
        axis.set(title=f"{run.mechanism}: {extent(run)}")
        axis.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        figure.tight_layout()
        figure.savefig(path, metadata={"Date": None})
        plots.close(figure)
    return True


def _draw_lines(axis: Any, run: MechanismRun, places: Sequence[float]) -> None:
    for n, (curve, points) in enumerate(run.curves.items()):
        there = [at for at in places if at in points]
        colour = _COLOURS[n % len(_COLOURS)]
        axis.plot(there, [points[at] for at in there], label=curve, color=colour, marker="o", markersize=3,
                  linewidth=1 if n else 2)  # fmt: skip
    if places[0] > 0 and places[-1] >= _WIDE * places[0]:
        axis.set_xscale("log", base=2)
        axis.set_xticks(places, [f"{at:g}" for at in places], fontsize=8)
        axis.minorticks_off()


def _draw_bars(axis: Any, run: MechanismRun) -> None:
    """A group of bars for each place, one of each curve; where a curve has none, its bar is left out."""
    groups, width = range(len(run.places)), 0.8 / len(run.curves)
    for n, (curve, points) in enumerate(run.curves.items()):
        there = [(group + (n + 0.5) * width - 0.4, points[at]) for group, at in zip(groups, run.places, strict=True)
                 if at in points]  # fmt: skip
        bars = axis.bar(*zip(*there, strict=True), width=width * 0.9, label=curve, color=_COLOURS[n % len(_COLOURS)])
        axis.bar_label(bars, fmt="%.2f", fontsize=6)
    axis.set_xticks(groups, [str(at).replace(" ", "\n", 1) for at in run.places], fontsize=8)


def _cells(one: SeededFigure, *, beside: bool = False) -> tuple[str, ...]:
    figure, judged = one.figure, one.mean
    measured = NOTHING if math.isnan(judged.value) else f"{_short(judged.value)} {figure.unit}".rstrip()
    there = [value for value in one.values if not math.isnan(value)]
    spread = f"{_short(min(there))} to {_short(max(there))}" if len(there) > 1 else ""
    must = "" if figure.bar is None else f"{'≥' if figure.more else '≤'} {figure.bar:g}"
    met = {True: "met", False: "**missed**", None: _RIVAL if beside else ""}[judged.met]
    return figure.name, measured, spread, must, ": ".join(part for part in (met, figure.detail) if part)


def _remarks(run: MechanismRun) -> list[str]:
    return ["", *(f"- {remark}" for remark in run.remarks)] if run.remarks else []


def _curves(run: MechanismRun) -> list[str]:
    """A table whose columns are the places, a row for each curve."""
    names = [at if isinstance(at, str) else f"{at:g}" for at in run.places]
    rows = [f"| | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    for curve, points in run.curves.items():
        values = (_short(points.get(at, math.nan)) for at in run.places)
        rows.append(f"| {curve} | {' | '.join(values)} |")
    return rows


def _short(value: float) -> str:
    if math.isnan(value):
        return NOTHING
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) >= 10 else f"{value:.3f}"
