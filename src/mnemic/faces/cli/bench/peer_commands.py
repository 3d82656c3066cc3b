"""`bench peers`: memories of others, whether they are installed, and the table that holds them beside mnemic."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from mnemic.core.checking import did_you_mean
from mnemic.errors import Invalid
from mnemic.faces.cli.bench.bench_options import FILE, NAMES
from mnemic.faces.cli.command import verb
from mnemic.faces.cli.invocation import invocation

FAILED: Final = 9
"""Left with where an environment could not be made."""


@verb("mnemic bench peers", "mnemic bench peers --json")
@click.option("--install", is_flag=True, help="Make their environments, from the package index: some 0.5 GB each.")
@click.option("--only", type=NAMES, default=(), help="Only these, by commas.")
@click.option("--of", "log", type=FILE, help="Instead: the table of a log of `bench run`, for a page.")
def peers(install: bool, only: Sequence[str], log: Path | None) -> None:
    """Memories that others have published: their versions and settings, and whether they can take part.

    Each lies in an environment of its own below MNEMIC_HOME/cache/peers, which --install makes, and `bench run` too
    where a peer is named by --with. One that cannot be installed decides the exit code.
    """
    from mnemic.lab.contestants.peer_contestant import PEERS, environments, make_ready

    run = invocation()
    if log is not None:
        from mnemic.lab.kit.peer_table import peer_tables

        print("\n\n".join(peer_tables(log)))
        return
    known = [peer.name for peer in PEERS]
    if unknown := [name for name in only if name not in known]:
        raise Invalid("only", f"{unknown[0]!r} is no peer", did_you_mean(unknown[0], known))
    chosen = [peer for peer in PEERS if peer.name in (only or known)]
    folder = environments(run.settings)
    failed = {}
    if install:
        names = [peer.name for peer in chosen]
        failed = make_ready(names, run.settings, lambda said: run.output.note(f"{said} ..."))
    rows = []
    for peer in chosen:
        state = "does not run" if peer.unfit else "ready" if peer.environment.is_made(folder) else "not installed"
        why = peer.unfit or failed.get(peer.name, "")
        row = {"name": peer.name, "package": peer.package, "settings": peer.settings, "state": state, "why": why}
        rows.append(row)
    if run.output.json:
        run.output.document({"peers": rows})
    else:
        for row in rows:
            print(f"{row['name']:16} {row['package']:36} {row['state']}{': ' if row['why'] else ''}{row['why']}")
            if row["settings"]:
                print(f"{'':16} {row['settings']}")
    if failed:
        click.get_current_context().exit(FAILED)
