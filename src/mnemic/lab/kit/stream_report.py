"""What streams came to, recomputed from their log: success of each memory, beside retrying alone, and against the index
of the task.

A task counts as done if one of its tries succeeded. Intervals are of 2,000 bootstrap draws over seeds: tasks of one
seed share their hidden rules, and a memory, so they are not independent. A difference is paired by seed. Of fewer than
`FEW` seeds there is no interval: drawing one seed again and again gives one of no width, which says nothing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np

from mnemic.errors import Invalid
from mnemic.lab.kit.log import bench_of, records
from mnemic.lab.kit.metrics import FEW, Estimate, difference, estimates, of_enough
from mnemic.lab.kit.stream_memories import RETRY
from mnemic.lab.kit.tables import TextTable, aligned, bar, finite, percent, piped

BLOCKS: Final = 6
"""Parts of a stream that its curve is told by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRow:
    """What one memory came to.

    Attributes:
        done, at_once: The share of tasks done, and done at the first try.
        beside: How much more than retrying alone, seed by seed; None for that row itself.
        curve: The share of tasks done in each part of the stream, the first first.
        tries: Tries a task.
        steps: Actions a try.
        unknown, looped, tried: Actions that the world did not understand, tries that went round in circles, and all.
        used: Share of tries in which some advice was followed.
        characters: Of advice, a try.
        acting_ms, learning_ms: A try: the world, agent and recalls; and what was learnt of it.
    """

    name: str
    done: Estimate
    at_once: Estimate
    beside: Estimate | None
    curve: tuple[Estimate, ...]
    tries: float
    steps: float
    unknown: int
    looped: int
    tried: int
    used: float
    characters: float
    acting_ms: float
    learning_ms: float

    def clear_of(self, control: StreamRow) -> bool | None:
        """Whether its interval lies wholly above another's; None where one of them has none."""
        low, high = self.done.low, control.done.high
        return None if math.isnan(low) or math.isnan(high) else low > high


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamReport:
    """A run of streams.

    Attributes:
        whole: The run came to its end; else its rows cover what it did until then.
    """

    header: Mapping[str, Any]
    rows: tuple[StreamRow, ...]
    whole: bool

    @property
    def control(self) -> StreamRow | None:
        """Retrying alone."""
        return next((row for row in self.rows if row.name == RETRY), None)

    @property
    def winners(self) -> tuple[str, ...]:
        """The memories whose interval lies above that of retrying alone."""
        return tuple(row.name for row in self.rows if self.is_clear(row))

    def is_clear(self, row: StreamRow) -> bool | None:
        """Whether a memory's interval lies above that of retrying alone; None where that cannot be told."""
        return None if self.control is None else row.clear_of(self.control)

    @property
    def too_few(self) -> bool:
        """There are too few seeds for an interval."""
        return any(math.isnan(row.done.low) for row in self.rows)


def read_streams(log: Path, *, seed: int = 0) -> StreamReport:
    """Recompute all figures from a log.

    Raises:
        NotFound: there is no such file.
        Invalid: it is no log of streams, or holds no try.
    """
    if bench_of(log) != "stream":
        raise Invalid("log", f"{log.name} is no log of `bench stream`", "Name one that it wrote.")
    tries: dict[str, list[dict[str, Any]]] = defaultdict(list)
    header, whole = {}, False
    for record in records(log):
        match record["kind"]:
            case "run":
                header = record
            case "try":
                tries[record["row"]].append(record)
            case "end":
                whole = True
    if not tries:
        raise Invalid("log", f"{log.name} holds no try", "Run it again.")
    control = _by_seed(tries[RETRY]) if RETRY in tries else {}
    made = [_row(name, of, control if name != RETRY else {}, header, seed) for name, of in tries.items()]
    return StreamReport(header=header, rows=tuple(made), whole=whole)


def _row(
    name: str, tries: Sequence[dict[str, Any]], control: Mapping[int, float], header: Mapping[str, Any], seed: int
) -> StreamRow:
    own = _by_seed(tries)
    both = [s for s in own if s in control]
    beside = None
    if both:
        gained = difference(np.array([own[s] for s in both]), np.array([control[s] for s in both]), seed)
        beside = of_enough(gained)
    return StreamRow(
        name=name,
        done=_estimate(own, seed),
        at_once=_estimate(_by_seed([each for each in tries if each["nth"] == 1]), seed),
        beside=beside,
        curve=tuple(_curve(tries, header["tasks_in_a_row"], seed)),
        tries=len(tries) / len({(each["seed"], each["place"]) for each in tries}),
        steps=fmean(len(each["actions"]) for each in tries),
        unknown=sum(each["unknown"] for each in tries),
        looped=sum(each["looped"] for each in tries),
        tried=len(tries),
        used=fmean(each["used"] > 0 for each in tries),
        characters=fmean(each["recalled"] for each in tries),
        acting_ms=fmean(each["acting_ms"] for each in tries),
        learning_ms=fmean(each["learning_ms"] for each in tries),
    )


