"""`bench`: the laboratory from the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnemic.faces.cli.bars import hold_to_bars
from mnemic.faces.cli.bars import listed as _names
from mnemic.faces.cli.bars import progress as _progress
from mnemic.faces.cli.bench.windows import paging, retention_train, session
from mnemic.faces.cli.command import WORDS, CommandGroup, verb
from mnemic.faces.cli.invocation import Invocation, invocation

if TYPE_CHECKING:
    from mnemic.lab.kit.figures import Figure
    from mnemic.models.base import Embedder


@click.group(
    cls=CommandGroup,
    examples=(
        "mnemic bench locomo locomo10.json --limit 20",
        "mnemic bench report runs/run.jsonl",
    ),
)
def bench() -> None:
    """Measure how much evidence is found, and how fast.

    A run writes a log; every figure is recomputed from that.
    """


@verb(
    "mnemic bench locomo locomo10.json --out runs --limit 20",
    "mnemic bench locomo locomo10.json --systems mnemic --json",
    "mnemic bench locomo locomo10.json --systems mnemic --without dense,session,speaker",
)
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="Folder, or file."
)
@click.option("--limit", type=int, help="Ask only the first so many questions.")
@click.option("--systems", type=WORDS, help="Only these rows of the table, separated by commas.")
@click.option("--without", type=WORDS, help="Stages of recall: for each a row of mnemic without it.")
@click.option("--embedder", type=WORDS, default="auto", show_default=True, help="`none` for words alone.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder that keeps vectors from run to run.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
def locomo(
    path: Path,
    out: Path,
    limit: int | None,
    systems: str | None,
    without: str | None,
    embedder: str,
    cache: Path | None,
    seed: int,
) -> None:
    """Evidence retrieval on LoCoMo (its json, or unified jsonl), mnemic beside its baselines."""
    from mnemic.lab.tasks.locomo_bench import bench_locomo

    run = invocation()
    with _progress(run) as progress:
        log = bench_locomo(
            path,
            out=out,
            seed=seed,
            systems=None if systems is None else _names(systems),
            limit=limit,
            embedder=_embedder(run, embedder, cache),
            without=_names(without or ""),
            progress=progress,
        )
    _show(run, log, None, markdown=False)
    run.output.note(f"log: {log} (the same tables again: mnemic bench report {log})")


@verb("mnemic bench report runs/run.jsonl", "mnemic bench report runs/run.jsonl --markdown")
@click.argument("log", type=click.Path(path_type=Path))
@click.option("--seed", type=int, help="Of the bootstrap (left out: the run's own).")
@click.option("--markdown", is_flag=True, help="Tables for a page.")
def report(log: Path, seed: int | None, markdown: bool) -> None:
    """The tables of a run, recomputed from its LOG, whichever bench wrote it."""
    from mnemic.lab.kit.log import bench_of

    match bench_of(log):
        case "capacity":
            _show_sweep(invocation(), log, seed=seed, markdown=markdown)
        case "hotpot":
            _show_hotpot(invocation(), log, seed=seed, markdown=markdown)
        case _:
            _show(invocation(), log, seed, markdown=markdown)


@verb("mnemic bench speed --items 2000 --turns 200 --rounds 2 --questions 20")
@click.option("--items", type=click.IntRange(1), default=100_000, show_default=True, help="Items recalled from.")
@click.option("--turns", type=click.IntRange(1), default=10_000, show_default=True, help="Turns taken in at once.")
@click.option("--rounds", type=click.IntRange(1), default=30, show_default=True, help="Rounds of single writes.")
@click.option("--questions", type=click.IntRange(1), default=1_000, show_default=True, help="Questions asked.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the made-up text.")
def speed(items: int, turns: int, rounds: int, questions: int, seed: int) -> None:
    """Writes, group commit, bulk intake and recall, each beside its bar, on files in a temporary folder.

    A bar that is missed decides the exit code where at least as much is measured as the bars are stated for.
    """
    from mnemic.lab.kit.figures import show
    from mnemic.lab.tasks.speed_bench import SpeedSize, bench_speed

    run = invocation()
    measured = SpeedSize(
        items=items, users=max(items // 100, 1), turns=turns, rounds=rounds, questions=questions, seed=seed
    )
    found = bench_speed(measured, lambda part: run.output.note(f"{part} ..."))
    show(found, sys.stdout, as_json=run.output.json)
    if measured.stated:
        hold_to_bars(found.figures)


@verb("mnemic bench busy --rounds 1 --writes 5 --embedder none")
@click.option("--rounds", type=click.IntRange(1), default=10, show_default=True, help="Rounds of each sort.")
@click.option("--writes", type=click.IntRange(1), default=50, show_default=True, help="Writes to a round.")
@click.option("--gap", type=click.FloatRange(0), default=0.005, show_default=True, help="Seconds between two writes.")
@click.option("--embedder", type=WORDS, default="auto", show_default=True, help="`none` for one that only burns time.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the made-up text.")
def busy(rounds: int, writes: int, gap: float, embedder: str, seed: int) -> None:
    """Writes beside a busy worker in the same process, against writes beside an idle one; with meters and without.

    `--writes 40 --gap 0` measures bursts that are shorter than a slice of what goes on behind.

    A bar that is missed decides the exit code where at least as much is measured as the bars are stated for.
    """
    from mnemic.lab.kit.figures import show
    from mnemic.lab.tasks.busy_bench import BusyLoad, bench_busy

    run = invocation()
    load = BusyLoad(rounds=rounds, writes=writes, gap=gap, seed=seed)
    found = bench_busy(load, lambda part: run.output.note(f"{part} ..."), embedder=_embedder(run, embedder, None))
    show(found, sys.stdout, as_json=run.output.json)
    if load.stated:
        hold_to_bars(found.figures)


@verb("mnemic bench gc --adds 600 --live 200 --keep-commits 2 --singles 5")
@click.option("--adds", type=click.IntRange(1), default=1_000_000, show_default=True, help="Items added in all.")
@click.option("--live", type=click.IntRange(1), default=100_000, show_default=True, help="Items that stand.")
@click.option(
    "--keep-commits", type=click.IntRange(0), default=200, show_default=True, help="Of the past, 100 adds each."
)
@click.option("--singles", type=click.IntRange(1), default=1_000, show_default=True, help="Single writes timed alone.")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="On the disk to measure.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the made-up text.")
def gc(adds: int, live: int, keep_commits: int, singles: int, folder: Path | None, seed: int) -> None:
    """Collecting beside writers and readers: the file's size, who waits, and whether recall stays the same."""
    from mnemic.lab.kit.figures import show
    from mnemic.lab.tasks.gc_bench import GcSize, bench_gc

    run = invocation()
    size = GcSize(adds=adds, live=live, keep=keep_commits, singles=singles, seed=seed)
    with _progress(run) as progress:
        found = bench_gc(size, progress, folder=folder)
    show(found, sys.stdout, as_json=run.output.json)
    hold_to_bars(found.figures)


