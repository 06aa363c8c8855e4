"""Releases the endpoint when its response is closed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from ..ports import Address, Body, Transport
from ..schema import WireRequest


def open_at(address: Address, transport: Transport, request: WireRequest, timeout: float) -> Awaitable[Body]:
    """Sends `request` to `address`, which is released when the response is closed."""
    transport = address.transport or transport
    if address.release is None:
        return transport.open(request, timeout)
    return _open_releasing(transport, request, timeout, address.release)


async def _open_releasing(
    transport: Transport, request: WireRequest, timeout: float, release: Callable[[], object]
) -> Body:
    try:
        return _ReleasingBody(await transport.open(request, timeout), release)
    except BaseException:
        release()
        raise


class _ReleasingBody:
    """A body that calls `release` when it is closed, possibly more than once."""

    def __init__(self, body: Body, release: Callable[[], object]) -> None:
        self._body = body
        self._release = release
        self.status: int = body.status
        self.headers: Mapping[str, str] = body.headers
        self.read = body.read

    async def close(self) -> None:
        try:
            await self._body.close()
        finally:
            self._release()

    def abort(self) -> None:
        self._body.abort()
        self._release()
