"""The least that can be served with the official SDK, as a baseline: one tool that says back what it is told."""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

_ECHO = types.Tool(
    name="echo", description="Say it back.", input_schema={"type": "object", "properties": {"text": {"type": "string"}}}
)


async def _list_tools(ctx: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[_ECHO])


async def _call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    said = str((params.arguments or {}).get("text"))
    return types.CallToolResult(content=[types.TextContent(type="text", text=said)])


async def _serve() -> None:
    server: Server[Any] = Server("echo", on_list_tools=_list_tools, on_call_tool=_call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(_serve)