@verb("mnemic bench asked data --embedder none")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--embedder", type=WORDS, default="auto", show_default=True, help="`none` for words alone.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder that keeps vectors from run to run.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
def asked(folder: Path, embedder: str, cache: Path | None, seed: int) -> None:
    """Our own questions: Chinese, across languages, and things that were never said; FOLDER holds the dialogues."""
    from mnemic.lab.tasks.asked_bench import bench_asked, show

    run = invocation()
    with _progress(run) as progress:
        found = bench_asked(folder, embedder=_embedder(run, embedder, cache), progress=progress)
    show(found, sys.stdout, seed)


@verb("mnemic bench multihop questions.jsonl --embedder none", "mnemic bench multihop questions.jsonl --without links")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--limit", type=int, help="Ask only the first so many questions.")
@click.option("--untitled", is_flag=True, help="Take the titles out of the documents.")
@click.option("--without", type=WORDS, help="Stages of recall to leave out, all at once.")
@click.option("--embedder", type=WORDS, default="auto", show_default=True, help="`none` for words alone.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder that keeps vectors from run to run.")
def multihop(
    path: Path, limit: int | None, untitled: bool, without: str | None, embedder: str, cache: Path | None
) -> None:
    """Passages found for multi-hop questions over a pool of documents (2Wiki, HotpotQA, MuSiQue as unified jsonl)."""
    from mnemic.lab.kit.tables import aligned
    from mnemic.lab.tasks.multihop_bench import bench_multihop, entrant, table

    run = invocation()
    make = entrant(_embedder(run, embedder, cache), _names(without or ""), untitled=untitled)
    print(aligned(table(path.name, bench_multihop(path, make=make, limit=limit))))


