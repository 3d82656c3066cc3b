"""The table that holds mnemic beside peers: a line for each, and in bold where mnemic is behind one of them.

Its figures can be kept in a repository, without a word of the data; a page's table is made of those.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemic.errors import Invalid
from mnemic.lab.kit.kept_results import run_facts
from mnemic.lab.kit.run_report import marked_name, of_vectors, report
from mnemic.lab.kit.tables import TextTable, finite, in_markdown, piped

if TYPE_CHECKING:
    from mnemic.lab.kit.metrics import Estimate
    from mnemic.lab.kit.run_report import RunReport, SystemRow, TaskReport

OURS: Final = "mnemic"
_FOUND: Final = ("R@1", "R@2", "R@5", "R@10", "any@5")
"""Measures of what was found that the table has, of those that a task shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerColumn:
    """What stands in one column.

    Attributes:
        digits: Behind the point.
        more: Of two figures the higher is better.
    """

    title: str
    digits: int
    more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerFigures:
    """One row, as figures.

    Attributes:
        peer: Of others; else it is ours.
        failure: Why it did not come to its end; "" if it did.
        values: In the order of the columns; NaN where it has none.
        low, high: Of the headline's interval, in per cent.
    """

    system: str
    peer: bool
    failure: str
    values: tuple[float, ...]
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerTable:
    """What mnemic, those beside it and its peers found and cost at one task.

    Attributes:
        headline: The title of the column that has intervals.
    """

    title: str
    headline: str
    columns: tuple[PeerColumn, ...]
    rows: tuple[PeerFigures, ...]

    def behind(self) -> dict[str, list[str]]:
        """The columns in which mnemic is behind, and which peers are ahead."""
        ours = next((row for row in self.rows if row.system == OURS), None)
        if ours is None:
            return {}
        peers = [row for row in self.rows if row.peer and not row.failure]
        ahead = {
            column.title: [row.system for row in peers if _beats(column, row.values[n], ours.values[n])]
            for n, column in enumerate(self.columns)
        }
        return {title: names for title, names in ahead.items() if names}

    def markdown(self) -> str:
        """For a page; a figure of mnemic's that a peer betters stands in bold."""
        shown = piped(TextTable(self.title, ("", *(column.title for column in self.columns)), self.cells()))
        if (ours := next((n for n, row in enumerate(self.rows) if row.system == OURS), None)) is None:
            return shown
        ahead, lines = self.behind(), shown.split("\n")
        name, *cells = lines[ours - len(self.rows)].strip("| ").split(" | ")
        bold = [
            f"**{cell}**" if column.title in ahead else cell for column, cell in zip(self.columns, cells, strict=True)
        ]
        lines[ours - len(self.rows)] = f"| {' | '.join((name, *bold))} |"
        return "\n".join(lines)

    def cells(self) -> tuple[tuple[str, ...], ...]:
        """The rows as they are shown, each with its name first."""
        return tuple((_name(row), *(self._cell(row, n) for n in range(len(self.columns)))) for row in self.rows)

    def _cell(self, row: PeerFigures, place: int) -> str:
        column, value = self.columns[place], row.values[place]
        cell = "-" if math.isnan(value) else f"{value:,.{column.digits}f}"
        if column.title == self.headline and not math.isnan(row.low):
            return f"{cell} [{row.low:.0f}, {row.high:.0f}]"
        return cell


def _bounds(value: Estimate) -> tuple[float, float]:
    """The interval in per cent; NaN where there is none."""
    return (100 * value.low, 100 * value.high) if value.has_interval else (math.nan, math.nan)


def _name(row: PeerFigures) -> str:
    return f"{row.system} ({row.failure.partition(':')[0]})" if row.failure else row.system


def _beats(column: PeerColumn, theirs: float, ours: float) -> bool:
    """Whether a figure is better than ours, as both are shown."""
    theirs, ours = round(theirs, column.digits), round(ours, column.digits)
    return theirs > ours if column.more else theirs < ours


def peer_tables(log: Path) -> list[str]:
    """A Markdown table for each task of a run, with what has to be said of its times.

    Raises:
        NotFound: no such log.
        Invalid: not the log of such a run.
    """
    return [
        "\n\n".join((peer_table(each).markdown(), *map(in_markdown, of_vectors(each.run))))
        for each in report(log).tasks
    ]


