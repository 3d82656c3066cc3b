"""What readings of needles came to: how much was kept and what a token cost, by length of the text and by depth."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from mnemic.errors import Invalid
from mnemic.lab.kit.curve_plot import PlottedCurve, PlottedPoint, curve_plot
from mnemic.lab.kit.html_page import html_page, in_html, write_html
from mnemic.lab.kit.log import bench_of, records
from mnemic.lab.kit.run_page import page_table, plots
from mnemic.lab.kit.tables import TextTable

BENCH: Final = "needles"
"""What the header of such a log says that it is of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedleReading:
    """What reading one text gave, each share of 1.

    Attributes:
        tokens: Of the text, as it was asked for; `read` is how many there were.
        depth: Where its needle stands, from 0 at the beginning to 1; None for anywhere.
        rules, model, one_look: Evidence that the notes, or the choice of one look, hold; None where it was not asked.
        answered: Values that the model's answer holds.
        calls: Of the model.
        seconds: Of processor time that reading by rules took; making up the text is left out.
        peak: Of the process's memory so far, in MiB.
    """

    kind: str
    tokens: int
    read: int
    rules: float
    seconds: float
    depth: float | None = None
    one_look: float | None = None
    model: float | None = None
    answered: float | None = None
    calls: int | None = None
    peak: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedleRow:
    """What was kept of one kind of question at one length, each a share of 1, over all its texts.

    Attributes:
        depth: Where their needles stand; None for anywhere.
        rules, model, one_look: Evidence that the notes, or the choice of one look, hold; None where it was not asked.
        answered: Values that the model's answer holds.
        calls: Of the model for one text.
        seconds: By rules, for a million tokens.
        peak: Of the process's memory so far, in MiB.
    """

    kind: str
    tokens: int
    texts: int
    rules: float
    depth: float | None = None
    one_look: float | None = None
    model: float | None = None
    answered: float | None = None
    calls: float | None = None
    seconds: float = 0.0
    peak: float = 0.0


def needle_rows(readings: Sequence[NeedleReading], *, by_depth: bool = True) -> tuple[NeedleRow, ...]:
    """Gather readings: a row for each kind, length and depth, in the order in which they were read.

    Args:
        by_depth: Else depths are put together.
    """
    alike: dict[tuple[object, ...], list[NeedleReading]] = {}
    for reading in readings:
        depth = reading.depth if by_depth else None
        alike.setdefault((reading.kind, reading.tokens, depth), []).append(reading)
    return tuple(_row(some, some[0].depth if by_depth else None) for some in alike.values())


