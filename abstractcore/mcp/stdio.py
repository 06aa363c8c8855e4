"""The transport to a server that is a child process: lines of JSON over its standard input and output."""

from __future__ import annotations

import json
import logging
import sys
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter

from ..schema.base_error import one_line

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_log = logging.getLogger("abstractcore")
_SECONDS_TO_EXIT = 2.0
"""How long a server may take to exit when its input ends, and again when it is asked to terminate
(https://modelcontextprotocol.io/specification, "Lifecycle": shutdown)."""
_POLL_SECONDS = 0.01
_KEPT_LINES = 10
_LONGEST_LINE = 500


@dataclass
class ServerOutput:
    """What a server printed that is not a message: the last lines, for errors.

    `exit_code` is None while it runs; `has_ended` says that no message can follow.
    """

    lines: deque[str] = field(default_factory=lambda: deque[str](maxlen=_KEPT_LINES))
    exit_code: int | None = None
    has_ended: bool = False
    problem: str | None = None
    errors_ended: anyio.Event = field(default_factory=anyio.Event, repr=False)

    def add(self, line: bytes) -> None:
        """Keeps the beginning of a line."""
        text = one_line(line[:_LONGEST_LINE].decode("utf-8", "replace").strip(), _LONGEST_LINE)
        if text:
            self.lines.append(text)

    def described(self) -> str:
        """Returns sentences about the end of the server and its output; empty if there is nothing to say."""
        said = [f"It {self.problem}." if self.problem else ""]
        if self.exit_code is not None:
            said.append(f"It ended with exit code {self.exit_code}.")
        if self.lines:
            said.append("Its last output: " + " | ".join(self.lines))
        return " ".join(each for each in said if each)


@asynccontextmanager
async def stdio_transport(
    command: list[str], env: Mapping[str, str] | None, cwd: str | None, longest: int, output: ServerOutput
) -> AsyncGenerator[TransportStreams]:
    """Starts a server and yields the streams of messages from and to it; ends it with all its child processes.

    Its environment has `env`, and of this process only what programs need (`PATH`, `HOME`, ...). A message may have
    `longest` bytes: a longer one ends the connection. Other lines are kept in `output`, as are those of
    its standard error. Raises `OSError` if it cannot be started.
    """
    if sys.platform == "win32":
        settings = StdioServerParameters(command=command[0], args=command[1:], env=dict(env or {}), cwd=cwd)
        async with stdio_client(settings) as streams:
            yield streams
        return
    environment = get_default_environment() | dict(env or {})
    process = await anyio.open_process(command, env=environment, cwd=cwd, start_new_session=True)
    to_session, messages = anyio.create_memory_object_stream[Any](0)
    outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, process, to_session, longest, output)
        tasks.start_soon(_write, process, from_session, to_session, output)
        tasks.start_soon(_keep_errors, process, output)
        try:
            yield messages, outgoing
        finally:
            with anyio.CancelScope(shield=True):
                messages.close()
                outgoing.close()
                await _stop(process, 0.0 if output.problem else _SECONDS_TO_EXIT)
            tasks.cancel_scope.cancel()


async def _read(process: Process, to_session: Any, longest: int, output: ServerOutput) -> None:
    assert process.stdout is not None
    async with to_session:
        async for line in _lines(process.stdout, longest, output):
            message = _message(line)
            if message is None:
                output.add(line)
                _log.debug("a server printed a line that is not a message: %s", output.lines and output.lines[-1])
                continue
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await to_session.send(SessionMessage(message))
                continue
            return
        output.has_ended = True
        await _last_words(process, output)


async def _last_words(process: Process, output: ServerOutput) -> None:
    """Waits for the exit code and the end of the errors, which tell why a server ended, if they come soon."""
    if output.problem is None and await _exits(process, _SECONDS_TO_EXIT):
        output.exit_code = process.returncode
        with anyio.move_on_after(_SECONDS_TO_EXIT):
            await output.errors_ended.wait()


def _message(line: bytes) -> JSONRPCMessage | None:
    """Returns the message of a line, if it is one. An invalid response is an error response: its request ends."""
    with suppress(ValueError):
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    try:
        value: Any = json.loads(line)
        with suppress(ValueError):  # lone surrogates
            text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
            return jsonrpc_message_adapter.validate_json(text, by_name=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not {"id", "result"} <= cast("dict[str, Any]", value).keys():
        return None
    id: Any = cast("dict[str, Any]", value)["id"]
    if isinstance(id, bool) or not isinstance(id, int | str):
        return None
    error = ErrorData(code=INTERNAL_ERROR, message="the server sent an invalid response")
    return JSONRPCError(jsonrpc="2.0", id=id, error=error)


async def _lines(stream: ByteReceiveStream, longest: int, output: ServerOutput) -> AsyncGenerator[bytes]:
    """Yields lines until the end of the stream; the last one may lack its end."""
    buffered = BufferedByteReceiveStream(stream)
    try:
        while True:
            yield await buffered.receive_until(b"\n", longest)
    except anyio.DelimiterNotFound:
        output.problem = f"sent a message of more than {longest:,} bytes"
    except anyio.IncompleteRead:
        output.add(buffered.buffer)
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        return


async def _write(process: Process, from_session: Any, to_session: Any, output: ServerOutput) -> None:
    assert process.stdin is not None
    try:
        async with from_session:
            async for message in from_session:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(text.encode() + b"\n")
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        await _last_words(process, output)
        await to_session.aclose()  # the session learns that the connection has ended


async def _keep_errors(process: Process, output: ServerOutput) -> None:
    assert process.stderr is not None
    pending = b""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
        async for chunk in process.stderr:
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                output.add(line)
            pending = pending[-_LONGEST_LINE:]
    output.add(pending)
    output.errors_ended.set()


async def _stop(process: Process, seconds: float) -> None:
    """Ends the input of a server, which may then take `seconds` to exit; terminates and at last kills it with its
    children.
    """
    from mcp.os.posix.utilities import terminate_posix_process_tree

    assert process.stdin is not None
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    await _exits(process, seconds)
    await terminate_posix_process_tree(process, _SECONDS_TO_EXIT)  # its children too, if it has exited
    await _exits(process, _SECONDS_TO_EXIT)
    await process.aclose()


async def _exits(process: Process, seconds: float) -> bool:
    """Returns whether the process ends in time. `process.wait` would also wait for children that hold its pipes."""
    with anyio.move_on_after(seconds):
        while process.returncode is None:  # noqa: ASYNC110 - a process has no event without a wait for its pipes
            await anyio.sleep(_POLL_SECONDS)
        return True
    return False
