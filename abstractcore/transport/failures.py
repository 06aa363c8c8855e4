"""Our error for each way in which an exchange fails, and for the exceptions of httpx2.

A message that could hold a key is not passed on: places are shown without path, query and user part.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import httpcore2
import httpx2

from ..errors import AbstractCoreError, ConfigurationError, ConnectionFailedError, RequestTimeoutError, ServerError
from ..schema.quoting import shown_seconds
from .timeouts import CONNECT_SECONDS

FAILURES: tuple[type[Exception], ...] = (
    httpx2.HTTPError,
    httpx2.InvalidURL,
    httpx2.StreamError,
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.UnsupportedProtocol,
    UnicodeEncodeError,
    OSError,
    zlib.error,
)
"""What httpx2, its pools and zlib raise; OSError comes from a socket that another thread has cut."""

_MORE_TIME = "Give the call more time with timeout=SECONDS."
_ADDRESS_HINT = "Check that the server is running, and that base_url is right."
_NAME_HINT = "Check the network connection, and the spelling of base_url."
_PLAIN_HTTP_HINT = "The server does not speak TLS on this port: write http:// in place of https:// in base_url."
_UNKNOWN_NAME = ("name or service not known", "nodename nor servname", "getaddrinfo failed", "name resolution")
"""What Linux, macOS and Windows say of a host name that leads nowhere."""
_NOT_TLS = ("wrong_version_number", "record_layer_failure", "http_request")
"""OpenSSL's reasons where the other side answers in plain text."""
_CERTIFICATE_HINT = (
    "Its certificate is not trusted here: name the file of an authority that signed it with verify='ca.pem'."
)


class ProxyInUse(NamedTuple):
    """The URL of a proxy, and the environment variable it comes from; None if it was given as an option."""

    url: str
    variable: str | None


def as_ours(error: Exception, url: str, seconds: float, proxy: ProxyInUse | None = None) -> AbstractCoreError:
    """Our error for one of `FAILURES`. Raise it after the `except` block: the original may quote headers.

    `seconds` is how long was waited at most, `proxy` the one that the request went through.
    """
    if isinstance(error, httpx2.PoolTimeout | httpcore2.PoolTimeout):
        return none_came_free(url, seconds)
    if isinstance(error, httpx2.ConnectTimeout | httpcore2.ConnectTimeout):
        return slow_to_connect(url, seconds, proxy)
    if isinstance(error, httpx2.TimeoutException | httpcore2.TimeoutException):
        return slow_to_answer(url, seconds)
    if isinstance(error, httpx2.ProxyError | httpcore2.ProxyError):
        return refused_by_proxy(url, proxy)
    if isinstance(error, httpx2.ConnectError | httpcore2.ConnectError):
        return cannot_connect(url, str(error), proxy)
    if isinstance(error, httpx2.DecodingError | zlib.error):
        return cannot_unpack(url)
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol | httpcore2.UnsupportedProtocol):
        return no_address(url)
    if isinstance(error, httpx2.LocalProtocolError | httpcore2.LocalProtocolError | UnicodeEncodeError):
        return bad_header()
    return broken(url, str(error), proxy)


def none_came_free(url: str, seconds: float) -> RequestTimeoutError:
    """All connections were in use for `seconds`."""
    return RequestTimeoutError(
        f"no connection to {_place(url)} came free in {shown_seconds(seconds)}",
        hint="Streams that are not read to the end hold one each: close them, or allow more with max_connections=...",
    )


def slow_to_connect(url: str, seconds: float, proxy: ProxyInUse | None) -> RequestTimeoutError:
    """There was no connection in `seconds`, or in the ten that connecting has at most."""
    limit = min(seconds, CONNECT_SECONDS)
    message = f"connecting to {_place(url)}{_through(proxy)} took longer than {shown_seconds(limit)}"
    hint = _proxy_hint(proxy) or "Is the address right and reachable?"
    return RequestTimeoutError(message, hint=f"{hint} {_MORE_TIME}" if limit < CONNECT_SECONDS else hint)


def slow_to_answer(url: str, seconds: float) -> RequestTimeoutError:
    """Nothing came in `seconds`."""
    return RequestTimeoutError(f"{_place(url)} did not answer in {shown_seconds(seconds)}", hint=_MORE_TIME)


def refused_by_proxy(url: str, proxy: ProxyInUse | None) -> ConnectionFailedError:
    """The proxy said no."""
    name = f"the proxy {_place(proxy.url)}" if proxy is not None else "the proxy"
    error = _by_way_of(ConnectionFailedError(f"{name} refused the connection to {_place(url)}"), proxy)
    error.hint = _proxy_hint(proxy, "Has it the right user and password, as in http://USER:PASSWORD@HOST:PORT?")
    return error


def cannot_connect(url: str, reason: str, proxy: ProxyInUse | None) -> ConnectionFailedError:
    """Nobody listens, or the certificate is not trusted."""
    reason = reason or "the connection was closed"
    error = ConnectionFailedError(f"cannot connect to {_place(url)}{_through(proxy)}: {reason}")
    error.hint = _connecting_hint(reason.lower())
    return _by_way_of(error, proxy)


def _connecting_hint(reason: str) -> str:
    if "certificate verify failed" in reason:
        return _CERTIFICATE_HINT
    if any(said in reason for said in _NOT_TLS):
        return _PLAIN_HTTP_HINT
    return _NAME_HINT if any(said in reason for said in _UNKNOWN_NAME) else _ADDRESS_HINT


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


def broken(url: str, reason: str, proxy: ProxyInUse | None = None) -> ConnectionFailedError:
    """The connection was cut, or what came over it is not HTTP."""
    error = ConnectionFailedError(
        f"the connection to {_place(url)}{_through(proxy)} broke: {reason or 'it was closed'}"
    )
    error.connected = True
    return _by_way_of(error, proxy)


def _by_way_of(error: ConnectionFailedError, proxy: ProxyInUse | None) -> ConnectionFailedError:
    """`error` with the proxy, and how it was chosen: it may be the proxy that failed."""
    if proxy is not None:
        error.proxy = _place(proxy.url)
        if error.hint != _CERTIFICATE_HINT:
            error.hint = _proxy_hint(proxy)
    return error


def _through(proxy: ProxyInUse | None) -> str:
    return "" if proxy is None else f" through the proxy {_place(proxy.url)}"


def _proxy_hint(proxy: ProxyInUse | None, question: str = "Is the proxy running?") -> str | None:
    """What to look at, and where the proxy comes from."""
    if proxy is None:
        return None
    if proxy.variable is None:
        return f"{question} It is the one given as proxy=..."
    return (
        f"{question} It comes from {proxy.variable} in the environment: unset it "
        "before create_llm, or name the host in NO_PROXY, to go without."
    )


def _place(url: str) -> str:
    """Scheme, host and port: never the path, query or user part, which can hold secrets."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        return "the base_url given"
    host = f"[{parsed.host}]" if ":" in parsed.host else parsed.host
    port = f":{parsed.port}" if parsed.port else ""
    return f"{parsed.scheme}://{host}{port}"
