"""`graph`: what memory knows of who and what is related how, drawn on a page of its own or written for Graphviz."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.core.items import HIDDEN_WHOLE, State
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.faces.cli.command import WORDS, past_options, verb
from mnemic.faces.cli.invocation import invocation, looking_at
from mnemic.faces.cli.output import encoded, flat, many, plain
from mnemic.operations.graph_records import graph_record
from mnemic.recall.entity_graph import DRAWN
from mnemic.strategies.loading import author_called

if TYPE_CHECKING:
    from mnemic.memory import ScopedMemory

_PAGE: Final = Path("mnemic-graph.html")
_OURS: Final = b"drawn by mnemic graph"
"""What the first line or the second of a file that this command wrote holds: such a file is drawn again."""
_LOOKED_AT: Final = 200
"""Hidden items that are looked at for who kept them."""
_KEEPING_GRAPHS: Final = ("zep", "hippo2")
"""Those of ours of which something is drawn as soon as they found a fact."""
_EXCERPT: Final = 400
"""Characters of a text that a page shows; the rest is in the memory."""


@verb(
    "mnemic graph",
    "mnemic graph --by zep --as-of 2025-03-31 -o march.html",
    'mnemic graph --around "Ada" --steps 1 --json',
    "mnemic graph --dot > graph.dot",
)
@click.option("--by", type=WORDS, metavar="STRATEGY", help="Only what this strategy keeps.")
@click.option("--around", type=WORDS, metavar="NAME", help="Only what is near to this name.")
@click.option("--steps", type=int, default=2, show_default=True, help="How near: so many relations away.")
@click.option("-n", "--limit", type=int, default=300, show_default=True, help="Most names, the most related first.")
@click.option("--html", "as_page", is_flag=True, help="The page, which is drawn unless --dot is given.")
@click.option("--dot", is_flag=True, help="Text for Graphviz, on standard output unless -o names a file.")
@click.option("-o", "--out", type=click.Path(path_type=Path), help=f"The file (left out: {_PAGE}).")
@past_options
def graph(
    by: str | None,
    around: str | None,
    steps: int,
    limit: int,
    as_page: bool,
    dot: bool,
    out: Path | None,
    **past: str | None,
) -> None:
    """Draw what is known as a graph of who and what is related how, on a page of its own.

    It shows the entities and facts that strategies such as zep and hippo2 keep, those of agents' graph tools, and what
    has ended, dashed. The page is one file that needs no network. --json prints nodes and edges, and writes a file
    only to -o.
    """
    run = invocation()
    if as_page and dot:
        raise Invalid("html", "stands beside --dot", "Give one of them.")
    with run.caught_up_memory() as me:
        item_graph = looking_at(me, **past).graph(by=by, around=around, steps=steps, limit=limit)
        nothing = "" if item_graph.nodes else _why_nothing(me, by, past)
    record = graph_record(item_graph)
    seen = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in past.items() if value is not None)
    picture = {**record, "edges": _drawn_once(record["edges"])}
    drawn = _dot(picture) if dot else _page({**picture, "seen": seen})
    path = out if out is not None or dot or run.output.json else _PAGE
    if not item_graph.nodes:
        path = None
        run.output.note(nothing)
    if path is not None:
        _write(path, drawn)
    if run.output.json:
        run.output.document({**record, "file": str(path.absolute()) if path else None})
    elif dot and path is None and item_graph.nodes:
        run.output.line(drawn.rstrip("\n"))
    elif path is not None:
        left = f"; {many(item_graph.left_out, 'name')} more left out, raise --limit" if item_graph.left_out else ""
        shown = f"{many(len(item_graph.nodes), 'name')}, {many(len(picture['edges']), 'relation')}{left}"
        run.output.line(f"wrote {plain(str(path.absolute()))}: {shown}")


def _why_nothing(me: ScopedMemory, by: str | None, past: Mapping[str, str | None]) -> str:
    """Say why there is nothing to draw, and what draws something."""
    if any(past.values()):
        return "nothing of it was known then"
    authors = () if by is None else (author_called(by),)
    hidden = me.list(where=replace(DRAWN, by=authors, states=(State.RETIRED,)), limit=_LOOKED_AT)
    whole = (version.item.author for version in hidden if version.item.slots.get(HIDDEN_WHOLE))
    following = me.following()
    if (author := next(filter(None, whole), None)) is not None:
        again = f"`mnemic rerun {author}` has it read everything again"
        if author not in following:
            again = f"`mnemic follow {' '.join((*following, author))}`, then {again}"
        return f"nothing to draw: what {author} kept was hidden by `mnemic forget --by {author}`; {again}"
    if by is not None and by in following:
        return f"nothing to draw: {by} has found nothing to relate in what was said so far"
    if by is not None:
        return f"nothing to draw: {by} is not followed; `mnemic follow {' '.join((*following, by))}` has it read all"
    if keeping := [name for name in following if name in _KEEPING_GRAPHS]:
        return f"nothing to draw: {' and '.join(keeping)} found nothing to relate in what was said so far"
    follow = f"`mnemic follow {' '.join((*following, 'zep'))}`"
    return f"nothing to draw yet: {follow} keeps a graph of what you say; it needs no model"


def _drawn_once(edges: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Make one arrow of facts that say the same of the same time, by all who keep one of them."""
    alike: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for place, edge in enumerate(edges):
        fact = edge["fact"] or {"text": place}
        looks = (*(edge[name] for name in ("src", "dst", "label", "made_of", "ended")), fact["text"])
        alike.setdefault((*looks, fact.get("since"), fact.get("until")), []).append(edge)
    return [_kept_by_all(same) for same in alike.values()]


