"""`keys`: who may use this memory through a server, made, listed and revoked."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from mnemic.errors import Invalid
from mnemic.faces.cli.command import WORDS, CommandGroup, verb
from mnemic.faces.cli.invocation import invocation, naming_option
from mnemic.faces.cli.output import day, flat

if TYPE_CHECKING:
    from mnemic.credentials.keys import AccessKey


@click.group(cls=CommandGroup, examples=("mnemic keys create --name laptop", "mnemic keys list"))
def keys() -> None:
    """Access keys: who may use this memory through a server."""


@verb(
    "mnemic keys create --name laptop --user ada --right write --expires 90d",
    "mnemic keys create --name dashboard --right read --json",
    "mnemic keys create --name backend --any-user --shared --expires never",
    "mnemic keys create --name operator --any-user --right admin --expires '12 hours'",
)
@click.option(
    "--name", type=WORDS, required=True, help="Who acts by it, as the journal will call them: one key's name."
)
@click.option("--right", type=click.Choice(["read", "write", "admin"]), default="write", show_default=True,
              help="The most it may do; each includes those before it.")  # fmt: skip
@click.option("--any-user", is_flag=True, help="For every user of the tenant, whom each request names.")
@click.option("--shared", is_flag=True, help="It may write what the tenant shares.")
@click.option("--expires", type=WORDS, metavar="WHEN|SPAN|never", default="90d", show_default=True,
              help="When it ends: '12 hours', 2030-01-31T18:00Z, never.")  # fmt: skip
def create(name: str, right: str, any_user: bool, shared: bool, expires: str) -> None:
    """Make a key, and print it: this once, for the store keeps only its hash.

    It opens the memory of one user (--user; left out, setting `user`), or of any user of the tenant (--any-user), whom
    each request then names. A program sends it as `Authorization: Bearer mk_...` or `X-API-Key: mk_...`.
    """
    from mnemic.credentials.keys import end_of_key
    from mnemic.credentials.principal import Right

    run = invocation()
    if any_user and run.options.user is not None:
        raise Invalid("any-user", "comes with --user", "Say just one of them.")
    with naming_option("expires"):
        until = end_of_key("expires", expires)
    with run.memory(create=True) as memory:
        made = memory.keys.create(
            name, tenant=run.tenant, user=None if any_user else run.user, right=Right.named(right), expires=until,
            shared=shared, by=run.user,
        )  # fmt: skip
    run.output.answer({**_record(made.key), "key": made.text}, made.text)
    ends = "it never ends" if made.key.expires is None else f"it ends on {_ends(made.key)}"
    run.output.note(
        f"key {made.key.id} for {_whose(made.key)}; {ends}; it is shown this once, keep it where secrets are kept"
    )


@verb("mnemic keys list", "mnemic keys list --json", name="list")
def listed() -> None:
    """Every key of this tenant: whose, how much it may do, until when, when it was last used."""
    run = invocation()
    with run.memory() as memory:
        keys = memory.keys.list(run.tenant)
    if run.output.json:
        run.output.document({"keys": [_record(key) for key in keys]})
        return
    if not keys:
        run.output.line("there are no keys; `mnemic keys create` makes one")
        return
    rows = [
        (key.id, flat(key.name), _whose(key), key.right.name.lower(), _ends(key),
         "never used" if key.last_used is None else f"used {day(key.last_used)}")
        for key in keys
    ]  # fmt: skip
    run.output.table(rows, head=("key", "name", "whose memory", "right", "until", "last used, about"))


@verb("mnemic keys revoke laptop", "mnemic keys revoke laptop --json")
@click.argument("key", type=WORDS)
def revoke(key: str) -> None:
    """Revoke a key by its id or its name: every server refuses it within two seconds.

    Browser sessions that were opened with it end with it. Repeating it changes nothing, and a key that has ended can be
    revoked too; of several that had a name it is the one that stands, else the last.
    """
    run = invocation()
    with run.memory() as memory:
        revoked = memory.keys.revoke(key, tenant=run.tenant, by=run.user)
    run.output.answer(_record(revoked), f"revoked key {revoked.id} ({flat(revoked.name)})")


def _record(key: AccessKey) -> dict[str, Any]:
    return {**asdict(key), "right": key.right.name.lower()}


def _whose(key: AccessKey) -> str:
    return ("any user" if key.user is None else flat(key.user)) + (", writes what is shared" if key.shared else "")


def _ends(key: AccessKey) -> str:
    if key.revoked is not None:
        return f"revoked {day(key.revoked)}"
    return "no end" if key.expires is None else day(key.expires)


for _command in (create, listed, revoke):
    keys.add_command(_command)
