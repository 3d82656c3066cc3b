"""Pictures of the policies: hit rates over capacity, a panel for each family, and the gap each policy closes."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from mnemic.lab.kit.plot_style import STYLE
from mnemic.lab.tasks.paging.paging_bench import PagingRow

COLOURS: Final = {
    "adaptive": "#c2410c",
    "learned": "#7c3aed",
    "combined": "#0d9488",
    "arc": "#2563eb",
    "lru": "#475569",
    "window": "#a16207",
}
OTHER: Final = "#cbd5e1"
_STYLE: Final = {**STYLE, "font.size": 9, "axes.titlesize": 10}


def draw(rows: Sequence[PagingRow], folder: Path) -> list[Path]:
    """Write both pictures as SVG, and say where; needs matplotlib, from the extra `bench`."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    plots = importlib.import_module("matplotlib.pyplot")
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(_STYLE):
        return [_rates(rows, plots, folder), _gaps(rows, plots, folder)]


def _panels(rows: Sequence[PagingRow], plots: Any) -> tuple[Any, list[tuple[Any, str]]]:
    families = list(dict.fromkeys(row.family for row in rows))
    across = min(4, len(families))
    figure, axes = plots.subplots(
        math.ceil(len(families) / across), across, figsize=(3 * across, 2.7 * math.ceil(len(families) / across)),
        squeeze=False,
    )  # fmt: skip
    cells = list(axes.flat)
    for axis in cells[len(families) :]:
        axis.set_visible(False)
    return figure, list(zip(cells, families, strict=False))


def _rates(rows: Sequence[PagingRow], plots: Any, folder: Path) -> Path:
    """Hit rate over capacity, the optimum above as a dashed line."""
    figure, panels = _panels(rows, plots)
    for axis, family in panels:
        mine = [row for row in rows if row.family == family]
        for policy in dict.fromkeys(row.policy for row in mine):
            line = [row for row in mine if row.policy == policy]
            colour = COLOURS.get(policy, OTHER)
            axis.plot(
                [100 * row.capacity for row in line], [100 * row.hit_rate.mean for row in line], color=colour,
                label=policy if policy in COLOURS else "others", linewidth=2 if policy in COLOURS else 1,
                marker="o", markersize=3, zorder=3 if policy in COLOURS else 2,
            )  # fmt: skip
        best = {row.capacity: row.optimal for row in mine}
        axis.plot(
            [100 * share for share in best], [100 * share for share in best.values()], "k--", linewidth=1, label="MIN"
        )
        axis.set(title=family, xlabel="capacity, % of pages", ylabel="hits, %")
    return _saved(figure, panels, folder / "paging-hits.svg", plots)


def _gaps(rows: Sequence[PagingRow], plots: Any, folder: Path) -> Path:
    """The share of the gap closed at the middle capacity, with its interval; below -50 % is cut off."""
    capacities = sorted({row.capacity for row in rows})
    middle = capacities[len(capacities) // 2]
    figure, panels = _panels(rows, plots)
    for axis, family in panels:
        mine = [row for row in rows if row.family == family and row.capacity == middle]
        known = sorted((row for row in mine if not math.isnan(row.closed.mean)), key=lambda row: row.closed.mean)
        shares = [100 * row.closed.mean for row in known]
        spread = [
            [100 * (row.closed.mean - row.closed.low) for row in known],
            [100 * (row.closed.high - row.closed.mean) for row in known],
        ]
        colours = [COLOURS.get(row.policy, OTHER) for row in known]
        axis.barh([row.policy for row in known], shares, xerr=spread, color=colours, ecolor="#94a3b8")
        axis.set(title=family, xlabel=f"gap closed at {middle:.0%}, %", xlim=(-50, 100))
    plots.tight_layout()
    return _close(figure, folder / "paging-gap.svg", plots)


def _saved(figure: Any, panels: Sequence[tuple[Any, str]], path: Path, plots: Any) -> Path:
    handles, labels = panels[0][0].get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    figure.legend(once.values(), once.keys(), loc="lower center", ncols=len(once), frameon=False)
    plots.tight_layout(rect=(0, 0.06, 1, 1))
    return _close(figure, path, plots)


def _close(figure: Any, path: Path, plots: Any) -> Path:
    figure.savefig(path, metadata={"Date": None})
    plots.close(figure)
    return path
