"""The sync transport, on httpx2: its coroutines never suspend, so that plain code can run them."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from typing import cast

import httpcore2
import httpx2

from ..ports import Body
from ..schema import WireRequest
from ..schema.wire import unexpected_encoding
from .decompression import Decompressor, decompressor_for
from .failures import FAILURES, as_ours, broken
from .http_pools import sync_pool
from .leases import Loan
from .messages import UnreadBody, cut_after_surplus, head_of, to_http
from .settings import Route, Routes, TransportSettings, proxy_in_use
from .timeouts import Timeouts


class SyncHttpTransport:
    """Connections shared by all threads of a process. A forked child has its own, and leaves its parent's alone."""

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._routes = Routes(settings)
        self.secrets = self._routes.secrets
        self._pools: dict[tuple[int, Route], httpcore2.ConnectionPool] = {}

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Send `request` and read the response's head in `timeout` seconds; connecting has ten at most."""
        loan, timeouts = Loan(), Timeouts(timeout)
        try:
            http_request = to_http(request, timeouts)
            response = self._pool(request.url).handle_request(http_request)
        except FAILURES as error:
            failure = as_ours(error, request.url, timeout, proxy_in_use(self._settings, self._routes.of(request.url)))
        else:
            loan.begin()
            # Only the end of the loan is traced: the other events would cost 10 us a call.
            cast("dict[str, object]", http_request.extensions)["trace"] = loan.trace
            return begun(response, request.url, loan, timeouts)
        raise failure

    async def close(self) -> None:
        """Close idle connections."""
        self.close_now()

    def close_now(self) -> None:
        """As `close`, from plain code."""
        for place in list(self._pools):
            if place[0] == os.getpid():
                pool = self._pools.pop(place, None)
                if pool is not None:
                    pool.close()

    def _pool(self, url: str) -> httpcore2.ConnectionPool:
        route = self._routes.of(url)
        place = os.getpid(), route
        pool = self._pools.get(place)
        if pool is None:
            pool = self._pools.setdefault(place, sync_pool(self._settings, route))
        return pool


def begun(response: httpx2.Response | httpcore2.Response, url: str, loan: Loan, timeouts: Timeouts) -> Body:
    """The body of a response whose head has been read."""
    body = SyncHttpBody(response, url, loan, timeouts)
    if unexpected_encoding(body.headers) is None:
        return body
    response.close()
    return UnreadBody(body)


def _chunks(response: httpx2.Response | httpcore2.Response, headers: Mapping[str, str]) -> Iterator[bytes]:
    """The body, decompressed."""
    if isinstance(response, httpcore2.Response):
        pieces = _pieces(response)
    elif response.is_stream_consumed:  # by a hook of the user's client
        return response.iter_bytes()
    else:
        pieces = response.iter_raw()
    decompressor = decompressor_for(headers)
    return pieces if decompressor is None else _decompressed(pieces, decompressor)


def _decompressed(pieces: Iterator[bytes], decompressor: Decompressor) -> Iterator[bytes]:
    with closing(cast("Generator[bytes]", pieces)):
        for piece in pieces:
            yield from decompressor.feed(piece)


def _pieces(response: httpcore2.Response) -> Iterator[bytes]:
    """The body as it comes. The connection is given back at its end, and also when what is left of it is dropped."""
    try:
        yield from cast("Iterable[bytes]", response.stream)
    finally:
        cut_after_surplus(response)
        response.close()


class SyncHttpBody:
    """A response being read."""

    __slots__ = ("_aborted", "_chunks", "_loan", "_response", "_timeouts", "_url", "headers", "status")

    def __init__(
        self, response: httpx2.Response | httpcore2.Response, url: str, loan: Loan, timeouts: Timeouts
    ) -> None:
        self._response = response
        self._url = url
        self._loan = loan
        self._timeouts = timeouts
        self._aborted = False
        self.status, self.headers = head_of(response)
        self._chunks = _chunks(response, self.headers)

    async def read(self) -> bytes:
        """The next piece of the body; empty at its end."""
        self._timeouts.restart()
        try:
            piece = next(self._chunks, b"")
        except FAILURES as error:
            failure = as_ours(error, self._url, self._timeouts.seconds)
        else:
            if not self._aborted:
                return piece
            failure = broken(self._url, "it was cut on this side")
        raise failure

    async def close(self) -> None:
        """Give the connection back, or cut it if the body is not read to its end."""
        close_generator = getattr(cast(object, self._chunks), "close", None)
        try:
            if close_generator is not None:
                close_generator()
            self._response.close()
        except ValueError:
            # Another thread is inside the generator: ending its socket ends the read there, which then closes.
            self.abort()

    def abort(self) -> None:
        """Cut the connection from another thread; in a forked child it is the parent's, and stays."""
        self._aborted = self._loan.cut(self._response)
