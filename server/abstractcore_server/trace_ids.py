"""The ids of requests, which the records of their calls have too."""

from __future__ import annotations

import secrets
from contextvars import ContextVar

_waiting: ContextVar[list[str] | None] = ContextVar("abstractcore_server_trace_ids", default=None)


def new_trace_id() -> str:
    """Returns 32 hex digits (W3C Trace Context) that no one can guess."""
    return secrets.token_hex(16)


def begin_request(trace_id: str) -> None:
    """Makes `trace_id` the id of the first call of this task and its tasks; further calls get ids of their own."""
    _waiting.set([trace_id])


def next_trace_id() -> str:
    """Returns the id of a call that begins: the `new_id` of the server's `Services`."""
    waiting = _waiting.get()
    return waiting.pop() if waiting else new_trace_id()
