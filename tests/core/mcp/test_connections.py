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
from mcp_types import ListToolsResult, Tool

from abstractcore import MCPTools
from abstractcore.concurrency.owned_contexts import NotEnteredError, OwnedContext
from abstractcore.errors import ToolServerError
from abstractcore.mcp.connections import Connection, NoNotes
from abstractcore.toolservers import connection_pool
from abstractcore.toolservers.connection_pool import ConnectionPool

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


@pytest.mark.anyio
async def test_connection_closed_while_it_is_made_is_an_error_of_each_caller():
    silent, before = Silent(), asyncio.all_tasks()
    connection = Connection("shop", lambda: (silent.transport(), NoNotes()), "auto", LONG_SECONDS)
    callers = [asyncio.create_task(connection.client()) for _ in range(2)]
    await silent.begun.wait()
    await connection.close()
    for caller in callers:
        with pytest.raises(ToolServerError, match="the MCP server shop was closed before it answered"):
            await caller
    assert asyncio.all_tasks() == before


@pytest.mark.anyio
async def test_time_limit_of_a_connection_is_an_error_of_each_caller():
    silent, before = Silent(), asyncio.all_tasks()
    connection = Connection("shop", lambda: (silent.transport(), NoNotes()), "auto", 0.05)
    first = asyncio.create_task(connection.client())
    await silent.begun.wait()
    second = asyncio.create_task(connection.client())
    for caller in (first, second):
        with pytest.raises(ToolServerError, match=r"did not answer in 0\.05 s"):
            await caller
    assert asyncio.all_tasks() == before


@pytest.mark.anyio
async def test_cancelled_caller_leaves_the_connection_to_others():
    silent = Silent()
    connection = Connection("shop", lambda: (silent.transport(), NoNotes()), "auto", LONG_SECONDS)
    first, second = (asyncio.create_task(connection.client()) for _ in range(2))
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

    connection = Connection("shop", lambda: (transport(), NoNotes()), "auto", LONG_SECONDS)
    with pytest.raises(ToolServerError, match="cannot be reached: the proxy gave up"):
        await connection.client()


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

    def made() -> Connection:
        return Connection("shop", lambda: (silent.transport(), NoNotes()), "auto", LONG_SECONDS)

    first = await pool.get((("x-user", "first"),), made)
    caller = asyncio.create_task(first.tools())
    await silent.begun.wait()
    for number in range(100):
        await pool.get((("x-user", str(number)),), made)
    assert not caller.done()
    assert await pool.get((("x-user", "first"),), made) is first
    await pool.close()
    with pytest.raises(ToolServerError):
        await caller


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
