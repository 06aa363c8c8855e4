"""Transports on the user's own httpx2 client: with its authentication, certificates, event hooks, or HTTP/2.

The client is used as configured, and closed by its owner. It follows redirects only if configured to. It sends the
cookies it was made with, but not cookies that responses set, so that calls do not share them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import httpx2

from ..concurrency import AlarmClock
from ..errors import AbstractCoreError, ConfigurationError
from ..ports import Body, Transport, interruptible
from ..schema import WireRequest
from ..scrubbing import credentials_in
from . import sync_http
from .failures import FAILURES, map_error, read_timeout
from .messages import ConnectionLease, Trace, headers_of, parse_url, step_seconds

_MOST_REMEMBERED = 8
HttpClient: TypeAlias = httpx2.Client | httpx2.AsyncClient
"""What `create_llm(..., http_client=...)` takes."""


def client_transports(client: HttpClient) -> tuple[Transport, Transport]:
    """Returns the sync and the async transport: one uses `client`, the other raises an error with the class to pass.

    Raises `ConfigurationError` if `client` is not an httpx2 client.
    """
    if isinstance(client, httpx2.Client):
        return SyncClientTransport(client), WrongClientTransport("async calls", "httpx2.AsyncClient")
    if isinstance(client, httpx2.AsyncClient):  # pyright: ignore[reportUnnecessaryIsInstance]
        return WrongClientTransport("sync calls", "httpx2.Client"), AsyncClientTransport(client)
    kind = type(client).__name__
    raise ConfigurationError(f"`http_client` must be an httpx2.Client or an httpx2.AsyncClient, got {kind}.")


_alarms = AlarmClock()


class SyncClientTransport:
    """Sends requests with an `httpx2.Client`."""

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client
        self._request = _RequestMaker(client)

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Sends `request` and reads the head of the response within `timeout` seconds, as far as the client can be
        interrupted: a DNS look-up continues, and on a reused connection each wait has the time left at its start.
        """
        _check_open(self._client)
        lease, timeouts = ConnectionLease(), sync_http.Timeouts(timeout)
        alarm_off = _alarms.set(timeout, lease.cut_new)
        try:
            with interruptible(lease.cut_new):
                response = self._client.send(self._request(request, timeouts, lease.trace), stream=True)
        except _FAILURES as error:
            failure = read_timeout(request.url, timeout) if lease.was_cut else _map_error(error, request.url, timeout)
        else:
            return sync_http.response_body(response, request.url, lease, timeouts)
        finally:
            alarm_off()
        raise failure

    @property
    def secrets(self) -> Sequence[str]:
        """The credentials of the client."""
        return self._request.secrets

    async def close(self) -> None:
        """Does nothing: the owner closes the client."""


class AsyncClientTransport:
    """Sends requests with an `httpx2.AsyncClient`, in the event loop it belongs to."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client
        self._request = _RequestMaker(client)

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Sends `request` and reads the head of the response within `timeout` seconds."""
        from . import async_http

        _check_open(self._client)
        lease = ConnectionLease()
        try:
            http_request = self._request(request, step_seconds(timeout), lease.atrace)
            response = await lease.within(timeout, self._client.send(http_request, stream=True))
        except TimeoutError:
            failure = read_timeout(request.url, timeout)
        except _FAILURES as error:
            failure = _map_error(error, request.url, timeout)
        else:
            return await async_http.response_body(response, request.url, lease, timeout)
        raise failure

    @property
    def secrets(self) -> Sequence[str]:
        """The credentials of the client."""
        return self._request.secrets

    async def close(self) -> None:
        """Does nothing: the owner closes the client."""


class WrongClientTransport:
    """Raises an error for calls that the given client cannot make."""

    def __init__(self, place: str, needed: str) -> None:
        self._place = place
        self._needed = needed

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Raises `ConfigurationError`."""
        hint = f"Pass create_llm(..., http_client={self._needed}()) for {self._place}."
        raise ConfigurationError(f"`http_client` is of the wrong class for {self._place}.", hint=hint)

    async def close(self) -> None:
        """Does nothing: there is nothing to close."""


_FAILURES = (*FAILURES, RuntimeError)
"""RuntimeError is raised for a client of another event loop."""


def _map_error(error: Exception, url: str, seconds: float) -> AbstractCoreError:
    if isinstance(error, httpx2.HTTPStatusError):
        message = f"an event hook of `http_client` raised for a response with HTTP status {error.response.status_code}"
        return ConfigurationError(
            message, hint="Remove raise_for_status() from the hook: abstractcore raises errors by status."
        )
    if isinstance(error, RuntimeError) and not isinstance(error, httpx2.StreamError):
        hint = "Use an AsyncClient in the event loop where it was first used."
        return ConfigurationError(f"`http_client` cannot be used here: {error}", hint=hint)
    if isinstance(error, httpx2.TooManyRedirects):
        return ConfigurationError("`http_client` followed too many redirects.")
    return map_error(error, url, seconds)


class _RequestMaker:
    """Makes requests with the current headers, parameters and cookies of the client."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self._cookies = httpx2.Cookies(client.cookies)
        self._made: deque[tuple[httpx2.URL, httpx2.Headers]] = deque(maxlen=_MOST_REMEMBERED)

    @property
    def secrets(self) -> Sequence[str]:
        """The credentials in the last requests of the client, also of its authentication and hooks."""
        sent = list(self._made)
        return [secret for url, headers in sent for secret in credentials_in(str(url), dict(headers))]

    def __call__(self, request: WireRequest, timeouts: Mapping[str, float], trace: Trace) -> httpx2.Request:
        """Returns the request, to which authentication and hooks may add."""
        headers = httpx2.Headers(self._client.headers)
        headers.update(headers_of(request))
        url, params = parse_url(request.url), self._client.params
        built = httpx2.Request(
            request.method,
            url.copy_merge_params(params) if params else url,
            headers=headers,
            cookies=self._cookies,
            content=request.body,
            extensions={"timeout": timeouts, "trace": trace},
        )
        self._made.append((built.url, built.headers))
        return built


def _check_open(client: HttpClient) -> None:
    if client.is_closed:
        raise ConfigurationError("the `http_client` of this LLM is closed.", hint="Close it after the last call.")
