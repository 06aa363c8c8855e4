"""Transports on a client of the user's own: with his authentication, certificates, event hooks, or HTTP/2.

The client is used as it is set up, and closed by its owner. It follows redirects only if it was told to. Cookies it was
made with are sent; those that answers set are not, so that none travels from one call to the next.
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
from . import async_http, sync_http
from .failures import FAILURES, as_ours, slow_to_answer
from .leases import Loan
from .messages import Trace, headers_of, parsed
from .timeouts import Timeouts, step_seconds

_MOST_REMEMBERED = 8
HttpClient: TypeAlias = httpx2.Client | httpx2.AsyncClient
"""What `create_llm(..., http_client=...)` takes."""


def client_transports(client: HttpClient) -> tuple[Transport, Transport]:
    """The transports for plain code and for event loops: one is on `client`, the other tells which client to pass.

    Raises `ConfigurationError` for what is no client.
    """
    if isinstance(client, httpx2.Client):
        return SyncClientTransport(client), WrongClientTransport("an event loop", "httpx2.AsyncClient")
    if isinstance(client, httpx2.AsyncClient):  # pyright: ignore[reportUnnecessaryIsInstance]
        return WrongClientTransport("plain code", "httpx2.Client"), AsyncClientTransport(client)
    kind = type(client).__name__
    raise ConfigurationError(f"`http_client` is an httpx2.Client or an httpx2.AsyncClient, not {kind}.")


_alarms = AlarmClock()


class SyncClientTransport:
    """Sends through an `httpx2.Client`."""

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client
        self._request = _RequestMaker(client)

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Send `request` and read the response's head in `timeout` seconds, as far as the client's own code can be
        ended: a look-up of a name runs on, and over a connection used again each wait has what is left at its start.
        """
        _check_open(self._client)
        loan, timeouts = Loan(), Timeouts(timeout)
        alarm_off = _alarms.set(timeout, loan.cut_new)
        try:
            with interruptible(loan.cut_new):
                response = self._client.send(self._request(request, timeouts, loan.trace), stream=True)
        except _FAILURES as error:
            failure = slow_to_answer(request.url, timeout) if loan.was_cut else _as_ours(error, request.url, timeout)
        else:
            return sync_http.begun(response, request.url, loan, timeouts)
        finally:
            alarm_off()
        raise failure

    @property
    def secrets(self) -> Sequence[str]:
        """What the client shows who asks with."""
        return self._request.secrets

    async def close(self) -> None:
        """Nothing: the client is its owner's."""


class AsyncClientTransport:
    """Sends through an `httpx2.AsyncClient`, in the event loop it belongs to."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client
        self._request = _RequestMaker(client)

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Send `request` and read the response's head in `timeout` seconds."""
        _check_open(self._client)
        loan = Loan()
        try:
            http_request = self._request(request, step_seconds(timeout), loan.atrace)
            response = await loan.within(timeout, self._client.send(http_request, stream=True))
        except TimeoutError:
            failure = slow_to_answer(request.url, timeout)
        except _FAILURES as error:
            failure = _as_ours(error, request.url, timeout)
        else:
            return await async_http.begun(response, request.url, loan, timeout)
        raise failure

    @property
    def secrets(self) -> Sequence[str]:
        """What the client shows who asks with."""
        return self._request.secrets

    async def close(self) -> None:
        """Nothing: the client is its owner's."""


class WrongClientTransport:
    """Stands where the client given cannot be used."""

    def __init__(self, place: str, needed: str) -> None:
        self._place = place
        self._needed = needed

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Raises `ConfigurationError`."""
        hint = f"Make an LLM with http_client={self._needed}(...) for it."
        raise ConfigurationError(f"`http_client` is of the wrong kind for {self._place}.", hint=hint)

    async def close(self) -> None:
        """Nothing is held."""


_FAILURES = (*FAILURES, RuntimeError)
"""RuntimeError comes from a client of another event loop."""


def _as_ours(error: Exception, url: str, seconds: float) -> AbstractCoreError:
    if isinstance(error, httpx2.HTTPStatusError):
        message = f"an event hook of `http_client` refused an answer with HTTP status {error.response.status_code}"
        return ConfigurationError(message, hint="Leave raise_for_status out: errors are raised here.")
    if isinstance(error, RuntimeError) and not isinstance(error, httpx2.StreamError):
        hint = "An AsyncClient belongs to the event loop it was first used in."
        return ConfigurationError(f"`http_client` cannot be used here: {error}", hint=hint)
    if isinstance(error, httpx2.TooManyRedirects):
        return ConfigurationError("`http_client` was sent from one address to the next too often.")
    return as_ours(error, url, seconds)


class _RequestMaker:
    """Makes requests with the client's own headers, parameters and cookies, as they are now."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self._cookies = httpx2.Cookies(client.cookies)
        self._made: deque[tuple[httpx2.URL, httpx2.Headers]] = deque(maxlen=_MOST_REMEMBERED)

    @property
    def secrets(self) -> Sequence[str]:
        """The credentials that the client has put on its last requests, also by its authentication and hooks."""
        made = list(self._made)
        return [secret for url, headers in made for secret in credentials_in(str(url), dict(headers))]

    def __call__(self, request: WireRequest, timeouts: Mapping[str, float], trace: Trace) -> httpx2.Request:
        """The request; what is sent may differ in what authentication and hooks add."""
        headers = httpx2.Headers(self._client.headers)
        headers.update(headers_of(request))
        url, params = parsed(request.url), self._client.params
        made = httpx2.Request(
            request.method,
            url.copy_merge_params(params) if params else url,
            headers=headers,
            cookies=self._cookies,
            content=request.body,
            extensions={"timeout": timeouts, "trace": trace},
        )
        self._made.append((made.url, made.headers))
        return made


def _check_open(client: HttpClient) -> None:
    if client.is_closed:
        raise ConfigurationError("the `http_client` of this LLM is closed.", hint="Close it after the last call.")
