"""Reaching a provider: the bytes of a request out, those of its response in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

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
    """Sends a request. `timeout` is the longest wait for one step (connect, one read), in seconds.

    `open` raises `ConnectionFailedError` and `RequestTimeoutError`, and no exception of an HTTP library.
    """

    async def open(self, request: WireRequest, timeout: float) -> Body:
        """Send `request`; the body is not read yet."""
        ...

    async def close(self) -> None:
        """Close idle connections; a transport can be used again after it."""
        ...


class Auth(Protocol):
    """Puts credentials on a request; `now` is the time of day in seconds since the epoch."""

    def sign(self, request: WireRequest, now: float) -> WireRequest:
        """The request with its credentials."""
        ...


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests go: the URL that paths are put behind, and how they are signed.

    `transport` stands in for the LLM's own, for what is not reached over a network.
    """

    url: str
    auth: Auth
    transport: Transport | None = None


class Endpoint(Protocol):
    """A place that answers. Opening may start a process or fetch a token; it is asked before every attempt."""

    async def open(self, runtime: Runtime) -> Address:
        """Where to send the next request."""
        ...

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """A better error for a failed exchange, if this end knows the cause, else `error` itself."""
        ...
