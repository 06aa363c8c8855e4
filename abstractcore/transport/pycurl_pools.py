"""`CurlPool`: the libcurl connections of one route.

The certificate authorities that libcurl trusts: the same as httpx2 with the same settings. Maps the errors of libcurl
to errors of this package, with our own messages: libcurl's may quote the URL.
"""

from __future__ import annotations

import os
import ssl
import sys
import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import pycurl

from ..errors import AbstractCoreError, ConnectionFailedError
from ..ports import interruptible
from .failures import ProxyInUse, broken_connection, cannot_connect, connect_timeout, refused_by_proxy
from .pycurl_connections import OF_LIBCURL, CurlConnection, CurlResponse, connect
from .settings import ProxyRoute, TransportSettings

_NATIVE_CA = 1 << 4
"""CURLSSLOPT_NATIVE_CA: the certificate store of Windows and macOS."""
_USUAL_FILES = (
    "/etc/ssl/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/ca-bundle.pem",
)
"""The files of Alpine and Arch, Fedora and RHEL, older versions, Debian and Ubuntu, SUSE, as truststore lists them."""


def trust_options(settings: TransportSettings) -> Mapping[int, int | str | None]:
    """Returns libcurl's options for servers and proxies; None unsets one. Raises `ConfigurationError` for a file or
    folder that cannot be read.
    """
    verify = settings.verify
    if verify is False:
        return {
            pycurl.SSL_VERIFYPEER: 0,
            pycurl.SSL_VERIFYHOST: 0,
            pycurl.PROXY_SSL_VERIFYPEER: 0,
            pycurl.PROXY_SSL_VERIFYHOST: 0,
        }
    if isinstance(verify, str):
        settings.tls("https")  # reads the certificates, and raises an error if they are invalid
        return _from(folder=verify) if os.path.isdir(verify) else _from(file=verify)
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file or folder:
        return _from(file=file) if file else _from(folder=folder)
    if sys.platform in ("win32", "darwin"):
        return {pycurl.SSL_OPTIONS: _NATIVE_CA, pycurl.PROXY_SSL_OPTIONS: _NATIVE_CA}
    return _of_this_system()


def _of_this_system() -> Mapping[int, int | str | None]:
    """Returns the paths of Python's OpenSSL, or common ones: the paths in a wheel of pycurl are of another system."""
    paths = ssl.get_default_verify_paths()
    if os.path.isfile(paths.openssl_cafile):
        return _from(file=paths.openssl_cafile)
    usual = next(filter(os.path.isfile, _USUAL_FILES), None)
    return _from(file=usual) if usual else _from(folder=paths.openssl_capath)


def _from(file: str | None = None, folder: str | None = None) -> Mapping[int, int | str | None]:
    return {
        pycurl.CAINFO: file,
        pycurl.CAPATH: folder,
        pycurl.PROXY_CAINFO: file,
        pycurl.PROXY_CAPATH: folder,
    }


DEFAULT_PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """The server that connections lead to."""

    scheme: str
    host: str
    port: int


