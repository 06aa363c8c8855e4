"""How connections are made: proxies, certificates, limits. The TLS context is made once for all that share these."""

from __future__ import annotations

import os
import ssl
import urllib.request
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias
from urllib.parse import urlsplit

import httpx2

Route: TypeAlias = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """Transports with equal settings are shared by the process.

    `proxy` is a URL; None takes the environment's (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY).
    `verify` is True, or the path of a file with the certificate authorities to trust.
    """

    proxy: str | None = None
    verify: bool | str = True
    max_connections: int = 1000
    max_idle_connections: int = 100
    idle_seconds: float = 30.0

    def limits(self) -> httpx2.Limits:
        """The same in the HTTP library's words."""
        return httpx2.Limits(
            max_connections=self.max_connections,
            max_keepalive_connections=self.max_idle_connections,
            keepalive_expiry=self.idle_seconds,
        )

    def tls(self, scheme: str) -> ssl.SSLContext | bool:
        """The TLS context for `scheme`. Plain HTTP needs none, so certificates are not read for it."""
        return False if scheme == "http" else _tls_context(self.verify, os.environ.get("SSL_CERT_FILE"))


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
        return parts.scheme, proxy


@cache
def _tls_context(verify: bool | str, certificate_file: str | None) -> ssl.SSLContext:
    """Reading the certificates takes about 40 ms; `certificate_file` is the environment's, part of the key only."""
    return httpx2.create_ssl_context(verify=verify)
