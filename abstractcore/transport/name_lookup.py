"""Addresses of host names, looked up in threads: the system's look-up can be interrupted by nothing."""

from __future__ import annotations

import asyncio
import concurrent.futures
import ipaddress
import os
import socket
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context
from typing import Any, TypeAlias

from ..concurrency import Abandoned, Workers

AddressInfo: TypeAlias = tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[Any, ...]]
"""As `socket.getaddrinfo` gives it."""
_MOST_AT_ONCE = 32

_workers = Workers("names", _MOST_AT_ONCE, Abandoned())
_running: dict[tuple[int, str, int], Future[Sequence[AddressInfo]]] = {}
"""The look-ups of now, by process, host and port: who asks for the same waits for the same one. That way names that
are not answered fill the pool only if they are many."""


def addresses(host: str, port: int, timeout: float | None) -> Sequence[AddressInfo]:
    """Where to connect to; blocks. Raises `TimeoutError` after `timeout` seconds, and `OSError` or
    `UnicodeError` for names that have none."""
    known = _numeric(host, port)
    if known is not None:
        return known
    lookup = _lookup(host, port)
    if not concurrent.futures.wait([lookup], timeout).done:
        raise TimeoutError(f"looking up {host} took too long")
    return _result(lookup)


async def aaddresses(host: str, port: int) -> Sequence[AddressInfo]:
    """As `addresses`, in an event loop; not in its own pool, which other slow work may fill."""
    known = _numeric(host, port)
    if known is not None:
        return known
    lookup = _lookup(host, port)
    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def wake(_: Future[Sequence[AddressInfo]]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(done.set)

    lookup.add_done_callback(wake)
    await done.wait()
    return _result(lookup)


def _numeric(host: str, port: int) -> Sequence[AddressInfo] | None:
    """What needs no look-up: an address in digits."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return None
    return _getaddrinfo(host, port)


def _lookup(host: str, port: int) -> Future[Sequence[AddressInfo]]:
    """The look-up that runs for them, or a new one."""
    key = os.getpid(), host, port
    running = _running.get(key)
    if running is not None:
        return running
    job = _workers.job(Context(), _getaddrinfo, host, port)
    _running[key] = job.result
    job.result.add_done_callback(lambda _: _running.pop(key, None))
    try:
        job.begin()
    except RuntimeError:  # there can be no more threads
        job.abandon()
    return job.result


def _result(lookup: Future[Sequence[AddressInfo]]) -> Sequence[AddressInfo]:
    try:
        return lookup.result()
    except concurrent.futures.CancelledError:
        raise OSError("no thread can be started to look the name up") from None


def _getaddrinfo(host: str, port: int) -> Sequence[AddressInfo]:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
