"""The tables of `bench session`, its sheet and its figures for machines, each figure beside what it must show."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final, TextIO

from mnemic.lab.kit.figures import Figure
from mnemic.lab.kit.tables import TextTable, aligned
from mnemic.lab.tasks.session.prefix import Played, PrefixReuse
from mnemic.lab.tasks.session.session_bench import LongTalk, Stretch

STATED: Final = (1_000_000, 4_000)
"""Tokens of a talk and of a window that the bars are stated for; of others nothing is asked."""

_STRETCH: Final = (
    "tokens", "observe ms", "context ms", "turn ms", "CPU ms", "scored", "RSS MB", "live MB", "catalogue MB",
    "pages held",
)  # fmt: skip
_PLAYED: Final = (
    "policy, conversation", "questions", "windows", "evidence in window", "in context()", "prefix reused", "hit rate",
)  # fmt: skip


def figures(long: LongTalk | None, windows: Sequence[PrefixReuse], *, budget: int, whole: bool) -> list[Figure]:
    """What a run must show.

    Args:
        whole: Whether every question of the conversations was asked.
    """
    made = [] if long is None else _of_talk(long, stated=long.stretches[-1].tokens >= STATED[0] and budget == STATED[1])
    for played in windows:
        made += _of_windows(played.whole, stated=whole and budget == STATED[1])
    return made


def _of_talk(long: LongTalk, *, stated: bool) -> list[Figure]:
    bar = 1.2 if stated else None
    return [
        Figure(name="cost of a turn, last tenth over first", value=long.growth, unit="x", bar=bar),
        Figure(name="the same in processor time", value=long.cpu_growth, unit="x", bar=bar),
        Figure(
            name="memory beside the catalogues, last tenth over first", value=long.memory_growth, unit="x", bar=bar,
            detail=f"{long.stretches[-1].live - long.stretches[-1].held:.0f} MB at the end",
        ),
        Figure(
            name="facts of the first 1 % in the window when asked", value=long.early, unit="",
            bar=long.late if stated else None, more=True, detail="as those of the last 10 %",
        ),
        Figure(name="facts of the last 10 %", value=long.late, unit=""),
    ]  # fmt: skip


def _of_windows(window: Played, *, stated: bool) -> list[Figure]:
    return [
        Figure(
            name=f"prefix reused ({window.name})", value=window.reuse, unit="", bar=0.8 if stated else None, more=True
        ),
        Figure(
            name=f"evidence in the window ({window.name})", value=window.found, unit="",
            bar=window.packed if stated else None,
            more=True, detail="as in context() of the same budget",
        ),
    ]  # fmt: skip


def show(
    long: LongTalk | None, windows: Sequence[PrefixReuse], must: Sequence[Figure], stream: TextIO, *, as_json: bool
) -> None:
    """Write what was measured."""
    if as_json:
        stream.write(json.dumps(record(long, windows, must), indent=2) + "\n")
    else:
        stream.write("\n\n".join(aligned(table) for table in tables(long, windows, must)) + "\n")


def tables(long: LongTalk | None, windows: Sequence[PrefixReuse], must: Sequence[Figure]) -> list[TextTable]:
    """What was measured, beside what it must show."""
    made = []
    if long is not None:
        rows = tuple(_stretch_cells(part) for part in long.stretches)
        made.append(TextTable("One session, stretch by stretch", _STRETCH, rows, ()))
    if windows:
        played = tuple(_played_cells(part) for many in windows for part in (many.whole, *many.each))
        made.append(TextTable("Windows over conversations", _PLAYED, played))
    head = ("figure", "measured", "bar", "", "detail")
    made.append(TextTable("Must show", head, tuple(map(_figure_cells, must)), (0, 3, 4)))
    return made


def record(long: LongTalk | None, windows: Sequence[PrefixReuse], must: Sequence[Figure]) -> dict[str, object]:
    """The same for machines."""
    talk = None
    if long is not None:
        talk = {
            **asdict(long),
            "growth": long.growth,
            "cpu_growth": long.cpu_growth,
            "memory_growth": long.memory_growth,
        }
    return {
        "long": talk,
        "prefix": [
            {**_played_record(each.whole), "conversations": [*map(_played_record, each.each)]} for each in windows
        ],
        "figures": [{**asdict(each), "met": each.met} for each in must],
    }


def write_csv(long: LongTalk, path: Path) -> None:
    """The stretches of a long talk, one line each."""
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(Stretch.__slots__)
        out.writerows([getattr(stretch, name) for name in Stretch.__slots__] for stretch in long.stretches)


def _stretch_cells(stretch: Stretch) -> tuple[str, ...]:
    return (
        f"{stretch.tokens:,}", f"{stretch.observe:.2f}", f"{stretch.context:.2f}", f"{stretch.turn:.2f}",
        f"{stretch.cpu:.2f}", f"{stretch.considered:,}", f"{stretch.resident:.0f}", f"{stretch.live:.0f}",
        f"{stretch.held:.1f}", f"{stretch.pages:,}",
    )  # fmt: skip


def _played_cells(played: Played) -> tuple[str, ...]:
    return (
        played.name, f"{played.questions:,}", f"{played.windows:,}", f"{played.found:.2%}", f"{played.packed:.2%}",
        f"{played.reuse:.2%}", f"{played.hit_rate:.1%}",
    )  # fmt: skip


def _played_record(played: Played) -> dict[str, object]:
    return {**asdict(played), "reuse": played.reuse, "hit_rate": played.hit_rate}


def _figure_cells(figure: Figure) -> tuple[str, ...]:
    bar = "" if figure.bar is None else f"{'>=' if figure.more else '<='} {figure.bar:.4g}"
    met = {True: "met", False: "MISSED", None: ""}[figure.met]
    return figure.name, f"{figure.value:,.4g} {figure.unit}".strip(), bar, met, figure.detail
