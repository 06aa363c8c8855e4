"""`Limits`: what the server accepts from clients, and how long it waits for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def _least(least: float, default: float) -> Any:
    return field(default=default, metadata={"least": least})


@dataclass(frozen=True, slots=True)
class Limits:
    """The table `[limits]` of the configuration. Sizes are in bytes, times in seconds."""

    body_bytes: int = _least(1, 64 * 1024 * 1024)
    """The largest body of a request, also after it was unpacked; of a form the largest content."""
    body_seconds: float = _least(0.001, 60.0)
    """How long a body may take to arrive."""
    head_bytes: int = _least(1, 64 * 1024)
    """The largest head of a request: its line and its headers."""
    head_seconds: float = _least(0.001, 30.0)
    """How long the head of a request may take to arrive, and how long a client may read nothing of a response."""
    connections: int = _least(1, 4096)
    """How many connections may be open. Beyond, the one that has waited longest for a part of a request is closed."""
    websockets: int = _least(1, 256)
    """How many WebSocket connections may be open. Beyond, the one that has been idle longest is closed."""
    websocket_seconds: float = _least(0.001, 3600.0)
    """How long a WebSocket connection may be open; a response that is being made is sent to its end."""
    requests: int = _least(1, 1024)
    """How many requests are answered at once. Others get status 429."""
    choices: int = _least(1, 8)
    """The highest number of answers to one request (`n`)."""
    call_seconds: float = _least(0.001, 600.0)
    """How long a call of a model may take."""
    backgrounds: int = _least(0, 64)
    """How many responses are made in the background at once. Others get status 429."""
    background_seconds: float = _least(0.001, 3600.0)
    """How long a call of a model in the background may take."""
    heartbeat_seconds: float = _least(0.001, 15.0)
    """After how long without data a stream gets a heartbeat."""
    drain_seconds: float = _least(0.001, 60.0)
    """How long a call goes on without its client, at a provider with `on_disconnect = "drain"`; and how long streams
    have to end when the server is stopped."""
    stored_seconds: float = _least(1, 30 * 24 * 3600.0)
    """How long responses, conversations and files are stored."""
    stored_bytes: int = _least(0, 1024 * 1024 * 1024)
    """How many bytes the files of one key, or of all clients without keys, may have together, with pending uploads."""
    stored_files: int = _least(0, 10_000)
    """How many files a key may have."""
    uploads: int = _least(0, 1000)
    """How many uploads a key may have that are not completed. They expire after an hour."""
    drains: int = _least(1, 64)
    """How many calls may go on without their clients at once. Others are cancelled."""
    tools: int = _least(1, 128)
    """How many tools of MCP servers a model is offered at once."""
    tool_rounds: int = _least(1, 16)
    """How many replies of a model may call tools of MCP servers in one request."""
    tool_calls: int = _least(0, 64)
    """How many calls of tools of MCP servers run in one request."""
    tool_seconds: float = _least(0.001, 60.0)
    """How long a call of such a tool may take."""
    tool_result_chars: int = _least(200, 50_000)
    """How many characters of the text of such a tool a model gets: longer ones are shortened in the middle."""
    tool_message_bytes: int = _least(1024, 16 * 1024 * 1024)
    """The largest message of an MCP server. One that sends a larger one is ended."""
