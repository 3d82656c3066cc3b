"""`checkpoint`, `checkpoints`: copies beside the store, which it knows by name."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.errors import Invalid
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import errand
from mnemic.faces.cli.output import flat, size

if TYPE_CHECKING:
    from mnemic.past.timekeeping import Checkpoint


@verb("mnemic checkpoint monthly", "mnemic checkpoint --json", "mnemic checkpoint --drop before-import")
@click.argument("name", type=WORDS, required=False)
@click.option("--drop", is_flag=True, help="Let this one go, with its file.")
def checkpoint(name: str | None, drop: bool) -> None:
    """Copy the whole store to `checkpoints` beside it, while it is in use.

    Left without a name it is called after the moment. While it is kept, the past behind it is not compacted.
    """
    run = errand()
    if drop and name is None:
        raise Invalid("name", "is missing", "Say which checkpoint is to go: `mnemic checkpoints` lists them.")
    if name is not None and not name.strip():
        raise Invalid("name", "is empty", "Give it one, or leave it out.")
    began = time.perf_counter()
    with run.memory() as memory:
        if drop:
            memory.admin.drop_checkpoint(str(name))
            run.paper.document({"dropped": name}) if run.paper.json else run.paper.line(f"dropped {flat(str(name))}")
            return
        made = memory.admin.checkpoint(name or "", tenant=run.tenant)
    took = time.perf_counter() - began
    if run.paper.json:
        run.paper.document({**_record(made), "seconds": round(took, 3)})
    else:
        run.paper.line(f"wrote {made.path}: {size(made.path.stat().st_size)} of commit {made.seq} in {took:.2f} s")
        run.paper.line(f"bring it back: mnemic restore {shlex.quote(flat(made.name))}")


@verb("mnemic checkpoints", "mnemic checkpoints --json")
def checkpoints() -> None:
    """The checkpoints that are kept, by commit."""
    run = errand()
    with run.memory() as memory:
        found = memory.admin.checkpoints(tenant=run.tenant)
    for one in found:
        if run.paper.json:
            run.paper.record(_record(one))
        else:
            gone = "" if one.there else "  (its file is gone)"
            run.paper.line(f"{flat(one.name)}  commit {one.seq}  {one.at:%Y-%m-%d %H:%M} UTC  {one.path}{gone}")
    if not found:
        run.paper.note("no checkpoints; `mnemic checkpoint` makes one")


def _record(one: Checkpoint) -> dict[str, Any]:
    return {
        "name": one.name,
        "seq": one.seq,
        "at": one.at,
        "state_hash": one.hash,
        "path": str(one.path),
        "there": one.there,
    }


COMMANDS: Final = {command.name: command for command in (checkpoint, checkpoints)}
