"""Callers that share a connection: what one does never cancels another."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from mcp.server import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    TextContent,
    Tool,
)

from abstractcore import MCPTools
from abstractcore.client.services import default_services
from abstractcore.concurrency.owned_contexts import NotEnteredError, OwnedContext
from abstractcore.errors import ToolFailed, ToolServerError
from abstractcore.mcp.connections import MCPConnection, NoNotes, TransportNotes
from abstractcore.ports import ToolContext
from abstractcore.schema import ToolCall
from abstractcore.toolservers import connection_pool
from abstractcore.toolservers.connection_pool import ConnectionPool, Identity

LONG_SECONDS = 120.0


class Silent:
    """A transport that begins, and never ends to connect."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    @asynccontextmanager
    async def transport(self) -> AsyncGenerator[Any]:
        """Never yields."""
        self.begun.set()
        await asyncio.Event().wait()
        yield None


class Notes(NoNotes):
    """What is known of a transport, as a test has it."""

    has_ended = False


def context_of(name: str) -> ToolContext[None]:
    """The context of a call of a tool."""
    return ToolContext(None, None, ToolCall.of("call", name, {}), "", default_services().async_runtime)


@pytest.mark.anyio
async def test_connection_closed_while_it_is_made_is_an_error_of_each_caller():
    silent, before = Silent(), asyncio.all_tasks()
    connection = MCPConnection("shop", lambda: (silent.transport(), NoNotes()), "auto", LONG_SECONDS)
    callers = [asyncio.create_task(connection.tools()) for _ in range(2)]
    await silent.begun.wait()
    await connection.close()
    for caller in callers:
        with pytest.raises(ToolServerError, match="the MCP server shop was closed before it answered"):
            await caller
    assert asyncio.all_tasks() == before


@pytest.mark.anyio
async def test_time_limit_of_a_connection_is_an_error_of_each_caller():
    silent, before = Silent(), asyncio.all_tasks()
    connection = MCPConnection("shop", lambda: (silent.transport(), NoNotes()), "auto", 0.05)
    first = asyncio.create_task(connection.tools())
    await silent.begun.wait()
    second = asyncio.create_task(connection.tools())
    for caller in (first, second):
        with pytest.raises(ToolServerError, match=r"did not answer in 0\.05 s"):
            await caller
    assert asyncio.all_tasks() == before


@pytest.mark.anyio
async def test_cancelled_caller_leaves_the_connection_to_others():
    silent = Silent()
    connection = MCPConnection("shop", lambda: (silent.transport(), NoNotes()), "auto", LONG_SECONDS)
    first, second = (asyncio.create_task(connection.tools()) for _ in range(2))
    await silent.begun.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert not second.done()
    await connection.close()
    with pytest.raises(ToolServerError):
        await second


@pytest.mark.anyio
async def test_timeout_of_a_transport_is_not_reported_as_that_of_the_connection():
    @asynccontextmanager
    async def transport() -> AsyncGenerator[Any]:
        raise TimeoutError("the proxy gave up")
        yield None

    connection = MCPConnection("shop", lambda: (transport(), NoNotes()), "auto", LONG_SECONDS)
    with pytest.raises(ToolServerError, match="cannot be reached: the proxy gave up"):
        await connection.tools()


@pytest.mark.anyio
async def test_context_left_before_its_task_began_fails_at_once():
    silent = Silent()
    context = OwnedContext(silent.transport, LONG_SECONDS)
    await context.leave()
    with pytest.raises(NotEnteredError):
        await context.value()
    assert not silent.begun.is_set()


@pytest.mark.anyio
async def test_connection_that_is_being_made_is_not_closed_as_an_unused_one():
    pool, silent = ConnectionPool(), Silent()

    def made() -> MCPConnection:
        return MCPConnection("shop", lambda: (silent.transport(), NoNotes()), "auto", LONG_SECONDS)

    async def used(identity: Identity) -> None:
        async with pool.use(identity, made) as connection:
            await connection.tools()

    caller = asyncio.create_task(used((("x-user", "first"),)))
    await silent.begun.wait()
    for number in range(100):
        async with pool.use((("x-user", str(number)),), made):
            pass
    assert not caller.done()
    await pool.close()
    with pytest.raises(ToolServerError):
        await caller


