"""Builds HTTP/1.1 responses as bytes, valid or not, for scripts of a `ScriptedServer`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

LAST_CHUNK = b"0\r\n\r\n"
"""The end of a chunked body."""


def answer(
    body: bytes | str | Mapping[str, Any] = b"",
    status: int = 200,
    *,
    content_type: str = "application/json",
    length: int | None = None,
    **headers: str,
) -> bytes:
    """Returns a complete response; header names are written with underscores. `length` overrides Content-Length."""
    data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    rows = {"content_type": content_type, "content_length": str(len(data) if length is None else length), **headers}
    return head(status, rows) + data


def stream_head(**headers: str) -> bytes:
    """Returns the head of a chunked response."""
    return head(200, {"content_type": "text/event-stream", "transfer_encoding": "chunked", **headers})


def chunk(data: bytes) -> bytes:
    """Returns a chunk of a chunked body."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def head(status: int, headers: Mapping[str, str]) -> bytes:
    """Returns the head of a response."""
    rows = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} X\r\n{rows}\r\n".encode("latin-1")
