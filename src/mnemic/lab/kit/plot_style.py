"""How every picture of the laboratory looks."""

from __future__ import annotations

from typing import Final

STYLE: Final = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e2e8f0",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "svg.hashsalt": "mnemic",
}
"""For `matplotlib.rc_context`; pictures are written as SVG, the same bytes from the same figures."""
