"""TCP and TLS for httpx2's async pools: names are looked up outside the event loop's own threads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import cast

import httpcore2

from .name_lookup import aaddresses

_NEXT_ADDRESS_SECONDS = 0.25
"""How long an address may take before the next is tried as well: the delay that RFC 8305 recommends."""


class AsyncNetwork(httpcore2.AsyncNetworkBackend):
    """The connections of httpx2's own backend, to addresses that are found here."""

    def __init__(self) -> None:
        self._backend = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to the first address that answers."""

        def connect(place: str) -> Callable[[], Awaitable[httpcore2.AsyncNetworkStream]]:
            return lambda: self._backend.connect_tcp(place, port, None, local_address, socket_options)

        try:
            async with asyncio.timeout(timeout):
                found = await aaddresses(host, port)
                places = dict.fromkeys(str(info[4][0]) for info in found)
                return await _first([connect(place) for place in places])
        except TimeoutError:
            raise httpcore2.ConnectTimeout(f"connecting to {host} took too long") from None
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(str(error)) from None


async def _first(
    attempts: Sequence[Callable[[], Awaitable[httpcore2.AsyncNetworkStream]]],
) -> httpcore2.AsyncNetworkStream:
    """The first connection made; each attempt begins when the one before it has failed or takes long."""
    if len(attempts) == 1:
        return await attempts[0]()
    tasks: list[asyncio.Future[httpcore2.AsyncNetworkStream]] = []
    try:
        for number, attempt in enumerate(attempts, 1):
            tasks.append(asyncio.ensure_future(attempt()))
            patience = _NEXT_ADDRESS_SECONDS if number < len(attempts) else None
            while pending := [task for task in tasks if not task.done()]:
                await asyncio.wait(pending, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
                made = next((task for task in tasks if task.done() and task.exception() is None), None)
                if made is not None:
                    tasks.remove(made)
                    return made.result()
                if patience is not None:
                    break
        return tasks[0].result()
    finally:
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, httpcore2.AsyncNetworkStream):
                await result.aclose()