@pytest.mark.anyio
async def test_connection_is_not_closed_as_an_unused_one_before_its_first_use():
    """Its user waits while another one is closed to make room, and others come meanwhile."""
    pool, closing, can_close = ConnectionPool(), asyncio.Event(), asyncio.Event()

    class SlowToClose(MCPConnection):
        """A connection that takes long to close."""

        async def close(self) -> None:
            closing.set()
            await can_close.wait()
            await super().close()

    def make() -> MCPConnection:
        return SlowToClose("shop", lambda: (Silent().transport(), NoNotes()), "auto", LONG_SECONDS)

    async def used(user: int) -> MCPConnection:
        async with pool.use((("x-user", str(user)),), make) as connection:
            return connection

    for user in range(64):
        await used(user)
    first = asyncio.create_task(used(64))
    await closing.wait()
    others = [asyncio.create_task(used(user)) for user in range(65, 200)]
    await asyncio.sleep(0)
    can_close.set()
    connection = await first
    await asyncio.gather(*others)
    assert await used(64) is connection
    await pool.close()


@pytest.mark.anyio
async def test_lost_connection_of_one_call_does_not_end_the_new_one_of_another():
    """A call notices late that its connection was lost: another one has connected again before."""
    is_waiting, can_answer, can_end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def called(context: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        if params.name == "late":
            is_waiting.set()
            return InputRequiredResult(request_state="again")  # the client waits a moment before it calls again
        can_answer.set()
        await can_end.wait()
        return CallToolResult(content=[TextContent(text="done")])

    async def listed(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name=name, input_schema={"type": "object"}) for name in ("late", "other")])

    opened: list[Notes] = []

    def open() -> tuple[Any, TransportNotes]:
        opened.append(Notes())
        return Server("shop", on_list_tools=listed, on_call_tool=called), opened[-1]

    connection = MCPConnection("shop", open, "auto", LONG_SECONDS)
    late = asyncio.create_task(connection.call("late", {}, context_of("late"), repeatable=False))
    await is_waiting.wait()
    opened[0].has_ended = True
    other = asyncio.create_task(connection.call("other", {}, context_of("other"), repeatable=False))
    await can_answer.wait()
    with pytest.raises(ToolFailed, match="was lost while the call ran"):
        await late
    can_end.set()
    result = await other
    assert [block.text for block in result.content if isinstance(block, TextContent)] == ["done"]
    assert len(opened) == 2
    await connection.close()


def test_failures_are_forgotten_when_they_are_too_old(monkeypatch: pytest.MonkeyPatch):
    """Identities may be new for each request: their headers must not be kept for ever."""
    clock = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr(connection_pool, "time", clock)
    pool, identity, error = ConnectionPool(), (("authorization", "Bearer old"),), ToolServerError("down")
    pool.note_failure(identity, error)
    assert pool.failure(identity) is error
    kept = weakref.ref(error)
    del error
    clock.monotonic = lambda: 60.0
    pool.note_failure((("authorization", "Bearer new"),), ToolServerError("down"))
    gc.collect()
    assert kept() is None


def test_tools_that_change_while_they_are_listed_are_listed_again():
    listings: list[list[str]] = [["tea"], ["tea", "milk"]]

    async def listed(context: Any, params: Any) -> ListToolsResult:
        names = listings.pop(0)
        if listings:
            await context.session.send_tool_list_changed()
        return ListToolsResult(tools=[Tool(name=name, input_schema={"type": "object"}) for name in names])

    with MCPTools(Server("shop", on_list_tools=listed), mode="legacy") as tools:
        assert [[spec.name for spec in tools.list_tools()] for _ in range(3)] == [
            ["tea"],
            ["tea", "milk"],
            ["tea", "milk"],
        ]
