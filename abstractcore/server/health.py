"""`/health` and `/ready`: whether the server is there, and takes requests. They say nothing else."""

from __future__ import annotations

from ..schema import WireResponse
from .exchange import Exchange


async def health(exchange: Exchange) -> WireResponse:
    """Answers as long as the process does."""
    return WireResponse(200, {"content-type": "application/json"}, b'{"status":"ok"}')


async def ready(exchange: Exchange) -> WireResponse:
    """Answers with 503 while the server is being stopped: no further requests should be sent here."""
    if exchange.state.drains.is_stopping:
        return WireResponse(503, {"content-type": "application/json"}, b'{"status":"stopping"}')
    return WireResponse(200, {"content-type": "application/json"}, b'{"status":"ready"}')