def _by_seed(tries: Sequence[dict[str, Any]]) -> dict[int, float]:
    """The share of tasks done, by seed."""
    done: dict[int, dict[int, bool]] = defaultdict(dict)
    for each in tries:
        tasks = done[each["seed"]]
        tasks[each["place"]] = tasks.get(each["place"], False) or each["succeeded"]
    return {seed: fmean(tasks.values()) for seed, tasks in done.items()}


def _curve(tries: Sequence[dict[str, Any]], tasks: int, seed: int) -> Iterator[Estimate]:
    """The share done in each part of the stream."""
    parts = min(BLOCKS, tasks)
    for part in range(parts):
        of_part = [each for each in tries if parts * each["place"] // tasks == part]
        if of_part:
            yield _estimate(_by_seed(of_part), seed)


def _estimate(by_seed: Mapping[int, float], seed: int) -> Estimate:
    return of_enough(estimates({"": np.array(list(by_seed.values()))}, seed)[""])


def stream_tables(made: StreamReport) -> Iterator[TextTable]:
    """The tables: what memories came to, how that changed along the stream, and what it took."""
    head = made.header
    how = f"{head['seeds']} seeds of {head['tasks_in_a_row']} tasks, {head['tries']} tries, agent: {head['agent']}"
    yield TextTable(
        f"Streams in the world {head['world']}: {how}",
        ("memory", "done %", "", "at the first try %", "more than retry", "tries a task", "clear of retry"),
        tuple(
            (
                row.name, percent(row.done), bar(row.done.mean), percent(row.at_once),
                "-" if row.beside is None else _points(row.beside), f"{row.tries:.2f}",
                _yes_or_no(made.is_clear(row)),
            )
            for row in made.rows
        ),
        words=(0, 2),
    )  # fmt: skip
    parts = max(len(row.curve) for row in made.rows)
    yield TextTable(
        f"Done % along the stream, in {parts} parts",
        ("memory", *(f"part {part}" for part in range(1, parts + 1))),
        tuple((row.name, *_filled([percent(part) for part in row.curve], parts)) for row in made.rows),
    )
    yield TextTable(
        "What it took",
        ("memory", "steps a try", "not understood", "in circles", "tries", "advice followed %", "characters read a try",
         "acting ms", "learning ms"),
        tuple(
            (
                row.name, f"{row.steps:.1f}", str(row.unknown), str(row.looped), str(row.tried),
                f"{100 * row.used:.0f}", f"{row.characters:.0f}", f"{row.acting_ms:.1f}", f"{row.learning_ms:.1f}",
            )
            for row in made.rows
        ),
    )  # fmt: skip


def notes(made: StreamReport) -> Iterator[str]:
    """What has to be said beside the tables."""
    if made.too_few:
        yield f"Too few seeds for intervals, and for what is clear of retry: it takes {FEW} (`--seeds`)."
    else:
        clear = ", ".join(made.winners) or "none"
        yield f"{len(made.winners)} of {len(made.rows) - 1} lie above retry with their whole interval: {clear}."
    yield "Intervals are over seeds. A task is done if one of its tries is; `none` has one, all others the same number."
    if not made.whole:
        yield "This run was cut short: figures cover what was tried until then."


def shown(made: StreamReport, *, markdown: bool = False) -> str:
    """All tables and notes as text."""
    form = piped if markdown else aligned
    return "\n\n".join([*map(form, stream_tables(made)), *notes(made)])


def record(made: StreamReport) -> dict[str, Any]:
    """All figures as JSON has them."""
    rows = [{**asdict(row), "clear_of_retry": made.is_clear(row)} for row in made.rows]
    return {"header": dict(made.header), "whole": made.whole, "rows": [finite(row) for row in rows]}


def _points(value: Estimate) -> str:
    interval = f"{100 * value.low:+.0f}, {100 * value.high:+.0f}" if value.has_interval else "-"
    return f"{100 * value.mean:+.1f} [{interval}]"


def _yes_or_no(told: bool | None) -> str:
    return "-" if told is None else "yes" if told else "no"


def _filled(cells: Sequence[str], to: int) -> tuple[str, ...]:
    return (*cells, *[""] * (to - len(cells)))