def _kept_by_all(same: Sequence[dict[str, Any]]) -> dict[str, Any]:
    first, *others = same
    if not others:
        return first
    by = dict.fromkeys(edge["fact"]["by"] or "by hand" for edge in same)
    return {**first, "fact": {**first["fact"], "by": ", ".join(by)}}


def _page(record: dict[str, Any]) -> str:
    """Lay out the page: its data can end no element and run nothing, for only its own script may run."""
    folder = resources.files("mnemic.faces.cli")
    script = folder.joinpath("graph_page.js").read_text("utf-8")
    data = encoded(_shortened(record)).replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = Template(folder.joinpath("graph_page.html").read_text("utf-8"))
    return page.substitute(graph=data, script=script, digest=digest)


def _shortened(value: Any) -> Any:
    """Cut every text of a record to what a page shows, and spell out what no reader sees."""
    if isinstance(value, dict):
        return {name: _shortened(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_shortened(part) for part in value]
    if isinstance(value, str):
        return plain(value if len(value) <= _EXCERPT else f"{value[:_EXCERPT]}…")
    return value


def _dot(record: dict[str, Any]) -> str:
    """Write a graph in Graphviz' language."""
    lines = [f"// {_OURS.decode()}", "digraph memory {", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    for place, node in enumerate(record["nodes"]):
        tooltip = "; ".join(item["text"] for item in (*node["items"], *node["notes"]))
        style = ', style="rounded,dashed"' if node["ended"] else ""
        lines.append(f"  n{place} [label={_quoted(node['name'])}, tooltip={_quoted(tooltip)}{style}];")
    for edge in record["edges"]:
        fact = edge["fact"]
        dates = f"{fact['since']} to {fact['until'] or 'now'}: {fact['text']}" if fact else edge["label"]
        style = "dashed" if edge["ended"] else {"fact": "solid"}.get(edge["made_of"], "dotted")
        tooltip = f"label={_quoted(edge['label'])}, tooltip={_quoted(dates)}, style={style}"
        lines.append(f"  n{edge['src']} -> n{edge['dst']} [{tooltip}];")
    return "\n".join((*lines, "}", ""))


def _quoted(text: str) -> str:
    """Quote a text for Graphviz, which reads a backslash as the beginning of an escape."""
    escaped = flat(text[:_EXCERPT]).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _write(path: Path, text: str) -> None:
    """Write a drawing that only its owner can read; of what is there already only a drawing is replaced."""
    if not path.absolute().parent.is_dir():
        raise NotFound(f"there is no folder {path.absolute().parent}; make it first, or name a file elsewhere")
    if path.exists():
        with path.open("rb") as file:
            if _OURS not in file.read(80):
                raise Conflict(f"{path} is there already, and is no drawing of this command; name another file")
        path.unlink()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(text.encode())
