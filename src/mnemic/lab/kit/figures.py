"""Measured figures, each beside the bar that it is held against, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TextIO

from mnemic.lab.kit.tables import TextTable, aligned


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured figure, with its bar.

    Attributes:
        bar: What it is held against; None for a figure that stands beside one.
        more: Whether more is better.
        histogram: What it was taken of: upper edges in its unit, each with how many are in its bucket.
    """

    name: str
    value: float
    unit: str
    bar: float | None = None
    more: bool = False
    detail: str = ""
    histogram: tuple[tuple[float, int], ...] | None = None

    @property
    def met(self) -> bool | None:
        """Whether it reaches its bar; None without one."""
        if self.bar is None:
            return None
        return self.value >= self.bar if self.more else self.value <= self.bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """The figures of one benchmark, with the machine and data it ran on."""

    header: Mapping[str, object]
    figures: tuple[Figure, ...]


def table(measured: Measurements, *, judged: bool = True) -> TextTable:
    """The figures beside their bars."""
    return beside_bars(f"Speed ({measured.header['file_system']})", measured.figures, judged=judged)


def beside_bars(title: str, figures: Sequence[Figure], *, judged: bool = True) -> TextTable:
    """A line for each figure: what was measured, and whether that reaches its bar.

    Args:
        judged: Whether as much was measured as the bars are stated for: else none is said to be missed.
    """
    missed = "MISSED" if judged else "not judged at this size"
    rows = tuple(
        (
            figure.name,
            f"{figure.value:,.2f} {figure.unit}",
            "" if figure.bar is None else f"{'>=' if figure.more else '<='} {figure.bar:g}",
            {True: "met", False: missed, None: ""}[figure.met],
            figure.detail,
        )
        for figure in figures
    )
    return TextTable(title, ("figure", "measured", "bar", "", "detail"), rows, (0, 3, 4))


def show(
    measured: Measurements, stream: TextIO, *, as_json: bool = False, judged: bool = True, judged_from: str = ""
) -> None:
    """Write the figures as a table, or as JSON.

    Args:
        judged: Whether as much was measured as the bars are stated for.
        judged_from: How much that is, for who measured less.
    """
    if as_json:
        figures = [{**_written(figure), "met": figure.met} for figure in measured.figures]
        stream.write(
            json.dumps({"header": dict(measured.header), "judged": judged, "figures": figures}, indent=2) + "\n"
        )
    else:
        stream.write(aligned(table(measured, judged=judged)) + "\n")
        if judged_from and not judged:
            stream.write(f"Bars are judged from {judged_from} on.\n")


def _written(figure: Figure) -> dict[str, object]:
    fields = asdict(figure)
    if figure.histogram is None:
        del fields["histogram"]
    return fields
