"""`RoutedTransport`: for clients of other libraries on httpx2, which send each request through the proxy of its URL."""

from __future__ import annotations

import httpx2

from .settings import ProxyRoute, ProxyRoutes, TransportSettings


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
