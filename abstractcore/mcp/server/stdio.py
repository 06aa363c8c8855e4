"""The stdio transport: one JSON-RPC message a line. Nothing else is written to stdout, and lines are of limited length.

The SDK's own transport reads lines of any length, and at Ctrl-C waits for the next one.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias, cast

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage

from ...concurrency import AsyncRuntime

_log = logging.getLogger("abstractcore")
_STDIN, _STDOUT, _STDERR = 0, 1, 2
_MOST_UNWRITTEN = 256
"""So many messages may wait to be written before no more are read."""
_CLOSING_SECONDS = 2.0
_Reader: TypeAlias = MemoryObjectReceiveStream[SessionMessage | Exception]
_Writer: TypeAlias = MemoryObjectSendStream[SessionMessage]


@dataclass(frozen=True, slots=True)
class ProtocolDescriptors:
    """The descriptors that carry the protocol."""

    incoming: int
    outgoing: int


def claim_standard_streams() -> ProtocolDescriptors:
    """Returns copies of stdin and stdout for the protocol. From then on, in this process and its children, stdin is
    empty, and what is printed goes to stderr. Raises `OSError` if one of them is closed.
    """
    wire = ProtocolDescriptors(os.dup(_STDIN), os.dup(_STDOUT))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, _STDIN)
    try:
        os.dup2(_STDERR, _STDOUT)
    except OSError:  # stderr is closed
        os.dup2(nothing, _STDOUT)
    os.close(nothing)
    return wire


async def serve_stdio(server: Server[Any], wire: ProtocolDescriptors, limit: int) -> None:
    """Serves one client until the end of its input. Lines of more than `limit` bytes are refused."""
    async with _streams(wire, limit) as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


@asynccontextmanager
async def _streams(wire: ProtocolDescriptors, limit: int) -> AsyncGenerator[tuple[_Reader, _Writer]]:
    """Yields the streams of messages; their end is that of stdin, or a stdout that nobody reads."""
    received, reader = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writer, written = anyio.create_memory_object_stream[SessionMessage](0)
    answers = writer.clone()
    loop, wrote = asyncio.get_running_loop(), asyncio.Event()

    async def take(line: bytes | None) -> None:
        while written.statistics().tasks_waiting_send > _MOST_UNWRITTEN:
            wrote.clear()
            await wrote.wait()
        await _take(line, limit, received, answers)

    def deliver(line: bytes | None) -> bool:
        """Hands a line to the event loop, from the thread; returns whether more can be taken."""
        coroutine = take(line)
        try:
            asyncio.run_coroutine_threadsafe(coroutine, loop).result()
        except RuntimeError:  # the loop is closed
            coroutine.close()
            return False
        except (CancelledError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return False
        return True

    async def write() -> None:
        async with written:
            async for message in written:
                try:
                    line = message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                    await runtime.invoke(_write_all, wire.outgoing, line)
                    wrote.set()
                except OSError:  # nobody reads
                    await received.aclose()
                    return

    runtime = AsyncRuntime()
    threading.Thread(target=_read_lines, args=(wire.incoming, limit, deliver), name="stdin", daemon=True).start()
    writing = asyncio.create_task(write())
    try:
        yield reader, writer
        await answers.aclose()
        await asyncio.wait([writing], timeout=_CLOSING_SECONDS)
    finally:
        writing.cancel()
        for stream in (received, reader, writer, answers, written):
            stream.close()


async def _take(
    line: bytes | None, limit: int, received: MemoryObjectSendStream[SessionMessage | Exception], answers: _Writer
) -> None:
    if line is None:
        await received.aclose()
        return
    if not line.strip():
        return
    if len(line) > limit:
        await answers.send(_refusal(None, types.INVALID_REQUEST, f"the message is longer than {limit:,} bytes"))
        return
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        await answers.send(_invalid(line))
        return
    await received.send(SessionMessage(message))


def _read_lines(incoming: int, limit: int, deliver: Callable[[bytes | None], bool]) -> None:
    """Reads in a thread, which nothing needs to end: the process may end while it waits for the next line."""
    with suppress(OSError), open(incoming, "rb", closefd=False) as file:
        while line := file.readline(limit + 1):
            if len(line) > limit and not line.endswith(b"\n"):
                _skip_line(file)
            if not deliver(line):
                return
    deliver(None)


def _skip_line(file: BinaryIO) -> None:
    while (rest := file.readline(1 << 16)) and not rest.endswith(b"\n"):
        pass


def _write_all(outgoing: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(outgoing, view) :]


def _invalid(line: bytes) -> SessionMessage:
    """Returns the answer to a line that is not a message, with its id if it has one."""
    try:
        decoded: Any = json.loads(line)
    except (ValueError, RecursionError):
        return _refusal(None, types.PARSE_ERROR, "Parse error: expected one JSON-RPC message a line")
    given: Any = cast("dict[str, Any]", decoded).get("id") if isinstance(decoded, dict) else None
    request_id = given if isinstance(given, str | int) and not isinstance(given, bool) else None
    return _refusal(request_id, types.INVALID_REQUEST, "not a JSON-RPC 2.0 request or notification")


def _refusal(request_id: str | int | None, code: int, message: str) -> SessionMessage:
    error = types.ErrorData(code=code, message=message)
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error))
