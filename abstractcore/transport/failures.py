"""The errors of failed exchanges, also for the exceptions of httpx2.

Messages never contain credentials: URLs are shown without path, query and userinfo.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import httpcore2
import httpx2

from ..errors import AbstractCoreError, ConfigurationError, ConnectionFailedError, RequestTimeoutError, ServerError
from ..schema.base_error import shown_seconds

CONNECT_SECONDS = 10.0
"""The maximum time for connecting."""


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
"""The exceptions of httpx2, its pools and zlib; OSError is raised for a socket that another thread has closed."""

_MORE_TIME = "Allow more time with timeout=SECONDS."
_ADDRESS_HINT = "Check that the server is running, and that base_url is correct."
_NAME_HINT = "Check the network connection, and the spelling of base_url if you gave one."
_PLAIN_HTTP_HINT = "The server does not use TLS on this port: write http:// instead of https:// in base_url."
_UNKNOWN_NAME = ("name or service not known", "nodename nor servname", "getaddrinfo failed", "name resolution")
"""Messages of Linux, macOS and Windows for a host name without an address."""
_NOT_TLS = ("wrong_version_number", "record_layer_failure", "http_request")
"""OpenSSL's reasons for a peer that answers in plain text."""
_CERTIFICATE_HINT = "Its certificate is not trusted: pass the file of its certificate authority with verify='ca.pem'."


class ProxyInUse(NamedTuple):
    """The URL of a proxy, and the environment variable that sets it; None if it was passed as an option."""

    url: str
    variable: str | None


def map_error(error: Exception, url: str, seconds: float, proxy: ProxyInUse | None = None) -> AbstractCoreError:
    """Returns the error for one of `FAILURES`. Raise it after the `except` block: the original may quote headers.

    `seconds` is the timeout, `proxy` the proxy of the request.
    """
    if isinstance(error, httpx2.PoolTimeout | httpcore2.PoolTimeout):
        return pool_timeout(url, seconds)
    if isinstance(error, httpx2.ConnectTimeout | httpcore2.ConnectTimeout):
        return connect_timeout(url, seconds, proxy)
    if isinstance(error, httpx2.TimeoutException | httpcore2.TimeoutException):
        return read_timeout(url, seconds)
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
    return broken_connection(url, str(error), proxy)


def pool_timeout(url: str, seconds: float) -> RequestTimeoutError:
    """Returns the error for a pool whose connections were all in use for `seconds`."""
    error = RequestTimeoutError(
        f"connection pool exhausted: no connection to {_origin(url)} became available within {shown_seconds(seconds)}",
        hint="Each open stream holds a connection: close streams, or allow more with max_connections=NUMBER.",
    )
    error.connected = False
    return error


def connect_timeout(url: str, seconds: float, proxy: ProxyInUse | None) -> RequestTimeoutError:
    """Returns the error for a connection that was not established in `seconds`, or in ten seconds."""
    limit = min(seconds, CONNECT_SECONDS)
    message = f"connecting to {_origin(url)}{_through(proxy)} timed out after {shown_seconds(limit)}"
    hint = _proxy_hint(proxy) or "Check that base_url is correct and reachable."
    error = RequestTimeoutError(message, hint=f"{hint} {_MORE_TIME}" if limit < CONNECT_SECONDS else hint)
    error.connected = False
    return error


def read_timeout(url: str, seconds: float) -> RequestTimeoutError:
    """Returns the error for a response that did not begin in `seconds`."""
    return RequestTimeoutError(f"no response from {_origin(url)} within {shown_seconds(seconds)}", hint=_MORE_TIME)


def refused_by_proxy(url: str, proxy: ProxyInUse | None) -> ConnectionFailedError:
    """Returns the error for a proxy that refused the connection."""
    name = f"the proxy {_origin(proxy.url)}" if proxy is not None else "the proxy"
    error = _by_way_of(ConnectionFailedError(f"{name} refused the connection to {_origin(url)}"), proxy)
    error.hint = _proxy_hint(proxy, "Check its user and password, as in http://USER:PASSWORD@HOST:PORT.")
    return error


def cannot_connect(url: str, reason: str, proxy: ProxyInUse | None) -> ConnectionFailedError:
    """Returns the error for a connection that failed: refused, or with an untrusted certificate."""
    reason = reason or "the connection was closed"
    error = ConnectionFailedError(f"cannot connect to {_origin(url)}{_through(proxy)}: {reason}")
    error.hint = _connecting_hint(reason.lower())
    return _by_way_of(error, proxy)


def _connecting_hint(reason: str) -> str:
    if "certificate verify failed" in reason:
        return _CERTIFICATE_HINT
    if any(phrase in reason for phrase in _NOT_TLS):
        return _PLAIN_HTTP_HINT
    return _NAME_HINT if any(phrase in reason for phrase in _UNKNOWN_NAME) else _ADDRESS_HINT


def cannot_unpack(url: str) -> ServerError:
    """Returns the error for a body that cannot be decompressed."""
    return ServerError(f"{_origin(url)} sent a body that cannot be decompressed")


def no_address(url: str) -> ConfigurationError:
    """Returns the error for an invalid URL."""
    message = f"{_origin(url)} is not a valid URL"
    return ConfigurationError(message, hint="Write base_url='https://HOST/...'.")


def bad_header() -> ConfigurationError:
    """Returns the error for an invalid header, which is not quoted, since it may be the key."""
    return ConfigurationError("a header has characters that are not allowed in HTTP", hint="Check the API key.")


def broken_connection(url: str, reason: str, proxy: ProxyInUse | None = None) -> ConnectionFailedError:
    """Returns the error for a connection that broke, or a response that is not HTTP."""
    error = ConnectionFailedError(
        f"the connection to {_origin(url)}{_through(proxy)} broke: {reason or 'connection closed'}"
    )
    error.connected = True
    return _by_way_of(error, proxy)


def _by_way_of(error: ConnectionFailedError, proxy: ProxyInUse | None) -> ConnectionFailedError:
    """Adds the proxy, which may have failed, and its source to `error`."""
    if proxy is not None:
        error.proxy = _origin(proxy.url)
        if error.hint != _CERTIFICATE_HINT:
            error.hint = _proxy_hint(proxy)
    return error


def _through(proxy: ProxyInUse | None) -> str:
    return "" if proxy is None else f" through the proxy {_origin(proxy.url)}"


def _proxy_hint(proxy: ProxyInUse | None, question: str = "Check that the proxy is running.") -> str | None:
    """Returns a hint that names the source of the proxy."""
    if proxy is None:
        return None
    if proxy.variable is None:
        return f"{question} It is set by proxy=..."
    return (
        f"{question} It is set by the environment variable {proxy.variable}: unset it "
        "before create_llm, or add the host to NO_PROXY."
    )


def _origin(url: str) -> str:
    """Returns scheme, host and port, without path, query and userinfo, which may hold secrets."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        return "base_url"
    host = f"[{parsed.host}]" if ":" in parsed.host else parsed.host
    port = f":{parsed.port}" if parsed.port else ""
    return f"{parsed.scheme}://{host}{port}"
