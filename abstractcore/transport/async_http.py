"""The async transport on httpx2: one connection pool per event loop, closed when the loop shuts down.

TCP and TLS for httpx2's async pools, with DNS look-ups outside the event loop's default executor. Connection pools of
event loops, closed when their loop shuts down. Runs nested async generators, with which httpx2 reads bodies, without
registering them with the event loop.

A loop that shuts down closes all async generators that began in it concurrently. A nested one is then closed twice at
once, which prints `RuntimeError: aclose(): asynchronous generator is already running`.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing
from functools import partial
from types import coroutine
from typing import Any, Generic, TypeVar, cast

import httpcore2
import httpx2

from ..concurrency.asynchronous import LoopLocal
from ..ports import Body
from ..schema import WireRequest
from ..schema.wire import unexpected_encoding
from .failures import FAILURES, broken_connection, map_error
from .messages import (
    ConnectionLease,
    Decompressor,
    JoinedWrites,
    UnreadBody,
    close_after_surplus,
    decompressor_for,
    head_of,
    step_seconds,
    to_http,
)
from .name_lookup import aaddresses
from .settings import ProxyRoute, ProxyRoutes, TransportSettings, proxy_in_use
from .sync_http import async_pool

PoolT = TypeVar("PoolT")


class LoopPools(Generic[PoolT]):
    """Pools by event loop and route. A forked child does not touch its parent's."""

    def __init__(self, make: Callable[[ProxyRoute], PoolT], close: Callable[[PoolT], Awaitable[object]]) -> None:
        self._make = make
        self._close = close
        self._loops: LoopLocal[dict[ProxyRoute, PoolT]] = LoopLocal(dict, self._close_pools)

    def __len__(self) -> int:
        """Returns the number of event loops that have pools."""
        return len(self._loops)

    async def of(self, route: ProxyRoute) -> PoolT:
        """Returns the pool of the running loop for `route`."""
        pools = self._loops.get()
        pool = pools.get(route)
        if pool is None:
            pool = pools[route] = self._make(route)
        return pool

    async def close(self) -> None:
        """Closes the pools of the running loop; later calls create new ones."""
        await self._loops.close()

    async def _close_pools(self, pools: dict[ProxyRoute, PoolT]) -> None:
        async with AsyncExitStack() as stack:
            for pool in pools.values():
                stack.push_async_callback(self._close, pool)


@coroutine
def first_piece(chain: AsyncIterator[bytes]) -> Generator[Any, Any, bytes]:
    """Returns the first item of `chain`, or empty bytes at its end. All nested generators begin before it waits.

    The loop closes a dropped chain as usual: closing the outermost generator closes the nested ones.
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(firstiter=None)
    try:
        steps = anext(chain, b"").__await__()
        sys.set_asyncgen_hooks(finalizer=_ignore)
        waits_for = next(steps)
    except StopIteration as stop:
        return stop.value
    finally:
        sys.set_asyncgen_hooks(*hooks)
    while True:
        try:
            sent = yield waits_for
        except BaseException as error:
            step = partial(steps.throw, error)
        else:
            step = partial(steps.send, sent)
        try:
            waits_for = step()
        except StopIteration as stop:
            return stop.value


def _ignore(generator: object) -> None:
    """Does nothing. Without this hook, Python would finalize a dropped generator, and warn if that waits."""


class AsyncHttpTransport:
    """Sends requests with httpx2, from any number of event loops."""

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._routes = ProxyRoutes(settings)
        self.secrets = self._routes.secrets
        self.pools = LoopPools(partial(async_pool, settings), httpcore2.AsyncConnectionPool.aclose)

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Sends `request` and reads the head of the response within `timeout` seconds; connecting takes ten at most."""
        lease = ConnectionLease()
        try:
            http_request = to_http(request, step_seconds(timeout), lease.atrace)
            pool = await self.pools.of(self._routes.of(request.url))
            response = await lease.within(timeout, pool.handle_async_request(http_request))
        except TimeoutError:
            failure = lease.timeout_error(
                request.url, timeout, proxy_in_use(self._settings, self._routes.of(request.url))
            )
        except FAILURES as error:
            failure = map_error(error, request.url, timeout, proxy_in_use(self._settings, self._routes.of(request.url)))
        else:
            return await response_body(response, request.url, lease, timeout)
        raise failure

    async def close(self) -> None:
        """Closes the connections of the running loop."""
        await self.pools.close()


async def response_body(
    response: httpx2.Response | httpcore2.Response, url: str, lease: ConnectionLease, timeout: float
) -> Body:
    """Returns the body of a response whose head has been read."""
    body = AsyncHttpBody(response, url, lease, timeout)
    if unexpected_encoding(body.headers) is None:
        return body
    await response.aclose()
    return UnreadBody(body)


