"""`/health` and `/ready`: whether the server is there, and takes requests. They say nothing else."""

from __future__ import annotations

from abstractcore.schema import WireResponse

from .exchange import Exchange


async def health(exchange: Exchange) -> WireResponse:
    """Answers with 200 while the process runs."""
    return WireResponse(200, {"content-type": "application/json"}, b'{"status":"ok"}')


async def ready(exchange: Exchange) -> WireResponse:
    """Answers with 200; with 503 once the server is being stopped."""
    if exchange.state.drains.is_stopping:
        return WireResponse(503, {"content-type": "application/json"}, b'{"status":"stopping"}')
    return WireResponse(200, {"content-type": "application/json"}, b'{"status":"ready"}')
