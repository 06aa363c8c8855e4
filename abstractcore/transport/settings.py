"""How connections are made: proxies, certificates, limits. The TLS context is made once for all that share these."""

from __future__ import annotations

import os
import ssl
import threading
import urllib.request
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import TypeAlias
from urllib.parse import urlsplit

import httpx2

from ..errors import ConfigurationError

Route: TypeAlias = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """Transports with equal settings are shared by the process.

    `proxy` is a URL; None takes the environment's (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY).
    `verify` is True, or the path of a file with the certificate authorities to trust. Raises `ConfigurationError` for
    a proxy of a kind that cannot be used.
    """

    proxy: str | None = field(default=None, repr=False)
    verify: bool | str = True
    max_connections: int = 1000
    max_idle_connections: int = 100
    idle_seconds: float = 30.0

    def __post_init__(self) -> None:
        if isinstance(self.verify, os.PathLike):
            object.__setattr__(self, "verify", os.fspath(self.verify))
        if not isinstance(self.verify, bool | str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigurationError("`verify` is True, or the path of a file with certificate authorities.")
        if self.proxy is not None:
            object.__setattr__(self, "proxy", _proxy_url(self.proxy))

    def limits(self) -> httpx2.Limits:
        """The same in the HTTP library's words."""
        return httpx2.Limits(
            max_connections=self.max_connections,
            max_keepalive_connections=self.max_idle_connections,
            keepalive_expiry=self.idle_seconds,
        )

    def tls(self, scheme: str) -> ssl.SSLContext:
        """The TLS context for `scheme`. Plain HTTP never uses it, so certificates are not read for it."""
        with _making_tls:
            return _tls_context(scheme != "http" and self.verify, os.environ.get("SSL_CERT_FILE"))


class Routes:
    """Which pool a URL belongs to: its scheme, and the proxy to go through. The environment is read once."""

    def __init__(self, settings: TransportSettings) -> None:
        self._fixed = settings.proxy
        self._proxies = {} if self._fixed else urllib.request.getproxies()

    def of(self, url: str) -> Route:
        """The route of `url`."""
        parts = urlsplit(url)
        if not self._proxies:
            return parts.scheme, self._fixed
        proxy = self._proxies.get(parts.scheme) or self._proxies.get("all")
        if proxy and urllib.request.proxy_bypass(parts.netloc):
            proxy = None
        return parts.scheme, _proxy_url(proxy) if proxy else None


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