def _chunks(response: httpx2.Response | httpcore2.Response, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
    """Yields the decompressed body."""
    if isinstance(response, httpcore2.Response):
        pieces = _pieces(response)
    elif response.is_stream_consumed:  # read by an event hook of the user's client
        return response.aiter_bytes()
    else:
        pieces = response.aiter_raw()
    decompressor = decompressor_for(headers)
    return pieces if decompressor is None else _decompress(pieces, decompressor)


async def _decompress(pieces: AsyncIterator[bytes], decompressor: Decompressor) -> AsyncIterator[bytes]:
    async with aclosing(cast("AsyncGenerator[bytes]", pieces)):
        async for packed in pieces:
            for piece in decompressor.feed(packed):
                yield piece


async def _pieces(response: httpcore2.Response) -> AsyncIterator[bytes]:
    """Yields the body as received. The connection is released at its end, and when the rest is dropped."""
    try:
        async for piece in cast("AsyncIterable[bytes]", response.stream):
            yield piece
    finally:
        close_after_surplus(response)
        await response.aclose()


class AsyncHttpBody:
    """The body of a response."""

    __slots__ = (
        "_aborted",
        "_begun",
        "_chunks",
        "_closing",
        "_lease",
        "_response",
        "_timeout",
        "_url",
        "headers",
        "status",
    )

    def __init__(
        self, response: httpx2.Response | httpcore2.Response, url: str, lease: ConnectionLease, timeout: float
    ) -> None:
        self._response = response
        self._url = url
        self._lease = lease
        self._timeout = timeout
        self._aborted = False
        self._begun = False
        self._closing = False
        self.status, self.headers = head_of(response)
        self._chunks = _chunks(response, self.headers)

    async def read(self) -> bytes:
        """Returns the next chunk of the body; empty at its end."""
        try:
            if self._begun:
                piece = await anext(self._chunks, b"")
            else:
                self._begun = True
                piece = await first_piece(self._chunks)
        except FAILURES as error:
            failure = map_error(error, self._url, self._timeout)
        else:
            if not self._aborted:
                return piece
            failure = broken_connection(self._url, "it was closed by the client")
        raise failure

    async def close(self) -> None:
        """Returns the connection to the pool, or closes it if the body was not read to its end."""
        if self._closing:  # in another task
            return
        self._closing = True
        try:
            await cast("AsyncGenerator[bytes, Any]", self._chunks).aclose()
            await self._response.aclose()
        finally:
            self._closing = False

    def abort(self) -> None:
        """Closes the connection, from any thread; does nothing in a forked child, where it is the parent's."""
        self._aborted = self._lease.cut(self._response)


_NEXT_ADDRESS_SECONDS = 0.25
"""The delay before the next address is tried in parallel, as RFC 8305 recommends."""


class AsyncNetwork(httpcore2.AsyncNetworkBackend):
    """Connects with httpx2's own backend, to addresses that are resolved here."""

    def __init__(self) -> None:
        self._backend = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Returns a connection to the first address that answers."""

        def connect(address: str) -> Callable[[], Awaitable[httpcore2.AsyncNetworkStream]]:
            async def connected() -> httpcore2.AsyncNetworkStream:
                return JoiningStream(
                    await self._backend.connect_tcp(address, port, None, local_address, socket_options)
                )

            return connected

        try:
            async with asyncio.timeout(timeout):
                found = await aaddresses(host, port)
                addresses = dict.fromkeys(str(info[4][0]) for info in found)
                return await _first([connect(address) for address in addresses])
        except TimeoutError:
            raise httpcore2.ConnectTimeout(f"connecting to {host} timed out") from None
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(str(error)) from None


class JoiningStream(httpcore2.AsyncNetworkStream):
    """A connection that sends the head of a request together with its body."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream
        self._writes = JoinedWrites()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Returns received data, up to `max_bytes`; empty at the end."""
        rest = self._writes.rest()
        if rest:
            await self._stream.write(rest, timeout)
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Sends all of `buffer`; the head of a request is sent with its body."""
        for joined in self._writes.add(buffer):
            await self._stream.write(joined, timeout)

    async def aclose(self) -> None:
        """Closes the connection."""
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> JoiningStream:
        """Returns the connection with TLS."""
        return JoiningStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """Returns transport information for httpx2."""
        return self._stream.get_extra_info(info)


async def _first(
    attempts: Sequence[Callable[[], Awaitable[httpcore2.AsyncNetworkStream]]],
) -> httpcore2.AsyncNetworkStream:
    """Returns the first connection; each attempt begins when the one before it has failed or takes long."""
    if len(attempts) == 1:
        return await attempts[0]()
    tasks: list[asyncio.Future[httpcore2.AsyncNetworkStream]] = []
    try:
        for number, attempt in enumerate(attempts, 1):
            tasks.append(asyncio.ensure_future(attempt()))
            patience = _NEXT_ADDRESS_SECONDS if number < len(attempts) else None
            while pending := [task for task in tasks if not task.done()]:
                await asyncio.wait(pending, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
                created = next((task for task in tasks if task.done() and task.exception() is None), None)
                if created is not None:
                    tasks.remove(created)
                    return created.result()
                if patience is not None:
                    break
        return tasks[0].result()
    finally:
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, httpcore2.AsyncNetworkStream):
                await result.aclose()
