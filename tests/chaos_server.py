"""The chaos server: scripted HTTP responses, and responses in the format of Chat Completions."""

from __future__ import annotations

import json
from typing import Any

from abstractcore.testing.http_server import (
    CUT,
    HANG,
    LAST_CHUNK,
    PATIENCE_SECONDS,
    PROMPTLY_SECONDS,
    RESET,
    AcceptedConnection,
    Gate,
    Pause,
    ReceivedRequest,
    ScriptedServer,
    Step,
    answer,
    chunk,
    drip,
    stream_head,
)

__all__ = [
    "CUT",
    "DONE",
    "HANG",
    "LAST_CHUNK",
    "PATIENCE_SECONDS",
    "PROMPTLY_SECONDS",
    "RESET",
    "USAGE",
    "AcceptedConnection",
    "Gate",
    "Pause",
    "ReceivedRequest",
    "ScriptedServer",
    "Step",
    "answer",
    "chunk",
    "completion",
    "completion_body",
    "delta",
    "drip",
    "event",
    "failure",
    "stream_head",
    "streamed",
]


def completion(text: str = "hello", finish_reason: str = "stop", *, headers: dict[str, str] | None = None) -> bytes:
    """A whole chat completion."""
    return answer(completion_body(text, finish_reason), **(headers or {}))


def completion_body(text: str = "hello", finish_reason: str = "stop") -> dict[str, Any]:
    """A chat completion without HTTP around it."""
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "model": "m-1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }


def failure(status: int, message: str = "no", *, error: dict[str, Any] | None = None, **headers: str) -> bytes:
    """An error as this wire format has it."""
    return answer({"error": {"message": message, **(error or {})}}, status, **headers)


DONE = b"data: [DONE]\n\n"


def raw_answer(body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def event(data: dict[str, Any] | bytes) -> bytes:
    """A server-sent event."""
    return b"data: " + (data if isinstance(data, bytes) else json.dumps(data).encode()) + b"\n\n"


def delta(text: str | None = None, finish_reason: str | None = None, **rest: Any) -> bytes:
    """The event of a piece of an answer's text."""
    content = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": content, "finish_reason": finish_reason}
    return event({"id": "chat-1", "object": "chat.completion.chunk", "model": "m-1", "choices": [choice], **rest})


USAGE = event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}})


def streamed(*texts: str) -> bytes:
    """A whole streamed answer, a chunk an event."""
    events = [*(delta(text) for text in texts), delta(finish_reason="stop"), USAGE, DONE]
    return stream_head() + b"".join(map(chunk, events)) + LAST_CHUNK
