"""`ToolRunner`: runs the calls of clients, a limited number at once, and returns results without credentials.

The parts of a tool's result as the content of an MCP result.

`MCPServerLimits`: what one MCP server accepts and returns at most.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import mcp_types as types

from ...concurrency import AsyncRuntime
from ...errors import AbstractCoreError, MediaError, ToolError
from ...ports import ToolContext
from ...schema import AudioPart, Blob, ContentPart, ImagePart, SchemaError, TextPart, ToolCall, ToolStep
from ...schema.base_error import one_line
from ...scrubbing import Secrets
from ...tools.execution import execute, prepared_or_refused
from ...tools.names import PreparedArguments
from .offered_tools import OfferedTool

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_TEXT_TYPES = ("text/", "application/json", "application/xml")


def mcp_content(parts: Iterable[ContentPart]) -> list[types.ContentBlock]:
    """Returns the content of a result. Raises `MediaError` for a file whose content is not at hand."""
    return [_block(part) for part in parts]


def _block(part: ContentPart) -> types.ContentBlock:
    if isinstance(part, TextPart):
        return types.TextContent(text=part.text)
    blob = part.blob
    if blob.form == "url":
        uri = blob.location or ""
        return types.ResourceLink(name=blob.name or uri, uri=uri, mime_type=blob.media_type)
    data = _data(blob)
    if isinstance(part, ImagePart):
        return types.ImageContent(data=_base64(data), mime_type=blob.media_type)
    if isinstance(part, AudioPart):
        return types.AudioContent(data=_base64(data), mime_type=blob.media_type)
    return types.EmbeddedResource(resource=_resource(blob, data))


def _resource(blob: Blob, data: bytes) -> types.TextResourceContents | types.BlobResourceContents:
    uri = f"attachment:///{quote(blob.name or blob.sha256 or 'file')}"
    if blob.media_type.startswith(_TEXT_TYPES):
        with suppress(UnicodeDecodeError):  # text in another charset is sent as it is
            return types.TextResourceContents(uri=uri, mime_type=blob.media_type, text=data.decode())
    return types.BlobResourceContents(uri=uri, mime_type=blob.media_type, blob=_base64(data))


def _data(blob: Blob) -> bytes:
    try:
        return blob.read()
    except (SchemaError, OSError):
        source = blob.name or blob.media_type
        raise MediaError(f"{source} cannot be sent: its content is not at hand.", source=source) from None


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


@dataclass(frozen=True, slots=True)
class MCPServerLimits:
    """The limits of a server. Sizes are in bytes, `timeout` in seconds for each call of a tool without one of its own.

    `running` calls of tools run at once, and `waiting` further ones wait; others get an error result. While
    `running` cancelled calls of sync functions still run in their threads, which nothing can end, no call is run.
    """

    running: int = 8
    waiting: int = 64
    timeout: float | None = 600.0
    request_bytes: int = 16 * 1024 * 1024
    result_bytes: int = 16 * 1024 * 1024
    file_bytes: int = 64 * 1024 * 1024
    sessions: int = 1000
    session_idle_seconds: float = 600.0
    connections: int = 256
    receive_seconds: float = 30.0
    """How long a client may take to send a request over HTTP, and may take nothing of an answer."""


_log = logging.getLogger("abstractcore")
Report = Callable[[float, float | None, str | None], None]


class ToolRunner:
    """Runs calls of `tools`. `llm` is what their `ToolContext` has; `secrets` are removed from all that they return."""

    def __init__(
        self, tools: Mapping[str, OfferedTool], limits: MCPServerLimits, secrets: Secrets | None = None, llm: Any = None
    ) -> None:
        self.tools = tools
        self._limits = limits
        self._secrets = secrets or Secrets()
        self._llm = llm
        self._runtime = AsyncRuntime()
        self._places = asyncio.Semaphore(limits.running)
        self._waiting = 0
        self._alone = {name: asyncio.Lock() for name, each in tools.items() if not each.tool.parallel}

    def cleaned(self, text: str) -> str:
        """Returns `text` without credentials."""
        return self._secrets.text(text)

    async def call(self, name: str, arguments: Mapping[str, Any], report: Report) -> types.CallToolResult:
        """Returns the result of a call of one of `tools`; whatever goes wrong is a result with `is_error`.

        `report` gets the progress of the tool, from any thread. Cancelling the task cancels the tool.
        """
        offered = self.tools[name]
        if self._waiting >= self._limits.waiting:
            return _error(f"the server is busy: {self._waiting} calls wait already. Try again later.")
        if self._runtime.abandoned >= self._limits.running:
            return _error(f"the server is busy: {self._runtime.abandoned} cancelled calls still run. Try again later.")
        async with self._place(name):
            try:
                step = await self._step(offered, name, arguments, report)
            except SchemaError as error:
                return _error(self.cleaned(f"invalid arguments: {one_line(str(error))}"))
            except ToolError as error:  # of a tool with on_error="raise"
                return _error(self.cleaned(error.message))
        if step.traceback is not None:
            _log.warning("the tool %r failed: %s", name, one_line(step.result.as_text))
            _log.debug("%s", step.traceback)
        return await self._runtime.call(self._result, offered, step)

    @asynccontextmanager
    async def _place(self, name: str) -> AsyncGenerator[None]:
        """Waits until the call may run."""
        alone = self._alone.get(name)
        self._waiting += 1
        try:
            if alone is not None:
                await alone.acquire()
            try:
                await self._places.acquire()
            except BaseException:
                if alone is not None:
                    alone.release()
                raise
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._places.release()
            if alone is not None:
                alone.release()

    async def _step(self, offered: OfferedTool, name: str, arguments: Mapping[str, Any], report: Report) -> ToolStep:
        """Returns the step of a call. Arguments, which may be large, are read and validated in a thread."""
        runtime, timeout = self._runtime, offered.tool.timeout or self._limits.timeout
        call, prepared = await runtime.call(_prepare, offered, name, arguments)
        if isinstance(prepared, ToolStep):
            return prepared
        deadline = None if timeout is None else runtime.now() + timeout
        context = ToolContext[Any](None, self._llm, call, call.id, runtime, deadline, report)
        return await execute(
            offered.tool, call, context, runtime, timeout=timeout, secrets=self._secrets, prepared=prepared
        )

    def _result(self, offered: OfferedTool, step: ToolStep) -> types.CallToolResult:
        """Returns the result of a step; reads files."""
        result = step.result
        length = len(result.as_text)
        if length > self._limits.result_bytes:
            return self._too_long(offered, length)
        secrets = self._secrets.for_content()
        parts = secrets.value(result.content)
        try:
            content = mcp_content(parts)
            structured = None if result.is_error else secrets.value(_structured_content(offered, step))
        except AbstractCoreError as error:
            return _error(self.cleaned(f"the result of {offered.tool.name} cannot be sent: {error}"))
        found = types.CallToolResult(content=content, structured_content=structured, is_error=result.is_error)
        size = len(found.model_dump_json(by_alias=True).encode())
        if size > self._limits.result_bytes:
            return self._too_long(offered, size)
        return found

    def _too_long(self, offered: OfferedTool, size: int) -> types.CallToolResult:
        limit = self._limits.result_bytes
        return _error(
            f"the result of {offered.tool.name} is too long: {size:,} bytes; the limit is {limit:,}. Ask for less."
        )


def _prepare(
    offered: OfferedTool, name: str, arguments: Mapping[str, Any]
) -> tuple[ToolCall, PreparedArguments | ToolStep | None]:
    call = ToolCall.of(uuid.uuid4().hex, name, arguments)
    return call, prepared_or_refused(offered.tool, call)


def _structured_content(offered: OfferedTool, step: ToolStep) -> Any:
    """Returns the structured content of a result; raises `ToolError` for one that does not match its output schema."""
    if offered.data_is_output:
        return step.data
    if offered.output_schema is None:
        return None
    text = "".join(part.text for part in step.result.content if isinstance(part, TextPart))
    try:
        value = json.loads(text, parse_constant=_refused)
    except ValueError as error:
        raise ToolError(f"it does not match its output schema: {error}") from None
    from jsonschema.validators import validator_for

    schema = dict(offered.output_schema)
    problem = next(iter(validator_for(schema)(schema).iter_errors(value)), None)
    if problem is not None:
        path = ".".join(map(str, problem.absolute_path)) or "the value"
        raise ToolError(f"it does not match its output schema: {path}: {one_line(problem.message)}")
    return value


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _error(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=message)], is_error=True)
