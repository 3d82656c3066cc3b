"""From the log of a capacity run to its tables: what was found beside the sliding window, at every size."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np

from mnemic.errors import Invalid
from mnemic.lab.kit import log as logs
from mnemic.lab.kit.figures import Figure, beside_bars
from mnemic.lab.kit.log import LoggedAnswer, LoggedRun
from mnemic.lab.kit.metrics import Array, Estimate, any_at, estimates, recall, resample
from mnemic.lab.kit.tables import TextTable, aligned, finite, percent_of, piped
from mnemic.lab.tasks.capacity.hot_tier import BASELINES, BELADY
from mnemic.lab.tasks.capacity.hotpot_bench import FOUND, MNEMIC, Protocol

WINDOW: Final = "sliding window"
BAR: Final = 1.33
"""MemorySpace's hit@5 over its sliding window's: .798 / .601, each with the size it was given."""

LEVEL: Final = 0.6
"""What a sliding window finds where the headline is taken: what MemorySpace's found."""

NEAR: Final = 0.1
"""How far from `LEVEL` a window may be for the bar to be stated of it."""

LEAST: Final = 50
"""Fewest questions that are held against the bar."""

COLUMNS: Final = (
    "row", "capacity", "hit5", "hit5_low", "hit5_high", "any5", "hits", "faults", "evictions", "write_backs",
    "of_belady", "mnemic_over_it",
)  # fmt: skip
"""Of the CSV: what a row finds alone, then what it came to with the archive behind."""

