"""`ToolServer`: tools that must be asked for before a call, such as those of an MCP server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..schema import CallWarning

if TYPE_CHECKING:
    from .tool import Tool


@dataclass(frozen=True, slots=True)
class ServedTools:
    """The tools that a server offers now, in a stable order, and warnings for the response."""

    tools: tuple[Tool[..., Any], ...] = ()
    warnings: tuple[CallWarning, ...] = ()


class ToolServer(Protocol):
    """A source of tools that needs I/O to list them. It can be an item of `tools=[...]`."""

    @property
    def name(self) -> str:
        """Names the server in errors and warnings; precedes the names of its tools where they clash with others."""
        ...

    async def served_tools(self, deps: object) -> ServedTools:
        """Returns the tools for a call with `deps`, which are the caller's own object; called once for every call.

        It runs in the event loop of async calls, or in that which sync calls use for async functions. Raises
        `ToolServerError` if the call cannot be made without the server.
        """
        ...