@verb(
    "mnemic bench capacity book.txt --limit 200 --capacities 10,50% --policies lru,arc",
    "mnemic bench capacity book.txt --limit 100 --laws again --capacities 10 --policies lfu --json",
)
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="Folder, or file."
)
@click.option("--limit", type=click.IntRange(1), help="Only the first so many chunks.")
@click.option("--capacities", type=WORDS, help="Pages, or per cent of all chunks, by commas (0.1%,0.5%,2%,10%,50%).")
@click.option("--policies", type=WORDS, help="Only these, by commas; the baselines and Belady's are always there.")
@click.option("--laws", type=WORDS, default="recent,uniform", show_default=True, help="Of age; also `again`.")
@click.option("--every", type=click.IntRange(1), default=10, show_default=True, help="Chunks between questions.")
@click.option("--plots", type=click.Path(path_type=Path), help="Folder for pictures (needs the extra `bench`).")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the questions, and of the bootstrap.")
def capacity(
    path: Path,
    out: Path,
    limit: int | None,
    capacities: str | None,
    policies: str | None,
    laws: str,
    every: int,
    plots: Path | None,
    seed: int,
) -> None:
    """Plain text in chunks of 512 bytes through hot tiers of so many pages: what each policy finds, with an archive and
    without.

    PATH is a text (enwik8, text8, any other; zip, gzip, bzip2 and xz are read), or a folder of them. A window that
    finds more than the archive decides the exit code, of 50,000 chunks or more.
    """
    from mnemic.lab.tasks.capacity.capacity_bench import CAPACITIES, TextSweep, bench_capacity

    run = invocation()
    sweep = TextSweep(
        laws=_names(laws),
        capacities=_names(capacities or "") or CAPACITIES,
        policies=None if policies is None else _names(policies),
        limit=limit,
        every=every,
        seed=seed,
    )
    with _progress(run) as progress:
        log = bench_capacity(path, out=out, sweep=sweep, progress=progress)
    hold_to_bars(_show_sweep(run, log, plots))


@verb(
    "mnemic bench hotpot questions.jsonl --lag 0 --capacities 1,2 --policies lru --embedder none",
    "mnemic bench hotpot questions.jsonl --law fixed --lag 0 --capacities 2 --policies arc --embedder none --json",
)
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="Folder, or file."
)
@click.option("--limit", type=click.IntRange(1), help="Only the first so many questions.")
@click.option("--capacities", type=WORDS, help="Documents in the hot tier, or per cent of all, by commas.")
@click.option("--policies", type=WORDS, help="Only these, by commas; the baselines and Belady's are always there.")
@click.option("--lag", type=click.IntRange(0), default=10, show_default=True, help="Questions until one is asked.")
@click.option("--law", type=WORDS, default="spread", show_default=True, help="`spread`: from 0 to twice; or `fixed`.")
@click.option("--order", type=WORDS, default="file", show_default=True, help="Of the documents; or `shuffled`.")
@click.option("--unit", type=WORDS, default="paragraph", show_default=True, help="One document; or `sentence`.")
@click.option("--checks", is_flag=True, help="Also: asked too early, in any order, with room for everything.")
@click.option("--embedder", type=WORDS, default="none", show_default=True, help="`auto`, or by its name.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder that keeps vectors from run to run.")
@click.option("--plots", type=click.Path(path_type=Path), help="Folder for a picture (needs the extra `bench`).")
@click.option("--seed", type=int, default=0, show_default=True, help="Of what is drawn, and of the bootstrap.")
def hotpot(
    path: Path,
    out: Path,
    limit: int | None,
    capacities: str | None,
    policies: str | None,
    lag: int,
    law: str,
    order: str,
    unit: str,
    checks: bool,
    embedder: str,
    cache: Path | None,
    plots: Path | None,
    seed: int,
) -> None:
    """Supporting facts of multi-hop questions under a fixed hot capacity, beside a sliding window of the same size.

    PATH is HotpotQA's or 2Wiki's json, MuSiQue's jsonl, or unified jsonl. A bar that is missed decides the exit code,
    where 50 questions or more are asked, they come by the usual law, and a window finds near 60 %.
    """
    from mnemic.lab.tasks.capacity.hotpot_bench import CAPACITIES, Protocol, bench_hotpot

    run = invocation()
    with _progress(run) as progress:
        log = bench_hotpot(
            path,
            out=out,
            protocol=Protocol(lag=lag, law=law, order=order, seed=seed),
            capacities=_names(capacities or "") or CAPACITIES,
            policies=None if policies is None else _names(policies),
            unit=unit,
            limit=limit,
            embedder=_embedder(run, embedder, cache),
            checks=checks,
            progress=progress,
        )
    hold_to_bars(_show_hotpot(run, log, plots))


