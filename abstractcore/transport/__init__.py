"""HTTP, and the only place that knows an HTTP library: one transport a colour, both with the same behaviour.

`aiohttp_http` has another one for event loops. It is loaded when it is asked for: aiohttp is an optional package.
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
