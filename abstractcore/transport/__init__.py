"""HTTP transports, sync and async, with the same behaviour. Only this package imports HTTP libraries.

`pycurl_http` and `aiohttp_http` are the fast ones, on libcurl for sync calls and on aiohttp for async calls. They are
imported on first use: pycurl and aiohttp are optional packages. So are `async_http`, since sync calls do without
asyncio, and `clients`.
"""

from typing import TYPE_CHECKING, Any

from .settings import ProxyRoute, TransportSettings, http_only
from .sync_http import SyncHttpTransport

if TYPE_CHECKING:
    from .async_http import AsyncHttpTransport
    from .clients import HttpClient, client_transports
    from .routed import RoutedTransport
    from .url_fetcher import URLFetcher

_LATER = {
    "AsyncHttpTransport": "async_http",
    "HttpClient": "clients",
    "RoutedTransport": "routed",
    "URLFetcher": "url_fetcher",
    "client_transports": "clients",
}
"""Names whose modules are imported on first access."""

__all__ = [
    "AsyncHttpTransport",
    "HttpClient",
    "ProxyRoute",
    "RoutedTransport",
    "SyncHttpTransport",
    "TransportSettings",
    "URLFetcher",
    "client_transports",
    "http_only",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
