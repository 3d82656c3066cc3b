"""`bench session`: what a talk costs in a small window, and how much of each window a prefix cache keeps."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mnemic.errors import Invalid
from mnemic.faces.cli.bars import hold_to_bars, listed, progress
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import errand

if TYPE_CHECKING:
    from mnemic.faces.cli.invocation import Errand
    from mnemic.lab.prefix import Prefix, Told
    from mnemic.lab.session import LongTalk


@verb(
    "mnemic bench session --tokens 20000",
    "mnemic bench session --tokens 20000 --csv stretches.csv --json",
    "mnemic bench session locomo10.json --skip-long --limit 5 --policy lru,arc",
    name="session",
)
@click.argument("path", type=click.Path(path_type=Path, exists=True, dir_okay=False), required=False)
@click.option("--tokens", type=click.IntRange(10_000), default=1_000_000, show_default=True, help="Of the long talk.")
@click.option("--budget", type=click.IntRange(256), default=4_000, show_default=True, help="Tokens of the window.")
@click.option("--every", type=click.IntRange(1), default=4, show_default=True, help="Turns between two questions.")
@click.option("--policy", type=WORDS, help="Which page leaves first; for PATH several, separated by commas.")
@click.option("--limit", type=click.IntRange(1), help="Ask only the first so many questions of PATH.")
@click.option("--skip-long", is_flag=True, help="Only the conversations of PATH.")
@click.option("--csv", "sheet", type=click.Path(path_type=Path), help="The stretches of the long talk, as a sheet.")
@click.option("--embedder", type=WORDS, default="none", show_default=True, help="For PATH; `auto`: the best there is.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the talk, and of when questions are asked.")
def session(
    path: Path | None,
    tokens: int,
    budget: int,
    every: int,
    policy: str | None,
    limit: int | None,
    skip_long: bool,
    sheet: Path | None,
    embedder: str,
    seed: int,
) -> None:
    """A talk of a million tokens in a small window; and, of LoCoMo at PATH, how much of each window is reused.

    A bar that is missed decides the exit code where as much is measured as the bars are stated for.
    """
    if path is None and (skip_long or limit is not None):
        raise Invalid("path", "is missing", "Name the conversations, or leave --skip-long and --limit out.")
    from mnemic.lab.session_report import figures, show, write_csv

    run = errand()
    named = listed(policy or run.settings.policy)
    with progress(run) as told:
        long = None if skip_long else _spoken(tokens, budget, every, named[0], seed, told)
        played = [] if path is None else _played(run, path, named, budget, embedder, seed, limit, told)
    if sheet is not None and long is not None:
        write_csv(long, sheet)
    must = figures(long, played, budget=budget, whole=limit is None)
    show(long, played, must, sys.stdout, as_json=run.paper.json)
    hold_to_bars(must)


def _spoken(tokens: int, budget: int, every: int, policy: str, seed: int, told: Told) -> LongTalk:
    from tempfile import TemporaryDirectory

    from mnemic.lab.session import long_talk

    with TemporaryDirectory() as folder:
        where = str(Path(folder) / "memory.db")
        return long_talk(where, tokens=tokens, budget=budget, every=every, policy=policy, seed=seed, told=told)


def _played(
    run: Errand,
    path: Path,
    policies: list[str],
    budget: int,
    embedder: str,
    seed: int,
    limit: int | None,
    told: Told,
) -> list[Prefix]:
    from mnemic.lab.datasets import load
    from mnemic.lab.prefix import prefix
    from mnemic.models.opening import open_embedder

    reader, data = open_embedder(embedder, run.settings), load(path)
    return [
        prefix(data, budget=budget, policy=one, seed=seed, embedder=reader, told=told, limit=limit) for one in policies
    ]
