"""`backup`, `restore`, `checkpoint`, `checkpoints`, `export`, `load`, `move`: a store copied whole, or brought back."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from mnemic.core.listing import all_of
from mnemic.errors import Conflict, Invalid, MnemicError, NotFound, StoreCorrupt
from mnemic.faces.cli.bars import progress
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.faces.cli.output import encoded, flat, many, size
from mnemic.operations.records import link_record, version_record

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.memory import Memory, ScopedMemory
    from mnemic.past.holdings import Holding
    from mnemic.timekeeping import Checkpoint


@verb("mnemic backup memory-backup.db", "mnemic backup memory-backup.db --json")
@click.argument("dest", type=click.Path(path_type=Path))
def backup(dest: Path) -> None:
    """Copy the whole store to a new file, while it is in use.

    DEST is never overwritten. A store on a PostgreSQL server is backed up by the server's own tools (`pg_basebackup`,
    `pg_dump`: docs/postgresql.md says by which role); `mnemic move URL FILE` makes a file of all that it holds.
    """
    run = invocation()
    _folder(dest)
    with run.memory() as memory:
        made = memory.admin.backup(dest)
    took, written = run.seconds, made.stat().st_size
    run.output.answer(
        {"path": str(made.absolute()), "bytes": written, "seconds": round(took, 3)},
        f"wrote {made}: {size(written)} in {took:.2f} s",
        f"bring it back: mnemic restore {made}",
    )


@verb(
    "mnemic restore memory-backup.db --yes",
    "mnemic --store other.db restore memory-backup.db --no-tombstones",
    "mnemic restore --to 1 --yes",
    "mnemic restore before-import --yes",
    says={"time": "to"},
)
@click.argument("name", metavar="[BACKUP|NAME]", required=False, type=WORDS)
@click.option("--to", type=WORDS, metavar="SEQ|WHEN", help="As it was after this commit, or at this recorded moment.")
@click.option("--no-tombstones", is_flag=True, help="There is no store here whose erasures must be kept.")
@click.option("--no-checkpoint", is_flag=True, help="Keep no copy of the store as it is now.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before a store is replaced.")
def restore(name: str | None, to: str | None, no_tombstones: bool, no_checkpoint: bool, yes: bool) -> None:
    """Put a backup or a checkpoint in the store's place; --to goes back to a commit.

    BACKUP is a file, NAME a checkpoint of this store: `mnemic checkpoints` lists them. With --to and neither, the store
    itself goes back to an earlier commit. What was erased here since stays erased. In any case a checkpoint of
    the store as it is now is taken first, if it can be read, and named.
    """
    from mnemic.store.offline import source_of

    run = invocation()
    back = int(to) if to is not None and to.isascii() and to.isdigit() else to
    if run.path is None:
        raise Invalid("store", f"{run.shown_where} is not a file", "Restore into a file: --store PATH.")
    if name is None:
        _rewind(run, back, keep=not no_checkpoint, yes=yes)
        return
    source = source_of(name, run.path)
    if run.exists and not run.confirm(f"Replace {run.path} by {source}?", yes=yes):
        run.output.note("nothing was changed")
        return
    began = time.perf_counter()
    checkpoint = None if no_checkpoint or not run.exists else _checkpoint_before(run)
    again = _put_back(run, source, run.path, back, checkpoint, no_tombstones=no_tombstones)
    took, seq = time.perf_counter() - began, _last(run.path, run.tenant)
    record = {"store": str(run.path), "seq": seq, "erased_again": again}
    erased = f"{many(again, 'item')} erased again"
    run.output.answer(
        {**record, "checkpoint": checkpoint and str(checkpoint.path), "seconds": round(took, 3)},
        f"restored {run.path} from {source} as of commit {seq} in {took:.2f} s; {erased}",
        *_way_back(checkpoint),
    )


def _checkpoint_before(run: Invocation) -> Checkpoint | None:
    """Take a checkpoint of the store that is about to be replaced; None, with a note, if it cannot be read."""
    try:
        with run.memory() as memory:
            of_this = memory.admin.users(tenant=run.tenant, limit=1)
            for row in of_this or memory.admin.users(limit=1):
                return memory.admin.checkpoint(tenant=row.tenant)
            why = "it is empty"
    except StoreCorrupt as error:
        why = str(error)
    run.output.note(f"no checkpoint was taken of {run.path}: {why}")
    return None


def _put_back(
    run: Invocation,
    source: Path,
    path: Path,
    to: int | str | None,
    checkpoint: Checkpoint | None,
    *,
    no_tombstones: bool,
) -> int:
    """Restore; return how many items were erased again. If that fails, drop the checkpoint taken before it."""
    from mnemic.admin import restore as put_back

    try:
        return put_back(source, path, without_tombstones=no_tombstones, to=to, tenant=run.tenant, settings=run.settings)
    except MnemicError:
        if checkpoint is not None:
            with run.memory() as memory:
                memory.admin.drop_checkpoint(checkpoint.name)
        raise


def _last(path: Path, tenant: str) -> int:
    """Read the number of a tenant's last commit in a store; 0 if it has none."""
    from mnemic.store.offline import head_of

    return head_of(path, tenant)


