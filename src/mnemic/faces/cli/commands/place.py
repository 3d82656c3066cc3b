"""`place`: which PostgreSQL server keeps which tenants, and moving them while they are used."""

from __future__ import annotations

import click

from mnemic.faces.cli.bars import progress
from mnemic.faces.cli.command import WORDS, CommandGroup, verb
from mnemic.faces.cli.invocation import invocation
from mnemic.faces.cli.output import flat, many


@click.group(
    cls=CommandGroup,
    examples=("mnemic place add two postgresql://mnemic@two.example/memory", "mnemic place move 890 two"),
)
def place() -> None:
    """Which PostgreSQL server keeps which tenants, and moving them while they are used.

    The store that is named (--store) has the table, and is the first server. A tenant belongs to one of 4,096 buckets
    for good, by its name.
    """


@verb(
    "mnemic --store postgresql://mnemic@one.example/memory place add one postgresql://mnemic@one.example/memory",
    "mnemic place add two postgresql://mnemic@two.example/memory --json",
)
@click.argument("name", type=WORDS)
@click.argument("url", type=WORDS)
def add(name: str, url: str) -> None:
    """Add a server, empty and without buckets; the first is the store itself, with all of them.

    No password may stand in the URL: each program has it in PGPASSWORD or ~/.pgpass.
    """
    from mnemic.placement import add_server

    run = invocation()
    table = add_server(run.where, name, url, settings=run.settings)
    run.output.answer(
        {"servers": dict(table.servers), "epoch": table.epoch},
        f"server {flat(name)} is in the placement, one of {many(len(table.servers), 'server')}",
    )


@verb("mnemic place list", "mnemic place list --json", name="list")
def listed() -> None:
    """Every server, how many buckets it keeps, and which are on their way."""
    from mnemic.placement import read_servers
    from mnemic.store.values.buckets import BUCKETS

    run = invocation()
    table = read_servers(run.where, settings=run.settings)
    kept = {name: sum(each == name for each in table.moved.values()) for name in table.servers}
    kept[table.first] = BUCKETS - len(table.moved)
    if run.output.json:
        servers = [{"name": name, "url": url, "buckets": kept[name]} for name, url in table.servers.items()]
        moving = [{"bucket": bucket, "to": to} for bucket, to in sorted(table.moving.items())]
        run.output.document({"servers": servers, "moving": moving, "epoch": table.epoch})
        return
    run.output.table(
        [(flat(name), f"{kept[name]:,}", flat(url)) for name, url in table.servers.items()],
        head=("server", "buckets", "where"),
    )
    for bucket, to in sorted(table.moving.items()):
        run.output.line(f"bucket {bucket} is on its way to {flat(to)}: `mnemic place move {bucket} {flat(to)}` goes on")


@verb("mnemic place show acme", "mnemic place show default --json")
@click.argument("name", metavar="TENANT", type=WORDS)
def show(name: str) -> None:
    """The bucket of a tenant, and the server that keeps it; whether there is one of this name is not looked at."""
    from mnemic.placement import read_servers
    from mnemic.store.values.buckets import bucket_of

    run = invocation()
    table, bucket = read_servers(run.where, settings=run.settings), bucket_of(name)
    server, to = table.server_of(bucket), table.moving.get(bucket)
    run.output.answer(
        {"tenant": name, "bucket": bucket, "server": server, "url": table.servers[server], "moving_to": to},
        f"tenant {flat(name)} is in bucket {bucket}, which server {flat(server)} keeps: {flat(table.servers[server])}",
        *([f"it is on its way to {flat(to)}"] if to else []),
    )


@verb("mnemic place move 890 two", "mnemic place move 890 two --json")
@click.argument("bucket", type=int)
@click.argument("server", type=WORDS)
def move(bucket: int, server: str) -> None:
    """Move the tenants of a bucket to a server while they are read and written.

    Each is copied, brought up to date, fenced for a moment, and taken out where it was. Cut short, the same command
    goes on; a tenant that was just between the two can be used again when it has.
    """
    from mnemic.placement import move_bucket

    run = invocation()
    placed = []
    with progress(run) as report:
        for tenant in move_bucket(run.where, bucket, server, settings=run.settings, progress=report):
            placed.append(tenant)
    run.output.answer(
        {
            "bucket": bucket,
            "to": server,
            "tenants": [
                {"tenant": each.tenant, "commits": each.commits, "rounds": each.rounds, "fenced": round(each.fenced, 3)}
                for each in placed
            ],
            "seconds": round(run.seconds, 3),
        },
        f"bucket {bucket} is on server {flat(server)}: {many(len(placed), 'tenant')} moved in {run.seconds:.2f} s",
        *(
            f"  {flat(each.tenant)}: {many(each.commits, 'commit')}, nobody could write for {each.fenced:.2f} s"
            for each in placed
        ),
    )


for _command in (add, listed, show, move):
    place.add_command(_command)
