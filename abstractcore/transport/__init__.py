"""HTTP transports, sync and async, with the same behaviour. Only this package imports HTTP libraries.

What passes here are bytes: `framing/` splits streams into their events.

`pycurl_http` and `aiohttp_http` are the fast ones, on libcurl for sync calls and on aiohttp for async calls. They are
imported on first use: pycurl and aiohttp are optional packages. So are `async_http`, since sync calls do without
asyncio, and `clients`.
"""

from ..lazy_modules import LazyImports as _LazyImports
from .settings import (
    ProxyRoute as ProxyRoute,
    TransportSettings as TransportSettings,
    http_only as http_only,
)
from .sync_http import SyncHttpTransport as SyncHttpTransport

with _LazyImports(globals()):
    from .async_http import AsyncHttpTransport as AsyncHttpTransport
    from .clients import (
        HttpClient as HttpClient,
        client_transports as client_transports,
    )
    from .settings import RoutedTransport as RoutedTransport
    from .url_fetcher import URLFetcher as URLFetcher
