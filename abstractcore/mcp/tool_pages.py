"""Pages of a list of tools without the invalid ones: the SDK refuses a page with one of them as a whole."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from mcp.shared.inbound import find_invalid_x_mcp_header
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse, ListToolsResult
from mcp_types.methods import validate_server_result
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from ..schema.base_error import one_line
from ..toolservers.base import off_loop

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams

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
