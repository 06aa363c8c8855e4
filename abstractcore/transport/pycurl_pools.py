"""`CurlPool`: the libcurl connections of one route."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import httpx2
import pycurl

from ..ports import interruptible
from .pycurl_connections import CurlConnection
from .pycurl_sockets import connected
from .pycurl_trust import trust_options
from .settings import ProxyRoute, TransportSettings

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
            return CurlConnection(partial(self._configure, origin), partial(self._connect, origin))
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

    def _connect(self, origin: Origin, due: float) -> socket.socket:
        return connected(*self._nearest(origin), due)

    def _configure(self, origin: Origin, easy: Any) -> None:
        """Sets the proxy of the settings only, the trusted authorities, and no DNS look-up by libcurl."""
        easy.setopt(pycurl.NOPROXY, "")
        easy.setopt(pycurl.PROXY, "" if self._proxy is None else _origin(self._proxy.url))
        if self._proxy is not None and self._proxy.raw_auth:
            user, password = self._proxy.raw_auth
            easy.setopt(pycurl.PROXYUSERNAME, user)
            easy.setopt(pycurl.PROXYPASSWORD, password)
        easy.setopt(pycurl.RESOLVE, [f"*:{self._nearest(origin)[1]}:127.0.0.1"])
        for option, value in self._trust.items():
            easy.unsetopt(option) if value is None else easy.setopt(option, value)


def _origin(url: httpx2.URL) -> str:
    return str(url.copy_with(username=None, password=None))
