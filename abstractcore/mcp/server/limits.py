"""`MCPServerLimits`: what one MCP server accepts and returns at most."""

from __future__ import annotations

from dataclasses import dataclass


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
