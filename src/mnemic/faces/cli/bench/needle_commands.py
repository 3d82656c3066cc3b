"""`mnemic bench needles`: what is found in long texts, and what a token of them costs."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnemic.errors import Invalid
from mnemic.faces.cli.bars import progress, saying_what_is_kept
from mnemic.faces.cli.bench import bench_options as options
from mnemic.faces.cli.bench.bench_options import FILE, NAMES
from mnemic.faces.cli.command import verb
from mnemic.faces.cli.invocation import Invocation, invocation

if TYPE_CHECKING:
    from mnemic.lab.tasks.needles_report import NeedleRow


@verb(
    "mnemic bench needles --lengths 2k --kinds single,chinese",
    "mnemic bench needles --lengths 1k,2k --kinds single --rules --depths 0,100 --out n.jsonl --html n.html",
    "mnemic bench needles questions.jsonl --lengths 8k",
)
@click.argument("path", required=False, type=FILE)
@click.option("--lengths", type=NAMES, help="Tokens of the texts, by commas (left out: 8k,32k,128k).")
@click.option("--full", is_flag=True, help="Also 512k, 1m and 4m: an hour.")
@click.option(
    "--kinds", type=NAMES, help="Only these: single, multi-key, multi-query, multi-value, variables, chinese."
)
@options.count("--texts", 1, "Texts of each kind, length and depth.")
@click.option("--depths", type=NAMES, help="Where a needle that is alone stands, in per cent of its text, by commas.")
@click.option("--rules", is_flag=True, help="By rules alone: no scripted model, no look over the whole.")
@click.option("--out", type=FILE, help="Log, for `bench report`.")
@click.option("--html", type=FILE, help="Write a page with curves by length and depth, too.")
@options.limit()
@options.seed("the made-up texts")
def needles(
    path: Path | None,
    lengths: Sequence[str] | None,
    full: bool,
    kinds: Sequence[str] | None,
    texts: int,
    depths: Sequence[str] | None,
    rules: bool,
    out: Path | None,
    html: Path | None,
    limit: int | None,
    seed: int,
) -> None:
    """What the notes of `mnemic read` keep of needles in long made-up texts, by rules and by a scripted model, beside
    one look over the whole.

    The needles are RULER's: a number under a key; among others like it; three asked for at once; four under one key; a
    chain of variables; and one in Chinese. Texts have 8,000 to 4,000,000 tokens.

    With PATH, unified jsonl of questions over passages: each question's passages are packed among others.
    """
    from mnemic.lab.kit.log import Log
    from mnemic.lab.kit.output_places import refuse_file, refuse_page
    from mnemic.lab.tasks.needles_bench import CASES, FULL, QUICK, NeedlePlan, bench_needles, bench_packed

    run = invocation()
    refuse_page(html, None if out is None else refuse_file(out))
    sizes = tuple(_thousands(length) for length in lengths) if lengths else (FULL if full else QUICK)
    if path is not None:
        given = {"kinds": kinds, "depths": depths, "rules": rules, "out": out, "html": html}
        if alien := [name for name, value in given.items() if value]:
            raise Invalid(alien[0], "is of made-up texts, and a file is read", "Leave one of them out.")
        with saying_what_is_kept(), progress(run) as report_progress:
            _show_packed(run, path, bench_packed(path, sizes, limit=limit, seed=seed, progress=report_progress))
        return
    plan = NeedlePlan(
        lengths=sizes, kinds=tuple(kinds or CASES), texts=texts, by_rules=rules, seed=seed,
        depths=tuple(_share(depth) for depth in depths or ()),
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="mnemic-needles-") as folder:
        log = out or Path(folder) / "needles.jsonl"
        kept = "" if out is None else "readings until then are kept; to see them: mnemic bench report {log}"
        with saying_what_is_kept(kept), progress(run) as report_progress, Log(log) as written:
            bench_needles(plan, log=written, progress=report_progress)
        show_needles(run, log, html=html)


def show_needles(run: Invocation, log: Path, *, markdown: bool = False, html: Path | None = None) -> None:
    """Show what readings of needles came to."""
    from mnemic.lab.kit.output_places import refuse_page
    from mnemic.lab.kit.tables import aligned, piped
    from mnemic.lab.tasks.needles_report import needle_rows, needles_json, read_needles, table, write_needles_page

    refuse_page(html)
    header, readings = read_needles(log)
    if html is not None:
        run.output.note(f"page: {write_needles_page(header, readings, html)}")
    if run.output.json:
        run.output.document(needles_json(header, readings))
    else:
        shown = table("Evidence kept, in per cent", needle_rows(readings))
        print(piped(shown) if markdown else aligned(shown))


def _show_packed(run: Invocation, path: Path, rows: Sequence[NeedleRow]) -> None:
    from mnemic.lab.kit.tables import aligned
    from mnemic.lab.tasks.needles_report import table

    if run.output.json:
        run.output.document({"rows": [asdict(row) for row in rows]})
    else:
        print(aligned(table(path.name, rows)))


def _share(written: str) -> float:
    """Read per cent as a share."""
    try:
        return float(written.removesuffix("%")) / 100
    except ValueError as error:
        raise Invalid("depths", f"{written!r} is no number", "Write per cent, such as 0,50,100.") from error


def _thousands(written: str) -> int:
    """Read a count such as 8000, 8k or 4m."""
    factor = {"k": 1_000, "m": 1_000_000}.get(written[-1:].lower(), 1)
    digits = written[:-1] if factor > 1 else written
    if not (digits.isascii() and digits.isdigit() and int(digits)):
        raise Invalid("lengths", f"{written!r} is no count of tokens", "Write such as 8000, 8k or 4m.")
    return int(digits) * factor
