"""How connections are made: proxies, certificates, limits. The TLS context is made once for all that share these."""

from __future__ import annotations

import os
import ssl
import threading
import urllib.request
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx2

from ..errors import ConfigurationError
from ..scrubbing import credentials_in
from .failures import ProxyInUse

_MAX_CONNECTIONS = 1000
"""More than any program has calls at once by design, and fewer than files a process may have open."""
_MAX_IDLE_CONNECTIONS = 100
"""httpx2 looks at each idle connection before each request."""


class Route(NamedTuple):
    """How a URL is reached: its scheme, and the URL of the proxy to go through."""

    scheme: str
    proxy: str | None = None


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """Transports with equal settings are shared by the process.

    `proxy` is a URL; None takes the environment's (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY), or none at all if
    `environment_proxies` is False.
    `verify` is True, or the path of a file with the certificate authorities to trust. `max_connections` are open at
    once to one scheme through one proxy, `max_idle_connections` of them kept for `idle_seconds`. Raises
    `ConfigurationError` for a proxy of a kind that cannot be used.
    """

    proxy: str | None = field(default=None, repr=False)
    verify: bool | str = True
    max_connections: int = _MAX_CONNECTIONS
    max_idle_connections: int = _MAX_IDLE_CONNECTIONS
    idle_seconds: float = 30.0
    environment_proxies: bool = True
    proxies: tuple[tuple[str, str], ...] = field(init=False, repr=False, default=())
    """Those of the environment as it was when the settings were made, by the scheme that they serve."""

    def __post_init__(self) -> None:
        if self.proxy is None and self.environment_proxies:
            object.__setattr__(self, "proxies", _environment_proxies())
        if isinstance(self.verify, os.PathLike):
            object.__setattr__(self, "verify", os.fspath(self.verify))
        if not isinstance(self.verify, bool | str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigurationError("`verify` is True, or the path of a file with certificate authorities.")
        if self.proxy is not None:
            object.__setattr__(self, "proxy", _proxy_url(self.proxy))

    def proxy_of(self, route: Route) -> httpx2.Proxy | None:
        """The route's proxy in httpx2's words; one that is reached over TLS is checked as `verify` says."""
        if route.proxy is None:
            return None
        over_tls = route.proxy.startswith("https:")
        return httpx2.Proxy(route.proxy, ssl_context=self.tls("https") if over_tls else None)

    def tls(self, scheme: str) -> ssl.SSLContext:
        """The TLS context for `scheme`. Plain HTTP never uses it, so certificates are not read for it."""
        with _making_tls:
            return _tls_context(scheme != "http" and self.verify, os.environ.get("SSL_CERT_FILE"))


_PROXY_VARIABLES = tuple(
    name for kind in ("http", "https", "all", "no") for name in (f"{kind}_proxy", f"{kind.upper()}_PROXY")
)


def _environment_proxies() -> tuple[tuple[str, str], ...]:
    """Proxies by scheme. Searching the environment takes as long as all else that is done for a new LLM: it is
    searched again only when a variable that names a proxy has changed. macOS and Windows have settings beside it.
    """
    if urllib.request.getproxies is not urllib.request.getproxies_environment:
        return tuple(sorted(urllib.request.getproxies().items()))
    return _proxies_where(*map(os.environ.get, _PROXY_VARIABLES))


@lru_cache(maxsize=8)
def _proxies_where(*variables: str | None) -> tuple[tuple[str, str], ...]:
    """The proxies of the environment as it is now, where `variables` say so."""
    return tuple(sorted(urllib.request.getproxies().items()))


class Routes:
    """Which pool a URL belongs to: its scheme, and the proxy to go through.

    `secrets` are the users and passwords of proxies.
    """

    def __init__(self, settings: TransportSettings) -> None:
        self._fixed = settings.proxy
        self._proxies = dict(settings.proxies)
        proxies = [self._fixed] if self._fixed else self._proxies.values()
        self.secrets = tuple(secret for proxy in proxies for secret in credentials_in(proxy, {}))

    def of(self, url: str) -> Route:
        """The route of `url`."""
        parts = urlsplit(url)
        if not self._proxies:
            return Route(parts.scheme, self._fixed)
        proxy = self._proxies.get(parts.scheme) or self._proxies.get("all")
        if proxy and urllib.request.proxy_bypass(parts.netloc):
            proxy = None
        return Route(parts.scheme, _proxy_url(proxy) if proxy else None)


def proxy_in_use(settings: TransportSettings, route: Route) -> ProxyInUse | None:
    """The proxy of a route, and where it comes from."""
    if route.proxy is None or settings.proxy is not None:
        return None if route.proxy is None else ProxyInUse(route.proxy, None)
    names = (name for kind in (route.scheme, "all") for name in (f"{kind}_proxy", f"{kind.upper()}_PROXY"))
    return ProxyInUse(route.proxy, next((name for name in names if os.environ.get(name)), "the proxy settings"))


def _proxy_url(proxy: str) -> str:
    """A proxy's URL, also from the short form HOST:PORT. Errors show its scheme only: the rest may hold a password."""
    try:
        url = proxy if "://" in proxy else f"http://{proxy}"
        httpx2.URL(url)
    except (TypeError, httpx2.InvalidURL):
        raise ConfigurationError("the proxy is no address.", hint="As in proxy='http://host:8080'.") from None
    scheme = url.partition("://")[0].lower()
    if scheme in ("http", "https") or (scheme in ("socks5", "socks5h") and find_spec("socksio")):
        return url
    hint = "Run: pip install socksio" if scheme.startswith("socks5") else "Use an http:// or https:// proxy."
    raise ConfigurationError(f"a proxy of kind {scheme!r} cannot be used here.", hint=hint)


def http_only(proxy: str | None) -> None:
    """Raise `ConfigurationError` for a SOCKS proxy."""
    if proxy is not None and not proxy.startswith(("http:", "https:")):
        hint = "Use transport='httpx2', or an http:// or https:// proxy."
        raise ConfigurationError("transport='fast' cannot use a SOCKS proxy.", hint=hint)


_making_tls = threading.Lock()
"""Held while a TLS context is made, and by a fork: OpenSSL's own locks stay locked for ever in a child that is forked
in the middle."""

if hasattr(os, "register_at_fork"):
    _done = _making_tls.release
    os.register_at_fork(before=_making_tls.acquire, after_in_parent=_done, after_in_child=_done)


@cache
def _tls_context(verify: bool | str, certificate_file: str | None) -> ssl.SSLContext:
    """Reading the certificates takes about 40 ms; `certificate_file` is the environment's, part of the key only."""
    if not isinstance(verify, str):
        return httpx2.create_ssl_context(verify=verify)
    try:
        if os.path.isdir(verify):
            return ssl.create_default_context(capath=verify)
        return ssl.create_default_context(cafile=verify)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(f"certificate authorities cannot be read from {verify!r}: {reason}") from None
