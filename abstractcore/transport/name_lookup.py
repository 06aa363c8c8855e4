"""DNS look-ups in threads: `getaddrinfo` cannot be interrupted."""

from __future__ import annotations

import concurrent.futures
import ipaddress
import os
import socket
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context
from typing import Any, TypeAlias

from ..concurrency import AbandonedWork, WorkerThreads

AddressInfo: TypeAlias = tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[Any, ...]]
"""An item of the result of `socket.getaddrinfo`."""
_MOST_AT_ONCE = 32

_workers = WorkerThreads("names", _MOST_AT_ONCE, AbandonedWork())
_running: dict[tuple[int, str, int], Future[Sequence[AddressInfo]]] = {}
"""Running look-ups by process, host and port: concurrent calls share them. So only many different unanswered names can
fill the pool."""


def addresses(host: str, port: int, timeout: float | None) -> Sequence[AddressInfo]:
    """Returns the addresses of `host`; blocks. Raises `TimeoutError` after `timeout` seconds, and `OSError` or
    `UnicodeError` if there are none."""
    known = _numeric(host, port)
    if known is not None:
        return known
    lookup = _lookup(host, port)
    if not concurrent.futures.wait([lookup], timeout).done:
        raise TimeoutError(f"DNS look-up of {host} timed out")
    return _result(lookup)


async def aaddresses(host: str, port: int) -> Sequence[AddressInfo]:
    """Returns the addresses of `host`, without the loop's default executor, which other slow work may fill."""
    known = _numeric(host, port)
    if known is not None:
        return known
    lookup = _lookup(host, port)
    import asyncio

    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def wake(_: Future[Sequence[AddressInfo]]) -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(done.set)

    lookup.add_done_callback(wake)
    await done.wait()
    return _result(lookup)


def _numeric(host: str, port: int) -> Sequence[AddressInfo] | None:
    """Returns the address of a numeric `host`, which needs no look-up."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return None
    return _getaddrinfo(host, port)


def _lookup(host: str, port: int) -> Future[Sequence[AddressInfo]]:
    """Returns the running look-up, or starts one."""
    key = os.getpid(), host, port
    running = _running.get(key)
    if running is not None:
        return running
    job = _workers.job(Context(), _getaddrinfo, host, port)
    _running[key] = job.result
    job.result.add_done_callback(lambda _: _running.pop(key, None))
    try:
        job.begin()
    except RuntimeError:  # no more threads can be started
        job.abandon()
    return job.result


def _result(lookup: Future[Sequence[AddressInfo]]) -> Sequence[AddressInfo]:
    try:
        return lookup.result()
    except concurrent.futures.CancelledError:
        raise OSError("cannot start a thread for the DNS look-up") from None


def _getaddrinfo(host: str, port: int) -> Sequence[AddressInfo]:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
