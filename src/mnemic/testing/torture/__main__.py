"""`python -m mnemic.testing.torture`: run the tortures and say what they found."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Final

import click

from mnemic.testing.torture import (
    Report,
    collecting,
    failover,
    imports,
    ioerror,
    kill,
    postgres,
    power,
    processes,
    times,
    workers,
)
from mnemic.testing.torture.subject import SUBJECTS

RUNS: Final[dict[str, Callable[..., Report]]] = {
    "kill": kill,
    "power": power,
    "ioerror": ioerror,
    "processes": processes,
    "import": imports,
    "times": times,
    "workers": workers,
    "collecting": collecting,
    "postgres": postgres,
}


@click.command(epilog="Example: scripts/torture kill --runs 300 --seed 1")
@click.argument("which", type=click.Choice([*RUNS, "all"]))
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    help="Kills, images, lives, writes a writer or megabytes; each run has its default.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Starts every random choice.")
@click.option(
    "--subject", type=click.Choice(list(SUBJECTS)), default="memory", show_default=True, help="What is tortured."
)
@click.option("--json", "as_json", is_flag=True, help="One line of JSON a run, in place of a table.")
@click.option(
    "--failover", "over", is_flag=True, help="With `postgres`: promote a standby each time, and bring the other back."
)
def main(which: str, runs: int | None, seed: int, subject: str, as_json: bool, over: bool) -> None:
    """Hurt the engine and check what it promised. Exits with 1 if a promise was broken.

    `all` is all of a file's; `postgres` needs a server's programs.
    """
    if over and which != "postgres":
        raise click.UsageError("--failover is of `postgres`")
    os.nice(10)
    passed = True
    for name in [run for run in RUNS if run != "postgres"] if which == "all" else [which]:
        begun = time.perf_counter()
        torture = failover if over else RUNS[name]
        report = torture(**({} if runs is None else {"runs": runs}), seed=seed, name=subject)
        passed = passed and report.passed
        click.echo(report.json() if as_json else f"{report.table()}\n{time.perf_counter() - begun:.1f} s\n")
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
