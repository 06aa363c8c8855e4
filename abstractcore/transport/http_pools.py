"""httpx2's connection pools, with our network backends."""

from __future__ import annotations

from typing import Any

import httpcore2

from .settings import ProxyRoute, TransportSettings
from .sync_network import AddressCheck, SyncNetwork


def sync_pool(
    settings: TransportSettings, route: ProxyRoute, check: AddressCheck | None = None
) -> httpcore2.ConnectionPool:
    """Returns the sync connection pool of one route. `check` is not used for a proxy, which resolves names itself."""
    network = SyncNetwork(check if route.proxy is None else None)
    return httpcore2.ConnectionPool(**_options(settings, route), network_backend=network)


def async_pool(settings: TransportSettings, route: ProxyRoute) -> httpcore2.AsyncConnectionPool:
    """Returns the connection pool of one event loop and one route."""
    from .async_network import AsyncNetwork

    return httpcore2.AsyncConnectionPool(**_options(settings, route), network_backend=AsyncNetwork())


def _options(settings: TransportSettings, route: ProxyRoute) -> dict[str, Any]:
    return {
        "ssl_context": settings.tls(route.scheme),
        "proxy": _proxy(settings, route),
        "max_connections": settings.max_connections,
        "max_keepalive_connections": settings.max_idle_connections,
        "keepalive_expiry": settings.idle_seconds,
    }


def _proxy(settings: TransportSettings, route: ProxyRoute) -> httpcore2.Proxy | None:
    """Returns the route's proxy for the pools."""
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