def _way_back(checkpoint: Checkpoint | None) -> list[str]:
    return [] if checkpoint is None else [f"as it was before: mnemic restore {checkpoint.name}"]


def _rewind(run: Invocation, to: int | str | None, *, keep: bool, yes: bool) -> None:
    if to is None:
        raise Invalid("backup", "is missing", "Name a file that `mnemic backup` made, a checkpoint, or say --to SEQ.")
    with run.memory() as memory:
        to = memory.admin.commit_at(to, tenant=run.tenant)  # before a checkpoint is taken for nothing
        if not run.confirm(f"Bring {run.path} back to commit {to}, without what came after?", yes=yes):
            run.output.note("nothing was changed")
            return
        checkpoint = memory.admin.checkpoint(tenant=run.tenant) if keep else None
        done = memory.admin.rewind(to, tenant=run.tenant)
    took = run.seconds
    record = {"store": str(run.path), "seq": done.seq, "versions": done.versions, "erased_again": done.erased}
    run.output.answer(
        {**record, "checkpoint": checkpoint and str(checkpoint.path), "seconds": round(took, 3)},
        f"{run.path} is as it was after commit {done.seq}: {many(done.versions, 'version')} went, {took:.2f} s",
        *_way_back(checkpoint),
    )


@verb(
    "mnemic export > journal.jsonl",
    "mnemic export --out journal.jsonl",
    "mnemic export --user zoe --out zoe.jsonl",
)
@click.option("-o", "--out", type=click.Path(path_type=Path), help="A new file, in place of standard output.")
def export(out: Path | None) -> None:
    """The journal with all it holds, as lines of JSON; with --user, all of one person.

    The journal is the whole tenant's; `load` reads it. Legal holds do not go along: place them where it is loaded. With
    --user it is a copy to read and to hand out: a line for each item, in whatever state, with its earlier versions, its
    links and its uses, branches included.
    """
    run = invocation()
    with run.memory() as memory:
        lines = memory.admin.export(run.tenant) if run.options.user is None else _remembered_of(run, memory)
        if out is None:
            _pour(lines, sys.stdout.buffer)
        else:
            with _fresh(out) as file:
                count = _pour(lines, file)
    if out is not None:
        run.output.answer({"path": str(out.absolute()), "lines": count}, f"wrote {out}: {many(count, 'line')}")


def _remembered_of(run: Invocation, memory: Memory) -> Iterator[bytes]:
    """All that is remembered of the user who was named, as lines: their items, then those of branches.

    Raises:
        NotFound: nothing is.
    """
    me = run.scoped(memory).on_branch("")
    if not me.holdings(limit=1):
        raise NotFound(f"nothing is remembered of {run.user!r} in tenant {run.tenant!r}")
    return _user_lines(run.user, me)


def _user_lines(user: str, me: ScopedMemory) -> Iterator[bytes]:
    shown: set[tuple[ItemId, int]] = set()
    for branch in ("", *[branch_row.name for branch_row in all_of(me.branches)]):
        for held in all_of(me.on_branch(branch).holdings):
            stands = held.version.item.id, held.version.seq_from
            if stands not in shown:  # a branch shows much of what it came off
                shown.add(stands)
                yield _holding_line(user, branch or None, held)


def _holding_line(user: str, branch: str | None, held: Holding) -> bytes:
    uses = held.strength
    record = {
        "user": user,
        "branch": branch,
        "item": version_record(held.version),
        "versions": [version_record(version) for version in held.earlier],
        "links": [link_record(link) for link in held.links],
        "uses": {"shown": uses.uses, "useful": uses.useful, "misled": uses.harms, "last": uses.last_used},
    }
    return encoded(record).encode() + b"\n"


def _pour(lines: Iterator[bytes], into: BinaryIO) -> int:
    count = 0
    for line in lines:
        into.write(line)
        count += 1
    into.flush()
    return count


def _folder(path: Path) -> None:
    """Refuse a new file in a folder that is not there: a slip of the pen makes no folders."""
    parent = path.expanduser().absolute().parent
    if not parent.is_dir():
        raise NotFound(f"there is no folder {parent}; make it first, or name a file elsewhere")


def _fresh(path: Path) -> BinaryIO:
    _folder(path)
    try:
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    except FileExistsError as error:
        raise Conflict(f"{path} is there already, and is not overwritten; name another file") from error


@verb(
    "mnemic --store copy.db load journal.jsonl",
    "mnemic export | mnemic --store copy.db load -",
    "mnemic load journal.jsonl --tenant other",
)
@click.argument("path", type=click.Path(allow_dash=True))
def load(path: str) -> None:
    """Bring an exported journal into a store, as a tenant beside those that are there.

    Ids, times and hashes stay as they were. The tenant is called as it was, or as --tenant says; one that is here
    already is never loaded into. All of it is taken or nothing, and who else writes waits meanwhile.
    """
    run = invocation()
    with _lines(path) as lines, run.memory(create=True) as memory, progress(run) as report:
        loaded = memory.admin.load(
            lines, tenant=run.options.tenant, progress=lambda done, of: report("commits", done, of)
        )
    took = run.seconds
    run.output.answer(
        {"store": run.shown_where, "tenant": loaded.tenant, "commits": loaded.commits, "seconds": round(took, 3)},
        f"loaded {many(loaded.commits, 'commit')} of tenant {flat(loaded.tenant)} into {run.shown_where}"
        f" in {took:.2f} s",
    )


