"""`Transport`: sends requests and reads responses; `Endpoint`: where and how to send them.

`Fetcher`: downloads files that are given as URLs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ..errors import AbstractCoreError, ProviderError
from ..schema import WireRequest
from .runtimes import Runtime


class Body(Protocol):
    """An HTTP response whose content is read in chunks."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, with lower-case names."""
        ...

    async def read(self) -> bytes:
        """Returns the next decompressed chunk; empty at the end. Raises as `Transport.open` does."""
        ...

    async def close(self) -> None:
        """Releases the connection, and closes it if the body is incomplete. May be called again."""
        ...

    def abort(self) -> None:
        """Closes the connection, which ends a read in progress. May be called from any thread."""
        ...


class Transport(Protocol):
    """Sends requests. `timeout` is the limit of `open` for all its waits; each read of the body may wait as long again.

    `open` raises `ConnectionFailedError` and `RequestTimeoutError`, and no exception of an HTTP library.
    """

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Sends `request`, and returns the response before its body is read."""
        ...

    async def close(self) -> None:
        """Closes idle connections; the transport can be used afterwards."""
        ...


@runtime_checkable
class SecretHolder(Protocol):
    """An object with credentials that are not in its requests: an `Auth` that signs with a key, a `Transport` that uses
    a proxy with a password. They are removed from errors, records, logs and recordings.
    """

    @property
    def secrets(self) -> Sequence[str]:
        """The credentials, as they are sent or used."""
        ...


class Auth(Protocol):
    """Adds credentials to a request; `now` is in seconds since the epoch.

    The added credentials are removed from errors, records, logs and recordings; it may list others as a `SecretHolder`.
    """

    def sign(self, request: WireRequest, now: float) -> WireRequest:
        """Returns the request with its credentials."""
        ...


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests are sent: the base URL, and how they are signed.

    `transport` replaces the LLM's own, for endpoints that are not reached over a network. `query` is added to the URL
    of every request, as `api-version=2024-10-21`. `release` is called when the exchange has ended, possibly more than
    once: the server must be available until then.
    """

    url: str
    auth: Auth
    transport: Transport | None = None
    query: str = ""
    release: Callable[[], object] | None = field(default=None, compare=False)

    def url_of(self, path: str) -> str:
        """Returns the URL of an operation at `path`, which may have a query of its own.

        A path that begins with `/..` is relative to the parent of the base URL.
        """
        base = self.url
        while path.startswith("/../"):
            base, path = base.rpartition("/")[0], path[3:]
        url = base + path
        if not self.query:
            return url
        return f"{url}{'&' if '?' in path else '?'}{self.query}"


@runtime_checkable
class KnownUrl(Protocol):
    """An endpoint that may know its URL before it is opened. Endpoints may implement it."""

    @property
    def url(self) -> str | None:
        """The base URL; None if it is known only when the endpoint is opened."""
        ...


@runtime_checkable
class KnownAddress(Protocol):
    """An `Endpoint` whose address is known before it is opened."""

    @property
    def address(self) -> Address:
        """The address that `open` returns."""
        ...


@runtime_checkable
class RenewableEndpoint(Protocol):
    """An `Endpoint` that can ask for another key."""

    def renew(self, refused: Address) -> bool:
        """Forgets the key of an address, which the server has refused; returns whether there may be another one."""
        ...


@runtime_checkable
class OperationsEndpoint(Protocol):
    """An `Endpoint` that learns what its model can do when it is opened: a file of weights says so, for example."""

    def check_operation(self, name: str) -> None:
        """Raises `UnsupportedOptionError` for an operation that the model does not have. Called after each `open`."""
        ...


class Endpoint(Protocol):
    """The destination of requests. `open` is called before every attempt; it may start a process or fetch a token.

    One that nothing can be sent to has an attribute `offline`, which is True.
    """

    async def open(self, runtime: Runtime) -> Address:
        """Returns the address for the next request."""
        ...

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """Returns a more specific error for a failed exchange, or `error` itself."""
        ...


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file that was downloaded: its content, the media type that the server declared, and a name, as far as known."""

    data: bytes
    media_type: str | None = None
    name: str | None = None


class Fetcher(Protocol):
    """Downloads files; blocks."""

    def fetch(self, url: str, timeout: float | None = None) -> FetchedFile:
        """Returns the file at an http(s) URL, within `timeout` seconds; raises `MediaError`."""
        ...
