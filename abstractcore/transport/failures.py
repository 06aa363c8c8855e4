"""Our error for each way in which an exchange fails, and for the exceptions of httpx2.

A message that could hold a key is not passed on: places are shown without path, query and user part.
"""

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
"""What httpx2 raises; OSError comes from a socket that another thread has cut."""


def as_ours(error: Exception, url: str) -> AbstractCoreError:
    """Our error for one of `FAILURES`. Raise it after the `except` block: the original may quote headers."""
    if isinstance(error, httpx2.PoolTimeout):
        return none_came_free(url)
    if isinstance(error, httpx2.ConnectTimeout):
        return slow_to_connect(url)
    if isinstance(error, httpx2.TimeoutException):
        return slow_to_answer(url)
    if isinstance(error, httpx2.ProxyError):
        return refused_by_proxy(url)
    if isinstance(error, httpx2.ConnectError):
        return cannot_connect(url, str(error))
    if isinstance(error, httpx2.DecodingError):
        return cannot_unpack(url)
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
        return no_address(url)
    if isinstance(error, httpx2.LocalProtocolError | UnicodeEncodeError):
        return bad_header()
    return broken(url, str(error))


def none_came_free(url: str) -> RequestTimeoutError:
    """All connections were in use."""
    return RequestTimeoutError(
        f"no connection to {_place(url)} came free in time",
        hint="Streams that are not read to the end hold one each: close them, or allow more with max_connections=...",
    )


def slow_to_connect(url: str) -> RequestTimeoutError:
    """There was no connection in time."""
    message = f"connecting to {_place(url)} took too long"
    return RequestTimeoutError(message, hint="Is the address right and reachable?")


def slow_to_answer(url: str) -> RequestTimeoutError:
    """Nothing came in time."""
    return RequestTimeoutError(f"{_place(url)} did not answer in time", hint="Give the call more time with timeout=...")


def refused_by_proxy(url: str) -> ConnectionFailedError:
    """The proxy said no."""
    return ConnectionFailedError(f"the proxy refused the connection to {_place(url)}")


def cannot_connect(url: str, reason: str) -> ConnectionFailedError:
    """Nobody listens, or the certificate is not trusted."""
    message = f"cannot connect to {_place(url)}: {reason}"
    return ConnectionFailedError(message, hint="Is it running, and base_url right?")


def cannot_unpack(url: str) -> ServerError:
    """What was said to be compressed is not."""
    return ServerError(f"{_place(url)} sent a body that cannot be decompressed")


def no_address(url: str) -> ConfigurationError:
    """The URL is none, or of another kind."""
    message = f"{_place(url)} is not an address that can be called"
    return ConfigurationError(message, hint="It begins with http(s)://.")


def bad_header() -> ConfigurationError:
    """A header cannot be sent. It is not named: it may be the key."""
    return ConfigurationError("a header has characters that HTTP cannot carry", hint="Check the API key.")


def broken(url: str, reason: str) -> ConnectionFailedError:
    """The connection was cut, or what came over it is not HTTP."""
    return ConnectionFailedError(f"the connection to {_place(url)} broke: {reason}")


def _place(url: str) -> str:
    """Scheme, host and port: never the path, query or user part, which can hold secrets."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        return "the base_url given"
    port = f":{parsed.port}" if parsed.port else ""
    return f"{parsed.scheme}://{parsed.host}{port}"