_ALONE: Final = re.compile(r"(?P<schedule>(?:\w+: )?)(?P<policy>.+) alone @ (?P<capacity>\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One row's answers: the share of a question's facts among five, and how often any is."""

    found: Estimate
    any: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Paged:
    """What one policy's paging came to, with the archive behind, over all questions.

    Attributes:
        hits, faults: Documents of the answers that were in the tier, and that were not.
        of_belady: `hits` as a share of Belady's at the same size.
    """

    hits: int
    faults: int
    evictions: int
    write_backs: int
    of_belady: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Two means' ratio over the same questions, with its 95 % percentile bootstrap interval.

    Attributes:
        low, high: NaN where too many samples have no ratio, as the second mean is 0 in them: n is too small.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacities:
    """A log, read.

    Attributes:
        whole: mnemic's own score.
        alone: By policy and capacity, what its hot tier finds with nothing behind it.
        paged: By policy and capacity, with the archive.
        ratios: mnemic over the sliding window, by the window's capacity.
        headline: The capacity at which the window comes nearest to `LEVEL`.
        checks: What must hold for the figures to mean anything, with what was measured.
    """

    header: Mapping[str, Any]
    whole: Score
    alone: Mapping[tuple[str, int], Score]
    paged: Mapping[tuple[str, int], Paged]
    ratios: Mapping[int, Ratio]
    headline: int
    checks: tuple[tuple[str, bool, str], ...] = ()
    complete: bool = False
    categories: Mapping[str, Score] = field(default_factory=dict)


def read_capacities(log: Path, *, seed: int | None = None) -> Capacities:
    """The figures of a run, from its log.

    Args:
        seed: Of the bootstrap; the run's own when None.

    Raises:
        NotFound: no such log.
        Invalid: not the log of such a run, or nothing was measured in it.
    """
    run = logs.read(log)
    if run.header.get("bench") != "hotpot" or MNEMIC not in run.answers:
        raise Invalid("log", f"{log.name} is not the log of a capacity run", "Name one that `bench hotpot` wrote.")
    seed = int(run.header["seed"]) if seed is None else seed
    alone = {
        (match["policy"], int(match["capacity"])): _score(answers, seed)
        for system, answers in run.answers.items()
        if (match := _ALONE.fullmatch(system)) and not match["schedule"]
    }
    sizes = sorted(size for name, size in alone if name == WINDOW)
    if not sizes:
        raise Invalid("log", f"{log.name} ends before the sliding window was measured", "Run it again.")
    return Capacities(
        header=run.header,
        whole=_score(run.answers[MNEMIC], seed),
        alone=alone,
        paged=_paged(log),
        ratios={size: _ratio(run, size, seed) for size in sizes},
        headline=min(sizes, key=lambda size: abs(alone[WINDOW, size].found.mean - LEVEL)),
        checks=tuple(_checks(run, alone)),
        complete=run.complete,
        categories={name: _score(answers, seed) for name, answers in _by_category(run.answers[MNEMIC]).items()},
    )


def tables(capacities: Capacities) -> tuple[TextTable, ...]:
    """The headline, the sweep, and the checks where there were any."""
    made = (_headline(capacities), _sweep(capacities))
    return (*made, _checked(capacities)) if capacities.checks else made


def show_capacities(capacities: Capacities, stream: TextIO, form: str | None = None) -> None:
    """Write the figures: as `json`, as `markdown`, or as aligned text."""
    if form == "json":
        stream.write(json.dumps(finite(_record(capacities)), ensure_ascii=False, indent=2) + "\n")
        return
    chart = bars(capacities)
    shown = [*tables(capacities), *([beside_bars("Bars", chart)] if chart else [])]
    blocks = [(piped if form == "markdown" else aligned)(table) for table in shown]
    stream.write("\n\n".join([*blocks, "\n".join(f"* {note}" for note in notes(capacities))]) + "\n")


def write_csv(capacities: Capacities, path: Path) -> Path:
    """One line for each row and size; mnemic's own row has the size 0: it sees everything."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerow((MNEMIC, 0, *_scored(capacities.whole), *[""] * 6))
        for (policy, size), score in capacities.alone.items():
            paged = capacities.paged.get((policy, size))
            counts = (
                (paged.hits, paged.faults, paged.evictions, paged.write_backs, round(paged.of_belady, 4))
                if paged
                else ("",) * 5
            )
            over = round(capacities.ratios[size].value, 4) if policy == WINDOW else math.nan
            writer.writerow((policy, size, *_scored(score), *counts, over if math.isfinite(over) else ""))
    return path


def bars(capacities: Capacities) -> list[Figure]:
    """The headline beside MemorySpace's; nothing unless by the usual law, and its window finds about as much."""
    window, ratio = capacities.alone[WINDOW, capacities.headline].found.mean, capacities.ratios[capacities.headline]
    usual = Protocol()
    protocol = {"lag": usual.lag, "law": usual.law, "order": usual.order, "unit": "paragraph"}
    if capacities.header["protocol"] != protocol or abs(window - LEVEL) > NEAR:
        return []
    name, few = f"{MNEMIC} over the sliding window of {capacities.headline:,}", _few(capacities)
    return [Figure(name=name, value=ratio.value, unit="x", bar=None if few else BAR, more=True, detail=few)]


def _few(capacities: Capacities) -> str:
    """Why the bar is not held against this run; "" where it has questions enough."""
    asked = capacities.whole.found.n
    return "" if asked >= LEAST else f"bar {BAR} is stated from {LEAST} questions on, here {asked}"


def notes(capacities: Capacities) -> Iterator[str]:
    """What has to stand beside the figures."""
    header = capacities.header
    data, protocol = header["data"], header["protocol"]
    yield (
        f"{data['name']}, sha256 {data['sha256'][:12]}: {data['docs']:,} documents (one a {protocol['unit']}), "
        f"{header['asked']} questions asked, {header['not_asked']} whose turn came after the end, "
        f"{data['unscorable']} without supporting facts. Facts that name nothing: {data['evidence_dropped']}."
    )
    yield (
        f"Law {protocol['law']}, lag {protocol['lag']}, order {protocol['order']}, "
        f"embedder {header['effective']['embedder'] or 'none'}. hit@{FOUND}: supporting documents among five / "
        f"supporting documents. 95 % intervals: percentile bootstrap over questions, seed {header['seed']}."
    )
    for name, score in capacities.categories.items():
        yield f"{MNEMIC} on {name}: hit@{FOUND} {percent_of(score.found, True)}, n {score.found.n}."
    ratio = capacities.ratios[capacities.headline]
    met = f"{'more' if ratio.value > BAR else 'not more'} than MemorySpace's {BAR}"
    interval = "" if math.isfinite(ratio.high) else f"no interval: n too small ({capacities.whole.found.n}); "
    yield f"Over the sliding window of {capacities.headline:,}: {_ranged(ratio)}, {interval}{_few(capacities) or met}."
    if not capacities.complete:
        yield "The run was cut short: figures cover what was measured until then."


def _score(answers: Sequence[LoggedAnswer], seed: int) -> Score:
    values = {
        "found": np.array([recall(a.gold, a.ranked, FOUND) for a in answers]),
        "any": np.array([any_at(a.gold, a.ranked, FOUND) for a in answers]),
    }
    return Score(**estimates(values, seed))


def _by_category(answers: Sequence[LoggedAnswer]) -> dict[str, list[LoggedAnswer]]:
    names = sorted({answer.category for answer in answers})
    return {name: [a for a in answers if a.category == name] for name in names} if len(names) > 1 else {}


def _paged(log: Path) -> dict[tuple[str, int], Paged]:
    sums: dict[tuple[str, int], np.ndarray[Any, np.dtype[np.int64]]] = {}
    for record in logs.records(log):
        if record.get("kind") == "paging" and not record["schedule"]:
            counts = np.array([record[name] for name in ("hits", "faults", "evictions", "write_backs")])
            key = (record["policy"], record["capacity"])
            sums[key] = sums[key] + counts if key in sums else counts
    pagings = {}
    for (policy, capacity), counts in sums.items():
        hits, faults, evictions, write_backs = map(int, counts)
        best = int(sums[BELADY, capacity][0]) if (BELADY, capacity) in sums else 0
        share = hits / best if best else math.nan
        pagings[policy, capacity] = Paged(
            hits=hits, faults=faults, evictions=evictions, write_backs=write_backs, of_belady=share
        )
    return pagings


def _ratio(run: LoggedRun, size: int, seed: int) -> Ratio:
    """mnemic's hit@5 over the window's, on the same questions; infinite where the window finds nothing."""
    window = {a.question: recall(a.gold, a.ranked, FOUND) for a in run.answers[f"{WINDOW} alone @ {size}"]}
    pairs = [(recall(a.gold, a.ranked, FOUND), window[a.question]) for a in run.answers[MNEMIC] if a.question in window]
    both: Array = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    drawn = resample(len(both), seed) @ both
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = drawn[:, 0] / drawn[:, 1]
        value = float(both[:, 0].sum() / both[:, 1].sum())
        low, high = np.percentile(np.where(np.isfinite(ratios), ratios, np.inf), (2.5, 97.5))
    if not np.isfinite(high):
        return Ratio(value=value, low=math.nan, high=math.nan)
    return Ratio(value=value, low=float(low), high=float(high))


def _checks(run: LoggedRun, alone: Mapping[tuple[str, int], Score]) -> Iterator[tuple[str, bool, str]]:
    everything = int(run.header["data"]["docs"])
    there = {name: score.found.mean for (name, size), score in alone.items() if size >= everything}
    if there:
        whole = _mean(run.answers[MNEMIC])
        apart = max(abs(mean - whole) for mean in there.values())
        yield "room for everything: all rows alike", apart < 1e-9, f"{len(there)} rows, {100 * apart:.1f} points apart"
    if before := run.answers.get(f"before: {MNEMIC}"):
        share = _mean(before)
        yield "asked before its paragraphs: nothing found", share < 0.05, f"hit@{FOUND} {100 * share:.1f}"
    if shuffled := run.answers.get(f"shuffled: {MNEMIC}"):
        yield from _shuffled(run, _mean(shuffled), everything)


def _shuffled(run: LoggedRun, whole: float, everything: int) -> Iterator[tuple[str, bool, str]]:
    """Paragraphs in any order: mnemic finds what it found, and no size makes a window more than its share."""
    usual = _mean(run.answers[MNEMIC])
    yield "paragraphs in any order: mnemic alike", abs(whole - usual) < 0.1, f"{100 * usual:.1f} and {100 * whole:.1f}"
    shares = []
    for system, answers in run.answers.items():
        match = _ALONE.fullmatch(system)
        if match and match["schedule"] == "shuffled: " and match["policy"] == WINDOW:
            shares.append((int(match["capacity"]), _mean(answers)))
    small = [(size, mean) for size, mean in shares if size <= everything / 2]
    means = ", ".join(f"{100 * mean:.0f} of {size}" for size, mean in small)
    yield "... and a window of half or less finds less than mnemic", all(mean < whole for _, mean in small), means


def _mean(answers: Sequence[LoggedAnswer]) -> float:
    return float(np.mean([recall(a.gold, a.ranked, FOUND) for a in answers]))


def _headline(capacities: Capacities) -> TextTable:
    size, window = capacities.headline, capacities.alone[WINDOW, capacities.headline]
    ratio = capacities.ratios[size]
    behind = f"{MNEMIC}, its archive behind {size:,}"
    rows: list[tuple[str, ...]] = [
        (
            behind, percent_of(capacities.whole.found, True), percent_of(capacities.whole.any, True),
            _ranged(ratio), "", "", "", "", "",
        )
    ]  # fmt: skip
    for name in capacities.header["policies"]:
        score, paged = capacities.alone.get((name, size)), capacities.paged.get((name, size))
        if score is None:
            continue
        times = score.found.mean / window.found.mean if window.found.mean else math.nan
        shares = (percent_of(share, True) for share in (score.found, score.any))
        rows.append((f"{name} alone", *shares, _number(times), *_paging(paged)))
    header = (
        "row", f"hit@{FOUND}, %", f"any@{FOUND}, %", "of the window's", "resident, %", "of Belady's", "faults",
        "evictions", "write-backs",
    )  # fmt: skip
    title = f"1. With {size:,} documents, where the sliding window comes nearest to {100 * LEVEL:.0f} %"
    return TextTable(title, header, tuple(rows))


def _paging(paged: Paged | None) -> tuple[str, ...]:
    if paged is None:
        return ("-",) * 5
    resident = 100 * paged.hits / max(paged.hits + paged.faults, 1)
    counts = (f"{n:,}" for n in (paged.faults, paged.evictions, paged.write_backs))
    return f"{resident:.1f}", _number(paged.of_belady), *counts


def _sweep(capacities: Capacities) -> TextTable:
    sizes = sorted(capacities.ratios)
    rows = [(f"{MNEMIC}, archive behind", *([percent_of(capacities.whole.found, True)] * len(sizes)))]
    rows.append((f"{MNEMIC} / {WINDOW}", *(_number(capacities.ratios[size].value) for size in sizes)))
    for name in capacities.header["policies"]:
        cells = (capacities.alone.get((name, size)) for size in sizes)
        rows.append((f"{name} alone", *("-" if cell is None else f"{100 * cell.found.mean:.1f}" for cell in cells)))
    for name in capacities.header["policies"]:
        if name not in BASELINES:
            cells_behind = (capacities.paged.get((name, size)) for size in sizes)
            rows.append((f"{name}: resident", *(_paging(cell)[0] for cell in cells_behind)))
    return TextTable(
        f"2. hit@{FOUND} by documents in the hot tier, %", ("row", *(f"{n:,}" for n in sizes)), tuple(rows)
    )


def _checked(capacities: Capacities) -> TextTable:
    rows = tuple((what, "holds" if held else "FAILS", measured) for what, held, measured in capacities.checks)
    return TextTable("3. That the figures mean something", ("check", "", "measured"), rows, words=(0, 1, 2))


def _record(capacities: Capacities) -> dict[str, object]:
    return {
        "header": dict(capacities.header),
        "complete": capacities.complete,
        "headline": capacities.headline,
        "mnemic": asdict(capacities.whole),
        "alone": [{"policy": p, "capacity": c, **asdict(s)} for (p, c), s in capacities.alone.items()],
        "paged": [{"policy": p, "capacity": c, **asdict(s)} for (p, c), s in capacities.paged.items()],
        "ratios": {str(size): asdict(ratio) for size, ratio in capacities.ratios.items()},
        "checks": [{"check": what, "holds": held, "measured": measured} for what, held, measured in capacities.checks],
        "figures": [{**asdict(figure), "met": figure.met} for figure in bars(capacities)],
        "notes": list(notes(capacities)),
    }


def _scored(score: Score) -> tuple[float, ...]:
    estimate = score.found
    return tuple(round(value, 4) for value in (estimate.mean, estimate.low, estimate.high, score.any.mean))


def _ranged(ratio: Ratio) -> str:
    interval = f" [{ratio.low:.2f}, {ratio.high:.2f}]" if math.isfinite(ratio.high) else ""
    return _number(ratio.value) + interval


def _number(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "-"
