"""From the log of a text sweep to its tables: every figure is counted again from questions and residents."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np

from mnemic.errors import Invalid
from mnemic.lab.kit.figures import Figure, beside_bars
from mnemic.lab.kit.log import records
from mnemic.lab.kit.metrics import Array, Estimate, estimates
from mnemic.lab.kit.tables import TextTable, aligned, finite, percent_of, piped
from mnemic.lab.tasks.capacity.hot_tier import BASELINES, BELADY

COLUMNS: Final = (
    "law", "policy", "capacity", "archive", "questions", "hit1", "hit1_low", "hit1_high", "hit_rate", "hits", "faults",
    "evictions", "write_backs", "of_belady", "seconds",
)  # fmt: skip
"""Of the CSV, in order."""

LARGE: Final = 50_000
"""Chunks of a text that the bar is stated for."""

WINDOW: Final = "sliding window"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepLine:
    """One policy at one capacity under one law.

    Attributes:
        archive: Whether what had left could come back.
        hit1: How often the right chunk was found first: with an archive among all, else among what was resident.
        hits, faults: How often the first of the answer was in the tier, and not; 0 faults where there is no archive.
        of_belady: `hits` as a share of Belady's in the same place; NaN where that has none.
    """

    law: str
    policy: str
    capacity: int
    archive: bool
    questions: int
    hit1: Estimate
    hits: int
    faults: int
    evictions: int
    write_backs: int
    of_belady: float
    seconds: float

    @property
    def hit_rate(self) -> float:
        """Hits of questions."""
        return self.hits / self.questions if self.questions else math.nan


@dataclass(slots=True, kw_only=True)
class SweepResults:
    """A log, read.

    Attributes:
        milliseconds: Of every recall, by law.
        collected: What the archive's garbage collection came to; empty where none ran.
    """

    header: Mapping[str, Any]
    lines: tuple[SweepLine, ...] = ()
    milliseconds: dict[str, list[float]] = field(default_factory=dict)
    collected: Mapping[str, Any] = field(default_factory=dict)
    complete: bool = False

    def at(self, law: str, policy: str, capacity: int, *, archive: bool) -> SweepLine | None:
        """One line."""
        wanted = (law, policy, capacity, archive)
        return next((o for o in self.lines if (o.law, o.policy, o.capacity, o.archive) == wanted), None)


def read_sweep(log: Path, *, seed: int | None = None) -> SweepResults:
    """The figures of a sweep, from its log.

    Args:
        seed: Of the bootstrap; the run's own when None.

    Raises:
        NotFound: no such log.
        Invalid: not the log of a sweep.
    """
    header: dict[str, Any] = {}
    right: dict[str, list[bool]] = {}
    milliseconds: dict[str, list[float]] = {}
    tiers: list[dict[str, Any]] = []
    collected: dict[str, Any] = {}
    complete = False
    for record in records(log):
        match record.get("kind"):
            case "run":
                header = record
            case "question":
                right.setdefault(record["law"], []).append(record["ranked"][:1] == [record["target"]])
                milliseconds.setdefault(record["law"], []).append(record["milliseconds"])
            case "tier":
                tiers.append(record)
            case "collected":
                collected = record
            case "end":
                complete = True
    if header.get("bench") != "capacity":
        raise Invalid("log", f"{log.name} is not the log of a text sweep", "Name one that `bench capacity` wrote.")
    lines = tuple(_lines(tiers, right, int(header["seed"]) if seed is None else seed))
    return SweepResults(header=header, lines=lines, milliseconds=milliseconds, collected=collected, complete=complete)


def write_csv(swept: SweepResults, path: Path) -> Path:
    """One line for each policy, capacity and law, with and without an archive."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(_cells(line) for line in swept.lines)
    return path


def tables(swept: SweepResults) -> tuple[TextTable, ...]:
    """For each law: what hot tiers find alone, what they have with an archive, and what that took."""
    made: list[TextTable] = []
    for law in swept.header["laws"]:
        made += [_alone(swept, law), _behind(swept, law), _moved(swept, law)]
    return tuple(made)


def show_sweep(swept: SweepResults, stream: TextIO, form: str | None = None) -> None:
    """Write the figures: as `json`, as `markdown`, or as aligned text."""
    if form == "json":
        rows = [dict(zip(COLUMNS, _cells(line), strict=True)) for line in swept.lines]
        record = {
            "header": dict(swept.header),
            "complete": swept.complete,
            "collected": dict(swept.collected),
            "rows": rows,
            "figures": [{**asdict(figure), "met": figure.met} for figure in bars(swept)],
            "notes": list(notes(swept)),
        }
        stream.write(json.dumps(finite(record), ensure_ascii=False, indent=2) + "\n")
        return
    chart = bars(swept)
    made = [*tables(swept), *([beside_bars("Bars", chart)] if chart else [])]
    blocks = [(piped if form == "markdown" else aligned)(table) for table in made]
    stream.write("\n\n".join([*blocks, "\n".join(f"* {note}" for note in notes(swept))]) + "\n")


def bars(swept: SweepResults) -> list[Figure]:
    """For each law, what is found with an archive over the best window; nothing of a text that is not large."""
    if swept.header["data"]["chunks"] < LARGE:
        return []
    made = []
    for law in swept.header["laws"]:
        behind = [line.hit1.mean for line in swept.lines if line.law == law and line.archive]
        windows = [line.hit1.mean for line in swept.lines if (line.law, line.policy) == (law, WINDOW)]
        best = max(windows, default=0.0)
        if behind and best:
            name = f"{law}: hit@1 with an archive over the best sliding window's"
            made.append(Figure(name=name, value=min(behind) / best, unit="x", bar=1, more=True))
    return made


