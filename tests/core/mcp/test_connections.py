"""Callers that share a connection: what one does never cancels another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from abstractcore.concurrency.owned_contexts import NotEnteredError, OwnedContext
from abstractcore.errors import ToolServerError
from abstractcore.mcp.connections import Connection, NoNotes

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
