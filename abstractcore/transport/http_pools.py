"""httpx2's pools of connections, on networks of our own."""

from __future__ import annotations

import httpcore2
import httpx2

from .async_network import AsyncNetwork
from .settings import Route, TransportSettings
from .sync_network import SyncNetwork


class SyncPool(httpx2.HTTPTransport):
    """The connections of plain code over one route."""

    def __init__(self, settings: TransportSettings, route: Route) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=settings.tls(route.scheme),
            proxy=_proxy(settings, route),
            max_connections=settings.max_connections,
            max_keepalive_connections=settings.max_idle_connections,
            keepalive_expiry=settings.idle_seconds,
            network_backend=SyncNetwork(),
        )


class AsyncPool(httpx2.AsyncHTTPTransport):
    """The connections of one event loop over one route."""

    def __init__(self, settings: TransportSettings, route: Route) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=settings.tls(route.scheme),
            proxy=_proxy(settings, route),
            max_connections=settings.max_connections,
            max_keepalive_connections=settings.max_idle_connections,
            keepalive_expiry=settings.idle_seconds,
            network_backend=AsyncNetwork(),
        )


def _proxy(settings: TransportSettings, route: Route) -> httpcore2.Proxy | None:
    """The route's proxy in the pools' words."""
    proxy = settings.proxy_of(route)
    if proxy is None:
        return None
    url = proxy.url
    return httpcore2.Proxy(
        httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        auth=proxy.raw_auth,
        headers=proxy.headers.raw,
        ssl_context=proxy.ssl_context,
    )
