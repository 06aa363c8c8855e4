"""TCP and TLS for httpx2's async pools, with DNS look-ups outside the event loop's default executor."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, cast

import httpcore2

from .joined_writes import JoinedWrites
from .name_lookup import aaddresses

_NEXT_ADDRESS_SECONDS = 0.25
"""The delay before the next address is tried in parallel, as RFC 8305 recommends."""


class AsyncNetwork(httpcore2.AsyncNetworkBackend):
    """Connects with httpx2's own backend, to addresses that are resolved here."""

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
        """Returns a connection to the first address that answers."""

        def connect(address: str) -> Callable[[], Awaitable[httpcore2.AsyncNetworkStream]]:
            async def connected() -> httpcore2.AsyncNetworkStream:
                return JoiningStream(
                    await self._backend.connect_tcp(address, port, None, local_address, socket_options)
                )

            return connected

        try:
            async with asyncio.timeout(timeout):
                found = await aaddresses(host, port)
                addresses = dict.fromkeys(str(info[4][0]) for info in found)
                return await _first([connect(address) for address in addresses])
        except TimeoutError:
            raise httpcore2.ConnectTimeout(f"connecting to {host} timed out") from None
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(str(error)) from None


class JoiningStream(httpcore2.AsyncNetworkStream):
    """A connection that sends the head of a request together with its body."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream
        self._writes = JoinedWrites()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Returns received data, up to `max_bytes`; empty at the end."""
        rest = self._writes.rest()
        if rest:
            await self._stream.write(rest, timeout)
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Sends all of `buffer`; the head of a request is sent with its body."""
        for joined in self._writes.add(buffer):
            await self._stream.write(joined, timeout)

    async def aclose(self) -> None:
        """Closes the connection."""
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> JoiningStream:
        """Returns the connection with TLS."""
        return JoiningStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        """Returns transport information for httpx2."""
        return self._stream.get_extra_info(info)


async def _first(
    attempts: Sequence[Callable[[], Awaitable[httpcore2.AsyncNetworkStream]]],
) -> httpcore2.AsyncNetworkStream:
    """Returns the first connection; each attempt begins when the one before it has failed or takes long."""
    if len(attempts) == 1:
        return await attempts[0]()
    tasks: list[asyncio.Future[httpcore2.AsyncNetworkStream]] = []
    try:
        for number, attempt in enumerate(attempts, 1):
            tasks.append(asyncio.ensure_future(attempt()))
            patience = _NEXT_ADDRESS_SECONDS if number < len(attempts) else None
            while pending := [task for task in tasks if not task.done()]:
                await asyncio.wait(pending, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
                created = next((task for task in tasks if task.done() and task.exception() is None), None)
                if created is not None:
                    tasks.remove(created)
                    return created.result()
                if patience is not None:
                    break
        return tasks[0].result()
    finally:
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, httpcore2.AsyncNetworkStream):
                await result.aclose()
