"""What the policies did, as tables, as JSON, and as CSV."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final, TextIO

from mnemic.lab.kit.figures import Figure, beside_bars
from mnemic.lab.kit.metrics import Estimate
from mnemic.lab.kit.tables import TextTable, aligned, finite
from mnemic.lab.tasks.paging.dialogues import GOLD
from mnemic.lab.tasks.paging.paging_bench import BASELINE, CAPACITIES, FAMILIES, RECALLED, PagingPlan, PagingRow

NOTES: Final = (
    "hit: hits of reads, %. of MIN: that as a share of Belady's optimum with bypass (a bound, PFOO-U, for windows in "
    "tokens). gap: how much of what lies between LRU and the optimum is closed, %, with its 95 % interval (bootstrap "
    "over the conversations, or seeds); hits of pages that were prefetched are left out of it.",
    "A first write is neither hit nor fault. Through: writes to the store, were each change of state or use written at "
    "once; back: were it written when the page leaves, and at the end; both for each page that was written.",
    "No collector runs in a replay, so there are no pauses to show.",
)
COLUMNS: Final = (
    "family", "capacity", "policy", "traces", "hit_rate", "hit_low", "hit_high", "optimal", "of_optimal", "closed",
    "closed_low", "closed_high", "reads", "hits", "faults", "evictions", "prefetched", "prefetch_hits", "written",
    "through", "back",
)  # fmt: skip
"""Of the CSV, and the keys of a JSON row, in order."""

SPOKEN: Final = (*GOLD, RECALLED)
"""Families made of dialogues."""

CLOSED: Final = 25.0
"""The bar: so much of the gap over the dialogues, in per cent."""

WINDOW: Final = "window"


def show(rows: Sequence[PagingRow], plan: PagingPlan, stream: TextIO, *, as_json: bool) -> None:
    """Write the tables, or everything as JSON; what cannot be had is null there."""
    if as_json:
        figures = [{**asdict(figure), "met": figure.met} for figure in bars(rows, plan)]
        record = {"plan": asdict(plan), "rows": [_flat(row) for row in rows], "figures": figures}
        stream.write(json.dumps(finite(record), indent=2) + "\n")
        return
    chart = bars(rows, plan)
    made = [*tables(rows), *([beside_bars("Bars", chart)] if chart else [])]
    blocks = [aligned(table) for table in made]
    stream.write("\n\n".join([*blocks, "\n".join(f"* {note}" for note in NOTES)]) + "\n")


def write_csv(rows: Sequence[PagingRow], path: Path) -> None:
    """A line for each row, in the order of `COLUMNS`."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(_flat(row) for row in rows)


def tables(rows: Sequence[PagingRow]) -> list[TextTable]:
    """One for each family, then the share of the gap over all, then what it cost."""
    families = list(dict.fromkeys(row.family for row in rows))
    made = [_family(family, [row for row in rows if row.family == family]) for family in families]
    return [*made, _gaps(rows, families), _costs(rows)]


def mean_closed(rows: Sequence[PagingRow], policy: str, families: Sequence[str]) -> float:
    """The mean share of the gap over these families and their capacities, those without a gap left out."""
    shares = [row.closed.mean for row in rows if row.policy == policy and row.family in families]
    known = [share for share in shares if not math.isnan(share)]
    return sum(known) / len(known) if known else math.nan


def bars(rows: Sequence[PagingRow], plan: PagingPlan) -> list[Figure]:
    """What the best policy came to beside what it is held against; nothing unless that was measured as it is stated."""
    measured, policies = {row.family for row in rows}, dict.fromkeys(row.policy for row in rows)
    usual = plan.capacities == CAPACITIES and not plan.by_tokens and plan.limit is None
    made = [policy for policy in policies if policy not in (BASELINE, WINDOW)]
    if not usual or not measured >= {*FAMILIES} or not made or len(made) > len(policies) - 2:
        return []
    best = max(made, key=lambda policy: mean_closed(rows, policy, SPOKEN))
    above = [family for family in FAMILIES if _above(best, [row for row in rows if row.family == family])]
    gap = Figure(
        name=f"gap closed by {best} over the dialogues",
        value=100 * mean_closed(rows, best, SPOKEN),
        unit="%",
        bar=CLOSED,
        more=True,
    )
    name = f"families in which {best} is above {BASELINE} and the sliding window"
    return [gap, Figure(name=name, value=len(above), unit="", bar=len(FAMILIES), more=True)]


