"""What an agent's side of a served memory is to a test: a memory, a server over it, a client of either generation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import jsonschema
import mcp_types as types
from mcp.client.client import Client

from mnemic.faces.mcp.sdk_server import build
from mnemic.faces.mcp.served_memory import ServedMemory
from mnemic.memory import Memory, ScopedMemory
from mnemic.settings import Settings
from patience import PATIENCE

GENERATIONS = {"legacy": "2025-11-25", "2026-07-28": "2026-07-28"}
"""What a client says it speaks, and the protocol that both then speak."""

Calls = tuple[tuple[str, dict[str, Any]], ...]


@contextmanager
def a_memory(**scope: str) -> Iterator[ScopedMemory]:
    """Ada's memory, kept nowhere."""
    with Memory("memory:", settings=Settings(embedder="none", background=False)) as memory:
        yield memory.scope(**{"user": "ada", **scope})


@asynccontextmanager
async def connected(
    me: ScopedMemory | None = None,
    *,
    mode: str = "legacy",
    profile: str = "verbs",
    read_only: bool = False,
    **more: Any,
) -> AsyncIterator[Client]:
    """A client of a server over `me`, or over an empty memory."""

    @contextmanager
    def opening() -> Iterator[ScopedMemory]:
        if me is not None:
            yield me
            return
        with a_memory() as fresh:
            yield fresh

    memory_served = ServedMemory(opening, profile, read_only=read_only)
    try:
        async with Client(build(memory_served), mode=mode, **more) as client:
            yield client
    finally:
        memory_served.close()


def played(act: Callable[[], Awaitable[None]]) -> None:
    """Run a test's coroutine, unless it hangs."""

    async def within() -> None:
        with anyio.fail_after(PATIENCE):
            await act()

    anyio.run(within)


def words(result: Any) -> str:
    """The text of a tool's answer."""
    return "".join(part.text for part in result.content)


def verb_calls(ids: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every verb; `ids` holds what was written so far."""
    yield "remember", {"text": "Ada lives in Rome.", "kind": "fact", "tags": ["home"], "key": "home"}
    yield "recall", {"query": "Where does Ada live?", "k": 3}
    yield "context", {"query": "dinner"}
    yield "correct", {"id": ids[0], "text": "Ada lives in Lisbon.", "changed": True, "since": "2026-03-01T00:00:00Z"}
    yield "history", {"id": ids[0]}
    yield "forget", {"ids": [ids[-1]]}


_ADA = {"name": "Ada", "entityType": "person", "observations": ["likes figs"]}
_KNOWS = {"from": "Ada", "to": "Ben", "relationType": "knows"}
REFERENCE: Calls = (
    ("create_entities", {"entities": [_ADA, {"name": "Ben", "entityType": "person", "observations": []}]}),
    ("create_relations", {"relations": [_KNOWS]}),
    ("add_observations", {"observations": [{"entityName": "Ben", "contents": ["plays chess"]}]}),
    ("read_graph", {}),
    ("search_nodes", {"query": "chess"}),
    ("open_nodes", {"names": ["Ada"]}),
    ("delete_observations", {"deletions": [{"entityName": "Ada", "observations": ["likes figs"]}]}),
    ("delete_relations", {"relations": [_KNOWS]}),
    ("delete_entities", {"entityNames": ["Ben"]}),
)
FILES: Calls = (
    ("create", {"path": "/memories/notes.md", "file_text": "one\ntwo\n"}),
    ("view", {"path": "/memories"}),
    ("str_replace", {"path": "/memories/notes.md", "old_str": "one", "new_str": "eins"}),
    ("insert", {"path": "/memories/notes.md", "insert_line": 2, "insert_text": "three\n"}),
    ("rename", {"old_path": "/memories/notes.md", "new_path": "/memories/diary.md"}),
    ("delete", {"path": "/memories/diary.md"}),
)


def calls(profile: str, ids: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every tool of a profile, with arguments that it takes."""
    return verb_calls(ids) if profile == "verbs" else iter(REFERENCE if profile == "reference" else FILES)


async def drive(client: Client, profile: str) -> None:
    """Call every tool of a profile, and hold arguments and answers against what it says of itself."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    ids: list[str] = []
    called = []
    for name, arguments in calls(profile, ids):
        jsonschema.validate(arguments, tools[name].input_schema)
        result = await client.call_tool(name, arguments)
        assert not result.is_error, (name, words(result))
        assert words(result)
        held_against_its_schema(tools[name], result)
        ids += (result.structured_content or {}).get("ids", [])
        called.append(name)
    assert set(called) == set(tools)


def held_against_its_schema(tool: types.Tool, result: types.CallToolResult) -> None:
    if tool.output_schema is None:
        assert result.structured_content is None
    else:
        jsonschema.validate(result.structured_content, tool.output_schema)
