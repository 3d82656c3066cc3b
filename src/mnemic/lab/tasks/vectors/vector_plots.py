"""Pictures of a comparison of vector indexes: what a search finds for its time, and how both grow with the vectors."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from mnemic.lab.kit.plot_style import STYLE
from mnemic.lab.tasks.vectors.vector_data import SHARES, IndexMeasurement, VectorRun

COLOURS: Final = {
    "mnemic": "#c2410c",
    "sqlite-vec": "#475569",
    "FAISS flat": "#94a3b8",
    "FAISS HNSW": "#2563eb",
    "usearch HNSW": "#0d9488",
    "hnswlib HNSW": "#7c3aed",
    "Annoy": "#a16207",
}


def draw(run: VectorRun, folder: Path) -> list[Path]:
    """Write both pictures as SVG, and say where; needs matplotlib, from the extra `bench`."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    plots = importlib.import_module("matplotlib.pyplot")
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE):
        return [_filters(run, plots, folder), _growth(run, plots, folder)]


def _filters(run: VectorRun, plots: Any, folder: Path) -> Path:
    """Recall over time among the most vectors: of all, and of those that a filter leaves."""
    most = max(measurement.rows for measurement in run.measurements)
    measurements = [measurement for measurement in run.measurements if measurement.rows == most]
    views = ("all", *SHARES)
    figure, axes = plots.subplots(1, len(views), figsize=(11, 3.9), sharex=True, sharey=True)
    for axis, view in zip(axes, views, strict=True):
        for measurement in measurements:
            _point(axis, measurement, view)
        title = f"all of {most:,} vectors" if view == "all" else f"a filter leaves {view}"
        axis.set(title=title, xscale="log", xlabel="CPU milliseconds a question")
        axis.xaxis.set_major_formatter("{x:g}")
    axes[0].set_ylabel("recall@10")
    _legend(figure, axes[0], plots)
    return _saved(figure, folder / "vectors-filters.svg", plots)


def _point(axis: Any, measured: IndexMeasurement, view: str) -> None:
    point = measured.all if view == "all" else measured.filtered[view]
    colour, ours = COLOURS[measured.name], measured.name == "mnemic"
    if view == "all" and measured.curve:
        curve = [(tried.milliseconds, tried.recall) for tried in measured.curve]
        axis.plot(*zip(*curve, strict=True), color=colour, linewidth=1, alpha=0.5)
    axis.scatter(
        point.milliseconds,
        point.recall,
        s=150 if ours else 60,
        marker="*" if ours else "o",
        color=colour,
        label=measured.name,
        zorder=3,
        edgecolors="white",
    )


def _growth(run: VectorRun, plots: Any, folder: Path) -> Path:
    """The time of a question, and of taking all vectors in, over how many there are."""
    figure, axes = plots.subplots(1, 2, figsize=(9.5, 3.9))
    for name in dict.fromkeys(measurement.name for measurement in run.measurements):
        line = sorted(
            (measurement for measurement in run.measurements if measurement.name == name),
            key=lambda measurement: measurement.rows,
        )
        _line(axes[0], line, [measurement.all.milliseconds for measurement in line])
        _line(axes[1], line, [max(measurement.build, 0.01) for measurement in line])
    for axis, title in zip(axes, ("CPU milliseconds a question", "CPU seconds to take them all in"), strict=True):
        axis.set(title=title, xlabel="vectors", xscale="log", yscale="log")
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.yaxis.set_major_formatter("{x:g}")
    _legend(figure, axes[0], plots)
    return _saved(figure, folder / "vectors-growth.svg", plots)


def _line(axis: Any, line: Sequence[IndexMeasurement], heights: Sequence[float]) -> None:
    ours = line[0].name == "mnemic"
    axis.plot(
        [measurement.rows for measurement in line],
        heights,
        color=COLOURS[line[0].name],
        label=line[0].name,
        marker="*" if ours else "o",
        markersize=12 if ours else 5,
        linewidth=2.2 if ours else 1.3,
        zorder=3 if ours else 2,
    )


def _legend(figure: Any, axis: Any, plots: Any) -> None:
    figure.legend(*axis.get_legend_handles_labels(), loc="lower center", ncols=len(COLOURS), frameon=False, fontsize=9)
    plots.tight_layout(rect=(0, 0.08, 1, 1))


def _saved(figure: Any, path: Path, plots: Any) -> Path:
    figure.savefig(path, metadata={"Date": None})
    plots.close(figure)
    return path
