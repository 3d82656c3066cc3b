"""`cube`: one memory as one file, with what models have computed of it: written, and brought in elsewhere."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.faces.cli.bars import progress
from mnemic.faces.cli.command import WORDS, CommandGroup, verb
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.faces.cli.output import flat, many, size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mnemic.core.items import Slot
    from mnemic.cubes.scope_cube import SetAside

_FATES: Final = {
    "written": "new here",
    "updated": "brought up to date",
    "there": "already there",
    "changed_here": "changed here, and left so",
    "erased_here": "erased here, and stay away",
    "unfounded": "rest on what is not here, and stay away",
    "choice": "say which strategies are followed: choose here with `mnemic follow`",
}


@click.group(
    cls=CommandGroup,
    examples=("mnemic cube export ada.cube", "mnemic --store copy.db cube import ada.cube"),
)
def cube() -> None:
    """One memory as one file: its text, and what models have computed of it.

    A zip with nothing compressed: a manifest, the journal as lines of JSON, adapters, and caches if they are asked for.
    What is erased later stays in such a file, as in a backup.
    """


@verb("mnemic cube export ada.cube", "mnemic cube export with-caches.cube --caches --json", name="export")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--caches", is_flag=True, help="Also what models can make again: keys and values of prompts.")
def exported(file: Path, caches: bool) -> None:
    """Write this memory to a new file, while it is in use.

    FILE is never overwritten. Items go along in whatever state, with earlier versions and links; windows, counts of
    use, legal holds and what is shared do not.
    """
    run = invocation()
    with run.user_memory() as me, progress(run) as report:
        done = me.export_cube(file, caches=caches, progress=report)
    run.output.answer(
        {
            "path": str(done.path.absolute()),
            "bytes": done.bytes,
            "commit": done.seq,
            "items": done.items,
            "links": done.links,
            "artefacts": done.artefacts,
            "aside": _records(done.aside),
        },
        f"wrote {flat(str(done.path))}: {many(done.items, 'item')}, {many(done.artefacts, 'artefact')}, "
        f"{size(done.bytes)}",
        *_asides(done.aside),
        f"bring it in elsewhere: mnemic --store OTHER cube import {flat(str(done.path))}",
    )


@verb(
    "mnemic --store copy.db cube import ada.cube",
    "mnemic --store copy.db cube import ada.cube --json",
    "mnemic cube import ada.cube --model smollm2 --caches",
    name="import",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--caches", is_flag=True, help="Also what models can make again: keys and values of prompts.")
@click.option("--model", type=WORDS, metavar="NAME", help="A GGUF file, or smollm2 (left out: setting `model`).")
def imported(file: Path, caches: bool, model: str | None) -> None:
    """Bring such a file into this memory; run again, it adds nothing.

    It is checked whole before anything is written. Text always comes, in one commit; what was computed by another model
    than --model names is set aside, and told. What was changed here stays so, what was erased here stays away. It is
    believed as a backup is: import none from whom you would not take one.
    """
    run = invocation()
    made_by = _identity(run, model)
    if not run.exists:
        _check_first(run, file)
    with run.user_memory(create=True) as me, progress(run) as report:
        done = me.import_cube(file, caches=caches, made_by=made_by, progress=report)
    came = [f"  {count:,} {_FATES[fate]}" for fate, count in done.items.items()]
    commit = "nothing was new" if done.seq is None else f"commit {done.seq} (take it back: mnemic undo {done.seq})"
    run.output.answer(
        {
            "commit": done.seq,
            "items": dict(done.items),
            "links": done.links,
            "masked": done.masked,
            "artefacts": list(done.artefacts),
            "artefacts_there": done.there,
            "aside": _records(done.aside),
        },
        f"{many(sum(done.items.values()), 'item')} of {flat(str(file))}: {commit}",
        *came,
        f"{many(len(done.artefacts), 'artefact')} brought in, {done.there:,} there already",
        *_asides(done.aside),
    )


for _command in (exported, imported):
    cube.add_command(_command)


def _check_first(run: Invocation, file: Path) -> None:
    """Refuse what cannot be brought in before a store is made for it."""
    from mnemic.memory import Memory

    with Memory("memory:", settings=run.settings) as nowhere, progress(run) as report:
        run.scoped(nowhere).check_cube(file, progress=report)


def _identity(run: Invocation, model: str | None) -> Mapping[str, Slot] | None:
    """What the model in this process says of itself; None where none is set that runs here."""
    named = run.settings.model if model is None else model
    if not named:
        return None
    from mnemic.models.chat.gguf import Gguf
    from mnemic.models.model_opening import open_chat

    engine = open_chat(named, run.settings)
    return engine.identity if isinstance(engine, Gguf) else None


def _records(aside: Sequence[SetAside]) -> list[dict[str, Any]]:
    return [{"id": one.id, "mechanism": one.mechanism, "reason": one.reason} for one in aside]


def _asides(aside: Sequence[SetAside]) -> list[str]:
    counts = Counter((one.mechanism, one.reason) for one in aside)
    return [f"  set aside: {count:,} {flat(mechanism)}, {flat(why)}" for (mechanism, why), count in counts.items()]
