"""Connections lent to responses: one may be cut from outside until it is given back, and never after."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable
from typing import Any, Literal, TypeVar, cast

import httpcore2
import httpx2

from ..errors import RequestTimeoutError
from .failures import ProxyInUse, none_came_free, slow_to_answer, slow_to_connect
from .messages import shut_down

T = TypeVar("T")
_LENT = "http11.send_request_headers.started"
_GIVEN_BACK = "http11.response_closed.started"
"""What httpx2 traces; the second comes before anybody else can have the connection."""
_CONNECTING = "connect_tcp.started"
_CONNECTED = ("connect_tcp.complete", "start_tls.complete")


class Loan:
    """The connection of one request, told of its beginning and end as httpx2's `trace` extension.

    In a forked child it is the parent's, and stays.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        # Reentrant: while an alarm cuts the connection, its thread may collect the stream, which gives it back.
        self._lock = threading.RLock()
        self._lent = False
        self._waiting_for: Literal["pool", "connection", "answer"] = "pool"
        self._new: Any = None
        """The connection, if this request made it: httpx2 names no other before the response."""
        self.was_cut = False

    def trace(self, event: str, info: object) -> None:
        """Note an event of httpx2's."""
        if event == _LENT:
            self.begin()
        elif event == _GIVEN_BACK:
            self.end()
        elif event.endswith(_CONNECTED):
            self._new = cast("dict[str, object]", info)["return_value"]
        elif event.endswith(_CONNECTING):
            self._waiting_for = "connection"

    def begin(self) -> None:
        """Note that the connection is lent to this request."""
        if self._process == os.getpid():
            with self._lock:
                self._lent, self._waiting_for = True, "answer"

    def end(self) -> None:
        """Note that the connection is given back; to be called before anybody else can have it."""
        if self._process == os.getpid():
            with self._lock:
                self._lent, self._new = False, None

    async def atrace(self, event: str, info: object) -> None:
        """As `trace`, for event loops."""
        self.trace(event, info)

    def cut(self, response: httpx2.Response | httpcore2.Response) -> bool:
        """Shut the socket down, whichever thread reads it; in HTTP/2 it is others' too, and stays. False in a child."""
        if self._process != os.getpid():
            return False
        with self._lock:
            if self._lent:
                shut_down(response.extensions["network_stream"].get_extra_info("socket"))
        return True

    def cut_new(self) -> None:
        """Before there is a response: shut the socket down if this request made the connection."""
        with self._lock:
            if self._new is not None and self._process == os.getpid():
                self.was_cut = True
                shut_down(self._new.get_extra_info("socket"))

    async def within(self, timeout: float, sending: Awaitable[T]) -> T:
        """What `sending` gives; raises `TimeoutError` after `timeout` seconds. In an event loop.

        However it fails, a connection that it made is closed: a TLS handshake that is cancelled leaves it open.
        """
        try:
            async with asyncio.timeout(timeout):
                return await sending
        except BaseException:
            connection, self._new = self._new, None
            if connection is not None:
                await connection.aclose()
            raise

    def too_late(self, url: str, seconds: float, proxy: ProxyInUse | None) -> RequestTimeoutError:
        """The error for a request whose time is up, by what it waited for last."""
        if self._waiting_for == "answer":
            return slow_to_answer(url, seconds)
        if self._waiting_for == "pool":
            return none_came_free(url, seconds)
        return slow_to_connect(url, seconds, proxy)
