"""The MCP server of a set of tools, on the SDK's low-level server.

`ProgressSender`: sends the progress of a tool as notifications, the latest if there is more than can be sent.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

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

Send: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
_SHORTEST_INTERVAL_SECONDS = 0.01
_LONGEST_MESSAGE = 1000


class ProgressSender:
    """Used by `async with`, which sends what was reported last before it ends. `report` is called from any thread.

    Progress that does not increase is dropped, as the protocol requires. `cleaned` removes credentials from messages.
    """

    def __init__(self, send: Send, cleaned: Callable[[str], str]) -> None:
        self._send = send
        self._cleaned = cleaned
        self._loop = asyncio.get_running_loop()
        self._latest: tuple[float, float | None, str | None] | None = None
        self._sent = -math.inf
        self._news = asyncio.Event()
        self._end = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def report(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Reports progress; after the end it is ignored."""
        waits = self._latest is not None
        self._latest = (done, total, message)
        if not waits and not self._end.is_set():
            with suppress(RuntimeError):  # the loop has been closed, and the tool runs on in its thread
                self._loop.call_soon_threadsafe(self._news.set)

    async def __aenter__(self) -> ProgressSender:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        assert self._task is not None
        self._end.set()
        self._news.set()
        if error is not None:
            self._task.cancel()
        try:
            await asyncio.wait([self._task])
        finally:
            self._task.cancel()
        if error is None:
            await self._task

    async def _run(self) -> None:
        while not self._end.is_set():
            await self._news.wait()
            self._news.clear()
            await self._send_latest()
            with suppress(TimeoutError):
                async with asyncio.timeout(_SHORTEST_INTERVAL_SECONDS):
                    await self._end.wait()
        await self._send_latest()

    async def _send_latest(self) -> None:
        latest, self._latest = self._latest, None
        if latest is None:
            return
        done, total, message = latest
        if not math.isfinite(done) or done <= self._sent:
            return
        self._sent = done
        if total is not None and not math.isfinite(total):
            total = None
        await self._send(done, total, None if message is None else self._cleaned(message)[:_LONGEST_MESSAGE])


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
            raise MCPError(code=types.INVALID_PARAMS, message=_unknown_text(params.name, runner.tools))
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


def _unknown_text(name: str, known: Mapping[str, object]) -> str:
    near = nearest_names(name[:_MAX_NAME], known)
    hint = did_you_mean(near) if near else f"The tools are: {', '.join(sorted(known)) or 'none'}."
    return f"Unknown tool: {shown(name)}. {hint}"
