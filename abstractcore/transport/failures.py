"""The HTTP library's exceptions as ours. A message that could hold a key is not passed on."""

from __future__ import annotations

import httpx2

from ..errors import AbstractCoreError, ConfigurationError, ConnectionFailedError, RequestTimeoutError, ServerError

FAILURES: tuple[type[Exception], ...] = (
    httpx2.HTTPError,
    httpx2.InvalidURL,
    httpx2.StreamError,
    UnicodeEncodeError,
    OSError,
)
"""What the HTTP library raises; OSError comes from a socket that another thread has cut."""


def as_ours(error: Exception, url: str) -> AbstractCoreError:
    """Our error for one of `FAILURES`. Raise it `from None`: the original may quote headers."""
    place = _place(url)
    if isinstance(error, httpx2.PoolTimeout):
        return RequestTimeoutError(
            f"no connection to {place} came free in time",
            hint="Streams that are not read to the end hold one each: close them.",
        )
    if isinstance(error, httpx2.ConnectTimeout):
        return RequestTimeoutError(f"connecting to {place} took too long", hint="Is the address right and reachable?")
    if isinstance(error, httpx2.TimeoutException):
        return RequestTimeoutError(f"{place} did not answer in time", hint="Give the call more time with timeout=...")
    if isinstance(error, httpx2.ProxyError):
        return ConnectionFailedError(f"the proxy refused the connection to {place}")
    if isinstance(error, httpx2.ConnectError):
        return ConnectionFailedError(f"cannot connect to {place}: {error}", hint="Is it running, and base_url right?")
    if isinstance(error, httpx2.DecodingError):
        return ServerError(f"{place} sent a body that cannot be decompressed")
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
        return ConfigurationError(f"{place} is not an address that can be called", hint="It begins with http(s)://.")
    if isinstance(error, httpx2.LocalProtocolError | UnicodeEncodeError):
        return ConfigurationError("a header has characters that HTTP cannot carry", hint="Check the API key.")
    return ConnectionFailedError(f"the connection to {place} broke: {error}")


def _place(url: str) -> str:
    """Scheme, host and port: never the path, query or user part, which can hold secrets."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        return "the base_url given"
    port = f":{parsed.port}" if parsed.port else ""
    return f"{parsed.scheme}://{parsed.host}{port}"
