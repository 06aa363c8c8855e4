"""Reaching a provider: the bytes of a request out, those of its response in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ..errors import AbstractCoreError, ProviderError
from ..schema import WireRequest
from .runtimes import Runtime


class Body(Protocol):
    """An HTTP response whose content is read piece by piece."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Header fields, names in lower case."""
        ...

    async def read(self) -> bytes:
        """The next piece, decompressed; empty at the end. Raises `ConnectionFailedError` or `RequestTimeoutError`."""
        ...

    async def close(self) -> None:
        """Release the connection, and cut it if there is more to come. May be called again."""
        ...

    def abort(self) -> None:
        """Cut the connection from another thread, so that a read in progress ends."""
        ...


class Transport(Protocol):
    """Sends a request. `open` takes `timeout` seconds at most, whatever it waits for; each read of the body may wait as
    long again.

    `open` raises `ConnectionFailedError` and `RequestTimeoutError`, and no exception of an HTTP library.
    """

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Send `request`; the body is not read yet."""
        ...

    async def close(self) -> None:
        """Close idle connections; a transport can be used again after it."""
        ...


@runtime_checkable
class SecretHolder(Protocol):
    """What knows credentials that do not show in the requests it is given or makes: an `Auth` that signs with a key, a
    `Transport` that goes through a proxy with a password. They are kept out of errors, records, logs and recordings.
    """

    @property
    def secrets(self) -> Sequence[str]:
        """The credentials, as they are sent or used."""
        ...


class Auth(Protocol):
    """Puts credentials on a request; `now` is the time of day in seconds since the epoch.

    What it puts there is kept out of errors, records, logs and recordings; what it knows beside that it may name as a
    `SecretHolder`.
    """

    def sign(self, request: WireRequest, now: float) -> WireRequest:
        """The request with its credentials."""
        ...


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests go: the URL that paths are put behind, and how they are signed.

    `transport` stands in for the LLM's own, for what is not reached over a network. `query` goes behind the URL of
    every request, as `api-version=2024-10-21`. `release` is called when the exchange is over, perhaps more than once:
    what answers must stay until then.
    """

    url: str
    auth: Auth
    transport: Transport | None = None
    query: str = ""
    release: Callable[[], object] | None = field(default=None, compare=False)

    def url_of(self, path: str) -> str:
        """The URL of an operation at `path`, which may have a query of its own."""
        url = self.url + path
        if not self.query:
            return url
        return f"{url}{'&' if '?' in path else '?'}{self.query}"


@runtime_checkable
class KnownUrl(Protocol):
    """An endpoint that may know its address before it is opened: an endpoint may be one too."""

    @property
    def url(self) -> str | None:
        """What paths are put behind; None if it is found out when the endpoint is opened."""
        ...


@runtime_checkable
class KnownPlace(Protocol):
    """An `Endpoint` whose address is known before it is opened."""

    @property
    def address(self) -> Address:
        """What opening gives."""
        ...


class Endpoint(Protocol):
    """A place that answers. Opening may start a process or fetch a token; it is asked before every attempt."""

    async def open(self, runtime: Runtime) -> Address:
        """Where to send the next request."""
        ...

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """A better error for a failed exchange, if this end knows the cause, else `error` itself."""
        ...