def _embedder(run: Invocation, named: str, cache: Path | None) -> Embedder | None:
    from mnemic.models.embedder_opening import open_embedder

    embedder = open_embedder(named, run.settings)
    if embedder is None or cache is None:
        return embedder
    from mnemic.lab.kit.cached import CachedEmbedder

    return CachedEmbedder(embedder, cache)


def _show(run: Invocation, log: Path, seed: int | None, *, markdown: bool) -> None:
    from mnemic.lab.kit.run_report import report as made_from
    from mnemic.lab.kit.run_report import show

    form = "json" if run.output.json else "markdown" if markdown else None if run.output.color else "plain"
    show(made_from(log, seed=seed), sys.stdout, form)


def _form(run: Invocation, *, markdown: bool) -> str | None:
    return "json" if run.output.json else "markdown" if markdown else None


def _show_sweep(
    run: Invocation, log: Path, plots: Path | None = None, *, seed: int | None = None, markdown: bool = False
) -> list[Figure]:
    """Show a sweep; what it came to beside its bars."""
    from mnemic.lab.tasks.capacity.capacity_report import bars, read_sweep, show_sweep, write_csv

    swept = read_sweep(log, seed=seed)
    show_sweep(swept, sys.stdout, _form(run, markdown=markdown))
    _note_files(run, log, write_csv(swept, log.with_suffix(".csv")))
    if plots is not None:
        from mnemic.lab.tasks.capacity.capacity_plots import draw_sweep

        _note_pictures(run, draw_sweep(swept, plots))
    return bars(swept)


def _show_hotpot(
    run: Invocation, log: Path, plots: Path | None = None, *, seed: int | None = None, markdown: bool = False
) -> list[Figure]:
    """Show a run over questions; what it came to beside its bar."""
    from mnemic.lab.tasks.capacity.hotpot_report import bars, read_capacities, show_capacities, write_csv

    made = read_capacities(log, seed=seed)
    show_capacities(made, sys.stdout, _form(run, markdown=markdown))
    _note_files(run, log, write_csv(made, log.with_suffix(".csv")))
    if plots is not None:
        from mnemic.lab.tasks.capacity.capacity_plots import draw_capacities

        _note_pictures(run, draw_capacities(made, plots))
    return bars(made)


def _note_files(run: Invocation, log: Path, figures: Path) -> None:
    run.output.note(f"log: {log}, figures: {figures}")


def _note_pictures(run: Invocation, drawn: Sequence[Path]) -> None:
    run.output.note(f"pictures: {', '.join(map(str, drawn))}")


for _command in (gc, locomo, multihop, capacity, hotpot, asked, report, speed, busy, paging, retention_train, session):
    bench.add_command(_command)
