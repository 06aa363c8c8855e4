"""Connections lent to responses: one may be cut from outside until it is given back, and never after."""

from __future__ import annotations

import os
import threading

import httpx2

from .messages import shut_down

_LENT = "http11.send_request_headers.started"
_GIVEN_BACK = "http11.response_closed.started"
"""What httpx2 traces; the second comes before anybody else can have the connection."""


class Loan:
    """The connection of one request, told of its beginning and end as httpx2's `trace` extension.

    In a forked child it is the parent's, and stays.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        # Reentrant: while an alarm cuts the connection, its thread may collect the stream, which gives it back.
        self._lock = threading.RLock()
        self._lent = False

    def trace(self, event: str, info: object) -> None:
        """Note an event of httpx2's."""
        if event in (_LENT, _GIVEN_BACK) and self._process == os.getpid():
            with self._lock:
                self._lent = event == _LENT

    async def atrace(self, event: str, info: object) -> None:
        """As `trace`, for event loops."""
        self.trace(event, info)

    def cut(self, response: httpx2.Response) -> bool:
        """Shut the socket down, whichever thread reads it; in HTTP/2 it is others' too, and stays. False in a child."""
        if self._process != os.getpid():
            return False
        with self._lock:
            if self._lent:
                shut_down(response.extensions["network_stream"].get_extra_info("socket"))
        return True
