"""The table that holds mnemic beside peers: a line for each, and in bold where mnemic is behind one of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.run_report import report
from mnemic.lab.kit.tables import TextTable, piped

if TYPE_CHECKING:
    from mnemic.lab.kit.run_report import SystemRow, TaskReport

OURS: Final = "mnemic"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerColumn:
    """One figure of a row.

    Attributes:
        value: NaN where a row has none.
        digits: Behind the point.
        more_is_better: Of two figures the higher is better.
    """

    title: str
    value: Callable[[SystemRow], float]
    digits: int
    more_is_better: bool = False


def peer_tables(log: Path) -> list[str]:
    """A Markdown table for each task of a run.

    Raises:
        NotFound: no such log.
        Invalid: not the log of such a run.
    """
    return [piped(table(each)) for each in report(log).tasks]


def table(of: TaskReport) -> TextTable:
    """What mnemic and those beside it found and cost; a figure of mnemic's that a peer betters stands in bold."""
    columns, ahead = _columns(of), behind(of)
    rows = [_cells(row, columns, ahead if row.system == OURS else {}) for row in of.rows]
    return TextTable(f"{of.task.name}: {of.task.about}", ("", *(column.title for column in columns)), tuple(rows))


def behind(of: TaskReport) -> dict[str, list[str]]:
    """The columns in which mnemic is behind, and which peers are ahead."""
    peers: Mapping[str, object] = of.run.header.get("peers", {})
    ours = next((row for row in of.rows if row.system == OURS), None)
    if ours is None:
        return {}
    ahead = {
        column.title: [row.system for row in of.rows if row.system in peers and _beats(column, row, ours)]
        for column in _columns(of)
    }
    return {title: names for title, names in ahead.items() if names}


def _beats(column: PeerColumn, row: SystemRow, ours: SystemRow) -> bool:
    """Whether a row's figure is better than ours, as both are shown; one that came to no end beats nobody."""
    theirs, own = (round(column.value(one), column.digits) for one in (row, ours))
    return not row.failure and (theirs > own if column.more_is_better else theirs < own)


def _cells(row: SystemRow, columns: Sequence[PeerColumn], bold: Mapping[str, object]) -> tuple[str, ...]:
    name = f"{row.system} ({row.failure.partition(':')[0]})" if row.failure else row.system
    cells = [_cell(column, row) for column in columns]
    marked = [f"**{cell}**" if column.title in bold else cell for column, cell in zip(columns, cells, strict=True)]
    return name, *marked


def _cell(column: PeerColumn, row: SystemRow) -> str:
    value = column.value(row)
    return "-" if math.isnan(value) else f"{value:,.{column.digits}f}"


def _columns(of: TaskReport) -> tuple[PeerColumn, ...]:
    found = tuple(
        PeerColumn(title=f"{title}, %", value=_scored(name), digits=1, more_is_better=True)
        for name, title in of.task.shown.items()
    )
    return (
        *found,
        PeerColumn(title="p50 ms", value=lambda row: row.p50_ms, digits=1),
        PeerColumn(title="p95 ms", value=lambda row: row.p95_ms, digits=1),
        PeerColumn(title="CPU ms", value=lambda row: row.cpu_ms, digits=1),
        PeerColumn(title="docs/s", value=_rate, digits=0, more_is_better=True),
        PeerColumn(title="CPU ms/doc", value=_cpu_of_a_doc, digits=1),
        PeerColumn(title="bytes/doc", value=lambda row: _of_cost(row, "bytes_per_message"), digits=0),
        PeerColumn(title="lag ms", value=lambda row: _of_cost(row, "lag_ms"), digits=1),
        PeerColumn(title="start s", value=lambda row: _of_cost(row, "start_seconds"), digits=2),
        PeerColumn(title="peak MiB", value=lambda row: _of_cost(row, "peak_mib"), digits=0),
    )


def _scored(name: str) -> Callable[[SystemRow], float]:
    return lambda row: 100 * row.scores[name].mean


def _of_cost(row: SystemRow, name: str) -> float:
    value = None if row.cost is None else getattr(row.cost, name)
    return math.nan if value is None else float(value)


def _rate(row: SystemRow) -> float:
    return math.nan if row.cost is None else row.cost.messages / max(row.cost.ingest_seconds, 1e-9)


def _cpu_of_a_doc(row: SystemRow) -> float:
    if row.cost is None or row.cost.ingest_cpu_seconds is None:
        return math.nan
    return 1000 * row.cost.ingest_cpu_seconds / max(row.cost.messages, 1)
