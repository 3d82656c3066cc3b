"""Pictures of what hot tiers find over their size: a text sweep's, by law, and a run over questions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from mnemic.lab.kit.plot_style import STYLE
from mnemic.lab.tasks.capacity.capacity_report import SweepResults
from mnemic.lab.tasks.capacity.hot_tier import BASELINES, BELADY
from mnemic.lab.tasks.capacity.hotpot_bench import FOUND, MNEMIC
from mnemic.lab.tasks.capacity.hotpot_report import LEVEL, Capacities

_PALETTE: Final = (
    "#2563eb", "#0d9488", "#7c3aed", "#a16207", "#be185d", "#65a30d", "#0891b2", "#9333ea", "#b45309", "#4d7c0f",
    "#1d4ed8", "#334155",
)  # fmt: skip
_FIXED: Final = {BELADY: "#111827", "sliding window": "#dc2626", "reservoir": "#94a3b8"}
_OURS: Final = "#c2410c"

Line = tuple[str, Sequence[float], Sequence[float]]
"""A name, sizes and shares."""


def draw_sweep(swept: SweepResults, folder: Path) -> list[Path]:
    """Write one SVG for each law, and say where; needs matplotlib, from the extra `bench`."""
    return _drawn(folder, [(f"capacity-{law}.svg", _law(swept, law)) for law in swept.header["laws"]])


def draw_capacities(capacities: Capacities, folder: Path) -> list[Path]:
    """Write the run over questions as SVG, and say where; needs matplotlib, from the extra `bench`."""
    return _drawn(folder, [(f"hotpot-{capacities.header['data']['name']}.svg", _questions(capacities))])


def _drawn(folder: Path, pictures: Iterable[tuple[str, Callable[[Any], Any]]]) -> list[Path]:
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    plots = importlib.import_module("matplotlib.pyplot")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with matplotlib.rc_context(STYLE):
        for name, picture in pictures:
            figure = picture(plots)
            figure.savefig(folder / name, metadata={"Date": None})
            plots.close(figure)
            written.append(folder / name)
    return written


def _law(swept: SweepResults, law: str) -> Callable[[Any], Any]:
    """What tiers find alone, and how many answers are resident with an archive, over their size."""

    def picture(plots: Any) -> Any:
        figure, axes = plots.subplots(1, 2, figsize=(11, 4.8), sharex=True, sharey=True)
        for axis, archive in zip(axes, (False, True), strict=True):
            _lines(axis, _swept(swept, law, archive=archive), swept.header["policies"])
        behind = next((line for line in swept.lines if line.law == law and line.archive), None)
        if behind is not None:
            axes[0].axhline(behind.hit1.mean, color=_OURS, linewidth=2.2, label=f"{MNEMIC}, archive behind")
        axes[0].set(title=f"{law}: hit@1 of the hot tier alone", xlabel="pages", xscale="log", ylim=(0, 1))
        axes[1].set(title=f"{law}: answers that were resident, archive behind", xlabel="pages", xscale="log")
        return _finished(figure, axes[0], plots)

    return picture


def _swept(swept: SweepResults, law: str, *, archive: bool) -> list[Line]:
    lines = []
    for policy in swept.header["policies"]:
        line = [o for o in swept.lines if (o.law, o.policy, o.archive) == (law, policy, archive)]
        heights = [tier.hit_rate if archive else tier.hit1.mean for tier in line]
        lines.append((policy, [float(tier.capacity) for tier in line], heights))
    return [tier for tier in lines if tier[1]]


def _questions(capacities: Capacities) -> Callable[[Any], Any]:
    """What rows find alone over their size, beside mnemic with its archive."""

    def picture(plots: Any) -> Any:
        figure, axis = plots.subplots(figsize=(9.5, 5))
        lines = []
        for policy in capacities.header["policies"]:
            line = sorted(
                (size, score.found.mean) for (name, size), score in capacities.alone.items() if name == policy
            )
            lines.append((policy, [float(size) for size, _ in line], [mean for _, mean in line]))
        _lines(axis, [line for line in lines if line[1]], capacities.header["policies"])
        axis.axhline(capacities.whole.found.mean, color=_OURS, linewidth=2.2, label=f"{MNEMIC}, archive behind")
        axis.axhline(LEVEL, color="#cbd5e1", linewidth=1, linestyle="--")
        axis.set(title=f"hit@{FOUND} by documents in the hot tier", xlabel="documents", xscale="log", ylim=(0, 1.02))
        return _finished(figure, axis, plots)

    return picture


def _lines(axis: Any, lines: Sequence[Line], policies: Sequence[str]) -> None:
    """Each policy in its own colour, the same in every panel."""
    for name, sizes, heights in lines:
        number = policies.index(name)
        marked = name in BASELINES or name == BELADY
        axis.plot(
            sizes,
            heights,
            color=_FIXED.get(name, _PALETTE[number % len(_PALETTE)]),
            linestyle="--" if name == BELADY else "-",
            linewidth=2 if marked else 1.2,
            marker="s" if marked else "o",
            markersize=4,
            zorder=4 if marked else 2,
            label=name,
        )


def _finished(figure: Any, axis: Any, plots: Any) -> Any:
    axis.xaxis.set_major_formatter("{x:,.0f}")
    figure.legend(*axis.get_legend_handles_labels(), loc="lower center", ncols=6, frameon=False, fontsize=8)
    plots.tight_layout(rect=(0, 0.16, 1, 1))
    return figure
