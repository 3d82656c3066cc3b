"""The picture of a confidence: how often answers of each are right."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from mnemic.lab.kit.plot_style import STYLE
from mnemic.lab.tasks.current.current_outcomes import CurrentOutcome
from mnemic.lab.tasks.current.current_report import bins


def draw(outcomes: Sequence[CurrentOutcome], folder: Path) -> Path:
    """Write the reliability diagram as SVG, and say where; needs matplotlib, from the extra `bench`."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("svg")
    plots = importlib.import_module("matplotlib.pyplot")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "current-reliability.svg"
    with matplotlib.rc_context(STYLE):
        figure, axis = plots.subplots(figsize=(4.2, 4))
        some = [each for each in bins(outcomes) if each.n]
        axis.bar([each.low + 0.05 for each in some], [each.right for each in some], width=0.09, color="#2563eb")
        axis.plot([0, 1], [0, 1], "k--", linewidth=1)
        for each in some:
            axis.annotate(f"{each.n}", (each.low + 0.05, each.right), ha="center", va="bottom", fontsize=8)
        axis.set(title="Answers by confidence", xlabel="confidence", ylabel="share right", xlim=(0, 1), ylim=(0, 1.05))
        plots.tight_layout()
        figure.savefig(path, metadata={"Date": None})
        plots.close(figure)
    return path
