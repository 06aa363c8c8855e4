"""Maps the errors of libcurl to errors of this package, with our own messages: libcurl's may quote the URL."""

from __future__ import annotations

import pycurl

from ..errors import AbstractCoreError, ConnectionFailedError
from .failures import ProxyInUse, broken, cannot_connect, connect_timeout, refused_by_proxy
from .pycurl_connections import OF_LIBCURL, CurlConnection, CurlResponse

_CLOSED = "connection closed"
_REASONS = {
    OF_LIBCURL: "libcurl failed",
    pycurl.E_COULDNT_CONNECT: _CLOSED,
    pycurl.E_GOT_NOTHING: _CLOSED,
    pycurl.E_PARTIAL_FILE: "the body is incomplete",
    pycurl.E_RECV_ERROR: _CLOSED,
    pycurl.E_SEND_ERROR: _CLOSED,
}
_NOT_HTTP = "the response is not HTTP"


def failed_before_response(
    connection: CurlConnection, exchange: CurlResponse, url: str, timeout: float, proxy: ProxyInUse | None
) -> AbstractCoreError:
    """Returns the error for an exchange that ended without the head of a response."""
    if isinstance(exchange.connect_error, TimeoutError):
        return connect_timeout(url, timeout, proxy)
    if exchange.connect_error is not None:
        return cannot_connect(url, str(exchange.connect_error), proxy)
    if exchange.failure is None:
        return broken(url, _CLOSED, proxy)
    code, message = exchange.failure
    if code == pycurl.E_PEER_FAILED_VERIFICATION:
        return cannot_connect(url, f"certificate verify failed: {message}", proxy)
    if code == pycurl.E_SSL_CONNECT_ERROR:
        return cannot_connect(url, message.replace(" ", "_") if "::" in message else message, proxy)
    if connection.proxy_status() >= 400:
        return refused_by_proxy(url, proxy)
    return broken(url, _REASONS.get(code, _NOT_HTTP), proxy)


def failed_in_body(failure: tuple[int, str], url: str) -> ConnectionFailedError:
    """Returns the error for an interrupted body; `failure` is libcurl's error code and message."""
    return broken(url, _REASONS.get(failure[0], _NOT_HTTP))


def not_http(url: str) -> ConnectionFailedError:
    """Returns the error for a head that is not HTTP."""
    return broken(url, _NOT_HTTP)
