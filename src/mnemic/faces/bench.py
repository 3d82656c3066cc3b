"""`bench`: the laboratory from the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mnemic.faces.errand import Errand, errand
from mnemic.faces.verb import WORDS, Verbs, verb

if TYPE_CHECKING:
    from mnemic.models.base import Embedder


@click.group(
    cls=Verbs,
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
    from mnemic.lab.locomo import bench_locomo

    run = errand()
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
    run.paper.note(f"log: {log} (the same tables again: mnemic bench report {log})")


@verb("mnemic bench report runs/run.jsonl", "mnemic bench report runs/run.jsonl --markdown")
@click.argument("log", type=click.Path(path_type=Path))
@click.option("--seed", type=int, help="Of the bootstrap (left out: the run's own).")
@click.option("--markdown", is_flag=True, help="Tables for a page.")
def report(log: Path, seed: int | None, markdown: bool) -> None:
    """The tables of a run, recomputed from its LOG."""
    _show(errand(), log, seed, markdown=markdown)


@verb("mnemic bench speed --items 2000 --turns 200 --rounds 2 --questions 20")
@click.option("--items", type=click.IntRange(1), default=100_000, show_default=True, help="Items recalled from.")
@click.option("--turns", type=click.IntRange(1), default=10_000, show_default=True, help="Turns taken in at once.")
@click.option("--rounds", type=click.IntRange(1), default=30, show_default=True, help="Rounds of single writes.")
@click.option("--questions", type=click.IntRange(1), default=1_000, show_default=True, help="Questions asked.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the made-up text.")
def speed(items: int, turns: int, rounds: int, questions: int, seed: int) -> None:
    """Writes, group commit, bulk intake and recall, each beside its bar, on files in a temporary folder."""
    from mnemic.lab.speed import Size, bench_speed, show

    run = errand()
    measured = Size(items=items, users=max(items // 100, 1), turns=turns, rounds=rounds, questions=questions, seed=seed)
    show(bench_speed(measured, lambda part: run.paper.note(f"{part} ...")), sys.stdout, as_json=run.paper.json)


@verb("mnemic bench asked data --embedder none")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--embedder", type=WORDS, default="auto", show_default=True, help="`none` for words alone.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder that keeps vectors from run to run.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
def asked(folder: Path, embedder: str, cache: Path | None, seed: int) -> None:
    """Our own questions: Chinese, across languages, and things that were never said; FOLDER holds the dialogues."""
    from mnemic.lab.asked import bench_asked, show

    run = errand()
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
    from mnemic.lab.multihop import bench_multihop, entrant, table
    from mnemic.lab.tables import aligned

    run = errand()
    make = entrant(_embedder(run, embedder, cache), _names(without or ""), untitled=untitled)
    print(aligned(table(path.name, bench_multihop(path, make=make, limit=limit))))


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _embedder(run: Errand, named: str, cache: Path | None) -> Embedder | None:
    from mnemic.models.opening import open_embedder

    embedder = open_embedder(named, run.settings)
    if embedder is None or cache is None:
        return embedder
    from mnemic.lab.cached import CachedEmbedder

    return CachedEmbedder(embedder, cache)


def _show(run: Errand, log: Path, seed: int | None, *, markdown: bool) -> None:
    from mnemic.lab.report import report as made_from
    from mnemic.lab.tables import show

    form = "json" if run.paper.json else "markdown" if markdown else None if run.paper.color else "plain"
    show(made_from(log, seed=seed), sys.stdout, form)


@contextmanager
def _progress(run: Errand) -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each system on a terminal's standard error; silence elsewhere."""
    if run.paper.json or not sys.stderr.isatty():
        yield lambda system, done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True, no_color=not run.paper.color), transient=True) as bar:
        tasks: dict[str, object] = {}

        def tell(system: str, done: int, total: int) -> None:
            if system not in tasks:
                tasks[system] = bar.add_task(system, total=total)
            bar.update(tasks[system], completed=done, total=total)  # type: ignore[arg-type]

        yield tell


for _command in (locomo, multihop, asked, report, speed):
    bench.add_command(_command)

COMMANDS: Final = {"bench": bench}