def _row(readings: Sequence[NeedleReading], depth: float | None) -> NeedleRow:
    return NeedleRow(
        kind=readings[0].kind,
        tokens=readings[0].tokens,
        texts=len(readings),
        depth=depth,
        rules=fmean(reading.rules for reading in readings),
        one_look=_mean([reading.one_look for reading in readings]),
        model=_mean([reading.model for reading in readings]),
        answered=_mean([reading.answered for reading in readings]),
        calls=_mean([reading.calls for reading in readings]),
        seconds=1e6 * sum(reading.seconds for reading in readings) / max(1, sum(reading.read for reading in readings)),
        peak=max(reading.peak for reading in readings),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def read_needles(log: Path) -> tuple[Mapping[str, Any], tuple[NeedleReading, ...]]:
    """The header of a log of `bench needles`, and its readings.

    Raises:
        NotFound: there is no such log.
        Invalid: it is another bench's.
    """
    if bench_of(log) != BENCH:
        raise Invalid("log", f"{log.name} is no log of `bench needles`", "Name one that --out wrote.")
    header, *rest = records(log)
    read = [record for record in rest if record.pop("kind") == "needle"]
    return header, tuple(NeedleReading(kind=record.pop("needles"), **record) for record in read)


def table(title: str, rows: Sequence[NeedleRow]) -> TextTable:
    """Rows as a table, shares in per cent."""
    header = ("text", "tokens", "depth", "texts", "rules", "one look", "model", "answered", "calls")
    return TextTable(title, (*header, "s/1M tokens", "peak MiB"), tuple(_cells(row) for row in rows), (0,))


def _cells(row: NeedleRow) -> tuple[str, ...]:
    shares = (row.rules, row.one_look, row.model, row.answered)
    return (
        row.kind,
        f"{row.tokens:,}",
        "-" if row.depth is None else f"{100 * row.depth:.0f} %",
        f"{row.texts}",
        *("-" if share is None else f"{100 * share:.1f}" for share in shares),
        "-" if row.calls is None else f"{row.calls:,.0f}",
        f"{row.seconds:.1f}",
        f"{row.peak:,.0f}",
    )


def needles_json(header: Mapping[str, Any], readings: Sequence[NeedleReading]) -> dict[str, object]:
    """What programs are told, and what is kept in a repository: what ran on what, and the rows."""
    about = {name: header[name] for name in ("started", "mnemic", "git", "machine", "seed") if name in header}
    return {"task": BENCH, **about, "rows": [asdict(row) for row in needle_rows(readings)]}


def keep_needles(log: Path, folder: Path) -> Path:
    """Write the figures of a log to a file: beside those of the same commit and seed, over those of any other.

    So lengths that take hours can be read in runs of their own.

    Raises:
        NotFound: there is no such log.
        Invalid: it is another bench's, or of a run that was cut short, or the file cannot be written.
    """
    header, readings = read_needles(log)
    if not any(record["kind"] == "end" for record in records(log)):
        raise Invalid("log", "is of a run that was cut short", "Run it again.")
    path = folder / f"{BENCH}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = _beside(json.loads(path.read_text("utf-8")) if path.exists() else {}, needles_json(header, readings))
        path.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", "utf-8")
    except OSError as error:
        raise Invalid("folder", f"cannot be written: {error.strerror}", "Name one you can write.") from error
    return path


def _beside(held: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """What was made, with the rows that were held of the same commit and seed and are not made anew."""
    if any(held.get(name) != made.get(name) for name in ("git", "mnemic", "machine", "seed")):
        return dict(made)
    places = ("kind", "tokens", "depth")
    anew = {tuple(row[place] for place in places) for row in made["rows"]}
    rows = [row for row in held["rows"] if tuple(row[place] for place in places) not in anew]
    both = sorted((*rows, *made["rows"]), key=lambda row: row["tokens"])
    return {**made, "started": min(held["started"], made["started"]), "rows": both}


def kept_needles(held: Mapping[str, Any]) -> TextTable:
    """The table of figures that were kept: a line for each kind, how much was kept and what a token cost by length."""
    rows = [NeedleRow(**row) for row in held["rows"]]
    lengths = list(dict.fromkeys(row.tokens for row in rows))
    cells = []
    for kind in dict.fromkeys(row.kind for row in rows):
        of = {length: [row for row in rows if (row.kind, row.tokens) == (kind, length)] for length in lengths}
        texts = [str(sum(row.texts for row in some)) for some in of.values()]
        found = [f"{100 * _over_texts(some, lambda row: row.rules):.0f}" if some else "-" for some in of.values()]
        cost = [f"{_over_texts(some, lambda row: row.seconds):.1f}" if some else "-" for some in of.values()]
        cells.append((kind, "/".join(dict.fromkeys(texts)), *found, *cost))
    heads = (*(f"{_short(n)}: kept, %" for n in lengths), *(f"{_short(n)}: µs a token" for n in lengths))
    return TextTable("Needles by rules", ("text", "texts each", *heads), tuple(cells))


def _over_texts(rows: Sequence[NeedleRow], of: Callable[[NeedleRow], float]) -> float:
    return sum(of(row) * row.texts for row in rows) / sum(row.texts for row in rows)


def write_needles_page(header: Mapping[str, Any], readings: Sequence[NeedleReading], path: Path) -> Path:
    """Write the page of a run of needles.

    Raises:
        Invalid: the file cannot be written.
    """
    about = f"{str(header['started'])[:16]} UTC, mnemic {header['mnemic']}"
    top = ("<h1>needles</h1>", f'<p class="dim">{in_html(about)}</p>')
    return write_html(html_page("mnemic bench needles", (*top, *needles_section(readings))), path)


def needles_section(readings: Sequence[NeedleReading]) -> Iterator[str]:
    """The part of a page that tells of needles: curves by length and by depth, and the table."""
    yield "<h2>Needles in long texts, by rules</h2>"
    by_length, rows = needle_rows(readings, by_depth=False), needle_rows(readings)
    yield from plots(filter(None, (kept_by_length(by_length), cost_by_length(by_length), kept_by_depth(rows))))
    yield "<h3>Evidence kept, in per cent</h3>"
    yield from page_table(table("", rows))


def kept_by_length(rows: Sequence[NeedleRow]) -> str:
    """How much of the evidence notes hold against the length of the text, a line for each kind."""
    return curve_plot("evidence kept, %, by tokens", _curves(rows, lambda row: 100 * row.rules), top=100)


def cost_by_length(rows: Sequence[NeedleRow]) -> str:
    """What a token costs against the length of the text: flat where none costs more than those before it."""
    return curve_plot("µs of processor time a token, by tokens", _curves(rows, lambda row: row.seconds))


def kept_by_depth(rows: Sequence[NeedleRow]) -> str:
    """How much is kept against where the needle stands, a line for each length; "" where no depth was asked for."""
    placed = [row for row in rows if row.depth is not None]
    lengths = dict.fromkeys(row.tokens for row in placed)
    curves = [
        PlottedCurve(
            f"{tokens:,} tokens",
            tuple(
                PlottedPoint(
                    f"{100 * depth:.0f} %",
                    100 * fmean(r.rules for r in placed if (r.tokens, r.depth) == (tokens, depth)),
                )
                for depth in sorted({row.depth for row in placed if row.tokens == tokens and row.depth is not None})
            ),
        )
        for tokens in lengths
    ]
    return curve_plot("evidence kept, %, by depth of the needle", curves, top=100)


def _curves(rows: Sequence[NeedleRow], of: Callable[[NeedleRow], float]) -> list[PlottedCurve]:
    kinds = dict.fromkeys(row.kind for row in rows)
    return [
        PlottedCurve(kind, tuple(PlottedPoint(_short(row.tokens), of(row)) for row in rows if row.kind == kind))
        for kind in kinds
    ]


def _short(tokens: int) -> str:
    """A count of tokens as short as an axis wants it."""
    thousands = tokens / 1_000
    return f"{thousands / 1_000:g}m" if thousands >= 1_000 else f"{thousands:g}k" if thousands >= 1 else f"{tokens}"
