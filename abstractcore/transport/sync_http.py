"""The sync transport: its coroutines never suspend, so that plain code can run them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from typing import cast

import httpx2

from ..schema import WireRequest
from .failures import FAILURES, as_ours
from .messages import cut, lower_headers, to_http
from .settings import Route, Routes, TransportSettings


class SyncHttpTransport:
    """Connections shared by all threads of a process. A forked child starts with none."""

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._routes = Routes(settings)
        self._pools: dict[Route, httpx2.HTTPTransport] = {}
        self._process = os.getpid()
        self._lock = threading.Lock()

    async def open(self, request: WireRequest, timeout: float) -> SyncHttpBody:
        """Send `request` and read the response's head; `timeout` in seconds bounds each step."""
        try:
            http_request = to_http(request, timeout)
            response = self._pool(request.url).handle_request(http_request)
        except FAILURES as error:
            raise as_ours(error, request.url) from None
        return SyncHttpBody(response, request.url)

    async def close(self) -> None:
        """Close idle connections."""
        self.close_now()

    def close_now(self) -> None:
        """As `close`, from plain code."""
        with self._lock:
            pools, self._pools = self._pools, {}
        if self._process == os.getpid():
            for pool in pools.values():
                pool.close()

    def _pool(self, url: str) -> httpx2.HTTPTransport:
        route = self._routes.of(url)
        if self._process == os.getpid():
            pool = self._pools.get(route)
            if pool is not None:
                return pool
        with self._lock:
            if self._process != os.getpid():
                self._process, self._pools = os.getpid(), {}
            if route not in self._pools:
                scheme, proxy = route
                self._pools[route] = httpx2.HTTPTransport(
                    verify=self._settings.tls(scheme), limits=self._settings.limits(), proxy=proxy
                )
            return self._pools[route]


class SyncHttpBody:
    """A response being read."""

    __slots__ = ("_chunks", "_response", "_url", "headers", "status")

    def __init__(self, response: httpx2.Response, url: str) -> None:
        self._response = response
        self._url = url
        self._chunks: Iterator[bytes] = response.iter_bytes()
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = lower_headers(response)

    async def read(self) -> bytes:
        """The next piece of the body; empty at its end."""
        try:
            return next(self._chunks, b"")
        except FAILURES as error:
            raise as_ours(error, self._url) from None

    async def close(self) -> None:
        """Give the connection back, or cut it if the body is not read to its end."""
        close_generator = getattr(cast(object, self._chunks), "close", None)
        try:
            if close_generator is not None:
                close_generator()
            self._response.close()
        except ValueError:
            # Another thread is inside the generator: ending its socket ends the read there, which then closes.
            cut(self._response)

    def abort(self) -> None:
        """Cut the connection from another thread."""
        cut(self._response)
