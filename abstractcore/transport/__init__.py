"""HTTP, and the only place that knows an HTTP library: one transport a colour, both with the same behaviour."""

from .async_http import AsyncHttpTransport
from .settings import TransportSettings
from .sync_http import SyncHttpTransport

__all__ = ["AsyncHttpTransport", "SyncHttpTransport", "TransportSettings"]
