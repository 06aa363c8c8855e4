"""`TransportSettings`: proxies, certificates and limits. Equal settings share one TLS context.

`RoutedTransport`: for clients of other libraries on httpx2, which send each request through the proxy of its URL.
"""

from __future__ import annotations

import os
import ssl
import threading
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx2

from ..errors import ConfigurationError, MissingExtraError
from ..proxies import environment_proxies, proxy_of
from ..schema.base_error import install_hint
from ..scrubbing import credentials_in
from .failures import ProxyInUse

_MAX_CONNECTIONS = 1000
"""More than the concurrent calls of any program, and fewer than the open files of a process."""
_MAX_IDLE_CONNECTIONS = 100
"""httpx2 checks each idle connection before each request."""


class ProxyRoute(NamedTuple):
    """How a URL is reached: its scheme, and the URL of its proxy."""

    scheme: str
    proxy: str | None = None


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """The settings of a transport. Transports with equal settings are shared by the process.

    `proxy` is a URL; None means the environment's (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY), or no proxy if
    `environment_proxies` is False.
    `verify` is True, or the path of a file with trusted certificate authorities. `max_connections` is the limit for
    each scheme and proxy, `max_idle_connections` of which are kept for `idle_seconds`. Raises `ConfigurationError` for
    a proxy of an unsupported kind.
    """

    proxy: str | None = field(default=None, repr=False)
    verify: bool | str = True
    max_connections: int = _MAX_CONNECTIONS
    max_idle_connections: int = _MAX_IDLE_CONNECTIONS
    idle_seconds: float = 30.0
    environment_proxies: bool = True
    proxies: tuple[tuple[str, str], ...] = field(init=False, repr=False, default=())
    """The proxies of the environment when the settings were made, by URL scheme."""

    def __post_init__(self) -> None:
        if self.proxy is None and self.environment_proxies:
            object.__setattr__(self, "proxies", environment_proxies())
        if isinstance(self.verify, os.PathLike):
            object.__setattr__(self, "verify", os.fspath(self.verify))
        if not isinstance(self.verify, bool | str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigurationError("`verify` must be True, or the path of a file with certificate authorities.")
        if self.proxy is not None:
            object.__setattr__(self, "proxy", _proxy_url(self.proxy))

    def proxy_of(self, route: ProxyRoute) -> httpx2.Proxy | None:
        """Returns the route's proxy for httpx2; `verify` applies to a proxy with TLS too."""
        if route.proxy is None:
            return None
        over_tls = route.proxy.startswith("https:")
        return httpx2.Proxy(route.proxy, ssl_context=self.tls("https") if over_tls else None)

    def tls(self, scheme: str) -> ssl.SSLContext:
        """Returns the TLS context for `scheme`. Plain HTTP does not use it, so certificates are not loaded for it."""
        with _making_tls:
            return _tls_context(scheme != "http" and self.verify, os.environ.get("SSL_CERT_FILE"))


class ProxyRoutes:
    """Maps URLs to routes.

    `secrets` are the user names and passwords of proxies.
    """

    def __init__(self, settings: TransportSettings) -> None:
        self._fixed = settings.proxy
        self._proxies = dict(settings.proxies)
        proxies = [self._fixed] if self._fixed else self._proxies.values()
        self.secrets = tuple(secret for proxy in proxies for secret in credentials_in(proxy, {}))

    def of(self, url: str) -> ProxyRoute:
        """Returns the route of `url`."""
        scheme = urlsplit(url).scheme
        if not self._proxies:
            return ProxyRoute(scheme, self._fixed)
        proxy = proxy_of(url, self._proxies)
        return ProxyRoute(scheme, _proxy_url(proxy) if proxy else None)


def proxy_in_use(settings: TransportSettings, route: ProxyRoute) -> ProxyInUse | None:
    """Returns the proxy of a route, and its source."""
    if route.proxy is None or settings.proxy is not None:
        return None if route.proxy is None else ProxyInUse(route.proxy, None)
    names = (name for kind in (route.scheme, "all") for name in (f"{kind}_proxy", f"{kind.upper()}_PROXY"))
    return ProxyInUse(route.proxy, next((name for name in names if os.environ.get(name)), "the proxy settings"))


def _proxy_url(proxy: str) -> str:
    """Returns a proxy's URL, also from HOST:PORT. Errors show its scheme only: the rest may hold a password."""
    try:
        url = proxy if "://" in proxy else f"http://{proxy}"
        httpx2.URL(url)
    except (TypeError, httpx2.InvalidURL):
        raise ConfigurationError("`proxy` is not a valid URL.", hint="Write proxy='http://HOST:PORT'.") from None
    scheme = url.partition("://")[0].lower()
    if scheme in ("http", "https") or (scheme in ("socks5", "socks5h") and find_spec("socksio")):
        return url
    if scheme in ("socks5", "socks5h"):
        raise MissingExtraError("SOCKS proxies need the package socksio.", hint=install_hint("socksio"))
    hint = "Use an http:// or https:// proxy."
    raise ConfigurationError(f"proxies with the scheme {scheme!r} are not supported here.", hint=hint)


def http_only(proxy: str | None) -> None:
    """Raises `ConfigurationError` for a SOCKS proxy."""
    if proxy is not None and not proxy.startswith(("http:", "https:")):
        hint = "Use transport='httpx2', or an http:// or https:// proxy."
        raise ConfigurationError("transport='fast' does not support SOCKS proxies.", hint=hint)


_making_tls = threading.Lock()
"""Held while a TLS context is made, and during a fork: otherwise OpenSSL's own locks could stay locked forever in the
child."""

if hasattr(os, "register_at_fork"):
    _done = _making_tls.release
    os.register_at_fork(before=_making_tls.acquire, after_in_parent=_done, after_in_child=_done)


@cache
def _tls_context(verify: bool | str, certificate_file: str | None) -> ssl.SSLContext:
    """Returns a TLS context; loading the certificates takes 40 ms. `certificate_file` is part of the cache key only."""
    if not isinstance(verify, str):
        return httpx2.create_ssl_context(verify=verify)
    try:
        if os.path.isdir(verify):
            return ssl.create_default_context(capath=verify)
        return ssl.create_default_context(cafile=verify)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(f"certificate authorities cannot be read from {verify!r}: {reason}") from None


class RoutedTransport(httpx2.AsyncBaseTransport):
    """Sends requests by `settings`, with a connection pool for each route. It belongs to one event loop."""

    def __init__(self, settings: TransportSettings) -> None:
        self._settings = settings
        self._routes = ProxyRoutes(settings)
        self._pools: dict[ProxyRoute, httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request."""
        route = self._routes.of(str(request.url))
        if route not in self._pools:
            tls, proxy = self._settings.tls(route.scheme), self._settings.proxy_of(route)
            self._pools[route] = httpx2.AsyncHTTPTransport(verify=tls, proxy=proxy, trust_env=False)
        return await self._pools[route].handle_async_request(request)

    async def aclose(self) -> None:
        """Closes all connections."""
        for pool in self._pools.values():
            await pool.aclose()