def peer_table(of: TaskReport) -> PeerTable:
    """What mnemic and those beside it found and cost."""
    peers: Mapping[str, Mapping[str, str]] = of.run.header.get("peers", {})
    columns, headline = _columns(of), of.task.headline
    rows = [
        PeerFigures(
            system=row.system,
            peer=row.system in peers,
            failure=_failure(row, peers.get(row.system, {})),
            values=tuple(value(row) for _, value in columns),
            low=low,
            high=high,
        )
        for row in of.rows
        for low, high in [_bounds(row.scores[headline])]
    ]
    return PeerTable(
        title=f"{marked_name(of)}: {of.task.about}", headline=f"{of.task.shown[headline]}, %",
        columns=tuple(column for column, _ in columns), rows=tuple(rows),
    )  # fmt: skip


def _failure(row: SystemRow, peer: Mapping[str, str]) -> str:
    """Why a row did not come to its end; of a peer that is known not to run, that it does not, and why."""
    return f"does not run: {peer['unfit']}" if row.failure and "unfit" in peer else row.failure


def _columns(of: TaskReport) -> list[tuple[PeerColumn, Callable[[SystemRow], float]]]:
    found = [
        (PeerColumn(title=f"{title}, %", digits=1, more=True), _scored(name))
        for name, title in of.task.shown.items()
        if name in _FOUND or name == of.task.headline
    ]
    return [
        *found,
        (PeerColumn(title="p50 ms", digits=1), lambda row: row.p50_ms),
        (PeerColumn(title="p95 ms", digits=1), lambda row: row.p95_ms),
        (PeerColumn(title="CPU ms", digits=1), lambda row: row.cpu_ms),
        (PeerColumn(title="docs/s", digits=0, more=True), _rate),
        (PeerColumn(title="CPU ms/doc", digits=1), _cpu_of_a_doc),
        (PeerColumn(title="bytes/doc", digits=0), lambda row: _of_cost(row, "bytes_per_message")),
        (PeerColumn(title="lag ms", digits=1), lambda row: _of_cost(row, "lag_ms")),
        (PeerColumn(title="start s", digits=2), lambda row: _of_cost(row, "start_seconds")),
        (PeerColumn(title="peak MiB", digits=0), lambda row: _of_cost(row, "peak_mib")),
    ]


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


# As they are kept


def keep_peers(run_report: RunReport, folder: Path) -> list[Path]:
    """Write a file of figures for each task of a run, over that of the run before in the same order of contestants.

    Runs of fewer questions are kept, too, and of one that was cut short the rows that came to their end: peers take
    their time. The file says so.

    Raises:
        Invalid: mnemic has no row that came to its end, or a file cannot be written.
    """
    written = []
    for each in run_report.tasks:
        named = run_report.header["settings"]["contestants"][each.task.name]
        ended = [row for row in each.rows if row.failure or row.cost is not None]
        if OURS not in [row.system for row in ended]:
            raise Invalid("log", f"has no row of {OURS} at {each.task.name} that came to its end", "Run it again.")
        path = folder / f"{each.task.name}{'' if named[0] == OURS else '-reversed'}.json"
        held = {
            **run_facts(run_report.header, each),
            "limit": run_report.header["settings"]["limit"],
            "asked": max(row.asked for row in ended),
            "documents": max((row.cost.messages for row in ended if row.cost is not None), default=0),
            "peers": run_report.header.get("peers", {}),
            "unfinished": [name for name in named if name not in [row.system for row in ended]],
            "table": asdict(peer_table(replace(each, rows=tuple(ended)))),
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(finite(held), ensure_ascii=False, indent=1) + "\n", "utf-8")
        except OSError as error:
            raise Invalid("folder", f"cannot be written: {error.strerror}", "Name one you can write.") from error
        written.append(path)
    return written


def kept_table(held: Mapping[str, Any]) -> PeerTable:
    """The table of figures that were kept."""
    of = held["table"]
    rows = [
        PeerFigures(
            system=row["system"], peer=row["peer"], failure=row["failure"],
            values=tuple(map(_figure, row["values"])), low=_figure(row["low"]), high=_figure(row["high"]),
        )
        for row in of["rows"]
    ]  # fmt: skip
    columns = tuple(PeerColumn(**column) for column in of["columns"])
    return PeerTable(title=of["title"], headline=of["headline"], columns=columns, rows=tuple(rows))


def _figure(held: float | None) -> float:
    return math.nan if held is None else held
