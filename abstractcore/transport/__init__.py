"""HTTP transports, sync and async, with the same behaviour. Only this package imports HTTP libraries.

`pycurl_http` and `aiohttp_http` are the fast ones, on libcurl for sync calls and on aiohttp for async calls. They are
imported on first use: pycurl and aiohttp are optional packages. So is `async_http`: sync calls do without asyncio.
"""

from typing import TYPE_CHECKING, Any

from .clients import HttpClient, client_transports
from .settings import Route, TransportSettings, http_only
from .sync_http import SyncHttpTransport

if TYPE_CHECKING:
    from .async_http import AsyncHttpTransport

__all__ = [
    "AsyncHttpTransport",
    "HttpClient",
    "Route",
    "SyncHttpTransport",
    "TransportSettings",
    "client_transports",
    "http_only",
]


def __getattr__(name: str) -> Any:
    if name != "AsyncHttpTransport":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .async_http import AsyncHttpTransport

    return AsyncHttpTransport
