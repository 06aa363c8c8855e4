"""`ToolListing`: the tools of a server while one connection to it lasts, listed again when they may have changed.

Pages of a list of tools without the invalid ones: the SDK refuses a page with one of them as a whole. The definitions
of a server's tools as `ToolSpec`s.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

import anyio
from mcp import Client, MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse, ListToolsResult, ToolListChangedNotification
from mcp_types.methods import validate_server_result
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from ..errors import ToolServerError
from ..schema import CallWarning, SchemaError, ToolSpec
from ..schema.base_error import one_line, shown
from ..toolservers import UNTRUSTED_AND_SENDS, Definition, Labels, cleaned, cleaned_name, cleaned_schema, labels_of
from ..toolservers.base import off_loop

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams
    from mcp_types import Tool
    from mcp_types import Tool as MCPTool

_METHOD = "tools/list"
MOST_LISTED = 10_000
"""How many tools, resources or prompts a server may list, on one page or on all of them."""
_INVALID_KEY = "abstractcore/invalidTools"
"""The member of `_meta` in which a page carries what was taken out."""


@asynccontextmanager
async def with_valid_pages(
    transport: AbstractAsyncContextManager[TransportStreams],
) -> AsyncGenerator[TransportStreams]:
    """Yields the streams of a transport; the lists of tools that it receives have valid definitions only."""
    async with transport as (messages, outgoing):
        yield _ValidPages(messages), outgoing


def invalid_tools_of(page: ListToolsResult) -> list[tuple[str, str]]:
    """Returns the name of each tool that was taken out of a page, as far as it has one, with the problem."""
    return (page.meta or {}).get(_INVALID_KEY, [])


class _ValidPages:
    """The messages of a server, in which lists of tools have been changed."""

    def __init__(self, messages: ReadStream[SessionMessage | Exception]) -> None:
        self._messages = messages
        self._version = LATEST_MODERN_VERSION

    @property
    def last_context(self) -> Any:
        """The context of the sender of the last message, if the transport keeps it."""
        return getattr(self._messages, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        return await self._read(await self._messages.receive())

    async def aclose(self) -> None:
        await self._messages.aclose()

    def __aiter__(self) -> _ValidPages:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return await self._read(await self._messages.__anext__())

    async def __aenter__(self) -> _ValidPages:
        await self._messages.__aenter__()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> bool | None:
        return await self._messages.__aexit__(exc_type, exc_val, exc_tb)

    async def _read(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCResponse):
            result = item.message.result
            if result.get("protocolVersion") in HANDSHAKE_PROTOCOL_VERSIONS:  # of `initialize`
                self._version = cast(str, result["protocolVersion"])
            elif isinstance(tools := result.get("tools"), list):
                result["tools"] = cast("list[Any]", tools)[: MOST_LISTED + 1]
                await off_loop(cast("list[Any]", tools), _remove_invalid, result, self._version)
        return item


def _remove_invalid(result: dict[str, Any], version: str) -> None:
    """Moves the invalid tools of a page into its `_meta`, by name with the problem."""
    tools, meta = cast("list[Any]", result["tools"]), result.get("_meta")
    problems = _problems(result, tools, version)
    if problems:
        result["tools"] = [tool for index, tool in enumerate(tools) if index not in problems]
    if isinstance(meta, dict) or (problems and meta is None):  # else the SDK refuses the page for it
        found = [(_name_of(tools[index]), problem) for index, problem in problems.items()]
        result["_meta"] = {**cast("dict[str, Any]", meta or {}), _INVALID_KEY: found}


def _problems(result: dict[str, Any], tools: list[Any], version: str) -> dict[int, str]:
    """Returns the errors of the SDK about a page, by the index of the tool."""
    problems: dict[int, str] = {}
    for validate in (
        lambda: validate_server_result(_METHOD, version, result),
        lambda: ListToolsResult.model_validate(result, by_name=False),
    ):
        try:
            validate()
        except ValidationError as error:
            for each in error.errors(include_url=False, include_context=False, include_input=False):
                at, *path = each["loc"][1:] or (None,)
                if each["loc"][0] == "tools" and isinstance(at, int):
                    where = ".".join(map(str, path)) or "it"
                    problems.setdefault(at, one_line(f"{where}: {each['msg']}", 200))
    if version in MODERN_PROTOCOL_VERSIONS:
        for index, tool in enumerate(tools):
            reason = None if index in problems else find_invalid_x_mcp_header(tool["inputSchema"])
            if reason is not None:
                problems[index] = one_line(f"inputSchema: x-mcp-header: {reason}", 200)
    return dict(sorted(problems.items()))


def _name_of(tool: Any) -> str:
    name: Any = cast("dict[str, Any]", tool).get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else ""


_log = logging.getLogger("abstractcore")
_MOST_PAGES = 100


@dataclass(frozen=True, slots=True, eq=False)
class ListedTools:
    """The tools of a server, and the names of those that were left out since they are invalid, with the problems."""

    tools: tuple[Tool, ...] = ()
    invalid: tuple[tuple[str, str], ...] = ()


class ToolListing:
    """What is known of the tools of `server`. `shown` is the text of an error for logs."""

    def __init__(self, server: str, shown: Callable[[BaseException], str]) -> None:
        self._server = server
        self._shown = shown
        self._listed: ListedTools | None = None
        self._fresh_until = 0.0
        self._is_watched = False
        self._changes = 0
        self._listing = anyio.Lock()

    @property
    def known(self) -> ListedTools | None:
        """The tools, if they were listed and have not changed since."""
        return self._listed if self._is_watched or time.monotonic() < self._fresh_until else None

    async def tools(self, client: Client) -> ListedTools:
        """Returns the tools, listed once for callers at the same time. Raises `ToolServerError` for a list without
        end, and what the SDK raises."""
        async with self._listing:
            return self.known or await self._listed_now(client)

    async def watch(self, client: Client) -> None:
        """Listens for changes of the tools, if the server announces them, so that they are listed once."""
        capabilities = client.server_capabilities.tools
        is_modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not is_modern or capabilities is None or not capabilities.list_changed:
            return
        try:
            async with client.listen(tools_list_changed=True) as changes:
                self._is_watched = bool(changes.honored.tools_list_changed)
                async for _ in changes:
                    self._forget()
        except (MCPError, RuntimeError, TimeoutError) as error:
            _log.debug("changes of the tools of %s are not announced: %s", self._server, self._shown(error))
        self._is_watched, self._listed = False, None

    async def receive(self, message: Any) -> None:
        """Takes a message of the server that is for nobody else; before revision 2026-07-28 changes are such."""
        if isinstance(message, ToolListChangedNotification):
            self._forget()

    def _forget(self) -> None:
        """Has the tools listed again by the next call."""
        self._listed = None
        self._changes += 1

    async def _listed_now(self, client: Client) -> ListedTools:
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            self._is_watched = True  # a notification ends it
        tools: list[Tool] = []
        invalid: list[tuple[str, str]] = []
        cursor, ttl, changes = None, None, self._changes
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor, cache_mode="bypass")
            tools += page.tools
            invalid += invalid_tools_of(page)
            ttl = page.ttl_ms if ttl is None else min(ttl, page.ttl_ms)
            if len(tools) + len(invalid) > MOST_LISTED:
                raise ToolServerError(f"the server {self._server} lists more than {MOST_LISTED:,} tools.")
            cursor = page.next_cursor
            if cursor is None:
                break
        if cursor is not None:
            raise ToolServerError(f"the server {self._server} lists tools without end: {len(tools):,} so far.")
        listed = ListedTools(tuple(tools), tuple(invalid))
        if changes == self._changes:  # else they have changed while they were listed: they are listed again
            self._fresh_until = time.monotonic() + (ttl or 0) / 1000
            self._listed = listed
        return listed


_LONGEST_NAME = 256
_LONGEST_DESCRIPTION = 16_000
_LONGEST_SCHEMA = 256_000


def definitions_of(
    listed: ListedTools, server: str, labels: Labels | None, *, defer: bool
) -> tuple[list[Definition], list[CallWarning]]:
    """Returns the definitions of a server's tools in its order, and a warning for each that cannot be offered.

    Characters that a person cannot see are removed. Labels that are not given follow from `openWorldHint`, which is
    true unless a server says otherwise (https://modelcontextprotocol.io/specification, `ToolAnnotations`).
    """
    found: dict[str, Definition] = {}
    warnings = [_left_out(name, server, problem) for name, problem in listed.invalid]
    for tool in listed.tools:
        name = cleaned_name(tool.name)
        problem = _problem(tool, name, found)
        if problem is None:
            try:
                found[name] = Definition.of(tool.name, _spec(tool, name, labels, defer=defer))
            except SchemaError as error:
                problem = str(error)
        if problem is not None:
            warnings.append(_left_out(tool.name, server, problem))
    return list(found.values()), warnings


def _left_out(name: str, server: str, problem: str) -> CallWarning:
    message = f"the tool {shown(name)} of the server {server} is not offered: {problem}"
    return CallWarning("tool_left_out", f"tools.{server}", message)


def _problem(tool: MCPTool, name: str, found: Mapping[str, Definition]) -> str | None:
    """Returns why a tool cannot be offered, if it cannot."""
    if not name:
        return "it has no name"
    if len(name) > _LONGEST_NAME:
        return f"its name has {len(name):,} characters (at most {_LONGEST_NAME})"
    if name in found:
        return "another one has the same name"
    if len(tool.description or "") > _LONGEST_DESCRIPTION:
        return f"its description has {len(tool.description or ''):,} characters (at most {_LONGEST_DESCRIPTION:,})"
    if len(repr(tool.input_schema)) > _LONGEST_SCHEMA:
        return f"the schema of its arguments is longer than {_LONGEST_SCHEMA:,} characters"
    return None


def _spec(tool: MCPTool, name: str, labels: Labels | None, *, defer: bool) -> ToolSpec:
    hints = tool.annotations
    read_only = hints is not None and hints.read_only_hint is True
    is_open = hints is None or hints.open_world_hint is not False
    return ToolSpec(
        name,
        cleaned(tool.description or tool.title or ""),
        cleaned_schema(tool.input_schema),
        read_only=read_only,
        idempotent=read_only or (hints is not None and hints.idempotent_hint is True),
        destructive=not read_only and (hints is None or hints.destructive_hint is not False),
        defer=defer,
        labels=labels_of(name, labels, default=UNTRUSTED_AND_SENDS if is_open else ()),
    )