@verb(
    "mnemic move memory-backup.db postgresql://mnemic@db.example/memory",
    "mnemic move postgresql://mnemic@db.example/memory copy.db",
    "mnemic move memory-backup.db copy.db --tenant default --json",
)
@click.argument("source", metavar="FROM", type=WORDS)
@click.argument("dest", metavar="TO", type=WORDS)
def move(source: str, dest: str) -> None:
    """Move tenants from one store to another: a file to a PostgreSQL server, or back.

    All tenants, or the one that --tenant names. Unlike an export it carries vectors, windows, jobs, holds and access
    keys too: nothing is embedded again. Cut short, nothing half is seen in TO, and the same command goes on. Let nobody
    write to FROM meanwhile; it keeps everything as it was.
    """
    from mnemic.admin import move as move_tenants
    from mnemic.store.urls import shown

    run = invocation()
    named = () if run.options.tenant is None else (run.options.tenant,)
    moved = []
    with progress(run) as report:
        for tenant in move_tenants(source, dest, named, settings=run.settings, progress=report):
            moved.append(tenant)
    took = run.seconds
    run.output.answer(
        {
            "from": shown(source),
            "to": shown(dest),
            "tenants": [
                {"tenant": row.tenant, "commits": row.commits, "state_hash": row.state_hash, "moved_before": row.there}
                for row in moved
            ],
            "seconds": round(took, 3),
        },
        f"moved {many(len(moved), 'tenant')} to {shown(dest)} in {took:.2f} s",
        *(
            f"  {flat(row.tenant)}: " + ("was there already, unchanged" if row.there else many(row.commits, "commit"))
            for row in moved
        ),
        f"use it: export MNEMIC_STORE={shlex.quote(shown(dest))}",
    )


def _lines(path: str) -> BinaryIO:
    if path == "-":
        return sys.stdin.buffer
    try:
        return Path(path).open("rb")
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}") from error


@verb("mnemic checkpoint monthly", "mnemic checkpoint --json", "mnemic checkpoint --drop before-import")
@click.argument("name", type=WORDS, required=False)
@click.option("--drop", is_flag=True, help="Let this one go, with its file if it has one.")
def checkpoint(name: str | None, drop: bool) -> None:
    """Copy the whole store to `checkpoints` beside it, while it is in use.

    Left without a name it is called after the moment. While it is kept, the past behind it is not compacted. On a
    PostgreSQL server no file is made: it is a restore point in the server's log, for who recovers a base backup, and
    the role needs the right to set one; the refusal says how it is given.
    """
    run = invocation()
    if drop and name is None:
        raise Invalid("name", "is missing", "Say which checkpoint is to go: `mnemic checkpoints` lists them.")
    if name is not None and not name.strip():
        raise Invalid("name", "is empty", "Give it one, or leave it out.")
    with run.memory() as memory:
        if drop:
            memory.admin.drop_checkpoint(str(name))
            run.output.answer({"dropped": name}, f"dropped {flat(str(name))}")
            return
        made = memory.admin.checkpoint(name or "", tenant=run.tenant)
    took = run.seconds
    record = {**_record(made), "seconds": round(took, 3)}
    if made.path is None:
        run.output.answer(
            record,
            f"set restore point {made.point} in the server's log: commit {made.seq}, in {took:.2f} s",
            f"bring it back: the server's recovery of a base backup, with recovery_target_name = '{made.point}'",
        )
        return
    run.output.answer(
        record,
        f"wrote {made.path}: {size(made.path.stat().st_size)} of commit {made.seq} in {took:.2f} s",
        f"bring it back: mnemic restore {shlex.quote(flat(made.name))}",
    )


@verb("mnemic checkpoints", "mnemic checkpoints --json")
def checkpoints() -> None:
    """The checkpoints that are kept, by commit."""
    run = invocation()
    with run.memory() as memory:
        known = memory.admin.checkpoints(tenant=run.tenant)
    for checkpoint in known:
        if run.output.json:
            run.output.record(_record(checkpoint))
        else:
            gone = "" if checkpoint.there else "  (its file is gone)"
            run.output.line(
                f"{flat(checkpoint.name)}  commit {checkpoint.seq}  {checkpoint.at:%Y-%m-%d %H:%M} UTC  "
                f"{checkpoint.path or checkpoint.point}{gone}"
            )
    if not known:
        run.output.note("no checkpoints; `mnemic checkpoint` makes one")


def _record(checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "name": checkpoint.name,
        "seq": checkpoint.seq,
        "at": checkpoint.at,
        "state_hash": checkpoint.hash,
        "path": None if checkpoint.path is None else str(checkpoint.path),
        "point": checkpoint.point or None,
        "there": checkpoint.there,
    }
