"""`ConnectionLease`: the connection of a request, which may be closed from outside until it is released."""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable
from typing import Any, Literal, TypeVar, cast

import httpcore2
import httpx2

from ..errors import RequestTimeoutError
from .failures import ProxyInUse, connect_timeout, pool_timeout, read_timeout
from .messages import shut_down

T = TypeVar("T")
_SENDING = "http11.send_request_headers.started"
_RELEASED = "http11.response_closed.started"
"""Trace events of httpx2; the second comes before other requests can use the connection."""
_CONNECTING = "connect_tcp.started"
_CONNECTED = ("connect_tcp.complete", "start_tls.complete")


class ConnectionLease:
    """The use of a connection by one request, tracked through httpx2's `trace` extension.

    In a forked child, where the connection is the parent's, it does nothing.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        # Reentrant: while an alarm closes the connection, its thread may garbage-collect the stream, which releases it.
        self._lock = threading.RLock()
        self._in_use = False
        self._waiting_for: Literal["pool", "connection", "answer"] = "pool"
        self._opened: Any = None
        """The connection, if this request opened it: before the response httpx2 reports only these."""
        self.was_cut = False

    def trace(self, event: str, info: object) -> None:
        """Handles a trace event of httpx2."""
        if event == _SENDING:
            self.begin()
        elif event == _RELEASED:
            self.end()
        elif event.endswith(_CONNECTED):
            self._opened = cast("dict[str, object]", info)["return_value"]
        elif event.endswith(_CONNECTING):
            self._waiting_for = "connection"

    def begin(self) -> None:
        """Marks the connection as in use by this request."""
        if self._process == os.getpid():
            with self._lock:
                self._in_use, self._waiting_for = True, "answer"

    def end(self) -> None:
        """Marks the connection as released; call it before other requests can use the connection."""
        if self._process == os.getpid():
            with self._lock:
                self._in_use, self._opened = False, None

    async def atrace(self, event: str, info: object) -> None:
        """Handles a trace event in async code."""
        self.trace(event, info)

    def cut(self, response: httpx2.Response | httpcore2.Response) -> bool:
        """Shuts the socket down, whichever thread reads it; not in HTTP/2, where requests share it. Returns False in a
        forked child."""
        if self._process != os.getpid():
            return False
        with self._lock:
            if self._in_use:
                shut_down(response.extensions["network_stream"].get_extra_info("socket"))
        return True

    def cut_new(self) -> None:
        """Shuts the socket down if this request opened the connection and has no response yet."""
        with self._lock:
            if self._opened is not None and self._process == os.getpid():
                self.was_cut = True
                shut_down(self._opened.get_extra_info("socket"))

    async def within(self, timeout: float, sending: Awaitable[T]) -> T:
        """Awaits `sending`; raises `TimeoutError` after `timeout` seconds.

        If it fails, closes a connection that it opened: a cancelled TLS handshake would leave it open.
        """
        import asyncio

        try:
            async with asyncio.timeout(timeout):
                return await sending
        except BaseException:
            connection, self._opened = self._opened, None
            if connection is not None:
                await connection.aclose()
            raise

    def timeout_error(self, url: str, seconds: float, proxy: ProxyInUse | None) -> RequestTimeoutError:
        """Returns the timeout error by what the request waited for last."""
        if self._waiting_for == "answer":
            return read_timeout(url, seconds)
        if self._waiting_for == "pool":
            return pool_timeout(url, seconds)
        return connect_timeout(url, seconds, proxy)