def notes(swept: SweepResults) -> Iterator[str]:
    """What has to stand beside the figures."""
    header, data = swept.header, swept.header["data"]
    yield (
        f"{data['name']}, sha256 {data['sha256'][:12]}: {data['chunks']:,} chunks of {data['bytes']} bytes from "
        f"{data['files']} file(s), {data['blank']} blank ones and {data['skipped']} file(s) that are no text left out."
    )
    for law, times in swept.milliseconds.items():
        p50, p95 = np.percentile(times, (50, 95))
        yield f"{law}: {len(times):,} questions, recall p50 {p50:.1f} ms, p95 {p95:.1f} ms over all that had come."
    yield (
        f"A ranking is kept {header['depth']} deep, and its scores do not depend on what is resident. 95 % intervals: "
        f"percentile bootstrap over questions, seed {header['seed']}."
    )
    if gone := swept.collected:
        yield (
            f"GC of the archive after the stream, {gone['kept']} kept: {gone['slices']} slices, the longest pause "
            f"{gone['longest_ms']:.1f} ms, p99 {gone['p99_ms']:.1f} ms; {gone['taken']} items and {gone['events']:,} "
            f"events gone, {gone['bytes_before']:,} bytes before and {gone['bytes_after']:,} after."
        )
    if header["left_out"]:
        left = ", ".join(header["left_out"])
        yield f"Not run above {header['weighable']:,} pages, because they weigh each page for any that leaves: {left}."
    if not swept.complete:
        yield "The run was cut short: figures cover what was measured until then."


def _lines(tiers: Sequence[Mapping[str, Any]], right: Mapping[str, Sequence[bool]], seed: int) -> Iterator[SweepLine]:
    best = {(t["law"], t["capacity"], t["archive"]): t["hits"].count("1") for t in tiers if t["policy"] == BELADY}
    for tier in tiers:
        hits, questions = tier["hits"].count("1"), len(tier["hits"])
        bound = best.get((tier["law"], tier["capacity"], tier["archive"]), 0)
        hit_bits = right[tier["law"]] if tier["archive"] else [bit == "1" for bit in tier["found"]]
        yield SweepLine(
            law=tier["law"],
            policy=tier["policy"],
            capacity=tier["capacity"],
            archive=tier["archive"],
            questions=questions,
            hit1=_share(np.array(hit_bits, dtype=np.float64), seed),
            hits=hits,
            faults=sum(_brought(tier)),
            evictions=tier["evictions"],
            write_backs=tier["write_backs"],
            of_belady=hits / bound if bound else math.nan,
            seconds=tier["seconds"],
        )


def _brought(tier: Mapping[str, Any]) -> Iterator[bool]:
    """For each question, whether a page had to be brought in."""
    return (tier["archive"] and bit == "0" for bit in tier["hits"])


def _share(values: Array, seed: int) -> Estimate:
    return estimates({"share": values}, seed)["share"]


def _cells(line: SweepLine) -> tuple[object, ...]:
    return (
        line.law, line.policy, line.capacity, line.archive, line.questions, round(line.hit1.mean, 4),
        round(line.hit1.low, 4), round(line.hit1.high, 4), round(line.hit_rate, 4), line.hits, line.faults,
        line.evictions, line.write_backs, round(line.of_belady, 4), line.seconds,
    )  # fmt: skip


def _alone(swept: SweepResults, law: str) -> TextTable:
    """hit@1 by what is resident, over the capacities, and last what the same recall finds with the archive."""
    capacities = swept.header["capacities"]
    rows = []
    for policy in swept.header["policies"]:
        lines = [swept.at(law, policy, capacity, archive=False) for capacity in capacities]
        rows.append((policy, *("-" if tier_line is None else percent_of(tier_line.hit1, True) for tier_line in lines)))
    behind = next((line for line in swept.lines if line.law == law and line.archive), None)
    if behind is not None:
        rows.append(("any policy, with its archive", *([percent_of(behind.hit1, True)] * len(capacities))))
    title = f"{law}: hit@1 of the hot tier alone, %, by its pages"
    return TextTable(title, ("policy", *(f"{n:,}" for n in capacities)), tuple(rows))


def _behind(swept: SweepResults, law: str) -> TextTable:
    """With an archive: how often the answer was in the tier, and that as a share of Belady's."""
    capacities = swept.header["capacities"]
    rows = []
    for policy in swept.header["policies"]:
        if policy in BASELINES:
            continue
        lines = [swept.at(law, policy, capacity, archive=True) for capacity in capacities]
        rows.append((policy, *("-" if tier_line is None else _resident(tier_line) for tier_line in lines)))
    title = f"{law}: answers that were resident, % (share of Belady's), archive behind, by pages"
    return TextTable(title, ("policy", *(f"{n:,}" for n in capacities)), tuple(rows))


def _moved(swept: SweepResults, law: str) -> TextTable:
    """What paging took at the middle capacity."""
    capacities = swept.header["capacities"]
    middle = capacities[len(capacities) // 2]
    lines = [line for line in swept.lines if (line.law, line.capacity, line.archive) == (law, middle, True)]
    rows = (
        (o.policy, f"{o.hits:,}", f"{o.faults:,}", f"{o.evictions:,}", f"{o.write_backs:,}", f"{o.seconds:.1f}")
        for o in lines
    )
    header = ("policy", "hits", "faults", "evictions", "write-backs", "s")
    return TextTable(f"{law}: what paging took with {middle:,} pages, archive behind", header, tuple(rows))


def _resident(line: SweepLine) -> str:
    share = "-" if math.isnan(line.of_belady) else f"{line.of_belady:.2f}"
    return f"{100 * line.hit_rate:.1f} ({share})"
