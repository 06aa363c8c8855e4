"""HTTP transports, sync and async, with the same behaviour. Only this package imports HTTP libraries.

`pycurl_http` and `aiohttp_http` are the fast ones, on libcurl for sync calls and on aiohttp for async calls. They are
imported on first use: pycurl and aiohttp are optional packages.
"""

from .async_http import AsyncHttpTransport
from .clients import HttpClient, client_transports
from .settings import Route, TransportSettings, http_only
from .sync_http import SyncHttpTransport

__all__ = [
    "AsyncHttpTransport",
    "HttpClient",
    "Route",
    "SyncHttpTransport",
    "TransportSettings",
    "client_transports",
    "http_only",
]
