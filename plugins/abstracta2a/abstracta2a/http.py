"""The HTTP client of a connection: with limits, and for the allowed origins only."""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncIterator, Mapping
from functools import cache

import httpx

from abstractcore.toolservers import environment_proxy

_CONNECT_SECONDS = 30.0
_READ_SECONDS = 300.0
"""The pause after which a stream counts as lost."""
_MOST_REDIRECTS = 5
_EVENT_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class RefusedError(httpx.RequestError):
    """A response that this client does not take."""


def http_client(
    headers: Mapping[str, str], auth: httpx.Auth | tuple[str, str] | None, longest: int
) -> httpx.AsyncClient:
    """Returns a client that sends `headers`.

    A body, or an event of a stream, may have `longest` bytes. Redirects are followed within their origin only, and keep
    the method: headers never leave it.
    """

    async def check(response: httpx.Response) -> None:
        if response.has_redirect_location:
            _check_redirect(response)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise RefusedError("the agent compressed its answer, which was not asked for", request=response.request)
        is_stream = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _BoundedEvents(response, longest, is_stream=is_stream)

    return httpx.AsyncClient(
        headers={**headers, "accept-encoding": "identity"},
        auth=auth,
        transport=_RoutedTransport(),
        timeout=httpx.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS),
        follow_redirects=True,
        max_redirects=_MOST_REDIRECTS,
        event_hooks={"response": [check]},
    )


@cache
def _tls_context() -> ssl.SSLContext:
    """Returns the context of all clients: making one takes many milliseconds."""
    return httpx.create_ssl_context()


def _check_redirect(response: httpx.Response) -> None:
    """Raises `RefusedError` for a redirect to another origin, or one that changes the method."""
    old, status = response.request.url, response.status_code
    new = old.join(response.headers["location"])
    if (new.scheme, new.host, new.port) != (old.scheme, old.host, old.port):
        raise RefusedError(
            f"the agent redirects to another origin: {new.scheme}://{new.host}", request=response.request
        )
    if status not in (307, 308) and response.request.method != "GET":
        raise RefusedError(f"the agent redirects a call (HTTP {status})", request=response.request)


class _RoutedTransport(httpx.AsyncBaseTransport):
    """Sends each request through the environment's proxy for its URL."""

    def __init__(self) -> None:
        self._pools: dict[str | None, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        proxy = environment_proxy(str(request.url))
        if proxy not in self._pools:
            self._pools[proxy] = httpx.AsyncHTTPTransport(verify=_tls_context(), proxy=proxy, trust_env=False)
        return await self._pools[proxy].handle_async_request(request)

    async def aclose(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()


class _BoundedEvents(httpx.AsyncByteStream):
    """A body that ends with an error when it, or an event of it, is too long."""

    def __init__(self, response: httpx.Response, longest: int, *, is_stream: bool) -> None:
        assert isinstance(response.stream, httpx.AsyncByteStream)
        self._stream = response.stream
        self._request = response.request
        self._longest = longest
        self._is_stream = is_stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, last = 0, b""
        async for chunk in self._stream:
            begin, joined = 0, last + chunk
            for match in _EVENT_END.finditer(joined) if self._is_stream else ():
                end = match.end() - len(last)
                if end > 0:
                    self._check(size + end - begin)
                    size, begin = 0, end
            size += len(chunk) - begin
            self._check(size)
            last = joined[-3:]
            yield chunk

    def _check(self, size: int) -> None:
        if size > self._longest:
            raise RefusedError(f"the message has more than {self._longest:,} bytes", request=self._request)

    async def aclose(self) -> None:
        await self._stream.aclose()
