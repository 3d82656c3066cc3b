"""The first screen: where the data lies, how big it is, how to take it away, and what to type."""

from __future__ import annotations

import shlex
from typing import Final

from mnemic import _version
from mnemic.faces.cli.invocation import Invocation
from mnemic.faces.cli.output import flat, many, size
from mnemic.store.urls import is_server

_FIRST: Final = (
    ('mnemic add "I moved to Lisbon in March."', "remember something"),
    ('mnemic recall "when did I move?"', "get it back, with reasons"),
    ("mnemic import chat.jsonl", "remember a whole conversation"),
    ("mnemic log", "what was done, newest first; undo takes it back"),
    ("mnemic demo", "all of it in a minute, on a year of made-up talk"),
)
_AWAY_FROM_FILE: Final = (
    ("mnemic backup FILE", "one file with everything"),
    ("mnemic export > FILE", "the journal, as lines of JSON"),
    ("mnemic erase --everything", "gone for good, with a receipt"),
)
_AWAY_FROM_SERVER: Final = (
    ("mnemic move {url} FILE", "one file with everything, in which mnemic works on"),
    *_AWAY_FROM_FILE[1:],
)


def welcome(run: Invocation) -> None:
    """Print the first screen; make nothing that is not there."""
    items = commits = size_bytes = 0
    if run.exists:
        with run.memory() as memory:
            size_bytes = memory.admin.info().bytes
            mine = memory.admin.users(user=run.user, tenant=run.tenant)
            items, commits = sum(u.items for u in mine), sum(u.commits for u in mine)
    if run.output.json:
        run.output.document(
            {
                "version": _version.__version__,
                "user": run.user,
                "tenant": run.tenant,
                "store": str(run.path) if run.path else run.shown_where,
                "exists": run.exists,
                "bytes": size_bytes,
                "items": items,
                "last_commit": commits,
            }
        )
        return
    _print(run, items, size_bytes)


def _print(run: Invocation, items: int, size_bytes: int) -> None:
    output = run.output
    on_server = is_server(run.where)
    place = "on a PostgreSQL server" if on_server else "on your own disk"
    output.line(output.bold(f"mnemic {_version.__version__}") + f"  long-term memory for agents, {place}")
    output.line()
    store = flat(str(run.path) if run.path else run.shown_where)
    output.table(
        [
            ("whose", f"{flat(run.user)} (tenant {flat(run.tenant)}; --user names another)"),
            ("where", store if run.exists else f"{store} (not there yet; the first write makes it)"),
            (
                "how big",
                f"{many(items, 'item')}, {size(size_bytes)} on {'the server, of everybody' if on_server else 'disk'}",
            ),
        ]
    )
    for title, rows in (
        ("take it away", _AWAY_FROM_SERVER if on_server else _AWAY_FROM_FILE),
        ("what to type", _FIRST),
    ):
        output.line()
        output.line(output.bold(title))
        shown = [(command.replace("{url}", shlex.quote(store)), purpose) for command, purpose in rows]
        output.table([(f"  {command}", output.dim(purpose)) for command, purpose in shown])
    output.line()
    output.line("mnemic --help lists the rest.")