class CurlPool:
    """The connection pool of one route."""

    def __init__(self, settings: TransportSettings, route: ProxyRoute) -> None:
        self._settings = settings
        self._proxy = settings.proxy_of(route)
        over_tls = route.scheme == "https" or (self._proxy is not None and self._proxy.url.scheme == "https")
        self._trust: Mapping[int, int | str | None] = trust_options(settings) if over_tls else {}
        self._idle: list[tuple[Origin, CurlConnection]] = []
        self._open = 0
        self._closed = False
        # Reentrant: a body that is garbage-collected in a thread inside the pool releases its connection.
        self._changed = threading.Condition(threading.RLock())

    def acquire(self, origin: Origin, timeout: float) -> CurlConnection:
        """Returns a connection to `origin` for one exchange, to be passed to `release` or `discard`.

        Raises `TimeoutError` if none becomes available in `timeout` seconds.
        """
        due = time.monotonic() + timeout
        with self._changed:
            while True:
                self._close_expired()
                known = next((pair for pair in reversed(self._idle) if pair[0] == origin), None)
                if known is not None:
                    self._idle.remove(known)
                    return known[1]
                if self._open >= self._settings.max_connections and self._idle:
                    self._close_oldest()
                if self._open < self._settings.max_connections:
                    self._open += 1
                    break
                self._wait(due)
        try:
            return CurlConnection(partial(self._configure, origin), lambda due: connect(*self._nearest(origin), due))
        except BaseException:
            with self._changed:
                self._open -= 1
            raise

    def release(self, origin: Origin, connection: CurlConnection) -> None:
        """Returns `connection` to the pool if its exchange was complete; closes it otherwise."""
        with self._changed:
            keep = connection.is_reusable and not self._closed
            if keep and len(self._idle) < self._settings.max_idle_connections:
                connection.idle_since = time.monotonic()
                self._idle.append((origin, connection))
            else:
                self._close(connection)
            self._changed.notify()

    def discard(self, connection: CurlConnection) -> None:
        """Closes `connection`, also during an exchange."""
        with self._changed:
            self._close(connection)
            self._changed.notify()

    def close(self) -> None:
        """Closes idle connections, and those in use when they are released."""
        with self._changed:
            self._closed = True
            while self._idle:
                self._close_oldest()

    def _wait(self, due: float) -> None:
        left = due - time.monotonic()
        if left <= 0:
            raise TimeoutError
        with interruptible(self._wake):
            self._changed.wait(left)

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _close(self, connection: CurlConnection) -> None:
        self._open -= 1
        connection.close()

    def _close_oldest(self) -> None:
        self._close(self._idle.pop(0)[1])

    def _close_expired(self) -> None:
        oldest = time.monotonic() - self._settings.idle_seconds
        while self._idle and self._idle[0][1].idle_since < oldest:
            self._close_oldest()

    def _nearest(self, origin: Origin) -> tuple[str, int]:
        """Returns host and port of the proxy, or of `origin`."""
        if self._proxy is None:
            return origin.host, origin.port
        url = self._proxy.url
        return url.host, url.port or DEFAULT_PORTS[url.scheme]

    def _configure(self, origin: Origin, easy: Any) -> None:
        """Sets the proxy of the settings only, the trusted authorities, and no DNS look-up by libcurl."""
        easy.setopt(pycurl.NOPROXY, "")
        proxy = "" if self._proxy is None else str(self._proxy.url.copy_with(username=None, password=None))
        easy.setopt(pycurl.PROXY, proxy)
        if self._proxy is not None and self._proxy.raw_auth:
            user, password = self._proxy.raw_auth
            easy.setopt(pycurl.PROXYUSERNAME, user)
            easy.setopt(pycurl.PROXYPASSWORD, password)
        easy.setopt(pycurl.RESOLVE, [f"*:{self._nearest(origin)[1]}:127.0.0.1"])
        for option, value in self._trust.items():
            easy.unsetopt(option) if value is None else easy.setopt(option, value)


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
        return broken_connection(url, _CLOSED, proxy)
    code, message = exchange.failure
    if code == pycurl.E_PEER_FAILED_VERIFICATION:
        return cannot_connect(url, f"certificate verify failed: {message}", proxy)
    if code == pycurl.E_SSL_CONNECT_ERROR:
        return cannot_connect(url, message.replace(" ", "_") if "::" in message else message, proxy)
    if connection.proxy_status() >= 400:
        return refused_by_proxy(url, proxy)
    return broken_connection(url, _REASONS.get(code, _NOT_HTTP), proxy)


def failed_in_body(failure: tuple[int, str], url: str) -> ConnectionFailedError:
    """Returns the error for an interrupted body; `failure` is libcurl's error code and message."""
    return broken_connection(url, _REASONS.get(failure[0], _NOT_HTTP))


def not_http(url: str) -> ConnectionFailedError:
    """Returns the error for a head that is not HTTP."""
    return broken_connection(url, _NOT_HTTP)
