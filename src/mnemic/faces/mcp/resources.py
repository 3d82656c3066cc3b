"""What a client may read without a tool: items, the always-on block, what is recent; or the knowledge graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

import mcp_types as types

from mnemic.core.ids import ItemId
from mnemic.core.sanitize import for_json, without_unseen
from mnemic.errors import Invalid, NotFound
from mnemic.operations.records import day_on_clock, link_record, version_record

if TYPE_CHECKING:
    from mnemic.core.items import Version
    from mnemic.memory import ScopedMemory
    from mnemic.tools.base import Result
    from mnemic.tools.toolbox import Toolbox

ALWAYS: Final = "mnemic://always"
RECENT: Final = "mnemic://recent"
ITEM: Final = "mnemic://items/"
GRAPH: Final = "memory://knowledge-graph"

LISTED: Final = 200
"""Items that the listing reaches back; older ones have their address, and recall finds it."""
PAGE: Final = 50
_LATEST: Final = 20
_TITLE: Final = 60
_JSON: Final = "application/json"
_SEQ_DIGITS: Final = 19
_ALWAYS_END: Final = "</memory-always>"


class Shelf(Protocol):
    """The resources of a profile. Its methods block."""

    def templates(self) -> list[types.ResourceTemplate]:
        """Return the templates of addresses."""
        ...

    def page(self, toolbox: Toolbox, cursor: str | None) -> tuple[list[types.Resource], str | None]:
        """Return a page of the resources, and the cursor of the next page if there is one.

        Raises:
            Invalid: the cursor is none of ours.
        """
        ...

    def read(self, toolbox: Toolbox, uri: str) -> types.TextResourceContents:
        """Read one resource.

        Raises:
            NotFound: there is none at this address, or it is another user's.
        """
        ...

    def changed(self, result: Result) -> Sequence[str]:
        """Return the addresses of what a write with this result may have changed."""
        ...


class ItemResources:
    """Items by id, the block that stands first in every context, and what was written last."""

    def templates(self) -> list[types.ResourceTemplate]:
        return [
            types.ResourceTemplate(
                name="item",
                title="A remembered item",
                uri_template=ITEM + "{id}",
                description="One item with its provenance: who said it when, what it was derived from, its links.",
                mime_type=_JSON,
            )
        ]

    def page(self, toolbox: Toolbox, cursor: str | None) -> tuple[list[types.Resource], str | None]:
        latest = sorted(toolbox.memory.list(limit=LISTED), key=_place, reverse=True)
        after = None if cursor is None else _read_cursor(cursor)
        rest = [version for version in latest if after is None or _place(version) < after]
        shown = rest[:PAGE]
        more = f"{shown[-1].seq_from}.{shown[-1].item.id}" if len(rest) > PAGE else None
        return [*(_STANDING if cursor is None else ()), *map(_resource, shown)], more

    def read(self, toolbox: Toolbox, uri: str) -> types.TextResourceContents:
        memory = toolbox.memory
        if uri == ALWAYS:
            return types.TextResourceContents(uri=uri, mime_type="text/plain", text=_always(memory))
        if uri == RECENT:
            items = [version_record(version) for version in memory.list(limit=_LATEST)]
            return _json_contents(uri, {"items": items})
        if uri.startswith(ITEM):
            return _json_contents(uri, _item(memory, uri.removeprefix(ITEM)))
        raise _absent(uri)

    def changed(self, result: Result) -> Sequence[str]:
        return ALWAYS, RECENT, *(ITEM + id for id in (result.data or {}).get("ids", ()))


class KnowledgeGraph:
    """The whole graph, at the address and in the shape of the reference memory server."""

    def templates(self) -> list[types.ResourceTemplate]:
        return []

    def page(self, toolbox: Toolbox, cursor: str | None) -> tuple[list[types.Resource], str | None]:
        graph = types.Resource(
            name="knowledge-graph",
            title="Knowledge Graph",
            uri=GRAPH,
            description="All entities with their observations, and all relations.",
            mime_type=_JSON,
        )
        return [graph], None

    def read(self, toolbox: Toolbox, uri: str) -> types.TextResourceContents:
        if uri != GRAPH:
            raise _absent(uri)
        graph = next(tool for tool in toolbox.tools if tool.name == "read_graph")
        return _json_contents(uri, graph.run(toolbox.memory, {}).data)

    def changed(self, result: Result) -> Sequence[str]:
        return (GRAPH,)


SHELVES: Final[dict[str, Shelf]] = {"verbs": ItemResources(), "reference": KnowledgeGraph()}
"""The shelf of each profile that has one."""

_STANDING: Final = (
    types.Resource(
        name="always",
        title="Always on",
        uri=ALWAYS,
        description="How the user wants things done, what is pinned, who they are: what stands first in every context.",
        mime_type="text/plain",
    ),
    types.Resource(
        name="recent", title="Recent", uri=RECENT, description=f"The {_LATEST} items written last.", mime_type=_JSON
    ),
)


def _place(version: Version) -> tuple[int, str]:
    return version.seq_from, version.item.id


def _read_cursor(cursor: str) -> tuple[int, str]:
    seq, _, id = cursor.partition(".")
    if not (seq.isascii() and seq.isdigit() and len(seq) <= _SEQ_DIGITS and id):
        raise Invalid("cursor", f"{_clipped(cursor)!r} is none of ours", "Give the nextCursor of a page, or none.")
    return int(seq), id


def _resource(version: Version) -> types.Resource:
    item = version.item
    title = " ".join(without_unseen(item.text).split())
    return types.Resource(
        name=item.id,
        title=_clipped(title),
        uri=ITEM + item.id,
        description=f"{item.kind.value}, {day_on_clock(item, item.said)}",
        mime_type=_JSON,
    )


def _clipped(text: str) -> str:
    return text if len(text) <= _TITLE else text[: _TITLE - 1] + "…"


def _always(memory: ScopedMemory) -> str:
    context = memory.context("", k=1)
    block, end, _ = context.text.partition(_ALWAYS_END)  # a text of an item cannot hold this mark: `pack` defuses it
    return block + end if context.always else ""


def _item(memory: ScopedMemory, id: str) -> dict[str, Any]:
    version = _version_or_none(memory, id)
    if version is None:
        raise _absent(ITEM + id)
    sources = [(source, _version_or_none(memory, source)) for source in version.item.source]
    return {
        **version_record(version),
        "derived_from": [{"id": id, "absent": True} if v is None else version_record(v) for id, v in sources],
        "links": [link_record(link) for link in memory.links(version.item.id)],
    }


def _version_or_none(memory: ScopedMemory, id: str) -> Version | None:
    try:
        return memory.get(ItemId(id))
    except (Invalid, NotFound):
        return None


def _absent(uri: str) -> NotFound:
    return NotFound(f"there is no resource {uri}")


def _json_contents(uri: str, record: object) -> types.TextResourceContents:
    text = json.dumps(record, ensure_ascii=False, indent=2, default=datetime.isoformat)
    return types.TextResourceContents(uri=uri, mime_type=_JSON, text=for_json(text))