def _above(policy: str, rows: Sequence[PagingRow]) -> bool:
    """Whether a policy hits more than both baselines at each capacity."""
    rates = {(row.policy, row.capacity): row.hit_rate.mean for row in rows}
    sizes = {row.capacity for row in rows}
    return all(rates[policy, size] > max(rates[BASELINE, size], rates[WINDOW, size]) for size in sizes)


def _family(family: str, rows: Sequence[PagingRow]) -> TextTable:
    capacities = list(dict.fromkeys(row.capacity for row in rows))
    columns = ["policy"]
    for share in capacities:
        best = next(row.optimal for row in rows if row.capacity == share)
        columns += [f"hit at {share:.0%}, best {100 * best:.1f}", "of MIN", "gap"]
    by_policy = {name: [row for row in rows if row.policy == name] for name in dict.fromkeys(r.policy for r in rows)}
    lines = [(name, *(cell for row in mine for cell in _cells(row))) for name, mine in by_policy.items()]
    return TextTable(f"{family}, {rows[0].traces} traces", tuple(columns), tuple(lines))


def _cells(row: PagingRow) -> tuple[str, str, str]:
    return f"{100 * row.hit_rate.mean:.1f}", f"{100 * row.of_optimal:.0f}", _share(row.closed)


def _gaps(rows: Sequence[PagingRow], families: Sequence[str]) -> TextTable:
    spoken = [family for family in families if family in SPOKEN]
    lines = []
    for policy in dict.fromkeys(row.policy for row in rows):
        each = [_percent(mean_closed(rows, policy, [family])) for family in families]
        lines.append((policy, *each, _percent(mean_closed(rows, policy, spoken))))
    return TextTable("Gap closed, %, mean over the capacities", ("policy", *families, "dialogues"), tuple(lines))


def _costs(rows: Sequence[PagingRow]) -> TextTable:
    lines = []
    for policy in dict.fromkeys(row.policy for row in rows):
        mine = [row.tally for row in rows if row.policy == policy]
        reads, written = sum(replay.reads for replay in mine), max(sum(replay.written for replay in mine), 1)
        prefetched = sum(replay.prefetched for replay in mine)
        hits_share = f"{100 * sum(replay.prefetch_hits for replay in mine) / prefetched:.1f}" if prefetched else "-"
        lines.append(
            (
                policy,
                f"{reads:,}",
                f"{sum(replay.faults for replay in mine):,}",
                f"{sum(replay.evictions for replay in mine):,}",
                f"{sum(replay.through for replay in mine) / written:.2f}",
                f"{sum(replay.back for replay in mine) / written:.2f}",
                f"{prefetched:,}",
                hits_share,
            )
        )
    header = ("policy", "reads", "faults", "evictions", "through", "back", "prefetched", "of them used, %")
    return TextTable("What it cost, all families and capacities together", header, tuple(lines))


def _flat(row: PagingRow) -> dict[str, object]:
    tally = row.tally
    values = (
        row.family, row.capacity, row.policy, row.traces, row.hit_rate.mean, row.hit_rate.low, row.hit_rate.high,
        row.optimal, row.of_optimal, row.closed.mean, row.closed.low, row.closed.high, tally.reads, tally.hits,
        tally.faults, tally.evictions, tally.prefetched, tally.prefetch_hits, tally.written, tally.through, tally.back,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def _share(value: Estimate) -> str:
    if math.isnan(value.mean):
        return "-"
    return f"{100 * value.mean:.0f} [{100 * value.low:.0f}, {100 * value.high:.0f}]"


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f}"
