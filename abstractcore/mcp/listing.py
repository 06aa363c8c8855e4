"""`ToolListing`: the tools of a server while one connection to it lasts, listed again when they may have changed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
from mcp import Client, MCPError
from mcp_types import ToolListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ..errors import ToolServerError
from .tool_pages import MOST_LISTED, invalid_tools_of

if TYPE_CHECKING:
    from mcp_types import Tool

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
