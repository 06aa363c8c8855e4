"""The MCP server of a set of tools, on the SDK's low-level server."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from ...registry.suggestions import did_you_mean, nearest_names
from ...schema.base_error import shown
from ...version import __version__
from .calls import ToolRunner
from .progress import ProgressSender

T = TypeVar("T")
_CLOSING_SECONDS = 2.0
_LIST_TTL_MS = 300_000
_MAX_NAME = 128


def mcp_server(runner: ToolRunner, *, name: str = "abstractcore", instructions: str | None = None) -> Server[Any]:
    """Returns a server that lists and calls the tools of `runner`, in every revision of the protocol that the SDK has.

    `name` and `instructions` are shown to clients.
    """
    listed = types.ListToolsResult(tools=[each.description for each in runner.tools.values()])
    schemas = {tool.name: tool.input_schema for tool in listed.tools}

    async def list_tools(
        context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return listed

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if params.name not in runner.tools:
            raise MCPError(code=types.INVALID_PARAMS, message=_unknown(params.name, runner.tools))
        return await _cancelled_once(called(context, params))

    async def called(context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        async with ProgressSender(context.session.report_progress, runner.cleaned) as progress:
            return await runner.call(params.name, params.arguments or {}, progress.report)

    return Server(
        name,
        version=__version__,
        instructions=instructions,
        cache_hints={"tools/list": CacheHint(_LIST_TTL_MS, "private")},
        get_tool_input_schema=schemas.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _cancelled_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Awaits a coroutine in a task of its own. The SDK's scopes cancel their task again at each wait, so that nothing
    could be closed in time.
    """
    task = asyncio.create_task(coroutine)
    try:
        return await asyncio.shield(task)
    finally:
        if not task.done():
            task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([task], timeout=_CLOSING_SECONDS)


def _unknown(name: str, known: Mapping[str, object]) -> str:
    near = nearest_names(name[:_MAX_NAME], known)
    hint = did_you_mean(near) if near else f"The tools are: {', '.join(sorted(known)) or 'none'}."
    return f"Unknown tool: {shown(name)}. {hint}"
